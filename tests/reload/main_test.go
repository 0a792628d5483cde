//go:build unix

// Package reload_test changes the configuration while statements run, on MariaDB
// servers.
package reload_test

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
	os.Exit(mariadbtest.Main(m, mariadbtest.StatementCache))
}

// Order is a row of t_order, sharded by user over two databases with two tables
// each.
type Order struct {
	ID     int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID int64
	Amount int64
}

func (Order) TableName() string { return "t_order" }

// Item is a row of t_item, sharded by its counted id.
type Item struct {
	ID   int64 `gorm:"primaryKey;autoIncrement:false"`
	Name string
}

func (Item) TableName() string { return "t_item" }

// shop is a plugin over databases of one server.
type shop struct {
	server *mariadb.Server
	name   string
	cfg    *config.Config
	plugin *sharding.Plugin
	db     *gorm.DB
}

// newShop makes the databases and tables, and starts the plugin.
func newShop(t *testing.T, name string, options ...sharding.Option) *shop {
	t.Helper()
	s := &shop{server: mariadb.Shared(t, 1)[0], name: name}
	byUser := func(algorithm string) *config.Strategy {
		return &config.Strategy{Standard: &config.Standard{Column: "user_id", Algorithm: algorithm}}
	}
	s.cfg = &config.Config{
		DefaultDataSource: "ds0", DataSources: map[string]config.DataSource{},
		Sharding: config.Sharding{
			Tables: map[string]config.Table{
				"t_order": {
					ActualDataNodes: "ds${0..1}.t_order_${0..1}", DatabaseStrategy: byUser("by_database"), TableStrategy: byUser("by_table"),
					KeyGenerate: &config.KeyGenerate{Column: "id", Generator: "snowflake"},
				},
				"t_item": {
					ActualDataNodes: "ds${0..1}.t_item", DatabaseStrategy: &config.Strategy{Standard: &config.Standard{Column: "id", Algorithm: "by_id"}},
					KeyGenerate: &config.KeyGenerate{Column: "id", Generator: "counted"},
				},
			},
			SingleTables: map[string]string{"t_audit": "ds1"},
			Algorithms: map[string]config.Algorithm{
				"by_database": {Type: "INLINE", Props: map[string]any{"expression": "ds${user_id % 2}"}},
				"by_table":    {Type: "INLINE", Props: map[string]any{"expression": "t_order_${user_id.intdiv(2) % 2}"}},
				"by_id":       {Type: "MOD", Props: map[string]any{"shardingCount": 2}},
			},
			KeyGenerators: map[string]config.KeyGenerator{
				"snowflake": {Type: "SNOWFLAKE"},
				"counted":   {Type: "SEGMENT", Props: map[string]any{"table": "t_item", "step": 10}},
			},
		},
	}
	for i := range 2 {
		s.cfg.DataSources[fmt.Sprintf("ds%d", i)] = s.database(t, i)
		for _, table := range []string{"t_order_0", "t_order_1"} {
			s.run(t, i, "CREATE TABLE "+table+" (id bigint PRIMARY KEY, user_id bigint NOT NULL, amount bigint NOT NULL)")
		}
		s.run(t, i, "CREATE TABLE t_item (id bigint PRIMARY KEY, name varchar(20) NOT NULL)")
	}
	s.run(t, 1, "CREATE TABLE t_audit (id int AUTO_INCREMENT PRIMARY KEY, v int)")
	s.open(t, options...)
	return s
}

// database makes a database and returns its data source.
func (s *shop) database(t *testing.T, i int) config.DataSource {
	t.Helper()
	name := fmt.Sprintf("%s_%d", s.name, i)
	if err := s.server.CreateDatabase(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	return config.DataSource{DSN: config.DSN(s.server.DSN(name)), MaxOpenConns: 20, MaxIdleConns: 20}
}

func (s *shop) open(t *testing.T, options ...sharding.Option) {
	t.Helper()
	db, err := gorm.Open(gormmysql.Open(s.server.DSN(s.name+"_0")), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	s.plugin, s.db = sharding.Register(s.cfg, options...), db
	if err := db.Use(s.plugin); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.plugin.Close(); err != nil {
			t.Error(err)
		}
	})
}

// run runs a statement in one database, past the plugin.
func (s *shop) run(t *testing.T, database int, statement string) {
	t.Helper()
	db := s.raw(t, database)
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// raw opens one database, past the plugin.
func (s *shop) raw(t *testing.T, database int) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", s.server.DSN(fmt.Sprintf("%s_%d", s.name, database)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// changed returns the configuration in force with a change.
func (s *shop) changed(change func(*config.Config)) *config.Config {
	cfg := s.plugin.Config()
	change(cfg)
	return cfg
}

// reload reloads with a change, which must succeed.
func (s *shop) reload(t *testing.T, change func(*config.Config), opts ...sharding.ReloadOption) {
	t.Helper()
	if err := s.plugin.Reload(s.changed(change), opts...); err != nil {
		t.Fatal(err)
	}
}
