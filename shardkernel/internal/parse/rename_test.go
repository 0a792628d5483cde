package parse

import (
	"errors"
	"strings"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// In want, a name that must follow its table is written with X_ before it.
func TestRenamesFollowTheTable(t *testing.T) {
	cases := []struct{ name, want string }{
		{"reference and qualifiers everywhere", "SELECT X_t_order.a, X_t_order.*, max(X_t_order.b) FROM X_t_order WHERE X_t_order.id = 1 AND a IN (X_t_order.c) " +
			"GROUP BY X_t_order.a HAVING X_t_order.a > 1 ORDER BY X_t_order.a LIMIT 1"},
		{"quoted", "SELECT `X_t_order`.`a` FROM `X_t_order` WHERE `X_t_order`.`id` = 1"},
		{"spaces around the dot", "SELECT X_t_order . a FROM X_t_order"},
		{"an alias shadows", "SELECT o.a, o.t_order FROM X_t_order o WHERE o.id = 1"},
		{"an alias equal to the name", "SELECT t_order.a FROM X_t_order AS t_order WHERE t_order.id = 1"},
		{"an alias equal to another table", "SELECT t_order.a FROM X_t_order_item t_order"},
		{"a column of that name", "SELECT t_order, o.t_order AS t_order FROM X_t_order o WHERE t_order = 1 ORDER BY t_order"},
		{"strings and comments", "SELECT 't_order', /* t_order */ \"t_order\" FROM X_t_order -- t_order\n WHERE a = ' t_order '# t_order"},
		{"a longer name", "SELECT t_order_record.a FROM t_order_record, X_t_order"},
		{"join", "SELECT 1 FROM X_t_order JOIN X_t_order_item ON X_t_order.id = X_t_order_item.id AND X_t_order.a USING_"},
		{"self join", "SELECT a.id, X_t_order.id FROM X_t_order, X_t_order a WHERE a.id = X_t_order.id"},
		{"correlated subquery", "SELECT 1 FROM X_t_order WHERE EXISTS (SELECT 1 FROM X_t_order_item i WHERE i.id = X_t_order.id)"},
		{"inner table shadows the outer", "SELECT 1 FROM X_t_order o WHERE o.id IN (SELECT X_t_order.id FROM X_t_order)"},
		{"alias of the outer block", "SELECT 1 FROM X_t_order_item t_order WHERE EXISTS (SELECT 1 FROM t_dict2 d WHERE d.id = t_order.id)"},
		{"derived table", "SELECT t_order.id FROM (SELECT X_t_order.id FROM X_t_order) t_order"},
		{"lateral", "SELECT 1 FROM X_t_order, LATERAL (SELECT X_t_order.id) d"},
		{"CTE shadows", "WITH t_order AS (SELECT 1 AS id) SELECT t_order.id FROM t_order"},
		{"a CTE reads the table it is named after", "WITH t_order AS (SELECT X_t_order.id FROM X_t_order) SELECT t_order.id FROM t_order"},
		{"recursive CTE", "WITH RECURSIVE t_order AS (SELECT 1 AS id UNION ALL SELECT id + 1 FROM t_order WHERE id < 3) SELECT * FROM t_order"},
		{"CTE with columns", "WITH t_order (id) AS (SELECT 1) SELECT t_order.id FROM t_order, X_t_order_item"},
		{"CTE in a subquery only", "SELECT 1 FROM X_t_order WHERE id IN (WITH t_order AS (SELECT 1) SELECT * FROM t_order)"},
		{"union", "SELECT X_t_order.id FROM X_t_order UNION ALL (SELECT id FROM X_t_order_item ORDER BY X_t_order_item.id LIMIT 1) ORDER BY id"},
		{"index hints", "SELECT 1 FROM X_t_order USE INDEX (t_order) FORCE INDEX FOR ORDER BY (t_order) WHERE id = 1"},
		{"partition", "SELECT 1 FROM X_t_order PARTITION (t_order)"},
		{"optimizer hints", "SELECT /*+ JOIN_ORDER(X_t_order, i) INDEX(`X_t_order` t_order) NO_ICP(X_t_order@qb) QB_NAME(t_order) */ 1 FROM X_t_order, X_t_order_item i"},
		{"a hint elsewhere is a comment", "SELECT 1 /*+ BKA(t_order) */ FROM X_t_order"},
		{"executable comment", "SELECT /*! X_t_order.a, */ 1 FROM X_t_order /*!40000 USE INDEX (t_order) */"},
		{"FOR UPDATE OF", "SELECT 1 FROM X_t_order, X_t_order_item i FOR UPDATE OF X_t_order, i"},
		{"window", "SELECT sum(a) OVER t_order, rank() OVER (PARTITION BY X_t_order.a ORDER BY X_t_order.b) FROM X_t_order WINDOW t_order AS (ORDER BY X_t_order.c)"},
		{"functions named alike", "SELECT t_order(1), date(X_t_order.a), DATE '2024-01-01' FROM X_t_order"},
		{"a keyword as table", "SELECT X_date.a FROM X_date WHERE X_date.id = 1"},
		{"a quoted keyword as table", "SELECT a FROM t, `X_date` WHERE `X_date`.id = 1"},
		{"a keyword as table behind a comma", "SELECT date, X_date.a FROM t, X_date WHERE X_date.id = 1"},
		{"case differs", "SELECT T_ORDER.id FROM X_t_order"},
		{"a variable named alike", "SELECT @t_order FROM X_t_order"},
		{"insert", "INSERT INTO X_t_order (id, t_order, X_t_order.a) VALUES (1, 't_order', 2) ON DUPLICATE KEY UPDATE X_t_order.a = VALUES(a), b = X_t_order.b + 1"},
		{"insert without INTO", "INSERT X_t_order(id) VALUES (1)"},
		{"insert set", "INSERT INTO X_t_order SET X_t_order.id = 1, a = 2"},
		{"insert select", "INSERT INTO X_t_order (id) SELECT X_t_order_item.id FROM X_t_order_item ON DUPLICATE KEY UPDATE a = X_t_order_item.a"},
		{"insert select of itself", "INSERT INTO X_t_order (id) SELECT X_t_order.id FROM X_t_order"},
		{"row alias", "INSERT INTO X_t_order (id, a) VALUES (1, 2) AS t_order ON DUPLICATE KEY UPDATE a = t_order_item2.a"},
		{"replace", "REPLACE INTO X_t_order (id) VALUES (1)"},
		{"returning", "INSERT INTO X_t_order (id) VALUES (1) RETURNING X_t_order.id, a AS t_order"},
		{"returning of delete", "DELETE FROM X_t_order WHERE X_t_order.id = 1 RETURNING X_t_order.id"},
		{"on conflict", "INSERT INTO X_t_order (id) VALUES (1) ON CONFLICT (t_order) WHERE t_order > 1 DO UPDATE SET a = excluded.t_order, b = X_t_order.b WHERE X_t_order.c = 1 RETURNING *"},
		{"on conflict do nothing", "INSERT INTO X_t_order (id) VALUES (1) ON CONFLICT (id) DO NOTHING RETURNING id"},
		{"update", "UPDATE X_t_order SET X_t_order.a = X_t_order.b WHERE X_t_order.id = 1 ORDER BY X_t_order.id LIMIT 1"},
		{"update join", "UPDATE X_t_order, X_t_order_item i SET X_t_order.a = i.a WHERE X_t_order.id = i.id"},
		{"delete", "DELETE FROM X_t_order WHERE X_t_order.id = 1 ORDER BY X_t_order.id LIMIT 1"},
		{"delete of one of several", "DELETE X_t_order FROM X_t_order JOIN X_t_order_item i ON X_t_order.id = i.id"},
		{"delete with star", "DELETE X_t_order.*, i.* FROM X_t_order JOIN X_t_order_item i ON X_t_order.id = i.id"},
		{"delete using", "DELETE FROM X_t_order USING X_t_order JOIN X_t_order_item i ON X_t_order.id = i.id"},
		{"delete an alias", "DELETE t_order FROM X_t_order_item t_order"},
		{"default of a column", "UPDATE X_t_order SET a = DEFAULT(X_t_order.a) WHERE id = 1"},
		{"create table", "CREATE TABLE X_t_order (t_order int, PRIMARY KEY (t_order))"},
		{"alter table", "ALTER TABLE X_t_order ADD COLUMN t_order int"},
		{"create index", "CREATE INDEX i ON X_t_order (t_order)"},
		{"drop table", "DROP TABLE IF EXISTS X_t_order, X_t_order_item"},
		{"truncate", "TRUNCATE TABLE X_t_order"},
		{"describe", "DESCRIBE X_t_order"},
		{"show columns", "SHOW COLUMNS FROM X_t_order"},
		{"explain", "EXPLAIN SELECT X_t_order.id FROM X_t_order"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			want := strings.ReplaceAll(c.want, " USING_", "")
			stmt := mustParse(t, strings.ReplaceAll(want, "X_", ""))
			if got := splice(stmt, "X_"); got != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
			for i, r := range stmt.Renames {
				raw := stmt.Text[r.Start:r.End]
				if quoted := raw[0] == '`'; quoted != (r.Quote == '`') {
					t.Errorf("rename %d, %s: quote %q", i, raw, r.Quote)
				}
			}
			if err := verify(stmt, "X_", dialect.MySQL); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRenamesTakeTheSchema(t *testing.T) {
	cases := []struct{ sql, want string }{
		{"SELECT db.t_order.id, t_order.id FROM db.t_order WHERE `db`.`t_order`.id = 1", "SELECT X_t_order.id, X_t_order.id FROM X_t_order WHERE `X_t_order`.id = 1"},
		{"SELECT db . t_order.* FROM db . t_order", "SELECT X_t_order.* FROM X_t_order"},
		{"DELETE db.t_order FROM db.t_order JOIN other ON 1 = 1", "DELETE X_t_order FROM X_t_order JOIN other ON 1 = 1"},
		{"SELECT t_order.a.b FROM t_order.a", "SELECT t_order.a.b FROM t_order.a"},
		{"SELECT t_order.t_order.t_order FROM t_order.t_order", "SELECT X_t_order.t_order FROM X_t_order"},
		{"WITH t_order AS (SELECT 1 AS id) SELECT t_order.id FROM t_order, db.t_order_item", "WITH t_order AS (SELECT 1 AS id) SELECT t_order.id FROM t_order, X_t_order_item"},
		{"WITH t_order AS (SELECT 1 AS id) SELECT 1 FROM db.t_order", "WITH t_order AS (SELECT 1 AS id) SELECT 1 FROM X_t_order"},
		{"INSERT INTO db.t_order (id) VALUES (1)", "INSERT INTO X_t_order (id) VALUES (1)"},
	}
	for _, c := range cases {
		stmt := mustParse(t, c.sql)
		if got := splice(stmt, "X_"); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.sql, got, c.want)
		}
		if err := verify(stmt, "X_", dialect.MySQL); err != nil {
			t.Error(c.sql, err)
		}
	}
}

func TestTablesInTextOrder(t *testing.T) {
	stmt := mustParse(t, "SELECT (SELECT 1 FROM s1) FROM db.t_order o JOIN s2 ON o.id IN (SELECT id FROM s3) WHERE id = (SELECT 1 FROM s4)")
	var got []string
	for _, tab := range stmt.Tables {
		got = append(got, strings.Join([]string{tab.Schema, tab.Name, tab.Alias, sprint(tab.Scope)}, "/"))
	}
	if want := "/s1//1 db/t_order/o/0 /s2//0 /s3//2 /s4//3"; strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, " "), want)
	}
	if s := stmt.Scopes[0]; s.Sources != 2 || s.Derived {
		t.Errorf("scope 0: %+v", s)
	}
}

func TestTargets(t *testing.T) {
	cases := []struct {
		sql  string
		want string
	}{
		{"INSERT INTO a (x) SELECT x FROM t_order", "a"},
		{"UPDATE t_order SET x = 1", "t_order"},
		{"UPDATE t_order o, t_order_item i SET o.x = 1", "t_order"},
		{"UPDATE t_order o, t_order_item i SET x = 1", "t_order t_order_item"},
		{"DELETE FROM t_order", "t_order"},
		{"DELETE i FROM t_order o, t_order_item i", "t_order_item"},
	}
	for _, c := range cases {
		stmt := mustParse(t, c.sql)
		var got []string
		for _, tab := range stmt.Tables {
			if tab.Target {
				got = append(got, tab.Name)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %v, want %s", c.sql, got, c.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	cases := []struct {
		name, sql, want string
		dialect         *dialect.Dialect
	}{
		{"syntax", "SELECT * FRM t_order WHERE pw = 'secret' AND pin = 123456", "FRM", nil},
		{"syntax on a later line", "SELECT 'a\nb',\n c FROM t_order WHERE WHERE id = 5", "WHERE WHERE", nil},
		{"syntax behind a sentinel", "SELECT t_order.a FROM t_order GROUP id", "GROUP id", nil},
		{"several statements", "UPDATE t_order SET a = 1; UPDATE t_order SET a = 2", "several statements", nil},
		{"unclosed string", "SELECT 'secret FROM t_order", "at byte 7: a string", nil},
		{"unclosed name", "SELECT `a FROM t_order", "a quoted name", nil},
		{"unclosed comment", "SELECT 1 /* FROM t_order", "at byte 9: a comment", nil},
		{"unclosed executable comment", "SELECT 1 /*! FROM t_order", "a comment", nil},
		{"MariaDB's comment", "SELECT 1 /*M! , t_order.a */ FROM t_order", "executable comment", nil},
		{"MariaDB's comment without the name", "SELECT 1 FROM t_order WHERE id = 1 /*M! OR 1 = 1 */", "executable comment", nil},
		{"a comment for newer servers", "SELECT 1 FROM t_order WHERE id = 1 /*!80000 OR 1 = 1 */", "executable comment", nil},
		{"a comment for six digits", "SELECT 1 FROM t_order WHERE id = 1 /*!100100 OR 1 = 1 */", "executable comment", nil},
		{"NUL", "SELECT 1 FROM t_order WHERE id = 1 \x00 OR 1 = 1", "no SQL", nil},
		{"backslash", "SELECT \\N FROM t_order", "no SQL", nil},
		{"invalid UTF-8", "SELECT a\xff FROM t_order", "UTF-8", nil},
		{"qualifier of no table", "SELECT t_order_item.id FROM t_order", "no table", nil},
		{"qualifier hidden by an alias", "SELECT t_order.id FROM t_order o", "no table", nil},
		{"sibling seen from a derived table", "SELECT 1 FROM t_order, (SELECT t_order.id) d", "no table", nil},
		{"ORDER BY of a union", "SELECT id FROM t_order UNION SELECT 1 ORDER BY t_order.id", "no table", nil},
		{"keyword in a place not known", "SELECT 1 FROM (date)", "backticks", nil},
		{"CTE seen by some servers", "WITH RECURSIVE a AS (SELECT * FROM t_order), t_order AS (SELECT 1) SELECT * FROM a", "common table expression", nil},
		{"CTE in other case", "WITH T_ORDER AS (SELECT 1) SELECT * FROM t_order", "common table expression", nil},
		{"FULL JOIN", "SELECT 1 FROM t_order FULL JOIN t_order_item ON 1 = 1", "FULL JOIN", nil},
		{"HANDLER", "HANDLER t_order OPEN", "parsed", nil},
		{"GRANT", "GRANT SELECT ON t_order TO a", "not understood", nil},
		{"PREPARE", "PREPARE t_order FROM 'SELECT 1'", "not understood", nil},
		{"FETCH FIRST", "SELECT 1 FROM t_order FETCH FIRST 2 ROWS", "parsed", nil},
		{"ROWS EXAMINED", "SELECT 1 FROM t_order LIMIT 2 ROWS EXAMINED 100", "EXAMINED", nil},
		{"PROCEDURE ANALYSE", "SELECT id FROM t_order PROCEDURE ANALYSE()", "PROCEDURE ANALYSE", nil},
		{"TABLESAMPLE", "SELECT 1 FROM t_order TABLESAMPLE SYSTEM (10)", "TABLESAMPLE", nil},
		{"RETURNING with FROM", "INSERT INTO t_order (id) VALUES (1) RETURNING id FROM t_order", "RETURNING", nil},
		{"marker in the conflict target", "INSERT INTO t_order (id) VALUES (1) ON CONFLICT (id) WHERE a = ? DO NOTHING", "target", nil},
		{"odd ON CONFLICT", "INSERT INTO t_order (id) VALUES (1) ON CONFLICT (id) DO SOMETHING", "ON CONFLICT", nil},
		{"parenthesis", "SELECT (1 FROM t_order", "not closed", nil},
		{"parenthesis too many", "SELECT 1) FROM t_order", "not opened", nil},
		{"empty", " /* t_order */ ;", "no statement", nil},
		{"double quotes in SQLite", `SELECT "secret" FROM t_order`, "backticks", dialect.SQLite},
		{"brackets in SQLite", `SELECT [a] FROM t_order`, "backticks", dialect.SQLite},
		{"pipes in SQLite", "SELECT a || b FROM t_order", "argument", dialect.SQLite},
		{"backslash in SQLite", `SELECT * FROM t_order WHERE a = 'c:\'`, "argument", dialect.SQLite},
		{"named parameter in SQLite", "SELECT * FROM t_order WHERE a = @a", "use ?", dialect.SQLite},
		{"numbered parameter in SQLite", "SELECT * FROM t_order WHERE a = ?1", "use ?", dialect.SQLite},
		{"INSERT OR in SQLite", "INSERT OR IGNORE INTO t_order (id) VALUES (1)", "OR IGNORE", dialect.SQLite},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := c.dialect
			if d == nil {
				d = dialect.MySQL
			}
			_, err := Parse(c.sql, testTables, d)
			var unsupported *fault.UnsupportedError
			if !errors.As(err, &unsupported) {
				t.Fatalf("Parse(%q): got %v, want an UnsupportedError", c.sql, err)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("Parse(%q): %q does not say %q", c.sql, err, c.want)
			}
			for _, secret := range []string{"secret", "123456"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("Parse(%q): %q shows a literal", c.sql, err)
				}
			}
		})
	}
}

func TestKindsAndFeatures(t *testing.T) {
	cases := []struct {
		sql      string
		kind     Kind
		features Feature
	}{
		{"SELECT 1 FROM t_order", KindSelect, 0},
		{"SELECT 1 FROM t_order UNION SELECT 2", KindSelect, FeatureUnion},
		{"SELECT 1 FROM (SELECT 1 FROM t_order) d", KindSelect, FeatureDerived},
		{"WITH a AS (SELECT 1) SELECT 1 FROM t_order, a", KindSelect, FeatureCTE},
		{"SELECT (SELECT 1) FROM t_order", KindSelect, FeatureSubquery},
		{"SELECT 1 FROM t_order FOR UPDATE", KindSelect, FeatureLocking},
		{"SELECT 1 FROM t_order LOCK IN SHARE MODE", KindSelect, FeatureLocking},
		{"SELECT 1 FROM t_order INTO OUTFILE 'x'", KindSelect, FeatureInto},
		{"SELECT @a := 1 FROM t_order", KindSelect, FeatureUserVariable},
		{"SELECT @@version FROM t_order", KindSelect, FeatureSystemVariable},
		{"SELECT SQL_CALC_FOUND_ROWS 1 FROM t_order", KindSelect, FeatureFoundRows},
		{"SELECT last_insert_id() FROM t_order", KindSelect, FeatureLastInsertID},
		{"SELECT current_date, NOW() FROM t_order", KindSelect, FeatureNow},
		{"SELECT unix_timestamp(a) FROM t_order", KindSelect, 0},
		{"SELECT RAND(), uuid() FROM t_order", KindSelect, FeatureRandom},
		{"SELECT RAND(3), sysdate() FROM t_order", KindSelect, FeatureVolatile},
		{"SELECT get_lock('a', 1) FROM t_order", KindSelect, FeatureLock | FeatureRoutine},
		{"SELECT 1 FROM t_order PARTITION (p0)", KindSelect, FeaturePartition},
		{"SELECT rank() OVER (ORDER BY a) FROM t_order", KindSelect, FeatureWindow},
		{"SELECT `rank`, rank FROM t_order", KindSelect, 0},
		{"INSERT INTO t_order (a) VALUES (NOW())", KindInsert, FeatureNow},
		{"INSERT INTO t_order (a) VALUES (1) RETURNING UUID()", KindInsert, FeatureRandom},
		{"REPLACE INTO t_order (a) VALUES (1)", KindReplace, 0},
		{"UPDATE t_order SET a = 1", KindUpdate, 0},
		{"DELETE FROM t_order", KindDelete, 0},
		{"ALTER TABLE t_order ADD COLUMN a int", KindDDL, 0},
		{"EXPLAIN SELECT 1 FROM t_order", KindOther, 0},
		{"ANALYZE TABLE t_order", KindOther, 0},
		{"LOCK TABLES t_order WRITE", KindOther, 0},
	}
	for _, c := range cases {
		stmt, err := Parse(c.sql, testTables, dialect.MySQL)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		if stmt.Kind != c.kind || stmt.Features != c.features {
			t.Errorf("%s: kind %d, features %b; want %d, %b", c.sql, stmt.Kind, stmt.Features, c.kind, c.features)
		}
	}
}
