package merge

import (
	"database/sql/driver"
	"fmt"
	"io"
	"slices"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// held gives rows that are already in memory.
type held struct {
	rows [][]driver.Value
}

func (h *held) next(dest []driver.Value) error {
	if len(h.rows) == 0 {
		return io.EOF
	}
	copy(dest, h.rows[0])
	h.rows = h.rows[1:]
	return nil
}

// newReturning gives the RETURNING rows of an INSERT in the order in which the
// statement named the rows. A node returns its rows in the order it inserted
// them, but none for a row it skipped, and then nothing tells which row is
// whose, unless it skipped all.
func newReturning(recipe *plan.Merge, head *header, in *inputs, memory *account) (stream, error) {
	if len(in.cursors) == 1 {
		return newIterate(head, in), nil
	}
	if len(recipe.Rows) != len(in.cursors) {
		return nil, fmt.Errorf("sharding: merge: the positions of %d units for %d cursors", len(recipe.Rows), len(in.cursors))
	}
	type placed struct {
		position int
		row      []driver.Value
	}
	var all []placed
	for unit := range in.cursors {
		rows, err := holdRows(head, in, unit, memory)
		if err != nil {
			return nil, err
		}
		positions := recipe.Rows[unit]
		if len(rows) != len(positions) && len(rows) > 0 {
			return nil, fault.Unsupported("RETURNING",
				fmt.Sprintf("unit %d inserted %d rows and returned %d: RETURNING of an insert that skipped rows, over several nodes", unit+1, len(positions), len(rows)),
				"leave out RETURNING, or insert rows that belong to one node")
		}
		for i, row := range rows {
			all = append(all, placed{positions[i], row})
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return a.position - b.position })
	h := &held{rows: make([][]driver.Value, len(all))}
	for i := range all {
		h.rows[i] = all[i].row
	}
	return h, nil
}

// newBroadcast gives the rows of the first unit of a write that every unit did
// alike. The others are read to their end, for their errors.
func newBroadcast(head *header, in *inputs, memory *account) (stream, error) {
	rows, err := holdRows(head, in, 0, memory)
	if err != nil {
		return nil, err
	}
	scratch := make([]driver.Value, len(head.columns))
	for unit := 1; unit < len(in.cursors); unit++ {
		for {
			err := in.next(unit, scratch)
			if isEnd(err) {
				break
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return &held{rows: rows}, nil
}

// holdRows reads all rows of one cursor into memory.
func holdRows(head *header, in *inputs, unit int, memory *account) ([][]driver.Value, error) {
	var rows [][]driver.Value
	row := make([]driver.Value, len(head.columns))
	for {
		err := in.next(unit, row)
		if isEnd(err) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		if err := memory.hold(1, sizeOfRow(row)); err != nil {
			return nil, err
		}
		rows = append(rows, keepRow(row))
	}
}
