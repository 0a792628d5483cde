//go:build unix

package orders_test

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/shardkernel/algorithm"
)

// TestServersMustAgree: a setting that changes answers and differs on one server
// is an error that names the data source, before the server is used.
func TestServersMustAgree(t *testing.T) {
	c := sampleCluster(t)
	for name, test := range map[string]struct{ param, word string }{
		"sql_mode":       {"sql_mode=%27STRICT_TRANS_TABLES%2CONLY_FULL_GROUP_BY%27", "sql_mode"},
		"ANSI_QUOTES":    {"sql_mode=%27ANSI_QUOTES%27", "ANSI_QUOTES"},
		"time zone":      {"time_zone=%27%2B05%3A00%27", "time_zone"},
		"division":       {"div_precision_increment=8", "div_precision_increment"},
		"collation":      {"collation=utf8mb4_unicode_ci", "collation"},
		"isolation":      {"tx_isolation=%27READ-COMMITTED%27", "isolation"},
		"found rows":     {"clientFoundRows=true", "clientFoundRows"},
		"location":       {"loc=Local", "loc"},
		"rows as text":   {"parseTime=false", "parseTime"},
		"interpolation":  {"interpolateParams=true", "interpolateParams"},
		"no backslashes": {"sql_mode=%27NO_BACKSLASH_ESCAPES%27", "NO_BACKSLASH_ESCAPES"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "location" && time.Local.String() == "UTC" {
				t.Skip("the machine's zone is that of the others")
			}
			cfg := c.config()
			ds := cfg.DataSources["ds2"]
			ds.DSN = config.DSN(c.dsn(2, test.param))
			cfg.DataSources["ds2"] = ds
			r := &trace{}
			connector, err := sharding.Connector(cfg, sharding.WithUnitTrace(r.unit))
			if err == nil {
				pool := sql.OpenDB(connector)
				defer pool.Close()
				if err := pool.QueryRowContext(t.Context(), "SELECT id FROM t_ent_order WHERE ent_id = ?", 4).Scan(new(int64)); err != nil {
					t.Errorf("a statement on a data source like the others: %v", err)
				}
				r.take()
				_, err = pool.ExecContext(t.Context(), "UPDATE t_ent_order SET name = 'x' WHERE ent_id IN (1, 2) AND id < 0")
			}
			if !errors.Is(err, sharding.ErrConfig) || !strings.Contains(err.Error(), "ds2") || !strings.Contains(err.Error(), test.word) {
				t.Errorf("gave %v, want an ErrConfig that names ds2 and %s", err, test.word)
			}
			if units := r.take(); len(units) > 0 {
				t.Errorf("sent %v", units)
			}
		})
	}
}

// TestAnUnreachableDatabaseIsNamed and its password is not.
func TestAnUnreachableDatabaseIsNamed(t *testing.T) {
	c := sampleCluster(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	password := c.servers[0].Password()
	for name, dsn := range map[string]string{
		"nobody listens":   "app:" + password + "@tcp(" + closed + ")/orders?parseTime=true",
		"another password": "app:s3cret@tcp(" + c.servers[0].Addr() + ")/sample_2?parseTime=true",
		"no such database": c.servers[0].DSN("nothing"),
		"no such host":     "app:s3cret@tcp(nowhere.invalid:3306)/orders?parseTime=true",
	} {
		cfg := c.config()
		ds := cfg.DataSources["ds2"]
		ds.DSN = config.DSN(dsn)
		cfg.DataSources["ds2"] = ds
		a := c.open(t, cfg, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := a.WithContext(ctx).Find(&[]Order{}, "ent_id IN (4, 1)").Error; err != nil {
			t.Errorf("%s: the other data sources gave %v", name, err)
		}
		for what, err := range map[string]error{
			"one node":   a.WithContext(ctx).First(&Order{}, "ent_id = 2").Error,
			"all nodes":  a.WithContext(ctx).Find(&[]Order{}).Error,
			"a write":    a.WithContext(ctx).Model(&Order{}).Where("1 = 1").Update("state", "x").Error,
			"an insert":  a.WithContext(ctx).Create(&[]Order{{ID: 9000, EntID: 2}, {ID: 9001, EntID: 4}}).Error,
			"in between": a.WithContext(ctx).Transaction(func(tx *gorm.DB) error { return tx.First(&Order{}, "ent_id = 2").Error }),
		} {
			switch {
			case err == nil:
				t.Errorf("%s, %s: no error", name, what)
			case !strings.Contains(err.Error(), "ds2"):
				t.Errorf("%s, %s: the data source is not named: %v", name, what, err)
			case strings.Contains(err.Error(), password) || strings.Contains(err.Error(), "s3cret"):
				t.Errorf("%s, %s: the password is shown: %v", name, what, err)
			}
			noRepeat(t, err)
		}
		if left := rowsOf(t, c.pool(t, 0), "t_ent_order WHERE state = 'x' OR id >= 9000", "id"); len(left) > 0 {
			t.Errorf("%s: a write over all nodes left %v", name, left)
		}
	}
}

// document is the cluster's configuration as a file. The DSNs come from the
// environment.
const document = `
dataSources:
  ds0: {dsn: "${ORDERS_TEST_DSN_0}", maxOpenConns: 8, maxIdleConns: 8, connMaxLifetime: 30m}
  ds1: {driver: mysql, dsn: "${ORDERS_TEST_DSN_1}", maxOpenConns: 8}
  ds2: {driver: mysql, dsn: "app:${ORDERS_TEST_PASSWORD}@tcp(${ORDERS_TEST_ADDR})/sample_2?parseTime=true"}
  ds3: {dsn: "${ORDERS_TEST_DSN_3}"}
defaultDataSource: ds0
schema: orders
sharding:
  defaults:
    databaseStrategy: {standard: {column: ent_id, algorithm: database}}
  tables:
    t_ent_order: {actualDataNodes: "ds${0..3}.t_ent_order", keyGenerate: {column: id, generator: snowflake}}
    t_ent_order_detail: {actualDataNodes: "ds${0..3}.t_ent_order_detail"}
    t_ent_order_item:
      actualDataNodes: ds${0..3}.t_ent_order_item_${0..7}
      tableStrategy: {standard: {column: ent_id, algorithm: item}}
      keyGenerate: {column: id, generator: snowflake}
  bindingTables: ["t_ent_order, t_ent_order_detail"]
  broadcastTables: [t_region]
  algorithms:
    database: {type: MOD, props: {shardingCount: 4}}
    item: {type: INLINE, props: {expression: "t_ent_order_item_${floorMod(ent_id.intdiv(4), 8)}"}}
  keyGenerators:
    snowflake: {type: SNOWFLAKE, props: {workerId: 3}}
props:
  maxConnectionsPerQuery: 2
`

// TestAFileConfiguresAnApplication end to end: it answers as the configuration
// built in Go does.
func TestAFileConfiguresAnApplication(t *testing.T) {
	c := sampleCluster(t)
	for i, name := range []string{"0", "1", "", "3"} {
		if name != "" {
			t.Setenv("ORDERS_TEST_DSN_"+name, c.dsn(i))
		}
	}
	t.Setenv("ORDERS_TEST_PASSWORD", c.server(2).Password())
	t.Setenv("ORDERS_TEST_ADDR", c.server(2).Addr())
	path := filepath.Join(t.TempDir(), "sharding.yaml")
	if err := os.WriteFile(path, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	a := c.open(t, cfg, nil)
	single := c.openSingle(t, nil)
	for _, s := range gormReads {
		wantValue, wantErr := s.run(single.WithContext(t.Context()))
		value, err := s.run(a.WithContext(t.Context()))
		if s.open && errors.Is(err, sharding.ErrUnsupported) {
			continue
		}
		if want, got := outcome(wantValue, wantErr), outcome(value, err); want != got {
			t.Errorf("%s\nsingle:\n%s\nsharded (%v):\n%s", s.name, want, err, got)
		}
	}
	var n int64
	if err := a.Table("orders.t_ent_order").Where("ent_id = ?", 4).Count(&n).Error; err != nil || n == 0 {
		t.Errorf("with the logical schema: %d rows, %v", n, err)
	}
	p, err := a.plugin.Preview(t.Context(), "SELECT * FROM t_ent_order_item WHERE ent_id IN (?, ?)", 5, 6)
	if err != nil || len(p.Units) != 2 || p.Units[0].DataSource != "ds1" || !strings.Contains(p.Units[0].SQL, "t_ent_order_item_1") || p.Units[0].Args[0] != 5 {
		t.Errorf("preview %+v, %v", p, err)
	}
}

// floor is an algorithm of the application's own: floor modulo over targets in
// the order it knows.
type floor struct{ targets []string }

func (f floor) Bind(targets []string) (algorithm.Sharder, error) {
	return floorSharder{targets, f.targets}, nil
}

type floorSharder struct{ targets, order []string }

func (f floorSharder) Shard(v algorithm.Value) (int, error) {
	n, ok := v.Int64()
	if !ok {
		return 0, errors.New("no integer")
	}
	return slices.Index(f.targets, f.order[databaseOf(n)]), nil
}

// TestTheApplicationsOwnPoolIsTheDefaultDataSource where the configuration names
// none; the databases are chosen by an algorithm of the application's own.
func TestTheApplicationsOwnPoolIsTheDefaultDataSource(t *testing.T) {
	c := sampleCluster(t)
	cfg := c.config()
	cfg.DefaultDataSource = ""
	delete(cfg.DataSources, "ds0")
	for name, table := range cfg.Sharding.Tables {
		table.ActualDataNodes = strings.Replace(table.ActualDataNodes, "ds${0..3}", "${['default','ds1','ds2','ds3']}", 1)
		cfg.Sharding.Tables[name] = table
	}
	cfg.Sharding.Algorithms["database"] = config.Algorithm{Type: "FLOOR"}
	plugin := sharding.Register(cfg, sharding.WithAlgorithm("FLOOR", func(algorithm.Props) (algorithm.Algorithm, error) {
		return floor{[]string{"default", "ds1", "ds2", "ds3"}}, nil
	}))
	db, err := gorm.Open(mysql.Open(c.dsn(0)), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Use(plugin); err != nil {
		t.Fatal(err)
	}
	defer plugin.Close()
	single := c.openSingle(t, nil)
	for _, s := range gormReads {
		wantValue, wantErr := s.run(single.WithContext(t.Context()))
		value, err := s.run(db.WithContext(t.Context()))
		if s.open && errors.Is(err, sharding.ErrUnsupported) {
			continue
		}
		if want, got := outcome(wantValue, wantErr), outcome(value, err); want != got {
			t.Errorf("%s\nsingle:\n%s\nsharded (%v):\n%s", s.name, want, err, got)
		}
	}
	if plugin.DataSource("default") == nil || plugin.DataSource("ds0") != nil {
		t.Error("DataSource does not know the data sources")
	}
}

// TestBadFilesAreRefusedWithTheirPaths before anything is opened.
func TestBadFilesAreRefusedWithTheirPaths(t *testing.T) {
	t.Setenv("ORDERS_TEST_DSN_0", "app:s3cret@tcp(127.0.0.1:1)/a")
	t.Setenv("ORDERS_TEST_DSN_1", "app:s3cret@tcp(127.0.0.1:1)/b")
	t.Setenv("ORDERS_TEST_DSN_3", "app:s3cret@tcp(127.0.0.1:1)/d")
	t.Setenv("ORDERS_TEST_PASSWORD", "s3cret")
	t.Setenv("ORDERS_TEST_ADDR", "127.0.0.1:1")
	for name, test := range map[string]struct{ from, to, path string }{
		"unknown table in a rule":          {"t_ent_order, t_ent_order_detail", "t_ent_order, t_ent_order_detial", "sharding.bindingTables"},
		"two tables with the same node":    {"ds${0..3}.t_ent_order_detail", "ds${0..3}.t_ent_order", "sharding.tables.t_ent_order"},
		"a node in an unknown data source": {"ds${0..3}.t_ent_order_item", "ds${0..4}.t_ent_order_item", "sharding.tables.t_ent_order_item.actualDataNodes"},
		"an expression that is none":       {"floorMod(ent_id.intdiv(4), 8)", "floorMod(ent_id.intdiv(4), 8", "sharding.algorithms.item"},
		"a missing environment variable":   {"${ORDERS_TEST_DSN_3}", "${ORDERS_TEST_DSN_MISSING}", "dataSources.ds3.dsn"},
		"an unknown algorithm":             {"algorithm: item", "algorithm: items", "sharding.tables.t_ent_order_item.tableStrategy"},
		"an unknown key":                   {"broadcastTables", "broadcastTabels", "sharding.broadcastTabels"},
		"an unknown generator":             {"generator: snowflake}}", "generator: snowflak}}", "keyGenerate"},
		"a data source without a DSN":      {`ds3: {dsn: "${ORDERS_TEST_DSN_3}"}`, "ds3: {}", "dataSources.ds3.dsn"},
		"an unknown default data source":   {"defaultDataSource: ds0", "defaultDataSource: ds9", "defaultDataSource"},
		"an unknown driver":                {"driver: mysql, dsn: \"${ORDERS_TEST_DSN_1}", "driver: oracle, dsn: \"${ORDERS_TEST_DSN_1}", "dataSources.ds1"},
	} {
		if !strings.Contains(document, test.from) {
			t.Fatalf("%s: %q is not in the document", name, test.from)
		}
		cfg, err := config.Parse([]byte(strings.Replace(document, test.from, test.to, 1)), "yaml")
		if err == nil {
			_, err = sharding.Connector(cfg)
		}
		if !errors.Is(err, sharding.ErrConfig) || !strings.Contains(err.Error(), test.path) {
			t.Errorf("%s: %v, want an ErrConfig about %s", name, err, test.path)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: the password is shown: %v", name, err)
		}
	}
}
