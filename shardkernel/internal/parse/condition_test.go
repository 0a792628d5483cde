package parse

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

func TestConditionsOfOneTable(t *testing.T) {
	cases := []struct{ where, want string }{
		{"id = 1", "0.id = 1"},
		{"1 = id", "0.id = 1"},
		{"ID = ?", "0.id = ?0"},
		{"t_order.id = ? AND `t_order`.`a` = ?", "(0.id = ?0 AND 0.a = ?1)"},
		{"id <=> 5", "0.id = 5"},
		{"id <=> NULL", "0.id IS NULL"},
		{"id <=> ?", "0.id <=> ?0"},
		{"NOT (id <=> 5)", "open"},
		{"id < 1", "0.id < 1"},
		{"1 < id", "0.id > 1"},
		{"1 >= id", "0.id <= 1"},
		{"NOT id < 1", "0.id >= 1"},
		{"NOT (5 <= id)", "0.id < 5"},
		{"NOT (id <> 1)", "0.id = 1"},
		{"NOT (id != 1)", "0.id = 1"},
		{"NOT NOT (id = 1)", "0.id = 1"},
		{"!(id <> 1)", "0.id = 1"},
		{"NOT id = 1", "open"},
		{"id <> 1", "open"},
		{"id BETWEEN 1 AND 5", "0.id BETWEEN 1 AND 5"},
		{"id BETWEEN ? AND 10+?", "0.id BETWEEN ?0 AND +(10, ?1)"},
		{"id NOT BETWEEN 1 AND 5", "open"},
		{"NOT (id NOT BETWEEN 1 AND 5)", "0.id BETWEEN 1 AND 5"},
		{"id BETWEEN NULL AND 5", "false"},
		{"1 BETWEEN id AND 5", "open"},
		{"id IS NULL", "0.id IS NULL"},
		{"id IS NOT NULL", "open"},
		{"NOT (id IS NOT NULL)", "0.id IS NULL"},
		{"id = NULL", "false"},
		{"NULL = id", "false"},
		{"NOT (id = NULL)", "false"},
		{"id < NULL", "false"},
		{"id <> NULL", "false"},
		{"(id = 1) = 0", "open"},
		{"(id = 1) IS TRUE", "0.id = 1"},
		{"(id = 1) IS FALSE", "open"},
		{"(id <> 1) IS FALSE", "open"},
		{"(id = 1) IS NOT TRUE", "open"},
		{"NOT ((id = 1) IS NOT TRUE)", "0.id = 1"},
		{"id = 1 XOR a = 2", "open"},
		{"id = 1 OR a = 2", "(0.id = 1 OR 0.a = 2)"},
		{"id = 1 OR a <> 2", "open"},
		{"id = 1 AND a <> 2", "0.id = 1"},
		{"id = 1 || id = 2", "open"},
		{"a = 3 AND (id = 1 || 'x')", "0.a = 3"},
		{"id = 1 && a = 2", "(0.id = 1 AND 0.a = 2)"},
		{"id = 2 OR a = 'x' AND id = 4", "(0.id = 2 OR (0.a = \"x\" AND 0.id = 4))"},
		{"(id = 1 OR id = 2) OR (id = 3)", "(0.id = 1 OR 0.id = 2 OR 0.id = 3)"},
		{"NOT (id <> 1 OR a <> 2)", "(0.id = 1 AND 0.a = 2)"},
		{"NOT (id <> 1 AND a <> 2)", "(0.id = 1 OR 0.a = 2)"},
		{"NOT (id = 1 AND a <> 2)", "open"},
		{"id = 1 OR TRUE", "open"},
		{"id = 1 OR 1", "open"},
		{"id = 1 OR FALSE", "0.id = 1"},
		{"id = 1 OR NULL", "0.id = 1"},
		{"id = 1 AND FALSE", "false"},
		{"id = 1 AND NULL", "false"},
		{"id = 1 AND NOT NULL", "false"},
		{"id = 1 AND NOT 0", "0.id = 1"},
		{"id = 1 AND NOT TRUE", "false"},
		{"id = 1 AND 'abc'", "0.id = 1"},
		{"FALSE OR NULL", "false"},
		{"id IN (1, ?, 'x')", `0.id IN (1, ?0, "x") [1|?|'x'] top`},
		{"id IN (1, NULL)", "0.id IN (1, NULL) [1|NULL] top"},
		{"(id) IN ((1), -2)", "0.id IN (1, -2) [(1)|-2] top"},
		{"id NOT IN (1, 2)", "open"},
		{"NOT (id NOT IN (1, 2))", "0.id IN (1, 2) [1|2]"},
		{"NOT (id IN (1, 2))", "open"},
		{"a = 1 AND (id IN (1, 2))", "(0.a = 1 AND 0.id IN (1, 2) [1|2] top)"},
		{"a = 1 OR id IN (1, 2)", "(0.a = 1 OR 0.id IN (1, 2) [1|2])"},
		{"id IN (1, a)", "0.id IN (1, unknown) [1|a] top"},
		{"id IN (f(1, 2), 10 + ?)", "0.id IN (unknown, +(10, ?0)) [f(1, 2)|10 + ?] top"},
		{"id IN (SELECT 1)", "open"},
		{"id IN (1, (SELECT 2))", "0.id IN (1, unknown) [1|(SELECT 2)] top"},
		{"id + 0 IN (1, 2)", "open"},
		{"(a, id) IN ((1, 2), (3, ?))", "(0.a, 0.id) IN ((1, 2), (3, ?0)) [(1, 2)|(3, ?)] top"},
		{"(a, id) IN ((1, NULL))", "(0.a, 0.id) IN ((1, NULL)) [(1, NULL)] top"},
		{"(a, id) NOT IN ((1, 2))", "open"},
		{"(a, f(id)) IN ((1, 2))", "(0.a, none.) IN ((1, 2)) [(1, 2)] top"},
		{"(f(a), f(id)) IN ((1, 2))", "open"},
		{"(a, id) = (1, 2)", "(0.a = 1 AND 0.id = 2)"},
		{"ROW(a, id) = ROW(1, ?)", "(0.a = 1 AND 0.id = ?0)"},
		{"(a, id) = (1, NULL)", "false"},
		{"(a, id) <> (1, 2)", "open"},
		{"NOT ((a, id) <> (1, 2))", "(0.a = 1 AND 0.id = 2)"},
		{"(a, id) > (1, 2)", "0.a >= 1"},
		{"(a, id) <= (?, 2)", "0.a <= ?0"},
		{"(a, id) < (NULL, 2)", "false"},
		{"NOT ((a, id) > (1, 2))", "0.a <= 1"},
		{"(1, 2) < (a, id)", "0.a >= 1"},
		{"(a, id) <=> (1, NULL)", "(0.a = 1 AND 0.id IS NULL)"},
		{"id = 1 AND 1 = 1", "0.id = 1"},
		{"id = 1 OR 1 <> 1", "0.id = 1"},
		{"id = 1 AND 1 = 0", "false"},
		{"id = 1 OR NOT (1 > 0)", "0.id = 1"},
		{"1 = '1'", "open"},
		{"id = a", "open"},
		{"id = 10 + ?", "0.id = +(10, ?0)"},
		{"id = -?", "0.id = neg(?0)"},
		{"id = 2*(3+?) - -1", "0.id = -(*(2, +(3, ?0)), -1)"},
		{"id = CAST(? AS SIGNED) DIV 2", "0.id = DIV(signed(?0), 2)"},
		{"id = CONVERT('5', UNSIGNED) MOD 3", `0.id = %(unsigned("5"), 3)`},
		{"id = CAST(? AS CHAR)", "0.id = unknown"},
		{"id = 1 / 2", "0.id = unknown"},
		{"id = 1 + f(2)", "0.id = unknown"},
		{"id = ~0 & ? | 1 << 2", "0.id = |(&(~(0), ?0), <<(1, 2))"},
		{"id = (SELECT 1)", "open"},
		{"id = ANY (SELECT 1)", "open"},
		{"EXISTS (SELECT 1)", "open"},
		{"abs(id) = 1", "open"},
		{"id + 1 = 2", "open"},
		{"-id = 1", "open"},
		{"id = -5", "0.id = -5"},
		{"id = +5", "0.id = 5"},
		{"id = - 9223372036854775808", "0.id = -9223372036854775808"},
		{"id = 18446744073709551615", "0.id = 18446744073709551615u"},
		{"id = 28446744073709551615", "0.id = dec 28446744073709551615"},
		{"id = -18446744073709551615", "0.id = dec -18446744073709551615"},
		{"id = 1.50", "0.id = dec 1.50"},
		{"id = -1.5", "0.id = dec -1.5"},
		{"id = 1e3", "0.id = 1000f"},
		{"id = TRUE", "0.id = true"},
		{"id = 0x0A", "0.id = x0a"},
		{"id = X'ff'", "0.id = xff"},
		{"id = b'101'", "0.id = x05"},
		{`id = 'it''s \'x\' \\ \n'`, `0.id = "it's 'x' \\ \n"`},
		{`id = "dou""ble"`, `0.id = "dou\"ble"`},
		{"id = 'a' 'b'", `0.id = "ab"`},
		{"id = N'x'", `0.id = "x"`},
		{"id = _utf8mb4'x'", `0.id = "x"`},
		{"id = _latin1'x'", "0.id = unknown"},
		{"id = DATE '2024-01-01'", "0.id = unknown"},
		{"d = NOW()", "0.d = NOW"},
		{"d > CURRENT_TIMESTAMP", "0.d > NOW"},
		{"d > NOW() - INTERVAL 1 DAY", "0.d > unknown"},
		{"id = @v", "open"},
		{"id COLLATE utf8mb4_bin = 'x'", "open"},
		{"id = 'x' COLLATE utf8mb4_bin", "0.id = unknown"},
		{"id IN ('x', 'y' COLLATE utf8mb4_bin)", "open"},
		{"(id, uid) IN (('x', 1), (CONCAT('y' COLLATE utf8mb4_bin), 2))", "open"},
		{"id BETWEEN 'x' AND 'y' COLLATE utf8mb4_bin", "open"},
		{"id IN ('x', N'ß')", `0.id IN ("x", "ß") ['x'|N'ß'] top`},
		{"id IN ('x', N'😀')", "open"},
		{"(id, uid) IN (('x', 1), (_utf8'😀', 2))", "open"},
		{"BINARY id = 'x'", "open"},
		{"CAST(id AS CHAR) = 'x'", "open"},
		{"id LIKE 'x'", "open"},
		{"id REGEXP 'x'", "open"},
		{"id = 1 IS NULL", "open"},
		{"id = 1 = 1", "open"},
		{"CASE WHEN id = 1 THEN 1 END", "open"},
		{"other.id = 1", "none.id = 1"},
		{"id = ? -- comment\n AND a /* = 3 */ = ?", "(0.id = ?0 AND 0.a = ?1)"},
		{"id = 1 /*! AND a = 2 */", "(0.id = 1 AND 0.a = 2)"},
		{"id = 1 /*!50000 AND a = 2 */", "(0.id = 1 AND 0.a = 2)"},
		{"id = 1 /*T! AND a = 2 */", "0.id = 1"},
		{"MATCH (a) AGAINST ('x') AND id = 1", "0.id = 1"},
	}
	for _, c := range cases {
		t.Run(c.where, func(t *testing.T) {
			stmt := mustParse(t, "SELECT * FROM t_order WHERE "+c.where)
			if got := describeCond(stmt, stmt.Scopes[0].Where); got != c.want {
				t.Errorf("WHERE %s\n got %s\nwant %s", c.where, got, c.want)
			}
			if err := verify(stmt, "actual_", dialect.MySQL); err != nil {
				t.Error(err)
			}
		})
	}
}

// What holds for every row of a block is WHERE and the ON of joins that are not
// below the nullable side of an outer join.
func TestConditionsAndJoins(t *testing.T) {
	const a, b, c = "t_order a", "t_order_item b", "t_dict c"
	cases := []struct{ from, where, joins, equal string }{
		{a + " JOIN " + b + " ON a.k = b.k AND a.k = 5", "0.k = 5", "inner [0] [1] 0.k=1.k", ""},
		{a + " LEFT JOIN " + b + " ON a.k = b.k AND a.k = 5", "open", "left [0] [1] 0.k=1.k", ""},
		{a + " RIGHT JOIN " + b + " ON a.k = b.k AND b.k = 5", "open", "left [1] [0] 0.k=1.k", ""},
		{a + " LEFT JOIN " + b + " ON a.k = b.k WHERE b.k = 4", "1.k = 4", "left [0] [1] 0.k=1.k", ""},
		{a + " LEFT JOIN " + b + " ON a.k = b.k WHERE b.k IS NULL", "open", "left [0] [1] 0.k=1.k", ""},
		{a + " LEFT JOIN " + b + " ON a.k = b.k WHERE b.k <=> ?", "1.k <=> ?0", "left [0] [1] 0.k=1.k", ""},
		{a + " LEFT JOIN " + b + " ON a.k = b.k WHERE a.k IS NULL", "0.k IS NULL", "left [0] [1] 0.k=1.k", ""},
		{a + " LEFT JOIN " + b + " ON a.k = b.k WHERE k IS NULL", "open", "left [0] [1] 0.k=1.k", ""},
		{a + " RIGHT JOIN " + b + " ON a.k = b.k WHERE a.k IS NULL", "open", "left [1] [0] 0.k=1.k", ""},
		{a + ", " + b + " WHERE a.k = b.k AND b.k = 3", "1.k = 3", "inner [0] [1] ", "0.k=1.k"},
		{a + ", " + b + " JOIN " + c + " ON b.x = c.x AND b.x = 1", "1.x = 1", "inner [1] [2] 1.x=2.x; inner [0] [1 2] ", ""},
		{
			a + " LEFT JOIN (" + b + " JOIN " + c + " ON b.x = c.x AND b.x = 1) ON a.k = b.k", "open",
			"inner [1] [2] 1.x=2.x; left [0] [1 2] 0.k=1.k", "",
		},
		{"(" + a + " JOIN " + b + " ON a.k = 1) LEFT JOIN " + c + " ON c.x = 2", "0.k = 1", "inner [0] [1] ; left [0 1] [2] ", ""},
		{"(" + a + " JOIN " + b + " ON a.k = 1) RIGHT JOIN " + c + " ON c.x = 2", "open", "inner [0] [1] ; left [2] [0 1] ", ""},
		{a + " STRAIGHT_JOIN " + b + " ON a.k = b.k AND b.k = 1", "1.k = 1", "inner [0] [1] 0.k=1.k", ""},
		{a + " CROSS JOIN " + b, "open", "inner [0] [1] ", ""},
		{a + " JOIN " + b + " USING (K)", "open", "inner [0] [1] 0.k=1.k", ""},
		{a + " JOIN " + b + " USING (k) JOIN " + c + " USING (k)", "open", "inner [0] [1] 0.k=1.k; inner [0 1] [2] 0.k=2.k", ""},
		{a + " RIGHT JOIN " + b + " USING (k) JOIN " + c + " USING (k)", "open", "left [1] [0] 1.k=0.k; inner [0 1] [2] 1.k=2.k", ""},
		{a + " JOIN " + b + " ON a.k = b.k JOIN " + c + " USING (z)", "open", "inner [0] [1] 0.k=1.k; inner [0 1] [2] any.z=2.z", ""},
		{a + " NATURAL JOIN " + b + " WHERE k = 1", "any.k = 1", "natural [0] [1] ", ""},
		{a + " NATURAL LEFT JOIN " + b, "open", "natural [0] [1] ", ""},
		{a + " JOIN " + b + " ON a.k = b.k + 1", "open", "inner [0] [1] ", ""},
		{a + " JOIN " + b + " ON a.k = b.k OR a.x = b.x", "open", "inner [0] [1] ", ""},
		{a + " JOIN (SELECT 1 AS k) d ON a.k = d.k WHERE a.k IN (1, 2)", "0.k IN (1, 2) [1|2] top", "inner [0] [] 0.k=none.k", ""},
		{a + " JOIN " + b + " ON a.k IN (1, 2)", "0.k IN (1, 2) [1|2]", "inner [0] [1] ", ""},
	}
	for _, c := range cases {
		t.Run(c.from, func(t *testing.T) {
			stmt := mustParse(t, "SELECT 1 FROM "+c.from)
			scope := stmt.Scopes[0]
			if got := describeCond(stmt, scope.Where); got != c.where {
				t.Errorf("Where: got %s, want %s", got, c.where)
			}
			var joins []string
			for _, j := range scope.Joins {
				joins = append(joins, [...]string{"inner", "left", "natural"}[j.Kind]+" "+
					strings.ReplaceAll(sprint(j.Left)+" "+sprint(j.Right), ",", "")+" "+describePairs(stmt, j.Equal))
			}
			if got := strings.Join(joins, "; "); got != c.joins {
				t.Errorf("Joins: got %q, want %q", got, c.joins)
			}
			if got := describePairs(stmt, scope.Equal); got != c.equal {
				t.Errorf("Equal: got %q, want %q", got, c.equal)
			}
			if err := verify(stmt, "actual_", dialect.MySQL); err != nil {
				t.Error(err)
			}
		})
	}
}

// SQLite reads a comma and RIGHT JOIN from left to right, MySQL does not.
func TestConditionsWidenWhereSQLiteJoinsOtherwise(t *testing.T) {
	const sql = "SELECT 1 FROM t_order a JOIN t_order_item b ON a.k = 1, t_dict c RIGHT JOIN t_dict d ON d.x = 2 WHERE a.z IS NULL"
	stmt := mustParseIn(t, sql, dialect.SQLite)
	if got := describeCond(stmt, stmt.Scopes[0].Where); got != "open" {
		t.Errorf("SQLite: got %s, want open", got)
	}
	stmt = mustParse(t, sql)
	if got := describeCond(stmt, stmt.Scopes[0].Where); got != "(0.z IS NULL AND 0.k = 1)" {
		t.Errorf("MySQL: got %s", got)
	}
}

func TestScopesOfSubqueries(t *testing.T) {
	stmt := mustParse(t, `SELECT (SELECT max(x) FROM t_dict WHERE id = 9) FROM t_order
		WHERE id = 1 AND EXISTS (SELECT 1 FROM t_order_item i WHERE i.order_id = t_order.id AND i.order_id = 7 AND t_order.x IS NULL)`)
	want := []struct {
		parent int
		where  string
	}{{-1, "1.id = 1"}, {0, "0.id = 9"}, {0, "(2.order_id = 7 AND none.x IS NULL)"}}
	if len(stmt.Scopes) != len(want) {
		t.Fatalf("got %d scopes, want %d", len(stmt.Scopes), len(want))
	}
	for i, w := range want {
		s := stmt.Scopes[i]
		if got := describeCond(stmt, s.Where); got != w.where || s.Parent != w.parent {
			t.Errorf("scope %d: parent %d, %s; want %d, %s", i, s.Parent, got, w.parent, w.where)
		}
	}
	if stmt.Features&FeatureSubquery == 0 || stmt.Features&FeatureDerived != 0 {
		t.Errorf("features %b", stmt.Features)
	}
}

func TestConditionsOfWrites(t *testing.T) {
	cases := []struct{ sql, want string }{
		{"UPDATE t_order SET a = 1 WHERE id = 5 AND id IN (1, 2)", "(0.id = 5 AND 0.id IN (1, 2) [1|2] top)"},
		{"DELETE FROM t_order WHERE id = 5", "0.id = 5"},
		{"UPDATE t_order o JOIN t_order_item i ON o.id = i.id AND i.id = 3 SET o.a = 1", "1.id = 3"},
		{"DELETE o FROM t_order o LEFT JOIN t_order_item i ON o.id = i.id AND i.id = 3", "open"},
	}
	for _, c := range cases {
		stmt := mustParse(t, c.sql)
		if got := describeCond(stmt, stmt.Scopes[0].Where); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.sql, got, c.want)
		}
	}
}

// value is a value of MySQL's logic: an integer or NULL.
type value struct {
	null bool
	n    int
}

var null = value{null: true}

func truth(b bool) value {
	if b {
		return value{n: 1}
	}
	return value{}
}

func (v value) isTrue() bool  { return !v.null && v.n != 0 }
func (v value) isFalse() bool { return !v.null && v.n == 0 }

func not(v value) value {
	if v.null {
		return null
	}
	return truth(v.n == 0)
}

func and(a, b value) value {
	switch {
	case a.isFalse() || b.isFalse():
		return value{}
	case a.null || b.null:
		return null
	}
	return value{n: 1}
}

func or(a, b value) value { return not(and(not(a), not(b))) }

func compare(op string, a, b value) value {
	if op == "<=>" {
		return truth(a == b)
	}
	if a.null || b.null {
		return null
	}
	return truth(map[string]bool{"=": a.n == b.n, "<>": a.n != b.n, "<": a.n < b.n, "<=": a.n <= b.n, ">": a.n > b.n, ">=": a.n >= b.n}[op])
}

// row holds the columns of a row.
type row map[string]value

// expression is a text with its meaning.
type expression struct {
	text string
	eval func(row) value
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// randomOperand is a column, a literal or, where deep allows, a condition.
func randomOperand(r *rand.Rand, depth int) expression {
	switch n := r.IntN(10); {
	case n < 4:
		return expression{"id", func(x row) value { return x["id"] }}
	case n < 5:
		return expression{"a", func(x row) value { return x["a"] }}
	case n < 6:
		return expression{"NULL", func(row) value { return null }}
	case n < 9 || depth == 0:
		n := r.IntN(4)
		return expression{sprint(n), func(row) value { return value{n: n} }}
	}
	return randomCondition(r, depth-1)
}

func randomCondition(r *rand.Rand, depth int) expression {
	l, m, h := randomOperand(r, depth), randomOperand(r, depth), randomOperand(r, depth)
	if depth > 0 && r.IntN(3) > 0 {
		a, b := randomCondition(r, depth-1), randomCondition(r, depth-1)
		switch r.IntN(7) {
		case 0, 1:
			return expression{"(" + a.text + " AND " + b.text + ")", func(x row) value { return and(a.eval(x), b.eval(x)) }}
		case 2, 3:
			return expression{"(" + a.text + " OR " + b.text + ")", func(x row) value { return or(a.eval(x), b.eval(x)) }}
		case 4:
			return expression{"(NOT " + a.text + ")", func(x row) value { return not(a.eval(x)) }}
		case 5:
			return expression{"(" + a.text + " XOR " + b.text + ")", func(x row) value {
				l, r := a.eval(x), b.eval(x)
				return or(and(l, not(r)), and(not(l), r))
			}}
		default:
			want, negated := r.IntN(2) == 1, r.IntN(2) == 1
			text := "(" + a.text + " IS "
			if negated {
				text += "NOT "
			}
			return expression{text + strings.ToUpper(sprint(want)) + ")", func(x row) value {
				v := a.eval(x)
				return truth((want && v.isTrue() || !want && v.isFalse()) != negated)
			}}
		}
	}
	negated := r.IntN(3) == 0
	negate := func(v value) value {
		if negated {
			return not(v)
		}
		return v
	}
	word := ""
	if negated {
		word = "NOT "
	}
	switch r.IntN(6) {
	case 0:
		return expression{"(" + l.text + " " + word + "IN (" + m.text + ", " + h.text + "))", func(x row) value {
			return negate(or(compare("=", l.eval(x), m.eval(x)), compare("=", l.eval(x), h.eval(x))))
		}}
	case 1:
		return expression{"(" + l.text + " " + word + "BETWEEN " + m.text + " AND " + h.text + ")", func(x row) value {
			return negate(and(compare(">=", l.eval(x), m.eval(x)), compare("<=", l.eval(x), h.eval(x))))
		}}
	case 2:
		return expression{"(" + l.text + " IS " + word + "NULL)", func(x row) value { return negate(truth(l.eval(x).null)) }}
	case 3:
		return expression{"((id, a) " + word + "IN ((" + l.text + ", " + m.text + ")))", func(x row) value {
			return negate(and(compare("=", x["id"], l.eval(x)), compare("=", x["a"], m.eval(x))))
		}}
	}
	op := pick(r, "=", "=", "<>", "<", "<=", ">", ">=", "<=>")
	return expression{"(" + l.text + " " + op + " " + m.text + ")", func(x row) value { return compare(op, l.eval(x), m.eval(x)) }}
}

// holds evaluates a condition tree; what is unknown holds.
func holds(c *Cond, x row) bool {
	operand := func(o Operand) (value, bool) {
		switch v := o.Literal.(type) {
		case int64:
			return value{n: int(v)}, true
		case nil:
			return null, o.Kind == OperandLiteral
		}
		return null, false
	}
	is := func(op string, col Column, o Operand) bool {
		v, known := operand(o)
		return !known || compare(op, x[col.Name], v).isTrue()
	}
	switch c.Op {
	case CondFalse:
		return false
	case CondAnd:
		for _, k := range c.Kids {
			if !holds(k, x) {
				return false
			}
		}
	case CondOr:
		for _, k := range c.Kids {
			if holds(k, x) {
				return true
			}
		}
		return false
	case CondCompare:
		return is([...]string{"=", "<", "<=", ">", ">=", "<=>"}[c.Compare], c.Column, c.Values[0])
	case CondIn:
		for _, v := range c.Values {
			if is("=", c.Column, v) {
				return true
			}
		}
		return false
	case CondBetween:
		return is(">=", c.Column, c.Values[0]) && is("<=", c.Column, c.Values[1])
	case CondIsNull:
		return x[c.Column.Name].null
	case CondTupleIn:
		for _, tuple := range c.Tuples {
			if is("=", c.Columns[0], tuple[0]) && is("=", c.Columns[1], tuple[1]) {
				return true
			}
		}
		return false
	}
	return true
}

// Whatever the condition, no row that fulfils it may be missed.
func TestConditionsAreNeverTooNarrow(t *testing.T) {
	values := []value{null, {n: 0}, {n: 1}, {n: 2}, {n: 3}}
	narrowed := 0
	for seed := range uint64(4000) {
		e := randomCondition(rand.New(rand.NewPCG(seed, 1)), 3)
		stmt, err := Parse("SELECT 1 FROM t_order WHERE "+e.text, testTables, dialect.MySQL)
		if err != nil {
			t.Fatalf("seed %d, %s: %v", seed, e.text, err)
		}
		c := stmt.Scopes[0].Where
		if c == nil {
			continue
		}
		narrowed++
		for _, id := range values {
			for _, a := range values {
				x := row{"id": id, "a": a}
				if e.eval(x).isTrue() && !holds(c, x) {
					t.Fatalf("seed %d: %s is true for %v, but its condition is not: %s", seed, e.text, fmt.Sprint(x), describeCond(stmt, c))
				}
			}
		}
	}
	if narrowed < 500 {
		t.Errorf("only %d of the conditions say anything", narrowed)
	}
}
