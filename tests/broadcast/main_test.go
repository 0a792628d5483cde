//go:build unix

// Package broadcast_test breaks the copies of broadcast tables on a private
// MariaDB in every way, and looks at what the check of them reports.
package broadcast_test

import (
	"database/sql"
	"fmt"
	"os"
	"testing"

	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/tests/mariadb"
	"github.com/gormshard/sharding/tests/mariadbtest"
)

func TestMain(m *testing.M) {
	os.Exit(mariadbtest.Main(m))
}

// copies is broadcast tables in three data sources of one server.
type copies struct {
	server *mariadb.Server
	pools  []*sql.DB // past the plugin
	cfg    *config.Config
	plugin *sharding.Plugin
	db     *gorm.DB
}

const sources = 3

// sloppy lets the tests store what a strict mode refuses, such as zero dates.
const sloppy = "sql_mode=%27%27"

// newCopies makes the data sources and runs ddl in each.
func newCopies(t *testing.T, name string, tables []string, ddl ...string) *copies {
	t.Helper()
	c := &copies{server: mariadb.Shared(t, 1)[0], cfg: &config.Config{DefaultDataSource: "ds0", DataSources: map[string]config.DataSource{}}}
	c.cfg.Sharding.BroadcastTables = tables
	for i := range sources {
		database := fmt.Sprintf("%s_%d", name, i)
		if err := c.server.CreateDatabase(t.Context(), database); err != nil {
			t.Fatal(err)
		}
		dsn := c.server.DSN(database, sloppy)
		pool, err := sql.Open("mysql", dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = pool.Close() })
		c.pools = append(c.pools, pool)
		for _, statement := range ddl {
			c.run(t, i, statement)
		}
		c.cfg.DataSources[fmt.Sprintf("ds%d", i)] = config.DataSource{DSN: config.DSN(dsn), MaxOpenConns: 4}
	}
	return c
}

// open starts the plugin.
func (c *copies) open(t *testing.T) *copies {
	t.Helper()
	db, err := gorm.Open(gormmysql.Open(string(c.cfg.DataSources["ds0"].DSN)), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	c.plugin, c.db = sharding.Register(c.cfg), db
	if err := db.Use(c.plugin); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.plugin.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// run runs a statement in one data source.
func (c *copies) run(t *testing.T, source int, statement string, args ...any) {
	t.Helper()
	if _, err := c.pools[source].ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("ds%d: %s: %v", source, statement, err)
	}
}

// everywhere runs a statement in every data source.
func (c *copies) everywhere(t *testing.T, statement string, args ...any) {
	t.Helper()
	for i := range c.pools {
		c.run(t, i, statement, args...)
	}
}

// check returns what is reported of one table.
func (c *copies) check(t *testing.T, table string) sharding.BroadcastTable {
	t.Helper()
	report, err := c.plugin.CheckBroadcast(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Tables) != 1 || report.Tables[0].Name != table {
		t.Fatalf("asked for %s, got %+v", table, report.Tables)
	}
	return report.Tables[0]
}
