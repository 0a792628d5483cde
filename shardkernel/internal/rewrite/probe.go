package rewrite

import (
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/route"
)

// maxProbed is the number of keys that one unit asks for.
const maxProbed = 1000

// probe rewrites a result whose units ask for rows by primary key.
func (t *Template) probe(result *route.Result, args []any) *plan.Execution {
	e := &plan.Execution{Kind: result.Kind, Reason: result.Reason, Query: true, Merge: &plan.Merge{}}
	for i := range result.Units {
		u := &result.Units[i]
		rows := u.Rows
		if rows == nil {
			rows = make([]int, len(result.Probe.Rows))
			for row := range rows {
				rows[row] = row
			}
		}
		for len(rows) > 0 {
			some := rows[:min(maxProbed, len(rows))]
			rows = rows[len(some):]
			sql, unitArgs := t.probeText(u, result.Probe, some, args)
			e.Units = append(e.Units, t.unit(u, sql, unitArgs))
		}
	}
	return e
}

// probeText asks a unit's table for some of the keys.
func (t *Template) probeText(u *route.Unit, p *route.Probe, rows []int, args []any) (string, []any) {
	var text strings.Builder
	var out []any
	value := func(o *parse.Operand) {
		if o.Kind == parse.OperandParam {
			text.WriteByte('?')
			out = append(out, args[o.Param])
			return
		}
		text.WriteString(t.stmt.Text[o.Span.Start:o.Span.End])
	}
	text.WriteString("SELECT 1 FROM ")
	text.WriteString(quote(u.Names[t.main], '`'))
	text.WriteString(" WHERE ")
	if len(p.Columns) == 1 && len(rows) > 1 {
		text.WriteString(quote(p.Columns[0], '`'))
		text.WriteString(" IN (")
		for i, row := range rows {
			if i > 0 {
				text.WriteByte(',')
			}
			value(&p.Rows[row][0])
		}
		text.WriteByte(')')
	} else {
		for i, row := range rows {
			if i > 0 {
				text.WriteString(" OR ")
			}
			for c, column := range p.Columns {
				if c > 0 {
					text.WriteString(" AND ")
				}
				text.WriteString(quote(column, '`'))
				text.WriteString(" = ")
				value(&p.Rows[row][c])
			}
		}
	}
	if p.Lock && t.server.Dialect.IsMySQL() {
		text.WriteString(" FOR UPDATE")
	}
	return text.String(), out
}

// question rewrites a result whose units ask whether an UPDATE of one table would
// change a row. It locks what the UPDATE would, and sees what that would see. The
// rest of it, for where no row is to be changed, is an UPDATE that changes none: in
// strict mode its WHERE fails where that of a SELECT warns, unless it is to IGNORE that.
func (t *Template) question(result *route.Result, args []any) *plan.Execution {
	e := &plan.Execution{Kind: result.Kind, Reason: result.Reason, InTurn: true, Rest: result.Rest, Refusal: result.Refusal}
	if result.Rest == plan.RestNone {
		e.Write = true
	} else {
		e.Query, e.Merge = true, &plan.Merge{}
	}
	for i := range result.Units {
		u := &result.Units[i]
		where, unitArgs := spliceRange(t.stmt, t.stmt.Update.Where, t.names(u), args)
		table := quote(u.Names[t.main], '`')
		if e.Write {
			verb, column := "UPDATE ", quote(t.stmt.Update.Set[0].Column.Name, '`')
			if t.stmt.Update.Ignore {
				verb += "IGNORE "
			}
			e.Units = append(e.Units, t.unit(u, verb+table+" SET "+column+" = "+column+" "+where, unitArgs))
			continue
		}
		text := "SELECT 1 FROM " + table + " " + where + " LIMIT 1"
		if t.server.Dialect.IsMySQL() {
			text += " FOR UPDATE"
		}
		e.Units = append(e.Units, t.unit(u, text, unitArgs))
	}
	return e
}
