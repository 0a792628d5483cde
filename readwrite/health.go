package readwrite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// Health says how replicas are probed. Zero values take their defaults.
type Health struct {
	// Interval is the time between two probes of a replica, give or take a tenth.
	// Defaults to 1 second.
	Interval time.Duration
	// Timeout is how long a probe may take. Defaults to 500 milliseconds.
	Timeout time.Duration
	// MaxLag is how far a replica may be behind. Defaults to 5 seconds.
	MaxLag time.Duration
	// FailAfter is the number of failed probes in a row after which a replica is
	// out, and RecoverAfter that of good ones after which it is back. Default to 3
	// and 2.
	FailAfter, RecoverAfter int
	// IgnoreLag probes whether replicas answer, and no more.
	IgnoreLag bool
	// LagQuery is asked for the lag instead of the replication status: a query
	// that gives the seconds as one number, NULL where they are not known.
	LagQuery string
}

// WithDefaults returns h with every 0 replaced by its default.
func (h Health) WithDefaults() Health {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&h.Interval, time.Second}, {&h.Timeout, 500 * time.Millisecond}, {&h.MaxLag, 5 * time.Second}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if h.FailAfter == 0 {
		h.FailAfter = 3
	}
	if h.RecoverAfter == 0 {
		h.RecoverAfter = 2
	}
	return h
}

// watch probes a replica until ctx ends. first is called after the first probe.
func (g *Group) watch(ctx context.Context, r *Replica, h Health, first func()) {
	for n := 0; ; n++ {
		lag, err := r.probe(ctx, h)
		if ctx.Err() == nil {
			g.judge(r, h, lag, err)
		}
		if n == 0 {
			first()
		}
		// Replicas of one server, and processes that start together, are not to
		// probe in step.
		wait := h.Interval*9/10 + rand.N(h.Interval/5+1)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

// probe asks a replica for its lag, within the timeout.
func (r *Replica) probe(ctx context.Context, h Health) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	lag, err := r.ask(ctx, h)
	if ctx.Err() != nil {
		return LagUnknown, noAnswerError(h.Timeout)
	}
	return lag, err
}

// noAnswerError is that of a probe that has waited in vain.
type noAnswerError time.Duration

func (e noAnswerError) Error() string { return fmt.Sprintf("no answer within %s", time.Duration(e)) }

// judge draws the consequences of a probe.
func (g *Group) judge(r *Replica, h Health, lag time.Duration, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r.state.Lag = lag
	why := ""
	switch {
	case err != nil:
		why = err.Error()
	case h.IgnoreLag:
	case lag == LagUnknown:
		why = "its lag is not known"
	case lag > h.MaxLag:
		why = fmt.Sprintf("it is %s behind, more than %s", lag, h.MaxLag)
	}
	if why == "" {
		r.good, r.bad = r.good+1, 0
		if !r.state.Up && (r.good >= h.RecoverAfter || r.state.Outs == 0) {
			g.change(r, true, "")
		}
		return
	}
	r.good, r.bad = 0, r.bad+1
	if r.bad >= h.FailAfter || !r.state.Up {
		g.out(r, why)
		if _, silent := err.(noAnswerError); silent && r.HangUp != nil { //nolint:errorlint // made here
			r.HangUp()
		}
	}
}

// out takes a replica out, or renews why it is.
func (g *Group) out(r *Replica, why string) {
	switch {
	case r.state.Up:
		r.state.Outs++
		g.change(r, false, why)
	case r.state.Reason == notProbed:
		g.change(r, false, why)
	default:
		r.state.Reason = why
	}
}

func (g *Group) change(r *Replica, up bool, why string) {
	r.state.Up, r.state.Reason, r.state.Since = up, why, time.Now()
	g.publish()
	if g.opts.Changed != nil {
		g.opts.Changed(r.state)
	}
}
