//go:build unix

package ddl_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
)

const orderTable = "CREATE TABLE t_order (id bigint PRIMARY KEY, user_id bigint NOT NULL)"

// nodesWith returns the nodes of t_order that have a column.
func (c *cluster) nodesWith(t *testing.T, column string) []string {
	t.Helper()
	var nodes []string
	for i := range 2 {
		nodes = append(nodes, lines(t, c.node(t, i), "SELECT CONCAT('ds', ?, '.', table_name) FROM information_schema.columns"+
			" WHERE table_schema = DATABASE() AND table_name LIKE 't\\_order\\__' AND column_name = ? ORDER BY 1", i, column)...)
	}
	return nodes
}

var orderNodes = []string{"ds0.t_order_0", "ds0.t_order_1", "ds1.t_order_0", "ds1.t_order_1"}

// partly holds the facts of a statement that took effect on a part of the nodes.
func partly(t *testing.T, err error) (done, failed []string) {
	t.Helper()
	var facts *sharding.NodesError
	if !errors.Is(err, sharding.ErrPartialDDL) || !errors.As(err, &facts) {
		t.Fatalf("got %v, want ErrPartialDDL", err)
	}
	for _, n := range facts.Nodes {
		failed = append(failed, n.DataSource+"."+n.Table)
		if !strings.Contains(err.Error(), n.DataSource+"."+n.Table) {
			t.Errorf("the error does not name the failed node: %v", err)
		}
	}
	for _, n := range facts.Done {
		if !strings.Contains(err.Error(), n) {
			t.Errorf("the error does not name the node that is done: %v", err)
		}
	}
	return facts.Done, failed
}

// TestALockedNodeLeavesAPartThatCanBeRepeated fails an ALTER on one node for real,
// and repeats it.
func TestALockedNodeLeavesAPartThatCanBeRepeated(t *testing.T) {
	c := newCluster(t, "locked")
	a := c.open(t, c.config())
	a.define(t, orderTable, "INSERT INTO t_order VALUES (1, 1), (2, 2), (3, 3), (4, 4)")

	lock, err := c.node(t, 1).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	if _, err := lock.ExecContext(t.Context(), "LOCK TABLES t_order_1 READ"); err != nil {
		t.Fatal(err)
	}
	const alter = "ALTER TABLE t_order ADD COLUMN note varchar(10) DEFAULT 'x'"
	done, failed := partly(t, a.Exec(alter).Error)
	if !slices.Equal(done, orderNodes[1:3]) || !slices.Equal(failed, orderNodes[3:]) {
		t.Errorf("done %q, failed %q", done, failed)
	}
	if got := c.nodesWith(t, "note"); !slices.Equal(got, done) {
		t.Errorf("the column is on %q, the error says %q", got, done)
	}
	// The nodes differ, and rows of both kinds are not mixed.
	if err := scan(a.DB, "SELECT * FROM t_order"); !errors.Is(err, sharding.ErrSchemaDrift) {
		t.Errorf("SELECT * over nodes that differ: %v", err)
	}
	if _, err := lock.ExecContext(t.Context(), "UNLOCK TABLES"); err != nil {
		t.Fatal(err)
	}
	if err := a.Exec(alter).Error; err != nil {
		t.Errorf("repeated: %v", err)
	}
	if got := c.nodesWith(t, "note"); !slices.Equal(got, orderNodes) {
		t.Errorf("the column is on %q", got)
	}
	if err := scan(a.DB, "SELECT * FROM t_order"); err != nil {
		t.Error(err)
	}
	// Where all have it, and not alike, that is told as well.
	exec(t, c.node(t, 0), "ALTER TABLE t_order_0 MODIFY note varchar(11)")
	if err := a.Exec(alter).Error; number(err) != 1060 || !errors.Is(err, sharding.ErrSchemaDrift) {
		t.Errorf("with another column on one node: %v", err)
	}
	exec(t, c.node(t, 0), "ALTER TABLE t_order_0 MODIFY note varchar(10) DEFAULT 'x'")
	// Once more it is what it is in one database: an error, of every node.
	var facts *sharding.NodesError
	if err := a.Exec(alter).Error; number(err) != 1060 || errors.Is(err, sharding.ErrPartialDDL) || !errors.As(err, &facts) || len(facts.Nodes) != 4 {
		t.Errorf("a third time: %v", err)
	}
}

// scan reads all rows of a query.
func scan(db *gorm.DB, query string) error {
	var rows []map[string]any
	return db.Raw(query).Scan(&rows).Error
}

// TestATableThatIsThereIsMadeOnTheOtherNodesAsWell creates a table that one node
// has already, in another form: the other nodes get that, and the error says so.
func TestATableThatIsThereIsMadeOnTheOtherNodesAsWell(t *testing.T) {
	c := newCluster(t, "exists")
	a := c.open(t, c.config())
	node := c.node(t, 0)
	exec(t, node, "CREATE TABLE t_order_0 (id bigint PRIMARY KEY, user_id varchar(10), own int)")
	err := a.Exec(orderTable).Error
	done, failed := partly(t, err)
	if !slices.Equal(done, orderNodes[1:]) || !slices.Equal(failed, orderNodes[:1]) {
		t.Errorf("done %q, failed %q", done, failed)
	}
	if !errors.Is(err, sharding.ErrSchemaDrift) || number(err) != 1050 || !strings.Contains(err.Error(), "ds0.t_order_0, which was there, has \"`user_id` varchar(10)") {
		t.Errorf("got %v", err)
	}
	if got := c.nodesWith(t, "own"); !slices.Equal(got, orderNodes) {
		t.Errorf("the nodes like the one that was there are %q", got)
	}
	if err := a.Exec(orderTable).Error; number(err) != 1050 || errors.Is(err, sharding.ErrSchemaDrift) {
		t.Errorf("repeated while it is there: %v", err)
	}
	a.define(t, "DROP TABLE t_order", orderTable)

	// One like it is taken for it: the statement has been sent by somebody before.
	exec(t, c.node(t, 1), "DROP TABLE t_order_1")
	a.define(t, orderTable)
	a.define(t, "CREATE INDEX idx_user ON t_order (user_id)")
	exec(t, node, "DROP INDEX idx_user ON t_order_1")
	a.define(t, "CREATE INDEX idx_user ON t_order (user_id)")
	exec(t, node, "DROP INDEX idx_user ON t_order_1")
	a.define(t, "DROP INDEX idx_user ON t_order")
	exec(t, node, "DROP TABLE t_order_1")
	a.define(t, "DROP TABLE t_order")
}

// TestRowsThatForbidADefinitionStopIt fails on the node whose rows do not fit.
func TestRowsThatForbidADefinitionStopIt(t *testing.T) {
	c := newCluster(t, "rows")
	a := c.open(t, c.config())
	a.define(t, "CREATE TABLE t_order (id bigint PRIMARY KEY, user_id bigint NOT NULL, code int)",
		"INSERT INTO t_order VALUES (1, 2, 7), (2, 2, 7), (3, 1, 7)")
	err := a.Exec("ALTER TABLE t_order ADD UNIQUE KEY uni (code)").Error
	_, failed := partly(t, err)
	if number(err) != 1062 || !slices.Equal(failed, []string{"ds0.t_order_1"}) {
		t.Errorf("failed on %q: %v", failed, err)
	}
	a.define(t, "DELETE FROM t_order WHERE id = 2", "ALTER TABLE t_order ADD UNIQUE KEY uni (code)")
}

func TestDDLIsRefusedInATransactionThatHasBegun(t *testing.T) {
	c := newCluster(t, "begun")
	a := c.open(t, c.config())
	a.define(t, orderTable, "CREATE TABLE t_audit (id bigint PRIMARY KEY)", "CREATE TABLE t_plain (id bigint PRIMARY KEY)")
	for _, s := range []string{"ALTER TABLE t_order ADD x int", "TRUNCATE TABLE t_order", "DROP TABLE t_audit", "CREATE TABLE t_new (id int)", "DROP TABLE t_plain, t_audit"} {
		a.Take()
		tx := a.Begin()
		if err := tx.Exec("INSERT INTO t_order VALUES (1, 1), (2, 2)").Error; err != nil {
			t.Fatal(err)
		}
		if err := tx.Exec(s).Error; !errors.Is(err, sharding.ErrUnsupported) {
			t.Errorf("%s in a transaction: %v", s, err)
		}
		if err := tx.Raw(s).Row().Err(); !errors.Is(err, sharding.ErrUnsupported) {
			t.Errorf("%s as a query in a transaction: %v", s, err)
		}
		if err := tx.Rollback().Error; err != nil {
			t.Error(err)
		}
		if sent := strings.Join(a.Take(), "\n"); strings.Contains(sent, s[:8]) {
			t.Errorf("%s was sent:\n%s", s, sent)
		}
		if err := scan(a.DB, "SELECT * FROM t_order"); err != nil {
			t.Error(err)
		}
		var n int64
		if err := a.Table("t_order").Count(&n).Error; err != nil || n != 0 {
			t.Errorf("after the rollback %d rows, %v", n, err)
		}
	}
	// Before its first statement a transaction has begun nowhere.
	err := a.Transaction(func(tx *gorm.DB) error {
		return errors.Join(tx.Exec("ALTER TABLE t_order ADD x int").Error, tx.Exec("INSERT INTO t_order VALUES (1, 1, 1), (2, 2, 2)").Error)
	})
	if err != nil {
		t.Error(err)
	}
	err = a.Transaction(func(tx *gorm.DB) error { return tx.Exec("ALTER TABLE t_order ADD y int").Error }, &sql.TxOptions{ReadOnly: true})
	if !errors.Is(err, sharding.ErrUnsupported) {
		t.Errorf("in a read-only transaction: %v", err)
	}
}

// TestDDLOnTheOneDataSourceOfATransactionCommitsItAsTheServerDoes holds a
// transaction with one branch against one on the server itself.
func TestDDLOnTheOneDataSourceOfATransactionCommitsItAsTheServerDoes(t *testing.T) {
	c := newCluster(t, "commits")
	a := c.open(t, c.config())
	a.define(t, orderTable, "CREATE TABLE t_plain (id bigint PRIMARY KEY)")
	tx := a.Begin()
	for _, s := range []string{"INSERT INTO t_plain VALUES (1)", "CREATE TABLE t_new (id int)", "INSERT INTO t_plain VALUES (2)"} {
		if err := tx.Exec(s).Error; err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := tx.Exec("INSERT INTO t_order VALUES (1, 1)").Error; !errors.Is(err, sharding.ErrUnsupported) {
		t.Errorf("a further data source after DDL: %v", err)
	}
	if err := tx.Exec("INSERT INTO t_order VALUES (1, 4), (2, 6)").Error; !errors.Is(err, sharding.ErrUnsupported) {
		t.Errorf("a write over several tables after DDL: %v", err)
	}
	if err := tx.Rollback().Error; err != nil {
		t.Error(err)
	}
	if got := lines(t, c.node(t, 0), "SELECT id FROM t_plain ORDER BY id"); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("rows %q are left", got)
	}
}

func TestACancelledDefinitionSaysWhatIsDone(t *testing.T) {
	c := newCluster(t, "cancel")
	cfg := c.config()
	for i, server := range c.servers { // without the short lock_wait_timeout
		ds := cfg.DataSources[[]string{"ds0", "ds1"}[i]]
		ds.DSN = config.DSN(server.DSN(c.database(i)))
		cfg.DataSources[[]string{"ds0", "ds1"}[i]] = ds
	}
	a := c.open(t, cfg)
	a.define(t, orderTable)
	lock, err := c.node(t, 0).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	if _, err := lock.ExecContext(t.Context(), "LOCK TABLES t_order_1 READ"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
	defer cancel()
	err = a.WithContext(ctx).Exec("ALTER TABLE t_order ADD COLUMN note int").Error
	done, failed := partly(t, err)
	if !errors.Is(err, context.DeadlineExceeded) || !slices.Contains(done, "ds1.t_order_0") || !slices.Equal(failed, []string{"ds0.t_order_1"}) {
		t.Errorf("done %q, failed %q: %v", done, failed, err)
	}
	if _, err := lock.ExecContext(t.Context(), "UNLOCK TABLES"); err != nil {
		t.Fatal(err)
	}
}

func TestNodesAreComparedAtStart(t *testing.T) {
	c := newCluster(t, "start")
	cfg := c.config()
	cfg.Props.CheckTables, cfg.Props.PreloadTables = true, true
	a := c.open(t, cfg) // no table exists
	a.define(t, schema...)
	a.define(t, "INSERT INTO t_region VALUES (1, 'n')", "INSERT INTO t_order (id, user_id) VALUES (1, 1), (2, 2)")
	c.open(t, cfg) // other names of constraints and other rows are no difference
	node := c.node(t, 1)
	for change, back := range map[string]string{
		"ALTER TABLE t_order_1 ADD COLUMN x int":                     "ALTER TABLE t_order_1 DROP COLUMN x",
		"ALTER TABLE t_order_1 DROP KEY idx_user":                    "ALTER TABLE t_order_1 ADD KEY idx_user (user_id)",
		"ALTER TABLE t_region MODIFY name varchar(60) NOT NULL":      "ALTER TABLE t_region MODIFY name varchar(50) NOT NULL",
		"ALTER TABLE t_order_0 MODIFY amount decimal(10,2) FIRST":    "ALTER TABLE t_order_0 MODIFY amount decimal(10,2) AFTER region_id",
		"ALTER TABLE t_order_0 DROP CONSTRAINT chk_amount_t_order_0": "ALTER TABLE t_order_0 ADD CONSTRAINT chk_amount_t_order_0 CHECK (amount >= 0)",
		"RENAME TABLE t_order_item_1 TO elsewhere":                   "RENAME TABLE elsewhere TO t_order_item_1",
		"ALTER TABLE t_order_1 COMMENT = 'other'":                    "ALTER TABLE t_order_1 COMMENT = ''",
	} {
		exec(t, node, change)
		if _, err := c.tryOpen(t, cfg); !errors.Is(err, sharding.ErrSchemaDrift) || !strings.Contains(err.Error(), "ds1.") {
			t.Errorf("%s: %v", change, err)
		}
		exec(t, node, back)
	}
	if _, err := c.tryOpen(t, cfg); err != nil {
		t.Error(err)
	}
}

// TestATableThatNobodyKnowsIsWarnedOfOnce asks for a table before it exists.
func TestATableThatNobodyKnowsIsWarnedOfOnce(t *testing.T) {
	c := newCluster(t, "unknown")
	a := c.open(t, c.config())
	for range 3 {
		if err := a.Exec("INSERT INTO t_order (id, user_id) VALUES (1, 1)").Error; number(err) != 1146 {
			t.Errorf("a table that does not exist: %v", err)
		}
	}
	if len(a.Warnings()) != 1 || !strings.Contains(a.Warnings()[0], "t_order") {
		t.Errorf("warnings %q", a.Warnings())
	}
	a.define(t, orderTable, "INSERT INTO t_order (id, user_id) VALUES (1, 1)")
}

// TestAUniqueKeyWithoutTheShardingColumnIsWarnedOfOnce: two nodes cannot see each
// other's rows (semantics row 50).
func TestAUniqueKeyWithoutTheShardingColumnIsWarnedOfOnce(t *testing.T) {
	c := newCluster(t, "unique")
	a := c.open(t, c.config())
	a.define(t, "CREATE TABLE t_order (id BIGINT NOT NULL, user_id BIGINT NOT NULL, no VARCHAR(20), "+
		"PRIMARY KEY (user_id, id), UNIQUE KEY uk_no (no), UNIQUE KEY uk_both (no, user_id), KEY k (no))")
	for range 3 {
		if err := a.Exec("SELECT * FROM t_order WHERE user_id = 1").Error; err != nil {
			t.Error(err)
		}
	}
	warned := slices.DeleteFunc(a.Warnings(), func(w string) bool { return !strings.Contains(w, "unique key") })
	if len(warned) != 1 || !strings.Contains(warned[0], "uk_no (no) of table t_order") {
		t.Errorf("warnings %q", a.Warnings())
	}
}

// TestWhereDropIsDeniedNoTableIsLeftBehind: an account that may not drop gets the
// server's word, however often it tries.
func TestWhereDropIsDeniedNoTableIsLeftBehind(t *testing.T) {
	c := newCluster(t, "nodrop")
	cfg := c.config()
	for i, source := range []string{"ds0", "ds1"} {
		for _, host := range []string{"'%'", "localhost"} {
			exec(t, c.node(t, i), "CREATE USER nodrop@"+host+" IDENTIFIED BY 'p'", "GRANT CREATE, SELECT ON *.* TO nodrop@"+host)
		}
		_, server, _ := strings.Cut(string(cfg.DataSources[source].DSN), "@")
		cfg.DataSources[source] = config.DataSource{DSN: config.DSN("nodrop:p@" + server)}
	}
	a := c.open(t, cfg)
	a.define(t, orderTable)
	exec(t, c.node(t, 1), "DROP TABLE t_order_1")
	for range 2 {
		if err := a.Exec(orderTable).Error; number(err) != 1142 || !strings.Contains(err.Error(), "ds1.t_order_1") {
			t.Errorf("got %v", err)
		}
	}
	if left := lines(t, c.node(t, 1), "SHOW TABLES"); !slices.Equal(left, []string{"t_order_0"}) {
		t.Errorf("tables %q are left", left)
	}
}
