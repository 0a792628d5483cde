package rewrite_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/rewrite"
	"github.com/gormshard/sharding/shardkernel/internal/route"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/internal/value"
	"github.com/gormshard/sharding/shardkernel/keygen"
)

// pipeline runs statements from text to units without sending anything.
type pipeline struct {
	set     *rule.Set
	meta    route.Meta
	dialect *dialect.Dialect
	keys    *counter
	hints   *route.Hints
	weigh   route.Weigher
	// describe answers in the place of a server; nil where nobody is asked.
	describe route.Describer
	gathers  bool // what else is refused may be gathered
	precedes bool // subqueries may run first
}

func (p *pipeline) input(args []any) route.Input {
	return route.Input{Args: args, Meta: p.meta, Hints: p.hints, Weigh: p.weigh}
}

func newPipeline(t testing.TB, cfg *config.Config, meta route.Meta) *pipeline {
	t.Helper()
	generators, keys := keygen.NewRegistry(), new(counter)
	if err := generators.Register("COUNTER", func(keygen.Props) (keygen.Generator, error) { return keys, nil }); err != nil {
		t.Fatal(err)
	}
	set, err := rule.Compile(cfg, algorithm.NewRegistry(), generators)
	if err != nil {
		t.Fatalf("rules: %v", err)
	}
	return &pipeline{set: set, meta: meta, dialect: dialect.MySQL, keys: keys}
}

// counter is a generator whose keys are easy to recognise.
type counter struct{ last int64 }

func (c *counter) Next(context.Context) (any, error) {
	c.last++
	return 9000 + c.last, nil
}

// compiled is a statement that is ready to be run with arguments.
type compiled struct {
	pipeline *pipeline
	program  *route.Program
	template *rewrite.Template
	result   *route.Result // of the last run
}

func (p *pipeline) compile(sql string) (*compiled, error) {
	stmt, err := parse.Parse(sql, p.set, p.dialect)
	if err != nil {
		return nil, err
	}
	program, err := route.Compile(stmt, p.set, value.Converter{})
	if err != nil {
		return nil, err
	}
	return &compiled{pipeline: p, program: program, template: rewrite.Compile(program, rewrite.Server{Dialect: p.dialect, DivPrecision: 4, Returning: true, MariaDB: true})}, nil
}

// run plans one execution as the kernel does: what cannot be put together from
// several units may be one unit of one data source.
func (c *compiled) run(args []any) (*plan.Execution, error) {
	e, err := c.scattered(args)
	if !errors.Is(err, fault.ErrUnsupported) {
		return e, err
	}
	in := c.pipeline.input(args)
	if result, failed := c.program.RouteUnited(&in, 64); result != nil && failed == nil {
		c.result = result
		return c.template.Rewrite(result, args, c.pipeline.meta, c.pipeline.describe)
	}
	if c.program.Statement().Union != nil {
		c.result = new(route.Result) // the units are those of the branches
		if e, err = c.template.Union(args, c.pipeline.meta, c.pipeline.branch); !errors.Is(err, fault.ErrUnsupported) {
			return e, err
		}
	}
	if c.pipeline.precedes {
		if e, failed := c.preceded(args); e != nil && failed == nil {
			c.result = new(route.Result) // the units are those of another text
			return e, nil
		}
	}
	if !c.pipeline.gathers {
		return nil, err
	}
	if g, failed := c.program.RouteGathered(&in); g != nil && failed == nil {
		if e := c.template.Gather(g, args); e != nil {
			c.result = gatheredResult(g)
			return e, nil
		}
	}
	return nil, err
}

// preceded plans the subqueries that run first and, as long as nothing is known of
// their rows, the statement behind them.
func (c *compiled) preceded(args []any) (*plan.Execution, error) {
	p, err := c.template.Precede(args, c.pipeline.meta, c.pipeline.branch)
	if p == nil || err != nil {
		return nil, err
	}
	outer, err := c.pipeline.compile(p.Text)
	if err != nil {
		return nil, err
	}
	e, err := outer.scattered(p.Args)
	if err != nil {
		return nil, err
	}
	e.First = &plan.First{Subqueries: p.Subqueries}
	for i := range e.Units {
		u := &e.Units[i]
		for n, arg := range u.Args {
			if found, ok := arg.(*plan.Found); ok {
				u.Args[n] = "«" + found.SQL + "»"
			}
		}
	}
	return e, nil
}

// gatheredResult is what a gathering comes to for the statement's own unit.
func gatheredResult(g *route.Gathering) *route.Result {
	u := route.Unit{DataSource: g.Home, Names: slices.Clone(g.Names)}
	for _, t := range g.Tables {
		for _, reference := range t.References {
			u.Names[reference] = t.Name
		}
	}
	return &route.Result{Units: []route.Unit{u}}
}

var (
	gatheredTable  = regexp.MustCompile("(?:`[^`]*_gatheredX*_step` AS .*?, )?`[^`]*_gatheredX*` AS \\(SELECT .*? LIMIT 18446744073709551615\\)")
	gatheredTables = regexp.MustCompile(`\x00(?:, \x00)*`)
)

// withoutGather returns an execution whose own unit is the statement's alone: the
// rows of other tables, and their tables, are left out.
func withoutGather(e *plan.Execution) *plan.Execution {
	if e.Gather == nil {
		return e
	}
	alone := *e
	u := e.Units[0]
	u.SQL = gatheredTables.ReplaceAllString(gatheredTable.ReplaceAllString(u.SQL, "\x00"), "\x00")
	if rest, ok := strings.CutPrefix(u.SQL, "WITH \x00 "); ok {
		u.SQL = rest
	}
	if rest, ok := strings.CutPrefix(u.SQL, "WITH RECURSIVE \x00 "); ok {
		u.SQL = rest
	}
	u.SQL = strings.Replace(u.SQL, " \x00,", "", 1)
	u.Args = u.Args[len(e.Gather.Tables):]
	alone.Units = []plan.Unit{u}
	return &alone
}

// Template returns what a branch is rewritten by.
func (c *compiled) Template() *rewrite.Template { return c.template }

// Plan plans one execution of a branch.
func (c *compiled) Plan(args []any) (*plan.Execution, error) { return c.run(args) }

// branch prepares a branch of a UNION.
func (p *pipeline) branch(text string) (rewrite.Branch, error) {
	c, err := p.compile(text)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (c *compiled) scattered(args []any) (*plan.Execution, error) {
	in := c.pipeline.input(args)
	result, err := c.program.Route(in)
	if err != nil {
		return nil, err
	}
	if result.NeedsKeys() {
		for i := range result.KeyRows {
			key, err := nextKey(result, i)
			if err != nil {
				return nil, err
			}
			in.Keys = append(in.Keys, key)
		}
		if result, err = c.program.Route(in); err != nil {
			return nil, err
		}
	}
	if result.NeedsNow {
		if result, err = c.program.Route(route.Input{Args: args, Meta: c.pipeline.meta, Now: "2026-01-02 03:04:05.678901"}); err != nil {
			return nil, err
		}
	}
	c.result = result
	return c.template.Rewrite(result, args, c.pipeline.meta, c.pipeline.describe)
}

func nextKey(result *route.Result, row int) (any, error) {
	if owners := result.KeyTable.Key.Owners; owners != nil {
		return owners.NextFor(context.Background(), result.Owners[row])
	}
	return result.KeyTable.Key.Generator.Next(context.Background())
}

// run takes a statement the whole way. One that names no configured table is
// not parsed, as in the kernel.
func (p *pipeline) run(sql string, args []any) (*plan.Execution, error) {
	outline, err := parse.Scan(sql, p.set, p.dialect)
	if err != nil {
		return nil, err
	}
	if outline.Asks {
		if ex, err := p.ask(sql, args, outline); ex != nil || err != nil {
			return ex, err
		}
	}
	if !outline.Named {
		return &plan.Execution{
			Kind: plan.KindPassThrough, Reason: "no sharded and no broadcast table",
			Units: []plan.Unit{{DataSource: p.set.DefaultDataSource, SQL: sql, Args: args}},
		}, nil
	}
	if outline.Several {
		return p.batch(sql, args)
	}
	c, err := p.compile(sql)
	if err != nil {
		return nil, err
	}
	return c.run(args)
}

// batch takes each of several statements the whole way.
func (p *pipeline) batch(sql string, args []any) (*plan.Execution, error) {
	parts, err := parse.Split(sql, p.dialect)
	if err != nil {
		return nil, err
	}
	var statements []*plan.Execution
	for _, part := range parts {
		e, err := p.run(part.Text, args[:part.Markers:part.Markers])
		if err != nil {
			return nil, err
		}
		args = args[part.Markers:]
		statements = append(statements, e)
	}
	return plan.Batch(statements), nil
}

// ask takes a statement about tables the whole way; it returns nil for any other.
func (p *pipeline) ask(sql string, args []any, outline parse.Outline) (*plan.Execution, error) {
	if e, ok := parse.Explained(sql, p.dialect); ok && outline.Named {
		ex, err := p.run(sql[e.End:], args)
		if err != nil {
			return nil, err
		}
		c, err := p.compile(sql[e.End:])
		if err != nil {
			return nil, err
		}
		explanation := rewrite.Explanation{Prefix: sql[:e.End], Runs: e.Runs, Stmt: c.program.Statement(), Rules: p.set}
		return ex, explanation.Explain(ex)
	}
	q := parse.Inquire(sql, outline.Named, p.dialect)
	if q == nil {
		return nil, nil
	}
	answer, err := route.Inquire(q, p.set, args, func(source string) (string, error) { return "db_" + source, nil })
	if err != nil {
		return nil, err
	}
	for i := range answer.Asking { // every table has a foreign key fk_user
		v := &answer.Asking[i].View
		for _, t := range v.Tables {
			if name := rule.ConstraintName("fk_user", t.Logical, t.Actual); q.NamesConstraints() && name != "fk_user" {
				v.Constraints = append(v.Constraints, route.Naming{Logical: "fk_user", Actual: name})
			}
		}
	}
	return rewrite.Inquire(q, answer, args, p.dialect), nil
}

// columnOf makes the metadata of a column out of its type as a CREATE TABLE
// would have it: "varchar(20) binary" is text with a binary collation.
func columnOf(t testing.TB, name, typ string) value.Column {
	t.Helper()
	c := value.Column{Name: name}
	c.Type, _, _ = strings.Cut(strings.ReplaceAll(typ, ".", ","), " ")
	c.Unique = strings.HasSuffix(typ, " unique")
	c.Unindexed = strings.HasSuffix(typ, " unindexed")
	word, _, _ := strings.Cut(strings.ReplaceAll(typ, "(", " "), " ")
	switch word {
	case "bigint":
		c.Class, c.Bits = value.ClassInteger, 64
	case "int":
		c.Class, c.Bits = value.ClassInteger, 32
	case "decimal":
		c.Class, c.Precision, c.Scale = value.ClassDecimal, 10, 2
		if _, err := fmt.Sscanf(strings.Replace(typ, ".", ",", 1), "decimal(%d,%d)", &c.Precision, &c.Scale); err != nil && typ != "decimal" {
			t.Fatalf("test: %q: %v", typ, err)
		}
	case "double", "float":
		c.Class = value.ClassFloat
	case "datetime":
		c.Class = value.ClassDateTime
	case "timestamp":
		c.Class, c.Scale = value.ClassTimestamp, 6
	case "enum":
		c.Class = value.ClassEnum
	case "bit":
		c.Class = value.ClassBit
	case "json", "uuid":
		c.Class = value.ClassOther
	case "varchar":
		c.Class, c.Length = value.ClassText, 64
		c.Collation = "utf8mb4_bin"
		switch {
		case strings.HasSuffix(typ, "binary"):
			c.Collation = "binary"
		case strings.HasSuffix(typ, "unicode"):
			c.Collation, c.WeightRefused = "utf8mb4_unicode_520_ci", "its weights have several levels"
		default:
			c.Collation, c.PadSpace, c.SpaceWeight = "utf8mb4_general_ci", true, []byte{0, ' '}
		}
	default:
		t.Fatalf("test: no column type %q", typ)
	}
	c.AutoIncrement = strings.HasSuffix(typ, "auto_increment")
	c.OnUpdate = strings.HasSuffix(typ, "on update")
	c.Clocked, c.Random = c.OnUpdate || strings.HasSuffix(typ, "clocked"), strings.HasSuffix(typ, "random")
	return c
}

func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

// printExecution writes an execution for people and for golden files.
func printExecution(e *plan.Execution) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", e.Kind)
	if e.Write {
		b.WriteString(" write")
	}
	if e.DDL {
		b.WriteString(" ddl")
	}
	if e.Query {
		b.WriteString(" query")
	}
	fmt.Fprintf(&b, " — %s\n", e.Reason)
	if e.First != nil {
		for i := range e.First.Subqueries {
			fmt.Fprintf(&b, "first: %s", strings.ReplaceAll(strings.TrimSuffix(printExecution(&e.First.Subqueries[i].Rows), "\n"), "\n", "\n  "))
			b.WriteString("\n")
		}
	}
	if e.Gather != nil {
		for i := range e.Gather.Tables {
			for _, u := range e.Gather.Tables[i].Rows.Units {
				fmt.Fprintf(&b, "rows of %s: %s %s", e.Gather.Tables[i].Table, u.DataSource, u.SQL)
				if len(u.Args) > 0 {
					fmt.Fprintf(&b, "  %v", u.Args)
				}
				b.WriteString("\n")
			}
		}
		fmt.Fprintf(&b, "header: %s %s  %v\n", e.Gather.Header.DataSource, e.Gather.Header.SQL, e.Gather.Header.Args)
	}
	for _, u := range e.Units {
		fmt.Fprintf(&b, "%s %s", u.DataSource, u.SQL)
		if len(u.Args) > 0 {
			fmt.Fprintf(&b, "  %v", u.Args)
		}
		b.WriteString("\n")
	}
	if e.InTurn {
		b.WriteString("in turn\n")
	}
	if e.Clock {
		b.WriteString("one clock\n")
	}
	if n := e.Numbering; n != nil {
		numbers := make([]any, len(n.Rows))
		for i := range numbers {
			numbers[i] = int64(501 + i)
		}
		for i, u := range append([]plan.Unit{n.First}, n.Rest(numbers)[:1]...) {
			fmt.Fprintf(&b, "%s %s %s  %v\n", [...]string{"first", "then"}[i], u.DataSource, u.SQL, u.Args)
		}
	}
	if m := e.Merge; m != nil {
		b.WriteString(printMerge(m))
	}
	if e.LastInsertID != 0 {
		fmt.Fprintf(&b, "last insert id %d\n", e.LastInsertID)
	}
	return b.String()
}

// operations are the names of plan.Op, from OpAdd on.
var operations = strings.Fields("+ - * / div % neg = <=> <> < <= > >= and or xor not null true false between in coalesce nullif case round truncate floor ceiling abs")

func printExpr(x *plan.Expr) string {
	switch x.Op {
	case plan.OpColumn:
		return printRef(x.Column)
	case plan.OpConstant:
		return fmt.Sprint(x.Const)
	}
	var b strings.Builder
	b.WriteString("(" + operations[x.Op-plan.OpAdd])
	if x.Rounded {
		b.WriteString("≈")
	}
	for _, kid := range x.Kids {
		b.WriteString(" " + printExpr(kid))
	}
	return b.String() + ")"
}

func printMerge(m *plan.Merge) string {
	var b strings.Builder
	b.WriteString("merge " + [...]string{"iterate", "ordered", "group", "rows", "union"}[m.Kind])
	if m.Kind == plan.MergeUnion {
		fmt.Fprintf(&b, " header=%d", m.Header)
	}
	if m.DistinctBranches > 0 {
		fmt.Fprintf(&b, " distinct=%d", m.DistinctBranches)
	}
	if m.Sorted > 0 {
		fmt.Fprintf(&b, " sorted=%d", m.Sorted)
	}
	for _, n := range m.Names {
		fmt.Fprintf(&b, " names(%s)", printRef(n.Column))
	}
	if m.Broadcast {
		b.WriteString(" broadcast")
	}
	if m.Derived > 0 {
		fmt.Fprintf(&b, " derived=%d", m.Derived)
	}
	for _, g := range m.GroupBy {
		fmt.Fprintf(&b, " by %s%s", printRef(g.Column), printText(g.Text))
	}
	for _, a := range m.Aggregates {
		name := [...]string{"count", "sum", "min", "max", "avg", "bit_and", "bit_or", "bit_xor"}[a.Func]
		fmt.Fprintf(&b, " %s(%s%s", name, printRef(a.Column), printText(a.Text))
		if a.Func == plan.AggregateAvg {
			fmt.Fprintf(&b, " count=%s sum=%s", printRef(a.Count), printRef(a.Sum))
		}
		for _, g := range a.Distinct {
			fmt.Fprintf(&b, " distinct %s%s", printRef(g.Column), printText(g.Text))
		}
		if a.Adjacent {
			b.WriteString(" adjacent")
		}
		b.WriteString(")")
	}
	for _, c := range m.Computed {
		fmt.Fprintf(&b, " %s=%s", printRef(c.Column), printExpr(c.Expr))
	}
	if m.Having != nil {
		b.WriteString(" having " + printExpr(m.Having))
	}
	for _, s := range m.OrderBy {
		fmt.Fprintf(&b, " order %s", printRef(s.Column))
		if s.Desc {
			b.WriteString(" desc")
		}
		b.WriteString(printText(s.Text))
	}
	if d := m.Distinct; d != nil {
		b.WriteString(" distinct")
		if d.Sorted {
			b.WriteString(" sorted")
		}
		for _, g := range d.Keys {
			fmt.Fprintf(&b, " %s%s", printRef(g.Column), printText(g.Text))
		}
	}
	if m.HasLimit {
		fmt.Fprintf(&b, " limit %d,%d", m.Offset, m.Count)
	}
	if m.Kind == plan.MergeRows {
		fmt.Fprintf(&b, " %v", m.Rows)
	}
	b.WriteString("\n")
	return b.String()
}

func printRef(c plan.ColumnRef) string {
	switch {
	case c.Name != "":
		return c.Name
	case c.FromEnd:
		return fmt.Sprintf("-%d", c.Index+1)
	}
	return fmt.Sprint(c.Index + 1)
}

func printText(t plan.TextOrder) string {
	switch {
	case t.Refuse != "":
		return " [no text: " + t.Refuse + "]"
	case t.HasWeight:
		pad := ""
		if t.PadSpace {
			pad = " padded"
		}
		return " [weight " + printRef(t.Weight) + pad + "]"
	}
	return ""
}
