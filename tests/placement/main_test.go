//go:build unix

// Package placement_test stores random rows through GORM under every algorithm
// and type of key on a private MariaDB, and reads them back in every way a
// condition can ask for them.
package placement_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/gormshard/sharding/tests/mariadb"
)

func TestMain(m *testing.M) {
	os.Exit(mariadb.Main(m, func() error { return goleak.Find() }))
}
