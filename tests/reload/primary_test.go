//go:build unix

package reload_test

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/tests/mariadb"
)

// pair is a group of a primary and a replica that follows it.
type pair struct {
	servers map[string]*mariadb.Server // by the names of their data sources
	plugin  *sharding.Plugin
	db      *gorm.DB
}

func newPair(t *testing.T) *pair {
	t.Helper()
	primary, replicas, err := mariadb.StartReplicated(t.Context(), 1, mariadb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{servers: map[string]*mariadb.Server{"a": primary, "b": replicas[0]}}
	t.Cleanup(func() {
		for _, s := range p.servers {
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
		}
	})
	if err := primary.CreateDatabase(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	// read_only does not count for the user of the tests.
	p.run(t, "a", "CREATE USER service@'%' IDENTIFIED BY 'service'", "GRANT ALL ON shop.* TO service@'%'", "GRANT SLAVE MONITOR ON *.* TO service@'%'")
	p.run(t, "a", "CREATE TABLE t_order_0 (id bigint PRIMARY KEY, user_id bigint NOT NULL, amount bigint NOT NULL)", "CREATE TABLE t_order_1 LIKE t_order_0")
	p.catchUp(t, "b", "a")
	byUser := &config.Strategy{Standard: &config.Standard{Column: "user_id", Algorithm: "two"}}
	cfg := &config.Config{
		DefaultDataSource: "ds0",
		DataSources: map[string]config.DataSource{
			"a": {DSN: service(t, primary), MaxOpenConns: 20, MaxIdleConns: 20},
			"b": {DSN: service(t, replicas[0]), MaxOpenConns: 20, MaxIdleConns: 20},
		},
		ReadwriteSplitting: config.ReadwriteSplitting{
			Groups: map[string]config.Group{"ds0": {Primary: "a", Replicas: []string{"b"}}},
			Health: config.Health{Interval: 50 * time.Millisecond},
		},
		Sharding: config.Sharding{
			Tables: map[string]config.Table{"t_order": {
				ActualDataNodes: "ds0.t_order_${0..1}", TableStrategy: byUser, KeyGenerate: &config.KeyGenerate{Column: "id", Generator: "snowflake"},
			}},
			Algorithms:    map[string]config.Algorithm{"two": {Type: "MOD", Props: map[string]any{"shardingCount": 2}}},
			KeyGenerators: map[string]config.KeyGenerator{"snowflake": {Type: "SNOWFLAKE"}},
		},
		IDLease: config.IDLease{TTL: 3 * time.Second},
	}
	if p.db, err = gorm.Open(gormmysql.Open(primary.DSN("shop")), &gorm.Config{Logger: logger.Discard}); err != nil {
		t.Fatal(err)
	}
	p.plugin = sharding.Register(cfg)
	if err := p.db.Use(p.plugin); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.plugin.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// service is the database of the application's user.
func service(t *testing.T, s *mariadb.Server) config.DSN {
	t.Helper()
	cfg, err := mysql.ParseDSN(s.DSN("shop"))
	if err != nil {
		t.Fatal(err)
	}
	cfg.User, cfg.Passwd = "service", "service"
	return config.DSN(cfg.FormatDSN())
}

func (p *pair) raw(t *testing.T, name string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", p.servers[name].DSN("shop"))
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func (p *pair) run(t *testing.T, name string, statements ...string) {
	t.Helper()
	db := p.raw(t, name)
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.ExecContext(context.WithoutCancel(t.Context()), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func (p *pair) catchUp(t *testing.T, replica, primary string) {
	t.Helper()
	if err := p.servers[replica].CatchUp(t.Context(), p.servers[primary]); err != nil {
		t.Fatal(err)
	}
}

// position is how far a server has written, itself and as a replica.
func (p *pair) position(t *testing.T, name string) (position string) {
	t.Helper()
	db := p.raw(t, name)
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), "SELECT @@gtid_current_pos").Scan(&position); err != nil {
		t.Fatal(err)
	}
	return position
}

// sent counts the writes and transactions that a server was sent, also in vain.
func (p *pair) sent(t *testing.T, name string) (counts string) {
	t.Helper()
	db := p.raw(t, name)
	defer db.Close()
	const query = "SELECT GROUP_CONCAT(variable_name, '=', variable_value ORDER BY variable_name) FROM information_schema.global_status WHERE variable_name IN ('Com_insert', 'Com_update', 'Com_delete', 'Com_replace', 'Com_begin')"
	if err := db.QueryRowContext(t.Context(), query).Scan(&counts); err != nil {
		t.Fatal(err)
	}
	return counts
}

// promote makes the replica the primary: the former one is closed to writes, the
// replica catches up and is put into its place, by configuration.
func (p *pair) promote(t *testing.T, from, to string) {
	t.Helper()
	cfg := p.plugin.Config()
	cfg.ReadwriteSplitting.Groups["ds0"] = config.Group{Primary: to, Replicas: []string{from}}
	if err := p.plugin.Reload(cfg); err != nil {
		t.Fatal(err)
	}
}

func TestWritesFollowThePrimaryThatTheConfigurationNames(t *testing.T) {
	p := newPair(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var mu sync.Mutex
	stored := map[int64]bool{}
	var wg sync.WaitGroup
	var failed, written atomic.Int64
	var swapped atomic.Bool
	var lastly atomic.Pointer[error]
	store := func(orders ...Order) {
		mu.Lock()
		defer mu.Unlock()
		for _, o := range orders {
			if stored[o.ID] {
				t.Errorf("key %d was given out twice", o.ID)
			}
			stored[o.ID] = true
		}
		written.Add(1)
	}
	detached := context.WithoutCancel(ctx)
	for n := range int64(4) {
		wg.Go(func() {
			for i := n; ctx.Err() == nil; i++ {
				orders := []Order{{UserID: i}, {UserID: i + 1}}
				after := swapped.Load()
				var err error
				if n%2 == 0 {
					err = p.db.WithContext(detached).Create(&orders).Error
				} else {
					err = p.db.WithContext(detached).Transaction(func(tx *gorm.DB) error {
						if err := tx.Create(&orders[0]).Error; err != nil {
							return err
						}
						return tx.Create(&orders[1]).Error
					})
				}
				// The former primary is closed to writes for a moment.
				if err != nil {
					if after {
						t.Errorf("a write that began when Reload had returned: %v", err)
					}
					failed.Add(1)
					lastly.Store(&err)
					time.Sleep(time.Millisecond)
					continue
				}
				store(orders...)
			}
		})
	}
	progress := func() {
		t.Helper()
		defer func() {
			if err := lastly.Load(); t.Failed() && err != nil {
				t.Logf("a write failed lastly: %v", *err)
			}
		}()
		from := written.Load()
		await(t, "writes", func() bool { return written.Load() > from+20 })
	}
	progress()
	// A transaction that is open on the old primary.
	open := p.db.WithContext(detached).Begin()
	kept := Order{UserID: 1}
	if err := open.Create(&kept).Error; err != nil {
		t.Fatal(err)
	}
	if err := open.Commit().Error; err != nil {
		t.Fatal(err)
	}
	store(kept)
	late, idle := p.db.WithContext(detached).Begin(), p.db.WithContext(detached).Begin()
	defer late.Rollback()
	defer idle.Rollback()
	if err := late.Create(&Order{UserID: 2}).Error; err != nil {
		t.Fatal(err)
	}
	p.run(t, "a", "SET GLOBAL read_only = 1")
	p.catchUp(t, "b", "a")
	p.run(t, "b", "STOP SLAVE", "SET GLOBAL read_only = 0")
	p.promote(t, "a", "b")
	swapped.Store(true)
	before := p.position(t, "a")
	// It ends on the old primary, where it has begun, but for that being closed to
	// writes; another one has begun nowhere yet.
	if err := late.Create(&Order{UserID: 3}).Error; err == nil {
		t.Error("the transaction on the former primary writes to another")
	}
	if err := late.Commit().Error; err == nil {
		t.Error("the transaction on the former primary has committed")
	}
	moved := Order{UserID: 4}
	if err := idle.Create(&moved).Error; err != nil {
		t.Error(err)
	}
	if err := idle.Commit().Error; err != nil {
		t.Error(err)
	}
	store(moved)
	// Those of the writers, too, may still be open there.
	await(t, "transactions on the former primary to end", func() bool { return p.plugin.Status().Draining == 0 })
	sent := p.sent(t, "a")
	progress()
	progress()
	if after := p.position(t, "a"); after != before {
		t.Errorf("the former primary was at %s when Reload returned, and is at %s now", before, after)
	}
	if after := p.sent(t, "a"); after != sent {
		t.Errorf("the former primary has been sent writes, %q before and %q now", sent, after)
	}
	p.run(t, "a", "SET GLOBAL gtid_slave_pos = @@gtid_binlog_pos")
	if err := p.servers["a"].Follow(t.Context(), p.servers["b"]); err != nil {
		t.Fatal(err)
	}
	progress()
	stop()
	wg.Wait()
	p.catchUp(t, "a", "b")
	for name := range p.servers {
		db := p.raw(t, name)
		var n int
		err := db.QueryRowContext(t.Context(), "SELECT (SELECT COUNT(*) FROM t_order_0) + (SELECT COUNT(*) FROM t_order_1)").Scan(&n)
		if err != nil || n != len(stored) {
			t.Errorf("%s has %d rows of %d, error %v", name, n, len(stored), err)
		}
		_ = db.Close()
	}
	t.Logf("%d rows, %d writes failed meanwhile", len(stored), failed.Load())
	defer func() {
		if t.Failed() {
			t.Logf("the groups: %+v", p.plugin.Status().Groups)
		}
	}()
	await(t, "the former primary to answer reads", func() bool {
		groups := p.plugin.Status().Groups
		return len(groups) == 1 && groups[0].Primary == "b" && groups[0].Replicas[0].Replica == "a" && groups[0].Replicas[0].Up
	})
	await(t, "former configurations to be closed", func() bool { return p.plugin.Status().Draining == 0 })
}
