package shardkernel

import (
	"context"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/rewrite"
	"github.com/gormshard/sharding/shardkernel/internal/route"
)

// branch is a part of a statement, such as a branch of a UNION, as a statement of
// its own.
type branch struct {
	*statement
	kernel *Kernel
	ctx    context.Context
	told   *hints
	text   string
}

// Template returns what the branch is rewritten by.
func (b *branch) Template() *rewrite.Template { return b.rewrite }

// Plan plans one execution.
func (b *branch) Plan(args []any) (*plan.Execution, error) {
	return b.kernel.routed(b.ctx, b.told, b.statement, b.text, args)
}

// unioned plans a UNION each of whose branches is routed by itself.
func (k *Kernel) unioned(ctx context.Context, told *hints, s *statement, in route.Input) (ex *plan.Execution, err error) {
	defer recovered(&err)
	return s.rewrite.Union(in.Args, in.Meta, func(text string) (rewrite.Branch, error) {
		return k.branch(ctx, told, text)
	})
}

// branch prepares a part of a statement that is a statement of its own.
func (k *Kernel) branch(ctx context.Context, told *hints, text string) (rewrite.Branch, error) {
	part, err := k.statement(ctx, text)
	if err == nil && part.program == nil {
		part, err = k.unnamed(ctx, text)
	}
	if err != nil {
		return nil, err
	}
	return &branch{part, k, ctx, told, text}, nil
}

// unnamed parses the text of a SELECT that names no configured table.
func (k *Kernel) unnamed(ctx context.Context, text string) (*statement, error) {
	c, err := k.compiler(ctx)
	if err != nil {
		return nil, err
	}
	stmt, err := parse.Parse(text, c.rules, c.server.Dialect)
	if err != nil {
		return nil, err
	}
	s := &statement{verb: "SELECT", read: true}
	if s.program, err = route.Compile(stmt, c.rules, c.convert); err != nil {
		return nil, err
	}
	s.rewrite = rewrite.Compile(s.program, c.server)
	return s, nil
}
