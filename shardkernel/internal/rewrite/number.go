package rewrite

import (
	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/route"
)

// numberAlias names the derived column that shows the number of a row.
const numberAlias = "NUMBER_DERIVED_0"

// number fills the numbering of an INSERT into a broadcast table. One row is
// inserted as it is, and its number is the last insert id. Of several rows, and
// where the caller wants rows back, RETURNING shows the numbers.
func (t *Template) number(e *plan.Execution, result *route.Result, args []any) error {
	insert, column := t.stmt.Insert, quote(result.KeyColumn, 0)
	returned := len(insert.Rows) > 1 || insert.Returning
	switch {
	case !returned:
	case !t.server.Returning:
		return fault.Unsupported("INSERT of several rows into a broadcast table without "+result.KeyColumn, "the first data source numbers them, and this server does not tell the numbers for certain",
			"insert the rows one by one, or give "+result.KeyColumn+" a value")
	case t.stmt.Kind == parse.KindReplace && !insert.Returning:
		return fault.Unsupported("REPLACE of several rows in a broadcast table without "+result.KeyColumn, "the first data source numbers them, and does not tell both the numbers and how many rows it replaced",
			"replace the rows one by one, or give "+result.KeyColumn+" a value")
	}
	n := &plan.Numbering{Returned: returned, Rows: result.KeyRows}
	first := &result.Units[0]
	edits := t.names(first)
	if returned {
		before := " RETURNING "
		if insert.Returning {
			before = ", "
		}
		edits = append(edits, at(insert.End, before+column+" AS "+numberAlias, nil))
	}
	sql, unitArgs := splice(t.stmt, edits, args)
	n.First = t.unit(first, sql, unitArgs)
	n.Rest = func(numbers []any) []plan.Unit {
		numbered := *result
		numbered.Keys, numbered.Units = numbers, result.Units[1:]
		units := make([]plan.Unit, len(numbered.Units))
		for i := range numbered.Units {
			u := &numbered.Units[i]
			sql, unitArgs := splice(t.stmt, append(t.names(u), t.insertEdits(&numbered, u)...), args)
			units[i] = t.unit(u, sql, unitArgs)
		}
		return units
	}
	e.Numbering = n
	return nil
}
