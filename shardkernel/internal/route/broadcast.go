package route

import (
	"slices"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// writesBroadcast reports whether the statement changes a broadcast table.
func (p *Program) writesBroadcast() bool {
	for i := range p.stmt.Tables {
		if p.broadcast[i] && p.stmt.Tables[i].Target {
			return true
		}
	}
	return false
}

// compileBroadcastWrite fixes the route to every data source. What could come
// out differently on two of them is refused, since the copies would differ from
// then on.
func (p *Program) compileBroadcastWrite() error {
	r := &Result{
		Kind:      plan.KindBroadcast,
		Reason:    "a write to a broadcast table goes to every data source",
		Broadcast: true,
	}
	for order, source := range p.set.DataSources {
		r.Units = append(r.Units, Unit{DataSource: source, Order: order, Node: -1, Names: make([]string, len(p.stmt.Tables))})
	}
	p.fixed = r
	if p.stmt.Update != nil && slices.ContainsFunc(p.refs, func(r *reference) bool { return p.stmt.Tables[r.table].Target }) {
		return fault.Unsupported("multi-table UPDATE", "it may change the broadcast table, of which every data source would see other rows of the sharded table "+p.refs[0].rule.Name,
			"name the table of every column in SET, and change the broadcast table with a statement of its own")
	}
	if len(p.refs) > 0 {
		return fault.Unsupported("write to a broadcast table", "it also names the sharded table "+p.refs[0].rule.Name+", whose rows are not in every data source",
			"read the values first and pass them as parameters")
	}
	if len(r.Units) == 1 {
		return nil
	}
	if p.single != "" {
		return fault.Unsupported("write to a broadcast table", "it also names a single table, which is not in every data source",
			"read the values first and pass them as parameters")
	}
	refuse := func(clause, reason, remedy string) error {
		return fault.Unsupported(clause+" in a write to a broadcast table", reason, remedy)
	}
	for _, f := range refusals {
		switch f.feature {
		case parse.FeatureWindow, parse.FeatureRelevance, parse.FeatureOtherAggregate, parse.FeatureOuterAggregate:
			// Over broadcast tables alone these give the same everywhere.
			continue
		}
		if p.stmt.Features&f.feature != 0 {
			return refuse(f.clause, "the data sources would store different values", "pass the value as a parameter")
		}
	}
	const order = "the order of rows may differ between data sources"
	switch {
	case p.stmt.Insert != nil && p.stmt.Insert.Select:
		return p.refuseBroadcastSelect()
	case p.stmt.Update != nil && p.stmt.Update.Limit:
		return refuse("UPDATE with LIMIT", order, "name the rows by a condition")
	case p.stmt.Delete != nil && p.stmt.Delete.Limit:
		return refuse("DELETE with LIMIT", order, "name the rows by a condition")
	}
	return nil
}

// routeBroadcast returns the route of a broadcast write.
func (p *Program) routeBroadcast(in *Input) (*Result, error) {
	if in.Meta == nil || len(p.fixed.Units) == 1 {
		return p.fixed, nil
	}
	e := newEvaluation(p, in)
	for i := range p.stmt.Tables {
		if !p.stmt.Tables[i].Target {
			continue
		}
		name := p.stmt.Tables[i].Name
		table := in.Meta(name)
		if table == nil {
			continue
		}
		if err := e.checkDefaults(table, name); err != nil {
			return nil, err
		}
		if p.stmt.Insert == nil {
			continue
		}
		for j := range table.Columns {
			if c := &table.Columns[j]; c.AutoIncrement {
				return p.number(&e, table, c, name)
			}
		}
	}
	return p.fixed, e.err
}

// numbered reports whether the database may choose the value of an
// AUTO_INCREMENT column: there is none, or it is NULL, 0 or DEFAULT, or known
// only to the database.
func (e *evaluation) numbered(c *value.Column, values []parse.Operand, position int) bool {
	if position < 0 || position >= len(values) {
		return true
	}
	o := literal(values[position])
	arg, known := e.arg(&o)
	if !known {
		return e.err == nil
	}
	v, err := e.program.convert.Store(arg, c)
	if err != nil {
		return true
	}
	n, isInt := v.Int64()
	return v.IsNull() || isInt && n == 0 && !c.Flexible // SQLite keeps a 0
}
