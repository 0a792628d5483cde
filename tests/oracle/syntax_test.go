//go:build unix

package oracle_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
	"github.com/pingcap/tidb/pkg/parser/test_driver"
)

// verbatim is an expression that is written as it is.
type verbatim struct {
	ast.ExprNode
	text string
}

func (v *verbatim) Restore(ctx *format.RestoreCtx) error {
	ctx.WritePlain(v.text)
	return nil
}

func (v *verbatim) Accept(visitor ast.Visitor) (ast.Node, bool) {
	visitor.Enter(v)
	return visitor.Leave(v)
}

// argumentMark stands for an argument in a restored text; the number is its
// place in the statement that was parsed.
const argumentMark = "\ue000%d\ue001"

var argumentMarks = regexp.MustCompile("\ue000([0-9]+)\ue001")

// numbering puts numbered marks in the place of parameter markers, and the text in that
// of hexadecimal and bit literals: 0x09 is a number beside numbers, and x'09' is not.
// Nodes are not visited in the order of the text.
type numbering struct {
	text    string
	offsets []int // of the markers in the text; to be sorted between two visits
	sorted  bool
}

func (m *numbering) Enter(n ast.Node) (ast.Node, bool) { return n, false }

var zeroLiteral = regexp.MustCompile(`^0[xb][0-9a-fA-F]+`)

func (m *numbering) Leave(n ast.Node) (ast.Node, bool) {
	if v, ok := n.(*test_driver.ValueExpr); ok && v.Kind() == test_driver.KindBinaryLiteral {
		if typed := zeroLiteral.FindString(m.text[min(v.OriginTextPosition(), len(m.text)):]); typed != "" {
			return &verbatim{v, typed}, true
		}
	}
	p, ok := n.(*test_driver.ParamMarkerExpr)
	switch {
	case !ok:
	case !m.sorted:
		m.offsets = append(m.offsets, p.Offset)
	default:
		return &verbatim{p, fmt.Sprintf(argumentMark, slices.Index(m.offsets, p.Offset))}, true
	}
	return n, true
}

// parsed returns the syntax tree of a fragment, whose arguments stay where they
// are in all that restored makes of it.
func parsed(p fragment) (ast.StmtNode, bool) {
	text, _ := p.bound()
	nodes, _, err := parser.New().Parse(text, "utf8mb4", "")
	if err != nil || len(nodes) != 1 {
		return nil, false
	}
	m := numbering{text: text}
	nodes[0].Accept(&m)
	slices.Sort(m.offsets)
	m.sorted = true
	_, ok := nodes[0].Accept(&m)
	return nodes[0], ok
}

// restored writes a node, which was parsed from a fragment with the arguments.
func restored(n ast.Node, args []any) (out fragment, ok bool) {
	var b strings.Builder
	flags := format.DefaultRestoreFlags | format.RestoreStringEscapeBackslash | format.RestoreStringWithoutDefaultCharset | format.RestoreSpacesAroundBinaryOperation
	if err := n.Restore(format.NewRestoreCtx(flags, &b)); err != nil {
		return out, false
	}
	text := strings.ReplaceAll(b.String(), "\x00", `\0`)
	for _, m := range argumentMarks.FindAllStringSubmatch(text, -1) {
		i, err := strconv.Atoi(m[1])
		if err != nil || i >= len(args) {
			return out, false
		}
		out.args = append(out.args, args[i])
	}
	out.sql = argumentMarks.ReplaceAllString(text, marker)
	return out, true
}

// ranked writes a query without its LIMIT and with the place of every row in its
// order as one more column. It is empty where no order can be told.
func ranked(p fragment) fragment {
	n, ok := parsed(p)
	if !ok {
		return fragment{}
	}
	switch n := n.(type) {
	case *ast.SelectStmt:
		return rankedSelect(n, p.args)
	case *ast.SetOprStmt:
		by, limited := n.OrderBy, n.Limit != nil
		n.OrderBy, n.Limit = nil, nil
		if by == nil {
			return placeless(n, p.args, limited)
		}
		var names []string
		for _, item := range by.Items {
			name, ok := setColumn(n, item.Expr)
			if !ok {
				return fragment{}
			}
			if endsOpenInSet(n, item.Expr) {
				name = ended(name)
			}
			names = append(names, name+way(item))
		}
		all, ok := restored(n, p.args)
		if !ok {
			return fragment{}
		}
		return overall(all, names)
	}
	return fragment{}
}

func way(item *ast.ByItem) string {
	if item.Desc {
		return " DESC"
	}
	return ""
}

// overall numbers the places of rows by columns of the result.
func overall(all fragment, names []string) fragment {
	return f("SELECT d_.*, DENSE_RANK() OVER (ORDER BY ", strings.Join(names, ", "), ") FROM (", all, ") d_")
}

// placeless gives all rows one place, where LIMIT may take any of them.
func placeless(n ast.StmtNode, args []any, limited bool) fragment {
	all, ok := restored(n, args)
	if !ok || !limited {
		return fragment{} // rows are compared without their places
	}
	return f("SELECT d_.*, 1 FROM (", all, ") d_")
}

// setColumn names the column of a UNION's result that an item of ORDER BY means.
func setColumn(n *ast.SetOprStmt, e ast.ExprNode) (string, bool) {
	switch e := e.(type) {
	case *ast.ColumnNameExpr:
		return "d_.`" + e.Name.Name.O + "`", e.Name.Table.L == ""
	case *ast.PositionExpr:
		first, ok := n.SelectList.Selects[0].(*ast.SelectStmt)
		if !ok || e.N < 1 || e.N > len(first.Fields.Fields) {
			return "", false
		}
		field := first.Fields.Fields[e.N-1]
		if field.AsName.O != "" {
			return "d_.`" + field.AsName.O + "`", true
		}
		if column, ok := field.Expr.(*ast.ColumnNameExpr); ok {
			return "d_.`" + column.Name.Name.O + "`", true
		}
	}
	return "", false
}

func rankedSelect(n *ast.SelectStmt, args []any) fragment {
	by, limited := n.OrderBy, n.Limit != nil
	n.OrderBy, n.Limit, n.LockInfo = nil, nil, nil
	grouped := n.GroupBy != nil || holdsAggregates(n)
	if n.Kind != ast.SelectStmtKindSelect || n.Fields == nil {
		return fragment{}
	}
	if by == nil && (grouped || n.Distinct) {
		return placeless(n, args, limited)
	}
	if by == nil || len(by.Items) == 0 {
		if n.Distinct {
			return fragment{}
		}
		n.Fields.Fields = append(n.Fields.Fields, &ast.SelectField{Expr: &verbatim{text: "1"}})
		all, _ := restored(n, args)
		return all
	}
	if n.GroupBy != nil && n.GroupBy.Rollup {
		return fragment{}
	}
	var keys, ways []string
	for _, item := range by.Items {
		e, selected := orderKey(n, item.Expr)
		if e == nil || n.Distinct && !selected {
			return fragment{}
		}
		var b strings.Builder
		flags := format.DefaultRestoreFlags | format.RestoreStringEscapeBackslash | format.RestoreStringWithoutDefaultCharset | format.RestoreSpacesAroundBinaryOperation
		if err := e.Restore(format.NewRestoreCtx(flags, &b)); err != nil {
			return fragment{}
		}
		key := b.String()
		if endsOpen(e) {
			key = ended(key)
		}
		keys, ways = append(keys, key), append(ways, way(item))
	}
	if !grouped && !n.Distinct && !holdsWindows(n) {
		for i := range keys {
			keys[i] += ways[i]
		}
		n.Fields.Fields = append(n.Fields.Fields, &ast.SelectField{Expr: &verbatim{text: "DENSE_RANK() OVER (ORDER BY " + strings.Join(keys, ", ") + ")"}})
		all, _ := restored(n, args)
		return all
	}
	// A window beside aggregates is beyond the server where they are in
	// expressions. A derived table has no two columns of one name.
	taken := map[string]bool{}
	for i, field := range n.Fields.Fields {
		if column, ok := field.Expr.(*ast.ColumnNameExpr); ok && field.AsName.L == "" {
			if taken[column.Name.Name.L] {
				field.AsName = ast.NewCIStr(fmt.Sprintf("same_%d", i))
			}
			taken[column.Name.Name.L] = true
		}
	}
	for i := range keys {
		n.Fields.Fields = append(n.Fields.Fields, &ast.SelectField{Expr: &verbatim{text: fmt.Sprintf("%s AS key_%d", keys[i], i)}})
		ways[i] = fmt.Sprintf("key_%d%s", i, ways[i])
	}
	all, ok := restored(n, args)
	if !ok {
		return fragment{}
	}
	return overall(all, ways)
}

// orderKey returns the expression that an item of ORDER BY stands for, and
// whether it is an item of the select list.
func orderKey(n *ast.SelectStmt, e ast.ExprNode) (key ast.ExprNode, selected bool) {
	fields := n.Fields.Fields
	switch e := e.(type) {
	case *ast.PositionExpr:
		for i := range min(e.N, len(fields)) {
			if fields[i].WildCard != nil {
				return nil, false
			}
		}
		if e.N < 1 || e.N > len(fields) {
			return nil, false
		}
		return fields[e.N-1].Expr, true
	case *ast.ColumnNameExpr:
		for _, field := range fields {
			if field.AsName.L != "" && field.AsName.L == e.Name.Name.L && e.Name.Table.L == "" {
				return field.Expr, true
			}
		}
		for _, field := range fields {
			column, ok := field.Expr.(*ast.ColumnNameExpr)
			if ok && column.Name.Name.L == e.Name.Name.L && (column.Name.Table.L == e.Name.Table.L || column.Name.Table.L == "" || e.Name.Table.L == "") {
				return e, true
			}
		}
		return e, false
	}
	for _, field := range fields {
		if field.AsName.L != "" && namesColumn(e, field.AsName.L) {
			return nil, false // an alias or a column
		}
		if field.Expr != nil && same(field.Expr, e) {
			selected = true
		}
	}
	return e, selected
}

// endsOpen reports whether an expression is a text of a NO PAD collation, of which
// a sort takes those for equal that differ in U+0000 at their end alone: it fills
// up its keys with zeros. Comparisons tell them apart, and so would DENSE_RANK.
func endsOpen(e ast.ExprNode) bool {
	switch e := e.(type) {
	case *ast.ColumnNameExpr:
		return slices.ContainsFunc(tables, func(t *table) bool {
			c := t.column(e.Name.Name.L)
			return c != nil && strings.Contains(c.ddl, "_nopad_")
		})
	case *ast.ParenthesesExpr:
		return endsOpen(e.Expr)
	case *ast.AggregateFuncExpr:
		return (e.F == ast.AggFuncMin || e.F == ast.AggFuncMax) && endsOpen(e.Args[0])
	case *ast.FuncCallExpr:
		return slices.Contains(keepsEnds, e.FnName.L) && endsOpen(e.Args[0])
	}
	return false
}

// keepsEnds are functions that give texts with the ends of their first argument.
var keepsEnds = []string{ast.Upper, ast.Ifnull, ast.Nullif, ast.Trim, ast.Replace}

// endsOpenInSet reports whether a column of a UNION's result has such texts.
func endsOpenInSet(n *ast.SetOprStmt, e ast.ExprNode) bool {
	position, ok := e.(*ast.PositionExpr)
	return ok && slices.ContainsFunc(n.SelectList.Selects, func(branch ast.Node) bool {
		s, ok := branch.(*ast.SelectStmt)
		return ok && s.Fields != nil && position.N >= 1 && position.N <= len(s.Fields.Fields) && endsOpen(s.Fields.Fields[position.N-1].Expr)
	})
}

// ended is a key of which the texts that endsOpen speaks of have one place.
func ended(key string) string { return `TRIM(TRAILING '\0' FROM ` + key + ")" }

func same(a, b ast.Node) bool {
	var x, y strings.Builder
	return a.Restore(format.NewRestoreCtx(format.DefaultRestoreFlags, &x)) == nil && b.Restore(format.NewRestoreCtx(format.DefaultRestoreFlags, &y)) == nil && x.String() == y.String()
}

// finder looks for a kind of node in a query block, its subqueries apart.
type finder struct {
	is    func(ast.Node) bool
	found bool
}

func (v *finder) Enter(n ast.Node) (ast.Node, bool) {
	if _, sub := n.(*ast.SubqueryExpr); sub {
		return n, true
	}
	v.found = v.found || v.is(n)
	return n, false
}

func (v *finder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func holds(n ast.Node, is func(ast.Node) bool) bool {
	v := &finder{is: is}
	n.Accept(v)
	return v.found
}

func holdsAggregates(n *ast.SelectStmt) bool {
	return holds(n, func(n ast.Node) bool { _, ok := n.(*ast.AggregateFuncExpr); return ok })
}

func holdsWindows(n *ast.SelectStmt) bool {
	return holds(n, func(n ast.Node) bool { _, ok := n.(*ast.WindowFuncExpr); return ok })
}

// namesColumn reports whether an expression names a column of a name.
func namesColumn(n ast.Node, name string) bool {
	return holds(n, func(n ast.Node) bool { c, ok := n.(*ast.ColumnName); return ok && c.Name.L == name && c.Table.L == "" })
}
