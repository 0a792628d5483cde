package rewrite

import (
	"slices"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/route"
)

// severalInserts gives each unit its rows.
func (t *Template) severalInserts(e *plan.Execution, result *route.Result, args []any) error {
	insert := t.stmt.Insert
	e.Merge = &plan.Merge{}
	e.LastInsertID = result.LastKey
	if insert.Returning && !insert.Select {
		if insert.Ignore {
			return fault.Unsupported("RETURNING over several nodes", "a node returns nothing for a row it skips, so the rows could not be told apart",
				"leave out RETURNING, or insert rows of one node")
		}
		e.Merge.Kind, e.Merge.MaySkip = plan.MergeRows, insert.Conflict && len(insert.OnDup) == 0
	}
	for i := range result.Units {
		u := &result.Units[i]
		edits := append(t.names(u), t.insertEdits(result, u)...)
		sql, unitArgs := splice(t.stmt, edits, args)
		e.Units[i] = t.unit(u, sql, unitArgs)
		if e.Merge.Kind == plan.MergeRows {
			e.Merge.Rows = append(e.Merge.Rows, u.Rows)
		}
	}
	return nil
}

// insertEdits returns the edits that leave a unit's rows and put the generated
// keys into them.
func (t *Template) insertEdits(result *route.Result, u *route.Unit) []edit {
	insert := t.stmt.Insert
	edits := rowEdits(insert, u.Rows)
	for _, now := range result.NowKeys {
		if _, own := slices.BinarySearch(u.Rows, now.Row); own || u.Rows == nil {
			edits = append(edits, edit{Span: now.Span, text: now.Text})
		}
	}
	if len(result.Keys) == 0 {
		return edits
	}
	if result.KeyPosition < 0 && !insert.Set {
		edits = append(edits, at(insert.ColumnsEnd, separated(len(insert.Columns), quote(result.KeyColumn, 0)), nil))
	}
	for i, row := range result.KeyRows {
		if u.Rows != nil {
			if _, own := slices.BinarySearch(u.Rows, row); !own {
				continue
			}
		}
		key := []any{result.Keys[i]}
		switch values := insert.Rows[row].Values; {
		case result.KeyPosition >= 0:
			edits = append(edits, edit{Span: values[result.KeyPosition].Span, text: "?", args: key})
		case insert.Set:
			edits = append(edits, at(insert.SetEnd, ", "+quote(result.KeyColumn, 0)+" = ?", key))
		default:
			edits = append(edits, at(insert.Rows[row].End-1, separated(len(values), "?"), key))
		}
	}
	return edits
}

// at returns an edit that inserts text.
func at(position int, text string, args []any) edit {
	return edit{Span: parse.Span{Start: position, End: position}, text: text, args: args}
}

// separated returns text as a further member of a list of n.
func separated(n int, text string) string {
	if n == 0 {
		return text
	}
	return ", " + text
}
