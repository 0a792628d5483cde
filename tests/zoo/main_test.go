//go:build unix

// Package zoo_test runs one suite over a zoo of models in the manner of GORM's
// documentation: on plain GORM and one database, on the plugin with tables that
// are not sharded, and on the plugin with tables sharded by their owners. The
// same assertions hold in all ways; what the last one refuses is in refusals.
package zoo_test

import (
	"errors"
	"flag"
	"os"
	"testing"

	"github.com/gormshard/sharding/tests/mariadbtest"
)

func TestMain(m *testing.M) {
	os.Exit(mariadbtest.Main(suite{m}, mariadbtest.StatementCache))
}

// suite closes what the tests have opened once, before the servers stop.
type suite struct{ m *testing.M }

func (s suite) Run() int {
	code := s.m.Run()
	if err := errors.Join(closeWays(), s.staleRefusals(code)); err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		return max(code, 1)
	}
	return code
}

// staleRefusals wants every refusal of the list to be met by a run of all tests.
func (suite) staleRefusals(code int) error {
	for _, narrowing := range []string{"test.run", "test.skip", "test.list"} {
		if f := flag.Lookup(narrowing); code != 0 || f != nil && f.Value.String() != "" {
			return nil
		}
	}
	return refusals.unmet()
}
