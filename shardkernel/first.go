package shardkernel

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/execute"
	"github.com/gormshard/sharding/shardkernel/internal/merge"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/rewrite"
	"github.com/gormshard/sharding/shardkernel/internal/route"
)

// preceded plans a SELECT whose subqueries run before it, nil where none can: the
// statement is planned twice, now without knowing what they find, which shows
// whether it can be answered then, and again with that.
func (k *Kernel) preceded(ctx context.Context, told *hints, s *statement, in route.Input) (ex *plan.Execution, err error) {
	defer recovered(&err)
	settings := k.base.settings.Load()
	if settings == nil || !settings.TakesRows() {
		return nil, nil
	}
	p, err := s.rewrite.Precede(in.Args, in.Meta, func(text string) (rewrite.Branch, error) {
		return k.branch(ctx, told, text)
	})
	if p == nil || err != nil {
		return nil, err
	}
	outer, err := k.statement(ctx, p.Text)
	if err != nil || outer.program == nil {
		return nil, err
	}
	bound := len(in.Args) > 0
	ex, err = k.behind(ctx, told, outer, p.Args, bound)
	if err != nil {
		return nil, err
	}
	ex.Reason += "; subqueries run before, and may narrow it"
	ex.First = &plan.First{Subqueries: p.Subqueries, Then: func(found []*plan.Found) (*plan.Execution, error) {
		ex, err := k.behind(ctx, told, outer, p.With(found), bound)
		if !errors.Is(err, fault.ErrUnsupported) {
			return ex, err
		}
		for _, f := range found { // the nodes that it showed can be answered
			f.Known = false
		}
		return k.behind(ctx, told, outer, p.With(found), bound)
	}}
	return ex, nil
}

// behind plans the statement behind its subqueries, with what they found among the
// arguments. bound is true for a statement with arguments of its own.
func (k *Kernel) behind(ctx context.Context, told *hints, s *statement, args []any, bound bool) (*plan.Execution, error) {
	columns := k.columns.Get().(*columns)
	columns.ctx = ctx
	defer columns.putBack()
	in := columns.input(args)
	if told != nil {
		in.Hints = &told.route
	}
	ex, err := k.rewritten(ctx, s, in)
	if columns.err != nil {
		return nil, columns.err
	}
	if err != nil {
		return nil, err
	}
	for i := range ex.Units {
		k.place(&ex.Units[i], bound)
	}
	if bound {
		k.keepProtocol(ex)
	}
	return ex, nil
}

// place writes what subqueries found into a unit. Where the statement has no
// arguments, the rows become literals: with one it would be sent in another way,
// in which some values look different.
func (k *Kernel) place(u *plan.Unit, bound bool) {
	args, shown := u.Args, u.SQL
	at := func(n int) *plan.Found {
		if n >= len(args) {
			return nil
		}
		f, _ := args[n].(*plan.Found)
		return f
	}
	u.SQL = parse.ReplaceMarkers(shown, k.dialect, func(n int) (string, bool) {
		f := at(n)
		if f == nil {
			return "", false
		}
		if bound || f.Marker() < 0 || f.JSON == "" {
			return f.SQL, true
		}
		var text strings.Builder
		text.WriteString(f.SQL[:f.Marker()])
		writeLiteral(&text, f.JSON)
		text.WriteString(f.SQL[f.Marker()+1:])
		return text.String(), true
	})
	u.Args = nil
	for n := range args {
		switch f := at(n); {
		case f == nil:
			u.Args = append(u.Args, args[n])
		case f.Marker() < 0:
		case f.JSON == "":
			u.Args = append(u.Args, plan.RowsOf("subquery"))
		case bound:
			u.Args = append(u.Args, f.JSON)
		}
	}
	if !bound {
		u.Shown = parse.ReplaceMarkers(shown, k.dialect, func(n int) (string, bool) {
			f := at(n)
			if f == nil {
				return "", false
			}
			return f.SQL, true
		})
	}
}

// queryPreceded runs the subqueries of a statement, one after the other, and then
// the statement itself.
func (k *Kernel) queryPreceded(ctx context.Context, ex *plan.Execution, branches execute.Branches) (driver.Rows, error) {
	first := ex.First
	found := make([]*plan.Found, len(first.Subqueries))
	for i := range first.Subqueries {
		rows, err := k.find(ctx, &first.Subqueries[i], ex.Reads, branches)
		if err != nil {
			return nil, err
		}
		defer rows.Release() // the nodes have what it holds when their rows begin to come
		if found[i], err = foundOf(&first.Subqueries[i], rows); err != nil {
			return nil, err
		}
	}
	then, err := first.Then(found)
	if err != nil {
		return nil, err
	}
	then.Reads = ex.Reads
	answerAs(ex, then)
	for i := range then.Units {
		u := &then.Units[i]
		size := int64(len(u.SQL))
		for _, arg := range u.Args {
			if text, ok := arg.(string); ok {
				size += int64(len(text))
			}
		}
		if most := k.sources[u.Server()].packet; most > 0 && size > most-packetMargin {
			return nil, fmt.Errorf("sharding: giving the rows of a subquery to data source %s: %w: the statement has %d bytes, max_allowed_packet is %d; narrow the subquery",
				u.DataSource, fault.ErrTooManyRows, size, most)
		}
	}
	if err := k.checkSources(ctx, then); err != nil {
		return nil, err
	}
	rows, err := k.merged(ctx, then, branches)
	if err != nil {
		return nil, blame(then, err)
	}
	return &blamed{rows.(columnRows), then}, nil
}

// find reads the rows of a subquery.
func (k *Kernel) find(ctx context.Context, s *plan.Subquery, reads plan.Reads, branches execute.Branches) (*merge.FoundRows, error) {
	s.Rows.Reads = reads
	rows, err := k.merged(ctx, &s.Rows, branches)
	if err != nil {
		return nil, blame(&s.Rows, err)
	}
	most := 0
	if s.Exists {
		most = 1
	}
	found, err := merge.ReadFound(rows, s.Columns, most, k.mergeLimits())
	return found, blame(&s.Rows, err)
}

// foundOf returns what the rows of a subquery are to the statement around it.
func foundOf(s *plan.Subquery, rows *merge.FoundRows) (*plan.Found, error) {
	f := *s.Place
	if s.Exists {
		f.SQL = "(" + strconv.Itoa(rows.Rows) + ")"
		return &f, nil
	}
	f.JSON = rows.JSON
	if s.Integer && rows.All() {
		f.Known = true
		for _, v := range rows.First {
			n, err := integerOf(v)
			if err != nil {
				f.Known, f.Values = false, nil
				break
			}
			f.Values = append(f.Values, n)
		}
	}
	if !f.Number || f.List {
		return &f, nil
	}
	switch {
	case rows.Rows > 1: // the server says so, unless the value is needed here
		f.Number = false
	case rows.Rows == 1:
		switch v := rows.First[0].(type) {
		case []byte:
			f.Constant = plan.Decimal(v)
		default:
			f.Constant = v
		}
	}
	return &f, nil
}

// integerOf returns an integer as the driver gives it, or NULL.
func integerOf(v driver.Value) (any, error) {
	switch v := v.(type) {
	case nil, int64, uint64:
		return v, nil
	case []byte:
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return n, nil
		}
		return strconv.ParseUint(string(v), 10, 64)
	}
	return nil, strconv.ErrSyntax
}
