package parse

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
)

// InsertSelect is the SELECT of an INSERT … SELECT that is one query block.
type InsertSelect struct {
	Scope int // index into Statement.Scopes
	Items []SelectedValue
	// Distinct, OrderBy, Limit, Having and Rollup tell which clauses it has.
	Distinct, OrderBy, Limit, Having, Rollup bool
	// Grouped is true for a block with GROUP BY, whose items that are columns are
	// GroupBy.
	Grouped bool
	GroupBy []Column
	// Aggregate is true when an aggregate function stands in the block.
	Aggregate bool
}

// SelectedValue is an item of the select list as what it gives to a column of
// the inserted row.
type SelectedValue struct {
	// Star is true for * and t.*, and Of holds the tables whose columns it stands
	// for, in their order; Of is nil when the text does not tell them.
	Star bool
	Of   []int
	// Column is set when the item is a column, else Value is its constant; both
	// say nothing for any other expression.
	Column *Column
	Value  Operand
}

// insertSelect reads the SELECT of an INSERT; nil when it is no single block.
func (b *builder) insertSelect(n ast.ResultSetNode) *InsertSelect {
	sel, ok := n.(*ast.SelectStmt)
	if !ok || sel.Kind != ast.SelectStmtKindSelect || sel.Fields == nil {
		return nil
	}
	blk := b.byNode[sel]
	out := &InsertSelect{
		Scope:    blk.scope,
		Distinct: sel.Distinct,
		OrderBy:  sel.OrderBy != nil,
		Limit:    sel.Limit != nil,
		Having:   sel.Having != nil,
		Grouped:  sel.GroupBy != nil,
	}
	for _, f := range sel.Fields.Fields {
		out.Items = append(out.Items, b.selectedValue(blk, f))
		out.Aggregate = out.Aggregate || f.Expr != nil && hasAggregate(f.Expr)
	}
	if sel.Having != nil {
		out.Aggregate = out.Aggregate || hasAggregate(sel.Having.Expr)
	}
	if sel.OrderBy != nil {
		for _, by := range sel.OrderBy.Items {
			out.Aggregate = out.Aggregate || hasAggregate(by.Expr)
		}
	}
	if sel.GroupBy == nil {
		return out
	}
	out.Rollup = sel.GroupBy.Rollup
	for _, by := range sel.GroupBy.Items {
		if p, ok := by.Expr.(*ast.PositionExpr); ok {
			if p.N >= 1 && p.N <= len(out.Items) && out.Items[p.N-1].Column != nil && !hasStar(out.Items[:p.N]) {
				out.GroupBy = append(out.GroupBy, *out.Items[p.N-1].Column)
			}
			continue
		}
		if cn := columnOf(by.Expr); cn != nil {
			out.GroupBy = append(out.GroupBy, b.column(blk, cn))
		}
	}
	return out
}

func hasStar(items []SelectedValue) bool {
	for i := range items {
		if items[i].Star {
			return true
		}
	}
	return false
}

func (b *builder) selectedValue(blk *block, f *ast.SelectField) SelectedValue {
	if f.WildCard != nil {
		return SelectedValue{Star: true, Of: b.starTables(blk, f.WildCard)}
	}
	if cn := columnOf(f.Expr); cn != nil {
		col := b.column(blk, cn)
		return SelectedValue{Column: &col}
	}
	return SelectedValue{Value: b.listOperand(f.Expr)}
}

// starTables returns the tables a star stands for; nil when it stands for others
// than base tables, or for columns that USING or NATURAL merges.
func (b *builder) starTables(blk *block, star *ast.WildCardField) []int {
	if star.Table.O != "" {
		schema, _ := b.nameOf(star.Schema)
		name, _ := b.nameOf(star.Table)
		if src := blk.find(schema, name); src != nil && src.table >= 0 {
			return []int{src.table}
		}
		return nil
	}
	var tables []int
	for i := range blk.sources {
		if blk.sources[i].table < 0 {
			return nil
		}
		tables = append(tables, blk.sources[i].table)
	}
	if blk.merged && len(tables) > 1 {
		return nil
	}
	return tables
}
