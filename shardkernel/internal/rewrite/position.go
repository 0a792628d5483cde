package rewrite

import (
	"slices"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
)

// reveal finds what a position behind a * stands for: an item, or a column of the
// *, before whose name its span stands then. It returns the item of ORDER BY or
// GROUP BY as it is where that cannot be told.
func (r *recipe) reveal(by *parse.ByItem) *parse.ByItem {
	if by.Position == 0 || by.Item >= 0 {
		return by
	}
	left, found := by.Position, *by
	for k := range r.selection.Items {
		item := &r.selection.Items[k]
		if !item.Star {
			if left--; left == 0 {
				found.Item = k
				return &found
			}
			continue
		}
		tables, ok := r.tablesOfStar(item)
		if !ok {
			return by
		}
		for _, table := range tables {
			columns := r.tableOf(table).Columns
			for i := range columns {
				if columns[i].Invisible {
					continue
				}
				if left--; left > 0 {
					continue
				}
				found.Column = &parse.Column{Table: table, Name: columns[i].Name}
				switch {
				case item.StarOf != "": // "t." of t.*
					found.Span = parse.Span{Start: item.Start, End: item.End - 1}
				case r.columnOf(&parse.Column{Table: parse.AnyTable, Name: columns[i].Name}) == nil:
					return by // several tables have such a column
				default:
					found.Span = parse.Span{}
				}
				return &found
			}
		}
	}
	return by
}

// tablesOfStar returns the tables whose columns a * stands for, one behind the
// other; ok is false where that is not known.
func (r *recipe) tablesOfStar(item *parse.Item) (tables []int, ok bool) {
	scope := &r.template.stmt.Scopes[0]
	switch {
	case item.StarOf != "":
		tables = []int{r.tableNamed(item.StarOf)}
	case scope.Merged || scope.Derived:
		return nil, false
	default:
		if tables = r.tables(); scope.Sources != len(tables) {
			return nil, false
		}
	}
	return tables, !slices.ContainsFunc(tables, func(table int) bool { return r.tableOf(table) == nil })
}
