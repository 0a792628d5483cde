package config

import (
	"reflect"
	"testing"
)

func TestAuditIsAListOfRulesOrAMap(t *testing.T) {
	cfg, err := Parse([]byte(`
dataSources: {ds0: {dsn: a}, ds1: {dsn: b}}
defaultDataSource: ds0
sharding:
  tables:
    t_order: {actualDataNodes: "ds${0..1}.t_order", databaseStrategy: &by {standard: {column: id, algorithm: mod}}, audit: [requireShardingKey, memoryMerge]}
    t_item: {actualDataNodes: "ds${0..1}.t_item", databaseStrategy: *by, audit: {rules: singleDataSource, maxNodes: 2, maxOffset: 100, allowHintDisable: true}}
    t_log: {actualDataNodes: "ds${0..1}.t_log", databaseStrategy: *by}
    t_free: {actualDataNodes: "ds${0..1}.t_free", databaseStrategy: *by, audit: []}
  defaults: {audit: [keyInFunction]}
  algorithms: {mod: {type: MOD, props: {shardingCount: 2}}}
props: {maxNodes: 8, maxOffset: 1000, audit: "requireShardingKey, shardedSubquery", allowHintDisable: true}
`), "yaml")
	if err != nil {
		t.Fatal(err)
	}
	for table, want := range map[string]*Audit{
		"t_order": {Rules: []AuditRule{AuditRequireShardingKey, AuditMemoryMerge}},
		"t_item":  {Rules: []AuditRule{AuditSingleDataSource}, MaxNodes: 2, MaxOffset: 100, AllowHintDisable: true},
		"t_log":   {Rules: []AuditRule{AuditKeyInFunction}},
		"t_free":  {}, // an empty list is not the default
	} {
		got := cfg.Sharding.Tables[table].WithDefaults(cfg.Sharding.Defaults).Audit
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", table, got, want)
		}
	}
	want := Props{MaxNodes: 8, MaxOffset: 1000, Audit: []AuditRule{AuditRequireShardingKey, AuditShardedSubquery}, AllowHintDisable: true}
	if !reflect.DeepEqual(cfg.Props, want) {
		t.Errorf("props: %+v, want %+v", cfg.Props, want)
	}
}

func TestFaultsOfAuditsAreFound(t *testing.T) {
	_, err := Parse([]byte(`
dataSources: {ds0: {dsn: a}}
defaultDataSource: ds0
sharding:
  tables:
    t_order: {actualDataNodes: ds0.t_order, audit: [requireShardingKeys, maxNodes, memoryMerge, memoryMerge]}
  defaults: {audit: {rules: [x], maxNodes: -1, maxOffset: -2}}
props: {maxNodes: -3, maxOffset: -4, audit: [maxOffset]}
`), "yaml")
	wantFaults(t, err,
		"sharding.defaults.audit.rules[0]: no audit rule \"x\"; known: requireShardingKey, singleDataSource, keyInFunction, shardedSubquery, memoryMerge",
		"sharding.defaults.audit.maxNodes: is negative",
		"sharding.defaults.audit.maxOffset: is negative",
		"sharding.tables.t_order.audit.rules[0]: no audit rule \"requireShardingKeys\"; did you mean \"requireShardingKey\"?",
		"sharding.tables.t_order.audit.rules[1]: maxNodes is a limit, which needs a number; write {maxNodes: 10} beside the rules",
		"sharding.tables.t_order.audit.rules[3]: rule \"memoryMerge\" stands twice",
		"props.maxNodes: is negative",
		"props.maxOffset: is negative",
		"props.audit[0]: maxOffset is a limit, which needs a number; write {maxOffset: 10} beside the rules",
	)
	_, err = Parse([]byte(`
dataSources: {ds0: {dsn: a}}
sharding: {tables: {t_order: {actualDataNodes: ds0.t_order, audit: true}}, defaults: {audit: {rule: [x]}}}
`), "yaml")
	wantFaults(t, err,
		"sharding.tables.t_order.audit: must be a list, not true or false",
		`sharding.defaults.audit.rule: unknown key; did you mean "rules"?`,
	)
}
