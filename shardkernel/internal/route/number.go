package route

import (
	"slices"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// number returns the route of an INSERT into a broadcast table with an
// AUTO_INCREMENT column: rows without a value for it are numbered by the first
// data source, since each would take its own next number.
func (p *Program) number(e *evaluation, table *value.Table, c *value.Column, name string) (*Result, error) {
	insert := p.stmt.Insert
	position := visiblePosition(table, c.Name)
	if insert.Columns != nil {
		position = slices.Index(insert.Columns, c.Name)
	}
	refuse := func(reason, remedy string) error {
		return fault.Unsupported("INSERT into broadcast table "+name, reason, remedy)
	}
	own := "every data source would give " + c.Name + ", which is AUTO_INCREMENT, a number of its own"
	give := "give " + c.Name + " a value, as a literal or a parameter"
	if insert.Select {
		t := &transfer{program: p, e: e, from: insert.From, values: p.selectedValues(insert.From, e.meta)}
		if !t.given(position) {
			return nil, refuse(own, "select a value for "+c.Name+" that is never NULL or 0")
		}
		return p.fixed, e.err
	}
	var rows []int
	for i := range insert.Rows {
		values := insert.Rows[i].Values
		if !e.numbered(c, values, position) {
			continue
		}
		if position >= 0 && (position >= len(values) || !e.none(&values[position], c)) {
			return nil, refuse(own, give)
		}
		rows = append(rows, i)
	}
	if len(rows) == 0 || e.err != nil {
		return p.fixed, e.err
	}
	if conflicts := insert.Conflict || len(insert.OnDup) > 0; insert.Ignore || conflicts && !onlyKey(table, c) || insert.Conflict && len(rows) < len(insert.Rows) {
		return nil, refuse("which row gets which number of "+c.Name+", which is AUTO_INCREMENT, is not certain where rows may be there already", give)
	}
	return &Result{
		Kind: plan.KindBroadcast, Reason: "the first data source numbers the rows, the others get its numbers",
		Units: p.fixed.Units, Broadcast: true,
		KeyRows: rows, KeyColumn: c.Name, KeyPosition: position, Numbered: true,
	}, nil
}

// onlyKey reports whether rows of the table can be equal in no other key, so that
// a row which gets a new number is surely not there already.
func onlyKey(table *value.Table, c *value.Column) bool {
	return !slices.ContainsFunc(table.Columns, func(other value.Column) bool { return other.Unique && other.Name != c.Name })
}

// none reports whether a value for an AUTO_INCREMENT column is surely NULL, 0 or
// DEFAULT.
func (e *evaluation) none(o *parse.Operand, c *value.Column) bool {
	if o.Kind == parse.OperandDefault {
		return true
	}
	l := literal(*o)
	arg, known := e.arg(&l)
	if !known {
		return false
	}
	v, err := e.program.convert.Store(arg, c)
	n, isInt := v.Int64()
	return err == nil && (v.IsNull() || isInt && n == 0)
}

// refuseBroadcastSelect refuses an INSERT … SELECT into a broadcast table unless
// every data source surely selects the same rows, and their order means nothing.
func (p *Program) refuseBroadcastSelect() error {
	insert, from := p.stmt.Insert, p.stmt.Insert.From
	const shapes = parse.FeatureCTE | parse.FeatureUnion | parse.FeatureDerived | parse.FeatureSubquery | parse.FeatureWindow
	plain := from != nil && !from.Distinct && !from.Limit && !from.Having && !from.Grouped && !from.Aggregate && p.stmt.Features&shapes == 0
	if plain && p.stmt.Kind == parse.KindInsert && !insert.Ignore && !insert.Conflict && len(insert.OnDup) == 0 {
		return nil
	}
	return fault.Unsupported("INSERT … SELECT in a write to a broadcast table", "the data sources may select other rows, or in another order, unless it is a plain INSERT of a plain SELECT … FROM … WHERE",
		"read the rows first and insert them with VALUES")
}
