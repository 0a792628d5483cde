//go:build unix

// Package model_test writes through models, whose sharding values GORM leaves out
// of WHERE, and holds every row and every answer against those of GORM on one
// database.
package model_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/gormshard/sharding/tests/mariadb"
)

func TestMain(m *testing.M) {
	os.Exit(mariadb.Main(m, func() error {
		// GORM never ends the goroutine of a PrepareStmt pool's cache.
		return goleak.Find(goleak.IgnoreTopFunction("gorm.io/gorm/internal/lru.NewLRU[...].func1"))
	}))
}
