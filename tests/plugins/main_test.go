//go:build unix

// Package plugins_test runs other GORM plugins together with the sharding plugin,
// on two databases of a private MariaDB server. It is a module of its own, so that
// nothing else depends on what they depend on.
package plugins_test

import (
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/tests/mariadb"
	"github.com/gormshard/sharding/tests/mariadbtest"
)

func TestMain(m *testing.M) {
	os.Exit(mariadbtest.Main(
		m, mariadbtest.StatementCache,
		goleak.IgnoreAnyFunction("gorm.io/plugin/prometheus.(*Prometheus).Initialize.func1.1"),
		goleak.IgnoreAnyFunction("gorm.io/plugin/prometheus.(*Prometheus).Initialize.func1"),
	))
}

// owned is how all tables here are sharded: by owner_id, over ds0 and ds1, with
// two tables in each.
func owned(t *testing.T, name string, tables map[string]string) (*config.Config, *mariadb.Server) {
	t.Helper()
	server := mariadb.Shared(t, 1)[0]
	cfg := &config.Config{
		DataSources:       map[string]config.DataSource{},
		DefaultDataSource: "ds0",
		Sharding: config.Sharding{
			Tables:        map[string]config.Table{},
			Algorithms:    map[string]config.Algorithm{"database": {Type: "INLINE", Props: map[string]any{"expression": "ds${floorMod(owner_id, 2)}"}}},
			KeyGenerators: map[string]config.KeyGenerator{"snowflake": {Type: "SNOWFLAKE"}},
		},
	}
	by := func(algorithm string) *config.Strategy {
		return &config.Strategy{Standard: &config.Standard{Column: "owner_id", Algorithm: algorithm}}
	}
	for table := range tables {
		cfg.Sharding.Algorithms[table] = config.Algorithm{Type: "INLINE", Props: map[string]any{"expression": table + "_${floorMod(owner_id.intdiv(2), 2)}"}}
		cfg.Sharding.Tables[table] = config.Table{
			ActualDataNodes: "ds${0..1}." + table + "_${0..1}", DatabaseStrategy: by("database"), TableStrategy: by(table),
			KeyGenerate: &config.KeyGenerate{Column: "id", Generator: "snowflake"},
		}
	}
	for i := range 2 {
		database := fmt.Sprintf("%s_%d", name, i)
		if err := server.CreateDatabase(t.Context(), database); err != nil {
			t.Fatal(err)
		}
		var ddl []string
		for table, columns := range tables {
			for n := range 2 {
				ddl = append(ddl, fmt.Sprintf("CREATE TABLE %s_%d (id bigint PRIMARY KEY, owner_id bigint NOT NULL, %s)", table, n, columns))
			}
		}
		run(t, server.DSN(database, "multiStatements=true"), strings.Join(ddl, ";\n"))
		cfg.DataSources[fmt.Sprintf("ds%d", i)] = config.DataSource{DSN: config.DSN(server.DSN(database)), MaxOpenConns: 8, MaxIdleConns: 8}
	}
	return cfg, server
}

func run(t *testing.T, dsn, text string) {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, cfg *config.Config, gormConfig gorm.Config) *gorm.DB {
	t.Helper()
	if gormConfig.Logger == nil {
		gormConfig.Logger = logger.Discard
	}
	db, err := sharding.Open(cfg, &gormConfig)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sharding.Of(db).Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
