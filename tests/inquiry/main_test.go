//go:build unix

// Package inquiry_test asks about tables, with SHOW, DESCRIBE, EXPLAIN,
// information_schema and GORM's migrator, through the plugin on two MariaDB
// servers, and holds the answers against those of one unsharded database.
package inquiry_test

import (
	"os"
	"testing"

	"github.com/gormshard/sharding/tests/mariadbtest"
)

func TestMain(m *testing.M) {
	os.Exit(mariadbtest.Main(m))
}
