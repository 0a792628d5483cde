package shardkernel

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/internal/model"
	"github.com/gormshard/sharding/internal/nearest"
	"github.com/gormshard/sharding/shardkernel/internal/metadata"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/route"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// Plan routes and rewrites a statement under the hints of the caller, which may be
// nil, and sends nothing of it. On first use
// the columns of its tables are read from a data source.
func (k *Kernel) Plan(ctx context.Context, h *Hints, text string, args []any) (*Execution, error) {
	args, err := ResolveAll(args)
	if err != nil {
		return nil, err
	}
	s, told, err := k.hinted(ctx, h, text)
	if err != nil {
		return nil, err
	}
	return k.plan(ctx, told, s, text, args)
}

// Prepare finds out whether a text can be planned under the hints, without
// arguments. s is the logical connection it came on.
func (k *Kernel) Prepare(ctx context.Context, s *Session, h *Hints, text string) error {
	st, _, err := k.hinted(ctx, h, text)
	if err == nil && st.command != nil && !s.holds() {
		return refuseUnheldCommand(st.command)
	}
	return err
}

func (k *Kernel) plan(ctx context.Context, told *hints, s *statement, text string, args []any) (*plan.Execution, error) {
	return k.planned(ctx, origin{s, told, text, args}, formMerged)
}

// planned plans a statement in a form, or in one of those behind it.
func (k *Kernel) planned(ctx context.Context, from origin, first form) (*plan.Execution, error) {
	s, told := from.statement, from.told
	ex, err := k.routedIn(ctx, told, s, from.text, from.args, first)
	if err != nil {
		return nil, err
	}
	if ex.Rest != plan.RestNone {
		ex.Part, ex.Logical = k.parts(from), s.facts.Tables[0].Name
	}
	if a := k.audits.Load(); a != nil {
		if err := a.deny(s, ex, told); err != nil {
			return nil, err
		}
		if ex.Rest == plan.RestRead {
			rest, err := ex.Part(ctx, plan.PartRest)
			if err == nil {
				err = a.deny(s, rest, told)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	if told != nil {
		ex.Reads, ex.Session = told.reads, told.session
	}
	ex.Replica = s.replicable()
	return ex, nil
}

func (k *Kernel) routed(ctx context.Context, told *hints, s *statement, text string, args []any) (*plan.Execution, error) {
	return k.routedIn(ctx, told, s, text, args, formMerged)
}

// routedIn routes and rewrites a statement in a form, or in one of those behind it.
func (k *Kernel) routedIn(ctx context.Context, told *hints, s *statement, text string, args []any, first form) (*plan.Execution, error) {
	switch {
	case s.command != nil:
		return k.planCommand(ctx, s, text, args)
	case s.batch != nil:
		return k.planBatch(ctx, told, s, text, args)
	case s.inquiry != nil && s.commented:
		return k.planWhole(ctx, told, text, args, first)
	case s.inquiry != nil:
		return k.inquire(ctx, s.inquiry, args)
	case s.program == nil:
		return passThrough(s, text, args), nil
	}
	if want := len(s.program.Statement().Markers); want != len(args) {
		return nil, fault.Unsupported("arguments", fmt.Sprintf("the statement has %d parameter markers and %d arguments", want, len(args)),
			"bind one argument to every ?")
	}
	columns := k.columns.Get().(*columns)
	columns.ctx = ctx
	defer columns.putBack()
	in := columns.input(args)
	in.Model = model.FromContext(ctx)
	if told != nil {
		in.Hints, in.Part = &told.route, told.part
	}
	var ex *plan.Execution
	err := errOtherForm
	if first == formMerged {
		ex, err = k.rewritten(ctx, s, in)
	}
	if errors.Is(err, fault.ErrUnsupported) && columns.err == nil {
		ex, err = k.otherwise(ctx, told, s, columns, in, first, err)
	}
	if columns.err != nil { // what was planned without the columns does not count
		return nil, columns.err
	}
	if err == nil && s.explained != nil {
		err = s.explained.Explain(ex)
	}
	if s.commented {
		if err != nil {
			return k.planWhole(ctx, told, text, args, first)
		}
		k.recomment(ex, text)
	}
	if err == nil && len(args) > 0 && len(ex.Units) > 1 && ex.First == nil {
		k.keepProtocol(ex)
	}
	if err == nil && len(ex.Units) > 1 {
		ex.Together = k.countsOnly(s, ex)
	}
	if err == nil && len(args) > k.dialect.MaxMarkers {
		err = k.checkMarkers(ex)
	}
	return ex, err
}

// errOtherForm stands for the refusal of a form that is not tried.
var errOtherForm = fault.Unsupported("this statement", "there is no other form to answer it in", "")

// otherwise plans a statement that no merge of its nodes' units answers in the other
// forms, from first on. refusal is the error where there is none.
func (k *Kernel) otherwise(ctx context.Context, told *hints, s *statement, columns *columns, in route.Input, first form, refusal error) (*plan.Execution, error) {
	if first <= formUnited {
		if ex, err := s.united(in, k.props.MaxUnionBranches); ex != nil && err == nil {
			return ex, nil
		}
	}
	stmt := s.program.Statement()
	if first <= formUnioned && stmt.Union != nil && columns.err == nil {
		ex, err := k.unioned(ctx, told, s, in)
		if !errors.Is(err, fault.ErrUnsupported) {
			return ex, err
		}
		refusal = err
	}
	if first <= formPreceded && len(stmt.Subqueries) > 0 && s.explained == nil && columns.err == nil {
		if ex, err := k.preceded(ctx, told, s, in); ex != nil && err == nil {
			return ex, nil
		}
	}
	if columns.err == nil {
		if ex, err := k.gathered(s, in); ex != nil && err == nil {
			return ex, nil
		}
	}
	return nil, refusal
}

// checkMarkers refuses a unit that the server would not prepare.
func (k *Kernel) checkMarkers(ex *plan.Execution) error {
	for i := range ex.Units {
		u := &ex.Units[i]
		if n := len(u.Args); n > k.dialect.MaxMarkers && (!k.dialect.IsMySQL() || k.sources[u.DataSource].preparesArguments()) {
			return fault.Unsupported("arguments", fmt.Sprintf("%d parameter markers for data source %s: a statement may have %d, and only the rows of VALUES are sent in parts", n, u.DataSource, k.dialect.MaxMarkers),
				"split the list into several statements, or set interpolateParams=true in the DSN")
		}
	}
	return nil
}

// planWhole plans a text with its comments, after the plan without them has
// failed: an error quotes the text as it was typed.
func (k *Kernel) planWhole(ctx context.Context, told *hints, text string, args []any, first form) (*plan.Execution, error) {
	s, err := k.compile(ctx, text)
	if err != nil {
		return nil, err
	}
	return k.routedIn(ctx, told, s, text, args, first)
}

// keepProtocol lets the units that no argument of the statement is left to be
// sent in the same way as those that have some.
func (k *Kernel) keepProtocol(ex *plan.Execution) {
	for i := range ex.Units {
		u := &ex.Units[i]
		u.Prepare = len(u.Args) == 0 && k.sources[u.DataSource].preparesArguments()
	}
}

// rewritten routes one execution, with generated keys and the time of the
// statement where it needs them, and rewrites it.
func (k *Kernel) rewritten(ctx context.Context, s *statement, in route.Input) (ex *plan.Execution, err error) {
	defer recovered(&err)
	result, err := s.program.Route(in)
	if err != nil {
		return nil, err
	}
	if !result.NeedsKeys() && !result.NeedsNow {
		ex, err = s.rewrite.Rewrite(result, in.Args, in.Meta, in.Describe)
		if err == nil && ex.Numbering != nil && ex.Clock {
			at, err := k.now(ctx)
			if err != nil {
				return nil, err
			}
			ex.Now = at.stamp
		}
		return ex, err
	}
	return k.supplied(ctx, s, in, result)
}

// supplied routes an INSERT again with what its first result asked for.
func (k *Kernel) supplied(ctx context.Context, s *statement, in route.Input, result *route.Result) (ex *plan.Execution, err error) {
	var at instant
	for result.NeedsKeys() || result.NeedsNow {
		if result.NeedsKeys() {
			in.Keys, err = nextKeys(ctx, result)
		} else {
			at, err = k.now(ctx)
			in.Now = at.wall
		}
		if err != nil {
			return nil, err
		}
		if result, err = s.program.Route(in); err != nil {
			return nil, err
		}
	}
	if ex, err = s.rewrite.Rewrite(result, in.Args, in.Meta, in.Describe); err != nil {
		return nil, err
	}
	if len(result.Keys) > 0 {
		ex.LastInsertID, _ = result.Keys[0].(int64)
	}
	if at.stamp != "" {
		ex.Clock, ex.Now = true, at.stamp
	}
	return ex, nil
}

// united plans what could not be put together from several units as one unit of
// one data source, nil where it cannot.
func (s *statement) united(in route.Input, branches int) (ex *plan.Execution, err error) {
	defer recovered(&err)
	result, err := s.program.RouteUnited(&in, branches)
	if result == nil || err != nil {
		return nil, err
	}
	return s.rewrite.Rewrite(result, in.Args, in.Meta, in.Describe)
}

// recovered makes an error of a panic in the planner, which no statement of a
// user's may cause: nothing has been sent.
func recovered(err *error) {
	if p := recover(); p != nil {
		what := fmt.Sprintf("%T", p) // the value may hold an argument
		if e, ok := p.(runtime.Error); ok {
			what = e.Error()
		}
		*err = fault.Unsupported("this statement", "the planner failed on it: "+what, "please report it; rewrite it in another way meanwhile")
	}
}

func nextKeys(ctx context.Context, result *route.Result) ([]any, error) {
	keys := make([]any, len(result.KeyRows))
	for i := range keys {
		var key any
		var err error
		if owners := result.KeyTable.Key.Owners; owners != nil {
			key, err = owners.NextFor(ctx, result.Owners[i])
		} else {
			key, err = result.KeyTable.Key.Generator.Next(ctx)
		}
		if err != nil {
			return nil, err
		}
		keys[i] = key
	}
	return keys, nil
}

// columns gives the planning of one execution the columns of the logical tables
// it asks for, and keeps the first error. It is used again for another one,
// since every statement needs it.
type columns struct {
	kernel *Kernel
	meta   route.Meta      // the method table
	weigh  route.Weigher   // the method weight
	ask    route.Describer // the method describe

	ctx context.Context
	err error
	// The answer given last: the rows of an INSERT ask for the same again.
	logical string
	known   *value.Table
}

func newColumns(k *Kernel) *columns {
	c := &columns{kernel: k}
	c.meta, c.weigh, c.ask = c.table, c.weight, c.describe
	return c
}

// input returns the input of an execution that has only arguments.
func (c *columns) input(args []any) route.Input {
	return route.Input{Args: args, Meta: c.meta, Weigh: c.weigh, Describe: c.ask}
}

func (c *columns) weight(column *value.Column, text string) (string, error) {
	return c.kernel.weigh(c.ctx, column, text)
}

func (c *columns) table(logical string) *value.Table {
	if c.err != nil {
		return nil
	}
	if c.known != nil && c.logical == logical {
		return c.known
	}
	t, err := c.kernel.columnsOf(c.ctx, logical)
	if err != nil {
		c.err = err
		return nil
	}
	c.logical, c.known = logical, t
	return t
}

func (c *columns) putBack() {
	c.ctx, c.err, c.logical, c.known = nil, nil, "", nil
	c.kernel.columns.Put(c)
}

// columnsOf returns the columns of a logical table, read from the first of its
// data sources that answers. A table that does not exist yet has none: the
// server says so itself when the statement reaches it.
func (k *Kernel) columnsOf(ctx context.Context, logical string) (*value.Table, error) {
	if t, ok := k.meta.Get(logical); ok {
		return t, nil
	}
	rules, sharded := k.rules.Table(logical)
	var nodes []rule.Node
	if sharded {
		for _, source := range rules.Sources() {
			i := slices.IndexFunc(rules.Nodes, func(n rule.Node) bool { return n.DataSource == source })
			nodes = append(nodes, rules.Nodes[i])
		}
	} else {
		for _, source := range k.rules.DataSources {
			nodes = append(nodes, rule.Node{DataSource: source, Table: logical})
		}
	}
	var first error
	for i := range nodes {
		t, err := k.meta.Table(ctx, nodes[i].DataSource, nodes[i].Table, logical)
		switch {
		case err == nil && sharded:
			k.warnUnique(ctx, rules, nodes[i])
			k.warnCounter(ctx, rules, t)
			return t, k.checkColumns(rules, t)
		case err == nil:
			return t, nil
		case errors.Is(err, metadata.ErrNoTable):
		case errors.Is(err, fault.ErrConfig), ctx.Err() != nil:
			return nil, err
		case first == nil:
			first = err
		}
	}
	if first == nil && sharded {
		k.warnUnknown(ctx, logical)
	}
	return nil, first
}

// warnUnknown tells, once, that nothing is known of a table's columns.
func (k *Kernel) warnUnknown(ctx context.Context, logical string) {
	if k.warn == nil {
		return
	}
	if _, told := k.unknown.LoadOrStore(logical, true); !told {
		k.warn(ctx, "sharding: no data source shows the columns of table "+logical+": sharding values are taken as they come until one does; "+
			"create the table, or let the data sources' user see it in information_schema")
	}
}

// keyColumn is where a table's rule names its generated column.
const keyColumn = "keyGenerate.column"

// checkColumns finds a rule on columns that the table does not have. The columns
// are not kept then, so that the next statement finds it as well.
func (k *Kernel) checkColumns(rules *rule.Table, table *value.Table) error {
	var names []string
	for i := range table.Columns {
		names = append(names, table.Columns[i].Name)
	}
	var errs []error
	check := func(place, column string) {
		c, ok := table.Column(column)
		switch {
		case !ok:
			remedy := nearest.HintOrList(column, names)
			if place == keyColumn {
				remedy += "; where it is that of sharding.defaults, move it to the tables that have the column"
			}
			errs = append(errs, &fault.ConfigError{Path: rules.Path + "." + place, Reason: fmt.Sprintf("the table has no column %q", column), Remedy: remedy})
		case c.Generated:
			errs = append(errs, &fault.ConfigError{
				Path: rules.Path + "." + place, Reason: fmt.Sprintf("the server computes the values of column %q, which cannot be foreseen", column),
				Remedy: "use a column that is given its values",
			})
		}
	}
	for _, s := range []*rule.Strategy{rules.Database, rules.Tables} {
		if s == nil {
			continue
		}
		for _, column := range s.Columns {
			check(s.ColumnsPath(), column)
		}
	}
	if rules.Key != nil {
		check(keyColumn, rules.Key.Column)
		if rules.Key.Owner != "" {
			check("keyGenerate.generator", rules.Key.Owner)
		}
	}
	if len(errs) > 0 {
		k.meta.Drop(rules.Name)
	}
	return errors.Join(errs...)
}
