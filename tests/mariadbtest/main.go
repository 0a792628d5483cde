//go:build unix

// Package mariadbtest is how a suite on private MariaDB servers runs.
package mariadbtest

import (
	"github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"

	"github.com/gormshard/sharding/tests/mariadb"
)

// StatementCache is the goroutine of GORM's cache of prepared statements, which GORM
// never ends.
var StatementCache = goleak.IgnoreTopFunction("gorm.io/gorm/internal/lru.NewLRU[...].func1")

// Main runs the tests of a TestMain, stops the servers that they have shared, and
// fails where they have left goroutines behind, but for those to be ignored. It
// returns the exit code. The MySQL driver logs nothing: connections break on purpose.
func Main(m interface{ Run() int }, ignored ...goleak.Option) int {
	_ = mysql.SetLogger(&mysql.NopLogger{})
	return mariadb.Main(m, func() error { return goleak.Find(ignored...) })
}
