//go:build unix

// Package readwrite_test runs groups of a primary and two replicas, on MariaDB
// servers that replicate by GTID, and looks at who answered.
package readwrite_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/tests/mariadb"
	"github.com/gormshard/sharding/tests/mariadbtest"
)

func TestMain(m *testing.M) {
	os.Exit(mariadbtest.Main(m, mariadbtest.StatementCache))
}

// long reports whether variants run that tell little more than the others.
func long() bool { return os.Getenv("SHARDING_TEST_LONG") != "" }

// groups is two data sources, ds0 and ds1, each a group of a database on the
// primary and its copies on two replicas. t_order is sharded over both, t_region
// broadcast, t_audit single.
type groups struct {
	primary  *mariadb.Server
	replicas []*mariadb.Server
	name     string
	cfg      *config.Config
	logger   logger.Interface
	plugin   *sharding.Plugin
	db       *gorm.DB

	failed atomic.Int64 // units

	mu   sync.Mutex
	sent []string // who was sent a unit
}

// newGroups makes the databases, the same on all servers.
func newGroups(t *testing.T, name string) *groups {
	t.Helper()
	primary, replicas := mariadb.SharedReplicated(t, 2)
	g := &groups{primary: primary, replicas: replicas, name: name, logger: logger.Discard}
	byKey := func(column string) *config.Strategy {
		return &config.Strategy{Standard: &config.Standard{Column: column, Algorithm: "by_id"}}
	}
	g.cfg = &config.Config{
		DefaultDataSource: "ds0", DataSources: map[string]config.DataSource{},
		Sharding: config.Sharding{
			Tables:          map[string]config.Table{"t_order": {ActualDataNodes: "ds${0..1}.t_order", DatabaseStrategy: byKey("id")}},
			BroadcastTables: []string{"t_region"},
			Algorithms:      map[string]config.Algorithm{"by_id": {Type: "MOD", Props: map[string]any{"shardingCount": 2}}},
		},
		ReadwriteSplitting: config.ReadwriteSplitting{Groups: map[string]config.Group{}},
	}
	for i := range 2 {
		database := fmt.Sprintf("%s_%d", name, i)
		if err := g.primary.CreateDatabase(t.Context(), database); err != nil {
			t.Fatal(err)
		}
		member := func(name string, s *mariadb.Server) string {
			name = fmt.Sprintf("ds%d_%s", i, name)
			g.cfg.DataSources[name] = config.DataSource{DSN: config.DSN(s.DSN(database)), MaxOpenConns: 20, MaxIdleConns: 20}
			return name
		}
		g.cfg.ReadwriteSplitting.Groups[fmt.Sprintf("ds%d", i)] = config.Group{
			Primary: member("primary", g.primary), Replicas: []string{member("r0", g.replicas[0]), member("r1", g.replicas[1])},
		}
		g.run(t, g.primary, i, "CREATE TABLE t_order (id bigint PRIMARY KEY, v int)", "CREATE TABLE t_region (id int PRIMARY KEY, name varchar(20))",
			"CREATE TABLE t_audit (id int AUTO_INCREMENT PRIMARY KEY, v int)", "INSERT INTO t_region VALUES (1, 'north')")
	}
	g.catchUp(t)
	return g
}

// configure changes what both groups have in common.
func (g *groups) configure(change func(name string, group *config.Group)) {
	for name, group := range g.cfg.ReadwriteSplitting.Groups {
		change(name, &group)
		g.cfg.ReadwriteSplitting.Groups[name] = group
	}
}

// open starts the plugin.
func (g *groups) open(t *testing.T, options ...sharding.Option) *groups {
	t.Helper()
	db, err := gorm.Open(gormmysql.Open(g.primary.DSN(g.name+"_0")), &gorm.Config{Logger: g.logger})
	if err != nil {
		t.Fatal(err)
	}
	options = append(options, sharding.WithUnitTrace(g.trace))
	g.plugin, g.db = sharding.Register(g.cfg, options...), db
	if err := db.Use(g.plugin); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The driver has nobody to say goodbye to where a replica was hung up on.
		if err := g.plugin.Close(); err != nil && !strings.Contains(err.Error(), "bad connection") {
			t.Error(err)
		}
	})
	return g
}

// trace notes who was sent a unit.
func (g *groups) trace(ctx context.Context, u sharding.UnitTrace) {
	if of, ok := ctx.Value(unitsKey{}).(*units); ok {
		of.add(u)
	}
	if u.Err != nil {
		g.failed.Add(1)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sent = append(g.sent, u.DataSource)
}

// run runs statements in a database of one server, past the plugin.
func (g *groups) run(t *testing.T, s *mariadb.Server, database int, statements ...string) {
	t.Helper()
	db, err := sql.Open("mysql", s.DSN(fmt.Sprintf("%s_%d", g.name, database)))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// status asks a replica for its lag, NULL where it is not known, and how often it has
// been asked for that before.
func (g *groups) status(t *testing.T, s *mariadb.Server) (lag sql.NullInt64, asked int) {
	t.Helper()
	db, err := sql.Open("mysql", s.DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const count = "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'Com_show_slave_status'"
	if err := db.QueryRowContext(t.Context(), count).Scan(&asked); err != nil {
		t.Fatal(err)
	}
	rows, err := db.QueryContext(t.Context(), "SHOW SLAVE STATUS")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	into := make([]any, len(names))
	for i, name := range names {
		if into[i] = new(sql.RawBytes); name == "Seconds_Behind_Master" {
			into[i] = &lag
		}
	}
	if !rows.Next() {
		t.Fatalf("no replica: %v", rows.Err())
	}
	if err := rows.Scan(into...); err != nil {
		t.Fatal(err)
	}
	return lag, asked
}

func (g *groups) catchUp(t *testing.T) {
	t.Helper()
	for _, r := range g.replicas {
		if err := r.CatchUp(t.Context(), g.primary); err != nil {
			t.Fatal(err)
		}
	}
}

// stopReplicating lets the replicas fall behind until the test ends.
func (g *groups) stopReplicating(t *testing.T) {
	t.Helper()
	for _, r := range g.replicas {
		if err := r.StopReplicating(t.Context(), mariadb.SQLThread); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second)
		defer cancel()
		for _, r := range g.replicas {
			if err := r.Replicate(ctx, mariadb.SQLThread); err != nil {
				t.Error(err)
			}
		}
	})
}

// asked returns who has been sent a unit since the last call, without repeats in
// turn.
func (g *groups) asked() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	slices.Sort(g.sent)
	out := strings.Join(slices.Compact(g.sent), " ")
	g.sent = nil
	return out
}
