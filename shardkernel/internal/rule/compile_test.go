package rule

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/keygen"
)

// standard returns a strategy on one column.
func standard(column, algorithm string) *config.Strategy {
	return &config.Strategy{Standard: &config.Standard{Column: column, Algorithm: algorithm}}
}

func inline(expression string) config.Algorithm {
	return config.Algorithm{Type: "INLINE", Props: map[string]any{"expression": expression}}
}

// shop has orders and details in one table a data source, items in eight; a
// table in one data source, a broadcast and a single table.
func shop() *config.Config {
	byEnterprise := standard("ent_id", "by_ent")
	return &config.Config{
		DataSources:       map[string]config.DataSource{"ds0": {DSN: "a"}, "ds1": {DSN: "b"}, "ds2": {DSN: "c"}, "ds10": {DSN: "d"}},
		DefaultDataSource: "ds1",
		Schema:            "shop",
		Sharding: config.Sharding{
			Tables: map[string]config.Table{
				"t_order":  {ActualDataNodes: "ds${0..2}.t_order", DatabaseStrategy: standard("Ent_ID", "by_ent"), KeyGenerate: &config.KeyGenerate{Column: "ID", Generator: "flake"}},
				"t_detail": {ActualDataNodes: "ds${0..2}.t_detail", DatabaseStrategy: byEnterprise, KeyGenerate: &config.KeyGenerate{Column: "id", Generator: "flake"}},
				"t_item": {
					ActualDataNodes:  "ds${0..2}.t_item_${0..7}",
					DatabaseStrategy: standard("owner", "by_owner"),
					TableStrategy:    &config.Strategy{Standard: &config.Standard{Column: "item_id", Algorithm: "by_item"}, TextKey: config.TextKeyExact},
				},
				"t_other": {ActualDataNodes: "ds${2..0}.t_other", DatabaseStrategy: byEnterprise},
				"T_Log":   {ActualDataNodes: "ds10.t_log_${[7, 3]}", TableStrategy: standard("id", "by_log")},
				"t_note":  {ActualDataNodes: "ds10.t_note"},
				"t_loose": {ActualDataNodes: "ds0.t_loose_0, ds1.t_loose_1", TableStrategy: standard("id", "by_loose")},
				"t_dict":  {Broadcast: true},
			},
			BindingTables:   [][]string{{"t_detail", "t_order"}},
			BroadcastTables: []string{"T_Region"},
			SingleTables:    map[string]string{"T_Operator": "ds10"},
			Algorithms: map[string]config.Algorithm{
				"by_ent":   inline("ds${ent_id % 3}"),
				"by_owner": inline("ds${owner%3}"),
				"by_item":  {Type: "MOD", Props: map[string]any{"shardingCount": 8}},
				"by_log":   inline("t_log_${id > 5 ? 7 : 3}"),
				"by_loose": {Type: "MOD", Props: map[string]any{"shardingCount": 2}},
			},
			KeyGenerators: map[string]config.KeyGenerator{"flake": {Type: "SNOWFLAKE", Props: map[string]any{"workerId": 1}}},
		},
	}
}

func compile(t *testing.T, cfg *config.Config) *Set {
	t.Helper()
	s, err := Compile(cfg, algorithm.NewRegistry(), keygen.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func table(t *testing.T, s *Set, name string) *Table {
	t.Helper()
	found, ok := s.Table(name)
	if !ok {
		t.Fatalf("no table %s", name)
	}
	return found
}

func TestSetKnowsItsTables(t *testing.T) {
	s := compile(t, shop())
	if got, want := s.DataSources, []string{"ds0", "ds1", "ds2", "ds10"}; !slices.Equal(got, want) {
		t.Errorf("data sources %q, want %q", got, want)
	}
	if s.DefaultDataSource != "ds1" || s.Schema != "shop" {
		t.Errorf("default data source %q, schema %q", s.DefaultDataSource, s.Schema)
	}
	var names []string
	for _, table := range s.Tables() {
		names = append(names, table.Name)
	}
	if got, want := strings.Join(names, " "), "T_Log t_detail t_item t_loose t_note t_order t_other"; got != want {
		t.Errorf("tables %s, want %s", got, want)
	}
	for _, test := range []struct {
		name                        string
		sharded, broadcast, isTable bool
		foldSharded, foldBroadcast  bool
		source, foldSource          string
	}{
		{name: "t_order", sharded: true, isTable: true, foldSharded: true, source: "ds1", foldSource: "ds1"},
		{name: "T_ORDER", foldSharded: true, source: "ds1", foldSource: "ds1"},
		{name: "t_dict", broadcast: true, isTable: true, foldBroadcast: true, source: "ds1", foldSource: "ds1"},
		{name: "t_region", foldBroadcast: true, source: "ds1", foldSource: "ds1"},
		{name: "T_Region", broadcast: true, isTable: true, foldBroadcast: true, source: "ds1", foldSource: "ds1"},
		{name: "T_Operator", isTable: true, source: "ds10", foldSource: "ds10"},
		{name: "t_operator", source: "ds1", foldSource: "ds10"},
		{name: "t_order_0", source: "ds1", foldSource: "ds1"},
	} {
		for _, set := range []*Set{s, s.WithFold(false), s.WithFold(true).WithFold(false)} {
			if _, ok := set.Table(test.name); ok != test.sharded || set.IsBroadcast(test.name) != test.broadcast ||
				set.IsTable(test.name) != test.isTable || set.SingleSource(test.name) != test.source {
				t.Errorf("%s: sharded %t, broadcast %t, table %t, single in %s", test.name, ok, set.IsBroadcast(test.name), set.IsTable(test.name), set.SingleSource(test.name))
			}
		}
		for _, set := range []*Set{s.WithFold(true), s.WithFold(true).WithFold(true)} {
			isTable := test.foldSharded || test.foldBroadcast || test.foldSource == "ds10"
			if _, ok := set.Table(test.name); ok != test.foldSharded || set.IsBroadcast(test.name) != test.foldBroadcast ||
				set.IsTable(test.name) != isTable || set.SingleSource(test.name) != test.foldSource {
				t.Errorf("%s without case: sharded %t, broadcast %t, table %t, single in %s", test.name, ok, set.IsBroadcast(test.name), set.IsTable(test.name), set.SingleSource(test.name))
			}
		}
	}
}

func TestNodesKnowTheirTargets(t *testing.T) {
	s := compile(t, shop())
	for _, test := range []struct {
		table   string
		nodes   []Node
		sources []string
	}{
		{"t_other", []Node{{"ds2", "t_other", 0, 0, 2}, {"ds1", "t_other", 1, 0, 1}, {"ds0", "t_other", 2, 0, 0}}, []string{"ds2", "ds1", "ds0"}},
		{"T_Log", []Node{{"ds10", "t_log_7", 0, 0, 3}, {"ds10", "t_log_3", 0, 1, 3}}, []string{"ds10"}},
		{"t_loose", []Node{{"ds0", "t_loose_0", 0, 0, 0}, {"ds1", "t_loose_1", 0, 1, 1}}, []string{"ds0", "ds1"}},
	} {
		found := table(t, s, test.table)
		if !reflect.DeepEqual(found.Nodes, test.nodes) || !slices.Equal(found.Sources(), test.sources) {
			t.Errorf("%s: nodes %v in %q, want %v in %q", test.table, found.Nodes, found.Sources(), test.nodes, test.sources)
		}
	}
	item := table(t, s, "t_item")
	if len(item.Nodes) != 24 || item.Nodes[13] != (Node{"ds1", "t_item_5", 1, 5, 1}) {
		t.Errorf("t_item: %v", item.Nodes)
	}
}

func TestStrategiesChooseAmongTheirTargets(t *testing.T) {
	s := compile(t, shop())
	order, item, log := table(t, s, "t_order"), table(t, s, "t_item"), table(t, s, "T_Log")
	if order.Database.Columns[0] != "ent_id" || order.Database.Algorithm != "by_ent" || order.Database.TextKey != TextRefuse || order.Tables != nil {
		t.Errorf("t_order: %+v, %+v", order.Database, order.Tables)
	}
	if item.Tables.TextKey != TextExact || item.Tables.Ranger == nil || len(item.Tables.Targets) != 8 {
		t.Errorf("t_item: %+v", item.Tables)
	}
	for _, test := range []struct {
		strategy *Strategy
		value    int64
		want     string
	}{{order.Database, 5, "ds2"}, {item.Database, 4, "ds1"}, {item.Tables, 13, "t_item_5"}, {log.Tables, 4, "t_log_3"}, {log.Tables, 6, "t_log_7"}} {
		i, err := test.strategy.Sharder.Shard(algorithm.Int(test.value))
		if err != nil || test.strategy.Targets[i] != test.want {
			t.Errorf("%s of %d: target %d of %q, error %v; want %s", test.strategy.Algorithm, test.value, i, test.strategy.Targets, err, test.want)
		}
	}
}

func TestTablesShareAGeneratorOfOneName(t *testing.T) {
	s := compile(t, shop())
	order, detail := table(t, s, "t_order"), table(t, s, "t_detail")
	if order.Key.Column != "id" || order.Key.Generator != detail.Key.Generator {
		t.Error("two generators of one worker id could make the same key twice")
	}
	if table(t, s, "t_item").Key != nil {
		t.Error("t_item has a generated key")
	}
}

func TestBoundTables(t *testing.T) {
	cfg := shop()
	cfg.Sharding.Tables["t_memo"] = config.Table{ActualDataNodes: "ds10.t_memo"}
	s := compile(t, cfg)
	for _, test := range []struct {
		a, b            string
		bound, database bool
	}{
		{"t_order", "t_detail", true, true},
		{"t_order", "t_order", true, true},
		{"t_item", "t_item", true, true},
		{"t_loose", "t_loose", true, false}, // no column says the data source
		{"t_order", "t_item", false, true},
		{"t_order", "t_other", false, false}, // the targets are in another order
		{"t_note", "t_memo", false, true},
		{"t_note", "T_Log", false, true},
		{"t_note", "t_order", false, false},
		{"t_loose", "t_order", false, false},
	} {
		a, b := table(t, s, test.a), table(t, s, test.b)
		if s.Bound(a, b) != test.bound || s.Bound(b, a) != test.bound {
			t.Errorf("Bound(%s, %s) is not %t", test.a, test.b, test.bound)
		}
		if s.DatabaseBound(a, b) != test.database || s.DatabaseBound(b, a) != test.database {
			t.Errorf("DatabaseBound(%s, %s) is not %t", test.a, test.b, test.database)
		}
	}
}

// The configurations of the acceptance cases in Go.
func TestAcceptanceConfigurationsCompile(t *testing.T) {
	unbound := &config.Config{
		DataSources:       map[string]config.DataSource{"ds0": {DSN: "x"}},
		DefaultDataSource: "ds0",
		Sharding: config.Sharding{
			Tables: map[string]config.Table{
				"t_order":      {ActualDataNodes: "ds0.t_order_${0..1}", TableStrategy: standard("order_id", "order")},
				"t_order_item": {ActualDataNodes: "ds0.t_order_item_${0..1}", TableStrategy: standard("order_id", "item")},
			},
			Algorithms: map[string]config.Algorithm{
				"order": inline("t_order_${order_id % 2}"),
				"item":  inline("t_order_item_${order_id % 2}"),
			},
		},
	}
	s := compile(t, unbound)
	if order, item := table(t, s, "t_order"), table(t, s, "t_order_item"); s.Bound(order, item) || !s.DatabaseBound(order, item) {
		t.Error("one_db_two_tables_unbound: bound, or not in one data source")
	}
	unbound.Sharding.BindingTables = [][]string{{"t_order", "t_order_item"}}
	s = compile(t, unbound)
	if !s.Bound(table(t, s, "t_order"), table(t, s, "t_order_item")) {
		t.Error("one_db_two_tables: not bound")
	}
	s = compile(t, &config.Config{
		DataSources:       map[string]config.DataSource{"ds0": {DSN: "x"}, "ds1": {DSN: "y"}},
		DefaultDataSource: "ds0",
		Sharding: config.Sharding{
			Tables: map[string]config.Table{"t_order": {
				ActualDataNodes:  "ds${0..1}.t_order${0..1}",
				DatabaseStrategy: standard("user_id", "database"),
				TableStrategy:    standard("order_id", "table"),
			}},
			BroadcastTables: []string{"t_dict"},
			Algorithms: map[string]config.Algorithm{
				"database": {Type: "INLINE", Props: map[string]any{"expression": "ds${user_id % 2}", "allowRangeQuery": true}},
				"table":    {Type: "INLINE", Props: map[string]any{"expression": "t_order${order_id % 2}", "allowRangeQuery": true}},
			},
		},
	})
	if order := table(t, s, "t_order"); len(order.Nodes) != 4 || order.Nodes[3] != (Node{"ds1", "t_order1", 1, 1, 1}) || !s.IsBroadcast("t_dict") {
		t.Errorf("two_by_two: %v", order.Nodes)
	}
}

func TestTheApplicationsPoolIsADataSource(t *testing.T) {
	s := compile(t, &config.Config{
		DataSources: map[string]config.DataSource{"ds0": {DSN: "x"}},
		Sharding: config.Sharding{Tables: map[string]config.Table{
			"t_order": {ActualDataNodes: "default.t_order_0, ds0.t_order_1", TableStrategy: standard("id", "mod")},
		}, Algorithms: map[string]config.Algorithm{"mod": {Type: "MOD", Props: map[string]any{"shardingCount": 2}}}},
	})
	if !slices.Equal(s.DataSources, []string{"default", "ds0"}) || s.SingleSource("anything") != "default" {
		t.Errorf("data sources %q, single tables in %q", s.DataSources, s.SingleSource("anything"))
	}
	empty := compile(t, &config.Config{})
	if !slices.Equal(empty.DataSources, []string{"default"}) || len(empty.Tables()) != 0 || empty.IsTable("t") {
		t.Errorf("the empty configuration gives %+v", empty)
	}
}

// first sends everything to the first target.
type first struct{}

func (first) Bind(targets []string) (algorithm.Sharder, error) {
	if len(targets) > 2 {
		return nil, errors.New("more than two targets")
	}
	return first{}, nil
}
func (first) Shard(algorithm.Value) (int, error) { return 0, nil }

func TestCompileReportsEverythingAtOnce(t *testing.T) {
	cfg := shop()
	cfg.Sharding.Algorithms["by_ent"] = inline("ds${ent_id %")
	cfg.Sharding.Algorithms["by_item"] = config.Algorithm{Type: "MOD", Props: map[string]any{"shardingCount": 9}}
	cfg.Sharding.Algorithms["by_log"] = config.Algorithm{Type: "FRIST"}
	cfg.Sharding.Algorithms["by_owner"] = config.Algorithm{Type: "FIRST"}
	cfg.Sharding.Algorithms["nothing"] = config.Algorithm{Type: "NOTHING"}
	cfg.Sharding.KeyGenerators["flake"] = config.KeyGenerator{Type: "SNOWFLAK"}
	cfg.Sharding.KeyGenerators["nothing"] = config.KeyGenerator{Type: "NOTHING"}
	cfg.Sharding.Tables["t_note"] = config.Table{ActualDataNodes: "ds11.t_note"}

	algorithms, generators := algorithm.NewRegistry(), keygen.NewRegistry()
	register := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	register(algorithms.Register("FIRST", func(algorithm.Props) (algorithm.Algorithm, error) { return first{}, nil }))
	register(algorithms.Register("NOTHING", func(algorithm.Props) (algorithm.Algorithm, error) { return nil, nil }))
	register(generators.Register("NOTHING", func(keygen.Props) (keygen.Generator, error) { return nil, nil }))

	s, err := Compile(cfg, algorithms, generators)
	if s != nil || !errors.Is(err, fault.ErrConfig) {
		t.Fatalf("got %v, %v", s, err)
	}
	var got []string
	for _, one := range err.(interface{ Unwrap() []error }).Unwrap() {
		var f *fault.ConfigError
		if !errors.As(one, &f) {
			t.Fatalf("not a *fault.ConfigError: %v", one)
		}
		got = append(got, f.Path)
	}
	want := []string{
		"sharding.algorithms.by_ent",
		"sharding.algorithms.by_log",
		"sharding.algorithms.nothing",
		"sharding.keyGenerators.flake",
		"sharding.keyGenerators.nothing",
		"sharding.tables.t_item.databaseStrategy.standard.algorithm",
		"sharding.tables.t_item.tableStrategy.standard.algorithm",
		"sharding.tables.t_note.actualDataNodes",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s\nfrom\n%v", strings.Join(got, "\n  "), strings.Join(want, "\n  "), err)
	}
}

func TestAnApplicationsAlgorithmIsMadeOnce(t *testing.T) {
	made := 0
	algorithms := algorithm.NewRegistry()
	if err := algorithms.Register("FIRST", func(props algorithm.Props) (algorithm.Algorithm, error) {
		made++
		if props["at"] != "start" {
			return nil, fmt.Errorf("props %v", props)
		}
		return first{}, nil
	}); err != nil {
		t.Fatal(err)
	}
	s, err := Compile(&config.Config{Sharding: config.Sharding{
		Tables: map[string]config.Table{
			"a": {ActualDataNodes: "default.a_${0..1}", TableStrategy: standard("id", "one")},
			"b": {ActualDataNodes: "default.b_${0..1}", TableStrategy: standard("id", "one")},
		},
		Algorithms: map[string]config.Algorithm{"one": {Type: "first", Props: map[string]any{"at": "start"}}},
	}}, algorithms, keygen.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	if made != 1 {
		t.Errorf("made %d times", made)
	}
	if a := table(t, s, "a"); a.Tables.Ranger != nil {
		t.Error("an algorithm without ranges has a Ranger")
	}
}

func TestCompileOfNothingIsAnError(t *testing.T) {
	if _, err := Compile(nil, algorithm.NewRegistry(), keygen.NewRegistry()); !errors.Is(err, fault.ErrConfig) {
		t.Errorf("got %v", err)
	}
}

func TestTheShortFormCompilesAsTheLongOne(t *testing.T) {
	short := &config.Config{
		DataSources:       map[string]config.DataSource{"ds0": {DSN: "a"}, "ds1": {DSN: "b"}},
		DefaultDataSource: "ds0",
		Rules:             []config.Rule{{Tables: []string{"t_order", "t_item"}, Range: "0..3", Column: "order_id", Expression: "order_id % 4"}},
		Database:          config.Database{DataSources: "ds${0..1}", Column: "user_id", Expression: "user_id % 2"},
	}
	s := compile(t, short)
	order, ok := s.Table("t_order")
	if !ok || len(order.Nodes) != 8 {
		t.Fatalf("t_order: %v, %+v", ok, order)
	}
	item, _ := s.Table("t_item")
	if !s.Bound(order, item) {
		t.Error("the tables of one rule are not bound")
	}
}
