package rewrite_test

import (
	"strings"
	"testing"
	"time"
)

// Whatever nests or repeats, a statement is planned or refused in bounded time.
func TestDeepStatementsTakeBoundedTime(t *testing.T) {
	if testing.Short() {
		t.Skip("plans statements of hundreds of blocks")
	}
	nest := func(head, open, inner, closing string, n int) string {
		return head + strings.Repeat(open, n) + inner + strings.Repeat(closing, n)
	}
	repeat := func(head, part, tail string, n int) string { return head + strings.Repeat(part, n) + tail }
	cases := map[string]string{
		"parentheses":       nest("SELECT id FROM t_ent_order WHERE ", "(", "ent_id = 5", ")", 900),
		"arithmetic":        nest("SELECT id FROM t_ent_order WHERE ent_id = ", "(1 + ", "1", ")", 900),
		"a long sum":        repeat("SELECT id FROM t_ent_order WHERE ent_id = 1", " + 1", "", 5_000),
		"signs":             repeat("SELECT id FROM t_ent_order WHERE ent_id = ", "- ", "1", 5_000),
		"functions":         nest("SELECT id FROM t_ent_order WHERE ", "ABS(", "ent_id", ") = 5", 900),
		"cases":             nest("SELECT id FROM t_ent_order WHERE ", "CASE WHEN ", "ent_id = 5", " THEN 1 END", 5000),
		"IN subqueries":     nest("SELECT id FROM t_ent_order WHERE ", "ent_id IN (SELECT ent_id FROM t_ent_order WHERE ", "ent_id = 5", ")", 900),
		"correlated":        nest("SELECT id FROM t_ent_order o WHERE ", "EXISTS (SELECT 1 FROM t_ent_order_detail d WHERE d.ent_id = o.ent_id AND ", "1 = 1", ")", 900),
		"scalar subqueries": nest("SELECT ", "(SELECT id + ", "1", " FROM t_ent_order WHERE ent_id = 5)", 900) + " FROM t_ent_order WHERE ent_id = 5",
		"derived tables":    nest("SELECT * FROM ", "(SELECT * FROM ", "t_ent_order", " WHERE ent_id = 5) x", 900),
		"derived by name":   nest("SELECT ent_id FROM ", "(SELECT ent_id FROM ", "t_ent_order", " WHERE ent_id = 5) x", 900),
		"lists of WITH":     repeat("WITH x AS (SELECT * FROM t_ent_order WHERE ent_id = 5)", ", y AS (SELECT * FROM x)", " SELECT * FROM x", 1000),
		"nested WITH":       nest("", "WITH x AS (", "SELECT * FROM t_ent_order", ") SELECT * FROM x WHERE ent_id = 5", 900),
		"joins":             repeat("SELECT 1 FROM t_ent_order o", " JOIN t_ent_order_detail USING (ent_id)", " WHERE o.ent_id = 5", 60),
		"nested joins":      nest("SELECT 1 FROM ", "(t_ent_order JOIN ", "t_ent_order_detail", " ON 1 = 1)", 60),
		"unions":            repeat("SELECT id FROM t_ent_order WHERE ent_id = 5", " UNION SELECT id FROM t_ent_order_detail WHERE ent_id = 5", "", 500),
		"subqueries beside": repeat("SELECT id FROM t_ent_order o WHERE 1 = 1", " AND EXISTS (SELECT 1 FROM t_ent_order_detail d WHERE d.ent_id = o.ent_id)", "", 300),
		"labels":            repeat("SELECT 1", ", t_ent_order.id + 1", " FROM t_ent_order WHERE ent_id = 5", 5_000),
		"lists":             repeat("SELECT id FROM t_user WHERE user_id IN (1", ", 2", ")", 30_000),
		"tuples":            repeat("SELECT user_id FROM t_user WHERE (user_id, name) IN ((1, 'a')", ", (2, 'b')", ")", 10_000),
		"comparisons":       repeat("SELECT id FROM t_user WHERE user_id = 1", " OR user_id = 3", "", 20_000),
	}
	p := orderService(t)
	for name, sql := range cases {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := p.run(sql, nil)
			took := time.Since(start)
			t.Logf("%d bytes in %v: %.120v", len(sql), took, err)
			if took > 10*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}
