package route

import (
	"slices"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
)

// endpoint is a sharding column of a reference.
type endpoint struct {
	ref    int // index into Program.refs
	column string
}

// link is the equality of two sharding columns by a join or by WHERE, between
// tables whose strategies are equal, so that the columns have the same meaning.
type link struct {
	a, b  endpoint
	outer bool // of an outer join: a is on the preserved side, b on the nullable one
}

// related reports whether equal keys of the two tables lead to the same place
// on some level.
func related(set *rule.Set, a, b *rule.Table) bool {
	return a == b || set.Bound(a, b) || set.DatabaseBound(a, b)
}

// markNullable marks the references that stand on a nullable side in a block.
func (p *Program) markNullable(scope int) {
	joins := p.stmt.Scopes[scope].Joins
	for j := range joins {
		if joins[j].Kind != parse.JoinLeft {
			continue
		}
		for _, r := range p.refsOf(joins[j].Right) {
			r.nullable = true
		}
	}
}

// linkScope finds the links of a query block.
func (p *Program) linkScope(scope int) []link {
	var links []link
	joins := p.stmt.Scopes[scope].Joins
	for j := range joins {
		join := &joins[j]
		if join.Kind == parse.JoinNatural {
			continue
		}
		for _, pair := range join.Equal {
			a, okA := p.endpointOf(pair.A)
			b, okB := p.endpointOf(pair.B)
			if !okA || !okB || !p.linkable(a, b) {
				continue
			}
			if join.Kind == parse.JoinInner {
				links = append(links, link{a: a, b: b})
				continue
			}
			// An equality within one side says nothing of unmatched rows.
			switch ta, tb := p.refs[a.ref].table, p.refs[b.ref].table; {
			case slices.Contains(join.Left, ta) && slices.Contains(join.Right, tb):
				links = append(links, link{a: a, b: b, outer: true})
			case slices.Contains(join.Left, tb) && slices.Contains(join.Right, ta):
				links = append(links, link{a: b, b: a, outer: true})
			}
		}
	}
	// What WHERE equates is equal in every row of the block. On a nullable side it
	// says more, that the row is matched, which is not followed up.
	for _, pair := range p.stmt.Scopes[scope].Equal {
		a, okA := p.endpointOf(pair.A)
		b, okB := p.endpointOf(pair.B)
		matched := func(end endpoint) bool {
			r := p.refs[end.ref]
			return !r.nullable || p.top(r.scope) != p.top(scope)
		}
		if okA && okB && p.linkable(a, b) && matched(a) && matched(b) {
			links = append(links, link{a: a, b: b})
		}
	}
	return links
}

// linkable reports whether equal values of two sharding columns lead to the same
// place on some level.
func (p *Program) linkable(a, b endpoint) bool {
	return a.ref != b.ref && related(p.set, p.refs[a.ref].rule, p.refs[b.ref].rule)
}

func (p *Program) refOf(table int) *reference {
	for _, r := range p.refs {
		if r.table == table {
			return r
		}
	}
	return nil
}

func (p *Program) endpointOf(c parse.Column) (endpoint, bool) {
	if c.Table < 0 {
		return endpoint{}, false
	}
	r := p.refOf(c.Table)
	if r == nil {
		return endpoint{}, false
	}
	if _, ok := r.keyNamed(c.Name); !ok {
		return endpoint{}, false
	}
	return endpoint{r.index, c.Name}, true
}

// sources returns the columns whose value a row's column at end has wherever a
// comparison on them is true.
//
// A comparison that is true on a column of a nullable side says that the row is
// matched, so the value may be carried to the preserved side; once carried from
// a preserved side to a nullable one it may not go back, because there the row
// may be unmatched. Seen from end: first against the direction of outer joins,
// then along it.
func sources(links []link, end endpoint) []endpoint {
	type state struct {
		at      endpoint
		matched bool // the walk has gone from a preserved to a nullable side
	}
	states := []state{{at: end}}
	visit := func(s state) {
		if !slices.Contains(states, s) {
			states = append(states, s)
		}
	}
	for i := 0; i < len(states); i++ {
		s := states[i]
		for _, l := range links {
			switch {
			case !l.outer && l.a == s.at:
				visit(state{l.b, s.matched})
			case !l.outer && l.b == s.at:
				visit(state{l.a, s.matched})
			case l.outer && l.b == s.at && !s.matched:
				visit(state{l.a, false})
			case l.outer && l.a == s.at:
				visit(state{l.b, true})
			}
		}
	}
	var out []endpoint
	for _, s := range states {
		if !slices.Contains(out, s.at) {
			out = append(out, s.at)
		}
	}
	return out
}

// freeName reports whether an unqualified column name of the block is the
// sharding column of that name: true unless a natural join or USING makes one
// column of it and that of a table with other types.
func (p *Program) freeName(scope int, links []link, name string) bool {
	for _, join := range p.stmt.Scopes[scope].Joins {
		if join.Kind == parse.JoinNatural {
			return false
		}
		for _, pair := range join.Equal {
			if pair.A.Name != name || pair.B.Name != name {
				continue
			}
			a, okA := p.endpointOf(pair.A)
			b, okB := p.endpointOf(pair.B)
			linked := okA && okB && slices.ContainsFunc(links, func(l link) bool {
				return l.a == a && l.b == b || l.a == b && l.b == a
			})
			if !linked {
				return false
			}
		}
	}
	return true
}

// relation is what the joins say of the nodes of rows that meet.
type relation uint8

const (
	relationNone     relation = iota
	relationDatabase          // in the same data source
	relationPaired            // in nodes of the same index
)

// relationOf compares two references whose columns are equal as equal says.
func relationOf(set *rule.Set, a, b *reference, equal func(a, b endpoint) bool) relation {
	ta, tb := a.rule, b.rule
	if !related(set, ta, tb) {
		return relationNone
	}
	together := func(sa, sb *rule.Strategy) bool {
		return sameTarget(sa, sb, func(column int) bool {
			return equal(endpoint{a.index, sa.Columns[column]}, endpoint{b.index, sb.Columns[column]})
		})
	}
	database, tables := together(ta.Database, tb.Database), together(ta.Tables, tb.Tables)
	if (ta == tb || set.Bound(ta, tb)) && len(a.keys) > 0 &&
		(database || ta.Database == nil) && (tables || ta.Tables == nil) {
		return relationPaired
	}
	if database {
		return relationDatabase
	}
	return relationNone
}

// sameTarget reports whether rows of two tables whose strategies are equal are on
// targets of the same place where some of the columns are equal.
func sameTarget(a, b *rule.Strategy, equal func(column int) bool) bool {
	if a == nil || b == nil || len(a.Columns) != len(b.Columns) || len(a.Columns) == 0 {
		return false
	}
	every := true
	for i := range a.Columns {
		switch {
		case !equal(i):
			every = false
		case a.Decides(i) && b.Decides(i):
			return true
		}
	}
	return every
}

// placement tells how the node of one reference of a join follows from those
// placed before it.
type placement struct {
	ref      *reference
	nullable bool
	partner  int // index into Program.refs; -1 when relation is relationNone
	relation relation
	// subquery is true for a reference outside of the placed block: its node
	// follows from those of the others, and makes no units.
	subquery bool
	// member are links that hold only if none of their columns is NULL.
	member []link
	// component numbers the groups of inner-joined references whose rows meet in
	// one data source only.
	component int
}

// placeJoins orders the references of the outermost block for placing. The
// second result is why several nodes cannot be joined exactly, whatever they
// are.
func (p *Program) placeJoins(links []link) ([]placement, error) {
	var places []placement
	equal := equalColumns(links)
	for _, r := range p.refs {
		if p.block(r.scope) != p.placedScope() || r.nullable {
			continue
		}
		place := placement{ref: r, partner: -1, component: len(places)}
		for _, earlier := range places {
			relation := relationOf(p.set, r, earlier.ref, equal)
			if relation == relationNone {
				continue
			}
			joined, into := max(place.component, earlier.component), min(place.component, earlier.component)
			place.component = into
			for i := range places {
				if places[i].component == joined {
					places[i].component = into
				}
			}
			if relation > place.relation {
				place.relation, place.partner = relation, earlier.ref.index
			}
		}
		places = append(places, place)
	}
	var joins []parse.Join
	for scope := range p.stmt.Scopes {
		if p.block(scope) == p.placedScope() {
			joins = append(joins, p.stmt.Scopes[scope].Joins...)
		}
	}
	inside := func(refs []*reference) []*reference {
		return slices.DeleteFunc(refs, func(r *reference) bool { return p.block(r.scope) != p.placedScope() })
	}
	placed := func(ref int) bool {
		return slices.ContainsFunc(places, func(pl placement) bool { return pl.ref.index == ref })
	}
	for j := range joins {
		join := &joins[j]
		if join.Kind == parse.JoinNatural {
			return nil, unsupportedJoin("NATURAL JOIN", "the columns it compares are not known", "write the join with ON or USING")
		}
		if join.Kind != parse.JoinLeft {
			continue
		}
		right, left := inside(p.refsOf(join.Right)), inside(p.refsOf(join.Left))
		if len(right) == 0 {
			continue
		}
		if len(left) == 0 {
			return nil, unsupportedJoin("LEFT JOIN", "the preserved table is not sharded, so every node would give its unmatched rows again",
				"put a condition on the sharding column of the joined table into WHERE, or use an inner join")
		}
		if len(right) > 1 || placed(right[0].index) {
			return nil, unsupportedJoin("LEFT JOIN", "several sharded tables stand on its nullable side", "join them one by one")
		}
		place := placement{ref: right[0], nullable: true, partner: -1}
		for _, l := range left {
			if !placed(l.index) {
				continue
			}
			relation := relationOf(p.set, right[0], l, func(a, b endpoint) bool {
				return slices.Contains(links, link{a: b, b: a, outer: true})
			})
			if relation > place.relation {
				place.relation, place.partner = relation, l.index
			}
		}
		places = append(places, place)
	}
	if len(places) == 0 {
		for _, r := range p.refs {
			if !p.placed(r) && p.stmt.Scopes[p.block(r.scope)].Use != parse.UseSubquery {
				return nil, p.errElsewhere(r)
			}
		}
		return nil, p.refuse("subquery", "the tables around it are not sharded, so every node would give their rows again", "")
	}
	return places, nil
}

func (p *Program) refsOf(tables []int) []*reference {
	var refs []*reference
	for _, t := range tables {
		if r := p.refOf(t); r != nil {
			refs = append(refs, r)
		}
	}
	return refs
}

// equalColumns reports which columns inner joins make equal, also over others.
func equalColumns(links []link) func(a, b endpoint) bool {
	inner := slices.DeleteFunc(slices.Clone(links), func(l link) bool { return l.outer })
	return func(a, b endpoint) bool {
		return slices.Contains(sources(inner, a), b)
	}
}
