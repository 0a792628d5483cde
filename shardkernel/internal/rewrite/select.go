package rewrite

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/route"
)

// severalSelects writes the units of a SELECT that goes to several nodes, and
// the recipe that makes one result of their rows.
func (t *Template) severalSelects(e *plan.Execution, result *route.Result, args []any, meta route.Meta) error {
	r := &recipe{template: t, selection: t.stmt.Select, meta: meta}
	if err := r.write(); err != nil {
		return err
	}
	limits, err := t.limit(&r.merge, r.merge.Kind != plan.MergeGroup, args)
	if err != nil {
		return err
	}
	e.Merge = &r.merge
	for i := range result.Units {
		u := &result.Units[i]
		edits := append(t.renames(u, parse.Span{End: len(t.stmt.Text)}), listEdits(u)...)
		edits = append(edits, limits...)
		if len(r.derived) > 0 {
			edits = append(edits, r.derivedEdit(u, args))
		}
		sql, unitArgs := splice(t.stmt, edits, args)
		e.Units[i] = t.unit(u, sql, unitArgs)
	}
	return nil
}

// recipe is being written for one SELECT.
type recipe struct {
	template  *Template
	selection *parse.Select
	meta      route.Meta
	merge     plan.Merge
	derived   []derived
	counts    map[string]int // derived columns by the stem of their alias
	weights   map[string]int // positions in derived of weights, by expression
}

// derived is a column added to the end of the select list: an expression of the
// statement with something around it, and an alias.
type derived struct {
	before string
	parse.Span
	after string
	alias string
}

// Stems of the aliases of derived columns.
const (
	orderAlias  = "ORDER_BY_DERIVED_"
	groupAlias  = "GROUP_BY_DERIVED_"
	countAlias  = "AVG_DERIVED_COUNT_"
	sumAlias    = "AVG_DERIVED_SUM_"
	weightAlias = "WEIGHT_DERIVED_"
)

func (r *recipe) write() error {
	s := r.selection
	aggregated := s.HasAggregate()
	if len(s.GroupBy) == 0 && !aggregated {
		if err := r.orderBy(); err != nil {
			return err
		}
		if len(r.merge.OrderBy) > 0 {
			r.merge.Kind = plan.MergeOrdered
		}
		r.finish()
		return nil
	}
	r.merge.Kind = plan.MergeGroup
	for i := range s.Items {
		if err := r.item(i); err != nil {
			return err
		}
	}
	if len(s.GroupBy) > 0 {
		if err := r.groupBy(); err != nil {
			return err
		}
		if err := r.orderBy(); err != nil {
			return err
		}
	}
	r.finish()
	return nil
}

// item takes a select item of a grouped block into the recipe.
func (r *recipe) item(i int) error {
	item := &r.selection.Items[i]
	switch {
	case item.Aggregate != nil:
		column, ok := r.itemColumn(i)
		if !ok {
			return refuse(r.text(item.Expr), "its column cannot be found between two *", "name the columns")
		}
		return r.aggregate(item.Aggregate, column, item.Expr)
	case item.HasAggregate:
		return refuse(r.text(item.Expr), "an expression over aggregates is not evaluated over several nodes yet",
			"select the aggregates and compute with them in the application")
	case len(r.selection.GroupBy) == 0:
		return refuse(r.text(item.Expr), "beside an aggregate without GROUP BY it has no certain value", "leave it out, or group by it")
	}
	return nil
}

// aggregate takes an aggregate that the nodes give in a column.
func (r *recipe) aggregate(a *parse.Aggregate, column plan.ColumnRef, expr parse.Span) error {
	merged := plan.Aggregate{Column: column}
	distinct := a.Distinct
	switch a.Func {
	case "COUNT":
		merged.Func = plan.AggregateCount
	case "SUM":
		merged.Func = plan.AggregateSum
	case "MIN":
		merged.Func, distinct = plan.AggregateMin, false
	case "MAX":
		merged.Func, distinct = plan.AggregateMax, false
	case "AVG":
		merged.Func = plan.AggregateAvg
	default:
		return refuse(a.Func, "its results are not combined over several nodes yet", "")
	}
	if distinct || a.Args > 1 {
		return refuse(a.Func+"(DISTINCT)", "the nodes' distinct values would have to be made distinct together", "")
	}
	switch merged.Func {
	case plan.AggregateMin, plan.AggregateMax:
		merged.Text = r.extremeText(a, expr)
	case plan.AggregateAvg:
		merged.Count = r.derive(derived{before: "COUNT(", Span: a.Arg, after: ")"}, countAlias)
		merged.Sum = r.derive(derived{before: "SUM(", Span: a.Arg, after: ")"}, sumAlias)
		merged.DivPrecision = divPrecision
	}
	r.merge.Aggregates = append(r.merge.Aggregates, merged)
	return nil
}

// divPrecision is the servers' default of div_precision_increment.
const divPrecision = 4

// groupBy takes the group keys into the recipe.
func (r *recipe) groupBy() error {
	for i := range r.selection.GroupBy {
		by := r.selection.GroupBy[i]
		if by.Constant {
			continue
		}
		if by.ByAlias {
			// A name in GROUP BY is a column of the tables first, an alias second.
			switch owned, known := r.owns(by.Column.Name); {
			case !known:
				return refuse("GROUP BY "+r.text(by.Span), "it may be a column or the alias of another expression: the tables' columns are not known", "give the alias a name of its own and group by the expression")
			case owned:
				by.Item = -1
			}
		}
		column, spelled, err := r.place(&by, groupAlias, "GROUP BY")
		if err != nil {
			return err
		}
		r.merge.GroupBy = append(r.merge.GroupBy, plan.GroupKey{Column: column, Text: r.keyText(spelled, false)})
	}
	if len(r.merge.GroupBy) == 0 {
		return refuse(r.text(r.selection.GroupBySpan), "grouping by constants is not computed over several nodes yet", "leave GROUP BY out")
	}
	return nil
}

// orderBy takes the sort keys into the recipe.
func (r *recipe) orderBy() error {
	for i := range r.selection.OrderBy {
		by := &r.selection.OrderBy[i]
		if by.Constant && by.Position == 0 {
			continue
		}
		key := plan.SortKey{Desc: by.Desc}
		spelled := r.spellingOf(by)
		if c := spelled.known; c != nil && ordersByNumber(c) {
			// ENUM and SET order by their number: semantics row 6.
			key.Column = r.derive(derived{Span: spelled.Span, after: "+0"}, orderAlias)
			r.merge.OrderBy = append(r.merge.OrderBy, key)
			continue
		}
		var err error
		if key.Column, spelled, err = r.place(by, orderAlias, "ORDER BY"); err != nil {
			return err
		}
		key.Text = r.keyText(spelled, true)
		r.merge.OrderBy = append(r.merge.OrderBy, key)
	}
	return nil
}

// place finds the column of the nodes' rows that holds a key, or derives one.
func (r *recipe) place(by *parse.ByItem, alias, clause string) (plan.ColumnRef, spelling, error) {
	spelled := r.spellingOf(by)
	s := r.selection
	switch {
	case by.Item >= 0:
		if column, ok := r.itemColumn(by.Item); ok {
			return column, spelled, nil
		}
	case by.Position > 0:
		return plan.ColumnRef{Index: by.Position - 1}, spelled, nil
	case by.Column != nil && r.starHolds(by.Column):
		return plan.ColumnRef{Name: by.Column.Name}, spelled, nil
	}
	switch {
	case r.text(by.Span) == "?":
		return plan.ColumnRef{}, spelled, refuse(clause+" ?", "whether it is a position depends on how the driver sends it", "name the column")
	case by.Column == nil && by.Aggregate == nil && by.HasAggregate && by.Item < 0:
		return plan.ColumnRef{}, spelled, refuse(clause+" "+r.text(by.Span), "an expression over aggregates is not evaluated over several nodes yet", "order by the aggregates themselves")
	case by.Column == nil && by.Item < 0 && r.mentionsAlias(by.Span):
		return plan.ColumnRef{}, spelled, refuse(clause+" "+r.text(by.Span), "the expression may speak of an alias of the select list", "select the expression and order by its alias")
	}
	column := r.derive(derived{Span: spelled.Span}, alias)
	aggregate := by.Aggregate
	if by.Item >= 0 {
		aggregate = s.Items[by.Item].Aggregate
	}
	if aggregate != nil {
		if err := r.aggregate(aggregate, column, spelled.Span); err != nil {
			return column, spelled, err
		}
	}
	return column, spelled, nil
}

// itemColumn returns where an item stands in the nodes' rows; ok is false when
// a * stands on both sides of it.
func (r *recipe) itemColumn(i int) (column plan.ColumnRef, ok bool) {
	star := func(item parse.Item) bool { return item.Star }
	switch items := r.selection.Items; {
	case !slices.ContainsFunc(items[:i], star):
		return plan.ColumnRef{Index: i}, true
	case !slices.ContainsFunc(items[i:], star):
		return plan.ColumnRef{Index: len(items) - 1 - i, FromEnd: true}, true
	}
	return plan.ColumnRef{}, false
}

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
	word := func(c byte) bool {
		return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 0x80
	}
	for i := range r.selection.Items {
		alias := strings.ToLower(r.selection.Items[i].Alias)
		if alias == "" {
			continue
		}
		for from := 0; ; {
			at := strings.Index(text[from:], alias)
			if at < 0 {
				break
			}
			start, end := from+at, from+at+len(alias)
			if (start == 0 || !word(text[start-1])) && (end == len(text) || !word(text[end])) {
				return true
			}
			from = end
		}
	}
	return false
}

// derive adds a derived column. Its place is counted from the first derived one
// until finish, as a negative index.
func (r *recipe) derive(d derived, stem string) plan.ColumnRef {
	if r.counts == nil {
		r.counts = map[string]int{}
	}
	d.alias = stem + strconv.Itoa(r.counts[stem])
	r.counts[stem]++
	r.derived = append(r.derived, d)
	return plan.ColumnRef{Index: -len(r.derived), FromEnd: true}
}

// finish gives the columns that are counted from the end their final place,
// now that the number of derived columns is known.
func (r *recipe) finish() {
	r.merge.Derived = len(r.derived)
	place := func(c *plan.ColumnRef) {
		if c.FromEnd {
			c.Index += len(r.derived)
		}
	}
	for i := range r.merge.OrderBy {
		place(&r.merge.OrderBy[i].Column)
		place(&r.merge.OrderBy[i].Text.Weight)
	}
	for i := range r.merge.GroupBy {
		place(&r.merge.GroupBy[i].Column)
		place(&r.merge.GroupBy[i].Text.Weight)
	}
	for i := range r.merge.Aggregates {
		a := &r.merge.Aggregates[i]
		place(&a.Column)
		place(&a.Text.Weight)
		place(&a.Count)
		place(&a.Sum)
	}
}

// derivedEdit returns the edit that adds the derived columns to a unit.
func (r *recipe) derivedEdit(u *route.Unit, args []any) edit {
	var text strings.Builder
	var derivedArgs []any
	for i := range r.derived {
		d := &r.derived[i]
		expr, exprArgs := spliceRange(r.template.stmt, d.Span, r.template.renames(u, d.Span), args)
		text.WriteString(" , " + d.before + expr + d.after + " AS " + d.alias)
		derivedArgs = append(derivedArgs, exprArgs...)
	}
	return at(r.selection.ItemsEnd, text.String(), derivedArgs)
}

func (r *recipe) text(s parse.Span) string { return r.template.stmt.Text[s.Start:s.End] }

func refuse(clause, reason, remedy string) error {
	if remedy == "" {
		remedy = "add a condition on the sharding column that leads to one node"
	}
	return fault.Unsupported(clause+" over several nodes", reason, remedy)
}
