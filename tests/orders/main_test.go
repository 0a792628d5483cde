//go:build unix

// Package orders_test runs the order service's statements, through GORM and
// through database/sql, on four databases of private MariaDB servers, and holds
// the answers against those of one unsharded database with the same rows.
package orders_test

import (
	"os"
	"testing"

	"github.com/gormshard/sharding/tests/mariadbtest"
)

func TestMain(m *testing.M) {
	os.Exit(mariadbtest.Main(m, mariadbtest.StatementCache))
}
