package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/nearest"
)

// checkedTable is a sharded table whose own faults have been reported.
type checkedTable struct {
	Table        // with the defaults
	name, path   string
	nodes        []DataNode
	sound        bool // nothing wrong that binding would stumble over
	sources      []string
	actualTables []string
}

// claimed is a node and the table it belongs to.
type claimed struct {
	table string
	node  DataNode
}

func (k *checker) sharding() {
	s := k.cfg.Sharding
	k.strategy("sharding.defaults.databaseStrategy", s.Defaults.DatabaseStrategy)
	k.strategy("sharding.defaults.tableStrategy", s.Defaults.TableStrategy)
	k.keyGenerate("sharding.defaults.keyGenerate", s.Defaults.KeyGenerate)
	k.audit("sharding.defaults.audit", s.Defaults.Audit)
	for _, name := range sortedNames(s.Tables) {
		if s.Tables[name].Broadcast {
			k.broadcastEntry(name)
		} else {
			k.table(name)
		}
	}
	for _, name := range sortedNames(s.AutoTables) {
		k.autoTable(name)
	}
	k.singleTables()
	k.broadcastTables()
	k.notNegative("sharding.broadcastCheck.maxDifferences", int64(s.BroadcastCheck.MaxDifferences))
	k.differentNames()
	k.bindingTables()
}

func (k *checker) broadcastEntry(name string) {
	if t := k.cfg.Sharding.Tables[name]; t != (Table{Broadcast: true}) {
		k.add(join("sharding.tables", name), "is a broadcast table with settings of a sharded one", "remove broadcast or the rest")
	}
}

func (k *checker) table(name string) {
	own := k.cfg.Sharding.Tables[name]
	t := &checkedTable{Table: own.WithDefaults(k.cfg.Sharding.Defaults), name: name, path: join("sharding.tables", name)}
	before := len(k.list)
	if name == "" {
		k.add(t.path, "the name is empty", "")
	}
	f := nodeFaults{faults: &k.faults, path: t.path + ".actualDataNodes"}
	k.own(t, f.expand(t.ActualDataNodes, k.sources), &f)
	f.rest()
	t.targets()

	databasePath, tablePath := t.path+".databaseStrategy", t.path+".tableStrategy"
	k.strategy(databasePath, own.DatabaseStrategy)
	k.strategy(tablePath, own.TableStrategy)
	k.keyGenerate(t.path+".keyGenerate", own.KeyGenerate)

	nodesSound := len(k.list) == before || !k.covers(t.path+".actualDataNodes")
	usable := !k.brokenFor(databasePath, own.DatabaseStrategy, "databaseStrategy") &&
		!k.brokenFor(tablePath, own.TableStrategy, "tableStrategy")
	if nodesSound && usable && len(t.nodes) > 0 {
		k.decided(t)
		k.bind(databasePath, t.DatabaseStrategy, t.sources)
		k.bind(tablePath, t.TableStrategy, t.actualTables)
		k.geneKeys(t)
		k.sameTextKey(t)
	}
	t.sound = len(k.list) == before && usable && k.algorithmSound(t.DatabaseStrategy) && k.algorithmSound(t.TableStrategy)
	k.audit(t.path+".audit", own.Audit)
	k.tables = append(k.tables, t)
}

// targets sets what the strategies choose among.
func (t *checkedTable) targets() {
	for _, node := range t.nodes {
		t.sources = append(t.sources, node.DataSource)
		t.actualTables = append(t.actualTables, node.Table)
	}
	t.sources, t.actualTables = distinct(t.sources), distinct(t.actualTables)
}

// brokenFor reports whether the strategy in effect has a fault.
func (k *checker) brokenFor(path string, own *Strategy, key string) bool {
	if own == nil {
		path = "sharding.defaults." + key
	}
	return k.broken[path]
}

func (k *checker) algorithmSound(s *Strategy) bool {
	return s.IsNone() || !k.touches(join("sharding.algorithms", s.AlgorithmName()))
}

// own claims the nodes for the table; those that are claimed already are left
// out. A server may not tell names that differ in case, so neither does this.
func (k *checker) own(t *checkedTable, nodes []DataNode, f *nodeFaults) {
	for _, node := range nodes {
		place := k.place(node.DataSource, node.Table)
		switch claim, taken := k.owner[place]; {
		case !taken:
			k.owner[place] = claimed{table: t.name, node: node}
			t.nodes = append(t.nodes, node)
		case claim.table != t.name:
			f.report(fmt.Sprintf("node %q belongs to table %q already", node, claim.table), "")
		case claim.node == node:
			f.report(fmt.Sprintf("node %q stands twice", node), "")
		default:
			f.report(fmt.Sprintf("nodes %q and %q are the same table: the names differ in case only, or the data sources have the same dsn", claim.node, node), "")
		}
	}
}

func (k *checker) place(source, table string) string {
	return k.first[source] + "\x00" + strings.ToLower(table)
}

// decided reports nodes that the strategies cannot tell apart: an inserted row
// could go to either.
func (k *checker) decided(t *checkedTable) {
	type choice struct{ source, table string }
	seen := map[choice]DataNode{}
	for _, node := range t.nodes {
		var c choice
		if !t.DatabaseStrategy.IsNone() {
			c.source = node.DataSource
		}
		if !t.TableStrategy.IsNone() {
			c.table = node.Table
		}
		other, taken := seen[c]
		if !taken {
			seen[c] = node
			continue
		}
		level := "databaseStrategy"
		if other.DataSource == node.DataSource {
			level = "tableStrategy"
		}
		k.add(t.path+"."+level, fmt.Sprintf("is missing: without it nothing says whether an inserted row belongs to %s or to %s", other, node), "")
		return
	}
}

func (k *checker) singleTables() {
	single := k.cfg.Sharding.SingleTables
	for _, name := range sortedNames(single) {
		path := join("sharding.singleTables", name)
		source := single[name]
		if source == "" {
			k.add(path, "is empty", "name the data source")
			continue
		}
		k.reference(path, "data source", source, k.sources)
		if owner, ok := k.owner[k.place(source, name)]; ok && owner.table != name {
			k.add(path, fmt.Sprintf("is the node %q of the sharded table %q", owner.node, owner.table), "")
		}
	}
}

func (k *checker) broadcastTables() {
	names := k.cfg.Sharding.BroadcastTables
	for i, name := range names {
		path := fmt.Sprintf("sharding.broadcastTables[%d]", i)
		switch {
		case name == "":
			k.add(path, "is empty", "")
		case slices.Contains(names[:i], name):
			k.add(path, fmt.Sprintf("table %q stands twice", name), "")
		default:
			k.broadcastNode(path, name)
		}
	}
	for _, name := range sortedNames(k.cfg.Sharding.Tables) {
		if k.cfg.Sharding.Tables[name].Broadcast {
			k.broadcastNode(join("sharding.tables", name), name)
		}
	}
}

// broadcastNode reports a broadcast table that is a node of a sharded one.
func (k *checker) broadcastNode(path, name string) {
	for _, source := range k.sources {
		if owner, ok := k.owner[k.place(source, name)]; ok && owner.table != name {
			k.add(path, fmt.Sprintf("is the node %q of the sharded table %q", owner.node, owner.table), "")
			return
		}
	}
}

// differentNames reports logical names that are equal or that some servers take
// for equal.
func (k *checker) differentNames() {
	type seen struct{ name, kind string }
	known := map[string]seen{}
	claim := func(path, name, kind string) {
		other, taken := known[strings.ToLower(name)]
		switch {
		case !taken:
			known[strings.ToLower(name)] = seen{name, kind}
		case other.name != name:
			k.add(path, fmt.Sprintf("the name differs from that of the %s table %q in case only", other.kind, other.name), "rename one of the two")
		case other.kind != kind:
			k.add(path, fmt.Sprintf("table %q is a %s table too", name, other.kind), "")
		}
	}
	s := k.cfg.Sharding
	for _, name := range sortedNames(s.Tables) {
		kind := "sharded"
		if s.Tables[name].Broadcast {
			kind = "broadcast"
		}
		claim(join("sharding.tables", name), name, kind)
	}
	for _, name := range sortedNames(s.AutoTables) {
		claim(join("sharding.autoTables", name), name, "auto")
	}
	for _, name := range sortedNames(s.SingleTables) {
		claim(join("sharding.singleTables", name), name, "single")
	}
	for i, name := range s.BroadcastTables {
		if name != "" {
			claim(fmt.Sprintf("sharding.broadcastTables[%d]", i), name, "broadcast")
		}
	}
}

func (k *checker) bindingTables() {
	member := map[string]int{}
	for i, group := range k.cfg.Sharding.BindingTables {
		path := fmt.Sprintf("sharding.bindingTables[%d]", i)
		if len(group) < 2 {
			k.add(path, "binds fewer than two tables", "write one list for all tables that belong together: [[a, b]]")
			continue
		}
		var main *checkedTable
		for j, name := range group {
			at := fmt.Sprintf("%s[%d]", path, j)
			t := k.sharded(at, name)
			if t == nil {
				continue
			}
			if other, ok := member[name]; ok {
				if other == i {
					k.add(at, fmt.Sprintf("table %q stands twice", name), "")
				} else {
					k.add(at, fmt.Sprintf("table %q is in sharding.bindingTables[%d] too", name, other), "make one list of the two")
				}
				continue
			}
			member[name] = i
			switch {
			case main == nil:
				main = t
			case main.sound && t.sound:
				if why := k.unequal(main, t); why != "" {
					k.add(at, fmt.Sprintf("table %q cannot be bound to %q: %s", name, main.name, why), "")
				}
			}
		}
	}
}

// sharded returns the sharded table of a binding list, nil after reporting that
// there is none.
func (k *checker) sharded(path, name string) *checkedTable {
	var names []string
	for _, t := range k.tables {
		if t.name == name {
			return t
		}
		names = append(names, t.name)
	}
	if slices.Contains(k.cfg.Sharding.Broadcast(), name) {
		k.add(path, fmt.Sprintf("table %q is a broadcast table, which needs no binding", name), "remove it")
	} else {
		k.add(path, fmt.Sprintf("no sharded table %q", name), nearest.Hint(name, names))
	}
	return nil
}

// distinct returns names without repetitions, in order.
func distinct(names []string) []string {
	seen := make(map[string]bool, len(names))
	out := make([]string, 0, len(names))
	for _, name := range names {
		if !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}
