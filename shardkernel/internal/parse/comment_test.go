package parse

import (
	"slices"
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

func TestOrdinaryCommentsBecomePlaceholders(t *testing.T) {
	for _, test := range []struct {
		text, key string
		comments  []string
	}{
		{"SELECT 1 /* a */", "SELECT 1 /*~0~*/", []string{"/* a */"}},
		{"/**/SELECT a/* b */+-- c\n1#d", "/*~0~*/SELECT a/*~1~*/+/*~2~*/\n1/*~3~*/", []string{"/**/", "/* b */", "-- c", "#d"}},
		{"--\r\nSELECT 1", "/*~0~*/\nSELECT 1", []string{"--\r"}},
		{"SELECT '/* a */', \"-- b\", `# c` -- 'd", "SELECT '/* a */', \"-- b\", `# c` /*~0~*/", []string{"-- 'd"}},
		{text: "SELECT 1 --2"},
		{text: "SELECT 1 /* `a` */"},
		{text: "SELECT 1 /*!40000 + 1 /* a */"},
		{"SELECT 1 /*! + 1 /* in */ */ /* out */", "SELECT 1 /*! + 1 /* in */ */ /*~0~*/", []string{"/* out */"}},
		{"SELECT /*+ a */ 1 /*M! b */ /*c*/", "SELECT /*+ a */ 1 /*M! b */ /*~0~*/", []string{"/*c*/"}},
		{text: "/*+ no hint here */ SELECT 1"},
		{text: "/* SHARDING: x=1 */ SELECT 1"},
		{text: "SELECT 1 /*SHARDINGSPHERE_HINT: x=1 */"},
		{text: "SELECT 1 # ShardingSphere hint: x=1"},
		{"/* no SHARDING: x=1 */", "/*~0~*/", []string{"/* no SHARDING: x=1 */"}},
		{text: "SELECT 1 /* a */ /*~0~*/"},
		{text: "SELECT 1 /* unclosed"},
		{text: "SELECT '1 /* a */"},
	} {
		key, comments := Uncomment(test.text, dialect.MySQL)
		if test.comments == nil {
			test.key = test.text
		}
		if key != test.key || !slices.Equal(comments, test.comments) {
			t.Errorf("%q became %q with %q, want %q with %q", test.text, key, comments, test.key, test.comments)
		}
		if back := Recomment(key, comments); back != test.text {
			t.Errorf("%q came back as %q", test.text, back)
		}
	}
	if key, _ := Uncomment("SELECT 1 --a\n/* b", dialect.SQLite); key != "SELECT 1 /*~0~*/\n/* b" {
		t.Errorf("SQLite: %q", key)
	}
}

func TestCommentOfALineEndsBeforeWhatIsPutBehindIt(t *testing.T) {
	comments := []string{"-- a", "/* b */"}
	for sql, want := range map[string]string{
		"SELECT 1 /*~0~*/":                      "SELECT 1 -- a",
		"SELECT 1 /*~0~*/\n, 2":                 "SELECT 1 -- a\n, 2",
		"SELECT 1 /*~0~*/ LIMIT 1":              "SELECT 1 -- a\n LIMIT 1",
		"SELECT 1 /*~1~*/ LIMIT 1":              "SELECT 1 /* b */ LIMIT 1",
		"SELECT a/*~1~*/+1, a/*~1~*/+1 AS x":    "SELECT a/* b */+1, a/* b */+1 AS x",
		"SELECT 1 /*~2~*/ /*~ /*~x~*/ /*~-1~*/": "SELECT 1 /*~2~*/ /*~ /*~x~*/ /*~-1~*/",
	} {
		if got := Recomment(sql, comments); got != want {
			t.Errorf("%q became %q, want %q", sql, got, want)
		}
	}
}

// proveUncomment fails unless the key has the tokens of the text and the text
// can be made of it again.
func proveUncomment(t *testing.T, text string, d *dialect.Dialect) {
	t.Helper()
	key, comments := Uncomment(text, d)
	if (comments == nil) != (key == text) {
		t.Fatalf("%s: %q became %q with %q", d.Name, text, key, comments)
	}
	if back := Recomment(key, comments); back != text && comments != nil {
		t.Fatalf("%s: %q became %q and came back as %q", d.Name, text, key, back)
	}
	if again, more := Uncomment(key, d); comments != nil && (again != key || more != nil) {
		t.Fatalf("%s: %q became %q and then %q", d.Name, text, key, again)
	}
	left, right := lexer{text: text, dialect: d}, lexer{text: key, dialect: d}
	for comments != nil {
		l, ok, err := left.next()
		r, also, errAlso := right.next()
		if ok != also || err != nil || errAlso != nil || ok && text[l.start:l.end] != key[r.start:r.end] {
			t.Fatalf("%s: %q became %q, whose tokens differ: %+v %+v", d.Name, text, key, l, r)
		}
		if !ok {
			break
		}
	}
}
