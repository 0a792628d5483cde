package metrics

import "github.com/prometheus/client_golang/prometheus"

// metric is one metric with its labels.
type metric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

// all are the metrics that a Collector may send.
var all []*metric

func gauge(name, help string, labels ...string) *metric {
	return newMetric(prometheus.GaugeValue, name, help, labels)
}

func counter(name, help string, labels ...string) *metric {
	return newMetric(prometheus.CounterValue, name, help, labels)
}

func newMetric(kind prometheus.ValueType, name, help string, labels []string) *metric {
	m := &metric{desc: prometheus.NewDesc("gorm_sharding_"+name, help, labels, nil), kind: kind}
	all = append(all, m)
	return m
}

// The configuration.
var (
	rules           = gauge("rules_info", "1, with the fingerprint of the rules: processes that look for rows on the same nodes have the same one.", "fingerprint")
	rulesVersion    = gauge("rules_version", "The rulesVersion of the configuration.")
	generation      = gauge("generation", "Configurations that have been in force, the present one included.")
	generationStart = gauge("generation_start_time_seconds", "When the present configuration came into force.")
	draining        = gauge("draining_generations", "Replaced configurations of which something is still in use.")
	reloads         = counter("reloads_total", "Reloads by their result, applied or failed.", "result")
	lastReload      = gauge("last_reload_successful", "1 unless the last reload failed.")
	lastFailure     = gauge("last_reload_failure_time_seconds", "When a reload last failed, 0 for never.")
)

// The kernel. These begin anew with a reload that changes something.
var (
	plans         = gauge("plan_cache_plans", "Texts whose plan is kept.")
	planBytes     = gauge("plan_cache_bytes", "What the kept plans are taken to occupy.")
	compiled      = counter("plans_compiled_total", "Plans made.")
	units         = gauge("parallel_units", "Units of statements over several nodes that are being sent.")
	maxUnits      = gauge("parallel_units_max", "props.maxParallelUnits.")
	mergeBytes    = gauge("merge_bytes", "What all statements hold in memory while they merge rows.")
	maxMergeBytes = gauge("merge_bytes_max", "The limit of all statements together.")
)

// The pools, by the names that Prometheus' own collector of a sql.DB has.
var (
	maxOpen        = gauge("pool_max_open_connections", "Maximum number of connections, 0 for no limit.", "data_source", "group")
	open           = gauge("pool_open_connections", "Connections, in use and idle.", "data_source", "group")
	inUse          = gauge("pool_in_use_connections", "Connections in use.", "data_source", "group")
	idle           = gauge("pool_idle_connections", "Idle connections.", "data_source", "group")
	waits          = counter("pool_wait_count_total", "Connections that were waited for.", "data_source", "group")
	waited         = counter("pool_wait_duration_seconds_total", "Time that connections were waited for.", "data_source", "group")
	idleClosed     = counter("pool_max_idle_closed_total", "Connections closed because of maxIdleConns.", "data_source", "group")
	idleTimeClosed = counter("pool_max_idle_time_closed_total", "Connections closed because of connMaxIdleTime.", "data_source", "group")
	lifetimeClosed = counter("pool_max_lifetime_closed_total", "Connections closed because of connMaxLifetime.", "data_source", "group")
)

// The groups of a primary and replicas.
var (
	primary     = gauge("group_primary_info", "1, with the data source that is the group's primary.", "group", "data_source")
	primaryOnly = gauge("group_primary_only", "1 while all reads go to the primary.", "group")
	up          = gauge("replica_up", "1 while the replica may answer reads, unless it is disabled.", "group", "data_source")
	disabled    = gauge("replica_disabled", "1 while reads are kept away from the replica.", "group", "data_source")
	lag         = gauge("replica_lag_seconds", "How far the replica was behind at the last probe; absent where that is not known.", "group", "data_source")
	outs        = counter("replica_outs_total", "How often the replica has ceased to answer reads.", "group", "data_source")
	since       = gauge("replica_change_time_seconds", "When the replica last began or ceased to answer reads.", "group", "data_source")
)
