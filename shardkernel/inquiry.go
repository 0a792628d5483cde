package shardkernel

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/rewrite"
	"github.com/gormshard/sharding/shardkernel/internal/route"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
)

// inquiry is a statement that asks about tables and schemas instead of rows,
// under one rule set.
type inquiry struct {
	asked *parse.Inquiry
	rules *rule.Set
}

// inquire recognises a statement that asks about tables, and completes s for it;
// known is false for any other.
func (c *compiler) inquire(text string, s *statement, outline parse.Outline) (known bool, err error) {
	if e, ok := parse.Explained(text, c.server.Dialect); ok && outline.Named {
		return c.explain(text, e, s)
	}
	q := parse.Inquire(text, outline.Named, c.server.Dialect)
	if q == nil {
		return false, nil
	}
	s.inquiry = &inquiry{asked: q, rules: c.rules}
	return true, nil
}

// inquire plans one execution of an inquiry.
func (k *Kernel) inquire(ctx context.Context, q *inquiry, args []any) (ex *plan.Execution, err error) {
	defer recovered(&err)
	if want := len(q.asked.Markers); want != len(args) {
		return nil, fault.Unsupported("arguments", fmt.Sprintf("the statement has %d parameter markers and %d arguments", want, len(args)),
			"bind one argument to every ?")
	}
	answer, err := route.Inquire(q.asked, q.rules, args, func(source string) (string, error) { return k.schemaOf(ctx, source) })
	if err != nil {
		return nil, err
	}
	if q.asked.NamesConstraints() {
		for i := range answer.Asking {
			a := &answer.Asking[i]
			if err := k.nameConstraints(ctx, a); err != nil {
				return nil, err
			}
			if q.asked.Index && q.asked.Where && names(q.asked.Text, args, a.View.Constraints) {
				return nil, fault.Unsupported(q.asked.Clause, "its WHERE may compare the names of keys, and those of foreign keys are others in the actual table", "ask without WHERE, or SELECT from information_schema.STATISTICS")
			}
		}
	}
	return rewrite.Inquire(q.asked, answer, args, k.dialect), nil
}

// names reports whether a text, or one of its arguments, may compare a name that
// the node has for a logical one, or that one.
func names(text string, args []any, constraints []route.Naming) bool {
	text = strings.ToLower(text + fmt.Sprint(args...))
	return slices.ContainsFunc(constraints, func(n route.Naming) bool {
		return strings.ContainsAny(text, "%<>") || strings.Contains(text, strings.ToLower(n.Logical))
	})
}

// nameConstraints looks up what the tables of a data source call their keys and
// constraints.
func (k *Kernel) nameConstraints(ctx context.Context, a *route.Asking) error {
	for _, t := range a.View.Tables {
		if t.Actual == t.Logical {
			continue
		}
		otherwise, _, err := k.namesIn(ctx, node{a.DataSource, t.Actual})
		if err != nil {
			return err
		}
		for _, c := range otherwise {
			a.View.Constraints = append(a.View.Constraints, route.Naming{Logical: c.logical, Actual: c.actual})
		}
	}
	return nil
}

// schemaOf returns the schema that the connections of a data source use: that of
// its DSN, or, where that is not known, what the server says.
func (k *Kernel) schemaOf(ctx context.Context, name string) (schema string, err error) {
	s, err := k.source(ctx, name)
	if err != nil {
		return "", err
	}
	if s.client != nil {
		return s.client.Schema, nil
	}
	if err := s.control.QueryRowContext(ctx, "SELECT COALESCE(DATABASE(), '')").Scan(&schema); err != nil {
		return "", &fault.NodeError{DataSource: name, Err: err}
	}
	return schema, nil
}

// explain completes s for the statement that stands behind EXPLAIN; known is false
// when that names no configured table.
func (c *compiler) explain(text string, e parse.Explanation, s *statement) (known bool, err error) {
	inner, err := c.compile(text[e.End:])
	if err != nil || inner.program == nil {
		return false, err
	}
	s.read, s.program, s.rewrite = false, inner.program, inner.rewrite
	s.explained = &rewrite.Explanation{Prefix: text[:e.End], Runs: e.Runs, Stmt: inner.program.Statement(), Rules: c.rules}
	return true, nil
}
