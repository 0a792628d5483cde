package parse

import (
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

var fuzzSeeds = []string{
	"SELECT `t_order`.*, count(*) AS n FROM `t_order` WHERE `t_order`.`id` IN (?, 1, NULL) AND a <> 'it''s' ORDER BY n DESC LIMIT ?, ?",
	"SELECT /*+ BKA(t_order) */ 1 FROM db.t_order, t_order_item i WHERE t_order.id = i.id AND (a, b) IN ((1, 2)) -- t_order",
	"SELECT 1 FROM t_order LEFT JOIN (t_order_item JOIN t_dict USING (x)) ON t_order.id = t_order_item.id FOR UPDATE OF t_order",
	"WITH RECURSIVE t_order AS (SELECT 1 UNION ALL SELECT * FROM t_order) SELECT t_order.a FROM t_order, (SELECT * FROM t_order_item) d",
	"INSERT INTO t_order (id, a) VALUES (1, ?), (-2, DEFAULT) AS new (x, y) ON DUPLICATE KEY UPDATE a = y, b = VALUES(b) RETURNING t_order.id",
	"INSERT INTO t_order (id) SELECT id FROM t_dict ON CONFLICT (id) WHERE a > 1 DO UPDATE SET a = excluded.a WHERE t_order.b = 1 RETURNING *",
	"INSERT INTO t_order SET a = 0x1F, b = N'x', c = .5e3 ON DUPLICATE KEY UPDATE a = a",
	"UPDATE t_order SET t_order.a = t_order.b + @v WHERE NOT (id <> 1) XOR b ORDER BY id LIMIT 1",
	"DELETE t_order, i FROM t_order JOIN t_order_item AS i ON 1 /*! WHERE t_order.a = 1 */",
	"SELECT date(t_order.date), DATE '2024-01-01', rank() OVER (PARTITION BY t_order.a) FROM t_order, `date` GROUP BY 1 WITH ROLLUP HAVING max(a)",
	"CREATE TABLE t_order (t_order int, KEY (t_order)) # t_order",
	"SELECT 1 FROM t_order USE INDEX FOR ORDER BY (t_order) PARTITION; ;",
	"-- a\nSELECT 1/* b */-/**/1 # c\r\n, '/*' /*+ d */ -- e", "a/-- x\n*b/* `c` */ /*SHARDING*/ /*!a/* b */*//*c*/",
	"SELECT t.TABLE_NAME n, CONCAT(table_schema, DATABASE()) FROM information_schema.tables t WHERE (table_schema = ? AND 'a' = table_name) ORDER BY 1",
	"EXPLAIN FORMAT=JSON DELETE FROM t", "SHOW FULL COLUMNS FROM a.b FROM c LIKE 'x'", "ANALYZE LOCAL TABLE a.b, c", "CREATE TABLE a (CONSTRAINT b CHECK (1))",
	"SAVEPOINT `a`", "ROLLBACK WORK TO SAVEPOINT x", "/*M! t_order */ /*!99999 a */ 'unclosed", "SELECT \xff\x00\\N `",
}

// The tokenizer gives tokens that follow one another inside the text, and what
// is read off them does not panic.
func FuzzScan(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range []*dialect.Dialect{dialect.MySQL, dialect.SQLite} {
			at := 0
			l := lexer{text: text, dialect: d}
			for {
				tok, ok, err := l.next()
				if err != nil || !ok {
					break
				}
				if tok.start < at || tok.end <= tok.start || tok.end > len(text) || tok.depth < 0 {
					t.Fatalf("%s: token %+v behind %d of %q", d.Name, tok, at, text)
				}
				if tok.kind == tokenQuoted {
					unquote(text[tok.start:tok.end])
				}
				at = tok.end
			}
			proveUncomment(t, text, d)
			outline, _ := Scan(text, testTables, d)
			ReadCommand(text, outline.Verb, d)
			Inquire(text, false, d)
			Explained(text, d)
			DefinitionNames(text, d)
		}
	})
}

// A text that parses can have every table renamed, and nothing else changes.
func FuzzParse(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range []*dialect.Dialect{dialect.MySQL, dialect.SQLite} {
			stmt, err := Parse(text, testTables, d)
			if err != nil {
				continue
			}
			checkSpans(t, stmt)
			if err := verify(stmt, "a_much_longer_name_of_", d); err != nil {
				t.Fatalf("%s: %q: %v", d.Name, text, err)
			}
		}
	})
}

// checkSpans fails when a position lies outside of the text.
func checkSpans(t *testing.T, stmt *Statement) {
	t.Helper()
	check := func(what string, spans ...Span) {
		for _, s := range spans {
			if s.Start < 0 || s.End < s.Start || s.End > len(stmt.Text) {
				t.Fatalf("%s %+v of %q", what, s, stmt.Text)
			}
		}
	}
	for _, at := range stmt.Markers {
		check("marker", Span{at, at + 1})
	}
	for _, r := range stmt.Renames {
		check("rename", r.Span, r.Schema)
	}
	var cond func(c *Cond)
	cond = func(c *Cond) {
		if c == nil {
			return
		}
		check("list", c.List)
		check("element", c.Spans...)
		for _, k := range c.Kids {
			cond(k)
		}
	}
	for _, s := range stmt.Scopes {
		cond(s.Where)
	}
	if s := stmt.Select; s != nil {
		check("clause", s.GroupBySpan, s.Having, s.OrderBySpan, Span{s.TailStart, s.TailStart}, Span{s.ItemsEnd, s.ItemsEnd})
		for _, it := range s.Items {
			check("item", it.Span, it.Expr)
		}
	}
	if ins := stmt.Insert; ins != nil {
		check("rows", ins.RowsSpan)
		for _, r := range ins.Rows {
			check("row", r.Span)
			for _, v := range r.Values {
				check("value", v.Span)
			}
		}
	}
}
