//go:build unix

package app_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
)

// connections is the number of connections that the server has to the databases.
func (c *cluster) connections(t *testing.T, db *gorm.DB) int {
	t.Helper()
	var n int
	if err := db.Raw("SELECT COUNT(*) FROM information_schema.processlist WHERE db LIKE ?", c.name+"\\__").Scan(&n).Error; err != nil {
		t.Fatal(err)
	}
	return n
}

func TestOpenOpensEveryDataSourceOnce(t *testing.T) {
	c := newCluster(t, "once")
	given := &gorm.Config{Logger: logger.Discard, Plugins: map[string]gorm.Plugin{"second": second{t}}}
	db := c.open(t, c.config(), given)
	if given.Dialector != nil || len(given.Plugins) != 1 {
		t.Error("the caller's gorm.Config was changed")
	}
	if sharding.Of(db.Session(&gorm.Session{NewDB: true})) == nil || sharding.Of(c.plain(t, nil)) != nil {
		t.Error("Of finds the plugin of every session, and none where there is none")
	}
	fill(t, db)
	source := sharding.Of(db).DataSource("ds0")
	if err := source.Clauses(clause.OnConflict{DoNothing: true}).Create(&region{ID: 1, Name: "north"}).Error; err != nil {
		t.Errorf("the default data source by itself: %v", err)
	}
	if got := pool(t, source).Stats().MaxOpenConnections; got != 8 {
		t.Errorf("the default data source's pool has %d connections at most, want the configured 8", got)
	}
	// A model of the default data source's own, with RETURNING as MariaDB has it.
	entry := audit{Text: "numbered"}
	if err := db.Create(&entry).Error; err != nil || entry.ID == 0 {
		t.Errorf("key %d, %v", entry.ID, err)
	}
}

// TestTheDefaultDataSourceByItselfIsPlainGORM whether its pool was opened by Open or
// by the application: all clauses of its statements are sent, errors are translated,
// transactions nest.
func TestTheDefaultDataSourceByItselfIsPlainGORM(t *testing.T) {
	c := newCluster(t, "itself")
	warned := &strings.Builder{}
	gormConfig := func() *gorm.Config {
		return &gorm.Config{TranslateError: true, Logger: logger.New(log.New(warned, "", 0), logger.Config{LogLevel: logger.Warn})}
	}
	registered, err := gorm.Open(gormmysql.Open(c.server.DSN(c.database(0))), gormConfig())
	if err != nil {
		t.Fatal(err)
	}
	cfg := c.config()
	delete(cfg.DataSources, "ds0")
	cfg.DefaultDataSource = ""
	cfg.Sharding = config.Sharding{BroadcastTables: []string{"t_region"}}
	plugin := sharding.Register(cfg)
	if err := registered.Use(plugin); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = plugin.Close() }()
	for name, source := range map[string]*gorm.DB{
		"Open":     sharding.Of(c.open(t, c.config(), gormConfig())).DataSource("ds0"),
		"Register": plugin.DataSource("default"),
	} {
		if warned.Len() > 0 {
			t.Errorf("%s: the start warns: %s", name, warned)
		}
		source = source.Session(&gorm.Session{Logger: logger.Discard})
		entries := []audit{{Text: "a"}, {Text: "a"}, {Text: "a"}}
		if err := source.Create(&entries).Error; err != nil {
			t.Fatal(err)
		}
		if err := source.Create(&audit{ID: entries[0].ID}).Error; !errors.Is(err, gorm.ErrDuplicatedKey) {
			t.Errorf("%s: a duplicate is %v", name, err)
		}
		if got := source.Model(&audit{}).Where("text = ?", "a").Limit(1).Update("text", "b"); got.Error != nil || got.RowsAffected != 1 {
			t.Errorf("%s: UPDATE with LIMIT 1 changed %d rows, %v", name, got.RowsAffected, got.Error)
		}
		if got := source.Where("id > 0").Limit(1).Delete(&audit{}); got.Error != nil || got.RowsAffected != 1 {
			t.Errorf("%s: DELETE with LIMIT 1 deleted %d rows, %v", name, got.RowsAffected, got.Error)
		}
		undo := errors.New("undo")
		err := source.Transaction(func(tx *gorm.DB) error {
			if err := tx.Transaction(func(tx *gorm.DB) error {
				return errors.Join(tx.Create(&audit{Text: "undone"}).Error, undo)
			}); !errors.Is(err, undo) || errors.Is(err, gorm.ErrUnsupportedDriver) {
				return fmt.Errorf("nested: %w", err)
			}
			return tx.Create(&audit{Text: "kept"}).Error
		})
		var texts []string
		if err := errors.Join(err, source.Model(&audit{}).Where("text LIKE ?", "%e%").Pluck("text", &texts).Error); err != nil || len(texts) != 1 || texts[0] != "kept" {
			t.Errorf("%s: after a nested transaction %v, %v", name, texts, err)
		}
		if err := source.Where("id > 0").Delete(&audit{}).Error; err != nil {
			t.Error(err)
		}
	}
}

// second is a plugin that wants to find the sharding in place.
type second struct{ t *testing.T }

func (second) Name() string { return "second" }

func (s second) Initialize(db *gorm.DB) error {
	if sharding.Of(db) == nil {
		s.t.Error("another plugin is initialised before the sharding plugin")
	}
	return nil
}

func TestClosingTheLogicalPoolClosesEverything(t *testing.T) {
	c := newCluster(t, "closing")
	plain := c.plain(t, nil)
	for _, closing := range []struct {
		name  string
		close func(db *gorm.DB) error
	}{
		{"db.DB", func(db *gorm.DB) error { return pool(t, db).Close() }},
		{"Plugin.Close", func(db *gorm.DB) error { return sharding.Of(db).Close() }},
	} {
		t.Run(closing.name, func(t *testing.T) {
			db, err := sharding.Open(c.config(), &gorm.Config{Logger: logger.Discard})
			if err != nil {
				t.Fatal(err)
			}
			fill(t, db)
			if c.connections(t, plain) == 0 {
				t.Error("no connection is found, so this test proves nothing")
			}
			for range 2 {
				if err := closing.close(db); err != nil {
					t.Error(err)
				}
			}
			for deadline := time.Now().Add(5 * time.Second); c.connections(t, plain) > 0; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("%d connections are left", c.connections(t, plain))
				}
			}
			for name, use := range map[string]func() error{
				"one node":      func() error { return db.First(&user{}, "owner_id = 1").Error },
				"all nodes":     func() error { return db.Find(&[]user{}).Error },
				"a write":       func() error { return db.Create(&user{OwnerID: 1, Email: "late"}).Error },
				"a transaction": func() error { return db.Transaction(func(tx *gorm.DB) error { return tx.First(&user{}).Error }) },
				"a row":         func() error { var n int; return db.Raw("SELECT COUNT(*) FROM t_user").Row().Scan(&n) },
				"a single table": func() error {
					return db.First(&audit{}).Error
				},
				"a ping": func() error { return pool(t, db).PingContext(t.Context()) },
			} {
				if err := use(); err == nil {
					t.Errorf("%s succeeds after Close", name)
				}
			}
		})
	}
}

func TestCloseWaitsForNobodyForEver(t *testing.T) {
	c := newCluster(t, "busy")
	db, err := sharding.Open(c.config(), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, db)
	var wg sync.WaitGroup
	started := make(chan struct{}, 16)
	for i := range 16 {
		wg.Go(func() {
			for n := 0; ; n++ {
				var err error
				switch i % 3 {
				case 0:
					err = db.Find(&[]user{}).Error
				case 1:
					err = db.Find(&[]user{}, "owner_id = ?", i).Error
				case 2:
					err = db.Transaction(func(tx *gorm.DB) error {
						return tx.Model(&user{}).Where("owner_id = ?", i).Update("balance", gorm.Expr("balance + 1")).Error
					})
				}
				if n == 0 {
					started <- struct{}{}
				}
				if err != nil {
					return
				}
			}
		})
	}
	for range 16 {
		<-started
	}
	if err := sharding.Of(db).Close(); err != nil {
		t.Error(err)
	}
	wg.Wait() // every statement after Close is an error
}

func TestADeadDataSourceStopsOnlyWhatNeedsIt(t *testing.T) {
	c := newCluster(t, "dead")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nowhere := listener.Addr().String()
	_ = listener.Close()
	for _, dead := range []string{"ds0", "ds1"} {
		t.Run(dead, func(t *testing.T) {
			cfg := c.config()
			cfg.Sharding.BroadcastTables = nil
			ds := cfg.DataSources[dead]
			ds.DSN = config.DSN(strings.Replace(string(ds.DSN), c.server.Addr(), nowhere, 1))
			if ds.DSN == cfg.DataSources[dead].DSN {
				t.Fatalf("the DSN does not hold the address %s", c.server.Addr())
			}
			cfg.DataSources[dead] = ds
			cfg.Sharding.KeyGenerators["snowflake"] = config.KeyGenerator{Type: "SNOWFLAKE", Props: map[string]any{"workerId": 1}}
			db := c.open(t, cfg, nil)
			alive := int64(1)
			if dead == "ds1" {
				alive = 2
			}
			u := user{OwnerID: alive, Email: "alive"}
			if err := db.Create(&u).Error; err != nil {
				t.Errorf("the other data source: %v", err)
			}
			if err := db.Where("owner_id = ?", alive).First(&user{}, u.ID).Error; err != nil {
				t.Errorf("the other data source: %v", err)
			}
			for _, where := range []string{fmt.Sprintf("owner_id = %d", 3-alive), "id > 0"} {
				err := db.Find(&[]user{}, where).Error
				var network *net.OpError
				if !errors.As(err, &network) {
					t.Errorf("%s: %v, want the network's error", where, err)
				}
			}
		})
	}
}

func TestOpenTellsWhatIsWrong(t *testing.T) {
	c := newCluster(t, "wrong")
	for _, test := range []struct {
		name   string
		change func(cfg *config.Config)
		want   string
	}{
		{"no default data source", func(cfg *config.Config) { cfg.DefaultDataSource = "" }, "defaultDataSource"},
		{"unknown default data source", func(cfg *config.Config) { cfg.DefaultDataSource = "ds7" }, "ds7"},
		{"unknown driver", func(cfg *config.Config) { cfg.DataSources["ds0"] = config.DataSource{Driver: "pigeon", DSN: "x"} }, "pigeon"},
		{"bad DSN", func(cfg *config.Config) { cfg.DataSources["ds0"] = config.DataSource{DSN: "secret-password"} }, "dataSources.ds0"},
		{"bad rule", func(cfg *config.Config) { cfg.Sharding.BindingTables = [][]string{{"t_user", "t_nowhere"}} }, "t_nowhere"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := c.config()
			cfg.DataSources = maps.Clone(cfg.DataSources)
			test.change(cfg)
			db, err := sharding.Open(cfg, &gorm.Config{Logger: logger.Discard})
			if err == nil {
				_ = sharding.Of(db).Close()
				t.Fatal("no error")
			}
			if !errors.Is(err, sharding.ErrConfig) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret-password") {
				t.Errorf("error %q, want a configuration error that names %s", err, test.want)
			}
		})
	}
	if _, err := sharding.Open(nil, nil); !errors.Is(err, sharding.ErrConfig) {
		t.Errorf("without a configuration: %v", err)
	}
}

// Two plugins of one configuration in one process do not know of each other.
func TestSeveralPluginsOfOneConfiguration(t *testing.T) {
	c := newCluster(t, "several")
	cfg := c.config()
	first, other := c.open(t, cfg, nil), c.open(t, cfg, nil)
	over, err := gorm.Open(gormmysql.New(gormmysql.Config{Conn: pool(t, first)}), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Session(&gorm.Session{NewDB: true}).Use(sharding.Of(first)); err == nil {
		t.Error("the same plugin could be used twice")
	}
	var wg sync.WaitGroup
	for i, db := range []*gorm.DB{first, other, over, first.Session(&gorm.Session{NewDB: true}), other.Session(&gorm.Session{PrepareStmt: true})} {
		wg.Go(func() {
			for n := range 10 {
				users := []user{{OwnerID: int64(i), Email: fmt.Sprint(n)}, {OwnerID: int64(i + 1), Email: fmt.Sprint(i, " ", n)}}
				if err := db.Create(&users).Error; err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	for name, db := range map[string]*gorm.DB{"first": first, "other": other, "over": over} {
		var n int64
		if err := db.Model(&user{}).Count(&n).Error; err != nil || n != 100 {
			t.Errorf("%s sees %d users, %v; want 100", name, n, err)
		}
	}
	if err := sharding.Of(other).Close(); err != nil {
		t.Error(err)
	}
	if err := first.WithContext(context.Background()).First(&user{}, "owner_id = 1").Error; err != nil {
		t.Errorf("the first after the other was closed: %v", err)
	}
}
