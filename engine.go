package sharding

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/shardkernel"
)

// engine runs the generations of a configuration, one after the other. It is safe
// for concurrent use.
type engine struct {
	options *options
	caller  *callerPool // nil without GORM
	live    *shardkernel.Live
	drain   *drain

	closing   context.Context // ends when the engine is closed, and with it what a reload waits for
	stop      context.CancelFunc
	reloading chan struct{} // takes one at a time

	mu       sync.Mutex
	current  *generation
	closed   bool
	reloads  Reloads
	watchers []*config.Watcher
}

// newEngine starts the first generation.
func newEngine(cfg *config.Config, o *options, caller *callerPool) (*engine, error) {
	cfg = cfg.Clone()
	rules, err := compile(cfg, o, nil)
	if err != nil {
		return nil, err
	}
	first, err := open(context.Background(), cfg, rules, o, caller, nil)
	if err != nil {
		return nil, err
	}
	first.number, first.since = 1, time.Now()
	first.fetchAhead()
	closing, stop := context.WithCancel(context.Background())
	return &engine{closing: closing, stop: stop, reloading: make(chan struct{}, 1), options: o, caller: caller, live: shardkernel.NewLive(first.kernel), drain: newDrain(caller), current: first}, nil
}

// generation returns the one in force.
func (e *engine) generation() *generation {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.current
}

// close ends the watchers and a reload under way, and closes all pools.
func (e *engine) close() error {
	e.mu.Lock()
	watchers := e.watchers
	e.closed, e.watchers = true, nil
	e.mu.Unlock()
	e.stop()
	e.drain.hurry()
	for _, w := range watchers {
		w.Close()
	}
	e.reloading <- struct{}{}
	defer func() { <-e.reloading }()
	e.drain.close()
	g := e.generation()
	return errors.Join(g.kernel.Close(), g.sources.close())
}

var errClosed = errors.New("sharding: closed")

// reload puts a generation of another configuration in the place of the one in
// force.
func (e *engine) reload(ctx context.Context, cfg *config.Config, opts []ReloadOption) (changed bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(e.closing, func() { cancel(errClosed) })() //nolint:contextcheck // it waits for Close
	select {
	case e.reloading <- struct{}{}:
		defer func() { <-e.reloading }()
	case <-ctx.Done():
		err := context.Cause(ctx)
		e.refused(err) //nolint:contextcheck // it is told of though the context has ended
		return false, err
	}
	e.mu.Lock()
	before, closed := e.current, e.closed
	e.mu.Unlock()
	if closed {
		return false, errClosed
	}
	g, err := before.next(ctx, cfg, e.options, e.caller, opts)
	if err != nil {
		// A dial that the context ends may say no more than that it took too long.
		if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
			err = errors.Join(cause, err)
		}
		e.refused(err) //nolint:contextcheck // it is told of though the context has ended
		return false, err
	}
	e.mu.Lock()
	e.current, e.reloads.Err = g, nil
	if g != before {
		e.reloads.Applied++
		g.apply(before)
	}
	e.mu.Unlock()
	if g == before {
		return false, nil
	}
	g.fetchAhead()
	// Statements that begin from here on are the new generation's.
	old := e.live.Swap(g.kernel)
	e.drain.add(before, g)
	if g.moved(before) {
		e.drain.quiet(ctx, old.Quiet(), g.cfg.Props.WithDefaults().DrainTimeout)
	}
	e.caller.log().Info(context.Background(), "sharding: configuration reloaded: generation %d, rules %s", g.number, g.fingerprint) //nolint:contextcheck // likewise
	return true, nil
}

// refused counts and logs a configuration that does not come into force.
func (e *engine) refused(err error) {
	e.mu.Lock()
	e.reloads.Failed++
	e.reloads.LastFailure, e.reloads.Err = time.Now(), err
	e.mu.Unlock()
	e.caller.log().Warn(context.Background(), "sharding: the configuration was not reloaded: %v", err)
}
