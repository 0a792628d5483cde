package parse

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/pingcap/tidb/pkg/parser/test_driver"
)

// fraction finds digits behind a point, or an exponent.
var fraction = regexp.MustCompile(`\.[0-9]|[0-9][eE][-+]?[0-9]`)

// Digits returns no fewer digits than a text, read as a number or a time, may have
// behind the point. Zeros at its end are none.
func Digits(text string) int {
	switch {
	case !fraction.MatchString(text):
		return 0
	case strings.ContainsAny(text, "eE"):
		if v, err := strconv.ParseFloat(text, 64); err == nil && isWhole(v) {
			return 0
		}
		return math.MaxInt
	}
	return max(len(strings.TrimRight(text, "0"))-strings.IndexByte(text, '.')-1, 0)
}

// isWhole reports whether a number is an integer that a DOUBLE tells from all others.
func isWhole(v float64) bool { return v == math.Trunc(v) && math.Abs(v) < 1<<53 }

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
// it makes equal to something else. Rows are equal value by value.
func (b *builder) noteEquated(blk *block, left, right ast.Node) {
	column, constant := bare(left), bare(right)
	if row, ok := column.(*ast.RowExpr); ok {
		if other, ok := constant.(*ast.RowExpr); ok && len(row.Values) == len(other.Values) {
			for i := range row.Values {
				b.noteEquated(blk, row.Values[i], other.Values[i])
			}
			return
		}
	}
	if hasAggregate(column) || hasAggregate(constant) { // which no index holds
		return
	}
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

// noteRenamed notes the columns of what a select list gives another name.
func (b *builder) noteRenamed(e ast.ExprNode) {
	var f columnFinder
	walk(&f, e)
	for _, c := range f.columns {
		name, _ := b.nameOf(c.Name)
		b.stmt.Renamed = append(b.stmt.Renamed, strings.ToLower(name))
	}
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

// Enter implements ast.Visitor. A condition is TRUE or FALSE, whatever constants and
// columns stand in it; its own equalities are noted for themselves.
func (e *equated) Enter(n ast.Node) (ast.Node, bool) {
	stmt := e.b.stmt
	switch n := n.(type) {
	case *ast.SelectStmt:
		e.visitSelect(n)
		return n, true
	case *ast.BinaryOperationExpr:
		return n, isCondition(n.Op)
	case *ast.UnaryOperationExpr:
		return n, isCondition(n.Op)
	case *ast.IsNullExpr, *ast.IsTruthExpr, *ast.BetweenExpr, *ast.PatternInExpr, *ast.PatternLikeOrIlikeExpr, *ast.PatternRegexpExpr,
		*ast.CompareSubqueryExpr, *ast.ExistsSubqueryExpr:
		return n, true
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
			if !isWhole(n.GetFloat64()) {
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

// visitSelect visits what the values of a subquery may come from.
func (e *equated) visitSelect(n *ast.SelectStmt) {
	if n.With != nil {
		n.With.Accept(e)
	}
	if n.Fields != nil {
		n.Fields.Accept(e)
	}
	if n.From != nil && n.From.TableRefs != nil {
		e.visitFrom(n.From.TableRefs)
	}
	for _, row := range n.Lists {
		row.Accept(e)
	}
}

// visitFrom visits the derived tables of FROM.
func (e *equated) visitFrom(n ast.ResultSetNode) {
	switch n := n.(type) {
	case *ast.Join:
		e.visitFrom(n.Left)
		if n.Right != nil {
			e.visitFrom(n.Right)
		}
	case *ast.TableSource:
		if _, ok := n.Source.(*ast.TableName); !ok {
			n.Source.Accept(e)
		}
	}
}

// isCondition reports whether an operator gives TRUE, FALSE or NULL.
func isCondition(op opcode.Op) bool {
	switch op {
	case opcode.LogicAnd, opcode.LogicOr, opcode.LogicXor, opcode.Not, opcode.Not2,
		opcode.EQ, opcode.NE, opcode.LT, opcode.LE, opcode.GT, opcode.GE, opcode.NullEQ:
		return true
	}
	return false
}
