package route

import (
	"slices"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
)

// Separates reports whether rows of the outermost block that are equal in the
// columns are never read by two of the units: the columns hold all sharding
// columns of a table, each node of which one unit reads.
func (p *Program) Separates(columns []parse.Column, units []Unit, meta Meta) bool {
	return slices.ContainsFunc(p.refs, func(r *reference) bool {
		if !p.holdsKeys(r, 0, columns, meta) {
			return false
		}
		seen := map[[2]string]bool{}
		for i := range units {
			u := &units[i]
			if u.Unions != nil || u.Names[r.table] == "" {
				return false
			}
			seen[[2]string{u.DataSource, u.Names[r.table]}] = true
		}
		return len(seen) == len(units)
	})
}

// holdsKeys reports whether the columns of a block hold the sharding columns of a
// reference, so that rows of two nodes of it differ in one of them.
func (p *Program) holdsKeys(r *reference, scope int, columns []parse.Column, meta Meta) bool {
	if r.scope != scope || r.nullable || len(r.keys) == 0 {
		return false
	}
	for i := range r.keys {
		k := &r.keys[i]
		if !slices.ContainsFunc(columns, func(c parse.Column) bool { return c.Name == k.column && p.ownerOf(scope, c, meta) == r.table }) {
			return false
		}
		// Texts that are equal to the server may be on different nodes.
		if k.textKey != rule.TextBinary {
			continue
		}
		logical, _ := p.Logical(r.table)
		if c := meta.column(logical, k.column); c == nil || !c.Binary() {
			return false
		}
	}
	return true
}
