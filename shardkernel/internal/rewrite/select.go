package rewrite

import (
	"strconv"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/route"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// severalSelects writes the units of a SELECT that goes to several nodes, and
// the recipe that makes one result of their rows.
func (t *Template) severalSelects(e *plan.Execution, result *route.Result, args []any, meta route.Meta, describe route.Describer) error {
	if bits := t.program.ShowsBits(meta); bits != "" {
		return refuse(bits, "servers show a BIT that an expression chooses as a number or as bytes, by their plans", "make it a number in the expression: the column + 0")
	}
	if t.program.MixesTiny(meta) {
		return errMixesTiny()
	}
	r := &recipe{template: t, selection: t.stmt.Select, meta: meta, args: args, units: result.Units, ask: describe}
	if err := r.write(); err != nil {
		return err
	}
	pushed := r.merge.Kind != plan.MergeGroup && !r.unlimited || r.merge.Sorted > 0 && r.merge.Having == nil
	limits, err := t.limit(&r.merge, t.stmt.Select.Limit, pushed, args)
	if err != nil {
		return err
	}
	if s := t.stmt.Select; s.Distinct && s.Alike && r.merge.Offset > 0 {
		return refuse("DISTINCT of constants with OFFSET", "MariaDB gives its one row whatever OFFSET says", "leave DISTINCT or OFFSET out")
	}
	e.Merge = &r.merge
	for i := range result.Units {
		u := &result.Units[i]
		edits := append(t.names(u), listEdits(u)...)
		edits = append(edits, r.inserts...)
		edits = append(edits, limits...)
		if r.merge.Having != nil {
			edits = append(edits, edit{Span: r.selection.Having})
		}
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
	args      []any
	units     []route.Unit
	ask       route.Describer // nil where nobody can be asked
	merge     plan.Merge
	derived   []derived
	counts    map[string]int // derived columns by the stem of their alias
	computed  map[string]int // places of columns derived once, by their text
	mark      string         // between stem and number where the text has such aliases
	// inserts are further edits of every unit.
	inserts []edit
	// unlimited keeps LIMIT from the nodes.
	unlimited bool
	// sortedBy are the positions that the nodes sort by to make rows distinct.
	sortedBy []string
	// own is true where each group has all its rows on one node.
	own bool
	// refined are the aliases that the nodes group by for aggregates of DISTINCT
	// arguments. separate lets those do without, at separateAt in Aggregates, that
	// could do without it if they all can.
	refined    []string
	distinct   bool // there are such aggregates
	arguments  map[plan.ColumnRef]*value.Column
	separate   []func(aggregate int) error
	separateAt []int
	// hidden is the clause of a position that a * hides, to be checked in the end.
	hidden string
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
	// aggregateAlias is of the aggregates of an expression.
	aggregateAlias = "AGGREGATE_DERIVED_"
)

func (r *recipe) write() error {
	s := r.selection
	aggregated := s.HasAggregate()
	if s.Distinct {
		if err := r.checkDistinctOrder(); err != nil {
			return err
		}
	}
	if len(s.GroupBy) == 0 && !aggregated {
		if err := r.orderBy(); err != nil {
			return err
		}
		if s.Distinct {
			if err := r.distinctRows(); err != nil {
				return err
			}
		}
		if len(r.merge.OrderBy) > 0 {
			r.merge.Kind = plan.MergeOrdered
		}
		return r.finish()
	}
	if len(s.GroupBy) > 0 && r.separates(r.groupColumns()) && !r.calculatesWithAverages() {
		return r.ownGroups()
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
	if err := r.having(); err != nil {
		return err
	}
	if s.Distinct {
		if err := r.distinctGroups(); err != nil {
			return err
		}
	}
	if err := r.finishDistinct(); err != nil {
		return err
	}
	r.sortGroups()
	return r.finish()
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
		column, ok := r.itemColumn(i)
		if !ok {
			return refuse(r.text(item.Expr), "its column cannot be found between two *", "name the columns")
		}
		return r.computeColumn(column, item.Computed, r.text(item.Expr))
	case len(r.selection.GroupBy) == 0 && !item.Constant:
		return refuse(r.text(item.Expr), "beside an aggregate without GROUP BY it has no certain value", "leave it out, or group by it")
	}
	return nil
}

// aggregate takes an aggregate that the nodes give in a column.
func (r *recipe) aggregate(a *parse.Aggregate, column plan.ColumnRef, expr parse.Span) error {
	if r.own {
		return nil
	}
	merged := plan.Aggregate{Column: column}
	distinct := a.Distinct
	switch a.Func {
	case "COUNT":
		merged.Func = plan.AggregateCount
	case "SUM":
		merged.Func = plan.AggregateSum
	case "MIN", "MAX":
		merged.Func, distinct = extremes[a.Func], false
	case "AVG":
		merged.Func = plan.AggregateAvg
	case "BIT_AND", "BIT_OR", "BIT_XOR":
		merged.Func = bitFunctions[a.Func]
	default:
		return refuse(a.Func, "its results are not combined over several nodes", "")
	}
	if a.Args > 1 && !distinct {
		return refuse(r.text(expr), "its arguments are not understood", "")
	}
	switch merged.Func {
	case plan.AggregateMin, plan.AggregateMax:
		if exact, ok := r.exactExtreme(a, orderAlias, value.ClassTimestamp, value.ClassDate, value.ClassDateTime); ok {
			// The exact forms are compared, and the shown time goes with them where the
			// weight of a text would.
			merged.Column, merged.Text = exact, plan.TextOrder{HasWeight: true, Weight: column}
			break
		}
		var err error
		if merged.Text, _, err = r.extremeText(a, expr); err != nil {
			return err
		}
	case plan.AggregateSum, plan.AggregateAvg:
		if !r.exactSum(a) {
			return refuse(r.text(expr), "it is not certain that the nodes' sums show all their digits; a division, for one, hides some",
				"sum columns, and what +, - and * make of them; or give the digits: "+a.Func+"(ROUND(…, 4))")
		}
		if merged.Func == plan.AggregateSum || distinct {
			break
		}
		merged.Count = r.derive(derived{before: "COUNT(", Span: a.Arg, after: ")"}, countAlias)
		merged.Sum = r.derive(derived{before: "SUM(", Span: a.Arg, after: ")"}, sumAlias)
		merged.DivPrecision = r.template.server.DivPrecision
	}
	if distinct {
		return r.distinctAggregate(merged, a, expr)
	}
	r.merge.Aggregates = append(r.merge.Aggregates, merged)
	return nil
}

// extremes are MIN and MAX.
var extremes = map[string]plan.AggregateFunc{"MIN": plan.AggregateMin, "MAX": plan.AggregateMax}

// bitFunctions are the aggregates of bits.
var bitFunctions = map[string]plan.AggregateFunc{
	"BIT_AND": plan.AggregateBitAnd, "BIT_OR": plan.AggregateBitOr, "BIT_XOR": plan.AggregateBitXor,
}

// derive adds a derived column. Its place is counted from the first derived one
// until finish, as a negative index.
func (r *recipe) derive(d derived, stem string) plan.ColumnRef {
	if r.counts == nil {
		r.counts = map[string]int{}
		// An alias that the text speaks of would change what it says.
		for text := strings.ToUpper(r.template.stmt.Text); strings.Contains(text, "_DERIVED_"+r.mark); {
			r.mark += "X"
		}
	}
	d.alias = stem + r.mark + strconv.Itoa(r.counts[stem])
	r.counts[stem]++
	r.derived = append(r.derived, d)
	return plan.ColumnRef{Index: -len(r.derived), FromEnd: true}
}

// compute derives a column unless one of its text is there. The expression has the
// same value wherever it stands, if it has no parameters.
func (r *recipe) compute(d derived, stem string) plan.ColumnRef {
	if markersIn(r.template.stmt, d.Span) > 0 {
		return r.derive(d, stem)
	}
	text := d.before + r.text(d.Span) + d.after
	if at, ok := r.computed[text]; ok {
		return plan.ColumnRef{Index: at, FromEnd: true}
	}
	column := r.derive(d, stem)
	if r.computed == nil {
		r.computed = map[string]int{}
	}
	r.computed[text] = column.Index
	return column
}

// finish gives the columns that are counted from the end their final place,
// now that the number of derived columns is known.
func (r *recipe) finish() error {
	if r.hidden != "" && len(r.derived) > 0 {
		return refuse(r.hidden, "it is not known whether the select list has a column at the position, and a derived one would take it", "name the column")
	}
	r.merge.Derived = len(r.derived)
	r.merge.Extremes = r.extremes()
	place := func(c *plan.ColumnRef) {
		if c.FromEnd {
			c.Index += len(r.derived)
		}
	}
	for i := range r.merge.OrderBy {
		place(&r.merge.OrderBy[i].Column)
		place(&r.merge.OrderBy[i].Text.Weight)
	}
	for i := range r.merge.Arrival {
		place(&r.merge.Arrival[i].Column)
		place(&r.merge.Arrival[i].Text.Weight)
	}
	placeKeys(r.merge.GroupBy, place)
	for i := range r.merge.Computed {
		place(&r.merge.Computed[i].Column)
		placeAll(r.merge.Computed[i].Expr, place)
	}
	placeAll(r.merge.Having, place)
	for i := range r.merge.Aggregates {
		a := &r.merge.Aggregates[i]
		place(&a.Column)
		place(&a.Text.Weight)
		place(&a.Count)
		place(&a.Sum)
		placeKeys(a.Distinct, place)
	}
	if r.merge.Distinct != nil {
		placeKeys(r.merge.Distinct.Keys, place)
	}
	return nil
}

// extremes returns the items that are a MIN or MAX by themselves, up to the first *,
// behind which the places of columns are not known.
func (r *recipe) extremes() []int {
	var found []int
	for i := range r.selection.Items {
		item := &r.selection.Items[i]
		if item.Star {
			break
		}
		if item.Aggregate == nil {
			continue
		}
		if _, ok := extremes[item.Aggregate.Func]; ok {
			found = append(found, i)
		}
	}
	return found
}

func placeKeys(keys []plan.GroupKey, place func(*plan.ColumnRef)) {
	for i := range keys {
		place(&keys[i].Column)
		place(&keys[i].Text.Weight)
	}
}

// placeAll places the columns of an expression.
func placeAll(x *plan.Expr, place func(*plan.ColumnRef)) {
	if x == nil {
		return
	}
	place(&x.Column)
	for _, kid := range x.Kids {
		placeAll(kid, place)
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

func errMixesTiny() error {
	return refuse("groups of a TINYTEXT or TINYBLOB that an expression chooses", "servers take different values of it for one", "alter the column to TEXT or BLOB")
}

func refuse(clause, reason, remedy string) error {
	if remedy == "" {
		remedy = "add a condition on the sharding column that leads to one node"
	}
	return fault.Unsupported(clause+" over several nodes", reason, remedy)
}
