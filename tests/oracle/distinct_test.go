//go:build unix

package oracle_test

import "fmt"

// distinct makes a SELECT DISTINCT, or aggregates of DISTINCT arguments.
func (g *generator) distinct() *query {
	switch n := g.IntN(100); {
	case n < 35:
		return g.distinctAggregates()
	case n < 50:
		return g.ownGroups()
	}
	b := g.sources(1)
	if g.in(25) {
		b = g.joined()
	}
	b.head, b.folded = "SELECT DISTINCT", true
	g.conditions(b)
	switch n := g.IntN(100); {
	case n < 12:
		b.items = []item{{expr: f("*"), star: true}}
		if len(b.sources) > 1 {
			b.items[0].expr = f(one(g, b.sources...).alias, ".*")
		}
		return g.finish(b, "distinct")
	case n < 22:
		return g.distinctGroups(b)
	}
	for i := range 1 + g.IntN(3) {
		src, c := g.pick(&b.scope)
		it := item{expr: f(g.name(&b.scope, src, c.name))}
		switch {
		case g.in(10):
			it = item{expr: f(g.expression(&b.scope, nil)), alias: fmt.Sprintf("e%d", i)}
		case g.in(6):
			it = item{expr: g.value(one[any](g, 1, "x", nil, 1.5)), alias: fmt.Sprintf("c%d", i)}
		case g.in(15):
			it.alias = fmt.Sprintf("n%d", i)
		}
		b.items = append(b.items, it)
	}
	return g.finish(b, "distinct")
}

// distinctGroups selects distinct rows of groups.
func (g *generator) distinctGroups(b *block) *query {
	b.grouped = true
	src, c := g.pick(&b.scope)
	b.group = f(" GROUP BY ", g.name(&b.scope, src, c.name))
	if g.in(50) {
		b.items = append(b.items, item{expr: f(g.name(&b.scope, src, c.name))})
	}
	b.items = append(b.items, item{expr: g.aggregated(&b.scope), alias: "a0"})
	if g.in(30) {
		b.group = f(b.group, " HAVING COUNT(*) > ", g.IntN(3))
	}
	return g.finish(b, "distinct")
}

// distinctAggregates makes a block of several aggregates of DISTINCT arguments.
func (g *generator) distinctAggregates() *query {
	b := g.sources(1)
	if g.in(25) {
		b = g.joined()
	}
	b.grouped, b.folded = true, true
	g.conditions(b)
	if g.in(60) {
		src, c := g.pick(&b.scope)
		key := f(g.name(&b.scope, src, c.name))
		if g.in(70) {
			b.items = append(b.items, item{expr: key})
		}
		b.group = f(" GROUP BY ", key)
	}
	for i := range 1 + g.IntN(3) {
		it := item{expr: g.distinctAggregate(&b.scope), alias: fmt.Sprintf("a%d", i)}
		if g.in(25) {
			it.expr = g.aggregated(&b.scope)
		}
		b.items = append(b.items, it)
	}
	if g.in(25) {
		b.group = f(b.group, " HAVING ", g.distinctAggregate(&b.scope), one(g, " > ", " <= ", " <> "), g.value(one[any](g, 0, 1, 3, nil)))
	}
	return g.finish(b, "distinct aggregate")
}

// distinctAggregate is an aggregate of DISTINCT arguments, or an expression over
// some.
func (g *generator) distinctAggregate(s *scope) fragment {
	src, c := g.pick(s)
	n := f(g.name(s, src, c.name))
	other, d := g.pick(s)
	exact := c.kind == kindInt || c.kind == kindUint || c.kind == kindDecimal || c.kind == kindYear || c.kind == kindBits
	switch k := g.IntN(100); {
	case k < 8:
		n = f(g.expression(s, nil))
		return f("COUNT(DISTINCT ", n, ")")
	case k < 25:
		return f("COUNT(DISTINCT ", n, ", ", g.name(s, other, d.name), ")")
	case k < 55 && (exact || c.kind == kindEnum || c.kind == kindSet || c.kind == kindFloat):
		return f(one(g, "SUM", "AVG"), "(DISTINCT ", n, ")")
	case k < 62:
		return f(one(g, "MIN", "MAX"), "(DISTINCT ", n, ")")
	case k < 70 && exact:
		return f("(COUNT(DISTINCT ", n, ")", one(g, " + ", " * "), "IFNULL(SUM(DISTINCT ", n, "), 0))")
	case k < 74 && exact:
		return f("ROUND(AVG(DISTINCT ", n, "), ", g.IntN(3), ")")
	}
	return f(one(g, "COUNT(DISTINCT ", "count( distinct "), n, ")")
}

// ownGroups groups by the sharding columns of a table.
func (g *generator) ownGroups() *query {
	b := g.sources(1)
	if g.in(25) {
		b = g.joined()
	}
	b.grouped, b.folded = true, true
	if g.in(15) {
		b.head = "SELECT DISTINCT"
	}
	g.conditions(b)
	src := one(g, b.sources...)
	var by []fragment
	for _, key := range src.keys {
		by = append(by, f(g.name(&b.scope, src, key)))
	}
	if len(by) == 0 || g.in(40) {
		other, c := g.pick(&b.scope)
		by = append(by, f(g.name(&b.scope, other, c.name)))
	}
	for _, key := range by {
		if g.in(70) {
			b.items = append(b.items, item{expr: key})
		}
	}
	for i := range 1 + g.IntN(2) {
		it := item{expr: g.aggregated(&b.scope), alias: fmt.Sprintf("a%d", i)}
		if g.in(20) {
			it.expr = f("CONCAT(COUNT(*), 'x')")
		}
		b.items = append(b.items, it)
	}
	b.group = f(" GROUP BY ", join(by, ", "))
	if g.in(25) {
		b.group = f(b.group, " HAVING ", g.aggregated(&b.scope), one(g, " > ", " <= ", " <> "), g.value(one[any](g, 0, 1, 3, "2", nil)))
	}
	return g.finish(b, "own groups")
}
