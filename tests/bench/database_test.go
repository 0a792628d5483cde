package bench

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/tests/bench/noop"
)

// order is the model of all benchmarks. It is in ds1.t_order_1 of eight nodes
// where EntID is ent.
type order struct {
	ID        int64 `gorm:"primaryKey;autoIncrement:false"`
	EntID     int64
	Status    int
	Amount    int64
	Customer  string `gorm:"size:255"`
	Note      string `gorm:"size:255"`
	CreatedAt time.Time
}

const (
	ent         = 5
	actualTable = "t_order_1"
	foundRows   = 1000
)

func database() *noop.Database {
	return noop.New([]noop.Column{
		{Name: "id", Type: "bigint", Value: int64(42)},
		{Name: "ent_id", Type: "bigint", Value: int64(ent)},
		{Name: "status", Type: "bigint", Value: int64(1)},
		{Name: "amount", Type: "bigint", Value: int64(1999)},
		{Name: "customer", Type: "varchar", Value: []byte("Ada Lovelace")},
		{Name: "note", Type: "varchar", Value: []byte("ring twice")},
		{Name: "created_at", Type: "datetime", Value: time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)},
	}, foundRows)
}

func init() { sql.Register("noop", database().Driver()) }

// plain opens GORM as it is, with the actual table as the model's.
func plain(tb testing.TB, cfg gorm.Config) *gorm.DB {
	return open(tb, actualTable, cfg)
}

// sharded opens GORM with the plugin over four data sources of two tables each.
func sharded(tb testing.TB, cfg gorm.Config) *gorm.DB {
	tb.Helper()
	return shardedBy(tb, rules(), cfg)
}

// shardedBy opens GORM with the plugin of a configuration.
func shardedBy(tb testing.TB, of *config.Config, cfg gorm.Config) *gorm.DB {
	tb.Helper()
	db := open(tb, "t_order", cfg)
	plugin := sharding.Register(of, sharding.WithDialector("noop", func(dsn string) gorm.Dialector {
		return mysql.New(mysql.Config{DriverName: "noop", DSN: dsn, SkipInitializeWithVersion: true})
	}))
	if err := db.Use(plugin); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := plugin.Close(); err != nil {
			tb.Error(err)
		}
	})
	return db
}

func open(tb testing.TB, table string, cfg gorm.Config) *gorm.DB {
	tb.Helper()
	cfg.Logger = logger.Discard
	cfg.NamingStrategy = oneTable{table: table}
	db, err := gorm.Open(dialector(tb), &cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return db
}

func dialector(tb testing.TB) gorm.Dialector {
	pool := database().Open()
	tb.Cleanup(func() { _ = pool.Close() })
	return mysql.New(mysql.Config{Conn: pool, SkipInitializeWithVersion: true})
}

// oneTable gives every model the same table.
type oneTable struct {
	schema.NamingStrategy
	table string
}

func (t oneTable) TableName(string) string { return t.table }

func rules() *config.Config { return configured(false) }

// replicated has the same tables, in groups of a primary and two replicas.
func replicated() *config.Config { return configured(true) }

func configured(replicas bool) *config.Config {
	by := func(algorithm string) *config.Strategy {
		return &config.Strategy{Standard: &config.Standard{Column: "ent_id", Algorithm: algorithm}}
	}
	cfg := &config.Config{
		DataSources:       map[string]config.DataSource{},
		DefaultDataSource: "ds0",
		Sharding: config.Sharding{
			Tables: map[string]config.Table{"t_order": {
				ActualDataNodes:  "ds${0..3}.t_order_${0..1}",
				DatabaseStrategy: by("database"),
				TableStrategy:    by("table"),
				KeyGenerate:      &config.KeyGenerate{Column: "id", Generator: "snowflake"},
			}},
			Algorithms: map[string]config.Algorithm{
				"database": {Type: "INLINE", Props: map[string]any{"expression": "ds${ent_id % 4}"}},
				"table":    {Type: "INLINE", Props: map[string]any{"expression": "t_order_${ent_id.intdiv(4) % 2}"}},
			},
			KeyGenerators: map[string]config.KeyGenerator{
				"snowflake": {Type: "SNOWFLAKE", Props: map[string]any{"workerId": 1}},
			},
		},
	}
	for i := range 4 {
		name := fmt.Sprintf("ds%d", i)
		if !replicas {
			cfg.DataSources[name] = config.DataSource{Driver: "noop", DSN: config.DSN("/" + name)}
			continue
		}
		for _, member := range []string{"_primary", "_r0", "_r1"} {
			cfg.DataSources[name+member] = config.DataSource{Driver: "noop", DSN: config.DSN("/" + name + member)}
		}
		if cfg.ReadwriteSplitting.Groups == nil {
			cfg.ReadwriteSplitting = config.ReadwriteSplitting{Groups: map[string]config.Group{}, Health: config.Health{Off: true}}
		}
		cfg.ReadwriteSplitting.Groups[name] = config.Group{Primary: name + "_primary", Replicas: []string{name + "_r0", name + "_r1"}}
	}
	return cfg
}
