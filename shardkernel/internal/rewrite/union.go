package rewrite

import (
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/route"
)

// unionOf returns what stands in the place of a table, nil for one actual table.
func unionOf(u *route.Unit, table int) *route.Union {
	if u.Unions == nil || u.Unions[table].Tables == nil {
		return nil
	}
	return &u.Unions[table]
}

// derivedTable writes the union in the place of a reference to a table, under the
// name by which the statement speaks of it. The columns are named: actual tables
// may have them in another order.
func (t *Template) derivedTable(union *route.Union, reference *parse.Rename, typed string) string {
	var columns, text strings.Builder
	for i, c := range union.Columns {
		if i > 0 {
			columns.WriteString(", ")
		}
		columns.WriteString(quote(c, '`'))
	}
	for i, table := range union.Tables {
		if i > 0 {
			text.WriteString(" UNION ALL ")
		}
		text.WriteString("SELECT " + columns.String() + " FROM " + quote(table, reference.Quote))
	}
	if t.stmt.Tables[reference.Table].Alias == "" {
		return "(" + text.String() + ") AS " + typed
	}
	return "(" + text.String() + ")"
}

// united returns the number of nodes that a unit reads as one, of the table that
// has most.
func united(u *route.Unit) int {
	most := 0
	for i := range u.Unions {
		most = max(most, len(u.Unions[i].Tables))
	}
	return most
}
