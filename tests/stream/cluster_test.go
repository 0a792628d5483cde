//go:build unix

package stream_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/tests/mariadb"
)

const (
	databases = 4 // data sources ds0 … ds3
	tables    = 4 // t_row_0 … t_row_3 in each
	nodes     = databases * tables
)

// long says that the tests run at their full size.
var long = os.Getenv("SHARDING_TEST_LONG") != ""

// cluster is the table t_row over sixteen nodes, whose ids are 1 to rows.
type cluster struct {
	server *mariadb.Server
	name   string
	rows   int
}

var filled sync.Map // of the shared server, by name

// sharedCluster is on the server of all tests that break none.
func sharedCluster(t testing.TB) *cluster {
	t.Helper()
	rows := 48_000
	if long {
		rows = 1_000_000
	}
	c := &cluster{server: mariadb.Shared(t, 1)[0], name: "stream", rows: rows}
	if _, done := filled.LoadOrStore(c.name, true); !done {
		c.fill(t)
	}
	return c
}

// fill makes the databases and their rows. What is measured here is no matter of
// the engine.
func (c *cluster) fill(t testing.TB) {
	t.Helper()
	var wg sync.WaitGroup
	for d := range databases {
		wg.Go(func() {
			if err := c.server.CreateDatabase(t.Context(), c.database(d)); err != nil {
				t.Error(err)
				return
			}
			var ddl []string
			for n := range tables {
				table := fmt.Sprintf("t_row_%d", n)
				ddl = append(ddl,
					"CREATE TABLE "+table+" (id bigint NOT NULL PRIMARY KEY, g int NOT NULL, name varchar(40), pad varchar(100)) ENGINE = MyISAM",
					fmt.Sprintf("INSERT INTO %s SELECT seq, seq %% 1000, CONCAT('name ', seq %% 77), REPEAT('x', 60) FROM seq_1_to_%d WHERE seq %% %d = %d AND seq DIV %d %% %d = %d",
						table, c.rows, databases, d, databases, tables, n))
			}
			pool := openPool(t, c.dsn(d, "multiStatements=true"))
			if _, err := pool.ExecContext(t.Context(), strings.Join(ddl, ";")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

func (c *cluster) database(d int) string { return fmt.Sprintf("%s_%d", c.name, d) }

func (c *cluster) dsn(d int, params ...string) string { return c.server.DSN(c.database(d), params...) }

func openPool(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	pool, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

// config lets a query take a number of connections of each pool, whose size is
// the other number.
func (c *cluster) config(perQuery, poolSize int) *config.Config {
	cfg := &config.Config{
		DataSources:       map[string]config.DataSource{},
		DefaultDataSource: "ds0",
		Sharding: config.Sharding{
			Tables: map[string]config.Table{"t_row": {
				ActualDataNodes:  fmt.Sprintf("ds${0..%d}.t_row_${0..%d}", databases-1, tables-1),
				DatabaseStrategy: &config.Strategy{Standard: &config.Standard{Column: "id", Algorithm: "database"}},
				TableStrategy:    &config.Strategy{Standard: &config.Standard{Column: "id", Algorithm: "table"}},
			}},
			Algorithms: map[string]config.Algorithm{
				"database": {Type: "MOD", Props: map[string]any{"shardingCount": databases}},
				"table":    {Type: "INLINE", Props: map[string]any{"expression": fmt.Sprintf("t_row_${floorMod(id.intdiv(%d), %d)}", databases, tables)}},
			},
		},
	}
	cfg.Props.MaxConnectionsPerQuery = perQuery
	for d := range databases {
		cfg.DataSources[fmt.Sprintf("ds%d", d)] = config.DataSource{DSN: config.DSN(c.dsn(d)), MaxOpenConns: poolSize, MaxIdleConns: poolSize}
	}
	return cfg
}

// app is an application on a cluster.
type app struct {
	*gorm.DB
	plugin *sharding.Plugin
	pools  []*sql.DB // of the data sources
}

// open opens an application. Its pools must hold no connection in use when the
// test ends.
func (c *cluster) open(t testing.TB, cfg *config.Config, options ...sharding.Option) *app {
	t.Helper()
	db, err := gorm.Open(mysql.Open(c.dsn(0)), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	a := &app{DB: db, plugin: sharding.Register(cfg, options...)}
	if err := db.Use(a.plugin); err != nil {
		t.Fatal(err)
	}
	for _, name := range cfg.SourceNames() {
		pool, err := a.plugin.DataSource(name).DB()
		if err != nil {
			t.Fatal(err)
		}
		a.pools = append(a.pools, pool)
	}
	t.Cleanup(func() {
		a.idle(t)
		if err := a.plugin.Close(); err != nil {
			t.Error("closing the plugin:", err)
		}
	})
	return a
}

// connect opens a number of connections of each pool, one after the other. A server
// gives up a client that is too busy to answer its greeting.
func (a *app) connect(t testing.TB, each int) {
	t.Helper()
	for _, pool := range a.pools {
		conns := make([]*sql.Conn, each)
		for i := range conns {
			var err error
			if conns[i], err = pool.Conn(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, conn := range conns {
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// idle waits until no pool has a connection in use.
func (a *app) idle(t testing.TB) {
	t.Helper()
	within(t, 2*time.Second, "connections are in use", func() bool { return a.inUse() == 0 })
}

func (a *app) inUse() int {
	n := 0
	for _, pool := range a.pools {
		n += pool.Stats().InUse
	}
	return n
}

// query runs a SELECT and fails the test when it is refused.
func (a *app) query(ctx context.Context, t testing.TB, query string, args ...any) *sql.Rows {
	t.Helper()
	rows, err := a.WithContext(ctx).Raw(query, args...).Rows()
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return rows
}

// within fails the test unless a condition comes true in time.
func within(t testing.TB, limit time.Duration, otherwise string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("after %v %s", limit, otherwise)
			return
		}
	}
}
