package readwrite

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gormshard/sharding/internal/fault"
)

// Options say how a group treats its replicas. The zero value reads from all of
// them whatever their state.
type Options struct {
	// Health says how the replicas are probed; nil: not at all.
	Health *Health
	// PrimaryOnly begins with all reads on the primary.
	PrimaryOnly bool
	// MustReplica fails reads with ErrNoReplica where no replica may answer,
	// instead of sending them to the primary.
	MustReplica bool
	// Changed is called when a replica begins or ceases to answer reads, by one
	// goroutine at a time. It must not call the group. May be nil.
	Changed func(State)
	// Before is the group that this one takes the place of: replicas over the same
	// pools begin in the state that they have there. Nil for none.
	Before *Group
}

// Group chooses who answers the reads of a data source that is made of a primary
// and replicas. It is safe for concurrent use.
type Group struct {
	name     string
	replicas []*Replica
	balancer Balancer
	opts     Options

	primaryOnly atomic.Bool
	available   atomic.Pointer[[]*Replica] // those that may answer, in configured order
	mu          sync.Mutex                 // for the states of the replicas

	ready  chan struct{} // closed when each replica was probed once
	probes sync.WaitGroup
	stop   context.CancelFunc
}

// NewGroup returns a group over its replicas, of which there is at least one. It
// has to be closed if it probes them, which it begins to do at once. A replica
// that is probed answers from its first good probe on.
func NewGroup(name string, balancer Balancer, replicas []*Replica, opts Options) *Group {
	g := &Group{name: name, replicas: replicas, balancer: balancer, opts: opts, ready: make(chan struct{}), stop: func() {}}
	g.primaryOnly.Store(opts.PrimaryOnly)
	for i, r := range replicas {
		r.place = i
		r.state = State{DataSource: name, Replica: r.Name, Lag: LagUnknown, Up: opts.Health == nil, Since: time.Now(), Reason: notProbed}
		if r.state.Up {
			r.state.Reason = ""
		}
		opts.Before.hand(r, opts.Health != nil)
	}
	g.publish()
	if opts.Health == nil {
		close(g.ready)
		return g
	}
	var ctx context.Context
	ctx, g.stop = context.WithCancel(context.Background())
	var first sync.WaitGroup
	for _, r := range replicas {
		probed := func() {}
		if r.state.Reason == notProbed {
			first.Add(1)
			probed = first.Done
		}
		g.probes.Go(func() { g.watch(ctx, r, opts.Health.WithDefaults(), probed) })
	}
	g.probes.Go(func() {
		first.Wait()
		close(g.ready)
	})
	return g
}

// hand gives a replica of another group the state of the one over the same pool,
// where both groups look at states alike.
func (g *Group) hand(to *Replica, probes bool) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.replicas {
		if r.db != to.db {
			continue
		}
		to.state.Disabled = r.state.Disabled
		if probes == (g.opts.Health != nil) {
			to.good, to.bad = r.good, r.bad
			of, name := to.state.DataSource, to.state.Replica
			to.state = r.state
			to.state.DataSource, to.state.Replica = of, name
		}
	}
}

// Close ends the probes.
func (g *Group) Close() {
	g.stop()
	g.probes.Wait()
}

// primary is what Choose returns for the primary.
const primary = -1

// Choose returns the place of the replica that answers a read, or -1 for the
// primary. Before the first probes have answered, or failed, it waits for them.
func (g *Group) Choose(ctx context.Context) (int, error) {
	if g.primaryOnly.Load() {
		return primary, nil
	}
	select {
	case <-g.ready:
	default:
		select {
		case <-g.ready:
		case <-ctx.Done():
			return primary, context.Cause(ctx)
		}
	}
	available := *g.available.Load()
	if len(available) == 0 {
		if g.opts.MustReplica {
			return primary, g.noReplica()
		}
		return primary, nil
	}
	n := g.balancer.Choose(available)
	if n < 0 || n >= len(available) {
		return primary, fmt.Errorf("sharding: the load balancer of group %s chose replica %d of %d", g.name, n, len(available))
	}
	return available[n].place, nil
}

// noReplica says of every replica why it does not answer.
func (g *Group) noReplica() error {
	text := ""
	for _, s := range g.States() {
		text += "; " + s.Replica + ": " + s.Reason
	}
	return fmt.Errorf("sharding: group %s: %w%s", g.name, fault.ErrNoReplica, text)
}

// Failed takes a replica out at once, whose connection failed during a read. A
// group that does not probe leaves it in: nothing would bring it back.
func (g *Group) Failed(place int, err error) {
	if g.opts.Health == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.replicas[place]
	r.good = 0
	if r.state.Up { // otherwise it is known why already
		g.out(r, "a read failed: "+err.Error())
	}
}

// PrimaryOnly sends all reads to the primary from now on, or ends that.
func (g *Group) PrimaryOnly(on bool) { g.primaryOnly.Store(on) }

// OnlyPrimary reports whether all reads go to the primary.
func (g *Group) OnlyPrimary() bool { return g.primaryOnly.Load() }

// Disable keeps reads away from a replica, whatever its state, or ends that. It
// reports whether the group has a replica of that name.
func (g *Group) Disable(replica string, off bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.replicas {
		if r.Name == replica {
			r.state.Disabled = off
			g.publish()
			return true
		}
	}
	return false
}

// States returns what is known of the replicas, in configured order.
func (g *Group) States() []State {
	g.mu.Lock()
	defer g.mu.Unlock()
	states := make([]State, len(g.replicas))
	for i, r := range g.replicas {
		states[i] = r.state
	}
	return states
}

// publish lets reads see the states. The caller holds the lock, but when the
// group is made.
func (g *Group) publish() {
	available := make([]*Replica, 0, len(g.replicas))
	for _, r := range g.replicas {
		if r.state.Up && !r.state.Disabled {
			available = append(available, r)
		}
	}
	g.available.Store(&available)
}
