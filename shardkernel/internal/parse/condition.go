package parse

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/pingcap/tidb/pkg/parser/test_driver"
)

// conditions turns expressions of one block into condition trees.
type conditions struct {
	*builder
	block  *block
	having *ast.SelectStmt // set for conditions of HAVING
}

// column resolves a column of a condition. In HAVING a name is an item of the
// select list first, and a condition says something of every row only where there
// are no groups, or by their keys.
func (c *conditions) column(blk *block, cn *ast.ColumnName) Column {
	if c.having == nil {
		return c.builder.column(blk, cn)
	}
	name, _ := c.nameOf(cn.Name)
	none := Column{Table: NoTable, Name: strings.ToLower(name)}
	col := c.builder.column(blk, cn)
	if cn.Table.O == "" {
		for _, f := range c.having.Fields.Fields {
			if f.WildCard == nil && strings.EqualFold(c.labelOf(f), name) && c.columnOfField(blk, f, none.Name) != col {
				if f.AsName.O == "" || columnOf(f.Expr) == nil {
					return none
				}
				col = c.columnOfField(blk, f, none.Name)
			}
		}
	}
	if !c.grouped(blk, c.having, col) {
		return none
	}
	return col
}

var (
	openCond  = &Cond{Op: CondOpen}
	falseCond = &Cond{Op: CondFalse}
)

// cond returns what is known of the rows for which e is true, or, when negated,
// for which e is false. That NULL is neither makes the negations below exact:
// NOT (a <> b) is true where a = b is, NOT (a < b) where a >= b is. top is true
// while e is an AND term of WHERE in the outermost block.
func (c *conditions) cond(e ast.ExprNode, negated, top bool) *Cond {
	switch e := e.(type) {
	case *ast.ParenthesesExpr:
		return c.cond(e.Expr, negated, top)
	case *ast.UnaryOperationExpr:
		if e.Op == opcode.Not || e.Op == opcode.Not2 {
			return c.cond(e.V, !negated, false)
		}
	case *ast.BinaryOperationExpr:
		switch e.Op {
		case opcode.LogicAnd:
			return c.chain(e, negated, top)
		case opcode.LogicOr:
			if c.pipes {
				return openCond
			}
			return c.chain(e, negated, false)
		}
		return c.comparison(e, negated)
	case *ast.PatternInExpr:
		if e.Not == negated {
			return c.in(e, top && !negated)
		}
	case *ast.CompareSubqueryExpr:
		if sub, ok := e.R.(*ast.SubqueryExpr); ok && !negated && e.Op == opcode.EQ && !e.All {
			c.noteTrue(sub.Query)
		}
	case *ast.BetweenExpr:
		if e.Not == negated {
			return c.between(e)
		}
	case *ast.IsNullExpr:
		if e.Not == negated {
			return c.isNull(e.Expr)
		}
	case *ast.IsTruthExpr:
		if e.True == 1 && e.Not == negated {
			return c.cond(e.Expr, false, false)
		}
	case *test_driver.ValueExpr:
		return literalCond(e, negated)
	}
	return openCond
}

// chain turns a chain of ANDs or of ORs into one node. Chains grow to the left
// and are as long as the statement.
func (c *conditions) chain(e *ast.BinaryOperationExpr, negated, top bool) *Cond {
	op := e.Op
	var terms []ast.ExprNode // from right to left
	var rest ast.ExprNode = e
	for {
		next, ok := rest.(*ast.BinaryOperationExpr)
		if !ok || next.Op != op {
			break
		}
		terms = append(terms, next.R)
		rest = next.L
	}
	terms = append(terms, rest)
	kids := make([]*Cond, 0, len(terms))
	for i := len(terms) - 1; i >= 0; i-- {
		kids = append(kids, c.cond(terms[i], negated, top && !negated))
	}
	if (op == opcode.LogicAnd) != negated {
		return andConds(kids)
	}
	return orConds(kids)
}

// andConds joins conditions by AND: what nothing is known of does not count.
func andConds(kids []*Cond) *Cond {
	var out []*Cond
	for _, k := range kids {
		switch k.Op {
		case CondFalse:
			return falseCond
		case CondOpen:
		case CondAnd:
			out = append(out, k.Kids...)
		default:
			out = append(out, k)
		}
	}
	switch len(out) {
	case 0:
		return openCond
	case 1:
		return out[0]
	}
	return &Cond{Op: CondAnd, Kids: out}
}

// orConds joins conditions by OR: one of which nothing is known opens the whole.
func orConds(kids []*Cond) *Cond {
	var out []*Cond
	for _, k := range kids {
		switch k.Op {
		case CondOpen:
			return openCond
		case CondFalse:
		case CondOr:
			out = append(out, k.Kids...)
		default:
			out = append(out, k)
		}
	}
	switch len(out) {
	case 0:
		return falseCond
	case 1:
		return out[0]
	}
	return &Cond{Op: CondOr, Kids: out}
}

// literalCond is a literal as a condition. A text is a number to the server and
// not judged.
func literalCond(e *test_driver.ValueExpr, negated bool) *Cond {
	isTrue := false
	switch e.Kind() {
	case test_driver.KindNull:
		return falseCond
	case test_driver.KindInt64:
		isTrue = e.GetInt64() != 0
	case test_driver.KindUint64:
		isTrue = e.GetUint64() != 0
	default:
		return openCond
	}
	if isTrue == negated {
		return falseCond
	}
	return openCond
}

// comparisons maps the parser's operators, and those with the sides exchanged
// and those negated.
var comparisons = map[opcode.Op]struct {
	compare          Compare
	swapped, negated opcode.Op
	known            bool
}{
	opcode.EQ:     {Equal, opcode.EQ, opcode.NE, true},
	opcode.NE:     {0, opcode.NE, opcode.EQ, false},
	opcode.LT:     {Less, opcode.GT, opcode.GE, true},
	opcode.LE:     {LessEqual, opcode.GE, opcode.GT, true},
	opcode.GT:     {Greater, opcode.LT, opcode.LE, true},
	opcode.GE:     {GreaterEqual, opcode.LE, opcode.LT, true},
	opcode.NullEQ: {Equal, opcode.NullEQ, opcode.NE, true},
}

func (c *conditions) comparison(e *ast.BinaryOperationExpr, negated bool) *Cond {
	op, left, right := e.Op, e.L, e.R
	known, ok := comparisons[op]
	if !ok {
		return openCond
	}
	if op != opcode.NullEQ && (isNullLiteral(left) || isNullLiteral(right)) && isScalar(left) && isScalar(right) {
		return falseCond // NULL whatever the other side is, and so its negation
	}
	if negated {
		if op == opcode.NullEQ {
			return openCond
		}
		op = known.negated
	}
	if l, r := rowOf(left), rowOf(right); l != nil && r != nil {
		return c.rows(op, l, r)
	}
	if truth, known := compareLiterals(op, left, right); known {
		if truth {
			return openCond
		}
		return falseCond
	}
	col := columnOf(left)
	if col == nil {
		col, right = columnOf(right), left
		op = comparisons[op].swapped
	}
	if known = comparisons[op]; col == nil || !known.known || !isConstant(right) {
		return openCond
	}
	if op == opcode.NullEQ {
		return c.nullSafe(col, right)
	}
	return &Cond{Op: CondCompare, Column: c.column(c.block, col), Compare: known.compare, Values: []Operand{c.operand(right)}}
}

// nullSafe is column <=> value. A value that is not known yet may be NULL.
func (c *conditions) nullSafe(col *ast.ColumnName, value ast.ExprNode) *Cond {
	if isNullLiteral(value) {
		return c.columnIsNull(c.column(c.block, col))
	}
	out := &Cond{Op: CondCompare, Column: c.column(c.block, col), Compare: NullSafe, Values: []Operand{c.operand(value)}}
	if out.Values[0].Kind == OperandLiteral {
		out.Compare = Equal
	}
	return out
}

// rows is (a, b) = (1, 2), or one of the other comparisons, which go by the first
// pair until it is equal.
func (c *conditions) rows(op opcode.Op, l, r *ast.RowExpr) *Cond {
	if len(l.Values) != len(r.Values) {
		return openCond
	}
	first := func(op opcode.Op) *Cond {
		return c.comparison(&ast.BinaryOperationExpr{Op: op, L: l.Values[0], R: r.Values[0]}, false)
	}
	switch op {
	case opcode.LT, opcode.LE:
		return first(opcode.LE)
	case opcode.GT, opcode.GE:
		return first(opcode.GE)
	case opcode.EQ, opcode.NullEQ:
	default:
		return openCond
	}
	kids := make([]*Cond, len(l.Values))
	for i := range l.Values {
		kids[i] = c.comparison(&ast.BinaryOperationExpr{Op: op, L: l.Values[i], R: r.Values[i]}, false)
	}
	return andConds(kids)
}

// compareLiterals compares two integer literals, as in WHERE 1 = 0.
func compareLiterals(op opcode.Op, l, r ast.ExprNode) (truth, known bool) {
	a, okA := unwrap(l).(*test_driver.ValueExpr)
	b, okB := unwrap(r).(*test_driver.ValueExpr)
	if !okA || !okB || a.Kind() != test_driver.KindInt64 || b.Kind() != test_driver.KindInt64 {
		return false, false
	}
	order := cmp.Compare(a.GetInt64(), b.GetInt64())
	switch op {
	case opcode.EQ, opcode.NullEQ:
		return order == 0, true
	case opcode.NE:
		return order != 0, true
	case opcode.LT:
		return order < 0, true
	case opcode.LE:
		return order <= 0, true
	case opcode.GT:
		return order > 0, true
	case opcode.GE:
		return order >= 0, true
	}
	return false, false
}

func (c *conditions) isNull(e ast.ExprNode) *Cond {
	col := columnOf(e)
	if col == nil {
		return openCond
	}
	return c.columnIsNull(c.column(c.block, col))
}

// columnIsNull is column IS NULL. Where an outer join found no row the column is
// NULL without any row of its table being so.
func (c *conditions) columnIsNull(col Column) *Cond {
	if c.block.nullable(col) {
		return openCond
	}
	return &Cond{Op: CondIsNull, Column: col}
}

func (c *conditions) between(e *ast.BetweenExpr) *Cond {
	col := columnOf(e.Expr)
	if col == nil || !isConstant(e.Left) || !isConstant(e.Right) || c.collates(e.Left) || c.collates(e.Right) {
		return openCond
	}
	if isNullLiteral(e.Left) || isNullLiteral(e.Right) {
		return falseCond
	}
	low, high := c.operand(e.Left), c.operand(e.Right)
	if isSQLite(c.dialect) && (low.Kind == OperandUnknown || high.Kind == OperandUnknown) {
		return openCond // SQLite ends the upper bound at a comparison operator, MySQL does not
	}
	return &Cond{Op: CondBetween, Column: c.column(c.block, col), Values: []Operand{low, high}}
}

func (c *conditions) in(e *ast.PatternInExpr, top bool) *Cond {
	if sub, ok := e.Sel.(*ast.SubqueryExpr); ok {
		c.noteTrue(sub.Query)
	}
	if e.Sel != nil || len(e.List) == 0 || slices.ContainsFunc(e.List, c.collates) {
		return openCond
	}
	out := &Cond{Top: top}
	if col := columnOf(e.Expr); col != nil {
		out.Op, out.Column = CondIn, c.column(c.block, col)
		for _, v := range e.List {
			out.Values = append(out.Values, c.listOperand(v))
		}
		c.locateList(out, e, len(out.Values))
		return out
	}
	row := rowOf(e.Expr)
	if row == nil {
		return openCond
	}
	out.Op = CondTupleIn
	columns := false
	for _, v := range row.Values {
		column := Column{Table: NoTable}
		if col := columnOf(v); col != nil {
			column, columns = c.column(c.block, col), true
		}
		out.Columns = append(out.Columns, column)
	}
	if !columns {
		return openCond
	}
	for _, v := range e.List {
		r := rowOf(v)
		if r == nil || len(r.Values) != len(row.Values) {
			return openCond
		}
		tuple := make([]Operand, len(r.Values))
		for i, v := range r.Values {
			tuple[i] = c.listOperand(v)
		}
		out.Tuples = append(out.Tuples, tuple)
	}
	c.locateList(out, e, len(out.Tuples))
	return out
}

// collates reports whether an expression decides how others beside it, as in an IN
// list, are compared: by COLLATE, or as a text of utf8mb3 that utf8mb3 does not have,
// such as N'😀', which MariaDB compares with a column beside other texts alone.
func (c *conditions) collates(e ast.ExprNode) bool {
	return contains(e, func(n ast.Node) (found, skip bool) {
		switch n := n.(type) {
		case *ast.SetCollationExpr:
			return true, false
		case *test_driver.ValueExpr:
			return n.Kind() == test_driver.KindString && c.isForeign(n), false
		}
		return false, false
	})
}

// isForeign reports whether a text is said to be of utf8mb3 and has a character that
// is not.
func (b *builder) isForeign(e *test_driver.ValueExpr) bool {
	beyond := strings.ContainsFunc(e.GetString(), func(r rune) bool { return r > 0xFFFF })
	i := b.tokenOf(e)
	return beyond && i >= 0 && (b.isWord(i, "_UTF8", "_UTF8MB3") || strings.HasPrefix(strings.ToUpper(b.raw(i)), "N"))
}

// locateList sets the spans of an IN list of n elements. A list whose place is
// not certain cannot be split.
func (c *conditions) locateList(out *Cond, e *ast.PatternInExpr, n int) {
	i := c.tokenOf(e.Expr)
	if i < 0 {
		return
	}
	for ; i < len(c.tokens) && !c.isWord(i, "IN"); i++ {
		if c.is(i, "(") {
			i = int(c.pair[i])
		} else if !c.isName(i) && !c.is(i, ".") {
			return
		}
	}
	if !c.is(i+1, "(") {
		return
	}
	open, end := i+1, int(c.pair[i+1])
	starts := c.split(open+1, end)
	if len(starts) != n {
		return
	}
	out.List = Span{Start: c.end(open), End: c.tokens[end].start}
	out.Spans = make([]Span, n)
	for k, from := range starts {
		to := end
		if k+1 < n {
			to = starts[k+1] - 1
		}
		out.Spans[k] = c.span(from, to)
		if out.Op == CondIn {
			out.Values[k].Span = out.Spans[k]
		}
	}
}

// rowOf returns the row constructor that the expression is, or nil.
func rowOf(e ast.ExprNode) *ast.RowExpr {
	switch e := e.(type) {
	case *ast.ParenthesesExpr:
		return rowOf(e.Expr)
	case *ast.RowExpr:
		return e
	}
	return nil
}

func isNullLiteral(e ast.ExprNode) bool {
	switch e := e.(type) {
	case *ast.ParenthesesExpr:
		return isNullLiteral(e.Expr)
	case *test_driver.ValueExpr:
		return e.Kind() == test_driver.KindNull
	}
	return false
}

// isScalar reports whether the expression is one value for certain.
func isScalar(e ast.ExprNode) bool { return columnOf(e) != nil || rowOf(e) == nil && isConstant(e) }

// isConstant reports whether the expression is the same for every row of the
// statement as far as its form tells: no column, no subquery, nothing unknown.
func isConstant(e ast.ExprNode) bool {
	switch e := e.(type) {
	case *test_driver.ValueExpr, *test_driver.ParamMarkerExpr:
		return true
	case *ast.ParenthesesExpr:
		return isConstant(e.Expr)
	case *ast.UnaryOperationExpr:
		return isConstant(e.V)
	case *ast.BinaryOperationExpr:
		return isConstant(e.R) && isConstant(e.L)
	case *ast.FuncCastExpr:
		return isConstant(e.Expr)
	case *ast.SetCollationExpr:
		return isConstant(e.Expr)
	case *ast.TimeUnitExpr:
		return true
	case *ast.FuncCallExpr:
		for _, a := range e.Args {
			if !isConstant(a) {
				return false
			}
		}
		return true
	}
	return false
}
