package merge

import (
	"database/sql/driver"
	"io"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// sortedGroups combines the groups of cursors that each give theirs in the order
// of the keys. It holds one group, and the current row of every cursor. Equal
// keys are read in unit order, so that sums of floats come out the same every
// time (semantics row 15).
type sortedGroups struct {
	grouping
	rows  *ordered
	row   []driver.Value // of the group that follows, where ahead is true
	cells []cell         // the keys of the group that is open
	ahead bool
	ended bool
	// held is what the open group takes of memory, which others may share.
	held account
}

func newSortedGroups(recipe *plan.Merge, head *header, in *inputs, memory *account) (*sortedGroups, error) {
	g, err := newGrouping(recipe, head, in, memory)
	if err != nil {
		return nil, err
	}
	byKeys := *recipe
	byKeys.OrderBy = recipe.OrderBy[:recipe.Sorted]
	rows, err := newOrdered(&byKeys, head, in)
	if err != nil {
		return nil, err
	}
	return &sortedGroups{
		grouping: *g, rows: rows,
		row: make([]driver.Value, len(head.columns)), cells: make([]cell, recipe.Sorted),
	}, nil
}

func (g *sortedGroups) next(dest []driver.Value) error {
	for {
		row, err := g.group()
		if err != nil {
			return err
		}
		keep, err := g.finish(row)
		if err != nil {
			return err
		}
		if keep {
			copy(dest, row.row)
			return nil
		}
	}
}

// group reads the next group to its end.
func (g *sortedGroups) group() (*group, error) {
	// What the group before held is the caller's now.
	if err := g.memory.hold(-g.held.rows, -g.held.bytes); err != nil {
		return nil, err
	}
	g.held = account{}
	if !g.ahead {
		if err := g.read(); err != nil {
			return nil, err
		}
	}
	g.ahead = false
	before := *g.memory
	defer func() { g.held = account{rows: g.memory.rows - before.rows, bytes: g.memory.bytes - before.bytes} }()
	open, err := g.open(g.row, 0)
	if err != nil {
		return nil, err
	}
	if err := g.rows.keys.load(g.cells, g.row); err != nil {
		return nil, err
	}
	for {
		if err := open.add(g.row, g.memory); err != nil {
			return nil, err
		}
		err := g.read()
		if isEnd(err) {
			return open, nil
		}
		if err != nil {
			return nil, err
		}
		if g.rows.keys.compare(g.cells, g.rows.heads[0].cells) != 0 {
			g.ahead = true
			return open, nil
		}
	}
}

// read reads the next row. Behind the last one it goes on to return io.EOF.
func (g *sortedGroups) read() error {
	if g.ended {
		return io.EOF
	}
	err := g.rows.next(g.row)
	g.ended = err != nil
	return err
}
