package execute

import (
	"context"
	"database/sql/driver"

	"github.com/gormshard/sharding/shardkernel/internal/memory"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// Limits bounds what one statement, and all statements together, may take. A
// field that is not positive takes its default.
type Limits struct {
	// MaxConnectionsPerQuery is the number of connections one statement may
	// take in one data source outside a transaction. A pool that is smaller
	// limits it further. Defaults to 1.
	MaxConnectionsPerQuery int
	// MaxParallelUnits is the number of units sent at the same time, over all
	// statements. Defaults to 256.
	MaxParallelUnits int
	// MaxBufferedRows and MaxBufferedBytes limit what one statement holds in
	// memory where its units cannot be streamed; beyond them it fails with
	// ErrTooManyRows. Default to 300,000 rows and 64 MiB.
	MaxBufferedRows  int
	MaxBufferedBytes int64
	// Budget, when not nil, is what all statements of the process share.
	Budget *memory.Budget
}

func (l Limits) withDefaults() Limits {
	for _, f := range []struct {
		field *int
		value int
	}{
		{&l.MaxConnectionsPerQuery, 1},
		{&l.MaxParallelUnits, 256},
		{&l.MaxBufferedRows, 300_000},
	} {
		if *f.field <= 0 {
			*f.field = f.value
		}
	}
	if l.MaxBufferedBytes <= 0 {
		l.MaxBufferedBytes = 64 << 20
	}
	return l
}

// Branches is an open transaction over data sources.
type Branches interface {
	// Branch returns the transaction's connection of a data source and begins
	// the transaction there first if need be.
	Branch(ctx context.Context, source string) (*Conn, error)
	// Atomic runs a write over several units of the data sources, whose
	// branches are open. When run fails, what it wrote is undone.
	Atomic(ctx context.Context, sources []string, run func() error) error
	// Failed tells of an error that a branch's connection returned.
	Failed(source string, err error)
}

// Executor sends plans to the data sources. It is safe for concurrent use.
type Executor struct {
	lookup func(name string) (*Source, error)
	limits Limits
	slots  chan struct{} // one for each unit being sent
}

// New returns an executor over the data sources that lookup knows.
func New(lookup func(name string) (*Source, error), limits Limits) *Executor {
	limits = limits.withDefaults()
	return &Executor{lookup: lookup, limits: limits, slots: make(chan struct{}, limits.MaxParallelUnits)}
}

// Sending returns the number of units of statements over several nodes that are
// being sent at the moment, and how many may be.
func (e *Executor) Sending() (now, most int) { return len(e.slots), cap(e.slots) }

// Query sends the plan's units and returns their rows as the plan's merge wants
// them: for MergeOrdered, MergeRows and MergeUnion one cursor for each unit, in their order;
// else one for each connection, whose units follow one another in it. The
// caller closes every cursor, and ctx has to live until then. br is the
// transaction to run in, and a nil interface outside one.
//
// Outside a transaction, closing a cursor of several before its end may end the
// others with an error: nobody wants one of them without the rest.
//
// The rows of a plan with InTurn are complete in memory when Query returns.
//
// A plan of one unit streams always, in a transaction from the branch's
// connection. The rows of a write over several units are complete in memory
// when Query returns.
//
// Errors: the driver's own value for one unit, *fault.NodesError for several;
// none matches driver.ErrBadConn. A connection that cannot be had is a
// *fault.NodeError, and nothing was sent.
func (e *Executor) Query(ctx context.Context, ex *plan.Execution, br Branches) ([]driver.Rows, error) {
	switch len(ex.Units) {
	case 0:
		return nil, nil
	case 1:
		c, err := e.queryOne(ctx, ex, br)
		if err != nil {
			return nil, err
		}
		return []driver.Rows{c}, nil
	}
	// single: a cursor of its own for each unit.
	single := ex.Write || ex.InTurn || ex.Merge != nil &&
		(ex.Merge.Kind == plan.MergeOrdered || ex.Merge.Kind == plan.MergeRows || ex.Merge.Kind == plan.MergeUnion)
	perSource := e.limits.MaxConnectionsPerQuery
	if br != nil || ex.Write || ex.InTurn {
		perSource = 1
	}
	lanes, err := e.lanes(ex, perSource)
	if err != nil {
		return nil, err
	}
	if ex.Together {
		for _, l := range lanes {
			l.units = together(l.units)
			l.index = l.index[:len(l.units)]
		}
	}
	var out []driver.Rows
	err = e.send(ctx, ex, br, lanes, func(r *run) error { //nolint:contextcheck // the clock is let go also when the caller's context has ended
		out = make([]driver.Rows, len(lanes))
		if single {
			out = make([]driver.Rows, len(ex.Units))
		}
		each := r.each
		if ex.InTurn {
			each = r.inTurn
		}
		err := each(e.slots, lanes, func(i int, l *lane) {
			switch {
			case ex.InTurn:
				r.buffer(l, out)
			case !single:
				out[i] = r.stream(l)
			case len(l.units) == 1 && !ex.Write:
				out[l.index[0]] = r.stream(l)
			default:
				r.buffer(l, out)
			}
		})
		if err != nil {
			discard(out)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Exec sends the plan's units and returns their results in the order of the
// units. Data sources work at the same time, or one after the other for a plan
// with InTurn, the units of one in turn over one connection. br and errors are as
// for Query.
//
// Outside a transaction nothing is undone when a unit fails: a write over
// several units belongs in transaction.Implicit.
func (e *Executor) Exec(ctx context.Context, ex *plan.Execution, br Branches) ([]Result, error) {
	switch len(ex.Units) {
	case 0:
		return nil, nil
	case 1:
		r, err := e.execOne(ctx, ex, br)
		if err != nil {
			return nil, err
		}
		return []Result{r}, nil
	}
	lanes, err := e.lanes(ex, 1)
	if err != nil {
		return nil, err
	}
	out := make([]Result, len(ex.Units))
	err = e.send(ctx, ex, br, lanes, func(r *run) error { //nolint:contextcheck // the clock is let go also when the caller's context has ended
		each := r.each
		if ex.InTurn {
			each = r.inTurn
		}
		return each(e.slots, lanes, func(_ int, l *lane) { r.exec(l, out) })
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// send takes the connections of the lanes and gives them to work, in a
// transaction with the promise that a failed write leaves nothing.
func (e *Executor) send(ctx context.Context, ex *plan.Execution, br Branches, lanes []*lane, work func(*run) error) error {
	if err := acquire(ctx, lanes, br); err != nil {
		return err
	}
	if ex.Clock {
		if err := holdClocks(ctx, ex, lanes, br); err != nil {
			return err
		}
	}
	r := newRun(ctx, br, len(lanes), e.limits)
	if ex.Merge != nil {
		r.extremes = ex.Merge.Extremes
	}
	if br == nil || !ex.Write {
		return work(r)
	}
	sources := make([]string, len(lanes))
	for i, l := range lanes {
		sources[i] = l.source.Name
	}
	err := br.Atomic(ctx, sources, func() error { return work(r) })
	for _, l := range lanes {
		l.conn.letClock() //nolint:contextcheck // where work was never reached
	}
	return err
}

func (e *Executor) queryOne(ctx context.Context, ex *plan.Execution, br Branches) (*cursor, error) {
	c, u := &cursor{branches: br, owned: br == nil}, &ex.Units[0]
	err := e.one(ctx, ex, br, func(conn *Conn) (err error) {
		c.conn = conn
		c.rows, c.stmt, c.sent, err = conn.queryUnit(ctx, u)
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (e *Executor) execOne(ctx context.Context, ex *plan.Execution, br Branches) (Result, error) {
	var result Result
	u := &ex.Units[0]
	err := e.one(ctx, ex, br, func(conn *Conn) (err error) {
		result, err = conn.execUnit(ctx, u)
		conn.letClock() //nolint:contextcheck // also when the caller's context has ended
		if err == nil && br == nil {
			conn.Release(false)
		}
		return err
	})
	return result, err
}

// one sends a single unit. Outside a transaction a connection on which nothing
// could be sent is replaced: the statement holds no other connection, so that
// waiting for a new one cannot block anybody. On success the connection is
// work's.
func (e *Executor) one(ctx context.Context, ex *plan.Execution, br Branches, send func(*Conn) error) error {
	u := &ex.Units[0]
	work := send
	if ex.Clock {
		work = func(conn *Conn) error {
			if err := conn.holdClock(ctx, ex.Now); err != nil {
				return err
			}
			err := send(conn)
			if err != nil {
				conn.letClock() //nolint:contextcheck // the clock is let go also when the caller's context has ended
			}
			return err
		}
	}
	if br != nil {
		conn, err := br.Branch(ctx, u.Server())
		if err != nil {
			return err
		}
		if err = work(conn); err != nil {
			br.Failed(u.Server(), err)
		}
		return conn.source.safe(err)
	}
	source, err := e.lookup(u.Server())
	if err != nil {
		return err
	}
	for try := 0; ; try++ {
		conn, err := source.Acquire(ctx)
		if err != nil {
			return err
		}
		err = work(conn)
		if err == nil {
			return nil
		}
		conn.Release(conn.Lost())
		if !unsent(err) || try == badConnRetries {
			return source.safe(err)
		}
	}
}
