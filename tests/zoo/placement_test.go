//go:build unix

package zoo_test

import (
	"fmt"
	"strings"

	"github.com/gormshard/sharding/config"
)

const (
	databases     = 2 // data sources ds0 and ds1
	tablesPerNode = 2 // users_0 and users_1 in each
)

// placement says where the tables live.
type placement string

const (
	// plain is one database without the plugin.
	plain placement = "plain"
	// single is the plugin, with all tables in its second data source.
	single placement = "single"
	// broadcast is the plugin, with all tables in both data sources.
	broadcast placement = "broadcast"
	// sharded is the plugin with the tables of owners in two tables of two data
	// sources each, not bound to each other; companies and languages are broadcast
	// tables, and coupons is in the second data source.
	sharded placement = "sharded"
	// bound is as sharded, with all tables of owners bound.
	bound placement = "bound"
)

// owners are the columns by which tables are sharded.
var owners = map[string]string{
	"users": "id", "accounts": "user_id", "pets": "user_id", "profiles": "user_id", "orders": "user_id", "items": "user_id",
	"user_speaks": "user_id", "user_friends": "user_id", "memberships": "user_id", "toys": "owner_id",
}

// joinTables have no key column of their own.
var joinTables = map[string]bool{"user_speaks": true, "user_friends": true, "memberships": true}

// tableOf is the actual table of an owner, and database that of its data source.
func tableOf(table string, owner int) string {
	return fmt.Sprintf("%s_%d", table, owner/databases%tablesPerNode)
}

// config is the configuration of a placement over the data sources.
func (p placement) config(driver string, dsns []string) *config.Config {
	cfg := &config.Config{DataSources: map[string]config.DataSource{}, DefaultDataSource: "ds0"}
	for i, dsn := range dsns {
		cfg.DataSources[fmt.Sprintf("ds%d", i)] = config.DataSource{Driver: driver, DSN: config.DSN(dsn), MaxIdleConns: 8}
	}
	s := &cfg.Sharding
	switch p {
	case single:
		s.SingleTables = map[string]string{}
		for _, table := range tables {
			s.SingleTables[table] = "ds1"
		}
	case broadcast:
		s.BroadcastTables = tables
	case sharded, bound:
		s.SingleTables = map[string]string{"coupons": "ds1"}
		s.BroadcastTables = []string{"companies", "languages", "clubs"}
		p.shard(s)
	}
	return cfg
}

func (p placement) shard(s *config.Sharding) {
	s.Tables = map[string]config.Table{}
	s.Algorithms = map[string]config.Algorithm{"database": {Type: "MOD", Props: map[string]any{"shardingCount": databases}}}
	s.KeyGenerators = map[string]config.KeyGenerator{"snowflake": {Type: "SNOWFLAKE", Props: map[string]any{"workerId": 1}}}
	var group []string
	for _, table := range tables {
		owner, ok := owners[table]
		if !ok {
			continue
		}
		t := config.Table{
			ActualDataNodes:  fmt.Sprintf("ds${0..%d}.%s_${0..%d}", databases-1, table, tablesPerNode-1),
			DatabaseStrategy: &config.Strategy{Standard: &config.Standard{Column: owner, Algorithm: "database"}},
			TableStrategy:    &config.Strategy{Standard: &config.Standard{Column: owner, Algorithm: table}},
		}
		if !joinTables[table] {
			t.KeyGenerate = &config.KeyGenerate{Column: "id", Generator: "snowflake"}
		}
		s.Tables[table] = t
		s.Algorithms[table] = config.Algorithm{Type: "INLINE", Props: map[string]any{
			"expression": strings.NewReplacer("TABLE", table, "OWNER", owner).Replace("TABLE_${floorMod(OWNER.intdiv(2), 2)}"),
		}}
		group = append(group, table)
	}
	if p == bound {
		s.BindingTables = [][]string{group}
	}
}
