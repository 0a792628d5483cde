package sharding

import (
	"context"
	"errors"
	"reflect"
	"time"

	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/readwrite"
	"github.com/gormshard/sharding/shardkernel"
	"github.com/gormshard/sharding/shardkernel/keygen"
)

// generation is a configuration with all that was made of it. It is not changed
// any more; a reload puts another one in its place, which takes over what stays
// the same. Methods that look for something to take over find nothing in a nil
// generation.
type generation struct {
	number      uint64
	since       time.Time
	cfg         *config.Config // nobody else's
	fingerprint string         // of cfg, which is asked for by every look at the status
	rules       *shardkernel.Rules
	sources     *sources
	kernel      *shardkernel.Kernel
}

// source returns the opened data source that a configured one may go on with, nil
// where there is none: the same driver and DSN under the same name.
func (g *generation) source(name string, ds config.DataSource) *source {
	if g == nil {
		return nil
	}
	if before, ok := g.cfg.DataSources[name]; ok && before.DriverName() == ds.DriverName() && before.DSN == ds.DSN {
		return g.sources.byName[name]
	}
	return nil
}

// adopted returns the application's own pool, nil where it was no data source.
func (g *generation) adopted(name string) *source {
	if g == nil {
		return nil
	}
	if src := g.sources.byName[name]; src != nil && src.pool == g.sources.caller {
		return src
	}
	return nil
}

func (g *generation) allSources() *sources {
	if g == nil {
		return nil
	}
	return g.sources
}

func (g *generation) kernelOf() *shardkernel.Kernel {
	if g == nil {
		return nil
	}
	return g.kernel
}

func (g *generation) groupOf(name string) *readwrite.Group {
	if g == nil {
		return nil
	}
	return g.sources.groups[name]
}

// group returns the group that goes on: one with the same members over the same
// pools, chosen among and probed alike.
func (g *generation) group(name string, cfg *config.Config, s *sources) *readwrite.Group {
	group := g.groupOf(name)
	if group == nil {
		return nil
	}
	before, now := g.cfg.ReadwriteSplitting.Groups[name], cfg.ReadwriteSplitting.Groups[name]
	before.PrimaryOnly, now.PrimaryOnly = false, false // switched, see apply
	if !reflect.DeepEqual(before, now) || g.cfg.ReadwriteSplitting.Health != cfg.ReadwriteSplitting.Health {
		return nil
	}
	for _, member := range append([]string{now.Primary}, now.Replicas...) {
		if g.sources.byName[member] != s.byName[member] {
			return nil
		}
	}
	return group
}

// onlyPrimary reports whether a group's reads begin on its primary: as Plugin.PrimaryOnly
// has said, until the configuration says something else than before.
func (g *generation) onlyPrimary(name string, cfg *config.Config) bool {
	says := primaryOnly(name, cfg)
	if group := g.groupOf(name); group != nil && primaryOnly(name, g.cfg) == says {
		return group.OnlyPrimary()
	}
	return says
}

func primaryOnly(name string, cfg *config.Config) bool {
	return cfg.Props.PrimaryOnly || cfg.ReadwriteSplitting.Groups[name].PrimaryOnly
}

// generator returns the key generator that goes on under a name, nil where there
// is none: one of the same type and properties, which shares with other processes
// in the same place. So neither its sequence nor a worker id or numbers that it
// has taken are lost, or given out twice.
func (g *generation) generator(cfg *config.Config, name string) keygen.Generator {
	if g == nil {
		return nil
	}
	was := g.cfg.IDLease.WithDefaults(g.cfg.DefaultSourceName())
	is := cfg.IDLease.WithDefaults(cfg.DefaultSourceName())
	find := func(other string) keygen.Generator {
		generator := g.rules.Generator(other)
		if generator == nil || !reflect.DeepEqual(g.cfg.Sharding.KeyGenerators[other], cfg.Sharding.KeyGenerators[name]) {
			return nil
		}
		if _, stored := generator.(keygen.Stored); !stored {
			return generator
		}
		_, moves := generator.(keygen.Mover)
		before, now := g.cfg.DataSources[g.cfg.PrimaryOf(was.DataSource)], cfg.DataSources[cfg.PrimaryOf(is.DataSource)]
		same := g.cfg.PrimaryOf(was.DataSource) == cfg.PrimaryOf(is.DataSource) && before.DSN == now.DSN && before.DriverName() == now.DriverName()
		if was == is && (same || moves) {
			return generator
		}
		return nil
	}
	if generator := find(name); generator != nil {
		return generator
	}
	for other := range g.cfg.Sharding.KeyGenerators {
		if generator := find(other); generator != nil {
			return generator
		}
	}
	return nil
}

// startTimeout bounds what is asked of the data sources at start and by a reload.
const startTimeout = time.Minute

// check asks the data sources what has to be known before the generation comes
// into force: what the configuration wants to be done with the tables, and, by a
// reload, the settings of the servers of new data sources. Tables that stay where they
// are were looked at before.
func (g *generation) check(ctx context.Context, before *generation) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var checked, loaded *shardkernel.Kernel // has looked at what stays as it is
	if before != nil {
		if before.cfg.Props.CheckTables {
			checked = before.kernel
		}
		if before.cfg.Props.PreloadTables {
			loaded = before.kernel
		}
		var opened []string
		for _, name := range g.cfg.SourceNames() {
			if primary := g.cfg.PrimaryOf(name); before.sources.byName[primary] != g.sources.byName[primary] {
				opened = append(opened, name)
			}
		}
		if err := g.kernel.CheckServers(ctx, opened); err != nil {
			return err
		}
	}
	if g.cfg.Props.CheckTables {
		if err := g.kernel.CheckTables(ctx, checked); err != nil {
			return err
		}
	}
	if g.cfg.Props.PreloadTables {
		return g.kernel.LoadTables(ctx, loaded)
	}
	return nil
}

// apply makes what stays from the generation before as the configuration now says,
// and the groups as the application has switched them, also while this generation was
// being made.
func (g *generation) apply(before *generation) {
	for name, src := range g.sources.byName {
		if ds, ok := g.cfg.DataSources[name]; ok && before.sources.byName[name] == src && before.cfg.DataSources[name] != ds {
			size(src.pool, ds)
		}
	}
	off := map[string]bool{}
	for _, group := range before.sources.groups {
		for _, replica := range group.States() {
			off[replica.Replica] = replica.Disabled
		}
	}
	for name, group := range g.sources.groups {
		group.PrimaryOnly(before.onlyPrimary(name, g.cfg))
		for _, replica := range group.States() {
			if replica.Disabled != off[replica.Replica] {
				group.Disable(replica.Replica, off[replica.Replica])
			}
		}
	}
}

// discard closes a generation that does not come into force, but for what it has
// taken over.
func (g *generation) discard(before *generation) error {
	if before == nil {
		return errors.Join(g.kernel.Close(), g.sources.closeUnlike(nil))
	}
	return errors.Join(g.kernel.Superseded(before.kernel), g.sources.closeUnlike(before.sources))
}

// log returns the application's logger, GORM's own where there is none.
func (c *callerPool) log() logger.Interface {
	if c == nil {
		return logger.Default
	}
	return c.db.Logger
}
