package config

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
)

const running = `
dataSources:
  ds0: {dsn: "app:secret@tcp(10.0.0.1:3306)/orders_0"}
  ds1_a: {dsn: "app:secret@tcp(10.0.0.2:3306)/orders_1"}
  ds1_b: {dsn: "app:secret@tcp(10.0.0.3:3306)/orders_1"}
  ds2: {dsn: "app:secret@tcp(10.0.0.4:3306)/logs"}
defaultDataSource: ds0
rulesVersion: 3
sharding:
  tables:
    t_order:
      actualDataNodes: ds${0..1}.t_order_${0..1}
      databaseStrategy: {standard: {column: user_id, algorithm: by_user}}
      tableStrategy: {standard: {column: user_id, algorithm: by_table}}
      keyGenerate: {column: id, generator: snowflake}
    t_log:
      actualDataNodes: ds2.t_log_${0..1}
      tableStrategy: {standard: {column: id, algorithm: both}}
      keyGenerate: {column: id, generator: counted}
  autoTables:
    t_event: {dataSources: "ds${0..1}", strategy: {standard: {column: id, algorithm: four}}}
  broadcastTables: [t_region]
  singleTables: {t_audit: ds1}
  algorithms:
    by_user: {type: INLINE, props: {expression: "ds${user_id % 2}"}}
    by_table: {type: INLINE, props: {expression: "t_order_${user_id.intdiv(2) % 2}"}}
    four: {type: MOD, props: {shardingCount: 4}}
    low: {type: MOD, props: {shardingCount: 1}}
    two: {type: MOD, props: {shardingCount: 2}}
    both: {type: THRESHOLD, props: {threshold: 100, below: low, above: two}}
  keyGenerators:
    snowflake: {type: SNOWFLAKE}
    counted: {type: SEGMENT, props: {table: t_log}}
readwriteSplitting:
  groups:
    ds1: {primary: ds1_a, replicas: [ds1_b]}
`

func loaded(t *testing.T, text string) *Config {
	t.Helper()
	cfg, err := Parse([]byte(text), "yaml")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestReroutingIsFoundWhereverRowsWouldBeMissed(t *testing.T) {
	for _, tt := range []struct {
		name     string
		old, new string   // of the text
		paths    []string // of the faults, none where the change is safe
		allow    string   // the table whose permission is enough, if any
	}{
		{name: "nothing"},
		{name: "other nodes", old: "ds2.t_log_${0..1}", new: "ds0.t_log_${0..1}", paths: []string{"sharding.tables.t_log.actualDataNodes"}, allow: "t_log"},
		{name: "the same nodes written otherwise", old: "ds${0..1}.t_order_${0..1}", new: "ds0.t_order_${0..1}, ds1.t_order_${[0,1]}"},
		{name: "other order of nodes", old: "ds${0..1}.t_order_${0..1}", new: "ds${0..1}.t_order_${[1,0]}", paths: []string{"sharding.tables.t_order.actualDataNodes"}, allow: "t_order"},
		{name: "other properties of an algorithm", old: "ds${user_id % 2}", new: "ds${floorMod(user_id, 2)}", paths: []string{"sharding.tables.t_order.databaseStrategy"}, allow: "t_order"},
		{name: "an algorithm that another one is made of", old: "two: {type: MOD, props: {shardingCount: 2}}", new: "two: {type: HASH_MOD, props: {shardingCount: 2}}", paths: []string{"sharding.tables.t_log.tableStrategy"}, allow: "t_log"},
		{name: "another column", old: "tableStrategy: {standard: {column: user_id, algorithm: by_table}}", new: "tableStrategy: {standard: {column: order_id, algorithm: by_order}}", paths: []string{"sharding.tables.t_order.tableStrategy"}, allow: "t_order"},
		{name: "the algorithm of an auto table", old: "four: {type: MOD, props: {shardingCount: 4}}", new: "four: {type: MOD, props: {shardingCount: 6}}", paths: []string{"sharding.autoTables.t_event.strategy"}, allow: "t_event"},
		{name: "the data sources of an auto table", old: `dataSources: "ds${0..1}"`, new: `dataSources: "ds0"`, paths: []string{"sharding.autoTables.t_event.dataSources"}, allow: "t_event"},
		{name: "an algorithm's name", old: "by_user", new: "by_owner"},
		{name: "a table that is gone", old: "t_log:", new: "t_log2:", paths: []string{"sharding.tables.t_log"}, allow: "t_log"},
		{name: "a new table", old: "    t_log:", new: "    t_new: {actualDataNodes: ds0.t_new}\n    t_log:"},
		{name: "a broadcast table that is gone", old: "broadcastTables: [t_region]", new: "broadcastTables: []", paths: []string{"sharding.broadcastTables"}, allow: "t_region"},
		{name: "a new broadcast table", old: "[t_region]", new: "[t_region, t_more]"},
		{name: "a single table elsewhere", old: "singleTables: {t_audit: ds1}", new: "singleTables: {t_audit: ds0}", paths: []string{"sharding.singleTables.t_audit"}, allow: "t_audit"},
		{name: "a single table without a rule", old: "singleTables: {t_audit: ds1}", new: "singleTables: {}", paths: []string{"sharding.singleTables.t_audit"}, allow: "t_audit"},
		{name: "another default data source", old: "defaultDataSource: ds0", new: "defaultDataSource: ds2", paths: []string{"defaultDataSource", "idLease.dataSource"}},
		{name: "another place for leases", old: "rulesVersion: 3", new: "rulesVersion: 3\nidLease: {dataSource: ds2}", paths: []string{"idLease.dataSource"}},
		{name: "a lower version", old: "rulesVersion: 3", new: "rulesVersion: 2", paths: []string{"rulesVersion"}},
		{name: "a data source that leads elsewhere", old: "10.0.0.4:3306", new: "10.0.0.5:3306", paths: []string{"dataSources.ds2.dsn"}},
		{name: "another password and other parameters", old: "app:secret@tcp(10.0.0.4:3306)/logs", new: "root:other@tcp(10.0.0.4:3306)/logs?parseTime=true"},
		{name: "a replica elsewhere", old: "10.0.0.3:3306", new: "10.0.0.5:3306"},
		{name: "a promoted replica", old: "{primary: ds1_a, replicas: [ds1_b]}", new: "{primary: ds1_b, replicas: [ds1_a]}"},
		{name: "a primary from elsewhere", old: "{primary: ds1_a, replicas: [ds1_b]}", new: "{primary: ds1_c, replicas: [ds1_b]}", paths: []string{"readwriteSplitting.groups.ds1.primary"}},
		{name: "a primary that leads elsewhere", old: "10.0.0.2:3306", new: "10.0.0.5:3306", paths: []string{"readwriteSplitting.groups.ds1.primary"}},
		{name: "the group's members by other names", old: "ds1_", new: "db1_"},
		{name: "a data source elsewhere whose password holds a question mark", old: "app:secret@tcp(10.0.0.4:3306)/logs", new: "app:sec?ret@tcp(10.0.0.5:3306)/logs", paths: []string{"dataSources.ds2.dsn"}},
		{name: "a schema whose name holds an at sign", old: "app:secret@tcp(10.0.0.4:3306)/logs", new: "app:secret@tcp(10.0.0.5:3306)/x@logs", paths: []string{"dataSources.ds2.dsn"}},
		{name: "a new data source, where broadcast tables have no copies", old: "defaultDataSource: ds0", new: "  a: {dsn: \"app:secret@tcp(10.0.0.7:3306)/a\"}\ndefaultDataSource: ds0", paths: []string{"dataSources.a"}, allow: "t_region"},
		{name: "another name for a data source", old: "ds2", new: "logs", paths: []string{"sharding.tables.t_log.actualDataNodes"}, allow: "t_log"},
		{name: "another schema", old: "rulesVersion: 3", new: "rulesVersion: 3\nschema: shop", paths: []string{"schema"}},
		{name: "another counter", old: "table: t_log", new: "table: t_log2", paths: []string{"sharding.keyGenerators.counted"}, allow: "t_log"},
		{name: "another step of a counter", old: "table: t_log", new: "table: t_log, step: 5"},
		{name: "worker ids that are configured", old: "snowflake: {type: SNOWFLAKE}", new: "snowflake: {type: SNOWFLAKE, props: {worker-id: 7}}", paths: []string{"sharding.keyGenerators.snowflake"}, allow: "t_order"},
		{name: "a key generator of another type", old: "snowflake: {type: SNOWFLAKE}", new: "snowflake: {type: UUID}"},
		{name: "limits, health, generators", old: "snowflake: {type: SNOWFLAKE}", new: "snowflake: {type: SNOWFLAKE, props: {maxVibrationOffset: 1}}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.ReplaceAll(running, tt.old, tt.new)
			if tt.old == "" {
				text = running
			} else if text == running {
				t.Fatal("nothing was changed")
			}
			if strings.Contains(tt.new, "by_order") {
				text = strings.Replace(text, "    four:", "    by_order: {type: INLINE, props: {expression: \"t_order_${order_id % 2}\"}}\n    four:", 1)
			}
			if strings.Contains(tt.new, "ds1_c") {
				text = strings.Replace(text, "  ds2:", "  ds1_c: {dsn: \"app:secret@tcp(10.0.0.9:3306)/orders_1\"}\n  ds2:", 1)
			}
			before, after := loaded(t, running), loaded(t, text)
			err := before.Rerouting(after)
			if got := paths(t, err); !reflect.DeepEqual(got, tt.paths) {
				t.Errorf("faults %q, want %q: %v", got, tt.paths, err)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("a password is shown: %v", err)
			}
			if tt.allow != "" {
				if err := before.Rerouting(after, tt.allow); err != nil {
					t.Errorf("with a permission for %s: %v", tt.allow, err)
				}
			}
			if tt.name != "a lower version" {
				after.RulesVersion = 4
				if err := before.Rerouting(after); err != nil {
					t.Errorf("with a higher version: %v", err)
				}
			}
			same := before.Fingerprint() == loaded(t, text).Fingerprint()
			if safe := len(tt.paths) == 0 && !strings.Contains(tt.new, "t_new") && !strings.Contains(tt.new, "t_more"); safe && !same {
				t.Error("the fingerprint changes with what is no matter of where rows are")
			} else if tt.allow != "" && same && !strings.Contains(tt.paths[0], "keyGenerators") {
				t.Error("the fingerprint stays the same")
			}
		})
	}
}

func paths(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var out []string
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok { // the joined ones
		all = joined.Unwrap()
	}
	for _, e := range all {
		var f *fault.ConfigError
		if !errors.As(e, &f) || f.Remedy == "" {
			t.Fatalf("%v is no ConfigError with a way out", e)
		}
		out = append(out, f.Path)
	}
	return out
}

func TestAWorkerIDBelongsToOneGenerator(t *testing.T) {
	with := func(generators string) *Config {
		return loaded(t, strings.Replace(running, "snowflake: {type: SNOWFLAKE}", generators, 1))
	}
	before := with("snowflake: {type: SNOWFLAKE, props: {workerId: 7}}")
	for generators, safe := range map[string]bool{
		"snowflake: {type: SNOWFLAKE, props: {workerId: 7}}":                                                                            true,
		"snowflake: {type: SNOWFLAKE, props: {workerId: 8, maxVibrationOffset: 1}}":                                                     true,
		"snowflake: {type: SNOWFLAKE}":                                                                                                  true,
		"snowflake: {type: SNOWFLAKE, props: {worker-id: 7, maxVibrationOffset: 1}}":                                                    false,
		"snowflake: {type: SNOWFLAKE, props: {workerId: 8}}\n    other: {type: SNOWFLAKE, props: {workerId: 7, maxVibrationOffset: 1}}": false,
	} {
		after := with(generators)
		after.RulesVersion++ // which does not matter
		got := paths(t, before.Rerouting(after))
		if (len(got) == 0) != safe {
			t.Errorf("%s: faults %q", generators, got)
		}
	}
}

// What an algorithm of the application's own is made of is known to it alone.
func TestWhatAnOwnAlgorithmMayBeMadeOfCounts(t *testing.T) {
	before := loaded(t, running)
	own := before.Clone()
	own.Sharding.Algorithms["own"] = Algorithm{Type: "OURS", Props: map[string]any{"parts": []any{"two", "own"}}}
	own.Sharding.Algorithms["both"].Props["above"] = "own"
	changed := own.Clone()
	changed.Sharding.Algorithms["two"] = Algorithm{Type: "HASH_MOD", Props: map[string]any{"shardingCount": 2}}
	if got := paths(t, own.Rerouting(changed)); !reflect.DeepEqual(got, []string{"sharding.tables.t_log.tableStrategy"}) {
		t.Errorf("faults %q", got)
	}
	changed = own.Clone()
	changed.Sharding.Algorithms["four"] = Algorithm{Type: "MOD", Props: map[string]any{"shardingCount": 8}}
	if got := paths(t, own.Rerouting(changed)); !reflect.DeepEqual(got, []string{"sharding.autoTables.t_event.strategy"}) {
		t.Errorf("faults %q", got)
	}
}

func TestTablesAreClaimedThatHadNoRule(t *testing.T) {
	for _, tt := range []struct {
		old, new string
		want     []string
	}{
		{"    t_log:", "    t_new: {actualDataNodes: ds2.t_new}\n    t_log:", []string{"t_new"}},
		{"    t_log:", "    t_new: {actualDataNodes: ds0.t_new}\n    t_log:", nil}, // where it is
		{"  autoTables:", "  autoTables:\n    t_new: {dataSources: ds0, strategy: {standard: {column: id, algorithm: four}}}", []string{"t_new"}},
		{"[t_region]", "[t_region, t_new]", []string{"t_new"}},
		{"{t_audit: ds1}", "{t_audit: ds1, t_new: ds2}", []string{"t_new"}},
		{"{t_audit: ds1}", "{t_audit: ds1, t_new: ds0}", nil},
		{"{t_audit: ds1}", "{t_audit: ds2}", nil}, // Rerouting reports it
	} {
		before, after := loaded(t, running), loaded(t, strings.Replace(running, tt.old, tt.new, 1))
		if got := before.Claimed(after); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.new, got, tt.want)
		}
		if got := before.Claimed(after, "t_new"); got != nil {
			t.Errorf("%s: %q in spite of the permission", tt.new, got)
		}
		after.RulesVersion++
		if got := before.Claimed(after); got != nil {
			t.Errorf("%s: %q in spite of the version", tt.new, got)
		}
	}
}

func TestPermissionsToRerouteNameTablesThatExist(t *testing.T) {
	err := loaded(t, running).Rerouting(loaded(t, running), "t_oder")
	if err == nil || !strings.Contains(err.Error(), `did you mean "t_order"?`) {
		t.Errorf("error %v", err)
	}
}

func TestACloneSharesNothing(t *testing.T) {
	yes := true
	cfg := loaded(t, running)
	cfg.Transaction.Implicit = &yes
	cfg.Sharding.Tables["t_audited"] = Table{Audit: &Audit{Rules: []AuditRule{AuditRequireShardingKey}}}
	cfg.Sharding.Algorithms["lists"] = Algorithm{Type: "X", Props: map[string]any{"a": []any{1, "b", map[string]any{"c": 1.5}}}}
	clone := cfg.Clone()
	if !reflect.DeepEqual(cfg, clone) {
		t.Fatalf("the clone differs: %+v", clone)
	}
	want := clone.Clone()
	*cfg.Transaction.Implicit = false
	cfg.DataSources["ds0"] = DataSource{}
	cfg.Sharding.Tables["t_audited"].Audit.Rules[0] = "x"
	cfg.Sharding.Tables["t_order"].DatabaseStrategy.Standard.Column = "x"
	cfg.Sharding.Algorithms["lists"].Props["a"].([]any)[2].(map[string]any)["c"] = 2
	cfg.ReadwriteSplitting.Groups["ds1"].Replicas[0] = "x"
	if !reflect.DeepEqual(clone, want) {
		t.Errorf("the clone changes with the original: %+v", clone)
	}
	if (*Config)(nil).Clone() != nil {
		t.Error("nothing has a clone")
	}
}
