//go:build unix

package orders_test

import (
	"database/sql/driver"
	"errors"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"

	"github.com/gormshard/sharding"
)

// batches are strings of several statements, which a driver takes with multiStatements,
// and with arguments where it has interpolateParams too.
var batches = []struct {
	name  string
	query string
	args  []any
	fails bool
}{
	{name: "two nodes", query: "UPDATE t_ent_order SET name = ? WHERE ent_id = ?; UPDATE t_ent_order SET name = ? WHERE ent_id = ?;", args: []any{"a", 1, "b", 2}},
	{name: "twice the same", query: "UPDATE t_ent_order SET small = small DIV 2 + 1 WHERE ent_id = 1; UPDATE t_ent_order SET small = small DIV 2 + 1 WHERE ent_id = 1"},
	{name: "order within a node", query: "DELETE FROM t_ent_order WHERE id = 106; INSERT INTO t_ent_order (id, ent_id, name) VALUES (106, ?, ?), (1000, 2, 'c'); UPDATE t_ent_order SET name = CONCAT(name, '!') WHERE id IN (106, 1000)", args: []any{1, "again"}},
	{name: "tables of every kind", query: "/* trace */ INSERT INTO t_region (id, name) VALUES (10, 'x;y'); UPDATE t_operator SET name = 'a'; DELETE FROM t_ent_order_item WHERE ent_id IN (1, 2, 3) -- items;\n; REPLACE INTO t_ent_order_detail (order_id, ent_id) VALUES (106, 1)"},
	{name: "a last statement that fails", query: "UPDATE t_ent_order SET name = 'z' WHERE ent_id = 2; DELETE FROM t_region WHERE id = 1; INSERT INTO t_ent_order (id, ent_id) VALUES (106, 1)", fails: true},
	{name: "a first statement that fails", query: "INSERT INTO t_ent_order (id, ent_id) VALUES (106, 1); UPDATE t_ent_order SET name = 'z' WHERE ent_id = 2", fails: true},
	{name: "no row meets two conditions", query: "UPDATE t_ent_order SET name = 'z' WHERE ent_id = 2 AND ent_id = 3; UPDATE t_ent_order SET name = 'y' WHERE ent_id = 4"},
}

func TestSeveralStatementsInOneStringWriteWhatOneDatabaseWrites(t *testing.T) {
	c := writeCluster(t)
	single := c.openSingle(t, nil, "multiStatements=true", "interpolateParams=true")
	prepared, interpolated := c.open(t, c.config("multiStatements=true"), nil), c.open(t, c.config("multiStatements=true", "interpolateParams=true"), nil)
	for _, b := range batches {
		for way, a := range map[string]*app{"prepared": prepared, "interpolated, in a transaction": interpolated} {
			c.reset(t)
			before := c.contents(t)
			run := func(db *gorm.DB) (int64, error) {
				tx := db.Exec(b.query, b.args...)
				return tx.RowsAffected, tx.Error
			}
			var got int64
			var err error
			if a == interpolated {
				err = a.Transaction(func(tx *gorm.DB) (err error) { got, err = run(tx); return err })
			} else {
				got, err = run(a.DB)
			}
			if b.fails {
				if err == nil {
					t.Errorf("%s, %s: no error", b.name, way)
				}
				c.contents(t).unchanged(t, before)
				continue
			}
			if err != nil {
				t.Errorf("%s, %s: %v\n%s", b.name, way, err, a.trace)
				continue
			}
			want := int64(0)
			for _, n := range allAffected(t, single, b.query, b.args) {
				want += n
			}
			if got != want {
				t.Errorf("%s, %s: %d rows affected, %d in the single database", b.name, way, got, want)
			}
			c.contents(t).same(t)
		}
	}
}

// allAffected runs statements and returns the affected rows of each, which
// database/sql's own result does not tell: it has those of the last one only.
func allAffected(t *testing.T, single *gorm.DB, query string, args []any) (all []int64) {
	t.Helper()
	pool, err := single.DB()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	err = conn.Raw(func(c any) error {
		named := make([]driver.NamedValue, len(args))
		for i, a := range args {
			v, err := driver.DefaultParameterConverter.ConvertValue(a)
			if err != nil {
				return err
			}
			named[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
		}
		result, err := c.(driver.ExecerContext).ExecContext(t.Context(), query, named)
		if err == nil {
			all = result.(mysql.Result).AllRowsAffected()
		}
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return all
}

// Without multiStatements a server takes one statement, so that nothing that was slipped
// into a text runs behind it.
func TestSeveralStatementsInOneStringNeedMultiStatements(t *testing.T) {
	c := writeCluster(t)
	app := c.open(t, c.config(), nil)
	before := c.contents(t)
	err := app.Exec("UPDATE t_ent_order SET name = 'z' WHERE ent_id = 2; DELETE FROM t_ent_order").Error
	var unsupported *sharding.UnsupportedError
	if !errors.As(err, &unsupported) || !strings.Contains(err.Error(), "multiStatements=true") {
		t.Errorf("got %v, want a refusal that names multiStatements", err)
	}
	c.contents(t).unchanged(t, before)
}
