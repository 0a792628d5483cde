//go:build unix

package oracle_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/test_driver"
)

// reduce makes a query smaller while it still gives another answer than the
// unsharded database, in the same manner, and returns the smallest.
func reduce(ctx context.Context, whole, c *cluster, q *query, protocol string, way int) string {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	fixed := func(p fragment) bool {
		_, text, args := whole.as(protocol, p)
		return whole.prepared.strict == nil || read(whole.prepared.strict.QueryContext(ctx, text, args...)).err == nil
	}
	ambiguous := !fixed(q.statement)
	differs := func(p fragment) string {
		small := &query{statement: p, folded: q.folded, shape: q.shape}
		small.outline()
		a := whole.reference(ctx, small, protocol, way)
		pools, text, args := c.as(protocol, p)
		got := pools.ask(ctx, way, text, args)
		if _, ok := refused(got.err); ok || ctx.Err() != nil {
			return ""
		}
		how := manner(small.differ(a.want, got, a.everything))
		if how == "rows" && !ambiguous && !fixed(p) || how != "" && slices.Contains(whole.contradictions(ctx, *small, a, protocol, way), how) {
			return ""
		}
		return how
	}
	how := differs(q.statement)
	if how == "" {
		return "(it does not happen again)"
	}
	smallest := q.statement.smaller(func(p fragment) bool { return differs(p) == how })
	p, text, args := c.as(protocol, smallest)
	return fmt.Sprintf("%s\n  %v\n  %s", text, args, route(ctx, p, text, args))
}

// outline finds out what comparing answers has to know of a query.
func (q *query) outline() {
	l := label(q.statement.text(), topology{}.keys)
	q.outer = l.outer()
	n, ok := parsed(q.statement)
	if !ok {
		return
	}
	var limit *ast.Limit
	switch n := n.(type) {
	case *ast.SelectStmt:
		limit = n.Limit
	case *ast.SetOprStmt:
		limit = n.Limit
	}
	if limit == nil {
		return
	}
	q.limited = true
	if limit.Offset != nil {
		if offset, ok := restored(limit.Offset, q.statement.args); ok {
			_, _ = fmt.Sscan(offset.text(), &q.offset)
		}
	}
}

// manner is the kind of a difference.
func manner(difference string) string {
	for _, kind := range []string{"panic", "an answer where", "an error", "columns"} {
		if strings.HasPrefix(difference, kind) {
			return kind
		}
	}
	if difference != "" {
		return "rows"
	}
	return ""
}

// smaller drops parts of a query one by one, as long as it still is what is
// looked for, until no part can be dropped.
func (p fragment) smaller(is func(fragment) bool) fragment {
	// As it is written from the tree, which is longer.
	if n, ok := parsed(p); ok {
		if again, ok := restored(n, p.args); ok && is(again) {
			p = again
		}
	}
	dropped := false
	for i := 0; ; {
		n, ok := parsed(p)
		if !ok {
			return p
		}
		e := &edit{left: i}
		edited, _ := n.Accept(e)
		if !e.done {
			if !dropped {
				return p
			}
			dropped, i = false, 0
			continue
		}
		small, ok := restored(edited, p.args)
		if ok && len(small.text()) < len(p.text()) && is(small) {
			p, dropped = small, true
			continue // the next edit has the place of this one
		}
		i++
	}
}

// edit makes one of the possible changes to a statement, the one of a number.
type edit struct {
	left   int
	done   bool
	inside []ast.Node
}

// turn reports whether the change that is asked about is the one to be made.
func (e *edit) turn() bool {
	if e.done {
		return false
	}
	e.done = e.left == 0
	e.left--
	return e.done
}

func (e *edit) Enter(n ast.Node) (ast.Node, bool) {
	e.inside = append(e.inside, n)
	switch n := n.(type) {
	case *ast.SelectStmt:
		e.block(n)
	case *ast.SetOprStmt:
		switch {
		case n.OrderBy != nil && e.turn():
			n.OrderBy = nil
		case n.Limit != nil && e.turn():
			n.Limit = nil
		}
	case *ast.PatternInExpr:
		for i := range n.List {
			if len(n.List) > 1 && e.turn() {
				n.List = without(n.List, i)
				break
			}
		}
	case *ast.AggregateFuncExpr:
		if n.Distinct && e.turn() {
			n.Distinct = false
		}
	}
	return n, e.done
}

func (e *edit) block(n *ast.SelectStmt) {
	switch {
	case n.LockInfo != nil && n.LockInfo.LockType != ast.SelectLockNone && e.turn():
		n.LockInfo = nil
	case n.Limit != nil && e.turn():
		n.Limit = nil
	case n.OrderBy != nil && e.turn():
		n.OrderBy = nil
	case n.Having != nil && e.turn():
		n.Having = nil
	case n.Where != nil && e.turn():
		n.Where = nil
	case n.Distinct && e.turn():
		n.Distinct = false
	case n.GroupBy != nil && e.turn():
		n.GroupBy = nil
	case n.With != nil && e.turn():
		n.With = nil
	case n.Limit != nil && n.Limit.Offset != nil && e.turn():
		n.Limit.Offset = nil
	}
	if n.OrderBy != nil {
		for i := range n.OrderBy.Items {
			if len(n.OrderBy.Items) > 1 && e.turn() {
				n.OrderBy.Items = without(n.OrderBy.Items, i)
				return
			}
		}
	}
	if n.GroupBy != nil {
		for i := range n.GroupBy.Items {
			if len(n.GroupBy.Items) > 1 && e.turn() {
				n.GroupBy.Items = without(n.GroupBy.Items, i)
				return
			}
		}
	}
	if n.Fields != nil {
		for i := range n.Fields.Fields {
			if len(n.Fields.Fields) > 1 && e.turn() {
				n.Fields.Fields = without(n.Fields.Fields, i)
				return
			}
		}
	}
	if n.From != nil {
		for _, side := range []func(*ast.Join) ast.ResultSetNode{func(j *ast.Join) ast.ResultSetNode { return j.Left }, func(j *ast.Join) ast.ResultSetNode { return j.Right }} {
			if n.From.TableRefs.Right != nil && e.turn() {
				n.From.TableRefs = only(side(n.From.TableRefs))
			}
		}
	}
}

// only is a join of one source.
func only(n ast.ResultSetNode) *ast.Join {
	if join, ok := n.(*ast.Join); ok {
		return join
	}
	return &ast.Join{Left: n}
}

func without[T any](list []T, i int) []T {
	return append(append([]T{}, list[:i]...), list[i+1:]...)
}

func (e *edit) Leave(n ast.Node) (ast.Node, bool) {
	e.inside = e.inside[:len(e.inside)-1]
	if e.done {
		return n, true
	}
	switch n := n.(type) {
	case *ast.SetOprStmt:
		for _, branch := range n.SelectList.Selects {
			if s, ok := branch.(*ast.SelectStmt); ok && e.turn() {
				s.AfterSetOperator = nil
				return s, true
			}
		}
	case *ast.Join:
		if _, whole := e.inside[len(e.inside)-1].(*ast.TableRefsClause); whole {
			break // see block
		}
		for _, side := range []ast.ResultSetNode{n.Left, n.Right} {
			if n.Right != nil && e.turn() {
				return side, true
			}
		}
	case ast.ExprNode:
		for _, part := range parts(n) {
			if _, leaf := n.(*test_driver.ValueExpr); !leaf && e.turn() {
				return part, true
			}
		}
	}
	return n, true
}

// parts are what an expression may be replaced by.
func parts(n ast.ExprNode) []ast.ExprNode {
	switch n := n.(type) {
	case *ast.BinaryOperationExpr:
		return []ast.ExprNode{n.L, n.R}
	case *ast.ParenthesesExpr:
		return []ast.ExprNode{n.Expr}
	case *ast.UnaryOperationExpr:
		return []ast.ExprNode{n.V}
	case *ast.FuncCallExpr:
		return n.Args
	case *ast.IsNullExpr:
		return []ast.ExprNode{n.Expr}
	case *ast.IsTruthExpr:
		return []ast.ExprNode{n.Expr}
	case *ast.FuncCastExpr:
		return []ast.ExprNode{n.Expr}
	case *ast.BetweenExpr:
		return []ast.ExprNode{n.Expr}
	case *ast.CaseExpr:
		var out []ast.ExprNode
		for _, w := range n.WhenClauses {
			out = append(out, w.Result)
		}
		if n.ElseClause != nil {
			out = append(out, n.ElseClause)
		}
		return out
	}
	return nil
}

func TestQueriesAreReducedToWhatMatters(t *testing.T) {
	for _, test := range []struct{ query, keep, want string }{
		{
			"SELECT o.id, UPPER(o.name), (o.price + 1) * 2 FROM orders o JOIN items i ON i.uid = o.uid AND i.id = 3 WHERE o.uid IN (1, 2, 3) AND (o.id > 7 OR NOT (o.day IS NULL)) ORDER BY o.id, 2 LIMIT 5 OFFSET 2",
			"`day`", "SELECT `o`.`price` FROM `orders` AS `o` WHERE `o`.`day`",
		},
		{"SELECT uid, COUNT(DISTINCT id) FROM orders GROUP BY uid, id HAVING MAX(id) > 3", "HAVING", "SELECT COUNT(`id`) FROM `orders` HAVING MAX(`id`)"},
		{"SELECT id FROM orders WHERE uid = 3 UNION ALL SELECT id FROM items WHERE uid IN (4, 5) ORDER BY 1", "items", "SELECT `id` FROM `items`"},
		{"SELECT id FROM orders WHERE id IN (SELECT order_id FROM items WHERE qty > 1 AND cost > 2) AND uid = 3", "cost", "SELECT `id` FROM `orders` WHERE `id` IN (SELECT `order_id` FROM `items` WHERE `cost`)"},
	} {
		got := f(test.query).smaller(func(p fragment) bool { return strings.Contains(p.sql, test.keep) })
		if got.sql != test.want {
			t.Errorf("%s\nbecame %s\nwant   %s", test.query, got.sql, test.want)
		}
	}
	// The arguments stay with their markers.
	p := f("SELECT ", argument{1}, ", id FROM orders WHERE uid = ", argument{2}, " AND id > ", argument{3}, " LIMIT ", argument{4})
	got := p.smaller(func(p fragment) bool { return strings.Contains(p.text(), "> 3") })
	if want := "SELECT `id` FROM `orders` WHERE `id` > 3"; got.text() != want {
		t.Errorf("%s, want %s", got.text(), want)
	}
}
