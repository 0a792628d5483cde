package route

import (
	"slices"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
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
		case parse.FeatureCTE, parse.FeatureUnion, parse.FeatureDerived, parse.FeatureSubquery, parse.FeatureWindow, parse.FeatureLocking:
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
		return refuse("INSERT … SELECT", order, "read the rows first and insert them with VALUES")
	case p.stmt.Update != nil && p.stmt.Update.Limit:
		return refuse("UPDATE with LIMIT", order, "name the rows by a condition")
	case p.stmt.Delete != nil && p.stmt.Delete.Limit:
		return refuse("DELETE with LIMIT", order, "name the rows by a condition")
	}
	return nil
}

// warnBroadcast returns the result of a broadcast write with what the metadata
// gives to warn of.
func (p *Program) warnBroadcast(meta Meta) *Result {
	insert := p.stmt.Insert
	if meta == nil || insert == nil || len(p.fixed.Units) == 1 {
		return p.fixed
	}
	name := p.stmt.Tables[0].Name
	table := meta(name)
	if table == nil {
		return p.fixed
	}
	for i := range table.Columns {
		c := &table.Columns[i]
		if !c.AutoIncrement || insert.Columns == nil || slices.Contains(insert.Columns, c.Name) {
			continue
		}
		r := *p.fixed
		r.Warnings = []string{name + "." + c.Name + " is AUTO_INCREMENT and has no value: every data source takes its own next number, which may differ; give the value"}
		return &r
	}
	return p.fixed
}
