//go:build unix

package zoo_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/glebarez/sqlite"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding/tests/mariadb"
)

// variant is a way to open GORM, on any placement.
type variant struct {
	name string
	gorm gorm.Config
	// noReturning makes a MariaDB look like MySQL, which has no RETURNING: GORM
	// inserts by Exec and asks for the last insert id.
	noReturning bool
	sqlite      bool
}

var (
	usual = variant{gorm: gorm.Config{TranslateError: true}}
	// variants are all others.
	variants = []variant{
		{name: "PrepareStmt", gorm: gorm.Config{PrepareStmt: true}},
		{name: "SkipDefaultTransaction", gorm: gorm.Config{SkipDefaultTransaction: true, TranslateError: true, DefaultContextTimeout: time.Hour}},
		{name: "no RETURNING", noReturning: true, gorm: gorm.Config{DefaultTransactionTimeout: time.Hour}},
		{name: "SQLite", sqlite: true},
	}
)

func (v *variant) driver() string {
	if v.sqlite {
		return "sqlite"
	}
	return "mysql"
}

// dialector opens a database of the variant.
func (v *variant) dialector(dsn string) gorm.Dialector {
	if v.sqlite {
		return sqlite.Open(dsn)
	}
	return mysql.New(mysql.Config{DSN: dsn, DisableWithReturning: v.noReturning})
}

// makeDatabases makes n empty databases under a name that no other way has, and
// returns their DSNs.
func (v *variant) makeDatabases(t *testing.T, name string, n int) []string {
	t.Helper()
	var dsns []string
	for i := range n {
		if v.sqlite {
			dir, err := os.MkdirTemp("", "zoo-")
			if err != nil {
				t.Fatal(err)
			}
			temporary = append(temporary, dir)
			dsns = append(dsns, filepath.Join(dir, "zoo.db")+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)")
			continue
		}
		server := mariadb.Shared(t, databases)[i]
		database := fmt.Sprintf("zoo_%s_%d", name, i)
		if err := server.CreateDatabase(t.Context(), database); err != nil {
			t.Fatal(err)
		}
		dsns = append(dsns, server.DSN(database))
	}
	return dsns
}

// makeSQLiteTables makes the tables in every data source as GORM's migrator
// makes them in one database: it asks SQLite for what the plugin does not answer.
func (w *way) makeSQLiteTables(t *testing.T) {
	t.Helper()
	db, err := gorm.Open(w.variant.dialector(":memory:"), &gorm.Config{Logger: logger.Discard, DisableForeignKeyConstraintWhenMigrating: true})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1) // each connection has a memory of its own
	var made []struct{ Name, TblName, SQL string }
	if err := db.AutoMigrate(models...); err != nil {
		t.Fatal(err)
	}
	if err := db.Raw("SELECT name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%'").Scan(&made).Error; err != nil {
		t.Fatal(err)
	}
	for _, ds := range w.pools {
		for _, m := range made {
			suffixes := []string{""}
			if owners[m.TblName] != "" && w.sharded() {
				suffixes = []string{"_0", "_1"}
			}
			for _, suffix := range suffixes {
				text := strings.Replace(m.SQL, "`"+m.TblName+"`", "`"+m.TblName+suffix+"`", 1)
				if m.Name != m.TblName {
					text = strings.Replace(text, "`"+m.Name+"`", "`"+m.Name+suffix+"`", 1)
				}
				if _, err := ds.ExecContext(t.Context(), text); err != nil {
					t.Fatal(err, text)
				}
			}
		}
	}
}
