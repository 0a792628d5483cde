package parse

import (
	"regexp"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/test_driver"
)

// fraction finds digits behind a point, or an exponent.
var fraction = regexp.MustCompile(`\.[0-9]|[0-9][eE][-+]?[0-9]`)

// HasFraction reports whether a text, read as a number or a time, may have digits
// behind the point.
func HasFraction(text string) bool { return fraction.MatchString(text) }

// noteEquated notes the constants in the sides of an equality.
func (b *builder) noteEquated(sides ...ast.ExprNode) {
	for _, side := range sides {
		side.Accept(&equated{b})
	}
}

// equated notes constants with digits behind the point, and the parameters that
// may have some. It implements ast.Visitor.
type equated struct{ b *builder }

// Enter implements ast.Visitor.
func (e *equated) Enter(n ast.Node) (ast.Node, bool) {
	stmt := e.b.stmt
	switch n := n.(type) {
	case *test_driver.ParamMarkerExpr:
		if o := e.b.param(n); o.Kind == OperandParam {
			stmt.Equated = append(stmt.Equated, o.Param)
		}
	case *test_driver.ValueExpr:
		switch n.Kind() {
		case test_driver.KindMysqlDecimal, test_driver.KindFloat64:
			stmt.Features |= FeatureFraction
		case test_driver.KindString:
			if HasFraction(n.GetString()) {
				stmt.Features |= FeatureFraction
			}
		}
	}
	return n, false
}

// Leave implements ast.Visitor.
func (e *equated) Leave(n ast.Node) (ast.Node, bool) { return n, true }
