//go:build unix

package stream_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/tests/mariadb"
)

// alter changes the tables of some data sources.
func (c *cluster) alter(t *testing.T, change string, sources ...int) {
	t.Helper()
	for _, d := range sources {
		pool := openPool(t, c.dsn(d, "multiStatements=true"))
		var ddl []string
		for n := range tables {
			ddl = append(ddl, fmt.Sprintf("ALTER TABLE t_row_%d %s", n, change))
		}
		if _, err := pool.ExecContext(t.Context(), strings.Join(ddl, ";")); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadsSurviveTablesThatSomebodyElseAlters: a plan that names a column which is
// gone is made anew, once, before the first row.
func TestReadsSurviveTablesThatSomebodyElseAlters(t *testing.T) {
	c := &cluster{server: mariadb.Shared(t, 1)[0], name: "altered", rows: 160}
	c.fill(t)
	var sent atomic.Int64
	a := c.open(t, c.config(1, 4), sharding.WithUnitTrace(func(context.Context, sharding.UnitTrace) { sent.Add(1) }))
	read := func(query string) (int, error) {
		sent.Store(0)
		return count(a.Raw(query).Rows())
	}
	ranked := "SELECT *, ROW_NUMBER() OVER (ORDER BY id) AS place FROM t_row"
	all := "SELECT * FROM t_row ORDER BY name, id"
	for _, query := range []string{ranked, all} {
		if n, err := read(query); err != nil || n != c.rows {
			t.Fatalf("%s: %d rows and %v", query, n, err)
		}
	}
	time.Sleep(1100 * time.Millisecond) // columns are trusted for a second
	c.alter(t, "DROP COLUMN pad", 0, 1, 2, 3)
	for _, query := range []string{ranked, all} {
		if n, err := read(query); err != nil || n != c.rows {
			t.Errorf("%s after a column was dropped: %d rows and %v", query, n, err)
		}
	}

	time.Sleep(1100 * time.Millisecond)
	c.alter(t, "ADD COLUMN extra int FIRST", 0)
	if n, err := read(all); !errors.Is(err, sharding.ErrSchemaDrift) || n != 0 {
		t.Errorf("with one database altered: %d rows and %v", n, err)
	}
	if n := sent.Load(); n != nodes {
		t.Errorf("a plan that does not change was sent as %d units, want %d", n, nodes)
	}
	c.alter(t, "ADD COLUMN extra int FIRST", 1, 2, 3)
	for _, query := range []string{ranked, all} {
		if n, err := read(query); err != nil || n != c.rows {
			t.Errorf("%s with all databases altered: %d rows and %v", query, n, err)
		}
	}

	time.Sleep(1100 * time.Millisecond)
	if n, err := read("SELECT nowhere FROM t_row"); err == nil || !strings.Contains(err.Error(), "1054") {
		t.Errorf("an unknown column: %d rows and %v", n, err)
	}
	if n := sent.Load(); n > nodes {
		t.Errorf("a wrong statement was sent as %d units", n)
	}
}
