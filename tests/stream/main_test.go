//go:build unix

// Package stream_test reads many rows of sixteen nodes on private MariaDB
// servers, and holds against its bounds what that takes: memory, connections,
// and the time until a statement that nobody wants has ended on the servers.
package stream_test

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
	os.Exit(mariadb.Main(m, func() error { return goleak.Find() }))
}
