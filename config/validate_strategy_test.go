package config

import (
	"slices"
	"testing"
)

// parsed reads a configuration of two data sources with what is below sharding.
func parsed(t *testing.T, sharding string) (*Config, error) {
	t.Helper()
	return Parse([]byte("dataSources: {ds0: {dsn: a}, ds1: {dsn: b}}\ndefaultDataSource: ds0\nsharding:\n"+sharding), "yaml")
}

func TestStrategiesOfSeveralColumnsAndOfHints(t *testing.T) {
	for _, test := range []struct{ name, sharding, want string }{
		{"complex", `
  tables: {t_a: {actualDataNodes: "ds0.t_${0..3}", tableStrategy: {complex: {columns: "X, y", algorithm: xy}}}}
  algorithms: {xy: {type: COMPLEX_INLINE, props: {columns: "Y,x", expression: "t_${(x + y) % 4}"}}}`, ""},
		{
			"a column that the strategy lacks", `
  tables: {t_a: {actualDataNodes: "ds0.t_${0..3}", tableStrategy: {complex: {columns: [x, z], algorithm: xy}}}}
  algorithms: {xy: {type: COMPLEX_INLINE, props: {expression: "t_${(x + y) % 4}"}}}`,
			`sharding.tables.t_a.tableStrategy.complex.algorithm: the expression "t_${(x + y) % 4}" uses "y", which is no column of the strategy`,
		},
		{
			"other columns than the properties name", `
  tables: {t_a: {actualDataNodes: "ds0.t_${0..3}", tableStrategy: {complex: {columns: [x, z], algorithm: xy}}}}
  algorithms: {xy: {type: COMPLEX_INLINE, props: {columns: "x, y", expression: "t_${(x + y) % 4}"}}}`,
			`sharding.tables.t_a.tableStrategy.complex.algorithm: property columns of COMPLEX_INLINE names x, y, but the columns of the strategy are x, z`,
		},
		{
			"a column twice", `
  tables: {t_a: {actualDataNodes: "ds0.t_${0..3}", tableStrategy: {complex: {columns: [x, X], algorithm: xy}}}}
  algorithms: {xy: {type: COMPLEX_INLINE, props: {expression: "t_${x % 4}"}}}`,
			`sharding.tables.t_a.tableStrategy.complex.columns[1]: column "x" stands twice`,
		},
		{
			"an algorithm of another kind", `
  tables: {t_a: {actualDataNodes: "ds0.t_${0..3}", tableStrategy: {complex: {columns: [x, y], algorithm: m}}}}
  algorithms: {m: {type: MOD, props: {shardingCount: 4}}}`,
			`sharding.tables.t_a.tableStrategy.complex.algorithm: algorithm "m" is none for a complex strategy; use COMPLEX_INLINE, GENE or THRESHOLD, or a standard strategy`,
		},
		{"hint", `
  tables: {t_a: {actualDataNodes: "ds${0..1}.t_${0..3}", databaseStrategy: {hint: {algorithm: h}}, tableStrategy: {hint: {algorithm: m}}}}
  algorithms: {h: {type: HINT_INLINE, props: {algorithm-expression: "ds${value % 2}"}}, m: {type: MOD, props: {shardingCount: 4}}}`, ""},
		{
			"a hint over a column", `
  tables: {t_a: {actualDataNodes: "ds0.t_${0..3}", tableStrategy: {hint: {algorithm: i}, textKey: exact}}}
  algorithms: {i: {type: INLINE, props: {expression: "t_${id % 4}"}}}`,
			`sharding.tables.t_a.tableStrategy.textKey: is of no use without a sharding column; remove it`,
		},
		{
			"HINT_INLINE knows the value only", `
  algorithms: {h: {type: HINT_INLINE, props: {expression: "ds${id % 2}"}}}`,
			`sharding.algorithms.h: property "expression" uses "id"; HINT_INLINE knows only "value"`,
		},
		{
			"two at once", `
  tables: {t_a: {actualDataNodes: "ds0.t_${0..3}", tableStrategy: {hint: {algorithm: m}, standard: {column: x, algorithm: m}}}}
  algorithms: {m: {type: MOD, props: {shardingCount: 4}}}`,
			`sharding.tables.t_a.tableStrategy: is hint and standard at once; keep one of them`,
		},
		{
			"one text in two readings", `
  tables: {t_a: {actualDataNodes: "ds${0..1}.t_${0..3}", databaseStrategy: {standard: {column: x, algorithm: d}, textKey: weight}, tableStrategy: {standard: {column: X, algorithm: h}, textKey: exact}}}
  algorithms: {h: {type: HASH_MOD, props: {shardingCount: 4}}, d: {type: HASH_MOD, props: {shardingCount: 2}}}`,
			`sharding.tables.t_a.tableStrategy.textKey: differs from that of the database strategy, which has the column "x" too; give both the same`,
		},
		{
			"a quotient that is no node", `
  tables: {t_a: {actualDataNodes: "ds0.t_${0..3}", tableStrategy: {standard: {column: id, algorithm: i}}}}
  algorithms: {i: {type: INLINE, props: {expression: "t_${id / 100}"}}}`,
			`sharding.tables.t_a.tableStrategy.standard.algorithm: inline expression "t_${id / 100}": a fraction cannot be part of a name; use intdiv instead of /`,
		},
		{"a quotient that is made whole", `
  tables: {t_a: {actualDataNodes: "ds0.t_${0..3}", tableStrategy: {standard: {column: id, algorithm: i}}}}
  algorithms: {i: {type: INLINE, props: {expression: "t_${(id / 100).longValue() % 4}"}}}`, ""},
		{
			"hint tables are not bound", `
  tables:
    t_a: {actualDataNodes: "ds0.t_a_${0..3}", tableStrategy: {hint: {algorithm: m}}}
    t_b: {actualDataNodes: "ds0.t_b_${0..3}", tableStrategy: {hint: {algorithm: m}}}
  bindingTables: [[t_a, t_b]]
  algorithms: {m: {type: MOD, props: {shardingCount: 4}}}`,
			`sharding.bindingTables[0][1]: table "t_b" cannot be bound to "t_a": no column says where the rows of a hint strategy are, and a table strategy is one`,
		},
		{
			"dates that are none", `
  tables: {t_a: {actualDataNodes: "ds0.t_${dates('202413', '202501', 'yyyyMM')}"}}`,
			`sharding.tables.t_a.actualDataNodes: inline expression "ds0.t_${dates('202413', '202501', 'yyyyMM')}", column 9: "202413" is written neither as yyyyMM nor as yyyy-MM-dd`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := parsed(t, test.sharding)
			if test.want == "" {
				wantFaults(t, err)
			} else {
				wantFaults(t, err, test.want)
			}
		})
	}
}

func TestThresholdsAreMadeOfOtherAlgorithms(t *testing.T) {
	const rest = `
  tables: {t_a: {actualDataNodes: "ds0.t_${0..3}", tableStrategy: {standard: {column: id, algorithm: grown}}}}
  algorithms:
    two: {type: MOD, props: {shardingCount: 2}}
    four: {type: MOD, props: {shardingCount: 4}}
    docs: {type: HINT_INLINE, props: {expression: "t_${value}"}}
    grown: `
	for _, test := range []struct{ name, grown, want string }{
		{"grown", `{type: THRESHOLD, props: {threshold: 100, below: two, above: four}}`, ""},
		{"by a date", `{type: THRESHOLD, props: {column: ID, threshold: "2024-01-01 00:00:00", below: two, above: four}}`, ""},
		{"a part that is not there", `{type: THRESHOLD, props: {threshold: 100, below: tow, above: four}}`, `sharding.algorithms.grown: no algorithm "tow"; did you mean "two"?`},
		{
			"made of itself", `{type: THRESHOLD, props: {threshold: 100, below: two, above: again}}
    again: {type: THRESHOLD, props: {threshold: 50, below: grown, above: four}}`,
			`sharding.algorithms.again: algorithm "grown" leads back to it`,
		},
		{"a part for hints", `{type: THRESHOLD, props: {threshold: 100, below: two, above: docs}}`, `sharding.algorithms.grown: THRESHOLD: algorithm "docs" is for hint strategies`},
		{
			"another column", `{type: THRESHOLD, props: {column: made_at, threshold: 100, below: two, above: four}}`,
			`sharding.tables.t_a.tableStrategy.standard.column: the threshold is on "made_at", not on the sharding column "id"; use a complex strategy with both`,
		},
		{
			"a target of neither side", `{type: THRESHOLD, props: {threshold: 100, below: two, above: two}}`,
			`sharding.tables.t_a.tableStrategy.standard.algorithm: target "t_2" is used on neither side of the threshold`,
		},
		{
			"targets that are not there", `{type: THRESHOLD, props: {threshold: 100, below: two, above: four, belowTargets: "u_${0..1}"}}`,
			`sharding.tables.t_a.tableStrategy.standard.algorithm: THRESHOLD names the target "u_0", which is not there`,
		},
		{
			"no threshold", `{type: THRESHOLD, props: {threshold: soon, below: two, above: four}}`,
			`sharding.algorithms.grown: property "threshold" must be an integer, or a date written as yyyy-MM-dd or yyyy-MM-dd HH:mm:ss`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := parsed(t, rest+test.grown)
			if test.want == "" {
				wantFaults(t, err)
			} else {
				wantFaults(t, err, test.want)
			}
		})
	}
}

func TestThresholdsAreBoundByWhatTheirPartsDo(t *testing.T) {
	const rest = `
  tables:
    t_a: {actualDataNodes: "ds0.t_a_${0..3}", tableStrategy: {standard: {column: id, algorithm: a}}}
    t_b: {actualDataNodes: "ds0.t_b_${0..3}", tableStrategy: {standard: {column: a_id, algorithm: b}}}
  bindingTables: [[t_a, t_b]]
  algorithms:
    a_two: {type: INLINE, props: {expression: "t_a_${id % 2}"}}
    b_two: {type: INLINE, props: {expression: "t_b_${a_id % 2}"}}
    four: {type: MOD, props: {shardingCount: 4}}
    a: {type: THRESHOLD, props: {threshold: 100, below: a_two, above: four}}
    b: {type: THRESHOLD, props: {threshold: `
	_, err := parsed(t, rest+`100, below: b_two, above: four}}`)
	wantFaults(t, err)
	_, err = parsed(t, rest+`101, below: b_two, above: four}}`)
	wantFaults(t, err, `sharding.bindingTables[0][1]: table "t_b" cannot be bound to "t_a": the algorithms "b" and "a" of the table strategies differ in more than the names of table and column`)
}

func TestKeysCarryTheSlotsThatTheTableGoesBy(t *testing.T) {
	const rest = `
  tables:
    t_a: {actualDataNodes: "ds0.t_${0..3}", tableStrategy: {complex: {columns: [id, user_id], algorithm: gene}}, keyGenerate: {column: ID, generator: g}}
  algorithms: {gene: {type: GENE, props: {idColumn: id, ownerColumn: USER_ID, slots: 512}}}
  keyGenerators: {g: `
	for _, test := range []struct{ name, generator, want string }{
		{"alike", `{type: GENE_SNOWFLAKE, props: {ownerColumn: user_id, slots: 512, workerId: 1}}}`, ""},
		{"no slot at all", `{type: SNOWFLAKE}}`, `the keys of "g" do not carry the slot by which algorithm "gene" finds them; use a generator of type GENE_SNOWFLAKE`},
		{
			"other slots", `{type: GENE_SNOWFLAKE, props: {ownerColumn: user_id, workerId: 1}}}`,
			`its slots are 1024 slots, hash javaCompatible of long, those of algorithm "gene" 512 slots, hash javaCompatible of long; give both the same properties`,
		},
		{"another owner", `{type: GENE_SNOWFLAKE, props: {ownerColumn: tenant_id, slots: 512}}}`, `the keys carry the slot of "tenant_id", those of algorithm "gene" that of "user_id"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := parsed(t, rest+test.generator)
			if test.want == "" {
				wantFaults(t, err)
			} else {
				wantFaults(t, err, "sharding.tables.t_a.keyGenerate.generator: "+test.want)
			}
		})
	}
	_, err := parsed(t, `
  tables: {t_a: {actualDataNodes: "ds0.t_${0..3}", tableStrategy: {complex: {columns: [id, owner], algorithm: gene}}}}
  algorithms: {gene: {type: GENE, props: {idColumn: id, ownerColumn: user_id}}}`)
	wantFaults(t, err, "sharding.tables.t_a.tableStrategy.complex.algorithm: GENE chooses by id and user_id, but the columns of the strategy are id, owner")
}

func TestAutoTables(t *testing.T) {
	const algorithms = `
  algorithms:
    five: {type: MOD, props: {shardingCount: 5}}
    slots: {type: SLOT_RANGE}
    steps: {type: AUTO_INTERVAL, props: {datetimeLower: "2024-01-01 00:00:00", datetimeUpper: "2024-01-03 00:00:00", shardingSeconds: 86400}}`
	for _, test := range []struct{ name, tables, want string }{
		{"bound", `
  autoTables:
    t_a: {dataSources: "ds${0..1}", strategy: {standard: {column: id, algorithm: five}}}
    t_b: {dataSources: "ds0, ds1", strategy: {standard: {column: a_id, algorithm: five}}}
  bindingTables: [[t_a, t_b]]`, ""},
		{"of time", `
  autoTables: {t_a: {dataSources: ds1, strategy: {standard: {column: made_at, algorithm: steps}}}}`, ""},
		{
			"in another order", `
  autoTables:
    t_a: {dataSources: "ds0,ds1", strategy: {standard: {column: id, algorithm: five}}}
    t_b: {dataSources: "ds1,ds0", strategy: {standard: {column: a_id, algorithm: five}}}
  bindingTables: [[t_a, t_b]]`,
			`sharding.bindingTables[0][1]: table "t_b" cannot be bound to "t_a": the nodes are not in the same order: node 1 is ds1.t_b_0, but ds0.t_a_0 there`,
		},
		{
			"no number of shards", `
  autoTables: {t_a: {dataSources: ds0, strategy: {standard: {column: id, algorithm: slots}}}}`,
			`sharding.autoTables.t_a.strategy.standard.algorithm: algorithm "slots" does not know its number of shards; use MOD, HASH_MOD, VOLUME_RANGE, BOUNDARY_RANGE or AUTO_INTERVAL, or list the nodes under tables`,
		},
		{"no strategy", `
  autoTables: {t_a: {dataSources: ds0}}`, `sharding.autoTables.t_a.strategy: is missing; an auto table needs a standard strategy`},
		{"hint", `
  autoTables: {t_a: {dataSources: ds0, strategy: {hint: {algorithm: five}}}}`, `sharding.autoTables.t_a.strategy: is hint; an auto table needs a standard strategy`},
		{"no data source", `
  autoTables: {t_a: {dataSources: "ds${0..2}", strategy: {standard: {column: id, algorithm: five}}}}`, `sharding.autoTables.t_a.dataSources: no data source "ds2"; did you mean "ds0"?`},
		{"a node of another table", `
  tables: {t_c: {actualDataNodes: "ds0.t_a_4"}}
  autoTables: {t_a: {dataSources: ds0, strategy: {standard: {column: id, algorithm: five}}}}`, `sharding.autoTables.t_a: node "ds0.t_a_4" belongs to table "t_c" already`},
		{"a name of another table", `
  singleTables: {T_A: ds0}
  autoTables: {t_a: {dataSources: ds0, strategy: {standard: {column: id, algorithm: five}}}}`, `sharding.singleTables.T_A: the name differs from that of the auto table "t_a" in case only; rename one of the two`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := parsed(t, test.tables+algorithms)
			if test.want == "" {
				wantFaults(t, err)
			} else {
				wantFaults(t, err, test.want)
			}
		})
	}
	nodes, err := AutoTable{DataSources: "ds${[1, 0]}"}.Nodes("t_a", 3, []string{"ds0", "ds1"})
	if want := []DataNode{{"ds1", "t_a_0"}, {"ds0", "t_a_1"}, {"ds1", "t_a_2"}}; err != nil || !slices.Equal(nodes, want) {
		t.Errorf("nodes %v, %v; want %v", nodes, err, want)
	}
}
