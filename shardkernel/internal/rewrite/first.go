package rewrite

import (
	"fmt"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/route"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// Preceded is a SELECT some of whose subqueries run before it: a marker stands in
// the place of each, and a *plan.Found, of the same order, among the arguments.
type Preceded struct {
	Text       string
	Args       []any
	Subqueries []plan.Subquery
}

// With returns the arguments with what the subqueries found.
func (p *Preceded) With(found []*plan.Found) []any {
	args := make([]any, len(p.Args))
	next := 0
	for i, arg := range p.Args {
		if _, ok := arg.(*plan.Found); ok {
			arg = found[next]
			next++
		}
		args[i] = arg
	}
	return args
}

// Precede plans the subqueries of a SELECT that mean the same without the rows
// around them, and of which the nodes cannot answer each for itself; nil when
// there is none.
func (t *Template) Precede(args []any, meta route.Meta, compile func(text string) (Branch, error)) (*Preceded, error) {
	if !t.server.Dialect.IsMySQL() || t.stmt.Select == nil || !t.program.Precedes(meta) {
		return nil, nil
	}
	p := &Preceded{}
	var edits []edit
	for i := range t.stmt.Subqueries {
		s := &t.stmt.Subqueries[i]
		first, last := markerRange(t.stmt, s.Inner)
		inner := &subquery{outer: t, Subquery: s, text: t.stmt.Text[s.Inner.Start:s.Inner.End], args: args[first:last:last], meta: meta}
		planned, err := inner.plan(compile)
		if err != nil {
			return nil, err
		}
		if planned == nil {
			continue
		}
		p.Subqueries = append(p.Subqueries, *planned)
		marker := "?"
		if s.Use == parse.SubqueryList {
			marker = s.As + "(?)"
		}
		edits = append(edits, edit{Span: s.Span, text: marker, args: []any{planned.Place}})
	}
	if len(edits) == 0 {
		return nil, nil
	}
	p.Text, p.Args = splice(t.stmt, edits, args)
	return p, nil
}

// subquery is one that may run first.
type subquery struct {
	*parse.Subquery
	outer *Template
	text  string
	args  []any
	meta  route.Meta
}

// plan returns nil for a subquery that stays where it is.
func (s *subquery) plan(compile func(text string) (Branch, error)) (*plan.Subquery, error) {
	b, err := compile(s.text)
	if err != nil {
		return nil, nil //nolint:nilerr // the statement as a whole says what is wrong with it
	}
	t := b.Template()
	if t.stmt.Select == nil || t.program.Everywhere() || s.concerns(t) || t.stmt.Select.Limit != nil && s.Use == parse.SubqueryList {
		return nil, nil
	}
	planned := &plan.Subquery{Exists: s.Use == parse.SubqueryExists, Place: &plan.Found{List: s.Use == parse.SubqueryList}}
	changed := ""
	if planned.Exists {
		planned.Place.SQL = "(0)" // in parentheses, since a word may follow at once
		if t.stmt.Select.Limit == nil {
			changed = s.text + " LIMIT 1"
		}
	} else {
		var c *carriedRows
		if c, changed = s.carried(t); c == nil {
			return nil, nil
		}
		planned.Columns, planned.Integer = c.columns, c.integer
		planned.Place.Number = c.number && s.Use == parse.SubqueryScalar // a list has no one value
		planned.Place.SQL = c.sql
		if s.Use == parse.SubqueryScalar {
			planned.Place.SQL = "(" + c.sql + ")"
		}
	}
	if changed != "" {
		if b, err = compile(changed); err != nil {
			return nil, err
		}
	}
	ex, err := b.Plan(s.args)
	if err != nil {
		return nil, err
	}
	planned.Rows = *ex
	return planned, nil
}

// concerns reports whether a name in the subquery may belong to a table around it.
func (s *subquery) concerns(inner *Template) bool {
	text := strings.ToLower(s.text)
	for i := range s.outer.stmt.Tables {
		table := &s.outer.stmt.Tables[i]
		if table.Scope != 0 {
			continue
		}
		name := table.Alias
		if name == "" {
			name = table.Name
		}
		if parse.Qualifies(text, strings.ToLower(name)) && !inner.calls(name) {
			return true
		}
		logical, _ := s.outer.program.Logical(i)
		known := s.meta(logical)
		if known == nil {
			return true
		}
		for j := range known.Columns {
			if c := known.Columns[j].Name; parse.HoldsName(text, c) && !inner.owns(c, s.meta) {
				return true
			}
		}
	}
	for i := range s.outer.stmt.Select.Items {
		if alias := strings.ToLower(s.outer.stmt.Select.Items[i].Alias); alias != "" && parse.HoldsName(text, alias) && !inner.owns(alias, s.meta) {
			return true
		}
	}
	return s.outer.stmt.Scopes[0].Derived
}

// calls reports whether a table of the outermost block goes by the name, so that
// every block within means that one by it.
func (t *Template) calls(name string) bool {
	for i := range t.stmt.Tables {
		table := &t.stmt.Tables[i]
		if table.Scope == 0 && (strings.EqualFold(table.Alias, name) || table.Alias == "" && strings.EqualFold(table.Name, name)) {
			return true
		}
	}
	return false
}

// owns reports whether a table of the outermost block has a column of the name.
func (t *Template) owns(column string, meta route.Meta) bool {
	for i := range t.stmt.Tables {
		if t.stmt.Tables[i].Scope != 0 {
			continue
		}
		logical, _ := t.program.Logical(i)
		if _, ok := meta(logical).Column(column); ok {
			return true
		}
	}
	return false
}

// carriedRows is how the rows of a subquery reach the nodes.
type carriedRows struct {
	columns []plan.CarriedColumn
	integer bool
	number  bool
	sql     string // a SELECT with one marker
}

// carried returns how the subquery's one column travels, nil when it cannot, and
// the text that gives it where that is another than the subquery's: an average is
// a quotient, which the servers calculate with more digits than they show.
func (s *subquery) carried(t *Template) (c *carriedRows, changed string) {
	sel := t.stmt.Select
	if len(sel.Items) != 1 || sel.Items[0].Star || sel.Rollup {
		return nil, ""
	}
	r := &recipe{template: t, selection: sel, meta: s.meta}
	item := &sel.Items[0]
	text := strings.ToLower(s.outer.stmt.Text)
	switch a := item.Aggregate; {
	case item.Column != nil:
		known := r.columnOf(item.Column)
		if c = carriedColumn(known, text); c != nil && isMoment(known) && (t.server.SkipsTimes || sole(sel)) {
			return s.asText(c, sel, "CAST("+r.text(item.Expr)+" AS CHAR)")
		}
		return c, ""
	case a == nil:
		return nil, ""
	case a.Func == "COUNT":
		return carriedNumber("bigint", true), ""
	case a.Column == nil:
		return nil, ""
	}
	a, known := item.Aggregate, r.columnOf(item.Aggregate.Column)
	if known == nil {
		return nil, ""
	}
	switch a.Func {
	case "MIN", "MAX":
		if c = carriedColumn(known, text); c != nil && isMoment(known) && t.server.SkipsTimes { // else an index may answer
			return s.asText(c, sel, a.Func+"(CAST("+r.text(a.Arg)+" AS CHAR))")
		}
		return c, ""
	case "SUM":
		if typ := sumType(known); typ != "" {
			return carriedNumber(typ, false), ""
		}
	case "AVG":
		typ := sumType(known)
		if typ == "" || a.Distinct || !sole(sel) {
			return nil, ""
		}
		changed = s.text[:item.Start] + "SUM(" + r.text(a.Arg) + "), COUNT(" + r.text(a.Arg) + ")" + s.text[item.End:]
		return &carriedRows{
			columns: []plan.CarriedColumn{plan.CarriedNumber, plan.CarriedNumber},
			sql:     fromRows("k.s / k.n", "j.s, j.n", "s "+typ+" PATH '$[0]' ERROR ON ERROR, n bigint PATH '$[1]' ERROR ON ERROR"),
		}, changed
	}
	return nil, ""
}

func isMoment(c *value.Column) bool {
	return c.Class == value.ClassDate || c.Class == value.ClassDateTime
}

// asText is for a date, whose text tells more than the time that drivers make of
// it: they know no zero date, and move what a time zone's clocks skip. It does not
// travel where something else speaks of the item.
func (s *subquery) asText(c *carriedRows, sel *parse.Select, text string) (*carriedRows, string) {
	if !sole(sel) {
		return nil, ""
	}
	expr := sel.Items[0].Expr
	return c, s.text[:expr.Start] + text + s.text[expr.End:]
}

// sole reports whether nothing in a block speaks of an item of its select list.
func sole(s *parse.Select) bool {
	return !s.Distinct && len(s.GroupBy) == 0 && len(s.OrderBy) == 0 && s.Having.End == 0
}

// fromRows selects from the rows, which LIMIT makes a table of their own.
func fromRows(selected, given, columns string) string {
	return "SELECT " + selected + " FROM (SELECT " + given + " FROM JSON_TABLE(?, '$[*]' COLUMNS (" + columns + ")) AS j" + allRows + ") AS k"
}

func carriedNumber(typ string, integer bool) *carriedRows {
	return &carriedRows{
		columns: []plan.CarriedColumn{plan.CarriedNumber}, integer: integer, number: true,
		sql: fromRows("k.c", "j.c", "c "+typ+" PATH '$[0]' ERROR ON ERROR"),
	}
}

// sumType is the type of the sum of a column of exact numbers, empty for others.
func sumType(c *value.Column) string {
	switch c.Class {
	case value.ClassInteger:
		return "decimal(42,0)"
	case value.ClassDecimal:
		if c.Precision > 0 && c.Scale <= maxDecimals {
			return fmt.Sprintf("decimal(%d,%d)", min(c.Precision+22, 65), c.Scale)
		}
	}
	return ""
}

// carriedColumn returns how the values of a column travel, nil for types of which
// the text does not tell the value.
func carriedColumn(c *value.Column, text string) *carriedRows {
	if c == nil || !plainType.MatchString(c.Type) {
		return nil
	}
	out := &carriedRows{columns: []plan.CarriedColumn{plan.CarriedText}}
	given, typ := "j.c", c.Type
	switch c.Class {
	case value.ClassInteger, value.ClassDecimal:
		return carriedNumber(c.Type, c.Class == value.ClassInteger)
	case value.ClassDate:
		out.columns[0] = plan.CarriedDate
	case value.ClassDateTime:
		out.columns[0] = plan.CarriedMoment
	case value.ClassTime:
	case value.ClassText:
		how, ok := carryText(c, "c", text)
		if !ok {
			return nil
		}
		typ = how.typ
	case value.ClassBinary:
		out.columns[0] = plan.CarriedBytes
		how := carryBinary(c, "c", text)
		typ, given = how.typ, how.given+" AS c"
	default:
		return nil
	}
	out.sql = fromRows("k.c", given, "c "+typ+" PATH '$[0]' ERROR ON ERROR")
	return out
}
