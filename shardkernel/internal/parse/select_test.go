package parse

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

func describeItem(stmt *Statement, it Item) string {
	var b strings.Builder
	b.WriteString(it.Expr.of(stmt))
	if it.Span != it.Expr {
		b.WriteString(" of " + it.Span.of(stmt))
	}
	if it.Star {
		b.WriteString(" star " + it.StarOf)
	}
	b.WriteString(" label " + it.Label)
	if it.Alias != "" {
		b.WriteString(" alias")
	}
	if it.Column != nil {
		b.WriteString(" col " + describeColumn(stmt, *it.Column))
	}
	if a := it.Aggregate; a != nil {
		fmt.Fprintf(&b, " %s/%d %s", a.Func, a.Args, a.Arg.of(stmt))
		if a.Distinct {
			b.WriteString(" distinct")
		}
		if a.Star {
			b.WriteString(" star")
		}
		if a.Column != nil {
			b.WriteString(" " + describeColumn(stmt, *a.Column))
		}
	} else if it.HasAggregate {
		b.WriteString(" aggregate inside")
	}
	return b.String()
}

func TestSelectItems(t *testing.T) {
	cases := []struct {
		list string
		want string
	}{
		{"*", "* star  label "},
		{"t_order.*, a", "t_order.* star t_order label ; a label a col 0.a"},
		{"count(*), Max( amount )", "count(*) label count(*) COUNT/1 * star; Max( amount ) label Max( amount ) MAX/1 amount 0.amount"},
		{"COUNT(1), COUNT(NULL), count(?)", "COUNT(1) label COUNT(1) COUNT/1 1 star; COUNT(NULL) label COUNT(NULL) COUNT/1 NULL; count(?) label count(?) COUNT/1 ?"},
		{"SUM(DISTINCT t_order.A) AS s", "SUM(DISTINCT t_order.A) of SUM(DISTINCT t_order.A) AS s label s alias SUM/1 t_order.A distinct 0.a"},
		{"COUNT(DISTINCT(c)) x", "COUNT(DISTINCT(c)) of COUNT(DISTINCT(c)) x label x alias COUNT/1 (c) distinct 0.c"},
		{"count(DISTINCT a, b)", "count(DISTINCT a, b) label count(DISTINCT a, b) COUNT/2 a, b distinct"},
		{"group_concat(DISTINCT a ORDER BY b DESC SEPARATOR ',')", "group_concat(DISTINCT a ORDER BY b DESC SEPARATOR ',') label group_concat(DISTINCT a ORDER BY b DESC SEPARATOR ',') GROUP_CONCAT/1 a ORDER BY b DESC SEPARATOR ',' distinct"},
		{"IFNULL(SUM(a), 0)", "IFNULL(SUM(a), 0) label IFNULL(SUM(a), 0) aggregate inside"},
		{"(SELECT max(a) FROM t_dict)", "(SELECT max(a) FROM t_dict) label (SELECT max(a) FROM t_dict)"},
		{"sum(a) OVER (), max(a) + 1 'b c'", "sum(a) OVER () label sum(a) OVER (); max(a) + 1 of max(a) + 1 'b c' label b c alias aggregate inside"},
		{"DISTINCT `A` , (b) /* c */", "`A` label A col 0.a; (b) label b col 0.b"},
		{"SQL_NO_CACHE HIGH_PRIORITY a", "a label a col 0.a"},
		{"'x', 1, NULL, a + 1 AS `sum of a`", "'x' label x; 1 label 1; NULL label NULL; a + 1 of a + 1 AS `sum of a` label sum of a alias"},
		{"f(a, (b)), CASE WHEN a IN (1, 2) THEN 1 END e", "f(a, (b)) label f(a, (b)); CASE WHEN a IN (1, 2) THEN 1 END of CASE WHEN a IN (1, 2) THEN 1 END e label e alias"},
		{"max(a) COLLATE utf8mb4_bin", "max(a) COLLATE utf8mb4_bin label max(a) COLLATE utf8mb4_bin aggregate inside"},
		{"t_order.order, extract(year FROM d)", "t_order.order label order col 0.order; extract(year FROM d) label extract(year FROM d)"},
	}
	for _, c := range cases {
		t.Run(c.list, func(t *testing.T) {
			stmt := mustParse(t, "SELECT "+c.list+" FROM t_order LIMIT 1")
			var got []string
			for _, it := range stmt.Select.Items {
				got = append(got, describeItem(stmt, it))
			}
			if s := strings.Join(got, "; "); s != c.want {
				t.Errorf("\n got %s\nwant %s", s, c.want)
			}
			if end := strings.TrimSuffix(c.list, " /* c */"); stmt.Select.ItemsEnd != len("SELECT ")+len(end) {
				t.Errorf("ItemsEnd %d, want behind %q", stmt.Select.ItemsEnd, end)
			}
		})
	}
}

func describeBy(stmt *Statement, items []ByItem) string {
	parts := make([]string, len(items))
	for i, by := range items {
		var b strings.Builder
		fmt.Fprintf(&b, "%s item %d", by.Span.of(stmt), by.Item)
		if by.Desc {
			b.WriteString(" desc")
		}
		if by.ByAlias {
			b.WriteString(" alias")
		}
		if by.Position != 0 {
			fmt.Fprintf(&b, " position %d", by.Position)
		}
		if by.Column != nil {
			b.WriteString(" col " + describeColumn(stmt, *by.Column))
		}
		if by.Aggregate != nil {
			b.WriteString(" " + by.Aggregate.Func)
		}
		if by.HasAggregate {
			b.WriteString(" aggregate")
		}
		if by.Constant {
			b.WriteString(" constant")
		}
		parts[i] = b.String()
	}
	return strings.Join(parts, "; ")
}

func TestOrderAndGroupItems(t *testing.T) {
	const one = "t_order"
	const two = "t_order o JOIN t_order_item i ON o.id = i.id"
	cases := []struct{ list, from, by, order, group string }{
		{"a, b", one, "b", "b item 1 col 0.b", "b item 1 col 0.b"},
		{"a", one, "B, c", "B item 0 col 0.b; c item -1 col 0.c", ""},
		{"a, b", one, "2", "2 item 1 position 2", "2 item 1 position 2"},
		{"a, b", one, "3", "3 item -1 position 3", "3 item -1 position 3"},
		{"a, t_order.*, b", one, "1, 3", "1 item 0 position 1; 3 item -1 position 3", "1 item 0 position 1; 3 item -1 position 3"},
		{"a AS b, c", one, "b", "b item 0 alias", "b item 0 alias col 0.b"},
		{"a AS b, b AS c", one, "b", "b item 0 alias", "b item 1 col 0.b"},
		{"a AS b, b AS c", one, "t_order.b", "t_order.b item 1 col 0.b", "t_order.b item 1 col 0.b"},
		{"date(a) AS day, count(*)", one, "day", "day item 0 alias", "day item 0 alias col 0.day"},
		{"a AS a", one, "a", "a item 0 col 0.a", "a item 0 col 0.a"},
		{"o.a", two, "a", "a item 0 col any.a", "a item 0 col any.a"},
		{"o.a", two, "o.a, i.a", "o.a item 0 col 0.a; i.a item -1 col 1.a", "o.a item 0 col 0.a; i.a item -1 col 1.a"},
		{"count(*)", one, "COUNT( * )", "COUNT( * ) item 0 COUNT aggregate", "COUNT( * ) item 0 COUNT aggregate"},
		{"sum(a)+1", one, "sum(a) + 1, sum(a)", "sum(a) + 1 item 0 aggregate; sum(a) item -1 SUM aggregate", ""},
		{"a + ?", one, "a + ?", "a + ? item -1", "a + ? item -1"},
		{"rand()", one, "rand()", "rand() item -1", "rand() item -1"},
		{"a", one, "NULL, 1 + 1, 'x'", "NULL item -1 constant; 1 + 1 item -1 constant; 'x' item -1 constant", ""},
		{"a", one, "?", "? item -1", "? item -1"},
		{"a", one, "f(a, b), (a)", "f(a, b) item -1; (a) item 0 col 0.a", "f(a, b) item -1; (a) item 0 col 0.a"},
		{"a", one, "MATCH (a) AGAINST ('x')", "MATCH (a) AGAINST ('x') item -1", ""},
		{"a", one, "(SELECT max(x) FROM t_dict)", "(SELECT max(x) FROM t_dict) item -1", ""},
	}
	cases[1].order = "B item -1 col 0.b; c item -1 col 0.c"
	for _, c := range cases {
		t.Run(c.list+"/"+c.by, func(t *testing.T) {
			stmt := mustParse(t, "SELECT "+c.list+" FROM "+c.from+" ORDER BY "+c.by)
			if got := describeBy(stmt, stmt.Select.OrderBy); got != c.order {
				t.Errorf("ORDER BY\n got %s\nwant %s", got, c.order)
			}
			if c.group == "" {
				return
			}
			stmt = mustParse(t, "SELECT "+c.list+" FROM "+c.from+" GROUP BY "+c.by)
			if got := describeBy(stmt, stmt.Select.GroupBy); got != c.group {
				t.Errorf("GROUP BY\n got %s\nwant %s", got, c.group)
			}
		})
	}
}

func TestOrderDirections(t *testing.T) {
	stmt := mustParse(t, "SELECT 1 FROM t_order ORDER BY a DESC, b ASC, c, t_order.desc, `asc` desc")
	want := "a item -1 desc col 0.a; b item -1 col 0.b; c item -1 col 0.c; t_order.desc item -1 col 0.desc; `asc` item -1 desc col 0.asc"
	if got := describeBy(stmt, stmt.Select.OrderBy); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// Clause spans, with the place where ORDER BY would go shown as ^.
func TestSelectClauses(t *testing.T) {
	cases := []struct{ sql, group, having, order, limit, tail string }{
		{"SELECT a FROM t_order^", "", "", "", "", ""},
		{"SELECT a FROM t_order WHERE b = 1^ LIMIT 3", "", "", "", "LIMIT 3", "3"},
		{"SELECT a FROM t_order GROUP BY a, b^ LIMIT 1, 2", "GROUP BY a, b", "", "", "LIMIT 1, 2", "2 from 1"},
		{"SELECT a FROM t_order GROUP BY a WITH ROLLUP HAVING a > 1^ ORDER BY a DESC LIMIT ? OFFSET ?", "GROUP BY a", "HAVING a > 1", "ORDER BY a DESC", "LIMIT ? OFFSET ?", "?0 from ?1"},
		{"SELECT a FROM t_order WHERE a IN (SELECT b FROM t_dict GROUP BY b ORDER BY b LIMIT 9)^ /* c */ FOR UPDATE", "", "", "", "", ""},
		{"SELECT a FROM t_order^ LOCK IN SHARE MODE;", "", "", "", "", ""},
		{"SELECT a FROM t_order^ LIMIT 18446744073709551615 OFFSET 1 FOR SHARE OF t_order SKIP LOCKED", "", "", "", "LIMIT 18446744073709551615 OFFSET 1", "18446744073709551615u from 1"},
		{"SELECT t_order.limit FROM t_order USE INDEX FOR ORDER BY (a) WHERE t_order.group = 1^ ORDER BY t_order.limit", "", "", "ORDER BY t_order.limit", "", ""},
		{"SELECT sum(a) OVER w FROM t_order WINDOW w AS (ORDER BY b)^ ORDER BY a", "", "", "ORDER BY a", "", ""},
		{"SELECT a FROM t_order^ INTO OUTFILE 'x'", "", "", "", "", ""},
		{"(SELECT a FROM t_order^ ORDER BY a LIMIT 2)", "", "", "ORDER BY a", "LIMIT 2", "2"},
		{"WITH c AS (SELECT 1 FROM t_dict ORDER BY 1) SELECT a FROM t_order, c^ ORDER BY a", "", "", "ORDER BY a", "", ""},
		{"WITH c AS (SELECT 1) (SELECT a FROM t_order^ ORDER BY a)", "", "", "ORDER BY a", "", ""},
	}
	for _, c := range cases {
		t.Run(c.sql, func(t *testing.T) {
			at := strings.Index(c.sql, "^")
			stmt := mustParse(t, strings.Replace(c.sql, "^", "", 1))
			s := stmt.Select
			if s == nil {
				t.Fatal("no Select")
			}
			if s.TailStart != at {
				t.Errorf("TailStart %d, want %d", s.TailStart, at)
			}
			for _, p := range []struct {
				what string
				got  Span
				want string
			}{{"GROUP BY", s.GroupBySpan, c.group}, {"HAVING", s.Having, c.having}, {"ORDER BY", s.OrderBySpan, c.order}} {
				if p.got.of(stmt) != p.want {
					t.Errorf("%s: got %q, want %q", p.what, p.got.of(stmt), p.want)
				}
			}
			if (s.Limit != nil) != (c.limit != "") {
				t.Fatalf("Limit %v", s.Limit)
			}
			if s.Limit == nil {
				return
			}
			tail := describeOperand(s.Limit.Count)
			if s.Limit.Offset.Span != (Span{}) {
				tail += " from " + describeOperand(s.Limit.Offset)
			}
			if s.Limit.Span.of(stmt) != c.limit || tail != c.tail {
				t.Errorf("Limit: %q, %s; want %q, %s", s.Limit.Span.of(stmt), tail, c.limit, c.tail)
			}
		})
	}
}

func TestLimitOperandSpans(t *testing.T) {
	stmt := mustParse(t, "SELECT a FROM t_order LIMIT 7, ?")
	l := stmt.Select.Limit
	if l.Offset.Span.of(stmt) != "7" || l.Count.Span.of(stmt) != "?" || l.Count.Param != 0 {
		t.Errorf("%+v", l)
	}
}

func TestSelectIsNilForMoreThanOneBlock(t *testing.T) {
	for _, sql := range []string{
		"SELECT 1 FROM t_order UNION SELECT 2",
		"(SELECT 1 FROM t_order) LIMIT 1",
		"(SELECT 1 FROM t_order LIMIT 2) ORDER BY 1",
		"TABLE t_order",
	} {
		if stmt := mustParse(t, sql); stmt.Kind != KindSelect || stmt.Select != nil {
			t.Errorf("%s: kind %d, Select %v", sql, stmt.Kind, stmt.Select)
		}
	}
}

func TestHavingAggregate(t *testing.T) {
	stmt := mustParse(t, "SELECT a FROM t_order HAVING count(*) > 1")
	if !stmt.Select.HasAggregate() {
		t.Error("an aggregate in HAVING is not seen")
	}
	if stmt = mustParse(t, "SELECT a FROM t_order HAVING a > (SELECT max(x) FROM t_dict)"); stmt.Select.HasAggregate() {
		t.Error("an aggregate of a subquery is taken for the block's")
	}
}

// The statements GORM makes.
func TestShapesOfGORM(t *testing.T) {
	for _, sql := range []string{
		"SELECT * FROM `t_order` WHERE `t_order`.`id` = ? AND `t_order`.`deleted_at` IS NULL ORDER BY `t_order`.`id` LIMIT ?",
		"SELECT count(*) FROM `t_order` WHERE user_id = ? AND `t_order`.`deleted_at` IS NULL",
		"SELECT `t_order`.`id`,`User`.`id` AS `User__id` FROM `t_order` LEFT JOIN `users` `User` ON `t_order`.`user_id` = `User`.`id` WHERE `t_order`.`id` IN (?,?,?)",
		"SELECT * FROM `t_order_item` WHERE `t_order_item`.`order_id` IN (NULL)",
		"INSERT INTO `t_order` (`a`,`b`) VALUES (?,?),(?,DEFAULT) RETURNING `id`",
		"INSERT INTO `t_order` (`a`,`id`) VALUES (?,?) ON DUPLICATE KEY UPDATE `id`=`id`",
		"INSERT INTO `t_order` (`a`,`id`) VALUES (?,?) ON DUPLICATE KEY UPDATE `user_id`=VALUES(`user_id`)",
		"INSERT INTO `t_order` (`a`,`id`) VALUES (?,?) ON CONFLICT (`id`) DO UPDATE SET `user_id`=`excluded`.`user_id` RETURNING `id`",
		"INSERT INTO `t_order` (`a`) VALUES (?) ON CONFLICT DO NOTHING RETURNING `id`",
		"UPDATE `t_order` SET `deleted_at`=? WHERE `t_order`.`id` = ? AND `t_order`.`deleted_at` IS NULL",
		"UPDATE `t_order` SET `a`=?,`updated_at`=? WHERE `t_order`.`deleted_at` IS NULL AND `id` = ?",
		"DELETE FROM `t_order` WHERE `t_order`.`id` = ?",
		"SELECT * FROM `t_order` WHERE (user_id = ? OR user_id = ?) AND id > ? ORDER BY `t_order`.`id` LIMIT ? OFFSET ?",
		"SELECT * FROM t_order as o WHERE o.id = ? FOR UPDATE",
		"SELECT * FROM `db`.`t_order` LIMIT ?",
	} {
		for _, d := range []*dialect.Dialect{dialect.MySQL, dialect.SQLite} {
			stmt, err := Parse(sql, testTables, d)
			if err != nil {
				t.Errorf("%s: %s: %v", d.Name, sql, err)
				continue
			}
			if n := strings.Count(sql, "?"); len(stmt.Markers) != n {
				t.Errorf("%s: %d markers, want %d", sql, len(stmt.Markers), n)
			}
			if err := verify(stmt, "actual_", d); err != nil {
				t.Errorf("%s: %v", sql, err)
			}
		}
	}
}

func BenchmarkParsePointSelect(b *testing.B) {
	const sql = "SELECT * FROM `t_order` WHERE `t_order`.`id` = ? AND `t_order`.`deleted_at` IS NULL ORDER BY `t_order`.`id` LIMIT ?"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(sql, testTables, dialect.MySQL); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkScanPointSelect(b *testing.B) {
	const sql = "SELECT * FROM `orders` WHERE `orders`.`id` = ? AND `orders`.`deleted_at` IS NULL ORDER BY `orders`.`id` LIMIT ?"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Scan(sql, testTables, dialect.MySQL); err != nil {
			b.Fatal(err)
		}
	}
}
