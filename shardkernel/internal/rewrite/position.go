package rewrite

import (
	"github.com/gormshard/sharding/shardkernel/internal/parse"
)

// reveal finds what a position behind a * stands for: a column of the *, or an
// item. It returns the item of ORDER BY or GROUP BY as it is where that cannot be
// told.
func (r *recipe) reveal(by *parse.ByItem) *parse.ByItem {
	if by.Position == 0 || by.Item >= 0 {
		return by
	}
	left := by.Position
	for k := range r.selection.Items {
		item := &r.selection.Items[k]
		if !item.Star {
			if left--; left == 0 {
				found := *by
				found.Item = k
				return &found
			}
			continue
		}
		table, ok := r.tableOfStar()
		if !ok {
			return by
		}
		columns := r.tableOf(table).Columns
		for i := range columns {
			if columns[i].Invisible {
				continue
			}
			if left--; left == 0 {
				found := *by
				found.Column = &parse.Column{Table: table, Name: columns[i].Name}
				return &found
			}
		}
	}
	return by
}

// tableOfStar returns the one table whose columns every * stands for.
func (r *recipe) tableOfStar() (table int, ok bool) {
	scope := &r.template.stmt.Scopes[0]
	tables := r.tables()
	if scope.Sources != 1 || scope.Derived || len(tables) != 1 || r.tableOf(tables[0]) == nil {
		return 0, false
	}
	return tables[0], true
}
