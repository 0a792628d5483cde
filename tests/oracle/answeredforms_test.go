//go:build unix

package oracle_test

import (
	"strings"
	"testing"
)

// answeredForms are statements that hold what other statements like them are refused
// for. They must be alike, and not refused.
var answeredForms = map[string]string{
	"MAX of a BIT without groups":                           "SELECT MAX(bits), MIN(bits), MIN(NULLIF(bits, 9)) FROM orders",
	"MAX of an ENUM of groups that a node has one of":       "SELECT COUNT(*) AS n, MAX(status), MIN(flags) FROM orders WHERE uid IN (9007199254740993, 17, -1, -9) GROUP BY uid ORDER BY n DESC, uid",
	"MAX of a BIT over no rows":                             "SELECT MAX(bits) FROM orders WHERE small > 200",
	"MAX of a BIT in a join that is not bound":              "SELECT MAX(x.bits), MIN(x.price) FROM orders JOIN orders AS x ON orders.region_id = x.id",
	"MAX of a BIT beside an aggregate of DISTINCT":          "SELECT MAX(bits), COUNT(DISTINCT label) FROM orders",
	"a BIT beside other extremes":                           "SELECT small, SUM(DISTINCT flags), MAX(ts), VAR_POP(uid) FROM orders WHERE bits IS NULL OR bits > 3 GROUP BY small",
	"groups by a BIT beside other extremes":                 "SELECT COUNT(*), MAX(ts), STDDEV_SAMP(uid) FROM orders GROUP BY bits HAVING MAX(DISTINCT code) <= 1",
	"digits in the values of a row":                         "SELECT VAR_POP(uid) FROM orders WHERE (region_id, price) = (1, 1.10)",
	"zeros behind the point":                                "SELECT VAR_POP(uid) FROM orders WHERE id = '7.00' OR price = '0.00'",
	"an exponent":                                           "SELECT VAR_POP(uid) FROM orders WHERE id = '1e1' OR id = '1.50e1' OR uid = '9007199254740991e0'",
	"a condition in an equality":                            "SELECT uid, qty, SUM(cost) FROM items WHERE (cost > '1.105') = TRUE GROUP BY uid, qty WITH ROLLUP",
	"an aggregate in an equality":                           "SELECT region_id, VAR_POP(uid) FROM orders GROUP BY region_id HAVING COUNT(*) = 1.5 OR COUNT(*) / 2 = 4.5 OR 3.5 <> COUNT(*)",
	"conditions of a subquery":                              "SELECT uid, id FROM orders WHERE id = ANY (SELECT order_id FROM items WHERE cost = '1.10') ORDER BY uid, id",
	"a column that a derived table does not show":           "SELECT d.k, d.n FROM (SELECT uid AS k, COUNT(*) AS n FROM orders WHERE rate = 0.125 OR title = '9.5' GROUP BY uid ORDER BY n, k LIMIT 5) d ORDER BY d.k",
	"an index that rounds beside a column that has none":    "SELECT uid, RANK() OVER (ORDER BY uid, id) FROM orders WHERE at = '2026-01-01 00:00:00.1'",
	"FETCH FIRST":                                           "SELECT uid, id FROM orders ORDER BY uid, id FETCH FIRST 3 ROWS ONLY",
	"FETCH NEXT behind OFFSET":                              "SELECT uid, id FROM orders WHERE uid > 0 ORDER BY id DESC, uid OFFSET 2 ROWS /* c */ FETCH NEXT ROW ONLY",
	"OFFSET alone":                                          "SELECT region_id, COUNT(*) FROM orders GROUP BY region_id ORDER BY 2, 1 OFFSET 2 ROWS",
	"FETCH FIRST behind a UNION":                            "SELECT uid, id FROM orders UNION SELECT uid, id FROM items ORDER BY 1, 2 FETCH FIRST 4 ROWS ONLY",
	"WITH TIES":                                             "SELECT qty FROM items WHERE qty IS NOT NULL ORDER BY qty FETCH FIRST 5 ROWS WITH TIES",
	"WITH TIES behind OFFSET":                               "SELECT qty FROM items ORDER BY qty OFFSET 3 ROWS FETCH NEXT 1 ROW WITH TIES",
	"WITH TIES of one node":                                 "SELECT qty FROM items WHERE uid = 9 ORDER BY qty FETCH FIRST ROW WITH TIES",
	"WITH TIES behind a UNION":                              "SELECT qty FROM items UNION ALL SELECT region_id FROM orders ORDER BY 1 FETCH FIRST 2 ROWS WITH TIES",
	"= ANY":                                                 "SELECT uid, id FROM orders WHERE uid = ANY (SELECT order_id FROM items WHERE qty = 1) ORDER BY uid, id",
	"<> ALL":                                                "SELECT uid, id FROM orders WHERE orders.region_id <> ALL (SELECT qty FROM items WHERE qty > 1) ORDER BY uid, id",
	"<> ALL over NULL":                                      "SELECT uid, id FROM orders WHERE small > 1 AND region_id != ALL (SELECT qty FROM items) ORDER BY uid, id",
	"= SOME of no rows":                                     "SELECT COUNT(*) FROM orders WHERE (region_id = SOME (SELECT qty FROM items WHERE cost = 77)) OR id < 7",
	"a subquery over the same table":                        "SELECT uid, id FROM orders WHERE uid IN (SELECT items.order_id FROM items JOIN orders o ON o.uid = items.uid WHERE o.small = 1) ORDER BY uid, id",
	"BETWEEN before = ANY":                                  "SELECT uid, id FROM orders WHERE small BETWEEN 0 AND region_id = ANY (SELECT qty FROM items WHERE qty > 1) ORDER BY uid, id",
	"a CASE between BETWEEN and its AND":                    "SELECT uid, id FROM orders WHERE id BETWEEN CASE WHEN small OR 1 THEN 0 END AND uid = ANY (SELECT qty FROM items WHERE qty > 1) ORDER BY uid, id",
	"signs and words without spaces":                        "SELECT uid, id FROM orders WHERE uid<>ALL(SELECT qty FROM items WHERE qty > 1)AND region_id=ANY(SELECT qty FROM items)OR id=7 ORDER BY uid, id",
	"words behind EXISTS without spaces":                    "SELECT uid, id FROM orders WHERE NOT EXISTS(SELECT 1 FROM items WHERE qty = 77)AND(EXISTS(SELECT 1 FROM items WHERE qty = 1)OR id=7)AND EXISTS(SELECT 1 FROM items)ORDER BY uid, id",
	"a subquery whose values are equated with a small text": "SELECT id, name FROM region WHERE id IN (SELECT qty FROM items WHERE product = '1.5' OR cost <> 2.25)",
}

func TestWhatOtherStatementsAreRefusedForIsAnswered(t *testing.T) {
	clusters := newClusters(t, "wide", topologies[2], topologies[3])
	for name, text := range answeredForms {
		q := &query{statement: f(strings.ReplaceAll(text, "{schema}", clusters[0].schema()))}
		q.outline()
		for _, protocol := range protocols {
			a := clusters[0].reference(t.Context(), q, protocol, 0)
			for _, c := range clusters {
				p, text, args := c.as(protocol, q.statement)
				got := p.ask(t.Context(), 0, text, args)
				if problem := q.differ(a.want, got, a.everything); problem != "" {
					t.Errorf("%s, %s, %s:\n%s", name, c.name, protocol, problem)
				}
			}
		}
	}
}
