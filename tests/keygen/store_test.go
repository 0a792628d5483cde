//go:build unix

package keygen_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/shardkernel/keygen"
	"github.com/gormshard/sharding/shardkernel/keygen/keygentest"
	"github.com/gormshard/sharding/tests/mariadb"
)

func TestStoredGeneratorsConform(t *testing.T) {
	pool := open(t, database(t))
	for typeName, props := range map[string]keygen.Props{
		"SNOWFLAKE": nil, "SEGMENT": {"table": "t_order", "step": 150},
	} {
		t.Run(typeName, func(t *testing.T) {
			keygentest.Run(t, generator(t, typeName, props, storeOf(pool, 30*time.Second)))
		})
	}
}

func TestManyGeneratorsStartAtOnce(t *testing.T) {
	pool := open(t, database(t))
	pool.SetMaxOpenConns(10)
	const many = 30
	ids, keys := make([]int64, many), make([]int64, many)
	var wg sync.WaitGroup
	for i := range many {
		worker := generator(t, "SNOWFLAKE", nil, storeOf(pool, 30*time.Second))
		segment := generator(t, "SEGMENT", keygen.Props{"table": "t_order", "start": 5, "step": 2}, storeOf(pool, 30*time.Second))
		wg.Go(func() {
			ids[i] = workerOf(next(t, worker))
			keys[i] = next(t, segment)
		})
	}
	wg.Wait()
	unique(t, ids)
	unique(t, keys)
	var least int64 = 5
	for _, key := range keys {
		if key < least || key >= least+2*many {
			t.Errorf("key %d of blocks of 2 from 5 on", key)
		}
	}
}

func TestLeaseIsKeptWhileItIsRenewedAndGivenBackAtClose(t *testing.T) {
	pool := open(t, database(t))
	onlyWorker(t, pool, 1023)
	g := generator(t, "SNOWFLAKE", nil, storeOf(pool, 2*time.Second))
	last := next(t, g)
	time.Sleep(3 * time.Second)
	other := generator(t, "SNOWFLAKE", nil, storeOf(pool, time.Second))
	if key, err := other.Next(t.Context()); err == nil || !strings.Contains(err.Error(), "of 1024, other processes hold 1024, and 0 were used up") {
		t.Errorf("got %v, %v while the only worker id is held", key, err)
	}
	last = max(last, next(t, g))
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Millisecond)
	if key := next(t, other); key <= last || workerOf(key) != 1023 {
		t.Errorf("key %d of worker %d after %d", key, workerOf(key), last)
	}
}

func TestClockSetBackRepeatsNoKey(t *testing.T) {
	pool := open(t, database(t))
	onlyWorker(t, pool, 7)
	var mu sync.Mutex
	var back time.Duration
	store := storeOf(pool, 30*time.Second)
	store.Now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return time.Now().Add(-back)
	}
	set := func(d time.Duration) { mu.Lock(); defer mu.Unlock(); back = d }

	g := generator(t, "SNOWFLAKE", nil, store)
	keys := []int64{next(t, g)}
	set(time.Hour)
	if key, err := g.Next(t.Context()); err == nil || !strings.Contains(err.Error(), "the clock went back by") {
		t.Errorf("got %v, %v", key, err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}

	// A process that starts with the wrong clock knows nothing of the time
	// before, but the table does.
	restarted := generator(t, "SNOWFLAKE", nil, store)
	if key, err := restarted.Next(t.Context()); err == nil || !strings.Contains(err.Error(), "1 were used up to a time that the clock here has not reached") {
		t.Errorf("got %v, %v", key, err)
	}
	set(0)
	time.Sleep(time.Millisecond)
	keys = append(keys, next(t, restarted))
	if keys[1] <= keys[0] {
		t.Errorf("keys %v", keys)
	}
}

func TestKeysEndWithTheLeaseWhenTheDatabaseHangs(t *testing.T) {
	server, err := mariadb.Start(t.Context(), mariadb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	if err := server.CreateDatabase(t.Context(), "leases"); err != nil {
		t.Fatal(err)
	}
	const ttl = 2 * time.Second
	g := generator(t, "SNOWFLAKE", nil, storeOf(open(t, server.DSN("leases")), ttl))
	next(t, g)
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	paused := time.Now()
	var lasted time.Duration
	for lasted < 3*ttl {
		asked := time.Since(paused)
		if _, err := g.Next(t.Context()); err != nil {
			break
		}
		lasted = asked
		time.Sleep(time.Millisecond)
	}
	if lasted == 0 || lasted >= ttl {
		t.Errorf("keys were made for %s after the database hung, with leases of %s", lasted, ttl)
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { _, err := g.Next(t.Context()); return err == nil }, func() string {
		_, err := g.Next(t.Context())
		return err.Error()
	})
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

func TestTableThatMayNotBeMadeIsExplained(t *testing.T) {
	dsn := database(t)
	owner := open(t, dsn)
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	run(t, owner, "CREATE OR REPLACE USER modest@127.0.0.1 IDENTIFIED BY 'modest'")
	run(t, owner, "GRANT SELECT, INSERT, UPDATE ON `"+config.DBName+"`.* TO modest@127.0.0.1")
	config.User, config.Passwd = "modest", "modest"
	pool := open(t, config.FormatDSN())
	for typeName, props := range map[string]keygen.Props{"SNOWFLAKE": nil, "SEGMENT": {"table": "t_order"}} {
		g := generator(t, typeName, props, storeOf(pool, 30*time.Second))
		_, err := g.Next(t.Context())
		var wrong *sharding.ConfigError
		var denied *mysql.MySQLError
		if !errors.As(err, &wrong) || !errors.As(err, &denied) || wrong.Path != "idLease.dataSource" {
			t.Errorf("%s: got %T %v", typeName, err, err)
			continue
		}
		ddl, _, _ := strings.Cut(strings.TrimPrefix(wrong.Remedy, "let an administrator run: "), ";")
		run(t, owner, ddl)
		next(t, g)
	}
}

func TestUnreachableDatabaseIsNamed(t *testing.T) {
	pool := open(t, "app:hidden@tcp(127.0.0.1:1)/none")
	for typeName, props := range map[string]keygen.Props{"SNOWFLAKE": nil, "SEGMENT": {"table": "t_order"}} {
		_, err := generator(t, typeName, props, storeOf(pool, time.Second)).Next(t.Context())
		if err == nil || !strings.Contains(err.Error(), "ds0: dial tcp") || errors.Is(err, sharding.ErrConfig) {
			t.Errorf("%s: got %v", typeName, err)
		}
	}
}
