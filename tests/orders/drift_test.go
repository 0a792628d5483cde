//go:build unix

package orders_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gormshard/sharding"
)

// schemaDrift changes the table of one node: its rows must not be mixed with
// those of the others.
func (f *failures) schemaDrift(t *testing.T) {
	for _, change := range []string{
		"ADD COLUMN extra int FIRST", "MODIFY small int", "CHANGE state condition_ varchar(20)", "MODIFY small tinyint AFTER id", "DROP COLUMN raw",
	} {
		node := f.pool(t, 1)
		if _, err := node.ExecContext(t.Context(), "CREATE TABLE kept LIKE t_ent_order"); err != nil {
			t.Fatal(err)
		}
		if _, err := node.ExecContext(t.Context(), "INSERT INTO kept SELECT * FROM t_ent_order"); err != nil {
			t.Fatal(err)
		}
		if _, err := node.ExecContext(t.Context(), "ALTER TABLE t_ent_order "+change); err != nil {
			t.Fatal(err)
		}
		pool, _ := f.openSQL(t, f.config())
		tx, err := pool.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, query := range []string{"SELECT * FROM t_ent_order", "SELECT * FROM t_ent_order ORDER BY id", "SELECT * FROM t_ent_order ORDER BY amount, id LIMIT 3"} {
			for name, run := range map[string]asker{"outside": pooled(pool), "in a transaction": pooledTx(tx), "prepared": prepared(pool)} {
				if a := ask(t.Context(), run, query, nil); !errors.Is(a.err, sharding.ErrSchemaDrift) || strings.Contains(a.err.Error(), "unit") {
					t.Errorf("%s: %s, %s: %d rows and %v", change, query, name, len(a.rows), a.err)
				}
			}
		}
		if a := ask(t.Context(), pooled(pool), "SELECT id, ent_id FROM t_ent_order ORDER BY id", nil); a.err != nil || len(a.rows) != 32 {
			t.Errorf("%s: columns that do not differ: %d rows and %v", change, len(a.rows), a.err)
		}
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
		for _, back := range []string{"DROP TABLE t_ent_order", "RENAME TABLE kept TO t_ent_order"} {
			if _, err := node.ExecContext(t.Context(), back); err != nil {
				t.Fatal(err)
			}
		}
	}
}
