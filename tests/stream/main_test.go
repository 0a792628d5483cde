//go:build unix

// Package stream_test reads many rows of sixteen nodes on private MariaDB
// servers, and holds against its bounds what that takes: memory, connections,
// and the time until a statement that nobody wants has ended on the servers.
package stream_test

import (
	"os"
	"testing"

	"github.com/gormshard/sharding/tests/mariadbtest"
)

func TestMain(m *testing.M) {
	os.Exit(mariadbtest.Main(m))
}
