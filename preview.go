package sharding

import (
	"context"

	"github.com/gormshard/sharding/shardkernel"
	kerneldriver "github.com/gormshard/sharding/shardkernel/driver"
)

// Preview is what a statement would become.
type Preview struct {
	// Kind is the kind of the route: standard, unicast, broadcast, all nodes,
	// pass-through, session.
	Kind string
	// Reason says in a sentence why the statement goes where it goes.
	Reason string
	Units  []ExecutionUnit
	// Warnings name what is allowed but may be slow or surprising over several
	// nodes: a scatter without a sharding condition, groups held in memory, rows
	// skipped by OFFSET, a write whose commits are not one.
	Warnings []string
}

// ExecutionUnit is one statement for one data source.
type ExecutionUnit struct {
	DataSource string
	SQL        string
	Args       []any
}

func preview(ctx context.Context, kernel *shardkernel.Kernel, query string, args []any) (*Preview, error) {
	ex, err := kernel.Plan(ctx, kerneldriver.Hints(ctx), query, args)
	if err != nil {
		return nil, err
	}
	p := &Preview{Kind: string(ex.Kind), Reason: ex.Reason, Warnings: ex.Warnings()}
	for i := range ex.Units {
		u := &ex.Units[i]
		p.Units = append(p.Units, ExecutionUnit{DataSource: u.DataSource, SQL: u.SQL, Args: u.Args})
	}
	return p, nil
}
