package rewrite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/route"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// branchColumn is what is known of a column of a branch's result before it is run.
type branchColumn struct {
	label string
	star  bool   // it is one of those that a * stands for
	expr  string // as it can be repeated in the select list; empty when it cannot
	// known is the column of a table that it shows, or MIN or MAX of it.
	known *value.Column
	// form names the form that its values have: where columns of the branches have
	// one form, a UNION leaves their values what they are. Empty: not known.
	form string
	// numeric is true for a number that is no column of a table.
	numeric bool
}

// anyForm is the form of NULL.
const anyForm = "any"

// branchColumns returns the columns of the statement's result, nil where it is not
// known which they are.
func (t *Template) branchColumns(args []any, meta route.Meta) []branchColumn {
	r := &recipe{template: t, selection: t.stmt.Select, meta: meta, args: args}
	var columns []branchColumn
	for i := range r.selection.Items {
		item := &r.selection.Items[i]
		if !item.Star {
			columns = append(columns, r.branchColumn(item))
			continue
		}
		tables, known := r.tablesOfStar(item)
		if !known || len(tables) != 1 {
			return nil
		}
		prefix := "" // of t.* it is "t."
		if item.StarOf != "" {
			prefix = strings.TrimSuffix(r.text(item.Span), "*")
		}
		table := r.tableOf(tables[0])
		for j := range table.Columns {
			if c := &table.Columns[j]; !c.Invisible {
				columns = append(columns, branchColumn{label: c.Name, star: true, expr: prefix + quote(c.Name, '`'), known: c, form: formOf(c)})
			}
		}
	}
	return columns
}

func (r *recipe) branchColumn(item *parse.Item) branchColumn {
	c := branchColumn{label: item.Label}
	if markersIn(r.template.stmt, item.Expr) == 0 {
		c.expr = r.text(item.Expr)
	}
	switch a := item.Aggregate; {
	case item.Column != nil:
		if c.known = r.columnOf(item.Column); c.known != nil {
			c.form = formOf(c.known)
		}
	case a != nil && a.Func == "COUNT":
		c.numeric, c.form = true, "signed"
	case a != nil && a.Column != nil:
		c.aggregate(a.Func, r.columnOf(a.Column), r.template.server.DivPrecision)
	case item.HasAggregate:
	default:
		c.constant(r.text(item.Expr), r.argument(item.Expr))
	}
	return c
}

// argument returns the argument of an expression that is a marker.
func (r *recipe) argument(s parse.Span) any {
	if first, last := markerRange(r.template.stmt, s); last == first+1 && first < len(r.args) && s.End == s.Start+1 {
		return r.args[first]
	}
	return nil
}

func (c *branchColumn) aggregate(function string, of *value.Column, divPrecision int) {
	if of == nil {
		return
	}
	switch function {
	case "MIN", "MAX":
		if c.form = formOf(of); of.Class != value.ClassEnum && of.Class != value.ClassSet {
			c.known = of
		}
	case "SUM", "AVG":
		scale := of.Scale
		if function == "AVG" {
			scale += divPrecision
		}
		switch of.Class {
		case value.ClassInteger, value.ClassDecimal:
			c.numeric, c.form = true, "decimal "+strconv.Itoa(scale)
			if scale > maxDecimals {
				c.form = ""
			}
		case value.ClassFloat, value.ClassText:
			c.numeric, c.form = true, "double"
		}
	}
}

// constant reads a literal, or the argument of a marker.
func (c *branchColumn) constant(text string, arg any) {
	switch arg.(type) {
	case int, int8, int16, int32, int64, uint8, uint16, uint32:
		c.form = "signed"
	case string:
		c.form = "text"
	case nil:
		_, err := strconv.ParseInt(text, 10, 64)
		switch n := len(text); {
		case err == nil && text[0] != '+':
			c.numeric, c.form = true, "signed"
		case strings.EqualFold(text, "NULL"):
			c.form = anyForm
		case n >= 2 && text[0] == '\'' && text[n-1] == '\'' && !strings.ContainsAny(text[1:n-1], `'\`):
			c.form = "text"
		}
	}
}

// formOf names the form of a column's values, as branchColumn.form.
func formOf(c *value.Column) string {
	if strings.Contains(c.Type, "zerofill") || c.Flexible {
		return ""
	}
	switch c.Class {
	case value.ClassInteger:
		if c.Unsigned { // drivers give those of 64 bits another Go type
			return c.Type
		}
		return "signed"
	case value.ClassDecimal:
		return "decimal " + strconv.Itoa(c.Scale)
	case value.ClassFloat:
		if c.Type == "double" || c.Type == "float" {
			return c.Type
		}
	case value.ClassText, value.ClassEnum, value.ClassSet:
		return "text"
	case value.ClassBinary:
		if strings.HasPrefix(c.Type, "binary") { // which is filled up
			return c.Type
		}
		return "bytes"
	case value.ClassDate, value.ClassYear:
		return c.Type
	case value.ClassDateTime, value.ClassTimestamp, value.ClassTime:
		return strconv.Itoa(int(c.Class)) + "." + strconv.Itoa(c.Scale)
	}
	return ""
}

// checkAlike refuses branches whose columns a UNION would give another form.
func (w *unionWriter) checkAlike() error {
	first := w.branches[0].columns
	forms := make([]string, len(first))
	for i := range w.branches {
		columns := w.branches[i].columns
		if columns == nil || len(columns) != len(first) {
			return refuse("UNION", "the types of its columns are not known", "name the columns")
		}
		for j := range columns {
			switch f := columns[j].form; {
			case f == "":
				return refuse("UNION", fmt.Sprintf("the type of column %d is not known", j+1), "select columns, COUNT, SUM, AVG, MIN and MAX of them, or literals")
			case f != anyForm && forms[j] != "" && f != forms[j]:
				return refuse("UNION", fmt.Sprintf("column %d is of different types in its branches, which the nodes would have to convert", j+1), "CAST it to one type in every branch")
			case f != anyForm:
				forms[j] = f
			}
		}
	}
	return nil
}

// unionKeys are what the rows of a UNION are ordered and made distinct by.
type unionKeys struct {
	labels  []string
	orderBy []plan.SortKey
	groupBy []plan.GroupKey
	derived [][]string // for every derived column its expression in each branch
	alias   string
	placed  map[int]plan.SortKey // by column
}

// writeKeys finds the keys of ORDER BY and, where rows are made distinct, of all
// columns.
func (w *unionWriter) writeKeys() error {
	if len(w.union.OrderBy) == 0 && w.distinct() == 0 {
		return nil
	}
	first := w.branches[0].columns
	for i := range w.branches {
		if c := w.branches[i].columns; c == nil || len(c) != len(first) {
			return refuse("UNION", "it is not known which columns it has", "name the columns")
		}
	}
	k := &w.keys
	k.placed = map[int]plan.SortKey{}
	k.alias = weightAlias
	for strings.Contains(strings.ToUpper(w.template.stmt.Text), k.alias) {
		k.alias += "X"
	}
	if slices.ContainsFunc(first, func(c branchColumn) bool { return c.star }) {
		k.labels = make([]string, len(first))
		for i, c := range first {
			if c.star {
				k.labels[i] = c.label
			}
		}
	}
	for i := range w.union.OrderBy {
		by := &w.union.OrderBy[i]
		at, err := w.columnOf(by)
		if err != nil {
			return err
		}
		key, err := w.key(at, "ORDER BY")
		if err != nil {
			return err
		}
		key.Desc = by.Desc
		k.orderBy = append(k.orderBy, key)
	}
	if w.distinct() > 0 {
		for at := range first {
			key, err := w.key(at, "UNION")
			if err != nil {
				return err
			}
			key.Text.Limit = 0 // nothing is sorted for it
			k.groupBy = append(k.groupBy, plan.GroupKey{Column: key.Column, Text: key.Text})
		}
	}
	for i := range k.orderBy {
		w.keys.count(&k.orderBy[i].Column, &k.orderBy[i].Text)
	}
	for i := range k.groupBy {
		w.keys.count(&k.groupBy[i].Column, &k.groupBy[i].Text)
	}
	return nil
}

// count gives derived columns, which are counted from the first one, their place
// from the end.
func (k *unionKeys) count(column *plan.ColumnRef, text *plan.TextOrder) {
	for _, c := range []*plan.ColumnRef{column, &text.Weight} {
		if c.FromEnd {
			c.Index = len(k.derived) - 1 - c.Index
		}
	}
}

// columnOf returns the column that an item of ORDER BY means.
func (w *unionWriter) columnOf(by *parse.UnionKey) (int, error) {
	clause := "ORDER BY " + w.template.stmt.Text[by.Start:by.End] + " behind UNION"
	columns := w.branches[0].columns
	if by.Position > 0 && by.Position <= len(columns) {
		return by.Position - 1, nil
	}
	found := -1
	for i := range columns {
		if by.Name == "" || !strings.EqualFold(columns[i].label, by.Name) {
			continue
		}
		if found >= 0 {
			return 0, refuse(clause, "several columns have that name", "give them different aliases")
		}
		found = i
	}
	if found < 0 {
		return 0, refuse(clause, "it is no column of the result", "order by a column's name or position")
	}
	return found, nil
}

// key finds the column of the rows by which a column of the result is compared, or
// derives one. All branches must compare it alike.
func (w *unionWriter) key(at int, clause string) (plan.SortKey, error) {
	if key, ok := w.keys.placed[at]; ok {
		return key, nil
	}
	clause = fmt.Sprintf("%s, column %d of UNION", clause, at+1)
	var first comparison
	exprs := make([]string, len(w.branches))
	for i := range w.branches {
		c := &w.branches[i].columns[at]
		cmp, reason := c.comparison(w.template.server)
		if reason == "" && i > 0 && !cmp.equal(&first) {
			reason = "the branches compare it in different ways"
		}
		if reason == "" && cmp.derived() && c.expr == "" {
			reason = "it holds a parameter"
		}
		if reason != "" {
			return plan.SortKey{}, refuse(clause, reason, "CAST it to one type in every branch")
		}
		if i == 0 {
			first = cmp
		}
		exprs[i] = cmp.before + c.expr + cmp.after
	}
	key := plan.SortKey{Column: plan.ColumnRef{Index: at}, Text: first.text}
	if first.derived() {
		ref := plan.ColumnRef{Index: len(w.keys.derived), FromEnd: true}
		w.keys.derived = append(w.keys.derived, exprs)
		if first.text.HasWeight {
			key.Text.Weight = ref
		} else {
			key.Column = ref
		}
	}
	w.keys.placed[at] = key
	return key, nil
}

// comparison is how the values of a column compare.
type comparison struct {
	kind          string // those of one kind compare with each other
	before, after string // around the column, for what is derived
	text          plan.TextOrder
}

func (c *comparison) derived() bool { return c.before != "" }

func (c *comparison) equal(o *comparison) bool {
	return c.kind == o.kind && c.before == o.before && c.text.PadSpace == o.text.PadSpace && slices.Equal(c.text.SpaceWeight, o.text.SpaceWeight)
}

// comparison tells how the column compares, or why that is not known.
func (c *branchColumn) comparison(server Server) (cmp comparison, reason string) {
	k := c.known
	switch {
	case c.numeric:
		return comparison{kind: "number"}, ""
	case k == nil:
		return cmp, "its type is not known"
	case k.Class == value.ClassInteger, k.Class == value.ClassDecimal, k.Class == value.ClassFloat && strings.HasPrefix(k.Type, "double"):
		return comparison{kind: "number"}, ""
	case isMoment(k) && server.SkipsTimes:
		return cmp, "times that the zone's clocks skip are shown as others"
	case k.Class == value.ClassDate, k.Class == value.ClassDateTime:
		return comparison{kind: "date"}, ""
	case k.Class == value.ClassTime:
		return comparison{kind: "time"}, ""
	case k.Class == value.ClassTimestamp:
		before, after := exactForm(server, k)
		return comparison{kind: "instant", before: before, after: after}, ""
	case k.Class == value.ClassBinary:
		return comparison{kind: "bytes", text: plan.TextOrder{Limit: k.WeightLimit}}, ""
	case k.Class != value.ClassText:
		return cmp, "how values of type " + k.Type + " compare in a UNION is not known"
	case k.WeightRefused != "":
		return cmp, k.WeightRefused
	case k.Binary():
		return comparison{kind: "text " + k.Collation, text: plan.TextOrder{Limit: k.WeightLimit}}, ""
	}
	return comparison{
		kind: "text " + k.Collation, before: "WEIGHT_STRING(", after: ")",
		text: plan.TextOrder{HasWeight: true, PadSpace: k.PadSpace, SpaceWeight: k.SpaceWeight, Limit: k.WeightLimit},
	}, ""
}
