//go:build unix

package oracle_test

import "fmt"

// nested makes a SELECT of several query blocks that every node may be able to
// answer for itself, and some that no node can.
func (g *generator) nested() *query {
	switch g.IntN(10) {
	case 0, 1, 2:
		return g.throughDerived()
	case 3:
		return g.filteredByHaving()
	case 4:
		return g.locking()
	}
	return g.correlated()
}

// correlated has subqueries whose rows are, mostly, on the node of the row around
// them.
func (g *generator) correlated() *query {
	b := g.sources(0)
	outer := one(g, orders, orders, items, notes, region)
	src, text := g.table(&b.scope, outer)
	b.sources, b.from = append(b.sources, src), text
	if g.in(20) && outer != region {
		right, text := g.table(&b.scope, one(g, orders, items, region))
		on := f(src.alias, ".uid = ", right.alias, ".uid")
		if right.table == region {
			on = f(src.alias, ".id = ", right.alias, ".id")
		}
		b.from = f(b.from, one(g, " JOIN ", " LEFT JOIN "), text, " ON ", on)
		b.sources = append(b.sources, right)
	}
	g.conditions(b)
	for i := range 1 + g.IntN(2) {
		if g.in(30) {
			inner, where := g.inner(src, "s")
			b.items = append(b.items, item{
				expr:  f("(SELECT ", one(g, "MAX", "COUNT", "MIN"), "(s.", inner.columns[1].name, ")", where, ")"),
				alias: fmt.Sprintf("sub%d", i),
			})
			continue
		}
		condition := g.subqueryCondition(src)
		if b.where.sql == "" {
			b.where = condition
		} else {
			b.where = f("(", b.where, ")", one(g, " AND ", " AND ", " OR "), condition)
		}
	}
	for _, c := range src.columns[:2] {
		b.items = append(b.items, item{expr: f(src.alias + "." + c.name)})
	}
	return g.finish(b, "correlated")
}

// inner writes FROM and WHERE of a subquery on a table with an alias, correlated
// with the source around it.
func (g *generator) inner(outer source, alias string) (*table, fragment) {
	t := one(g, orders, items, items, notes, region)
	s := &scope{sources: []source{{t, alias}}}
	from := f(t.name, " ", alias)
	var where []fragment
	if t != region && outer.column("uid") != nil {
		key := f(alias, ".uid = ", outer.alias, ".uid")
		switch n := g.IntN(100); {
		case n < 10:
			key = f(alias, ".uid <=> ", outer.alias, ".uid")
		case n < 18:
			key = f(alias, ".uid >= ", outer.alias, ".uid")
		case n < 26:
			key = g.narrow(s, s.sources[0])
		case n < 32:
			key = f("(", key, " OR ", alias, ".id = 3)")
		case n < 40:
			from = f("(SELECT uid AS k, x.* FROM ", t.name, " x) ", alias)
			key = f(alias, ".k = ", outer.alias, ".uid")
		}
		where = append(where, key)
		if t == notes && outer.table == notes && g.in(70) {
			where = append(where, f(alias, ".oid = ", outer.alias, ".oid"))
		}
	}
	if g.in(40) {
		where = append(where, f(alias, ".id ", one(g, "= ", "> ", "<> "), outer.alias, ".", outer.columns[1].name))
	}
	if g.in(25) {
		where = append(where, g.condition(s, 1))
	}
	if len(where) == 0 {
		where = append(where, f("1 = 1"))
	}
	return t, f(" FROM ", from, " WHERE ", join(where, " AND "))
}

func (g *generator) subqueryCondition(outer source) fragment {
	t, rest := g.inner(outer, "s")
	key, number := "uid", "id"
	if t == region || outer.table == region {
		key = "id"
	}
	column := outer.alias + "." + key
	switch g.IntN(9) {
	case 0, 1:
		return f(one(g, "", "NOT "), "EXISTS (SELECT ", one(g, "1", "*", "s.id"), rest, one(g, "", "", " LIMIT 1"), ")")
	case 2, 3:
		return f(column, one(g, " IN ", " NOT IN ", " IN ", " = ANY ", " <> ALL "), "(SELECT s.", key, rest, ")")
	case 4:
		// The rows that make it true are on the node by the list alone.
		free := f(" FROM ", t.name, " s")
		if g.in(40) {
			free = f(free, " WHERE ", g.condition(&scope{sources: []source{{t, "s"}}}, 1))
		}
		return f(column, one(g, " IN ", " IN ", " NOT IN ", " = ANY "), "(SELECT s.", key, free, one(g, "", "", " GROUP BY s."+key), ")")
	case 5:
		return f("(", column, ", ", outer.alias, ".", outer.columns[1].name, ")", one(g, " IN ", " NOT IN "), "(SELECT s.", key, ", s.", t.columns[1].name, " FROM ", t.name, " s)")
	case 6:
		return f(outer.alias, ".id = (SELECT s.", number, rest, " ORDER BY 1", one(g, "", " DESC"), " LIMIT 1)")
	case 7:
		inner, deeper := g.inner(source{t, "s"}, "u")
		return f("EXISTS (SELECT 1", rest, one(g, " AND ", " AND NOT "), "EXISTS (SELECT u.", inner.columns[0].name, deeper, "))")
	}
	return f(outer.alias, ".id ", one(g, "< ", "= "), "(SELECT ", one(g, "MAX", "COUNT", "MIN"), "(", one(g, "s.", "s.", ""), number, ")", rest, ")")
}

// throughDerived reads a table through a derived table or common table expression
// that selects its rows.
func (g *generator) throughDerived() *query {
	inner := g.sources(1)
	src := inner.sources[0]
	for src.table == staff {
		inner = g.sources(1)
		src = inner.sources[0]
	}
	g.conditions(inner)
	shown := &table{name: "d", primary: src.primary, keys: src.keys}
	renamed := g.in(25)
	star := !renamed && g.in(40)
	for i, c := range src.columns {
		name := c.name
		if renamed && i == 0 {
			name = "k0"
		}
		if i > 4 && !star {
			break
		}
		it := item{expr: f(src.alias + "." + c.name)}
		if name != c.name {
			it.alias = name
		}
		inner.items = append(inner.items, it)
		shown.columns = append(shown.columns, column{name, c.ddl, c.kind, c.values})
	}
	if renamed {
		shown.keys = nil
	}
	for _, key := range src.keys {
		if shown.column(key) == nil {
			shown.keys = nil
		}
	}
	if star {
		inner.items = []item{{expr: f(one(g, "*", src.alias+".*")), star: true}}
	}
	if g.in(10) {
		inner.head = "SELECT DISTINCT"
	}
	if renamed || src.table == region {
		shown.primary = shown.columns[0].name
	}
	b := &block{head: "SELECT", scope: scope{sources: []source{{shown, "d"}}}, folded: inner.head != "SELECT"}
	text := inner.sql()
	with := fragment{}
	if g.in(30) {
		with, b.from = f("WITH d AS (", text, ") "), f("d")
	} else {
		b.from = f("(", text, one(g, ") d", ") AS d"))
	}
	if g.in(35) && shown.column("uid") != nil {
		t := one(g, orders, items, notes)
		right, text := g.table(&b.scope, t)
		b.from = f(b.from, one(g, " JOIN ", " LEFT JOIN ", " RIGHT JOIN "), text, " ON d.uid = ", right.alias, ".uid")
		b.sources = append(b.sources, right)
	}
	g.conditions(b)
	if g.in(30) && len(b.sources) == 1 {
		if renamed {
			b.where = f("d.k0", one(g, " = ", " <=> "), g.value(one(g, src.columns[0].values...)))
		} else if len(shown.keys) > 0 {
			b.where = g.narrow(&b.scope, b.sources[0])
		}
	}
	if g.in(25) {
		b.grouped, b.folded = true, true
		b.items = append(b.items, item{expr: g.aggregated(&b.scope)})
	} else {
		g.selected(b)
	}
	q := g.finish(b, "through")
	q.statement = f(with, q.statement)
	return q
}

// filteredByHaving has HAVING without groups, or on the sharding column.
func (g *generator) filteredByHaving() *query {
	b := g.sources(1)
	src := b.sources[0]
	g.conditions(b)
	if g.in(30) && len(src.keys) > 0 {
		key := src.keys[0]
		b.grouped, b.folded = true, true
		b.items = []item{{expr: f(src.alias + "." + key)}, {expr: f("COUNT(*)"), alias: "n"}}
		b.group = f(" GROUP BY ", src.alias, ".", key, " HAVING ", key, " = ", g.value(one(g, src.column(key).values...)))
		return g.finish(b, "having")
	}
	first, second := src.columns[0], src.columns[1]
	b.items = []item{{expr: f(src.alias + "." + first.name)}, {expr: f(src.alias + "." + second.name)}}
	name := first.name
	switch g.IntN(4) {
	case 0:
		b.items[0].alias, name = "h", "h"
	case 1: // an alias that hides the sharding column
		b.items[1].alias, b.items[0].alias, name = first.name, "h", first.name
		first = second
		b.shadow = map[string]bool{name: true}
	}
	b.group = f(" HAVING ", name, one(g, " = ", " IN (", " <=> "), g.value(one(g, first.values...)))
	if b.group.sql[len(b.group.sql)-1] != ')' && containsOpen(b.group.sql) {
		b.group = f(b.group, ")")
	}
	q := &query{shape: "having"}
	q.statement = b.sql()
	return q
}

func containsOpen(text string) bool {
	open := 0
	for _, c := range text {
		switch c {
		case '(':
			open++
		case ')':
			open--
		}
	}
	return open > 0
}

// locking reads and locks rows.
func (g *generator) locking() *query {
	b := g.sources(1)
	g.conditions(b)
	g.selected(b)
	q := g.finish(b, "locking")
	q.statement = f(q.statement, one(g, " FOR UPDATE", " LOCK IN SHARE MODE", " FOR UPDATE NOWAIT", " FOR UPDATE SKIP LOCKED", " FOR UPDATE WAIT 1"))
	return q
}
