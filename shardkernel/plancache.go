package shardkernel

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/maypok86/otter/v2"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/rewrite"
	"github.com/gormshard/sharding/shardkernel/internal/route"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// maxCachedText is the length of the longest text whose plan is kept, in bytes.
const maxCachedText = 16 << 10

// statement is what is known of a text under one rule set: everything that does
// not depend on arguments. It is immutable and shared.
type statement struct {
	verb string
	read bool // shows no sign of writing, locking or session state
	ddl  bool // defines tables, known of a text that is not parsed
	uses parse.Use
	// command is set for what no table routes; nothing else is then.
	command *parse.Command
	// source is where a text goes that concerns no configured table, or that a
	// hint sends somewhere as it is, and kind and reason say why; empty for
	// others.
	source  string
	kind    plan.Kind
	reason  string
	hints   *hints // those of its comments
	facts   route.Facts
	program *route.Program
	rewrite *rewrite.Template
	// inquiry is set for a statement that asks about tables, and explained for one
	// that stands behind EXPLAIN.
	inquiry   *inquiry
	explained *rewrite.Explanation
	// commented is true for the plan of a text whose comments have become
	// placeholders; those of the text at hand are put back into what it becomes.
	commented bool
	// batch holds the statements of a text with several; nil for others.
	batch []batchPart
}

// planCache keeps statements by text without its comments, under a bound on
// their size.
type planCache struct {
	cache    *otter.Cache[string, *statement]
	compiled atomic.Int64
}

// planWeight estimates the memory of a plan: the text is kept some times over,
// beside the facts read from it, and once more for each node it was sent to.
func planWeight(text string, s *statement) uint32 {
	copies := 12
	if s.program != nil {
		copies += min(s.program.Texts(), rewrite.MaxTexts)
	}
	weight := uint32(2048 + copies*len(text))
	for i := range s.batch {
		weight += planWeight(s.batch[i].text, s.batch[i].statement)
	}
	return weight
}

func newPlanCache(bytes int64) *planCache {
	return &planCache{cache: otter.Must(&otter.Options[string, *statement]{
		MaximumWeight: uint64(bytes),
		Weigher:       planWeight,
	})}
}

// statement returns the plan of a text, made once however many ask at the same
// time, and whatever ordinary comments stand in it. A text that cannot be planned
// is not remembered.
func (k *Kernel) statement(ctx context.Context, text string) (*statement, error) {
	if s, ok := k.plans.cache.GetIfPresent(text); ok { // no text with ordinary comments is kept
		return s, nil
	}
	if len(text) > maxCachedText {
		return k.compile(ctx, text)
	}
	key, comments := parse.Uncomment(text, k.dialect)
	if comments != nil {
		if s, ok := k.plans.cache.GetIfPresent(key); ok {
			return s, nil
		}
	}
	c, err := k.compiler(ctx)
	if err != nil {
		return nil, err
	}
	// Compiling waits for nothing, and must not fail all who wait for it when
	// one of their contexts ends.
	s, err := k.plans.cache.Get(context.WithoutCancel(ctx), key, otter.LoaderFunc[string, *statement](
		func(_ context.Context, key string) (*statement, error) {
			k.plans.compiled.Add(1)
			s, err := c.compile(key)
			if err == nil {
				s.commented = comments != nil
			}
			return s, err
		}))
	if err != nil && comments != nil {
		return c.compile(text) // the error is to show the text, not the key
	}
	return s, err
}

// compile makes the plan of a text as it is.
func (k *Kernel) compile(ctx context.Context, text string) (*statement, error) {
	c, err := k.compiler(ctx)
	if err != nil {
		return nil, err
	}
	return c.compile(text)
}

// recomment puts the comments of a text back into what it has become.
func (k *Kernel) recomment(ex *plan.Execution, text string) {
	_, comments := parse.Uncomment(text, k.dialect)
	ex.EachText(func(sent string) string { return parse.Recomment(sent, comments) })
}

// compiler is what a plan depends on beside its text.
type compiler struct {
	rules   *rule.Set // as the servers compare table names
	convert value.Converter
	server  rewrite.Server
}

// compile reads a text: its tokens, and, if they name a configured table, its
// syntax.
func (c *compiler) compile(text string) (s *statement, err error) {
	defer recovered(&err)
	told, err := commentHints(text, c.rules, c.server.Dialect)
	if err != nil {
		return nil, err
	}
	if s, err := direct(told, text, c.rules, c.server.Dialect); s != nil || err != nil {
		if s != nil {
			s.hints = told
		}
		return s, err
	}
	outline, err := parse.Scan(text, c.rules, c.server.Dialect)
	if err != nil {
		return nil, err
	}
	s = &statement{verb: outline.Verb, read: outline.Read, uses: outline.Uses, hints: told}
	if s.command, err = c.command(text, outline.Verb); s.command != nil || err != nil {
		return s, err
	}
	if outline.Asks {
		if known, err := c.inquire(text, s, outline); known || err != nil {
			return s, err
		}
	}
	if c.server.Dialect == dialect.SQLite && !outline.Several {
		if q := parse.InquireMaster(text, dialect.SQLite); q != nil {
			s.inquiry = &inquiry{asked: q, rules: c.rules}
			return s, nil
		}
	}
	if !outline.Named {
		s.source, s.kind, s.reason = c.rules.DefaultDataSource, plan.KindPassThrough, "the statement names no configured table"
		s.ddl = parse.Defines(text, outline.Verb, c.server.Dialect)
		if outline.Several {
			err = c.refuseCommandInside(text)
		}
		return s, err
	}
	if err := refuseNamed(s.uses); err != nil {
		return nil, err
	}
	if outline.Several {
		s.batch, err = c.batch(text)
		return s, err
	}
	stmt, err := parse.Parse(text, c.rules, c.server.Dialect)
	if err != nil && outline.Read && c.whole(text) {
		s.source, s.kind, s.reason = c.rules.DefaultDataSource, plan.KindPassThrough, "all tables are in the one data source, under their logical names"
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	if s.program, err = route.Compile(stmt, c.rules, c.convert); err != nil {
		return nil, err
	}
	s.facts = s.program.Facts()
	s.rewrite = rewrite.Compile(s.program, c.server)
	return s, nil
}

// whole reports whether the one data source that there is has all tables of a text
// under the names that the text gives them, so that it can be sent as it is.
func (c *compiler) whole(text string) bool {
	if len(c.rules.DataSources) != 1 || c.rules.Schema != "" && parse.HoldsName(strings.ToLower(text), strings.ToLower(c.rules.Schema)) {
		return false
	}
	for _, name := range parse.ConfiguredNames(text, c.rules, c.server.Dialect) {
		if t, sharded := c.rules.Table(name); sharded && (len(t.Nodes) != 1 || t.Nodes[0].Table != name) {
			return false
		}
	}
	return true
}

// compiler returns what is known of the rules, the clients and the servers.
func (k *Kernel) compiler(ctx context.Context) (compiler, error) {
	c := compiler{rules: k.folded, convert: k.convert, server: rewrite.Server{Dialect: k.dialect}}
	if k.dialect.FoldTables { // which has no settings
		c.server.Returning = true
		return c, nil
	}
	settings, err := k.settings(ctx)
	if err != nil {
		return compiler{}, err
	}
	c.server.Dialect = settings.Dialect
	c.convert.Fractions = settings.Fractions()
	c.server.DivPrecision = settings.DivPrecisionIncrement
	c.server.SkipsTimes = k.convert.Location != nil && k.convert.Location.String() != "UTC"
	c.server.Interpolates = !k.sources[k.rules.DefaultDataSource].preparesArguments()
	c.server.Returning = settings.Returning()
	c.server.MariaDB = settings.Flavour == "MariaDB"
	if settings.LowerCaseTableNames == 0 {
		c.rules = k.rules
	}
	return c, nil
}

func passThrough(s *statement, text string, args []any) *plan.Execution {
	return &plan.Execution{
		Kind:   s.kind,
		Reason: s.reason,
		Units:  []plan.Unit{{DataSource: s.source, SQL: text, Args: args}},
		Write:  !s.read,
		DDL:    s.ddl,
	}
}
