//go:build unix

package oracle_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/tests/mariadb"
)

// topology is a way to spread the tables.
type topology struct {
	name            string
	sources, tables int // data sources, and actual tables in each
	hosts           int // servers that the data sources are spread over
	// byID shards by other columns: orders and what belongs to them by the order.
	byID bool
}

// otherKeys are the sharding columns of tables in topologies byID.
var otherKeys = map[string]string{"orders": "id", "items": "order_id", "notes": "oid", "tags": "n", "people": "n", "wide": "n", "kinds": "id"}

// keys returns the sharding columns of a table.
func (top topology) keys(t *table) []string {
	if top.byID && len(t.keys) > 0 {
		return []string{otherKeys[t.name]}
	}
	return t.keys
}

var topologies = []topology{
	{"one", 1, 1, 1, false},
	{"three", 3, 1, 2, false},
	{"eight", 4, 2, 2, false},
	{"together", 1, 4, 1, false},
	{"two", 2, 1, 1, false},
	{"sixteen", 8, 2, 2, false},
	{"byid", 3, 2, 2, true},
}

// cluster is one topology, and one unsharded database with the same rows.
type cluster struct {
	topology
	servers []*mariadb.Server
	prefix  string
	// whole names the unsharded database. shared is true for clusters that have it
	// of another.
	whole  string
	shared bool
	// pools by protocol: the arguments prepared by the server, interpolated by
	// the driver.
	prepared, interpolated *pair
	// uncached has servers compute a subquery for every row.
	uncached func() *pair
	nodes    []*sql.DB
	trace    *trace
}

// pair is the same application twice.
type pair struct {
	single *sql.DB
	// copies have the rows of the unsharded database; strict is it itself where it
	// refuses columns that no group fixes.
	copies  []double
	strict  *sql.DB
	sharded *gorm.DB
	logical *sql.DB
	plugin  *sharding.Plugin
}

// double is another database with the same rows, asked without the code under test:
// one where the server has other plans, or reads the rows in another order.
type double struct {
	*sql.DB
	name string
}

// trace collects the units that were sent.
type trace struct {
	mu    sync.Mutex
	units []string
}

func (r *trace) unit(_ context.Context, u sharding.UnitTrace) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.units = append(r.units, u.DataSource+"  "+u.SQL)
}

// take returns the units since the last call.
func (r *trace) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	units := r.units
	r.units = nil
	return units
}

// newCluster makes the databases, with empty tables, and opens them.
func newCluster(t *testing.T, prefix string, top topology) *cluster {
	t.Helper()
	prefix += "_" + top.name
	return makeCluster(t, &cluster{topology: top, prefix: prefix, whole: prefix + "_all"})
}

// newClusters makes and fills clusters that share one unsharded database. They
// are for statements that change nothing.
func newClusters(t *testing.T, prefix string, tops ...topology) []*cluster {
	t.Helper()
	var clusters []*cluster
	for i, top := range tops {
		c := makeCluster(t, &cluster{topology: top, prefix: prefix + "_" + top.name, whole: prefix + "_all", shared: i > 0})
		c.fill(t)
		clusters = append(clusters, c)
	}
	clusters[0].turn(t)
	return clusters
}

// turn makes a copy of the unsharded database in which rows lie in another order and
// are found by other keys.
func (c *cluster) turn(t *testing.T) {
	t.Helper()
	name := c.prefix + "_turned"
	var all []string
	for _, table := range tables {
		keys := strings.Split(table.primary, ", ")
		slices.Reverse(keys)
		turned := *table
		turned.primary = strings.Join(keys, " DESC, ") + " DESC"
		all = append(all, turned.ddl(table.name), fmt.Sprintf("INSERT INTO %s SELECT * FROM %s.%s", table.name, c.schema(), table.name))
	}
	createDatabase(t, c.servers[0], name, all)
	c.prepared.copies = append(c.prepared.copies, double{c.plain(t, name, "loc=UTC"), name})
	c.interpolated.copies = append(c.interpolated.copies, double{c.plain(t, name, "interpolateParams=true", "parseTime=false"), name})
}

func createDatabase(t *testing.T, server *mariadb.Server, database string, ddl []string) *sql.DB {
	t.Helper()
	if err := server.CreateDatabase(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	pool, err := sql.Open("mysql", server.DSN(database, "multiStatements=true"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	if _, err := pool.ExecContext(t.Context(), strings.Join(ddl, ";\n")); err != nil {
		t.Fatal(err)
	}
	return pool
}

func makeCluster(t *testing.T, c *cluster) *cluster {
	t.Helper()
	c.servers, c.trace = mariadb.Shared(t, 2), &trace{}
	var all []string
	for _, table := range tables {
		all = append(all, table.ddl(table.name))
	}
	if !c.shared {
		createDatabase(t, c.servers[0], c.schema(), all)
	}
	for i := range c.sources {
		c.nodes = append(c.nodes, createDatabase(t, c.server(i), c.database(i), c.nodeDDL(i)))
	}
	c.prepared = c.open(t, "loc=UTC")
	c.interpolated = c.open(t, "interpolateParams=true", "parseTime=false")
	c.uncached = sync.OnceValue(func() *pair { return c.open(t, "loc=UTC", "optimizer_switch=%27subquery_cache=off%27") })
	return c
}

func (c *cluster) server(i int) *mariadb.Server { return c.servers[i%min(len(c.servers), c.hosts)] }
func (c *cluster) database(i int) string        { return fmt.Sprintf("%s_%d", c.prefix, i) }
func (c *cluster) schema() string               { return c.whole }

// staffSource is the data source of the single table.
func (c *cluster) staffSource() int { return c.sources - 1 }

// actual returns the actual tables of a logical one in data source i.
func (c *cluster) actual(t *table, i int) []string {
	switch {
	case t == staff && i != c.staffSource():
		return nil
	case t == staff, t == region, c.tables == 1:
		return []string{t.name}
	}
	var names []string
	for n := range c.tables {
		names = append(names, fmt.Sprintf("%s_%d", t.name, n))
	}
	return names
}

func (c *cluster) nodeDDL(i int) []string {
	var ddl []string
	for _, t := range tables {
		for _, name := range c.actual(t, i) {
			ddl = append(ddl, t.ddl(name))
		}
	}
	return ddl
}

func (c *cluster) config(params ...string) *config.Config {
	cfg := &config.Config{
		DataSources: map[string]config.DataSource{}, DefaultDataSource: "ds0", Schema: c.schema(),
		Sharding: config.Sharding{
			Tables:          map[string]config.Table{},
			SingleTables:    map[string]string{"staff": fmt.Sprintf("ds%d", c.staffSource())},
			BindingTables:   [][]string{{"orders", "items"}},
			BroadcastTables: []string{"region"},
			Algorithms:      map[string]config.Algorithm{},
			KeyGenerators:   map[string]config.KeyGenerator{},
		},
	}
	for i := range c.sources {
		cfg.DataSources[fmt.Sprintf("ds%d", i)] = config.DataSource{
			DSN: config.DSN(c.server(i).DSN(c.database(i), params...)), MaxOpenConns: 6, MaxIdleConns: 6,
		}
	}
	algorithms := cfg.Sharding.Algorithms
	algorithms["mod"] = config.Algorithm{Type: "MOD", Props: map[string]any{"shardingCount": c.sources}}
	algorithms["hash"] = config.Algorithm{Type: "HASH_MOD", Props: map[string]any{"shardingCount": c.sources}}
	for _, t := range sharded {
		nodes := fmt.Sprintf("ds${0..%d}.%s", c.sources-1, t.name)
		if c.tables > 1 {
			nodes += fmt.Sprintf("_${0..%d}", c.tables-1)
		}
		keys := c.keys(t)
		database, key := "mod", keys[len(keys)-1]
		text := t.column(key).kind == kindText
		if text {
			database = "hash"
		}
		rule := config.Table{ActualDataNodes: nodes}
		if c.sources > 1 {
			rule.DatabaseStrategy = &config.Strategy{Standard: &config.Standard{Column: keys[0], Algorithm: database}}
		}
		if c.tables > 1 {
			name := "table_" + t.name
			rule.TableStrategy = &config.Strategy{Standard: &config.Standard{Column: key, Algorithm: name}}
			switch database {
			case "hash":
				algorithms[name] = config.Algorithm{Type: "HASH_MOD", Props: map[string]any{"shardingCount": c.tables, "hash": "xxhash64"}}
			default:
				expression := fmt.Sprintf("%s_${floorMod(%s.intdiv(4), %d)}", t.name, key, c.tables)
				if t == notes && !c.byID {
					expression = fmt.Sprintf("notes_${floorMod(oid, %d)}", c.tables)
				}
				algorithms[name] = config.Algorithm{Type: "INLINE", Props: map[string]any{"expression": expression}}
			}
		}
		if text {
			for _, s := range []*config.Strategy{rule.DatabaseStrategy, rule.TableStrategy} {
				if s != nil {
					s.TextKey = config.TextKeyWeight
				}
			}
		}
		cfg.Sharding.Tables[t.name] = rule
	}
	return cfg
}

// plain opens a database of the first server without the code under test.
func (c *cluster) plain(t *testing.T, database string, params ...string) *sql.DB {
	t.Helper()
	pool, err := sql.Open("mysql", c.servers[0].DSN(database, params...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

// open opens both applications with the driver parameters.
func (c *cluster) open(t *testing.T, params ...string) *pair {
	t.Helper()
	p := &pair{single: c.plain(t, c.schema(), params...)}
	if c.sources*c.tables == 1 {
		for _, plans := range []string{"join_cache_level=2", "join_cache_level=0", "optimizer_switch=%27derived_merge=off,semijoin=off,materialization=off,index_merge=off%27"} {
			p.copies = append(p.copies, double{c.plain(t, c.database(0), append(params, plans)...), c.database(0)})
		}
		p.strict = c.plain(t, c.schema(), append(params, "sql_mode=%27ONLY_FULL_GROUP_BY%27")...)
	}
	var err error
	cfg := c.config(params...)
	p.plugin = sharding.Register(cfg, sharding.WithUnitTrace(c.trace.unit))
	p.sharded, err = gorm.Open(mysql.Open(string(cfg.DataSources["ds0"].DSN)), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.sharded.Use(p.plugin); err != nil {
		t.Fatal(err)
	}
	if p.logical, err = p.sharded.DB(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.plugin.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}
