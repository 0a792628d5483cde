//go:build unix

package ddl_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gormshard/sharding"
)

// schema are the tables of the configuration with their constraints.
var schema = []string{
	"CREATE TABLE t_region (id bigint PRIMARY KEY, name varchar(50) NOT NULL, CONSTRAINT chk_region CHECK (id > 0))",
	"CREATE TABLE IF NOT EXISTS t_order (id bigint PRIMARY KEY, user_id bigint NOT NULL, region_id bigint, amount decimal(10,2), KEY idx_user (user_id)," +
		" CONSTRAINT fk_order_region FOREIGN KEY (region_id) REFERENCES t_region (id), CONSTRAINT chk_amount CHECK (amount >= 0), CONSTRAINT uni_order UNIQUE (user_id, id))",
	"CREATE TABLE `t_order_item` (`id` bigint PRIMARY KEY, `user_id` bigint NOT NULL, `order_id` bigint, `sku` varchar(20)," +
		" CONSTRAINT `fk_item_order` FOREIGN KEY (`user_id`, `order_id`) REFERENCES `t_order`(`user_id`, `id`) ON DELETE CASCADE)",
	"CREATE TABLE t_audit (id bigint PRIMARY KEY, what varchar(50))",
}

// TestStatementsDefineEveryNode runs each statement through the plugin and on an
// unsharded database: both take it or refuse it with the same number, and the
// columns that SELECT * sees afterwards are the same.
func TestStatementsDefineEveryNode(t *testing.T) {
	c := newCluster(t, "define")
	a, single := c.open(t, c.config()), c.single(t)
	for _, s := range append(append([]string{}, schema...),
		"INSERT INTO t_region VALUES (1, 'north'), (2, 'south')",
		"INSERT INTO t_order (id, user_id, region_id, amount) VALUES (1, 1, 1, 1.5), (2, 2, 2, 2.5), (3, 3, 1, 3.5), (4, 4, NULL, 4.5)",
		"INSERT INTO t_order_item (id, user_id, order_id) VALUES (10, 1, 1), (20, 2, 2), (30, 3, 3), (40, 4, 4)",
		"INSERT INTO t_order (id, user_id, region_id) VALUES (5, 5, 9)",
		"INSERT INTO t_order_item (id, user_id, order_id) VALUES (50, 1, 99)",
		"INSERT INTO t_order (id, user_id, amount) VALUES (5, 5, -1)",
		"CREATE TABLE t_order (id bigint PRIMARY KEY, user_id bigint)",
		"ALTER TABLE t_order ADD COLUMN note varchar(64) NOT NULL DEFAULT 'x' AFTER user_id",
		"INSERT INTO t_order (id, user_id, note) VALUES (5, 5, 'new')",
		"ALTER TABLE t_order ADD COLUMN note int",
		"ALTER TABLE t_order MODIFY COLUMN note text, ADD INDEX idx_note (note(10)), ADD COLUMN a int, ADD COLUMN b int",
		"CREATE INDEX idx_a ON t_order (a, b)",
		"ALTER TABLE t_order RENAME INDEX idx_a TO idx_ab",
		"DROP INDEX idx_ab ON t_order",
		"DROP INDEX idx_ab ON t_order",
		"ALTER TABLE t_order CHANGE a first_a bigint, RENAME COLUMN b TO second_b",
		"ALTER TABLE t_order DROP COLUMN first_a",
		"UPDATE t_order SET second_b = 7 WHERE user_id = 3",
		"ALTER TABLE t_order DROP CONSTRAINT chk_amount",
		"INSERT INTO t_order (id, user_id, amount) VALUES (6, 6, -1)",
		"ALTER TABLE t_order ADD CONSTRAINT chk_amount CHECK (t_order.amount > -5)",
		"INSERT INTO t_order (id, user_id, amount) VALUES (7, 7, -9)",
		"ALTER TABLE t_order DROP FOREIGN KEY fk_order_region",
		"ALTER TABLE t_order DROP FOREIGN KEY fk_order_region",
		"INSERT INTO t_order (id, user_id, region_id) VALUES (8, 8, 9)",
		"ALTER TABLE t_order ADD CONSTRAINT fk_again FOREIGN KEY (region_id) REFERENCES t_region (id)", // row 8 has no region
		"DELETE FROM t_order WHERE id = 8",
		"ALTER TABLE t_order ADD CONSTRAINT fk_again FOREIGN KEY (region_id) REFERENCES t_region (id)",
		"ALTER TABLE t_order DROP FOREIGN KEY fk_again",
		"ALTER TABLE t_region ADD COLUMN code varchar(5)",
		"UPDATE t_region SET code = 'n' WHERE id = 1",
		"ALTER TABLE t_audit ADD COLUMN at datetime",
		"INSERT INTO t_audit (id, what) VALUES (1, 'all')",
		"DELETE FROM t_order WHERE user_id = 2", // and its items
		"TRUNCATE TABLE t_order_item",
		"INSERT INTO t_order_item (id, user_id, order_id) VALUES (60, 3, 3)",
		"ALTER TABLE t_order COMMENT = 'orders'",
		"ALTER TABLE no_such_table ADD x int",
	) {
		got, want := a.Exec(s).Error, error(nil)
		_, want = single.ExecContext(t.Context(), s)
		if number(got) != number(want) {
			t.Fatalf("%s\nthe plugin: %v\none database: %v", s, got, want)
		}
		for _, table := range []string{"t_region", "t_order", "t_order_item", "t_audit"} {
			query := "SELECT * FROM " + table + " ORDER BY id"
			if want := number(ask(single, t, query)); want != 0 {
				continue // does not exist yet
			}
			pool, err := a.DB.DB()
			if err != nil {
				t.Fatal(err)
			}
			if got, want := lines(t, pool, query), lines(t, single, query); !slices.Equal(got, want) {
				t.Fatalf("after %s\n%s\n  got  %q\n  want %q", s, query, got, want)
			}
		}
	}
	for i := range 2 {
		node := c.node(t, i)
		got := lines(t, node, "SELECT constraint_name, table_name, referenced_table_name FROM information_schema.referential_constraints WHERE constraint_schema = DATABASE() ORDER BY 1, 2")
		want := []string{"fk_item_order_t_order_item_0 t_order_item_0 t_order_0", "fk_item_order_t_order_item_1 t_order_item_1 t_order_1"}
		if !slices.Equal(got, want) {
			t.Errorf("ds%d: foreign keys %q, want %q", i, got, want)
		}
		got = lines(t, node, "SHOW TABLES")
		want = []string{"t_order_0", "t_order_1", "t_order_item_0", "t_order_item_1", "t_region"}
		if i == 1 {
			want = slices.Insert(want, 0, "t_audit")
		}
		if !slices.Equal(got, want) {
			t.Errorf("ds%d: tables %q, want %q", i, got, want)
		}
	}
	a.define(t, "DROP TABLE t_order_item, t_order", "DROP TABLE IF EXISTS t_order", "DROP TABLE IF EXISTS t_region, t_audit, t_nothing")
	for i := range 2 {
		if got := lines(t, c.node(t, i), "SHOW TABLES"); len(got) > 0 {
			t.Errorf("ds%d: tables %q are left", i, got)
		}
	}
	if err := a.Exec("DROP TABLE t_order").Error; number(err) != 1051 {
		t.Errorf("DROP TABLE of no table: %v", err)
	}
}

func TestTablesAreMadeLikeOthersOfTheirDataSource(t *testing.T) {
	c := newCluster(t, "alike")
	a := c.open(t, c.config())
	a.define(t, "CREATE TABLE t_order (id bigint PRIMARY KEY, user_id bigint NOT NULL, order_id bigint, KEY (user_id))",
		"CREATE TABLE t_order_item LIKE t_order", "CREATE TABLE t_region (LIKE t_order)")
	for i := range 2 {
		for _, table := range []string{"t_order_item_0", "t_order_item_1", "t_region"} {
			if got := lines(t, c.node(t, i), "SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ? ORDER BY ordinal_position", table); !slices.Equal(got, []string{"id", "user_id", "order_id"}) {
				t.Errorf("ds%d.%s has the columns %q", i, table, got)
			}
		}
	}
}

func TestPreviewShowsWhereADefinitionGoes(t *testing.T) {
	c := newCluster(t, "preview")
	a := c.open(t, c.config())
	for statement, want := range map[string]string{
		"ALTER TABLE t_order ADD x int":  "all nodes: a definition of t_order goes to every node of it",
		"ALTER TABLE t_region ADD x int": "broadcast: a definition of a broadcast table goes to every data source",
		"ALTER TABLE t_audit ADD x int":  "pass-through: no sharded and no broadcast table",
	} {
		p, err := a.Plugin.Preview(t.Context(), statement)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Kind + ": " + p.Reason; got != want {
			t.Errorf("%s\n  %s\n  want %s", statement, got, want)
		}
		if len(p.Units) > 1 && (len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "repeated")) {
			t.Errorf("%s: warnings %q", statement, p.Warnings)
		}
	}
	if sent := a.Take(); len(sent) > 0 {
		t.Errorf("Preview sent %q", sent)
	}
}

func TestRefusedDefinitionsSendNothing(t *testing.T) {
	c := newCluster(t, "refused")
	a := c.open(t, c.config())
	for _, s := range []string{
		"RENAME TABLE t_order TO t_orders", "ALTER TABLE t_order RENAME TO t_orders", "RENAME TABLE t_old TO t_order",
		"CREATE TEMPORARY TABLE t_order (id int)", "CREATE TABLE t_order SELECT 1 AS user_id", "CREATE TABLE t_copy AS SELECT * FROM t_order",
		"CREATE VIEW v AS SELECT * FROM t_order", "CREATE VIEW v AS SELECT * FROM t_region", "DROP VIEW t_order",
		"CREATE TRIGGER tr BEFORE INSERT ON t_order FOR EACH ROW SET NEW.id = 1",
		"ALTER TABLE t_order DROP COLUMN user_id", "CREATE TABLE t_order (id bigint)",
		"ALTER TABLE t_order ADD CONSTRAINT fk FOREIGN KEY (a) REFERENCES t_audit (id)",
		"ALTER TABLE t_region ADD CONSTRAINT fk FOREIGN KEY (a) REFERENCES t_order (id)",
		"ALTER TABLE t_order EXCHANGE PARTITION p WITH TABLE t_old",
	} {
		err := a.Exec(s).Error
		var facts *sharding.UnsupportedError
		if !errors.As(err, &facts) || facts.Clause == "" || facts.Reason == "" || facts.Remedy == "" {
			t.Errorf("%s\n%v", s, err)
		}
	}
	if sent := a.Take(); len(sent) > 0 {
		t.Errorf("sent %q", sent)
	}
	if err := a.Exec("CREATE TABLE t_order (id bigint, user_id bigint, CONSTRAINT fk FOREIGN KEY (id) REFERENCES t_other (id))").Error; !strings.Contains(fmt.Sprint(err), "DisableForeignKeyConstraintWhenMigrating") {
		t.Errorf("a foreign key to a single table: %v", err)
	}
}
