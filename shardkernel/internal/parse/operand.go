package parse

import (
	"math"
	"sort"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/pingcap/tidb/pkg/parser/test_driver"
)

// operand reads a constant expression.
func (b *builder) operand(e ast.ExprNode) Operand {
	switch e := e.(type) {
	case *ast.ParenthesesExpr:
		return b.operand(e.Expr)
	case *test_driver.ParamMarkerExpr:
		return b.param(e)
	case *test_driver.ValueExpr:
		return b.literal(e)
	case *ast.UnaryOperationExpr:
		if out := b.signed(e); out.Kind != OperandUnknown {
			return out
		}
		return b.expression(e)
	case *ast.BinaryOperationExpr, *ast.FuncCastExpr:
		return b.expression(e)
	case *ast.DefaultExpr:
		if e.Name == nil {
			return Operand{Kind: OperandDefault, Span: b.wordSpan(e)}
		}
	case *ast.FuncCallExpr:
		switch e.FnName.L {
		case "now", "current_timestamp", "localtime", "localtimestamp":
			if digits, ok := fractionDigits(e.Args); ok {
				return Operand{Kind: OperandNow, Span: b.callSpan(e), Param: digits}
			}
		}
	}
	return Operand{}
}

// fractionDigits reads the argument of NOW().
func fractionDigits(args []ast.ExprNode) (digits int, ok bool) {
	if len(args) == 0 {
		return 0, true
	}
	v, ok := args[0].(*test_driver.ValueExpr)
	if !ok || len(args) > 1 || v.Kind() != test_driver.KindInt64 || v.GetInt64() < 0 || v.GetInt64() > 6 {
		return 0, false
	}
	return int(v.GetInt64()), true
}

// param reads a parameter marker.
func (b *builder) param(e *test_driver.ParamMarkerExpr) Operand {
	at := b.original(e.Offset)
	i := sort.SearchInts(b.markers, at)
	if i >= len(b.markers) || b.markers[i] != at {
		b.fail(b.refuse(b.tails.verb, "the place of a parameter is not understood", "simplify the statement"))
		return Operand{}
	}
	return Operand{Kind: OperandParam, Param: i, Span: Span{Start: at, End: at + 1}}
}

// literal reads a literal. One whose text the parser may have converted, such as
// a text in another character set, is unknown.
func (b *builder) literal(e *test_driver.ValueExpr) Operand {
	if e.Kind() == test_driver.KindNull {
		return Operand{Kind: OperandLiteral, Span: b.wordSpan(e)}
	}
	i := b.tokenOf(e)
	if i < 0 {
		return Operand{}
	}
	out := Operand{Kind: OperandLiteral, Span: b.span(i, i+1)}
	raw := b.raw(i)
	switch e.Kind() {
	case test_driver.KindInt64:
		out.Literal = e.GetInt64()
		if e.Type.GetFlag()&mysql.IsBooleanFlag != 0 {
			out.Literal = e.GetInt64() != 0
		}
	case test_driver.KindUint64:
		out.Literal = e.GetUint64()
	case test_driver.KindFloat64:
		out.Literal = e.GetFloat64()
	case test_driver.KindMysqlDecimal:
		out.Literal = Decimal(raw)
	case test_driver.KindBinaryLiteral:
		if b.tokens[i].kind == tokenWord { // _latin1 x'ff'
			return Operand{}
		}
		out.Literal = append([]byte{}, e.GetBytes()...)
	case test_driver.KindString:
		if b.tokens[i].kind == tokenWord {
			if !b.isWord(i, "_UTF8", "_UTF8MB3", "_UTF8MB4", "N") {
				return Operand{}
			}
			i++
		}
		for i+1 < len(b.tokens) && b.tokens[i+1].kind == tokenString {
			i++ // 'a' 'b' is one text
		}
		out.Literal, out.Span.End = e.GetString(), b.end(i)
	default:
		return Operand{}
	}
	return out
}

// signed reads a number with a sign.
func (b *builder) signed(e *ast.UnaryOperationExpr) Operand {
	value, ok := unwrap(e.V).(*test_driver.ValueExpr)
	if !ok || e.Op != opcode.Minus && e.Op != opcode.Plus {
		return Operand{}
	}
	out := b.literal(value)
	if out.Kind != OperandLiteral {
		return Operand{}
	}
	minus := e.Op == opcode.Minus
	switch v := out.Literal.(type) {
	case int64:
		if minus {
			out.Literal = -v
		}
	case uint64:
		switch {
		case !minus:
		case v == 1<<63:
			out.Literal = int64(math.MinInt64)
		default:
			out.Literal = Decimal("-" + b.text[out.Span.Start:out.Span.End])
		}
	case float64:
		if minus {
			out.Literal = -v
		}
	case Decimal:
		if minus {
			out.Literal = "-" + v
		}
	default:
		return Operand{}
	}
	if i := b.tokenOf(e); i >= 0 {
		out.Span.Start = b.tokens[i].start
	}
	return out
}

// unwrap takes an expression out of its parentheses.
func unwrap(e ast.ExprNode) ast.ExprNode {
	for {
		p, ok := e.(*ast.ParenthesesExpr)
		if !ok {
			return e
		}
		e = p.Expr
	}
}

// wordSpan is the span of the one word that the expression is.
func (b *builder) wordSpan(e ast.ExprNode) Span {
	if i := b.tokenOf(e); i >= 0 {
		return b.span(i, i+1)
	}
	return Span{}
}

// callSpan is the span of a call, with its parentheses if it has any.
func (b *builder) callSpan(e ast.ExprNode) Span {
	i := b.tokenOf(e)
	if i < 0 {
		return Span{}
	}
	if b.is(i+1, "(") {
		return b.span(i, int(b.pair[i+1])+1)
	}
	return b.span(i, i+1)
}
