//go:build unix

package ddl_test

import (
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"
)

// TestAKeyThatEndsInTheNameOfATableIsNotTakenForThatOfAForeignKey has keys of such
// names next to keys that the server has made, whose foreign keys are partly gone.
func TestAKeyThatEndsInTheNameOfATableIsNotTakenForThatOfAForeignKey(t *testing.T) {
	c := newCluster(t, "keynames")
	a, single := c.open(t, c.config()), c.single(t)
	both := func(statements ...string) {
		t.Helper()
		for _, s := range statements {
			_, want := single.ExecContext(t.Context(), s)
			if got := a.Exec(s).Error; number(got) != number(want) {
				t.Errorf("%s\nthe plugin: %v\none database: %v", s, got, want)
			}
		}
	}
	pool, err := a.DB.DB()
	if err != nil {
		t.Fatal(err)
	}
	same := func(queries ...string) {
		t.Helper()
		for _, q := range queries {
			if got, want := lines(t, pool, q), lines(t, single, q); !slices.Equal(got, want) {
				t.Errorf("%s\n  got  %q\n  want %q", q, got, want)
			}
		}
	}
	questions := []string{
		"SELECT INDEX_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 't_order_item' ORDER BY INDEX_NAME",
		"SELECT CONSTRAINT_NAME, CONSTRAINT_TYPE FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 't_order_item' ORDER BY CONSTRAINT_NAME",
	}
	for _, name := range []string{"idx", "idx_t_order_item_0", "uni", "uni_t_order_item_0", "uni_t_order_item_1", "fk", "fk_t_order_item_0", "chk", "chk_t_order_item_0", "old", "old_t_order_item_0"} {
		questions = append(questions, "SELECT COUNT(*) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 't_order_item' AND INDEX_NAME = '"+name+"'",
			"SELECT COUNT(*) FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 't_order_item' AND CONSTRAINT_NAME = '"+name+"'")
	}
	both("CREATE TABLE t_order (id bigint PRIMARY KEY, user_id bigint NOT NULL)",
		"CREATE TABLE t_order_item (id bigint PRIMARY KEY, user_id bigint NOT NULL, a int, o bigint, p bigint, KEY idx_t_order_item_0 (a), UNIQUE KEY uni_t_order_item_0 (a, id),"+
			" CONSTRAINT fk FOREIGN KEY (o) REFERENCES t_order (id), CONSTRAINT old FOREIGN KEY (p) REFERENCES t_order (id), CONSTRAINT chk CHECK (a > 0))",
		"ALTER TABLE t_order_item DROP FOREIGN KEY old")
	same(questions...)
	if err := a.Plugin.Close(); err != nil {
		t.Fatal(err)
	}
	cfg := c.config()
	cfg.Props.CheckTables = true // finds no difference
	a = c.open(t, cfg)
	if pool, err = a.DB.DB(); err != nil {
		t.Fatal(err)
	}
	both("DROP INDEX idx ON t_order_item", "ALTER TABLE t_order_item DROP CONSTRAINT uni", "ALTER TABLE t_order_item DROP INDEX uni", "ALTER TABLE t_order_item DROP INDEX old_t_order_item_0",
		"ALTER TABLE t_order_item DROP FOREIGN KEY fk_t_order_item_0", "ALTER TABLE t_order_item DROP CONSTRAINT chk_t_order_item_0", "ALTER TABLE t_order_item RENAME INDEX idx TO other")
	same(questions...)
	both("ALTER TABLE t_order_item RENAME INDEX old TO older, DROP CONSTRAINT uni_t_order_item_0, DROP CONSTRAINT chk, ADD CONSTRAINT chk CHECK (a > 1)")
	same(questions...)
	// Several at once: keys, a foreign key and its key, and the same names anew.
	both("ALTER TABLE t_order_item DROP INDEX idx_t_order_item_0, DROP FOREIGN KEY fk, DROP INDEX fk, DROP INDEX older, DROP CONSTRAINT chk, ADD KEY fk (a), ADD KEY old_t_order_item_1 (a, o), ADD CONSTRAINT chk_t_order_item_0 CHECK (a > 2)")
	same(questions...)
	both("ALTER TABLE t_order_item DROP INDEX fk, DROP KEY old_t_order_item_1, DROP CONSTRAINT IF EXISTS chk, DROP INDEX IF EXISTS uni")
	same(questions...)
	both("ALTER TABLE t_order_item DROP CONSTRAINT chk_t_order_item_0")
	for i := range 2 {
		for _, table := range []string{"t_order_item_0", "t_order_item_1"} {
			if left := lines(t, c.node(t, i), "SELECT index_name FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ?", table); !slices.Equal(left, []string{"PRIMARY"}) {
				t.Errorf("ds%d.%s has the keys %q", i, table, left)
			}
		}
	}
}

// TestForeignKeysOfTheApplicationsOwnNamesAreFound: tables that were there before
// the plugin have names without that of the table.
func TestForeignKeysOfTheApplicationsOwnNamesAreFound(t *testing.T) {
	c := newCluster(t, "adopted")
	a := c.open(t, c.config())
	for i := range 2 {
		for n, suffix := range []string{"_0", "_1"} {
			exec(t, c.node(t, i), "CREATE TABLE t_order"+suffix+" (id bigint PRIMARY KEY, user_id bigint NOT NULL)",
				"CREATE TABLE t_order_item"+suffix+" (id bigint PRIMARY KEY, user_id bigint NOT NULL, CONSTRAINT own"+strings.Repeat("n", n)+" FOREIGN KEY (user_id) REFERENCES t_order"+suffix+" (id), CONSTRAINT chk CHECK (id > 0))")
		}
	}
	a.define(t, "ALTER TABLE t_order_item DROP CONSTRAINT chk")
	if m := a.Session(&gorm.Session{}).Table("t_order_item").Migrator(); !m.HasConstraint("t_order_item", "own") || m.HasConstraint("t_order_item", "chk") {
		t.Error("the foreign key is not found, or the check is")
	}
}
