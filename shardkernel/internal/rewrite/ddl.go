package rewrite

import (
	"slices"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/route"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
)

// definition rewrites a statement that defines tables.
func (t *Template) definition(result *route.Result, args []any) (*plan.Execution, error) {
	e := &plan.Execution{Kind: result.Kind, Reason: result.Reason, Write: true, DDL: true, Units: make([]plan.Unit, len(result.Units))}
	if len(result.Units) > 1 {
		e.Merge = &plan.Merge{Broadcast: result.Broadcast}
	}
	d := t.stmt.DDL
	if !d.Whole {
		e.Touched = d.Touched
	}
	if d.Lenient && d.Action != parse.DropTable && d.Action != parse.DropView {
		if e.Lenient = true; d.Action == parse.CreateTable {
			e.Touched = d.Columns // keys may differ where each node has been given its own
		}
	}
	for i := range result.Units {
		u := &result.Units[i]
		var edits []edit
		var table, otherwise string
		if drops := t.program.Drops(i); drops != nil {
			edits = t.dropEdits(drops)
		} else {
			names := t.names(u)
			edits, table = append(slices.Clone(names), t.constraintEdits(u, false)...), t.actual(u, 0)
			if t.dropsByName(u) {
				otherwise, _ = splice(t.stmt, append(names, t.constraintEdits(u, true)...), args)
			}
		}
		sql, unitArgs := splice(t.stmt, edits, args)
		e.Units[i] = plan.Unit{DataSource: u.DataSource, Table: table, SQL: sql, Otherwise: otherwise, Args: unitArgs}
	}
	return e, nil
}

// actual returns what a table of the statement is called in a unit.
func (t *Template) actual(u *route.Unit, table int) string {
	if name := u.Names[table]; name != "" {
		return name
	}
	return t.stmt.Tables[table].Name
}

// dropsByName reports whether a unit drops something of which its name does not
// tell whether it is a key, which keeps its name, or a constraint.
func (t *Template) dropsByName(u *route.Unit) bool {
	logical, configured := t.program.Logical(0)
	return configured && u.Names[0] != "" && slices.ContainsFunc(t.stmt.DDL.Constraints, func(c parse.Constraint) bool {
		return (c.Key || c.Any) && !t.dropsBoth(c) && rule.ConstraintName(c.Name, logical, u.Names[0]) != c.Name
	})
}

// dropsBoth reports whether a statement can drop a name whether it is that of a key
// or of a constraint: with IF EXISTS a server does not tell that there is nothing of
// one.
func (t *Template) dropsBoth(c parse.Constraint) bool {
	return (c.Key || c.Any) && c.IfExists.End > 0 && t.stmt.DDL.Action == parse.AlterTable
}

// constraintEdits gives foreign keys and CHECKs the names they have in the unit's
// table. otherwise takes what is dropped for a key where it may be one, and a key
// for that of a foreign key.
func (t *Template) constraintEdits(u *route.Unit, otherwise bool) []edit {
	logical, configured := t.program.Logical(0)
	if !configured || u.Names[0] == "" {
		return nil
	}
	var edits []edit
	for _, c := range t.stmt.DDL.Constraints {
		name := rule.ConstraintName(c.Name, logical, u.Names[0])
		if name == c.Name {
			continue
		}
		text := quote(name, c.Quote)
		switch {
		case t.dropsBoth(c):
			word := "CONSTRAINT"
			if c.Key {
				word = "INDEX"
			}
			text += ", DROP " + word + " IF EXISTS " + quote(c.Name, c.Quote)
		case c.Key && !otherwise:
			if c.IfExists.End > 0 { // so that the server tells, and the other name is tried
				edits = append(edits, edit{Span: c.IfExists})
			}
			continue
		case c.Any && otherwise:
			continue
		}
		edits = append(edits, edit{Span: c.Span, text: text})
	}
	return edits
}

// dropEdits puts a data source's tables into the list of a DROP.
func (t *Template) dropEdits(drops [][]string) []edit {
	items := t.stmt.DDL.Items
	var edits []edit
	var kept []int
	for i, names := range drops {
		if len(names) == 0 {
			continue
		}
		kept = append(kept, i)
		if _, configured := t.program.Logical(i); !configured {
			continue
		}
		quoted := make([]string, len(names))
		for k, name := range names {
			quoted[k] = quote(name, t.quoteOf(i))
		}
		edits = append(edits, edit{Span: items[i], text: strings.Join(quoted, ", ")})
	}
	return append(edits, keep(items, kept)...)
}

// quoteOf returns the quote with which a table is named first.
func (t *Template) quoteOf(table int) byte {
	for _, r := range t.stmt.Renames {
		if r.Table == table {
			return r.Quote
		}
	}
	return 0
}
