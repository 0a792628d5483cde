package rewrite_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/route"
)

// tagged returns the arguments as pointers of their own, by which what a unit is
// sent can be told apart from an equal argument. A NULL stays one.
func tagged(args []any) []any {
	out := make([]any, len(args))
	for i, arg := range args {
		switch v := arg.(type) {
		case int64:
			out[i] = &v
		case uint64:
			out[i] = &v
		case float64:
			out[i] = &v
		case string:
			out[i] = &v
		default:
			out[i] = v
		}
	}
	return out
}

// boundOf tells which of the statement's arguments each of a unit's is, -1 for a
// value that the planner made.
func boundOf(args, unit []any) []int {
	bound := make([]int, len(unit))
	for i, arg := range unit {
		bound[i] = slices.IndexFunc(args, func(a any) bool { return a == arg })
		if arg == nil { // NULLs cannot be told apart: take the next
			from := 0
			if i > 0 {
				from = bound[i-1] + 1
			}
			if at := slices.Index(args[min(from, len(args)):], nil); at >= 0 {
				bound[i] = from + at
			}
		}
	}
	return bound
}

// editsOf is what a unit's text may differ in from the statement, names apart.
func editsOf(stmt *parse.Statement, e *plan.Execution, result *route.Result, u *route.Unit, bound []int) parse.Edits {
	edits := parse.Edits{Lists: u.Lists != nil, Rows: u.Rows, Key: len(result.Keys) > 0, Aliases: true, Bound: bound}
	if m := e.Merge; m != nil {
		edits.Derived, edits.Limit, edits.Order, edits.Having = m.Derived, m.HasLimit, true, m.Having != nil
		edits.Groups = stmt.Select != nil && stmt.Select.Distinct || slices.ContainsFunc(m.Aggregates, func(a plan.Aggregate) bool { return len(a.Distinct) > 0 })
	}
	return edits
}

// proveSplices runs a statement once more and fails unless it became what
// spliceFaults finds no fault with.
func proveSplices(t *testing.T, p *pipeline, sql string, args []any) {
	c, err := p.compile(sql)
	if err != nil {
		return // not parsed, but passed through
	}
	marked := tagged(args)
	e, err := c.run(marked)
	if err != nil { // not every clause takes a pointer
		marked = args
		if e, err = c.run(args); err != nil {
			t.Errorf("%s\n%v", sql, err)
			return
		}
	}
	e = withoutGather(e)
	for _, f := range spliceFaults(c, e, marked) {
		t.Errorf("%s\n%s", sql, f)
	}
	stmt := c.program.Statement()
	for i := 0; i < len(e.Units) && len(e.Units) == len(c.result.Units); i++ {
		spliced := withoutUnions(&c.result.Units[i], e.Units[i].SQL)
		after, err := parse.Parse(spliced, p.set, p.dialect)
		switch drops := c.program.Drops(i); {
		case err != nil:
			t.Errorf("%s\nbecame what does not parse:\n%s\n%v", sql, spliced, err)
		case drops != nil:
			proveDrops(t, stmt, drops, after)
		default:
			proveLabels(t, stmt, after, spliced)
		}
	}
}

// spliceFaults parses what a statement became: the tree must be that of the
// statement with exactly the names changed, and what the route asks for, every
// marker must have the argument it had, and every row of an INSERT go to one
// unit.
func spliceFaults(c *compiled, e *plan.Execution, args []any) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if c.result.Refusal != nil { // a question, which is another statement
		return nil
	}
	if len(e.Units) != len(c.result.Units) { // an INSERT with more markers than a server takes
		return nil
	}
	stmt := c.program.Statement()
	rows := map[int]int{}
	for i := range c.result.Units {
		u, unit := &c.result.Units[i], &e.Units[i]
		for _, row := range u.Rows {
			rows[row]++
		}
		bound := boundOf(args, unit.Args)
		for k, b := range bound {
			if b < 0 && len(c.result.Keys) == 0 && (e.Merge == nil || !e.Merge.HasLimit) {
				fault("became\n%s\nwhose argument %d, %v, is none of the statement's", unit.SQL, k, unit.Args[k])
			}
		}
		if c.program.Drops(i) != nil || stmt.DDL != nil && len(stmt.DDL.Constraints) > 0 {
			continue // other names change as well
		}
		if len(c.result.NowKeys) > 0 {
			continue // a literal stands in for NOW()
		}
		want := func(table int) (schema, name string) {
			if u.Unions != nil && u.Unions[table].Tables != nil {
				return "", u.Unions[table].Tables[0]
			}
			if u.Names[table] == "" { // of no configured table, the schema stays as well
				return stmt.Tables[table].Schema, stmt.Tables[table].Name
			}
			return "", u.Names[table]
		}
		if err := parse.Verify(stmt, withoutUnions(u, unit.SQL), want, editsOf(stmt, e, c.result, u, bound), c.pipeline.dialect); err != nil {
			fault("became\n%s %v\n%v", unit.SQL, unit.Args, err)
		}
	}
	if stmt.Insert != nil && len(rows) > 0 {
		for row := range stmt.Insert.Rows {
			if rows[row] != 1 {
				fault("row %d goes to %d units", row, rows[row])
			}
		}
	}
	return faults
}

var union = regexp.MustCompile(`\(SELECT [^()]*? FROM (\S+)(?: UNION ALL SELECT [^()]*? FROM \S+)+\)`)

// withoutUnions puts the first actual table in the place of each union of a unit.
func withoutUnions(u *route.Unit, sql string) string {
	if u.Unions == nil {
		return sql
	}
	return union.ReplaceAllString(sql, "$1")
}

// proveDrops compares the tables of a DROP with those that its unit was to drop.
func proveDrops(t *testing.T, stmt *parse.Statement, drops [][]string, after *parse.Statement) {
	want, got := slices.Concat(drops...), []string{}
	for _, table := range after.Tables {
		got = append(got, table.Name)
	}
	if after.DDL == nil || after.DDL.Action != stmt.DDL.Action || !slices.Equal(got, want) {
		t.Errorf("%s\nbecame\n%s\nthat drops %q instead of %q", stmt.Text, after.Text, got, want)
	}
}
