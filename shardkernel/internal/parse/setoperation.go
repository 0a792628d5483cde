package parse

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// Union is an outermost UNION of query blocks, one after the other.
type Union struct {
	Branches []Branch
	OrderBy  []UnionKey
	Limit    *Limit
}

// Branch is one query block of a Union.
type Branch struct {
	Span       // the block, without parentheses around it
	Whole Span // with them
	// Distinct is true when UNION, not UNION ALL, stands before the branch: rows
	// that are equal to others of it or of a branch before it are left out.
	Distinct bool
}

// UnionKey is an item of ORDER BY behind the branches: a column of the result.
type UnionKey struct {
	Span     // without ASC or DESC
	Desc     bool
	Position int    // 1-based; 0 when the column is named
	Name     string // as written, unquoted; empty for anything but a position or a name
}

// buildUnion fills Statement.Union. Set operations of another form are left out:
// nested ones, INTERSECT and EXCEPT, those with WITH, VALUES or TABLE, and one block whose
// ORDER BY is in parentheses and is the order of the LIMIT behind them.
func (b *builder) buildUnion(n *ast.SetOprStmt) {
	if n.With != nil || n.SelectList == nil || n.SelectList.With != nil {
		return
	}
	starts := []int{0}
	order, limit := -1, -1
	for i := 0; i < len(b.tokens); i++ {
		switch {
		case b.is(i, "("):
			i = int(b.pair[i])
		case b.is(i-1, "."):
		case b.isWord(i, "UNION"):
			if order >= 0 || limit >= 0 {
				return
			}
			if b.isWord(i+1, "ALL", "DISTINCT") {
				i++
			}
			starts = append(starts, i+1)
		case b.isWord(i, "FOR") && b.isWord(i-1, "INDEX", "KEY"):
			i++ // USE INDEX FOR ORDER BY
		case b.isWord(i, "ORDER"):
			order = i
		case b.isWord(i, "LIMIT"):
			limit = i
		case b.isWord(i, "INTO", "FOR", "LOCK", "FETCH", "PROCEDURE"):
			return
		}
	}
	selects := n.SelectList.Selects
	if len(starts) != len(selects) || (order >= 0) != (n.OrderBy != nil) || (limit >= 0) != (n.Limit != nil) {
		return
	}
	if branches := branchesOf(n.SelectList, nil); len(branches) == 1 && n.OrderBy == nil && branches[0].OrderBy != nil && branches[0].Limit == nil {
		return
	}
	u := &Union{}
	for k, s := range selects {
		op, ok := operator(s)
		if !ok {
			return
		}
		br := Branch{}
		if k > 0 {
			if op == nil || *op != ast.Union && *op != ast.UnionAll {
				return
			}
			br.Distinct = *op == ast.Union
		}
		from, to := starts[k], len(b.tokens)
		switch {
		case k+1 < len(starts):
			for to = starts[k+1] - 1; !b.isWord(to, "UNION"); to-- {
			}
		case order >= 0:
			to = order
		case limit >= 0:
			to = limit
		}
		br.Whole = b.span(from, to)
		for b.is(from, "(") && int(b.pair[from]) == to-1 {
			from, to = from+1, to-1
		}
		if br.Span = b.span(from, to); !b.isWord(from, "SELECT") {
			return
		}
		u.Branches = append(u.Branches, br)
	}
	end := len(b.tokens)
	if n.Limit != nil {
		if limit < order {
			return
		}
		u.Limit = b.limit(n.Limit, limit, end)
		end = limit
	}
	if n.OrderBy != nil && !b.unionKeys(u, n.OrderBy.Items, order, end) {
		return
	}
	b.stmt.Union = u
}

// operator returns the operator before a branch, nil before the first. ok is false
// for a branch that is no SELECT, in parentheses or not.
func operator(branch ast.Node) (op *ast.SetOprType, ok bool) {
	switch n := branch.(type) {
	case *ast.SelectStmt:
		return n.AfterSetOperator, n.Kind == ast.SelectStmtKindSelect
	case *ast.SetOprSelectList: // parentheses
		if n.With != nil || n.OrderBy != nil || n.Limit != nil || len(n.Selects) != 1 {
			return nil, false
		}
		_, ok = operator(n.Selects[0])
		return n.AfterSetOperator, ok
	}
	return nil, false
}

// unionKeys reads the items of ORDER BY, which is the tokens [from, to).
func (b *builder) unionKeys(u *Union, items []*ast.ByItem, from, to int) bool {
	starts := b.split(from+2, to)
	if len(starts) != len(items) {
		return false
	}
	for k, n := range items {
		end := to
		if k+1 < len(starts) {
			end = starts[k+1] - 1
		}
		if end-starts[k] > 1 && b.isWord(end-1, "ASC", "DESC") {
			end--
		}
		key := UnionKey{Span: b.span(starts[k], end), Desc: n.Desc}
		switch e := n.Expr.(type) {
		case *ast.PositionExpr:
			if text := b.text[key.Start:key.End]; strings.Trim(text, "0123456789") == "" {
				key.Position = e.N
			}
		case *ast.ColumnNameExpr:
			if e.Name.Table.O == "" {
				key.Name, _ = b.nameOf(e.Name.Name)
			}
		}
		u.OrderBy = append(u.OrderBy, key)
	}
	return true
}
