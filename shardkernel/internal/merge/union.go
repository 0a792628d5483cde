package merge

import (
	"database/sql/driver"
	"fmt"
	"io"
	"slices"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

const clauseUnion = "UNION"

// newUnion gives the rows of the branches one after the other: those of the first
// recipe.Distinct made distinct, all of them sorted where there is an order, and
// without the derived columns.
func newUnion(recipe *plan.Merge, head *header, in *inputs, memory *account) (stream, error) {
	branches := &concat{}
	at := 0
	for i := range recipe.Branches {
		b := &recipe.Branches[i]
		if b.Units < 1 || at+b.Units > len(in.cursors) {
			return nil, fmt.Errorf("sharding: merge: branch %d of UNION has no units", i+1)
		}
		own := &inputs{cursors: in.cursors[at : at+b.Units : at+b.Units]}
		at += b.Units
		merge := b.Merge
		if merge == nil {
			merge = &plan.Merge{}
		}
		columns, rows, err := open(merge, own, memory)
		if err != nil {
			return nil, err
		}
		if len(columns.names) != len(head.columns) {
			return nil, driftOf(in.cursors, at-1, fmt.Sprintf("%d columns instead of %d", len(columns.names), len(head.columns)))
		}
		branches.rows = append(branches.rows, rows)
	}
	var rows stream = branches
	if n := recipe.DistinctBranches; n > 0 {
		keys, err := newKeySet(head, recipe.GroupBy, clauseUnion)
		if err != nil {
			return nil, err
		}
		first := &distinct{
			rows: &concat{rows: branches.rows[:n]}, keys: keys, memory: memory,
			row: make([]driver.Value, len(head.columns)), seen: map[string]struct{}{},
		}
		rows = &concat{rows: append([]stream{first}, branches.rows[n:]...)}
	}
	if len(recipe.OrderBy) > 0 {
		keys, err := newSortKeys(head, recipe.OrderBy)
		if err != nil {
			return nil, err
		}
		rows = &sorted{rows: rows, keys: keys, width: len(head.columns), memory: memory}
	}
	if recipe.Derived > 0 {
		rows = &visible{rows: rows, row: make([]driver.Value, len(head.columns))}
	}
	return rows, nil
}

// concat gives the rows of one stream after the other.
type concat struct {
	rows []stream
}

func (c *concat) next(dest []driver.Value) error {
	for len(c.rows) > 0 {
		err := c.rows[0].next(dest)
		if !isEnd(err) {
			return err
		}
		c.rows = c.rows[1:]
	}
	return io.EOF
}

// sorted gives rows in the order of keys; equal ones as they come. It holds them in
// memory.
type sorted struct {
	rows   stream
	keys   sortKeys
	width  int
	memory *account
	all    []sortable
	read   bool
}

type sortable struct {
	row   []driver.Value
	cells []cell
}

func (s *sorted) next(dest []driver.Value) error {
	if !s.read {
		if err := s.collect(); err != nil {
			return err
		}
		s.read = true
	}
	if len(s.all) == 0 {
		return io.EOF
	}
	copy(dest, s.all[0].row)
	s.all = s.all[1:]
	return nil
}

func (s *sorted) collect() error {
	row := make([]driver.Value, s.width)
	for {
		err := s.rows.next(row)
		if isEnd(err) {
			break
		}
		if err != nil {
			return err
		}
		one := sortable{row: keepRow(row), cells: make([]cell, len(s.keys))}
		if err := s.keys.load(one.cells, one.row); err != nil {
			return err
		}
		size := sizeOfRow(row)
		for i := range one.cells {
			size += int64(len(one.cells[i].bytes)) + foldOverhead
		}
		if err := s.memory.hold(1, size); err != nil {
			return err
		}
		s.all = append(s.all, one)
	}
	slices.SortStableFunc(s.all, func(a, b sortable) int { return s.keys.compare(a.cells, b.cells) })
	return nil
}

// visible hides the columns at the end of the rows.
type visible struct {
	rows stream
	row  []driver.Value
}

func (v *visible) next(dest []driver.Value) error {
	if err := v.rows.next(v.row); err != nil {
		return err
	}
	copy(dest, v.row)
	return nil
}
