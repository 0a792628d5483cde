//go:build unix

package migrate_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gormmysql "gorm.io/driver/mysql"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
)

// months is a configuration of bound tables by month, without an end: those from
// January to June are configured, in both data sources.
func (c *cluster) months() *config.Config {
	cfg := c.config()
	by := func(column, algorithm string) *config.Strategy {
		return &config.Strategy{Standard: &config.Standard{Column: column, Algorithm: algorithm}}
	}
	for _, name := range []string{"t_log", "t_log_line"} {
		cfg.Sharding.Tables[name] = config.Table{
			ActualDataNodes: "ds${0..1}." + name + "_20300${1..6}", DatabaseStrategy: by("user_id", "database"), TableStrategy: by("at", "month"),
		}
	}
	cfg.Sharding.AutoTables["t_event"] = config.AutoTable{DataSources: "ds${0..1}", Strategy: by("at", "days")}
	cfg.Sharding.BindingTables = append(cfg.Sharding.BindingTables, []string{"t_log", "t_log_line"})
	cfg.Sharding.Algorithms["month"] = config.Algorithm{Type: "INTERVAL", Props: map[string]any{
		"datetimeLower": "2030-01-01 00:00:00", "suffixPattern": "yyyyMM", "unit": "MONTHS", "location": "Asia/Shanghai",
	}}
	cfg.Sharding.Algorithms["days"] = config.Algorithm{Type: "AUTO_INTERVAL", Props: map[string]any{
		"datetimeLower": "2030-01-01 00:00:00", "datetimeUpper": "2030-01-03 00:00:00", "shardingSeconds": 86400,
	}}
	return cfg
}

// logTables are what is there in the beginning: January, with rows.
func logTables(suffix string) string {
	return "CREATE TABLE t_log" + suffix + " (id bigint NOT NULL AUTO_INCREMENT, user_id bigint NOT NULL, at datetime NOT NULL COMMENT 'AUTO_INCREMENT=7 KEY `x`', region bigint, note blob COMPRESSED, PRIMARY KEY (id, at), KEY idx_at (at), KEY idx_user (user_id, id)," +
		" CONSTRAINT chk_user_t_log" + suffix + " CHECK (user_id > 0)) ENGINE=InnoDB AUTO_INCREMENT=500 COMMENT='log of t_log" + suffix + "';" +
		"CREATE TABLE t_log_line" + suffix + " (id bigint NOT NULL PRIMARY KEY, user_id bigint NOT NULL, at datetime NOT NULL, log bigint," +
		" CONSTRAINT fk_log_t_log_line" + suffix + " FOREIGN KEY (log, at) REFERENCES t_log" + suffix + " (id, at)) COMMENT='lines';" +
		"ALTER TABLE t_log" + suffix + " COMMENT='logs'"
}

func month(m time.Month) time.Time { return time.Date(2030, m, 1, 0, 0, 0, 0, shanghai) }

var shanghai = time.FixedZone("", 8*3600)

func TestComingMonthsAreMadeLikeTheNewest(t *testing.T) {
	c := newCluster(t, "months")
	cfg := c.months()
	a := c.open(t, cfg, gormmysql.Open(string(cfg.DataSources["ds0"].DSN)))
	if _, err := a.Plugin.EnsureTables(t.Context(), month(1), month(3), "t_log"); !errors.Is(err, sharding.ErrUnknownTable) {
		t.Errorf("with nothing to make it like: %v", err)
	}
	for _, pool := range c.pools {
		exec(t, pool, logTables("_203001"))
	}
	exec(t, c.pools[0], "CREATE TABLE t_event_0 (id bigint PRIMARY KEY, at datetime) PARTITION BY HASH (id) PARTITIONS 3")

	// March begins when it does in Shanghai.
	made, err := a.Plugin.EnsureTables(t.Context(), month(1), month(3), "t_log_line", "t_log")
	want := []string{"ds0.t_log_203002", "ds0.t_log_line_203002", "ds1.t_log_203002", "ds1.t_log_line_203002"}
	if err != nil || !slices.Equal(made, want) {
		t.Errorf("made %q, %v", made, err)
	}
	for _, table := range []string{"t_log", "t_log_line"} {
		january, february := definition(t, c.pools[1], table+"_203001"), definition(t, c.pools[1], table+"_203002")
		for i := range february {
			february[i] = strings.ReplaceAll(february[i], "203002", "203001")
		}
		for i := range january {
			january[i] = strings.Replace(january[i], " AUTO_INCREMENT=500", "", 1)
		}
		if !slices.Equal(january, february) {
			t.Errorf("%s of February is\n  %s\ninstead of\n  %s", table, strings.Join(february, "\n  "), strings.Join(january, "\n  "))
		}
	}
	if made, err := a.Plugin.EnsureTables(t.Context(), month(1), month(3)); err != nil || !slices.Equal(made, []string{"ds0.t_event_2", "ds1.t_event_1", "ds1.t_event_3"}) {
		t.Errorf("the others made %q, %v", made, err)
	}
	if got := definition(t, c.pools[1], "t_event_3"); !strings.Contains(strings.Join(got, "\n"), "PARTITIONS 3") {
		t.Errorf("no partitions: %q", got)
	}

	// The newest that is there is the model.
	for _, pool := range c.pools {
		exec(t, pool, "ALTER TABLE t_log_203002 ADD COLUMN label varchar(10)")
	}
	if _, err := a.Plugin.EnsureTables(t.Context(), month(2), month(4), "t_log"); err != nil {
		t.Error(err)
	}
	if got := strings.Join(definition(t, c.pools[0], "t_log_203003"), "\n"); !strings.Contains(got, "label") {
		t.Errorf("March is like January: %s", got)
	}

	// A month that is not configured is refused before anything is sent.
	for _, pool := range c.pools {
		exec(t, pool, "DROP TABLE t_log_203003")
	}
	made, err = a.Plugin.EnsureTables(t.Context(), month(3), month(8), "t_log")
	if made != nil || !errors.Is(err, sharding.ErrNoDataNode) || !strings.Contains(err.Error(), "203007") || !strings.Contains(err.Error(), "actualDataNodes") {
		t.Errorf("made %q, %v", made, err)
	}
	for name, class := range map[string]error{"t_order": sharding.ErrUnsupported, "t_region": sharding.ErrUnknownTable, "absent": sharding.ErrUnknownTable} {
		if _, err := a.Plugin.EnsureTables(t.Context(), month(1), month(2), name); !errors.Is(err, class) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := a.Plugin.EnsureTables(t.Context(), month(2), month(1)); !errors.Is(err, sharding.ErrUnsupported) {
		t.Errorf("a time that ends before it begins: %v", err)
	}

	// Without an end it is what the configuration names; January lacks a column.
	if _, err := a.Plugin.EnsureTables(t.Context(), time.Time{}, time.Time{}); !errors.Is(err, sharding.ErrSchemaDrift) {
		t.Error(err)
	}
	if err := a.Exec("INSERT INTO t_log (id, user_id, at) VALUES (1, 1, '2030-06-30 23:59:59'), (2, 2, '2030-02-01 00:00:00')").Error; err != nil {
		t.Error(err)
	}
}

// TestProcessesThatEnsureTablesAtOnceMakeEachOne runs several at the same time,
// and one where a data source fails.
func TestProcessesThatEnsureTablesAtOnceMakeEachOne(t *testing.T) {
	c := newCluster(t, "at_once")
	cfg := c.months()
	a := c.open(t, cfg, gormmysql.Open(string(cfg.DataSources["ds0"].DSN)))
	for _, pool := range c.pools {
		exec(t, pool, logTables("_203001"))
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var all []string
	for range 4 {
		wg.Go(func() {
			made, err := a.Plugin.EnsureTables(t.Context(), month(1), month(4), "t_log", "t_log_line")
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, made...)
		})
	}
	wg.Wait()
	slices.Sort(all)
	if len(all) != 8 || len(slices.Compact(all)) != 8 {
		t.Errorf("made %q", all)
	}
	exec(t, c.pools[1], "CREATE VIEW t_log_203004 AS SELECT 1 AS x")
	if _, err := a.Plugin.EnsureTables(t.Context(), month(4), month(5), "t_log"); !errors.Is(err, sharding.ErrSchemaDrift) {
		t.Errorf("a view in the place of a table: %v", err)
	}
}

// TestMonthsThatDifferAreTold: they are left as they are.
func TestMonthsThatDifferAreTold(t *testing.T) {
	c := newCluster(t, "differ")
	cfg := c.months()
	a := c.open(t, cfg, gormmysql.Open(string(cfg.DataSources["ds0"].DSN)))
	for _, pool := range c.pools {
		exec(t, pool, logTables("_203001"), logTables("_203002"))
	}
	exec(t, c.pools[1], "ALTER TABLE t_log_203001 ADD COLUMN own int")
	made, err := a.Plugin.EnsureTables(t.Context(), month(1), month(4), "t_log")
	if !errors.Is(err, sharding.ErrSchemaDrift) || !strings.Contains(err.Error(), "ds1.t_log_203001") || !slices.Equal(made, []string{"ds0.t_log_203003", "ds1.t_log_203003"}) {
		t.Errorf("made %q, %v", made, err)
	}
	if _, err := a.Plugin.EnsureTables(t.Context(), month(1), month(4), "t_log"); !errors.Is(err, sharding.ErrSchemaDrift) {
		t.Errorf("once more: %v", err)
	}
	if made, err := a.Plugin.EnsureTables(t.Context(), month(2), month(4), "t_log"); made != nil || err != nil {
		t.Errorf("without that month it made %q, %v", made, err)
	}
	// A time that no configuration could name is refused, as is one without an end.
	for _, to := range []time.Time{month(1).AddDate(100, 0, 0), month(1).AddDate(20000, 0, 0)} {
		if made, err := a.Plugin.EnsureTables(t.Context(), month(1), to, "t_log"); made != nil || err == nil || len(err.Error()) > 500 {
			t.Errorf("to %v it made %q, %v", to, made, err)
		}
	}
}
