//go:build unix

// Package ddl_test defines tables through the plugin, on the nodes of real
// servers, and in one unsharded database beside them.
package ddl_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/go-sql-driver/mysql"
	gormmysql "gorm.io/driver/mysql"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/tests/mariadb"
	"github.com/gormshard/sharding/tests/mariadbtest"
	"github.com/gormshard/sharding/tests/rowtext"
)

func TestMain(m *testing.M) {
	os.Exit(mariadbtest.Main(m))
}

// long reports whether the variants run that repeat a proof on other values.
func long() bool { return os.Getenv("SHARDING_TEST_LONG") != "" }

// cluster is a set of empty databases: one for each of the data sources ds0 and
// ds1, and one that is not sharded.
type cluster struct {
	servers []*mariadb.Server
	name    string
}

func newCluster(t *testing.T, name string) *cluster {
	t.Helper()
	c := &cluster{servers: mariadb.Shared(t, 2), name: name}
	for i, server := range c.servers {
		if err := server.CreateDatabase(t.Context(), c.database(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.servers[0].CreateDatabase(t.Context(), name+"_single"); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *cluster) database(i int) string { return fmt.Sprintf("%s_%d", c.name, i) }

// config has orders and items, four nodes each and bound, a broadcast table of
// regions and a single table of audits in ds1.
func (c *cluster) config() *config.Config {
	byUser := func(algorithm string) *config.Strategy {
		return &config.Strategy{Standard: &config.Standard{Column: "user_id", Algorithm: algorithm}}
	}
	cfg := &config.Config{
		DataSources:       map[string]config.DataSource{},
		DefaultDataSource: "ds0",
		Sharding: config.Sharding{
			Tables: map[string]config.Table{
				"t_order":      {ActualDataNodes: "ds${0..1}.t_order_${0..1}", DatabaseStrategy: byUser("database"), TableStrategy: byUser("order")},
				"t_order_item": {ActualDataNodes: "ds${0..1}.t_order_item_${0..1}", DatabaseStrategy: byUser("database"), TableStrategy: byUser("item")},
			},
			BindingTables:   [][]string{{"t_order", "t_order_item"}},
			BroadcastTables: []string{"t_region"},
			SingleTables:    map[string]string{"t_audit": "ds1"},
			Algorithms: map[string]config.Algorithm{
				"database": {Type: "INLINE", Props: map[string]any{"expression": "ds${floorMod(user_id, 2)}"}},
				"order":    {Type: "INLINE", Props: map[string]any{"expression": "t_order_${floorMod(user_id.intdiv(2), 2)}"}},
				"item":     {Type: "INLINE", Props: map[string]any{"expression": "t_order_item_${floorMod(user_id.intdiv(2), 2)}"}},
			},
		},
	}
	for i, server := range c.servers {
		cfg.DataSources[fmt.Sprint("ds", i)] = config.DataSource{DSN: config.DSN(server.DSN(c.database(i), "lock_wait_timeout=1"))}
	}
	return cfg
}

// app is an application on the cluster.
type app struct{ *mariadbtest.App }

func (c *cluster) open(t *testing.T, cfg *config.Config) *app {
	t.Helper()
	a, err := c.tryOpen(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (c *cluster) tryOpen(t *testing.T, cfg *config.Config) (*app, error) {
	t.Helper()
	a, err := mariadbtest.Open(t, cfg, gormmysql.Open(string(cfg.DataSources["ds0"].DSN)))
	return &app{a}, err
}

// define sends statements that must succeed.
func (a *app) define(t *testing.T, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if err := a.Exec(s).Error; err != nil {
			t.Fatalf("%s\n%v", s, err)
		}
	}
}

func openPool(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	pool, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

// node is the database of a data source, without the plugin; single the one that
// is not sharded.
func (c *cluster) node(t *testing.T, i int) *sql.DB {
	return openPool(t, c.servers[i].DSN(c.database(i)))
}

func (c *cluster) single(t *testing.T) *sql.DB {
	return openPool(t, c.servers[0].DSN(c.name+"_single"))
}

// lines asks for rows, each as one line.
func lines(t *testing.T, db interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}, query string, args ...any,
) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query, args...) //nolint:rowserrcheck // Lines checks it
	if err != nil {
		t.Fatalf("%s\n%v", query, err)
	}
	out, err := rowtext.Lines(rows)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// exec runs statements that must succeed on a database.
func exec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s\n%v", s, err)
		}
	}
}

// number is the server's error number, 0 without an error and -1 for an error
// that is no server's.
func number(err error) int {
	var server *mysql.MySQLError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &server):
		return int(server.Number)
	}
	return -1
}

// ask sends a query and reads nothing of the answer.
func ask(db *sql.DB, t *testing.T, query string) error {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		return err
	}
	return errors.Join(rows.Err(), rows.Close())
}
