//go:build unix

// Package shardingsphere_test runs a file of ShardingSphere as it is on a real
// server: its URLs become connections, its rules place the rows.
package shardingsphere_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/hint"
	"github.com/gormshard/sharding/tests/mariadb"
	"github.com/gormshard/sharding/tests/mariadbtest"
)

func TestMain(m *testing.M) {
	os.Exit(mariadbtest.Main(m, mariadbtest.StatementCache))
}

// file is one of ShardingSphere-JDBC 5.5.
const file = `
databaseName: shop
dataSources:
  ds_0:
    dataSourceClassName: com.zaxxer.hikari.HikariDataSource
    driverClassName: com.mysql.cj.jdbc.Driver
    jdbcUrl: jdbc:mysql://ADDRESS/shop_0?serverTimezone=GMT%2B8&useUnicode=true&characterEncoding=UTF-8&rewriteBatchedStatements=true&connectionCollation=utf8mb4_general_ci&zeroDateTimeBehavior=convertToNull&sessionVariables=group_concat_max_len%3D4096
    username: USER
    password: PASSWORD
    maximumPoolSize: 10
  ds_1:
    dataSourceClassName: com.zaxxer.hikari.HikariDataSource
    driverClassName: com.mysql.cj.jdbc.Driver
    jdbcUrl: jdbc:mysql://ADDRESS/shop_1?serverTimezone=GMT%2B8&useUnicode=true&characterEncoding=UTF-8&rewriteBatchedStatements=true&connectionCollation=utf8mb4_general_ci&zeroDateTimeBehavior=convertToNull&sessionVariables=group_concat_max_len%3D4096
    username: USER
    password: PASSWORD
    maximumPoolSize: 10
rules:
- !SHARDING
  tables:
    t_order:
      actualDataNodes: ds_${0..1}.t_order_${0..1}
      databaseStrategy: {standard: {shardingColumn: user_id, shardingAlgorithmName: by_user}}
      tableStrategy: {standard: {shardingColumn: order_id, shardingAlgorithmName: by_order}}
      keyGenerateStrategy: {column: order_id, keyGeneratorName: snowflake}
    t_item:
      actualDataNodes: ds_${0..1}.t_item_${0..1}
      databaseStrategy: {standard: {shardingColumn: user_id, shardingAlgorithmName: by_user}}
      tableStrategy: {standard: {shardingColumn: order_id, shardingAlgorithmName: by_item}}
  autoTables:
    t_name:
      actualDataSources: ds_${0..1}
      shardingStrategy: {standard: {shardingColumn: name, shardingAlgorithmName: by_hash}}
    t_event:
      actualDataSources: ds_${0..1}
      shardingStrategy: {standard: {shardingColumn: at, shardingAlgorithmName: by_day}}
  bindingTables: ["t_order,t_item"]
  shardingAlgorithms:
    by_user: {type: INLINE, props: {algorithm-expression: "ds_${user_id % 2}"}}
    by_order: {type: INLINE, props: {algorithm-expression: "t_order_${order_id % 2}"}}
    by_item: {type: INLINE, props: {algorithm-expression: "t_item_${order_id % 2}"}}
    by_hash: {type: HASH_MOD, props: {sharding-count: 4}}
    by_day: {type: AUTO_INTERVAL, props: {datetime-lower: 2024-01-01 00:00:00, datetime-upper: 2024-01-03 00:00:00, sharding-seconds: 86400}}
  keyGenerators:
    snowflake: {type: SNOWFLAKE, props: {worker-id: 1}}
- !BROADCAST
  tables: [t_region]
- !SINGLE
  tables: [ds_1.t_log]
  defaultDataSource: ds_0
props: {sql-show: false}
`

// shop opens the file on a server with empty databases.
func shop(t *testing.T) *gorm.DB {
	t.Helper()
	server := mariadb.Shared(t, 1)[0]
	for i := range 2 {
		if err := server.CreateDatabase(t.Context(), fmt.Sprintf("shop_%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	text := strings.NewReplacer("ADDRESS", server.Addr(), "USER", mariadb.User, "PASSWORD", server.Password()).Replace(file)
	cfg, err := config.ParseShardingSphere([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	plugin := sharding.Register(cfg)
	db, err := gorm.Open(gormmysql.Open(string(cfg.DataSources["ds_0"].DSN)), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Use(plugin); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plugin.Close() })
	for _, ddl := range []string{
		"CREATE TABLE t_order (order_id bigint PRIMARY KEY, user_id bigint NOT NULL, status varchar(20))",
		"CREATE TABLE t_item (item_id bigint PRIMARY KEY, order_id bigint NOT NULL, user_id bigint NOT NULL)",
		"CREATE TABLE t_name (name varchar(50) COLLATE utf8mb4_general_ci PRIMARY KEY, n int)",
		"CREATE TABLE t_event (id bigint PRIMARY KEY, at datetime NOT NULL)",
		"CREATE TABLE t_region (id bigint PRIMARY KEY)",
		"CREATE TABLE t_log (id bigint PRIMARY KEY)",
	} {
		if err := db.Exec(ddl).Error; err != nil {
			t.Fatalf("%s: %v", ddl, err)
		}
	}
	return db
}

// Order is a model with a generated key.
type Order struct {
	OrderID int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID  int64
	Status  string
}

// TableName implements schema.Tabler.
func (Order) TableName() string { return "t_order" }

func TestAShardingSphereFileServesAnApplication(t *testing.T) {
	db := shop(t)
	count := func(source, table string) (n int64) {
		t.Helper()
		if err := db.WithContext(hint.DataSource(context.Background(), source)).Raw("SELECT COUNT(*) FROM " + table).Scan(&n).Error; err != nil {
			t.Fatal(err)
		}
		return n
	}

	t.Run("rows are placed by the expressions, under generated keys", func(t *testing.T) {
		for user := range int64(8) {
			o := Order{UserID: user, Status: "new"}
			if err := db.Create(&o).Error; err != nil || o.OrderID == 0 {
				t.Fatal(o, err)
			}
			node := fmt.Sprintf("t_order_%d", o.OrderID%2)
			var found Order
			if err := db.WithContext(hint.DataSource(t.Context(), fmt.Sprintf("ds_%d", user%2))).Table(node).Where("order_id = ?", o.OrderID).First(&found).Error; err != nil {
				t.Errorf("order %d of user %d: %v", o.OrderID, user, err)
			}
		}
		var n int64
		if err := db.Model(&Order{}).Count(&n).Error; err != nil || n != 8 {
			t.Errorf("%d orders, %v", n, err)
		}
	})

	t.Run("a range is refused, as in ShardingSphere", func(t *testing.T) {
		err := db.Where("user_id = 1 AND order_id > 5").Find(&[]Order{}).Error
		if err == nil || !strings.Contains(err.Error(), "allowRangeQuery") {
			t.Errorf("got %v", err)
		}
	})

	t.Run("an UPDATE counts the rows it finds, as Connector/J does", func(t *testing.T) {
		for range 2 {
			tx := db.Exec("UPDATE t_order SET status = 'paid' WHERE user_id = 3")
			if tx.Error != nil || tx.RowsAffected != 1 {
				t.Errorf("%d rows, %v", tx.RowsAffected, tx.Error)
			}
		}
	})

	t.Run("text is where Java's hashCode says", func(t *testing.T) {
		// The vectors of HASH_MOD: value, remainder by 4.
		for name, node := range map[string]int{"a": 1, "abc": 2, "order-1001": 3, "polygenelubricants": 0} {
			if err := db.Exec("INSERT INTO t_name (name, n) VALUES (?, 1)", name).Error; err != nil {
				t.Fatal(err)
			}
			if count(fmt.Sprintf("ds_%d", node%2), fmt.Sprintf("t_name_%d WHERE name = '%s'", node, name)) != 1 {
				t.Errorf("%s is not on node %d", name, node)
			}
		}
		// The collation takes both for equal.
		var n int64
		if err := db.Raw("SELECT COUNT(*) FROM t_name WHERE name = ?", "ABC").Scan(&n).Error; err != nil || n != 1 {
			t.Errorf("%d rows are equal to ABC, %v", n, err)
		}
	})

	t.Run("times are where ShardingSphere's rounding says", func(t *testing.T) {
		for id, test := range []struct {
			at   string
			node int
		}{
			{"2023-12-31 23:59:59", 0},
			{"2024-01-01 00:07:11", 0},
			{"2024-01-01 00:07:12", 1}, // five thousandths of a step, which are more than that in binary
			{"2024-01-02 00:07:12", 1}, // less than that in binary
			{"2024-01-02 00:07:13", 2},
			{"2024-02-01 00:00:00", 3},
		} {
			if err := db.Exec("INSERT INTO t_event (id, at) VALUES (?, ?)", id, test.at).Error; err != nil {
				t.Fatal(err)
			}
			if count(fmt.Sprintf("ds_%d", test.node%2), fmt.Sprintf("t_event_%d WHERE id = %d", test.node, id)) != 1 {
				t.Errorf("%s is not on node %d", test.at, test.node)
			}
		}
	})

	t.Run("broadcast and single tables", func(t *testing.T) {
		for _, insert := range []string{"INSERT INTO t_region VALUES (1)", "INSERT INTO t_log VALUES (1)"} {
			if err := db.Exec(insert).Error; err != nil {
				t.Fatal(err)
			}
		}
		if count("ds_0", "t_region") != 1 || count("ds_1", "t_region") != 1 || count("ds_1", "t_log") != 1 {
			t.Error("the rows are not where the rules say")
		}
	})

	t.Run("times are read in the zone of the URL", func(t *testing.T) {
		var at time.Time
		if err := db.Raw("SELECT at FROM t_event WHERE id = 0").Row().Scan(&at); err != nil {
			t.Fatal(err)
		}
		if want := time.Date(2023, 12, 31, 15, 59, 59, 0, time.UTC); !at.Equal(want) {
			t.Errorf("got %s, want %s", at.UTC(), want)
		}
	})
}
