package merge

import (
	"database/sql/driver"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

const clauseGroupBy = "GROUP BY"

// grouping collects the groups of all cursors in memory, combines their
// aggregates and gives one row for each. Cursors are read in unit order, or in the
// order of arrival, so that sums of floats come out the same every time (semantics
// row 15).
type grouping struct {
	header     *header
	arriving   stream // the whole rows of the units
	memory     *account
	keys       []*operand
	aggregates []newFold
	computed   []computedColumn
	having     *having
	order      sortKeys

	byKey  map[string]*group
	groups []*group // in the order in which they were first seen
	given  int
	read   bool
}

// group is one group: its first row, into which the folds write their results.
type group struct {
	row   []driver.Value
	folds []fold
}

func newGrouping(recipe *plan.Merge, head *header, in *inputs, memory *account) (*grouping, error) {
	g := &grouping{header: head, arriving: &iterate{inputs: in}, memory: memory, byKey: map[string]*group{}}
	for _, item := range recipe.GroupBy {
		o, err := newOperand(head, item.Column, item.Text, clauseGroupBy)
		if err != nil {
			return nil, err
		}
		g.keys = append(g.keys, o)
	}
	for _, item := range recipe.Aggregates {
		f, err := resolveAggregate(head, item)
		if err != nil {
			return nil, err
		}
		g.aggregates = append(g.aggregates, f)
	}
	for _, item := range recipe.Computed {
		c, err := newComputed(head, item)
		if err != nil {
			return nil, err
		}
		g.computed = append(g.computed, c)
	}
	var err error
	if len(recipe.Arrival) > 0 {
		if g.arriving, err = newOrdered(&plan.Merge{OrderBy: recipe.Arrival}, head, in); err != nil {
			return nil, err
		}
	}
	if g.having, err = newHaving(head, recipe.Having); err != nil {
		return nil, err
	}
	g.order, err = newSortKeys(head, recipe.OrderBy)
	return g, err
}

// computedColumn is a column that is computed from others of its row.
type computedColumn struct {
	index      int
	column     *column
	name       string
	expression *surely
}

func newComputed(h *header, item plan.Computed) (computedColumn, error) {
	index, err := h.resolve(item.Column, clauseExpression)
	if err != nil {
		return computedColumn{}, err
	}
	x, err := newSurely(h, item.Expr, false)
	return computedColumn{index, &h.columns[index], h.name(index), x}, err
}

func (g *grouping) next(dest []driver.Value) error {
	if !g.read {
		if err := g.collect(); err != nil {
			return err
		}
		g.read = true
	}
	if g.given == len(g.groups) {
		return io.EOF
	}
	copy(dest, g.groups[g.given].row)
	g.groups[g.given] = nil
	g.given++
	return nil
}

// collect reads all cursors and finishes the groups.
func (g *grouping) collect() error {
	row := make([]driver.Value, len(g.header.columns))
	cells := make([]cell, len(g.keys))
	var key []byte
	for {
		err := g.arriving.next(row)
		if isEnd(err) {
			break
		}
		if err != nil {
			return err
		}
		key = key[:0]
		for i, o := range g.keys {
			if err := o.load(&cells[i], row); err != nil {
				return err
			}
			key = o.appendKey(key, &cells[i])
		}
		if err := g.add(key, row); err != nil {
			return err
		}
	}
	// Aggregates without GROUP BY are one row, even over nothing (semantics row
	// 13).
	if len(g.keys) == 0 && len(g.groups) == 0 {
		clear(row)
		if err := g.add(nil, row); err != nil {
			return err
		}
	}
	g.byKey = nil
	kept := g.groups[:0]
	for _, group := range g.groups {
		keep, err := g.finish(group)
		if err != nil {
			return err
		}
		if keep {
			kept = append(kept, group)
		}
	}
	g.groups = kept
	return g.sort()
}

// finish writes the results of a group into its row and reports whether HAVING
// lets it pass.
func (g *grouping) finish(group *group) (bool, error) {
	for _, f := range group.folds {
		if err := f.finish(group.row); err != nil {
			return false, err
		}
	}
	return g.compute(group.row)
}

// compute fills the computed columns of a group's row and reports whether HAVING
// lets it pass.
func (g *grouping) compute(row []driver.Value) (bool, error) {
	values := make([]driver.Value, len(g.computed))
	for i := range g.computed {
		c := &g.computed[i]
		v, err := c.expression.eval(row)
		if err != nil {
			return false, err
		}
		if values[i], err = v.shown(c.column, c.name); err != nil {
			return false, err
		}
		values[i] = heldAs(values[i], c.column, row[c.index])
	}
	keep, err := g.having.passes(row)
	if err != nil {
		return false, err
	}
	for i, v := range values {
		row[g.computed[i].index] = v
	}
	return keep, nil
}

// heldAs gives a BIGINT UNSIGNED the Go type in which the driver gave that of a
// node, which depends on whether the statement was prepared.
func heldAs(v driver.Value, c *column, node driver.Value) driver.Value {
	var n uint64
	switch v := v.(type) {
	case int64:
		n = uint64(v)
	case uint64:
		n = v
	default:
		return v
	}
	if numberTypes[c.typeName] != typeUint {
		return v
	}
	switch node.(type) {
	case uint64:
		return n
	case int64, []byte:
		if n > math.MaxInt64 {
			return strconv.AppendUint(nil, n, 10)
		}
	}
	return v
}

func (g *grouping) add(key []byte, row []driver.Value) error {
	found, ok := g.byKey[string(key)]
	if !ok {
		var err error
		if found, err = g.open(row, len(key)); err != nil {
			return err
		}
		g.byKey[string(key)] = found
		g.groups = append(g.groups, found)
	}
	return found.add(row, g.memory)
}

// open makes a group of its first row. key is the length of its key, where that is
// kept.
func (g *grouping) open(row []driver.Value, key int) (*group, error) {
	size := sizeOfRow(row) + int64(key) + int64(len(g.aggregates))*foldOverhead
	if err := g.memory.hold(1, size); err != nil {
		return nil, err
	}
	opened := &group{row: keepRow(row), folds: make([]fold, len(g.aggregates))}
	for i, newFold := range g.aggregates {
		opened.folds[i] = newFold()
	}
	return opened, nil
}

// add takes in a row of the group.
func (g *group) add(row []driver.Value, memory *account) error {
	for _, f := range g.folds {
		if err := f.add(g.row, row, memory); err != nil {
			return err
		}
	}
	return nil
}

// sort puts the groups in the order of ORDER BY, equal ones as they were seen.
func (g *grouping) sort() error {
	if len(g.order) == 0 {
		return nil
	}
	type sortable struct {
		group *group
		cells []cell
	}
	all := make([]sortable, len(g.groups))
	cells := make([]cell, len(g.groups)*len(g.order))
	for i, group := range g.groups {
		all[i].group = group
		all[i].cells, cells = cut(cells, len(g.order))
		if err := g.order.load(all[i].cells, group.row); err != nil {
			return err
		}
	}
	slices.SortStableFunc(all, func(a, b sortable) int { return g.order.compare(a.cells, b.cells) })
	for i := range all {
		g.groups[i] = all[i].group
	}
	return nil
}
