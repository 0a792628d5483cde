package shardkernel

import (
	"context"
	"slices"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
)

// Preview is what a statement would become, and what there is to say of it.
type Preview struct {
	*Execution
	Hints    []string // those in effect, without their values
	Warnings []string
	Denied   []error // why audits would refuse the statement
}

// Preview plans a statement as Plan does, but does not fail where an audit would
// refuse it.
func (k *Kernel) Preview(ctx context.Context, h *Hints, text string, args []any) (*Preview, error) {
	args, err := ResolveAll(args)
	if err != nil {
		return nil, err
	}
	s, told, err := k.hinted(ctx, h, text)
	if err != nil {
		return nil, err
	}
	ex, err := k.routed(ctx, told, s, text, args)
	if err != nil {
		return nil, err
	}
	p := &Preview{Execution: ex, Hints: told.describe(s), Warnings: ex.Warnings()}
	if ex.Nodes() > 1 {
		p.Warnings = append(p.Warnings, s.warnings()...)
	}
	if a := k.audits.Load(); a != nil {
		a.each(s, ex, told, func(err error) bool {
			if !slices.ContainsFunc(p.Denied, func(other error) bool { return other.Error() == err.Error() }) {
				p.Denied = append(p.Denied, err)
			}
			return true
		})
	}
	return p, nil
}

// warnings name what in the statement itself makes it go to more nodes, or ties
// tables to each other, where several nodes are asked.
func (s *statement) warnings() []string {
	var out []string
	for _, w := range s.facts.Wrapped {
		out = append(out, "the sharding column "+w.Column+" of "+w.Table.Name+" stands inside a function or in arithmetic, where it narrows no nodes")
	}
	for _, t := range s.facts.Nested {
		out = append(out, "the sharded table "+t.Name+" stands in a subquery")
	}
	for i := range s.batch {
		out = append(out, s.batch[i].warnings()...)
	}
	return out
}

// describe lists the hints that have an effect on the statement.
func (h *hints) describe(s *statement) []string {
	if h == nil {
		return nil
	}
	var out []string
	note := func(is bool, what string) {
		if is {
			out = append(out, what)
		}
	}
	note(h.reads == plan.ReadsPrimary, "primary only")
	note(h.reads == plan.ReadsReplica, "replica allowed")
	note(h.session != nil, "session")
	if s.kind == plan.KindDirect {
		note(h.source != "", "data source "+h.source)
		note(h.source == "", "skip sharding")
		return out
	}
	names := s.facts.Tables
	for i := range s.batch {
		names = append(slices.Clone(names), s.batch[i].facts.Tables...)
	}
	for _, v := range h.route.Values {
		table := v.Logical
		if table == "" {
			table = "all tables"
		} else if !slices.ContainsFunc(names, func(t *rule.Table) bool { return t.Name == table }) {
			continue
		}
		note(v.Database != nil, "database value of "+table)
		note(v.Table != nil, "table value of "+table)
		note(v.Node != nil, "actual table of "+table)
	}
	note(h.allowScatter, "allow scatter")
	note(h.auditOff, "disable audit")
	return out
}
