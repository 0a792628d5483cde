//go:build unix

package orders_test

import (
	"database/sql"
	"encoding/json"
	"testing"

	"gorm.io/gorm"
)

// corners are reads whose spelling, types or names invite a mistake.
var corners = []query{
	// The key in every spelling.
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = +4 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = -(-4) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = - 4 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE -ent_id = 4 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 4e0 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = '4.0' ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ' 4' ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = '4 ' ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = '-4' ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = '' ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = b'100' ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = x'04' ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = x'34' ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = DATE '2024-01-01' ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = CAST('4' AS SIGNED) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 18446744073709551615 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 9223372036854775806 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = '9223372036854775806' ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 9223372036854775806e0 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 4.0000000000000000001 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id IN ('4', 5.0, 6, 1.5, TRUE) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id IN ('4', 'abc', NULL) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id > '3' AND ent_id < '5' ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id > 3.5 AND ent_id < 4.5 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id BETWEEN '1' AND '2.5' ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id BETWEEN 1 AND NULL ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id >= -8.5 AND ent_id <= -6 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id > 9223372036854775805 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id < -9223372036854775807 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE 4 = ent_id AND '5' <> ent_id ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE (ent_id) = (4) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = id - 104 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 1 = 1 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id IN (1, 2) = 0 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE (ent_id IN (1, 2)) IS NULL ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE !(ent_id = 1) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 4 OR 1 = 1 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 4 OR 0 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 4 AND 0 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 4 OR NULL ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE NOT (ent_id = 4 AND NULL) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE NULL ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE NOT NULL ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id IN (4) AND ? ORDER BY id", args: []any{1}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id IN (4) OR ? ORDER BY id", args: []any{1}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? AND ent_id = ? ORDER BY id", args: []any{4, 4}},
	{sql: "SELECT id FROM t_ent_order WHERE (ent_id, id) = (4, 108) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE (id, ent_id) IN ((108, ?), (109, ?), (110, 7)) ORDER BY id", args: []any{4, 5}},
	{sql: "SELECT id FROM t_ent_order WHERE (ent_id, id) > (5, 0) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ANY (SELECT 4) ORDER BY id", open: true},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id IN (4, id) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id BETWEEN small AND 6 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id REGEXP '^1' ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 4 COLLATE utf8mb4_bin ORDER BY id", open: true},

	// The key in every Go type.
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? ORDER BY id", args: []any{uint8(4)}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? ORDER BY id", args: []any{ptr(int32(4))}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? ORDER BY id", args: []any{(*int)(nil)}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? ORDER BY id", args: []any{sql.NullInt64{Int64: 4, Valid: true}}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? ORDER BY id", args: []any{sql.NullInt64{}}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? ORDER BY id", args: []any{&sql.NullString{String: "4", Valid: true}}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? ORDER BY id", args: []any{json.Number("4")}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? ORDER BY id", args: []any{json.RawMessage("4")}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? ORDER BY id", args: []any{4.5}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? ORDER BY id", args: []any{float32(4)}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? ORDER BY id", args: []any{"4.5"}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? ORDER BY id", args: []any{"x"}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? ORDER BY id", args: []any{newYear}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id IN (?, ?, ?) ORDER BY id", args: []any{"1", 2, []byte("4")}},

	// Names.
	{sql: "SELECT id AS ent_id FROM t_ent_order WHERE ent_id = 4 ORDER BY ent_id"},
	{sql: "SELECT t_ent_order_item.id FROM t_ent_order AS t_ent_order_item WHERE t_ent_order_item.ent_id IN (4, 5) ORDER BY t_ent_order_item.id"},
	{sql: "SELECT `t_ent_order`.`id` FROM `t_ent_order` WHERE `t_ent_order`.`ENT_ID` IN (4, 5) ORDER BY `t_ent_order`.`ID`"},
	{sql: "SELECT 't_ent_order', name AS \"t_ent_order_item\" FROM t_ent_order WHERE ent_id IN (4, 5) ORDER BY id"},
	{sql: "SELECT 't_ent_order_item.id', i.id AS `t_ent_order_item` FROM t_ent_order_item AS i WHERE i.ent_id IN (4, 5) ORDER BY i.id"},
	{sql: "SELECT id FROM T_ENT_ORDER"},
	{sql: "SELECT T_ENT_ORDER.id FROM t_ent_order"},
	{sql: "SELECT id, id FROM t_ent_order ORDER BY id"},
	{sql: "SELECT name, name FROM t_ent_order ORDER BY name, id LIMIT 20", open: true},
	{sql: "SELECT o.*, o.* FROM t_ent_order o ORDER BY o.id LIMIT 9", open: true},
	{sql: "SELECT o.id, o.* FROM t_ent_order o ORDER BY o.amount, o.id LIMIT 9", open: true},
	{sql: "SELECT COUNT(*) AS id FROM t_ent_order ORDER BY id"},
	{sql: "SELECT id name, name id FROM t_ent_order ORDER BY id, name LIMIT 9", open: true},
	{sql: "SELECT id AS `a b`, amount AS `ORDER BY` FROM t_ent_order ORDER BY `ORDER BY`, `a b`"},
	{sql: "SELECT id AS 'x', amount AS \"y\" FROM t_ent_order ORDER BY y, x LIMIT 5"},

	// Spelling.
	{sql: "  SELECT\n\tid\r\nFROM\tt_ent_order\nWHERE ent_id IN(4,5)ORDER BY id  ;  "},
	{sql: "/* ? */ SELECT id FROM t_ent_order -- ?\nWHERE ent_id IN (4, 5) # ?\nORDER BY id"},
	{sql: "select Id from t_ent_order where Ent_Id in (4, 5) order by iD desc limit 3"},
	{sql: "SELECT /*+ MAX_EXECUTION_TIME(1000) */ id FROM t_ent_order ORDER BY id LIMIT 3"},
	{sql: "SELECT /*!50000 SQL_NO_CACHE */ id FROM t_ent_order ORDER BY id LIMIT 3", open: true},
	{sql: "SELECT ALL id FROM t_ent_order WHERE ent_id IN (4, 5) ORDER BY id"},
	{sql: "SELECT SQL_NO_CACHE id FROM t_ent_order ORDER BY id LIMIT 3"},
	{sql: "SELECT id FROM (t_ent_order) WHERE ent_id IN (4, 5) ORDER BY id"},
	{sql: "SELECT o.id FROM (t_ent_order o JOIN t_region r ON r.id = o.region_id) ORDER BY o.id"},
	{sql: "SELECT id FROM t_ent_order FORCE INDEX (PRIMARY) ORDER BY id LIMIT 3"},
	{sql: "SELECT id FROM t_ent_order IGNORE INDEX FOR ORDER BY (ent_id) ORDER BY ent_id, id"},
	{sql: "SELECT N'x', _utf8mb4'y', 0x41, b'1', DATE '2024-01-01', INTERVAL(5, 1, 10), id FROM t_ent_order WHERE id < 110 ORDER BY id"},
	{sql: "SELECT 'it''s', 'a\\'b', \"say \"\"x\"\"\", id FROM t_ent_order WHERE ent_id IN (4, 5) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE name = 'a' 'b' OR ent_id IN (4, 5) ORDER BY id"},

	// Order by expressions.
	{sql: "SELECT id FROM t_ent_order ORDER BY id + 0, name"},
	{sql: "SELECT id FROM t_ent_order ORDER BY (id) DESC"},
	{sql: "SELECT id FROM t_ent_order ORDER BY -id"},
	{sql: "SELECT id, name FROM t_ent_order ORDER BY name ASC, name DESC, id"},
	{sql: "SELECT id FROM t_ent_order ORDER BY FIELD(status, 'new', 'paid'), id"},
	{sql: "SELECT id FROM t_ent_order ORDER BY name = 'a' DESC, id"},
	{sql: "SELECT id FROM t_ent_order ORDER BY created_at IS NULL, created_at, id"},
	{sql: "SELECT id FROM t_ent_order ORDER BY IFNULL(amount, 0), id"},
	{sql: "SELECT id FROM t_ent_order ORDER BY COALESCE(day, '2000-01-01'), id", open: true},
	{sql: "SELECT id FROM t_ent_order ORDER BY CASE WHEN small > 0 THEN 1 WHEN small < 0 THEN -1 ELSE 0 END, id"},
	{sql: "SELECT id FROM t_ent_order ORDER BY DATE(created_at), id"},
	{sql: "SELECT id FROM t_ent_order ORDER BY TIME(created_at), id"},
	{sql: "SELECT id FROM t_ent_order ORDER BY YEAR(day) DESC, id"},
	{sql: "SELECT id FROM t_ent_order ORDER BY UNIX_TIMESTAMP(created_at), id"},
	{sql: "SELECT id FROM t_ent_order ORDER BY HEX(name), id", open: true},
	{sql: "SELECT id FROM t_ent_order ORDER BY BINARY name, id", open: true},
	{sql: "SELECT id FROM t_ent_order ORDER BY raw DESC, bits DESC, id"},
	{sql: "SELECT id FROM t_ent_order ORDER BY amount / 3, id"},
	{sql: "SELECT id FROM t_ent_order ORDER BY ratio * 2, id"},
	{sql: "SELECT id FROM t_ent_order ORDER BY ROUND(amount), price, id"},
	{sql: "SELECT id FROM t_ent_order ORDER BY rate * 2, id", open: true},
	{sql: "SELECT id, rate FROM t_ent_order ORDER BY rate LIMIT 20", ties: "rate", open: true},
	{sql: "SELECT id FROM t_ent_order ORDER BY clock, day, changed_at, id LIMIT 50"},
	{sql: "SELECT id, amount x FROM t_ent_order ORDER BY x + 0, id LIMIT 20", open: true},
	{sql: "SELECT id, amount x FROM t_ent_order ORDER BY ABS(x), id LIMIT 20", open: true},
	{sql: "SELECT id, amount name FROM t_ent_order ORDER BY name, id LIMIT 20"},
	{sql: "SELECT id, amount name FROM t_ent_order ORDER BY LENGTH(name), id LIMIT 20", open: true},
	{sql: "SELECT -id AS id FROM t_ent_order ORDER BY id LIMIT 5"},
	{sql: "SELECT -id AS id FROM t_ent_order ORDER BY id + 0 LIMIT 5", open: true},
	{sql: "SELECT -id AS id FROM t_ent_order o ORDER BY o.id LIMIT 5"},
	{sql: "SELECT id FROM t_ent_order ORDER BY 'id' DESC, 1"},
	{sql: "SELECT id FROM t_ent_order ORDER BY 1 + 1, 1 DESC LIMIT 4", open: true},
	{sql: "SELECT id FROM t_ent_order ORDER BY big, id LIMIT 4 OFFSET 30"},

	// Groups and aggregates.
	{sql: "SELECT MAX(id) FROM t_ent_order GROUP BY ent_id ORDER BY ent_id"},
	{sql: "SELECT MIN(code) AS n FROM t_ent_order GROUP BY region_id ORDER BY n, COUNT(*)"},
	{sql: "SELECT MIN(name) AS n, region_id FROM t_ent_order GROUP BY region_id ORDER BY n, region_id", folded: []int{0}},
	{sql: "SELECT region_id, AVG(price) FROM t_ent_order GROUP BY region_id ORDER BY AVG(price) DESC, region_id"},
	{sql: "SELECT region_id, COUNT(*) FROM t_ent_order GROUP BY region_id DESC", sequence: true, open: true},
	{sql: "SELECT ent_id % 4 AS node, COUNT(*) FROM t_ent_order GROUP BY node ORDER BY node"},
	{sql: "SELECT DATE(created_at) AS d, COUNT(*) FROM t_ent_order GROUP BY DATE(created_at) ORDER BY d"},
	{sql: "SELECT LEFT(name, 1) AS l, COUNT(*) FROM t_ent_order GROUP BY LEFT(name, 1)", folded: []int{0}, open: true},
	{sql: "SELECT name COLLATE utf8mb4_bin AS n, COUNT(*) FROM t_ent_order GROUP BY n", open: true},
	{sql: "SELECT amount * 2 AS a, COUNT(*), SUM(amount * 2) FROM t_ent_order GROUP BY amount * 2 ORDER BY a DESC LIMIT 3"},
	{sql: "SELECT region_id, region_id, COUNT(*) FROM t_ent_order GROUP BY region_id ORDER BY region_id"},
	{sql: "SELECT region_id + 1, COUNT(*) FROM t_ent_order GROUP BY region_id ORDER BY region_id"},
	{sql: "SELECT small FROM t_ent_order GROUP BY region_id, small ORDER BY small, region_id"},
	{sql: "SELECT region_id FROM t_ent_order GROUP BY region_id ORDER BY region_id LIMIT 2"},
	{sql: "SELECT COUNT(*) FROM t_ent_order GROUP BY region_id, ent_id ORDER BY 1 DESC, MAX(id) LIMIT 3"},
	{sql: "SELECT id, COUNT(*) FROM t_ent_order GROUP BY id ORDER BY id LIMIT 5 OFFSET 3"},
	{sql: "SELECT SUM(day), SUM(clock), SUM(bits), SUM(status), AVG(bits) FROM t_ent_order", open: true},
	{sql: "SELECT AVG(day), AVG(created_at) FROM t_ent_order", open: true},
	{sql: "SELECT MIN(ent_id), MAX(ent_id), SUM(ent_id), AVG(ent_id) FROM t_ent_order"},
	{sql: "SELECT MAX(CONCAT(name, 'x')), MIN(LOWER(code)) FROM t_ent_order", folded: []int{0, 1}, open: true},
	{sql: "SELECT MAX(IF(small > 0, amount, NULL)), MIN(IFNULL(price, 5)) FROM t_ent_order"},
	{sql: "SELECT SUM(1), SUM(1.5), SUM('2'), SUM(NULL), AVG(2), MAX(3), MIN('x'), COUNT('x') FROM t_ent_order", open: true},
	{sql: "SELECT SUM(small), SUM(-small), SUM(small) AS again FROM t_ent_order"},
	{sql: "SELECT SUM(amount) FROM t_ent_order LIMIT 0"},
	{sql: "SELECT SUM(all price), COUNT(ALL price), MAX(DISTINCT price), MIN(DISTINCT name) FROM t_ent_order", folded: []int{3}},
	{sql: "SELECT COUNT(*) FROM t_ent_order WHERE ent_id IN (1, 2) GROUP BY ent_id HAVING COUNT(*) > 1", open: true},
	{sql: "SELECT id, ent_id FROM t_ent_order HAVING ent_id = 4 ORDER BY id", open: true},
	{sql: "SELECT id, MAX(ent_id) FROM t_ent_order WHERE ent_id = 4"},
	{sql: "SELECT MAX(id) m FROM t_ent_order WHERE ent_id IN (4, 5) ORDER BY m LIMIT 1 OFFSET 0"},
	{sql: "SELECT bits, COUNT(*) FROM t_ent_order GROUP BY bits ORDER BY bits"},
	{sql: "SELECT raw, COUNT(*) FROM t_ent_order GROUP BY raw ORDER BY raw"},
	{sql: "SELECT status, COUNT(*) FROM t_ent_order GROUP BY status ORDER BY status", open: true},
	{sql: "SELECT changed_at, clock, COUNT(*) FROM t_ent_order GROUP BY changed_at, clock ORDER BY changed_at, clock"},

	// Joins.
	{sql: "SELECT o.id, d.order_id FROM t_ent_order o JOIN t_ent_order_detail d USING (ent_id) WHERE ent_id = 4 ORDER BY o.id, d.order_id"},
	{sql: "SELECT o.id, d.order_id FROM t_ent_order o JOIN t_ent_order_detail d USING (ent_id) WHERE ent_id IN (4, 5) ORDER BY o.id, d.order_id"},
	{sql: "SELECT o.id, d.order_id FROM t_ent_order o JOIN t_ent_order_detail d ON d.ent_id = o.ent_id OR 1 = 0 ORDER BY 1, 2", open: true},
	{sql: "SELECT o.id, d.order_id FROM t_ent_order o JOIN t_ent_order_detail d ON d.ent_id = o.ent_id WHERE o.ent_id IN (1, 2, 4) AND d.ent_id IN (2, 4, 5) ORDER BY 1, 2"},
	{sql: "SELECT o.id, d.order_id FROM t_ent_order o JOIN t_ent_order_detail d ON d.ent_id = o.ent_id WHERE o.ent_id = 1 AND d.ent_id = 2 ORDER BY 1, 2"},
	{sql: "SELECT o.id, d.order_id FROM t_ent_order o LEFT JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id WHERE o.ent_id IN (1, 2) AND d.ent_id IN (2, 4) ORDER BY 1, 2"},
	{sql: "SELECT o.id, d.order_id FROM t_ent_order o LEFT JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id AND d.ent_id IN (2, 5) WHERE o.ent_id IN (1, 2, 4) ORDER BY 1, 2"},
	{sql: "SELECT o.id, d.order_id, i.id FROM t_ent_order o LEFT JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id LEFT JOIN t_ent_order_item i ON i.ent_id = d.ent_id AND i.order_id = d.order_id WHERE o.ent_id = 4 ORDER BY 1, 2, 3", open: true},
	{sql: "SELECT o.id, d.order_id FROM t_region r JOIN t_ent_order o ON o.region_id = r.id LEFT JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id ORDER BY 1"},
	{sql: "SELECT r.id, o.id FROM t_region r, t_ent_order o WHERE r.id = o.region_id AND o.ent_id IN (1, 2) ORDER BY 2"},
	{sql: "SELECT a.id, b.id FROM t_ent_order a, t_ent_order b WHERE a.ent_id = b.ent_id AND a.id < b.id AND a.ent_id IN (4, 5) ORDER BY 1, 2", open: true},
	{sql: "SELECT o.id, i.id FROM t_ent_order o STRAIGHT_JOIN t_ent_order_item i ON i.ent_id = o.ent_id AND i.order_id = o.id ORDER BY i.id"},
	{sql: "SELECT o.*, d.* FROM t_ent_order o JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id ORDER BY o.id LIMIT 7"},
	{sql: "SELECT * FROM t_ent_order o JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id ORDER BY order_id DESC LIMIT 7", open: true},
	{sql: "SELECT * FROM t_ent_order JOIN t_ent_order_detail USING (ent_id) ORDER BY id, order_id LIMIT 7", open: true},
	{sql: "SELECT o.name, d.address, COUNT(*) FROM t_ent_order o JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id GROUP BY o.name, d.address", folded: []int{0, 1}},
	{sql: "SELECT d.ent_id, o.ent_id FROM t_ent_order_detail d LEFT JOIN t_ent_order o ON o.ent_id = d.ent_id AND o.id = d.order_id AND o.ent_id IN (1, 2) WHERE d.ent_id IN (1, 2, 4, 5) ORDER BY d.order_id"},
	{sql: "SELECT o.id FROM t_ent_order o LEFT JOIN t_region r ON r.id = o.region_id WHERE r.id IS NULL AND o.ent_id IN (1, 5) ORDER BY o.id"},
	{sql: "SELECT COUNT(*) FROM t_region r CROSS JOIN t_ent_order_item i"},
}

func TestCornersGiveWhatOneDatabaseGivesOrAreRefused(t *testing.T) { compare(t, corners) }

// cornerWrites are statements as text whose rows and arguments must be kept
// apart.
var cornerWrites = []step{
	write("arguments behind the rows", func(db *gorm.DB) *gorm.DB {
		return db.Exec("INSERT INTO t_ent_order (id, ent_id, name) VALUES (?, ?, ?), (?, ?, 'b),(?'), (?, ?, CONCAT(?, 'x')) ON DUPLICATE KEY UPDATE name = CONCAT(VALUES(name), ?)",
			106, 1, "a", 1001, 6, 1002, 5, "c", "!")
	}),
	write("rows of one node among others", func(db *gorm.DB) *gorm.DB {
		return db.Exec("INSERT INTO t_ent_order_item (id, ent_id, order_id, product) VALUES (5000, 4, 1, '),(5, 4)'), (5001, 36, 1, '/*'), (5002, 5, 1, \"--\"), (5003, 4, 2, '?')")
	}),
	write("expressions beside the key", func(db *gorm.DB) *gorm.DB {
		return db.Exec("INSERT INTO t_ent_order (amount, id, ent_id, small) VALUES (1 + 2, 1000, 5, -ABS(-3)), (IF(1, 7, (8)), 1001, 6, DEFAULT)")
	}),
	{name: "a subquery beside the key", open: true, run: func(db *gorm.DB) (any, error) {
		return affected(db.Exec("INSERT INTO t_ent_order (amount, id, ent_id) VALUES (1, 1000, 5), ((SELECT 7), 1001, 6)"))
	}},
	write("update with an alias", func(db *gorm.DB) *gorm.DB {
		return db.Exec("UPDATE t_ent_order o SET o.name = 't_ent_order', small = 3 WHERE o.ent_id IN (1, 2)")
	}),
	write("update of what is not there", func(db *gorm.DB) *gorm.DB {
		return db.Exec("UPDATE t_ent_order SET small = small + 1, name = CONCAT(name, ?) WHERE ent_id NOT IN (1, 4)", "t_ent_order")
	}),
	write("update in the order of ids", func(db *gorm.DB) *gorm.DB {
		return db.Exec("UPDATE t_ent_order SET id = id + 19 WHERE ent_id IN (1, 2) ORDER BY id DESC")
	}),
	write("another key of the same node", func(db *gorm.DB) *gorm.DB {
		return db.Exec("UPDATE t_ent_order SET ent_id = 8 WHERE ent_id = 4")
	}),
	{name: "another key of another node", open: true, run: func(db *gorm.DB) (any, error) {
		return affected(db.Exec("UPDATE t_ent_order_item SET ent_id = 8 WHERE ent_id = 4"))
	}},
	{name: "the same key under a condition that lets others in", open: true, run: func(db *gorm.DB) (any, error) {
		return affected(db.Exec("UPDATE t_ent_order SET ent_id = 4 WHERE ent_id = 4 OR id = 106"))
	}},
	write("the key set to itself", func(db *gorm.DB) *gorm.DB {
		return db.Exec("UPDATE t_ent_order SET ent_id = ent_id, small = 9 WHERE id IN (106, 108)")
	}),
	write("delete with a schema-like alias", func(db *gorm.DB) *gorm.DB {
		return db.Exec("DELETE FROM t_ent_order_item WHERE t_ent_order_item.ent_id IN (4, 5, 13) AND t_ent_order_item.count > 0")
	}),
	write("delete with a limit in one node", func(db *gorm.DB) *gorm.DB {
		return db.Exec("DELETE FROM t_ent_order_item WHERE ent_id = 4 ORDER BY id DESC LIMIT 2")
	}),
	write("delete under a contradiction", func(db *gorm.DB) *gorm.DB {
		return db.Exec("DELETE FROM t_ent_order WHERE ent_id = 4 AND ent_id = 5")
	}),
	write("delete by a range without a lower end", func(db *gorm.DB) *gorm.DB {
		return db.Exec("DELETE FROM t_ent_order WHERE ent_id < -5 OR ent_id > 4294967296")
	}),
	write("set in a broadcast table", func(db *gorm.DB) *gorm.DB { return db.Exec("INSERT INTO t_region SET id = 50, name = 'fifty'") }),
	write("replace in a broadcast table", func(db *gorm.DB) *gorm.DB {
		return db.Exec("REPLACE INTO t_region (id, name) VALUES (1, 'one'), (51, 'fifty-one')")
	}),
	write("upsert in a broadcast table", func(db *gorm.DB) *gorm.DB {
		return db.Exec("INSERT INTO t_region (id, name) VALUES (1, 'x'), (52, 'y') ON DUPLICATE KEY UPDATE name = CONCAT(name, '!')")
	}),
	write("ignored duplicates in a broadcast table", func(db *gorm.DB) *gorm.DB {
		return db.Exec("INSERT IGNORE INTO t_region (id, name) VALUES (1, 'x'), (53, 'z')")
	}),
	{name: "deleted rows are returned", open: true, run: func(db *gorm.DB) (any, error) {
		var ids []int64
		err := db.Raw("DELETE FROM t_ent_order WHERE ent_id = 4 RETURNING id").Scan(&ids).Error
		return ids, err
	}},
	{name: "deleted rows of several nodes are returned", open: true, run: func(db *gorm.DB) (any, error) {
		var ids []int64
		err := db.Raw("DELETE FROM t_ent_order WHERE ent_id IN (4, 5) RETURNING id").Scan(&ids).Error
		return len(ids), err
	}},
	{name: "inserted rows are returned in their order", run: func(db *gorm.DB) (any, error) {
		var rows []struct {
			ID    int64
			State string
		}
		err := db.Raw("INSERT INTO t_ent_order (id, ent_id, state) VALUES (1005, 6, 'a'), (1003, 5, 'b'), (1001, 4, 'c'), (1004, 5, 'd') RETURNING id, state").Scan(&rows).Error
		return rows, err
	}},
	{name: "updated and inserted rows are returned in their order", open: true, run: func(db *gorm.DB) (any, error) {
		var rows []struct {
			ID    int64
			State string
		}
		err := db.Raw("INSERT INTO t_ent_order (id, ent_id, state) VALUES (1005, 6, 'a'), (106, 1, 'b'), (107, 2, 'c'), (1004, 5, 'd') ON DUPLICATE KEY UPDATE state = VALUES(state) RETURNING id, state").Scan(&rows).Error
		return rows, err
	}},
	{name: "a broadcast insert returns its rows once", run: func(db *gorm.DB) (any, error) {
		var ids []int64
		err := db.Raw("INSERT INTO t_region (id, name) VALUES (61, 'a'), (60, 'b') RETURNING id").Scan(&ids).Error
		return ids, err
	}},
	write("an index of the server refuses", func(db *gorm.DB) *gorm.DB {
		return db.Exec("INSERT INTO t_ent_order (id, ent_id, small) VALUES (1000, 4, 1), (1001, 5, 1000), (1002, 6, 1)")
	}),
	write("a text that is too long", func(db *gorm.DB) *gorm.DB {
		return db.Exec("UPDATE t_ent_order SET code = REPEAT('x', IF(id = 106, 30, 3))")
	}),
}

func TestTextWritesDoWhatTheyDoOnOneDatabase(t *testing.T) {
	compareWrites(t, cornerWrites, configurations[:2])
}
