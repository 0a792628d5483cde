//go:build unix

package orders_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/tests/mariadb"
	"github.com/gormshard/sharding/tests/rowtext"
)

// forms is a small schema for the forms of INSERT, REPLACE, UPDATE and DELETE: two
// bound tables over three databases, one that is bound by database alone, a
// broadcast one that numbers its rows, a single one, and one sharded by date.
type forms struct {
	single  *sql.DB
	nodes   []*sql.DB
	logical *sql.DB
	trace   *trace
	plugin  *sharding.Plugin
	// counted is true when an AUTO_INCREMENT column may have gone on.
	counted bool
}

const (
	formOrder = `(uid bigint NOT NULL, id bigint NOT NULL, v int, note varchar(40), token varchar(40),
		made datetime(6) DEFAULT CURRENT_TIMESTAMP(6), changed timestamp(6) NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP(6), PRIMARY KEY (uid, id))`
	formItem   = `(uid bigint NOT NULL, id bigint NOT NULL, n int, PRIMARY KEY (uid, id))`
	formKind   = `(id int NOT NULL AUTO_INCREMENT PRIMARY KEY, name varchar(40), made datetime(6) DEFAULT CURRENT_TIMESTAMP(6), UNIQUE KEY (name))`
	formSingle = `(id int NOT NULL AUTO_INCREMENT PRIMARY KEY, name varchar(40))`
	formEvent  = `(id int NOT NULL PRIMARY KEY, at datetime NOT NULL, made datetime(6))`
)

func openForms(t *testing.T, name string) *forms {
	t.Helper()
	servers := mariadb.Shared(t, 2)
	f := &forms{trace: &trace{}}
	create := func(server *mariadb.Server, database string, ddl ...string) *sql.DB {
		if err := server.CreateDatabase(t.Context(), database); err != nil {
			t.Fatal(err)
		}
		pool := openDSN(t, server.DSN(database, "multiStatements=true"))
		if _, err := pool.ExecContext(t.Context(), strings.Join(ddl, ";")); err != nil {
			t.Fatal(err)
		}
		return pool
	}
	f.single = create(servers[0], name+"_all", "CREATE TABLE f_order "+formOrder, "CREATE TABLE f_copy "+formOrder, "CREATE TABLE f_item "+formItem,
		"CREATE TABLE f_kind "+formKind, "CREATE TABLE f_single "+formSingle, "CREATE TABLE f_event "+formEvent)
	cfg := &config.Config{DataSources: map[string]config.DataSource{}, DefaultDataSource: "ds0"}
	for i := range 3 {
		ddl := []string{
			"CREATE TABLE f_order " + formOrder, "CREATE TABLE f_copy " + formOrder, "CREATE TABLE f_item_0 " + formItem,
			"CREATE TABLE f_item_1 " + formItem, "CREATE TABLE f_kind " + formKind,
		}
		if i == 0 {
			ddl = append(ddl, "CREATE TABLE f_single "+formSingle)
		}
		for year := 2025; year < 2031; year++ {
			ddl = append(ddl, fmt.Sprintf("CREATE TABLE f_event_%d %s", year, formEvent))
		}
		database := fmt.Sprintf("%s_%d", name, i)
		f.nodes = append(f.nodes, create(servers[i%2], database, ddl...))
		cfg.DataSources[fmt.Sprint("ds", i)] = config.DataSource{DSN: config.DSN(servers[i%2].DSN(database, "multiStatements=true")), MaxOpenConns: 4, MaxIdleConns: 4}
	}
	byUser := &config.Strategy{Standard: &config.Standard{Column: "uid", Algorithm: "user"}}
	cfg.Sharding = config.Sharding{
		Tables: map[string]config.Table{
			"f_order": {ActualDataNodes: "ds${0..2}.f_order", DatabaseStrategy: byUser},
			"f_copy":  {ActualDataNodes: "ds${0..2}.f_copy", DatabaseStrategy: byUser},
			"f_item": {
				ActualDataNodes: "ds${0..2}.f_item_${0..1}", DatabaseStrategy: byUser,
				TableStrategy: &config.Strategy{Standard: &config.Standard{Column: "uid", Algorithm: "item"}},
			},
			"f_event": {ActualDataNodes: "ds1.f_event_${2025..2030}", TableStrategy: &config.Strategy{Standard: &config.Standard{Column: "at", Algorithm: "year"}}},
		},
		BindingTables:   [][]string{{"f_order", "f_copy"}},
		BroadcastTables: []string{"f_kind"},
		Algorithms: map[string]config.Algorithm{
			"user": {Type: "MOD", Props: map[string]any{"shardingCount": 3}},
			"item": {Type: "INLINE", Props: map[string]any{"expression": "f_item_${uid.intdiv(3) % 2}"}},
			"year": {Type: "INTERVAL", Props: map[string]any{"datetimePattern": "yyyy", "datetimeLower": "2025", "datetimeUpper": "2030", "suffixPattern": "yyyy", "amount": 1, "unit": "YEARS"}},
		},
	}
	c := &cluster{}
	a := c.open(t, cfg, nil)
	f.plugin, f.trace = a.plugin, a.trace
	var err error
	if f.logical, err = a.DB.DB(); err != nil {
		t.Fatal(err)
	}
	return f
}

// fill gives both sides the same rows, without the code under test.
func (f *forms) fill(t *testing.T) {
	t.Helper()
	run := func(pool *sql.DB, statements ...string) {
		t.Helper()
		if _, err := pool.ExecContext(t.Context(), strings.Join(statements, ";")); err != nil {
			t.Fatal(err)
		}
	}
	const columns = "(uid, id, v, note, made)"
	const made = ", '2026-01-01 00:00:00')"
	all := []string{"DELETE FROM f_order", "DELETE FROM f_copy", "DELETE FROM f_item", "DELETE FROM f_kind", "DELETE FROM f_single"}
	nodes := make([][]string, 3)
	for i := range nodes {
		nodes[i] = []string{"DELETE FROM f_order", "DELETE FROM f_copy", "DELETE FROM f_item_0", "DELETE FROM f_item_1", "DELETE FROM f_kind"}
	}
	nodes[0] = append(nodes[0], "DELETE FROM f_single")
	if f.counted { // DDL is slow
		const again = "ALTER TABLE f_kind AUTO_INCREMENT = 1"
		all, nodes[0] = append(all, again, "ALTER TABLE f_single AUTO_INCREMENT = 1"), append(nodes[0], again, "ALTER TABLE f_single AUTO_INCREMENT = 1")
	}
	both := func(uid int, table, actual, rest string) {
		all = append(all, "INSERT INTO "+table+rest)
		nodes[uid%3] = append(nodes[uid%3], "INSERT INTO "+actual+rest)
	}
	for uid := range 9 {
		for id := range 3 {
			both(uid, "f_order", "f_order", fmt.Sprintf("%s VALUES (%d, %d, %d, 'n%d'%s", columns, uid, id, uid+id, id, made))
		}
		both(uid, "f_copy", "f_copy", fmt.Sprintf("%s VALUES (%d, 1, %d, 'c'%s", columns, uid, uid, made))
		both(uid, "f_item", fmt.Sprint("f_item_", uid/3%2), fmt.Sprintf(" VALUES (%d, 1, %d)", uid, uid))
	}
	kinds := "INSERT INTO f_kind VALUES (1, 'one'" + made + ", (2, 'two'" + made + ", (5, 'five'" + made
	all = append(all, kinds, "INSERT INTO f_single VALUES (1, 'one')")
	nodes[0] = append(nodes[0], "INSERT INTO f_single VALUES (1, 'one')")
	for i := range nodes {
		nodes[i] = append(nodes[i], kinds)
		run(f.nodes[i], nodes[i]...)
	}
	run(f.single, all...)
}

// same compares all rows but for the columns the clock and chance fill.
func (f *forms) same(t *testing.T) {
	t.Helper()
	dump := func(pool *sql.DB, table, columns string) []string {
		return rowsOf(t, pool, table, columns)
	}
	for _, table := range []string{"f_order", "f_copy", "f_item"} {
		columns := "uid, id, v, note"
		if table == "f_item" {
			columns = "*"
		}
		var got []string
		for i, node := range f.nodes {
			tables := []string{table}
			if table == "f_item" {
				tables = []string{"f_item_0", "f_item_1"}
			}
			for n, actual := range tables {
				got = append(got, dump(node, actual, columns)...)
				foreign := fmt.Sprintf(" WHERE uid %% 3 <> %d", i)
				if len(tables) > 1 {
					foreign += fmt.Sprintf(" OR uid DIV 3 %% 2 <> %d", n)
				}
				if wrong := dump(node, actual+foreign, "uid"); len(wrong) > 0 {
					t.Errorf("ds%d.%s holds rows of other nodes: %v", i, actual, wrong)
				}
			}
		}
		slices.Sort(got)
		if d := differ(dump(f.single, table, columns), got); d != "" {
			t.Errorf("%s: %s", table, d)
		}
	}
	for i, node := range f.nodes {
		if d := differ(dump(f.single, "f_kind", "id, name"), dump(node, "f_kind", "id, name")); d != "" {
			t.Errorf("f_kind on ds%d: %s", i, d)
		}
		if d := differ(dump(f.nodes[0], "f_kind", "*"), dump(node, "f_kind", "*")); d != "" {
			t.Errorf("the copies of f_kind differ: %s", d)
		}
	}
	if d := differ(dump(f.single, "f_single", "*"), dump(f.nodes[0], "f_single", "*")); d != "" {
		t.Errorf("f_single: %s", d)
	}
}

type writeForm struct {
	sql  string
	args []any
	// rows is true for a statement with RETURNING, last where the last insert id
	// has to be the server's.
	rows, last bool
	// refused is true for what must not be sent.
	refused bool
}

var writeForms = []writeForm{
	// INSERT … SELECT.
	{sql: "INSERT INTO f_copy (uid, id, v, note) SELECT uid, id + 100, v, note FROM f_order WHERE v > 3"},
	{sql: "INSERT INTO f_copy (uid, id, v) SELECT uid, id + 100, v FROM f_order WHERE uid = ?", args: []any{4}},
	{sql: "INSERT INTO f_copy SELECT * FROM f_order WHERE id = 2"},
	{sql: "INSERT INTO f_copy SELECT o.* FROM f_order o JOIN f_kind k ON k.id = o.v"},
	{sql: "INSERT IGNORE INTO f_copy (uid, id, v) SELECT uid, id, v FROM f_order"},
	{sql: "REPLACE INTO f_copy (uid, id, v) SELECT uid, id, 77 FROM f_order"},
	{sql: "INSERT INTO f_copy (uid, id, v) SELECT uid, id, v FROM f_order ORDER BY v DESC ON DUPLICATE KEY UPDATE v = VALUES(v) + 1000, uid = VALUES(uid)"},
	{sql: "INSERT INTO f_copy (uid, id, v) SELECT uid, 50, SUM(v) FROM f_order GROUP BY uid HAVING SUM(v) > 5"},
	{sql: "INSERT INTO f_copy (uid, id, v) SELECT DISTINCT uid, 60, 1 FROM f_order"},
	{sql: "INSERT INTO f_copy (uid, id, v) SELECT o.uid, o.id + 10, c.v FROM f_order o JOIN f_copy c ON o.uid = c.uid WHERE o.uid IN (1, 2, 5)"},
	{sql: "INSERT INTO f_order (uid, id, v) SELECT uid, id + 10, v FROM f_order"},
	{sql: "INSERT INTO f_order (uid, id, note) SELECT ?, id + 10, name FROM f_kind", args: []any{7}},
	{sql: "INSERT INTO f_order (uid, id, note) SELECT 8, 90, 'x'"},
	{sql: "INSERT INTO f_item (uid, id, n) SELECT uid, id + 1, n + 1 FROM f_item"},
	{sql: "INSERT INTO f_single (name) SELECT note FROM f_order WHERE uid = 3 ORDER BY id", last: true},
	{sql: "INSERT INTO f_copy (uid, id) SELECT uid, id FROM f_order RETURNING uid, id", rows: true},
	{sql: "INSERT INTO f_copy (uid, id) SELECT uid, id FROM f_order WHERE uid = 1 AND uid = 2"},
	{sql: "INSERT INTO f_copy (uid, id) SELECT uid, id FROM f_order WHERE id = 1"}, // a duplicate: nothing stays
	{sql: "INSERT INTO f_copy (uid, id) SELECT uid + 1, id FROM f_order", refused: true},
	{sql: "INSERT INTO f_copy (uid, id) SELECT id, uid FROM f_order", refused: true},
	{sql: "INSERT INTO f_item (uid, id) SELECT uid, id + 5 FROM f_order WHERE uid = 1", refused: true},
	{sql: "INSERT INTO f_single (name) SELECT note FROM f_order", refused: true},
	{sql: "INSERT INTO f_order (uid, id, v) SELECT 4, 90, COUNT(*) FROM f_order", refused: true},

	// Several tables.
	{sql: "UPDATE f_order o JOIN f_copy c ON o.uid = c.uid AND o.id = c.id SET o.v = o.v + 100, c.note = o.note"},
	{sql: "UPDATE f_order o, f_copy c SET o.v = o.v + c.v WHERE o.uid = c.uid AND c.v IN (1, 2, 5)"},
	{sql: "UPDATE f_order o LEFT JOIN f_copy c ON o.uid = c.uid AND o.id = c.id SET o.note = 'alone' WHERE c.id IS NULL"},
	{sql: "UPDATE f_order o JOIN f_kind k ON k.id = o.v SET o.note = k.name"},
	{sql: "UPDATE f_item i JOIN f_order o ON o.uid = i.uid SET i.n = i.n + o.v WHERE o.id = 1"},
	{sql: "UPDATE f_order a JOIN f_order b ON a.uid = b.uid AND a.id = b.id + 1 SET a.note = b.note"},
	{sql: "UPDATE f_order o JOIN f_copy c ON o.uid = c.uid SET o.v = 1 WHERE o.uid = 5"},
	{sql: "DELETE o, c FROM f_order o JOIN f_copy c ON o.uid = c.uid AND o.id = c.id WHERE o.v > 4"},
	{sql: "DELETE FROM o USING f_order o LEFT JOIN f_copy c ON o.uid = c.uid AND o.id = c.id WHERE c.id IS NULL"},
	{sql: "DELETE i FROM f_item i JOIN f_order o ON o.uid = i.uid WHERE o.v = ?", args: []any{4}},
	{sql: "UPDATE f_item i JOIN f_order o ON o.uid = i.uid SET o.v = o.v + 1", refused: true},
	{sql: "UPDATE f_order o JOIN f_copy c ON o.id = c.id SET o.v = 1", refused: true},
	{sql: "UPDATE f_order o JOIN f_kind k ON k.id = o.v SET k.name = o.note", refused: true},

	// ORDER BY and LIMIT.
	{sql: "UPDATE f_order SET id = id + 1 ORDER BY id DESC"},
	{sql: "UPDATE f_order SET id = id + 1 ORDER BY id"}, // clashes on the way, on every node
	{sql: "DELETE FROM f_order WHERE v > 3 ORDER BY v"},
	{sql: "UPDATE f_order SET v = 0 WHERE uid = 4 ORDER BY id DESC LIMIT 2"},
	{sql: "DELETE FROM f_order ORDER BY id LIMIT 1", refused: true},
	{sql: "DELETE FROM f_order WHERE v > 3 RETURNING uid, id", rows: true},
	{sql: "REPLACE INTO f_order (uid, id, v) VALUES (1, 1, 9), (2, 1, 9), (20, 1, 9) RETURNING uid, v", rows: true},

	// Numbers of a broadcast table.
	{sql: "INSERT INTO f_kind (name) VALUES ('six')", last: true},
	{sql: "INSERT INTO f_kind (id, name) VALUES (?, ?)", args: []any{nil, "six"}, last: true},
	{sql: "INSERT INTO f_kind (name) VALUES (?), (?), (?)", args: []any{"a", "b", "c"}, last: true},
	{sql: "INSERT INTO f_kind (id, name) VALUES (NULL, 'a'), (20, 'b'), (0, 'c'), (DEFAULT, 'd')", last: true},
	{sql: "INSERT INTO f_kind SET name = 'set'", last: true},
	{sql: "INSERT INTO f_kind (name) VALUES ('a'), ('b') RETURNING id, name", rows: true},
	{sql: "INSERT INTO f_kind (name) VALUES ('a') RETURNING *"},
	{sql: "REPLACE INTO f_kind (name) VALUES ('two')", last: true},
	{sql: "INSERT INTO f_kind (name) VALUES ('new'), ('two')"}, // a duplicate: nothing stays, anywhere
	{sql: "INSERT INTO f_kind (id, name) SELECT id, note FROM f_kind k JOIN (SELECT 1 note) d", refused: true},
	{sql: "INSERT IGNORE INTO f_kind (name) VALUES ('two')", refused: true},
	{sql: "INSERT INTO f_kind VALUES (DEFAULT, 'plain', DEFAULT)", last: true},
}

func TestFormsOfWritesDoWhatTheyDoOnOneDatabase(t *testing.T) {
	f := openForms(t, "forms")
	for i, w := range writeForms {
		for _, inside := range [][]bool{{false}, {true}, {false, true}}[i%3] {
			t.Run(fmt.Sprintf("%s/%t", w.sql, inside), func(t *testing.T) {
				f.fill(t)
				f.counted = strings.Contains(w.sql, "INTO f_kind") || strings.Contains(w.sql, "INTO f_single")
				f.trace.take()
				want, err := f.run(t, f.single, &w, inside)
				got, gotErr := f.run(t, f.logical, &w, inside)
				switch {
				case w.refused:
					if !errors.Is(gotErr, sharding.ErrUnsupported) {
						t.Errorf("not refused: %v", gotErr)
					}
					if units := f.trace.take(); len(units) > 0 {
						t.Errorf("refused after %v was sent", units)
					}
					return
				case err != nil || gotErr != nil:
					if d := differInError(err, gotErr); err == nil || d != "" {
						t.Errorf("%s (%v, %v)", d, err, gotErr)
					}
				case want != got:
					t.Errorf("%s instead of %s\n%s", got, want, f.trace)
				}
				f.same(t)
			})
		}
	}
}

// run takes a statement on one side, alone or in a transaction, and says what came
// of it.
func (f *forms) run(t *testing.T, pool *sql.DB, w *writeForm, inside bool) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if !inside {
		return runForm(ctx, pool, w)
	}
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	out, err := runForm(ctx, tx, w)
	if e := tx.Commit(); e != nil {
		t.Error(e)
	}
	return out, err
}

func runForm(ctx context.Context, on interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}, w *writeForm,
) (string, error) {
	if w.rows {
		a := read(on.QueryContext(ctx, w.sql, w.args...))
		rows := rowtext.Shown(a.rows)
		slices.Sort(rows)
		return fmt.Sprint(a.columns, rows), a.err
	}
	r, err := on.ExecContext(ctx, w.sql, w.args...)
	if err != nil {
		return "", err
	}
	affected, _ := r.RowsAffected()
	last, _ := r.LastInsertId()
	if !w.last {
		last = 0
	}
	return fmt.Sprintf("%d affected, last %d", affected, last), nil
}

// onNodes returns the distinct values of an expression over a table of all nodes.
func (f *forms) onNodes(t *testing.T, expression string, tables ...string) []string {
	t.Helper()
	var values []string
	for _, node := range f.nodes {
		for _, table := range tables {
			values = append(values, rowsOf(t, node, table, "DISTINCT "+expression)...)
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}

func TestNodesReadOneClock(t *testing.T) {
	f := openForms(t, "clock")
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := f.logical.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatalf("%s\n%v", query, err)
		}
	}
	one := func(expression string, tables ...string) {
		t.Helper()
		if got := f.onNodes(t, expression, tables...); len(got) != 1 {
			t.Errorf("%s of %v: %v", expression, tables, got)
		}
	}
	f.fill(t)
	exec("UPDATE f_order SET made = NOW(6), note = CONCAT(CURDATE(), ' ', CURTIME(6)) WHERE made < NOW()")
	one("CONCAT(made, note, changed)", "f_order")
	exec("DELETE FROM f_copy")
	exec("INSERT INTO f_copy (uid, id) VALUES (1, 1), (2, 1), (3, 1), (4, 1)")
	one("made", "f_copy")
	exec("INSERT INTO f_copy (uid, id, note) SELECT uid, id + 10, UTC_TIMESTAMP(6) FROM f_order")
	one("CONCAT(made, note)", "f_copy WHERE id > 5")
	exec("UPDATE f_order SET v = v + 1")
	one("changed", "f_order")
	exec("UPDATE f_order SET token = UUID()")
	if got := f.onNodes(t, "token", "f_order"); len(got) != 27 {
		t.Errorf("%d different tokens, want 27", len(got))
	}
	exec("INSERT INTO f_kind (name) VALUES ('x'), ('y')")
	one("made", "f_kind WHERE name IN ('x', 'y')")
	exec("INSERT INTO f_kind (id, name) VALUES (70, 'z')")
	one("made", "f_kind WHERE id = 70")
	exec("UPDATE f_kind SET made = NOW(6)")
	one("made", "f_kind")

	a := read(f.logical.QueryContext(t.Context(), "SELECT DISTINCT NOW(6) FROM f_item WHERE uid IN (1)"))
	if a.err != nil {
		t.Fatal(a.err)
	}
	for _, query := range []string{"SELECT NOW(6), uid FROM f_order", "SELECT NOW(6), uid FROM f_order ORDER BY uid"} {
		a := read(f.logical.QueryContext(t.Context(), query))
		if a.err != nil || len(a.rows) != 27 {
			t.Fatalf("%d rows, %v", len(a.rows), a.err)
		}
		for _, r := range a.rows {
			if fmt.Sprint(r[0]) != fmt.Sprint(a.rows[0][0]) {
				t.Errorf("%s: %v and %v", query, r[0], a.rows[0][0])
				break
			}
		}
	}

	// In a transaction, and after a failure in it, the sessions' clocks go on.
	tx, err := f.logical.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "UPDATE f_order SET made = NOW(6)"); err != nil {
		t.Error(err)
	}
	if _, err := tx.ExecContext(t.Context(), "UPDATE f_order SET made = NOW(6), id = 1"); err == nil {
		t.Error("a duplicate key was not refused")
	}
	time.Sleep(1100 * time.Millisecond)
	running := "SELECT ABS(TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6))) < 500000 FROM f_order WHERE uid = ? LIMIT 1"
	check := func(on interface {
		QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	},
	) {
		t.Helper()
		for uid := range 3 {
			var runs bool
			if err := on.QueryRowContext(t.Context(), running, uid).Scan(&runs); err != nil || !runs {
				t.Errorf("the clock of ds%d stands still (%v)", uid, err)
			}
		}
	}
	check(tx)
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	one("made", "f_order")
	for range 8 { // whichever connections the pools give
		check(f.logical)
	}
}

func TestRowsRoutedByNowStoreWhatTheyWereRoutedBy(t *testing.T) {
	f := openForms(t, "bynow")
	for i, query := range []string{
		"INSERT INTO f_event (id, at, made) VALUES (?, NOW(), NOW(6))",
		"INSERT INTO f_event SET id = ?, at = CURRENT_TIMESTAMP, made = NOW(6)",
		"INSERT INTO f_event (id, at, made) VALUES (?, NOW(), NOW(6)), (100, '2025-03-04 00:00:00', NOW(6))",
		"REPLACE INTO f_event VALUES (?, NOW(3), NOW(6))",
	} {
		if _, err := f.logical.ExecContext(t.Context(), query, i); err != nil {
			t.Fatalf("%s\n%v", query, err)
		}
	}
	var years []string
	for year := 2025; year < 2031; year++ {
		years = append(years, rowsOf(t, f.nodes[1], fmt.Sprint("f_event_", year), "YEAR(at) = "+fmt.Sprint(year)+" AND (id = 100 OR at = CAST(DATE_FORMAT(made, '%Y-%m-%d %H:%i:%s') AS DATETIME))")...)
	}
	if len(years) != 5 || slices.ContainsFunc(years, func(row string) bool { return !strings.Contains(row, "1") }) {
		t.Errorf("rows in the table of their year, at the time of the statement: %v", years)
	}
	rows := read(f.logical.QueryContext(t.Context(), "SELECT id FROM f_event WHERE at <= NOW() ORDER BY id"))
	if rows.err != nil || len(rows.rows) != 5 {
		t.Errorf("%v, %v", rows.rows, rows.err)
	}
}

func TestMoreMarkersThanAServerTakes(t *testing.T) {
	f := openForms(t, "markers")
	const rows = 24_000
	args := make([]any, 0, 4*rows)
	for i := range rows {
		args = append(args, i%7, 1000+i, i, "m")
	}
	query := "INSERT INTO f_copy (uid, id, v, note) VALUES " + strings.TrimSuffix(strings.Repeat("(?, ?, ?, ?), ", rows), ", ")
	r, err := f.logical.ExecContext(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := r.RowsAffected(); n != rows {
		t.Errorf("%d rows affected", n)
	}
	// One bad row: nothing stays.
	args[len(args)-4], args[len(args)-3] = 0, 1000
	if _, err := f.logical.ExecContext(t.Context(), strings.Replace(query, "f_copy", "f_order", 1), args...); err == nil {
		t.Error("a duplicate key was not refused")
	}
	if got := f.onNodes(t, "COUNT(*)", "f_order"); !slices.Equal(got, f.onNodes(t, "0", "(SELECT 1) x")) {
		t.Errorf("rows left: %v", got)
	}
	// All rows of one node.
	for i := range rows {
		args[4*i] = 3
	}
	args[len(args)-3] = 1000 + rows - 1
	f.trace.take()
	if _, err := f.logical.ExecContext(t.Context(), strings.Replace(query, "f_copy", "f_order", 1), args...); err != nil {
		t.Error(err)
	}
	if n := len(f.trace.take()); n != 2 {
		t.Errorf("%d units", n)
	}
	_, err = f.logical.QueryContext(t.Context(), "SELECT id FROM f_order WHERE uid = 3 AND id IN ("+strings.TrimSuffix(strings.Repeat("?, ", 70_000), ", ")+")", args[:70_000]...) //nolint:rowserrcheck,sqlclosecheck // an error is wanted
	if !errors.Is(err, sharding.ErrUnsupported) {
		t.Errorf("70,000 markers in one list: %v", err)
	}
}

// TestConcurrentWritesOverDataSourcesDoNotWaitForEachOther runs writes that lock
// the same rows of all data sources. Servers see a deadlock only among their own
// locks: statements that take those of several servers in different orders wait
// until innodb_lock_wait_timeout.
func TestConcurrentWritesOverDataSourcesDoNotWaitForEachOther(t *testing.T) {
	f := openForms(t, "turns")
	f.fill(t)
	for _, query := range []string{
		"UPDATE f_kind SET name = CONCAT('n', id), made = NOW(6)",
		"INSERT INTO f_kind (id, name) VALUES (90, 'x') ON DUPLICATE KEY UPDATE made = NOW(6)",
		"REPLACE INTO f_kind (id, name) VALUES (91, 'y')",
		"UPDATE f_order SET v = v + 1",
		"INSERT INTO f_order (uid, id) VALUES (2, 1), (0, 1), (1, 1) ON DUPLICATE KEY UPDATE v = v + 1",
		"UPDATE f_order SET v = v + 1 WHERE uid = 2; UPDATE f_order SET v = v - 1 WHERE uid = 0; UPDATE f_order SET v = 3 WHERE uid = 1",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 12 {
					if _, err := f.logical.ExecContext(ctx, query); err != nil {
						t.Errorf("%s\n%v", query, err)
						return
					}
				}
			})
		}
		wg.Wait()
		cancel()
	}
	for _, node := range f.nodes[1:] {
		if want, got := rowsOf(t, f.nodes[0], "f_kind", "*"), rowsOf(t, node, "f_kind", "*"); !slices.Equal(want, got) {
			t.Errorf("the copies differ: %v and %v", want, got)
		}
	}
}
