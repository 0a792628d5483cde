//go:build unix

package orders_test

import (
	"context"
	"database/sql"
	"math"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/gormshard/sharding/config"
)

var newYear = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// reads are queries over one sharded table.
var reads = []query{
	// One node.
	{sql: "SELECT * FROM t_ent_order WHERE ent_id = ? ORDER BY id", args: []any{4}},
	{sql: "SELECT * FROM t_ent_order WHERE ent_id = ? AND id = ?", args: []any{4, 108}},
	{sql: "SELECT id, name FROM t_ent_order WHERE ent_id = ? ORDER BY id DESC LIMIT ? OFFSET ?", args: []any{4, 2, 1}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? ORDER BY id LIMIT 5 OFFSET 100", args: []any{4}},
	{sql: "SELECT COUNT(*), SUM(amount), AVG(price), MIN(name), MAX(big) FROM t_ent_order WHERE ent_id = ?", args: []any{8}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? ORDER BY id", args: []any{"4"}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? ORDER BY id", args: []any{int64(math.MinInt64)}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? ORDER BY id", args: []any{-3}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? ORDER BY id", args: []any{3}},
	{sql: "SELECT DISTINCT name FROM t_ent_order WHERE ent_id = 4 ORDER BY name, HEX(name)"},
	{sql: "SELECT name, COUNT(*) FROM t_ent_order WHERE ent_id = 4 GROUP BY name HAVING COUNT(*) > 0 ORDER BY name", folded: []int{0}},

	// IN lists and ranges.
	{sql: "SELECT id, ent_id FROM t_ent_order WHERE ent_id IN (?, ?, ?) ORDER BY id", args: []any{1, 2, 4}},
	{sql: "SELECT id, ent_id FROM t_ent_order WHERE ent_id IN (?, ?, NULL) ORDER BY id", args: []any{1, 2}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id IN (?, ?) ORDER BY id", args: []any{nil, 2}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id IN (NULL) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id NOT IN (1, 2, 4) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id NOT IN (1, NULL) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id IN (1, 1, 1, 5, 5) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE (ent_id, status) IN ((1, 'new'), (2, 'paid'), (4, 'new')) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id BETWEEN ? AND ? ORDER BY id", args: []any{1, 5}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id BETWEEN 5 AND 1 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id NOT BETWEEN 1 AND 5 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id > ? AND ent_id <= ? ORDER BY id", args: []any{0, 2}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id < 0 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE 5 >= ent_id AND 4 < ent_id ORDER BY id"},
	{sql: "SELECT rate, ratio, id FROM t_ent_order WHERE ent_id IN (?, 1, 2) ORDER BY id", args: []any{4}},

	// The key in other types.
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = '01' ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = '1abc' ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 1.0 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 1.5 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 'abc' ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = TRUE ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 0x04 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 10 - 8 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id + 0 = 4 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ABS(ent_id) = 4 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? ORDER BY id", args: []any{2.0}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? ORDER BY id", args: []any{[]byte("2")}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? ORDER BY id", args: []any{true}},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ? ORDER BY id", args: []any{uint64(math.MaxUint64)}},

	// Condition trees.
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 1 OR ent_id = 2 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 1 OR name = 'a' ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE (ent_id = 1 OR ent_id = 2) AND (ent_id = 2 OR ent_id = 4) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE NOT (ent_id <> 1) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE NOT (ent_id = 1) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE NOT (ent_id = 1 OR name IS NULL) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE NOT (ent_id <> 1 AND ent_id <> 2) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE NOT (ent_id NOT IN (1, 2) OR status = 'new') ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE (ent_id = 1) = 0 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE (ent_id = 1) IS FALSE ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE (ent_id = 1) IS NOT TRUE ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 1 XOR ent_id = 2 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id <=> 2 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id <=> NULL ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id IS NULL ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id IS NOT NULL ORDER BY id"},
	{sql: "SELECT id, name FROM t_ent_order WHERE ent_id = 1 AND ent_id = 2 ORDER BY id"},
	{sql: "SELECT id, amount, created_at FROM t_ent_order WHERE ent_id IN (1, 2) AND ent_id IN (4, 5) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = NULL ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE FALSE ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE TRUE AND ent_id IN (1, 2) ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id LIKE '1%' ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE name LIKE 'a%' OR note IS NULL AND NOT region_id = 2 ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE CASE WHEN ent_id = 1 THEN name IS NULL ELSE ent_id = 2 END ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id IN (1, 2) AND 't_ent_order' <> \"x ? t_ent_order\" /* t_ent_order ? */ ORDER BY id -- t_ent_order"},

	// Order.
	{sql: "SELECT id, amount FROM t_ent_order ORDER BY amount, id"},
	{sql: "SELECT id, amount FROM t_ent_order ORDER BY amount DESC, id DESC LIMIT 9"},
	{sql: "SELECT id, big, small FROM t_ent_order ORDER BY big DESC, small, id LIMIT ?", args: []any{20}},
	{sql: "SELECT id, ratio FROM t_ent_order ORDER BY ratio, id"},
	{sql: "SELECT id, rate FROM t_ent_order ORDER BY rate DESC, id"},
	{sql: "SELECT id, bits FROM t_ent_order ORDER BY bits, id"},
	{sql: "SELECT id, raw FROM t_ent_order ORDER BY raw, id"},
	{sql: "SELECT id, name FROM t_ent_order ORDER BY name, id"},
	{sql: "SELECT id, name FROM t_ent_order ORDER BY name DESC, id LIMIT 11 OFFSET 5"},
	{sql: "SELECT id, name FROM t_ent_order ORDER BY name", ties: "name"},
	{sql: "SELECT id, name FROM t_ent_order ORDER BY name LIMIT 9 OFFSET 4", ties: "name"},
	{sql: "SELECT id, code FROM t_ent_order ORDER BY code, id"},
	{sql: "SELECT id, label FROM t_ent_order ORDER BY label, id"},
	{sql: "SELECT id, title FROM t_ent_order ORDER BY title, id"},
	{sql: "SELECT id, note FROM t_ent_order ORDER BY note, id", open: true},
	{sql: "SELECT id FROM t_ent_order ORDER BY LEFT(note, 305), id", open: true},
	{sql: "SELECT id, status FROM t_ent_order ORDER BY status, id", open: true},
	{sql: "SELECT id, status FROM t_ent_order ORDER BY status + 0, id"},
	{sql: "SELECT id, day FROM t_ent_order ORDER BY day, id"},
	{sql: "SELECT id, clock FROM t_ent_order ORDER BY clock, id"},
	{sql: "SELECT id, created_at FROM t_ent_order ORDER BY created_at DESC, id"},
	{sql: "SELECT id, changed_at FROM t_ent_order ORDER BY changed_at, id LIMIT 30"},
	{sql: "SELECT id, name FROM t_ent_order ORDER BY day DESC, name, amount, id LIMIT 40"},
	{sql: "SELECT id FROM t_ent_order ORDER BY region_id, amount DESC, id"},
	{sql: "SELECT name FROM t_ent_order ORDER BY id"},
	{sql: "SELECT id FROM t_ent_order ORDER BY amount * -1, id"},
	{sql: "SELECT id FROM t_ent_order ORDER BY id % 7, id DESC LIMIT 10"},
	{sql: "SELECT id FROM t_ent_order ORDER BY id % ?, id DESC LIMIT ?", args: []any{7, 10}},
	{sql: "SELECT id FROM t_ent_order ORDER BY LENGTH(name), id", open: true},
	{sql: "SELECT id FROM t_ent_order ORDER BY UPPER(name), id", open: true},
	{sql: "SELECT id FROM t_ent_order ORDER BY CONCAT(name, '-', code), id", open: true},
	{sql: "SELECT id FROM t_ent_order ORDER BY name COLLATE utf8mb4_bin, id", open: true},
	{sql: "SELECT id FROM t_ent_order ORDER BY name IS NULL, ent_id DESC, id"},
	{sql: "SELECT id, -amount AS amount FROM t_ent_order ORDER BY amount, id"},
	{sql: "SELECT id, -amount AS amount FROM t_ent_order ORDER BY t_ent_order.amount, id"},
	{sql: "SELECT id, amount AS a, name n FROM t_ent_order ORDER BY a DESC, n, id"},
	{sql: "SELECT id, amount, name FROM t_ent_order ORDER BY 2 DESC, 3, 1"},
	{sql: "SELECT *, amount AS extra FROM t_ent_order ORDER BY 10, 1", open: true},
	{sql: "SELECT *, -id AS extra FROM t_ent_order ORDER BY extra LIMIT 5"},
	{sql: "SELECT *, id FROM t_ent_order ORDER BY t_ent_order.id LIMIT 5", open: true},
	{sql: "SELECT o.* FROM t_ent_order o ORDER BY o.name, o.id LIMIT 12"},
	{sql: "SELECT o.*, o.id + 1 AS next FROM t_ent_order AS o ORDER BY price DESC, id LIMIT 3"},
	{sql: "SELECT `t_ent_order`.`id`, `t_ent_order`.`name` AS `t_ent_order` FROM `t_ent_order` ORDER BY `t_ent_order`.`id`"},
	{sql: "SELECT id FROM t_ent_order ORDER BY NULL, id"},
	{sql: "SELECT id FROM t_ent_order ORDER BY 'x', id"},
	{sql: "SELECT id FROM t_ent_order ORDER BY ent_id = 4 DESC, id"},
	{sql: "SELECT id, id * 2 FROM t_ent_order ORDER BY id * 2 DESC LIMIT 4"},

	// LIMIT.
	{sql: "SELECT id FROM t_ent_order LIMIT 7"},
	{sql: "SELECT id FROM t_ent_order LIMIT 7 OFFSET 70"},
	{sql: "SELECT id FROM t_ent_order LIMIT 0"},
	{sql: "SELECT id FROM t_ent_order ORDER BY id LIMIT 0"},
	{sql: "SELECT id FROM t_ent_order ORDER BY id LIMIT 3, 4"},
	{sql: "SELECT id FROM t_ent_order ORDER BY id LIMIT ?, ?", args: []any{3, 4}},
	{sql: "SELECT id FROM t_ent_order ORDER BY id LIMIT 5 OFFSET 74"},
	{sql: "SELECT id FROM t_ent_order ORDER BY id LIMIT 5 OFFSET 1000"},
	{sql: "SELECT id FROM t_ent_order ORDER BY id LIMIT 18446744073709551615 OFFSET 70"},
	{sql: "SELECT id FROM t_ent_order ORDER BY id LIMIT ? OFFSET ?", args: []any{uint64(math.MaxUint64), 70}},
	{sql: "SELECT id FROM t_ent_order WHERE amount > ? ORDER BY id DESC LIMIT ? OFFSET ?", args: []any{0, 10, 3}},

	// Without order.
	{sql: "SELECT * FROM t_ent_order"},
	{sql: "SELECT name, amount, created_at FROM t_ent_order WHERE created_at >= ?", args: []any{newYear}},
	{sql: "SELECT id FROM t_ent_order WHERE created_at >= ? AND created_at < ?", args: []any{newYear, newYear.Add(50 * time.Millisecond)}},
	{sql: "SELECT 1, 'x', NULL, id FROM t_ent_order WHERE id < 110"},
	{sql: "SELECT id FROM t_ent_order WHERE id < 0"},
	{sql: "SELECT id, `name` FROM t_ent_order USE INDEX (ent_id) WHERE ent_id IN (1, 2)"},
	{sql: "SELECT * FROM t_ent_order_item"},
	{sql: "SELECT * FROM t_ent_order_item WHERE ent_id = 13"},
	{sql: "SELECT * FROM t_ent_order_item WHERE ent_id IN (1, 2, 4, 5, 13, -8) ORDER BY product, id"},
	{sql: "SELECT id, price * count AS total FROM t_ent_order_item ORDER BY total DESC, id LIMIT 15 OFFSET 5"},
	{sql: "SELECT product, SUM(price * count), COUNT(*) FROM t_ent_order_item GROUP BY product", folded: []int{0}},

	// Aggregates without GROUP BY.
	{sql: "SELECT COUNT(*) FROM t_ent_order"},
	{sql: "SELECT COUNT(*), COUNT(name), COUNT(1), COUNT(NULL) FROM t_ent_order"},
	{sql: "SELECT SUM(amount), SUM(price), SUM(big), SUM(small), SUM(ratio), SUM(rate) FROM t_ent_order"},
	{sql: "SELECT AVG(amount), AVG(price), AVG(big), AVG(small), AVG(ratio), AVG(rate), AVG(id) FROM t_ent_order"},
	{sql: "SELECT MIN(amount), MAX(amount), MIN(price), MAX(price), MIN(big), MAX(big), MIN(small), MAX(small) FROM t_ent_order"},
	{sql: "SELECT MIN(ratio), MAX(ratio), MIN(rate), MAX(rate) FROM t_ent_order"},
	{sql: "SELECT MIN(day), MAX(day), MIN(clock), MAX(clock), MIN(created_at), MAX(created_at), MIN(changed_at), MAX(changed_at) FROM t_ent_order"},
	{sql: "SELECT MIN(code), MAX(code) FROM t_ent_order"},
	{sql: "SELECT MIN(name), MAX(name), MIN(title), MAX(title) FROM t_ent_order", folded: []int{0, 1, 2, 3}},
	{sql: "SELECT MIN(label), MAX(label) FROM t_ent_order", folded: []int{0, 1}},
	{sql: "SELECT MIN(note), MAX(note) FROM t_ent_order", folded: []int{0, 1}, open: true},
	{sql: "SELECT MIN(raw), MAX(raw), MIN(bits), MAX(bits) FROM t_ent_order", open: true},
	{sql: "SELECT MIN(status), MAX(status) FROM t_ent_order", open: true},
	{sql: "SELECT COUNT(*), SUM(amount), AVG(amount), MIN(name), MAX(day) FROM t_ent_order WHERE id < 0"},
	{sql: "SELECT COUNT(*), SUM(amount), AVG(amount), MIN(name), MAX(day) FROM t_ent_order WHERE ent_id = 1 AND ent_id = 2"},
	{sql: "SELECT COUNT(*), SUM(amount) FROM t_ent_order WHERE ent_id IN (3, 7, 11)"},
	{sql: "SELECT COUNT(amount), SUM(amount), AVG(amount), MIN(amount), MAX(amount) FROM t_ent_order WHERE amount IS NULL"},
	{sql: "SELECT SUM(amount), AVG(amount) FROM t_ent_order WHERE ent_id IN (1, 2) AND id > 5"},
	{sql: "SELECT AVG(small), SUM(small) FROM t_ent_order WHERE small IN (0, 1)"},
	{sql: "SELECT SUM(name), AVG(name) FROM t_ent_order", open: true},
	{sql: "SELECT SUM(amount * 2), AVG(id + 1), MAX(amount - price), COUNT(name IS NULL) FROM t_ent_order"},
	{sql: "SELECT SUM(amount) AS `sum of all`, count( * ) FROM t_ent_order"},
	{sql: "SELECT COUNT(*) FROM t_ent_order LIMIT 1"},
	{sql: "SELECT COUNT(*) FROM t_ent_order LIMIT 5 OFFSET 1"},
	{sql: "SELECT COUNT(*) FROM t_ent_order ORDER BY COUNT(*)"},
	{sql: "SELECT SUM(big) FROM t_ent_order WHERE big > ?", args: []any{uint64(1 << 62)}},
	{sql: "SELECT SUM(CASE WHEN status = 'new' THEN 1 ELSE 0 END), SUM(status = 'new'), COUNT(IF(small > 0, 1, NULL)) FROM t_ent_order"},

	// Groups split over nodes.
	{sql: "SELECT region_id, COUNT(*), SUM(amount), AVG(amount), MIN(id), MAX(id) FROM t_ent_order GROUP BY region_id"},
	{sql: "SELECT region_id, COUNT(*) AS n FROM t_ent_order GROUP BY region_id ORDER BY n DESC, region_id"},
	{sql: "SELECT region_id, COUNT(*) FROM t_ent_order GROUP BY region_id ORDER BY COUNT(*), region_id LIMIT 2 OFFSET 1"},
	{sql: "SELECT region_id, small, SUM(price) FROM t_ent_order GROUP BY region_id, small ORDER BY region_id DESC, small"},
	{sql: "SELECT name, COUNT(*) FROM t_ent_order GROUP BY name ORDER BY name", folded: []int{0}},
	{sql: "SELECT name, COUNT(*) FROM t_ent_order GROUP BY name ORDER BY name DESC LIMIT 5", folded: []int{0}},
	{sql: "SELECT code, COUNT(*), MAX(price) FROM t_ent_order GROUP BY code ORDER BY code"},
	{sql: "SELECT label, COUNT(*) FROM t_ent_order GROUP BY label ORDER BY label", folded: []int{0}},
	{sql: "SELECT title, COUNT(*) FROM t_ent_order GROUP BY title ORDER BY title", folded: []int{0}},
	{sql: "SELECT status, COUNT(*), SUM(amount) FROM t_ent_order GROUP BY status", open: true},
	{sql: "SELECT note, COUNT(*) FROM t_ent_order GROUP BY note", folded: []int{0}, open: true},
	{sql: "SELECT day, COUNT(*) FROM t_ent_order GROUP BY day ORDER BY day"},
	{sql: "SELECT clock, COUNT(*) FROM t_ent_order GROUP BY clock ORDER BY clock DESC"},
	{sql: "SELECT created_at, COUNT(*) FROM t_ent_order GROUP BY created_at ORDER BY created_at"},
	{sql: "SELECT amount, COUNT(*) FROM t_ent_order GROUP BY amount ORDER BY amount"},
	{sql: "SELECT ratio, COUNT(*) FROM t_ent_order GROUP BY ratio ORDER BY ratio"},
	{sql: "SELECT rate, COUNT(*) FROM t_ent_order GROUP BY rate ORDER BY rate", open: true},
	{sql: "SELECT rate, COUNT(*) FROM t_ent_order GROUP BY rate ORDER BY rate LIMIT ?", args: []any{5}, open: true},
	{sql: "SELECT big, COUNT(*) FROM t_ent_order GROUP BY big ORDER BY big"},
	{sql: "SELECT bits, raw, COUNT(*) FROM t_ent_order GROUP BY bits, raw ORDER BY bits, raw", open: true},
	{sql: "SELECT ent_id, COUNT(*), MIN(created_at) FROM t_ent_order GROUP BY ent_id ORDER BY ent_id"},
	{sql: "SELECT COUNT(*) FROM t_ent_order GROUP BY region_id"},
	{sql: "SELECT SUM(amount) FROM t_ent_order GROUP BY region_id ORDER BY region_id"},
	{sql: "SELECT SUM(amount) FROM t_ent_order GROUP BY region_id ORDER BY MAX(id) DESC"},
	{sql: "SELECT region_id AS r, AVG(small) a FROM t_ent_order GROUP BY r ORDER BY r"},
	{sql: "SELECT MAX(id) AS name, COUNT(*) FROM t_ent_order GROUP BY name", open: true},
	{sql: "SELECT id % 3 AS m, COUNT(*) FROM t_ent_order GROUP BY m ORDER BY m"},
	{sql: "SELECT id % 3, COUNT(*) FROM t_ent_order GROUP BY id % 3 ORDER BY id % 3"},
	{sql: "SELECT id % ? AS m, COUNT(*) FROM t_ent_order GROUP BY m ORDER BY m", args: []any{5}},
	{sql: "SELECT region_id, COUNT(*) FROM t_ent_order GROUP BY 1 ORDER BY 1"},
	{sql: "SELECT region_id, COUNT(*) FROM t_ent_order WHERE id < 0 GROUP BY region_id"},
	{sql: "SELECT region_id, SUM(amount) FROM t_ent_order WHERE amount IS NULL GROUP BY region_id ORDER BY region_id"},
	{sql: "SELECT YEAR(created_at) AS y, COUNT(*) FROM t_ent_order GROUP BY YEAR(created_at) ORDER BY y"},
	{sql: "SELECT status = 'new' AS fresh, COUNT(*), AVG(ratio) FROM t_ent_order GROUP BY fresh ORDER BY fresh"},
	{sql: "SELECT region_id, MIN(name), MAX(code) FROM t_ent_order GROUP BY region_id ORDER BY region_id", folded: []int{1}},

	// The server's own errors.
	{sql: "SELECT nothing FROM t_ent_order WHERE ent_id = 4"},
	{sql: "SELECT nothing FROM t_ent_order"},
	{sql: "SELECT id FROM t_ent_order WHERE nothing = 1 AND ent_id = 4"},
	{sql: "SELECT id FROM t_ent_order ORDER BY nothing", open: true},
	{sql: "SELECT COUNT(nothing) FROM t_ent_order WHERE ent_id IN (1, 2)"},

	// Tables that are not sharded.
	{sql: "SELECT * FROM t_region ORDER BY id"},
	{sql: "SELECT COUNT(*), MAX(name) FROM t_region"},
	{sql: "SELECT DISTINCT name FROM t_region WHERE id > ? ORDER BY name", args: []any{0}},
	{sql: "SELECT * FROM t_operator ORDER BY id"},
	{sql: "SELECT o.name, r.name FROM t_operator o JOIN t_region r ON r.id = o.id ORDER BY o.id"},
	{sql: "SELECT 1 + 1, 'a', NOW() IS NOT NULL"},
	{sql: "WITH x AS (SELECT 1 AS a UNION SELECT 2) SELECT * FROM x ORDER BY a"},
}

// way is one of the ways in which a query can reach the servers.
type way struct {
	name string
	ask  asker
	text bool // arguments are written into the text
}

// ways opens the sharded applications and, beside each, the single database in
// the same protocol mode: by the name of the way, or of its mode.
func ways(t *testing.T, c *cluster) (sharded []way, single map[string]asker) {
	t.Helper()
	single = map[string]asker{}
	modes := []struct {
		name   string
		params []string
		text   bool
	}{
		{name: "prepared"},
		{name: "interpolated", params: []string{"interpolateParams=true"}},
		{name: "text", text: true},
	}
	for _, m := range modes {
		one := openDSN(t, c.singleDSN(m.params...))
		single[m.name], single[m.name+" statement"] = pooled(one), prepared(one)
		pool, _ := c.openSQL(t, c.config(m.params...))
		db := c.open(t, c.config(m.params...), nil)
		sharded = append(sharded,
			way{m.name + " connector", pooled(pool), m.text},
			way{m.name + " gorm", throughGORM(db.DB), m.text})
		if m.name == "interpolated" {
			continue
		}
		cfg := c.config(m.params...)
		cfg.Props = config.Props{MaxConnectionsPerQuery: 3}
		wide, _ := c.openSQL(t, cfg)
		sharded = append(sharded,
			way{m.name + " several connections", pooled(wide), m.text},
			way{m.name + " statement", prepared(pool), m.text},
			way{m.name + " transaction", inTransaction(t, pool), m.text})
	}
	return sharded, single
}

func pooled(pool *sql.DB) asker {
	return func(ctx context.Context, query string, args []any) (*sql.Rows, error) {
		return pool.QueryContext(ctx, query, args...)
	}
}

func throughGORM(db *gorm.DB) asker {
	return func(ctx context.Context, query string, args []any) (*sql.Rows, error) {
		return db.WithContext(ctx).Raw(query, args...).Rows()
	}
}

func prepared(pool *sql.DB) asker {
	return func(ctx context.Context, query string, args []any) (*sql.Rows, error) {
		stmt, err := pool.PrepareContext(ctx, query)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { _ = stmt.Close() })
		return stmt.QueryContext(ctx, args...)
	}
}

// inTransaction asks every query in one transaction, which a failing query must
// not spoil.
func inTransaction(t *testing.T, pool *sql.DB) asker {
	t.Helper()
	tx, err := pool.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	return pooledTx(tx)
}

func pooledTx(tx *sql.Tx) asker {
	return func(ctx context.Context, query string, args []any) (*sql.Rows, error) {
		return tx.QueryContext(ctx, query, args...)
	}
}

// compare asks every query in every way, and the single database as often.
func compare(t *testing.T, queries []query) {
	t.Helper()
	c := sampleCluster(t)
	sharded, single := ways(t, c)
	refused := 0
	for _, q := range queries {
		t.Run(q.sql, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var ranks map[string]string
			if q.ties != "" {
				ranks = ranksOf(t, ctx, single["prepared"], q.ties)
			}
			var refusal string
			failed := map[string][]string{}
			for _, w := range sharded {
				mode := w.name[:len(w.name)-len(afterFirstWord(w.name))]
				text, args := q.sql, q.args
				unlimited, _ := q.limited()
				if w.text {
					text, args = inline(t, q.sql, q.args), nil
					unlimited.sql, unlimited.args = inline(t, unlimited.sql, unlimited.args), nil
				}
				alone, ok := single[w.name]
				if !ok {
					alone = single[mode]
				}
				want := ask(ctx, alone, text, args)
				got := ask(ctx, w.ask, text, args)
				d := q.differ(want, got, ask(ctx, alone, unlimited.sql, unlimited.args), ranks)
				switch {
				case d == "":
				case q.open && len(d) > 8 && d[:8] == "refused:":
					refusal = d
				default:
					failed[d] = append(failed[d], w.name)
				}
			}
			if refusal != "" {
				refused++
				t.Log(refusal)
			}
			for d, names := range failed {
				t.Errorf("%v\n%s\nargs %v\n%s", names, q.sql, q.args, d)
			}
		})
	}
	t.Logf("%d queries, %d of them refused", len(queries), refused)
}

func afterFirstWord(s string) string {
	for i := range s {
		if s[i] == ' ' {
			return s[i:]
		}
	}
	return ""
}

func TestReadsGiveWhatOneDatabaseGives(t *testing.T) { compare(t, reads) }
