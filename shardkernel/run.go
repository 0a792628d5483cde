package shardkernel

import (
	"context"
	"database/sql/driver"

	"github.com/gormshard/sharding/shardkernel/internal/execute"
	"github.com/gormshard/sharding/shardkernel/internal/merge"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/transaction"
)

// Query runs a statement that returns rows. tx is the transaction to run in, nil
// outside one. The caller closes the rows; ctx has to live until then.
func (k *Kernel) Query(ctx context.Context, tx *Tx, text string, args []any) (driver.Rows, error) {
	s, err := k.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	ex, err := k.ready(ctx, s, text, args)
	if err != nil {
		return nil, err
	}
	if tx == nil && k.needsTransaction(ex) {
		var rows driver.Rows
		err := k.implicitly(ctx, func(branches execute.Branches) error {
			rows, err = k.merged(ctx, ex, branches)
			return err
		})
		return rows, err
	}
	return k.merged(ctx, ex, tx.branches())
}

// merged runs a query's units and makes one result of them. The rows of a write
// over several units are complete and free of its connections.
func (k *Kernel) merged(ctx context.Context, ex *plan.Execution, branches execute.Branches) (driver.Rows, error) {
	cursors, err := k.executor.Query(ctx, ex, branches)
	if err != nil {
		return nil, err
	}
	if ex.Merge == nil {
		return cursors[0], nil
	}
	return merge.Rows(ex.Merge, cursors, merge.Limits{
		MaxRows: k.props.MaxMergeRows, MaxBytes: k.props.MaxMergeBytes, Budget: k.budget,
	})
}

// Exec runs a statement that returns no rows. tx is the transaction to run in,
// nil outside one.
func (k *Kernel) Exec(ctx context.Context, tx *Tx, text string, args []any) (driver.Result, error) {
	s, err := k.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	if s.control() {
		return driver.RowsAffected(0), k.control(ctx, tx, s.verb, text)
	}
	ex, err := k.ready(ctx, s, text, args)
	if err != nil {
		return nil, err
	}
	var results []execute.Result
	if tx == nil && k.needsTransaction(ex) {
		err = k.implicitly(ctx, func(branches execute.Branches) error {
			results, err = k.executor.Exec(ctx, ex, branches)
			return err
		})
	} else {
		results, err = k.executor.Exec(ctx, ex, tx.branches())
	}
	if err != nil {
		return nil, err
	}
	return resultOf(ex, results), nil
}

// ready plans a statement and makes sure that the servers it goes to have been
// checked.
func (k *Kernel) ready(ctx context.Context, s *statement, text string, args []any) (*plan.Execution, error) {
	ex, err := k.plan(ctx, s, text, args)
	if err != nil {
		return nil, err
	}
	for i := range ex.Units {
		if _, err := k.source(ctx, ex.Units[i].DataSource); err != nil {
			return nil, err
		}
	}
	return ex, nil
}

func (k *Kernel) needsTransaction(ex *plan.Execution) bool {
	return k.implicit && ex.Write && len(ex.Units) > 1
}

func (k *Kernel) implicitly(ctx context.Context, run func(execute.Branches) error) error {
	return transaction.Implicit(ctx, driver.TxOptions{}, k.lookup, run)
}

// result is the answer to a write.
type result struct{ affected, lastInsertID int64 }

func (r result) LastInsertId() (int64, error) { return r.lastInsertID, nil }
func (r result) RowsAffected() (int64, error) { return r.affected, nil }

// resultOf makes one result of the units': the affected rows are summed, those
// of a write to a broadcast table counted once; the last insert id is the
// server's for one unit, else the one the planner knows of (decisions, Writes).
func resultOf(ex *plan.Execution, results []execute.Result) driver.Result {
	if len(results) == 1 {
		return result{affected: results[0].RowsAffected, lastInsertID: results[0].LastInsertID}
	}
	if ex.Merge != nil && ex.Merge.Broadcast {
		return result{affected: results[0].RowsAffected, lastInsertID: results[0].LastInsertID}
	}
	var r result
	for i := range results {
		r.affected += results[i].RowsAffected
	}
	r.lastInsertID = ex.LastInsertID
	return r
}
