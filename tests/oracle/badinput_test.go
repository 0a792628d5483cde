//go:build unix

package oracle_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// The bounds of what one bad statement may take on a busy machine.
const (
	badInputTime   = 15 * time.Second
	badInputMemory = 512 << 20 // allocated in all, not at once
)

// bounded runs a statement and fails the test when it takes too long, allocates
// too much, or panics.
func bounded(t *testing.T, name string, run func(ctx context.Context)) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: panic: %v", name, p)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 4*badInputTime)
	defer cancel()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	run(ctx)
	runtime.ReadMemStats(&after)
	if took := time.Since(began); took > badInputTime {
		t.Errorf("%s took %v", name, took)
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > badInputMemory {
		t.Errorf("%s allocated %d MiB", name, allocated>>20)
	}
}

// nested puts text n deep.
func nested(n int, open, inside, shut string) string {
	return strings.Repeat(open, n) + inside + strings.Repeat(shut, n)
}

// badTexts are statements that hold what no application should send. Each is
// answered as the unsharded database answers it, or an error.
var badTexts = map[string]string{
	"1,000 parentheses":              "SELECT id FROM items WHERE " + nested(1000, "(", "uid = 9", ")") + " ORDER BY id",
	"1,000 NOTs":                     "SELECT id FROM items WHERE " + nested(1000, "NOT (", "uid = 9", ")") + " ORDER BY id",
	"1,000 nested ANDs and ORs":      "SELECT id FROM items WHERE " + nested(500, "(qty > -5 AND (uid = 9 OR ", "uid = 12", "))") + " ORDER BY id",
	"1,000 nested CASEs":             "SELECT id FROM items WHERE uid = 9 AND " + nested(1000, "CASE WHEN 1 THEN ", "1", " END") + " ORDER BY id",
	"1,000 nested calls":             "SELECT " + nested(1000, "ABS(", "id", ")") + " AS x FROM items WHERE uid = 9 ORDER BY id",
	"1,000 signs":                    "SELECT id FROM items WHERE uid = " + strings.Repeat("- ", 1000) + "9 ORDER BY id",
	"1,000 subqueries":               "SELECT id FROM items WHERE uid IN " + nested(1000, "(SELECT uid FROM items WHERE uid IN ", "(9)", ")"),
	"4 subqueries on one node":       "SELECT id FROM items WHERE uid = 9 AND uid IN " + nested(4, "(SELECT uid FROM items WHERE uid = 9 AND uid IN ", "(9)", ")") + " ORDER BY id",
	"1,000 derived tables":           "SELECT id FROM " + nested(1000, "(SELECT id FROM ", "items WHERE uid = 9", ") x"),
	"1,000 parentheses of a join":    "SELECT items.id FROM " + nested(1000, "(", "items", ")") + " WHERE uid = 9 ORDER BY id",
	"10,000 ORs":                     "SELECT id FROM items WHERE uid = 9" + strings.Repeat(" OR uid = 12", 10_000) + " ORDER BY id",
	"1,000 values nested":            "INSERT INTO items (uid, id) VALUES (" + nested(1000, "(", "9", ")") + ", 900)",
	"10,000 columns":                 "SELECT id" + strings.Repeat(", id", 4_000) + " FROM items WHERE uid = 9 ORDER BY id",
	"1,000 unions":                   "SELECT id FROM items WHERE uid = 9" + strings.Repeat(" UNION ALL SELECT id FROM items WHERE uid = 9", 300),
	"nothing":                        "",
	"white space":                    " \t\r\n ",
	"a comment":                      "/* items */",
	"semicolons":                     ";;;",
	"1,000 statements":               strings.Repeat("UPDATE items SET qty = qty WHERE uid = 9; ", 1000),
	"an open string":                 "SELECT id FROM items WHERE uid = 9 AND product = 'a",
	"an open string that escapes":    `SELECT id FROM items WHERE uid = 9 AND product = 'a\'`,
	"an open name":                   "SELECT id FROM `items WHERE uid = 9",
	"an open double quote":           "SELECT id FROM items WHERE product = \"a",
	"an open comment":                "SELECT id FROM items WHERE uid = 9 /* a",
	"an open executable comment":     "SELECT id FROM items WHERE uid = 9 /*! AND 1",
	"an open parenthesis":            "SELECT id FROM items WHERE (uid = 9",
	"a parenthesis too many":         "SELECT id FROM items WHERE uid = 9)",
	"10,000 open parentheses":        "SELECT id FROM items WHERE " + strings.Repeat("(", 10_000),
	"10,000 quotes":                  "SELECT id FROM items WHERE product = " + strings.Repeat("'", 10_001),
	"10,000 open comments":           "SELECT id FROM items WHERE uid = 9 " + strings.Repeat("/*", 10_000),
	"NUL between words":              "SELECT id FROM items\x00 WHERE uid = 9",
	"NUL in a string":                "SELECT id, product FROM items WHERE uid = 9 AND product <> 'a\x00b' ORDER BY id",
	"NUL in a comment":               "SELECT id FROM items WHERE uid = 9 /* \x00 */ ORDER BY id",
	"NUL in a name":                  "SELECT id AS `a\x00b` FROM items WHERE uid = 9 ORDER BY id",
	"NUL at the end":                 "SELECT id FROM items WHERE uid = 9\x00",
	"NUL in front":                   "\x00SELECT id FROM items WHERE uid = 9",
	"NUL in a line's comment":        "SELECT id FROM items -- \x00\n WHERE uid = 9 ORDER BY id",
	"invalid UTF-8 in a string":      "SELECT id FROM items WHERE uid = 9 AND product <> '\xff\xc3' ORDER BY id",
	"invalid UTF-8 in a comment":     "SELECT id FROM items /* \xff\xc3 */ WHERE uid = 9 ORDER BY id",
	"invalid UTF-8 in a name":        "SELECT id AS `\xff` FROM items WHERE uid = 9",
	"invalid UTF-8 between words":    "SELECT id FROM items \xff WHERE uid = 9",
	"invalid UTF-8 in a table":       "SELECT id FROM it\xc3ems WHERE uid = 9",
	"half a character at the end":    "SELECT id FROM items WHERE uid = 9 \xe6\x97",
	"a surrogate":                    "INSERT INTO tags (name, n) VALUES ('\xed\xa0\x80', 900)",
	"invalid UTF-8 as sharding key":  "SELECT n FROM tags WHERE name = '\xff' ORDER BY n",
	"invalid UTF-8 stored as key":    "INSERT INTO tags (name, n) VALUES ('a\xff', 900)",
	"a number of 10,000 digits":      "SELECT id FROM items WHERE uid = " + strings.Repeat("9", 10_000),
	"a fraction of 10,000 digits":    "SELECT id FROM items WHERE uid = 9." + strings.Repeat("0", 10_000) + " ORDER BY id",
	"an exponent":                    "SELECT id FROM items WHERE uid = 1e999999999",
	"LIMIT beyond 64 bits":           "SELECT id FROM items ORDER BY id LIMIT 99999999999999999999",
	"LIMIT below 0":                  "SELECT id FROM items ORDER BY id LIMIT -1",
	"ORDER BY beyond the list":       "SELECT id FROM items ORDER BY 99999999999999999999",
	"a name of 1,000 characters":     "SELECT id AS `" + strings.Repeat("x", 1000) + "` FROM items",
	"a BOM":                          "\ufeffSELECT id FROM items WHERE uid = 9",
	"other spaces":                   "SELECT\u00a0id FROM items WHERE uid = 9",
	"a full width semicolon":         "SELECT id FROM items WHERE uid = 9；",
	"a backslash":                    "SELECT id FROM items WHERE uid = 9 \\",
	"a placeholder of the planner's": "SELECT id, '/*~0~*/' AS x FROM items /*~0~*/ WHERE uid = 9 /* a */ ORDER BY id",
}

func TestBadTextsAreAnErrorOrAnsweredAsUnsharded(t *testing.T) {
	c := newCluster(t, "bad", topologies[2])
	c.fill(t)
	answered, failed := 0, 0
	for name, text := range badTexts {
		bounded(t, name, func(ctx context.Context) {
			if strings.HasPrefix(text, "SELECT") || text != "" && text[0] > 'Z' {
				got := read(c.prepared.sharded.ConnPool.QueryContext(ctx, text))
				if got.err != nil {
					failed++
					return
				}
				answered++
				q := &query{limited: strings.Contains(text, "LIMIT")}
				if d := q.differ(read(c.prepared.single.QueryContext(ctx, text)), got, answer{}); d != "" {
					t.Errorf("%s: %s", name, d)
				}
				return
			}
			if _, err := c.prepared.sharded.ConnPool.ExecContext(ctx, text); err != nil {
				failed++
				return
			}
			answered++
			if strings.Count(text, ";") > 1 { // the single database takes one statement
				return
			}
			if _, err := c.prepared.single.ExecContext(ctx, text); err != nil {
				t.Errorf("%s: no error where the unsharded database has %v", name, err)
			}
		})
	}
	t.Logf("%d answered as unsharded, %d errors", answered, failed)
	c.compareRows(t.Context(), t.Errorf, items, tags)
}

type panicking struct{}

func (panicking) Value() (driver.Value, error) { panic("secret") }

type endless struct{}

func (e endless) Value() (driver.Value, error) { return e, nil }

// An argument that no driver takes is an error, whether it decides the route or
// not; nothing of the statement is stored.
func TestArgumentsThatNoDriverTakesAreErrors(t *testing.T) {
	c := newCluster(t, "badargs", topologies[2])
	c.fill(t)
	for name, arg := range map[string]any{
		"a struct": struct{ A int }{1}, "a channel": make(chan int), "a function": func() {}, "a complex number": complex(1, 2),
		"a map": map[string]int{"a": 1}, "a slice": []int64{1}, "an array": [2]int{1, 2}, "a slice of bytes' slices": [][]byte{{1}},
		"a pointer to a struct": &struct{ A int }{1}, "a Valuer that panics": panicking{}, "a Valuer of itself": endless{},
		"a named argument": sql.Named("a", 9), "an output": sql.Out{Dest: new(int)},
	} {
		for _, statement := range []string{
			"SELECT id FROM items WHERE uid = ?", "SELECT id FROM items WHERE uid = 9 AND product = ?", "SELECT id FROM items WHERE id IN (?, ?) ORDER BY id",
			"INSERT INTO items (uid, id) VALUES (?, 901)", "INSERT INTO items (uid, id, product) VALUES (9, 902, 'a'), (12, 903, ?)",
			"UPDATE items SET product = ? WHERE uid = 9", "UPDATE items SET qty = 1 WHERE id = ?", "DELETE FROM items WHERE uid = ?", "SELECT id FROM items ORDER BY id LIMIT ?",
			"UPDATE region SET pop = ?", "SELECT name FROM staff WHERE id = ?",
		} {
			args := []any{arg, arg}[:strings.Count(statement, "?")]
			for way, p := range map[string]*pair{"prepared": c.prepared, "interpolated": c.interpolated} {
				bounded(t, fmt.Sprint(name, ", ", statement, ", ", way), func(ctx context.Context) {
					for pool, run := range map[string]func() error{
						"GORM's pool": func() error {
							_, err := p.sharded.ConnPool.ExecContext(ctx, statement, args...)
							return err
						},
						"the logical pool": func() error {
							_, err := p.logical.ExecContext(ctx, statement, args...)
							return err
						},
						"a query": func() error {
							return read(p.sharded.ConnPool.QueryContext(ctx, statement, args...)).err
						},
					} {
						err := run()
						switch {
						case err == nil:
							t.Errorf("%s as %s, %s, %s: no error", name, statement, way, pool)
						case strings.Contains(err.Error(), "secret"):
							t.Errorf("%s as %s, %s, %s: the error quotes the argument: %v", name, statement, way, pool, err)
						}
					}
				})
			}
		}
	}
	c.compareRows(t.Context(), t.Errorf, tables...)
}
