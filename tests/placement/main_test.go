//go:build unix

// Package placement_test stores random rows through GORM under every algorithm
// and type of key on a private MariaDB, and reads them back in every way a
// condition can ask for them.
package placement_test

import (
	"os"
	"testing"

	"github.com/gormshard/sharding/tests/mariadbtest"
)

func TestMain(m *testing.M) {
	os.Exit(mariadbtest.Main(m))
}
