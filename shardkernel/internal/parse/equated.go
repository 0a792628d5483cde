package parse

import (
	"math"
	"regexp"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/test_driver"
)

// fraction finds digits behind a point, or an exponent.
var fraction = regexp.MustCompile(`\.[0-9]|[0-9][eE][-+]?[0-9]`)

// Digits returns no fewer digits than a text, read as a number or a time, may have
// behind the point.
func Digits(text string) int {
	switch {
	case !fraction.MatchString(text):
		return 0
	case strings.ContainsAny(text, "eE"):
		return math.MaxInt
	}
	return len(text) - strings.IndexByte(text, '.') - 1
}

// Equated is a constant in an equality that has, or may have, digits behind the
// point.
type Equated struct {
	// Param is the ordinal of a parameter, -1 for another constant, whose digits
	// behind the point are no more than Digits.
	Param, Digits int
	// Column is the column that the constant itself is compared with. Its Table is
	// NoTable where that is anything else.
	Column Column
}

// noteEquated notes the constants in the sides of an equality, and the columns that
// it makes equal to something else.
func (b *builder) noteEquated(blk *block, left, right ast.Node) {
	column, constant := bare(left), bare(right)
	if _, ok := column.(*ast.ColumnNameExpr); !ok {
		column, constant = constant, column
	}
	if c, ok := column.(*ast.ColumnNameExpr); ok && isSignedConstant(constant) {
		constant.Accept(&equated{b, blk, b.reach(blk, c.Name)})
		return
	}
	for _, side := range []ast.Node{left, right} {
		side.Accept(&equated{b, blk, Column{Table: NoTable}})
	}
}

// bare returns an expression without parentheses around it.
func bare(n ast.Node) ast.Node {
	if e, ok := n.(ast.ExprNode); ok {
		return unwrap(e)
	}
	return n
}

// isSignedConstant reports whether an expression is a constant, which may have a sign.
func isSignedConstant(n ast.Node) bool {
	switch n := bare(n).(type) {
	case *test_driver.ParamMarkerExpr, *test_driver.ValueExpr:
		return true
	case *ast.UnaryOperationExpr:
		return isSignedConstant(n.V)
	}
	return false
}

// link notes a column that is equal to another one.
func (b *builder) link(blk *block, c *ast.ColumnName) {
	name, _ := b.nameOf(c.Name)
	b.stmt.Linked = append(b.stmt.Linked, strings.ToLower(name), b.reach(blk, c).Name)
}

// linkJoined notes the columns that a join makes equal by their names.
func (b *builder) linkJoined(blk *block, n *ast.Join) {
	if n.NaturalJoin {
		b.stmt.Linked = append(b.stmt.Linked, "*")
	}
	for _, c := range n.Using {
		b.link(blk, c)
	}
}

// equated notes what stands in a side of an equality. It implements ast.Visitor.
type equated struct {
	b      *builder
	block  *block
	column Column // that the constants are compared with
}

// Enter implements ast.Visitor.
func (e *equated) Enter(n ast.Node) (ast.Node, bool) {
	stmt := e.b.stmt
	switch n := n.(type) {
	case *ast.ColumnName:
		e.b.link(e.block, n)
	case *ast.SelectField:
		if n.WildCard != nil {
			stmt.Linked = append(stmt.Linked, "*")
		}
	case *test_driver.ParamMarkerExpr:
		if o := e.b.param(n); o.Kind == OperandParam {
			stmt.Equated = append(stmt.Equated, Equated{Param: o.Param, Column: e.column})
		}
	case *test_driver.ValueExpr:
		digits := 0
		switch n.Kind() {
		case test_driver.KindMysqlDecimal:
			digits = Digits(strings.TrimRight(n.GetMysqlDecimal().String(), "0"))
		case test_driver.KindFloat64:
			if v := n.GetFloat64(); v != math.Trunc(v) || math.Abs(v) >= 1<<53 {
				digits = math.MaxInt
			}
		case test_driver.KindString:
			digits = Digits(n.GetString())
		}
		if digits > 0 {
			stmt.Equated = append(stmt.Equated, Equated{Param: -1, Digits: digits, Column: e.column})
		}
	}
	return n, false
}

// Leave implements ast.Visitor.
func (e *equated) Leave(n ast.Node) (ast.Node, bool) { return n, true }
