//go:build unix

package orders_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/tests/mariadb"
)

const (
	databases  = 4 // data sources ds0 … ds3
	itemTables = 8 // t_ent_order_item_0 … _7 in each
)

// cluster is the order schema in four databases, and once more in one database
// that is not sharded.
type cluster struct {
	servers []*mariadb.Server
	name    string
}

// newCluster makes the databases of a cluster, with empty tables.
func newCluster(t *testing.T, name string, servers []*mariadb.Server) *cluster {
	t.Helper()
	c := &cluster{servers: servers, name: name}
	var wg sync.WaitGroup
	create := func(server *mariadb.Server, database string, ddl []string) {
		pool := openDSN(t, server.DSN(database, "multiStatements=true"))
		wg.Go(func() {
			if err := server.CreateDatabase(t.Context(), database); err != nil {
				t.Error(err)
				return
			}
			if _, err := pool.ExecContext(t.Context(), strings.Join(ddl, ";\n")); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range databases {
		create(c.server(i), c.database(i), nodeTables(i))
	}
	create(c.servers[0], name+"_single", singleTables())
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return c
}

func openDSN(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	pool, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

// server returns the server of a data source: neighbours are on different ones.
func (c *cluster) server(i int) *mariadb.Server { return c.servers[i%len(c.servers)] }

func (c *cluster) database(i int) string { return fmt.Sprintf("%s_%d", c.name, i) }

func (c *cluster) dsn(i int, params ...string) string {
	return c.server(i).DSN(c.database(i), params...)
}

func (c *cluster) singleDSN(params ...string) string {
	return c.servers[0].DSN(c.name+"_single", params...)
}

// config is the configuration of the cluster. params are driver parameters of
// every data source.
func (c *cluster) config(params ...string) *config.Config {
	byEnterprise := &config.Strategy{Standard: &config.Standard{Column: "ent_id", Algorithm: "database"}}
	byItem := &config.Strategy{Standard: &config.Standard{Column: "ent_id", Algorithm: "item"}}
	snowflake := &config.KeyGenerate{Column: "id", Generator: "snowflake"}
	cfg := &config.Config{
		DataSources:       map[string]config.DataSource{},
		DefaultDataSource: "ds0",
		Sharding: config.Sharding{
			Tables: map[string]config.Table{
				"t_ent_order":        {ActualDataNodes: "ds${0..3}.t_ent_order", DatabaseStrategy: byEnterprise, KeyGenerate: snowflake},
				"t_ent_order_detail": {ActualDataNodes: "ds${0..3}.t_ent_order_detail", DatabaseStrategy: byEnterprise},
				"t_ent_order_item": {
					ActualDataNodes:  "ds${0..3}.t_ent_order_item_${0..7}",
					DatabaseStrategy: byEnterprise, TableStrategy: byItem, KeyGenerate: snowflake,
				},
			},
			BindingTables:   [][]string{{"t_ent_order", "t_ent_order_detail"}},
			BroadcastTables: []string{"t_region"},
			Algorithms: map[string]config.Algorithm{
				"database": {Type: "MOD", Props: map[string]any{"shardingCount": databases}},
				"item":     {Type: "INLINE", Props: map[string]any{"expression": "t_ent_order_item_${floorMod(ent_id.intdiv(4), 8)}"}},
			},
			KeyGenerators: map[string]config.KeyGenerator{
				"snowflake": {Type: "SNOWFLAKE", Props: map[string]any{"workerId": 1}},
			},
		},
	}
	for i := range databases {
		cfg.DataSources[fmt.Sprintf("ds%d", i)] = config.DataSource{
			DSN: config.DSN(c.dsn(i, params...)), MaxOpenConns: 12, MaxIdleConns: 12,
		}
	}
	return cfg
}

// databaseOf is the data source of an enterprise, floor modulo.
func databaseOf(ent int64) int { return int((ent%databases + databases) % databases) }

// itemTableOf is the actual item table of an enterprise.
func itemTableOf(ent int64) string {
	return fmt.Sprintf("t_ent_order_item_%d", (ent/4%itemTables+itemTables)%itemTables)
}

// nodeTables are the tables of data source i.
func nodeTables(i int) []string {
	ddl := []string{orderTable("t_ent_order"), detailTable("t_ent_order_detail"), regionTable}
	for n := range itemTables {
		ddl = append(ddl, itemTable(fmt.Sprintf("t_ent_order_item_%d", n)))
	}
	if i == 0 {
		ddl = append(ddl, operatorTable)
	}
	return ddl
}

func singleTables() []string {
	return []string{orderTable("t_ent_order"), detailTable("t_ent_order_detail"), itemTable("t_ent_order_item"), regionTable, operatorTable}
}

// orderTable has a column of every kind whose order, equality or sum is easy to
// get wrong.
func orderTable(name string) string {
	return "CREATE TABLE " + name + ` (
		id bigint NOT NULL PRIMARY KEY,
		ent_id bigint NOT NULL,
		region_id bigint,
		name varchar(50),
		code varchar(20) CHARACTER SET ascii COLLATE ascii_bin,
		label varchar(20) COLLATE utf8mb4_general_nopad_ci,
		title varchar(20) COLLATE utf8mb4_unicode_ci,
		note text,
		status enum('paid','new','cancelled'),
		amount decimal(20,5),
		price decimal(10,2),
		ratio double,
		rate float,
		big bigint unsigned,
		small tinyint,
		bits bit(10),
		raw varbinary(40),
		day date,
		clock time,
		created_at datetime(3),
		changed_at timestamp(6) NULL,
		state varchar(20) NOT NULL DEFAULT 'fresh',
		deleted_at datetime(3),
		KEY (ent_id))`
}

func detailTable(name string) string {
	return "CREATE TABLE " + name + ` (
		order_id bigint NOT NULL PRIMARY KEY,
		ent_id bigint NOT NULL,
		address varchar(200),
		weight decimal(8,3),
		KEY (ent_id))`
}

func itemTable(name string) string {
	return "CREATE TABLE " + name + ` (
		id bigint NOT NULL PRIMARY KEY,
		ent_id bigint NOT NULL,
		order_id bigint NOT NULL,
		product varchar(100),
		price decimal(10,2),
		count int,
		KEY (order_id))`
}

const (
	regionTable   = "CREATE TABLE t_region (id bigint NOT NULL PRIMARY KEY, name varchar(50), UNIQUE KEY (name))"
	operatorTable = "CREATE TABLE t_operator (id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, name varchar(50))"
)

// clear empties every table, on the nodes and in the single database.
func (c *cluster) clear(t *testing.T) {
	t.Helper()
	for i := range databases {
		clearTables(t, c.pool(t, i, "multiStatements=true"), nodeTables(i))
	}
	clearTables(t, c.pool(t, -1, "multiStatements=true"), singleTables())
}

func clearTables(t *testing.T, pool *sql.DB, ddl []string) {
	t.Helper()
	var deletes []string
	for _, create := range ddl {
		deletes = append(deletes, "DELETE FROM "+strings.Fields(create)[2])
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 20*time.Second)
	defer cancel()
	if _, err := pool.ExecContext(ctx, strings.Join(deletes, ";")); err != nil {
		t.Fatal(err)
	}
}
