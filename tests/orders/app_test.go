//go:build unix

package orders_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
)

// trace collects the units that were sent.
type trace struct {
	mu    sync.Mutex
	units []sharding.UnitTrace
}

func (r *trace) unit(_ context.Context, u sharding.UnitTrace) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.units = append(r.units, u)
}

// take returns the units since the last call.
func (r *trace) take() []sharding.UnitTrace {
	r.mu.Lock()
	defer r.mu.Unlock()
	units := r.units
	r.units = nil
	return units
}

func (r *trace) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, u := range r.units {
		fmt.Fprintf(&b, "  %s  %s  %v\n", u.DataSource, u.SQL, u.Err)
	}
	return b.String()
}

// app is an application on a sharded GORM.
type app struct {
	*gorm.DB
	plugin *sharding.Plugin
	trace  *trace
}

// open opens an application on the cluster. Its pools must hold no connection
// in use when the test ends.
func (c *cluster) open(t *testing.T, cfg *config.Config, gormConfig *gorm.Config) *app {
	t.Helper()
	a := &app{trace: &trace{}}
	a.plugin = sharding.Register(cfg, sharding.WithUnitTrace(a.trace.unit))
	if gormConfig == nil {
		gormConfig = &gorm.Config{}
	}
	gormConfig.Logger = logger.Discard
	db, err := gorm.Open(mysql.Open(string(cfg.DataSources[cfg.DefaultSourceName()].DSN)), gormConfig)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Use(a.plugin); err != nil {
		t.Fatal(err)
	}
	a.DB = db
	t.Cleanup(func() {
		checkIdle(t, a.plugin, cfg)
		if err := a.plugin.Close(); err != nil {
			t.Error("closing the plugin:", err)
		}
	})
	return a
}

// checkIdle fails the test when a pool still has a connection in use.
func checkIdle(t *testing.T, plugin *sharding.Plugin, cfg *config.Config) {
	t.Helper()
	for _, name := range cfg.SourceNames() {
		pool, err := plugin.DataSource(name).DB()
		if err != nil {
			t.Fatal(err)
		}
		waitIdle(t, name, pool)
	}
}

// waitIdle allows for connections that a cancelled statement gives back a moment
// later.
func waitIdle(t *testing.T, name string, pool *sql.DB) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		n := pool.Stats().InUse
		if n == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("%s has %d connections in use", name, n)
			return
		}
	}
}

// openSQL opens an application without GORM on the cluster.
func (c *cluster) openSQL(t *testing.T, cfg *config.Config) (*sql.DB, *trace) {
	t.Helper()
	r := &trace{}
	connector, err := sharding.Connector(cfg, sharding.WithUnitTrace(r.unit))
	if err != nil {
		t.Fatal(err)
	}
	pool := sql.OpenDB(connector)
	t.Cleanup(func() {
		waitIdle(t, "the logical pool", pool)
		if err := pool.Close(); err != nil {
			t.Error("closing the logical pool:", err)
		}
	})
	return pool, r
}

// openSingle opens GORM on the unsharded database.
func (c *cluster) openSingle(t *testing.T, gormConfig *gorm.Config, params ...string) *gorm.DB {
	t.Helper()
	if gormConfig == nil {
		gormConfig = &gorm.Config{}
	}
	gormConfig.Logger = logger.Discard
	db, err := gorm.Open(mysql.Open(c.singleDSN(params...)), gormConfig)
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
