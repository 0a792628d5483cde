//go:build unix

package inquiry_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/tests/mariadb"
)

// shop is a schema in two data sources, shop_0 and shop_1, and once more in the
// database shop, which is not sharded and stands beside shop_0 on one server.
type shop struct {
	servers []*mariadb.Server
}

var (
	once sync.Once
	made *shop
)

// newShop makes the shop's databases once.
func newShop(t *testing.T) *shop {
	t.Helper()
	servers := mariadb.Shared(t, 2)
	once.Do(func() {
		s := &shop{servers: servers}
		s.create(t, 0, "shop", tables("", "t_user", "t_order", "t_item", "t_region", "t_log", "t_operator"))
		s.create(t, 0, "shop_0", append(tables("_0", "t_order_0", "t_item_0", "t_region", "t_operator"),
			tables("_1", "t_order_1", "t_item_1")...))
		s.create(t, 1, "shop_1", append(append(tables("_0", "t_order_0", "t_item_0", "t_region", "t_log"),
			tables("_1", "t_order_1", "t_item_1")...), tables("", "t_user_0", "t_user_1")...))
		made = s
	})
	if made == nil {
		t.Fatal("the databases could not be made")
	}
	return made
}

// tables writes the CREATE statements of actual tables; suffix is that of the
// tables that t_item refers to.
func tables(suffix string, names ...string) []string {
	var ddl []string
	for _, name := range names {
		logical, _, _ := strings.Cut(name+suffix, "_0")
		logical, _, _ = strings.Cut(logical, "_1")
		constraint := ""
		if suffix != "" {
			constraint = "_" + name
		}
		switch logical {
		case "t_user":
			ddl = append(ddl, "CREATE TABLE "+name+" (user_id bigint NOT NULL PRIMARY KEY, name varchar(40) NOT NULL DEFAULT 'x`t_user_0`' COMMENT 'its `name`', age int unsigned, UNIQUE KEY uni_name (name)) COMMENT='users of t_user_0'")
		case "t_order":
			ddl = append(ddl, "CREATE TABLE "+name+" (id bigint NOT NULL PRIMARY KEY, user_id bigint NOT NULL, amount decimal(10,2) DEFAULT 1.50, note varchar(64), KEY idx_user (user_id, note))")
		case "t_item":
			ddl = append(ddl, "CREATE TABLE "+name+" (id bigint NOT NULL PRIMARY KEY, order_id bigint, qty int, KEY idx_order (order_id),"+
				" CONSTRAINT fk_order"+constraint+" FOREIGN KEY (order_id) REFERENCES t_order"+suffix+" (id),"+
				" CONSTRAINT ck_qty"+constraint+" CHECK (qty > 0))")
		case "t_region":
			ddl = append(ddl, "CREATE TABLE t_region (id int NOT NULL PRIMARY KEY, name varchar(20), KEY idx_name (name))", "CREATE VIEW v_region AS SELECT id FROM t_region")
		case "t_log", "t_operator":
			ddl = append(ddl, "CREATE TABLE "+name+" (id int NOT NULL PRIMARY KEY, what varchar(20))")
		}
	}
	return ddl
}

func (s *shop) create(t *testing.T, server int, database string, ddl []string) {
	t.Helper()
	if err := s.servers[server].CreateDatabase(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	pool := open(t, s.servers[server].DSN(database, "multiStatements=true"))
	if _, err := pool.ExecContext(t.Context(), strings.Join(ddl, ";")); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	pool, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

// config is the configuration with a logical schema, which may be empty.
func (s *shop) config(schema string) *config.Config {
	by := func(column, algorithm string) *config.Strategy {
		return &config.Strategy{Standard: &config.Standard{Column: column, Algorithm: algorithm}}
	}
	return &config.Config{
		DataSources: map[string]config.DataSource{
			"ds0": {DSN: config.DSN(s.servers[0].DSN("shop_0", "parseTime=true"))},
			"ds1": {DSN: config.DSN(s.servers[1].DSN("shop_1", "parseTime=true"))},
		},
		DefaultDataSource: "ds0",
		Schema:            schema,
		Sharding: config.Sharding{
			Tables: map[string]config.Table{
				"t_user":  {ActualDataNodes: "ds1.t_user_${0..1}", TableStrategy: by("user_id", "two")},
				"t_order": {ActualDataNodes: "ds${0..1}.t_order_${0..1}", DatabaseStrategy: by("id", "two"), TableStrategy: by("id", "order")},
				"t_item":  {ActualDataNodes: "ds${0..1}.t_item_${0..1}", DatabaseStrategy: by("order_id", "two"), TableStrategy: by("order_id", "item")},
			},
			BindingTables:   [][]string{{"t_order", "t_item"}},
			BroadcastTables: []string{"t_region"},
			SingleTables:    map[string]string{"t_log": "ds1"},
			Algorithms: map[string]config.Algorithm{
				"two":   {Type: "MOD", Props: map[string]any{"shardingCount": 2}},
				"order": {Type: "INLINE", Props: map[string]any{"expression": "t_order_${id.intdiv(2) % 2}"}},
				"item":  {Type: "INLINE", Props: map[string]any{"expression": "t_item_${order_id.intdiv(2) % 2}"}},
			},
		},
	}
}

// trace counts what was sent.
type trace struct {
	mu    sync.Mutex
	units []sharding.UnitTrace
}

func (r *trace) unit(_ context.Context, u sharding.UnitTrace) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.units = append(r.units, u)
}

func (r *trace) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, u := range r.units {
		fmt.Fprintf(&b, "\n  %s  %s", u.DataSource, u.SQL)
	}
	r.units = nil
	return b.String()
}

// sharded opens GORM with the plugin, and single the unsharded database.
func (s *shop) sharded(t *testing.T, cfg *config.Config) (*gorm.DB, *sharding.Plugin, *trace) {
	t.Helper()
	r := &trace{}
	plugin := sharding.Register(cfg, sharding.WithUnitTrace(r.unit))
	db, err := gorm.Open(mysql.Open(string(cfg.DataSources["ds0"].DSN)), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Use(plugin); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plugin.Close(); err != nil {
			t.Error(err)
		}
	})
	return db, plugin, r
}

func (s *shop) single(t *testing.T) *gorm.DB {
	t.Helper()
	db, err := gorm.Open(mysql.Open(s.servers[0].DSN("shop", "parseTime=true")), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if pool, err := db.DB(); err == nil {
			_ = pool.Close()
		}
	})
	return db
}
