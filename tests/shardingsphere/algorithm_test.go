//go:build unix

package shardingsphere_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/hint"
	"github.com/gormshard/sharding/tests/mariadb"
)

// algorithms is a file with the algorithms that shop's has not, with read/write
// splitting and both generators.
const algorithms = `
dataSources:
  ds_0: {standardJdbcUrl: "jdbc:mysql://ADDRESS/alg_0?serverTimezone=UTC", username: USER, password: "$${TEST_SPHERE_PASSWORD}"}
  write_1: {url: "jdbc:mysql://ADDRESS/alg_1?serverTimezone=UTC", username: USER, password: "$${TEST_SPHERE_PASSWORD}"}
  read_1_0: {jdbcUrl: "jdbc:mysql://ADDRESS/alg_1?serverTimezone=UTC", username: USER, password: "$${TEST_SPHERE_PASSWORD}"}
  read_1_1: {jdbcUrl: "jdbc:mysql://ADDRESS/alg_1?serverTimezone=UTC", username: USER, password: "$${TEST_SPHERE_PASSWORD}"}
rules:
- !READWRITE_SPLITTING
  dataSourceGroups:
    ds_1: {writeDataSourceName: write_1, readDataSourceNames: ["<GROOVY>read_1_${0..1}"], transactionalReadQueryStrategy: PRIMARY, loadBalancerName: lb}
  loadBalancers: {lb: {type: WEIGHT, props: {read_1_0: 2, read_1_1: 1}}}
- !SHARDING
  tables:
    t_month:
      actualDataNodes: <INTERVAL>P=ds_1.t_month_;SP=yyyyMM;DIA=1;DIU=Months;DL=202401;DU=202403
      tableStrategy: {standard: {shardingColumn: at, shardingAlgorithmName: by_month}}
    t_place:
      actualDataNodes: ds_${0..1}.t_place_${0..1}
      databaseStrategy: {complex: {shardingColumns: "country,city", shardingAlgorithmName: place_database}}
      tableStrategy: {complex: {shardingColumns: "country,city", shardingAlgorithmName: place_table}}
    t_told:
      actualDataNodes: <LITERAL>ds_0.t_told_0, ds_0.t_told_1
      tableStrategy: {hint: {shardingAlgorithmName: by_hint}}
    t_token:
      actualDataNodes: ds_${0..1}.t_token
      databaseStrategy: {standard: {shardingColumn: owner, shardingAlgorithmName: by_owner}}
  keyGenerateStrategies:
    token: {keyGenerateType: column, keyGeneratorName: uuid, logicTable: t_token, keyGenerateColumn: id}
  autoTables:
    t_mod: {actualDataSources: "ds_${0..1}", shardingStrategy: {standard: {shardingColumn: k, shardingAlgorithmName: mod}}}
    t_volume: {actualDataSources: "ds_${0..1}", shardingStrategy: {standard: {shardingColumn: k, shardingAlgorithmName: volume}}}
    t_boundary: {actualDataSources: "ds_${0..1}", shardingStrategy: {standard: {shardingColumn: k, shardingAlgorithmName: boundary}}}
  shardingAlgorithms:
    mod: {type: MOD, props: {sharding-count: 4}}
    volume: {type: VOLUME_RANGE, props: {range-lower: 10, range-upper: 45, sharding-volume: 10}}
    boundary: {type: BOUNDARY_RANGE, props: {sharding-ranges: "1,5,10"}}
    by_month: {type: INTERVAL, props: {datetime-pattern: yyyy-MM-dd HH:mm:ss, datetime-lower: 2024-01-01 00:00:00, datetime-upper: 2024-03-31 23:59:59, sharding-suffix-pattern: yyyyMM, datetime-interval-amount: 1, datetime-interval-unit: MONTHS}}
    place_database: {type: COMPLEX_INLINE, props: {sharding-columns: "country,city", algorithm-expression: "ds_${country % 2}"}}
    place_table: {type: COMPLEX_INLINE, props: {sharding-columns: "country,city", algorithm-expression: "t_place_${(country + city) % 2}"}}
    by_hint: {type: HINT_INLINE, props: {algorithm-expression: "t_told_${value % 2}"}}
    by_owner: {type: INLINE, props: {algorithm-expression: "<GROOVY>ds_${owner % 2}"}}
  keyGenerators: {uuid: {type: UUID}}
`

// Where the manual says that a row is, it is, and is found by its key alone.
func TestEveryAlgorithmPlacesRowsAsTheManualSays(t *testing.T) {
	server := mariadb.Shared(t, 1)[0]
	for i := range 2 {
		if err := server.CreateDatabase(t.Context(), fmt.Sprintf("alg_%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TEST_SPHERE_PASSWORD", server.Password())
	cfg, err := config.ParseShardingSphere([]byte(strings.NewReplacer("ADDRESS", server.Addr(), "USER", mariadb.User).Replace(algorithms)))
	if err != nil {
		t.Fatal(err)
	}
	cfg.ReadwriteSplitting.Health.IgnoreLag = true // the replicas are the primary's database
	db, err := gorm.Open(gormmysql.Open(string(cfg.DataSources["ds_0"].DSN)), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	plugin := sharding.Register(cfg)
	if err := db.Use(plugin); err != nil {
		t.Fatal(err)
	}
	defer plugin.Close()
	for _, ddl := range []string{
		"CREATE TABLE t_month (id int PRIMARY KEY, at datetime NOT NULL)",
		"CREATE TABLE t_place (id int PRIMARY KEY, country int NOT NULL, city int NOT NULL)",
		"CREATE TABLE t_told (id int PRIMARY KEY)",
		"CREATE TABLE t_token (id char(32) PRIMARY KEY, owner int NOT NULL)",
		"CREATE TABLE t_mod (id int PRIMARY KEY, k bigint NOT NULL)",
		"CREATE TABLE t_volume (id int PRIMARY KEY, k bigint NOT NULL)",
		"CREATE TABLE t_boundary (id int PRIMARY KEY, k bigint NOT NULL)",
	} {
		if err := db.Exec(ddl).Error; err != nil {
			t.Fatalf("%s: %v", ddl, err)
		}
	}
	id := 0
	for _, test := range []struct{ table, columns, values, node string }{
		{"t_mod", "k", "0", "ds_0.t_mod_0"},
		{"t_mod", "k", "5", "ds_1.t_mod_1"},
		{"t_mod", "k", "9223372036854775807", "ds_1.t_mod_3"},
		{"t_volume", "k", "9", "ds_0.t_volume_0"},
		{"t_volume", "k", "10", "ds_1.t_volume_1"},
		{"t_volume", "k", "19", "ds_1.t_volume_1"},
		{"t_volume", "k", "44", "ds_0.t_volume_4"},
		{"t_volume", "k", "45", "ds_1.t_volume_5"},
		{"t_boundary", "k", "0", "ds_0.t_boundary_0"},
		{"t_boundary", "k", "1", "ds_1.t_boundary_1"},
		{"t_boundary", "k", "5", "ds_0.t_boundary_2"},
		{"t_boundary", "k", "10", "ds_1.t_boundary_3"},
		{"t_month", "at", "'2024-01-31 23:59:59'", "ds_1.t_month_202401"},
		{"t_month", "at", "'2024-02-29 00:00:00'", "ds_1.t_month_202402"},
		{"t_place", "country, city", "1, 1", "ds_1.t_place_0"},
		{"t_place", "country, city", "2, 3", "ds_0.t_place_1"},
	} {
		id++
		if err := db.Exec(fmt.Sprintf("INSERT INTO %s (id, %s) VALUES (%d, %s)", test.table, test.columns, id, test.values)).Error; err != nil {
			t.Errorf("%s of %s: %v", test.values, test.table, err)
			continue
		}
		var there, found int
		source, table, _ := strings.Cut(test.node, ".")
		by := fmt.Sprintf("(%s) = (%s)", test.columns, test.values)
		if err := db.WithContext(hint.DataSource(context.Background(), source)).Raw(fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE id = %d", table, id)).Scan(&there).Error; err != nil || there != 1 {
			t.Errorf("%s of %s is not on %s: %d, %v", test.values, test.table, test.node, there, err)
		}
		if err := db.Raw(fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE %s AND id = %d", test.table, by, id)).Scan(&found).Error; err != nil || found != 1 {
			t.Errorf("%s of %s is not found by its key: %d, %v", test.values, test.table, found, err)
		}
		preview, err := plugin.Preview(t.Context(), fmt.Sprintf("SELECT id FROM %s WHERE %s", test.table, by))
		if err != nil || len(preview.Units) != 1 {
			t.Errorf("%s of %s is looked for on more than its node: %+v, %v", test.values, test.table, preview, err)
		}
	}

	told := hint.TableValue(t.Context(), "t_told", 3)
	if err := db.WithContext(told).Exec("INSERT INTO t_told (id) VALUES (1)").Error; err != nil {
		t.Error(err)
	}
	var n int
	if err := db.WithContext(hint.DataSource(t.Context(), "ds_0")).Raw("SELECT COUNT(*) FROM t_told_1").Scan(&n).Error; err != nil || n != 1 {
		t.Errorf("the hinted row: %d, %v", n, err)
	}
	if err := db.Exec("INSERT INTO t_token (owner) VALUES (1), (2)").Error; err != nil {
		t.Fatal(err)
	}
	var tokens []string
	if err := db.Raw("SELECT id FROM t_token ORDER BY owner").Scan(&tokens).Error; err != nil || len(tokens) != 2 || len(tokens[0]) != 32 || strings.Contains(tokens[0], "-") || tokens[0] == tokens[1] {
		t.Errorf("keys %q, %v", tokens, err)
	}
	if groups := plugin.Status().Groups; len(groups) != 1 || len(groups[0].Replicas) != 2 || !groups[0].Replicas[0].Up || !groups[0].Replicas[1].Up {
		t.Errorf("groups %+v", groups)
	}
}
