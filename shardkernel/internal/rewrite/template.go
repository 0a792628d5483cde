// Package rewrite turns a routed statement into the statements that are sent:
// it replaces byte ranges of the original text, never printing a syntax tree,
// picks the arguments that belong to what is left, and writes the recipe by
// which the units' rows become one result.
package rewrite

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/route"
)

// Template is a statement prepared for rewriting. It is safe for concurrent
// use.
type Template struct {
	stmt    *parse.Statement
	program *route.Program
	server  Server
	labels  labels
	main    int // index into Statement.Tables of the first sharded table, or -1

	// kept holds finished texts in which nothing but names differs from the
	// statement, by Program.TextOf.
	kept  []atomic.Pointer[keptText]
	count atomic.Int32

	// descriptions holds what servers said of the statement's expressions.
	descriptions sync.Map // descriptionKey to *description
}

// keptText is a finished text; next is another with the same actual table for
// the first sharded one and other names for the others.
type keptText struct {
	names []string
	sql   string
	next  *keptText
}

// MaxTexts is how many finished texts a template keeps at most.
const MaxTexts = 256

// maxKeptText is the length of the longest text that is kept, in bytes.
const maxKeptText = 16 << 10

// Server is what rewriting needs to know of the data sources' servers, which are
// alike.
type Server struct {
	Dialect *dialect.Dialect
	// DivPrecision is div_precision_increment: the decimals that AVG has beyond
	// its argument's. It means nothing to SQLite.
	DivPrecision int
	// Interpolates is true where the drivers write arguments into the text.
	Interpolates bool
	// Returning is true where INSERT … RETURNING is known.
	Returning bool
	// MariaDB is true for servers of which is known what was measured on MariaDB alone:
	// a recursive common table expression has exactly the types of its first rows, and
	// MIN and MAX of a BIT that are in no temporary table are shown as numbers.
	MariaDB bool
	// SkipsTimes is true where the drivers make times of dates in a zone whose clocks
	// may skip some.
	SkipsTimes bool
}

// Compile prepares the program's statement.
func Compile(program *route.Program, server Server) *Template {
	return &Template{
		stmt:    program.Statement(),
		program: program,
		server:  server,
		labels:  newLabels(program.Statement()),
		main:    program.Main(),
		kept:    make([]atomic.Pointer[keptText], program.Texts()),
	}
}

// oneExecution is an execution with its single unit in one piece of memory.
type oneExecution struct {
	plan.Execution
	unit [1]plan.Unit
}

// Rewrite returns what is to be sent for a result of the template's program. It
// never changes args: units whose arguments are the statement's share the slice.
// describe may be nil, as meta may.
func (t *Template) Rewrite(result *route.Result, args []any, meta route.Meta, describe route.Describer) (*plan.Execution, error) {
	if t.stmt.DDL != nil {
		return t.definition(result, args)
	}
	if result.Probe != nil {
		return t.probe(result, args), nil
	}
	if result.Refusal != nil {
		return t.question(result, args), nil
	}
	if len(t.labels.returned) > 0 {
		if err := t.checkReturning(result); err != nil {
			return nil, err
		}
	}
	if len(args) > t.server.Dialect.MaxMarkers {
		result = t.cut(result)
	}
	if len(result.Units) != 1 {
		return t.several(result, args, meta, describe)
	}
	e := new(oneExecution)
	t.describe(&e.Execution, result)
	e.Units = e.unit[:]
	u := &result.Units[0]
	if u.Unions != nil {
		e.United = united(u)
		sql, unitArgs := splice(t.stmt, t.names(u), args)
		e.unit[0] = t.unit(u, sql, unitArgs)
		return &e.Execution, nil
	}
	if len(result.Keys) == 0 && len(result.NowKeys) == 0 {
		e.unit[0] = t.unit(u, t.text(u), args)
		return &e.Execution, nil
	}
	edits := append(t.names(u), t.insertEdits(result, u)...)
	sql, unitArgs := splice(t.stmt, edits, args)
	e.unit[0] = t.unit(u, sql, unitArgs)
	return &e.Execution, nil
}

// describe fills what the execution says of the statement as a whole.
func (t *Template) describe(e *plan.Execution, result *route.Result) {
	e.Kind, e.Reason, e.Rest, e.Trusted = result.Kind, result.Reason, result.Rest, result.Trusted
	switch s := t.stmt; s.Kind {
	case parse.KindSelect, parse.KindOther:
		e.Query = true
	case parse.KindInsert, parse.KindReplace:
		e.Write, e.Query = true, s.Insert != nil && s.Insert.Returning
	case parse.KindUpdate:
		e.Write, e.Query = true, s.Update != nil && s.Update.Returning
	case parse.KindDelete:
		e.Write, e.Query = true, s.Delete != nil && s.Delete.Returning
	}
}

func (t *Template) unit(u *route.Unit, sql string, args []any) plan.Unit {
	unit := plan.Unit{DataSource: u.DataSource, SQL: sql, Args: args}
	if t.main >= 0 {
		unit.Table = u.Names[t.main]
	}
	return unit
}

// text returns the statement with the unit's names.
func (t *Template) text(u *route.Unit) string {
	slot := &t.kept[t.program.TextOf(u)]
	head := slot.Load()
	for k := head; k != nil; k = k.next {
		if slices.Equal(k.names, u.Names) {
			return k.sql
		}
	}
	sql, _ := splice(t.stmt, t.names(u), nil)
	if len(sql) <= maxKeptText && t.count.Load() < MaxTexts {
		// The names are copied: the result they are part of is larger.
		if slot.CompareAndSwap(head, &keptText{names: slices.Clone(u.Names), sql: sql, next: head}) {
			t.count.Add(1)
		}
	}
	return sql
}

// locksRows reports whether the statement locks rows that are there already,
// which another one may lock as well.
func (t *Template) locksRows() bool {
	switch s := t.stmt; s.Kind {
	case parse.KindSelect:
		return s.Features&parse.FeatureLocking != 0
	case parse.KindInsert:
		return s.Insert.Ignore || s.Insert.Conflict || len(s.Insert.OnDup) > 0 || s.Insert.Select
	case parse.KindReplace, parse.KindUpdate, parse.KindDelete:
		return true
	}
	return false
}

// several rewrites for several units, or for none.
func (t *Template) several(result *route.Result, args []any, meta route.Meta, describe route.Describer) (*plan.Execution, error) {
	e := new(plan.Execution)
	t.describe(e, result)
	e.InTurn = t.locksRows()
	e.Units = make([]plan.Unit, len(result.Units))
	e.Clock = t.program.Clocked(args, meta)
	switch {
	case result.Broadcast:
		e.Merge = &plan.Merge{Broadcast: true}
		if result.Numbered {
			if err := t.number(e, result, args); err != nil {
				return nil, err
			}
		}
		for i := range result.Units {
			u := &result.Units[i]
			if u.Rows == nil {
				e.Units[i] = t.unit(u, t.text(u), args)
				continue
			}
			sql, unitArgs := splice(t.stmt, append(t.names(u), t.insertEdits(result, u)...), args)
			e.Units[i] = t.unit(u, sql, unitArgs)
		}
		return e, nil
	case t.stmt.Insert != nil:
		return e, t.severalInserts(e, result, args)
	case t.stmt.Select != nil:
		return e, t.severalSelects(e, result, args, meta, describe)
	}
	e.Merge = &plan.Merge{}
	for i := range result.Units {
		u := &result.Units[i]
		if u.Lists == nil {
			e.Units[i] = t.unit(u, t.text(u), args)
			continue
		}
		edits := append(t.names(u), listEdits(u)...)
		sql, unitArgs := splice(t.stmt, edits, args)
		e.Units[i] = t.unit(u, sql, unitArgs)
	}
	return e, nil
}
