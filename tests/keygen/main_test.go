//go:build unix

// Package keygen_test runs the key generators that share a table in a private
// MariaDB, in several processes: this test binary, executed again.
package keygen_test

import (
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/gormshard/sharding/shardkernel/keygen"
	"github.com/gormshard/sharding/tests/mariadb"
	"github.com/gormshard/sharding/tests/mariadbtest"
)

func TestMain(m *testing.M) {
	// Connections break on purpose here.
	_ = mysql.SetLogger(&mysql.NopLogger{})
	if spec, ok := os.LookupEnv(childVariable); ok {
		if err := runChild(spec); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(mariadbtest.Main(m))
}

// long reports whether the tests may take their time.
func long() bool { return os.Getenv("SHARDING_TEST_LONG") != "" }

// database makes an empty database of the test's name.
func database(t *testing.T) (dsn string) {
	t.Helper()
	server := mariadb.Shared(t, 1)[0]
	name := strings.ToLower(strings.NewReplacer("/", "_", "Test", "").Replace(t.Name()))
	name = name[:min(len(name), 60)]
	if err := server.CreateDatabase(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	return server.DSN(name)
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

// generator returns a generator of its own over the database.
func generator(t *testing.T, typeName string, props keygen.Props, store keygen.Store) keygen.Stored {
	t.Helper()
	g, err := newStored(typeName, props, store)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

func newStored(typeName string, props keygen.Props, store keygen.Store) (keygen.Stored, error) {
	g, err := keygen.NewRegistry().New(typeName, props)
	if err != nil {
		return nil, err
	}
	stored := g.(keygen.Stored)
	stored.Attach(store)
	return stored, nil
}

func storeOf(pool *sql.DB, ttl time.Duration) keygen.Store {
	return keygen.Store{DataSource: "ds0", DB: pool, Dialect: "mysql", TTL: ttl}
}

func next(t *testing.T, g keygen.Generator) int64 {
	t.Helper()
	key, err := g.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return key.(int64)
}

func workerOf(key int64) int64 { return key >> 12 & 1023 }

// onlyWorker makes the table of worker ids, and leaves one of them free.
func onlyWorker(t *testing.T, pool *sql.DB, free int64) {
	t.Helper()
	g := generator(t, "SNOWFLAKE", nil, storeOf(pool, time.Minute))
	next(t, g)
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	run(t, pool, "DELETE FROM _sharding_worker")
	run(t, pool, "INSERT INTO _sharding_worker SELECT 'SNOWFLAKE', seq, 'somebody', 9e18, 0 FROM seq_0_to_1023 WHERE seq <> ?", free)
}

func run(t *testing.T, pool *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := pool.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// unique fails the test when a key stands in the lists twice.
func unique(t *testing.T, lists ...[]int64) {
	t.Helper()
	type place struct{ list, index int }
	seen := map[int64]place{}
	for i, list := range lists {
		for j, key := range list {
			if p, twice := seen[key]; twice {
				t.Fatalf("key %d was made twice: as number %d of process %d, and number %d of process %d", key, p.index, p.list, j, i)
			}
			seen[key] = place{i, j}
		}
	}
}
