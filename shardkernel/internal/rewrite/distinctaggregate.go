package rewrite

import (
	"slices"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// An aggregate of DISTINCT arguments cannot be made of the nodes' aggregates, but
// of the values that they are over. So the nodes group by the arguments too: in
// each of these smaller groups COUNT(DISTINCT x) is 1, or 0 for NULL, and
// SUM(DISTINCT x) is x, under the label and of the type that the caller expects,
// and the merge takes one of the smaller groups that are equal in the arguments.
// Other aggregates are combined over the smaller groups as over any.

// distinctAggregate takes an aggregate of DISTINCT arguments.
func (r *recipe) distinctAggregate(merged plan.Aggregate, a *parse.Aggregate, expr parse.Span) error {
	r.distinct = true
	if a.Each == nil {
		return refuse(r.text(expr), "its arguments are not understood", "")
	}
	if r.template.program.ExtremesOfYears(r.meta) {
		return refuse(r.text(expr), "the nodes group by its arguments, which changes the type of a MIN or MAX of a YEAR beside it", "")
	}
	if merged.Func == plan.AggregateAvg {
		merged.Count = r.derive(r.distinctCount(a), countAlias)
		merged.Sum = r.derive(derived{before: "SUM(DISTINCT ", Span: a.Arg, after: ")"}, sumAlias)
		merged.DivPrecision = r.template.server.DivPrecision
	}
	numbers := a.Func != "COUNT"
	if numbers && r.isText(a) {
		return refuse(r.text(expr), "texts that are equal as numbers count once, which the nodes do not tell", "convert the argument to a number")
	}
	if r.separates(r.groupedWith(a)) {
		// Each node has all rows of a value: what the nodes count, or sum, is counted
		// once. That holds as long as they do not group by other arguments as well.
		r.separate = append(r.separate, func(i int) error { return r.distinguish(&r.merge.Aggregates[i], a, numbers) })
		r.separateAt = append(r.separateAt, len(r.merge.Aggregates))
		r.merge.Aggregates = append(r.merge.Aggregates, merged)
		return nil
	}
	err := r.distinguish(&merged, a, numbers)
	r.merge.Aggregates = append(r.merge.Aggregates, merged)
	return err
}

// groupedWith returns the columns that GROUP BY and the arguments of an aggregate
// are.
func (r *recipe) groupedWith(a *parse.Aggregate) []parse.Column {
	columns := r.groupColumns()
	for i := range a.Each {
		if c := a.Each[i].Column; c != nil {
			columns = append(columns, *c)
		}
	}
	return columns
}

// distinguish lets the nodes group by the arguments as well, and the aggregate
// count one of the groups that are equal in them.
func (r *recipe) distinguish(merged *plan.Aggregate, a *parse.Aggregate, numbers bool) error {
	if numbers {
		column := r.compute(r.numberOf(a), distinctAlias)
		if a.Column != nil {
			r.noteArgument(column, r.columnOf(a.Column))
		}
		merged.Distinct = append(merged.Distinct, plan.GroupKey{Column: column})
		r.refine(column)
		return nil
	}
	for i := range a.Each {
		key, err := r.argumentKey(&a.Each[i])
		if err != nil {
			return err
		}
		merged.Distinct = append(merged.Distinct, key)
		r.refine(key.Column)
		if known := r.arguments[key.Column]; known != nil && r.template.server.Dialect.Weights && sortsLoosely(known) {
			r.refine(r.compute(hashOf(&a.Each[i], key.Text), distinctAlias))
		}
	}
	return nil
}

// sortsLoosely reports whether a server that makes groups by sorting, as it does
// for aggregates of DISTINCT arguments, takes different texts of a column for one:
// it looks at their first max_sort_length bytes, and U+0000 at the end of a text
// without padding is nothing to it.
func sortsLoosely(c *value.Column) bool {
	return c.WeightLimit > 0 || c.Class == value.ClassText && !c.PadSpace
}

// hashOf tells all texts of an argument apart, and some that are equal as well.
func hashOf(a *parse.Argument, text plan.TextOrder) derived {
	if text.HasWeight {
		return derived{before: "SHA2(WEIGHT_STRING(", Span: a.Span, after: "), 256)"}
	}
	return derived{before: "SHA2(", Span: a.Span, after: ", 256)"}
}

// numberOf returns the number that the argument of SUM or AVG is to the server.
func (r *recipe) numberOf(a *parse.Aggregate) derived {
	if a.Column != nil {
		if c := r.columnOf(a.Column); c != nil && isNumber(c) {
			return derived{Span: a.Arg}
		}
	}
	return derived{before: "(", Span: a.Arg, after: ")+0"}
}

// distinctCount counts the different numbers that the argument of SUM or AVG is.
func (r *recipe) distinctCount(a *parse.Aggregate) derived {
	number := r.numberOf(a)
	return derived{before: "COUNT(DISTINCT " + number.before, Span: a.Arg, after: number.after + ")"}
}

// distinctAverage is average for AVG(DISTINCT); sum is the same of SUM.
func (c *computing) distinctAverage(a, sum *parse.Aggregate, expr parse.Span) (*plan.Expr, error) {
	total, err := c.derivedAggregate(sum, derived{before: "SUM(DISTINCT ", Span: a.Arg, after: ")"})
	if err != nil {
		return nil, err
	}
	count := c.derive(c.distinctCount(a), aggregateAlias)
	number := &plan.Expr{Op: plan.OpColumn, Column: count}
	err = c.distinctAggregate(plan.Aggregate{Func: plan.AggregateCount, Column: count}, a, expr)
	return c.quotient(total, number), err
}

// isText reports whether the argument is a column of text or bytes.
func (r *recipe) isText(a *parse.Aggregate) bool {
	if a.Column == nil {
		return false
	}
	c := r.columnOf(a.Column)
	return c != nil && (c.Class == value.ClassText || c.Class == value.ClassBinary || c.Class == value.ClassOther)
}

// argumentKey derives an argument of COUNT(DISTINCT).
func (r *recipe) argumentKey(a *parse.Argument) (plan.GroupKey, error) {
	s := spelling{Span: a.Span, column: a.Column}
	if s.column != nil {
		s.known = r.columnOf(s.column)
	}
	r.describeSpelling(&s)
	if column, ok := r.exactColumn(s, distinctAlias); ok {
		return plan.GroupKey{Column: column}, nil
	}
	text, err := r.keyText(s, clauseDistinct)
	if err == nil && text.Refuse != "" {
		err = refuse(clauseDistinct+" "+r.text(s.Span), text.Refuse, "")
	}
	key := plan.GroupKey{Column: r.compute(derived{Span: a.Span}, distinctAlias), Text: text}
	r.noteArgument(key.Column, s.known)
	return key, err
}

func (r *recipe) noteArgument(column plan.ColumnRef, known *value.Column) {
	if r.arguments == nil {
		r.arguments = map[plan.ColumnRef]*value.Column{}
	}
	r.arguments[column] = known
}

// refine lets the nodes group by a derived column as well.
func (r *recipe) refine(column plan.ColumnRef) {
	alias := r.derived[-column.Index-1].alias
	if !slices.Contains(r.refined, alias) {
		r.refined = append(r.refined, alias)
	}
}

// finishDistinct writes the smaller groups into the statements of the nodes.
func (r *recipe) finishDistinct() error {
	if r.distinct {
		r.sortedByServers()
	}
	if len(r.refined) == 0 {
		return nil
	}
	for i, distinguish := range r.separate {
		if err := distinguish(r.separateAt[i]); err != nil {
			return err
		}
	}
	s, by := r.selection, strings.Join(r.refined, ", ")
	if len(s.GroupBy) > 0 {
		r.insert(s.GroupBySpan.End, ", "+by)
	} else {
		if i := slices.IndexFunc(s.Items, func(item parse.Item) bool { return !item.HasAggregate }); i >= 0 {
			return refuse(r.text(s.Items[i].Expr), "beside an aggregate of DISTINCT values, which the nodes may have none of", "leave it out")
		}
		r.insert(s.TailStart, " GROUP BY "+by)
		r.letArrive()
	}
	if len(s.OrderBy) > 0 && r.steady() { // the order of the smaller groups helps nobody
		r.inserts = append(r.inserts, edit{Span: s.OrderBySpan})
	}
	return nil
}

// sortedByServers tells of the group keys that a server makes groups by sorting
// them, as it does for aggregates of DISTINCT arguments.
func (r *recipe) sortedByServers() {
	n := 0
	for i := range r.selection.GroupBy {
		by := r.reveal(&r.selection.GroupBy[i])
		if by.Constant || n == len(r.merge.GroupBy) {
			continue
		}
		text := &r.merge.GroupBy[n].Text
		n++
		text.Sorted = true
		if known := r.spellingOf(by).known; known != nil {
			text.Limit = known.WeightLimit
		}
	}
}

// letArrive lets the nodes give the values of the first aggregate of DISTINCT
// arguments in order, as they have sorted them to group by them, so that they need
// not be held. Units that share a connection would be held instead.
func (r *recipe) letArrive() {
	if !r.alone() || !r.steady() || len(r.selection.OrderBy) > 0 {
		return
	}
	first := slices.IndexFunc(r.merge.Aggregates, func(a plan.Aggregate) bool { return len(a.Distinct) > 0 })
	keys := r.merge.Aggregates[first].Distinct
	var order []plan.SortKey
	var by []string
	for i := range keys {
		if !r.arrives(&keys[i]) {
			return
		}
		order = append(order, plan.SortKey{Column: keys[i].Column, Text: keys[i].Text})
		by = append(by, r.derived[-keys[i].Column.Index-1].alias)
	}
	for i := range r.merge.Aggregates {
		a := &r.merge.Aggregates[i]
		a.Adjacent = slices.Equal(columnsOf(a.Distinct), columnsOf(keys))
	}
	r.merge.Arrival = order
	r.insert(r.selection.TailStart, " ORDER BY "+strings.Join(by, ", "))
}

func columnsOf(keys []plan.GroupKey) []plan.ColumnRef {
	columns := make([]plan.ColumnRef, len(keys))
	for i := range keys {
		columns[i] = keys[i].Column
	}
	return columns
}

// arrives reports whether a node sorts by a derived key as it compares.
func (r *recipe) arrives(key *plan.GroupKey) bool {
	d := &r.derived[-key.Column.Index-1]
	if d.before+d.after != "" {
		return true // a number
	}
	known := r.arguments[key.Column]
	return known != nil && !sortsLoosely(known) && known.SortRefused == "" && !known.Flexible && !ordersByNumber(known) && known.Class != value.ClassBit
}

// steady reports whether the visible columns are of the same types where a server
// does not sort: what is long or a BIT is not. Measured on MariaDB 10.11.
func (r *recipe) steady() bool {
	return !slices.ContainsFunc(r.selection.Items, func(item parse.Item) bool {
		column := item.Column
		if a := item.Aggregate; a != nil {
			if a.Func != "MIN" && a.Func != "MAX" {
				return false
			}
			column = a.Column
		}
		if column == nil {
			return !item.HasAggregate && !item.Constant || item.Aggregate != nil
		}
		c := r.columnOf(column)
		return c == nil || c.Class == value.ClassBit || c.Class >= value.ClassOther || c.Unbounded() || c.Class == value.ClassText && c.Length > 255
	})
}
