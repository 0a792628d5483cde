package parse

import (
	"strings"
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// tokenTexts returns the tokens of a text, each marked by its kind.
func tokenTexts(t *testing.T, text string, d *dialect.Dialect) string {
	t.Helper()
	var out []string
	l := lexer{text: text, dialect: d}
	for {
		tok, ok, err := l.next()
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if !ok {
			return strings.Join(out, " ")
		}
		out = append(out, "wqsn?v+o"[tok.kind:tok.kind+1]+":"+text[tok.start:tok.end])
	}
}

func TestTokens(t *testing.T) {
	cases := []struct {
		text, want string
		dialect    *dialect.Dialect
	}{
		{"a b1 _c $d é", "w:a w:b1 w:_c w:$d w:é", nil},
		{"`a``b`.`c`", "q:`a``b` o:. q:`c`", nil},
		{`'it''s' 'a\'b' "c""d"`, `s:'it''s' s:'a\'b' s:"c""d"`, nil},
		{`N'a' x'0F' b'1' _utf8'a'`, "s:N'a' s:x'0F' s:b'1' w:_utf8 s:'a'", nil},
		{"1 1.5 .5 1e3 1.5E-3 0xFF 0b01 1st 1.", "n:1 n:1.5 n:.5 n:1e3 n:1.5E-3 n:0xFF n:0b01 w:1st n:1.", nil},
		{"t.1 t.1st `t`.2", "w:t o:. w:1 w:t o:. w:1st q:`t` o:. w:2", nil},
		{"a?b ??", "w:a ?:? w:b ?:? ?:?", nil},
		{"@a @`b` @'c' @@d @@global.e @", "v:@a v:@`b` v:@'c' v:@@d v:@@global.e o:@", nil},
		{"a<=>b<=c<>d:=e||f->>g--h", "w:a o:<=> w:b o:<= w:c o:<> w:d o::= w:e o:|| w:f o:->> w:g o:- o:- w:h", nil},
		{"a -- b\nc --\td\ne --", "w:a w:c w:e", nil},
		{"a # b\nc", "w:a w:c", nil},
		{"a /* 'b */ c /**/ d", "w:a w:c w:d", nil},
		{"SELECT /*+ h(a) */ b /*+ c */", "w:SELECT +:/*+ h(a) */ w:b", nil},
		{"a /*! b /* c */ d */ e /*!50001 f*/ /*M! g */ /*!4 h*/", "w:a w:b w:d w:e w:f w:g n:4 w:h", nil},
		{"a /*!99999 b */ c /*!80000 d */ e /*M! f */ g", "w:a w:c w:e w:f w:g", &dialect.Dialect{Name: "mysql", Server: &dialect.Server{MariaDB: true, Series: 101100}}},
		{"a /*!99999 ? */ c", "w:a ?:? w:c", nil}, // some count it among the markers
		{"2 * /*! 3 */ 4 */ 5", "n:2 o:* n:3 n:4 o:* o:/ n:5", nil},
		{`"a""b" [c d] 'e\' f`, `q:"a""b" q:[c d] s:'e\' w:f`, dialect.SQLite},
		{"a--b\nc#d /*! e */ ?12 /* open", "w:a w:c o:# w:d ?:?12", dialect.SQLite},
	}
	for _, c := range cases {
		d := c.dialect
		if d == nil {
			d = dialect.MySQL
		}
		if got := tokenTexts(t, c.text, d); got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestTokenDepth(t *testing.T) {
	l := lexer{text: "a(b(c))d)e", dialect: dialect.MySQL}
	var got []int32
	for {
		tok, ok, _ := l.next()
		if !ok {
			break
		}
		got = append(got, tok.depth)
	}
	if want := "[0 0 1 1 2 1 0 0 0 0]"; sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestScan(t *testing.T) {
	cases := []struct {
		text string
		want Outline
	}{
		{"", Outline{}},
		{"select * from t_order", Outline{Verb: "SELECT", Named: true, Read: true}},
		{" /* t_order */ (( select 't_order', @t_order -- t_order", Outline{Verb: "SELECT", Read: true}},
		{"SELECT * FROM `t_order`", Outline{Verb: "SELECT", Named: true, Read: true}},
		{"SELECT /*+ BKA(t_order) */ 1", Outline{Verb: "SELECT", Named: true, Read: true}},
		{"SELECT 1 /*+ BKA(t_order) */", Outline{Verb: "SELECT", Read: true}},
		{"SELECT 1 /*! FROM t_order */", Outline{Verb: "SELECT", Named: true, Read: true}},
		{"SELECT 1 /*M! FROM t_order */", Outline{Verb: "SELECT", Named: true, Read: true}},
		{"SELECT * FROM t_order_record", Outline{Verb: "SELECT", Read: true}},
		{"SELECT 1;", Outline{Verb: "SELECT", Read: true}},
		{"SELECT 1; ; -- a", Outline{Verb: "SELECT", Read: true}},
		{"SELECT 1; SELECT 2", Outline{Verb: "SELECT", Several: true}},
		{"SELECT 1 FOR UPDATE", Outline{Verb: "SELECT"}},
		{"SELECT 1 for /* a */ share", Outline{Verb: "SELECT"}},
		{"SELECT 1 LOCK IN SHARE MODE", Outline{Verb: "SELECT"}},
		{"SELECT 1 INTO @a", Outline{Verb: "SELECT"}},
		{"SELECT @@version", Outline{Verb: "SELECT"}},
		{"SELECT @a := 1", Outline{Verb: "SELECT"}},
		{"SELECT LAST_INSERT_ID()", Outline{Verb: "SELECT"}},
		{"SELECT get_lock('a', 1)", Outline{Verb: "SELECT"}},
		{"SELECT NEXTVAL(s)", Outline{Verb: "SELECT"}},
		{"SELECT PREVIOUS VALUE FOR s", Outline{Verb: "SELECT"}},
		{"SELECT NEXT VALUE FOR s", Outline{Verb: "SELECT"}},
		{"SELECT 1 /*! FOR UPDATE */", Outline{Verb: "SELECT"}},
		{"SELECT `into`, 'FOR UPDATE', update_at FROM a", Outline{Verb: "SELECT", Read: true}},
		{"WITH a AS (SELECT 1) SELECT * FROM a", Outline{Verb: "WITH", Read: true}},
		{"WITH a AS (SELECT 1) DELETE FROM b", Outline{Verb: "WITH"}},
		{"INSERT INTO t_order VALUES (1)", Outline{Verb: "INSERT", Named: true}},
		{"set names utf8", Outline{Verb: "SET"}},
		{"HANDLER t_order OPEN", Outline{Verb: "HANDLER", Named: true}},
		{"INSERT INTO audit_log (a, b) SELECT a, b FROM t_order_record r WHERE r.note = ' t_order ' RETURNING a", Outline{Verb: "INSERT"}},
	}
	for _, c := range cases {
		got, err := Scan(c.text, testTables, dialect.MySQL)
		got.Uses = 0 // TestUsesOfTheSessionAreFound
		if err != nil || got != c.want {
			t.Errorf("%q: got %+v, %v; want %+v", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"SELECT 'a", "SELECT `a", "SELECT /* a", "SELECT /*! a", `SELECT 'a\'`} {
		if _, err := Scan(text, testTables, dialect.MySQL); err == nil || !strings.Contains(err.Error(), "at byte") {
			t.Errorf("%q: got %v, want an error that names the byte", text, err)
		}
	}
}

// A text, however long or deep, is answered or refused: what takes more than linear
// time or a deep stack for it runs into the time limit of all tests, or dies.
func TestHugeStatements(t *testing.T) {
	if testing.Short() {
		t.Skip("parses megabytes")
	}
	repeat := func(head, part, tail string, n int) string { return head + strings.Repeat(part, n) + tail }
	nested := func(open, inner, closing string, n int) string {
		return "SELECT 1 FROM t_order WHERE " + strings.Repeat(open, n) + inner + strings.Repeat(closing, n)
	}
	cases := []struct {
		name, sql string
		ok        bool
	}{
		{"parentheses", nested("(", "id = 1", ")", 900), true},
		{"too many parentheses", nested("(", "id = 1", ")", 400_000), false},
		{"unclosed parentheses", nested("(", "id = 1", "", 1_000_000), false},
		{"IN lists", nested("id IN (1, ", "2", ")", 900), true},
		{"subqueries", nested("id IN (SELECT 1 FROM t_order WHERE ", "id = 1", ")", 900), true},
		{"functions", nested("f(", "id", ")", 900), true},
		{"NOT", nested("NOT ", "id = 1", "", 100_000), true},
		{"OR", repeat("SELECT 1 FROM t_order WHERE id = 1", " OR id = ?", "", 65_534), true},
		{"AND", repeat("SELECT 1 FROM t_order WHERE id = 1", " AND id = ?", "", 65_534), true},
		{"too many ORs", repeat("SELECT 1 FROM t_order WHERE id = 1", " OR id = 1", "", 100_000), false},
		{"sum", repeat("SELECT 1", "+1", " FROM t_order", 100_000), true},
		{"too long a sum", repeat("SELECT 1", "+1", " FROM t_order", 500_000), false},
		{"joins", repeat("SELECT 1 FROM t_order", " JOIN x", "", 140_000), false},
		{"commas", repeat("SELECT 1 FROM t_order", ",x", "", 100_000), false},
		{"tables", repeat("SELECT 1 FROM t_order", ",t_order_item", "", 100), true},
		{"list", repeat("SELECT 1 FROM t_order WHERE id IN (1", ",1", ")", 200_000), true},
		{"rows", repeat("INSERT INTO t_order (a, b) VALUES (1, ?)", ",(1, ?)", "", 32_767), true},
		{"names", repeat("SELECT 1", ",t_order.a", " FROM t_order", 30_000), true},
		{"quotes", "SELECT 1 FROM t_order WHERE a = " + strings.Repeat("'", 1<<20+1), false},
		{"dashes", strings.Repeat("-", 1<<20) + " t_order", false},
		{"comment openings", strings.Repeat("/*", 1<<19) + " t_order", false},
		{"executable comments", "SELECT 1 FROM t_order " + strings.Repeat("/*!*/", 1<<18), true},
		{"union", repeat("SELECT 1 FROM t_order", " UNION SELECT 1", "", 20_000), true},
		{"cases", "SELECT " + strings.Repeat("CASE WHEN 1 THEN ", 20_000) + "1" + strings.Repeat(" END", 20_000) + " FROM t_order", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Scan(c.sql, testTables, dialect.MySQL); err != nil && c.ok {
				t.Error(err)
			}
			_, err := Parse(c.sql, testTables, dialect.MySQL)
			if c.ok != (err == nil) {
				t.Errorf("got %v, want ok %t", err, c.ok)
			}
		})
	}
}
