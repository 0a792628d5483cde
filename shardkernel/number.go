package shardkernel

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/gormshard/sharding/shardkernel/internal/execute"
	"github.com/gormshard/sharding/shardkernel/internal/merge"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// errNoNumber reports a data source that inserted a row and told no number.
var errNoNumber = errors.New("sharding: the data source told no number for a row it inserted into a broadcast table; give the AUTO_INCREMENT column a value")

// execNumbered runs a broadcast INSERT whose rows the first data source numbers.
func (k *Kernel) execNumbered(ctx context.Context, ex *plan.Execution, br execute.Branches) (driver.Result, error) {
	if ex.Numbering.Returned {
		rows, r, err := k.queryNumbered(ctx, ex, br)
		if err != nil {
			return nil, err
		}
		if ex.Query { // drivers tell nothing of a statement that returns rows
			r = result{}
		}
		return r, rows.Close()
	}
	var r result
	_, err := k.numbered(ctx, ex, br, func() ([]any, error) {
		first := *ex
		first.Units, first.Numbering, first.Merge = []plan.Unit{ex.Numbering.First}, nil, nil
		results, err := k.executor.Exec(ctx, &first, br)
		if err != nil {
			return nil, err
		}
		r = result{affected: results[0].RowsAffected, lastInsertID: results[0].LastInsertID}
		if r.lastInsertID == 0 {
			return nil, errNoNumber
		}
		return []any{r.lastInsertID}, nil
	})
	return r, err
}

// queryNumbered is execNumbered for a statement that returns the rows it inserted.
// Their number says not how many it affected where an upsert met rows that were there:
// another data source tells that, which does the same.
func (k *Kernel) queryNumbered(ctx context.Context, ex *plan.Execution, br execute.Branches) (rows driver.Rows, r result, err error) {
	others, err := k.numbered(ctx, ex, br, func() ([]any, error) {
		one := *ex
		one.Units, one.Numbering, one.Merge = []plan.Unit{ex.Numbering.First}, nil, nil
		cursors, err := k.executor.Query(ctx, &one, br)
		if err != nil {
			return nil, err
		}
		inserted := &replay{columnRows: cursors[0].(columnRows)}
		// A driver may know its columns no more when the statement has ended.
		rows, err = merge.Rows(&plan.Merge{Derived: 1}, []driver.Rows{inserted}, merge.Limits{
			MaxRows: k.props.MaxMergeRows, MaxBytes: k.props.MaxMergeBytes, Budget: k.budget,
		})
		if failed := inserted.read(); failed != nil {
			err = failed // the server's own error, which dialectors assert
		}
		if err != nil {
			return nil, err
		}
		numbers, err := inserted.numbers(ex.Numbering.Rows)
		if err == nil {
			r = result{affected: int64(len(inserted.rows)), lastInsertID: numbers[0].(int64)}
		}
		return numbers, err
	})
	if err != nil {
		if rows != nil {
			_ = rows.Close()
		}
		return nil, result{}, err
	}
	if len(others) > 0 {
		r.affected = others[0].RowsAffected
	}
	return rows, r, nil
}

// numbered runs insert on the first data source and then, with its numbers, the
// units of the others, all or nothing. It returns the results of the others.
func (k *Kernel) numbered(ctx context.Context, ex *plan.Execution, br execute.Branches, insert func() ([]any, error)) (others []execute.Result, err error) {
	err = atomically(ctx, ex, br, func() error {
		numbers, err := insert()
		if err != nil {
			return err
		}
		rest := *ex
		rest.Units, rest.Numbering = ex.Numbering.Rest(numbers), nil
		others, err = k.executor.Exec(ctx, &rest, br)
		return err
	})
	return others, err
}

// atomically runs several steps of a write on its data sources: all or nothing.
func atomically(ctx context.Context, ex *plan.Execution, br execute.Branches, run func() error) error {
	if br == nil {
		return run()
	}
	// In the one order in which every statement takes its connections.
	var sources []string
	for i := range ex.Units {
		sources = append(sources, ex.Units[i].DataSource)
	}
	slices.Sort(sources)
	for _, s := range sources {
		if _, err := br.Branch(ctx, s); err != nil {
			return err
		}
	}
	return br.Atomic(ctx, slices.Compact(sources), run)
}

// replay gives rows that were read before and whose statement has ended.
type replay struct {
	columnRows
	rows [][]driver.Value
	next int
}

// read reads the rows to their end and closes their statement.
func (r *replay) read() error {
	row := make([]driver.Value, len(r.Columns()))
	for {
		err := r.columnRows.Next(row)
		if err == io.EOF { //nolint:errorlint // a driver's end of rows is the value itself
			return r.columnRows.Close()
		}
		if err != nil {
			_ = r.columnRows.Close()
			return err
		}
		kept := slices.Clone(row)
		for i, v := range kept {
			if b, ok := v.([]byte); ok {
				kept[i] = bytes.Clone(b) // the driver uses its bytes again
			}
		}
		r.rows = append(r.rows, kept)
	}
}

// numbers returns the last column of the rows at the positions.
func (r *replay) numbers(positions []int) ([]any, error) {
	numbers := make([]any, len(positions))
	for i, position := range positions {
		if position >= len(r.rows) {
			return nil, errNoNumber
		}
		row := r.rows[position]
		switch v := row[len(row)-1].(type) {
		case int64:
			numbers[i] = v
		case []byte:
			n, err := strconv.ParseInt(string(v), 10, 64)
			if err != nil {
				return nil, errNoNumber
			}
			numbers[i] = n
		default:
			return nil, errNoNumber
		}
	}
	return numbers, nil
}

// Next gives the next row.
func (r *replay) Next(dest []driver.Value) error {
	if r.next == len(r.rows) {
		return io.EOF
	}
	copy(dest, r.rows[r.next])
	r.next++
	return nil
}

// Close does nothing: the statement has ended.
func (r *replay) Close() error { return nil }
