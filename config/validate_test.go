package config

import (
	"strings"
	"testing"
	"time"
)

// small is a valid configuration for tests to break: two bound tables in 2×2
// nodes and a third in one data source.
func small() *Config {
	standard := func(column, algorithm string) *Strategy {
		return &Strategy{Standard: &Standard{Column: column, Algorithm: algorithm}}
	}
	inline := func(expression string) Algorithm {
		return Algorithm{Type: "INLINE", Props: map[string]any{"expression": expression}}
	}
	return &Config{
		DataSources:       map[string]DataSource{"ds0": {DSN: "a"}, "ds1": {DSN: "b"}},
		DefaultDataSource: "ds0",
		Sharding: Sharding{
			Tables: map[string]Table{
				"t_order": {
					ActualDataNodes:  "ds${0..1}.t_order_${0..1}",
					DatabaseStrategy: standard("user_id", "ds_mod"),
					TableStrategy:    standard("order_id", "by_order"),
				},
				"t_item": {
					ActualDataNodes:  "ds${0..1}.t_item_${0..1}",
					DatabaseStrategy: standard("owner_id", "ds_mod"),
					TableStrategy:    standard("oid", "by_item"),
				},
				"t_log": {ActualDataNodes: "ds1.t_log_${0..3}", TableStrategy: standard("id", "mod4")},
			},
			BindingTables: [][]string{{"t_order", "t_item"}},
			Algorithms: map[string]Algorithm{
				"ds_mod":   {Type: "MOD", Props: map[string]any{"shardingCount": 2}},
				"mod4":     {Type: "MOD", Props: map[string]any{"shardingCount": 4}},
				"by_order": inline("t_order_${order_id % 2}"),
				"by_item":  inline("t_item_$->{oid%2}"),
			},
			KeyGenerators: map[string]KeyGenerator{"snowflake": {Type: "SNOWFLAKE", Props: map[string]any{"workerId": 1}}},
		},
	}
}

// change replaces a table of the configuration by what f makes of it.
func change(name string, f func(*Table)) func(*Config) {
	return func(c *Config) {
		t := c.Sharding.Tables[name]
		f(&t)
		c.Sharding.Tables[name] = t
	}
}

func strategy(column, algorithm string) *Strategy {
	return &Strategy{Standard: &Standard{Column: column, Algorithm: algorithm}}
}

func TestSmallConfigurationIsValid(t *testing.T) {
	wantFaults(t, small().Validate())
}

func TestValidate(t *testing.T) {
	unbind := func(c *Config) { c.Sharding.BindingTables = nil }
	for _, test := range []struct {
		name  string
		apply []func(*Config)
		want  []string
	}{
		{
			name:  "unknown data source in a node",
			apply: []func(*Config){change("t_log", func(t *Table) { t.ActualDataNodes = "ds11.t_log_${0..3}" })},
			want:  []string{`sharding.tables.t_log.actualDataNodes: no data source "ds11"; did you mean "ds1"?`},
		},
		{
			name:  "the application's pool is no data source when another one is the default",
			apply: []func(*Config){change("t_log", func(t *Table) { t.ActualDataNodes = "default.t_log_${0..3}" })},
			want:  []string{`sharding.tables.t_log.actualDataNodes: no data source "default"`},
		},
		{
			name: "malformed nodes",
			apply: []func(*Config){change("t_log", func(t *Table) {
				t.ActualDataNodes = "t_log, ds1., .t, ds1.a-b, ds1.00, ds1.a`b"
			})},
			want: []string{
				`sharding.tables.t_log.actualDataNodes: node "t_log" is not of the form dataSource.table`,
				`sharding.tables.t_log.actualDataNodes: node "ds1.": the table's name must consist of letters, digits, _ and $, and not of digits alone`,
				`sharding.tables.t_log.actualDataNodes: node ".t" is not of the form dataSource.table`,
				`sharding.tables.t_log.actualDataNodes: node "ds1.a-b": the table's name must consist of letters, digits, _ and $, and not of digits alone`,
				`sharding.tables.t_log.actualDataNodes: node "ds1.00": the table's name must consist of letters, digits, _ and $, and not of digits alone`,
				"sharding.tables.t_log.actualDataNodes: node \"ds1.a`b\": the table's name must consist of letters, digits, _ and $, and not of digits alone",
			},
		},
		{
			name:  "many wrong nodes are not all listed",
			apply: []func(*Config){change("t_log", func(t *Table) { t.ActualDataNodes = "no${0..99}.t" })},
			want: []string{
				`sharding.tables.t_log.actualDataNodes: no data source "no0"`,
				`sharding.tables.t_log.actualDataNodes: no data source "no1"`,
				`sharding.tables.t_log.actualDataNodes: no data source "no2"`,
				`sharding.tables.t_log.actualDataNodes: no data source "no3"`,
				`sharding.tables.t_log.actualDataNodes: no data source "no4"`,
				`sharding.tables.t_log.actualDataNodes: no data source "no5"`,
				`sharding.tables.t_log.actualDataNodes: no data source "no6"`,
				`sharding.tables.t_log.actualDataNodes: no data source "no7"`,
				`sharding.tables.t_log.actualDataNodes: 92 more nodes are wrong`,
			},
		},
		{
			name:  "no nodes",
			apply: []func(*Config){change("t_log", func(t *Table) { t.ActualDataNodes = " " })},
			want:  []string{`sharding.tables.t_log.actualDataNodes: names no data node`},
		},
		{
			name: "the same node twice",
			apply: []func(*Config){
				change("t_log", func(t *Table) { t.ActualDataNodes = "ds1.t_log_${0..3}, ds1.t_log_2" }),
			},
			want: []string{`sharding.tables.t_log.actualDataNodes: node "ds1.t_log_2" stands twice`},
		},
		{
			name: "the same node twice in another case",
			apply: []func(*Config){
				change("t_log", func(t *Table) { t.ActualDataNodes = "ds1.t_log_${0..3}, ds1.T_LOG_2" }),
			},
			want: []string{`sharding.tables.t_log.actualDataNodes: nodes "ds1.t_log_2" and "ds1.T_LOG_2" are the same table: the names differ in case only, or the data sources have the same dsn`},
		},
		{
			name: "two data sources of one database with the same node",
			apply: []func(*Config){
				unbind,
				func(c *Config) { c.DataSources["ds1"] = DataSource{DSN: "a"} },
				change("t_item", func(t *Table) { t.ActualDataNodes = "ds0.t_item_0, ds1.t_item_1"; t.DatabaseStrategy = nil }),
				change("t_order", func(t *Table) { t.ActualDataNodes = "ds0.t_order_0, ds1.t_order_0"; t.TableStrategy = nil }),
			},
			want: []string{`sharding.tables.t_order.actualDataNodes: nodes "ds0.t_order_0" and "ds1.t_order_0" are the same table: the names differ in case only, or the data sources have the same dsn`},
		},
		{
			name: "two data sources of one database with a broadcast table",
			apply: []func(*Config){func(c *Config) {
				c.DataSources["ds2"] = DataSource{DSN: "a"}
				c.Sharding.BroadcastTables = []string{"t_dict"}
			}},
			want: []string{`dataSources.ds2.dsn: is the database of data source "ds0" too, so that a write to the broadcast table "t_dict" would run twice in it`},
		},
		{
			name: "two tables own a node",
			apply: []func(*Config){
				change("t_log", func(t *Table) { t.ActualDataNodes = "ds1.t_log_${0..2}, ds1.t_item_1"; t.TableStrategy = nil }),
			},
			want: []string{`sharding.tables.t_log.actualDataNodes: node "ds1.t_item_1" belongs to table "t_item" already`},
		},
		{
			name: "dangling references",
			apply: []func(*Config){
				change("t_order", func(t *Table) {
					t.DatabaseStrategy = strategy("user_id", "ds_mood")
					t.TableStrategy = strategy("", "")
					t.KeyGenerate = &KeyGenerate{Generator: "snowflak"}
				}),
				func(c *Config) {
					c.DefaultDataSource = "ds00"
					c.Sharding.SingleTables = map[string]string{"t_a": "sd1", "t_b": ""}
					c.Sharding.BindingTables = [][]string{{"t_ordr", "t_item"}}
					c.Sharding.Defaults.KeyGenerate = &KeyGenerate{Column: "id"}
				},
			},
			want: []string{
				`defaultDataSource: no data source "ds00"; did you mean "ds0"?`,
				`sharding.defaults.keyGenerate.generator: is empty`,
				`sharding.tables.t_order.databaseStrategy.standard.algorithm: no algorithm "ds_mood"; did you mean "ds_mod"?`,
				`sharding.tables.t_order.tableStrategy.standard.column: is empty`,
				`sharding.tables.t_order.tableStrategy.standard.algorithm: is empty`,
				`sharding.tables.t_order.keyGenerate.column: is empty`,
				`sharding.tables.t_order.keyGenerate.generator: no key generator "snowflak"; did you mean "snowflake"?`,
				`sharding.singleTables.t_a: no data source "sd1"; did you mean "ds1"?`,
				`sharding.singleTables.t_b: is empty; name the data source`,
				`sharding.bindingTables[0][0]: no sharded table "t_ordr"; did you mean "t_order"?`,
			},
		},
		{
			name: "nodes that no strategy tells apart",
			apply: []func(*Config){
				unbind,
				change("t_order", func(t *Table) { t.DatabaseStrategy = nil }),
				change("t_item", func(t *Table) { t.TableStrategy = &Strategy{None: true} }),
				change("t_log", func(t *Table) { t.TableStrategy = nil }),
			},
			want: []string{
				`sharding.tables.t_item.tableStrategy: is missing: without it nothing says whether an inserted row belongs to ds0.t_item_0 or to ds0.t_item_1`,
				`sharding.tables.t_log.tableStrategy: is missing: without it nothing says whether an inserted row belongs to ds1.t_log_0 or to ds1.t_log_1`,
				`sharding.tables.t_order.databaseStrategy: is missing: without it nothing says whether an inserted row belongs to ds0.t_order_0 or to ds1.t_order_0`,
			},
		},
		{
			name: "one strategy is enough where it decides the node",
			apply: []func(*Config){
				unbind,
				change("t_order", func(t *Table) { t.ActualDataNodes = "ds0.t_order_0, ds1.t_order_1"; t.DatabaseStrategy = nil }),
				change("t_item", func(t *Table) { t.ActualDataNodes = "ds0.t_item_0, ds1.t_item_1"; t.TableStrategy = nil }),
			},
		},
		{
			name: "no strategy at all over several data sources",
			apply: []func(*Config){
				unbind,
				change("t_log", func(t *Table) { t.ActualDataNodes = "ds${0..1}.t_log"; t.TableStrategy = nil }),
			},
			want: []string{`sharding.tables.t_log.databaseStrategy: is missing: without it nothing says whether an inserted row belongs to ds0.t_log or to ds1.t_log`},
		},
		{
			name: "strategies that are none or two",
			apply: []func(*Config){
				unbind,
				change("t_order", func(t *Table) { t.DatabaseStrategy = &Strategy{} }),
				change("t_item", func(t *Table) { t.TableStrategy = &Strategy{None: true, Standard: &Standard{"a", "b"}} }),
				func(c *Config) { c.Sharding.Defaults.TableStrategy = &Strategy{None: true, TextKey: TextKeyExact} },
			},
			want: []string{
				`sharding.defaults.tableStrategy.textKey: is of no use without a sharding column; remove it`,
				`sharding.tables.t_item.tableStrategy: is none and standard at once; keep one of them`,
				`sharding.tables.t_order.databaseStrategy: is neither standard, complex, hint nor none`,
			},
		},
		{
			name: "a default strategy's fault is reported once, where it stands",
			apply: []func(*Config){
				unbind,
				change("t_order", func(t *Table) { t.DatabaseStrategy = nil }),
				change("t_item", func(t *Table) { t.DatabaseStrategy = nil }),
				func(c *Config) { c.Sharding.Defaults.DatabaseStrategy = strategy("user_id", "ds_mop") },
			},
			want: []string{`sharding.defaults.databaseStrategy.standard.algorithm: no algorithm "ds_mop"; did you mean "ds_mod"?`},
		},
		{
			name: "a table in two lists",
			apply: []func(*Config){func(c *Config) {
				c.Sharding.BroadcastTables = []string{"t_dict", "t_dict", "", "t_log"}
				c.Sharding.SingleTables = map[string]string{"t_dict": "ds1", "t_item": "ds1", "t_order_1": "ds1"}
				c.Sharding.Tables["T_ORDER"] = Table{Broadcast: true}
				c.Sharding.Tables["t_region"] = Table{Broadcast: true, ActualDataNodes: "ds0.t_region"}
			}},
			want: []string{
				`sharding.tables.t_region: is a broadcast table with settings of a sharded one; remove broadcast or the rest`,
				`sharding.singleTables.t_order_1: is the node "ds1.t_order_1" of the sharded table "t_order"`,
				`sharding.broadcastTables[1]: table "t_dict" stands twice`,
				`sharding.broadcastTables[2]: is empty`,
				`sharding.tables.t_order: the name differs from that of the broadcast table "T_ORDER" in case only; rename one of the two`,
				`sharding.singleTables.t_item: table "t_item" is a sharded table too`,
				`sharding.broadcastTables[0]: table "t_dict" is a single table too`,
				`sharding.broadcastTables[1]: table "t_dict" is a single table too`,
				`sharding.broadcastTables[3]: table "t_log" is a sharded table too`,
			},
		},
		{
			name: "a broadcast table that is a node",
			apply: []func(*Config){func(c *Config) {
				c.Sharding.BroadcastTables = []string{"t_log_3"}
				c.Sharding.Tables["t_item_0"] = Table{Broadcast: true}
			}},
			want: []string{
				`sharding.broadcastTables[0]: is the node "ds1.t_log_3" of the sharded table "t_log"`,
				`sharding.tables.t_item_0: is the node "ds0.t_item_0" of the sharded table "t_item"`,
			},
		},
		{
			name: "binding lists",
			apply: []func(*Config){func(c *Config) {
				c.Sharding.BroadcastTables = []string{"t_dict"}
				c.Sharding.BindingTables = [][]string{{"t_order"}, {"t_item", "t_dict"}, {"t_order", "t_item"}, {"t_order", "t_order"}}
			}},
			want: []string{
				`sharding.bindingTables[0]: binds fewer than two tables; write one list for all tables that belong together: [[a, b]]`,
				`sharding.bindingTables[1][1]: table "t_dict" is a broadcast table, which needs no binding; remove it`,
				`sharding.bindingTables[2][1]: table "t_item" is in sharding.bindingTables[1] too; make one list of the two`,
				`sharding.bindingTables[3][0]: table "t_order" is in sharding.bindingTables[2] too; make one list of the two`,
				`sharding.bindingTables[3][1]: table "t_order" is in sharding.bindingTables[2] too; make one list of the two`,
			},
		},
		{
			name: "algorithms and generators of built-in types",
			apply: []func(*Config){func(c *Config) {
				c.Sharding.Algorithms["empty"] = Algorithm{}
				c.Sharding.Algorithms["mine"] = Algorithm{Type: "MINE"}
				c.Sharding.Algorithms["mod4"] = Algorithm{Type: "mod"}
				c.Sharding.KeyGenerators["empty"] = KeyGenerator{}
				c.Sharding.KeyGenerators["mine"] = KeyGenerator{Type: "MINE"}
				c.Sharding.KeyGenerators["snowflake"] = KeyGenerator{Type: "SNOWFLAKE", Props: map[string]any{"workerId": "x"}}
			}},
			want: []string{
				`sharding.algorithms.empty.type: is empty`,
				`sharding.algorithms.mod4: …`,
				`sharding.keyGenerators.empty.type: is empty`,
				`sharding.keyGenerators.snowflake: …`,
			},
		},
		{
			name: "a lease that nobody keeps",
			apply: []func(*Config){func(c *Config) {
				c.IDLease = IDLease{DataSource: "ds9", TTL: 999 * time.Millisecond}
				c.Sharding.KeyGenerators["leased"] = KeyGenerator{Type: "SNOWFLAKE"}
			}},
			want: []string{
				`idLease.dataSource: no data source "ds9"; did you mean "ds0"?`,
				`idLease.ttl: is 999ms, less than 1s`,
			},
		},
		{
			name: "an expression that does not compile",
			apply: []func(*Config){func(c *Config) {
				c.Sharding.Algorithms["by_order"] = Algorithm{Type: "INLINE", Props: map[string]any{"expression": "t_order_${order_id %}"}}
			}},
			want: []string{`sharding.algorithms.by_order: …`},
		},
		{
			name: "targets the algorithm cannot address, another column",
			apply: []func(*Config){
				unbind,
				change("t_log", func(t *Table) { t.ActualDataNodes = "ds1.t_log_${0..4}" }),
				change("t_order", func(t *Table) { t.TableStrategy = strategy("id", "by_order") }),
				change("t_item", func(t *Table) { t.ActualDataNodes = "ds${0..1}.item_${0..1}" }),
			},
			want: []string{
				`sharding.tables.t_item.tableStrategy.standard.algorithm: …`,
				`sharding.tables.t_log.tableStrategy.standard.algorithm: …`,
				`sharding.tables.t_order.tableStrategy.standard.column: …`,
			},
		},
		{
			name: "a default strategy that does not fit a table",
			apply: []func(*Config){
				change("t_log", func(t *Table) { t.TableStrategy = nil }),
				func(c *Config) { c.Sharding.Defaults.TableStrategy = strategy("order_id", "by_order") },
			},
			want: []string{`sharding.tables.t_log.tableStrategy.standard.algorithm: …`},
		},
		{
			name: "data sources, limits and transaction",
			apply: []func(*Config){func(c *Config) {
				c.DataSources["ds2"] = DataSource{MaxOpenConns: -1, MaxIdleConns: -1, ConnMaxLifetime: -1, ConnMaxIdleTime: -time.Second}
				c.DataSources[""] = DataSource{DSN: "c"}
				c.RulesVersion = -1
				c.Transaction.Type = "local"
				c.Props = Props{
					MaxConnectionsPerQuery: -1, MaxMergeRows: -1, MaxMergeBytes: -1, MaxParallelUnits: -1, MaxUnionBranches: -1,
					PlanCacheBytes: -1, StatementTimeout: -1, DrainTimeout: -1,
				}
			}},
			want: []string{
				`dataSources.: the name is empty`,
				`dataSources.ds2.dsn: is empty`,
				`dataSources.ds2.maxOpenConns: is negative`,
				`dataSources.ds2.maxIdleConns: is negative`,
				`dataSources.ds2.connMaxLifetime: is negative`,
				`dataSources.ds2.connMaxIdleTime: is negative`,
				`rulesVersion: is negative`,
				`transaction.type: no transaction type "local"; use LOCAL`,
				`props.maxConnectionsPerQuery: is negative`,
				`props.maxMergeRows: is negative`,
				`props.maxMergeBytes: is negative`,
				`props.maxParallelUnits: is negative`,
				`props.maxUnionBranches: is negative`,
				`props.planCacheBytes: is negative`,
				`props.statementTimeout: is negative`,
				`props.drainTimeout: is negative`,
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := small()
			for _, f := range test.apply {
				f(cfg)
			}
			err := cfg.Validate()
			wantFaultsFrom(t, err, test.want)
			if again := cfg.Validate(); err != nil && again.Error() != err.Error() {
				t.Errorf("the second time\n%v\nthe first\n%v", again, err)
			}
		})
	}
}

// wantFaultsFrom is wantFaults where … in an expectation stands for a message of
// another package, which is not empty.
func wantFaultsFrom(t *testing.T, err error, want []string) {
	t.Helper()
	got, _ := err.(interface{ Unwrap() []error })
	if got != nil && len(got.Unwrap()) == len(want) {
		want = append([]string(nil), want...)
		for i, one := range got.Unwrap() {
			text := strings.TrimPrefix(one.Error(), "sharding: ")
			if prefix, ok := strings.CutSuffix(want[i], "…"); ok && len(text) > len(prefix) && strings.HasPrefix(text, prefix) {
				t.Log(text)
				want[i] = text
			}
		}
	}
	wantFaults(t, err, want...)
}

func TestNilConfigurationIsAnError(t *testing.T) {
	var cfg *Config
	wantFaults(t, cfg.Validate(), "configuration: is nil; load one or build one in Go")
}

func TestEachOfJoinedFaultsHasItsPath(t *testing.T) {
	cfg := &Config{
		DataSources: map[string]DataSource{"ds0": {DSN: "root@tcp(localhost:3306)/a"}},
		Sharding:    Sharding{Algorithms: map[string]Algorithm{"b": {Type: "INLINE", Props: map[string]any{"expresion": "t_${id}"}}}},
	}
	wantFaults(t, cfg.Validate(),
		`sharding.algorithms.b: property "expression" is missing`,
		`sharding.algorithms.b: unknown property "expresion"; did you mean "expression"?`)
}

func TestBindingComparesAllButTheNames(t *testing.T) {
	for _, test := range []struct {
		name   string
		item   func(*Table)
		byItem string // expression; "" keeps it
		more   func(*Config)
		want   string // "" for bound
	}{
		{name: "as it stands"},
		{
			name: "other data sources",
			item: func(t *Table) { t.ActualDataNodes = "ds0.t_item_${0..1}"; t.DatabaseStrategy = nil },
			want: "its data sources are ds0, not ds0, ds1",
		},
		{
			name: "other number of nodes",
			item: func(t *Table) { t.ActualDataNodes = "ds${0..1}.t_item_${0..2}" }, byItem: "t_item_${oid % 3}",
			want: "it has 6 nodes, not 4",
		},
		{
			name: "other order of data sources",
			item: func(t *Table) { t.ActualDataNodes = "ds${1..0}.t_item_${0..1}" },
			want: "the nodes are not in the same order: node 1 is ds1.t_item_0, but ds0.t_order_0 there",
		},
		{
			name: "other order of tables",
			item: func(t *Table) { t.ActualDataNodes = "ds${0..1}.t_item_${1..0}" },
			want: "the algorithms give node 1, ds0.t_item_1, other values than ds0.t_order_0 there",
		},
		{
			name: "other expression", byItem: "t_item_${oid.intdiv(2) % 2}",
			want: `the algorithms "by_item" and "by_order" of the table strategies differ in more than the names of table and column`,
		},
		{
			name: "other properties",
			more: func(c *Config) { c.Sharding.Algorithms["by_item"].Props["allowRangeQuery"] = false },
			want: `the algorithms "by_item" and "by_order" of the table strategies differ in more than the names of table and column`,
		},
		{
			name: "another database algorithm",
			item: func(t *Table) { t.DatabaseStrategy = strategy("owner_id", "hash") },
			more: func(c *Config) {
				c.Sharding.Algorithms["hash"] = Algorithm{Type: "HASH_MOD", Props: map[string]any{"shardingCount": 2}}
			},
			want: `the algorithms "hash" and "ds_mod" of the database strategies differ in more than the names of table and column`,
		},
		{
			name: "no database strategy where one table of each name suffices",
			item: func(t *Table) {
				t.ActualDataNodes = "ds0.t_item_0, ds0.t_item_2, ds1.t_item_1, ds1.t_item_3"
				t.DatabaseStrategy = nil
			},
			byItem: "t_item_${oid % 4}",
			want:   "it has no database strategy, the other has one",
		},
		{
			name: "the same algorithm by number of tables with unlike names",
			item: func(t *Table) { t.ActualDataNodes = "ds${0..1}.x_${0..1}"; t.TableStrategy = strategy("oid", "ds_mod") },
			more: change("t_order", func(t *Table) { t.TableStrategy = strategy("order_id", "ds_mod") }),
		},
		{
			name: "the same algorithm by number in another order",
			item: func(t *Table) {
				t.ActualDataNodes = "ds${0..1}.t_item_${1..0}"
				t.TableStrategy = strategy("oid", "ds_mod")
			},
			more: change("t_order", func(t *Table) { t.TableStrategy = strategy("order_id", "ds_mod") }),
			want: "the algorithms give node 1, ds0.t_item_1, other values than ds0.t_order_0 there",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := small()
			if test.item != nil {
				change("t_item", test.item)(cfg)
			}
			if test.byItem != "" {
				cfg.Sharding.Algorithms["by_item"] = Algorithm{Type: "INLINE", Props: map[string]any{"expression": test.byItem}}
			}
			if test.more != nil {
				test.more(cfg)
			}
			if test.want == "" {
				wantFaults(t, cfg.Validate())
			} else {
				wantFaults(t, cfg.Validate(), `sharding.bindingTables[0][1]: table "t_item" cannot be bound to "t_order": `+test.want)
			}
		})
	}
}

// shapeOf returns the shape of a standard strategy.
func shapeOf(a Algorithm, table, column string) string {
	s := Sharding{Algorithms: map[string]Algorithm{"a": a}}
	return s.Shape(&Strategy{Standard: &Standard{Column: column, Algorithm: "a"}}, table)
}

func TestShapeReplacesNamesOnlyWhereTheyAreNames(t *testing.T) {
	shape := func(table, column, expression string) string {
		return shapeOf(Algorithm{Type: "INLINE", Props: map[string]any{"expression": expression}}, table, column)
	}
	type use struct{ table, column, expression string }
	for _, test := range []struct {
		a, b  use
		equal bool
	}{
		{use{"t_order", "order_id", "t_order_${order_id % 8}"}, use{"t_item", "oid", "t_item_$->{ OID%8 }"}, true},
		{use{"t_order", "t_order_id", "t_order_${t_order_id % 8}"}, use{"t_item", "id", "t_item_${id % 8}"}, true},
		{use{"t", "x", "t_${intdiv(x, 2)}"}, use{"u", "y", "u_${intdiv(y, 2)}"}, true},
		{use{"t", "x", "${'t_' + x % 2}"}, use{"u", "y", "${'u_' + y % 2}"}, true},
		{use{"t", "x", "t_${x % 2}"}, use{"t", "x", "t_${x % 3}"}, false},
		{use{"t", "x", "t_${x % 2}"}, use{"u", "y", "u_${x % 2}"}, false},
		{use{"t", "x", "t_${x % 2}"}, use{"u", "y", "t_${y % 2}"}, false},
		{use{"t", "x", "t_${'a b'}"}, use{"u", "y", "u_${'ab'}"}, false},
		{use{"t", "x", "t_${x in y}"}, use{"t", "x", "t_${x iny}"}, false},
		{use{"t", "x", "t_${"}, use{"u", "y", "u_${"}, true},
		{use{"t", "x", "t_${'\\"}, use{"u", "y", "u_${'\\"}, true},
	} {
		a, b := shape(test.a.table, test.a.column, test.a.expression), shape(test.b.table, test.b.column, test.b.expression)
		if (a == b) != test.equal {
			t.Errorf("%v %v: shapes %q and %q, want equal %t", test.a, test.b, a, b, test.equal)
		}
	}
}

func TestShapeTellsValuesApart(t *testing.T) {
	shapes := map[string]any{}
	for _, value := range []any{nil, true, "true", 4, "4", 4.5, []any{"a", "b"}, []string{"a b"}, []any{}, map[string]any{}, map[string]any{"a": 1}} {
		shape := shapeOf(Algorithm{Type: "OWN", Props: map[string]any{"p": value}}, "t", "c")
		if other, taken := shapes[shape]; taken {
			t.Errorf("%#v and %#v have the shape %q", other, value, shape)
		}
		shapes[shape] = value
	}
	a := Algorithm{Type: "own", Props: map[string]any{"list": []string{"t_0", "c"}}}
	b := Algorithm{Type: "OWN", Props: map[string]any{"list": []any{"u_0", "D"}}}
	if shapeOf(a, "t", "c") != shapeOf(b, "u", "d") {
		t.Errorf("%q and %q differ", shapeOf(a, "t", "c"), shapeOf(b, "u", "d"))
	}
}

func TestBroadcastTablesOfBothPlaces(t *testing.T) {
	s := Sharding{BroadcastTables: []string{"t_b", "t_a"}, Tables: map[string]Table{"t_c": {Broadcast: true}, "t_b": {Broadcast: true}, "t_d": {}}}
	if got := strings.Join(s.Broadcast(), " "); got != "t_a t_b t_c" {
		t.Errorf("got %s", got)
	}
}
