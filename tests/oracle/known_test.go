//go:build unix

package oracle_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm"

	"github.com/gormshard/sharding"
)

// known are failures that are known and not mended yet. One that passes turns
// the test red: take it out, and let the generator make such statements if it
// does not.
var known = []knownFailure{{
	// A server shows the type of a text, and whether a column may be NULL, as its
	// plan has them: a temporary table changes both. Gathered rows have another plan,
	// and their header is that of a statement without rows.
	name:    "columns as the plan shows them",
	queries: []string{"SELECT orders.uid, CUME_DIST() OVER (PARTITION BY y.id ORDER BY orders.uid, orders.id, region.id, y.id) AS w1 FROM (orders JOIN region ON orders.region_id) JOIN staff AS y ON orders.uid"},
	matches: func(problem string) bool { return strings.Contains(problem, differByPlan) },
}, {
	// A server evaluates a condition for the rows that its plan joins before, and for
	// those that HAVING leaves out. Gathered rows have a key for the join, which the
	// tables have not, and a node has few rows.
	name: "an overflow in what one database alone computes",
	queries: []string{
		"SELECT MAX(items.n) AS a1 FROM orders JOIN people AS items ON orders.id = items.login WHERE orders.big * 2",
		"SELECT x.uid FROM orders AS x WHERE x.amount IN (x.amount DIV 2) HAVING uid = 15",
	},
	matches: func(problem string) bool {
		expression := after(problem, "an answer where the unsharded database fails: Error 1690")
		// What is over aggregates a merge computes, up to the last group that LIMIT wants.
		return expression != "" && (!aggregates.MatchString(expression) || limits.MatchString(problem))
	},
}, {
	// The other way round: columns of gathered rows may all be NULL, so that a server
	// computes what it needs not where a column is NOT NULL, and has no key that finds
	// fewer rows. Nor has the UNION ALL of several tables. A node gives the rows that
	// OFFSET skips, as many as LIMIT says, and the groups that HAVING leaves out.
	name: "an overflow in what a node or the server of gathered rows alone computes",
	queries: []string{
		"SELECT product AS k0, COUNT(uid * 2) AS a2 FROM items GROUP BY k0 WITH ROLLUP",
		"SELECT id, -big AS e1 FROM orders ORDER BY big DESC, id LIMIT 1 OFFSET 45",
	},
	matches: func(problem string) bool { return strings.Contains(after(problem, "an error: "), "Error 1690 (22003)") },
}}

// after is the rest of the first line that holds a text, behind it.
func after(problem, text string) string {
	_, rest, _ := strings.Cut(problem, text)
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

// limits finds a LIMIT.
var limits = regexp.MustCompile(`(?i)\blimit\b`)

// aggregates finds an aggregate function in an expression as servers quote it.
var aggregates = regexp.MustCompile(`(?i)\b(count|sum|min|max|avg|bit_and|bit_or|bit_xor|std|stddev|var|variance|\w+_pop|\w+_samp|group_concat)\(|tmp_field`)

type knownFailure struct {
	name    string
	queries []string
	// matches finds the failure among those of generated statements.
	matches func(problem string) bool
}

// differByPlan begins a difference in columns that is one of plans alone.
const differByPlan = "columns by plan"

var (
	textType = regexp.MustCompile(" (VARCHAR|CHAR|TINYTEXT|TEXT|MEDIUMTEXT|LONGTEXT|ENUM|SET) ")
	byteType = regexp.MustCompile(" (VARBINARY|BINARY|TINYBLOB|BLOB|MEDIUMBLOB|LONGBLOB) ")
	// That of a MIN or MAX of an expression is a BIGINT or, in a temporary table, an INT.
	wideInt = regexp.MustCompile(" (INT|BIGINT) scan=sql.NullInt64 ")
	// The sign of a negated DECIMAL is a digit, unless a temporary table holds it.
	digits = regexp.MustCompile(" decimal=[0-9]+,")
)

// plannedColumns reports whether columns are alike but for what depends on plans.
func plannedColumns(a, b []string) bool {
	return slices.EqualFunc(a, b, func(a, b string) bool {
		plain := func(s string) string {
			s = digits.ReplaceAllString(nullability.ReplaceAllString(s, ""), " decimal=")
			return byteType.ReplaceAllString(textType.ReplaceAllString(s, " text "), " bytes ")
		}
		wide := func(s string) string { return plain(wideInt.ReplaceAllString(s, " int scan=sql.NullInt64 ")) }
		return plain(a) == plain(b) || wide(a) == wide(b)
	})
}

// once are statements that were wrong and must be alike or refused.
var once = map[string]string{
	"a common table expression of the name of a gathered table":                  "WITH orders AS (SELECT DISTINCT ab.uid, ab.id, ab.region_id, ab.status FROM {schema}.orders ab) SELECT orders.*, COALESCE(NULL, orders.region_id) AS e1 FROM orders",
	"sums of what is CAST to CHAR":                                               "SELECT SUM(CAST(cost AS CHAR)), AVG(CONVERT(cost, CHAR(20))), AVG(IFNULL(CAST(cost AS CHAR), 1)), SUM(BINARY cost) FROM items WHERE uid IN (-1, 0)",
	"a single table behind the logical schema":                                   "SELECT COUNT(*) FROM {schema}.staff, {schema}.items WHERE items.uid = 9",
	"a renamed table inside an element that a split list drops":                  "SELECT COUNT(*) FROM items WHERE (uid, qty) IN ((3, 3), (5, ABS(items.qty)), (9, ABS(items.qty)))",
	"a list of tuples of mixed types":                                            "SELECT id FROM notes WHERE (oid, body) IN ((0, 'a\t'), (3, false)) ORDER BY id",
	"a quotient is compared in the digits that it shows":                         "SELECT COUNT(*) FROM orders HAVING COUNT(*) / 7 = 8.5714 AND COUNT(*) / 7 IN (8.5714) AND NOT COUNT(*) / 7 < 8.5714",
	"a text that only Go reads as a number":                                      "SELECT uid, COUNT(*) FROM orders GROUP BY uid HAVING COUNT(*) IN ('0x1p1', '0_3')",
	"a text beside a decimal number":                                             "SELECT SUM(id) / 7 = '261.4286', SUM(id) * 10000000000000 = '18300000000000001' FROM orders",
	"NULL of an outer join beside NOT IN":                                        "SELECT o.id, i.id FROM orders o LEFT JOIN items i ON i.uid = o.uid AND i.order_id = o.id WHERE i.uid NOT IN (SELECT uid FROM orders WHERE small = 1)",
	"NULL of an outer join beside IN in the select list":                         "SELECT o.id, i.uid IN (SELECT uid FROM orders WHERE small = 1) FROM orders o LEFT JOIN items i ON i.uid = o.uid AND i.order_id = o.id",
	"BIGINT UNSIGNED that is computed":                                           "SELECT MAX(big) - 1, MAX(big) DIV 3, MAX(big) % 10 FROM orders",
	"a YEAR of two digits in HAVING":                                             "SELECT yr, COUNT(*) FROM orders GROUP BY yr HAVING yr = 24 OR yr > 25",
	"two tables of one name, of which one is read as a UNION":                    "SELECT 1 AS c FROM (notes ab) JOIN region AS ab ON ab.uid = ab.name",
	"different values of long texts, of which a node groups by the first bytes":  "SELECT COUNT(DISTINCT txt), COUNT(DISTINCT txt, label) FROM orders",
	"a list of tuples that is compared in DOUBLE":                                "SELECT n FROM wide IGNORE INDEX (PRIMARY) WHERE (k, k) IN ((IFNULL(k, 7), 1), (v, 42), (9007199254740993, 9007199254740992)) ORDER BY n",
	"a FLOAT that is a DOUBLE without a temporary table":                         "SELECT MIN(NULLIF(orders.rate, 9)) AS a0, COUNT(DISTINCT orders.price) AS a1 FROM orders LEFT JOIN wide AS w ON orders.uid = w.v GROUP BY orders.id ORDER BY a0, a1",
	"BIT_OR of no row beside an aggregate of DISTINCT":                           "SELECT SUM(DISTINCT price), BIT_OR(small), BIT_AND(small) FROM orders WHERE name = 'NULL' AND name <> ''",
	"a comment before an expression is part of its label":                        "SELECT 1,/**/MIN({schema}.items.qty) FROM {schema}.items WHERE uid = 9",
	"a sort by MIN of texts that are longer than the server sorts by":            "SELECT id, MIN(txt) AS a0 FROM orders GROUP BY id ORDER BY a0 DESC, id DESC",
	"an alias behind a schema that is the name of its table":                     "SELECT latin, {schema}.orders.txt FROM orders AS orders ORDER BY 1, label DESC, orders.uid, orders.id",
	"a comment between a qualifier and its dot":                                  "SELECT items/**/. qty AS n1 FROM items NATURAL JOIN notes WHERE notes.uid = -12 AND notes.oid = -2",
	"a DOUBLE UNSIGNED that is read through a UNION":                             "SELECT kinds.dbl2 DIV 2 FROM orders LEFT JOIN kinds ON orders.uid",
	"groups of a NO PAD collation, which a server finds by sorting":              "SELECT label, COUNT(DISTINCT latin, flags) FROM orders GROUP BY label",
	"an illegal mix of collations in a part of a list":                           "SELECT login FROM people WHERE login IN ('10', N'😀') ORDER BY n DESC",
	"a name around a subquery that a deeper block gives another table":           "SELECT x.uid, x.id FROM items x WHERE id = 3 OR EXISTS (SELECT 1 FROM people s WHERE s.n = x.uid AND EXISTS (SELECT u.uid FROM (SELECT uid AS k, x.* FROM items x) u WHERE u.k = s.n)) ORDER BY x.uid DESC, x.id",
	"DISTINCT of a BIT of gathered rows":                                         "SELECT DISTINCT id, latin, bits FROM orders ORDER BY bits DESC, id",
	"a BIT that an expression chooses, which is shown by the plan":               "SELECT NULLIF(orders.bits, 9) AS e0, orders.ts FROM orders LEFT JOIN items USING (uid) WHERE items.uid NOT BETWEEN 9 AND 9223372036854775800 ORDER BY items.cost",
	"NULLIF of COUNT in HAVING":                                                  "SELECT sum(tags.n), MIN(tags.NAME), BIT_XOR(n) AS a2 FROM tags GROUP BY val HAVING NULLIF(COUNT(*), (COUNT(*) IS NULL)) ORDER BY a2, sum(tags.n) DESC",
	"a hexadecimal literal in a row beside columns that are NOT NULL":            "SELECT * FROM items RIGHT JOIN notes USING (uid) WHERE (notes.oid, notes.uid) NOT IN ((5, 0x8), (-1, 17))",
	"a row among those of a UNION of dates and numbers":                          "SELECT t.uid, t.id FROM items t WHERE (t.uid, t.id) IN ((SELECT wide.k, wide.n FROM wide WHERE wide.k = 18446744073709551615) UNION ALL SELECT select1.d0, select1.dt FROM kinds AS select1 WHERE select1.uid) ORDER BY 1, 2",
	"a DOUBLE UNSIGNED that is gathered beside an ENUM":                          "SELECT u32, dbl2 DIV 2 AS e1, pt FROM kinds WHERE UID <=> ts6 ORDER BY kinds.pt DESC, st, uid, kinds.id",
	"rows of IN with a text and a number at one place":                           "SELECT MAX(born) AS a0, MIN(DISTINCT BORN) FROM people o WHERE (login, o.login) IN (('dave', 'ada'), (o.n, NULL)) GROUP BY login WITH ROLLUP",
	"MAX of an expression over a YEAR beside COUNT of DISTINCT arguments":        "SELECT COUNT(items.body), COUNT(DISTINCT t.uid, t.amount), MAX(ROUND(t.yr, 1)) FROM orders AS t JOIN notes AS items ON t.uid=items.uid ORDER BY 3 DESC",
	"a list that one COLLATE makes case-insensitive as a whole":                  "SELECT name FROM tags WHERE name IN (_utf8mb4'Z' COLLATE utf8mb4_general_ci , 'b' , '1abc' , '😀') ORDER BY name",
	"rows of IN with a text and a computed number at the place of a key":         "SELECT * FROM people IGNORE INDEX (PRIMARY) WHERE (login, login) IN ((n / 4, 'dave'), ('😀', CHAR_LENGTH(login)))",
	"an illegal mix of collations in a part of a list of rows":                   "SELECT COUNT(ab.n) AS a0, MAX(n) AS a1 FROM tags ab WHERE (name, n) IN (('ß', 9), (N'😀', 2)) order by 1 desc, a0",
	"OFFSET behind DISTINCT of a constant":                                       "SELECT DISTINCT 'x' AS c0, 1 + 1 FROM orders LIMIT 10 OFFSET 1",
	"a row that MariaDB finds alone and not beside another":                      "SELECT `id`, MAX(t.`big`) AS a0, MIN(DISTINCT uid), MAX(clock) FROM `orders` AS t WHERE (uid, latin) IN ((8, 'ä'), (3, 'ae')) GROUP BY 1",
	"an order by a NO PAD text with U+0000 at its end, of gathered rows":         "SELECT uid, id, label, amount FROM orders ORDER BY REPLACE(orders.flags, 'a', 'b') DESC, label ASC, amount ASC, orders.uid, orders.id",
	"HAVING over a sum of more than 65 digits":                                   "SELECT MAX(blb) AS a0, SUM(t64) FROM kinds uid GROUP BY t24 HAVING ((ROUND(10) IS NOT FALSE) / (SUM(d65) BETWEEN AVG(t64) AND COUNT(uid.t24) AND (COUNT(*) OR AVG(`uid`.t64))))",
	"distinct values of a TINYBLOB that an expression chooses":                   "SELECT DISTINCT ts6, NULLIF(tb, 'a') AS e1, d0 FROM kinds AS select1",
	"a UNION of a TINYTEXT that an expression chooses":                           "SELECT IFNULL(tt, 'a') AS e1 FROM kinds UNION SELECT COALESCE(tb, 'q') FROM kinds",
	"groups of texts that are longer than the server sorts by":                   "SELECT txt, COUNT(small), COUNT(DISTINCT LENGTH(title)) FROM orders AS uid GROUP BY uid.title, txt ORDER BY 3, txt ASC",
	"the zeros of MIN and MAX of a ZEROFILL column, which are shown by the plan": "SELECT c10, COUNT(DISTINCT en), MAX(dz) AS a1, MIN(cbin) FROM kinds GROUP BY 1 ORDER BY MAX(dz) DESC, COUNT(DISTINCT en)",
	"MIN of a ZEROFILL column without groups":                                    "SELECT MIN(dz), MAX(dz) FROM kinds",
	"an aggregate beside IN of a subquery":                                       "SELECT uid, COUNT(*) FROM orders GROUP BY uid HAVING COUNT(*) IN (SELECT qty FROM items)",
	"a common table expression whose name one around it has":                     "WITH a AS (SELECT id FROM items), b AS (WITH a AS (SELECT id FROM orders WHERE id > 6) SELECT id FROM a) SELECT a.id, b.id AS bid FROM a, b",
	"a sort by texts of a NO PAD collation that end in U+0000":                   "SELECT id, label FROM orders ORDER BY label DESC, id",
}

func TestStatementsThatWereWrongOnce(t *testing.T) {
	clusters := newClusters(t, "once", topologies[2], topologies[3])
	for name, text := range once {
		q := &query{statement: f(strings.ReplaceAll(text, "{schema}", clusters[0].schema()))}
		q.outline()
		for _, protocol := range protocols {
			a := clusters[0].reference(t.Context(), q, protocol, 0)
			for _, c := range clusters {
				p, text, args := c.as(protocol, q.statement)
				got := p.ask(t.Context(), 0, text, args)
				if _, ok := refused(got.err); ok {
					continue
				}
				if problem := q.differ(a.want, got, a.everything); problem != "" {
					t.Errorf("%s, %s, %s:\n%s", name, c.name, protocol, problem)
				}
			}
		}
	}
}

func isKnown(problem string) bool {
	for _, k := range known {
		if k.matches != nil && k.matches(problem) {
			return true
		}
	}
	return false
}

func TestKnownFailuresStillFail(t *testing.T) {
	c := newCluster(t, "known", topologies[2])
	c.fill(t)
	for _, k := range known {
		for _, text := range k.queries {
			q := &query{statement: f(text), shape: "known"}
			want := read(c.prepared.single.QueryContext(t.Context(), text))
			got := c.prepared.ask(t.Context(), 0, text, nil)
			if _, ok := refused(got.err); ok || q.differ(want, got, answer{}) == "" {
				t.Errorf("%s: it passes now (%v); take it out of the list: %s", k.name, got.err, text)
			}
		}
	}
}

// Two transactions that write to the same two data sources in another order, on
// pools of one connection, each hold what the other waits for. One of them gives
// up and may be repeated.
func TestTransactionsOnSmallPoolsDoNotWaitForEver(t *testing.T) {
	c := newCluster(t, "waiting", topologies[1])
	db, plugin := c.application(t, &gorm.Config{}, poolsOf(1))
	var both sync.WaitGroup
	both.Add(2)
	errs := make([]error, 2)
	var wg sync.WaitGroup
	for i, order := range [][]int64{{0, 1}, {1, 0}} {
		wg.Go(func() {
			errs[i] = db.WithContext(t.Context()).Transaction(func(tx *gorm.DB) error {
				for n, uid := range order {
					if err := tx.Exec("INSERT INTO items (uid, id) VALUES (?, ?)", uid, 100+i).Error; err != nil {
						return err
					}
					if n == 0 {
						both.Done()
						both.Wait()
					}
				}
				return nil
			})
		})
	}
	wg.Wait()
	idle(t, c, plugin)
	if err := errors.Join(errs...); !errors.Is(err, sharding.ErrRetryable) {
		t.Errorf("error %v, want ErrRetryable", err)
	}
}
