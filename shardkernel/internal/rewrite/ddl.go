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
	e := &plan.Execution{Kind: result.Kind, Reason: result.Reason, Write: true, DDL: true, Renames: t.stmt.DDL.Renames, Units: make([]plan.Unit, len(result.Units))}
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
		if drops := t.program.Drops(i); drops != nil {
			sql, unitArgs := splice(t.stmt, t.dropEdits(drops), args)
			e.Units[i] = plan.Unit{DataSource: u.DataSource, SQL: sql, Args: unitArgs}
			continue
		}
		names := t.names(u)
		text := func(called func(string, plan.NameKind) string) (string, []any) {
			return splice(t.stmt, append(slices.Clone(names), t.constraintEdits(u, called)...), args)
		}
		unit := plan.Unit{DataSource: u.DataSource, Table: t.actual(u, 0)}
		unit.SQL, unit.Args = text(func(name string, kind plan.NameKind) string {
			if kind == plan.NameKey {
				return name
			}
			return rule.ConstraintName(name, t.logical(), u.Names[0])
		})
		if t.callsByName(u) {
			unit.Called = func(called func(string, plan.NameKind) string) string {
				sql, _ := text(called)
				return sql
			}
		}
		e.Units[i] = unit
	}
	if d.Action == parse.CreateTable && !d.Replace && len(e.Units) > 1 {
		for _, c := range d.Constraints {
			e.Constraints = append(e.Constraints, c.Name)
		}
		e.Trial = func(unit int, table string) string { return t.trial(&result.Units[unit], table, args) }
	}
	return e, nil
}

// trial writes a CREATE TABLE of a unit for a table of another name, which also
// stands for it where it references itself.
func (t *Template) trial(u *route.Unit, table string, args []any) string {
	other := *u
	other.Names = slices.Clone(u.Names)
	for i := range other.Names {
		if name, configured := t.program.Logical(i); i == 0 || configured && name == t.logical() {
			other.Names[i] = table
		}
	}
	sql, _ := splice(t.stmt, append(t.names(&other), t.constraintEdits(&other, nil)...), args)
	return sql
}

// actual returns what a table of the statement is called in a unit.
func (t *Template) actual(u *route.Unit, table int) string {
	if name := u.Names[table]; name != "" {
		return name
	}
	return t.stmt.Tables[table].Name
}

// constraintEdits gives foreign keys, CHECKs and keys the names they have in the
// unit's table: those that are made by the rule, those that are there as called
// says.
func (t *Template) constraintEdits(u *route.Unit, called func(string, plan.NameKind) string) []edit {
	var edits []edit
	for _, c := range t.constraints(u) {
		name := rule.ConstraintName(c.Name, t.logical(), u.Names[0])
		if c.There {
			name = called(c.Name, nameKind(c))
		}
		if name != c.Name {
			edits = append(edits, edit{Span: c.Span, text: quote(name, c.Quote)})
		}
	}
	return edits
}

// constraints are the names in the statement that may be others in the unit's table.
func (t *Template) constraints(u *route.Unit) []parse.Constraint {
	if _, configured := t.program.Logical(0); !configured || u.Names[0] == "" {
		return nil
	}
	return t.stmt.DDL.Constraints
}

func (t *Template) logical() string {
	name, _ := t.program.Logical(0)
	return name
}

func nameKind(c parse.Constraint) plan.NameKind {
	switch {
	case c.Key:
		return plan.NameKey
	case c.Any:
		return plan.NameAny
	}
	return plan.NameConstraint
}

// callsByName reports whether what the unit's table calls a name of the statement
// has to be looked up in it.
func (t *Template) callsByName(u *route.Unit) bool {
	return slices.ContainsFunc(t.constraints(u), func(c parse.Constraint) bool {
		return c.There && rule.ConstraintName(c.Name, t.logical(), u.Names[0]) != c.Name
	})
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
