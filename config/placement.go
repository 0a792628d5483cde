package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
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
// algorithms of sharded tables, with the names of broadcast tables, and with the
// data sources of tables without a rule. Two processes on one database that show
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
	return fmt.Sprintf("%s of %q by %s, %s", strategy.kind(), strategy.Columns(), s.Shape(strategy, ""), strategy.textChoice())
}

// place is where a data source leads, whoever logs in and however. It holds no
// credentials of MySQL, and is never shown.
func (d DataSource) place() string {
	text, _, _ := strings.Cut(string(d.DSN), "?")
	if d.DriverName() == "mysql" {
		text = text[strings.LastIndexByte(text, '@')+1:]
	}
	return d.DriverName() + " " + text
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
		nodes, _ := c.DataNodes(name) //nolint:errcheck // a valid configuration has them
		for _, node := range nodes {
			use(node.DataSource, name)
		}
	}
	for name, t := range c.Sharding.AutoTables {
		sources, _ := algorithm.ExpandNames(t.DataSources) //nolint:errcheck // likewise
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
