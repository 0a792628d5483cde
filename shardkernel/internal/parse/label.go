package parse

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// labelled returns the texts that label columns of a block's result: those of the
// items of its select list that are neither columns nor have an alias. It returns
// nil when the tokens do not agree with the tree.
func (b *builder) labelled(n *ast.SelectStmt) []Span {
	if n.Fields == nil || len(n.Fields.Fields) == 0 {
		return nil
	}
	fields := n.Fields.Fields
	first := b.at(b.original(fields[0].Offset))
	if first < 0 {
		return nil
	}
	to := b.itemsEnd(first)
	starts := b.split(first, to)
	if len(starts) != len(fields) {
		return nil
	}
	var out []Span
	for k, f := range fields {
		if f.WildCard != nil || f.AsName.O != "" || columnOf(f.Expr) != nil {
			continue
		}
		end := to
		if k+1 < len(starts) {
			end = starts[k+1] - 1
		}
		span := b.span(starts[k], end)
		if k > 0 {
			// MariaDB counts a comment between the comma and the expression to it.
			between := b.text[b.end(starts[k]-1):span.Start]
			span.Start -= len(strings.TrimLeft(between, " \t\r\n"))
		}
		out = append(out, span)
	}
	return out
}

// itemsEnd returns the index behind the select list that begins at token i.
func (b *builder) itemsEnd(i int) int {
	for ; i < len(b.tokens); i++ {
		switch {
		case b.is(i, "("):
			i = int(b.pair[i])
		case b.is(i, ")"):
			return i
		case !b.is(i-1, ".") && b.isWord(i, "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "INTO", "FOR", "LOCK",
			"UNION", "EXCEPT", "INTERSECT", "WINDOW", "PROCEDURE", "FETCH"):
			return i
		}
	}
	return i
}
