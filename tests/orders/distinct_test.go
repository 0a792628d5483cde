//go:build unix

package orders_test

import (
	"slices"
	"testing"
)

// distincts are SELECT DISTINCT and aggregates of DISTINCT arguments over texts of
// every kind of collation, numbers beyond 64 bits and floats, and times.
var distincts = []query{
	// Rows, in the order of what is selected.
	{sql: "SELECT DISTINCT region_id FROM t_ent_order ORDER BY region_id"},
	{sql: "SELECT DISTINCT region_id FROM t_ent_order ORDER BY 1 DESC LIMIT 2 OFFSET 1"},
	{sql: "SELECT DISTINCT name FROM t_ent_order ORDER BY name", folded: []int{0}},
	{sql: "SELECT DISTINCT name FROM t_ent_order ORDER BY name DESC LIMIT ? OFFSET ?", args: []any{4, 3}, folded: []int{0}},
	{sql: "SELECT DISTINCT code FROM t_ent_order ORDER BY code"},
	{sql: "SELECT DISTINCT label FROM t_ent_order ORDER BY label", folded: []int{0}},
	{sql: "SELECT DISTINCT title FROM t_ent_order ORDER BY title", folded: []int{0}},
	{sql: "SELECT DISTINCT name, code FROM t_ent_order ORDER BY name, code", folded: []int{0}},
	{sql: "SELECT DISTINCT amount FROM t_ent_order ORDER BY amount"},
	{sql: "SELECT DISTINCT big, small FROM t_ent_order ORDER BY big DESC, small"},
	{sql: "SELECT DISTINCT ratio FROM t_ent_order ORDER BY ratio"},
	{sql: "SELECT DISTINCT rate FROM t_ent_order ORDER BY rate DESC"},
	{sql: "SELECT DISTINCT bits FROM t_ent_order ORDER BY bits"},
	{sql: "SELECT DISTINCT raw FROM t_ent_order ORDER BY raw"},
	{sql: "SELECT DISTINCT status FROM t_ent_order ORDER BY status"},
	{sql: "SELECT DISTINCT day, clock FROM t_ent_order ORDER BY day, clock DESC"},
	{sql: "SELECT DISTINCT created_at FROM t_ent_order ORDER BY created_at LIMIT 3"},
	{sql: "SELECT DISTINCT changed_at FROM t_ent_order ORDER BY changed_at"},
	{sql: "SELECT DISTINCT small AS s, day FROM t_ent_order ORDER BY s, day LIMIT 7"},
	{sql: "SELECT DISTINCT o.region_id, d.weight FROM t_ent_order o JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id ORDER BY 1, 2"},

	// In any order.
	{sql: "SELECT DISTINCT region_id FROM t_ent_order"},
	{sql: "SELECT DISTINCT region_id, 'x', ? FROM t_ent_order", args: []any{7}},
	{sql: "SELECT DISTINCT 1 FROM t_ent_order"},
	{sql: "SELECT DISTINCT 1 FROM t_ent_order WHERE id < 0"},
	{sql: "SELECT DISTINCT name FROM t_ent_order", folded: []int{0}},
	{sql: "SELECT DISTINCT region_id FROM t_ent_order LIMIT 2"},
	{sql: "SELECT DISTINCT title, region_id FROM t_ent_order WHERE ent_id IN (1, 2, 4)", folded: []int{0}},
	{sql: "SELECT DISTINCT note FROM t_ent_order", folded: []int{0}},
	{sql: "SELECT DISTINCT name FROM t_ent_order HAVING name > 'a'", folded: []int{0}},
	{sql: "SELECT DISTINCT amount, rate, bits FROM t_ent_order WHERE id < 0"},

	{sql: "SELECT DISTINCT bits, small FROM t_ent_order ORDER BY small, bits"},
	{sql: "SELECT DISTINCT bits, small FROM t_ent_order LIMIT 1000"},
	{sql: "SELECT DISTINCT name, bits FROM t_ent_order", folded: []int{0}},

	// With the sharding column every node has its own rows.
	{sql: "SELECT DISTINCT ent_id FROM t_ent_order ORDER BY ent_id"},
	{sql: "SELECT DISTINCT ent_id, region_id FROM t_ent_order ORDER BY region_id, ent_id LIMIT 9"},
	{sql: "SELECT DISTINCT * FROM t_ent_order ORDER BY id"},
	{sql: "SELECT DISTINCT o.* FROM t_ent_order o ORDER BY o.id LIMIT 5"},
	{sql: "SELECT DISTINCT d.ent_id FROM t_ent_order o LEFT JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id"},

	// Of groups.
	{sql: "SELECT DISTINCT COUNT(*) FROM t_ent_order GROUP BY region_id, small ORDER BY 1 DESC LIMIT 3"},
	{sql: "SELECT DISTINCT region_id, MAX(day) FROM t_ent_order GROUP BY region_id, small HAVING COUNT(*) > 1 ORDER BY 1, 2"},
	{sql: "SELECT DISTINCT COUNT(*) FROM t_ent_order"},

	// Aggregates.
	{sql: "SELECT COUNT(DISTINCT region_id), COUNT(DISTINCT small), COUNT(*) FROM t_ent_order"},
	{sql: "SELECT COUNT(DISTINCT name), COUNT(DISTINCT code), COUNT(DISTINCT label), COUNT(DISTINCT title) FROM t_ent_order"},
	{sql: "SELECT COUNT(DISTINCT name, region_id), COUNT(DISTINCT rate, changed_at) FROM t_ent_order"},
	{sql: "SELECT COUNT(DISTINCT amount), SUM(DISTINCT amount), AVG(DISTINCT amount), MIN(DISTINCT amount), MAX(DISTINCT amount) FROM t_ent_order"},
	{sql: "SELECT SUM(DISTINCT big), AVG(DISTINCT big), COUNT(DISTINCT big) FROM t_ent_order"},
	{sql: "SELECT SUM(DISTINCT small), AVG(DISTINCT small), SUM(small), AVG(small) FROM t_ent_order"},
	{sql: "SELECT SUM(DISTINCT price), AVG(DISTINCT price) FROM t_ent_order WHERE ent_id IN (1, 2, 4, 5)"},
	{sql: "SELECT SUM(DISTINCT ratio), COUNT(DISTINCT ratio), COUNT(DISTINCT rate), SUM(DISTINCT rate) FROM t_ent_order"},
	{sql: "SELECT COUNT(DISTINCT bits), SUM(DISTINCT bits), COUNT(DISTINCT raw), COUNT(DISTINCT status), SUM(DISTINCT status) FROM t_ent_order"},
	{sql: "SELECT COUNT(DISTINCT day), COUNT(DISTINCT clock), COUNT(DISTINCT created_at), COUNT(DISTINCT changed_at), COUNT(DISTINCT note) FROM t_ent_order"},
	{sql: "SELECT COUNT(DISTINCT ent_id), SUM(DISTINCT ent_id % 7) FROM t_ent_order WHERE ent_id BETWEEN 0 AND 13", open: true},
	{sql: "SELECT COUNT(DISTINCT ent_id), AVG(DISTINCT id), COUNT(DISTINCT ent_id, name) FROM t_ent_order"},
	{sql: "SELECT COUNT(DISTINCT ent_id), COUNT(DISTINCT name) FROM t_ent_order"},
	{sql: "SELECT COUNT(DISTINCT name) AS n, SUM(DISTINCT amount) AS s, BIT_AND(big), AVG(DISTINCT price) FROM t_ent_order WHERE id < 0"},
	{sql: "SELECT COUNT(DISTINCT name) + 1, IFNULL(SUM(DISTINCT amount), 0), AVG(DISTINCT price) * 3 FROM t_ent_order"},
	{sql: "SELECT COUNT(DISTINCT name) + 1, IFNULL(SUM(DISTINCT amount), 0), AVG(DISTINCT price) * 3 FROM t_ent_order WHERE id < 0"},
	{sql: "SELECT region_id, COUNT(DISTINCT name), SUM(DISTINCT small), COUNT(*) FROM t_ent_order GROUP BY region_id ORDER BY region_id"},
	{sql: "SELECT region_id, COUNT(DISTINCT name) AS n FROM t_ent_order GROUP BY region_id HAVING n > ? ORDER BY COUNT(DISTINCT small) DESC, region_id LIMIT 2", args: []any{1}},
	{sql: "SELECT bits, COUNT(DISTINCT name) FROM t_ent_order GROUP BY bits ORDER BY bits"},
	{sql: "SELECT bits, COUNT(DISTINCT name) FROM t_ent_order GROUP BY bits"},
	{sql: "SELECT name, COUNT(DISTINCT code, day) FROM t_ent_order GROUP BY name ORDER BY name", folded: []int{0}},
	{sql: "SELECT ent_id, COUNT(DISTINCT name), AVG(DISTINCT amount) FROM t_ent_order GROUP BY ent_id ORDER BY ent_id"},
	{sql: "SELECT region_id FROM t_ent_order GROUP BY region_id HAVING COUNT(DISTINCT small) > 2 AND SUM(DISTINCT price) IS NOT NULL ORDER BY region_id"},
	{sql: "SELECT region_id, COUNT(DISTINCT name) FROM t_ent_order WHERE id < 0 GROUP BY region_id"},
	{sql: "SELECT COUNT(DISTINCT d.weight), COUNT(DISTINCT o.region_id) FROM t_ent_order o JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id"},

	// Bits, constants.
	{sql: "SELECT BIT_AND(big), BIT_OR(small), BIT_XOR(id), BIT_OR(rate), BIT_XOR(amount) FROM t_ent_order"},
	{sql: "SELECT BIT_AND(big), BIT_OR(small), BIT_XOR(id) FROM t_ent_order WHERE id < 0"},
	{sql: "SELECT BIT_AND(big), BIT_OR(small), BIT_XOR(id) FROM t_ent_order WHERE ent_id = 1 AND ent_id = 2"},
	{sql: "SELECT region_id, BIT_XOR(id), BIT_OR(bits) FROM t_ent_order GROUP BY region_id HAVING BIT_OR(id) > 3 ORDER BY region_id"},
	{sql: "SELECT COUNT(*), SUM(amount) FROM t_ent_order GROUP BY NULL"},
	{sql: "SELECT COUNT(*), SUM(amount) FROM t_ent_order WHERE id < 0 GROUP BY NULL"},
	{sql: "SELECT 'x', ?, COUNT(*) FROM t_ent_order", args: []any{5}},
	{sql: "SELECT 'x', COUNT(*) FROM t_ent_order WHERE id < 0"},
}

// owned are blocks that are grouped by the sharding column, so that each group is
// on one node.
var owned = []query{
	{sql: "SELECT ent_id, GROUP_CONCAT(id ORDER BY id DESC SEPARATOR '|'), STD(price), COUNT(DISTINCT name) FROM t_ent_order GROUP BY ent_id ORDER BY ent_id"},
	{sql: "SELECT ent_id, COUNT(*) FROM t_ent_order GROUP BY ent_id", sequence: true},
	{sql: "SELECT ent_id AS e, VAR_POP(small), MAX(title) FROM t_ent_order GROUP BY e HAVING CONCAT(COUNT(*), '') <> '1' ORDER BY COUNT(*) DESC, e LIMIT 5 OFFSET 1", folded: []int{2}},
	{sql: "SELECT region_id, ent_id, SUM(amount) FROM t_ent_order GROUP BY region_id, ent_id ORDER BY 1 DESC, ent_id LIMIT 7"},
	{sql: "SELECT ent_id, MAX(name) FROM t_ent_order GROUP BY ent_id ORDER BY MAX(name), ent_id", folded: []int{1}},
	{sql: "SELECT ent_id, SUM(rate), BIT_OR(bits) FROM t_ent_order GROUP BY ent_id ORDER BY MIN(rate) DESC, ent_id"},
	{sql: "SELECT DISTINCT COUNT(*), MAX(day) FROM t_ent_order GROUP BY ent_id ORDER BY 1, 2"},
	{sql: "SELECT name, ent_id, COUNT(*) FROM t_ent_order GROUP BY name, ent_id", folded: []int{0}},
	{sql: "SELECT o.ent_id, GROUP_CONCAT(DISTINCT d.weight ORDER BY d.weight) FROM t_ent_order o JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id GROUP BY o.ent_id ORDER BY o.ent_id"},
	{sql: "SELECT ent_id, COUNT(*) AS n FROM t_ent_order WHERE id < 0 GROUP BY ent_id HAVING n > 0 LIMIT 3"},
	{sql: "SELECT ent_id, AVG(small) * 3 FROM t_ent_order GROUP BY ent_id HAVING AVG(price) > ?", args: []any{1}, sequence: true},
}

// computed are expressions over aggregates and conditions on groups.
var computed = []query{
	{sql: "SELECT COUNT(*), SUM(amount) FROM t_ent_order GROUP BY region_id HAVING region_id > ? ORDER BY region_id", args: []any{1.5}},
	{sql: "SELECT SUM(price) * ?, SUM(price) > ? FROM t_ent_order", args: []any{1.5, 10.25}},
	{sql: "SELECT SUM(price) * ?, SUM(price) + ? FROM t_ent_order", args: []any{1e30, float32(0.5)}},
	{sql: "SELECT region_id, COUNT(*) AS small FROM t_ent_order GROUP BY region_id HAVING small > 2 ORDER BY region_id"},
	{sql: "SELECT region_id, ROUND(AVG(price), 2) FROM t_ent_order GROUP BY region_id ORDER BY SUM(price) DESC, region_id"},
	{sql: "SELECT region_id, AVG(price) FROM t_ent_order GROUP BY region_id HAVING AVG(price) > 0 ORDER BY COUNT(*), region_id"},
	{sql: "SELECT ent_id, ROUND(AVG(small), 1) FROM t_ent_order GROUP BY ent_id ORDER BY COUNT(*), ent_id"},
}

func TestDistinctsAndGroupsGiveWhatOneDatabaseGives(t *testing.T) {
	compare(t, slices.Concat(distincts, owned, computed))
}
