package execute

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// run is one statement of several units on its way.
type run struct {
	caller   context.Context
	ctx      context.Context // of the nodes' statements, lives as long as a cursor
	cancel   context.CancelFunc
	branches Branches
	budget   budget
	extremes []int        // of the plan's merge
	open     atomic.Int32 // lanes or cursors not closed yet
	hurried  sync.Once

	stopped  atomic.Bool
	mu       sync.Mutex
	failures []failure
}

type failure struct {
	unit int // its index in the plan
	node *fault.NodeError
}

// newRun prepares the way of a statement over lanes that have their connections.
//
// Outside a transaction the first error cancels what runs on the other nodes.
// Inside one it does not: a cancelled statement costs MySQL the connection, and
// with it the branch; statements already sent are waited for, so that they can
// be undone, and no further one is sent.
func newRun(ctx context.Context, br Branches, lanes int, limits Limits) *run {
	r := &run{
		caller: ctx, ctx: ctx, cancel: func() {}, branches: br,
		budget: budget{maxRows: int64(limits.MaxBufferedRows), maxBytes: limits.MaxBufferedBytes, process: limits.Budget},
	}
	if br == nil {
		r.ctx, r.cancel = context.WithCancel(ctx)
	}
	r.open.Store(int32(lanes))
	return r
}

// each runs work for every lane, all at once as far as slots allow, and returns
// when all have ended. On failure every connection has been given back but
// those of the cursors work has made.
func (r *run) each(slots chan struct{}, lanes []*lane, work func(i int, l *lane)) error {
	var wg sync.WaitGroup
	for i, l := range lanes {
		select {
		case slots <- struct{}{}:
		case <-r.ctx.Done():
			r.fail(l, 0, r.ctx.Err())
			r.end(l)
			continue
		}
		if i == len(lanes)-1 {
			work(i, l)
			<-slots
			break
		}
		wg.Go(func() {
			work(i, l)
			<-slots
		})
	}
	wg.Wait()
	return r.settle()
}

// inTurn is each with one lane after the other.
func (r *run) inTurn(slots chan struct{}, lanes []*lane, work func(i int, l *lane)) error {
	for i, l := range lanes {
		select {
		case slots <- struct{}{}:
			work(i, l)
			<-slots
		case <-r.ctx.Done():
			r.fail(l, 0, r.ctx.Err())
			r.end(l)
		}
	}
	return r.settle()
}

// stream sends the lane's first unit and returns the cursor over all of them,
// nil on failure.
func (r *run) stream(l *lane) driver.Rows {
	if r.stopped.Load() {
		r.end(l)
		return nil
	}
	l.conn.identify(r.ctx)
	c := &cursor{conn: l.conn, branches: r.branches, owned: l.owned, run: r, left: l.units}
	if err := c.open(); err != nil {
		err = r.told(err)
		r.spoil(l.conn)
		r.fail(l, 0, err)
		_ = c.Close()
		return nil
	}
	return c
}

// buffer reads the units of the lane in turn into memory, to their places in out.
func (r *run) buffer(l *lane, out []driver.Rows) {
	defer r.end(l)
	l.conn.identify(r.ctx)
	for k, u := range l.units {
		if r.stopped.Load() {
			return
		}
		b, err := r.read(l, u)
		if err != nil {
			r.spoil(l.conn)
			r.fail(l, k, err)
			return
		}
		out[l.index[k]] = b
	}
}

func (r *run) read(l *lane, u *plan.Unit) (*buffer, error) {
	rows, stmt, sent, err := l.conn.queryUnit(r.ctx, u)
	if err != nil {
		return nil, r.told(err)
	}
	c := &cursor{conn: l.conn, rows: rows, stmt: stmt, sent: sent, branches: r.branches, run: r, unit: u}
	b, err := readAll(u, rows, &r.budget)
	_ = l.conn.note(err)
	err = r.told(err)
	sent.buffered(b, err)
	if err != nil {
		r.stop()
	}
	c.atEnd = err == nil
	if e := c.closeRows(); err == nil {
		err = e
	}
	return b, err
}

// told returns the error by which a read has failed. Where another one had failed
// before, the driver hangs up, and may find the connection gone before it looks at the
// context: that says nothing of the server.
func (r *run) told(err error) error {
	if r.branches == nil && r.ctx.Err() != nil && dialect.ConnectionLost(err) {
		return r.ctx.Err()
	}
	return err
}

// exec sends the units of the lane in turn.
func (r *run) exec(l *lane, out []Result) {
	defer r.end(l)
	l.conn.identify(r.ctx)
	for k, u := range l.units {
		if r.stopped.Load() {
			return
		}
		res, err := l.conn.execUnit(r.ctx, u)
		if err != nil {
			r.spoil(l.conn)
			r.fail(l, k, err)
			return
		}
		out[l.index[k]] = res
	}
}

// fail records the failure of the lane's k-th unit and stops the statement.
func (r *run) fail(l *lane, k int, err error) {
	r.note(l, k, err)
	r.stop()
}

// note records the failure of the lane's k-th unit.
func (r *run) note(l *lane, k int, err error) {
	r.kill(l.conn, l.units[k])
	f := failure{unit: l.index[k], node: l.source.nodeError(l.units[k].Table, err)}
	r.mu.Lock()
	r.failures = append(r.failures, f)
	r.mu.Unlock()
}

func (r *run) stop() {
	r.stopped.Store(true)
	r.cancel()
}

// end gives the lane's connection back.
func (r *run) end(l *lane) {
	l.conn.letClock()
	if l.owned {
		l.conn.Release(false)
	}
	r.done()
}

// done counts a lane or cursor as closed; the last one ends the context.
func (r *run) done() {
	if r.open.Add(-1) == 0 {
		r.cancel()
	}
}

// settle tells the transaction of the failures and makes one error of them.
func (r *run) settle() error {
	if len(r.failures) == 0 {
		return nil
	}
	slices.SortFunc(r.failures, func(a, b failure) int { return cmp.Compare(a.unit, b.unit) })
	nodes := make([]*fault.NodeError, len(r.failures))
	for i, f := range r.failures {
		nodes[i] = f.node
		if r.branches != nil {
			r.branches.Failed(f.node.DataSource, f.node)
		}
	}
	return r.error(nodes)
}

// fault is the error of one node that failed while its rows were read.
func (r *run) fault(source *Source, u *plan.Unit, err error) error {
	return r.error([]*fault.NodeError{source.nodeError(u.Table, err)})
}

// error makes one error of the nodes' errors. When the caller's context has
// ended it matches the context's error.
func (r *run) error(nodes []*fault.NodeError) error {
	ended := r.caller.Err()
	// Without an end of the caller's context, a node was cancelled because
	// another one failed; that is no failure of its own.
	cause := ended
	if cause == nil {
		cause = context.Canceled
	}
	own := slices.DeleteFunc(slices.Clone(nodes), func(n *fault.NodeError) bool { return errors.Is(n, cause) })
	if len(own) > 0 {
		return &fault.NodesError{Class: ended, Nodes: own}
	}
	if ended != nil {
		return ended
	}
	return &fault.NodesError{Nodes: nodes}
}

// discard closes the rows of a statement that failed.
func discard(all []driver.Rows) {
	for _, rows := range all {
		if rows != nil {
			_ = rows.Close()
		}
	}
}
