//go:build unix

package orders_test

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/gormshard/sharding"
)

// refusals are reads beyond those of joins that may be refused only as a whole.
var refusals = []query{
	{sql: "SELECT id FROM t_ent_order ORDER BY id FOR UPDATE", open: true},
	{sql: "SELECT id FROM t_ent_order LOCK IN SHARE MODE", open: true},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 4 FOR UPDATE SKIP LOCKED", open: true},
	{sql: "SELECT id INTO @x FROM t_ent_order", open: true},
	{sql: "SELECT id FROM t_ent_order PROCEDURE ANALYSE()", open: true},
	{sql: "SELECT COUNT(*) OVER () FROM t_ent_order", open: true},
	{sql: "SELECT * FROM t_ent_order PARTITION (p0)", open: true},
	{sql: "SELECT LAST_INSERT_ID() FROM t_ent_order", open: true},
	{sql: "SELECT FOUND_ROWS() FROM t_ent_order", open: true},
	{sql: "SELECT @@server_id FROM t_ent_order", open: true},
	{sql: "SELECT CONNECTION_ID(), id FROM t_ent_order", open: true},
	{sql: "SELECT GET_LOCK('x', 1) FROM t_ent_order", open: true},
	{sql: "SELECT SLEEP(0) FROM t_ent_order", open: true},
	{sql: "SELECT id FROM t_ent_order ORDER BY ?", args: []any{"id"}, open: true},
	{sql: "SELECT id FROM t_ent_order LIMIT ?", args: []any{"3"}, open: true},
	{sql: "SELECT id FROM t_ent_order LIMIT ?", args: []any{-1}, open: true},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ?", open: true},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = 1", args: []any{1}, open: true},
	{sql: "SELECT id FROM t_ent_order WHERE ent_id = ALL (SELECT ent_id FROM t_ent_order_item)", open: true},
	{sql: "SELECT JSON_ARRAYAGG(id) FROM t_ent_order", open: true},
	{sql: "SELECT COUNT(DISTINCT id) + 1 FROM t_ent_order", open: true},
	{sql: "SELECT region_id, COUNT(DISTINCT name) FROM t_ent_order GROUP BY region_id", open: true},
	{sql: "SELECT id FROM t_ent_order EXCEPT SELECT order_id FROM t_ent_order_detail", open: true},
	{sql: "SELECT id FROM t_ent_order INTERSECT SELECT order_id FROM t_ent_order_detail", open: true},
	{sql: "WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM x WHERE n < 3) SELECT x.n, o.id FROM x JOIN t_ent_order o ON o.small = x.n", open: true},
	{sql: "TABLE t_ent_order", open: true},
	{sql: "VALUES (1) UNION SELECT id FROM t_ent_order", open: true},
	{sql: "SHOW CREATE TABLE t_ent_order", open: true},
	{sql: "DESCRIBE t_ent_order", open: true},
	{sql: "EXPLAIN SELECT * FROM t_ent_order", open: true},
	{sql: "CHECK TABLE t_ent_order", open: true},
	{sql: "ANALYZE TABLE t_ent_order", open: true},
	{sql: "CALL p(t_ent_order)", open: true},
	{sql: "HANDLER t_ent_order OPEN", open: true},
}

// refusalsSendNothing turns the servers' general logs on and looks for the
// tables' names in them.
func (f *failures) refusalsSendNothing(t *testing.T) {
	a := f.open(t, f.config(), nil)
	for _, table := range []string{"t_ent_order", "t_ent_order_detail", "t_ent_order_item", "t_region"} {
		if err := a.Exec("SELECT * FROM " + table + " LIMIT 1").Error; err != nil { // columns are known from now on
			t.Fatal(err)
		}
	}
	logs := make([]*sql.DB, len(f.servers))
	for i, s := range f.servers {
		logs[i] = openDSN(t, s.DSN("mysql"))
		for _, set := range []string{"TRUNCATE mysql.general_log", "SET GLOBAL log_output = 'TABLE'", "SET GLOBAL general_log = 1"} {
			if _, err := logs[i].ExecContext(t.Context(), set); err != nil {
				t.Fatal(err)
			}
		}
	}
	a.trace.take()
	refused, answered := 0, map[string]bool{}
	for _, q := range append(append([]query{}, joins...), refusals...) {
		if !q.open {
			continue
		}
		if _, err := a.plugin.Preview(t.Context(), q.sql, q.args...); err == nil {
			continue // answered
		}
		err := a.Exec(q.sql, q.args...).Error
		units := a.trace.take()
		switch {
		case !errors.Is(err, sharding.ErrUnsupported):
			answered[inline(t, q.sql, q.args)] = true
			continue
		case len(units) > 0:
			t.Errorf("%s\nwas refused (%v) after %v", q.sql, err, units)
		}
		var facts *sharding.UnsupportedError
		if !errors.As(err, &facts) || facts.Clause == "" || facts.Reason == "" && facts.Err == nil || facts.Remedy == "" {
			t.Errorf("%s\nthe refusal lacks clause, reason or remedy: %v", q.sql, err)
		}
		// Another way to ask, and to prepare, is no way around.
		if err := ask(t.Context(), throughGORM(a.DB), q.sql, q.args).err; !errors.Is(err, sharding.ErrUnsupported) {
			t.Errorf("%s\nas a query gave %v", q.sql, err)
		}
		if err := a.Raw(q.sql, q.args...).Row().Err(); !errors.Is(err, sharding.ErrUnsupported) {
			t.Errorf("%s\nas a row gave %v", q.sql, err)
		}
		if _, err := a.plugin.Preview(t.Context(), q.sql, q.args...); !errors.Is(err, sharding.ErrUnsupported) {
			t.Errorf("%s\nas a preview gave %v", q.sql, err)
		}
		if units := a.trace.take(); len(units) > 0 {
			t.Errorf("%s\nsent %v", q.sql, units)
		}
		refused++
	}
	for i, log := range logs {
		if _, err := log.ExecContext(t.Context(), "SET GLOBAL general_log = 0"); err != nil {
			t.Fatal(err)
		}
		received := ask(t.Context(), pooled(log), "SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log "+
			"WHERE argument REGEXP 't_ent|t_region' AND argument NOT LIKE '%information_schema.%'", nil)
		if received.err != nil {
			t.Error(received.err)
		}
		for _, r := range received.rows {
			if text := string(r[0].([]byte)); !answered[text] {
				t.Errorf("server %d received %s", i, text)
			}
		}
	}
	t.Logf("%d statements refused", refused)
}
