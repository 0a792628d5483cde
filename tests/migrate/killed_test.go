//go:build unix

package migrate_test

import (
	"database/sql"
	"errors"
	"slices"
	"testing"
	"time"

	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/tests/mariadb"
)

// mortalCluster is a cluster of which the server of ds1 may be killed.
func mortalCluster(t *testing.T, name string) (*cluster, *mariadb.Server) {
	t.Helper()
	if !long() {
		t.Skip("a server of its own takes long to start: SHARDING_TEST_LONG=1 runs it")
	}
	mortal, err := mariadb.Start(t.Context(), mariadb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := mortal.Stop(); err != nil {
			t.Error(err)
		}
	})
	return clusterOn(t, name, []*mariadb.Server{mariadb.Shared(t, 1)[0], mortal}), mortal
}

// awaitWaiting returns when a statement of the server waits for a lock, or all is over.
func awaitWaiting(t *testing.T, pool *sql.DB, over func() bool) {
	t.Helper()
	for waiting := 0; waiting == 0 && !over(); {
		if err := pool.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for%lock'").Scan(&waiting); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestAutoMigrateCompletesWhatAKilledServerLeft kills the server of one data source
// while a node of it is being altered, migrates in vain, and once more when it is back.
func TestAutoMigrateCompletesWhatAKilledServerLeft(t *testing.T) {
	c, mortal := mortalCluster(t, "killed")
	a, plain := c.sharded(t), c.plain(t)
	for _, db := range []*gorm.DB{plain, a.DB} {
		if err := db.Table("t_order").AutoMigrate(&Row{}); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := c.pools[1].Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	if _, err := lock.ExecContext(t.Context(), "LOCK TABLES t_order_1 READ"); err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() { result <- a.Table("t_order").AutoMigrate(&Later{}) }()
	awaitWaiting(t, c.pools[1], func() bool { return len(result) > 0 })
	if err := mortal.Kill(); err != nil {
		t.Fatal(err)
	}
	var failed *sharding.NodesError
	if err := <-result; !errors.As(err, &failed) || failed.Nodes[0].DataSource != "ds1" {
		t.Errorf("with the server killed: %v", err)
	}
	if err := a.Table("t_order").AutoMigrate(&Later{}); err == nil {
		t.Error("without the server it succeeded")
	}
	if err := mortal.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, db := range []*gorm.DB{plain, a.DB} {
		if err := db.Table("t_order").AutoMigrate(&Later{}); err != nil {
			t.Error(err)
		}
	}
	c.alike(t, "after the server is back", plain, "t_order")
}

// TestEnsureTablesCompletesWhatAKilledServerLeft kills it while it is to make a table.
func TestEnsureTablesCompletesWhatAKilledServerLeft(t *testing.T) {
	c, mortal := mortalCluster(t, "ensure_killed")
	cfg := c.months()
	a := c.open(t, cfg, gormmysql.Open(string(cfg.DataSources["ds0"].DSN)))
	for _, pool := range c.pools {
		exec(t, pool, logTables("_203001"))
	}
	lock, err := c.pools[1].Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	if _, err := lock.ExecContext(t.Context(), "FLUSH TABLES WITH READ LOCK"); err != nil {
		t.Fatal(err)
	}
	type answer struct {
		made []string
		err  error
	}
	ensure := func() answer {
		made, err := a.Plugin.EnsureTables(t.Context(), month(1), month(3), "t_log", "t_log_line")
		return answer{made, err}
	}
	result := make(chan answer, 1)
	go func() { result <- ensure() }()
	awaitWaiting(t, c.pools[1], func() bool { return len(result) > 0 })
	if err := mortal.Kill(); err != nil {
		t.Fatal(err)
	}
	var failed *sharding.NodesError
	first := []string{"ds0.t_log_203002", "ds0.t_log_line_203002"}
	if got := <-result; !errors.As(got.err, &failed) || !errors.Is(got.err, sharding.ErrPartialDDL) || failed.Nodes[0].DataSource != "ds1" || !slices.Equal(got.made, first) {
		t.Errorf("with the server killed it made %q, %v", got.made, got.err)
	}
	if got := ensure(); got.made != nil || got.err == nil {
		t.Errorf("without the server it made %q, %v", got.made, got.err)
	}
	if err := mortal.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := ensure(); got.err != nil || !slices.Equal(got.made, []string{"ds1.t_log_203002", "ds1.t_log_line_203002"}) {
		t.Errorf("after the server is back it made %q, %v", got.made, got.err)
	}
	for _, table := range []string{"t_log_203002", "t_log_line_203002"} {
		if got, want := definition(t, c.pools[1], table), definition(t, c.pools[0], table); !slices.Equal(got, want) {
			t.Errorf("%s is %q on ds1, and %q on ds0", table, got, want)
		}
	}
}
