package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/nearest"
)

// Rerouting reports what next, in the place of c, would look for on other nodes
// than where c has stored it: tables that are gone or whose nodes, strategies or
// algorithms differ, data sources that lead elsewhere, new data sources in which
// broadcast tables would be read, another schema. It also reports tables whose keys
// would be counted from anew. The errors are all that were found, each a
// *fault.ConfigError with the path in next, joined. Both configurations are valid.
//
// Tables that only next has rules for are no fault here; see Claimed.
//
// Tables in allowed may be gone or differ, and so may the data sources that only
// they use. All that may where next has a higher RulesVersion; a lower one is an
// error. A group's primary may become one that was its replica.
func (c *Config) Rerouting(next *Config, allowed ...string) error {
	before, after := c.Expand(), next.Expand()
	var f faults
	r := rerouting{faults: &f, before: before, after: after, allowed: map[string]bool{}}
	r.generators()
	switch {
	case after.RulesVersion > before.RulesVersion:
		return f.err()
	case after.RulesVersion < before.RulesVersion:
		f.add("rulesVersion", fmt.Sprintf("is %d, after %d: the configuration is older than the one in force", after.RulesVersion, before.RulesVersion),
			"raise it beyond that to go back to former rules")
	}
	for _, name := range allowed {
		r.allowed[name] = true
	}
	r.known(allowed)
	r.tables()
	r.keys()
	r.unsharded()
	r.sources()
	r.copies()
	if before.Schema != after.Schema {
		f.add("schema", fmt.Sprintf("is %q, after %q, so that tables named with a schema would be looked for in another one", after.Schema, before.Schema), raise)
	}
	return f.err()
}

// Claimed returns the tables that have no rule in c, where they live in the default
// data source, and one in next, in the place of c, that looks for them elsewhere,
// too: rows that such a table has would not be found. Those in allowed are left out,
// and all are where next has a higher RulesVersion.
func (c *Config) Claimed(next *Config, allowed ...string) []string {
	before, after := c.Expand(), next.Expand()
	if after.RulesVersion > before.RulesVersion {
		return nil
	}
	source := before.DefaultSourceName()
	elsewhere := map[string]bool{}
	for _, name := range after.Sharding.Sharded() {
		nodes, err := after.DataNodes(name)
		elsewhere[name] = err != nil || len(nodes) != 1 || nodes[0] != DataNode{source, name}
	}
	for _, name := range after.Sharding.Broadcast() {
		elsewhere[name] = len(after.SourceNames()) > 1
	}
	for name, is := range after.Sharding.SingleTables {
		elsewhere[name] = is != source
	}
	var out []string
	for _, name := range sortedNames(elsewhere) {
		if elsewhere[name] && !before.rules(name) && !slices.Contains(allowed, name) {
			out = append(out, name)
		}
	}
	return out
}

// rules reports whether there is a rule for a table.
func (c *Config) rules(table string) bool {
	_, single := c.Sharding.SingleTables[table]
	return single || slices.Contains(c.Sharding.Sharded(), table) || slices.Contains(c.Sharding.Broadcast(), table)
}

type rerouting struct {
	*faults
	before, after *Config
	allowed       map[string]bool
}

const raise = "raise rulesVersion once the rows are where the new rules look for them"

func allow(table string) string {
	return fmt.Sprintf("%s, or reload with sharding.AllowRerouting(%q)", raise, table)
}

// known refuses permissions for tables that nobody knows: they may be misspelt.
func (r *rerouting) known(allowed []string) {
	var names []string
	for _, cfg := range []*Config{r.before, r.after} {
		names = append(names, cfg.Sharding.Sharded()...)
		names = append(names, cfg.Sharding.Broadcast()...)
		names = append(names, sortedNames(cfg.Sharding.SingleTables)...)
	}
	for _, name := range allowed {
		if !slices.Contains(names, name) {
			r.add("AllowRerouting", fmt.Sprintf("no table %q", name), nearest.Hint(name, names))
		}
	}
}

// tables looks at the sharded tables.
func (r *rerouting) tables() {
	now := r.after.placements()
	then := r.before.placements()
	for _, name := range sortedNames(then) {
		if r.allowed[name] {
			continue
		}
		old, p := then[name], now[name]
		if p.path != old.path {
			r.add(old.path, "is gone from the configuration, while the table has rows", allow(name))
			continue
		}
		nodes, database, table := ".actualDataNodes", ".databaseStrategy", ".tableStrategy"
		if _, auto := r.after.Sharding.AutoTables[name]; auto {
			nodes, table = ".dataSources", ".strategy"
		}
		for _, part := range []struct{ key, was, is string }{{nodes, old.nodes, p.nodes}, {database, old.database, p.database}, {table, old.table, p.table}} {
			if part.was != part.is {
				r.add(p.path+part.key, "differs from the one in force, so that stored rows would not be found", allow(name))
			}
		}
	}
}

// keys looks at what makes the keys of sharded tables.
func (r *rerouting) keys() {
	now, then := r.after.Sharding.keys(), r.before.Sharding.keys()
	for _, name := range sortedNames(then) {
		typeName, was := r.before.Sharding.counting(then[name])
		sameType, is := r.after.Sharding.counting(now[name])
		if r.allowed[name] || typeName != sameType || was == is {
			continue
		}
		r.add(join("sharding.keyGenerators", now[name].Generator), fmt.Sprintf("goes by %s, after %s, so that table %q may get keys that it has already", is, was, name),
			fmt.Sprintf("once no process makes keys in the former way and the new keys begin behind the former, raise rulesVersion, or reload with sharding.AllowRerouting(%q)", name))
	}
}

// copies looks at the broadcast tables in new data sources.
func (r *rerouting) copies() {
	var tables []string
	for _, name := range r.before.Sharding.Broadcast() {
		if !r.allowed[name] && slices.Contains(r.after.Sharding.Broadcast(), name) {
			tables = append(tables, name)
		}
	}
	if len(tables) == 0 {
		return
	}
	var places []string
	for _, name := range r.before.SourceNames() {
		places = append(places, r.before.placesOf(name)...)
	}
	there := r.before.SourceNames()
	for _, name := range r.after.SourceNames() {
		if !slices.Contains(there, name) && !slices.Contains(places, r.after.placeOf(name)) {
			r.add(join("dataSources", name), fmt.Sprintf("is new, and would be asked for the broadcast tables %s", strings.Join(tables, ", ")),
				fmt.Sprintf("copy their rows there first, and raise rulesVersion, or reload with sharding.AllowRerouting(%q)", strings.Join(tables, `", "`)))
		}
	}
}

// unsharded looks at broadcast and single tables, and at those without a rule.
func (r *rerouting) unsharded() {
	broadcast := r.after.Sharding.Broadcast()
	for _, name := range r.before.Sharding.Broadcast() {
		if !r.allowed[name] && !slices.Contains(broadcast, name) {
			r.add("sharding.broadcastTables", fmt.Sprintf("%q is gone, so that its copies would no longer be kept alike", name), allow(name))
		}
	}
	sharded := r.after.Sharding.Sharded()
	for _, name := range sortedNames(r.before.Sharding.SingleTables) {
		was := r.before.Sharding.SingleTables[name]
		is, ok := r.after.Sharding.SingleTables[name]
		if !ok {
			is = r.after.DefaultSourceName()
		}
		if !r.allowed[name] && (is != was || slices.Contains(sharded, name) || slices.Contains(broadcast, name)) {
			r.add(join("sharding.singleTables", name), fmt.Sprintf("is no longer in data source %q", was), allow(name))
		}
	}
	was, is := r.before.DefaultSourceName(), r.after.DefaultSourceName()
	if was != is && (r.before.placeOf(was) == "" || r.before.placeOf(was) != r.after.placeOf(is)) {
		r.add("defaultDataSource", fmt.Sprintf("is %q, after %q, so that the tables without a rule would be looked for elsewhere", is, was), raise)
	}
	if !r.before.shares() {
		return
	}
	lease := r.before.IDLease.WithDefaults(was).DataSource
	if now := r.after.IDLease.WithDefaults(is).DataSource; now != lease && r.before.placeOf(lease) != r.after.placeOf(now) {
		r.add("idLease.dataSource", fmt.Sprintf("is %q, after %q, where worker ids and numbers of keys have been given out", now, lease),
			"raise rulesVersion once the tables _sharding_worker and _sharding_segment have been copied and all processes have stopped using the former ones")
	}
}

// generators looks at those whose worker id is configured. One of the same type and
// worker id but other properties would begin anew, and might make keys that the
// one in force makes in the same millisecond.
func (r *rerouting) generators() {
	for _, name := range sortedNames(r.after.Sharding.KeyGenerators) {
		now := r.after.Sharding.KeyGenerators[name]
		id := workerID(now)
		if id == nil {
			continue
		}
		for _, then := range r.before.Sharding.KeyGenerators {
			if strings.EqualFold(then.Type, now.Type) && workerID(then) == id && !reflect.DeepEqual(then, now) {
				r.add(join("sharding.keyGenerators", name), fmt.Sprintf("has the workerId %v of the one in force, and other properties, so that keys might be given out twice", id),
					"give it a workerId that nobody has")
				break
			}
		}
	}
}

// workerID returns the configured worker id of a generator, nil where it is leased.
func workerID(g KeyGenerator) any {
	for name, value := range g.Props {
		if strings.EqualFold(strings.ReplaceAll(name, "-", ""), "workerId") {
			return fmt.Sprint(value)
		}
	}
	return nil
}

// sources looks at the data sources that rules use.
func (r *rerouting) sources() {
	there := r.after.SourceNames()
	users := r.before.users()
	for _, name := range slices.SortedFunc(maps.Keys(users), nearest.Compare) {
		if !slices.Contains(there, name) || slices.Contains(r.before.placesOf(name), r.after.placeOf(name)) {
			continue // what used one that is gone was looked at already
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(users[name])), func(table string) bool { return !r.allowed[table] }) {
			continue
		}
		if _, group := r.after.ReadwriteSplitting.Groups[name]; group {
			r.add(join("readwriteSplitting.groups", name)+".primary", "leads to a database that was not in the group before", "make it a replica of the group first; or "+raise)
			continue
		}
		r.add(join("dataSources", name)+".dsn", "leads to another database than before", "give the other one a name of its own; or "+raise)
	}
}
