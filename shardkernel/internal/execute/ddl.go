package execute

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// Define sends a DDL statement over several units, outside a transaction, and
// returns their results in the order of the units. Data sources work at the same
// time, the units of one in turn over one connection, and the first unit when all
// others are done: its node answers for the table, and is to be as it was for as
// long as the statement has to be repeated.
//
// Every unit takes effect by itself. A unit whose node is already as the
// statement would make it fails, and the others go on, so that a statement that
// took effect in part can be repeated; after any other failure no further unit
// is sent, and those under way are waited for. Where some are done already, alike,
// unless it is nil, is asked before the first unit is sent: an error of its says that
// they are not as the statement makes them, ends it, and is joined to theirs. The
// error is a *fault.NodesError
// that names the failed nodes, and of class ErrPartialDDL, with those that are
// done, where there are such.
func (e *Executor) Define(ctx context.Context, ex *plan.Execution, br Branches, alike func() error) ([]Result, error) {
	lanes, err := e.lanes(ex, 1)
	if err != nil {
		return nil, err
	}
	if err := acquire(ctx, lanes, br); err != nil {
		return nil, err
	}
	// What has been sent is not cancelled when another unit fails: nobody would
	// know then whether it took effect.
	r := &run{caller: ctx, ctx: ctx, cancel: func() {}, branches: br}
	last, lanes := apart(lanes)
	r.open.Store(int32(len(lanes) + 1))
	out, done := make([]Result, len(ex.Units)), make([]bool, len(ex.Units))
	work := func(_ int, l *lane) { r.define(l, ex.Renames, out, done) } //nolint:contextcheck // the clock is let go also when the caller's context has ended
	err = r.each(e.slots, lanes, work)                                  //nolint:contextcheck // see above
	var differ error
	if err != nil && !r.stopped.Load() && alike != nil {
		differ = alike()
	}
	if r.stopped.Load() || differ != nil {
		r.end(last) //nolint:contextcheck // see above
	} else {
		err = r.each(e.slots, []*lane{last}, work) //nolint:contextcheck // see above
	}
	if err == nil {
		return out, nil
	}
	failed := &fault.NodesError{}
	slices.SortFunc(r.failures, func(a, b failure) int { return cmp.Compare(a.unit, b.unit) })
	for _, f := range r.failures {
		failed.Nodes = append(failed.Nodes, f.node)
	}
	for i := range ex.Units {
		if done[i] {
			failed.Class = fault.ErrPartialDDL
			failed.Done = append(failed.Done, nodeName(&ex.Units[i]))
		}
	}
	if differ != nil {
		return out, errors.Join(failed, differ)
	}
	return out, failed
}

// apart takes the first unit out of the lanes, and gives it one of its own over the
// same connection.
func apart(lanes []*lane) (first *lane, others []*lane) {
	l := lanes[0]
	first = &lane{source: l.source, conn: l.conn, owned: l.owned, units: l.units[:1], index: l.index[:1]}
	if len(l.units) == 1 {
		return first, lanes[1:]
	}
	l.owned, l.units, l.index = false, l.units[1:], l.index[1:]
	return first, lanes
}

func nodeName(u *plan.Unit) string {
	if u.Table == "" {
		return u.DataSource
	}
	return u.DataSource + "." + u.Table
}

// define sends the units of the lane in turn.
func (r *run) define(l *lane, renames bool, out []Result, done []bool) {
	defer r.end(l)
	for k, u := range l.units {
		if r.stopped.Load() {
			return
		}
		res, err := l.conn.execUnit(r.ctx, u)
		switch {
		case err == nil:
			out[l.index[k]], done[l.index[k]] = res, true
		case dialect.AlreadyDefined(err, renames):
			r.note(l, k, err)
		default:
			r.fail(l, k, err)
			return
		}
	}
}
