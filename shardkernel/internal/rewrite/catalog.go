package rewrite

import (
	"fmt"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/route"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
)

// catalog writes a SELECT from information_schema, or one that calls DATABASE().
func (i *inquiry) catalog(a *route.Asking) (string, []any) {
	c := i.q.Select
	var edits []edit
	for n := range c.Terms {
		edits = append(edits, i.term(&c.Terms[n], a)...)
	}
	for n := range c.Names {
		name := &c.Names[n]
		typed := i.q.Text[name.Start:name.End]
		if expr := i.expression(typed, name.Role, a); expr != typed {
			edits = append(edits, edit{Span: name.Span, text: expr})
		}
	}
	if s := a.View.Schema; s.Logical != s.Actual {
		for _, call := range c.Calls {
			// NULLIF, since DATABASE() may be NULL to who asks for the column's type.
			edits = append(edits, edit{Span: call, text: "NULLIF(" + sqlText(s.Logical) + ", '')"})
		}
	}
	edits = i.keepLabels(edits)
	column := "TABLE_NAME"
	if c.Table == "SCHEMATA" {
		column = "SCHEMA_NAME"
	}
	filter := shown(column, &a.View)
	switch {
	case filter == "":
	case c.Where.End > c.Where.Start:
		edits = append([]edit{{Span: parse.Span{Start: c.Where.Start, End: c.Where.Start}, text: "("}}, edits...)
		edits = append(edits, edit{Span: parse.Span{Start: c.Where.End, End: c.Where.End}, text: ") AND " + filter})
	default:
		edits = append(edits, edit{Span: parse.Span{Start: c.WhereAt, End: c.WhereAt}, text: " WHERE " + filter})
	}
	return splice(i.stmt, edits, i.args)
}

// keepLabels gives every item without an alias that an edit changes its text as
// an alias.
func (i *inquiry) keepLabels(edits []edit) []edit {
	for _, item := range i.q.Select.Labels {
		for _, e := range edits {
			if e.Start >= item.Start && e.End <= item.End {
				edits = append(edits, edit{Span: parse.Span{Start: item.End, End: item.End}, text: " AS " + quote(i.q.Text[item.Start:item.End], '`')})
				break
			}
		}
	}
	return edits
}

// term gives the value that a name is compared with the name the data source has
// for it.
func (i *inquiry) term(t *parse.CatalogTerm, a *route.Asking) []edit {
	var arg any
	value := t.Text
	if t.Param >= 0 {
		if t.Param < len(i.args) {
			arg = i.args[t.Param]
		}
		value = fmt.Sprint(arg)
		if b, ok := arg.([]byte); ok {
			value = string(b)
		}
	}
	put := func(actual string) []edit {
		if t.Param >= 0 {
			return []edit{{Span: t.Value, text: "?", args: []any{actual}}}
		}
		return []edit{{Span: t.Value, text: sqlText(actual)}}
	}
	switch t.Role {
	case parse.CatalogSchema, parse.CatalogReferencedOwner:
		if !t.Call && strings.EqualFold(value, a.View.Schema.Logical) && a.View.Schema.Logical != a.View.Schema.Actual {
			return put(a.View.Schema.Actual)
		}
	case parse.CatalogTable:
		for _, n := range a.View.Tables {
			if n.Logical != n.Actual && a.Table == n.Actual {
				return put(n.Actual)
			}
		}
	case parse.CatalogConstraint:
		if a.Table != "" {
			return i.constraintTerm(t, a, value, arg)
		}
	}
	if t.Role == parse.CatalogConstraint || t.Role == parse.CatalogReferenced {
		typed := i.q.Text[t.Name.Start:t.Name.End]
		if expr := i.expression(typed, t.Role, a); expr != typed {
			return []edit{{Span: t.Name, text: expr}}
		}
	}
	return nil
}

// constraintTerm compares the name of a constraint or key with what the table calls
// those of the logical name.
func (i *inquiry) constraintTerm(t *parse.CatalogTerm, a *route.Asking, value string, arg any) []edit {
	shortened := rule.ConstraintName(value, a.View.Tables[0].Logical, a.Table)
	var names []string
	own := true
	for _, c := range a.View.Constraints {
		if strings.EqualFold(c.Logical, value) || strings.EqualFold(c.Actual, shortened) {
			names = append(names, c.Actual)
		}
		own = own && !strings.EqualFold(c.Actual, value)
	}
	if own && len(names) == 0 {
		return nil
	}
	e := edit{Span: t.Span}
	var list []string
	add := func(name string, arg any) {
		if t.Param >= 0 {
			list, e.args = append(list, "?"), append(e.args, arg)
		} else {
			list = append(list, sqlText(name))
		}
	}
	if own {
		add(value, arg)
	}
	for _, name := range names {
		add(name, name)
	}
	if len(list) == 0 {
		list = []string{"NULL"} // only the node calls something so
	}
	e.text = i.q.Text[t.Name.Start:t.Name.End] + " IN (" + strings.Join(list, ", ") + ")"
	return []edit{e}
}

// expression is what a name, as typed, is in the logical schema.
func (i *inquiry) expression(typed string, role parse.CatalogRole, a *route.Asking) string {
	switch role {
	case parse.CatalogSchema, parse.CatalogReferencedOwner:
		return nameExpression(typed, []route.Naming{a.View.Schema})
	case parse.CatalogTable:
		return nameExpression(typed, a.View.Tables)
	case parse.CatalogReferenced:
		return nameExpression(typed, a.View.Nodes)
	case parse.CatalogConstraint:
		return nameExpression(typed, a.View.Constraints)
	}
	return typed
}

// nameExpression is the logical name of what a column calls by an actual one.
func nameExpression(column string, names []route.Naming) string {
	var b strings.Builder
	for _, n := range names {
		if n.Logical != n.Actual {
			fmt.Fprintf(&b, " WHEN %s THEN %s", sqlText(n.Actual), sqlText(n.Logical))
		}
	}
	if b.Len() == 0 {
		return column
	}
	return "CASE " + column + b.String() + " ELSE " + column + " END"
}

// shown is the condition under which a row is about something that shows; empty
// when all is.
func shown(column string, v *route.View) string {
	list := func(names []string) string { return "(" + strings.Join(names, ", ") + ")" }
	if v.Only {
		var names []string
		for _, n := range v.Tables {
			names = append(names, sqlText(n.Actual))
		}
		return column + " IN " + list(names)
	}
	if len(v.Hidden) == 0 {
		return ""
	}
	var names []string
	for _, n := range v.Hidden {
		names = append(names, sqlText(n))
	}
	return column + " NOT IN " + list(names)
}
