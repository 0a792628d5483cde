//go:build unix

package orders_test

import "testing"

// unions are queries whose branches are on different nodes.
var unions = []query{
	// One statement after the other.
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 4 UNION ALL SELECT id FROM t_ent_order WHERE ent_id = 5"},
	{sql: "SELECT id, name FROM t_ent_order UNION ALL SELECT order_id, address FROM t_ent_order_detail"},
	{sql: "SELECT * FROM t_ent_order WHERE ent_id IN (?, ?) UNION ALL SELECT * FROM t_ent_order WHERE ent_id = ?", args: []any{1, 2, 4}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? AND name = ? UNION ALL (SELECT order_id FROM t_ent_order_detail WHERE ent_id IN (?, ?) AND address > ?)", args: []any{1, "a", 1, 2, "a"}},
	{sql: "(SELECT id, amount FROM t_ent_order WHERE ent_id = 1) UNION ALL (SELECT id, price FROM t_ent_order_item WHERE ent_id = 2)"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 1 UNION ALL SELECT id FROM t_ent_order WHERE ent_id = 2 UNION ALL SELECT id FROM t_ent_order WHERE ent_id = 1"},
	{sql: "SELECT id FROM t_ent_order WHERE 1 = 0 UNION ALL SELECT order_id FROM t_ent_order_detail WHERE ent_id = 99"},
	{sql: "SELECT id, NULL AS x FROM t_ent_order WHERE ent_id = 1 UNION ALL SELECT NULL, address FROM t_ent_order_detail"},

	// The types are those of all branches.
	{sql: "SELECT small FROM t_ent_order WHERE ent_id = 1 UNION ALL SELECT big FROM t_ent_order WHERE ent_id = 2"},
	{sql: "SELECT big, price, ratio, rate, day, created_at FROM t_ent_order WHERE ent_id IN (1, 5) UNION ALL SELECT id, amount, price, ratio, created_at, changed_at FROM t_ent_order WHERE ent_id IN (2, 4)"},
	{sql: "SELECT status, bits, raw, clock FROM t_ent_order WHERE ent_id = 1 UNION ALL SELECT status, bits, raw, clock FROM t_ent_order WHERE ent_id IN (2, 4)"},
	{sql: "SELECT status, code, day FROM t_ent_order WHERE ent_id = 1 UNION ALL SELECT name, label, clock FROM t_ent_order WHERE ent_id IN (2, 4)"},
	{sql: "SELECT id, 'order' AS kind FROM t_ent_order WHERE ent_id = 1 UNION ALL SELECT order_id, 'detail of it' FROM t_ent_order_detail WHERE ent_id = 2"},
	{sql: "SELECT id, ? AS kind FROM t_ent_order WHERE ent_id = ? UNION ALL SELECT order_id, ? FROM t_ent_order_detail WHERE ent_id = ?", args: []any{"x", 1, "yy", 2}},
	{sql: "SELECT id + 1, amount * 2 FROM t_ent_order WHERE ent_id = 1 UNION ALL SELECT price / 3, COUNT FROM t_ent_order_item WHERE ent_id = 2"},
	{sql: "SELECT name, state FROM t_ent_order WHERE ent_id = 1 UNION ALL SELECT state, name FROM t_ent_order WHERE ent_id = 2"},

	// Order and LIMIT behind the branches.
	{sql: "SELECT id, name FROM t_ent_order UNION ALL SELECT order_id, address FROM t_ent_order_detail ORDER BY name, id, 1 LIMIT 20", open: true},
	{sql: "SELECT id FROM t_ent_order UNION ALL SELECT order_id FROM t_ent_order_detail ORDER BY id DESC LIMIT ? OFFSET ?", args: []any{10, 7}},
	{sql: "SELECT id, amount FROM t_ent_order WHERE ent_id < 5 UNION ALL SELECT id, price FROM t_ent_order_item WHERE ent_id > 3 ORDER BY amount DESC, id"},
	{sql: "SELECT id AS n, name AS t FROM t_ent_order UNION ALL SELECT id, product FROM t_ent_order_item WHERE id < 90 ORDER BY t, n"},
	{sql: "SELECT id, created_at FROM t_ent_order WHERE ent_id IN (1, 2) UNION ALL SELECT id, day FROM t_ent_order WHERE ent_id = 4 ORDER BY 2, 1"},
	{sql: "SELECT id, changed_at FROM t_ent_order WHERE ent_id IN (1, 2) UNION ALL SELECT id, changed_at FROM t_ent_order WHERE ent_id = 4 ORDER BY changed_at DESC, id LIMIT 9"},
	{sql: "SELECT id, raw, clock FROM t_ent_order WHERE ent_id IN (1, 2) UNION ALL SELECT id, raw, clock FROM t_ent_order WHERE ent_id = 4 ORDER BY clock, raw, id"},
	{sql: "SELECT * FROM t_ent_order_detail WHERE ent_id = 1 UNION ALL SELECT * FROM t_ent_order_detail WHERE ent_id IN (2, 4) ORDER BY weight, order_id LIMIT 5"},
	{sql: "SELECT id, title FROM t_ent_order WHERE ent_id = 1 UNION ALL SELECT id, title FROM t_ent_order WHERE ent_id IN (2, 4) ORDER BY title, id"},
	{sql: "SELECT id FROM t_ent_order UNION ALL SELECT order_id FROM t_ent_order_detail LIMIT 0"},
	{sql: "SELECT id FROM t_ent_order UNION ALL SELECT order_id FROM t_ent_order_detail LIMIT 7 OFFSET 3"},
	{sql: "SELECT id, status FROM t_ent_order WHERE ent_id = 1 UNION ALL SELECT id, status FROM t_ent_order WHERE ent_id = 2 ORDER BY status, id", open: true},
	{sql: "SELECT id, rate FROM t_ent_order WHERE ent_id = 1 UNION ALL SELECT id, rate FROM t_ent_order WHERE ent_id = 2 ORDER BY rate, id", open: true},
	{sql: "SELECT id, name FROM t_ent_order WHERE ent_id = 1 UNION ALL SELECT id, title FROM t_ent_order WHERE ent_id = 2 ORDER BY name, id", open: true},
	{sql: "SELECT id, note FROM t_ent_order WHERE ent_id = 1 UNION ALL SELECT id, note FROM t_ent_order WHERE ent_id = 2 ORDER BY note, id", open: true},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 1 UNION ALL SELECT id FROM t_ent_order WHERE ent_id = 2 ORDER BY id % 7, id", open: true},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 1 UNION ALL SELECT id FROM t_ent_order WHERE ent_id = 2 ORDER BY name", open: true},

	// Distinct rows, by the collations.
	{sql: "SELECT region_id FROM t_ent_order UNION SELECT id FROM t_region"},
	{sql: "SELECT region_id FROM t_ent_order UNION DISTINCT SELECT id FROM t_region ORDER BY region_id DESC LIMIT 3"},
	{sql: "SELECT name FROM t_ent_order UNION SELECT name FROM t_region ORDER BY name", folded: []int{0}},
	{sql: "SELECT name FROM t_ent_order UNION SELECT name FROM t_region ORDER BY name LIMIT 4", folded: []int{0}},
	{sql: "SELECT label FROM t_ent_order UNION SELECT label FROM t_ent_order WHERE ent_id = 1", folded: []int{0}},
	{sql: "SELECT code, raw FROM t_ent_order UNION SELECT code, raw FROM t_ent_order WHERE ent_id = 1", folded: []int{0}},
	{sql: "SELECT amount, price FROM t_ent_order WHERE ent_id < 5 UNION SELECT price, amount FROM t_ent_order"},
	{sql: "SELECT ratio, big, small FROM t_ent_order WHERE ent_id < 5 UNION SELECT small, big, ratio FROM t_ent_order"},
	{sql: "SELECT day, clock, created_at FROM t_ent_order UNION SELECT day, clock, created_at FROM t_ent_order"},
	{sql: "SELECT changed_at FROM t_ent_order UNION SELECT changed_at FROM t_ent_order"},
	{sql: "SELECT title FROM t_ent_order UNION SELECT title FROM t_ent_order", folded: []int{0}},
	{sql: "SELECT status, bits FROM t_ent_order UNION SELECT status, bits FROM t_ent_order", open: true},
	{sql: "SELECT name FROM t_ent_order UNION SELECT id FROM t_region", folded: []int{0}, open: true},
	{sql: "SELECT NULL FROM t_ent_order UNION SELECT NULL FROM t_region", open: true},
	{sql: "SELECT * FROM t_region UNION SELECT region_id, name FROM t_ent_order WHERE ent_id = 1", folded: []int{1}},

	// Chains: UNION makes distinct what stands before it.
	{sql: "SELECT region_id FROM t_ent_order UNION SELECT id FROM t_region UNION ALL SELECT region_id FROM t_ent_order WHERE ent_id IN (1, 2)"},
	{sql: "SELECT region_id FROM t_ent_order UNION ALL SELECT id FROM t_region UNION SELECT region_id FROM t_ent_order WHERE ent_id IN (1, 2)"},
	{sql: "SELECT region_id FROM t_ent_order UNION SELECT id FROM t_region UNION ALL SELECT region_id FROM t_ent_order ORDER BY 1 DESC LIMIT 9 OFFSET 2"},
	{sql: "SELECT name FROM t_ent_order UNION SELECT name FROM t_region UNION ALL SELECT name FROM t_ent_order WHERE ent_id = 1", folded: []int{0}},

	// LIMIT inside is of the branch.
	{sql: "(SELECT id FROM t_ent_order ORDER BY id LIMIT 3) UNION ALL (SELECT id FROM t_region ORDER BY id DESC LIMIT 1)"},
	{sql: "(SELECT id FROM t_ent_order ORDER BY amount DESC, id LIMIT 3) UNION ALL (SELECT order_id FROM t_ent_order_detail ORDER BY order_id LIMIT 2 OFFSET 1) ORDER BY id LIMIT 4"},
	{sql: "(SELECT id FROM t_ent_order ORDER BY id LIMIT ?) UNION (SELECT order_id FROM t_ent_order_detail ORDER BY order_id LIMIT ?)", args: []any{3, 4}},
	{sql: "(SELECT id, name FROM t_ent_order ORDER BY name DESC, id LIMIT 5) UNION ALL (SELECT id, name FROM t_region WHERE id < 3) ORDER BY name, id"},
	{sql: "(SELECT id FROM t_ent_order ORDER BY id) UNION ALL (SELECT id FROM t_region ORDER BY id) ORDER BY id"},
	{sql: "(SELECT id, amount FROM t_ent_order ORDER BY id LIMIT 3) UNION ALL (SELECT id, price FROM t_ent_order ORDER BY id DESC LIMIT 3)", open: true},
	{sql: "(SELECT id FROM t_ent_order ORDER BY id LIMIT 6) ORDER BY id DESC LIMIT 2"},

	// Aggregates and groups.
	{sql: "SELECT COUNT(*) FROM t_ent_order UNION ALL SELECT COUNT(*) FROM t_ent_order_detail"},
	{sql: "SELECT COUNT(*) AS n FROM t_ent_order WHERE ent_id = 99 UNION ALL SELECT COUNT(*) FROM t_ent_order_detail ORDER BY n"},
	{sql: "SELECT MAX(id), MIN(day), SUM(price), AVG(price) FROM t_ent_order UNION ALL SELECT MIN(id), MAX(day), SUM(price), AVG(price) FROM t_ent_order WHERE ent_id = 4"},
	{sql: "SELECT region_id, COUNT(*) FROM t_ent_order GROUP BY region_id UNION ALL SELECT id, 0 FROM t_region ORDER BY 1, 2"},
	{sql: "SELECT region_id, COUNT(*) FROM t_ent_order GROUP BY region_id UNION SELECT region_id, COUNT(*) FROM t_ent_order GROUP BY region_id"},
	{sql: "SELECT name, COUNT(*) AS c FROM t_ent_order GROUP BY name UNION ALL SELECT name, 1 FROM t_region ORDER BY name, c", folded: []int{0}},
	{sql: "SELECT SUM(amount) FROM t_ent_order UNION ALL SELECT SUM(price) FROM t_ent_order", open: true},
	{sql: "SELECT MAX(name) FROM t_ent_order UNION ALL SELECT MIN(name) FROM t_ent_order", folded: []int{0}, open: true},
	{sql: "SELECT DISTINCT region_id FROM t_ent_order UNION ALL SELECT id FROM t_region"},
	{sql: "SELECT DISTINCT name FROM t_ent_order WHERE ent_id = 1 UNION ALL SELECT name FROM t_ent_order WHERE ent_id = 2 ORDER BY name", folded: []int{0}, open: true},
	{sql: "SELECT DISTINCT name FROM t_ent_order UNION SELECT name FROM t_region", folded: []int{0}, open: true},

	// Broadcast branches, single ones and ones without a table.
	{sql: "SELECT id, name FROM t_region UNION ALL SELECT id, name FROM t_ent_order"},
	{sql: "SELECT id FROM t_ent_order UNION ALL SELECT 7 UNION ALL SELECT NULL"},
	{sql: "SELECT ? UNION ALL SELECT id FROM t_ent_order", args: []any{5}},
	{sql: "SELECT name FROM t_operator UNION ALL SELECT name FROM t_ent_order"},
	{sql: "SELECT name FROM t_operator UNION SELECT name FROM t_ent_order ORDER BY name", folded: []int{0}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 5 UNION ALL SELECT id FROM t_operator ORDER BY id"},
	{sql: "SELECT id, name FROM t_operator UNION ALL SELECT amount, name FROM t_ent_order WHERE ent_id = 5", open: true},

	// Joins and subqueries in branches.
	{sql: "SELECT o.id, d.address FROM t_ent_order o JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id UNION ALL SELECT r.id, r.name FROM t_region r ORDER BY 1, 2"},
	{sql: "SELECT id FROM t_ent_order o WHERE EXISTS (SELECT 1 FROM t_ent_order_detail d WHERE d.ent_id = o.ent_id AND d.order_id = o.id) UNION ALL SELECT id FROM t_region ORDER BY id"},
	{sql: "SELECT x.id FROM (SELECT id FROM t_ent_order WHERE ent_id IN (1, 2)) x UNION ALL SELECT id FROM t_region ORDER BY id"},
	{sql: "SELECT t_ent_order.id + 1 FROM t_ent_order WHERE ent_id = 1 UNION ALL SELECT t_ent_order.id FROM t_ent_order WHERE ent_id = 2"},
	{sql: "SELECT id, NOW() > '2020-01-01' FROM t_ent_order WHERE ent_id = 1 UNION ALL SELECT id, NOW() = NOW() FROM t_ent_order WHERE ent_id = 2"},
	{sql: "SELECT id, ROW_NUMBER() OVER (ORDER BY id) FROM t_ent_order UNION ALL SELECT id, 0 FROM t_region ORDER BY 1, 2", open: true},

	// What is no chain of UNIONs.
	{sql: "SELECT id FROM t_region EXCEPT SELECT region_id FROM t_ent_order", open: true},
	{sql: "SELECT id FROM t_region INTERSECT SELECT region_id FROM t_ent_order", open: true},
	{sql: "(SELECT id FROM t_region UNION SELECT region_id FROM t_ent_order) UNION ALL SELECT id FROM t_ent_order", open: true},
	{sql: "WITH x AS (SELECT id FROM t_region) SELECT id FROM x UNION ALL SELECT id FROM t_ent_order", open: true},
	{sql: "SELECT id, @a := 1 FROM t_ent_order WHERE ent_id = 1 UNION ALL SELECT id, @a FROM t_ent_order WHERE ent_id = 2", open: true},
	{sql: "SELECT id, name FROM t_ent_order UNION ALL SELECT order_id FROM t_ent_order_detail", open: true},
}

func TestUnionsGiveWhatOneDatabaseGivesOrAreRefused(t *testing.T) { compare(t, unions) }
