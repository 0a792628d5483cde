//go:build unix

package oracle_test

import (
	"reflect"
	"testing"
)

// withoutArguments are statements whose values are others as text: a FLOAT has six
// digits there, and computed ones those that are shown.
var withoutArguments = map[string]string{
	"rows of several nodes":      "SELECT uid, id, rate, big FROM orders ORDER BY uid, id",
	"rows of one node":           "SELECT id, rate, big FROM orders WHERE uid = 9 ORDER BY id",
	"merged":                     "SELECT MAX(rate), MIN(big), SUM(rate), COUNT(*) FROM orders",
	"groups":                     "SELECT region_id, MAX(rate) FROM orders GROUP BY region_id ORDER BY region_id",
	"gathered":                   "SELECT STD(id), VAR_POP(id), MAX(rate) FROM orders",
	"gathered rows":              "SELECT uid, id, rate, RANK() OVER (ORDER BY uid, id) FROM orders ORDER BY uid, id",
	"subqueries run before":      "SELECT id, rate FROM orders WHERE uid IN (SELECT uid FROM items WHERE qty = 1) ORDER BY uid, id",
	"branches of a UNION":        "SELECT rate FROM orders UNION ALL SELECT MAX(rate) FROM orders ORDER BY 1",
	"a table that has no rule":   "SELECT id, id / 7 + 0e0 FROM staff ORDER BY id",
	"a table that is everywhere": "SELECT id / 7e0 FROM region ORDER BY id",
	"locked rows":                "SELECT uid, id, rate FROM orders ORDER BY uid, id FOR UPDATE",
}

func TestPreparedStatementsWithoutArgumentsGiveTheValuesOfOneDatabase(t *testing.T) {
	for _, c := range newClusters(t, "bare", topologies[2], topologies[3]) {
		for _, pools := range []*pair{c.prepared, c.interpolated} {
			for name, text := range withoutArguments {
				want, got := askPlain(t.Context(), pools.single, text, nil, true), pools.ask(t.Context(), asPrepared, text, nil)
				if want.err != nil || len(want.rows) == 0 {
					t.Fatalf("%s: %d rows, %v", name, len(want.rows), want.err)
				}
				if got.err != nil || !reflect.DeepEqual(want.round(1).rows, got.round(1).rows) {
					t.Errorf("%s, %s: %v\n got %v\nwant %v", c.name, name, got.err, got.rows, want.rows)
				}
			}
		}
	}
}
