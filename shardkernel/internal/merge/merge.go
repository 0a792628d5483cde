// Package merge makes one result out of the rows of several units, by the
// recipe that the planner attached to the statement. It knows neither SQL nor
// nodes: it gets cursors in unit order and gives one cursor.
//
// The rule of the package is that a row is given only if one database could
// have given it. Where the values at hand do not suffice to tell, the merge
// fails with an error that says why.
package merge

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

var (
	errClosed    = errors.New("sharding: merge: rows are closed")
	errNoCursors = errors.New("sharding: merge: no unit to read from")
)

// Rows returns the one result that recipe makes of the cursors, which are given
// in unit order. It also implements the RowsColumnType interfaces of
// database/sql/driver, with the answers of the first cursor.
//
// Rows owns the cursors from the moment it is called: when it returns an error,
// every cursor has been closed; otherwise the returned rows close each of them
// once, at their own end, on an error, or by Close. As any driver.Rows, the
// result is for one goroutine, and the bytes of a row are valid until the next
// call of Next or Close.
//
// For MergeRows and for a broadcast write over several units every row has been
// read and every cursor been closed when Rows returns, so that the caller may
// still roll back. Where values may turn out not to be comparable, the first rows
// have been read, and Rows fails itself where they are not. All other merges read
// nothing before the first Next.
//
// Errors: fault.ErrSchemaDrift when the cursors differ in their columns,
// fault.ErrUnsupported when values cannot be compared exactly, and
// fault.ErrTooManyRows, from Rows or from Next, beyond the limits.
func Rows(recipe *plan.Merge, cursors []driver.Rows, limits Limits) (driver.Rows, error) {
	in := &inputs{cursors: append([]driver.Rows(nil), cursors...)}
	memory := &account{limits: limits.withDefaults()}
	head, rows, err := open(recipe, in, memory)
	if err == nil && (head.doubtful || recipe.Kind == plan.MergeUnion) {
		rows, err = lookAhead(rows, head, in)
	}
	if err != nil {
		memory.release()
		// The cause tells more than what closing a failed cursor has to say.
		_ = in.close()
		return nil, err
	}
	return &result{header: head, inputs: in, memory: memory, rows: rows}, nil
}

// lookAhead reads the first rows, and closes the cursors behind the last one.
func lookAhead(rows stream, head *header, in *inputs) (stream, error) {
	a, err := newAhead(rows, len(head.names))
	if err == nil && a.ended {
		err = in.close()
	}
	return a, err
}

func open(recipe *plan.Merge, in *inputs, memory *account) (*header, stream, error) {
	if len(in.cursors) == 0 {
		return nil, nil, errNoCursors
	}
	described := in.cursors
	if recipe.Kind == plan.MergeUnion { // the branches have headers of their own
		if recipe.Header < 0 || recipe.Header >= len(described) {
			return nil, nil, fmt.Errorf("sharding: merge: no unit %d to show the columns", recipe.Header)
		}
		described = described[recipe.Header : recipe.Header+1]
	}
	head, err := newHeader(described, recipe.Derived, recipe.Extremes)
	var drift *SchemaDriftError
	if errors.As(err, &drift) && anyRow(recipe) {
		head, err = newHeader(described[:1], recipe.Derived, nil)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := head.checkLabels(recipe.Labels); err != nil {
		return nil, nil, err
	}
	if drift != nil {
		return head, &alone{inputs: in, left: recipe.Count, others: drift}, nil
	}
	rows, err := newStream(recipe, head, in, memory)
	if err != nil {
		return nil, nil, err
	}
	if recipe.Distinct != nil {
		if rows, err = newDistinct(recipe.Distinct, head, rows, memory); err != nil {
			return nil, nil, err
		}
	}
	if len(recipe.Names) > 0 {
		if rows, err = newNamed(recipe.Names, head, rows); err != nil {
			return nil, nil, err
		}
	}
	if recipe.HasLimit {
		rows = &limit{rows: rows, skip: recipe.Offset, left: recipe.Count}
	}
	return head, rows, nil
}

func newStream(recipe *plan.Merge, head *header, in *inputs, memory *account) (stream, error) {
	if recipe.Broadcast {
		return newBroadcast(head, in, memory)
	}
	switch recipe.Kind {
	case plan.MergeIterate:
		return newIterate(head, in), nil
	case plan.MergeOrdered:
		return newOrdered(recipe, head, in)
	case plan.MergeGroup:
		if recipe.Sorted > 0 {
			return newSortedGroups(recipe, head, in, memory)
		}
		return newGrouping(recipe, head, in, memory)
	case plan.MergeRows:
		return newReturning(recipe, head, in, memory)
	case plan.MergeUnion:
		return newUnion(recipe, head, in, memory)
	}
	return nil, fmt.Errorf("sharding: merge: unknown kind %d", recipe.Kind)
}

// stream gives the visible columns of one row after the other. At the end it
// returns io.EOF.
type stream interface {
	next(dest []driver.Value) error
}

// inputs holds the cursors that are still open; a closed one is nil.
type inputs struct {
	cursors []driver.Rows
}

// next reads the next row of cursor i, and closes the cursor at its end.
func (in *inputs) next(i int, row []driver.Value) error {
	cursor := in.cursors[i]
	if cursor == nil {
		return io.EOF
	}
	err := cursor.Next(row)
	if isEnd(err) {
		in.cursors[i] = nil
		if closeErr := cursor.Close(); closeErr != nil {
			return closeErr
		}
	}
	return err
}

// isEnd tells the end of a cursor from an error. Only the bare io.EOF is the
// end, as in database/sql: an error that wraps it is a stream that was cut.
func isEnd(err error) bool {
	return err == io.EOF //nolint:errorlint // see above
}

// close closes the cursors that are still open.
func (in *inputs) close() error {
	var errs []error
	for i, cursor := range in.cursors {
		if cursor == nil {
			continue
		}
		in.cursors[i] = nil
		if err := cursor.Close(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
