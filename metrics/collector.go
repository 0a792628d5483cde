// Package metrics shows what a sharding plugin tells of itself to Prometheus: the
// fingerprint of its rules, reloads, pools, replicas and their lag, the plan cache,
// and what counts towards its limits. It is a module of its own, so that
// applications without Prometheus do not link its client.
//
//	prometheus.MustRegister(metrics.NewCollector(plugin))
//
// docs/metrics.md lists the metrics.
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gormshard/sharding"
)

// Source is whose status is shown: a *sharding.Plugin, or the connector of
// sharding.Connector.
type Source interface{ Status() sharding.Status }

// Collector is the prometheus.Collector of a plugin. It asks for the plugin's status
// whenever it is scraped, sends nothing to a database, and shows no DSN. Before the
// plugin is in use it has no metrics. It is safe for concurrent use.
type Collector struct{ source Source }

var _ prometheus.Collector = (*Collector)(nil)

// NewCollector returns the collector of a plugin. To register those of several
// plugins, give each a label of its own by prometheus.WrapRegistererWith.
func NewCollector(source Source) *Collector { return &Collector{source} }

// Describe implements prometheus.Collector.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, m := range all {
		to <- m.desc
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	s := c.source.Status()
	if s.Generation == 0 {
		return
	}
	send := func(m *metric, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(m.desc, m.kind, value, labels...)
	}
	send(rules, 1, s.Fingerprint)
	send(rulesVersion, float64(s.RulesVersion))
	send(generation, float64(s.Generation))
	send(generationStart, seconds(s.Since))
	send(draining, float64(s.Draining))
	send(reloads, float64(s.Reloads.Applied), "applied")
	send(reloads, float64(s.Reloads.Failed), "failed")
	send(lastReload, one(s.Reloads.Err == nil))
	send(lastFailure, seconds(s.Reloads.LastFailure))

	send(plans, float64(s.PlanCache.Plans))
	send(planBytes, float64(s.PlanCache.Bytes))
	send(compiled, float64(s.PlanCache.Compiled))
	send(units, float64(s.Load.Units))
	send(maxUnits, float64(s.Load.MaxUnits))
	send(mergeBytes, float64(s.Load.MergeBytes))
	send(maxMergeBytes, float64(s.Load.MaxMergeBytes))

	for _, ds := range s.DataSources {
		labels := []string{ds.Name, ds.Group}
		send(maxOpen, float64(ds.Pool.MaxOpenConnections), labels...)
		send(open, float64(ds.Pool.OpenConnections), labels...)
		send(inUse, float64(ds.Pool.InUse), labels...)
		send(idle, float64(ds.Pool.Idle), labels...)
		send(waits, float64(ds.Pool.WaitCount), labels...)
		send(waited, ds.Pool.WaitDuration.Seconds(), labels...)
		send(idleClosed, float64(ds.Pool.MaxIdleClosed), labels...)
		send(idleTimeClosed, float64(ds.Pool.MaxIdleTimeClosed), labels...)
		send(lifetimeClosed, float64(ds.Pool.MaxLifetimeClosed), labels...)
	}
	for _, g := range s.Groups {
		send(primary, 1, g.Name, g.Primary)
		send(primaryOnly, one(g.PrimaryOnly), g.Name)
		for _, r := range g.Replicas {
			send(up, one(r.Up), g.Name, r.Replica)
			send(disabled, one(r.Disabled), g.Name, r.Replica)
			send(outs, float64(r.Outs), g.Name, r.Replica)
			send(since, seconds(r.Since), g.Name, r.Replica)
			if r.Lag >= 0 { // no lag is better than a wrong one
				send(lag, r.Lag.Seconds(), g.Name, r.Replica)
			}
		}
	}
}

// seconds is a time as Prometheus has it, 0 for never.
func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixNano()) / float64(time.Second)
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
