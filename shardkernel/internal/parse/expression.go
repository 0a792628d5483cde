package parse

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/pingcap/tidb/pkg/parser/test_driver"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// binaryOps are the operators of expressions over aggregates.
var binaryOps = map[opcode.Op]plan.Op{
	opcode.Plus: plan.OpAdd, opcode.Minus: plan.OpSubtract, opcode.Mul: plan.OpMultiply,
	opcode.Div: plan.OpDivide, opcode.IntDiv: plan.OpIntDivide, opcode.Mod: plan.OpModulo,
	opcode.EQ: plan.OpEqual, opcode.NullEQ: plan.OpNullEqual, opcode.NE: plan.OpNotEqual,
	opcode.LT: plan.OpLess, opcode.LE: plan.OpLessEqual, opcode.GT: plan.OpGreater, opcode.GE: plan.OpGreaterEqual,
	opcode.LogicAnd: plan.OpAnd, opcode.LogicOr: plan.OpOr, opcode.LogicXor: plan.OpXor,
}

// calls are its functions, with the number of arguments they take.
var calls = map[string]struct {
	op          plan.Op
	least, most int
}{
	"ifnull": {plan.OpCoalesce, 2, 2}, "coalesce": {plan.OpCoalesce, 1, 64}, "nullif": {plan.OpNullIf, 2, 2},
	"if": {plan.OpCase, 3, 3}, "round": {plan.OpRound, 1, 2}, "truncate": {plan.OpTruncate, 2, 2},
	"floor": {plan.OpFloor, 1, 1}, "ceil": {plan.OpCeiling, 1, 1}, "ceiling": {plan.OpCeiling, 1, 1},
	"abs": {plan.OpAbs, 1, 1}, "isnull": {plan.OpIsNull, 1, 1}, "mod": {plan.OpModulo, 2, 2},
}

// computed reads an expression over aggregates; nil when it holds something else
// than what can be evaluated outside of a database. A name that is the alias of
// an item of sel, which may be nil, is that item. having tells that it stands in HAVING.
func (b *builder) computed(sel *Select, e ast.ExprNode, blk *block, having bool) *Computed {
	r := expressionReader{builder: b, sel: sel, block: blk, having: having}
	x := r.read(e)
	if r.failed {
		return nil
	}
	return x
}

type expressionReader struct {
	*builder
	sel    *Select
	block  *block
	having bool
	failed bool
}

func (r *expressionReader) fail() *Computed {
	r.failed = true
	return nil
}

func (r *expressionReader) op(op plan.Op, kids ...ast.ExprNode) *Computed {
	x := &Computed{Op: op, Item: -1}
	for _, kid := range kids {
		if r.failed {
			return nil
		}
		x.Kids = append(x.Kids, r.read(kid))
	}
	return x
}

// not negates what a predicate says.
func (r *expressionReader) not(negated bool, x *Computed) *Computed {
	if !negated {
		return x
	}
	return &Computed{Op: plan.OpNot, Kids: []*Computed{x}, Item: -1}
}

func (r *expressionReader) read(e ast.ExprNode) *Computed {
	switch e := e.(type) {
	case *ast.ParenthesesExpr:
		return r.read(e.Expr)
	case *ast.AggregateFuncExpr:
		a := r.aggregate(e, r.block)
		i := r.tokenOf(e)
		if a == nil || i < 0 {
			return r.fail()
		}
		return &Computed{Op: plan.OpColumn, Aggregate: a, Span: r.callSpan(e), Item: -1}
	case *ast.ColumnNameExpr:
		return r.column(e)
	case *test_driver.ParamMarkerExpr, *test_driver.ValueExpr:
		o := r.operand(e)
		if o.Kind != OperandParam && o.Kind != OperandLiteral {
			return r.fail()
		}
		return &Computed{Op: plan.OpConstant, Constant: o, Item: -1}
	case *ast.UnaryOperationExpr:
		switch e.Op {
		case opcode.Minus:
			return r.op(plan.OpNegate, e.V)
		case opcode.Plus:
			return r.read(e.V)
		case opcode.Not, opcode.Not2:
			return r.op(plan.OpNot, e.V)
		}
	case *ast.BinaryOperationExpr:
		if op, ok := binaryOps[e.Op]; ok {
			return r.op(op, e.L, e.R)
		}
	case *ast.IsNullExpr:
		return r.not(e.Not, r.op(plan.OpIsNull, e.Expr))
	case *ast.IsTruthExpr:
		if e.True == 1 {
			return r.not(e.Not, r.op(plan.OpIsTrue, e.Expr))
		}
		return r.not(e.Not, r.op(plan.OpIsFalse, e.Expr))
	case *ast.BetweenExpr:
		return r.not(e.Not, r.op(plan.OpBetween, e.Expr, e.Left, e.Right))
	case *ast.PatternInExpr:
		switch {
		case e.Sel != nil:
		case len(e.List) == 1: // the servers make an equality of it
			return r.not(e.Not, r.op(plan.OpEqual, e.Expr, e.List[0]))
		default:
			return r.not(e.Not, r.op(plan.OpIn, append([]ast.ExprNode{e.Expr}, e.List...)...))
		}
	case *ast.CaseExpr:
		return r.caseOf(e)
	case *ast.FuncCallExpr:
		c, ok := calls[e.FnName.L]
		if ok && c.op == plan.OpNullIf && r.having {
			// MariaDB 10.11 finds HAVING NULLIF(COUNT(*), 9) neither true nor NULL.
			_, aggregate := unwrap(e.Args[0]).(*ast.AggregateFuncExpr)
			ok = !aggregate
		}
		if ok && e.Schema.L == "" && len(e.Args) >= c.least && len(e.Args) <= c.most {
			return r.op(c.op, e.Args...)
		}
	}
	return r.fail()
}

// caseOf reads CASE; the value behind CASE is compared with that of each WHEN, in
// all its digits as an element of a list.
func (r *expressionReader) caseOf(e *ast.CaseExpr) *Computed {
	x := &Computed{Op: plan.OpCase, Item: -1}
	for _, w := range e.WhenClauses {
		if r.failed {
			return nil
		}
		when := r.read(w.Expr)
		if e.Value != nil {
			when = &Computed{Op: plan.OpIn, Kids: []*Computed{r.read(e.Value), when}, Item: -1}
		}
		x.Kids = append(x.Kids, when, r.read(w.Result))
	}
	if e.ElseClause != nil {
		x.Kids = append(x.Kids, r.read(e.ElseClause))
	}
	return x
}

func (r *expressionReader) column(e *ast.ColumnNameExpr) *Computed {
	col := r.builder.column(r.block, e.Name)
	x := &Computed{Op: plan.OpColumn, Column: &col, Item: -1}
	name, _ := r.nameOf(e.Name.Name)
	if e.Name.Table.L == "" && r.sel != nil {
		for k := range r.sel.Items {
			if !strings.EqualFold(r.sel.Items[k].Alias, name) {
				continue
			}
			if x.Item >= 0 { // two items have the alias
				return r.fail()
			}
			x.Item = k
		}
	}
	i := r.tokenOf(e)
	if i < 0 {
		return r.fail()
	}
	last := i
	for r.is(last+1, ".") && r.isName(last+2) {
		last += 2
	}
	x.Span = r.span(i, last+1)
	return x
}
