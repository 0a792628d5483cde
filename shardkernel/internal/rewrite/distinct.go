package rewrite

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// checkDistinctOrder refuses an order of distinct rows by what is not selected:
// of the rows that are one, the server takes any for it (semantics row 10).
func (r *recipe) checkDistinctOrder() error {
	for i := range r.selection.OrderBy {
		by := &r.selection.OrderBy[i]
		selected := by.Item >= 0 || by.Position > 0 || by.Constant || by.Column != nil && r.starHolds(by.Column)
		if !selected {
			return refuse("ORDER BY "+r.text(by.Span)+" of a SELECT DISTINCT", "it is not selected, so that rows which are one may have several places", "select it too")
		}
	}
	return nil
}

// distinctRows lets every row of a block without groups be given once. The order
// is in the recipe already.
func (r *recipe) distinctRows() error {
	s := r.selection
	items, ok := r.visible()
	if !ok {
		return refuse("SELECT DISTINCT", "the columns behind * are not known, or several have one name", "name the columns")
	}
	var columns []parse.Column
	for i := range items {
		if items[i].column != nil {
			columns = append(columns, *items[i].column)
		}
	}
	separate := r.separates(columns)
	if !separate {
		d, err := r.distinctKeys(items)
		if err != nil {
			return err
		}
		r.merge.Distinct = d
		d.Sorted = (len(s.OrderBy) > 0 || s.Limit == nil && r.alone()) && !r.restless(items) && r.sortDistinct(items, d)
	}
	padded := r.padded()
	// A padded text and its weight are not equal where the text alone is, so that a
	// node would give such rows twice. Grouped by the text it gives one of them.
	switch {
	case !padded:
	case s.Having == (parse.Span{}) && !r.restless(items):
		r.insert(s.TailStart, " GROUP BY "+positions(len(items)))
	case separate:
		d, err := r.distinctKeys(items)
		if err != nil {
			return err
		}
		r.merge.Distinct, r.unlimited = d, true
	default:
		r.unlimited = true
	}
	if len(r.sortedBy) > 0 {
		if len(s.OrderBy) > 0 {
			r.insert(s.OrderBySpan.End, ", "+strings.Join(r.sortedBy, ", "))
		} else {
			r.insert(s.TailStart, " ORDER BY "+strings.Join(r.sortedBy, ", "))
		}
	}
	return nil
}

// distinctGroups lets every row of a block with groups be given once.
func (r *recipe) distinctGroups() error {
	for i := range r.selection.Items {
		// Servers compare what these are made of: 6/2 is not 3/1 to them. Measured on
		// MariaDB 10.11.
		if a := r.selection.Items[i].Aggregate; a != nil && len(r.selection.GroupBy) > 0 && slices.Contains(quotients, a.Func) {
			return refuse("SELECT DISTINCT "+r.text(r.selection.Items[i].Expr), "servers do not take every two equal averages for one value", "leave DISTINCT out, or add 0 to it")
		}
	}
	items, ok := r.visible()
	if !ok {
		return refuse("SELECT DISTINCT", "the columns behind * are not known, or several have one name", "name the columns")
	}
	d, err := r.distinctKeys(items)
	r.merge.Distinct = d
	return err
}

// quotients are the aggregates that servers keep in parts.
var quotients = []string{"AVG", "STD", "STDDEV", "STDDEV_POP", "STDDEV_SAMP", "VARIANCE", "VAR_POP", "VAR_SAMP"}

// visibleColumn is a visible column of the statement: a select item, or one of the
// columns behind a *.
type visibleColumn struct {
	item   int // -1 behind a *
	span   parse.Span
	suffix string
	column *parse.Column
	label  string
}

// visible lists the visible columns; ok is false where those behind a * are not
// known.
func (r *recipe) visible() (columns []visibleColumn, ok bool) {
	items := r.selection.Items
	starred := slices.ContainsFunc(items, isStar)
	for i := range items {
		item := &items[i]
		if !item.Star {
			columns = append(columns, visibleColumn{item: i, span: item.Expr, column: item.Column, label: item.Label})
			continue
		}
		tables, known := r.tablesOfStar(item)
		if !known || len(tables) != 1 || r.derivedSources() {
			return nil, false
		}
		table := r.tableOf(tables[0])
		for j := range table.Columns {
			c := &table.Columns[j]
			if c.Invisible {
				continue
			}
			v := visibleColumn{item: -1, column: &parse.Column{Table: tables[0], Name: c.Name}, label: c.Name}
			// What stands before the name: nothing, or "t." of t.*.
			v.span, v.suffix = parse.Span{Start: item.Start, End: item.End - 1}, quote(c.Name, '`')
			columns = append(columns, v)
		}
	}
	if !starred {
		return columns, true
	}
	for i := range columns {
		for j := range i {
			if strings.EqualFold(columns[i].label, columns[j].label) {
				return nil, false
			}
		}
	}
	return columns, true
}

// distinctKeys writes the keys that tell rows apart.
func (r *recipe) distinctKeys(columns []visibleColumn) (*plan.Distinct, error) {
	d := &plan.Distinct{Columns: len(columns)}
	for i := range columns {
		c := &columns[i]
		if c.item >= 0 && r.selection.Items[c.item].Constant {
			continue
		}
		key, err := r.distinctKey(c)
		if err != nil {
			return nil, err
		}
		d.Keys = append(d.Keys, key)
	}
	return d, nil
}

func (r *recipe) distinctKey(c *visibleColumn) (plan.GroupKey, error) {
	s := r.spellingOfColumn(c)
	key := plan.GroupKey{Column: plan.ColumnRef{Name: c.label}}
	if c.item >= 0 {
		at, ok := r.itemColumn(c.item)
		if ok {
			key.Column = at
		}
		if item := &r.selection.Items[c.item]; item.Aggregate == nil && item.Computed != nil {
			return key, nil // what is computed over aggregates is a number
		}
	}
	if exact, ok := r.exactColumn(s, distinctAlias); ok {
		key.Column = exact
		return key, nil
	}
	var err error
	if key.Text, err = r.keyText(s, clauseDistinct); err == nil && key.Text.Refuse != "" {
		err = refuse(clauseDistinct+" "+r.text(s.Span)+s.suffix, key.Text.Refuse, "")
	}
	return key, err
}

// spellingOfColumn returns the expression of a visible column.
func (r *recipe) spellingOfColumn(c *visibleColumn) spelling {
	if c.item >= 0 {
		return r.spellingOf(&parse.ByItem{Span: c.span, Item: c.item})
	}
	return spelling{Span: c.span, suffix: c.suffix, column: c.column, known: r.columnOf(c.column)}
}

const (
	clauseDistinct = "DISTINCT"
	distinctAlias  = "DISTINCT_DERIVED_"
)

// sortDistinct lets the nodes sort by all that tells rows apart, behind ORDER BY
// or in its place, so that equal rows follow one another. It reports false where
// the order of a column cannot be relied on.
func (r *recipe) sortDistinct(columns []visibleColumn, d *plan.Distinct) bool {
	var order []plan.SortKey
	var by []string
	next := 0
	for i := range columns {
		c := &columns[i]
		if c.item >= 0 && r.selection.Items[c.item].Constant {
			continue
		}
		key := plan.SortKey{Column: d.Keys[next].Column, Text: d.Keys[next].Text}
		next++
		s := r.spellingOfColumn(c)
		if s.known != nil && (s.known.SortRefused != "" || s.known.Flexible) {
			return false
		}
		if key.Text.HasWeight && !key.Text.PadSpace {
			return false // U+0000 at the end of a text has no place that is sure
		}
		if number, ok := r.placeInOrder(s); ok {
			key.Column, key.Text = number, plan.TextOrder{}
		}
		if slices.ContainsFunc(r.merge.OrderBy, func(k plan.SortKey) bool { return k.Column == key.Column }) {
			continue
		}
		order, by = append(order, key), append(by, strconv.Itoa(i+1))
	}
	r.merge.OrderBy, r.sortedBy = append(r.merge.OrderBy, order...), by
	return true
}

// alone reports whether each unit has a data source, and so a connection, of its
// own. Of units in one data source the rows are held while they are sorted.
func (r *recipe) alone() bool {
	sources := map[string]bool{}
	for i := range r.units {
		sources[r.units[i].DataSource] = true
	}
	return len(sources) == len(r.units)
}

// restless reports whether a column would not stay what it is where a node sorts or
// groups by it: a text may be longer than what is compared then, and a BIT becomes
// a number. Measured on MariaDB 10.11.
func (r *recipe) restless(columns []visibleColumn) bool {
	return slices.ContainsFunc(columns, func(v visibleColumn) bool {
		c := r.spellingOfColumn(&v).known
		return c != nil && (c.WeightLimit > 0 || c.Class == value.ClassBit)
	})
}

// padded reports whether the weight of a padded text is derived.
func (r *recipe) padded() bool {
	pads := func(t plan.TextOrder) bool { return t.HasWeight && t.PadSpace }
	return slices.ContainsFunc(r.merge.OrderBy, func(k plan.SortKey) bool { return pads(k.Text) }) ||
		r.merge.Distinct != nil && slices.ContainsFunc(r.merge.Distinct.Keys, func(k plan.GroupKey) bool { return pads(k.Text) })
}

// separates reports whether rows that are equal in the columns are all on one
// node.
func (r *recipe) separates(columns []parse.Column) bool {
	return r.template.program.Separates(columns, r.units, r.meta)
}

// insert adds a text to the statement of every unit.
func (r *recipe) insert(offset int, text string) {
	r.inserts = append(r.inserts, at(offset, text, nil))
}

// positions writes 1, 2, … n.
func positions(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i + 1)
	}
	return strings.Join(out, ", ")
}
