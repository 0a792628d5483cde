//go:build unix

// Package oracle_test throws generated statements at sharded databases and at
// one unsharded database with the same rows, and compares every answer.
//
// A statement is made of a seed alone. ORACLE_N is the number of statements of
// each kind, ORACLE_SEED the first seed, ORACLE_TIME how long to go on instead of
// ORACLE_N; with ORACLE_SAMPLE a SELECT is asked in one protocol and of two clusters
// alone. A failure prints the command that runs its statement again. See
// docs/oracle.md.
package oracle_test

import (
	"iter"
	"os"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gormshard/sharding/tests/mariadbtest"
)

const cacheOfStatements = "gorm.io/gorm/internal/lru.NewLRU[...].func1"

func TestMain(m *testing.M) {
	os.Exit(mariadbtest.Main(m, goleak.IgnoreAnyFunction(cacheOfStatements)))
}

// statements returns the first seed and the number of statements.
func statements(t *testing.T, count int) (first uint64, n int) {
	t.Helper()
	return number(t, "ORACLE_SEED", 1), int(number(t, "ORACLE_N", uint64(count)))
}

func number(t *testing.T, name string, unset uint64) uint64 {
	t.Helper()
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

// seeds gives the seeds to run: ORACLE_N of them, or as many as part of
// ORACLE_TIME is enough for, where that is set.
func seeds(t *testing.T, count int, part float64) iter.Seq[uint64] {
	t.Helper()
	first, n := statements(t, count)
	var end time.Time
	if text := os.Getenv("ORACLE_TIME"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("ORACLE_TIME: %v", err)
		}
		end = time.Now().Add(time.Duration(part * float64(d)))
	}
	return func(yield func(uint64) bool) {
		for seed := first; ; seed++ {
			if end.IsZero() && seed >= first+uint64(n) || !end.IsZero() && time.Now().After(end) || !yield(seed) {
				return
			}
		}
	}
}
