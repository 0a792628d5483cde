package shardkernel

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/internal/metadata"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/keygen"
)

// Recompile is Compile for a configuration that takes the place of another one:
// kept returns the key generator of a name that is to go on, nil to have a new
// one made.
func Recompile(cfg *config.Config, algorithms *algorithm.Registry, generators *keygen.Registry, kept func(name string) keygen.Generator) (*Rules, error) {
	return rule.Recompile(cfg, algorithms, generators, kept)
}

// succeed takes over what another kernel has learnt of what stays the same.
func (k *Kernel) succeed(before *Kernel) {
	k.budget = before.budget
	k.meta.Take(before.meta, func(logical string) bool { return k.samePlace(before, logical) && k.sameColumns(before, logical) })
	before.base.mu.Lock()
	name, settings := before.base.name, before.base.settings.Load()
	before.base.mu.Unlock()
	if settings == nil || !k.samePool(before, name) {
		return // the first data source that is asked sets the measure again
	}
	k.base.name = name
	k.base.settings.Store(settings)
	for name, s := range k.sources {
		if k.samePool(before, name) && before.sources[name].checked.Load() {
			s.packet = before.sources[name].packet
			s.checked.Store(true)
		}
	}
}

// samePool reports whether two kernels have the same pool under a name.
func (k *Kernel) samePool(before *Kernel, name string) bool {
	now, known := k.sources[name]
	then, knew := before.sources[name]
	return known && knew && now.DB == then.DB
}

// samePlace reports whether a table is where it was.
func (k *Kernel) samePlace(before *Kernel, logical string) bool {
	now, sharded := k.rules.Table(logical)
	then, was := before.rules.Table(logical)
	if sharded != was {
		return false
	}
	if sharded {
		return slices.EqualFunc(now.Nodes, then.Nodes, func(a, b rule.Node) bool {
			return a.DataSource == b.DataSource && a.Table == b.Table && k.samePool(before, a.DataSource)
		})
	}
	if k.rules.IsBroadcast(logical) != before.rules.IsBroadcast(logical) {
		return false
	}
	if k.rules.IsBroadcast(logical) {
		return slices.Equal(k.rules.DataSources, before.rules.DataSources) && k.samePool(before, k.rules.DataSources[0])
	}
	source := k.rules.SingleSource(logical)
	return source == before.rules.SingleSource(logical) && k.samePool(before, source)
}

// sameNodes reports whether all the nodes of a sharded or broadcast table are what
// they were under a kernel before, which may be nil.
func (k *Kernel) sameNodes(before *Kernel, logical string) bool {
	if before == nil || !k.samePlace(before, logical) {
		return false
	}
	return !k.rules.IsBroadcast(logical) || !slices.ContainsFunc(k.rules.DataSources, func(name string) bool { return !k.samePool(before, name) })
}

// sameColumns reports whether the rules of a table name the columns that they named
// under a kernel before. Others are looked for when the columns are read.
func (k *Kernel) sameColumns(before *Kernel, logical string) bool {
	now, sharded := k.rules.Table(logical)
	then, was := before.rules.Table(logical)
	if !sharded || !was {
		return sharded == was
	}
	return slices.Equal(ruled(now), ruled(then))
}

// ruled returns the columns that the rules of a table name.
func ruled(t *rule.Table) (columns []string) {
	for _, s := range []*rule.Strategy{t.Database, t.Tables} {
		if s != nil {
			columns = append(columns, s.Columns...)
		}
	}
	if t.Key != nil {
		columns = append(columns, t.Key.Column, t.Key.Owner)
	}
	return columns
}

// CheckServers asks the named data sources for the settings of their servers,
// which have to agree with those of the others.
func (k *Kernel) CheckServers(ctx context.Context, names []string) error {
	if len(names) == 0 || k.dialect.FoldTables {
		return nil
	}
	if _, err := k.settings(ctx); err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		_, err := k.source(ctx, name)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Inhabited returns those of the tables that have rows in the default data source.
func (k *Kernel) Inhabited(ctx context.Context, tables []string) ([]string, error) {
	var out []string
	for _, name := range tables {
		at := node{k.rules.DefaultDataSource, name}
		db, _, err := k.controlPool(at.source)
		if err != nil {
			return nil, err
		}
		if _, err := metadata.NewReader(k.controlPool)(ctx, at.source, name); errors.Is(err, metadata.ErrNoTable) {
			continue
		} else if err != nil {
			return nil, err
		}
		var one int
		switch err := db.QueryRowContext(ctx, "SELECT 1 FROM "+quoteName(name)+" LIMIT 1").Scan(&one); {
		case err == nil:
			out = append(out, name)
		case !errors.Is(err, sql.ErrNoRows):
			return nil, &fault.NodeError{DataSource: at.source, Table: name, Err: err}
		}
	}
	return out, nil
}

// Superseded gives back what a kernel leaves behind that next has taken the place
// of: the key generators that next does not have, and what ends statements on its
// servers. Nothing may use the kernel any more.
func (k *Kernel) Superseded(next *Kernel) error {
	for _, s := range k.sources {
		s.Killer.Close()
	}
	var errs []error
	for _, g := range k.stored {
		if !slices.Contains(next.stored, g) {
			errs = append(errs, g.Close())
		}
	}
	return errors.Join(errs...)
}

// moveGenerators lets the key generators that go on reach their database as k
// does.
func (k *Kernel) moveGenerators(before *Kernel) {
	if k.store.DB == before.store.DB {
		return
	}
	for _, g := range k.stored {
		if m, ok := g.(keygen.Mover); ok && slices.Contains(before.stored, g) {
			m.Move(k.store)
		}
	}
}

// PlanCache is how full the cache of plans is.
type PlanCache struct {
	Plans    int   // texts whose plan is kept
	Bytes    int64 // what they are taken to occupy
	Compiled int64 // plans made since the rules came into force
}

// Load is what all statements together take of what is limited. A limit is that of
// the process, or of the configuration.
type Load struct {
	Units, MaxUnits           int   // units of statements over several nodes that are being sent
	MergeBytes, MaxMergeBytes int64 // held in memory while rows become one result
}

// Load returns what is taken of the limits at the moment.
func (k *Kernel) Load() Load {
	l := Load{MergeBytes: k.budget.Used(), MaxMergeBytes: processMergeBytes}
	l.Units, l.MaxUnits = k.executor.Sending()
	return l
}

// PlanCache returns the figures of the cache of plans.
func (k *Kernel) PlanCache() PlanCache {
	return PlanCache{
		Plans:    k.plans.cache.EstimatedSize(),
		Bytes:    int64(min(k.plans.cache.WeightedSize(), 1<<62)),
		Compiled: k.plans.compiled.Load(),
	}
}
