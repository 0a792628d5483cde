package rewrite

import (
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// spelling is an expression of the statement and what is known of its values.
type spelling struct {
	parse.Span
	column *parse.Column
	known  *value.Column // the metadata of column, nil when there is none
	// numeric is true where the values are surely no text.
	numeric bool
	// extreme is set for MIN and MAX.
	extreme *parse.Aggregate
	// behindStar is true for a position that a * hides.
	behindStar bool
}

// spellingOf returns the expression behind an item of ORDER BY or GROUP BY: that
// of the select item it stands for, else its own.
func (r *recipe) spellingOf(by *parse.ByItem) spelling {
	s := spelling{Span: by.Span, column: by.Column}
	aggregate := by.Aggregate
	switch {
	case by.Item >= 0:
		item := &r.selection.Items[by.Item]
		s.Span, s.column, aggregate = item.Expr, item.Column, item.Aggregate
	case by.Position > 0:
		s.behindStar, s.column = true, nil
	}
	if s.column != nil {
		s.known = r.columnOf(s.column)
	}
	if aggregate != nil {
		switch aggregate.Func {
		case "COUNT", "SUM", "AVG":
			s.numeric = true
		case "MIN", "MAX":
			s.extreme = aggregate
		}
	}
	return s
}

// ordersByNumber reports whether the server orders the column by a number
// though it shows text.
func ordersByNumber(c *value.Column) bool {
	return c.Class == value.ClassEnum || c.Class == value.ClassSet
}

// keyText tells how a key compares if it is text. ordered is true for ORDER BY.
func (r *recipe) keyText(s spelling, ordered bool) plan.TextOrder {
	switch {
	case s.numeric:
		return plan.TextOrder{}
	case s.extreme != nil:
		return r.extremeText(s.extreme, s.Span)
	case s.known != nil && !ordered && ordersByNumber(s.known):
		return plan.TextOrder{} // each member has one spelling
	}
	order := r.textOrder(s.known, s, s.Span)
	if ordered && s.known != nil {
		order.Limit = s.known.WeightLimit
	}
	return order
}

// extremeText tells how MIN and MAX compare if their argument is text.
func (r *recipe) extremeText(a *parse.Aggregate, expr parse.Span) plan.TextOrder {
	s := spelling{Span: expr, column: a.Column}
	if a.Column != nil {
		s.known = r.columnOf(a.Column)
	}
	if s.known != nil && ordersByNumber(s.known) {
		return plan.TextOrder{Refuse: "MIN and MAX of an ENUM or SET compare its texts, whose collation is not known"}
	}
	return r.textOrder(s.known, s, expr)
}

// textOrder tells how an expression over a column compares if it is text. Where
// it needs a weight, one is derived for weighed.
func (r *recipe) textOrder(known *value.Column, s spelling, weighed parse.Span) plan.TextOrder {
	switch {
	case !r.template.dialect.Weights:
		return r.textOrderByBytes(known, s)
	case s.behindStar:
		return plan.TextOrder{Refuse: "the type of a column given by its position behind * is not known; name the column"}
	case s.column == nil:
		return plan.TextOrder{Refuse: "the collation of an expression is not known; order or group by a column"}
	case known == nil:
		return plan.TextOrder{Refuse: "the type of column " + s.column.Name + " is not known"}
	case known.Class == value.ClassUnknown, known.Class == value.ClassOther:
		return plan.TextOrder{Refuse: "how values of type " + known.Type + " of column " + known.Name + " compare is not known"}
	case known.Class != value.ClassText, known.Binary():
		return plan.TextOrder{}
	case known.WeightRefused != "":
		return plan.TextOrder{Refuse: known.WeightRefused}
	}
	return plan.TextOrder{
		HasWeight:   true,
		Weight:      r.weight(weighed),
		PadSpace:    known.PadSpace,
		SpaceWeight: known.SpaceWeight,
	}
}

// textOrderByBytes is for databases that compare text by its bytes unless a
// collation is named.
func (r *recipe) textOrderByBytes(known *value.Column, s spelling) plan.TextOrder {
	switch {
	case known != nil && known.Class == value.ClassText && !known.Binary():
		return plan.TextOrder{Refuse: "the nodes' rows cannot be compared by collation " + known.Collation + " of column " + known.Name}
	case s.column == nil && strings.Contains(strings.ToLower(r.text(s.Span)), "collate"):
		return plan.TextOrder{Refuse: "the nodes' rows cannot be compared by a collation the statement names"}
	}
	return plan.TextOrder{}
}

// weight derives the weight of an expression, once.
func (r *recipe) weight(s parse.Span) plan.ColumnRef {
	expr := r.text(s)
	if at, ok := r.weights[expr]; ok {
		return plan.ColumnRef{Index: at, FromEnd: true}
	}
	column := r.derive(derived{before: "WEIGHT_STRING(", Span: s, after: ")"}, weightAlias)
	if r.weights == nil {
		r.weights = map[string]int{}
	}
	r.weights[expr] = column.Index
	return column
}

// columnOf returns the metadata of a column, nil when it is not known.
func (r *recipe) columnOf(c *parse.Column) *value.Column {
	if c.Table >= 0 {
		return r.columnIn(c.Table, c.Name)
	}
	if c.Table != parse.AnyTable {
		return nil
	}
	var found *value.Column
	for table := range r.template.stmt.Tables {
		if r.tableOf(table) == nil {
			return nil
		}
		if column := r.columnIn(table, c.Name); column != nil {
			if found != nil {
				return nil
			}
			found = column
		}
	}
	return found
}

func (r *recipe) columnIn(table int, name string) *value.Column {
	column, ok := r.tableOf(table).Column(name)
	if !ok {
		return nil
	}
	return column
}

// tableOf returns the metadata of an entry of Statement.Tables.
func (r *recipe) tableOf(table int) *value.Table {
	if r.meta == nil {
		return nil
	}
	name, _ := r.template.program.Logical(table)
	return r.meta(name)
}

// owns reports whether a table of the block has a column of that name; known is
// false when that cannot be told.
func (r *recipe) owns(name string) (owned, known bool) {
	for table := range r.template.stmt.Tables {
		t := r.tableOf(table)
		if t == nil {
			return false, false
		}
		if _, ok := t.Column(name); ok {
			return true, true
		}
	}
	return false, true
}
