package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gormshard/sharding/shardkernel/algorithm"
)

// unequal says why equal sharding values of two tables could lie on nodes that
// do not belong together; "" when they cannot.
func (k *checker) unequal(a, b *checkedTable) string {
	if !slices.Equal(sorted(a.sources), sorted(b.sources)) {
		return fmt.Sprintf("its data sources are %s, not %s", strings.Join(b.sources, ", "), strings.Join(a.sources, ", "))
	}
	if len(a.nodes) != len(b.nodes) {
		return fmt.Sprintf("it has %d nodes, not %d", len(b.nodes), len(a.nodes))
	}
	if why := k.unequalStrategies("database", a.DatabaseStrategy, b.DatabaseStrategy, "", ""); why != "" {
		return why
	}
	if why := k.unequalStrategies("table", a.TableStrategy, b.TableStrategy, a.name, b.name); why != "" {
		return why
	}
	for i, node := range a.nodes {
		other := b.nodes[i]
		if node.DataSource != other.DataSource ||
			slices.Index(a.actualTables, node.Table) != slices.Index(b.actualTables, other.Table) {
			return fmt.Sprintf("the nodes are not in the same order: node %d is %s, but %s there", i+1, other, node)
		}
		if !k.alike(a, node.Table, b, other.Table) {
			return fmt.Sprintf("the algorithms give node %d, %s, other values than %s there", i+1, other, node)
		}
	}
	return ""
}

// alike reports whether the table strategies, whose algorithms are equal, give
// nodeA to a value of one table when they give nodeB to that of the other. The
// nodes have the same place among those of their table.
func (k *checker) alike(a *checkedTable, nodeA string, b *checkedTable, nodeB string) bool {
	if a.TableStrategy.IsNone() {
		return true
	}
	if l, ok := k.algorithms[a.TableStrategy.AlgorithmName()].(algorithm.Labeler); ok {
		return l.Label(nodeA) == l.Label(nodeB)
	}
	return nameShape(nodeA, a.name) == nameShape(nodeB, b.name)
}

func (k *checker) unequalStrategies(level string, a, b *Strategy, tableA, tableB string) string {
	switch {
	case a.IsNone() && b.IsNone():
		return ""
	case a.IsNone():
		return fmt.Sprintf("it has a %s strategy, the other has none", level)
	case b.IsNone():
		return fmt.Sprintf("it has no %s strategy, the other has one", level)
	}
	if a.IsHint() || b.IsHint() {
		return fmt.Sprintf("no column says where the rows of a hint strategy are, and a %s strategy is one", level)
	}
	if a.kind() != b.kind() {
		return fmt.Sprintf("its %s strategy is %s, the other's %s", level, b.kind(), a.kind())
	}
	shapeA, shapeB := k.cfg.Sharding.Shape(a, tableA), k.cfg.Sharding.Shape(b, tableB)
	if shapeA != shapeB {
		return fmt.Sprintf("the algorithms %q and %q of the %s strategies differ in more than the names of table and column",
			b.AlgorithmName(), a.AlgorithmName(), level)
	}
	if a.textChoice() != b.textChoice() {
		return fmt.Sprintf("textKey of its %s strategy is %s, the other's %s", level, b.textChoice(), a.textChoice())
	}
	return ""
}

func sorted(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return names
}
