//go:build unix

package orders_test

import (
	"fmt"
	"strings"
	"testing"
)

// subqueries are queries with subqueries that no node can answer for itself.
var subqueries = []query{
	// A list.
	{sql: "SELECT id FROM t_ent_order WHERE id IN (SELECT order_id FROM t_ent_order_item WHERE count > 1) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE id NOT IN (SELECT order_id FROM t_ent_order_item) ORDER BY id"},
	{sql: "SELECT id, name FROM t_ent_order WHERE id IN (SELECT order_id FROM t_ent_order_item WHERE price > ?) AND name > ? ORDER BY id LIMIT ?", args: []any{1, "a", 5}},
	{sql: "SELECT id FROM t_ent_order WHERE id NOT IN (SELECT order_id FROM t_ent_order_item WHERE ent_id = 99) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE region_id NOT IN (SELECT region_id FROM t_ent_order WHERE ent_id = 99) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE region_id NOT IN (SELECT region_id FROM t_ent_order WHERE ent_id IN (1, 2)) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE (region_id NOT IN (SELECT small FROM t_ent_order)) IS NULL ORDER BY id"},
	{sql: "SELECT o.id FROM t_ent_order o JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id WHERE d.address IN (SELECT product FROM t_ent_order_item) ORDER BY o.id"},
	{sql: "SELECT id FROM t_ent_order WHERE name IN (SELECT product FROM t_ent_order_item) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE label IN (SELECT label FROM t_ent_order WHERE ent_id = 1) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE code IN (SELECT code FROM t_ent_order WHERE ent_id = 1) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE title IN (SELECT title FROM t_ent_order WHERE ent_id IN (1, 2)) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE note IN (SELECT note FROM t_ent_order WHERE ent_id IN (1, 2)) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE raw IN (SELECT raw FROM t_ent_order WHERE ent_id IN (1, 2, 4)) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE amount IN (SELECT price FROM t_ent_order_item) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE big IN (SELECT big FROM t_ent_order WHERE ent_id IN (1, 2, 4)) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE day IN (SELECT day FROM t_ent_order WHERE ent_id IN (1, 2)) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE clock IN (SELECT clock FROM t_ent_order WHERE ent_id IN (1, 2)) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE created_at IN (SELECT created_at FROM t_ent_order WHERE ent_id IN (1, 2)) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE id IN (SELECT MAX(order_id) FROM t_ent_order_item GROUP BY product) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE small IN (SELECT COUNT(*) FROM t_ent_order_item GROUP BY order_id) ORDER BY id"},
	{sql: "SELECT region_id, COUNT(*), SUM(amount) FROM t_ent_order WHERE id IN (SELECT order_id FROM t_ent_order_item WHERE count > 0) GROUP BY region_id ORDER BY region_id"},
	{sql: "SELECT id FROM t_ent_order WHERE id IN (SELECT order_id FROM t_ent_order_item WHERE count > 1) OR name IN (SELECT address FROM t_ent_order_detail WHERE weight > 0) ORDER BY id"},

	// The sharding column.
	{sql: "SELECT id FROM t_ent_order WHERE ent_id IN (SELECT region_id FROM t_ent_order WHERE small > 5) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = (SELECT MIN(region_id) FROM t_ent_order) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = (SELECT MAX(ent_id) FROM t_ent_order) ORDER BY id"},
	{sql: "SELECT id, name FROM t_ent_order WHERE ent_id = (SELECT region_id FROM t_ent_order WHERE id = -5)"},
	{sql: "SELECT id, name FROM t_ent_order WHERE ent_id = (SELECT region_id FROM t_ent_order WHERE id > 0)"},
	{sql: "SELECT COUNT(*), MAX(id) FROM t_ent_order WHERE ent_id IN (SELECT small FROM t_ent_order WHERE small > 200)"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id > (SELECT MAX(region_id) FROM t_ent_order) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id <=> (SELECT MIN(region_id) FROM t_ent_order WHERE id < 0) ORDER BY id"},

	// A value.
	{sql: "SELECT id FROM t_ent_order WHERE id = (SELECT MAX(id) FROM t_ent_order)"},
	{sql: "SELECT id FROM t_ent_order WHERE amount > (SELECT AVG(amount) FROM t_ent_order) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE price >= (SELECT AVG(price) FROM t_ent_order WHERE ent_id > ?) ORDER BY id", args: []any{3}},
	{sql: "SELECT id FROM t_ent_order WHERE amount < (SELECT SUM(price) FROM t_ent_order_item) / 3 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE small > (SELECT COUNT(*) FROM t_ent_order_item WHERE count = 1) - 30 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE name = (SELECT MAX(name) FROM t_ent_order) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE created_at = (SELECT MAX(created_at) FROM t_ent_order) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE day < (SELECT MAX(day) FROM t_ent_order) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE changed_at = (SELECT MAX(changed_at) FROM t_ent_order) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ratio > (SELECT AVG(ratio) FROM t_ent_order) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE id = (SELECT order_id FROM t_ent_order_item ORDER BY price DESC, id LIMIT 1)"},
	{sql: "SELECT id FROM t_ent_order WHERE id = (SELECT order_id FROM t_ent_order_item)", open: true},
	{sql: "SELECT id FROM t_ent_order WHERE (SELECT COUNT(*) FROM t_ent_order_item) BETWEEN 10 AND 1000 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 4 AND id > (SELECT AVG(order_id) FROM t_ent_order_item) ORDER BY id"},
	{sql: "SELECT id FROM t_region WHERE id IN (SELECT region_id FROM t_ent_order) ORDER BY id"},
	{sql: "SELECT id FROM t_region WHERE id NOT IN (SELECT region_id FROM t_ent_order WHERE region_id IS NOT NULL) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE name IN (SELECT name FROM t_operator) ORDER BY id"},

	// EXISTS.
	{sql: "SELECT id FROM t_ent_order WHERE EXISTS (SELECT 1 FROM t_ent_order_item WHERE count = 3) ORDER BY id LIMIT 5"},
	{sql: "SELECT id FROM t_ent_order WHERE NOT EXISTS (SELECT * FROM t_ent_order_item WHERE count = 300) ORDER BY id LIMIT 5"},
	{sql: "SELECT id FROM t_ent_order WHERE NOT EXISTS (SELECT * FROM t_ent_order_item WHERE count = ?) AND ent_id IN (?, ?) ORDER BY id", args: []any{3, 1, 2}},

	// HAVING.
	{sql: "SELECT region_id, COUNT(*) FROM t_ent_order GROUP BY region_id HAVING COUNT(*) > (SELECT COUNT(*) FROM t_region) ORDER BY region_id"},
	{sql: "SELECT region_id, SUM(amount) FROM t_ent_order GROUP BY region_id HAVING SUM(amount) > (SELECT SUM(price) FROM t_ent_order_item) ORDER BY region_id"},
	{sql: "SELECT region_id, COUNT(*) FROM t_ent_order GROUP BY region_id HAVING COUNT(*) > (SELECT MAX(id) FROM t_ent_order WHERE ent_id = 99) ORDER BY region_id"},
	{sql: "SELECT region_id, COUNT(*) FROM t_ent_order GROUP BY region_id HAVING COUNT(*) > (SELECT AVG(count) FROM t_ent_order_item) ORDER BY region_id"},
	{sql: "SELECT region_id, COUNT(*) FROM t_ent_order GROUP BY region_id HAVING region_id IN (SELECT count FROM t_ent_order_item) ORDER BY region_id"},
	{sql: "SELECT region_id, COUNT(*) AS n FROM t_ent_order GROUP BY region_id HAVING n NOT IN (SELECT id FROM t_ent_order WHERE id > ?) ORDER BY region_id", args: []any{120}},
	// Bytes beside a text are compared as bytes.
	{sql: "SELECT id FROM t_ent_order WHERE name IN (SELECT raw FROM t_ent_order WHERE ent_id > 2) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE name > (SELECT MIN(raw) FROM t_ent_order WHERE raw > ?) ORDER BY id", args: []any{""}},

	// Names of the tables around, and what is left to others.
	{sql: "SELECT id FROM t_ent_order o WHERE id IN (SELECT order_id FROM t_ent_order_item i WHERE i.price = o.price) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE id IN (SELECT order_id FROM t_ent_order_item WHERE region_id = 1) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order o WHERE EXISTS (SELECT 1 FROM t_ent_order_item WHERE order_id = o.id) ORDER BY id"},
	{sql: "SELECT id, (SELECT COUNT(*) FROM t_ent_order_item) AS n FROM t_ent_order ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE (ent_id, id) IN (SELECT ent_id, order_id FROM t_ent_order_item WHERE count = 1) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE amount > ALL (SELECT price FROM t_ent_order_item WHERE price IS NOT NULL) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE id IN (SELECT order_id FROM t_ent_order_item LIMIT 3) ORDER BY id", open: true},
	{sql: "SELECT id FROM t_ent_order WHERE status IN (SELECT status FROM t_ent_order WHERE ent_id = 4) ORDER BY id", open: true},
	{sql: "SELECT id FROM t_ent_order WHERE id IN (SELECT nothing FROM t_ent_order_item) ORDER BY id", open: true},
	{sql: "SELECT id FROM t_ent_order WHERE id IN (SELECT order_id FROM t_ent_order_item WHERE price > (SELECT AVG(price) FROM t_ent_order_item)) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE id IN (SELECT order_id FROM t_ent_order_detail) AND id NOT IN (SELECT order_id FROM t_ent_order_item) AND amount > (SELECT MIN(amount) FROM t_ent_order) ORDER BY id"},
}

func TestSubqueriesGiveWhatOneDatabaseGives(t *testing.T) { compare(t, subqueries) }

// A subquery on the sharding column chooses the nodes, and only its own rows travel.
func TestSubqueriesThatRunFirstNarrowTheNodes(t *testing.T) {
	c := sampleCluster(t)
	cfg := c.config()
	pool, trace := c.openSQL(t, cfg)
	for _, test := range []struct {
		sql   string
		units int // of the statement behind
	}{
		{"SELECT id FROM t_ent_order WHERE ent_id = (SELECT MAX(region_id) FROM t_ent_order WHERE region_id < 9)", 1},
		{"SELECT id FROM t_ent_order WHERE ent_id IN (SELECT region_id FROM t_ent_order WHERE region_id IN (1, 2))", 2},
		{"SELECT id FROM t_ent_order WHERE ent_id = (SELECT MAX(region_id) FROM t_ent_order WHERE id < 0)", 1},
		{"SELECT id FROM t_ent_order WHERE ent_id IN (SELECT region_id FROM t_ent_order WHERE id < 0)", 1},
		{"SELECT id FROM t_ent_order WHERE id IN (SELECT region_id FROM t_ent_order)", 4},
	} {
		ask(t.Context(), pooled(pool), test.sql, nil)
		trace.take()
		if a := ask(t.Context(), pooled(pool), test.sql, nil); a.err != nil {
			t.Errorf("%s\n%v", test.sql, a.err)
		}
		behind := 0
		for _, u := range trace.take() {
			if strings.Contains(u.SQL, "JSON_TABLE") {
				behind++
			}
			if strings.Contains(u.SQL, "[[") {
				t.Errorf("%s\nshows rows: %s", test.sql, u.SQL)
			}
		}
		if behind != test.units {
			t.Errorf("%s\n%d units behind the subquery, want %d", test.sql, behind, test.units)
		}
	}
}

// In a transaction a subquery that runs first sees what the transaction wrote.
func TestSubqueriesThatRunFirstSeeTheTransaction(t *testing.T) {
	c := writeCluster(t)
	pool, _ := c.openSQL(t, c.config())
	tx, err := pool.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	for _, write := range []string{
		"INSERT INTO t_ent_order (id, ent_id) VALUES (9001, 1), (9002, 2)",
		"INSERT INTO t_ent_order_item (id, ent_id, order_id, count) VALUES (9001, 3, 9002, 77)",
	} {
		if _, err := tx.ExecContext(t.Context(), write); err != nil {
			t.Fatal(err)
		}
	}
	a := ask(t.Context(), pooledTx(tx), "SELECT id FROM t_ent_order WHERE id IN (SELECT order_id FROM t_ent_order_item WHERE count = ?)", []any{77})
	if a.err != nil || len(a.rows) != 1 || fmt.Sprint(a.rows[0][0]) != "9002" {
		t.Errorf("%v, %v, want 9002", a.rows, a.err)
	}
}

// A time that the clocks of loc skip is another one as a time.Time.
func TestSubqueriesThatRunFirstKeepTimesThatClocksSkip(t *testing.T) {
	c := writeCluster(t)
	pool, _ := c.openSQL(t, c.config("loc=Europe%2FBerlin"))
	tx, err := pool.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	const rows = "INSERT INTO t_ent_order (id, ent_id, created_at) VALUES (9001, 1, '2024-03-31 02:30:00'), (9002, 2, '2024-03-31 03:30:00')"
	if _, err := tx.ExecContext(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	for _, subquery := range []string{
		"= (SELECT MIN(created_at) FROM t_ent_order WHERE id > 9000)",
		"= (SELECT created_at FROM t_ent_order WHERE id > 9000 ORDER BY id LIMIT 1)",
		"IN (SELECT created_at FROM t_ent_order WHERE id = 9001)",
		"IN (SELECT MAX(created_at) FROM t_ent_order WHERE id > 9000 GROUP BY id HAVING MAX(id) < 9002)",
		"IN (SELECT DISTINCT created_at FROM t_ent_order WHERE id = 9001)",
	} {
		a := ask(t.Context(), pooledTx(tx), "SELECT id FROM t_ent_order WHERE created_at "+subquery, nil)
		if a.err != nil || len(a.rows) != 1 || fmt.Sprint(a.rows[0][0]) != "9001" {
			t.Errorf("%s: %v, %v, want 9001", subquery, a.rows, a.err)
		}
	}
}

// Merges tell such times apart, however alike they are shown.
func TestMergesKeepTimesThatClocksSkip(t *testing.T) {
	c := writeCluster(t)
	pool, _ := c.openSQL(t, c.config("loc=Europe%2FBerlin"))
	tx, err := pool.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	const rows = "INSERT INTO t_ent_order (id, ent_id, created_at) VALUES " +
		"(9001, 1, '2024-03-31 02:30:00'), (9002, 2, '2024-03-31 03:30:00'), (9003, 3, '2024-03-31 03:00:00'), (9004, 4, '2024-03-31 02:30:00')"
	if _, err := tx.ExecContext(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"SELECT COUNT(*) FROM t_ent_order WHERE id > 9000 GROUP BY created_at ORDER BY created_at":                              "[[2] [1] [1]]",
		"SELECT COUNT(DISTINCT created_at) FROM t_ent_order WHERE id > 9000":                                                    "[[3]]",
		"SELECT id FROM t_ent_order WHERE id > 9000 ORDER BY created_at, id":                                                    "[[9001] [9004] [9003] [9002]]",
		"SELECT MAX(id) FROM t_ent_order WHERE id > 9000 GROUP BY created_at HAVING MIN(created_at) < '2024-03-31 03:00'":       "[[9004]]",
		"SELECT COUNT(*) FROM (SELECT DISTINCT created_at FROM t_ent_order WHERE id > 9000) d":                                  "[[3]]",
		"SELECT id FROM t_ent_order WHERE id > 9000 AND created_at = (SELECT MAX(created_at) FROM t_ent_order WHERE id > 9000)": "[[9002]]",
	} {
		a := ask(t.Context(), pooledTx(tx), query, nil)
		if got := fmt.Sprint(a.rows); a.err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", query, got, a.err, want)
		}
	}
	for _, query := range []string{"SELECT DISTINCT created_at FROM t_ent_order WHERE id > 9000", "SELECT created_at FROM t_ent_order WHERE id = 9001 UNION SELECT created_at FROM t_ent_order WHERE id > 9001"} {
		if a := ask(t.Context(), pooledTx(tx), query, nil); a.err != nil || len(a.rows) != 3 {
			t.Errorf("%s: %v, %v, want 3 rows", query, a.rows, a.err)
		}
	}
}

// A preview shows the units of subqueries and of the statement behind them, and
// comments stay where they were.
func TestPreviewShowsSubqueriesThatRunFirst(t *testing.T) {
	c := sampleCluster(t)
	app := c.open(t, c.config(), nil)
	const text = "SELECT /* outer */ id FROM t_ent_order WHERE id IN (SELECT /* inner */ order_id FROM t_ent_order_item WHERE ent_id IN (1, 2))"
	p, err := app.plugin.Preview(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	inner, outer := 0, 0
	for _, u := range p.Units {
		inner += strings.Count(u.SQL, "/* inner */")
		outer += strings.Count(u.SQL, "/* outer */")
	}
	if len(p.Units) != 6 || inner != 2 || outer != 4 || len(p.Warnings) == 0 {
		t.Errorf("%d units, %d of the subquery, %d behind it, warnings %q", len(p.Units), inner, outer, p.Warnings)
	}
	app.trace.take()
	if a := ask(t.Context(), throughGORM(app.DB), text, nil); a.err != nil || len(a.rows) == 0 {
		t.Errorf("%v, %v", a.rows, a.err)
	}
	for _, u := range app.trace.take() {
		if !strings.Contains(u.SQL, "/* ") || strings.Contains(u.SQL, "~") {
			t.Errorf("sent %s", u.SQL)
		}
	}
}
