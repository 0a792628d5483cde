//go:build unix

package oracle_test

import "strings"

// listing is a SELECT as a service has it: items, what follows them up to
// HAVING, and the order.
type listing struct {
	with, items, rest fragment
	by                string
	limit             fragment
	offset            int
	folded            bool
}

func (l *listing) query(shape string) *query {
	q := &query{shape: "typical " + shape, offset: l.offset, limited: l.limit.sql != "", folded: l.folded}
	q.statement = f(l.with, "SELECT ", l.items, l.rest)
	if l.by != "" {
		q.statement = f(q.statement, " ORDER BY ", l.by)
	}
	q.statement = f(q.statement, l.limit)
	return q
}

// typical makes a SELECT like those of services for orders, payments and
// attendance.
func (g *generator) typical() *query {
	switch n := g.IntN(100); {
	case n < 13:
		return g.ofOneUser()
	case n < 31:
		return g.listed()
	case n < 38:
		return g.totals()
	case n < 55:
		return g.report()
	case n < 68:
		return g.withItems()
	case n < 74:
		return g.withRegion()
	case n < 78:
		return g.different()
	case n < 86:
		return g.filteredBySubquery()
	case n < 91:
		return g.fromDerived()
	case n < 94:
		return g.feed()
	case n < 97:
		return g.ranked()
	}
	return g.withCTE()
}

// filter writes up to n conditions on orders, by AND.
func (g *generator) filter(alias string, n int) fragment {
	if alias != "" {
		alias += "."
	}
	v := func(from []any) fragment { return g.value(one(g, from[1:]...)) } // without NULL
	some := func(from []any) fragment {
		var list []fragment
		for range 1 + g.IntN(4) {
			list = append(list, v(from))
		}
		return f("(", join(list, ", "), ")")
	}
	terms := []func() fragment{
		func() fragment { return f(alias, "status = ", v(statuses)) },
		func() fragment { return f(alias, "status IN ", some(statuses)) },
		func() fragment { return f(alias, "status <> ", v(statuses)) },
		func() fragment {
			return f(alias, "at >= ", g.value("2026-01-01 00:00:00"), " AND ", alias, "at < ", g.value("2026-01-02 00:00:00"))
		},
		func() fragment { return f(alias, "day BETWEEN ", v(days), " AND ", v(days)) },
		func() fragment { return f(alias, "day = ", v(days)) },
		func() fragment { return f(alias, "price >= ", v(prices)) },
		func() fragment { return f(alias, "price > ", one(g, "0", "1", "2.5")) },
		func() fragment { return f(alias, "region_id = ", g.value(1+g.IntN(3))) },
		func() fragment { return f(alias, "region_id IS NULL") },
		func() fragment { return f(alias, "name LIKE ", g.value(one(g, "a%", "%b%", "1%"))) },
		func() fragment { return f(alias, "name = ", v(texts)) },
		func() fragment { return f(alias, "uid IN ", some(users)) },
		func() fragment { return f(alias, "id IN ", some(orderIDs)) },
		func() fragment { return f(alias, "id > ", v(orderIDs)) },
		func() fragment { return f("(", alias, "status = 'paid' OR ", alias, "price > 2)") },
		func() fragment { return f(alias, "name IS NOT NULL AND ", alias, "name <> ''") },
		func() fragment { return f(alias, "small > 0") },
		func() fragment { return f("DATE(", alias, "at) = ", v(days)) },
	}
	var where []fragment
	for range g.IntN(n + 1) {
		where = append(where, one(g, terms...)())
	}
	return join(where, " AND ")
}

func where(terms ...fragment) fragment {
	var some []fragment
	for _, t := range terms {
		if t.sql != "" {
			some = append(some, t)
		}
	}
	if len(some) == 0 {
		return fragment{}
	}
	return f(" WHERE ", join(some, " AND "))
}

// page writes LIMIT, mostly.
func (g *generator) page(l *listing, percent int) {
	if !g.in(percent) {
		return
	}
	size := one(g, 1, 2, 5, 10, 20)
	number := func(n int) fragment {
		if g.in(50) {
			return f(argument{n})
		}
		return f(n)
	}
	switch {
	case g.in(60):
		l.limit = f(" LIMIT ", number(size))
	case g.in(70):
		l.offset = size * g.IntN(4)
		l.limit = f(" LIMIT ", number(size), " OFFSET ", number(l.offset))
	default:
		l.offset = size * g.IntN(4)
		l.limit = f(" LIMIT ", number(l.offset), ", ", number(size))
	}
}

func (g *generator) user() fragment { return g.value(one(g, users...)) }

// columns are what a list of orders shows.
func (g *generator) columns() fragment {
	return f(one(g, "*", "uid, id, name, price, status, at", "id, uid", "id, uid, amount, day", "uid, id, name AS title, price * 2 AS twice, status", "id, uid, IFNULL(name, '-') AS shown, CASE status WHEN 'paid' THEN 1 ELSE 0 END AS done",
		"uid, id, DATE(at) AS d, UPPER(name) AS upper_name", "orders.*"))
}

func (g *generator) ofOneUser() *query {
	l := &listing{items: g.columns()}
	l.rest = f(" FROM orders", where(f("uid = ", g.user()), g.filter("", 2)))
	if g.in(30) {
		l.rest = f(" FROM orders WHERE uid = ", g.user(), " AND id = ", g.value(one(g, orderIDs...)))
	}
	if g.in(50) {
		l.by = one(g, "at DESC, id DESC", "id DESC", "id")
		g.page(l, 50)
	}
	q := l.query("one user")
	if g.in(8) {
		q.statement = f(q.statement, " FOR UPDATE")
	}
	return q
}

func (g *generator) listed() *query {
	l := &listing{items: g.columns()}
	terms := g.filter("", 3)
	l.rest = f(" FROM orders", where(terms))
	switch g.IntN(9) {
	case 0: // any order
	case 1:
		l.by = "at DESC, uid, id"
	case 2:
		l.by = "price DESC, uid, id"
	case 3:
		l.by = "name, uid, id"
	case 4:
		l.by = "status, day DESC, uid, id"
	case 5: // the next page, after the last row seen
		l.rest = f(" FROM orders", where(terms, f("id > ", g.value(one(g, orderIDs...)))))
		l.by = "id, uid"
	case 6:
		l.rest = f(" FROM orders", where(terms, f("(day, id) < (", g.value("2026-01-01"), ", ", g.value(one(g, orderIDs...)), ")")))
		l.by = "day DESC, id DESC"
	case 7:
		key := one(g, "price IS NULL", "FIELD(status, 'new', 'paid')", "CASE WHEN status = 'paid' THEN 0 ELSE 1 END", "DATE(at)", "LOWER(name)", "ABS(amount)", "price * small", "name IS NULL", "LENGTH(txt)")
		l.by = key + one(g, "", " DESC") + ", uid, id"
	case 8:
		l.items = f("uid, id AS n, price AS cost, name")
		l.by = one(g, "cost, n", "2, 1", "cost DESC")
	}
	g.page(l, 65)
	return l.query("list")
}

var totals = []string{
	"COUNT(*)", "COUNT(*) AS total", "SUM(price)", "SUM(price) AS amount_paid", "AVG(price)", "MAX(at)", "MIN(day)", "MAX(id)", "COUNT(DISTINCT uid)", "COUNT(name)",
	"IFNULL(SUM(price), 0) AS s0", "COALESCE(SUM(amount), 0)", "SUM(CASE WHEN status = 'paid' THEN price ELSE 0 END) AS paid", "SUM(status = 'paid')", "COUNT(IF(status = 'new', 1, NULL))",
	"SUM(price) / COUNT(*)", "ROUND(AVG(price), 2)", "ROUND(SUM(status = 'paid') * 100 / COUNT(*), 2) AS share", "MAX(price) - MIN(price)", "SUM(DISTINCT price)", "STDDEV(small)", "BIT_OR(small)",
	"SUM(small * price)", "MIN(name)", "MAX(status)", "SUM(big)", "AVG(ratio)", "GROUP_CONCAT(DISTINCT status ORDER BY status)", "GROUP_CONCAT(id ORDER BY id, uid SEPARATOR ';')", "COUNT(DISTINCT uid, status)",
}

func (g *generator) some(from []string, n int) string {
	var list []string
	for _, i := range g.Perm(len(from))[:1+g.IntN(n)] {
		list = append(list, from[i])
	}
	return strings.Join(list, ", ")
}

func (g *generator) totals() *query {
	l := &listing{items: f(g.some(totals, 3)), rest: f(" FROM orders", where(g.filter("", 3))), folded: true}
	if g.in(25) {
		l.rest = f(l.rest, one(g, " HAVING COUNT(*) > 0", " HAVING SUM(price) > 10", " LIMIT 1"))
	}
	return l.query("totals")
}

// report has totals by one or two columns.
func (g *generator) report() *query {
	keys := [][2]string{
		{"status", "status"},
		{"uid", "uid"},
		{"region_id", "region_id"},
		{"day", "day"},
		{"name", "name"},
		{"uid, status", "uid, status"},
		{"region_id, status", "region_id, status"},
		{"uid, day", "uid, day"},
		{"DATE(at) AS d", "DATE(at)"},
		{"DATE_FORMAT(at, '%Y-%m') AS m", "m"},
		{"YEAR(day) AS y", "YEAR(day)"},
		{"HOUR(at) AS h, status", "h, status"},
		{"CASE WHEN price > 2 THEN 'high' ELSE 'low' END AS level", "level"},
		{"code", "code"},
		{"small", "1"},
		{"price", "price"},
		{"uid, MIN(clock) AS come, MAX(clock) AS gone", "uid"},
		{"IFNULL(status, 'none') AS st", "st"},
		{"LEFT(name, 1) AS initial", "LEFT(name, 1)"},
	}
	key := one(g, keys...)
	l := &listing{items: f(key[0], ", COUNT(*) AS n, ", g.some(totals, 2)), folded: true}
	l.rest = f(" FROM orders", where(g.filter("", 2)), " GROUP BY ", key[1])
	if g.in(25) {
		l.rest = f(l.rest, " HAVING ", one(g, "COUNT(*) > 1", "SUM(price) > 5", "COUNT(*) BETWEEN 2 AND 10", "MAX(price) >= 2 AND COUNT(*) > 1", "n > 1", "AVG(price) > 1.5", "SUM(price) IS NOT NULL", "COUNT(DISTINCT uid) > 1"))
	}
	if g.in(3) {
		l.rest = f(" FROM orders", where(g.filter("", 2)), " GROUP BY ", key[1], " WITH ROLLUP")
		return l.query("report")
	}
	first := strings.TrimSpace(strings.Split(strings.Split(key[0], " AS ")[0], ", ")[0])
	if strings.Contains(first, "(") || strings.HasPrefix(first, "CASE") {
		first = ""
	}
	switch g.IntN(5) {
	case 0:
		l.by = "n DESC"
	case 1:
		l.by = "SUM(price) DESC"
	case 2:
		l.by = "COUNT(*) DESC"
		if first != "" {
			l.by += ", " + first
		}
	case 3:
		if first != "" {
			l.by = first
		}
	}
	g.page(l, 40)
	return l.query("report")
}

func (g *generator) withItems() *query {
	how := one(g, " JOIN items i", " JOIN items i", " INNER JOIN items i", " LEFT JOIN items i")
	from := f(" FROM orders o", how, " ON i.uid = o.uid AND i.order_id = o.id")
	if g.in(12) {
		from = f(from, " LEFT JOIN region r ON r.id = o.region_id")
	}
	if g.in(12) {
		from = f(" FROM orders o, items i WHERE o.uid = i.uid AND o.id = i.order_id")
	}
	terms := g.filter("o", 2)
	if g.in(35) {
		if t := g.filter("o", 1); t.sql != "" {
			terms = f(t, " AND ", one(g, "i.qty > 1", "i.product = 'a'", "i.cost BETWEEN 1 AND 10"))
		} else {
			terms = f(one(g, "i.qty > 1", "i.product LIKE 'a%'"))
		}
	}
	if strings.Contains(from.sql, " WHERE ") {
		if terms.sql != "" {
			from = f(from, " AND ", terms)
		}
	} else {
		from = f(from, where(terms))
	}
	l := &listing{rest: from}
	switch g.IntN(7) {
	case 0, 1:
		l.items = f(one(g, "o.uid, o.id, i.id AS item, i.product, i.qty", "o.*, i.product", "o.id, i.*", "o.uid, o.id, o.price, i.cost * i.qty AS line"))
		if g.in(70) {
			l.by = one(g, "o.uid, o.id, i.id", "o.at DESC, o.id, i.id", "i.cost DESC, i.id")
			g.page(l, 60)
		}
	case 2, 3:
		l.items = f("o.uid, o.id, ", g.some([]string{"COUNT(*)", "SUM(i.qty)", "SUM(i.qty * i.cost) AS value", "COUNT(i.id) AS pieces", "MAX(i.product)", "GROUP_CONCAT(i.product ORDER BY i.id)"}, 3))
		l.rest, l.folded = f(l.rest, " GROUP BY o.uid, o.id"), true
		if g.in(60) {
			l.by = "o.uid, o.id"
			g.page(l, 50)
		}
	case 4:
		l.items = f("i.product, ", g.some([]string{"COUNT(*)", "SUM(i.qty) AS sold", "SUM(i.qty * i.cost)", "COUNT(DISTINCT o.uid)", "AVG(i.cost)"}, 3))
		l.rest, l.folded = f(l.rest, " GROUP BY i.product"), true
		if g.in(30) {
			l.rest = f(l.rest, " HAVING COUNT(*) > 1")
		}
		if g.in(50) {
			l.by = "COUNT(*) DESC"
			g.page(l, 60)
		}
	case 5:
		l.items = f(one(g, "COUNT(*)", "COUNT(DISTINCT o.id)", "SUM(i.qty)", "SUM(i.cost * i.qty), COUNT(*)"))
	case 6:
		l.items = f("o.uid, o.id")
		l.rest = f(" FROM orders o LEFT JOIN items i ON i.uid = o.uid AND i.order_id = o.id WHERE i.id IS NULL")
		if g.in(50) {
			l.by = "o.uid, o.id"
			g.page(l, 50)
		}
	}
	return l.query("items")
}

func (g *generator) withRegion() *query {
	l := &listing{rest: f(" FROM orders o", one(g, " JOIN", " LEFT JOIN"), " region r ON r.id = o.region_id", where(g.filter("o", 2)))}
	if g.in(60) {
		l.items = f(one(g, "o.uid, o.id, r.name", "o.*, r.name AS region", "o.id, r.pop, r.name"))
		if g.in(60) {
			l.by = one(g, "r.name, o.uid, o.id", "o.at DESC, o.id")
			g.page(l, 60)
		}
		return l.query("region")
	}
	l.items, l.folded = f("r.id, r.name, ", g.some([]string{"COUNT(*)", "SUM(o.price) AS paid", "AVG(o.price)", "COUNT(DISTINCT o.uid)"}, 3)), true
	l.rest = f(l.rest, " GROUP BY r.id, r.name")
	if g.in(30) {
		l.rest = f(l.rest, " HAVING COUNT(*) > 1")
	}
	if g.in(60) {
		l.by = one(g, "r.id", "COUNT(*) DESC")
	}
	return l.query("region")
}

func (g *generator) different() *query {
	key := one(g, "status", "uid", "region_id", "day", "name", "uid, status", "region_id, day", "code", "price")
	l := &listing{items: f("DISTINCT ", key), rest: f(" FROM orders", where(g.filter("", 2))), folded: true}
	if g.in(60) {
		l.by = strings.ReplaceAll(key, ", ", one(g, ", ", " DESC, ")) + one(g, "", "", " DESC")
		g.page(l, 40)
	}
	return l.query("distinct")
}

func (g *generator) filteredBySubquery() *query {
	l := &listing{items: f("o.uid, o.id, o.price")}
	item := f(where(f("1 = 1"), one(g, f("s.qty > 1"), f("s.product = ", g.value("a")), f("s.cost >= ", g.value("1.10")), f("1 = 1"))))
	and := g.filter("o", 1)
	var condition fragment
	switch g.IntN(9) {
	case 0:
		condition = f("o.uid IN (SELECT s.uid FROM items s", item, ")")
	case 1:
		condition = f(one(g, "", "NOT "), "EXISTS (SELECT 1 FROM items s", item, " AND s.uid = o.uid AND s.order_id = o.id)")
	case 2:
		condition = f("o.price > (SELECT AVG(price) FROM orders)")
	case 3:
		condition = f("o.id IN (SELECT s.order_id FROM items s", item, ")")
	case 4:
		condition = f("o.region_id IN (SELECT id FROM region WHERE pop >= 0)")
	case 5:
		condition = f("o.price = (SELECT MAX(m.price) FROM orders m WHERE m.uid = o.uid)")
	case 6:
		condition = f("o.uid NOT IN (SELECT s.uid FROM items s", item, ")")
	case 7:
		condition = f("o.at = (SELECT MAX(at) FROM orders)")
	case 8:
		l.items = f("o.uid, o.id, (SELECT ", one(g, "COUNT(*)", "SUM(s.qty)", "MAX(s.product)"), " FROM items s WHERE s.uid = o.uid AND s.order_id = o.id) AS pieces")
	}
	l.rest = f(" FROM orders o", where(condition, and))
	if g.in(50) {
		l.by = "o.uid, o.id"
		g.page(l, 50)
	}
	return l.query("subquery")
}

func (g *generator) fromDerived() *query {
	l := &listing{folded: true}
	inner := where(g.filter("", 1))
	switch g.IntN(6) {
	case 0:
		l.items, l.rest = f("AVG(n), MAX(n)"), f(" FROM (SELECT uid, COUNT(*) AS n FROM orders", inner, " GROUP BY uid) d")
	case 1:
		l.items = f("o.uid, o.id, o.price")
		l.rest = f(" FROM orders o JOIN (SELECT uid, MAX(id) AS last FROM orders", inner, " GROUP BY uid) m ON m.uid = o.uid AND m.last = o.id")
		l.by = "o.uid"
	case 2:
		l.items, l.rest = f("COUNT(*)"), f(" FROM (SELECT DISTINCT uid FROM orders", inner, ") d")
	case 3:
		l.items, l.rest = f("n, COUNT(*)"), f(" FROM (SELECT uid, COUNT(*) AS n FROM orders", inner, " GROUP BY uid) d GROUP BY n")
		l.by = "n"
	case 4:
		l.items, l.rest = f("uid, id, price"), f(" FROM (SELECT uid, id, price FROM orders", inner, " ORDER BY price DESC, uid, id LIMIT 10) d")
		l.by = "uid, id"
	case 5:
		l.items = f("o.uid, o.paid, i.pieces")
		l.rest = f(" FROM (SELECT uid, SUM(price) AS paid FROM orders GROUP BY uid) o LEFT JOIN (SELECT uid, COUNT(*) AS pieces FROM items GROUP BY uid) i ON i.uid = o.uid")
		l.by = "o.uid"
	}
	return l.query("derived")
}

// feed brings rows of two tables together.
func (g *generator) feed() *query {
	a := f("'order' AS what, uid, id, name AS title FROM orders", where(g.filter("", 1)))
	b := f("SELECT 'item', uid, id, product FROM items", where(one(g, f("qty > 1"), f("uid = ", g.user()), fragment{})))
	l := &listing{items: f(a, one(g, " UNION ALL ", " UNION ALL ", " UNION "), b), folded: true}
	if g.in(40) {
		l.items = f("uid FROM orders", where(g.filter("", 1)), one(g, " UNION ", " UNION ALL "), "SELECT uid FROM items")
		l.by = "uid"
	} else if g.in(80) {
		l.by = one(g, "uid, id, what", "uid, id DESC, what")
	}
	if l.by != "" {
		g.page(l, 50)
	}
	return l.query("union")
}

func (g *generator) ranked() *query {
	l := &listing{}
	window := one(g, "ROW_NUMBER() OVER (PARTITION BY uid ORDER BY at DESC, id)", "RANK() OVER (PARTITION BY region_id ORDER BY price DESC)", "SUM(price) OVER (PARTITION BY uid ORDER BY id)", "LAG(id) OVER (PARTITION BY uid ORDER BY id)", "COUNT(*) OVER ()", "ROW_NUMBER() OVER (ORDER BY price DESC, uid, id)")
	if g.in(40) {
		l.items, l.rest = f("uid, id, rn"), f(" FROM (SELECT uid, id, ", window, " AS rn FROM orders) d WHERE rn <= 2")
	} else {
		l.items, l.rest = f("uid, id, ", window, " AS rn"), f(" FROM orders", where(g.filter("", 1)))
	}
	if g.in(60) {
		l.by = "uid, id"
		g.page(l, 40)
	}
	return l.query("window")
}

func (g *generator) withCTE() *query {
	l := &listing{folded: true}
	if g.in(50) {
		l.with = f("WITH recent AS (SELECT uid, id, price, status FROM orders", where(g.filter("", 2)), ") ")
		l.items, l.rest = f("status, COUNT(*) AS n, SUM(price)"), f(" FROM recent GROUP BY status")
		l.by = "status"
	} else {
		l.with = f("WITH spent AS (SELECT uid, SUM(price) AS paid FROM orders", where(g.filter("", 1)), " GROUP BY uid) ")
		l.items, l.rest = f("s.uid, s.paid"), f(" FROM spent s WHERE s.paid > ", one(g, "0", "5", "(SELECT AVG(paid) FROM spent)"))
		l.by = "paid DESC, s.uid"
	}
	return l.query("cte")
}
