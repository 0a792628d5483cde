package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gormshard/sharding/shardkernel/algorithm"
)

// placement is where the rows of a table are stored, and by what: two
// configurations with equal placements find each other's rows.
type placement struct {
	path            string // of the table
	nodes           string
	database, table string // the strategies
}

// Fingerprint returns a short text that is the same for two configurations whose
// rows are on the same nodes: it changes with the nodes, strategies and
// algorithms of sharded tables, with the names of broadcast tables and the data
// sources that have them, and with the data sources of tables without a rule. Two processes on one database that show
// different ones do not find each other's rows.
func (c *Config) Fingerprint() string {
	long := c.Expand()
	h := sha256.New()
	placements := long.placements()
	for _, name := range sortedNames(placements) {
		p := placements[name]
		fmt.Fprintf(h, "%q %q %q %q\n", name, p.nodes, p.database, p.table)
	}
	fmt.Fprintf(h, "%q\n", long.Sharding.Broadcast())
	if len(long.Sharding.Broadcast()) > 0 { // which have a copy in each
		fmt.Fprintf(h, "%q\n", long.SourceNames())
	}
	for _, name := range sortedNames(long.Sharding.SingleTables) {
		fmt.Fprintf(h, "%q %q\n", name, long.Sharding.SingleTables[name])
	}
	fmt.Fprintf(h, "%q\n", long.DefaultSourceName())
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// placements returns those of all sharded tables of a configuration in its long
// form.
func (c *Config) placements() map[string]placement {
	out := map[string]placement{}
	for name, t := range c.Sharding.Tables {
		if t.Broadcast {
			continue
		}
		t = t.WithDefaults(c.Sharding.Defaults)
		nodes := t.ActualDataNodes
		if list, err := c.DataNodes(name); err == nil {
			nodes = fmt.Sprint(list)
		}
		out[name] = placement{
			path: "sharding.tables." + name, nodes: nodes,
			database: c.Sharding.chooses(t.DatabaseStrategy), table: c.Sharding.chooses(t.TableStrategy),
		}
	}
	for name, t := range c.Sharding.AutoTables {
		sources := t.DataSources
		if list, err := algorithm.ExpandNames(sources); err == nil {
			sources = strings.Join(list, ",")
		}
		out[name] = placement{
			path: "sharding.autoTables." + name, nodes: sources,
			table: c.Sharding.chooses(t.Strategy),
		}
	}
	return out
}

// chooses says what a strategy goes by.
func (s *Sharding) chooses(strategy *Strategy) string {
	if strategy.IsNone() {
		return ""
	}
	return fmt.Sprintf("%s of %q by %s, %s%s", strategy.kind(), strategy.Columns(), s.Shape(strategy, ""), strategy.textChoice(),
		s.parts(strategy.AlgorithmName(), map[string]bool{}))
}

var builtIn = algorithm.NewRegistry().Types()

// parts says what the other algorithms do that an algorithm of the application's
// own may be made of: all whose names stand somewhere in its properties. Those of a
// THRESHOLD are part of its shape, which leaves the parts of its parts.
func (s *Sharding) parts(name string, seen map[string]bool) string {
	if seen[name] {
		return ""
	}
	seen[name] = true
	a := s.Algorithms[name]
	typeName := strings.ToUpper(strings.TrimSpace(a.Type))
	own := !slices.Contains(builtIn, typeName)
	if !own && typeName != "THRESHOLD" {
		return ""
	}
	var b strings.Builder
	text := fmt.Sprint(a.Props)
	for _, part := range sortedNames(s.Algorithms) {
		if !strings.Contains(text, part) {
			continue
		}
		if own {
			fmt.Fprintf(&b, ", %q: ", part)
			s.writeShape(&b, part, "", nil)
		}
		b.WriteString(s.parts(part, seen))
	}
	return b.String()
}

// place is where a data source leads, whoever logs in and however. It holds no
// credentials of MySQL, and is never shown. Credentials may hold any character, so
// that a DSN of MySQL is read as its driver does: from the last slash.
func (d DataSource) place() string {
	text := string(d.DSN)
	if d.DriverName() != "mysql" {
		text, _, _ = strings.Cut(text, "?")
		return d.DriverName() + " " + text
	}
	slash := max(strings.LastIndexByte(text, '/'), 0)
	server, schema := text[:slash], text[slash:]
	schema, _, _ = strings.Cut(schema, "?")
	return "mysql " + server[strings.LastIndexByte(server, '@')+1:] + schema
}

// counting is by what a key generator keeps its keys apart from those made before
// and elsewhere: of two generators of the same type whose ways differ, each may make
// a key that the other has made. The way is empty where nothing is counted.
func (s *Sharding) counting(k *KeyGenerate) (typeName, way string) {
	if k == nil {
		return "", ""
	}
	g := s.KeyGenerators[k.Generator]
	typeName = strings.ToUpper(strings.TrimSpace(g.Type))
	props := algorithm.ReadProps(algorithm.Props(g.Props))
	switch typeName {
	case "SEGMENT":
		return typeName, "the counter " + props.String("table")
	case "SNOWFLAKE", "GENE_SNOWFLAKE":
		way = "leased worker ids"
		if props.IntOr("workerId", -1, 0, math.MaxInt64) >= 0 {
			way = "configured worker ids"
		}
		if typeName == "GENE_SNOWFLAKE" {
			way += fmt.Sprintf(" of %d bits", props.IntOr("workerBits", 5, 0, 10))
		}
		return typeName, way
	}
	return "", ""
}

// keys returns what makes the keys of the sharded tables.
func (s *Sharding) keys() map[string]*KeyGenerate {
	out := map[string]*KeyGenerate{}
	for name, t := range s.Tables {
		if !t.Broadcast {
			out[name] = t.WithDefaults(s.Defaults).KeyGenerate
		}
	}
	for name, t := range s.AutoTables {
		out[name] = t.Table(s.Defaults).KeyGenerate
	}
	return out
}

// placeOf is where a data source leads: its primary, if it is a group.
func (c *Config) placeOf(name string) string {
	source, ok := c.DataSources[c.PrimaryOf(name)]
	if !ok {
		return "" // the application's own pool
	}
	return source.place()
}

// placesOf are where the members of a group lead, or a data source by itself.
func (c *Config) placesOf(name string) []string {
	out := []string{c.placeOf(name)}
	for _, replica := range c.ReadwriteSplitting.Groups[name].Replicas {
		out = append(out, c.DataSources[replica].place())
	}
	return out
}

// users returns, for each data source that rules name, the tables that are there;
// an empty name stands for what is no sharded table.
func (c *Config) users() map[string]map[string]bool {
	out := map[string]map[string]bool{}
	use := func(source, table string) {
		if out[source] == nil {
			out[source] = map[string]bool{}
		}
		out[source][table] = true
	}
	for name, t := range c.Sharding.Tables {
		if t.Broadcast {
			continue
		}
		nodes, _ := c.DataNodes(name) // a valid configuration has them
		for _, node := range nodes {
			use(node.DataSource, name)
		}
	}
	for name, t := range c.Sharding.AutoTables {
		sources, _ := algorithm.ExpandNames(t.DataSources) // likewise
		for _, source := range sources {
			use(source, name)
		}
	}
	use(c.DefaultSourceName(), "")
	for source := range maps.Values(c.Sharding.SingleTables) {
		use(source, "")
	}
	if c.shares() {
		use(c.IDLease.WithDefaults(c.DefaultSourceName()).DataSource, "")
	}
	if len(c.Sharding.Broadcast()) > 0 {
		for _, source := range c.SourceNames() {
			use(source, "")
		}
	}
	return out
}

// shares reports whether some key generator keeps in a database what processes
// share.
func (c *Config) shares() bool {
	for _, g := range c.Sharding.KeyGenerators {
		if !slices.Contains([]string{"UUID", "NANOID"}, strings.ToUpper(strings.TrimSpace(g.Type))) {
			return true
		}
	}
	return false
}
