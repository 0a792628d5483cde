//go:build unix

package zoo_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// resetter brings the tables of a way to their first state, behind the back of the
// plugin.
type resetter struct {
	pools []*sql.DB
	// empty are, for each pool, the statements that empty all tables.
	empty [][]string
	// fill are those that bring the rows of seed back, nil until they are known.
	fill [][]string
	// together is whether a pool takes several statements in one string.
	together bool
}

// open makes the connections of the resetter.
func (r *resetter) open(t *testing.T, w *way, dsns []string) {
	t.Helper()
	r.together = !w.variant.sqlite
	for i, dsn := range dsns {
		pool := w.pools[i]
		if r.together {
			var err error
			if pool, err = sql.Open("mysql", dsn+"&multiStatements=true"); err != nil {
				t.Fatal(err)
			}
		}
		r.pools = append(r.pools, pool)
		var deletes []string
		for _, table := range w.actual[i] {
			deletes = append(deletes, "DELETE FROM "+table)
		}
		r.empty = append(r.empty, deletes)
	}
}

func (r *resetter) close() error {
	if !r.together {
		return nil
	}
	var errs []error
	for _, pool := range r.pools {
		errs = append(errs, pool.Close())
	}
	return errors.Join(errs...)
}

// clear empties every table.
func (r *resetter) clear(t *testing.T) {
	t.Helper()
	for i := range r.pools {
		r.run(t, i, r.empty[i])
	}
}

// seed brings the tables to the rows of way.seed: through GORM the first time, and
// then from a copy that MariaDB keeps.
func (r *resetter) seed(w *way) {
	w.t.Helper()
	if r.fill != nil {
		for i := range r.pools {
			r.run(w.t, i, append(r.empty[i][:len(r.empty[i]):len(r.empty[i])], r.fill[i]...))
		}
		return
	}
	r.clear(w.t)
	w.seed()
	if !r.together {
		return
	}
	for i, pool := range r.pools {
		var fill []string
		database := w.column(pool, "SELECT DATABASE()")[0] + "_seed"
		copies := []string{"DROP DATABASE IF EXISTS " + database, "CREATE DATABASE " + database}
		for _, table := range w.actual[i] {
			columns := strings.Join(w.column(pool, "SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND extra NOT LIKE '%GENERATED%' AND table_name = '"+table+"'"), ", ")
			copies = append(copies, fmt.Sprintf("CREATE TABLE %s.%s AS SELECT %s FROM %s", database, table, columns, table))
			fill = append(fill, fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s.%s", table, columns, columns, database, table))
		}
		r.run(w.t, i, copies)
		r.fill = append(r.fill, fill)
	}
}

// run runs statements on a pool, in one transaction.
func (r *resetter) run(t *testing.T, i int, statements []string) {
	t.Helper()
	statements = append(append([]string{"BEGIN"}, statements...), "COMMIT")
	if r.together {
		statements = []string{strings.Join(statements, ";")}
	}
	conn, err := r.pools[i].Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, statement := range statements {
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err, statement)
		}
	}
}
