package rewrite

import (
	"slices"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// groupBy takes the group keys into the recipe. Without ORDER BY, MariaDB gives
// groups in the order of their keys, as GROUP BY a DESC says outright.
func (r *recipe) groupBy() error {
	for i := range r.selection.GroupBy {
		by := *r.reveal(&r.selection.GroupBy[i])
		if err := r.checkMeaning(&by, "GROUP BY"); err != nil {
			return err
		}
		if by.Constant {
			continue
		}
		if by.ByAlias {
			// A name in GROUP BY is a column of the tables first, an alias second.
			switch owned, known := r.owns(by.Column.Name); {
			case !known:
				return refuse("GROUP BY "+r.text(by.Span), "it may be a column or the alias of another expression: the tables' columns are not known, or several have that name", "give the alias a name of its own and group by the expression")
			case owned:
				by.Item = -1
			}
		}
		key, err := r.key(&by, groupAlias, "GROUP BY")
		if err != nil {
			return err
		}
		r.merge.GroupBy = append(r.merge.GroupBy, plan.GroupKey{Column: key.Column, Text: key.Text})
		if len(r.selection.OrderBy) == 0 {
			if number, ok := r.placeInOrder(r.spellingOf(&by)); ok {
				key.Column, key.Text = number, plan.TextOrder{}
			}
			r.merge.OrderBy = append(r.merge.OrderBy, key)
		}
	}
	if len(r.merge.GroupBy) == 0 {
		// One group, but none over nothing, which is what grouping by any constant is.
		r.merge.GroupBy = []plan.GroupKey{{Column: r.compute(derived{before: "1"}, groupAlias)}}
	}
	return nil
}

// orderBy takes the sort keys into the recipe.
func (r *recipe) orderBy() error {
	for i := range r.selection.OrderBy {
		by := r.reveal(&r.selection.OrderBy[i])
		if err := r.checkMeaning(by, "ORDER BY"); err != nil {
			return err
		}
		if by.Constant {
			continue
		}
		number, ok := r.placeInOrder(r.spellingOf(by))
		key := plan.SortKey{Column: number, Desc: by.Desc}
		if !ok {
			var err error
			if key, err = r.key(by, orderAlias, "ORDER BY"); err != nil {
				return err
			}
		}
		r.merge.OrderBy = append(r.merge.OrderBy, key)
	}
	return nil
}

// placeInOrder derives the number by which the server orders the texts of an ENUM
// or SET (semantics row 6).
func (r *recipe) placeInOrder(s spelling) (plan.ColumnRef, bool) {
	if s.known == nil || s.column == nil || !ordersByNumber(s.known) {
		return plan.ColumnRef{}, false
	}
	return r.compute(s.around("", "+0"), orderAlias), true
}

// checkMeaning refuses an item of which the server may think otherwise than the
// parser: a constant that may be a position, and a name that several columns
// have.
//
// Measured on MariaDB 10.11: (2), +2, -(-2) and TRUE are positions, and so are (?)
// and +?; 2.0, '2', 1+1 and -? are not.
func (r *recipe) checkMeaning(by *parse.ByItem, clause string) error {
	text := r.text(by.Span)
	bare, _, _ := strings.Cut(strings.ToLower(text), "collate") // SQLite does not count it
	bare = strings.TrimRight(strings.TrimLeft(bare, "(+ \t\r\n"), ") \t\r\n")
	number := strings.TrimLeft(bare, "(+- \t\r\n")
	commented := strings.Contains(text, "/*") || strings.Contains(text, "--") || strings.Contains(text, "#")
	switch {
	case strings.Trim(text, "0123456789") == "":
		return nil
	case bare == "?":
		return refuse(clause+" "+text, "whether it is a position depends on how the driver sends it", "name the column")
	case by.Constant && commented, number == "true", number == "false", number != "" && strings.Trim(number, "0123456789") == "":
		return refuse(clause+" "+text, "it may be a position or a constant", "name the column")
	case by.Item >= 0 && (by.Column != nil || by.ByAlias) && !strings.Contains(text, ".") && r.severalLike(by):
		return refuse(clause+" "+text, "several columns of the select list have that name", "give them different aliases, or name the table")
	case by.Column == nil && by.Item < 0 && r.sharedName(by.Span):
		return refuse(clause+" "+text, "several tables have a column of a name in it, and the select list says which is meant", "name the tables")
	}
	return nil
}

// severalLike reports whether the select list may have another column that the
// name means by which an item was found: the server looks for labels first, then
// for columns behind an alias.
func (r *recipe) severalLike(by *parse.ByItem) bool {
	items := r.selection.Items
	found := &items[by.Item]
	behind := !by.ByAlias && !strings.EqualFold(found.Label, by.Column.Name)
	for i := range items {
		item := &items[i]
		switch {
		case item.Star:
			if behind && r.template.stmt.Scopes[0].Sources > 1 {
				return true // one of its columns may have the name as label
			}
			continue
		case behind && (item.Column == nil || item.Column.Name != by.Column.Name):
			continue
		case !behind && (item.Alias == "" && item.Column == nil || !strings.EqualFold(item.Label, found.Label)):
			continue
		}
		if item != found && (item.Column == nil || found.Column == nil || *item.Column != *found.Column) {
			return true
		}
	}
	return false
}

// sharedName reports whether an expression holds a name without a table that
// several tables have as a column.
func (r *recipe) sharedName(s parse.Span) bool {
	tables := r.tables()
	if r.template.stmt.Scopes[0].Sources < 2 {
		return false
	}
	words, _ := sumWords(r.text(s))
	for i, word := range words {
		if i > 0 && words[i-1] == "." || i+1 < len(words) && (words[i+1] == "." || words[i+1] == "(") {
			continue
		}
		owners := 0
		if r.derivedSources() {
			return true // or it may be one of theirs
		}
		for _, table := range tables {
			if _, ok := r.tableOf(table).Column(strings.TrimPrefix(word, "`")); ok {
				owners++
			}
		}
		if owners > 1 {
			return true
		}
	}
	return false
}

// key finds the column of the nodes' rows by which an item of ORDER BY or GROUP BY
// is compared, or derives one.
func (r *recipe) key(by *parse.ByItem, alias, clause string) (plan.SortKey, error) {
	key := plan.SortKey{Desc: by.Desc}
	s := r.spellingOf(by)
	if r.derivedSources() && s.column != nil && s.column.Table == parse.NoTable && s.known == nil {
		return key, refuse(clause+" "+r.text(by.Span), "which column of which table it is cannot be seen through the derived table", "give the column no other name in the derived table, and name its table where several are joined")
	}
	if column, ok := r.exactColumn(s, alias); ok {
		key.Column = column
		return key, nil
	}
	column, err := r.place(by, s, alias, clause)
	if err != nil {
		return key, err
	}
	key.Column = column
	key.Text, err = r.keyText(s, clause)
	return key, err
}

// place finds the column that shows a key's value, or derives one.
func (r *recipe) place(by *parse.ByItem, s spelling, alias, clause string) (plan.ColumnRef, error) {
	switch {
	case by.Item >= 0:
		if column, ok := r.itemColumn(by.Item); ok {
			return column, nil
		}
	case by.Position > 0:
		if by.Column != nil {
			return plan.ColumnRef{Index: by.Position - 1}, nil
		}
		if slices.ContainsFunc(r.selection.Items, isStar) && (r.hidesOrder() || r.ask != nil) {
			return plan.ColumnRef{}, refuse(clause+" "+r.text(by.Span), "what a column shows may not tell its order, and which one it is is hidden by *", "name the column")
		}
		if by.Position > len(r.selection.Items) { // every * is at least one column
			r.hidden = clause + " " + r.text(by.Span)
		}
		return plan.ColumnRef{Index: by.Position - 1}, nil
	case by.Column != nil && r.starHolds(by.Column):
		return plan.ColumnRef{Name: by.Column.Name}, nil
	case by.Column != nil:
	case by.Aggregate == nil && by.HasAggregate:
		column := r.derive(derived{Span: s.Span, after: s.suffix}, alias)
		return column, r.computeColumn(column, by.Computed, clause+" "+r.text(by.Span))
	case r.mentionsAlias(by.Span):
		return plan.ColumnRef{}, refuse(clause+" "+r.text(by.Span), "the expression may speak of an alias of the select list", "select the expression and order by its alias")
	}
	column := r.derive(derived{Span: s.Span, after: s.suffix}, alias)
	aggregate := by.Aggregate
	if by.Item >= 0 {
		aggregate = r.selection.Items[by.Item].Aggregate
	}
	if aggregate != nil {
		return column, r.aggregate(aggregate, column, s.Span)
	}
	return column, nil
}

// itemColumn returns where an item stands in the nodes' rows; ok is false when
// a * stands on both sides of it.
func (r *recipe) itemColumn(i int) (column plan.ColumnRef, ok bool) {
	switch items := r.selection.Items; {
	case !slices.ContainsFunc(items[:i], isStar):
		return plan.ColumnRef{Index: i}, true
	case !slices.ContainsFunc(items[i:], isStar):
		return plan.ColumnRef{Index: len(items) - 1 - i, FromEnd: true}, true
	}
	return plan.ColumnRef{}, false
}

func isStar(item parse.Item) bool { return item.Star }

// starHolds reports whether the column is one of those a * stands for, under a
// name that no other item has.
func (r *recipe) starHolds(c *parse.Column) bool {
	if r.template.stmt.Scopes[0].Sources != 1 {
		return false
	}
	stars := 0
	for i := range r.selection.Items {
		item := &r.selection.Items[i]
		switch {
		case item.Star:
			stars++
		case strings.EqualFold(item.Label, c.Name):
			return false
		}
	}
	return stars == 1
}

// mentionsAlias reports whether an alias of the select list occurs as a word in
// an expression.
func (r *recipe) mentionsAlias(s parse.Span) bool {
	text := strings.ToLower(r.text(s))
	return slices.ContainsFunc(r.selection.Items, func(item parse.Item) bool {
		return item.Alias != "" && parse.HoldsName(text, strings.ToLower(item.Alias))
	})
}
