//go:build unix

package migrate_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/gormshard/sharding"
)

// both runs a statement on one database and on the nodes, and compares what comes of
// it.
func both(t *testing.T, plain, sharded *gorm.DB, statement string, args ...any) {
	t.Helper()
	want, got := plain.Exec(statement, args...), sharded.Exec(statement, args...)
	if (got.Error == nil) != (want.Error == nil) || got.RowsAffected != want.RowsAffected {
		t.Errorf("%s: %d rows, %v, on one database %d, %v", statement, got.RowsAffected, got.Error, want.RowsAffected, want.Error)
	}
}

// rowsOf compares the rows that a query gives.
func rowsOf(t *testing.T, plain, sharded *gorm.DB, query string) {
	t.Helper()
	var want, got []map[string]any
	if err := errors.Join(plain.Raw(query).Scan(&want).Error, sharded.Raw(query).Scan(&got).Error); err != nil {
		t.Errorf("%s: %v", query, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s gives\n  %v\ninstead of\n  %v", query, got, want)
	}
}

// refusedFor fails the test unless nothing was sent for an error that names a part.
func refusedFor(t *testing.T, a *app, err error, part string) {
	t.Helper()
	var refused *sharding.UnsupportedError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), part) {
		t.Errorf("error %v, want a refusal that names %s", err, part)
	}
	if sent := a.definitions(); sent != nil {
		t.Errorf("sent %q", sent)
	}
}

// TestTriggersOfEveryNodeWorkAndAreNotLeftOut: a table that is made like one with a
// trigger would lack it, and is not made.
func TestTriggersOfEveryNodeWorkAndAreNotLeftOut(t *testing.T) {
	c := newCluster(t, "triggers")
	cfg := c.months()
	a, plain := c.open(t, cfg, gormmysql.Open(string(cfg.DataSources["ds0"].DSN))), c.plain(t)
	pool, err := plain.DB()
	if err != nil {
		t.Fatal(err)
	}
	for _, db := range []*gorm.DB{plain, a.DB} {
		if err := db.Table("t_order").AutoMigrate(&Row{}); err != nil {
			t.Fatal(err)
		}
	}
	trigger := func(table string) string {
		return "CREATE TRIGGER marked_" + table + " BEFORE INSERT ON " + table + " FOR EACH ROW SET NEW.name = CONCAT(NEW.name, '!')"
	}
	exec(t, pool, trigger("t_order"), strings.NewReplacer("marked", "aged", "INSERT", "UPDATE", "name", "age", "CONCAT(NEW.name, '!')", "OLD.age + 1").Replace(trigger("t_order")))
	for _, n := range nodes["t_order"] {
		exec(t, c.at(n), trigger(n[4:]), strings.NewReplacer("marked", "aged", "INSERT", "UPDATE", "NEW.name = CONCAT(NEW.name, '!')", "NEW.age = OLD.age + 1").Replace(trigger(n[4:])))
	}
	for _, db := range []*gorm.DB{plain, a.DB} {
		var rows []Row
		for id := range int64(6) {
			rows = append(rows, Row{ID: id, UserID: id, At: month(1), Name: "n", Age: uint8(id)})
		}
		if err := errors.Join(db.Table("t_order").Create(&rows).Error, db.Table("t_order").Save(&Row{ID: 2, UserID: 2, At: month(2), Name: "saved"}).Error); err != nil {
			t.Fatal(err)
		}
	}
	both(t, plain, a.DB, "UPDATE t_order SET name = 'u' WHERE id > 1")
	both(t, plain, a.DB, "INSERT INTO t_order (id, user_id, at, name, age) VALUES (4, 4, '2026-01-01', 'x', 9) ON DUPLICATE KEY UPDATE name = VALUES(name)")
	both(t, plain, a.DB, "DELETE FROM t_order WHERE age = 3")
	rowsOf(t, plain, a.DB, "SELECT * FROM t_order ORDER BY id")
	for _, db := range []*gorm.DB{plain, a.DB} {
		if err := db.Table("t_order").AutoMigrate(&Wider{}); err != nil {
			t.Error(err)
		}
	}
	c.alike(t, "with triggers", plain, "t_order")

	exec(t, c.pools[1], "DROP TABLE t_order_1")
	a.definitions()
	refusedFor(t, a, a.Table("t_order").AutoMigrate(&Wider{}), "trigger ")
	for _, pool := range c.pools {
		exec(t, pool, logTables("_203001"), "CREATE TRIGGER marked BEFORE INSERT ON t_log_203001 FOR EACH ROW SET NEW.region = 5")
	}
	made, err := a.Plugin.EnsureTables(t.Context(), month(1), month(3), "t_log", "t_log_line")
	if made != nil {
		t.Errorf("made %q", made)
	}
	refusedFor(t, a, err, "trigger marked")
	if made, err := a.Plugin.EnsureTables(t.Context(), month(1), month(2), "t_log"); made != nil || err != nil {
		t.Errorf("where nothing is missing it made %q, %v", made, err)
	}
}

// TestAViewIsWhereItsTablesAre: one over a single table of another data source than
// the default one has to be listed with that.
func TestAViewIsWhereItsTablesAre(t *testing.T) {
	c := newCluster(t, "views")
	cfg := c.config()
	cfg.Sharding.SingleTables["v_audit"] = "ds1"
	a, plain := c.open(t, cfg, gormmysql.Open(string(cfg.DataSources["ds0"].DSN))), c.plain(t)
	for _, db := range []*gorm.DB{plain, a.DB} {
		for _, table := range []string{"t_audit", "t_plain"} {
			if err := db.Table(table).AutoMigrate(&Row{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Table("t_audit").Create(&[]Row{{ID: 1, UserID: 1, At: month(1), Name: "a", Age: 1}, {ID: 2, UserID: 2, At: month(1), Name: "b", Age: 2}}).Error; err != nil {
			t.Fatal(err)
		}
		view := gorm.ViewOption{Replace: true, CheckOption: "WITH CHECK OPTION", Query: db.Table("t_audit").Select("id, name, age").Where("age > ?", 1)}
		if err := errors.Join(db.Migrator().CreateView("v_audit", view), db.Migrator().CreateView("v_audit", view)); err != nil {
			t.Fatal(err)
		}
	}
	rowsOf(t, plain, a.DB, "SELECT * FROM v_audit")
	both(t, plain, a.DB, "UPDATE v_audit SET name = 'c'")
	both(t, plain, a.DB, "UPDATE v_audit SET age = 0")
	rowsOf(t, plain, a.DB, "SELECT * FROM v_audit v JOIN t_audit t ON t.id = v.id")
	a.definitions()
	for _, name := range []string{"v_other", "t_plain"} {
		refusedFor(t, a, a.Migrator().CreateView(name, gorm.ViewOption{Query: a.Table("t_audit")}), "singleTables")
	}
	for _, db := range []*gorm.DB{plain, a.DB} {
		if err := db.Migrator().DropView("v_audit"); err != nil {
			t.Error(err)
		}
	}
	if a.Exec("SELECT * FROM v_audit").Error == nil {
		t.Error("the view is there")
	}
}

// TestSystemVersionedTablesAreTablesOfTheirPresentRows: MariaDB keeps what was there
// before, in columns that do not show.
func TestSystemVersionedTablesAreTablesOfTheirPresentRows(t *testing.T) {
	for i, columns := range []string{
		"(id bigint PRIMARY KEY, user_id bigint NOT NULL, name varchar(20), KEY idx_user (user_id)) WITH SYSTEM VERSIONING",
		"(since timestamp(6) GENERATED ALWAYS AS ROW START INVISIBLE, id bigint PRIMARY KEY, until timestamp(6) GENERATED ALWAYS AS ROW END INVISIBLE, user_id bigint NOT NULL, name varchar(20)," +
			" PERIOD FOR SYSTEM_TIME (since, until)) WITH SYSTEM VERSIONING PARTITION BY SYSTEM_TIME (PARTITION past HISTORY, PARTITION present CURRENT)",
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, fmt.Sprint("versions_", i))
			a, plain := c.sharded(t), c.plain(t)
			for _, n := range nodes["t_order"] {
				exec(t, c.at(n), "CREATE TABLE "+n[4:]+" "+columns)
			}
			if err := plain.Exec("CREATE TABLE t_order " + columns).Error; err != nil {
				t.Fatal(err)
			}
			refusedFor(t, a, a.Exec("CREATE TABLE t_order "+columns).Error, "cannot be parsed")
			both(t, plain, a.DB, "INSERT INTO t_order VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c'), (4, 4, 'd')")
			both(t, plain, a.DB, "INSERT INTO t_order (id, user_id, name) VALUES (1, 1, 'e') ON DUPLICATE KEY UPDATE name = VALUES(name)")
			both(t, plain, a.DB, "REPLACE INTO t_order (id, user_id, name) VALUES (3, 3, 'f'), (5, 5, 'f')")
			both(t, plain, a.DB, "UPDATE t_order SET name = 'z' WHERE id < 4")
			both(t, plain, a.DB, "DELETE FROM t_order WHERE id IN (2, 4)")
			for _, query := range []string{
				"SELECT * FROM t_order ORDER BY id", "SELECT COUNT(*), MAX(name) FROM t_order", "SELECT o.*, p.id AS other FROM t_order o JOIN t_order p ON o.name = p.name ORDER BY o.id, p.id",
			} {
				rowsOf(t, plain, a.DB, query)
			}
			refusedFor(t, a, a.Exec("SELECT * FROM t_order FOR SYSTEM_TIME ALL").Error, "cannot be parsed")
			both(t, plain, a.DB, "CREATE INDEX idx_name ON t_order (name)")
			both(t, plain, a.DB, "ALTER TABLE t_order ADD COLUMN note varchar(10)") // the server refuses it
			c.alike(t, "an index", plain, "t_order")
			both(t, plain, a.DB, "DELETE HISTORY FROM t_order")
			if got, want := types(a.DB, "t_order"), types(plain, "t_order"); got != want {
				t.Errorf("columns\n%v\ninstead of\n%v", got, want)
			}
		})
	}
	c := newCluster(t, "versions")
	cfg := c.months()
	a := c.open(t, cfg, gormmysql.Open(string(cfg.DataSources["ds0"].DSN)))
	for _, pool := range c.pools {
		exec(t, pool, logTables("_203001"), "ALTER TABLE t_log_203001 ADD SYSTEM VERSIONING")
	}
	if made, err := a.Plugin.EnsureTables(t.Context(), month(1), month(time.March), "t_log"); err != nil || len(made) != 2 {
		t.Errorf("made %q, %v", made, err)
	}
	if got := strings.Join(definition(t, c.pools[1], "t_log_203002"), "\n"); !strings.Contains(got, "WITH SYSTEM VERSIONING") {
		t.Errorf("February is %s", got)
	}
}
