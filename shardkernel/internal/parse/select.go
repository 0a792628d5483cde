package parse

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/test_driver"
)

// clauses holds the token indexes at which the clauses of a SELECT begin, -1 for
// those it has not.
type clauses struct {
	sel, from, where, group, having, window, order, limit int
	into, lock                                            int
	end                                                   int // index behind the SELECT
}

// buildSelect fills Statement.Select for a SELECT that is one query block. One in
// parentheses with something behind them is left out.
func (b *builder) buildSelect(n *ast.SelectStmt) {
	if n.Kind != ast.SelectStmtKindSelect || !b.isWord(b.tails.verb, "SELECT") {
		return
	}
	c := clauses{sel: b.tails.verb, end: len(b.tokens)}
	if b.tokens[c.sel].depth > 0 {
		if !b.is(c.sel-1, "(") {
			return
		}
		c.end = int(b.pair[c.sel-1])
		for i := c.end; i < len(b.tokens); i++ {
			if !b.is(i, ")") {
				return
			}
		}
	}
	b.findClauses(&c)
	blk := b.byNode[n]
	sel := &Select{Distinct: n.Distinct, Start: b.span(c.sel, c.sel+1).Start}
	if c.from >= 0 {
		sel.From = b.span(c.from+1, c.next(c.from))
	}
	if !b.selectItems(sel, n, blk, c) {
		b.fail(b.refuse(c.sel, "the select list is not understood", "simplify it"))
		return
	}
	sel.Alike = !slices.ContainsFunc(n.Fields.Fields, hasColumn)
	if n.GroupBy != nil {
		sel.Rollup = n.GroupBy.Rollup
		to := c.next(c.group)
		if sel.Rollup {
			for to > c.group && !b.isWord(to, "WITH") {
				to--
			}
		}
		sel.GroupBy = b.byItems(sel, n.GroupBy.Items, blk, c.group, to, false)
		sel.GroupBySpan = b.span(c.group, to)
	}
	if n.Having != nil {
		if c.having < 0 {
			b.fail(b.refuse(c.sel, "HAVING is not understood", "simplify it"))
			return
		}
		sel.Having = b.span(c.having, c.next(c.having))
		sel.HavingAggregate = hasAggregate(n.Having.Expr)
		sel.HavingExpr = b.computed(sel, n.Having.Expr, blk, true)
	}
	if n.OrderBy != nil {
		to := c.next(c.order)
		sel.OrderBy = b.byItems(sel, n.OrderBy.Items, blk, c.order, to, true)
		sel.OrderBySpan = b.span(c.order, to)
	}
	if n.Limit != nil {
		sel.Limit = b.limit(n.Limit, c.limit, c.next(c.limit))
	}
	tail := c.end
	for _, at := range []int{c.order, c.limit, c.lock} {
		if at >= 0 {
			tail = min(tail, at)
		}
	}
	if c.into > c.from && c.into >= 0 {
		tail = min(tail, c.into)
	}
	sel.TailStart = b.end(tail - 1)
	b.stmt.Select = sel
	b.stmt.Subqueries = b.subqueries(&c)
}

// findClauses finds the clauses by their keywords, which are reserved: unquoted
// and not behind a dot they are nothing else.
func (b *builder) findClauses(c *clauses) {
	c.from, c.where, c.group, c.having, c.window = -1, -1, -1, -1, -1
	c.order, c.limit, c.into, c.lock = -1, -1, -1, -1
	for i := c.sel + 1; i < c.end; i++ {
		if b.is(i, "(") {
			i = int(b.pair[i])
			continue
		}
		if b.tokens[i].kind != tokenWord || b.is(i-1, ".") {
			continue
		}
		switch {
		case b.isWord(i, "FROM"):
			c.from = i
		case b.isWord(i, "WHERE"):
			c.where = i
		case b.isWord(i, "GROUP"):
			c.group = i
		case b.isWord(i, "HAVING"):
			c.having = i
		case b.isWord(i, "WINDOW") && b.stmt.Features&FeatureWindow != 0 && b.isWord(i+2, "AS"):
			c.window = i
		case b.isWord(i, "ORDER"):
			c.order = i
		case b.isWord(i, "LIMIT"), b.ties > 0 && i == b.ties:
			c.limit = i
		case b.isWord(i, "INTO"):
			c.into = i
		case b.isWord(i, "FOR") && b.isWord(i-1, "INDEX", "KEY"):
			i++ // USE INDEX FOR ORDER BY
		case b.isWord(i, "FOR"), b.isWord(i, "LOCK") && b.isWord(i+1, "IN"):
			if c.lock < 0 {
				c.lock = i
			}
		}
	}
}

// next returns the index at which the clause that begins at i ends.
func (c *clauses) next(i int) int {
	next := c.end
	for _, at := range [...]int{c.from, c.where, c.group, c.having, c.window, c.order, c.limit, c.into, c.lock} {
		if at > i {
			next = min(next, at)
		}
	}
	return next
}

// selectItems fills the select list; it reports false when the tokens do not
// agree with the tree.
func (b *builder) selectItems(sel *Select, n *ast.SelectStmt, blk *block, c clauses) bool {
	fields := n.Fields.Fields
	first := b.at(b.original(fields[0].Offset))
	end := c.next(c.sel)
	if first <= c.sel || first >= end {
		return false
	}
	starts := b.split(first, end)
	if len(starts) != len(fields) {
		return false
	}
	sel.Items = make([]Item, len(fields))
	for k, f := range fields {
		to := end
		if k+1 < len(starts) {
			to = starts[k+1] - 1
		}
		if starts[k] >= to {
			return false
		}
		sel.Items[k] = b.item(f, blk, starts[k], to)
	}
	sel.ItemsEnd = b.end(end - 1)
	return true
}

// item reads the select item that is the tokens [from, to).
func (b *builder) item(f *ast.SelectField, blk *block, from, to int) Item {
	it := Item{Span: b.span(from, to)}
	if f.WildCard != nil {
		it.Star, it.Expr = true, it.Span
		it.StarOf, _ = b.nameOf(f.WildCard.Table)
		return it
	}
	if f.AsName.O != "" {
		it.Alias, _ = b.nameOf(f.AsName)
		to--
		if b.isWord(to-1, "AS") && to-1 > from {
			to--
		}
	}
	it.Expr = b.span(from, to)
	expr := unwrap(f.Expr)
	it.HasAggregate = hasAggregate(expr)
	it.Label = b.text[it.Expr.Start:it.Expr.End]
	switch e := expr.(type) {
	case *ast.ColumnNameExpr:
		col := b.shown(blk, e.Name)
		it.Column = &col
		it.Label, _ = b.nameOf(e.Name.Name)
	case *ast.AggregateFuncExpr:
		it.Aggregate = b.aggregate(e, blk)
	case *test_driver.ValueExpr:
		if e.Kind() == test_driver.KindString {
			it.Label = e.GetString()
		}
	case *test_driver.ParamMarkerExpr:
		it.Constant = true
	}
	it.Constant = it.Constant || isPlainConstant(expr)
	if it.HasAggregate && it.Aggregate == nil {
		it.Computed = b.computed(nil, expr, blk, false)
	}
	if it.Alias != "" {
		it.Label = it.Alias
	}
	return it
}

// aggregate reads a call of an aggregate function; nil when its place in the
// text is not certain.
func (b *builder) aggregate(e *ast.AggregateFuncExpr, blk *block) *Aggregate {
	i := b.tokenOf(e)
	if i < 0 || !b.is(i+1, "(") {
		return nil
	}
	from, to := i+2, int(b.pair[i+1])
	for b.isWord(from, "DISTINCT", "ALL", "DISTINCTROW") {
		from++
	}
	a := &Aggregate{Func: strings.ToUpper(e.F), Distinct: e.Distinct, Arg: b.span(from, to), Args: len(e.Args)}
	if a.Func == "GROUP_CONCAT" {
		a.Args-- // the separator
	}
	if len(e.Args) == 1 {
		if v, ok := unwrap(e.Args[0]).(*test_driver.ValueExpr); ok && a.Func == "COUNT" && !a.Distinct {
			a.Star = v.Kind() != test_driver.KindNull
		}
		if cn := columnOf(e.Args[0]); cn != nil {
			col := b.shown(blk, cn)
			a.Column = &col
		}
		a.Each = []Argument{{a.Arg, a.Column}}
	}
	if a.Func == "COUNT" && len(e.Args) > 1 {
		a.Each = b.arguments(e, blk, from, to)
	}
	return a
}

// arguments reads the arguments of an aggregate, which are the tokens [from, to);
// nil when the tokens do not agree with the tree.
func (b *builder) arguments(e *ast.AggregateFuncExpr, blk *block, from, to int) []Argument {
	starts := b.split(from, to)
	if len(starts) != len(e.Args) {
		return nil
	}
	out := make([]Argument, len(starts))
	for i, start := range starts {
		end := to
		if i+1 < len(starts) {
			end = starts[i+1] - 1
		}
		out[i].Span = b.span(start, end)
		if cn := columnOf(e.Args[i]); cn != nil {
			col := b.shown(blk, cn)
			out[i].Column = &col
		}
	}
	return out
}

// hasAggregate reports whether an aggregate function stands in n outside of subqueries.
func hasAggregate(n ast.Node) bool {
	return contains(n, func(n ast.Node) (found, skip bool) {
		switch n.(type) {
		case *ast.AggregateFuncExpr:
			return true, false
		case *ast.SubqueryExpr:
			return false, true
		}
		return false, false
	})
}

// hasColumn reports whether an item of a select list may differ between rows.
func hasColumn(f *ast.SelectField) bool {
	if f.WildCard != nil {
		return true
	}
	return contains(f.Expr, func(n ast.Node) (found, skip bool) {
		switch n.(type) {
		case *ast.SubqueryExpr: // of rows of its own
			return false, true
		case *ast.ColumnNameExpr, *ast.AggregateFuncExpr, *ast.WindowFuncExpr:
			return true, false
		}
		return false, false
	})
}

// byItems reads the items of GROUP BY or ORDER BY; clause and to bound the
// clause's tokens.
func (b *builder) byItems(sel *Select, items []*ast.ByItem, blk *block, clause, to int, order bool) []ByItem {
	if clause < 0 || !b.isWord(clause+1, "BY") {
		b.fail(b.refuse(max(clause, 0), "GROUP BY or ORDER BY is not understood", "simplify it"))
		return nil
	}
	starts := b.split(clause+2, to)
	if len(starts) != len(items) {
		b.fail(b.refuse(clause, "GROUP BY or ORDER BY is not understood", "simplify it"))
		return nil
	}
	out := make([]ByItem, len(items))
	for k, n := range items {
		end := to
		if k+1 < len(starts) {
			end = starts[k+1] - 1
		}
		if end-starts[k] > 1 && b.isWord(end-1, "ASC", "DESC") && !b.is(end-2, ".") {
			end--
		}
		by := ByItem{Span: b.span(starts[k], end), Desc: n.Desc, Item: -1}
		b.resolveByItem(&by, sel, n.Expr, blk, starts[k], end, order)
		out[k] = by
	}
	return out
}

func (b *builder) resolveByItem(by *ByItem, sel *Select, e ast.ExprNode, blk *block, from, to int, order bool) {
	if p, ok := e.(*ast.PositionExpr); ok {
		by.Position = p.N
		for k := 0; k < p.N && k < len(sel.Items) && !sel.Items[k].Star; k++ {
			if k == p.N-1 {
				by.Item = k
			}
		}
		return
	}
	expr := unwrap(e)
	by.HasAggregate = hasAggregate(expr)
	switch expr := expr.(type) {
	case *ast.ColumnNameExpr:
		col := b.shown(blk, expr.Name)
		by.Column = &col
		b.matchColumn(by, sel, expr.Name, order)
		return
	case *ast.AggregateFuncExpr:
		by.Aggregate = b.aggregate(expr, blk)
	case *test_driver.ParamMarkerExpr:
		return // a position or a constant, as the driver sends it
	}
	if by.HasAggregate && by.Aggregate == nil {
		by.Computed = b.computed(sel, expr, blk, false)
	}
	by.Constant = isPlainConstant(expr)
	for k := range sel.Items {
		if it := &sel.Items[k]; !it.Star && b.sameText(it.Expr, from, to) {
			by.Item = k
			return
		}
	}
}

// matchColumn finds the select item that a column in GROUP BY or ORDER BY stands
// for. Unqualified, ORDER BY means the label before the column.
func (b *builder) matchColumn(by *ByItem, sel *Select, cn *ast.ColumnName, order bool) {
	name, _ := b.nameOf(cn.Name)
	qualified := cn.Table.O != ""
	label, column := -1, -1
	for k := len(sel.Items) - 1; k >= 0; k-- {
		it := &sel.Items[k]
		if it.Column != nil && it.Column.Name == by.Column.Name &&
			(it.Column.Table == by.Column.Table || !qualified && by.Column.Table == AnyTable) {
			column = k
		}
		if !qualified && strings.EqualFold(it.Label, name) && (it.Alias != "" || it.Column != nil) {
			label = k
		}
	}
	switch {
	case order && label >= 0:
		by.Item = label
		it := &sel.Items[label]
		if by.ByAlias = it.Column == nil || it.Column.Name != by.Column.Name; by.ByAlias {
			by.Column = nil
		}
	case column >= 0:
		by.Item = column
	case label >= 0:
		by.Item, by.ByAlias = label, true
	}
}

// isPlainConstant reports whether the expression is made of literals only.
func isPlainConstant(e ast.ExprNode) bool {
	switch e := e.(type) {
	case *test_driver.ValueExpr:
		return true
	case *ast.ParenthesesExpr:
		return isPlainConstant(e.Expr)
	case *ast.UnaryOperationExpr:
		return isPlainConstant(e.V)
	case *ast.BinaryOperationExpr:
		return isPlainConstant(e.L) && isPlainConstant(e.R)
	}
	return false
}

// sameText reports whether the tokens [from, to) spell the expression in the
// span. Parameters may differ in value and volatile functions in every call.
func (b *builder) sameText(span Span, from, to int) bool {
	i := b.at(span.Start)
	for j := from; j < to; i, j = i+1, j+1 {
		if i < 0 || i >= len(b.tokens) || b.tokens[i].start >= span.End {
			return false
		}
		switch {
		case b.isName(i) && b.isName(j):
			if !strings.EqualFold(unquote(b.raw(i)), unquote(b.raw(j))) || b.isWord(i, "RAND", "RANDOM", "UUID", "UUID_SHORT", "SLEEP") {
				return false
			}
		case b.tokens[i].kind == tokenMarker || b.raw(i) != b.raw(j):
			return false
		}
	}
	return i == len(b.tokens) || b.tokens[i].start >= span.End
}

// limit reads the LIMIT clause that is the tokens [from, to).
func (b *builder) limit(n *ast.Limit, from, to int) *Limit {
	if from < 0 {
		b.fail(b.refuse(b.tails.verb, "FETCH FIRST is not supported here", "use LIMIT"))
		return nil
	}
	out := &Limit{Span: b.span(from, to)}
	if b.ties > 0 {
		out.Ties = true
		return out
	}
	count, offset := from+1, -1
	switch {
	case to-from == 2 && n.Offset == nil:
	case to-from == 4 && b.is(from+2, ","):
		count, offset = from+3, from+1
	case to-from == 4 && b.isWord(from+2, "OFFSET"):
		offset = from + 3
	default:
		b.fail(b.refuse(from, "the LIMIT clause is not understood", "write LIMIT n OFFSET m"))
		return nil
	}
	out.Count = b.limitOperand(n.Count, count)
	if offset >= 0 && n.Offset != nil {
		out.Offset = b.limitOperand(n.Offset, offset)
	}
	return out
}

// limitOperand reads a count of LIMIT, the token i. The tree has no positions
// for them.
func (b *builder) limitOperand(e ast.ExprNode, i int) Operand {
	switch e := e.(type) {
	case *test_driver.ParamMarkerExpr:
		return b.param(e)
	case *test_driver.ValueExpr:
		out := Operand{Kind: OperandLiteral, Span: b.span(i, i+1)}
		switch e.Kind() {
		case test_driver.KindInt64:
			out.Literal = e.GetInt64()
		case test_driver.KindUint64:
			out.Literal = e.GetUint64()
			if v := e.GetUint64(); v < 1<<63 {
				out.Literal = int64(v)
			}
		default:
			return Operand{}
		}
		return out
	}
	return Operand{}
}
