//go:build unix

package orders_test

import "testing"

// joins are queries over several tables.
var joins = []query{
	// Binding tables.
	{sql: "SELECT o.id, o.name, d.address FROM t_ent_order o JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id WHERE o.ent_id = ? ORDER BY o.id", args: []any{4}},
	{sql: "SELECT o.id, d.address FROM t_ent_order o JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id ORDER BY o.id"},
	{sql: "SELECT o.id, d.address FROM t_ent_order o, t_ent_order_detail d WHERE d.ent_id = o.ent_id AND d.order_id = o.id AND d.ent_id IN (1, 2, 13) ORDER BY d.address, o.id"},
	{sql: "SELECT o.id, d.weight FROM t_ent_order o JOIN t_ent_order_detail d USING (ent_id) WHERE o.id = d.order_id ORDER BY d.weight DESC, o.id LIMIT 10"},
	{sql: "SELECT t_ent_order.id, t_ent_order_detail.address FROM t_ent_order INNER JOIN t_ent_order_detail ON t_ent_order.ent_id = t_ent_order_detail.ent_id AND t_ent_order.id = t_ent_order_detail.order_id WHERE t_ent_order_detail.ent_id = 2 ORDER BY t_ent_order.id"},
	{sql: "SELECT o.id, d.order_id, d.address FROM t_ent_order o LEFT JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id ORDER BY o.id"},
	{sql: "SELECT o.id, d.order_id FROM t_ent_order o LEFT JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id AND d.ent_id = 4 ORDER BY o.id"},
	{sql: "SELECT o.id, d.order_id FROM t_ent_order o LEFT JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id WHERE d.ent_id = 4 ORDER BY o.id"},
	{sql: "SELECT o.id, d.order_id FROM t_ent_order o LEFT JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id WHERE o.ent_id IN (4, 5) ORDER BY o.id"},
	{sql: "SELECT o.id FROM t_ent_order o LEFT JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id WHERE d.order_id IS NULL ORDER BY o.id"},
	{sql: "SELECT o.id, d.order_id FROM t_ent_order_detail d RIGHT JOIN t_ent_order o ON d.ent_id = o.ent_id AND d.order_id = o.id ORDER BY o.id"},
	{sql: "SELECT o.id, d.order_id FROM t_ent_order o LEFT JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id AND o.ent_id = 4 ORDER BY o.id"},
	{sql: "SELECT o.region_id, COUNT(*), COUNT(d.order_id), SUM(d.weight), AVG(d.weight) FROM t_ent_order o LEFT JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id GROUP BY o.region_id ORDER BY o.region_id"},
	{sql: "SELECT a.id, b.id FROM t_ent_order a JOIN t_ent_order b ON a.ent_id = b.ent_id AND a.id < b.id WHERE a.ent_id IN (1, 2) ORDER BY a.id, b.id"},
	{sql: "SELECT a.id, b.id FROM t_ent_order a JOIN t_ent_order b ON a.ent_id = b.ent_id AND a.id = b.id + 19 ORDER BY 1, 2"},

	// Database binding: an order in 4 nodes, its items in 32.
	{sql: "SELECT o.id, i.product, i.count FROM t_ent_order o JOIN t_ent_order_item i ON i.ent_id = o.ent_id AND i.order_id = o.id WHERE o.ent_id = ? ORDER BY i.id", args: []any{5}},
	{sql: "SELECT o.id, i.id FROM t_ent_order o JOIN t_ent_order_item i ON i.ent_id = o.ent_id AND i.order_id = o.id WHERE i.ent_id IN (?, ?, ?) ORDER BY i.id", args: []any{5, 6, 1}},
	{sql: "SELECT o.id, i.id, i.price FROM t_ent_order o JOIN t_ent_order_item i ON i.ent_id = o.ent_id AND i.order_id = o.id ORDER BY i.price DESC, i.id LIMIT 20"},
	{sql: "SELECT o.region_id, COUNT(*), SUM(i.price * i.count) FROM t_ent_order o JOIN t_ent_order_item i ON i.ent_id = o.ent_id AND i.order_id = o.id GROUP BY o.region_id ORDER BY o.region_id"},
	{sql: "SELECT o.id, i.id, d.address FROM t_ent_order o JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id JOIN t_ent_order_item i ON i.ent_id = d.ent_id AND i.order_id = o.id ORDER BY i.id"},
	{sql: "SELECT o.id, i.id FROM t_ent_order o LEFT JOIN t_ent_order_item i ON i.ent_id = o.ent_id AND i.order_id = o.id WHERE o.ent_id = 4 ORDER BY o.id, i.id"},
	{sql: "SELECT o.id, i.id FROM t_ent_order o LEFT JOIN t_ent_order_item i ON i.ent_id = o.ent_id AND i.order_id = o.id ORDER BY o.id, i.id", open: true},
	{sql: "SELECT i.id, o.id FROM t_ent_order_item i LEFT JOIN t_ent_order o ON i.ent_id = o.ent_id AND i.order_id = o.id AND o.status = 'new' ORDER BY i.id"},
	{sql: "SELECT COUNT(*) FROM t_ent_order o, t_ent_order_item i WHERE o.ent_id = i.ent_id"},
	{sql: "SELECT a.id, b.id FROM t_ent_order_item a JOIN t_ent_order_item b ON a.ent_id = b.ent_id AND a.order_id = b.order_id AND a.id < b.id ORDER BY a.id, b.id"},

	// Not on the sharding column.
	{sql: "SELECT o.id, d.address FROM t_ent_order o JOIN t_ent_order_detail d ON d.order_id = o.id ORDER BY o.id", open: true},
	{sql: "SELECT o.id, d.address FROM t_ent_order o JOIN t_ent_order_detail d ON d.order_id = o.id WHERE o.ent_id = 4 ORDER BY o.id", open: true},
	{sql: "SELECT o.id, d.address FROM t_ent_order o JOIN t_ent_order_detail d ON d.order_id = o.id WHERE o.ent_id = 4 AND d.ent_id = 4 ORDER BY o.id"},
	{sql: "SELECT o.id, d.order_id FROM t_ent_order o JOIN t_ent_order_detail d ON d.ent_id + 0 = o.ent_id ORDER BY o.id, d.order_id", open: true},
	{sql: "SELECT o.id, d.order_id FROM t_ent_order o, t_ent_order_detail d WHERE o.ent_id = 4 AND d.ent_id = 8 ORDER BY 1, 2"},
	{sql: "SELECT o.id, d.order_id FROM t_ent_order o, t_ent_order_detail d WHERE o.ent_id = 4 AND d.ent_id = 5 ORDER BY 1, 2", open: true},
	{sql: "SELECT o.id, d.order_id FROM t_ent_order o LEFT JOIN t_ent_order_detail d ON d.order_id = o.id ORDER BY o.id", open: true},
	{sql: "SELECT o.id, i.id FROM t_ent_order o JOIN t_ent_order_item i ON i.order_id = o.id OR i.ent_id = o.ent_id WHERE o.ent_id = 2 ORDER BY 1, 2", open: true},
	{sql: "SELECT o.id, d.order_id FROM t_ent_order o NATURAL JOIN t_ent_order_detail d ORDER BY 1, 2", open: true},
	{sql: "SELECT i.id, j.id FROM t_ent_order_item i, t_ent_order_item j WHERE i.ent_id = 4 AND j.ent_id IN (8, 12) ORDER BY 1, 2"},

	// Broadcast tables.
	{sql: "SELECT o.id, r.name FROM t_ent_order o JOIN t_region r ON r.id = o.region_id WHERE o.ent_id = ? ORDER BY o.id", args: []any{2}},
	{sql: "SELECT o.id, r.name FROM t_ent_order o JOIN t_region r ON r.id = o.region_id ORDER BY r.name, o.id"},
	{sql: "SELECT o.id, r.name FROM t_ent_order o LEFT JOIN t_region r ON r.id = o.region_id ORDER BY o.id"},
	{sql: "SELECT r.name, COUNT(*), SUM(o.amount) FROM t_ent_order o JOIN t_region r ON r.id = o.region_id GROUP BY r.name ORDER BY r.name"},
	{sql: "SELECT r.id, r.name, o.id FROM t_region r LEFT JOIN t_ent_order o ON o.region_id = r.id ORDER BY r.id, o.id", open: true},
	{sql: "SELECT r.id, o.id FROM t_region r LEFT JOIN t_ent_order o ON o.region_id = r.id AND o.ent_id = 4 ORDER BY r.id, o.id", open: true},
	{sql: "SELECT r.id, o.id FROM t_region r LEFT JOIN t_ent_order o ON o.region_id = r.id WHERE o.ent_id = 4 ORDER BY r.id, o.id", open: true},
	{sql: "SELECT r.id, o.id FROM t_ent_order o RIGHT JOIN t_region r ON o.region_id = r.id ORDER BY r.id, o.id", open: true},
	{sql: "SELECT r.name, i.id FROM t_region r JOIN t_ent_order o ON o.region_id = r.id JOIN t_ent_order_item i ON i.ent_id = o.ent_id AND i.order_id = o.id WHERE o.ent_id IN (1, 5) ORDER BY i.id"},
	{sql: "SELECT r.id, s.id FROM t_region r LEFT JOIN t_region s ON s.id = r.id + 1 ORDER BY r.id"},
	{sql: "SELECT o.id FROM t_ent_order o CROSS JOIN t_region r WHERE r.id = 1 ORDER BY o.id LIMIT 5 OFFSET 60"},

	// Single tables.
	{sql: "SELECT o.id, p.name FROM t_ent_order o JOIN t_operator p ON p.id = 1 WHERE o.ent_id = 4 ORDER BY o.id"},
	{sql: "SELECT o.id, p.name FROM t_ent_order o JOIN t_operator p ON p.id = 1 WHERE o.ent_id = 5 ORDER BY o.id", open: true},
	{sql: "SELECT o.id, p.name FROM t_ent_order o JOIN t_operator p ON p.id = 1 ORDER BY o.id", open: true},

	// Subqueries, derived tables, unions.
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 4 AND id IN (SELECT order_id FROM t_ent_order_item WHERE ent_id = 4 AND count > 0) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order o WHERE ent_id = 4 AND EXISTS (SELECT 1 FROM t_ent_order_item i WHERE i.ent_id = 4 AND i.order_id = o.id) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order o WHERE ent_id = 4 AND NOT EXISTS (SELECT 1 FROM t_ent_order_item i WHERE i.ent_id = o.ent_id AND i.order_id = o.id) ORDER BY id", open: true},
	{sql: "SELECT id FROM t_ent_order WHERE region_id IN (SELECT id FROM t_region WHERE name LIKE '%th') ORDER BY id", open: true},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id IN (SELECT ent_id FROM t_ent_order_detail) ORDER BY id", open: true},
	{sql: "SELECT id FROM t_ent_order WHERE id NOT IN (SELECT order_id FROM t_ent_order_detail) ORDER BY id", open: true},
	{sql: "SELECT id FROM t_ent_order WHERE id = (SELECT MAX(id) FROM t_ent_order)", open: true},
	{sql: "SELECT id, (SELECT name FROM t_region r WHERE r.id = o.region_id) AS region FROM t_ent_order o WHERE ent_id = 2 ORDER BY id"},
	{sql: "SELECT id, (SELECT name FROM t_region r WHERE r.id = o.region_id) AS region FROM t_ent_order o ORDER BY id", open: true},
	{sql: "SELECT x.id FROM (SELECT id, amount FROM t_ent_order WHERE ent_id = 4) x WHERE x.amount > 0 ORDER BY x.id"},
	{sql: "SELECT x.n, COUNT(*) FROM (SELECT ent_id, COUNT(*) AS n FROM t_ent_order GROUP BY ent_id) x GROUP BY x.n ORDER BY x.n", open: true},
	{sql: "SELECT x.id FROM (SELECT id FROM t_ent_order ORDER BY id LIMIT 3) x ORDER BY x.id", open: true},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 4 UNION SELECT order_id FROM t_ent_order_detail WHERE ent_id = 4 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 4 UNION ALL SELECT id FROM t_ent_order WHERE ent_id = 5 ORDER BY id", open: true},
	{sql: "SELECT name FROM t_ent_order UNION SELECT name FROM t_region ORDER BY name", open: true, folded: []int{0}},
	{sql: "SELECT id FROM t_region UNION ALL SELECT id FROM t_region ORDER BY id"},
	{sql: "WITH x AS (SELECT id FROM t_ent_order WHERE ent_id = 4) SELECT id FROM x ORDER BY id"},
	{sql: "WITH t_ent_order AS (SELECT 1 AS id) SELECT id FROM t_ent_order"},
	{sql: "WITH x AS (SELECT id FROM t_ent_order) SELECT COUNT(*) FROM x", open: true},
	{sql: "SELECT t_ent_order.id FROM t_region t_ent_order WHERE t_ent_order.id < 3 ORDER BY t_ent_order.id"},

	// Whole answers that one node cannot give.
	{sql: "SELECT DISTINCT region_id FROM t_ent_order ORDER BY region_id", open: true},
	{sql: "SELECT DISTINCT name FROM t_ent_order", open: true, folded: []int{0}},
	{sql: "SELECT COUNT(DISTINCT name) FROM t_ent_order", open: true},
	{sql: "SELECT SUM(DISTINCT small), COUNT(DISTINCT region_id, small) FROM t_ent_order", open: true},
	{sql: "SELECT region_id, COUNT(*) FROM t_ent_order GROUP BY region_id HAVING COUNT(*) > 15 ORDER BY region_id", open: true},
	{sql: "SELECT SUM(amount) / COUNT(*), IFNULL(SUM(price), 0), ROUND(AVG(price), 1) FROM t_ent_order", open: true},
	{sql: "SELECT region_id, SUM(amount) + 1 FROM t_ent_order GROUP BY region_id ORDER BY region_id", open: true},
	{sql: "SELECT region_id, COUNT(*) FROM t_ent_order GROUP BY region_id ORDER BY SUM(price) / COUNT(*), region_id", open: true},
	{sql: "SELECT GROUP_CONCAT(id ORDER BY id) FROM t_ent_order", open: true},
	{sql: "SELECT STD(price), VARIANCE(price), BIT_AND(small), BIT_OR(small), BIT_XOR(small) FROM t_ent_order", open: true},
	{sql: "SELECT region_id, COUNT(*) FROM t_ent_order GROUP BY region_id WITH ROLLUP", open: true},
	{sql: "SELECT id, ROW_NUMBER() OVER (ORDER BY id) FROM t_ent_order ORDER BY id", open: true},
	{sql: "SELECT id, ROW_NUMBER() OVER (PARTITION BY ent_id ORDER BY id) FROM t_ent_order ORDER BY id", open: true},
	{sql: "SELECT id, ROW_NUMBER() OVER (ORDER BY id) FROM t_ent_order WHERE ent_id = 4 ORDER BY id"},
	{sql: "SELECT SQL_CALC_FOUND_ROWS id FROM t_ent_order ORDER BY id LIMIT 3", open: true},
	{sql: "SELECT id, @n := 1 FROM t_ent_order ORDER BY id", open: true},
	{sql: "SELECT id FROM t_ent_order ORDER BY RAND() LIMIT 0", open: true},
	{sql: "SELECT id FROM t_ent_order WHERE created_at < NOW() ORDER BY id", open: true},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 4 AND created_at < NOW() ORDER BY id"},
	{sql: "SELECT COUNT(*), name FROM t_ent_order WHERE id = 101", open: true},
	{sql: "SELECT COUNT(*) FROM t_ent_order GROUP BY NULL", open: true},
	{sql: "SELECT MAX(id) FROM t_ent_order GROUP BY 1 + 1", open: true},
	{sql: "(SELECT id FROM t_ent_order ORDER BY id LIMIT 2)", open: true},
	{sql: "SELECT name, code FROM t_ent_order GROUP BY name, code ORDER BY name, code", folded: []int{0}},
}

func TestJoinsGiveWhatOneDatabaseGivesOrAreRefused(t *testing.T) { compare(t, joins) }
