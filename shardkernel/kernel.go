// Package shardkernel is the sharding kernel, free of GORM: it parses, routes,
// rewrites, executes and merges. The packages below it are its stages; package
// driver makes it a database/sql driver.
package shardkernel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/execute"
	"github.com/gormshard/sharding/shardkernel/internal/memory"
	"github.com/gormshard/sharding/shardkernel/internal/metadata"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/route"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/internal/value"
	"github.com/gormshard/sharding/shardkernel/keygen"
)

type (
	// Rules is a compiled rule set.
	Rules = rule.Set
	// Execution is a routed and rewritten statement.
	Execution = plan.Execution
	// Unit is one statement for one data source.
	Unit = plan.Unit
	// UnitTrace reports one unit that was sent to a data source.
	UnitTrace = plan.UnitTrace
	// Tracer is called after every unit.
	Tracer = plan.Tracer
)

// Compile validates and compiles a configuration. Every fault is reported at
// once, as fault.ConfigErrors joined.
func Compile(cfg *config.Config, algorithms *algorithm.Registry, generators *keygen.Registry) (*Rules, error) {
	return rule.Compile(cfg, algorithms, generators)
}

// Options are what a kernel needs beside rules and sources.
type Options struct {
	// Props holds the limits; 0 means the default of each.
	Props config.Props
	// ImplicitWrites puts a write over several nodes outside a transaction into
	// one of its own.
	ImplicitWrites bool
	// IDLease says which data source key generators keep leases and counters in.
	IDLease config.IDLease
	// BroadcastCheck says how CheckBroadcast reports.
	BroadcastCheck config.BroadcastCheck
	// Before is the kernel that this one is to take the place of: what it knows of
	// data sources and tables that stay the same, and its key generators, are taken
	// over. Nil for none. A kernel that is given up before it was in force does no
	// harm.
	Before *Kernel
	// Trace is called after every unit; may be nil.
	Trace Tracer
	// FollowRows lets Trace know the rows of every query, for which Direct hands
	// none to a data source's own pool.
	FollowRows bool
	// Warn is told, once a table, what an operator should know; may be nil.
	Warn func(ctx context.Context, message string)
}

// Kernel plans and runs statements over the data sources of a rule set. It is
// safe for concurrent use.
type Kernel struct {
	rules    *rule.Set
	folded   *rule.Set // rules without regard to the case of table names
	dialect  *dialect.Dialect
	convert  value.Converter    // what the clients do; the servers' part is learnt later
	sources  map[string]*source // replicas under their own names
	grouped  bool               // some data source has replicas
	base     baseline
	meta     *metadata.Cache
	columns  sync.Pool // of *columns
	plans    *planCache
	executor *execute.Executor
	lookup   func(name string) (*execute.Source, error)
	budget   *memory.Budget
	weights  weights
	props    config.Props
	followed bool // every statement takes the driver's way, which sees its rows end
	implicit bool
	audits   atomic.Pointer[audits]
	stored   []keygen.Stored // generators to close
	store    keygen.Store    // of theirs
	uses     uses
	warn     func(ctx context.Context, message string)
	unknown  sync.Map // logical tables that nobody knows, warned of
	unique   sync.Map // logical tables whose unique keys were looked at
	counters sync.Map // logical tables whose AUTO_INCREMENT was warned of

	differences int           // that a check of a broadcast table lists
	comparing   chan struct{} // holds one element while somebody compares broadcast tables
}

// New returns a kernel. There must be a source for every data source of the
// rules.
func New(rules *Rules, sources []Source, opts Options) (*Kernel, error) {
	k := &Kernel{
		rules:    rules,
		folded:   rules.WithFold(true),
		sources:  make(map[string]*source, len(sources)),
		props:    opts.Props.WithDefaults(),
		implicit: opts.ImplicitWrites,
		uses:     uses{quiet: make(chan struct{}), unused: make(chan struct{})},
		followed: opts.FollowRows || opts.Props.StatementTimeout > 0,
		warn:     opts.Warn,

		differences: opts.BroadcastCheck.WithDefaults().MaxDifferences,
		comparing:   make(chan struct{}, 1),
	}
	for i := range sources {
		s, err := newSource(sources[i], opts.Trace)
		if err != nil {
			return nil, err
		}
		k.sources[s.Name] = s
		for _, replica := range s.replicas {
			k.sources[replica.Name] = replica
			k.grouped = true
		}
	}
	for _, name := range rules.DataSources {
		if _, ok := k.sources[name]; !ok {
			return nil, &fault.ConfigError{Path: "dataSources." + name, Reason: "the kernel was given no such data source"}
		}
	}
	k.dialect = k.sources[rules.DefaultDataSource].Dialect
	if err := k.compareClients(); err != nil {
		return nil, err
	}
	started := time.Now()
	k.meta = metadata.New(metadata.NewReader(k.controlPool), func() time.Time {
		return started.Add(time.Since(started)) // reads one clock, time.Now two
	})
	k.columns.New = func() any { return newColumns(k) }
	k.SetAudits(k.props)
	k.plans = newPlanCache(k.props.PlanCacheBytes)
	if k.budget = memory.NewBudget(processMergeBytes); opts.Before != nil {
		k.succeed(opts.Before)
	}
	k.lookup = k.sourceOf
	k.executor = execute.New(k.lookup, execute.Limits{
		MaxConnectionsPerQuery: k.props.MaxConnectionsPerQuery,
		MaxParallelUnits:       k.props.MaxParallelUnits,
		MaxBufferedRows:        k.props.MaxMergeRows,
		MaxBufferedBytes:       k.props.MaxMergeBytes,
		Budget:                 k.budget,
	})
	if err := k.attachGenerators(opts.IDLease.WithDefaults(rules.DefaultDataSource), opts.Before); err != nil {
		return nil, err
	}
	return k, nil
}

// attachGenerators gives a store to the generators that want one and had none
// before. None of them uses it before a key is asked for.
func (k *Kernel) attachGenerators(lease config.IDLease, before *Kernel) error {
	s, ok := k.sources[lease.DataSource]
	if !ok {
		return &fault.ConfigError{Path: "idLease.dataSource", Reason: fmt.Sprintf("the kernel was given no data source %q", lease.DataSource)}
	}
	k.store = keygen.Store{DataSource: s.Name, DB: s.control, Dialect: s.Dialect.Name, TTL: lease.TTL}
	for _, g := range k.rules.Generators {
		if stored, ok := g.(keygen.Stored); ok {
			if before == nil || !slices.Contains(before.stored, stored) {
				stored.Attach(k.store)
			}
			k.stored = append(k.stored, stored)
		}
	}
	return nil
}

// processMergeBytes bounds what all merges of a kernel hold in memory together.
const processMergeBytes = 512 << 20

// Close gives back what the key generators have leased and ends what was
// cancelled, while the data sources can still be reached: the pools are their
// owner's, who closes them afterwards.
func (k *Kernel) Close() error {
	var errs []error
	for _, s := range k.sources {
		s.Killer.Close()
	}
	for _, g := range k.stored {
		errs = append(errs, g.Close())
	}
	return errors.Join(errs...)
}

// Ping reaches the default data source.
func (k *Kernel) Ping(ctx context.Context) error {
	s, err := k.source(ctx, k.rules.DefaultDataSource)
	if err != nil {
		return err
	}
	return s.DB.PingContext(ctx)
}

// KeyColumn returns the column of a logical table that gets a generated value,
// and the column whose value its generator needs, empty for none.
func (k *Kernel) KeyColumn(table string) (column, owner string, ok bool) {
	t, ok := k.rules.Table(table)
	if !ok || t.Key == nil {
		return "", "", false
	}
	return t.Key.Column, t.Key.Owner, true
}

// KeyGenerator returns the name and the type of the generator of a logical table's
// keys, empty for none.
func (k *Kernel) KeyGenerator(table string) string {
	t, ok := k.rules.Table(table)
	if !ok || t.Key == nil {
		return ""
	}
	return t.Key.Name
}

// ShardingColumns returns the lower-case names of the columns that choose the nodes
// of a logical table, none for a table without a rule, of one node, or with nodes
// that a hint chooses. The caller must not change the slice.
func (k *Kernel) ShardingColumns(table string) []string {
	t, ok := k.rules.Table(table)
	if !ok || len(t.Nodes) < 2 || t.ByHint() {
		return nil
	}
	return t.Columns()
}

// Associated returns, for the sharding columns of a logical table, the columns of
// another one that hold the same values in rows that are associated with each other:
// the tables are bound, and child, that of the two whose rows refer to rows of the
// other, trusts its models. It returns none where that is not declared.
func (k *Kernel) Associated(table, with, child string) (columns, others []string) {
	a, ok := k.rules.Table(table)
	b, okWith := k.rules.Table(with)
	if !ok || !okWith || len(a.Nodes) < 2 || a.ByHint() {
		return nil, nil
	}
	if c, ok := k.rules.Table(child); !ok || !c.TrustModel {
		return nil, nil
	}
	return a.Columns(), k.rules.Counterparts(a, b)
}

// NextKey returns a new value for the key column of a logical table. owner is
// what the owner column of KeyColumn is given, as an argument would be; it counts
// only where there is one.
func (k *Kernel) NextKey(ctx context.Context, table string, owner any) (any, error) {
	t, ok := k.rules.Table(table)
	if !ok || t.Key == nil {
		return nil, &fault.RouteError{Class: fault.ErrUnknownTable, Table: table, Reason: "it has no key generation rule"}
	}
	if t.Key.Owners == nil {
		return t.Key.Generator.Next(ctx)
	}
	v, err := k.owner(ctx, t, owner)
	if err != nil {
		return nil, err
	}
	return t.Key.Owners.NextFor(ctx, v)
}

// owner returns what an owner column will hold when arg is inserted.
func (k *Kernel) owner(ctx context.Context, t *rule.Table, arg any) (v algorithm.Value, err error) {
	if arg, err = Resolve(arg); err != nil {
		return v, err
	}
	columns := k.columns.Get().(*columns)
	columns.ctx = ctx
	defer columns.putBack()
	c, err := k.compiler(ctx)
	if err != nil {
		return v, err
	}
	v, err = route.Owner(t, columns.input(nil), c.convert, arg)
	if columns.err != nil {
		return v, columns.err
	}
	return v, err
}

// sourceOf is the executor's: a data source by its name.
func (k *Kernel) sourceOf(name string) (*execute.Source, error) {
	s, ok := k.sources[name]
	if !ok {
		return nil, &fault.ConfigError{Path: "dataSources." + name, Reason: "there is no such data source"}
	}
	return &s.Source, nil
}
