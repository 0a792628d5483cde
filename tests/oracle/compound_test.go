//go:build unix

package oracle_test

import (
	"fmt"
	"strings"
)

// branch writes a SELECT of two columns that are numbers, mostly.
func (g *generator) branch() fragment {
	if g.in(8) {
		return f("SELECT ", one(g, "1, 2", "7, NULL", "-3, 'x'"))
	}
	b := g.sources(1)
	src := b.sources[0]
	g.conditions(b)
	if g.in(30) {
		and := g.narrow(&b.scope, src)
		if b.where.sql != "" {
			and = f("(", b.where, ") AND ", and)
		}
		b.where = and
	}
	switch n := g.IntN(100); {
	case n < 70:
		for _, c := range src.columns[:2] {
			b.items = append(b.items, item{expr: f(src.alias, ".", c.name)})
		}
	case n < 80: // columns of other types, which the union brings together
		for range 2 {
			b.items = append(b.items, item{expr: f(src.alias, ".", one(g, src.columns...).name)})
		}
	case n < 88:
		b.items = []item{{expr: f(src.alias, ".", src.columns[0].name)}, {expr: f("COUNT(*)")}}
		b.group = f(" GROUP BY ", src.alias, ".", src.columns[0].name)
	case n < 94:
		b.items = []item{{expr: f("COUNT(*)")}, {expr: f("MAX(", src.alias, ".", src.columns[1].name, ")")}}
	default:
		b.head = "SELECT DISTINCT"
		b.items = []item{{expr: f(src.alias, ".", src.columns[0].name)}, {expr: f(src.alias, ".", src.columns[1].name)}}
	}
	text := b.sql()
	switch {
	case g.in(8):
		return f("(", text, " ORDER BY 1, 2 LIMIT ", g.value(1+g.IntN(4)), ")")
	case g.in(20):
		return f("(", text, ")")
	}
	return text
}

func (g *generator) setOperation() fragment {
	text := g.branch()
	for range one(g, 1, 1, 1, 1, 2, 2, 3) {
		text = f(text, one(g, " UNION ", " UNION ALL ", " UNION ALL ", " UNION DISTINCT ", " EXCEPT ", " INTERSECT ", " union all "), g.branch())
	}
	return text
}

func (g *generator) union() *query {
	q := &query{shape: "union", folded: true}
	q.statement = g.setOperation()
	if g.in(60) {
		q.statement = f(q.statement, " ORDER BY ", one(g, "1, 2", "1 DESC, 2", "2, 1", "2 DESC", "1"))
	}
	if g.in(30) {
		q.limited = true
		q.statement = f(q.statement, " LIMIT ", g.value(g.IntN(6)))
		if g.in(50) {
			q.offset = g.IntN(4)
			q.statement = f(q.statement, " OFFSET ", q.offset)
		}
	}
	return q
}

// window has window functions over rows in a total order.
func (g *generator) window() *query {
	b := g.sources(1)
	if g.in(15) {
		b = g.joined()
	}
	g.conditions(b)
	if g.in(25) {
		b.where = g.narrow(&b.scope, b.sources[0])
	}
	var order []string
	for _, src := range b.sources {
		for _, c := range strings.Split(src.primary, ", ") {
			order = append(order, src.alias+"."+c)
		}
	}
	by := strings.Join(order, ", ")
	src, c := g.pick(&b.scope)
	by = one(g, by, by, src.alias+"."+c.name+one(g, "", " DESC")+", "+by)
	partition := ""
	if g.in(60) {
		src, c := g.pick(&b.scope)
		partition = "PARTITION BY " + src.alias + "." + c.name + " "
	}
	number := order[0]
	b.items = append(b.items, item{expr: f(order[0])})
	for i := range 1 + g.IntN(2) {
		over := "(" + partition + "ORDER BY " + by + ")"
		function := one(g, "ROW_NUMBER()", "RANK()", "DENSE_RANK()", "COUNT(*)", "LAG("+number+")", "LEAD("+number+", 2)", "NTILE(3)", "SUM("+number+")", "MIN("+number+")", "FIRST_VALUE("+number+")", "CUME_DIST()", "PERCENT_RANK()")
		switch {
		case strings.HasPrefix(function, "SUM") && g.in(50):
			over = "(" + partition + "ORDER BY " + by + one(g, " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", " ROWS UNBOUNDED PRECEDING", " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING") + ")"
		case g.in(20) && (strings.HasPrefix(function, "COUNT") || strings.HasPrefix(function, "SUM") || strings.HasPrefix(function, "MIN")):
			over = "(" + partition + ")"
		}
		b.items = append(b.items, item{expr: f(function, " OVER ", over), alias: fmt.Sprintf("w%d", i)})
	}
	if g.in(25) { // the best of each group
		text := b.sql()
		return &query{statement: f("SELECT * FROM (", text, ") d WHERE w0 <= 2 ORDER BY 1, 2"), shape: "window"}
	}
	return g.finish(b, "window")
}

// compound has query blocks within query blocks.
func (g *generator) compound() *query {
	set := func() fragment { return f("(", g.setOperation(), ")") }
	t := one(g, orders, items, notes, kinds, wide)
	key, second := t.columns[0].name, t.columns[1].name
	grouped := func() fragment {
		s := &scope{sources: []source{{t, t.name}}}
		return f("SELECT ", t.name, ".", key, " AS k, COUNT(*) AS n, MAX(", t.name, ".", second, ") AS last FROM ", t.name, " WHERE ", g.condition(s, 1), " GROUP BY ", t.name, ".", key)
	}
	s := &scope{sources: []source{{t, "t"}}}
	number := g.value(g.IntN(5))
	q := &query{shape: "compound", folded: true}
	q.statement = one(g,
		func() fragment { return f("SELECT COUNT(*) FROM ", set(), " d") },
		func() fragment {
			return f("SELECT t.", key, ", t.", second, " FROM ", t.name, " t WHERE t.", key, one(g, " IN ", " NOT IN "), "(SELECT d.k FROM (", grouped(), ") d WHERE d.n > ", number, ") ORDER BY 1, 2")
		},
		func() fragment {
			return f("SELECT t.", key, ", d.n FROM ", t.name, " t ", one(g, "JOIN", "LEFT JOIN"), " (", grouped(), ") d ON d.k = t.", key, " AND d.last = t.", second, " ORDER BY 1, 2")
		},
		func() fragment {
			return f("SELECT n, COUNT(*) AS c FROM (", grouped(), ") d GROUP BY n ", one(g, "", "HAVING c > 1 "), "ORDER BY n")
		},
		func() fragment {
			return f("WITH a AS (", grouped(), "), b AS (SELECT k FROM a WHERE n > ", number, ") SELECT a.k, a.n FROM a JOIN b ON a.k = b.k ORDER BY 1")
		},
		func() fragment {
			return f("WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 5) SELECT r.i, COUNT(t.", key, ") FROM r LEFT JOIN ", t.name, " t ON t.", second, " = r.i GROUP BY r.i ORDER BY r.i")
		},
		func() fragment {
			return f("SELECT t.", key, ", COUNT(*) FROM ", t.name, " t GROUP BY t.", key, " HAVING COUNT(*) ", one(g, ">=", "=", "<"), " (SELECT MAX(n) FROM (", grouped(), ") d) ORDER BY 1")
		},
		func() fragment {
			return f("SELECT t.", key, ", t.", second, " FROM ", t.name, " t WHERE ", g.condition(s, 1), " ORDER BY (SELECT COUNT(*) FROM region r WHERE r.id <= t.", second, ") DESC, 1, 2")
		},
		func() fragment {
			return f("SELECT (SELECT COUNT(*) FROM items WHERE qty > ", number, ") AS a, (SELECT MAX(id) FROM orders) AS b")
		},
		func() fragment {
			return f("SELECT t.", key, ", t.", second, " FROM ", t.name, " t WHERE (t.", key, ", t.", second, ") IN ", set(), " ORDER BY 1, 2")
		},
		func() fragment {
			return f("SELECT d.k, d.n FROM (", grouped(), " ORDER BY n DESC, k LIMIT 3) d ORDER BY d.n, d.k")
		},
		func() fragment {
			return f("SELECT ", key, ", ", second, " FROM (SELECT * FROM (SELECT * FROM ", t.name, ") x WHERE ", second, " > ", number, ") y ORDER BY 2, 1 LIMIT 5")
		},
		func() fragment {
			return f("SELECT t.", key, ", t.", second, " FROM ", t.name, " t WHERE t.", second, " ", one(g, "> ALL", "= ANY", ">= SOME"), " (SELECT x.", second, " FROM ", t.name, " x WHERE x.", second, " < 9) ORDER BY 2, 1")
		},
		func() fragment {
			return f("SELECT DISTINCT a.", key, " FROM ", t.name, " a JOIN ", t.name, " b ON a.", second, " = b.", second, " + 1 ORDER BY 1")
		},
		func() fragment {
			return f("SELECT a.", second, ", b.", second, " FROM ", t.name, " a LEFT JOIN ", t.name, " b ON b.", second, " = a.", second, " + 1 AND b.", key, " <> a.", key, " ORDER BY 1, 2 LIMIT 7")
		},
	)()
	q.limited = strings.Contains(q.statement.sql[strings.LastIndex(q.statement.sql, ")")+1:], " LIMIT ")
	if g.in(40) {
		return g.window()
	}
	return q
}
