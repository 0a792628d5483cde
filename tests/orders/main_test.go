//go:build unix

// Package orders_test runs the order service's statements, through GORM and
// through database/sql, on four databases of private MariaDB servers, and holds
// the answers against those of one unsharded database with the same rows.
package orders_test

import (
	"os"
	"testing"

	"github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"

	"github.com/gormshard/sharding/tests/mariadb"
)

func TestMain(m *testing.M) {
	// Connections break on purpose here.
	_ = mysql.SetLogger(&mysql.NopLogger{})
	os.Exit(mariadb.Main(m, func() error {
		// GORM never ends the goroutine of a PrepareStmt pool's cache.
		return goleak.Find(goleak.IgnoreTopFunction("gorm.io/gorm/internal/lru.NewLRU[...].func1"))
	}))
}
