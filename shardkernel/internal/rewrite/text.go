package rewrite

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// spelling is an expression of the statement, followed by a suffix, and what is
// known of its values.
type spelling struct {
	parse.Span
	suffix string
	column *parse.Column
	known  *value.Column // the metadata of column, or what a server says of the expression; nil when there is none
	// unknown, where known is nil, is what a server says instead.
	unknown string
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
	aggregate, aggregated := by.Aggregate, by.HasAggregate
	switch {
	case by.Item >= 0:
		item := &r.selection.Items[by.Item]
		s.Span, s.column, aggregate, aggregated = item.Expr, item.Column, item.Aggregate, item.HasAggregate
	case by.Position > 0 && by.Column != nil:
		s.Span, s.suffix = by.Span, quote(by.Column.Name, '`')
	case by.Position > 0:
		s.behindStar, s.column = true, nil
	case s.column != nil && s.column.Table == parse.AnyTable:
		r.spellStar(&s)
	}
	if s.column != nil {
		s.known = r.columnOf(s.column)
	}
	if aggregate != nil {
		switch aggregate.Func {
		case "COUNT", "SUM", "AVG", "BIT_AND", "BIT_OR", "BIT_XOR":
			s.numeric = true
		case "MIN", "MAX":
			s.extreme = aggregate
		}
	}
	if !aggregated && !by.Constant && !s.behindStar {
		r.describeSpelling(&s)
	}
	return s
}

// describeSpelling asks a server for what the metadata does not tell.
func (r *recipe) describeSpelling(s *spelling) {
	if s.known == nil {
		s.known, s.unknown = r.describe(s.Span, s.suffix)
	}
}

// around returns the expression with something before and behind it.
func (s *spelling) around(before, after string) derived {
	if s.column == nil && s.suffix == "" && before+after != "" {
		before, after = before+"(", ")"+after
	}
	return derived{before: before, Span: s.Span, after: s.suffix + after}
}

// spellStar gives an unqualified column of a join the table of the t.* that holds
// it: the server looks for the name in the select list before it looks among all
// tables.
func (r *recipe) spellStar(s *spelling) {
	name := s.column.Name
	for i := range r.selection.Items {
		item := &r.selection.Items[i]
		if !item.Star || item.StarOf == "" {
			continue
		}
		table := r.tableNamed(item.StarOf)
		if _, ok := r.tableOf(table).Column(name); !ok {
			continue
		}
		// "t." of t.*, and the name behind it.
		s.Span, s.suffix = parse.Span{Start: item.Start, End: item.End - 1}, quote(name, '`')
		s.column = &parse.Column{Table: table, Name: name}
		return
	}
}

// tableNamed returns the entry of Statement.Tables that a qualifier names, or -1.
func (r *recipe) tableNamed(qualifier string) int {
	return slices.IndexFunc(r.template.stmt.Tables, func(t parse.TableRef) bool {
		return t.Scope == 0 && (strings.EqualFold(t.Alias, qualifier) || t.Alias == "" && strings.EqualFold(t.Name, qualifier))
	})
}

// ordersByNumber reports whether the server orders the column by a number
// though it shows text.
func ordersByNumber(c *value.Column) bool {
	return c.Class == value.ClassEnum || c.Class == value.ClassSet
}

// exactForm returns what is put around a column whose shown value does not tell
// its place among others: a TIMESTAMP is shown in a time zone, where clocks may be
// put back, a FLOAT in the text protocol with six digits, and a date is given as a
// time of a zone whose clocks may skip it.
func exactForm(server Server, c *value.Column) (before, after string) {
	switch {
	case c == nil || !server.Dialect.IsMySQL():
	case c.Class == value.ClassTimestamp:
		return "UNIX_TIMESTAMP(", ")"
	case c.Class == value.ClassFloat && strings.HasPrefix(c.Type, "float"):
		return "", "+0e0"
	case server.SkipsTimes && (c.Class == value.ClassDate || c.Class == value.ClassDateTime):
		return "", "+0"
	}
	return "", ""
}

// hidesOrder reports whether a column of the tables may need an exact form.
func (r *recipe) hidesOrder() bool {
	if !r.template.server.Dialect.IsMySQL() {
		return false
	}
	for table := range r.template.stmt.Tables {
		t := r.tableOf(table)
		if t == nil {
			return true
		}
		for i := range t.Columns {
			if before, after := exactForm(r.template.server, &t.Columns[i]); before+after != "" {
				return true
			}
		}
	}
	return false
}

// exactColumn derives the exact form of a key that needs one.
func (r *recipe) exactColumn(s spelling, alias string) (plan.ColumnRef, bool) {
	if s.extreme != nil {
		column, ok := r.exactExtreme(s.extreme, alias, value.ClassTimestamp, value.ClassFloat, value.ClassDate, value.ClassDateTime)
		if ok {
			r.merge.Aggregates = append(r.merge.Aggregates, plan.Aggregate{Func: extremes[s.extreme.Func], Column: column})
		}
		return column, ok
	}
	before, after := exactForm(r.template.server, s.known)
	if before+after == "" || s.column == nil && s.known.Class == value.ClassTimestamp {
		return plan.ColumnRef{}, false
	}
	return r.compute(s.around(before, after), alias), true
}

// exactExtreme derives MIN or MAX of the exact form of a column of the classes. It
// is not the exact form of MIN or MAX, which would be made of what is shown.
func (r *recipe) exactExtreme(a *parse.Aggregate, alias string, classes ...value.Class) (plan.ColumnRef, bool) {
	if a.Column == nil {
		return plan.ColumnRef{}, false
	}
	c := r.columnOf(a.Column)
	before, after := exactForm(r.template.server, c)
	if before+after == "" || !slices.Contains(classes, c.Class) {
		return plan.ColumnRef{}, false
	}
	return r.compute(derived{before: a.Func + "(" + before, Span: a.Arg, after: after + ")"}, alias), true
}

// keyText tells how a key compares if it is text.
func (r *recipe) keyText(s spelling, clause string) (plan.TextOrder, error) {
	switch {
	case s.numeric:
		return plan.TextOrder{}, nil
	case s.extreme != nil:
		order, known, err := r.extremeText(s.extreme, s.Span)
		if clause == "ORDER BY" {
			limitSort(&order, known) // which MIN and MAX themselves have none of
		}
		return order, err
	case s.known != nil && s.column != nil && ordersByNumber(s.known):
		return plan.TextOrder{}, nil // grouped by: each member has one spelling
	}
	order := r.textOrder(s, s.Span)
	if clause == "ORDER BY" {
		limitSort(&order, s.known)
	}
	return order, r.certain(order, s, clause+" "+r.text(s.Span))
}

// limitSort tells how much of the texts of a column the server sorts by.
func limitSort(order *plan.TextOrder, known *value.Column) {
	if known == nil {
		return
	}
	if known.SortRefused != "" {
		order.Refuse = known.SortRefused
	}
	order.Limit = known.WeightLimit
}

// extremeText tells how MIN and MAX compare if their argument is text, and what is
// known of that.
func (r *recipe) extremeText(a *parse.Aggregate, expr parse.Span) (plan.TextOrder, *value.Column, error) {
	s := spelling{Span: a.Arg, column: a.Column}
	if a.Column != nil {
		s.known = r.columnOf(a.Column)
	}
	if a.Args == 1 {
		r.describeSpelling(&s)
	}
	if s.known != nil && (s.known.Class == value.ClassBit || s.known.Filled()) && r.template.server.Dialect.IsMySQL() {
		// Measured on MariaDB 10.11: by its plan of execution. Aggregates of DISTINCT
		// make the nodes group.
		if r.template.server.MariaDB && r.template.program.ExtremesAreNumbers() && !strings.Contains(strings.ToLower(r.template.stmt.Text), "distinct") {
			return plan.TextOrder{Digits: s.known.Class == value.ClassBit}, s.known, nil
		}
		why := "the server shows it as a number or as bytes, and does not tell which"
		if s.known.Filled() {
			why = "servers show it with the zeros of ZEROFILL or without, by their plans"
		}
		return plan.TextOrder{}, nil, refuse(r.text(expr), why, a.Func+"("+s.known.Name+" + 0) is a number")
	}
	if s.known != nil && s.known.Class == value.ClassTimestamp && s.column != nil && r.columnOf(s.column) == nil {
		return plan.TextOrder{}, nil, refuse(r.text(expr), "clocks that are put back make two times look alike, and the moments behind a derived table are not seen", a.Func+"(UNIX_TIMESTAMP(…)) is a number")
	}
	if s.known != nil && ordersByNumber(s.known) {
		order := plan.TextOrder{Refuse: "MIN and MAX of an ENUM or SET compare its texts, whose collation is not known"}
		return order, s.known, r.certain(order, s, r.text(expr))
	}
	order := r.textOrder(s, expr)
	return order, s.known, r.certain(order, s, r.text(expr))
}

// certain refuses before anything is sent what the merge would refuse anyway: what
// is known to be a text that cannot be compared, or may be one.
func (r *recipe) certain(order plan.TextOrder, s spelling, clause string) error {
	if order.Refuse == "" || s.known == nil && s.unknown == "" || s.known != nil && s.known.Flexible {
		return nil
	}
	return refuse(clause, order.Refuse, "")
}

// textOrder tells how an expression compares if it is text. Where it needs a
// weight, one is derived for weighed.
func (r *recipe) textOrder(s spelling, weighed parse.Span) plan.TextOrder {
	known := s.known
	switch {
	case !r.template.server.Dialect.Weights:
		return r.textOrderByBytes(known, s)
	case s.unknown != "":
		return plan.TextOrder{Refuse: "its type is not known: the server says " + strconv.Quote(s.unknown)}
	case s.behindStar:
		return plan.TextOrder{Refuse: "the type of a column given by its position behind * is not known; name the column"}
	case s.column == nil && known == nil:
		return plan.TextOrder{Refuse: "the collation of an expression is not known; order or group by a column"}
	case known == nil:
		return plan.TextOrder{Refuse: "the type of column " + s.column.Name + " is not known"}
	case known.Class == value.ClassUnknown, known.Class == value.ClassOther:
		return plan.TextOrder{Refuse: "how values of type " + known.Type + " compare is not known"}
	case s.column == nil && (ordersByNumber(known) || known.Class == value.ClassTimestamp):
		return plan.TextOrder{Refuse: "whether values of type " + known.Type + " that an expression gives compare as they are shown is not known"}
	case known.Class != value.ClassText, known.Binary():
		return plan.TextOrder{}
	case known.WeightRefused != "":
		return plan.TextOrder{Refuse: known.WeightRefused}
	}
	return plan.TextOrder{
		HasWeight:   true,
		Weight:      r.compute(derived{before: "WEIGHT_STRING(", Span: weighed, after: s.suffix + ")"}, weightAlias),
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
	case known != nil && known.WeightRefused != "":
		return plan.TextOrder{Refuse: known.WeightRefused}
	case s.column == nil && strings.Contains(strings.ToLower(r.text(s.Span)), "collate"):
		return plan.TextOrder{Refuse: "the nodes' rows cannot be compared by a collation the statement names"}
	}
	return plan.TextOrder{}
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
	for _, table := range r.tables() {
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
	if r.meta == nil || table < 0 {
		return nil
	}
	name, _ := r.template.program.Logical(table)
	return r.meta(name)
}

// owns reports whether a table of the block has a column of that name; known is
// false when that cannot be told, or several have it.
func (r *recipe) owns(name string) (owned, known bool) {
	if r.derivedSources() {
		return false, false
	}
	for _, table := range r.tables() {
		t := r.tableOf(table)
		if t == nil {
			return false, false
		}
		if _, ok := t.Column(name); ok {
			if owned {
				return true, false
			}
			owned = true
		}
	}
	return owned, true
}

// tables returns the entries of Statement.Tables that stand in FROM of the
// outermost block.
func (r *recipe) tables() []int {
	var tables []int
	for i := range r.template.stmt.Tables {
		if r.template.stmt.Tables[i].Scope == 0 {
			tables = append(tables, i)
		}
	}
	return tables
}

// derivedSources reports whether derived tables stand there.
func (r *recipe) derivedSources() bool { return r.template.stmt.Scopes[0].Derived }
