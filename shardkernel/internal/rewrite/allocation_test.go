package rewrite_test

import (
	"testing"
)

// TestPointLookupAllocatesOnlyItsResult bounds what a statement that goes to one
// node costs once it is planned: the route's result and the execution.
func TestPointLookupAllocatesOnlyItsResult(t *testing.T) {
	p := orderService(t)
	for name, c := range map[string]struct {
		sql  string
		args []any
		want float64
	}{
		"point lookup": {"SELECT * FROM t_ent_order WHERE ent_id = ? AND status > ?", []any{int64(5), int64(1)}, 2},
		"update":       {"UPDATE t_ent_order SET status = ? WHERE ent_id = ?", []any{int64(5), int64(1)}, 2},
		"insert":       {"INSERT INTO t_ent_order (id, ent_id) VALUES (?, ?)", []any{int64(5), int64(1)}, 2},
		"binding join": {"SELECT o.id FROM t_ent_order o JOIN t_ent_order_detail d ON o.ent_id = d.ent_id WHERE o.ent_id = ?", []any{int64(5)}, 2},
		"broadcast":    {"SELECT * FROM t_region WHERE id = ?", []any{int64(5)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			statement, err := p.compile(c.sql)
			if err != nil {
				t.Fatal(err)
			}
			got := testing.AllocsPerRun(200, func() {
				e, err := statement.run(c.args)
				if err != nil {
					t.Fatal(err)
				}
				if len(e.Units[0].Args) != len(c.args) || &e.Units[0].Args[0] != &c.args[0] {
					t.Fatal("the unit has another slice of arguments than the caller's")
				}
			})
			if got > c.want {
				t.Errorf("%v allocations, want at most %v", got, c.want)
			}
		})
	}
}

func BenchmarkPointLookup(b *testing.B) {
	p := orderService(b)
	statement, err := p.compile("SELECT * FROM t_ent_order WHERE ent_id = ? AND status > ?")
	if err != nil {
		b.Fatal(err)
	}
	args := []any{int64(5), int64(1)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := statement.run(args); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInsertOver4Nodes(b *testing.B) {
	p := orderService(b)
	sql, args := "INSERT INTO t_ent_order (id, ent_id, status) VALUES (?, ?, ?)", []any{int64(0), int64(0), int64(0)}
	for i := range 99 {
		sql += ", (?, ?, ?)"
		args = append(args, int64(i), int64(i), int64(1))
	}
	statement, err := p.compile(sql)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := statement.run(args); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkScatter(b *testing.B) {
	p := orderService(b)
	statement, err := p.compile("SELECT status, AVG(amount) FROM t_ent_order GROUP BY status ORDER BY status LIMIT 10")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := statement.run(nil); err != nil {
			b.Fatal(err)
		}
	}
}
