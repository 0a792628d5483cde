package route

import (
	"slices"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
)

// Facts are what audits judge a statement by, beside its route.
type Facts struct {
	// Tables are the sharded tables, each once, in text order.
	Tables []*rule.Table
	// Unkeyed are those of several nodes of which some reference is under no
	// condition on a sharding column, with the names of these columns, any
	// of which will do.
	Unkeyed []Key
	// Wrapped are the sharding columns that stand inside a function or in
	// arithmetic where they are compared.
	Wrapped []Key
	// Nested are the sharded tables named in a subquery or derived table.
	Nested []*rule.Table
}

// Key is a sharding column of a table.
type Key struct {
	Table  *rule.Table
	Column string
}

// Facts returns the facts of the statement. They are empty for one that neither
// reads nor changes rows of sharded tables.
func (p *Program) Facts() Facts {
	var f Facts
	switch p.stmt.Kind {
	case parse.KindSelect, parse.KindInsert, parse.KindReplace, parse.KindUpdate, parse.KindDelete:
	default:
		return f
	}
	for _, r := range p.refs {
		f.Tables = addTable(f.Tables, r.rule)
		inserted := p.stmt.Insert != nil && p.stmt.Tables[r.table].Target
		if r.where == nil && !inserted && len(r.rule.Nodes) > 1 {
			f.Unkeyed = append(f.Unkeyed, Key{r.rule, joinKeys(r.rule, " or ")})
		}
		if p.nested(r.scope) {
			f.Nested = addTable(f.Nested, r.rule)
		}
		for _, c := range p.stmt.Wrapped {
			if c.Table != r.table && !(c.Table == parse.AnyTable && len(p.refs) == 1) {
				continue
			}
			if _, ok := r.keyNamed(c.Name); ok {
				f.Wrapped = append(f.Wrapped, Key{r.rule, c.Name})
			}
		}
	}
	return f
}

// nested reports whether a query block stands inside another one. The branches of
// a UNION and the SELECT of an INSERT do not.
func (p *Program) nested(scope int) bool {
	parent := p.stmt.Scopes[scope].Parent
	return parent > 0 || parent == 0 && (p.stmt.Insert == nil || !p.stmt.Insert.Select)
}

func addTable(list []*rule.Table, t *rule.Table) []*rule.Table {
	if slices.Contains(list, t) {
		return list
	}
	return append(list, t)
}

// Choose reports whether the hints say something of a table's nodes.
func (h *Hints) Choose(t *rule.Table) bool {
	v, ok := h.of(t)
	return ok && v.levels(t) != 0
}

// refuseHintedDDL refuses a hint that would leave the nodes of a table different
// from each other.
func (p *Program) refuseHintedDDL(h *Hints) error {
	for _, r := range p.refs {
		if h.Choose(r.rule) {
			return fault.Unsupported("DDL on table "+r.rule.Name+" under a hint that chooses its nodes", "it goes to every node",
				"leave the hint out, or name the actual table and its data source: hint.DataSource")
		}
	}
	return nil
}
