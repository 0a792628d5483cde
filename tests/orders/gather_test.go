//go:build unix

package orders_test

import "testing"

// gathered are queries that neither a merge of the nodes' answers nor one data
// source's own tables can answer.
var gathered = []query{
	// Windows.
	{sql: "SELECT id, ROW_NUMBER() OVER (ORDER BY id) FROM t_ent_order ORDER BY id"},
	{sql: "SELECT id, RANK() OVER (PARTITION BY region_id ORDER BY amount DESC), SUM(price) OVER (PARTITION BY region_id) FROM t_ent_order ORDER BY id LIMIT ? OFFSET ?", args: []any{20, 3}},
	{sql: "SELECT id, LAG(name) OVER w, FIRST_VALUE(day) OVER w FROM t_ent_order WHERE id > ? WINDOW w AS (ORDER BY id) ORDER BY id DESC", args: []any{110}},
	{sql: "SELECT x.id, x.n FROM (SELECT id, NTILE(4) OVER (ORDER BY id) AS n FROM t_ent_order) x WHERE x.n = 2 ORDER BY x.id"},

	// Joins over data sources.
	{sql: "SELECT o.id, d.address FROM t_ent_order o JOIN t_ent_order_detail d ON d.order_id = o.id ORDER BY o.id"},
	{sql: "SELECT o.id, d.order_id, i.id FROM t_ent_order o LEFT JOIN t_ent_order_detail d ON d.order_id = o.id LEFT JOIN t_ent_order_item i ON i.order_id = d.order_id + 1 ORDER BY 1, 2, 3"},
	{sql: "SELECT a.id, b.id FROM t_ent_order a JOIN t_ent_order b ON a.id = b.id + 1 AND a.name = b.name ORDER BY 1"},
	{sql: "SELECT r.id, o.id FROM t_ent_order o RIGHT JOIN t_region r ON o.region_id = r.id ORDER BY r.id, o.id"},
	{sql: "SELECT o.id, p.name FROM t_ent_order o JOIN t_operator p ON p.id = 1 ORDER BY o.id"},
	{sql: "SELECT r.name, p.name, o.id FROM t_region r CROSS JOIN t_operator p LEFT JOIN t_ent_order o ON o.region_id = r.id AND o.ent_id > p.id ORDER BY 1, 2, 3"},
	{sql: "SELECT * FROM t_ent_order_item NATURAL JOIN (SELECT order_id, address FROM t_ent_order_detail) d ORDER BY id"},

	// Subqueries.
	{sql: "SELECT id FROM t_ent_order WHERE id NOT IN (SELECT order_id FROM t_ent_order_detail) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order o WHERE NOT EXISTS (SELECT 1 FROM t_ent_order_item i WHERE i.order_id = o.id) ORDER BY id"},
	{sql: "SELECT id, (SELECT COUNT(*) FROM t_ent_order_item i WHERE i.order_id = o.id AND i.count > ?) AS n FROM t_ent_order o WHERE o.id > ? ORDER BY id", args: []any{1, 105}},
	{sql: "SELECT id FROM t_ent_order WHERE price >= ALL (SELECT price FROM t_ent_order_item WHERE price IS NOT NULL) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE price > ANY (SELECT AVG(price) FROM t_ent_order_item GROUP BY product) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order o WHERE amount = (SELECT MAX(amount) FROM t_ent_order i WHERE i.region_id <=> o.region_id) ORDER BY id"},
	{sql: "SELECT x.n, COUNT(*) FROM (SELECT region_id, COUNT(*) AS n FROM t_ent_order GROUP BY region_id) x GROUP BY x.n ORDER BY x.n"},
	{sql: "SELECT x.id FROM (SELECT id FROM t_ent_order ORDER BY id LIMIT 3 OFFSET 2) x ORDER BY x.id"},
	{sql: "WITH RECURSIVE n AS (SELECT MIN(id) AS id FROM t_ent_order UNION ALL SELECT o.id FROM n JOIN t_ent_order o ON o.id = n.id + 1 WHERE o.id < 130) SELECT id FROM n ORDER BY id"},
	{sql: "WITH t AS (SELECT region_id, SUM(amount) AS s FROM t_ent_order GROUP BY region_id) SELECT a.region_id, a.s - b.s FROM t a, t b ORDER BY 1, 2"},

	// Aggregates.
	{sql: "SELECT region_id, COUNT(*), SUM(amount) FROM t_ent_order GROUP BY region_id WITH ROLLUP"},
	{sql: "SELECT GROUP_CONCAT(DISTINCT region_id ORDER BY region_id SEPARATOR ';'), JSON_LENGTH(JSON_ARRAYAGG(id)) FROM t_ent_order"},
	{sql: "SELECT STD(price), VAR_SAMP(small), BIT_XOR(small), SUM(price) OVER () FROM t_ent_order GROUP BY region_id, price ORDER BY region_id, price"},
	{sql: "SELECT LENGTH(name) AS l, COUNT(*) FROM t_ent_order GROUP BY l HAVING LENGTH(MAX(code)) > 1 ORDER BY l"},

	// Set operations.
	{sql: "SELECT id FROM t_ent_order INTERSECT SELECT order_id FROM t_ent_order_detail ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order EXCEPT SELECT order_id FROM t_ent_order_item ORDER BY id LIMIT ?", args: []any{7}},
	{sql: "(SELECT id, name FROM t_ent_order ORDER BY id LIMIT 3) UNION ALL (SELECT id, product FROM t_ent_order_item ORDER BY id DESC LIMIT ?) ORDER BY 1, 2", args: []any{2}},

	// Conditions that go to the nodes, and those that must not.
	{sql: "SELECT id, SUM(price) OVER (ORDER BY id) FROM t_ent_order WHERE region_id IN (?, 2, NULL) AND (name <> ? OR day >= '2024-02-29') AND price > 1.25 ORDER BY id", args: []any{1, "a"}},
	{sql: "SELECT id, COUNT(*) OVER () FROM t_ent_order WHERE NOT (name = 'a' OR region_id > 2) AND created_at >= ? ORDER BY id", args: []any{newYear}},
	{sql: "SELECT id, COUNT(*) OVER () FROM t_ent_order WHERE name = 'a' AND code BETWEEN 'A' AND 'b' AND note IS NULL ORDER BY id"},
	{sql: "SELECT o.id, d.order_id FROM t_ent_order o LEFT JOIN t_ent_order_detail d ON d.order_id = o.id AND d.weight > 1 WHERE d.order_id IS NULL AND o.region_id = 1 ORDER BY 1"},
	{sql: "SELECT o.id, d.order_id FROM t_ent_order o LEFT JOIN t_ent_order_detail d ON d.order_id = o.id AND o.region_id = 1 WHERE o.name IS NOT NULL ORDER BY 1"},
	{sql: "SELECT o.id, d.order_id FROM t_ent_order o LEFT JOIN (t_ent_order_detail d JOIN t_ent_order_item i ON i.order_id = d.order_id AND i.count > 1) ON d.order_id = o.id ORDER BY 1, 2"},
	{sql: "SELECT o.id FROM t_ent_order o WHERE NOT EXISTS (SELECT 1 FROM t_ent_order_item i WHERE i.order_id = o.id AND i.product = 'a' AND o.region_id = 1) AND o.region_id < 3 ORDER BY 1"},
	{sql: "SELECT region_id, COUNT(*), (SELECT COUNT(*) FROM t_ent_order_detail WHERE weight > 2) FROM t_ent_order WHERE region_id > 0 GROUP BY region_id WITH ROLLUP HAVING region_id IS NULL OR region_id > 1"},

	// Names and labels, and a ? that is no marker.
	{sql: "/* one? */ WITH /* two? */ x AS (SELECT id FROM t_ent_order) SELECT id, '?', RANK() OVER (ORDER BY id) FROM x ORDER BY id"},
	{sql: "SELECT t_ent_order.id + 1, COUNT(*) OVER () AS `t_ent_order_gathered` FROM t_ent_order ORDER BY 1"},
	{sql: "SELECT `t_ent_order`.*  FROM t_ent_order_detail AS `t_ent_order` WHERE weight > (SELECT AVG(weight) FROM t_ent_order_detail) ORDER BY order_id"},
	{sql: "SELECT COUNT(*) FROM t_ent_order_detail t_ent_order WHERE EXISTS (WITH t_ent_order_item AS (SELECT 1 AS id) SELECT 1 FROM t_ent_order_item WHERE id < t_ent_order.order_id) AND weight >= (SELECT MIN(weight) FROM t_ent_order_detail)"},

	// Every kind of column that travels.
	{sql: "SELECT id, ent_id, name, code, label, title, note, amount, price, ratio, rate, big, small, raw, day, clock, created_at, changed_at, state, deleted_at, COUNT(*) OVER () FROM t_ent_order ORDER BY id"},
	{sql: "SELECT id, rate, ratio, raw, note, COUNT(*) OVER () FROM t_ent_order WHERE id > ? ORDER BY id", args: []any{0}},
	// Bytes beside texts are compared as bytes.
	{sql: "SELECT a.id, b.id, COERCIBILITY(a.raw), COERCIBILITY(b.name) FROM t_ent_order a JOIN t_ent_order b ON a.raw = b.name AND b.id > ? ORDER BY 1, 2", args: []any{0}},
	{sql: "SELECT id, raw = name, raw < note, raw IN (name, 'A'), COUNT(*) OVER () FROM t_ent_order ORDER BY id"},
	{sql: "SELECT *, COUNT(*) OVER (PARTITION BY region_id) FROM t_ent_order ORDER BY id LIMIT 40"},
	{sql: "SELECT *, COUNT(*) OVER (PARTITION BY region_id) FROM t_ent_order WHERE id > ? ORDER BY id", args: []any{50}},
	{sql: "SELECT status, RANK() OVER (ORDER BY status DESC), status + 0, COUNT(*) OVER (PARTITION BY status) FROM t_ent_order IGNORE INDEX (PRIMARY) WHERE status <> 'new' ORDER BY status, id"},
	{sql: "WITH x AS (SELECT status, id FROM t_ent_order WHERE id > ?) SELECT MAX(status), MIN(status), (SELECT COUNT(*) FROM x WHERE status > 'new') FROM x", args: []any{3}},
	{sql: "SELECT MIN(note), MAX(raw), MIN(name), MAX(clock), MAX(changed_at), MIN(rate) FROM t_ent_order WHERE id > (SELECT MIN(id) FROM t_ent_order)"},
	{sql: "SELECT DISTINCT name, raw FROM t_ent_order WHERE id <> (SELECT MIN(id) FROM t_ent_order)", folded: []int{0}},
	{sql: "SELECT id FROM t_ent_order ORDER BY (SELECT COUNT(*) FROM t_ent_order i WHERE i.name < t_ent_order.name), name, title DESC, id"},
	{sql: "SELECT COUNT(*), RAND() < 1 FROM t_ent_order"},
	{sql: "SELECT id FROM t_ent_order WHERE 1 = 0 AND id > (SELECT MAX(id) FROM t_ent_order)"},
}

func TestGatheredRowsAnswerAsOneDatabase(t *testing.T) { compare(t, gathered) }
