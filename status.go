package sharding

import (
	"database/sql"
	"maps"
	"slices"
	"time"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/internal/nearest"
	"github.com/gormshard/sharding/shardkernel"
)

// Status is what a plugin tells of itself.
type Status struct {
	// Generation counts the configurations that have been in force, the first one
	// as 1; Since is when the present one came into force.
	Generation uint64
	Since      time.Time
	// RulesVersion is that of the configuration. Fingerprint is equal for two
	// processes that look for rows on the same nodes, see config.Config.Fingerprint.
	RulesVersion int
	Fingerprint  string
	// DataSources are in the order of their names.
	DataSources []DataSourceStatus
	// Groups are those of primaries and replicas, in the order of their names.
	Groups    []GroupStatus
	PlanCache PlanCacheStatus
	Load      LoadStatus
	Reloads   Reloads
	// Draining is the number of replaced configurations of which something is
	// still in use, or being closed.
	Draining int
}

// DataSourceStatus is one database.
type DataSourceStatus struct {
	Name string
	DSN  config.DSN // shows no credentials when printed; empty where it is not known
	// Group is the group that it is a member of, empty for none.
	Group string
	Pool  sql.DBStats
}

// GroupStatus is a primary with its replicas.
type GroupStatus struct {
	Name    string
	Primary string // the data source
	// PrimaryOnly is true while all reads go to the primary.
	PrimaryOnly bool
	Replicas    []ReplicaState
}

// PlanCacheStatus is how full the cache of plans is, which each configuration
// begins anew.
type PlanCacheStatus = shardkernel.PlanCache

// LoadStatus is what all statements together take of what is limited:
// props.maxParallelUnits, and the bytes that the process may hold while it merges
// rows.
type LoadStatus = shardkernel.Load

// Reloads counts the reloads since the start.
type Reloads struct {
	Applied, Failed uint64
	// Err is the error of the last one, nil when it did not fail.
	Err error
	// LastFailure is when one failed, zero for never.
	LastFailure time.Time
}

// Status returns the state of the plugin, which is empty before it is in use.
func (p *Plugin) Status() Status {
	e, err := p.running()
	if err != nil {
		return Status{}
	}
	return e.status()
}

func (e *engine) status() Status {
	e.mu.Lock()
	g, reloads := e.current, e.reloads
	e.mu.Unlock()
	s := Status{
		Generation: g.number, Since: g.since, RulesVersion: g.cfg.RulesVersion, Fingerprint: g.fingerprint,
		PlanCache: g.kernel.PlanCache(), Load: g.kernel.Load(), Reloads: reloads, Draining: e.drain.draining(),
	}
	member := map[string]string{}
	for _, name := range slices.SortedFunc(maps.Keys(g.sources.groups), nearest.Compare) {
		group, configured := g.sources.groups[name], g.cfg.ReadwriteSplitting.Groups[name]
		s.Groups = append(s.Groups, GroupStatus{Name: name, Primary: configured.Primary, PrimaryOnly: group.OnlyPrimary(), Replicas: group.States()})
		for _, of := range append([]string{configured.Primary}, configured.Replicas...) {
			member[of] = name
		}
	}
	for _, name := range slices.SortedFunc(maps.Keys(g.sources.byName), nearest.Compare) {
		src := g.sources.byName[name]
		s.DataSources = append(s.DataSources, DataSourceStatus{Name: name, DSN: config.DSN(src.dsn), Group: member[name], Pool: src.pool.Stats()})
	}
	return s
}
