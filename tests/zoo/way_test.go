//go:build unix

package zoo_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
)

// way is one way to run a test: GORM, opened as the variant says, on tables that
// live where the placement says.
type way struct {
	name string
	// db is GORM, with the test's context, over empty tables.
	db *gorm.DB
	// plugin is nil for plain GORM.
	plugin    *sharding.Plugin
	placement placement
	variant   *variant

	t     *testing.T
	pools []*sql.DB
	reset *resetter
	// actual are the actual tables of each pool.
	actual [][]string
}

// opened holds the ways that have been opened, by name, and temporary the
// directories of SQLite's databases.
var (
	opened    = map[string]*way{}
	temporary []string
)

// long reports whether every variant runs every test.
func long() bool { return os.Getenv("SHARDING_TEST_LONG") != "" }

// eachWay runs a test on plain GORM, on the plugin over tables that are not
// sharded, and on the plugin over tables sharded by their owners and bound; with
// SHARDING_TEST_LONG, over broadcast tables, over sharded ones that are not bound, and
// in the variants of MariaDB too: on SQLite, an INSERT that may
// skip rows on several nodes is refused, with which GORM stores most associations.
// Each time the tables are empty at the start.
func eachWay(t *testing.T, test func(t *testing.T, w *way)) {
	t.Helper()
	inWays(t, &usual, []placement{plain, single, bound}, test)
	if long() {
		inWays(t, &usual, []placement{broadcast, sharded}, test)
		for i := range variants {
			if !variants[i].sqlite {
				inWays(t, &variants[i], []placement{plain, bound}, test)
			}
		}
	}
}

// inWays runs a test in a variant on some placements.
func inWays(t *testing.T, v *variant, on []placement, test func(t *testing.T, w *way)) {
	t.Helper()
	names := map[placement]string{plain: "plain", single: "unsharded", bound: "sharded", sharded: "unbound", broadcast: "broadcast"}
	for _, p := range on {
		t.Run(strings.TrimSpace(names[p]+" "+v.name), func(t *testing.T) {
			test(t, openWay(t, names[p], p, v))
		})
	}
}

// openWay returns a way with empty tables for a test.
func openWay(t *testing.T, name string, p placement, v *variant) *way {
	t.Helper()
	key := string(p) + " " + v.name
	w, ok := opened[key]
	if !ok {
		w = &way{name: name, placement: p, variant: v}
		w.open(t, strings.ReplaceAll(key, " ", "_"))
		opened[key] = w
	}
	w.reset.clear(t)
	return w.on(t)
}

// on returns the way for a test, with its context.
func (w *way) on(t *testing.T) *way {
	mine := *w
	mine.t = t
	mine.db = w.db.WithContext(t.Context())
	t.Cleanup(func() { w.idle(t) })
	return &mine
}

func (w *way) open(t *testing.T, name string) {
	t.Helper()
	sources := databases
	if w.placement == plain {
		sources = 1
	}
	dsns := w.variant.makeDatabases(t, name, sources)
	gormConfig := w.variant.gorm
	gormConfig.Logger = logger.Discard
	gormConfig.DisableForeignKeyConstraintWhenMigrating = true
	db, err := gorm.Open(w.variant.dialector(dsns[0]), &gormConfig)
	if err != nil {
		t.Fatal(err)
	}
	w.db = db
	if w.placement == plain {
		pool, err := db.DB()
		if err != nil {
			t.Fatal(err)
		}
		w.pools = []*sql.DB{pool}
	} else {
		w.plugin = sharding.Register(w.placement.config(w.variant.driver(), dsns), sharding.WithDialector("sqlite", w.variant.dialector))
		if err := db.Use(w.plugin); err != nil {
			t.Fatal(err)
		}
		for i := range dsns {
			pool, err := w.plugin.DataSource(fmt.Sprintf("ds%d", i)).DB()
			if err != nil {
				t.Fatal(err)
			}
			w.pools = append(w.pools, pool)
		}
	}
	if w.variant.sqlite && w.plugin != nil {
		w.makeSQLiteTables(t)
	} else if err := db.AutoMigrate(models...); err != nil {
		t.Fatal(err)
	}
	for _, pool := range w.pools {
		w.actual = append(w.actual, w.tables(t, pool))
	}
	w.reset = &resetter{}
	w.reset.open(t, w, dsns)
}

// tables are the actual tables of a data source.
func (w *way) tables(t *testing.T, pool *sql.DB) (names []string) {
	t.Helper()
	query := "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()"
	if w.variant.sqlite {
		query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
	}
	rows, err := pool.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}

// idle fails the test when it has left a connection in use.
func (w *way) idle(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Second); ; time.Sleep(time.Millisecond) {
		used := 0
		for _, pool := range w.pools {
			used += pool.Stats().InUse
		}
		if used == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("%d connections are still in use", used)
			return
		}
	}
}

// sharded reports whether the tables of owners are spread over nodes.
func (w *way) sharded() bool { return w.placement == sharded || w.placement == bound }

// stored returns a column of all rows of a table as texts, read from the databases
// themselves: of every node of a sharded table, and of the first data source for a
// broadcast one. where may be empty.
func (w *way) stored(table, column, where string) (values []string) {
	w.t.Helper()
	if where != "" {
		where = " WHERE " + where
	}
	for i, pool := range w.pools {
		for _, actual := range w.actual[i] {
			if actual != table && !(w.sharded() && strings.HasPrefix(actual, table+"_") && owners[table] != "" && len(actual) == len(table)+2) {
				continue
			}
			values = append(values, w.column(pool, fmt.Sprintf("SELECT %s FROM %s%s", column, actual, where))...)
		}
		if owners[table] == "" && len(values) > 0 || w.placement == broadcast {
			break
		}
	}
	return values
}

func (w *way) column(pool *sql.DB, query string) (values []string) {
	w.t.Helper()
	rows, err := pool.QueryContext(w.t.Context(), query)
	if err != nil {
		w.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var v sql.NullString
		if err := rows.Scan(&v); err != nil {
			w.t.Fatal(err)
		}
		values = append(values, v.String)
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
	return values
}

// must fails the test when a step that is not under test fails.
func (w *way) must(errs ...error) {
	w.t.Helper()
	if err := errors.Join(errs...); err != nil {
		w.t.Fatal(err)
	}
}

// closeWays closes what openWay has opened.
func closeWays() error {
	var errs []error
	for _, w := range opened {
		errs = append(errs, w.reset.close())
		if w.plugin != nil {
			errs = append(errs, w.plugin.Close())
			continue
		}
		for _, pool := range w.pools {
			errs = append(errs, pool.Close())
		}
	}
	for _, dir := range temporary {
		errs = append(errs, os.RemoveAll(dir))
	}
	return errors.Join(errs...)
}
