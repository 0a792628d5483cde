package route

import (
	"errors"
	"slices"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// errNeedsNow says that a row is routed by NOW(), whose value was not given.
var errNeedsNow = errors.New("sharding: the row is routed by the time of the statement")

// NowKey is a NOW() by which a row is routed. Text, a literal of the same type
// and value, takes its place, so that what the row is routed by is what is stored.
type NowKey struct {
	Row  int
	Span parse.Span
	Text string
}

// nowOf cuts the time of the statement to the digits that a call of NOW() gives.
func nowOf(now string, o *parse.Operand) string {
	const seconds = len("2006-01-02 15:04:05")
	if len(now) < seconds {
		return now
	}
	if o.Param == 0 {
		return now[:seconds]
	}
	return now[:min(len(now), seconds+1+o.Param)]
}

// nowKeys returns the calls of NOW() that rows were routed by.
func (in *insertion) nowKeys(e *evaluation, positions []int) []NowKey {
	var keys []NowKey
	for row, values := range in.rows {
		for _, position := range positions {
			if position >= 0 && position < len(values) && values[position].Kind == parse.OperandNow {
				o := &values[position]
				keys = append(keys, NowKey{Row: row, Span: o.Span, Text: "TIMESTAMP'" + nowOf(e.now, o) + "'"})
			}
		}
	}
	return keys
}

// Clocked reports whether the statement's effect or answer depends on the time at
// which it runs: it calls the clock, or leaves a column to it. Several nodes have
// to read one clock then.
func (p *Program) Clocked(args []any, meta Meta) bool {
	if p.stmt.Features&parse.FeatureNow != 0 || len(p.stmt.Defaults) > 0 {
		return true
	}
	if p.stmt.Insert == nil && p.stmt.Update == nil {
		return false
	}
	e := evaluation{program: p, args: args, meta: meta}
	for i := range p.stmt.Tables {
		name, configured := p.Logical(i)
		if !p.stmt.Tables[i].Target || !configured {
			continue
		}
		table := meta.table(name)
		for j := 0; table != nil && j < len(table.Columns); j++ {
			if c := &table.Columns[j]; c.Clocked && (e.leavesOld(c) || e.leavesNew(table, c)) {
				return true
			}
		}
	}
	return false
}

// leavesOld reports whether the statement may leave a column of a row that it
// changes to ON UPDATE, or set it to its default.
func (e *evaluation) leavesOld(c *value.Column) bool {
	insert, update := e.program.stmt.Insert, e.program.stmt.Update
	switch {
	case update != nil:
		return e.unset(update.Set, c.Name)
	case insert != nil && len(insert.OnDup) > 0:
		return e.unset(insert.OnDup, c.Name)
	}
	return false
}

// leavesNew reports whether the statement may leave a column of a row that it
// inserts to its default.
func (e *evaluation) leavesNew(table *value.Table, c *value.Column) bool {
	insert := e.program.stmt.Insert
	if insert == nil {
		return false
	}
	position := visiblePosition(table, c.Name)
	if insert.Columns != nil {
		position = slices.Index(insert.Columns, c.Name)
	}
	if insert.Select {
		return position < 0
	}
	for i := range insert.Rows {
		values := insert.Rows[i].Values
		if position < 0 || position >= len(values) || e.byDefault(&values[position]) {
			return true
		}
	}
	return false
}

func (e *evaluation) unset(set []parse.Assignment, column string) bool {
	i := slices.IndexFunc(set, func(a parse.Assignment) bool { return a.Column.Name == column })
	return i < 0 || e.byDefault(&set[i].Value)
}

// byDefault reports whether a column that is given the operand may take its
// default: a TIMESTAMP may do so for NULL.
func (e *evaluation) byDefault(o *parse.Operand) bool {
	if o.Kind == parse.OperandDefault {
		return true
	}
	arg, known := e.arg(o)
	return known && arg == nil
}

// checkDefaults refuses to leave a column to a default that comes out differently
// in every data source.
func (e *evaluation) checkDefaults(table *value.Table, name string) error {
	set := []parse.Assignment(nil)
	switch stmt := e.program.stmt; {
	case stmt.Update != nil:
		set = stmt.Update.Set
	case stmt.Insert != nil:
		set = stmt.Insert.OnDup
	}
	for i := range table.Columns {
		c := &table.Columns[i]
		if !c.Random {
			continue
		}
		left := e.leavesNew(table, c) || slices.Contains(e.program.stmt.Defaults, c.Name) || slices.ContainsFunc(set, func(a parse.Assignment) bool {
			return a.Column.Name == c.Name && a.Value.Kind == parse.OperandDefault
		})
		if left {
			return fault.Unsupported("write to broadcast table "+name, "the default of "+c.Name+" would give every data source another value",
				"give "+c.Name+" a value, as a literal or a parameter")
		}
	}
	return nil
}
