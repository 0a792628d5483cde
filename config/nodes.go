package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gormshard/sharding/internal/nearest"
	"github.com/gormshard/sharding/shardkernel/algorithm"
)

// DataNode is an actual table in a data source.
type DataNode struct {
	DataSource string
	Table      string
}

func (n DataNode) String() string { return n.DataSource + "." + n.Table }

// DataNodes returns the data nodes of a sharded table in configured order. The
// error joins all faults in actualDataNodes.
func (c *Config) DataNodes(table string) ([]DataNode, error) {
	var all faults
	f := nodeFaults{faults: &all, path: "sharding.tables." + table + ".actualDataNodes"}
	nodes := f.expand(c.Sharding.Tables[table].ActualDataNodes, c.SourceNames())
	f.rest()
	return nodes, all.err()
}

// Nodes returns the data nodes of an auto table that has a number of shards. The
// error tells what is wrong with its data sources.
func (t AutoTable) Nodes(name string, shards int, sources []string) ([]DataNode, error) {
	names, err := algorithm.ExpandNames(t.DataSources)
	if err != nil {
		return nil, err
	}
	for i, source := range names {
		switch {
		case !slices.Contains(sources, source):
			return nil, fmt.Errorf("no data source %q; %s", source, nearest.HintOrList(source, sources))
		case slices.Contains(names[:i], source):
			return nil, fmt.Errorf("data source %q stands twice", source)
		}
	}
	if !plainName(name) {
		return nil, fmt.Errorf("the table's name must consist of letters, digits, _ and $, and not of digits alone")
	}
	if shards > maxAutoNodes {
		return nil, fmt.Errorf("the algorithm has %d shards, more than the %d that an auto table may have", shards, maxAutoNodes)
	}
	nodes := make([]DataNode, shards)
	for i := range nodes {
		nodes[i] = DataNode{DataSource: names[i%len(names)], Table: name + "_" + strconv.Itoa(i)}
	}
	return nodes, nil
}

// maxAutoNodes bounds the nodes of an auto table.
const maxAutoNodes = 100_000

// maxNodeFaults is the number of faults reported for the nodes of one table: a
// slip in an expression makes every node wrong.
const maxNodeFaults = 8

// nodeFaults reports faults of the nodes of one table, each once and not too
// many.
type nodeFaults struct {
	*faults
	path     string
	reported []string
	left     int
}

func (f *nodeFaults) report(reason, remedy string) {
	switch {
	case slices.Contains(f.reported, reason):
	case len(f.reported) == maxNodeFaults:
		f.left++
	default:
		f.reported = append(f.reported, reason)
		f.add(f.path, reason, remedy)
	}
}

// rest reports how many faults have not been.
func (f *nodeFaults) rest() {
	if f.left > 0 {
		f.add(f.path, fmt.Sprintf("%d more nodes are wrong", f.left), "")
	}
}

// expand returns the nodes that are sound and reports the others.
func (f *nodeFaults) expand(text string, sources []string) []DataNode {
	if strings.TrimSpace(text) == "" {
		f.report("names no data node", "")
		return nil
	}
	names, err := algorithm.ExpandNames(text)
	if err != nil {
		f.wrap(f.path, err)
		return nil
	}
	known := make(map[string]bool, len(sources))
	for _, source := range sources {
		known[source] = true
	}
	nodes := make([]DataNode, 0, len(names))
	for _, name := range names {
		node, reason := splitNode(name)
		switch {
		case reason != "":
			f.report(reason, "")
		case !known[node.DataSource]:
			f.report(fmt.Sprintf("no data source %q", node.DataSource), nearest.Hint(node.DataSource, sources))
		default:
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// splitNode splits dataSource.table. The name of a data source may hold dots,
// that of a table may not.
func splitNode(name string) (node DataNode, reason string) {
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 {
		return node, fmt.Sprintf("node %q is not of the form dataSource.table", name)
	}
	node = DataNode{DataSource: name[:dot], Table: name[dot+1:]}
	if !plainName(node.Table) {
		return node, fmt.Sprintf("node %q: the table's name must consist of letters, digits, _ and $, and not of digits alone", name)
	}
	return node, ""
}

// plainName reports whether a name needs no quotes in SQL.
// https://dev.mysql.com/doc/refman/8.4/en/identifiers.html
func plainName(name string) bool {
	onlyDigits := true
	for _, r := range name {
		switch {
		case '0' <= r && r <= '9':
		case r == '_' || r == '$' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || 0x80 <= r && r <= 0xFFFF && r != 0xFFFD:
			onlyDigits = false
		default:
			return false
		}
	}
	return !onlyDigits
}
