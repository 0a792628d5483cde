package parse

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// noteWrapped notes the columns of a condition that stand inside a function or in
// arithmetic, where nothing is known of their values. Subqueries are blocks of
// their own.
func (b *builder) noteWrapped(blk *block, e ast.ExprNode) {
	if e != nil {
		walk(&wrappedFinder{b: b, block: blk}, e)
	}
}

// wrappedFinder implements ast.Visitor.
type wrappedFinder struct {
	b     *builder
	block *block
	depth int // of functions and operators around the node
}

// Enter implements ast.Visitor.
func (w *wrappedFinder) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.SubqueryExpr:
		return n, true
	case *ast.ColumnNameExpr:
		if w.depth > 0 {
			w.b.stmt.Wrapped = append(w.b.stmt.Wrapped, w.b.column(w.block, n.Name))
		}
		return n, true
	}
	if wraps(n) {
		w.depth++
	}
	return n, false
}

// Leave implements ast.Visitor.
func (w *wrappedFinder) Leave(n ast.Node) (ast.Node, bool) {
	if wraps(n) {
		w.depth--
	}
	return n, true
}

// wraps reports whether a column inside the node is no longer compared itself.
func wraps(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncCallExpr, *ast.FuncCastExpr, *ast.CaseExpr, *ast.SetCollationExpr:
		return true
	case *ast.UnaryOperationExpr:
		return n.Op == opcode.Minus || n.Op == opcode.BitNeg
	case *ast.BinaryOperationExpr:
		switch n.Op {
		case opcode.Plus, opcode.Minus, opcode.Mul, opcode.Div, opcode.IntDiv, opcode.Mod,
			opcode.And, opcode.Or, opcode.Xor, opcode.LeftShift, opcode.RightShift:
			return true
		}
	}
	return false
}
