package route

import (
	"slices"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
)

// level is a set of the two levels at which a table is sharded.
type level uint8

const (
	levelDatabase level = 1 << iota
	levelTable
)

var levels = [...]level{levelDatabase, levelTable}

// strategyAt returns the strategy of a table at a level, nil when there is none.
func strategyAt(t *rule.Table, l level) *rule.Strategy {
	if l == levelDatabase {
		return t.Database
	}
	return t.Tables
}

// reference is one reference of a statement to a sharded table.
type reference struct {
	index    int // in Program.refs
	table    int // in Statement.Tables
	scope    int
	rule     *rule.Table
	layout   *layout
	keys     []key
	complex  []complexLevel
	nullable bool  // stands on the nullable side of an outer join
	where    *expr // nil: every node
}

// key is a sharding column of a reference.
type key struct {
	index  int // in reference.keys
	column string
	// levels are those at which the column chooses by itself, shared those at
	// which it chooses together with others.
	levels, shared level
	textKey        rule.TextKey
	// sources are the columns, this one first, whose value is the key's value in
	// every row in which a condition on them is true.
	sources []endpoint
}

// keysOf returns the sharding columns of a table, each once.
func keysOf(t *rule.Table) []key {
	var keys []key
	for _, l := range levels {
		s := strategyAt(t, l)
		if s == nil {
			continue
		}
		for _, column := range s.Columns {
			i := slices.IndexFunc(keys, func(k key) bool { return k.column == column })
			if i < 0 {
				i = len(keys)
				keys = append(keys, key{index: i, column: column, textKey: s.TextKey})
			}
			if s.Complex != nil {
				keys[i].shared |= l
			} else {
				keys[i].levels |= l
			}
		}
	}
	return keys
}

// keyNamed returns the sharding column of that name.
func (r *reference) keyNamed(name string) (*key, bool) {
	for i := range r.keys {
		if r.keys[i].column == name {
			return &r.keys[i], true
		}
	}
	return nil, false
}

// keyNames lists the sharding columns for messages.
func keyNames(t *rule.Table) string { return joinKeys(t, " and ") }

func joinKeys(t *rule.Table, by string) string {
	var names []string
	for _, k := range keysOf(t) {
		names = append(names, k.column)
	}
	return strings.Join(names, by)
}

// concerns returns the key whose value a condition of a block on the column
// fixes, nil when the column says nothing of the reference's nodes.
func (r *reference) concerns(c parse.Column, refs []*reference, free bool, scope int) *key {
	for i := range r.keys {
		for _, source := range r.keys[i].sources {
			if source.column != c.Name {
				continue
			}
			if c.Table == refs[source.ref].table || c.Table == parse.AnyTable && free && refs[source.ref].scope == scope {
				return &r.keys[i]
			}
		}
	}
	return nil
}

// layout finds the nodes of a table by the targets of its strategies.
type layout struct {
	table    *rule.Table
	bySource [][]int // node indexes by Node.Source; nil without database strategy
	byTarget [][]int // node indexes by Node.Target; nil without table strategy
}

func newLayout(t *rule.Table) *layout {
	l := &layout{table: t}
	if t.Database != nil {
		l.bySource = make([][]int, len(t.Database.Targets))
	}
	if t.Tables != nil {
		l.byTarget = make([][]int, len(t.Tables.Targets))
	}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if l.bySource != nil {
			l.bySource[n.Source] = append(l.bySource[n.Source], i)
		}
		if l.byTarget != nil {
			l.byTarget[n.Target] = append(l.byTarget[n.Target], i)
		}
	}
	return l
}

// anyTarget stands for every target of a level.
const anyTarget = -1

// add adds the nodes of one source and one target, either of which may be
// anyTarget, but not both.
func (l *layout) add(set *nodeSet, source, target int) {
	if source == anyTarget {
		for _, i := range l.byTarget[target] {
			set.add(i)
		}
		return
	}
	for _, i := range l.bySource[source] {
		if target == anyTarget || l.table.Nodes[i].Target == target {
			set.add(i)
		}
	}
}
