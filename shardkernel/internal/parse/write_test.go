package parse

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

func describeAssignments(stmt *Statement, list []Assignment) string {
	parts := make([]string, len(list))
	for i, a := range list {
		parts[i] = describeColumn(stmt, a.Column) + "=" + describeOperand(a.Value)
		if a.Self {
			parts[i] += " self"
		}
		if a.Inserted != "" {
			parts[i] += " inserted " + a.Inserted
		}
	}
	return strings.Join(parts, ", ")
}

// describeInsert prints the body; rows as span=values.
func describeInsert(stmt *Statement) string {
	ins := stmt.Insert
	var b strings.Builder
	if ins.Columns != nil {
		fmt.Fprintf(&b, "(%s)", strings.Join(ins.Columns, ","))
	}
	for _, r := range ins.Rows {
		b.WriteString(" " + r.Span.of(stmt) + "=")
		for i, v := range r.Values {
			if i > 0 {
				b.WriteByte('|')
			}
			b.WriteString(describeOperand(v))
			if !ins.Set {
				b.WriteString("@" + v.Span.of(stmt))
			}
		}
	}
	for _, f := range []struct {
		on   bool
		name string
	}{{ins.Set, "set"}, {ins.Select, "select"}, {ins.Ignore, "ignore"}, {ins.Conflict, "conflict"}, {ins.Returning, "returning"}} {
		if f.on {
			b.WriteString(" " + f.name)
		}
	}
	if len(ins.OnDup) > 0 {
		b.WriteString(" dup " + describeAssignments(stmt, ins.OnDup))
	}
	return strings.TrimSpace(b.String())
}

func TestInserts(t *testing.T) {
	cases := []struct{ sql, want string }{
		{"INSERT INTO t_order (ID, `B`) VALUES (1, ?), ( -2 ,DEFAULT)", "(id,b) (1, ?)=1@1|?0@? ( -2 ,DEFAULT)=-2@-2|DEFAULT@DEFAULT"},
		{"INSERT INTO t_order VALUES (1, 'a,b', f(1, (2)), NOW())", `(1, 'a,b', f(1, (2)), NOW())=1@1|"a,b"@'a,b'|unknown@f(1, (2))|NOW@NOW()`},
		{"INSERT t_order VALUE (NULL)", "(NULL)=NULL@NULL"},
		{"INSERT INTO t_order () VALUES ()", "() ()="},
		{"INSERT INTO t_order VALUES ()", "()="},
		{"INSERT LOW_PRIORITY IGNORE INTO db.t_order PARTITION (p) (id) VALUES (id + 1)", "(id) (id + 1)=unknown@id + 1 ignore"},
		{"INSERT INTO t_order (id) VALUES ((SELECT 1)), (?)", "(id) ((SELECT 1))=unknown@(SELECT 1) (?)=?0@?"},
		{"INSERT INTO t_order SET id = ?, a = 'x'", `(id,a) =?0|"x" set`},
		{"INSERT INTO t_order (id) SELECT id FROM t_dict", "(id) select"},
		{"INSERT INTO t_order (id) (SELECT id FROM t_dict)", "(id) select"},
		{"INSERT INTO t_order SELECT id FROM t_dict UNION SELECT 1", "select"},
		{"INSERT INTO t_order (SELECT id FROM t_dict)", "select"},
		{"REPLACE INTO t_order (id) VALUES (1)", "(id) (1)=1@1"},
		{
			"INSERT INTO t_order (id) VALUES (1) ON DUPLICATE KEY UPDATE id=id, a = VALUES(A), b = ?, c = b, d = t_order.d, e = VALUES(e) + 1",
			"(id) (1)=1@1 dup 0.id=unknown self, 0.a=unknown inserted a, 0.b=?0, 0.c=unknown, 0.d=unknown self, 0.e=unknown",
		},
		{
			"INSERT INTO t_order (id, a) VALUES (1, 2) AS new ON DUPLICATE KEY UPDATE a = NEW.a, id = new.id + 1",
			"(id,a) (1, 2)=1@1|2@2 dup 0.a=unknown inserted a, 0.id=unknown",
		},
		{
			"INSERT INTO t_order (id, a) VALUES (1, 2) AS new (m, n) ON DUPLICATE KEY UPDATE a = n, id = new.m, b = a",
			"(id,a) (1, 2)=1@1|2@2 dup 0.a=unknown inserted a, 0.id=unknown inserted id, 0.b=unknown",
		},
		{"INSERT INTO t_order SET a = CAST(1 AS CHAR) AS new ON DUPLICATE KEY UPDATE a = new.a", "(a) =unknown set dup 0.a=unknown inserted a"},
		{
			"INSERT INTO t_order (id) SELECT id FROM t_dict ON DUPLICATE KEY UPDATE id = t_dict.id, a = t_order.a, b = b",
			"(id) select dup 0.id=unknown, 0.a=unknown self, 0.b=unknown",
		},
		{
			"INSERT INTO t_order (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET a = excluded.a, b = `excluded`.`b`, c = c, d = ? RETURNING id, ?",
			"(id) (1)=1@1 conflict returning dup 0.a=unknown inserted a, 0.b=unknown inserted b, 0.c=unknown self, 0.d=?0",
		},
		{"INSERT INTO t_order (id) VALUES (1) ON CONFLICT DO NOTHING", "(id) (1)=1@1 conflict"},
		{"INSERT INTO t_order (id) VALUES (?) RETURNING *", "(id) (?)=?0@? returning"},
		{"INSERT INTO t_order (returning) VALUES (1) RETURNING returning", "(returning) (1)=1@1 returning"},
	}
	for _, c := range cases {
		t.Run(c.sql, func(t *testing.T) {
			stmt := mustParse(t, c.sql)
			if got := describeInsert(stmt); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
			if n := strings.Count(c.sql, "?"); len(stmt.Markers) != n {
				t.Errorf("%d markers, want %d", len(stmt.Markers), n)
			}
			if err := verify(stmt, "actual_", dialect.MySQL); err != nil {
				t.Error(err)
			}
		})
	}
}

// Offsets where an INSERT may be added to, shown as ^: the end of the column
// list, of the rows or of the assignments.
func TestInsertOffsets(t *testing.T) {
	cases := []string{
		"INSERT INTO t_order (a, b^) VALUES (1, (2)), (3, 4)^ ON DUPLICATE KEY UPDATE a = (1)",
		"INSERT INTO t_order (^) VALUES ()^ RETURNING a",
		"INSERT INTO t_order (a^) VALUES (1)^ AS new(c) ON DUPLICATE KEY UPDATE a = c",
		"INSERT INTO t_order (a^) VALUES (1)^ ON CONFLICT (a) DO NOTHING",
		"INSERT INTO t_order SET a = f(1)^ ON DUPLICATE KEY UPDATE a = 1",
		"INSERT INTO t_order SET a = f(1)^ AS new ON DUPLICATE KEY UPDATE a = 1",
		"INSERT INTO t_order SET a = f(1)^ RETURNING a",
		"INSERT INTO t_order SET a = f(1)^ ;",
	}
	for _, c := range cases {
		stmt := mustParse(t, strings.ReplaceAll(c, "^", ""))
		ins := stmt.Insert
		at := []int{ins.ColumnsEnd, ins.RowsSpan.End}
		if ins.Set {
			at = []int{ins.SetEnd}
		}
		got := stmt.Text
		for i := len(at) - 1; i >= 0; i-- {
			got = got[:at[i]] + "^" + got[at[i]:]
		}
		if got != c {
			t.Errorf("\n got %s\nwant %s", got, c)
		}
	}
	if stmt := mustParse(t, "INSERT INTO t_order VALUES (1)"); stmt.Insert.ColumnsEnd != -1 || stmt.Insert.Columns != nil {
		t.Errorf("without a column list: %+v", stmt.Insert)
	}
}

func TestUpdates(t *testing.T) {
	cases := []struct {
		sql  string
		set  string
		want Update
	}{
		{
			"UPDATE t_order SET A = ?, t_order.b = 'x', c = c, d = d + 1 WHERE id = 1",
			`0.a=?0, 0.b="x", 0.c=unknown self, 0.d=unknown`,
			Update{Where: Span{Start: 60, End: 72}},
		},
		{"UPDATE t_order SET a = t_order.a, b = DEFAULT ORDER BY id LIMIT 1", "0.a=unknown self, 0.b=DEFAULT", Update{OrderBy: true, Limit: true}},
		{"UPDATE t_order o, t_order_item i SET o.a = i.a, b = 1, i.c = i.c", "0.a=unknown, any.b=1, 1.c=unknown self", Update{Multi: true}},
		{"UPDATE t_order SET returning = 1 WHERE returning = 2 RETURNING returning, ?", "0.returning=1", Update{Returning: true}},
	}
	for _, c := range cases {
		stmt := mustParse(t, c.sql)
		if got := describeAssignments(stmt, stmt.Update.Set); got != c.set {
			t.Errorf("%s\n got %s\nwant %s", c.sql, got, c.set)
		}
		got := *stmt.Update
		got.Set = nil
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: got %+v, want %+v", c.sql, got, c.want)
		}
	}
}

func TestDeletes(t *testing.T) {
	cases := []struct {
		sql  string
		want Delete
	}{
		{"DELETE FROM t_order WHERE id = 1", Delete{}},
		{"DELETE FROM t_order ORDER BY id LIMIT 1", Delete{OrderBy: true, Limit: true}},
		{"DELETE FROM t_order WHERE id = 1 RETURNING id", Delete{Returning: true}},
		{"DELETE o FROM t_order o JOIN t_order_item i ON o.id = i.id", Delete{Multi: true}},
	}
	for _, c := range cases {
		if stmt := mustParse(t, c.sql); *stmt.Delete != c.want {
			t.Errorf("%s: got %+v, want %+v", c.sql, *stmt.Delete, c.want)
		}
	}
}

// A marker's ordinal counts over the whole text, tails included.
func TestMarkersInTextOrder(t *testing.T) {
	stmt := mustParse(t, "WITH c AS (SELECT ?) SELECT a + ? FROM t_order JOIN c ON a = ? WHERE id = ? AND x IN ('?', ?) ORDER BY ? LIMIT ? OFFSET ?")
	if len(stmt.Markers) != 8 {
		t.Fatalf("%d markers", len(stmt.Markers))
	}
	for _, at := range stmt.Markers {
		if stmt.Text[at] != '?' {
			t.Errorf("no marker at %d", at)
		}
	}
	want := "(any.id = ?3 AND any.x IN (\"?\", ?4) ['?'|?] top AND any.a = ?2)"
	if got := describeCond(stmt, stmt.Scopes[0].Where); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if l := stmt.Select.Limit; l.Count.Param != 6 || l.Offset.Param != 7 {
		t.Errorf("LIMIT ?%d OFFSET ?%d", l.Count.Param, l.Offset.Param)
	}
}
