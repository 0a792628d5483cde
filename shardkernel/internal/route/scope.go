package route

import (
	"cmp"
	"slices"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
)

// block returns the query block that a block's tables stand in, as it were: a
// derived table that is a plain selection means the same with its tables and
// conditions in its place.
func (p *Program) block(scope int) int {
	for p.stmt.Scopes[scope].Use == parse.UseMerged {
		scope = p.stmt.Scopes[scope].Parent
	}
	return scope
}

// lookedInto reports whether conditions on a block's columns are conditions on the
// rows of its tables.
func (p *Program) lookedInto(scope int) bool {
	use := p.stmt.Scopes[scope].Use
	return use == parse.UseMerged || use == parse.UsePassing
}

// depth returns how many blocks are around a block.
func (p *Program) depth(scope int) int {
	n := 0
	for ; scope >= 0; scope = p.stmt.Scopes[scope].Parent {
		n++
	}
	return n
}

// top returns the outermost block from which conditions reach the block's tables.
func (p *Program) top(scope int) int {
	for p.lookedInto(scope) {
		scope = p.stmt.Scopes[scope].Parent
	}
	return scope
}

// conditionsOn returns the blocks whose conditions every row of the block's tables
// fulfils that goes into a row of the block at the top: those around it, and
// those beside it where no outer join puts NULLs in place of their rows.
func (p *Program) conditionsOn(scope int) []int {
	var found []int
	from := -1
	for {
		found = p.below(found, scope, from)
		if !p.lookedInto(scope) {
			return found
		}
		scope, from = p.stmt.Scopes[scope].Parent, scope
	}
}

// below appends a block and those in its FROM whose rows are in every row of it,
// without the one it was reached from.
func (p *Program) below(found []int, scope, from int) []int {
	found = append(found, scope)
	for i := range p.stmt.Scopes {
		if s := &p.stmt.Scopes[i]; s.Parent == scope && i != from && p.lookedInto(i) && !s.Nullable {
			found = p.below(found, i, -1)
		}
	}
	return found
}

// memberLinks returns the links by which a subquery of IN or = ANY concerns rows
// only that equal one of the block around it. Where its FALSE and NULL differ this
// holds only if no sharding column is NULL; then sure is false.
func (p *Program) memberLinks(scope int) (links []link, sure bool) {
	s := &p.stmt.Scopes[scope]
	for _, pair := range s.Member {
		a, okA := p.endpointOf(pair.A)
		b, okB := p.endpointOf(pair.B)
		if okA && okB && p.linkable(a, b) {
			links = append(links, link{a: a, b: b})
		}
	}
	return links, s.OnlyTrue
}

// placeSubqueries appends the placements of the references that stand in
// subqueries and in derived tables that are not looked into, those of outer
// blocks first: each is read in one node, which must hold all of its rows that
// concern the rows of the unit.
func (p *Program) placeSubqueries(places []placement, links func(scope int) []link) []placement {
	var refs []*reference
	for _, r := range p.refs {
		if !p.placed(r) {
			refs = append(refs, r)
		}
	}
	slices.SortStableFunc(refs, func(a, b *reference) int {
		if order := cmp.Compare(p.depth(a.scope), p.depth(b.scope)); order != 0 || a.nullable == b.nullable {
			return order
		}
		if b.nullable {
			return -1
		}
		return 1
	})
	for _, r := range refs {
		place := placement{ref: r, subquery: true, partner: -1}
		known := links(p.top(r.scope))
		member, sure := p.memberLinks(p.top(r.scope))
		p.pair(&place, places, known)
		if len(member) > 0 && place.relation != relationPaired {
			before := place.relation
			p.pair(&place, places, append(slices.Clip(known), member...))
			if place.relation > before && !sure {
				place.member = member
			}
		}
		places = append(places, place)
	}
	return places
}

// pair finds the earlier placement from which the node of a reference follows best.
func (p *Program) pair(place *placement, places []placement, links []link) {
	equal := equalColumns(links)
	for i := range places {
		earlier := places[i].ref
		relation := relationOf(p.set, place.ref, earlier, func(a, b endpoint) bool {
			return equal(a, b) || place.ref.nullable && slices.Contains(links, link{a: b, b: a, outer: true})
		})
		if relation > place.relation {
			place.relation, place.partner = relation, earlier.index
		}
	}
}

// refuseScopes returns why query blocks keep a statement from going to several
// nodes, whatever they are.
func (p *Program) refuseScopes() error {
	for i := range p.stmt.Scopes {
		s := &p.stmt.Scopes[i]
		if !s.Limit || s.Correlated {
			continue
		}
		switch s.Use {
		case parse.UseSubquery:
			return p.refuse("LIMIT in a subquery", "the nodes might choose different rows", "")
		case parse.UseFrom:
			return p.refuse("LIMIT in a derived table or WITH", "the nodes would each choose rows of their own", "")
		}
	}
	return nil
}

// checkAggregates refuses an aggregate in a subquery that may be the outer block's
// as far as the metadata tells.
func (p *Program) checkAggregates(meta Meta) error {
	for i := range p.stmt.Scopes {
		s := &p.stmt.Scopes[i]
		if s.Use != parse.UseSubquery {
			continue
		}
		for _, name := range s.Aggregated {
			if !p.owns(i, name, meta) {
				return p.refuse("aggregate of "+name+" in a subquery", "the column may belong to the block around it, and the aggregate with it", "name the column's table")
			}
		}
	}
	return nil
}

// checkMembers refuses NOT IN, and IN where NULL is not FALSE, over sharding columns
// that may be NULL: in a row, or because an outer join found none.
func (p *Program) checkMembers(meta Meta) error {
	for i := range p.places {
		for _, l := range p.places[i].member {
			for _, end := range [...]endpoint{l.a, l.b} {
				r := p.refs[end.ref]
				if r.nullable {
					return p.refuse("subquery with IN on "+r.rule.Name+"."+end.column, "an outer join may make the column NULL, for which rows on any node count",
						"use EXISTS with an equality of the sharding columns, or an inner join")
				}
				if c := meta.column(r.rule.Name, end.column); c == nil || c.Nullable {
					return p.refuse("subquery with IN on "+r.rule.Name+"."+end.column, "one NULL on any node would make it NULL, and the column may hold NULL",
						"use EXISTS with an equality of the sharding columns, or declare the column NOT NULL")
				}
			}
		}
	}
	return nil
}

// owns reports whether a table of the block has a column of that name.
func (p *Program) owns(scope int, name string, meta Meta) bool {
	for i := range p.stmt.Tables {
		if p.stmt.Tables[i].Scope != scope {
			continue
		}
		logical, configured := p.Logical(i)
		if !configured {
			continue
		}
		if _, ok := meta.table(logical).Column(name); ok {
			return true
		}
	}
	return false
}
