package shardkernel

import (
	"context"
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/metadata"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
)

// namesAt translates what is named in a node.
func (k *Kernel) namesAt(ctx context.Context, n node) *nodeNames {
	names := &nodeNames{kernel: k, node: n, logical: n.table, given: func(key string) (bool, error) { return k.givenKey(ctx, n, key) }}
	if t, _ := k.nodeNamed(n); t != nil {
		names.logical = t.Name
	}
	return names
}

// nodeNamed returns the sharded table of which an actual one is a node, and the
// node's index; nil for none.
func (k *Kernel) nodeNamed(n node) (t *rule.Table, index int) {
	for _, t := range k.rules.Tables() {
		for i := range t.Nodes {
			if t.Nodes[i].DataSource == n.source && strings.EqualFold(t.Nodes[i].Table, n.table) {
				return t, i
			}
		}
	}
	return nil, 0
}

// nodeNames implements metadata.Logical.
type nodeNames struct {
	kernel *Kernel
	node
	logical string // what the node's table is called
	given   func(key string) (bool, error)
	err     error    // of given
	known   []string // logical names, of which the table may have cut some
}

func (n *nodeNames) Constraint(name string) string {
	for _, logical := range n.known {
		if strings.EqualFold(rule.ConstraintName(logical, n.logical, n.table), name) {
			return logical
		}
	}
	return rule.LogicalConstraint(name, n.logical, n.table)
}

// Key implements metadata.Logical. Keys have the same name in every node, but for
// those that a server has made for a foreign key: they are called like it, also
// when it is gone.
func (n *nodeNames) Key(name string, foreign bool) string {
	logical := n.Constraint(name)
	if logical == name || foreign {
		return logical
	}
	given, err := n.given(name)
	if err != nil && n.err == nil {
		n.err = err
	}
	if given {
		return name
	}
	return logical
}

func (n *nodeNames) Table(actual string) string {
	if strings.EqualFold(actual, n.table) {
		return n.logical
	}
	if t, _ := n.kernel.nodeNamed(node{n.source, actual}); t != nil {
		return t.Name
	}
	return actual
}

// givenKey reports whether a key of a node that ends in the node's table name has
// been given that name: another actual table has a key that is called so as well.
// What a server has made for a foreign key ends in another name there. Where all
// actual tables are called alike, nothing tells the two apart, and it is taken for
// one that a server has made.
func (k *Kernel) givenKey(ctx context.Context, n node, key string) (bool, error) {
	t, _ := k.nodeNamed(n)
	if t == nil {
		return false, nil
	}
	other := slices.IndexFunc(t.Nodes, func(o rule.Node) bool { return !strings.EqualFold(o.Table, n.table) })
	if other < 0 {
		return false, nil
	}
	o := &t.Nodes[other]
	s, err := k.source(ctx, o.DataSource)
	if err != nil {
		return false, err
	}
	given, err := metadata.HasKey(ctx, s.control, o.Table, key)
	if err != nil {
		return false, &fault.NodeError{DataSource: o.DataSource, Table: o.Table, Err: err}
	}
	return given, nil
}

// called is what a node calls a key or constraint of the logical table.
type called struct{ logical, actual string }

// namesIn returns the keys and constraints of a node that the logical table calls
// otherwise, and all names there.
func (k *Kernel) namesIn(ctx context.Context, n node) ([]called, *metadata.Names, error) {
	s, err := k.source(ctx, n.source)
	if err != nil {
		return nil, nil, err
	}
	names, err := metadata.NamesOf(ctx, s.control, n.table)
	if err != nil {
		return nil, nil, &fault.NodeError{DataSource: n.source, Table: n.table, Err: err}
	}
	at := k.namesAt(ctx, n)
	var otherwise []called
	for _, name := range names.Constraints {
		if logical := at.Constraint(name); logical != name {
			otherwise = append(otherwise, called{logical, name})
		}
	}
	for _, name := range names.Keys {
		foreign := slices.Contains(names.Foreign, name)
		if logical := at.Key(name, foreign); logical != name && !foreign {
			otherwise = append(otherwise, called{logical, name})
		}
	}
	return otherwise, names, at.err
}

func containsName(names []string, name string) bool {
	return slices.ContainsFunc(names, func(s string) bool { return strings.EqualFold(s, name) })
}

// calls returns what a node calls a key or constraint of this name in the logical
// table: ruled, which is the name by the rule, or the same, as where the application
// has made its tables by itself. What the node calls so for another name is not it.
func calls(name string, kind plan.NameKind, ruled string, otherwise []called, names *metadata.Names) string {
	translated := func(actual string) bool {
		return slices.ContainsFunc(otherwise, func(c called) bool { return strings.EqualFold(c.actual, actual) })
	}
	var same bool
	switch kind {
	case plan.NameKey:
		same = containsName(names.Keys, name) || !translated(ruled)
	case plan.NameConstraint:
		same = containsName(names.Constraints, name) && !translated(ruled)
	default:
		same = !containsName(names.Constraints, ruled)
	}
	if same && !translated(name) {
		return name
	}
	return ruled
}

// callByName looks up what the nodes call the keys and constraints that a DDL
// statement drops, changes or renames.
func (k *Kernel) callByName(ctx context.Context, ex *plan.Execution) error {
	if !k.dialect.IsMySQL() {
		return nil
	}
	return parallel(len(ex.Units), func(i int) error {
		u := &ex.Units[i]
		if u.Called == nil {
			return nil
		}
		n := node{u.DataSource, u.Table}
		otherwise, names, err := k.namesIn(ctx, n)
		if err != nil {
			return err
		}
		logical := k.namesAt(ctx, n).logical
		u.SQL = u.Called(func(name string, kind plan.NameKind) string {
			return calls(name, kind, rule.ConstraintName(name, logical, u.Table), otherwise, names)
		})
		return nil
	})
}
