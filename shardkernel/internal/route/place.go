package route

import (
	"fmt"
	"slices"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
)

// maxProduct bounds the units of a join, beyond those that its largest table
// needs by itself.
const maxProduct = 1024

// place returns the combinations of nodes, one node for each reference, such
// that rows that meet in the join do so in exactly one combination.
func (p *Program) place(sets []nodeSet, meta Meta) ([][]int, error) {
	if err := p.checkMembers(meta); err != nil {
		return nil, err
	}
	if err := p.checkComponents(sets); err != nil {
		return nil, err
	}
	pl := &placer{program: p, sets: sets, chosen: make([]int, len(p.refs))}
	if err := pl.from(0, ""); err != nil {
		return nil, err
	}
	return pl.combinations, nil
}

// checkComponents refuses tables whose rows may meet across data sources.
func (p *Program) checkComponents(sets []nodeSet) error {
	if !p.cartesian() {
		return nil
	}
	source := ""
	apart := p.places[slices.IndexFunc(p.places, func(pl placement) bool { return pl.component > 0 })]
	for _, place := range p.places {
		if place.nullable || place.subquery {
			continue
		}
		set := sets[place.ref.index]
		for i := set.next(0); i >= 0; i = set.next(i + 1) {
			s := place.ref.rule.Nodes[i].DataSource
			if source != "" && s != source {
				return unsupportedJoin("join of "+p.places[0].ref.rule.Name+" and "+apart.ref.rule.Name,
					"it does not equate their sharding columns, or they are not binding tables, so their rows may meet across data sources",
					"join them on their sharding columns and name them in bindingTables, or add conditions that lead them to one data source")
			}
			source = s
		}
	}
	return nil
}

type placer struct {
	program      *Program
	sets         []nodeSet
	chosen       []int // by reference
	combinations [][]int
}

// from places the references from the k-th placement on, in a data source; ""
// before the first is placed.
func (pl *placer) from(k int, source string) error {
	if k == len(pl.program.places) {
		switch n := len(pl.combinations); {
		case n == 1 && pl.program.scatter != nil:
			return pl.program.scatter
		case n >= maxProduct && n >= pl.program.largest():
			return unsupportedJoin("join", fmt.Sprintf("it would need more than %d statements", n), "narrow it by conditions on the sharding columns")
		}
		pl.combinations = append(pl.combinations, slices.Clone(pl.chosen))
		return nil
	}
	place := &pl.program.places[k]
	if place.nullable || place.subquery {
		node, err := pl.followingNode(place, source)
		if err != nil {
			return err
		}
		pl.chosen[place.ref.index] = node
		return pl.from(k+1, source)
	}
	set := pl.sets[place.ref.index]
	for i := set.next(0); i >= 0; i = set.next(i + 1) {
		n := &place.ref.rule.Nodes[i]
		if source != "" && n.DataSource != source || place.relation == relationPaired && i != pl.chosen[place.partner] {
			continue
		}
		pl.chosen[place.ref.index] = i
		if err := pl.from(k+1, n.DataSource); err != nil {
			return err
		}
	}
	return nil
}

// largest returns the number of nodes of the largest table.
func (p *Program) largest() int {
	n := 0
	for _, r := range p.refs {
		n = max(n, len(r.rule.Nodes))
	}
	return n
}

// followingNode returns the one node in which all matches of the preserved rows
// are, or all rows that concern a subquery. With several, a row unmatched in one
// of them would appear once for each.
func (pl *placer) followingNode(place *placement, source string) (int, error) {
	ref, set := place.ref, pl.sets[place.ref.index]
	node, first := -1, -1
	for i := range ref.rule.Nodes {
		inside := ref.rule.Nodes[i].DataSource == source
		if place.relation == relationNone && !inside && set.has(i) {
			if place.subquery {
				return 0, pl.program.errElsewhere(place.ref)
			}
			return 0, fault.Unsupported("LEFT JOIN with "+ref.rule.Name+" over several nodes", "matching rows may be in another data source",
				"join on the sharding columns of binding tables, or use an inner join")
		}
		if !inside || place.relation == relationPaired && i != pl.chosen[place.partner] {
			continue
		}
		if first < 0 {
			first = i
		}
		if !set.has(i) {
			continue
		}
		if node >= 0 && place.subquery {
			return 0, pl.program.errElsewhere(place.ref)
		}
		if node >= 0 {
			return 0, fault.Unsupported("LEFT JOIN with "+ref.rule.Name+" over several nodes", "several of its nodes may hold the matches of one row, and each would give unmatched rows again",
				"use an inner join, or add a condition on "+keyNames(ref.rule)+" to WHERE")
		}
		node = i
	}
	switch {
	case node >= 0:
		return node, nil
	case first >= 0: // its rows are in no result: any node does
		return first, nil
	}
	return 0, pl.program.errApart()
}

// errElsewhere refuses a subquery, or a derived table that is not looked into,
// whose rows are on several nodes.
func (p *Program) errElsewhere(r *reference) error {
	name := r.rule.Name
	keys := keyNames(r.rule)
	if keys == "" {
		keys = "the sharding column"
	}
	for scope := r.scope; scope >= 0; scope = p.stmt.Scopes[scope].Parent {
		switch p.stmt.Scopes[scope].Use {
		case parse.UseSubquery:
			return fault.Unsupported("subquery on "+name+" over several nodes", "a node cannot answer it, since its rows are on other nodes as well",
				"equate "+keys+" in it with the sharding column of a table around it that is bound to "+name+", or add a condition on it that leads to one node")
		case parse.UseFrom, parse.UsePassing:
			return fault.Unsupported("derived table or WITH on "+name+" over several nodes", "its rows are on several nodes, and it is no plain selection of rows",
				"add a condition on "+keys+" in it that leads to one node")
		}
	}
	return p.refuse("UNION", "the branches are not combined over several nodes yet", "")
}
