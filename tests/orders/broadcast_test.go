//go:build unix

package orders_test

import "testing"

// broadcastJoins put a broadcast table where rows without a match count: every
// node has all of its rows, so each node would give those again that have no
// match there.
var broadcastJoins = []query{
	// On the preserved side, of several nodes.
	{sql: "SELECT r.id, o.id FROM t_region r LEFT JOIN t_ent_order o ON o.region_id = r.id WHERE o.id IS NULL ORDER BY r.id", open: true},
	{sql: "SELECT r.id, o.id FROM t_region r LEFT JOIN t_ent_order o ON o.region_id = r.id AND o.ent_id IN (4, 5) ORDER BY r.id, o.id", open: true},
	{sql: "SELECT r.id, o.id FROM t_region r LEFT JOIN t_ent_order o ON o.region_id = r.id WHERE o.ent_id IN (4, 5) ORDER BY r.id, o.id", open: true},
	{sql: "SELECT r.id, o.id FROM t_region r LEFT JOIN t_ent_order o ON o.region_id = r.id WHERE o.ent_id IN (4, 5) OR o.ent_id IS NULL ORDER BY r.id, o.id", open: true},
	{sql: "SELECT COUNT(*), COUNT(o.id) FROM t_region r LEFT JOIN t_ent_order o ON o.region_id = r.id", open: true},
	{sql: "SELECT r.name, COUNT(o.id), SUM(o.price) FROM t_region r LEFT JOIN t_ent_order o ON o.region_id = r.id GROUP BY r.id, r.name ORDER BY r.id", open: true},
	{sql: "SELECT DISTINCT r.id FROM t_region r LEFT JOIN t_ent_order o ON o.region_id = r.id ORDER BY r.id", open: true},
	{sql: "SELECT r.id, o.id FROM t_region r LEFT JOIN t_ent_order o ON o.region_id = r.id ORDER BY r.id, o.id LIMIT 7 OFFSET 3", open: true},
	{sql: "SELECT r.id, o.id FROM t_region r LEFT JOIN t_ent_order o ON FALSE ORDER BY r.id", open: true},
	{sql: "SELECT r.id, s.id, o.id FROM t_region r LEFT JOIN t_region s ON s.id = r.id + 1 LEFT JOIN t_ent_order o ON o.region_id = s.id ORDER BY 1, 2, 3", open: true},
	{sql: "SELECT r.id, o.id, d.order_id FROM t_region r LEFT JOIN (t_ent_order o JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id) ON o.region_id = r.id ORDER BY 1, 2", open: true},
	{sql: "SELECT r.id, o.id, i.id FROM t_region r LEFT JOIN t_ent_order o ON o.region_id = r.id LEFT JOIN t_ent_order_item i ON i.ent_id = o.ent_id AND i.order_id = o.id ORDER BY 1, 2, 3", open: true},
	{sql: "SELECT r.id, i.id FROM t_ent_order_item i RIGHT JOIN t_region r ON i.count = r.id ORDER BY 1, 2", open: true},
	{sql: "SELECT r.id, i.id FROM t_region r LEFT JOIN t_ent_order_item i ON i.count = r.id AND i.ent_id = 4 ORDER BY 1, 2", open: true},
	{sql: "SELECT o.id, r.id, d.order_id FROM t_ent_order o RIGHT JOIN t_region r ON r.id = o.region_id LEFT JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id ORDER BY 2, 1", open: true},
	{sql: "SELECT x.id, o.id FROM (SELECT id FROM t_region WHERE id > 1) x LEFT JOIN t_ent_order o ON o.region_id = x.id ORDER BY 1, 2", open: true},
	{sql: "WITH x AS (SELECT id FROM t_region) SELECT x.id, o.id FROM x LEFT JOIN t_ent_order o ON o.region_id = x.id ORDER BY 1, 2", open: true},
	{sql: "SELECT x.r, COUNT(*) FROM (SELECT r.id AS r, o.id AS o FROM t_region r LEFT JOIN t_ent_order o ON o.region_id = r.id) x GROUP BY x.r ORDER BY x.r", open: true},

	// On the nullable side, and inside.
	{sql: "SELECT o.id, r.id FROM t_ent_order o LEFT JOIN t_region r ON r.id = o.region_id AND r.name LIKE 'n%' ORDER BY o.id"},
	{sql: "SELECT o.id, r.id FROM t_region r RIGHT JOIN t_ent_order o ON r.id = o.region_id ORDER BY o.id"},
	{sql: "SELECT o.id FROM t_ent_order o LEFT JOIN t_region r ON r.id = o.region_id WHERE r.id IS NULL ORDER BY o.id"},
	{sql: "SELECT COUNT(*), COUNT(r.id) FROM t_ent_order o LEFT JOIN t_region r ON r.id = o.region_id"},
	{sql: "SELECT o.id, r.id, s.id FROM t_ent_order o LEFT JOIN t_region r ON r.id = o.region_id LEFT JOIN t_region s ON s.id = r.id + 1 ORDER BY o.id"},
	{sql: "SELECT o.id, r.id, d.weight FROM t_ent_order o LEFT JOIN t_region r ON r.id = o.region_id LEFT JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id ORDER BY o.id"},
	{sql: "SELECT o.id, r.id FROM t_ent_order o LEFT JOIN (t_region r JOIN t_region s ON s.id = r.id + 1) ON r.id = o.region_id ORDER BY o.id"},

	// The rows of a broadcast table that have no match, or one, anywhere.
	{sql: "SELECT r.id FROM t_region r WHERE NOT EXISTS (SELECT 1 FROM t_ent_order o WHERE o.region_id = r.id) ORDER BY r.id", open: true},
	{sql: "SELECT r.id FROM t_region r WHERE NOT EXISTS (SELECT 1 FROM t_ent_order o WHERE o.region_id = r.id AND o.ent_id = 4) ORDER BY r.id", open: true},
	{sql: "SELECT r.id FROM t_region r WHERE NOT EXISTS (SELECT 1 FROM t_ent_order o WHERE o.region_id = r.id AND o.ent_id IN (4, 5)) ORDER BY r.id", open: true},
	{sql: "SELECT r.id FROM t_region r WHERE EXISTS (SELECT 1 FROM t_ent_order o WHERE o.region_id = r.id) ORDER BY r.id", open: true},
	{sql: "SELECT r.id FROM t_region r WHERE r.id IN (SELECT o.region_id FROM t_ent_order o) ORDER BY r.id", open: true},
	{sql: "SELECT r.id FROM t_region r WHERE r.id NOT IN (SELECT o.region_id FROM t_ent_order o) ORDER BY r.id", open: true},
	{sql: "SELECT r.id FROM t_region r WHERE r.id NOT IN (SELECT o.region_id FROM t_ent_order o WHERE o.region_id IS NOT NULL) ORDER BY r.id", open: true},
	{sql: "SELECT r.id FROM t_region r WHERE r.id > ALL (SELECT o.region_id FROM t_ent_order o WHERE o.region_id IS NOT NULL) ORDER BY r.id", open: true},
	{sql: "SELECT COUNT(*) FROM t_region r WHERE NOT EXISTS (SELECT 1 FROM t_ent_order_item i WHERE i.count = r.id)", open: true},
	{sql: "SELECT r.id, (SELECT COUNT(*) FROM t_ent_order o WHERE o.region_id = r.id) FROM t_region r ORDER BY r.id", open: true},
	{sql: "SELECT r.id, (SELECT MAX(o.id) FROM t_ent_order o WHERE o.region_id = r.id AND o.ent_id = 4) FROM t_region r ORDER BY r.id", open: true},
	{sql: "SELECT r.id, EXISTS (SELECT 1 FROM t_ent_order o WHERE o.region_id = r.id) FROM t_region r ORDER BY r.id", open: true},
	{sql: "SELECT r.id FROM t_region r WHERE (SELECT COUNT(*) FROM t_ent_order) > 5 ORDER BY r.id", open: true},
	{sql: "SELECT o.id FROM t_ent_order o WHERE NOT EXISTS (SELECT 1 FROM t_region r WHERE r.id = o.region_id) ORDER BY o.id"},
	{sql: "SELECT o.id FROM t_ent_order o WHERE o.region_id NOT IN (SELECT r.id FROM t_region r) ORDER BY o.id", open: true},
	{sql: "SELECT o.id, r.id FROM t_ent_order o JOIN t_region r ON r.id = o.region_id WHERE NOT EXISTS (SELECT 1 FROM t_ent_order_detail d WHERE d.ent_id = o.ent_id AND d.order_id = o.id AND d.weight > r.id) ORDER BY o.id", open: true},
	{sql: "SELECT r.id FROM t_region r JOIN t_ent_order o ON o.region_id = r.id WHERE NOT EXISTS (SELECT 1 FROM t_ent_order p WHERE p.region_id = r.id AND p.id > o.id) ORDER BY r.id", open: true},

	// Together with rows of a broadcast table that count once.
	{sql: "SELECT r.id FROM t_region r UNION ALL SELECT o.region_id FROM t_ent_order o WHERE o.ent_id = 4 ORDER BY 1", open: true},
	{sql: "SELECT r.id FROM t_region r UNION ALL SELECT o.region_id FROM t_ent_order o ORDER BY 1", open: true},
	{sql: "SELECT r.id FROM t_region r UNION SELECT o.region_id FROM t_ent_order o ORDER BY 1", open: true},
	{sql: "SELECT r.id FROM t_region r EXCEPT SELECT o.region_id FROM t_ent_order o ORDER BY 1", open: true},
	{sql: "SELECT r.id FROM t_region r INTERSECT SELECT o.region_id FROM t_ent_order o ORDER BY 1", open: true},
	{sql: "SELECT COUNT(*) FROM t_region r CROSS JOIN t_ent_order o"},
	{sql: "SELECT COUNT(*) FROM t_region r CROSS JOIN t_region s"},
}

// Semantics row 51.
func TestRowsOfABroadcastTableWithoutAMatchAppearOnceOrAreRefused(t *testing.T) {
	compare(t, broadcastJoins)
}
