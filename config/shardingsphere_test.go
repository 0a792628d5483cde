package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/gormshard/sharding/internal/fault"
)

func standardOf(column, algorithm string) *Strategy {
	return &Strategy{Standard: &Standard{Column: column, Algorithm: algorithm}, TextKey: TextKeyBinary}
}

func TestShardingSphereFileLoadsUnchanged(t *testing.T) {
	const dsn = "root:s3cret@tcp(10.0.0.%s?clientFoundRows=true&charset=utf8mb4&parseTime=true"
	source := func(place string, open int) DataSource {
		return DataSource{
			DSN: DSN(strings.Replace(dsn, "%s", place, 1)), MaxOpenConns: open, MaxIdleConns: open,
			ConnMaxLifetime: 35 * time.Minute, ConnMaxIdleTime: time.Minute,
		}
	}
	first := source("1:3307)/demo_ds_0", 20)
	first.ConnMaxLifetime, first.ConnMaxIdleTime = 30*time.Minute, 0
	inline := func(expression string) Algorithm {
		return Algorithm{Type: "INLINE", Props: map[string]any{"algorithm-expression": expression, "allowRangeQuery": false, "arithmetic": "java"}}
	}
	want := &Config{
		DataSources: map[string]DataSource{
			"ds_0": first, "write_ds": source("2:3306)/demo_ds_1", 30),
			"read_ds_0": source("3:3306)/demo_ds_1", 50), "read_ds_1": source("4:3306)/demo_ds_1", 50),
		},
		DefaultDataSource: "ds_0",
		Schema:            "shop",
		Sharding: Sharding{
			Tables: map[string]Table{
				"t_order": {
					ActualDataNodes: "ds_${0..1}.t_order_$->{0..1}",
					TableStrategy:   standardOf("order_id", "t_order_inline"),
					KeyGenerate:     &KeyGenerate{Column: "order_id", Generator: "snowflake"},
					Audit:           &Audit{Rules: []AuditRule{AuditRequireShardingKey}, AllowHintDisable: true},
				},
				"t_order_item": {ActualDataNodes: "ds_${0..1}.t_order_item_${0..1}", TableStrategy: standardOf("order_id", "t_order_item_inline")},
				"t_account": {
					ActualDataNodes: "ds_${0..1}.t_account_${0..1}",
					TableStrategy:   standardOf("account_id", "t_account_inline"),
					KeyGenerate:     &KeyGenerate{Column: "account_id", Generator: "uuid"},
				},
				"t_place": {
					ActualDataNodes:  "ds_${0..1}.t_place_${0..1}",
					DatabaseStrategy: &Strategy{Complex: &Complex{Columns: []string{"country", "city"}, Algorithm: "by_place"}, TextKey: TextKeyBinary},
					TableStrategy:    &Strategy{Hint: &Hint{Algorithm: "by_hint"}},
				},
				"t_user": {ActualDataNodes: "ds_0.t_user,ds_1.t_user", TableStrategy: &Strategy{None: true}},
			},
			AutoTables: map[string]AutoTable{"t_event": {
				DataSources: "ds_${0..1}", Strategy: standardOf("id", "by_hash"),
				Audit: &Audit{Rules: []AuditRule{AuditRequireShardingKey}},
			}},
			SingleTables:    map[string]string{"t_log": "ds_1"},
			BindingTables:   [][]string{{"t_order", "t_order_item"}},
			BroadcastTables: []string{"t_address", "t_region"},
			Defaults: Defaults{
				DatabaseStrategy: standardOf("user_id", "database_inline"),
				TableStrategy:    &Strategy{None: true},
			},
			Algorithms: map[string]Algorithm{
				"database_inline":     inline("ds_${user_id % 2}"),
				"t_order_inline":      inline("t_order_$->{order_id % 2}"),
				"t_order_item_inline": inline("t_order_item_${order_id % 2}"),
				"t_account_inline": {Type: "INLINE", Props: map[string]any{
					"algorithm-expression": "t_account_${account_id % 2}", "allow-range-query-with-inline-sharding": true, "arithmetic": "java",
				}},
				"by_place": {Type: "COMPLEX_INLINE", Props: map[string]any{
					"sharding-columns": "country, city", "algorithm-expression": "ds_${(country + city) % 2}", "allowRangeQuery": false, "arithmetic": "java",
				}},
				"by_hint": {Type: "HINT_INLINE", Props: map[string]any{"algorithm-expression": "t_place_${value % 2}", "arithmetic": "java"}},
				"by_hash": {Type: "HASH_MOD", Props: map[string]any{"sharding-count": 4}},
			},
			KeyGenerators: map[string]KeyGenerator{
				"snowflake": {Type: "SNOWFLAKE", Props: map[string]any{"worker-id": 123}},
				"uuid":      {Type: "UUID", Props: map[string]any{"dashes": false}},
			},
		},
		ReadwriteSplitting: ReadwriteSplitting{Groups: map[string]Group{"ds_1": {
			Primary: "write_ds", Replicas: []string{"read_ds_0", "read_ds_1"}, LoadBalancer: "WEIGHT",
			Weights: map[string]int{"read_ds_0": 1, "read_ds_1": 3}, TransactionalReads: "PRIMARY",
		}}},
		Transaction: Transaction{Type: "LOCAL"},
		Props:       Props{SQLShow: true, MaxConnectionsPerQuery: 4, MaxParallelUnits: 16, CheckTables: true},
	}
	got, err := LoadShardingSphere("testdata/shardingsphere/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	compare(t, reflect.ValueOf(got).Elem(), reflect.ValueOf(want).Elem(), "")
	for name, source := range got.DataSources {
		if source.DSN != want.DataSources[name].DSN {
			t.Errorf("%s: %q", name, string(source.DSN))
		}
	}
	printed, err := got.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse(printed, "yaml"); err != nil {
		t.Errorf("what it became does not load: %v\n%s", err, printed)
	}
}

// sphereSources are two data sources; their order is that of their names.
const sphereSources = `
dataSources:
  ds_0: {jdbcUrl: "jdbc:mysql://h/d0", username: u, password: p}
  ds_1: {jdbcUrl: "jdbc:mysql://h/d1", username: u, password: p}
`

func TestEveryShardingSphereAlgorithmIsRead(t *testing.T) {
	const table = `
rules:
- !SHARDING
  tables:
    t:
      actualDataNodes: %s
      tableStrategy: {%s: {%s: k, shardingAlgorithmName: a}}
  shardingAlgorithms: {a: {type: %s, props: {%s}}}
`
	const auto = `
rules:
- !SHARDING
  autoTables:
    t:
      actualDataSources: ds_${0..1}
      shardingStrategy: {standard: {shardingColumn: k, shardingAlgorithmName: a}}
  shardingAlgorithms: {a: {type: %s, props: {%s}}}
`
	for _, test := range []struct{ name, text string }{
		{"MOD", fmt.Sprintf(auto, "MOD", "sharding-count: 4")},
		{"HASH_MOD", fmt.Sprintf(auto, "HASH_MOD", "sharding-count: '4'")},
		{"HASH_MOD of integers", fmt.Sprintf(auto, "HASH_MOD", "sharding-count: 4, normalize-numeric-int-range: true")},
		{"VOLUME_RANGE", fmt.Sprintf(auto, "VOLUME_RANGE", "range-lower: 10, range-upper: 50, sharding-volume: 10")},
		{"BOUNDARY_RANGE", fmt.Sprintf(auto, "BOUNDARY_RANGE", "sharding-ranges: '1,5,10'")},
		{"AUTO_INTERVAL", fmt.Sprintf(auto, "AUTO_INTERVAL", "datetime-lower: 2024-01-01 00:00:00, datetime-upper: 2024-01-05 00:00:00, sharding-seconds: 86400")},
		{"INLINE", fmt.Sprintf(table, "ds_0.t_$->{0..1}", "standard", "shardingColumn", "INLINE", "algorithm-expression: 't_$->{k % 2}'")},
		{"INTERVAL", fmt.Sprintf(table, "ds_0.t_${202401..202403}", "standard", "shardingColumn", "INTERVAL", "datetime-pattern: yyyy-MM-dd HH:mm:ss, datetime-lower: 2024-01-01 00:00:00, datetime-upper: 2024-03-31 00:00:00, sharding-suffix-pattern: yyyyMM, datetime-interval-amount: 1, datetime-interval-unit: MONTHS")},
		{"COMPLEX_INLINE", fmt.Sprintf(table, "ds_0.t_${0..1}", "complex", "shardingColumns", "COMPLEX_INLINE", "algorithm-expression: 't_${k % 2}'")},
		{"HINT_INLINE", strings.Replace(fmt.Sprintf(table, "ds_0.t_${0..1}", "hint", "shardingColumn", "HINT_INLINE", "algorithm-expression: 't_${value % 2}'"), "shardingColumn: k, ", "", 1)},
		{"one of the application", fmt.Sprintf(table, "ds_0.t_${0..1}", "standard", "shardingColumn", "COMPANY_RULE", "years: 3")},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg, err := ParseShardingSphere([]byte(sphereSources + test.text))
			if err != nil {
				t.Fatal(err)
			}
			a := cfg.Sharding.Algorithms["a"]
			switch test.name {
			case "HASH_MOD of integers":
				if a.Props["javaType"] != "integer" {
					t.Errorf("%v", a.Props)
				}
			case "MOD", "HINT_INLINE":
				if a.Props["arithmetic"] != "java" {
					t.Errorf("%v", a.Props)
				}
			case "AUTO_INTERVAL":
				if a.Props["rounding"] != "shardingSphere" {
					t.Errorf("%v", a.Props)
				}
			case "INLINE", "COMPLEX_INLINE":
				if a.Props["allowRangeQuery"] != false || a.Props["arithmetic"] != "java" {
					t.Errorf("%v", a.Props)
				}
			}
		})
	}
}

func TestEveryReadwriteSettingOfShardingSphereIsRead(t *testing.T) {
	const sources = `
dataSources:
  w: {jdbcUrl: "jdbc:mysql://h/d", username: u}
  r0: {jdbcUrl: "jdbc:mysql://h:1/d", username: u}
  r1: {jdbcUrl: "jdbc:mysql://h:2/d", username: u}
`
	weighted := map[string]int{"r0": 2, "r1": 1}
	for _, test := range []struct {
		name, text string
		want       Group
	}{
		{"5.5", `
  dataSourceGroups: {ds: {writeDataSourceName: w, readDataSourceNames: [r0, r1], transactionalReadQueryStrategy: DYNAMIC, loadBalancerName: lb}}
  loadBalancers: {lb: {type: RANDOM}}`, Group{LoadBalancer: "RANDOM", TransactionalReads: "DYNAMIC"}},
		{"5.4, a text", `
  dataSources: {ds: {write_data_source_name: w, read_data_source_names: "r0,r1", transactionalReadQueryStrategy: FIXED, loadBalancerName: lb}}
  loadBalancers: {lb: {type: ROUND_ROBIN}}`, Group{LoadBalancer: "ROUND_ROBIN", TransactionalReads: "FIXED"}},
		{"5.4, an expression", `
  dataSources: {ds: {writeDataSourceName: w, readDataSourceNames: ["r${0..1}"], transactionalReadQueryStrategy: PRIMARY}}`, Group{TransactionalReads: "PRIMARY"}},
		{"5.2", `
  dataSources: {ds: {staticStrategy: {writeDataSourceName: w, readDataSourceNames: [r0, r1]}, loadBalancerName: lb}}
  loadBalancers: {lb: {type: WEIGHT, props: {r0: 1, r1: 0.5, another: 7}}}`, Group{LoadBalancer: "WEIGHT", Weights: weighted}},
		{"5.1", `
  dataSources: {ds: {type: Static, props: {write-data-source-name: w, read-data-source-names: "r0, r1"}}}`, Group{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg, err := ParseShardingSphere([]byte(sources + "rules:\n- !READWRITE_SPLITTING" + test.text))
			if err != nil {
				t.Fatal(err)
			}
			test.want.Primary, test.want.Replicas = "w", []string{"r0", "r1"}
			if got := cfg.ReadwriteSplitting.Groups["ds"]; !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
			if cfg.DefaultDataSource != "ds" {
				t.Errorf("default data source %q", cfg.DefaultDataSource)
			}
		})
	}
}

func TestWeightsOfShardingSphereAreBounded(t *testing.T) {
	for _, weight := range []string{"0", "-1", "1e9", "1e999999999", "0.0001", "x", "[1]"} {
		_, err := ParseShardingSphere([]byte(sphereSources + `
rules:
- !READWRITE_SPLITTING
  dataSourceGroups: {ds: {writeDataSourceName: ds_0, readDataSourceNames: [ds_1], loadBalancerName: lb}}
  loadBalancers: {lb: {type: WEIGHT, props: {ds_1: ` + weight + `}}}`))
		if err == nil || !strings.Contains(err.Error(), "rules[0].loadBalancers.lb.props.ds_1: must be") {
			t.Errorf("%s: %v", weight, err)
		}
	}
}

func TestShardingSphereFormsOfBindingBroadcastAndKeys(t *testing.T) {
	cfg, err := ParseShardingSphere([]byte(sphereSources + `
schemaName: logic_db
rules:
- !SHARDING
  tables:
    a: {actualDataNodes: "ds_${0..1}.a"}
    b: {actualDataNodes: "ds_${0..1}.b"}
    c: {actualDataNodes: "ds_${0..1}.c"}
  bindingTables: "group:a, b"
  broadcastTables: [t_dict]
  defaultDatabaseStrategy: {standard: {shardingColumn: k, shardingAlgorithmName: m}}
  defaultKeyGenerateStrategy: {column: id, keyGeneratorName: flake}
  defaultAuditStrategy: {auditorNames: [need]}
  keyGenerateStrategies:
    c_id: {keyGenerateType: column, keyGeneratorName: uuid, logicTable: c, keyGenerateColumn: c_id}
  shardingAlgorithms: {m: {type: MOD, props: {sharding-count: 2}}}
  keyGenerators: {flake: {type: SNOWFLAKE, props: {max-vibration-offset: 7}}, uuid: {type: UUID, props: }}
  auditors: {need: {type: DML_SHARDING_CONDITIONS}}
- !BROADCAST
  tables: t_region, t_unit
- !SINGLE
  tables: ["ds_0.*", ds_1.t_log]
props: {text-key: exact}
`))
	if err != nil {
		t.Fatal(err)
	}
	s := cfg.Sharding
	for what, pair := range map[string][2]any{
		"binding":   {s.BindingTables, [][]string{{"a", "b"}}},
		"broadcast": {s.BroadcastTables, []string{"t_dict", "t_region", "t_unit"}},
		"single":    {s.SingleTables, map[string]string{"t_log": "ds_1"}},
		"keys":      {s.Defaults.KeyGenerate, &KeyGenerate{Column: "id", Generator: "flake"}},
		"own key":   {s.Tables["c"].KeyGenerate, &KeyGenerate{Column: "c_id", Generator: "uuid"}},
		"audit":     {s.Defaults.Audit, &Audit{Rules: []AuditRule{AuditRequireShardingKey}, AllowHintDisable: true}},
		"text key":  {s.Defaults.DatabaseStrategy.TextKey, TextKeyExact},
		"schema":    {cfg.Schema, "logic_db"},
		"default":   {cfg.DefaultDataSource, "ds_0"},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s: got %v, want %v", what, pair[0], pair[1])
		}
	}
}

func TestWhatCannotBeHonouredIsNamedAllAtOnce(t *testing.T) {
	_, err := LoadShardingSphere("testdata/shardingsphere/refused.yaml")
	wantFaults(t, err,
		"dataSources.ds_0.jdbcUrl: the property allowLoadLocalInfile lets a server read files of the client; remove it, and register the files with the Go driver's RegisterLocalFile",
		"dataSources.ds_0.jdbcUrl: the property queryInterceptors is not known; remove it if the application does not rest on it",
		"dataSources.ds_0.jdbcUrl: the property characterencoding is not UTF-8, which Go's texts are; use UTF-8: the server converts",
		"dataSources.ds_0.readOnly: would refuse every write; remove it; a replica is one by readwrite splitting",
		"dataSources.ds_0.autoCommit: is off, and each statement outside of a transaction is its own here; remove it, and begin transactions where they are needed",
		"dataSources.ds_0.transactionIsolation: is not read; set it by the property sessionVariables of the URL: transaction_isolation in MySQL, tx_isolation in MariaDB",
		"dataSources.ds_0.connectionInitSql: is not sent; set what it sets by the property sessionVariables of the URL",
		`dataSources.ds_0.maximumPoolsize2: unknown key; did you mean "maximumPoolSize"?`,
		"dataSources.ds_1.url: is no JDBC URL of one MySQL or MariaDB server; write jdbc:mysql://host:3306/schema?name=value",
		`props.text-key: no such choice "weight" for rows that were placed by the bytes of a text; use refuse, binary or exact`,
		"props.sql-federation-type: there is one way to answer joins of several data sources, and it is on by default; remove it; props.gather of this package switches it off",
		`props.sql-shaw: unknown key; did you mean "sql-show"?`,
		"mode.type: is Cluster: rules that a governance centre holds may be others than those of the file; write down the rules in force and remove mode",
		"rules[9].dataSourceGroups.group_${0..1}.writeDataSourceName: is an expression; write each group by itself",
		"rules[9].dataSourceGroups.group_${0..1}.loadBalancerName: no load balancer \"none\"",
		"rules[9].dataSourceGroups.other.autoAwareDataSourceName: primaries are not discovered here; name the primary and the replicas",
		"rules[9].loadBalancers.lb.type: chooses a replica also in transactions that may write, which could not read what they wrote; use WEIGHT with transactionalReadQueryStrategy: DYNAMIC, for read-only transactions",
		"rules[0].auditors.other.type: no auditor of type \"CUSTOM\"; known: DML_SHARDING_CONDITIONS",
		"rules[0].keyGenerateStrategies.s.keyGenerateType: is sequence: only columns are filled; remove it; a sequence is asked for by NEXT VALUE FOR",
		"rules[0].tables.t_order.auditStrategy.auditorNames: no auditor \"nobody\"",
		"rules[0].tables.t_order.actualDataNode: unknown key; did you mean \"actualDataNodes\"?",
		"rules[0].autoTables.t_event.actualDataSources: is missing; name the data sources in the order in which ShardingSphere has them: it decides where the actual tables are",
		"rules[0].keyGenerateStrategies.u: no sharded table \"t_nobody\"",
		"rules[0].shardingAlgorithms.cosid.type: COSID_MOD is a class of Java; write the algorithm in Go, add it by sharding.WithAlgorithm, and use its name as type",
		"rules[0].shardingAlgorithms.own.type: CLASS_BASED is a class of Java; write the algorithm in Go, add it by sharding.WithAlgorithm, and use its name as type",
		"rules[0].keyGenerators.cosid.type: COSID is a class of Java; use SNOWFLAKE or SEGMENT, or add a generator of yours by sharding.WithKeyGenerator",
		"rules[0].shardingCache: is not supported; remove it: plans are cached by default",
		"rules[1]: !ENCRYPT: encryption of columns is not supported; remove the rule, if the application can do without",
		"rules[2]: !MASK: masking of columns is not supported; remove the rule, if the application can do without",
		"rules[3]: !SHADOW: shadow databases is not supported; remove the rule, if the application can do without",
		"rules[4]: has no tag; write its kind before it, such as - !SHARDING",
		"rules[5]: !COMPANY is no rule that is known; known: !BROADCAST, !READWRITE_SPLITTING, !SHARDING, !SINGLE, !SQL_FEDERATION, !SQL_PARSER, !TRANSACTION",
		"rules[7]: !BROADCAST stands at rules[6] already; make one rule of the two",
		"rules[8].tables[0]: \"*.*\" stands for tables that would have to be looked for in the databases; remove it, which is enough where all single tables are in the default data source, group_${0..1}; list those that are not, such as ds_1.t_log",
		"authority: privileges are the server's here; remove it",
		"colour: unknown key; known: dataSources, databaseName, schemaName, props, mode, rules, transaction, authority, logging, traffic, globalClock, sqlTranslator, sqlParser, sqlFederation",
		`rules[9].dataSourceGroups.other.readDataSourceNames: data source "ds_1" is at readwriteSplitting.groups.group_${0..1}.replicas[0] already`,
	)
}

// What the validation finds is named by its place in the file.
func TestFaultsOfAShardingSphereFileAreNamedThere(t *testing.T) {
	_, err := ParseShardingSphere([]byte(sphereSources + `
rules:
- !SHARDING
  tables:
    t_order:
      actualDataNodes: ds_${0..2}.t_order_${0..1}
      databaseStrategy: {standard: {shardingColumn: k, shardingAlgorithmName: by_usr}}
      tableStrategy: {standard: {shardingAlgorithmName: by_order}}
      keyGenerateStrategy: {column: id, keyGeneratorName: flake}
    t_item:
      actualDataNodes: ds_0.t_item_${0..1}
      tableStrategy: {standard: {shardingColumn: j, shardingAlgorithmName: by_item}}
  autoTables:
    t_event: {actualDataSources: "ds_${0..1}", shardingStrategy: {standard: {shardingColumn: k, shardingAlgorithmName: by_user}}}
  bindingTables:
    - t_order,t_itme
  shardingAlgorithms:
    by_user: {type: INLINE, props: {algorithm-expression: "ds_${k % 2}"}}
    by_order: {type: INLINE, props: {algorithm-expression: "t_order_${"}}
    by_item: {type: INLINE, props: {algorithm-expression: "t_item_${k % 2}", sharding-count: 3}}
    by_mod: {type: MOD, props: {sharding-count: 3, start-offset: 1}}
- !BROADCAST
  tables: [t_dict, t_order]
- !TRANSACTION
  defaultType: XA
`))
	var f *fault.ConfigError
	if !errors.As(err, &f) {
		t.Fatal(err)
	}
	got := err.Error()
	for _, want := range []string{
		`rules[0].tables.t_order.actualDataNodes: no data source "ds_2"`,
		`rules[0].tables.t_order.databaseStrategy.standard.shardingAlgorithmName: no algorithm "by_usr"; did you mean "by_user"?`,
		"rules[0].tables.t_order.tableStrategy.standard.shardingColumn: is empty",
		`rules[0].tables.t_order.keyGenerateStrategy.keyGeneratorName: no key generator "flake"`,
		`rules[0].autoTables.t_event.shardingStrategy.standard.shardingAlgorithmName: algorithm "by_user" does not know its number of shards`,
		`rules[0].bindingTables[0]: no sharded table "t_itme"; did you mean "t_item"?`,
		`rules[0].shardingAlgorithms.by_order: property "expression"`,
		`rules[0].shardingAlgorithms.by_item: unknown property "sharding-count"`,
		"rules[0].shardingAlgorithms.by_mod.type: has start-offset, by which a part of the value counts",
		`rules[1].tables[1]: table "t_order" is a sharded table too`,
		"rules[2].defaultType: XA is not supported yet",
	} {
		if !strings.Contains(got, "sharding: "+want) {
			t.Errorf("missing: %s", want)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
}

func TestOtherFormatsOfShardingSphereAreSaidToBe(t *testing.T) {
	for text, want := range map[string]string{
		"shardingRule: {tables: {}}": "has the key shardingRule, which is the format of ShardingSphere 4",
		"masterSlaveRule: {}":        "has the key masterSlaveRule, which is the format of ShardingSphere 4",
		"dataSources:\n  ds: !!com.zaxxer.hikari.HikariDataSource\n    jdbcUrl: x": "names the Java classes of values (!!), which is the format of ShardingSphere 4",
		"spring: {shardingsphere: {}}":                                             "is a configuration of Spring Boot",
		"- a":                                                                      "yaml: the document is not a map",
		"a: [":                                                                     "yaml: line 1: did not find expected node content",
	} {
		_, err := ParseShardingSphere([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, fault.ErrConfig) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	if _, err := LoadShardingSphere("testdata/shardingsphere/missing.yaml"); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
}

func TestEnvironmentInAShardingSphereFile(t *testing.T) {
	t.Setenv("TEST_JDBC_URL", "jdbc:mysql://from-env/d")
	t.Setenv("TEST_PASSWORD", "p${x}")
	t.Setenv("SHARDING_PROPS_MAXMERGEROWS", "7")
	cfg, err := ParseShardingSphere([]byte(`
dataSources:
  ds:
    jdbcUrl: $${TEST_JDBC_URL::jdbc:mysql://default/d}
    username: $${TEST_NO_USER::root}
    password: $${TEST_PASSWORD}
`))
	if err != nil {
		t.Fatal(err)
	}
	dsn, err := mysql.ParseDSN(string(cfg.DataSources["ds"].DSN))
	if err != nil || dsn.Addr != "from-env:3306" || dsn.User != "root" || dsn.Passwd != "p${x}" || cfg.Props.MaxMergeRows != 7 {
		t.Errorf("%v, %+v, %+v", err, dsn, cfg.Props)
	}
	_, err = ParseShardingSphere([]byte(`dataSources: {ds: {jdbcUrl: "jdbc:mysql://h/d", username: "$${TEST_NO_USER}"}}`))
	wantFaults(t, err, "dataSources.ds.username: the environment variable TEST_NO_USER is not set")
}

func TestRulesThatStandElsewhereHaveNoTags(t *testing.T) {
	_, err := ParseShardingSphere([]byte("mode: &m {repository: [{tables: {}}]}\nrules: [&r {a: b}, *r]\n"))
	wantFaults(t, err,
		"rules[0]: has no tag; write its kind before it, such as - !SHARDING",
		"rules[1]: has no tag; write its kind before it, such as - !SHARDING",
	)
	_, err = ParseShardingSphere([]byte("props: &p\nmode: {repository: &m [{tables: {}}]}\nrules: *m\n"))
	wantFaults(t, err, "rules[0]: has no tag; write its kind before it, such as - !SHARDING")
}

func FuzzParseShardingSphere(f *testing.F) {
	for _, path := range []string{"testdata/shardingsphere/full.yaml", "testdata/shardingsphere/refused.yaml"} {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(sphereSources + "rules: [!SHARDING {tables: {t: }, bindingTables: [[1], x], autoTables: {t: {actualDataSources: 5}}}, !SINGLE {tables: [.*, a.*]}]")
	f.Add("dataSources: {a: {jdbcUrl: 'jdbc:mysql://h/d?sessionVariables=a=1,b'}}\nrules: [!READWRITE_SPLITTING {dataSources: {g: {props: {writeDataSourceName: a}}}}]")
	f.Fuzz(func(t *testing.T, text string) {
		cfg, err := ParseShardingSphere([]byte(text))
		if err != nil {
			if !errors.Is(err, fault.ErrConfig) {
				t.Errorf("no ErrConfig: %v", err)
			}
			return
		}
		if err := cfg.Validate(); err != nil {
			t.Errorf("was valid: %v", err)
		}
	})
}
