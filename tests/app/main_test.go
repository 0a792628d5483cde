//go:build unix

// Package app_test runs what an application does around its statements: it makes
// mistakes, logs, opens and closes, and does many things at the same time; on two
// databases of a private MariaDB server, and beside plain GORM on one.
package app_test

import (
	"cmp"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/tests/mariadb"
	"github.com/gormshard/sharding/tests/mariadbtest"
)

func TestMain(m *testing.M) {
	os.Exit(mariadbtest.Main(m, mariadbtest.StatementCache))
}

// user is sharded by its owner, over two databases with two tables each.
type user struct {
	ID      int64
	OwnerID int64
	Email   string
	Balance int
	Items   []item `gorm:"foreignKey:UserID"`
}

// item is bound to user.
type item struct {
	ID      int64
	OwnerID int64
	UserID  int64
	Title   string
}

// region is broadcast, audit is single.
type (
	region struct {
		ID   int64
		Name string
	}
	audit struct {
		ID   int64
		Text string
	}
)

func (user) TableName() string   { return "t_user" }
func (item) TableName() string   { return "t_item" }
func (region) TableName() string { return "t_region" }
func (audit) TableName() string  { return "t_audit" }

const (
	userColumns = ` (id bigint PRIMARY KEY, owner_id bigint NOT NULL, email varchar(100) NOT NULL, balance int NOT NULL DEFAULT 0,
		UNIQUE KEY email (owner_id, email), KEY owner (owner_id, id), CONSTRAINT %s CHECK (balance >= 0))`
	itemColumns = ` (id bigint PRIMARY KEY, owner_id bigint NOT NULL, user_id bigint NOT NULL, title varchar(100) NOT NULL,
		CONSTRAINT %s FOREIGN KEY (user_id) REFERENCES %s (id))`
	regionTable = "CREATE TABLE t_region (id bigint PRIMARY KEY, name varchar(50) NOT NULL, UNIQUE KEY name (name))"
	auditTable  = "CREATE TABLE t_audit (id bigint PRIMARY KEY AUTO_INCREMENT, text varchar(100) NOT NULL)"
)

// cluster is the databases of a test: two that are sharded over, and a plain one.
type cluster struct {
	server *mariadb.Server
	name   string
}

func newCluster(t *testing.T, name string) *cluster {
	t.Helper()
	c := &cluster{server: mariadb.Shared(t, 1)[0], name: name}
	for i := range 2 {
		ddl := []string{regionTable}
		for n := range 2 {
			ddl = append(ddl, fmt.Sprintf("CREATE TABLE t_user_%d"+userColumns, n, fmt.Sprintf("balance_t_user_%d", n)),
				fmt.Sprintf("CREATE TABLE t_item_%d"+itemColumns, n, fmt.Sprintf("item_user_t_item_%d", n), fmt.Sprintf("t_user_%d", n)))
		}
		if i == 0 {
			ddl = append(ddl, auditTable)
		}
		c.create(t, c.database(i), ddl)
	}
	c.create(t, c.name+"_plain", []string{
		fmt.Sprintf("CREATE TABLE t_user"+userColumns, "balance"),
		fmt.Sprintf("CREATE TABLE t_item"+itemColumns, "item_user", "t_user"), regionTable, auditTable,
	})
	return c
}

func (c *cluster) create(t *testing.T, database string, ddl []string) {
	t.Helper()
	if err := c.server.CreateDatabase(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("mysql", c.server.DSN(database, "multiStatements=true"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), strings.Join(ddl, ";\n")); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) database(i int) string { return fmt.Sprintf("%s_%d", c.name, i) }

// config is the configuration of the cluster. The owner's last bit chooses the
// database, the one before it the table.
func (c *cluster) config() *config.Config {
	by := func(algorithm string) *config.Strategy {
		return &config.Strategy{Standard: &config.Standard{Column: "owner_id", Algorithm: algorithm}}
	}
	key := &config.KeyGenerate{Column: "id", Generator: "snowflake"}
	cfg := &config.Config{
		DataSources:       map[string]config.DataSource{},
		DefaultDataSource: "ds0",
		Sharding: config.Sharding{
			Tables: map[string]config.Table{
				"t_user": {ActualDataNodes: "ds${0..1}.t_user_${0..1}", DatabaseStrategy: by("database"), TableStrategy: by("user"), KeyGenerate: key},
				"t_item": {ActualDataNodes: "ds${0..1}.t_item_${0..1}", DatabaseStrategy: by("database"), TableStrategy: by("item"), KeyGenerate: key},
			},
			BindingTables:   [][]string{{"t_user", "t_item"}},
			BroadcastTables: []string{"t_region"},
			Algorithms: map[string]config.Algorithm{
				"database": {Type: "INLINE", Props: map[string]any{"expression": "ds${floorMod(owner_id, 2)}"}},
				"user":     {Type: "INLINE", Props: map[string]any{"expression": "t_user_${floorMod(owner_id.intdiv(2), 2)}"}},
				"item":     {Type: "INLINE", Props: map[string]any{"expression": "t_item_${floorMod(owner_id.intdiv(2), 2)}"}},
			},
			KeyGenerators: map[string]config.KeyGenerator{"snowflake": {Type: "SNOWFLAKE"}},
		},
	}
	for i := range 2 {
		cfg.DataSources[fmt.Sprintf("ds%d", i)] = config.DataSource{DSN: config.DSN(c.server.DSN(c.database(i))), MaxOpenConns: 8, MaxIdleConns: 8}
	}
	return cfg
}

// open opens the sharded application. Nothing may be in use when the test ends.
func (c *cluster) open(t *testing.T, cfg *config.Config, gormConfig *gorm.Config, options ...sharding.Option) *gorm.DB {
	t.Helper()
	if gormConfig == nil {
		gormConfig = &gorm.Config{}
	}
	if gormConfig.Logger == nil {
		gormConfig.Logger = logger.Discard
	}
	db, err := sharding.Open(cfg, gormConfig, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		waitIdle(t, "the logical pool", db)
		for name := range cfg.DataSources {
			if source := sharding.Of(db).DataSource(name); source != nil {
				waitIdle(t, name, source)
			}
		}
		if err := sharding.Of(db).Close(); err != nil {
			t.Error("closing the plugin:", err)
		}
	})
	return db
}

// plain opens GORM on the plain database.
func (c *cluster) plain(t *testing.T, gormConfig *gorm.Config) *gorm.DB {
	t.Helper()
	if gormConfig == nil {
		gormConfig = &gorm.Config{}
	}
	if gormConfig.Logger == nil {
		gormConfig.Logger = logger.Discard
	}
	db, err := gorm.Open(gormmysql.Open(c.server.DSN(c.name+"_plain")), gormConfig)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool(t, db).Close() })
	return db
}

func pool(t *testing.T, db *gorm.DB) *sql.DB {
	t.Helper()
	p, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// waitIdle allows for connections that a cancelled statement gives back a moment
// later.
func waitIdle(t *testing.T, name string, db *gorm.DB) {
	t.Helper()
	p := pool(t, db)
	for deadline := time.Now().Add(5 * time.Second); p.Stats().InUse != 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("%s has %d connections in use", name, p.Stats().InUse)
			return
		}
	}
}

// empty deletes all rows.
func empty(t *testing.T, db *gorm.DB) {
	t.Helper()
	for _, table := range []string{"t_item", "t_user", "t_region", "t_audit"} {
		if err := db.Exec("DELETE FROM " + table).Error; err != nil {
			t.Fatalf("emptying %s: %v", table, err)
		}
	}
}

// run runs a statement on the server, past GORM and the plugin.
func (c *cluster) run(t *testing.T, statement string) error {
	t.Helper()
	db, err := sql.Open("mysql", c.server.DSN(c.name+"_plain"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = db.ExecContext(t.Context(), statement)
	return err
}

func sorted[T cmp.Ordered](all []T) []T { return slices.Sorted(slices.Values(all)) }
