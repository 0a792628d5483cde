//go:build unix

package orders_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/tests/mariadb"
	"github.com/gormshard/sharding/tests/rowtext"
)

// textColumn is a column of t_text, by the collation of its texts.
type textColumn struct {
	name, collation string
	refused         bool // its texts are not compared over several nodes
}

var textColumns = []textColumn{
	{name: "general", collation: "utf8mb4_general_ci"},
	{name: "general_nopad", collation: "utf8mb4_general_nopad_ci"},
	{name: "unicode", collation: "utf8mb4_unicode_ci"},
	{name: "unicode_520", collation: "utf8mb4_unicode_520_ci"},
	{name: "unicode_nopad", collation: "utf8mb4_unicode_520_nopad_ci"},
	{name: "swedish", collation: "utf8mb4_swedish_ci"},
	{name: "bin", collation: "utf8mb4_bin"},
	{name: "nopad_bin", collation: "utf8mb4_nopad_bin"},
	{name: "latin", collation: "latin1_swedish_ci"},
	{name: "latin_bin", collation: "latin1_bin"},
	{name: "uca", collation: "utf8mb4_uca1400_ai_ci"},
	{name: "levels", collation: "utf8mb4_uca1400_as_cs", refused: true},
}

// textCluster is t_text in three databases, and once more in one.
type textCluster struct {
	sharded, single *sql.DB
	trace           *trace
}

func newTextCluster(t *testing.T, name string, values []any, rows int, change ...func(*config.Config)) *textCluster {
	t.Helper()
	server := mariadb.Shared(t, 1)[0]
	const nodes = 3
	ddl := "CREATE TABLE t_text (id bigint NOT NULL PRIMARY KEY, n int, kind enum('b','a','c'), rate float, seen timestamp(3) NULL"
	for _, c := range textColumns {
		charset, _, _ := strings.Cut(c.collation, "_")
		ddl += fmt.Sprintf(", c_%s text CHARACTER SET %s COLLATE %s", c.name, charset, c.collation)
	}
	ddl += ", KEY (n))"
	open := func(database string) *sql.DB {
		if err := server.CreateDatabase(t.Context(), database); err != nil {
			t.Fatal(err)
		}
		pool := openDSN(t, server.DSN(database))
		if _, err := pool.ExecContext(t.Context(), ddl); err != nil {
			t.Fatal(err)
		}
		return pool
	}
	cfg := &config.Config{
		DataSources: map[string]config.DataSource{}, DefaultDataSource: "ds0",
		Sharding: config.Sharding{
			Tables: map[string]config.Table{"t_text": {
				ActualDataNodes:  "ds${0..2}.t_text",
				DatabaseStrategy: &config.Strategy{Standard: &config.Standard{Column: "id", Algorithm: "mod"}},
			}},
			Algorithms: map[string]config.Algorithm{"mod": {Type: "MOD", Props: map[string]any{"shardingCount": nodes}}},
		},
	}
	for i := range nodes {
		database := fmt.Sprintf("%s_%d", name, i)
		open(database)
		cfg.DataSources[fmt.Sprintf("ds%d", i)] = config.DataSource{DSN: config.DSN(server.DSN(database)), MaxOpenConns: 6}
	}
	for _, f := range change {
		f(cfg)
	}
	c := &textCluster{single: open(name + "_single")}
	c.sharded, c.trace = (&cluster{}).openSQL(t, cfg)

	random := rand.New(rand.NewPCG(4, 3))
	insert := "INSERT INTO t_text VALUES (?, ?, ?, ?, ?" + strings.Repeat(", ?", len(textColumns)) + ")"
	for id := range rows {
		pick := func(from ...any) any { return from[random.IntN(len(from))] }
		args := []any{id, random.IntN(7), pick("a", "b", "c", nil), pick(1.5, 16777216.0, 16777210.0, nil), pick(nil, "2026-10-25 00:30:00.5", "2026-01-01 00:00:00")}
		for _, column := range textColumns {
			v := pick(values...)
			if text, ok := v.(string); ok && strings.HasPrefix(column.collation, "latin1") && strings.IndexFunc(text, func(r rune) bool { return r > 0xff }) >= 0 {
				v = "Å"
			}
			args = append(args, v)
		}
		for _, pool := range []*sql.DB{c.sharded, c.single} {
			if _, err := pool.ExecContext(t.Context(), insert, args...); err != nil {
				t.Fatal(err)
			}
		}
	}
	return c
}

// compare runs a query on both sides and returns how the answers differ.
func (c *textCluster) compare(t *testing.T, query string, args ...any) (difference string, err error) {
	t.Helper()
	want := ask(t.Context(), direct(c.single), query, args)
	if want.err != nil {
		t.Fatalf("%s: %v", query, want.err)
	}
	got := ask(t.Context(), direct(c.sharded), query, args)
	if got.err != nil {
		return "", got.err
	}
	if w, g := strings.Join(want.columns, " "), strings.Join(got.columns, " "); w != g {
		return "columns " + g + " instead of " + w, nil
	}
	return differ(rowtext.Shown(want.rows), rowtext.Shown(got.rows)), nil
}

func direct(pool *sql.DB) asker {
	return func(ctx context.Context, query string, args []any) (*sql.Rows, error) {
		return pool.QueryContext(ctx, query, args...)
	}
}

var plainTexts = []any{
	nil, "", " ", "a", "A", "a ", "a  ", "a\t", "a\x01", "ab", "aB", "ä", "Ä", "å", "Z", "z", "zz", "ß", "ss", "s", "ö", "o",
	"æ", "ae", "10", "9", "-", "_", "日本", "ñ", "n", "é", "e", "E ", "B", "b",
}

// expressions are texts made of a column c.
var expressions = []string{
	"UPPER(c)", "LOWER(c)", "CONCAT(c, 'x')", "CONCAT('-', c, id % 3)", "LEFT(c, 1)", "SUBSTRING(c, 2)", "REVERSE(c)", "IFNULL(c, '')", "COALESCE(c, 'm')",
	"CASE WHEN id % 2 = 0 THEN c ELSE 'm' END", "IF(id % 2, c, NULL)", "TRIM(c)", "REPLACE(c, 'a', 'z')", "NULLIF(c, 'a')", "LPAD(c, 3, ' ')",
	"CONCAT(c, c)", "CAST(c AS CHAR(2))", "CONVERT(c USING utf8mb4)", "CAST(c AS BINARY)", "HEX(c)", "LENGTH(c)", "c = 'a'", "c COLLATE %BIN%",
}

func (column textColumn) in(query string) string {
	charset, _, _ := strings.Cut(column.collation, "_")
	query = strings.ReplaceAll(query, "%BIN%", charset+"_bin")
	return strings.NewReplacer("(c", "(c_"+column.name, " c ", " c_"+column.name+" ", ", c,", ", c_"+column.name+",", ", c)", ", c_"+column.name+")").Replace(" " + query + " ")
}

// Semantics rows 1 to 3, for expressions.
func TestTextExpressionsAreOrderedAndGroupedAsOneDatabaseDoes(t *testing.T) {
	c := newTextCluster(t, "textorder", plainTexts, 210)
	refused := 0
	for nth, column := range textColumns {
		t.Run(column.name, func(t *testing.T) {
			for i, e := range expressions {
				if nth > 0 && (i+nth)%3 > 0 {
					continue // a third of them for each collation but the first
				}
				e := column.in(e)
				// The server does not sort these expressions as it compares them.
				unsorted := strings.Contains(e, "latin1_bin") || column.collation == "latin1_bin"
				// Texts that differ and are in no order among each other: one server takes
				// them as they come.
				tie := ""
				if column.refused {
					tie = ", 2"
				}
				for _, query := range []string{
					"SELECT id FROM t_text ORDER BY " + e + ", id",
					"SELECT id, " + e + " AS e FROM t_text ORDER BY e DESC, id LIMIT 40 OFFSET 7",
					"SELECT COUNT(*), MIN(id), MAX(id) FROM t_text GROUP BY " + e + " ORDER BY 1, 2, 3",
					"SELECT COUNT(*), MIN(id) FROM t_text GROUP BY " + e + " ORDER BY " + e + " DESC" + tie + " LIMIT 5",
				} {
					d, err := c.compare(t, query)
					switch {
					case errors.Is(err, sharding.ErrUnsupported):
						if refused++; !column.refused && !unsorted {
							t.Errorf("%s\nrefused: %v", query, err)
						}
					case err != nil:
						t.Errorf("%s\n%v", query, err)
					case d != "":
						t.Errorf("%s\n%s", query, d)
					}
				}
			}
			c.extremes(t, column)
			c.distinct(t, column)
		})
	}
	t.Logf("%d refused", refused)
}

// extremes compares MIN and MAX: of equal texts any one may be shown.
func (c *textCluster) extremes(t *testing.T, column textColumn) {
	t.Helper()
	for _, e := range []string{"CONCAT(c, 'x')", "UPPER(c)", "IFNULL(c, 'm')", "LEFT(c, 2)"} {
		e := column.in(e)
		query := "SELECT n, MIN(" + e + "), MAX(" + e + ") FROM t_text GROUP BY n ORDER BY n"
		want := ask(t.Context(), direct(c.single), query, nil)
		got := ask(t.Context(), direct(c.sharded), query, nil)
		if errors.Is(got.err, sharding.ErrUnsupported) && column.refused {
			continue
		}
		if got.err != nil || want.err != nil || len(got.rows) != len(want.rows) {
			t.Errorf("%s: %v, %v", query, got.err, want.err)
			continue
		}
		charset, _, _ := strings.Cut(column.collation, "_")
		for i := range want.rows {
			var same bool
			equal := "CONVERT(? USING " + charset + ") COLLATE " + column.collation
			err := c.single.QueryRowContext(t.Context(), "SELECT ? = ? AND "+equal+" <=> "+equal+" AND "+equal+" <=> "+equal,
				want.rows[i][0], got.rows[i][0], text(want.rows[i][1]), text(got.rows[i][1]), text(want.rows[i][2]), text(got.rows[i][2])).Scan(&same)
			if err != nil || !same {
				t.Errorf("%s: %s instead of %s (%v)", query, rowtext.Show(got.rows[i]), rowtext.Show(want.rows[i]), err)
			}
		}
	}
}

// distinct counts distinct texts: of equal ones any may be shown.
func (c *textCluster) distinct(t *testing.T, column textColumn) {
	t.Helper()
	for _, query := range []string{
		"SELECT DISTINCT " + column.in("UPPER(c)") + " FROM t_text",
		"SELECT DISTINCT n % 2, " + column.in("LEFT(c, 1)") + " AS l FROM t_text ORDER BY l LIMIT 9",
		"SELECT DISTINCT " + column.in("IFNULL(c, '')") + " AS l, rate FROM t_text LIMIT 1000",
	} {
		want := ask(t.Context(), direct(c.single), query, nil)
		got := ask(t.Context(), direct(c.sharded), query, nil)
		if errors.Is(got.err, sharding.ErrUnsupported) && (column.refused || column.collation == "latin1_bin") {
			continue
		}
		if got.err != nil || want.err != nil || len(got.rows) != len(want.rows) {
			t.Errorf("%s: %d rows instead of %d (%v, %v)", query, len(got.rows), len(want.rows), got.err, want.err)
		}
	}
}

func text(v any) any {
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	return v
}

// What the metadata does not tell, a server does.
func TestTypesBehindNamesAndPositionsAreAskedFor(t *testing.T) {
	c := newTextCluster(t, "textnames", plainTexts, 60)
	for _, q := range []struct {
		sql  string
		args []any
	}{
		{sql: "SELECT x.name, x.id FROM (SELECT id, UPPER(c_general) AS name, n FROM t_text) x ORDER BY x.name, x.id"},
		{sql: "SELECT * FROM (SELECT id, CONCAT(c_latin, n) AS name FROM t_text WHERE n > ?) x ORDER BY name DESC, id", args: []any{1}},
		{sql: "SELECT x.k FROM (SELECT id, kind AS k, rate AS r, seen AS s FROM t_text) x ORDER BY x.k, x.r, x.s, x.id"},
		{sql: "SELECT MIN(x.r), MAX(x.m), COUNT(*) FROM (SELECT rate AS r, n * 2 AS m, kind AS k FROM t_text) x"},
		{sql: "SELECT x.m, COUNT(*) FROM (SELECT n * 2 AS m FROM t_text) x GROUP BY x.m ORDER BY x.m"},
		{sql: "WITH x AS (SELECT id, LOWER(c_swedish) AS w FROM t_text WHERE n < ?) SELECT id FROM x ORDER BY CONCAT(w, ?), id", args: []any{5, "ä"}},
		{sql: "SELECT id FROM t_text ORDER BY LEFT(c_general, ?), CONCAT(?, c_bin), id", args: []any{1, "日"}},
		{sql: "SELECT id FROM t_text ORDER BY IFNULL(rate, ?), IFNULL(n, 0) / 3, id", args: []any{0.5}},
		{sql: "SELECT id FROM t_text ORDER BY FIELD(kind, 'c', 'a'), kind DESC, id"},
		{sql: "SELECT id FROM t_text ORDER BY DATE_FORMAT(seen, '%m %Y'), DATE(seen) DESC, id"},
		{sql: "SELECT DATE_FORMAT(seen, '%Y-%m') AS month, COUNT(*) FROM t_text GROUP BY month"},
		{sql: "SELECT DATE_FORMAT(seen, '%Y-%m') AS month, COUNT(*) FROM t_text GROUP BY DATE_FORMAT(seen, '%Y-%m') ORDER BY month DESC LIMIT 1"},
		{sql: "SELECT id, n, kind, rate, seen FROM t_text ORDER BY 3 DESC, 4, 5, 1"},
		{sql: "SELECT *, UPPER(c_general) AS u FROM t_text ORDER BY 18, 3, 4, 1"},
		{sql: "SELECT * FROM t_text ORDER BY 6, 5, 1"},
	} {
		for range 2 { // as it is first asked, and as it is remembered
			if d, err := c.compare(t, q.sql, q.args...); err != nil || d != "" {
				t.Errorf("%s\n%v %s", q.sql, err, d)
			}
		}
	}
	// What cannot be merged is known before anything is sent, so that it is gathered.
	for _, q := range []string{
		"SELECT id FROM t_text ORDER BY IFNULL(seen, seen), id",
		"SELECT id FROM t_text ORDER BY UPPER(c_levels), id",
		"SELECT id FROM t_text ORDER BY UPPER(c_latin_bin), id",
		"SELECT MIN(LOWER(c_levels)) IS NULL, COUNT(*) FROM t_text",
		"SELECT MIN(x.s) FROM (SELECT seen AS s FROM t_text) x",
	} {
		if d, err := c.compare(t, q); err != nil || d != "" {
			t.Errorf("%s\n%v %s", q, err, d)
		}
	}
}

// A mistake is answered by the servers themselves.
func TestMistakesInOrderedExpressionsAreTheServers(t *testing.T) {
	c := newTextCluster(t, "textwrong", plainTexts, 6)
	for query, number := range map[string]string{
		"SELECT id FROM t_text ORDER BY UPPER(nothing), id":                                                      "server error 1054",
		"SELECT id FROM t_text ORDER BY nothing":                                                                 "server error 1054",
		"SELECT MIN(CONCAT(nothing, n)) FROM t_text":                                                             "server error 1054",
		"SELECT id FROM t_text ORDER BY CONCAT(c_general COLLATE utf8mb4_bin, c_bin COLLATE utf8mb4_general_ci)": "server error 1267",
		"SELECT COUNT(*) FROM t_text GROUP BY NO_SUCH_FUNCTION(c_general)":                                       "server error 1305",
	} {
		if got := ask(t.Context(), direct(c.sharded), query, nil); got.err == nil || serverError(got.err) != number {
			t.Errorf("%s: %v, want %s", query, got.err, number)
		}
	}
}

// Semantics row 66.
func TestTextsThatServersSortByInPartAreRefusedWhenTheyCome(t *testing.T) {
	long := strings.Repeat("x", 1500)
	c := newTextCluster(t, "textlong", []any{"a", "a\x00", "a\x00b", long, long + "a", nil}, 45)
	answered := 0
	for _, column := range textColumns {
		for _, e := range []string{"c", "UPPER(c)", "CONCAT(c, 'x')"} {
			e := strings.TrimSpace(column.in(e))
			for _, query := range []string{
				"SELECT id FROM t_text ORDER BY " + e + ", id",
				"SELECT COUNT(*), MIN(id) FROM t_text GROUP BY " + e + " ORDER BY 2",
			} {
				d, err := c.compare(t, query)
				switch {
				case errors.Is(err, sharding.ErrUnsupported):
				case err != nil || d != "":
					t.Errorf("%s\n%v %s", query, err, d)
				default:
					answered++
				}
			}
		}
	}
	t.Logf("%d answered", answered)
}

// Semantics row 22.
func TestGroupsThatComeInOrderNeedNoRoom(t *testing.T) {
	c := newTextCluster(t, "textgroups", plainTexts, 90, func(cfg *config.Config) { cfg.Props.MaxMergeRows = 2 })
	for _, q := range []struct {
		sql     string
		tooMany bool
	}{
		{sql: "SELECT n, COUNT(*), SUM(id), MAX(rate) FROM t_text GROUP BY n"},
		{sql: "SELECT n, COUNT(*), AVG(id) FROM t_text GROUP BY n ORDER BY n DESC LIMIT 3 OFFSET 1"},
		{sql: "SELECT n, kind, COUNT(*) FROM t_text GROUP BY kind, n HAVING COUNT(*) > 1 ORDER BY kind DESC, n LIMIT 5"},
		{sql: "SELECT n, kind, COUNT(*) FROM t_text GROUP BY kind, n"},
		{sql: "SELECT rate, seen, n % 2, COUNT(*) FROM t_text GROUP BY rate, seen, n % 2 ORDER BY seen, rate DESC, n % 2, COUNT(*)"},
		{sql: "SELECT COUNT(*) FROM t_text GROUP BY n LIMIT 4"},
		{sql: "SELECT n AS k, COUNT(*) FROM t_text GROUP BY k ORDER BY k"},
		{sql: "SELECT id % 3 AS n, COUNT(*) FROM t_text GROUP BY n ORDER BY n", tooMany: true}, // n is the column in GROUP BY alone
		{sql: "SELECT n, COUNT(*) FROM t_text GROUP BY n ORDER BY COUNT(*), n LIMIT 1", tooMany: true},
		{sql: "SELECT n, kind, COUNT(*) FROM t_text GROUP BY n, kind ORDER BY n", tooMany: true},
		{sql: "SELECT LEFT(c_general, 9) AS k, COUNT(*) FROM t_text GROUP BY k ORDER BY k", tooMany: true}, // who knows how long it is
	} {
		d, err := c.compare(t, q.sql)
		if q.tooMany != errors.Is(err, sharding.ErrTooManyRows) || !q.tooMany && err != nil || d != "" {
			t.Errorf("%s\n%v %s", q.sql, err, d)
		}
	}
}

func TestPositionsBehindTheStarOfAJoin(t *testing.T) {
	compare(t, []query{
		{sql: "SELECT * FROM t_ent_order o JOIN t_ent_order_detail d ON o.id = d.order_id AND o.ent_id = d.ent_id ORDER BY 4, 26 DESC, 1"},
		{sql: "SELECT d.*, o.* FROM t_ent_order o LEFT JOIN t_ent_order_detail d ON o.id = d.order_id AND o.ent_id = d.ent_id ORDER BY 3, 25, 8, 5 LIMIT 25"},
		{sql: "SELECT status, UPPER(name), COUNT(*), MIN(CONCAT(code, label)) FROM t_ent_order WHERE name IS NULL OR LENGTH(name) > 1 GROUP BY status, UPPER(name) ORDER BY status, COUNT(*) DESC, UPPER(name)", folded: []int{1, 3}},
	})
}
