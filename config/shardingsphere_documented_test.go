package config

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
)

// Each kind of rule, algorithm and setting of the manuals of ShardingSphere-JDBC 5.0
// to 5.5, in its documented form: read, or refused with a reason.
func TestWhatShardingSphereDocumentsIsReadOrRefusedWithAReason(t *testing.T) {
	manual, err := os.ReadFile("../docs/from-shardingsphere.md")
	if err != nil {
		t.Fatal(err)
	}
	rule := func(text string) string { return "rules:\n- " + text }
	generator := func(text string) string {
		return rule("!SHARDING {tables: {t: {actualDataNodes: ds_0.t, keyGenerateStrategy: {column: id, keyGeneratorName: g}}}, keyGenerators: {g: {" + text + "}}}")
	}
	algorithm := func(strategy, text string) string {
		return rule("!SHARDING {tables: {t: {actualDataNodes: 'ds_0.t_${0..1}', tableStrategy: {" + strategy + "}}}, shardingAlgorithms: {a: {" + text + "}}}")
	}
	standard := func(text string) string {
		return algorithm("standard: {shardingColumn: k, shardingAlgorithmName: a}", text)
	}
	years := func(text string) string {
		return strings.Replace(standard(text), "${0..1}", "${2000..2001}", 1)
	}
	auto := func(text string) string {
		return rule("!SHARDING {autoTables: {t: {actualDataSources: 'ds_${0..1}', shardingStrategy: {standard: {shardingColumn: k, shardingAlgorithmName: a}}}}, shardingAlgorithms: {a: {" + text + "}}}")
	}
	grouped := func(text string) string {
		return rule("!READWRITE_SPLITTING {dataSourceGroups: {g: {writeDataSourceName: ds_0, readDataSourceNames: [ds_1], " + text + "}}}")
	}
	balanced := func(text string) string {
		return rule("!READWRITE_SPLITTING {dataSourceGroups: {g: {writeDataSourceName: ds_0, readDataSourceNames: [ds_1], loadBalancerName: b}}, loadBalancers: {b: {" + text + "}}}")
	}
	for name, test := range map[string]struct{ text, refused string }{
		"rule SINGLE":                   {rule("!SINGLE {tables: [ds_1.t_single], defaultDataSource: ds_0}"), ""},
		"rule SINGLE, all of a source":  {rule("!SINGLE {tables: [ds_1.*]}"), `"ds_1.*" stands for tables that would have to be looked for in the databases; remove it, which is enough where all single tables are in the default data source, ds_0; list those that are not`},
		"rule SINGLE, all of all":       {rule("!SINGLE {tables: [\"*.*\"]}"), `"*.*" stands for`},
		"rule BROADCAST":                {rule("!BROADCAST {tables: [t_dict]}"), ""},
		"rule ENCRYPT":                  {rule("!ENCRYPT {tables: {}}"), "encryption of columns is not supported"},
		"rule COMPATIBLE_ENCRYPT":       {rule("!COMPATIBLE_ENCRYPT {tables: {}}"), "encryption of columns is not supported"},
		"rule MASK":                     {rule("!MASK {tables: {}}"), "masking of columns is not supported"},
		"rule SHADOW":                   {rule("!SHADOW {dataSources: {}}"), "shadow databases is not supported"},
		"rule DB_DISCOVERY":             {rule("!DB_DISCOVERY {dataSources: {}}"), "discovery of primaries is not supported"},
		"rule SHARDING_CACHE":           {rule("!SHARDING_CACHE {allowedMaxSqlLength: 512}"), "a cache of routes is not supported"},
		"rule TRAFFIC":                  {rule("!TRAFFIC {trafficStrategies: {}}"), "traffic governance is not supported"},
		"rule LOGGING":                  {rule("!LOGGING {loggers: []}"), "loggers apart from GORM's is not supported"},
		"rule GLOBAL_CLOCK":             {rule("!GLOBAL_CLOCK {enabled: true}"), "a global clock is not supported"},
		"rule SQL_TRANSLATOR":           {rule("!SQL_TRANSLATOR {type: JOOQ}"), "translation of SQL is not supported"},
		"rule AUTHORITY":                {rule("!AUTHORITY {users: []}"), "privileges apart from the server's is not supported"},
		"rule TRANSACTION":              {rule("!TRANSACTION {defaultType: LOCAL, providerType: }"), ""},
		"rule SQL_PARSER":               {rule("!SQL_PARSER {sqlStatementCache: {initialCapacity: 2000, maximumSize: 65535}}"), ""},
		"rule SQL_FEDERATION":           {rule("!SQL_FEDERATION {sqlFederationEnabled: true, executionPlanCache: {maximumSize: 1}}"), ""},
		"transaction":                   {"transaction: {defaultType: LOCAL}", ""},
		"transaction XA":                {"transaction: {defaultType: XA, providerType: Narayana}", "XA is not supported yet"},
		"transaction BASE":              {"transaction: {defaultType: BASE, providerType: Seata}", "BASE is not supported yet"},
		"sqlParser":                     {"sqlParser: {parseTreeCache: {initialCapacity: 128, maximumSize: 1024}}", ""},
		"sqlFederation":                 {"sqlFederation: {sqlFederationEnabled: true, allQueryUseSQLFederation: false}", ""},
		"sqlTranslator":                 {"sqlTranslator: {type: Native, useOriginalSQLWhenTranslatingFailed: true}", ""},
		"sqlTranslator, another":        {"sqlTranslator: {type: JOOQ}", "SQL is not translated here"},
		"logging":                       {"logging: {loggers: [{loggerName: a}]}", "loggers are GORM's here"},
		"traffic":                       {"traffic: {trafficStrategies: {a: b}}", "there is no traffic governance here"},
		"globalClock":                   {"globalClock: {enabled: true}", "there is no global clock here"},
		"authority":                     {"authority: {users: [{user: root@%}]}", "privileges are the server's here"},
		"mode Standalone":               {"mode: {type: Standalone, repository: {type: JDBC, props: {foo: bar}}}", ""},
		"mode Memory":                   {"mode: {type: Memory}", ""},
		"mode Cluster":                  {"mode: {type: Cluster, repository: {type: ZooKeeper}}", "may be others than those of the file"},
		"props":                         {"props: {sql-show: true, sql-simple: true, kernel-executor-size: 8, max-connections-size-per-query: 2, max-union-size-per-datasource: 9, check-table-metadata-enabled: false, load-table-metadata-batch-size: 1000}", ""},
		"props of 5.0":                  {"props: {executor-size: 8}", "unknown key"},
		"props of 5.1":                  {"props: {lock-wait-timeout-milliseconds: 50000, show-process-list-enabled: true, xa-transaction-manager-type: Atomikos, proxy-hint-enabled: true}", ""},
		"props of 5.5":                  {"props: {system-log-level: INFO, cdc-server-port: 33071, system-schema-metadata-assembly-enabled: true, proxy-default-port: 3307}", ""},
		"SNOWFLAKE":                     {generator("type: SNOWFLAKE, props: {worker-id: 5, max-tolerate-time-difference-milliseconds: 20, max-vibration-offset: 15}"), ""},
		"UUID":                          {generator("type: UUID"), ""},
		"NANOID":                        {generator("type: NANOID"), ""},
		"COSID":                         {generator("type: COSID, props: {id-name: a, as-string: false}"), "COSID is a class of Java"},
		"COSID_SNOWFLAKE":               {generator("type: COSID_SNOWFLAKE, props: {epoch: 1}"), "COSID_SNOWFLAKE is a class of Java"},
		"auditor of another type":       {rule("!SHARDING {tables: {t: {actualDataNodes: ds_0.t}}, auditors: {a: {type: OWN}}}"), `no auditor of type "OWN"`},
		"MOD with offsets":              {standard("type: MOD, props: {sharding-count: 2, start-offset: 1, stop-offset: 1}"), "by which a part of the value counts"},
		"HASH_MOD with padding":         {standard("type: HASH_MOD, props: {sharding-count: 2, zero-padding: true}"), "by which a part of the value counts"},
		"INTERVAL of hours":             {standard("type: INTERVAL, props: {datetime-pattern: 'HH:mm:ss', datetime-lower: '00:00:00', sharding-suffix-pattern: HH}"), "a date needs its year"},
		"COSID_MOD":                     {standard("type: COSID_MOD, props: {mod: 2, logic-name-prefix: t_}"), "COSID_MOD is a class of Java"},
		"COSID_INTERVAL":                {standard("type: COSID_INTERVAL, props: {zone-id: GMT+8}"), "COSID_INTERVAL is a class of Java"},
		"COSID_INTERVAL_SNOWFLAKE":      {standard("type: COSID_INTERVAL_SNOWFLAKE, props: {}"), "COSID_INTERVAL_SNOWFLAKE is a class of Java"},
		"CLASS_BASED":                   {standard("type: CLASS_BASED, props: {strategy: STANDARD, algorithmClassName: a.B}"), "CLASS_BASED is a class of Java"},
		"HINT_INLINE without a formula": {algorithm("hint: {shardingAlgorithmName: a}", "type: HINT_INLINE"), ""},
		"INLINE of GROOVY":              {standard("type: INLINE, props: {algorithm-expression: '<GROOVY>t_${k % 2}'}"), ""},
		"INLINE of ESPRESSO":            {standard("type: INLINE, props: {algorithm-expression: '<ESPRESSO>t_$->{k % 2}'}"), ""},
		"INLINE of LITERAL":             {standard("type: INLINE, props: {algorithm-expression: '<LITERAL>t_0'}"), "LITERAL computes nothing"},
		"ROUND_ROBIN":                   {balanced("type: ROUND_ROBIN"), ""},
		"RANDOM":                        {balanced("type: RANDOM"), ""},
		"PRIMARY":                       {grouped("transactionalReadQueryStrategy: PRIMARY"), ""},
		"FIXED":                         {grouped("transactionalReadQueryStrategy: FIXED"), ""},
		"DYNAMIC":                       {grouped("transactionalReadQueryStrategy: DYNAMIC"), ""},
		"a strategy of another name":    {grouped("transactionalReadQueryStrategy: STICKY"), "STICKY"},
		"MOD":                           {auto("type: MOD, props: {sharding-count: 2}"), ""},
		"HASH_MOD":                      {auto("type: HASH_MOD, props: {sharding-count: 2, normalize-numeric-int-range: true}"), ""},
		"VOLUME_RANGE":                  {auto("type: VOLUME_RANGE, props: {range-lower: 10, range-upper: 45, sharding-volume: 10}"), ""},
		"BOUNDARY_RANGE":                {auto("type: BOUNDARY_RANGE, props: {sharding-ranges: '1,5,10'}"), ""},
		"AUTO_INTERVAL":                 {auto("type: AUTO_INTERVAL, props: {datetime-lower: '2024-01-01 00:00:00', datetime-upper: '2024-01-03 00:00:00', sharding-seconds: 86400}"), ""},
		"INTERVAL":                      {years("type: INTERVAL, props: {datetime-pattern: yyyy, datetime-lower: '2000', datetime-upper: '2001', sharding-suffix-pattern: yyyy, datetime-interval-amount: 1, datetime-interval-unit: YEARS}"), ""},
		"COMPLEX_INLINE":                {algorithm("complex: {shardingColumns: 'a,b', shardingAlgorithmName: a}", "type: COMPLEX_INLINE, props: {sharding-columns: 'a,b', algorithm-expression: 't_${(a + b) % 2}', allow-range-query-with-inline-sharding: true}"), ""},
		"DML_SHARDING_CONDITIONS":       {rule("!SHARDING {tables: {t: {actualDataNodes: ds_0.t, auditStrategy: {auditorNames: [a], allowHintDisable: true}}}, auditors: {a: {type: DML_SHARDING_CONDITIONS}}}"), ""},
		"WEIGHT":                        {balanced("type: WEIGHT, props: {ds_1: 2.5}"), ""},
		"TRANSACTION_RANDOM":            {balanced("type: TRANSACTION_RANDOM"), "which could not read what they wrote"},
		"TRANSACTION_ROUND_ROBIN":       {balanced("type: TRANSACTION_ROUND_ROBIN"), "which could not read what they wrote"},
		"TRANSACTION_WEIGHT":            {balanced("type: TRANSACTION_WEIGHT, props: {ds_1: 1}"), "which could not read what they wrote"},
		"FIXED_REPLICA_RANDOM":          {balanced("type: FIXED_REPLICA_RANDOM"), "transactionalReadQueryStrategy: FIXED"},
		"FIXED_REPLICA_ROUND_ROBIN":     {balanced("type: FIXED_REPLICA_ROUND_ROBIN"), "transactionalReadQueryStrategy: FIXED"},
		"FIXED_REPLICA_WEIGHT":          {balanced("type: FIXED_REPLICA_WEIGHT, props: {ds_1: 1}"), "transactionalReadQueryStrategy: FIXED"},
		"FIXED_PRIMARY":                 {balanced("type: FIXED_PRIMARY"), "sends all reads to the primary"},
		"discovered primaries of 5.0":   {rule("!READWRITE_SPLITTING {dataSources: {g: {autoAwareDataSourceName: a}}}"), "primaries are not discovered here"},
		"discovered primaries of 5.1":   {rule("!READWRITE_SPLITTING {dataSources: {g: {type: Dynamic, props: {auto-aware-data-source-name: a}}}}"), "primaries are not discovered here"},
		"discovered primaries of 5.2":   {rule("!READWRITE_SPLITTING {dataSources: {g: {dynamicStrategy: {autoAwareDataSourceName: a, writeDataSourceQueryEnabled: true}}}}"), "primaries are not discovered here"},
	} {
		if what := strings.TrimPrefix(name, "rule "); !strings.Contains(what, " ") && !strings.Contains(string(manual), what) {
			t.Errorf("%s does not stand in the documentation", what)
		}
		cfg, err := ParseShardingSphere([]byte(sphereSources + test.text))
		switch {
		case test.refused == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case test.refused == "" && cfg.Validate() != nil:
			t.Errorf("%s became what is not valid: %v", name, cfg.Validate())
		case test.refused != "" && (!errors.Is(err, fault.ErrConfig) || !strings.Contains(err.Error(), test.refused)):
			t.Errorf("%s: %v, want %s", name, err, test.refused)
		}
	}
}

func TestRowValueExpressionsAreReadByTheirType(t *testing.T) {
	for text, want := range map[string]string{
		"<GROOVY>ds_0.t_${0..1}":                                                                "ds_0.t_0 ds_0.t_1",
		"<ESPRESSO>ds_0.${['a', 'b']}_t":                                                        "ds_0.a_t ds_0.b_t",
		"<LITERAL>ds_0.t_0, ds_1.t_0":                                                           "ds_0.t_0 ds_1.t_0",
		"<INTERVAL>P=ds_0.t_;SP=yyyyMM;DIA=1;DIU=Months;DL=202311;DU=202402":                    "ds_0.t_202311 ds_0.t_202312 ds_0.t_202401 ds_0.t_202402",
		"<INTERVAL>P=ds_0.t_;SP=yyyy_MMdd;DIA=7;DIU=Days;DL=2024_0226;DU=2024_0312":             "ds_0.t_2024_0226 ds_0.t_2024_0304 ds_0.t_2024_0311",
		"<INTERVAL>DU=2023;DL=2021;DIU=Years;DIA=1;SP=yyyy;P=ds_0.t_;C=ISO":                     "ds_0.t_2021 ds_0.t_2022 ds_0.t_2023",
		"<LITERAL>ds_0.t_${0..1}":                                                               "error: holds what stands for an expression here",
		"<INTERVAL>P=ds_0.t_;SP=GGGGyyyy_MM_dd;DIA=1;DIU=Days;DL=平成0001_12_05;DU=x;C=Japanese":  "error: counts by the calendar Japanese",
		"<INTERVAL>P=ds_0.t_;SP=yyyy_MM_dd_HH;DIA=1;DIU=Days;DL=2023_12_04_22;DU=2023_12_06_22": "error: are not the finest field of its pattern",
		"<INTERVAL>P=ds_0.t_;SP=MM;DIA=1;DIU=Months;DL=10;DU=12":                                `error: "10" is written neither as MM nor as`,
		"<CUSTOM.FIXTURE>spring":                                                                "error: CUSTOM.FIXTURE is a class of Java, or unknown",
	} {
		cfg, err := ParseShardingSphere([]byte(sphereSources + "rules:\n- !SHARDING\n  tables:\n    t:\n      actualDataNodes: " + text +
			"\n      tableStrategy: {hint: {shardingAlgorithmName: a}}\n      databaseStrategy: {hint: {shardingAlgorithmName: a}}\n  shardingAlgorithms: {a: {type: HINT_INLINE}}"))
		got := ""
		if reason, refused := strings.CutPrefix(want, "error: "); refused {
			if err == nil || !strings.Contains(err.Error(), "rules[0].tables.t.actualDataNodes: ") || !strings.Contains(err.Error(), reason) {
				t.Errorf("%s: %v, want %s", text, err, reason)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		nodes, err := cfg.DataNodes("t")
		for _, node := range nodes {
			got += " " + node.DataSource + "." + node.Table
		}
		if err != nil || got != " "+want {
			t.Errorf("%s: got%s, %v, want %s", text, got, err, want)
		}
	}
	cfg, err := ParseShardingSphere([]byte(strings.Replace(sphereSources, "ds_1", "r_0", 1) + "rules: [!READWRITE_SPLITTING {dataSourceGroups: {g: {writeDataSourceName: ds_0, readDataSourceNames: ['<GROOVY>r_${0..0}']}}}]"))
	if err != nil || !reflect.DeepEqual(cfg.ReadwriteSplitting.Groups["g"].Replicas, []string{"r_0"}) {
		t.Errorf("%+v, %v", cfg, err)
	}
}

// 5.5 reads a placeholder in every text.
func TestEnvironmentStandsAnywhereInAShardingSphereFile(t *testing.T) {
	t.Setenv("TEST_WORKER", "17")
	t.Setenv("TEST_NODES", "ds_0.t_${0..1}")
	cfg, err := ParseShardingSphere([]byte(sphereSources + `
rules:
- !SHARDING
  tables:
    t:
      actualDataNodes: $${TEST_NODES}
      tableStrategy: {standard: {shardingColumn: "$${TEST_COLUMN::k}", shardingAlgorithmName: a}}
      keyGenerateStrategy: {column: id, keyGeneratorName: g}
  shardingAlgorithms: {a: {type: INLINE, props: {algorithm-expression: "t_${k % 2}"}}}
  keyGenerators: {g: {type: SNOWFLAKE, props: {worker-id: "$${TEST_WORKER::1}"}}}
props: {sql-show: "$${TEST_SHOW::true}", max-connections-size-per-query: "$${TEST_SIZE::3}"}
`))
	if err != nil {
		t.Fatal(err)
	}
	table := cfg.Sharding.Tables["t"]
	if table.ActualDataNodes != "ds_0.t_${0..1}" || table.TableStrategy.Standard.Column != "k" || cfg.Sharding.KeyGenerators["g"].Props["worker-id"] != "17" ||
		!cfg.Props.SQLShow || cfg.Props.MaxConnectionsPerQuery != 3 {
		t.Errorf("%+v", cfg)
	}
	_, err = ParseShardingSphere([]byte("rules: [{a: ['$${TEST_NOTHING}']}]"))
	if err == nil || !strings.Contains(err.Error(), "rules[0].a[0]: the environment variable TEST_NOTHING is not set") {
		t.Error(err)
	}
}
