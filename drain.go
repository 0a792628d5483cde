package sharding

import (
	"context"
	"errors"
	"sync"
	"time"
)

// drain closes what generations leave behind that have been replaced, in their
// order, so that whatever several of them had is closed after the last one that
// needs it. One goroutine does, as long as there is something to close.
type drain struct {
	caller *callerPool

	mu      sync.Mutex
	waiting []*remains
	working bool
	hurried chan struct{} // closed when nothing is to be waited for any more
	once    sync.Once
	joined  sync.WaitGroup
}

// remains is a replaced generation.
type remains struct {
	of, next *generation
	removed  []*source
	until    time.Time
}

func newDrain(caller *callerPool) *drain {
	return &drain{caller: caller, hurried: make(chan struct{})}
}

// add takes on a generation that next has taken the place of.
func (d *drain) add(of, next *generation) {
	r := &remains{of: of, next: next, removed: of.sources.unlike(next.sources), until: time.Now().Add(next.cfg.Props.WithDefaults().DrainTimeout)}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = append(d.waiting, r)
	if !d.working {
		d.working = true
		d.joined.Go(d.work)
	}
}

func (d *drain) work() {
	for {
		d.mu.Lock()
		if len(d.waiting) == 0 {
			d.working = false
			d.mu.Unlock()
			return
		}
		r := d.waiting[0]
		d.mu.Unlock()
		d.end(r)
		d.mu.Lock()
		d.waiting = d.waiting[1:]
		d.mu.Unlock()
	}
}

// end closes what a generation leaves behind, once nothing needs it or its time is
// up.
func (d *drain) end(r *remains) {
	deadline := time.NewTimer(time.Until(r.until))
	defer deadline.Stop()
	select {
	case <-r.of.kernel.Unused():
	case <-deadline.C:
	case <-d.hurried:
	}
	err := r.of.kernel.Superseded(r.next.kernel)
	for _, group := range r.of.sources.groupsUnlike(r.next.sources) {
		group.Close()
	}
	for _, src := range r.removed {
		err = errors.Join(err, src.close(r.of.sources.caller))
	}
	d.await(r)
	if err != nil {
		d.caller.log().Warn(context.Background(), "sharding: closing what a reload has removed: %v", err)
	}
}

// await returns when the connections of removed pools have been given back, which
// rows that are being read may still hold, and cuts them when their time is up.
func (d *drain) await(r *remains) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		open := 0
		for _, src := range r.removed {
			if src.pool != r.of.sources.caller {
				open += src.pool.Stats().OpenConnections
			}
		}
		if open == 0 {
			return
		}
		if time.Now().After(r.until) {
			d.caller.log().Warn(context.Background(), "sharding: %d connections to data sources that a reload has removed are cut", open)
			for _, src := range r.removed {
				if src.lines != nil && src.pool != r.of.sources.caller {
					src.lines.Cut()
				}
			}
			return
		}
		select {
		case <-tick.C:
		case <-d.hurried:
			return
		}
	}
}

// quiet waits until no statement is on its way under a former configuration.
func (d *drain) quiet(ctx context.Context, quiet <-chan struct{}, most time.Duration) {
	timeout := time.NewTimer(most)
	defer timeout.Stop()
	select {
	case <-quiet:
	case <-timeout.C:
	case <-ctx.Done():
	case <-d.hurried:
	}
}

// draining returns the number of generations that are not closed yet.
func (d *drain) draining() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.waiting)
}

// hurry ends all waiting: what is in use ends by itself.
func (d *drain) hurry() { d.once.Do(func() { close(d.hurried) }) }

// close closes what is left. Nothing is added any more.
func (d *drain) close() {
	d.hurry()
	d.joined.Wait()
}
