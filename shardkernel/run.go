package shardkernel

import (
	"context"
	"database/sql/driver"

	"github.com/gormshard/sharding/shardkernel/internal/execute"
	"github.com/gormshard/sharding/shardkernel/internal/merge"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/transaction"
)

// Query runs a statement that returns rows. s is the logical connection it came
// on, and h are the hints of the caller; both may be nil. The caller closes the
// rows; ctx has to live until then.
func (k *Kernel) Query(ctx context.Context, s *Session, h *Hints, text string, args []any) (driver.Rows, error) {
	st, told, err := k.hinted(ctx, h, text)
	if err != nil {
		return nil, err
	}
	if st.command != nil {
		return noRows{}, k.command(ctx, s, st, text, args)
	}
	ex, err := k.planFor(ctx, s, told, st, text, args)
	if err != nil {
		return nil, err
	}
	from := origin{st, told, text, args}
	rows, err := k.query(ctx, s, ex, from)
	if err != nil {
		return k.queryAgain(ctx, s, ex, from, err)
	}
	return rows, nil
}

// Query runs a planned statement that returns rows, outside a transaction. It is
// otherwise like Query of the kernel that planned it, which has to be in use.
func (p *Planned) Query(ctx context.Context) (driver.Rows, error) {
	k := p.kernel
	if p.command != nil {
		return noRows{}, k.command(ctx, nil, p.command, p.text, p.args)
	}
	rows, err := k.query(ctx, nil, p.execution, p.from)
	if err != nil {
		rows, err = k.queryAgain(ctx, nil, p.execution, p.from, err)
	}
	if err != nil {
		return nil, err
	}
	return k.held(rows), nil
}

// query runs a planned statement, within the time limit if there is one.
func (k *Kernel) query(ctx context.Context, s *Session, ex *plan.Execution, from origin) (driver.Rows, error) {
	if k.props.StatementTimeout <= 0 {
		return k.queryKeyed(ctx, s, ex, from)
	}
	ctx, cancel := context.WithTimeout(ctx, k.props.StatementTimeout)
	rows, err := k.queryKeyed(ctx, s, ex, from)
	if err != nil {
		cancel()
		return nil, err
	}
	return &timedRows{forwardedRows{rows.(columnRows)}, cancel}, nil
}

// columnRows is what the rows of the executor and of the merge have in common.
type columnRows interface {
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeScanType
	driver.RowsColumnTypeNullable
	driver.RowsColumnTypeLength
	driver.RowsColumnTypePrecisionScale
}

// timedRows ends the statement's time limit with its rows.
type timedRows struct {
	forwardedRows
	cancel context.CancelFunc
}

func (r *timedRows) Close() error {
	defer r.cancel()
	return r.columnRows.Close()
}

func (k *Kernel) send(ctx context.Context, s *Session, ex *plan.Execution) (driver.Rows, error) {
	rows, err := k.sendUnits(ctx, s, ex)
	k.noteSession(s, ex, err)
	if all, ok := rows.(columnRows); ok && err == nil && k.notes(ex) {
		rows = &notedRows{forwardedRows{all}, ex.Session, k.written(ex)}
	}
	return rows, err
}

func (k *Kernel) sendUnits(ctx context.Context, s *Session, ex *plan.Execution) (driver.Rows, error) {
	s.bind(ex)
	branches, err := k.choose(ctx, s, ex)
	if err != nil {
		return nil, err
	}
	if err := k.checkSources(ctx, ex); err != nil {
		return nil, err
	}
	switch {
	case ex.DDL && ex.Query:
		branches, err := s.definer(ex)
		if err != nil {
			return nil, err
		}
		return k.merged(ctx, ex, branches)
	case ex.DDL:
		if _, err := k.define(ctx, s, ex); err != nil {
			return nil, err
		}
		return noRows{}, nil
	}
	if k.needsTransaction(s, ex) {
		var rows driver.Rows
		err := k.implicitly(ctx, s, func(branches execute.Branches) (err error) {
			rows, err = k.merged(ctx, ex, branches)
			return err
		})
		return rows, err
	}
	rows, err := k.read(ctx, ex, branches)
	if err == nil || branches != nil || !k.grouped {
		return rows, err
	}
	// Each data source's replica may be one that has just gone.
	for again := sources(ex); err != nil && again > 0 && branches == nil && k.replicasFailed(ctx, ex, err); again-- {
		if branches, err = k.choose(ctx, s, ex); err == nil {
			rows, err = k.read(ctx, ex, branches)
		}
	}
	return rows, err
}

// merged runs a query's units and makes one result of them. The rows of a write
// over several units are complete and free of its connections.
func (k *Kernel) merged(ctx context.Context, ex *plan.Execution, branches execute.Branches) (driver.Rows, error) {
	if ex.Numbering != nil {
		rows, _, err := k.queryNumbered(ctx, ex, branches)
		return rows, err
	}
	if ex.First != nil {
		return k.queryPreceded(ctx, ex, branches)
	}
	if ex.Gather != nil {
		return k.queryGathered(ctx, ex, branches)
	}
	if ex.Merge == nil || !ex.Merge.MaySkip {
		return k.united(ctx, ex, branches)
	}
	var rows driver.Rows
	// What was inserted is undone where its rows cannot be told apart.
	err := atomically(ctx, ex, branches, func() (err error) {
		rows, err = k.united(ctx, ex, branches)
		return err
	})
	return rows, err
}

func (k *Kernel) united(ctx context.Context, ex *plan.Execution, branches execute.Branches) (driver.Rows, error) {
	cursors, err := k.executor.Query(ctx, ex, branches)
	if err != nil {
		return nil, err
	}
	if ex.Merge == nil {
		return cursors[0], nil
	}
	recipe := ex.Merge
	k.tellProtocol(recipe, &ex.Units[0])
	if recipe.Sorted > 0 && len(cursors) < len(ex.Units) {
		// A cursor over several units has their orders one after the other.
		unsorted := *recipe
		unsorted.Sorted = 0
		recipe = &unsorted
	}
	return merge.Rows(recipe, cursors, k.mergeLimits())
}

// tellProtocol tells a recipe in which protocol the values of the units come: over no
// rows none of them shows it.
func (k *Kernel) tellProtocol(recipe *plan.Merge, u *plan.Unit) {
	for i := range recipe.Aggregates {
		recipe.Aggregates[i].Plain = !u.Prepare && (len(u.Args) == 0 || !k.sources[u.DataSource].preparesArguments())
	}
	for i := range recipe.Branches {
		if m := recipe.Branches[i].Merge; m != nil {
			k.tellProtocol(m, u)
		}
	}
}

func (k *Kernel) mergeLimits() merge.Limits {
	return merge.Limits{MaxRows: k.props.MaxMergeRows, MaxBytes: k.props.MaxMergeBytes, Budget: k.budget}
}

// Exec runs a statement that returns no rows. It is otherwise like Query.
func (k *Kernel) Exec(ctx context.Context, s *Session, h *Hints, text string, args []any) (driver.Result, error) {
	st, told, err := k.hinted(ctx, h, text)
	if err != nil {
		return nil, err
	}
	if st.command != nil {
		return driver.RowsAffected(0), k.command(ctx, s, st, text, args)
	}
	ex, err := k.planFor(ctx, s, told, st, text, args)
	if err != nil {
		return nil, err
	}
	done, err := k.exec(ctx, s, ex)
	k.outdated(st, err)
	return done, err
}

// Exec runs a planned statement that returns no rows. It is otherwise like Query.
func (p *Planned) Exec(ctx context.Context) (driver.Result, error) {
	k := p.kernel
	if p.command != nil {
		return driver.RowsAffected(0), k.command(ctx, nil, p.command, p.text, p.args)
	}
	done, err := k.exec(ctx, nil, p.execution)
	k.outdated(p.from.statement, err)
	return done, err
}

func (k *Kernel) exec(ctx context.Context, s *Session, ex *plan.Execution) (driver.Result, error) {
	if k.props.StatementTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, k.props.StatementTimeout)
		defer cancel()
	}
	if ex.Rest != plan.RestNone {
		return k.execKeyed(ctx, s, ex)
	}
	return k.execUnits(ctx, s, ex)
}

// execUnits runs the units of a write, and tells the caller's session of it.
func (k *Kernel) execUnits(ctx context.Context, s *Session, ex *plan.Execution) (driver.Result, error) {
	done, err := k.execSent(ctx, s, ex)
	k.noteSession(s, ex, err)
	return done, err
}

func (k *Kernel) execSent(ctx context.Context, s *Session, ex *plan.Execution) (driver.Result, error) {
	err := k.checkSources(ctx, ex)
	if err != nil {
		return nil, err
	}
	var done driver.Result
	run := func(branches execute.Branches) (err error) {
		done, err = k.execOn(ctx, ex, branches)
		return err
	}
	switch {
	case ex.DDL:
		results, err := k.define(ctx, s, ex)
		if err != nil {
			return nil, err
		}
		return resultOf(ex, results), nil
	case k.needsTransaction(s, ex):
		err = k.implicitly(ctx, s, run)
	default:
		err = run(s.branches())
	}
	if err != nil {
		return nil, err
	}
	return done, nil
}

func (k *Kernel) execOn(ctx context.Context, ex *plan.Execution, branches execute.Branches) (driver.Result, error) {
	if ex.Numbering != nil {
		return k.execNumbered(ctx, ex, branches)
	}
	results, err := k.executor.Exec(ctx, ex, branches)
	if err != nil {
		return nil, err
	}
	return resultOf(ex, results), nil
}

// checkSources makes sure that the servers a statement goes to have been checked.
func (k *Kernel) checkSources(ctx context.Context, ex *plan.Execution) error {
	if ex.First != nil {
		for i := range ex.First.Subqueries {
			if err := k.checkSources(ctx, &ex.First.Subqueries[i].Rows); err != nil {
				return err
			}
		}
	}
	if ex.Gather != nil {
		for i := range ex.Gather.Tables {
			if err := k.checkSources(ctx, &ex.Gather.Tables[i].Rows); err != nil {
				return err
			}
		}
	}
	for i := range ex.Units {
		if _, err := k.source(ctx, ex.Units[i].Server()); err != nil {
			return err
		}
	}
	return nil
}

func (k *Kernel) needsTransaction(s *Session, ex *plan.Execution) bool {
	return k.implicit && ex.Write && len(ex.Units) > 1 && !s.inTransaction()
}

func (k *Kernel) implicitly(ctx context.Context, s *Session, run func(execute.Branches) error) error {
	return transaction.Implicit(ctx, driver.TxOptions{}, k.connections(s), run)
}

// result is the answer to a write.
type result struct{ affected, lastInsertID int64 }

func (r result) LastInsertId() (int64, error) { return r.lastInsertID, nil }
func (r result) RowsAffected() (int64, error) { return r.affected, nil }

// resultOf makes one result of the units': the affected rows are summed, those
// of a write to a broadcast table counted once; the last insert id is the one the
// planner knows of, else, where one table was written, the server's for the first
// unit.
func resultOf(ex *plan.Execution, results []execute.Result) result {
	if ex.Batch != nil {
		return batchResult(ex.Batch, results)
	}
	r := result{lastInsertID: ex.LastInsertID}
	if len(results) == 0 {
		return r
	}
	broadcast := ex.Merge != nil && ex.Merge.Broadcast
	first := &ex.Units[0]
	together := true // all units are for one table of one data source
	for i := range results {
		u := &ex.Units[i]
		if broadcast && u.DataSource != first.DataSource {
			break // and so are the others
		}
		together = together && u.DataSource == first.DataSource && u.Table == first.Table
		r.affected += results[i].RowsAffected
	}
	if r.lastInsertID == 0 && together {
		r.lastInsertID = results[0].LastInsertID
	}
	return r
}
