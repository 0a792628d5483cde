//go:build unix

package ddl_test

import (
	"database/sql"
	"slices"
	"testing"
)

// TestDDLEndsATransactionThatHasBegunNowhere holds transactions whose first statement
// is DDL against those of one database: what comes after it commits by itself.
func TestDDLEndsATransactionThatHasBegunNowhere(t *testing.T) {
	c := newCluster(t, "overtaken")
	a, single := c.open(t, c.config()), c.single(t)
	logical, err := a.DB.DB()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{orderTable, "CREATE TABLE t_plain (id bigint PRIMARY KEY)"} {
		a.define(t, s)
		exec(t, single, s)
	}
	const fill = "INSERT INTO t_order VALUES (1, 1), (2, 2), (3, 3)"
	for _, test := range []struct {
		ddl  string
		more []string
	}{
		{"TRUNCATE TABLE t_order", []string{fill}},
		{"TRUNCATE TABLE t_plain", []string{"INSERT INTO t_plain VALUES (1)", fill, "DELETE FROM t_order WHERE user_id = 1"}},
		{"ALTER TABLE t_order DROP COLUMN no_such_column", []string{fill}}, // commits, and fails
		{"CREATE INDEX IF NOT EXISTS k ON t_order (user_id)", []string{"SAVEPOINT a", fill, "ROLLBACK TO SAVEPOINT a", "RELEASE SAVEPOINT a", fill}},
		{"DROP INDEX IF EXISTS k ON t_order", []string{"SAVEPOINT a", "SET @x = 1", fill}},
	} {
		for _, end := range []string{"", "ROLLBACK", "COMMIT"} { // by database/sql, or by a statement
			run := func(pool *sql.DB) (numbers []int, left []string) {
				exec(t, pool, "DELETE FROM t_order", "DELETE FROM t_plain")
				conn, err := pool.Conn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = conn.Close() }()
				statements := append([]string{"SAVEPOINT s", test.ddl, "ROLLBACK TO SAVEPOINT s"}, test.more...)
				var on interface {
					Exec(query string, args ...any) (sql.Result, error)
				}
				var tx *sql.Tx
				if end == "" {
					if tx, err = conn.BeginTx(t.Context(), nil); err != nil {
						t.Fatal(err)
					}
					on = tx
				} else {
					on = connection{t, conn}
					statements = append(append([]string{"BEGIN"}, statements...), end)
				}
				for _, s := range statements {
					_, err := on.Exec(s)
					numbers = append(numbers, number(err))
				}
				if tx != nil {
					if err := tx.Rollback(); err != nil {
						t.Error(err)
					}
				}
				return numbers, append(lines(t, pool, "SELECT * FROM t_order ORDER BY id"), lines(t, pool, "SELECT * FROM t_plain")...)
			}
			got, left := run(logical)
			want, there := run(single)
			if !slices.Equal(got, want) || !slices.Equal(left, there) {
				t.Errorf("%s, %q at the end\n  got  %d %q\n  want %d %q", test.ddl, end, got, left, want, there)
			}
		}
	}
}

type connection struct {
	t *testing.T
	*sql.Conn
}

func (c connection) Exec(query string, args ...any) (sql.Result, error) {
	return c.ExecContext(c.t.Context(), query, args...)
}
