//go:build unix

package oracle_test

import (
	"fmt"
	"strings"
)

// aggregate is a SELECT with aggregates, mostly in groups.
func (g *generator) aggregate() *query {
	b := g.sources(1)
	if g.in(20) {
		b = g.joined()
	}
	b.grouped, b.folded = true, true
	g.conditions(b)
	var by []fragment
	if g.in(65) {
		for i := range 1 + g.IntN(2) {
			src, c := g.pick(&b.scope)
			if g.in(25) {
				src, c = g.textual(&b.scope)
			}
			expr := f(g.name(&b.scope, src, c.name))
			if g.in(20) {
				expr = f(g.expression(&b.scope, nil))
			}
			switch {
			case g.in(60):
				it := item{expr: expr}
				switch {
				case g.in(40):
					it.alias = fmt.Sprintf("k%d", i)
					if g.in(60) {
						expr = f(it.alias)
					}
				case g.in(20):
					expr = f(len(b.items) + 1)
				}
				b.items = append(b.items, it)
			}
			by = append(by, expr)
		}
	}
	for i := range 1 + g.IntN(3) {
		it := item{expr: g.aggregated(&b.scope)}
		if g.in(40) {
			it.alias = fmt.Sprintf("a%d", i)
		}
		b.items = append(b.items, it)
	}
	if len(by) > 0 {
		b.group = f(one(g, " GROUP BY ", " group by "), join(by, ", "))
		if g.in(6) {
			b.group = f(b.group, " WITH ROLLUP")
		}
	}
	if g.in(25) {
		b.group = f(b.group, " HAVING ", g.computed(&b.scope, 3))
	} else if g.in(12) {
		b.group = f(b.group, " HAVING ", g.aggregated(&b.scope), one(g, " > ", " <= ", " <> "), g.value(one[any](g, 0, 1, 3, "2", nil)))
	}
	return g.finish(b, "aggregate")
}

func (g *generator) aggregated(s *scope) fragment {
	src, c := g.pick(s)
	n := g.name(s, src, c.name)
	if g.in(15) {
		n = g.expression(s, nil)
	}
	// A sum of texts is a sum of doubles, whose last digits depend on the order.
	number := c.kind == kindInt || c.kind == kindUint || c.kind == kindDecimal || c.kind == kindFloat || c.kind == kindYear || c.kind == kindBits
	switch k := g.IntN(100); {
	case k < 14:
		return f(one(g, "COUNT(*)", "count(*)", "COUNT(1)", "COUNT( * )"))
	case k < 24:
		return f("COUNT(", n, ")")
	case k < 44 && number:
		return f(one(g, "SUM(", "sum("), n, ")")
	case k < 58 && number:
		return f("AVG(", n, ")")
	case k < 83:
		return f(one(g, "MIN(", "MAX("), n, ")")
	case k < 84:
		// The elements are in no order: their number is compared, or they are alike.
		return f(one(g, "JSON_ARRAYAGG(1)", "JSON_OBJECTAGG('k', 'v')", "JSON_LENGTH(JSON_ARRAYAGG("+g.name(s, src, src.columns[0].name)+"))"))
	case k < 87:
		return f(one(g, "COUNT", "SUM", "AVG", "MIN", "MAX"), "(DISTINCT ", one(g, g.name(s, src, src.columns[0].name), n), ")")
	case k < 89:
		return g.distinctAggregate(s)
	case k < 92:
		return f(one(g, "BIT_AND", "BIT_OR", "BIT_XOR"), "(", one(g, g.name(s, src, src.columns[0].name), n), ")")
	case k < 94:
		return f(one(g, "STD", "STDDEV", "STDDEV_POP", "STDDEV_SAMP", "VARIANCE", "VAR_POP", "VAR_SAMP"), "(", one(g, g.name(s, src, src.columns[0].name), n), ")")
	case k < 96:
		way := one(g, "", " DESC")
		separator := one(g, "", " SEPARATOR '|'", " SEPARATOR ''")
		if g.in(50) {
			return f("GROUP_CONCAT(DISTINCT ", n, " ORDER BY ", n, way, separator, ")")
		}
		// Equal texts that are not the same are in no order among each other.
		return f("GROUP_CONCAT(", n, " ORDER BY ", n, way, ", HEX(", n, ")", separator, ")")
	case k < 98:
		return g.computed(s, 2)
	}
	return f(fmt.Sprintf(one(g, "IFNULL(SUM(%s), 0)", "SUM(%s) / COUNT(*)", "AVG(%s) * 3", "ROUND(AVG(%s), 1)", "COUNT(*) + MAX(%s)"), g.name(s, src, src.columns[0].name)))
}

// computed is an expression over aggregates of exact numbers.
func (g *generator) computed(s *scope, depth int) fragment {
	src, c := g.pick(s)
	for c.kind != kindInt && c.kind != kindUint && c.kind != kindDecimal {
		src, c = g.pick(s)
	}
	n := g.name(s, src, c.name)
	if depth == 0 || g.in(20) {
		switch g.IntN(6) {
		case 0:
			return f("COUNT(*)")
		case 1:
			return f("AVG(", n, ")")
		case 2:
			return f(g.value(one[any](g, 0, 1, 2, 3, 7, nil)))
		case 3:
			return f(one(g, "1.5", "0.3333", "10", "-1", "0.25"))
		}
		return f(one(g, "SUM(", "COUNT(", "MIN(", "MAX("), n, ")")
	}
	x := func() fragment { return g.computed(s, depth-1) }
	switch g.IntN(16) {
	case 0, 1, 2, 3:
		return f("(", x(), one(g, " + ", " - ", " * ", " / ", " DIV ", " % "), x(), ")")
	case 4, 5, 6, 7:
		return f("(", x(), one(g, " > ", " <= ", " = ", " <> ", " <=> ", " >= "), x(), ")")
	case 8:
		return f("(", x(), one(g, " AND ", " OR ", " XOR "), x(), ")")
	case 9:
		return f(x(), one(g, " BETWEEN ", " NOT BETWEEN "), x(), " AND ", x())
	case 10:
		return f("(", x(), one(g, " IN (", " NOT IN ("), x(), ", ", x(), "))")
	case 11:
		return f("(", x(), one(g, " IS NULL", " IS NOT NULL", " IS TRUE", " IS NOT FALSE"), ")")
	case 12:
		return f(one(g, "IFNULL(", "COALESCE(", "NULLIF("), x(), ", ", x(), ")")
	case 13:
		return f("CASE WHEN ", x(), " THEN ", x(), " ELSE ", x(), " END")
	case 14:
		return f("ROUND(", x(), one(g, ")", ", 1)", ", 3)", ", -1)"))
	}
	return f(one(g, "FLOOR(", "CEIL(", "ABS(", "-(", "NOT (", "TRUNCATE(1, 0) + ("), x(), ")")
}

// using joins by USING or NATURAL, or by a comma.
func (g *generator) using() *query {
	b := &block{head: "SELECT"}
	t, u := one(g, orders, items), one(g, items, notes, orders, tags, region)
	if t == u {
		u = notes
	}
	b.sources = []source{{t, t.name}, {u, u.name}}
	common := "uid"
	if u.column("uid") == nil {
		common = one(g, "id", "name")
		if t.column(common) == nil || u.column(common) == nil {
			u, common = notes, "uid"
			b.sources[1] = source{u, u.name}
		}
	}
	switch g.IntN(5) {
	case 0, 1:
		b.from = f(t.name, one(g, " JOIN ", " LEFT JOIN ", " RIGHT JOIN "), u.name, " USING (", common, ")")
		if g.in(40) {
			b.where = f(common, " = ", g.value(one(g, u.column(common).values...)))
		}
	case 2:
		b.from = f(t.name, " NATURAL ", one(g, "", "LEFT ", "RIGHT "), "JOIN ", u.name)
		if g.in(40) {
			b.where = f(common, " = ", g.value(one(g, u.column(common).values...)))
		}
	default:
		b.from = f(t.name, ", ", u.name)
		b.where = f(t.name, ".", common, " = ", u.name, ".", common)
		if t.column("id") != nil && u.column("order_id") != nil {
			b.where = f(b.where, " AND ", u.name, ".order_id = ", t.name, ".id")
		}
	}
	g.conditions(b)
	g.selected(b)
	return g.finish(b, "using")
}

func (g *generator) derived() *query {
	inner := g.sources(1)
	g.conditions(inner)
	src := inner.sources[0]
	var columns []column
	for _, c := range src.columns[:3] {
		inner.items = append(inner.items, item{expr: f(src.alias + "." + c.name)})
		columns = append(columns, c)
	}
	if g.in(30) {
		inner.head = "SELECT DISTINCT"
	}
	text := inner.sql()
	t := &table{name: "d", columns: columns, primary: columns[0].name}
	b := &block{head: "SELECT", scope: scope{sources: []source{{t, "d"}}}, folded: inner.head != "SELECT"}
	b.from = f("(", text, ") AS d")
	if g.in(25) {
		name := one(g, "d", "d", "items", "orders")
		b.sources[0].alias = name
		b.from = f(name)
		g.conditions(b)
		g.selected(b)
		q := g.finish(b, "cte")
		with := f("WITH ", name, " AS (", text, ") ")
		q.statement = f(with, q.statement)
		return q
	}
	g.conditions(b)
	g.selected(b)
	return g.finish(b, "derived")
}

// subquery has a subquery in WHERE or in the select list.
func (g *generator) subquery() *query {
	b := g.sources(1)
	outer := b.sources[0]
	g.conditions(b)
	t := one(g, orders, items, notes, region, staff, tags, wide)
	s := &scope{sources: []source{{t, "s"}}}
	key := t.columns[0]
	inner := f("FROM ", t.name, " s WHERE ")
	where := []fragment{f("1 = 1")}
	if g.in(60) {
		where = append(where, g.narrow(s, s.sources[0]))
	}
	if g.in(50) {
		where = append(where, g.condition(s, 1))
	}
	if g.in(50) {
		left, right := one(g, outer.columns...), one(g, t.columns...)
		if outer.column("uid") != nil && t.column("uid") != nil && g.in(70) {
			left, right = *outer.column("uid"), *t.column("uid")
		}
		where = append(where, f(outer.alias, ".", left.name, " = s.", right.name))
	}
	inner = f(inner, join(where, " AND "))
	column := outer.alias + "." + outer.columns[g.IntN(2)].name
	var condition fragment
	switch g.IntN(6) {
	case 0:
		condition = f(column, one(g, " IN ", " NOT IN ", " IN "), "(SELECT s.", key.name, " ", inner, ")")
	case 1:
		condition = f(one(g, "", "NOT "), "EXISTS (SELECT 1 ", inner, ")")
	case 2:
		condition = f(column, one(g, " = ", " >= ", " <> "), "(SELECT ", one(g, "MAX", "MIN", "COUNT"), "(s.", key.name, ") ", inner, ")")
	case 3:
		condition = f(column, one(g, " = ANY ", " > ALL ", " <> ALL "), "(SELECT s.", key.name, " ", inner, ")")
	case 4:
		condition = f(column, " = (SELECT s.", key.name, " ", inner, " ORDER BY 1 LIMIT 1)")
	default:
		b.items = append(b.items, item{expr: f("(SELECT ", one(g, "MAX", "COUNT", "SUM"), "(s.", t.columns[1].name, ") ", inner, ")"), alias: "sub"})
	}
	if condition.sql != "" {
		if b.where.sql != "" {
			b.where = f(b.where, one(g, " AND ", " AND ", " OR "), condition)
		} else {
			b.where = condition
		}
	}
	b.items = append(b.items, item{expr: f(outer.alias + "." + outer.columns[0].name)}, item{expr: f(outer.alias + "." + outer.columns[1].name)})
	return g.finish(b, "subquery")
}

// special collects what a parser or a router may stumble over.
func (g *generator) special() *query {
	uid := g.value(one(g, users...))
	src := one(g, orders, items)
	q := &query{shape: "special"}
	q.statement = one(g,
		f("SELECT /*+ NO_INDEX_MERGE(", src.name, ") */ id FROM ", src.name, " WHERE uid = ", uid),
		f("SELECT /*! STRAIGHT_JOIN */ id FROM ", src.name, " WHERE uid = ", uid),
		f("SELECT id /*! , uid */ FROM ", src.name, " WHERE uid = ", uid),
		f("SELECT id /*!99999 , uid */ FROM ", src.name, " WHERE uid IN (", uid, ", 9)"),
		f("SELECT id /*M! , uid */ FROM ", src.name, " WHERE uid = ", uid),
		f("SELECT SQL_NO_CACHE id FROM ", src.name, " WHERE uid = ", uid),
		f("SELECT HIGH_PRIORITY SQL_BUFFER_RESULT id FROM ", src.name, " WHERE uid = ", uid),
		f("SELECT SQL_CALC_FOUND_ROWS id FROM ", src.name, " WHERE uid IN (", uid, ", 9)"),
		f("SELECT '", src.name, "', \"", src.name, ".uid\", id FROM ", src.name, " WHERE uid IN (", uid, ", 9)"),
		f("SELECT id AS ", src.name, " FROM ", src.name, " WHERE uid IN (", uid, ", 9) ORDER BY ", src.name),
		f("SELECT id FROM ", src.name, " WHERE uid = ", uid, ";"),
		f("  \n SELECT id FROM ", src.name, " WHERE uid = ", uid, " -- done"),
		f("(SELECT id FROM ", src.name, " WHERE uid IN (", uid, ", 9))"),
		f("(SELECT id FROM ", src.name, " WHERE uid IN (", uid, ", 9)) ORDER BY id LIMIT 1"),
		f("SELECT 1"), f("SELECT 1 FROM DUAL WHERE ", uid, " = 3"), f("SELECT ", uid, " AS orders"),
		f("SELECT uid FROM ", src.name, " WHERE uid = (SELECT ", uid, ") AND 1 = 1"),
		f("SELECT uid, id FROM ", src.name, " PROCEDURE ANALYSE()"),
		f("VALUES (1, 2), (3, 4)"),
		f("TABLE ", src.name),
		f("SELECT id FROM ", src.name, " PARTITION (p0) WHERE uid = ", uid),
		f("SELECT id FROM ", src.name, " FOR SYSTEM_TIME ALL WHERE uid = ", uid),
		f("SELECT o.id, o.uid FROM (orders o) WHERE o.uid IN (", uid, ", 9)"),
		f("SELECT id FROM ((orders)) WHERE uid IN (", uid, ", 9)"),
		f("SELECT id FROM {OJ orders LEFT JOIN items USING (uid, id)} WHERE uid = ", uid),
		f("SELECT id FROM orders WHERE uid IN (", uid, ", 9) UNION SELECT 7"),
		f("SELECT COUNT(*), 1 + 1, 'x' FROM orders WHERE uid IN (", uid, ", 9)"),
		f("SELECT id, uid FROM orders WHERE uid IN (", uid, ", 9) GROUP BY id, uid"),
		f("SELECT id FROM orders WHERE uid IN (", uid, ", 9) LIMIT ROWS EXAMINED 100000"),
		f("SELECT id FROM orders WHERE uid IN (", uid, ", 9) ORDER BY id FETCH FIRST 2 ROWS ONLY"),
		f("SELECT id FROM orders WHERE uid IN (", uid, ", 9) ORDER BY id OFFSET 1 ROW FETCH NEXT 2 ROWS ONLY"),
		f("SELECT id FROM orders WHERE uid IN (", uid, ", 9) ORDER BY NULL"),
		f("SELECT id FROM orders WHERE uid IN (", uid, ", 9) ORDER BY 2"),
		f("SELECT nothing FROM orders WHERE uid IN (", uid, ", 9)"),
		f("SELECT id FROM orders WHERE uid IN (", uid, ", 9) AND nothing = 1"),
		f("SELECT id FROM orders WHERE uid IN (", uid, ", (9, 8))"),
		f("SELECT id FROM orders WHERE orders.uid IN (", uid, ", 9) AND EXISTS (SELECT 1 FROM region)"),
		f("SELECT SUM(DISTINCT uid) FROM orders WHERE uid = ", uid),
		f("SELECT COUNT(*) FROM orders o NATURAL JOIN items WHERE uid = ", uid),
		f("SELECT max(id) FROM orders ORDER BY nothing"),
		f("SELECT uid FROM orders GROUP BY 1 ORDER BY 1 DESC LIMIT 3"),
		f("SELECT uid AS id, COUNT(*) FROM orders GROUP BY id ORDER BY id, 2"),
		f("SELECT MIN(id) AS uid, COUNT(*) FROM orders GROUP BY uid ORDER BY uid, 2"),
		f("SELECT -uid AS uid FROM orders ORDER BY uid, id"),
		f("SELECT -uid AS uid FROM orders ORDER BY orders.uid, id"),
		f("SELECT @@version_comment, id FROM orders WHERE uid = ", uid),
		f("SELECT DATABASE() FROM staff WHERE 1 = 0"),
		f("SELECT status, COUNT(*) FROM orders GROUP BY status ORDER BY status"),
		f("SELECT flags, MAX(status), MIN(flags) FROM orders WHERE uid = ", uid, " GROUP BY flags ORDER BY flags"),
		f("SELECT name, SUM(big), SUM(ratio), AVG(amount) FROM orders GROUP BY name ORDER BY name"),
		f("SELECT MAX(clock), MIN(clock), MAX(bits), MAX(yr), MIN(ts), MAX(js) FROM orders"),
		f("SELECT AVG(big), SUM(big), SUM(amount), AVG(small), AVG(rate), SUM(yr) FROM orders"),
		f("SELECT COUNT(*) FROM tags WHERE name = ", g.value(one(g, texts...))),
		f("SELECT COUNT(*) FROM tags JOIN people ON name = login"),
		f("SELECT COUNT(*) FROM wide WHERE k > ", g.value(one(g, wides...)), " AND k <= ", g.value(one(g, wides...))),
		f("SELECT n FROM wide WHERE k = ", g.value(one[any](g, "18446744073709551615", "18446744073709551616", -1, "-1", 1.8446744073709552e19, "1.8446744073709552e19", uint64(1)<<63, int64(-1<<63)))),
	)
	q.folded = strings.Contains(q.statement.sql, "GROUP BY")
	return q
}
