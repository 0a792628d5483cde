//go:build unix

package reload_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
)

// errAway is what a server says that cannot be reached.
var errAway = errors.New("the server is away")

// away makes connections to a server that end, and are no longer made, once it is away.
type away struct {
	net.Conn
	is *atomic.Bool
}

func (c away) Write(p []byte) (int, error) {
	if c.is.Load() {
		return 0, errAway
	}
	return c.Conn.Write(p)
}

// reachable returns a data source whose server is away as long as the flag says so.
func (s *shop) reachable(t *testing.T, of config.DataSource) (config.DataSource, *atomic.Bool) {
	t.Helper()
	dsn, err := mysql.ParseDSN(string(of.DSN))
	if err != nil {
		t.Fatal(err)
	}
	is := new(atomic.Bool)
	network := dsn.Net
	dsn.Net = "reload_" + s.name
	mysql.RegisterDialContext(dsn.Net, func(ctx context.Context, addr string) (net.Conn, error) {
		if is.Load() {
			return nil, errAway
		}
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		return away{conn, is}, err
	})
	t.Cleanup(func() { mysql.DeregisterDialContext(dsn.Net) })
	of.DSN = config.DSN(dsn.FormatDSN())
	return of, is
}

// What the change does not concern is not asked for, also where tables are looked at
// by configuration: a server that is away keeps nobody from changing the rest.
func TestAReloadAsksNoServerThatItDoesNotConcern(t *testing.T) {
	s := newShop(t, "concerns")
	one, isAway := s.reachable(t, s.cfg.DataSources["ds1"])
	extra := s.database(t, 2)
	s.run(t, 0, "CREATE TABLE t_extra_0 (id bigint PRIMARY KEY)")
	s.run(t, 1, "CREATE TABLE t_extra_0 (id bigint PRIMARY KEY, more int)")
	s.run(t, 2, "CREATE TABLE t_extra_0 (id bigint PRIMARY KEY)")
	for i := range 2 {
		s.run(t, i, "CREATE TABLE t_region (id int PRIMARY KEY, name varchar(20))")
	}
	s.run(t, 2, "CREATE TABLE t_region (id int PRIMARY KEY, name varchar(30))")
	s.reload(t, func(c *config.Config) {
		c.RulesVersion++
		c.DataSources["ds1"] = one
		c.Sharding.BroadcastTables = []string{"t_region"}
		c.Props.CheckTables, c.Props.PreloadTables = true, true
	})
	s.drained(t)

	extraOver := func(c *config.Config, other string) {
		c.Sharding.Algorithms["by_extra"] = config.Algorithm{Type: "HASH_MOD", Props: map[string]any{"shardingCount": 2}}
		c.Sharding.Tables["t_extra"] = config.Table{
			ActualDataNodes: "ds0.t_extra_0, " + other + ".t_extra_0", DatabaseStrategy: &config.Strategy{Standard: &config.Standard{Column: "id", Algorithm: "by_extra"}},
		}
	}
	isAway.Store(true)
	for name, change := range map[string]func(*config.Config){
		"a property":         func(c *config.Config) { c.Props.MaxNodes = 9 },
		"the size of a pool": func(c *config.Config) { ds := c.DataSources["ds0"]; ds.MaxOpenConns = 9; c.DataSources["ds0"] = ds },
		"another strategy": func(c *config.Config) {
			c.RulesVersion++
			c.Sharding.Algorithms["by_table"] = config.Algorithm{Type: "INLINE", Props: map[string]any{"expression": "t_order_${user_id.intdiv(4) % 2}"}}
		},
	} {
		if err := s.plugin.Reload(s.changed(change)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.plugin.Reload(s.changed(func(c *config.Config) { extraOver(c, "ds1") })); !errors.Is(err, errAway) {
		t.Errorf("a table on the server that is away: %v", err)
	}
	isAway.Store(false)

	drifts := func(what, node string, change func(*config.Config)) {
		t.Helper()
		if err := s.plugin.Reload(s.changed(change)); !errors.Is(err, sharding.ErrSchemaDrift) || !strings.Contains(err.Error(), node) {
			t.Errorf("%s: %v", what, err)
		}
	}
	drifts("a new table", "ds1.t_extra_0", func(c *config.Config) { extraOver(c, "ds1") })
	drifts("a copy of a broadcast table in another database", "ds1.t_region", func(c *config.Config) {
		c.RulesVersion++
		c.DataSources["ds1"] = extra
		delete(c.Sharding.Tables, "t_order")
		delete(c.Sharding.Tables, "t_item")
	})
	// Switched on, the check is about what was there before as well.
	s.reload(t, func(c *config.Config) { c.Props.CheckTables = false })
	s.run(t, 1, "ALTER TABLE t_order_1 ADD COLUMN note int")
	drifts("the check itself", "ds1.t_order_1", func(c *config.Config) { c.Props.CheckTables = true })
	s.run(t, 1, "ALTER TABLE t_order_1 DROP COLUMN note")
	s.reload(t, func(c *config.Config) { c.Props.CheckTables = true })
	s.drained(t)
}

// A column that rules newly name is looked for at once, not when what is known of the
// table has lapsed.
func TestAReloadLooksForTheColumnsThatItsRulesName(t *testing.T) {
	s := newShop(t, "named")
	count := func() error { return s.db.Table("t_item").Where("id > 0").Count(new(int64)).Error }
	misspelt := func(c *config.Config) {
		table := c.Sharding.Tables["t_item"]
		table.KeyGenerate = &config.KeyGenerate{Column: "idd", Generator: "snowflake"}
		c.Sharding.Tables["t_item"] = table
	}
	if err := count(); err != nil {
		t.Fatal(err)
	}
	s.reload(t, misspelt)
	if err := count(); !errors.Is(err, sharding.ErrConfig) {
		t.Errorf("a statement: %v", err)
	}
	s.reload(t, func(c *config.Config) {
		table := c.Sharding.Tables["t_item"]
		table.KeyGenerate = nil
		c.Sharding.Tables["t_item"], c.Props.PreloadTables = table, true
	})
	if err := s.plugin.Reload(s.changed(misspelt)); !errors.Is(err, sharding.ErrConfig) {
		t.Errorf("a reload that reads the tables: %v", err)
	}
	if err := count(); err != nil {
		t.Error(err)
	}
}
