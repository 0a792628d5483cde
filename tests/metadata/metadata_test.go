//go:build unix

// Package metadata_test runs the server tests of shardkernel/internal/metadata,
// which cannot be imported from here, against a private MariaDB.
package metadata_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/gormshard/sharding/tests/mariadb"
	"github.com/gormshard/sharding/tests/mariadbtest"
)

func TestMain(m *testing.M) { os.Exit(mariadbtest.Main(m)) }

func TestValuesAndColumnsAgreeWithTheServer(t *testing.T) {
	server := mariadb.Shared(t, 1)[0]
	if err := server.CreateDatabase(t.Context(), "metadata"); err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-run=^TestServer", "./shardkernel/internal/metadata/")
	run.Dir = "../.."
	run.Env = append(os.Environ(), "SHARDING_TEST_MYSQL_DSN="+server.DSN("metadata", "charset=utf8mb4"))
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", run.Args, err, out)
	}
}
