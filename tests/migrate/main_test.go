//go:build unix

// Package migrate_test runs GORM's migrator over the nodes of real servers, and
// over one unsharded database beside them, and compares what both say and make.
package migrate_test

import (
	"database/sql"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/tests/mariadb"
	"github.com/gormshard/sharding/tests/mariadbtest"
)

func TestMain(m *testing.M) {
	os.Exit(mariadbtest.Main(m))
}

// long reports whether the variants run that repeat a proof on more tables and nodes.
func long() bool { return os.Getenv("SHARDING_TEST_LONG") != "" }

// nodes are the actual tables of the logical ones, by kind: sharded over two
// databases and two tables each, bound to that, called alike in both databases,
// broadcast, single in the second and in the default database, automatic, and by
// month.
var nodes = map[string][]string{
	"t_order":      {"ds0.t_order_0", "ds0.t_order_1", "ds1.t_order_0", "ds1.t_order_1"},
	"t_order_item": {"ds0.t_order_item_0", "ds0.t_order_item_1", "ds1.t_order_item_0", "ds1.t_order_item_1"},
	"t_ent":        {"ds0.t_ent", "ds1.t_ent"},
	"t_region":     {"ds0.t_region", "ds1.t_region"},
	"t_audit":      {"ds1.t_audit"},
	"t_plain":      {"ds0.t_plain"},
	"t_event":      {"ds0.t_event_0", "ds1.t_event_1", "ds0.t_event_2", "ds1.t_event_3"},
	"t_log":        {"ds0.t_log_202601", "ds0.t_log_202602", "ds1.t_log_202601", "ds1.t_log_202602"},
	"t_member":     {"ds0.t_member_0", "ds0.t_member_1", "ds1.t_member_0", "ds1.t_member_1"},
	"t_member_tag": {"ds0.t_member_tag_0", "ds0.t_member_tag_1", "ds1.t_member_tag_0", "ds1.t_member_tag_1"},
}

// cluster is a set of empty databases: one for each of the data sources ds0 and
// ds1, and one that is not sharded.
type cluster struct {
	servers []*mariadb.Server
	name    string
	pools   []*sql.DB // of the data sources
}

func newCluster(t *testing.T, name string) *cluster {
	t.Helper()
	return clusterOn(t, name, mariadb.Shared(t, 2))
}

// clusterOn is a cluster on servers for ds0 and ds1.
func clusterOn(t *testing.T, name string, servers []*mariadb.Server) *cluster {
	t.Helper()
	c := &cluster{servers: servers, name: name}
	for i := range c.servers {
		if err := c.servers[i].CreateDatabase(t.Context(), c.database(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.servers[0].CreateDatabase(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	for i, server := range c.servers {
		pool, err := sql.Open("mysql", server.DSN(c.database(i), "multiStatements=true"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = pool.Close() })
		c.pools = append(c.pools, pool)
	}
	return c
}

func (c *cluster) database(i int) string { return fmt.Sprintf("%s_%d", c.name, i) }

func (c *cluster) config() *config.Config {
	by := func(column, algorithm string) *config.Strategy {
		return &config.Strategy{Standard: &config.Standard{Column: column, Algorithm: algorithm}}
	}
	four := func(table, column string) config.Table {
		return config.Table{
			ActualDataNodes: "ds${0..1}." + table + "_${0..1}", DatabaseStrategy: by(column, "database"), TableStrategy: by(column, table),
		}
	}
	numbered := func(table string) config.Algorithm {
		return config.Algorithm{Type: "INLINE", Props: map[string]any{"expression": table + "_${floorMod(user_id.intdiv(2), 2)}"}}
	}
	cfg := &config.Config{
		DataSources:       map[string]config.DataSource{},
		DefaultDataSource: "ds0",
		Schema:            c.name,
		Sharding: config.Sharding{
			Tables: map[string]config.Table{
				"t_order":      four("t_order", "user_id"),
				"t_order_item": four("t_order_item", "user_id"),
				"t_member":     four("t_member", "user_id"),
				"t_member_tag": four("t_member_tag", "user_id"),
				"t_ent":        {ActualDataNodes: "ds${0..1}.t_ent", DatabaseStrategy: by("user_id", "database")},
				"t_log": {
					ActualDataNodes: "ds${0..1}.t_log_20260${1..2}", DatabaseStrategy: by("user_id", "database"), TableStrategy: by("at", "month"),
				},
			},
			AutoTables:      map[string]config.AutoTable{"t_event": {DataSources: "ds${0..1}", Strategy: by("user_id", "event")}},
			BindingTables:   [][]string{{"t_order", "t_order_item"}, {"t_member", "t_member_tag"}},
			BroadcastTables: []string{"t_region", "t_tag"},
			SingleTables:    map[string]string{"t_audit": "ds1"},
			Algorithms: map[string]config.Algorithm{
				"database":     {Type: "INLINE", Props: map[string]any{"expression": "ds${floorMod(user_id, 2)}"}},
				"t_order":      numbered("t_order"),
				"t_order_item": numbered("t_order_item"),
				"t_member":     numbered("t_member"),
				"t_member_tag": numbered("t_member_tag"),
				"event":        {Type: "MOD", Props: map[string]any{"shardingCount": 4}},
				"month": {Type: "INTERVAL", Props: map[string]any{
					"datetimeLower": "2026-01-01 00:00:00", "datetimeUpper": "2026-02-28 00:00:00", "suffixPattern": "yyyyMM", "unit": "MONTHS",
				}},
			},
		},
	}
	for i, server := range c.servers {
		cfg.DataSources[fmt.Sprint("ds", i)] = config.DataSource{DSN: config.DSN(server.DSN(c.database(i), "parseTime=true", "lock_wait_timeout=1"))}
	}
	return cfg
}

// app is an application on the cluster.
type app struct{ *mariadbtest.App }

func (c *cluster) open(t *testing.T, cfg *config.Config, dialector gorm.Dialector) *app {
	t.Helper()
	a, err := mariadbtest.Open(t, cfg, dialector)
	if err != nil {
		t.Fatal(err)
	}
	return &app{a}
}

// sharded opens the cluster with the plugin.
func (c *cluster) sharded(t *testing.T) *app {
	t.Helper()
	cfg := c.config()
	return c.open(t, cfg, gormmysql.Open(string(cfg.DataSources["ds0"].DSN)))
}

// plain opens the database that is not sharded, without the plugin.
func (c *cluster) plain(t *testing.T) *gorm.DB {
	t.Helper()
	db, err := gorm.Open(gormmysql.Open(c.servers[0].DSN(c.name, "parseTime=true")), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	return db
}

// at is the database that a node is in, without the plugin.
func (c *cluster) at(node string) *sql.DB { return c.pools[node[2]-'0'] }

func exec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s\n%v", s, err)
		}
	}
}

// definitions returns, and forgets, the DDL among the statements that were sent.
func (a *app) definitions() []string {
	var out []string
	for _, s := range a.Take() {
		_, text, _ := strings.Cut(s, " ")
		switch verb, _, _ := strings.Cut(text, " "); verb {
		case "CREATE", "ALTER", "DROP":
			out = append(out, s)
		}
	}
	return out
}

// definition reads how a table is defined: the columns in their order, then all
// else in that of the text; nil where there is none.
func definition(t *testing.T, db *sql.DB, table string) []string {
	t.Helper()
	var name, text string
	err := db.QueryRowContext(t.Context(), "SHOW CREATE TABLE "+table).Scan(&name, &text)
	if err != nil {
		return nil
	}
	lines := strings.Split(text, "\n")[1:]
	for i := range lines {
		lines[i] = strings.TrimSuffix(strings.TrimSpace(lines[i]), ",")
	}
	slices.Sort(lines[columns(lines):])
	return lines
}

// columns is the number of lines of a definition that are columns.
func columns(lines []string) int {
	n := slices.IndexFunc(lines, func(line string) bool { return !strings.HasPrefix(line, "`") })
	return max(n, 0)
}

// longCheck is the name of a CHECK that has no room for an actual table's name, and
// shortened what it becomes.
const longCheck = "chk_number_of_the_items_of_an_order_that_has_a_name_of_56_chars"

var shortened = regexp.MustCompile(longCheck[:47] + "_[0-9a-f]{16}")

// alike compares the definition of each node of a logical table, under logical
// names, with that of the table that is not sharded.
func (c *cluster) alike(t *testing.T, what string, plain *gorm.DB, table string) {
	t.Helper()
	pool, err := plain.DB()
	if err != nil {
		t.Fatal(err)
	}
	want := definition(t, pool, table)
	for _, node := range nodes[table] {
		_, actual, _ := strings.Cut(node, ".")
		got := definition(t, c.at(node), actual)
		suffix := strings.TrimPrefix(actual, table)
		for i := range got {
			if suffix == "" {
				break
			}
			got[i] = shortened.ReplaceAllString(strings.ReplaceAll(got[i], "_"+actual+"`", "`"), longCheck)
			for logical := range nodes {
				got[i] = strings.ReplaceAll(got[i], "`"+logical+suffix+"`", "`"+logical+"`")
			}
		}
		slices.Sort(got[columns(got):]) // by their logical names now
		if !slices.Equal(got, want) {
			t.Errorf("%s: %s is\n  %s\ninstead of\n  %s", what, node, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
		}
	}
}
