package shardkernel

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// A statement by primary key goes to the node that its row most likely is on. The
// others are asked only where that one does not have the row, as plan.Rest says.

// parts plans the parts of such a statement.
func (k *Kernel) parts(from origin) func(context.Context, plan.Part) (*plan.Execution, error) {
	return func(ctx context.Context, part plan.Part) (*plan.Execution, error) {
		var of hints
		if from.told != nil {
			of = *from.told
		}
		of.part = part
		ex, err := k.routed(ctx, &of, from.statement, from.text, from.args)
		if err != nil {
			return nil, err
		}
		ex.Session, ex.Reads, ex.Replica = of.session, of.reads, from.statement.replicable()
		return ex, nil
	}
}

// queryKeyed runs a planned statement that returns rows. A read by primary key whose
// rest the other nodes may have to answer for asks them where it finds no row.
func (k *Kernel) queryKeyed(ctx context.Context, s *Session, ex *plan.Execution, from origin) (driver.Rows, error) {
	switch ex.Rest {
	case plan.RestProbeFirst:
		if err := k.refuseElsewhere(ctx, s, ex); err != nil {
			return nil, err
		}
	case plan.RestRefuse:
		return noRows{}, k.refuseChange(ctx, s, ex)
	}
	rows, err := k.answered(ctx, s, ex, from)
	if err != nil || ex.Rest != plan.RestRead {
		return rows, err
	}
	first := make([]driver.Value, len(rows.Columns()))
	if err = rows.Next(first); err == nil {
		return &fetchedRows{columnRows: rows.(columnRows), first: [][]driver.Value{first}}, nil
	}
	if err := errors.Join(ignoreEnd(err), rows.Close()); err != nil {
		return nil, err
	}
	rest, err := ex.Part(ctx, plan.PartRest)
	if err != nil {
		return nil, err
	}
	return k.answered(ctx, s, rest, from)
}

// execKeyed runs a write whose rest the other nodes may have to answer for. The
// row is on one node, so at most one of the statements changes something.
func (k *Kernel) execKeyed(ctx context.Context, s *Session, ex *plan.Execution) (driver.Result, error) {
	switch ex.Rest {
	case plan.RestProbeFirst:
		if err := k.refuseElsewhere(ctx, s, ex); err != nil {
			return nil, err
		}
		return k.execUnits(ctx, s, ex)
	case plan.RestRefuse:
		return result{}, k.refuseChange(ctx, s, ex)
	}
	done, err := k.execUnits(ctx, s, ex)
	if err != nil {
		return nil, err
	}
	return k.askRest(ctx, s, ex, done)
}

// askRest asks the nodes that a write by primary key has left out, where it
// affected no row.
func (k *Kernel) askRest(ctx context.Context, s *Session, ex *plan.Execution, done driver.Result) (driver.Result, error) {
	if n, err := done.RowsAffected(); err != nil || n > 0 {
		return done, err
	}
	if ex.Rest == plan.RestProbe {
		return done, k.refuseElsewhere(ctx, s, ex)
	}
	if s != nil {
		s.previous = elsewhere // ROW_COUNT() would tell of what is asked now
	}
	// The row may be there and equal already what is set, or not fulfil the rest
	// of WHERE. Asking for it spares the others a write, and the locks of its gaps.
	own, err := ex.Part(ctx, plan.PartOwn)
	if err != nil {
		return nil, err
	}
	if found, err := k.anyRow(ctx, s, own); found || err != nil {
		return done, err
	}
	rest, err := ex.Part(ctx, plan.PartRest)
	if err != nil {
		return nil, err
	}
	s.noteWrite(rest)
	return k.execUnits(ctx, s, rest)
}

// refuseElsewhere fails a write where another node has a row with its primary key:
// the row would be on two nodes, or not on that of its sharding values.
//
// The question locks nothing. A locking one would lock the gaps in which the rows
// are not, and two transactions that save new rows would wait for each other's
// on different nodes, which no server sees. What another transaction has not
// committed is not seen: no unique key reaches over nodes.
func (k *Kernel) refuseElsewhere(ctx context.Context, s *Session, ex *plan.Execution) error {
	rest, err := ex.Part(ctx, plan.PartRest)
	if err != nil {
		return err
	}
	begun := s.branched()
	found, err := k.anyRow(ctx, s, rest)
	if err == nil && !found {
		found, err = k.anyUnseen(ctx, s, rest, begun)
	}
	if err != nil || !found {
		return err
	}
	return &fault.RouteError{
		Class: fault.ErrShardingKeyUpdate, Table: ex.Logical, Reason: "the row with this primary key is on another node than that of the sharding values it is given",
		Remedy: "read the row anew and leave its sharding columns as they are; to move a row, insert it anew and delete the old one",
	}
}

// refuseChange fails a write that would change a row, and one whose WHERE a server
// fails in a write.
func (k *Kernel) refuseChange(ctx context.Context, s *Session, ex *plan.Execution) error {
	if s != nil {
		s.previous = elsewhere // ROW_COUNT() would tell of what is asked now
	}
	found, err := k.anyRow(ctx, s, ex)
	switch {
	case err != nil:
		return err
	case found:
		return ex.Refusal
	}
	rest, err := ex.Part(ctx, plan.PartRest)
	if err != nil {
		return err
	}
	_, err = k.execUnits(ctx, s, rest)
	return err
}

// anyRow reports whether a question for rows finds any.
func (k *Kernel) anyRow(ctx context.Context, s *Session, ex *plan.Execution) (bool, error) {
	switch {
	case len(ex.Units) == 0:
		return false, nil
	case ex.Write: // what is known of the table has changed since the write was planned
		return false, fmt.Errorf("sharding: the columns of table %s are being read anew: %w", ex.Units[0].Table, fault.ErrRetryable)
	}
	if err := k.checkSources(ctx, ex); err != nil {
		return false, err
	}
	rows, err := k.merged(ctx, ex, s.branches())
	if err != nil {
		return false, err
	}
	err = rows.Next(make([]driver.Value, len(rows.Columns())))
	return err == nil, errors.Join(ignoreEnd(err), rows.Close())
}

// anyUnseen reports whether a question for rows finds any that the transaction does
// not see, because its snapshot of the data source, one of those on which it had
// begun, is older. It is asked over the control connections, and the transaction
// once more where there is such a row: it may have deleted it itself. That question
// locks, for it has to see what is stored now, but no gap, since the row is there.
func (k *Kernel) anyUnseen(ctx context.Context, s *Session, ex *plan.Execution, begun []string) (bool, error) {
	for _, u := range ex.Units {
		source := k.sources[u.DataSource]
		// A pool of the application's own that is its own control pool may be held
		// by this transaction alone.
		if !slices.Contains(begun, u.DataSource) || !source.Dialect.IsMySQL() || source.control == source.DB {
			continue
		}
		var one int
		if err := source.control.QueryRowContext(ctx, u.SQL, u.Args...).Scan(&one); errors.Is(err, sql.ErrNoRows) {
			continue
		} else if err != nil {
			return false, err
		}
		u.SQL += " FOR UPDATE"
		now := *ex
		now.Units = []plan.Unit{u}
		if found, err := k.anyRow(ctx, s, &now); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// ignoreEnd returns err unless it tells the end of rows.
func ignoreEnd(err error) error {
	if err == io.EOF { //nolint:errorlint // a driver's end of rows is the value itself
		return nil
	}
	return err
}
