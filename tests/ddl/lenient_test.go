//go:build unix

package ddl_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gormshard/sharding"
)

// TestAStatementThatPassesOverWhatIsThereSaysWhereNodesDiffer: with IF NOT EXISTS a
// node that has another column of the name gives no error of its own.
func TestAStatementThatPassesOverWhatIsThereSaysWhereNodesDiffer(t *testing.T) {
	c := newCluster(t, "lenient")
	a := c.open(t, c.config())
	node := c.node(t, 1)
	for _, test := range []struct{ other, statement, back string }{
		{"CREATE TABLE t_order_1 (id bigint PRIMARY KEY, user_id varchar(10))", "CREATE TABLE IF NOT EXISTS t_order (id bigint PRIMARY KEY, user_id bigint NOT NULL)", "DROP TABLE t_order_0, t_order_1"},
		{"ALTER TABLE t_order_1 ADD note text", "ALTER TABLE t_order ADD COLUMN IF NOT EXISTS note varchar(10)", "ALTER TABLE t_order_1 DROP note"},
		{"CREATE INDEX k ON t_order_1 (note, id)", "CREATE INDEX IF NOT EXISTS k ON t_order (note)", "DROP INDEX k ON t_order_1"},
		{"ALTER TABLE t_order_1 CHANGE note label varchar(10)", "ALTER TABLE t_order MODIFY COLUMN IF EXISTS note varchar(20)", "ALTER TABLE t_order_1 CHANGE label note varchar(10)"},
	} {
		exec(t, node, test.other)
		if err := a.Exec(test.statement).Error; !errors.Is(err, sharding.ErrSchemaDrift) || !strings.Contains(err.Error(), "ds1.t_order_1") {
			t.Errorf("%s: %v", test.statement, err)
		}
		exec(t, node, test.back)
		if strings.HasPrefix(test.back, "DROP TABLE") { // which was made on the other nodes as well
			exec(t, c.node(t, 0), test.back)
		}
		for range 2 {
			a.define(t, test.statement)
		}
	}
	// A key of its own in one node is no business of a CREATE TABLE of what is there.
	exec(t, node, "CREATE INDEX own ON t_order_1 (user_id)")
	a.define(t, "CREATE TABLE IF NOT EXISTS t_order (id bigint PRIMARY KEY, user_id bigint NOT NULL)")
}

// TestWhatIsDroppedIfItExistsIsGone: a name may be that of a key, which keeps it, or
// of a constraint, which has the node's in it.
func TestWhatIsDroppedIfItExistsIsGone(t *testing.T) {
	c := newCluster(t, "ifexists")
	a := c.open(t, c.config())
	a.define(t, "CREATE TABLE t_order (id bigint PRIMARY KEY, user_id bigint NOT NULL, KEY k (user_id), UNIQUE KEY uni (user_id, id), CONSTRAINT chk CHECK (id > 0))",
		"CREATE TABLE t_order_item (id bigint PRIMARY KEY, user_id bigint NOT NULL, o bigint, CONSTRAINT fk FOREIGN KEY (o) REFERENCES t_order (id))",
		"CREATE INDEX own ON t_order_item (user_id)")
	for range 2 {
		a.define(t, "ALTER TABLE t_order DROP CONSTRAINT IF EXISTS uni, DROP CONSTRAINT IF EXISTS chk, DROP INDEX IF EXISTS k",
			"ALTER TABLE t_order_item DROP CONSTRAINT IF EXISTS fk", "DROP INDEX IF EXISTS fk ON t_order_item", "DROP INDEX IF EXISTS own ON t_order_item")
	}
	for i := range 2 {
		for _, table := range []string{"t_order_0", "t_order_1", "t_order_item_0", "t_order_item_1"} {
			left := lines(t, c.node(t, i), "SELECT index_name FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ?"+
				" UNION ALL SELECT constraint_name FROM information_schema.table_constraints WHERE table_schema = DATABASE() AND table_name = ?", table, table)
			if !slices.Equal(left, []string{"PRIMARY", "PRIMARY"}) {
				t.Errorf("%s has %q", table, left)
			}
		}
	}
}

// TestALongNameIsHeldAgainstTheOtherNodes: one that was cut is known by its
// beginning alone.
func TestALongNameIsHeldAgainstTheOtherNodes(t *testing.T) {
	c := newCluster(t, "longname")
	a := c.open(t, c.config())
	name := "chk_" + strings.Repeat("x", 58)
	add := "ALTER TABLE t_order ADD CONSTRAINT " + name + " CHECK (user_id > 0)"
	a.define(t, orderTable, add)
	node := c.node(t, 1)
	cut := lines(t, node, "SELECT constraint_name FROM information_schema.check_constraints WHERE constraint_schema = DATABASE() AND table_name = 't_order_1'")[0]
	a.define(t, "ALTER TABLE t_order DROP CONSTRAINT "+name)
	exec(t, node, "ALTER TABLE t_order_1 ADD CONSTRAINT "+cut+" CHECK (user_id > 5)")
	if _, failed := partly(t, a.Exec(add).Error); !slices.Equal(failed, []string{"ds1.t_order_1"}) {
		t.Errorf("failed %q", failed)
	}
}

// TestALongNameIsFoundInATableThatIsThere: the table that is made for a moment has a
// longer name than any other, so that more names are cut in it.
func TestALongNameIsFoundInATableThatIsThere(t *testing.T) {
	c := newCluster(t, "longthere")
	a := c.open(t, c.config())
	lengths := []int{48, 64}
	if long() {
		lengths = append(lengths, 36, 40, 47, 54, 55)
	}
	for _, length := range lengths {
		name := "c" + strings.Repeat("x", length-1)
		order := "CREATE TABLE t_order (id bigint PRIMARY KEY, user_id bigint NOT NULL, CONSTRAINT " + name + " CHECK (user_id > 0))"
		region := "CREATE TABLE t_region (id bigint PRIMARY KEY, name varchar(50), CONSTRAINT " + name + " CHECK (id > 0))"
		a.define(t, order, region)
		exec(t, c.node(t, 1), "DROP TABLE t_order_1, t_region")
		a.define(t, order, region)
		exec(t, c.node(t, 0), "DROP TABLE t_order_0, t_region")
		a.define(t, order, region, "DROP TABLE t_order, t_region")
	}
}
