package parse

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// Expr is an operation on constants. Op is one of "+ - * DIV % & | ^ << >>" with
// two arguments, or of "neg ~ signed unsigned" with one.
type Expr struct {
	Op   string
	Args []Operand // of the kinds OperandLiteral, OperandParam and OperandExpr
}

// operations are the operators that an Expr may have.
var operations = map[opcode.Op]string{
	opcode.Plus: "+", opcode.Minus: "-", opcode.Mul: "*", opcode.IntDiv: "DIV", opcode.Mod: "%",
	opcode.And: "&", opcode.Or: "|", opcode.Xor: "^", opcode.LeftShift: "<<", opcode.RightShift: ">>",
}

// expression reads an operation on constants; it is unknown where a part of it is.
// SQLite computes by other rules.
func (b *builder) expression(e ast.ExprNode) Operand {
	if isSQLite(b.dialect) {
		return Operand{}
	}
	switch e := e.(type) {
	case *ast.BinaryOperationExpr:
		return b.operation(operations[e.Op], e.L, e.R)
	case *ast.UnaryOperationExpr:
		switch e.Op {
		case opcode.Plus:
			return b.operand(e.V)
		case opcode.Minus:
			return b.operation("neg", e.V)
		case opcode.BitNeg:
			return b.operation("~", e.V)
		}
	case *ast.FuncCastExpr:
		if e.FunctionType == ast.CastBinaryOperator || e.Tp.GetType() != mysql.TypeLonglong || e.Tp.IsArray() {
			break
		}
		if e.Tp.GetFlag()&mysql.UnsignedFlag != 0 {
			return b.operation("unsigned", e.Expr)
		}
		return b.operation("signed", e.Expr)
	}
	return Operand{}
}

func (b *builder) operation(op string, args ...ast.ExprNode) Operand {
	if op == "" {
		return Operand{}
	}
	x := &Expr{Op: op, Args: make([]Operand, len(args))}
	for i, arg := range args {
		x.Args[i] = b.operand(arg)
		switch x.Args[i].Kind {
		case OperandLiteral, OperandParam, OperandExpr:
		default:
			return Operand{}
		}
	}
	return Operand{Kind: OperandExpr, Expr: x}
}
