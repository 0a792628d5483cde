package config_test

import (
	"fmt"

	"github.com/gormshard/sharding/config"
)

// A file of ShardingSphere-JDBC 5; config.LoadShardingSphere reads it by its path.
func ExampleParseShardingSphere() {
	cfg, err := config.ParseShardingSphere([]byte(`
dataSources:
  ds_0: {jdbcUrl: "jdbc:mysql://10.0.0.1/orders_0?useSSL=false&serverTimezone=UTC", username: app, password: secret}
  ds_1: {jdbcUrl: "jdbc:mysql://10.0.0.2/orders_1?useSSL=false&serverTimezone=UTC", username: app, password: secret}
rules:
- !SHARDING
  tables:
    t_order:
      actualDataNodes: ds_${0..1}.t_order
      databaseStrategy: {standard: {shardingColumn: user_id, shardingAlgorithmName: by_user}}
  shardingAlgorithms:
    by_user: {type: INLINE, props: {algorithm-expression: "ds_${user_id % 2}"}}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cfg.DataSources["ds_1"].DSN, cfg.DataSources["ds_1"].MaxOpenConns)
	fmt.Println(cfg.Sharding.Tables["t_order"].ActualDataNodes)
	// Output:
	// ***@tcp(10.0.0.2:3306)/orders_1 50
	// ds_${0..1}.t_order
}
