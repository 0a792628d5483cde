package parse

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// ScopeUse is what the rows of a query block are to the block around it.
type ScopeUse uint8

// The uses of a block.
const (
	// UseStatement: the outermost block, a branch of an outermost UNION, or the
	// SELECT of an INSERT.
	UseStatement ScopeUse = iota
	// UseMerged: a derived table, or a common table expression named once, that
	// gives a row for each row of its FROM. The statement means the same with the
	// block's tables and conditions in place of it.
	UseMerged
	// UsePassing: a derived table or common table expression of which a row that
	// fulfils a condition on its columns is made of rows that fulfil it.
	UsePassing
	// UseFrom: any other derived table or common table expression.
	UseFrom
	// UseSubquery: a subquery in an expression.
	UseSubquery
)

// as collects query blocks that are used in that way.
func (b *builder) as(use ScopeUse, collect func()) {
	before := b.use
	b.use = use
	collect()
	b.use = before
}

// useOf tells how a block in FROM is used by its form.
func useOf(n *ast.SelectStmt) ScopeUse {
	if n.Kind != ast.SelectStmtKindSelect || n.From == nil || n.GroupBy != nil || n.Having != nil || n.Limit != nil ||
		n.LockInfo != nil && n.LockInfo.LockType != ast.SelectLockNone || n.SelectIntoOpt != nil ||
		n.SelectStmtOpts != nil && n.CalcFoundRows {
		return UseFrom
	}
	if folds(n) {
		return UseFrom
	}
	switch {
	case hasSequence(n):
		return UseFrom
	case n.Distinct, n.OrderBy != nil: // MySQL may give the statement the order of its only derived table
		return UsePassing
	}
	return UseMerged
}

// folds reports whether an aggregate function stands in the block itself, which
// without GROUP BY makes one row of all its rows.
func folds(n *ast.SelectStmt) bool {
	for _, f := range n.Fields.Fields {
		if f.Expr != nil && hasAggregate(f.Expr) {
			return true
		}
	}
	if n.OrderBy != nil {
		for _, by := range n.OrderBy.Items {
			if hasAggregate(by.Expr) {
				return true
			}
		}
	}
	return n.Having != nil && hasAggregate(n.Having.Expr)
}

// hasSequence reports whether something in n makes a row of a block depend on the others.
func hasSequence(n ast.Node) bool {
	return contains(n, func(n ast.Node) (found, skip bool) {
		switch n := n.(type) {
		case *ast.WindowFuncExpr:
			return true, false
		case *ast.VariableExpr:
			return !n.IsSystem, false
		case *ast.FuncCallExpr:
			switch n.FnName.L {
			case "rownum", "nextval", "setval", "lastval":
				return true, false
			}
		}
		return false, false
	})
}

// cte is a common table expression.
type cte struct {
	name    string
	block   *block // nil when it is no single query block
	columns []string
	parent  int // of its scope, as it stands in the text
	uses    int
	by      *block // the block that named it first
	at      int    // index into by.sources
}

// refer makes src, the next source of blk, a reference to the expression. The
// second one shows that its block cannot be merged into any.
func (b *builder) refer(c *cte, blk *block, src *tableSource) {
	if c == nil || c.block == nil {
		return
	}
	c.uses++
	scope := b.scopeOf(c.block)
	switch c.uses {
	case 1:
		c.by, c.at = blk, len(blk.sources)
		if b.enclose(c.block, blk, src); src.columns == nil {
			src.columns = c.columns
		}
	case 2:
		c.by.sources[c.at].inner = nil
		scope.Use, scope.Parent, scope.Nullable = UseFrom, c.parent, false
	}
}

// enclose makes the block inner the content of src, the next source of blk, if
// its form allows to look into it.
func (b *builder) enclose(inner, blk *block, src *tableSource) {
	use := useOf(inner.sel)
	if use == UseFrom || blk.unruly || inner.unruly {
		return
	}
	scope := b.scopeOf(inner)
	scope.Use, scope.Parent, scope.Nullable = use, blk.scope, src.nullable
	src.inner = inner
}

// tablesOf returns the base tables whose rows make those of a source.
func (src *tableSource) tablesOf() []int {
	switch {
	case src.table >= 0:
		return []int{src.table}
	case src.inner == nil:
		return nil
	}
	var tables []int
	for i := range src.inner.sources {
		tables = append(tables, src.inner.sources[i].tablesOf()...)
	}
	return tables
}

// columnIn returns the column of a base table that a column of the source shows.
// name is in lower case.
func (b *builder) columnIn(src *tableSource, name string) Column {
	if src.inner == nil {
		return Column{Table: src.table, Name: name}
	}
	none := Column{Table: NoTable, Name: name}
	inner, fields := src.inner, src.inner.sel.Fields.Fields
	if src.columns != nil {
		for i, c := range src.columns {
			switch {
			case i >= len(fields) || fields[i].WildCard != nil:
				return none
			case strings.EqualFold(c, name):
				return b.columnOfField(inner, fields[i], name)
			}
		}
		return none
	}
	var stars []*tableSource
	for _, f := range fields {
		switch {
		case f.WildCard == nil && strings.EqualFold(b.labelOf(f), name):
			return b.columnOfField(inner, f, name)
		case f.WildCard == nil:
		case f.WildCard.Table.O != "":
			schema, _ := b.nameOf(f.WildCard.Schema)
			table, _ := b.nameOf(f.WildCard.Table)
			stars = append(stars, inner.find(schema, table))
		default:
			for i := range inner.sources {
				stars = append(stars, &inner.sources[i])
			}
		}
	}
	if len(stars) != 1 || stars[0] == nil {
		return none
	}
	return b.columnIn(stars[0], name)
}

// columnOfField returns the column that an item of a block's select list is.
func (b *builder) columnOfField(blk *block, f *ast.SelectField, name string) Column {
	if cn := columnOf(f.Expr); cn != nil {
		return b.column(blk, cn)
	}
	return Column{Table: NoTable, Name: name}
}

// labelOf returns the label of an item of a select list.
func (b *builder) labelOf(f *ast.SelectField) string {
	if f.AsName.O != "" {
		name, _ := b.nameOf(f.AsName)
		return name
	}
	if cn := columnOf(f.Expr); cn != nil {
		name, _ := b.nameOf(cn.Name)
		return name
	}
	return strings.Trim(f.Text(), " '\"")
}

// reach resolves a column that may belong to an enclosing block.
func (b *builder) reach(blk *block, cn *ast.ColumnName) Column {
	if cn.Table.O == "" {
		return b.column(blk, cn)
	}
	schema, _ := b.nameOf(cn.Schema)
	table, _ := b.nameOf(cn.Table)
	name, _ := b.nameOf(cn.Name)
	if src := b.lookup(blk, schema, table); src != nil {
		return b.columnIn(src, strings.ToLower(name))
	}
	return Column{Table: NoTable, Name: strings.ToLower(name)}
}

// shown resolves a column of a select list, ORDER BY or GROUP BY. Its name is the
// one the column is shown by: one that a derived table gives another name is none
// of a base table.
func (b *builder) shown(blk *block, cn *ast.ColumnName) Column {
	name, _ := b.nameOf(cn.Name)
	none := Column{Table: NoTable, Name: strings.ToLower(name)}
	col := b.column(blk, cn)
	if col.Name != none.Name || cn.Table.O == "" && len(blk.sources) > 1 && b.scopeOf(blk).Derived {
		return none
	}
	return col
}

// noteOuter marks the blocks in which a qualifier stands that names a source of a
// block around them.
func (b *builder) noteOuter(blk *block, schema, table ast.CIStr) {
	if table.O == "" || blk == nil || blk.outer == nil {
		return
	}
	schemaName, _ := b.nameOf(schema)
	name, _ := b.nameOf(table)
	if blk.find(schemaName, name) != nil || b.lookup(blk.outer, schemaName, name) == nil {
		return
	}
	for k := blk; k != nil && k.find(schemaName, name) == nil; k = k.outer {
		b.scopeOf(k).Correlated = true
	}
}

// noteAggregateMember notes an aggregate function that is compared with the rows of a
// subquery. MariaDB 10.11 looks for another value than the aggregate's, which depends on
// its plan: HAVING COUNT(*) IN (SELECT …) loses groups.
func (b *builder) noteAggregateMember(e ast.ExprNode) {
	for _, o := range operandsOf(e) {
		if _, ok := unwrap(o).(*ast.AggregateFuncExpr); ok {
			b.stmt.Features |= FeatureAggregateMember
		}
	}
}

// operandsOf returns the values of a row, or the expression that is none.
func operandsOf(e ast.ExprNode) []ast.ExprNode {
	if row := rowOf(e); row != nil {
		return row.Values
	}
	return []ast.ExprNode{unwrap(e)}
}

// noteRows notes what stands at the places of the rows of an IN list.
func (b *builder) noteRows(blk *block, list []ast.ExprNode) {
	var places [][]RowValue
	for _, e := range list {
		row := rowOf(e)
		if row == nil {
			return
		}
		for i, v := range row.Values {
			if i == len(places) {
				places = append(places, nil)
			}
			value := RowValue{Operand: b.listOperand(v), Column: Column{Table: NoTable}}
			if cn := columnOf(v); cn != nil && blk != nil {
				value.Column = b.reach(blk, cn)
			}
			places[i] = append(places[i], value)
		}
	}
	b.stmt.RowPlaces = append(b.stmt.RowPlaces, places...)
}

// noteMembers notes the columns of a set operation whose rows something is compared with.
func (b *builder) noteMembers(query ast.ResultSetNode) {
	n, ok := query.(*ast.SetOprStmt)
	if !ok {
		return
	}
	var first []Column
	for _, branch := range branchesOf(n.SelectList, nil) {
		columns := b.given(branch)
		if first == nil {
			first = columns
			continue
		}
		for i := range min(len(first), len(columns)) {
			b.stmt.Members = append(b.stmt.Members, ColumnPair{A: first[i], B: columns[i]})
		}
	}
}

// branchesOf appends the query blocks of a set operation.
func branchesOf(list *ast.SetOprSelectList, branches []*ast.SelectStmt) []*ast.SelectStmt {
	for _, s := range list.Selects {
		switch s := s.(type) {
		case *ast.SelectStmt:
			branches = append(branches, s)
		case *ast.SetOprSelectList:
			branches = branchesOf(s, branches)
		}
	}
	return branches
}

// given returns the columns of a query block's select list, NoTable for all else.
func (b *builder) given(n *ast.SelectStmt) []Column {
	blk := b.byNode[n]
	if blk == nil || n.Fields == nil {
		return []Column{{Table: NoTable}}
	}
	columns := make([]Column, len(n.Fields.Fields))
	for i, f := range n.Fields.Fields {
		columns[i] = Column{Table: NoTable}
		if f.WildCard == nil {
			columns[i] = b.columnOfField(blk, f, "")
		}
	}
	return columns
}

// noteMember notes which columns of the block around it a subquery's rows have to
// equal to make IN or = ANY true.
func (b *builder) noteMember(blk *block, e ast.ExprNode, query ast.ResultSetNode) {
	n, ok := query.(*ast.SelectStmt)
	if !ok || b.byNode[n] == nil || n.Limit != nil || n.Fields == nil {
		return
	}
	if hasSequence(n) {
		return
	}
	inner, fields := b.byNode[n], n.Fields.Fields
	left := operandsOf(e)
	if len(left) != len(fields) {
		return
	}
	for i, f := range fields {
		outer := columnOf(left[i])
		if outer == nil || f.WildCard != nil {
			continue
		}
		cn := columnOf(f.Expr)
		if cn == nil || !b.grouped(inner, n, b.column(inner, cn)) {
			continue
		}
		pair := ColumnPair{A: b.reach(blk, outer), B: b.column(inner, cn)}
		scope := b.scopeOf(inner)
		scope.Member = append(scope.Member, pair)
	}
}

// noteTrue notes that a subquery's IN or = ANY stands where FALSE and NULL are the
// same.
func (b *builder) noteTrue(query ast.ResultSetNode) {
	if n, ok := query.(*ast.SelectStmt); ok && b.byNode[n] != nil {
		b.scopeOf(b.byNode[n]).OnlyTrue = true
	}
}

// grouped reports whether every row that goes into a row of the block's result has
// the result's value in the column: there are no groups, or the column is one of
// their keys.
func (b *builder) grouped(blk *block, n *ast.SelectStmt, col Column) bool {
	if n.GroupBy == nil {
		return !folds(n)
	}
	if n.GroupBy.Rollup {
		return false
	}
	for _, by := range n.GroupBy.Items {
		if cn := columnOf(by.Expr); cn != nil && b.column(blk, cn) == col {
			return true
		}
	}
	return false
}

// noteAggregate notes what tells whether an aggregate function in a subquery is
// the subquery's: one over columns of an enclosing block alone is that block's.
func (b *builder) noteAggregate(blk *block, n *ast.AggregateFuncExpr) {
	if blk == nil || blk.outer == nil {
		return
	}
	var f columnFinder
	for _, a := range n.Args {
		walk(&f, a)
	}
	var names []string
	for _, cn := range f.columns {
		if cn.Table.O == "" {
			name, _ := b.nameOf(cn.Name)
			names = append(names, strings.ToLower(name))
			continue
		}
		schema, _ := b.nameOf(cn.Schema)
		table, _ := b.nameOf(cn.Table)
		if blk.find(schema, table) != nil {
			return
		}
	}
	switch {
	case len(names) > 0:
		scope := b.scopeOf(blk)
		scope.Aggregated = append(scope.Aggregated, names...)
	case len(f.columns) > 0:
		b.stmt.Features |= FeatureOuterAggregate
	}
}

// noteExtreme notes the columns of which a function takes the least or the greatest.
func (b *builder) noteExtreme(function string, args []ast.ExprNode) {
	if function = strings.ToLower(function); function != "min" && function != "max" {
		return
	}
	var f columnFinder
	for _, a := range args {
		walk(&f, a)
	}
	for _, cn := range f.columns {
		name, _ := b.nameOf(cn.Name)
		b.stmt.Extremes = append(b.stmt.Extremes, strings.ToLower(name))
	}
}

// columnFinder collects the columns of an expression. It implements ast.Visitor.
type columnFinder struct{ columns []*ast.ColumnName }

// Enter implements ast.Visitor.
func (f *columnFinder) Enter(n ast.Node) (ast.Node, bool) {
	if cn, ok := n.(*ast.ColumnName); ok {
		f.columns = append(f.columns, cn)
	}
	return n, false
}

// Leave implements ast.Visitor.
func (f *columnFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }
