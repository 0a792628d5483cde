//go:build unix

package keygen_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/tests/mariadb"
)

type order struct {
	ID     int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID int64
}

func (order) TableName() string { return "t_order" }

type item struct {
	ID     int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID int64
}

func (item) TableName() string { return "t_item" }

const (
	users   = 20
	batches = 5
)

// Two services without a word about workers write to the same tables, over pools
// of a single connection, which their transactions hold while keys are made.
func TestServicesWithoutConfigurationShareTheirTables(t *testing.T) {
	server := mariadb.Shared(t, 1)[0]
	cfg := &config.Config{
		DataSources:       map[string]config.DataSource{},
		DefaultDataSource: "ds0",
		Sharding: config.Sharding{
			Tables: map[string]config.Table{},
			Algorithms: map[string]config.Algorithm{
				"mod": {Type: "MOD", Props: map[string]any{"shardingCount": 2}},
			},
			KeyGenerators: map[string]config.KeyGenerator{
				"worker":  {Type: "SNOWFLAKE"},
				"counted": {Type: "SEGMENT", Props: map[string]any{"table": "t_item", "step": 7}},
			},
		},
	}
	for table, generator := range map[string]string{"t_order": "worker", "t_item": "counted"} {
		cfg.Sharding.Tables[table] = config.Table{
			ActualDataNodes:  "ds${0..1}." + table,
			DatabaseStrategy: &config.Strategy{Standard: &config.Standard{Column: "user_id", Algorithm: "mod"}},
			KeyGenerate:      &config.KeyGenerate{Column: "id", Generator: generator},
		}
	}
	var dsns []string
	for i := range 2 {
		name := fmt.Sprintf("services_%d", i)
		if err := server.CreateDatabase(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		dsns = append(dsns, server.DSN(name))
		cfg.DataSources[fmt.Sprintf("ds%d", i)] = config.DataSource{DSN: config.DSN(dsns[i]), MaxOpenConns: 1, MaxIdleConns: 1}
		pool := open(t, dsns[i])
		for _, table := range []string{"t_order", "t_item"} {
			run(t, pool, "CREATE TABLE "+table+" (id bigint NOT NULL PRIMARY KEY, user_id bigint NOT NULL)")
		}
	}

	var wg sync.WaitGroup
	var ids [2]map[int64]bool
	for i := range ids {
		db, plugin := service(t, cfg, dsns[0])
		wg.Go(func() {
			ids[i] = write(t, db)
			if err := plugin.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()

	for id := range ids[0] {
		if ids[1][id] {
			t.Fatalf("key %d was made by both services", id)
		}
	}
	if want := 2 * users * batches; len(ids[0]) != want || len(ids[1]) != want {
		t.Errorf("the services made %d and %d keys, want %d", len(ids[0]), len(ids[1]), want)
	}
	var held, returned int
	if err := open(t, dsns[0]).QueryRowContext(t.Context(),
		"SELECT COUNT(*), COUNT(CASE WHEN holder = '' AND expires_at = 0 THEN 1 END) FROM _sharding_worker").Scan(&held, &returned); err != nil {
		t.Fatal(err)
	}
	if held != 2 || returned != 2 {
		t.Errorf("of %d worker ids %d were given back, want 2 of 2", held, returned)
	}
}

// service opens what a process opens.
func service(t *testing.T, cfg *config.Config, dsn string) (*gorm.DB, *sharding.Plugin) {
	t.Helper()
	db, err := gorm.Open(gormmysql.Open(dsn), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	plugin := sharding.Register(cfg)
	if err := db.Use(plugin); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plugin.Close() })
	return db, plugin
}

// write inserts an order and an item for every user in every batch, and returns
// the keys.
func write(t *testing.T, db *gorm.DB) map[int64]bool {
	ids := map[int64]bool{}
	for range batches {
		err := db.Transaction(func(tx *gorm.DB) error {
			var orders []order
			for user := range int64(users) {
				orders = append(orders, order{UserID: user})
			}
			if err := tx.Create(&orders).Error; err != nil {
				return err
			}
			for _, o := range orders {
				ids[o.ID] = true
			}
			for user := range int64(users) {
				i := item{UserID: user}
				if err := tx.Create(&i).Error; err != nil {
					return err
				}
				ids[-i.ID] = true // the two kinds are counted apart
			}
			return nil
		})
		if err != nil {
			t.Error(err)
			return ids
		}
	}
	return ids
}

func TestRawInsertGetsALeasedKey(t *testing.T) {
	dsn := database(t)
	pool := open(t, dsn)
	run(t, pool, "CREATE TABLE t_order (id bigint NOT NULL PRIMARY KEY, user_id bigint NOT NULL)")
	cfg, err := config.Parse([]byte(`
dataSources: {ds0: {dsn: "`+dsn+`"}}
defaultDataSource: ds0
sharding:
  tables:
    t_order: {actualDataNodes: ds0.t_order, keyGenerate: {column: id, generator: worker}}
  keyGenerators: {worker: {type: SNOWFLAKE}}
idLease: {ttl: 5s}
`), "yaml")
	if err != nil {
		t.Fatal(err)
	}
	db, plugin := service(t, cfg, dsn)
	if err := db.Exec("INSERT INTO t_order (user_id) VALUES (?), (?)", 1, 2).Error; err != nil {
		t.Fatal(err)
	}
	var rows int
	var holder string
	var left float64
	if err := pool.QueryRowContext(t.Context(), "SELECT (SELECT COUNT(*) FROM t_order WHERE id > 1 << 22), holder, "+
		"expires_at / 1e6 - UNIX_TIMESTAMP() FROM _sharding_worker").Scan(&rows, &holder, &left); err != nil {
		t.Fatal(err)
	}
	if rows != 2 || strings.Count(holder, "/") != 2 || left < 2 || left > 7 {
		t.Errorf("%d rows, holder %q, lease for %.1f seconds", rows, holder, left)
	}
	start := time.Now()
	if err := plugin.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("Close took %s", took)
	}
}
