package parse

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// show writes what an inquiry was read as.
func showInquiry(q *Inquiry) string {
	if q == nil {
		return "none"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s", q.Kind, q.Clause)
	for _, t := range q.Tables {
		fmt.Fprintf(&b, " table(%s.%s at %s)", t.Schema, t.Name, q.Text[t.Start:t.End])
	}
	if q.Schema != "" {
		fmt.Fprintf(&b, " schema(%s at %s)", q.Schema, q.Text[q.SchemaClause.Start:q.SchemaClause.End])
	}
	for name, set := range map[string]bool{" full": q.Full, " index": q.Index} {
		if set {
			b.WriteString(name)
		}
	}
	if q.Like != "" {
		b.WriteString(" like " + q.Like)
	}
	if q.Where {
		fmt.Fprintf(&b, " where by-table=%v", q.ByTable)
	}
	return b.String()
}

func TestInquiriesAreReadFromTokens(t *testing.T) {
	for text, want := range map[string]string{
		"DESCRIBE t_order":         "0 DESCRIBE table(.t_order at t_order)",
		"desc `db` . `t``x` col ;": "0 DESC table(db.t`x at `t``x`)",
		"EXPLAIN t_order 'a%'":     "0 EXPLAIN table(.t_order at t_order)",
		"DESC t_order a b":         "none",
		"DESC":                     "none",
		"EXPLAIN FOR CONNECTION 7": "none",
		"EXPLAIN SELECT 1":         "none",
		"SHOW EXTENDED FULL COLUMNS IN t FROM db LIKE 'x'":     "0 SHOW EXTENDED FULL COLUMNS table(.t at t) schema(db at FROM db) full like 'x'",
		"SHOW COLUMNS FROM t WHERE Field = ?":                  "0 SHOW COLUMNS table(.t at t) where by-table=false",
		"SHOW COLUMNS FROM t LIKE ?":                           "none",
		"SHOW INDEX FROM t WHERE `table` = 't'":                "0 SHOW INDEX table(.t at t) index where by-table=true",
		"SHOW KEYS FROM t WHERE":                               "none",
		"SHOW CREATE TABLE db.t":                               "1 SHOW CREATE TABLE table(db.t at t)",
		"SHOW CREATE VIEW v":                                   "1 SHOW CREATE VIEW table(.v at v)",
		"SHOW CREATE PROCEDURE p":                              "none",
		"SHOW FULL TABLES FROM `d b`":                          "3 SHOW FULL TABLES schema(d b at FROM `d b`) full",
		"SHOW TABLES LIKE 'a' 'b'":                             "none",
		"SHOW TABLE STATUS LIKE \"a\"":                         "4 SHOW TABLE STATUS like \"a\"",
		"SHOW SCHEMAS":                                         "5 SHOW SCHEMAS",
		"SHOW OPEN TABLES":                                     "none",
		"SHOW TRIGGERS LIKE 't'":                               "6 SHOW TRIGGERS",
		"SHOW COUNT(*) ERRORS":                                 "7 SHOW COUNT",
		"SHOW GLOBAL STATUS":                                   "none",
		"SHOW":                                                 "none",
		"ANALYZE NO_WRITE_TO_BINLOG TABLE a, `b`.c PERSISTENT": "2 ANALYZE NO_WRITE_TO_BINLOG TABLE table(.a at a) table(b.c at c)",
		"CHECK TABLES t FOR UPGRADE":                           "2 CHECK TABLES table(.t at t)",
		"CHECK VIEW v":                                         "none",
		"CHECK TABLE a,":                                       "none",
		"SELECT DATABASE()":                                    "8 DATABASE()",
		"SELECT a FROM t":                                      "none",
		"SELECT database FROM t":                               "none",
		"SELECT t.SCHEMA() FROM t":                             "none",
		"SELECT 1 FROM `Information_Schema`.`tables`":          "9 information_schema.TABLES",
		"SELECT 'information_schema.tables'":                   "none",
		"INSERT INTO t VALUES (DATABASE())":                    "none",
		"SHOW TABLES; SHOW TABLES":                             "none",
		"DESCRIBE t_order /*M! x */":                           "none",
		"DESCRIBE 't_order":                                    "none",
		"SHOW TABLES)":                                         "none",
		"":                                                     "none",
	} {
		if got := showInquiry(Inquire(text, false, dialect.MySQL)); got != want {
			t.Errorf("%s\n  is %s\ninstead of\n     %s", text, got, want)
		}
	}
	if Inquire("SELECT DATABASE()", true, dialect.MySQL) != nil {
		t.Error("DATABASE() beside a configured table is an inquiry")
	}
	if Inquire("EXPLAIN t_order", false, dialect.SQLite) != nil {
		t.Error("SQLite has inquiries")
	}
}

func TestExplainedStatementsBeginBehindTheOptions(t *testing.T) {
	for text, want := range map[string]string{
		"EXPLAIN SELECT 1": "SELECT 1 false",
		"/* a */ explain extended /* b */ (select 1)":                 "(select 1) false",
		"DESC FORMAT = JSON UPDATE t SET a = 1":                       "UPDATE t SET a = 1 false",
		"EXPLAIN ANALYZE FORMAT='tree' WITH x AS (SELECT 1) SELECT 1": "WITH x AS (SELECT 1) SELECT 1 true",
		"ANALYZE FORMAT=JSON DELETE FROM t":                           "DELETE FROM t true",
		"EXPLAIN t":                                                   "none",
		"ANALYZE TABLE t":                                             "none",
		"EXPLAIN FORMAT=":                                             "none",
		"EXPLAIN":                                                     "none",
		"SELECT 1":                                                    "none",
	} {
		got := "none"
		if e, ok := Explained(text, dialect.MySQL); ok {
			got = fmt.Sprint(text[e.End:], " ", e.Runs)
		}
		if got != want {
			t.Errorf("%s explains %s, want %s", text, got, want)
		}
	}
}

// showCatalog writes what was read of a SELECT from information_schema.
func showCatalog(q *Inquiry) string {
	c := q.Select
	var parts []string
	add := func(name string, s Span) { parts = append(parts, name+"("+q.Text[s.Start:s.End]+")") }
	if c.Refuse != "" {
		return "refused: " + c.Refuse
	}
	if c.Star {
		parts = append(parts, "*")
	}
	for _, i := range c.Items {
		parts = append(parts, fmt.Sprintf("item(%d)", i.Index))
	}
	for _, t := range c.Terms {
		switch {
		case t.Call:
			add("call", t.Span)
		case t.Param >= 0:
			parts = append(parts, fmt.Sprintf("param(%s %d)", q.Text[t.Name.Start:t.Name.End], t.Param))
		default:
			parts = append(parts, fmt.Sprintf("term(%s %s)", q.Text[t.Name.Start:t.Name.End], t.Text))
		}
	}
	for _, n := range c.Names {
		add("name", n.Span)
	}
	for _, call := range c.Calls {
		add("other", call)
	}
	for _, l := range c.Labels {
		add("label", l)
	}
	if c.Gathers != "" {
		parts = append(parts, c.Gathers)
	}
	if c.Ordinal {
		parts = append(parts, "ordinal")
	}
	if c.Sizes {
		parts = append(parts, "sizes")
	}
	return strings.Join(parts, " ")
}

func TestCatalogFindsWhatNamesAreEqualTo(t *testing.T) {
	const from = " FROM information_schema.TABLES "
	for text, want := range map[string]string{
		"SELECT 1" + from + "WHERE table_schema = ? AND ? = `TABLE_NAME`":                           "param(table_schema 0) param(`TABLE_NAME` 1)",
		"SELECT 1" + from + "t WHERE (t.table_schema = 'a''b' AND (TABLE_NAME = \"x\")) && 1 = 1":   "term(t.table_schema a'b) term(TABLE_NAME x)",
		"SELECT 1" + from + "WHERE information_schema.tables.TABLE_SCHEMA = SCHEMA()":               "call(information_schema.tables.TABLE_SCHEMA = SCHEMA())",
		"SELECT 1" + from + "WHERE TABLE_SCHEMA = 'a' OR TABLE_NAME = 'b'":                          "name(TABLE_SCHEMA) name(TABLE_NAME)",
		"SELECT 1" + from + "WHERE NOT TABLE_SCHEMA = 'a' AND TABLE_NAME = 'b' COLLATE utf8mb4_bin": "name(TABLE_SCHEMA) name(TABLE_NAME)",
		"SELECT 1" + from + "WHERE 1 BETWEEN 0 AND TABLE_NAME = 'b' AND TABLE_SCHEMA = 'a'":         "term(TABLE_SCHEMA a) name(TABLE_NAME)",
		"SELECT 1" + from + "WHERE CASE WHEN 1 AND TABLE_NAME = 'b' AND 1 THEN 0 ELSE 1 END":        "name(TABLE_NAME)",
		"SELECT 1" + from + "WHERE TABLE_NAME = 'b' = 0 AND TABLE_NAME = 'a' 'b'":                   "name(TABLE_NAME) name(TABLE_NAME)",
		`SELECT 1` + from + `WHERE TABLE_NAME = 'a\_b' AND TABLE_NAME = x'61'`:                      "name(TABLE_NAME) name(TABLE_NAME)",
		"SELECT *" + from + "WHERE TABLE_NAME IN ('a')":                                             "* name(TABLE_NAME) sizes",
		"SELECT t.*" + from + "AS t": "* sizes",
		"SELECT *, 1" + from:         "refused: * beside other items",
		"SELECT TABLE_NAME, t.TABLE_SCHEMA, TABLE_TYPE" + from + "t":                                "item(0) item(1)",
		"SELECT TABLE_NAME n, CONCAT(TABLE_NAME, ''), TABLE_NAME LIKE 'a'" + from:                   "name(TABLE_NAME) name(TABLE_NAME) name(TABLE_NAME) label(CONCAT(TABLE_NAME, '')) label(TABLE_NAME LIKE 'a')",
		"SELECT TABLE_TYPE AS table_name" + from:                                                    "refused: an alias that is also the name of a column",
		"SELECT TABLE_TYPE table_name" + from:                                                       "refused: an alias that is also the name of a column",
		"SELECT 1 + TABLE_NAME" + from:                                                              "name(TABLE_NAME) label(1 + TABLE_NAME)",
		"SELECT DATABASE() AS d, DATABASE()" + from:                                                 "other(DATABASE()) other(DATABASE()) label(DATABASE())",
		"SELECT COUNT(*)" + from + "GROUP BY TABLE_NAME HAVING TABLE_NAME > 'a' ORDER BY 1 LIMIT 1": "name(TABLE_NAME) COUNT ordinal",
		"SELECT DISTINCT TABLE_TYPE" + from:                                                         "DISTINCT",
		"SELECT TABLE_TYPE" + from + "ORDER BY TABLE_NAME, 2":                                       "name(TABLE_NAME) ORDER BY ordinal",
		"SELECT t.`table_rows`" + from + "t":                                                        "sizes",
		"SELECT TABLE_ROWS" + from:                                                                  "sizes",
		"SELECT 1" + from + ", t_x":                                                                 "refused: a join, or a clause behind the table that is not understood",
		"SELECT 1" + from + "JOIN information_schema.COLUMNS USING (TABLE_NAME)":                    "refused: a join within information_schema",
		"SELECT (SELECT 1" + from + ")":                                                             "refused: a query within the query, or UNION",
		"SELECT 1" + from + "UNION SELECT 2":                                                        "refused: a query within the query, or UNION",
		"(SELECT 1" + from + ")":                                                                    "refused: WITH, or a query in parentheses",
		"WITH x AS (SELECT 1" + from + ") SELECT 1":                                                 "refused: WITH, or a query in parentheses",
		"SELECT 1 INTO @x" + from:                                                                   "refused: INTO, or a locking clause",
		"SELECT 1" + from + "FOR UPDATE":                                                            "refused: INTO, or a locking clause",
	} {
		q := Inquire(text, false, dialect.MySQL)
		if q == nil || q.Kind != InquiryCatalog {
			t.Errorf("%s is %s", text, showInquiry(q))
			continue
		}
		if got := showCatalog(q); got != want {
			t.Errorf("%s\n  is %s\ninstead of\n     %s", text, got, want)
		}
	}
}

func TestDefinitionNamesLeaveTextsAlone(t *testing.T) {
	const text = "CREATE TEMPORARY TABLE `t_order_0` (\n  `t_order_0` varchar(9) DEFAULT 'REFERENCES `t_user_0`' COMMENT 'a\\' CONSTRAINT `x` CHECK',\n" +
		"  KEY `CONSTRAINT` (`t_order_0`),\n  CONSTRAINT `fk``x` FOREIGN KEY (`a`) REFERENCES `t_user_0` (`id`),\n" +
		"  CONSTRAINT `far` FOREIGN KEY (`a`) REFERENCES `other`.`t_user_0` (`id`),\n  CONSTRAINT `ck` CHECK (`t_order_0` <> 't_order_0')\n) COMMENT='TABLE `x`'"
	var got []string
	for _, n := range DefinitionNames(text, dialect.MySQL) {
		got = append(got, fmt.Sprint(n.Role, " ", n.Name, " ", text[n.Start:n.End]))
	}
	want := []string{"2 t_order_0 `t_order_0`", "3 CONSTRAINT `CONSTRAINT`", "3 fk`x `fk``x`", "4 t_user_0 `t_user_0`", "3 far `far`", "3 ck `ck`"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if names := DefinitionNames("CREATE ALGORITHM=UNDEFINED VIEW `v` AS select 1", dialect.MySQL); names != nil {
		t.Errorf("a view has the names %v", names)
	}
}

// TestNamesOfADefinitionAreFoundBesideExecutableComments: servers show what others
// do not know in comments, such as compressed columns and partitions.
func TestNamesOfADefinitionAreFoundBesideExecutableComments(t *testing.T) {
	text := "CREATE TABLE `t_0` (\n  `b` blob /*M!100301 COMPRESSED*/ DEFAULT NULL,\n  CONSTRAINT `c_t_0` CHECK (`b` > 1) /*!80016 NOT ENFORCED */\n) ENGINE=InnoDB\n/*!50100 PARTITION BY HASH (`b`) */"
	var got []string
	for _, n := range DefinitionNames(text, dialect.MySQL) {
		got = append(got, text[n.Start:n.End])
	}
	if !slices.Equal(got, []string{"`t_0`", "`c_t_0`"}) {
		t.Errorf("got %q", got)
	}
}
