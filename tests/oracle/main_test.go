//go:build unix

// Package oracle_test throws generated statements at sharded databases and at
// one unsharded database with the same rows, and compares every answer.
//
// A statement is made of a seed alone. ORACLE_N is the number of statements of
// each kind, ORACLE_SEED the first seed; a failure prints the command that runs
// its statement again.
package oracle_test

import (
	"os"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"github.com/gormshard/sharding/tests/mariadb"
)

const cacheOfStatements = "gorm.io/gorm/internal/lru.NewLRU[...].func1"

func TestMain(m *testing.M) {
	// GORM's cache of prepared statements never ends its goroutine.
	leaks := func() error { return goleak.Find(goleak.IgnoreAnyFunction(cacheOfStatements)) }
	os.Exit(mariadb.Main(m, leaks))
}

// statements returns the first seed and the number of statements.
func statements(t *testing.T, count int) (first uint64, n int) {
	t.Helper()
	number := func(name string, unset uint64) uint64 {
		text := os.Getenv(name)
		if text == "" {
			return unset
		}
		v, err := strconv.ParseUint(text, 10, 63)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return v
	}
	return number("ORACLE_SEED", 1), int(number("ORACLE_N", uint64(count)))
}
