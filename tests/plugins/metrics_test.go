//go:build unix

package plugins_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"gorm.io/gorm"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/metrics"
)

// shown gathers the metrics of a plugin: name and labels, value.
func shown(t *testing.T, plugin *sharding.Plugin) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	must(t, registry.Register(metrics.NewCollector(plugin)))
	families, err := registry.Gather()
	must(t, err)
	out := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, label := range metric.GetLabel() {
				labels = append(labels, label.GetName()+"="+label.GetValue())
			}
			name := strings.TrimPrefix(family.GetName(), "gorm_sharding_")
			if len(labels) > 0 {
				name += "{" + strings.Join(labels, ",") + "}"
			}
			out[name] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
		}
	}
	return out
}

func TestMetricsShowWhatHappens(t *testing.T) {
	cfg, server := owned(t, "metrics", map[string]string{"t_note": noteColumns})
	cfg.DataSources["ds0_copy"] = cfg.DataSources["ds0"]
	cfg.DataSources["ds0_primary"] = cfg.DataSources["ds0"]
	delete(cfg.DataSources, "ds0")
	cfg.ReadwriteSplitting = config.ReadwriteSplitting{
		Groups: map[string]config.Group{"ds0": {Primary: "ds0_primary", Replicas: []string{"ds0_copy"}}},
		Health: config.Health{Interval: 10 * time.Millisecond, IgnoreLag: true},
	}
	db := open(t, cfg, gorm.Config{})
	plugin := sharding.Of(db)
	must(t, db.Create(&note{OwnerID: 1, Text: "a"}).Error)
	must(t, db.Find(&note{}, "owner_id = ?", 0).Error)
	tx := db.Begin()
	defer tx.Rollback()
	must(t, tx.Create(&note{OwnerID: 3, Text: "b"}).Error)
	first := shown(t, plugin)
	for name, want := range map[string]float64{
		"generation": 1,
		"rules_info{fingerprint=" + cfg.Fingerprint() + "}":            1,
		"reloads_total{result=applied}":                                0,
		"last_reload_successful":                                       1,
		"parallel_units_max":                                           256,
		"pool_in_use_connections{data_source=ds1,group=}":              1, // the transaction's
		"pool_max_open_connections{data_source=ds0_primary,group=ds0}": 8,
		"group_primary_info{data_source=ds0_primary,group=ds0}":        1,
		"replica_up{data_source=ds0_copy,group=ds0}":                   1,
	} {
		if got, ok := first[name]; !ok || got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if first["plan_cache_plans"] < 2 || first["plans_compiled_total"] < first["plan_cache_plans"] || first["plan_cache_bytes"] == 0 {
		t.Errorf("the plan cache: %v plans, %v bytes, %v made", first["plan_cache_plans"], first["plan_cache_bytes"], first["plans_compiled_total"])
	}

	bad := plugin.Config()
	bad.DefaultDataSource = "nowhere"
	if err := plugin.Reload(bad); err == nil {
		t.Fatal("a configuration without its default data source was taken")
	}
	if now := shown(t, plugin); now["reloads_total{result=failed}"] != 1 || now["last_reload_successful"] != 0 || now["last_reload_failure_time_seconds"] < now["generation_start_time_seconds"] {
		t.Errorf("a failed reload is not shown: %v", now)
	}
	good := plugin.Config()
	good.Sharding.SingleTables = map[string]string{"t_more": "ds1"}
	must(t, plugin.Reload(good))
	must(t, plugin.DisableReplica("ds0_copy", true))
	now := shown(t, plugin)
	if now["reloads_total{result=applied}"] != 1 || now["last_reload_successful"] != 1 || now["generation"] != 2 || now["draining_generations"] != 1 ||
		now["replica_disabled{data_source=ds0_copy,group=ds0}"] != 1 || now["rules_info{fingerprint="+good.Fingerprint()+"}"] != 1 {
		t.Errorf("a reload under a transaction, and a disabled replica, are not shown: %v", now)
	}
	for name := range maps.Keys(now) {
		if strings.Contains(name, server.DSN("metrics_0")) || strings.Contains(name, "tcp(") || strings.Contains(name, "unix(") {
			t.Errorf("%s shows a DSN", name)
		}
	}
	must(t, tx.Rollback().Error)
	for end := time.Now().Add(10 * time.Second); shown(t, plugin)["draining_generations"] != 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the former generation is shown as in use")
		}
	}
}
