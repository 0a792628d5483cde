//go:build unix

package oracle_test

import (
	"fmt"
	"strings"
)

// query is one SELECT.
type query struct {
	statement fragment
	offset    int
	width     int  // columns of the statement
	unsure    bool // the server contradicts itself about the order
	limited   bool // by LIMIT
	folded    bool // texts of a group may be any of the group's
	outer     bool // has an outer join
	shape     string
}

// block is a SELECT without ORDER BY and LIMIT.
type block struct {
	scope
	head    string // SELECT and its modifiers
	items   []item
	from    fragment
	where   fragment
	group   fragment // from GROUP BY to HAVING
	grouped bool
	folded  bool
}

type item struct {
	expr  fragment
	alias string
	// text is true where equal values may look different.
	star bool
}

func (b *block) sql() fragment {
	var list []fragment
	for _, i := range b.items {
		switch {
		case i.alias != "":
			list = append(list, f(i.expr, " AS ", i.alias))
		default:
			list = append(list, i.expr)
		}
	}
	out := f(b.head, " ", join(list, ", "))
	if b.from.sql != "" {
		out = f(out, " FROM ", b.from)
	}
	if b.where.sql != "" {
		out = f(out, " WHERE ", b.where)
	}
	return f(out, b.group)
}

// queryOf makes one SELECT in a profile's manner.
func (g *generator) queryOf(p profile) *query {
	if p == typical {
		return g.typical()
	}
	return g.query()
}

// query makes one wild SELECT.
func (g *generator) query() *query {
	var q *query
	switch n := g.IntN(120); {
	case n >= 100:
		q = g.nested()
	case n < 34:
		q = g.plain(g.sources(1))
	case n < 52:
		q = g.aggregate()
	case n < 57:
		q = g.distinct()
	case n < 77:
		q = g.plain(g.joined())
		q.shape = "join"
	case n < 80:
		q = g.using()
	case n < 84:
		q = g.derived()
	case n < 90:
		q = g.subquery()
	case n < 94:
		q = g.union()
	case n < 98:
		q = g.compound()
	default:
		q = g.special()
	}
	q.statement = g.disturb(q.statement)
	return q
}

// sources puts n tables into FROM, joined by commas.
func (g *generator) sources(n int) *block {
	b := &block{head: "SELECT"}
	var from []fragment
	for range n {
		src, text := g.table(&b.scope, one(g, orders, orders, orders, orders, items, items, items, notes, tags, people, wide, kinds, region, staff))
		b.sources = append(b.sources, src)
		from = append(from, text)
	}
	b.from = join(from, ", ")
	return b
}

// table writes a table for FROM.
func (g *generator) table(s *scope, t *table) (source, fragment) {
	taken := func(alias string) bool {
		for _, src := range s.sources {
			if strings.EqualFold(src.alias, alias) {
				return true
			}
		}
		return false
	}
	name := t.name
	switch {
	case g.in(15):
		name = "`" + name + "`"
	case g.in(8) && t != staff:
		name = g.schema + "." + name
	}
	hint := ""
	if g.in(5) {
		hint = one(g, " USE INDEX (PRIMARY)", " FORCE INDEX (PRIMARY)", " IGNORE INDEX (PRIMARY)")
	}
	alias := t.name
	if taken(alias) || g.in(50) {
		for _, candidate := range []string{one(g, "o", "x", "t", "items", "orders", "uid", "`a b`", "select1"), "y", "z", "w"} {
			if !taken(strings.Trim(candidate, "`")) {
				alias = strings.Trim(candidate, "`")
				break
			}
		}
		return source{t, quoteIfNeeded(alias)}, f(name, one(g, " AS ", " "), quoteIfNeeded(alias), hint)
	}
	return source{t, alias}, f(name, hint)
}

func quoteIfNeeded(alias string) string {
	if strings.Contains(alias, " ") {
		return "ab"
	}
	return alias
}

// joined writes a join of two or three tables.
func (g *generator) joined() *block {
	b := &block{head: one(g, "SELECT", "SELECT", "SELECT", "SELECT STRAIGHT_JOIN")}
	first := one(g, orders, orders, items, notes)
	src, text := g.table(&b.scope, first)
	b.sources, b.from = append(b.sources, src), text
	var where []fragment
	for range 1 + g.IntN(2) {
		left := one(g, b.sources...)
		t := one(g, orders, items, items, items, notes, notes, region, region, staff, tags, people, wide, kinds)
		right, text := g.table(&b.scope, t)
		s := &scope{sources: append(append([]source{}, b.sources...), right)}
		on := g.on(s, left, right)
		if g.in(15) {
			on = f(on, " AND ", g.condition(s, 1))
		}
		switch n := g.IntN(100); {
		case n < 45:
			b.from = f(b.from, one(g, " JOIN ", " INNER JOIN ", " join "), text, " ON ", on)
		case n < 75:
			b.from = f(b.from, one(g, " LEFT JOIN ", " LEFT OUTER JOIN "), text, " ON ", on)
		case n < 85:
			b.from = f(b.from, " RIGHT JOIN ", text, " ON ", on)
		case n < 92:
			// A comma binds less than JOIN: later ON conditions could not see it.
			b.from = f("(", b.from, one(g, " CROSS JOIN ", " JOIN "), text, ")")
			where = append(where, on)
		case n < 96:
			b.from = f("(", b.from, ") JOIN ", text, " ON ", on)
		default:
			b.from = f("(", b.from, ") STRAIGHT_JOIN ", text, " ON ", on)
		}
		b.sources = s.sources
	}
	if len(where) > 0 {
		b.where = join(where, " AND ")
	}
	return b
}

// on joins two tables, mostly on their sharding columns.
func (g *generator) on(s *scope, a, b source) fragment {
	name := func(src source, column string) string {
		if strings.Contains(src.alias, "`") {
			return src.alias + "." + column
		}
		return g.name(s, src, column)
	}
	equal := one(g, " = ", " = ", " = ", " <=> ", "=")
	var on []fragment
	for _, column := range []string{"uid", "id", "oid"} {
		if a.column(column) != nil && b.column(column) != nil && (column == "uid" && g.in(85) || g.in(15)) {
			if g.in(30) {
				a, b = b, a
			}
			on = append(on, f(name(a, column), equal, name(b, column)))
		}
	}
	switch {
	case a.table == orders && b.table == items:
		on = append(on, f(name(a, "id"), equal, name(b, "order_id")))
	case a.table == items && b.table == orders:
		on = append(on, f(name(a, "order_id"), equal, name(b, "id")))
	case a.table == orders && b.table == region:
		on = append(on, f(name(a, "region_id"), equal, name(b, "id")))
	case b.table == tags && a.column("name") != nil:
		on = append(on, f(name(a, "name"), equal, name(b, "name")))
	}
	if len(on) == 0 {
		c, d := a.columns[g.IntN(min(3, len(a.columns)))], b.columns[g.IntN(min(3, len(b.columns)))]
		on = append(on, f(name(a, c.name), equal, name(b, d.name)))
	}
	if len(on) > 1 && g.in(10) {
		return f("(", join(on, " OR "), ")")
	}
	return join(on, " AND ")
}

// conditions puts a WHERE into the block.
func (g *generator) conditions(b *block) {
	var and []fragment
	if b.where.sql != "" {
		and = append(and, b.where)
	}
	for _, src := range b.sources {
		if g.in(25) {
			and = append(and, g.narrow(&b.scope, src))
		}
	}
	if g.in(60) {
		and = append(and, g.condition(&b.scope, g.IntN(4)))
	}
	if len(and) > 0 {
		b.where = join(and, " AND ")
	}
}

// selected puts a select list into the block.
func (g *generator) selected(b *block) {
	switch n := g.IntN(100); {
	case n < 25:
		b.items = []item{{expr: f("*"), star: true}}
		return
	case n < 35:
		b.items = []item{{expr: f(one(g, b.sources...).alias, ".*"), star: true}}
		if g.in(30) {
			b.items = append(b.items, item{expr: f(g.expression(&b.scope, nil)), alias: "e1"})
		}
		return
	}
	for i := range 1 + g.IntN(4) {
		it := item{}
		if g.in(75) {
			src, c := g.pick(&b.scope)
			it.expr = f(g.name(&b.scope, src, c.name))
		} else if g.in(80) {
			it.expr = f(g.expression(&b.scope, nil))
			it.alias = fmt.Sprintf("e%d", i)
		} else {
			it.expr = g.value(one[any](g, 1, "x", nil, 1.5))
			it.alias = fmt.Sprintf("c%d", i)
		}
		if g.in(15) {
			it.alias = fmt.Sprintf("n%d", i)
		}
		if g.in(4) && len(b.sources) == 1 {
			it.alias = one(g, b.sources[0].columns...).name
			if b.shadow[it.alias] {
				it.alias = ""
			} else {
				if b.shadow == nil {
					b.shadow = map[string]bool{}
				}
				b.shadow[it.alias] = true
			}
		}
		b.items = append(b.items, it)
	}
	// Names in WHERE and in expressions are the tables' columns, whatever the
	// aliases; g.name qualifies them from here on.
}

// plain finishes a block as a SELECT of rows.
func (g *generator) plain(b *block) *query {
	g.conditions(b)
	g.selected(b)
	return g.finish(b, "rows")
}

// finish adds ORDER BY and LIMIT.
func (g *generator) finish(b *block, shape string) *query {
	q := &query{shape: shape, folded: b.folded}
	var by []fragment
	if g.in(65) {
		for range 1 + g.IntN(3) {
			if text, ok := g.orderItem(b); ok {
				by = append(by, f(text, one(g, "", " ASC", " DESC", " desc")))
			}
		}
	}
	if len(by) > 0 && !b.grouped && b.head != "SELECT DISTINCT" && g.in(60) {
		for _, src := range b.sources {
			for _, column := range strings.Split(src.primary, ", ") {
				by = append(by, f(src.alias, ".", column))
			}
		}
	}
	statement := b.sql()
	if len(by) > 0 {
		statement = f(statement, one(g, " ORDER BY ", " order by "), join(by, ", "))
	}
	limit := fragment{}
	if g.in(35) {
		count, offset := one(g, 0, 1, 2, 3, 5, 10, 100), one(g, 0, 0, 1, 2, 5, 50)
		bind := g.in(50)
		number := func(n int) fragment {
			if bind {
				return f(argument{n})
			}
			return f(n)
		}
		switch g.IntN(4) {
		case 0:
			limit = f(" LIMIT ", number(count))
		case 1:
			q.offset = offset
			limit = f(" LIMIT ", number(count), " OFFSET ", number(offset))
		case 2:
			q.offset = offset
			limit = f(" LIMIT ", number(offset), ", ", number(count))
		default:
			q.offset = offset
			limit = f(" LIMIT 18446744073709551615 OFFSET ", number(offset))
		}
	}
	q.statement, q.limited = f(statement, limit), limit.sql != ""
	if g.in(3) && shape != "locking" && !b.grouped && b.head == "SELECT" {
		q.statement = f(q.statement, one(g, " FOR UPDATE", " LOCK IN SHARE MODE"))
		q.shape = "locking"
	}
	return q
}

// textual picks a column of texts, if it finds one.
func (g *generator) textual(s *scope) (source, *column) {
	src, c := g.pick(s)
	for range 20 {
		if c.kind == kindText {
			break
		}
		src, c = g.pick(s)
	}
	return src, c
}

// orderItem returns an item of ORDER BY.
func (g *generator) orderItem(b *block) (text fragment, ok bool) {
	if b.grouped || strings.Contains(b.head, "DISTINCT") || g.in(40) {
		i := g.IntN(len(b.items))
		it := b.items[i]
		if it.star || len(it.expr.args) > 0 {
			return text, false
		}
		switch {
		case g.in(25) && !b.items[0].star:
			return f(i + 1), true
		case it.alias != "" && g.in(60):
			return f(it.alias), true
		}
		return it.expr, true
	}
	src, c := g.pick(&b.scope)
	switch n := g.IntN(100); {
	case n < 30:
		src, c = g.key(&b.scope)
	case n < 50:
		src, c = g.textual(&b.scope)
	}
	switch {
	case g.in(20):
		return f(g.expression(&b.scope, nil)), true
	case len(b.sources) == 1 && !b.shadow[c.name] && g.in(70):
		return f(c.name), true
	}
	return f(src.alias + "." + c.name), true
}
