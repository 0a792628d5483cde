package sharding

import (
	"context"

	"github.com/gormshard/sharding/shardkernel"
	kerneldriver "github.com/gormshard/sharding/shardkernel/driver"
)

// Preview is what a statement would become.
type Preview struct {
	// Kind is the kind of the route: standard, cartesian, all nodes, united,
	// gathered, unicast, broadcast, batch, pass-through, direct, session, all instances or
	// blocked. docs/how-a-query-runs.md says what they are.
	Kind string
	// Reason says in a sentence why the statement goes where it goes.
	Reason string
	// Units are the statements that are sent; of a gathered one those that read the
	// rows of tables come first, and the last, whose first arguments they are,
	// answers.
	Units []ExecutionUnit
	// Warnings name what is allowed but may be slow or surprising over several
	// nodes: a scatter without a sharding condition, groups held in memory, rows
	// skipped by OFFSET, a write whose commits are not one.
	Warnings []string
	// Hints name the hints that have an effect on the statement, of the context
	// and of its comments, without their values.
	Hints []string
	// Denied says why audits and limits would refuse the statement; nil when it
	// would be sent. They are the errors that the statement would fail with.
	Denied []error
}

// ExecutionUnit is one statement for one data source.
type ExecutionUnit struct {
	DataSource string
	SQL        string
	Args       []any
}

func preview(ctx context.Context, kernel *shardkernel.Kernel, query string, args []any) (*Preview, error) {
	ex, err := kernel.Preview(ctx, kerneldriver.Hints(ctx), query, args)
	if err != nil {
		return nil, err
	}
	p := &Preview{Kind: string(ex.Kind), Reason: ex.Reason, Warnings: ex.Warnings, Hints: ex.Hints, Denied: ex.Denied}
	if ex.Gather != nil {
		for i := range ex.Gather.Tables {
			p.add(ex.Gather.Tables[i].Rows.Units)
		}
	}
	if ex.First != nil {
		for i := range ex.First.Subqueries {
			p.add(ex.First.Subqueries[i].Rows.Units)
		}
	}
	p.add(ex.Units)
	return p, nil
}

func (p *Preview) add(units []shardkernel.Unit) {
	for i := range units {
		u := &units[i]
		p.Units = append(p.Units, ExecutionUnit{DataSource: u.DataSource, SQL: u.SQL, Args: u.Args})
	}
}
