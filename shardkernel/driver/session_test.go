package driver_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/execute/fakedb"
)

// take returns a connection that is held.
func (c *cluster) take(t *testing.T) *sql.Conn {
	t.Helper()
	conn, err := c.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// runner is what *sql.DB, *sql.Conn and *sql.Tx have in common.
type runner interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func must(t *testing.T, r runner, queries ...string) {
	t.Helper()
	for _, query := range queries {
		if _, err := r.ExecContext(t.Context(), query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
}

// sent is what a data source executed, with the number of the connection.
func (c *cluster) sent(source int) []string {
	var out []string
	for _, s := range c.node[source].Executed() {
		text := fmt.Sprintf("%d: %s", s.Conn, s.SQL)
		if len(s.Args) > 0 {
			text += fmt.Sprint(" ", s.Args)
		}
		out = append(out, text)
	}
	return out
}

func (c *cluster) wantSent(t *testing.T, source int, want ...string) {
	t.Helper()
	if got := c.sent(source); !slices.Equal(got, want) {
		t.Errorf("ds%d executed\n  %s\nwant\n  %s", source, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestSettingReachesEveryNodeTheConnectionUsesAndNobodyElse(t *testing.T) {
	c := open(t)
	conn := c.take(t)
	must(t, conn, "SET time_zone = '+05:00'")
	if _, err := conn.ExecContext(t.Context(), "SET SESSION foreign_key_checks = ?, @a = ?", 0, "x"); err != nil {
		t.Fatal(err)
	}
	must(t, conn, "SET time_zone = '+06:00'", "UPDATE t_order SET a = 1 WHERE order_id = 1", "UPDATE t_order SET a = 1 WHERE order_id = 3")
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	must(t, c, "UPDATE t_order SET a = 2 WHERE order_id = 1", "SELECT 1")
	c.wantSent(t, 0, "1: SET time_zone = '+05:00'", "1: SET SESSION foreign_key_checks = ?, @a = ? [0 x]", "1: SET time_zone = '+06:00'", "2: SELECT 1")
	c.wantSent(t, 1,
		"1: SET SESSION foreign_key_checks = ?, @a = ?, SESSION time_zone = '+06:00' [0 x]",
		"1: UPDATE t_order_1 SET a = 1 WHERE order_id = 1", "1: UPDATE t_order_3 SET a = 1 WHERE order_id = 3",
		"2: UPDATE t_order_1 SET a = 2 WHERE order_id = 1")
}

func TestSettingInsideATransactionReachesItsBranches(t *testing.T) {
	c := open(t)
	tx, err := c.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	must(t, tx, "DELETE FROM t_order WHERE order_id = 1", "SET unique_checks = 0", "DELETE FROM t_order WHERE order_id = 2", "SAVEPOINT a", "ROLLBACK TO a")
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	must(t, c, "DELETE FROM t_order")
	c.wantSent(t, 1, "1: BEGIN", "1: DELETE FROM t_order_1 WHERE order_id = 1", "1: SET unique_checks = 0", "1: SAVEPOINT a", "1: ROLLBACK TO SAVEPOINT a", "1: COMMIT",
		"2: BEGIN", "2: DELETE FROM t_order_1", "2: DELETE FROM t_order_3", "2: COMMIT")
	c.wantSent(t, 0, "1: SET SESSION unique_checks = 0", "1: BEGIN", "1: DELETE FROM t_order_2 WHERE order_id = 2", "1: SAVEPOINT a", "1: ROLLBACK TO SAVEPOINT a", "1: COMMIT",
		"2: BEGIN", "2: DELETE FROM t_order_0", "2: DELETE FROM t_order_2", "2: COMMIT")
}

func TestWriteOverSeveralNodesRunsOnTheSessionsConnections(t *testing.T) {
	c := open(t)
	conn := c.take(t)
	must(t, conn, "SET unique_checks = 0", "DELETE FROM t_order", "BEGIN", "DELETE FROM t_order WHERE order_id = 1", "COMMIT")
	c.wantSent(t, 0, "1: SET unique_checks = 0", "1: BEGIN", "1: DELETE FROM t_order_0", "1: DELETE FROM t_order_2", "1: COMMIT")
	c.wantSent(t, 1, "1: SET SESSION unique_checks = 0", "1: BEGIN", "1: DELETE FROM t_order_1", "1: DELETE FROM t_order_3", "1: COMMIT",
		"1: BEGIN", "1: DELETE FROM t_order_1 WHERE order_id = 1", "1: COMMIT")
}

func TestTransactionAsText(t *testing.T) {
	c := open(t)
	conn := c.take(t)
	must(t, conn, "START TRANSACTION READ ONLY", "SELECT 1 FROM t_order WHERE order_id = 1", "COMMIT AND CHAIN", "SELECT 2 FROM t_order WHERE order_id = 1", "ROLLBACK",
		"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "BEGIN", "DELETE FROM t_order WHERE order_id = 1", "BEGIN", "DELETE FROM t_order WHERE order_id = 3", "ROLLBACK")
	c.wantSent(t, 1,
		"1: BEGIN READ ONLY", "1: SELECT 1 FROM t_order_1 WHERE order_id = 1", "1: COMMIT",
		"1: BEGIN READ ONLY", "1: SELECT 2 FROM t_order_1 WHERE order_id = 1", "1: ROLLBACK",
		"1: BEGIN Serializable", "1: DELETE FROM t_order_1 WHERE order_id = 1", "1: COMMIT",
		"1: BEGIN", "1: DELETE FROM t_order_3 WHERE order_id = 3", "1: ROLLBACK")
	c.wantSent(t, 0)
}

func TestForgottenTransactionAsTextIsRolledBack(t *testing.T) {
	c := open(t)
	conn := c.take(t)
	must(t, conn, "BEGIN", "DELETE FROM t_order WHERE order_id = 1")
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	must(t, c, "DELETE FROM t_order WHERE order_id = 1")
	c.wantSent(t, 1, "1: BEGIN", "1: DELETE FROM t_order_1 WHERE order_id = 1", "1: ROLLBACK", "1: DELETE FROM t_order_1 WHERE order_id = 1")
}

// A statement of the pool itself leaves nothing behind, so what it would leave is
// refused; on a connection that is held the same is carried out.
func TestStatementsAboutTheSessionWantAConnectionOfTheirOwn(t *testing.T) {
	queries := []string{
		"SET foreign_key_checks = 0", "SET @a = 1", "SET SESSION TRANSACTION READ ONLY", "SET TRANSACTION READ ONLY", "BEGIN", "START TRANSACTION",
		"SELECT GET_LOCK('a', 1)", "SELECT 1 INTO @a", "CREATE TEMPORARY TABLE x (a int)",
	}
	for _, query := range queries {
		c := open(t)
		_, execErr := c.ExecContext(t.Context(), query)
		_, direct, directErr := c.kernel.Direct(t.Context(), nil, query, nil)
		if directErr == nil && direct != nil {
			_, directErr = c.ExecContext(t.Context(), query, direct)
		}
		_, prepareErr := c.PrepareContext(t.Context(), query) //nolint:sqlclosecheck // closed with the connection
		if strings.HasPrefix(query, "SELECT") || strings.HasPrefix(query, "CREATE") {
			prepareErr = execErr // prepared, and refused when it is executed
		}
		rows, queryErr := c.QueryContext(t.Context(), query)
		if rows != nil {
			queryErr = errors.Join(rows.Err(), rows.Close())
		}
		for way, err := range map[string]error{"exec": execErr, "direct": directErr, "prepare": prepareErr, "query": queryErr, "row": c.QueryRowContext(t.Context(), query).Err()} {
			if !errors.Is(err, fault.ErrUnsupported) || !strings.Contains(err.Error(), "db.Connection") {
				t.Errorf("%s of %s: error %v, want ErrUnsupported that names db.Connection", way, query, err)
			}
		}
		c.texts(t, 0)
		c.texts(t, 1)
		must(t, c.take(t), query)
		conn := c.take(t)
		rows, err := conn.QueryContext(t.Context(), query)
		if err != nil {
			t.Errorf("%s as a query: %v", query, err)
			continue
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestSettingsThatChangeAnswersAreRefused(t *testing.T) {
	c := open(t)
	conn := c.take(t)
	for _, query := range []string{
		"SET autocommit = 0", "SET autocommit=1", "SET sql_mode = ''", "SET NAMES utf8mb4", "SET CHARACTER SET utf8mb4", "SET character_set_results = NULL",
		"SET collation_connection = utf8mb4_bin", "SET timestamp = 1", "SET sql_select_limit = 1", "SET nonsense = 1", "SET div_precision_increment = 8",
		"SET foreign_key_checks = DEFAULT", "SET foreign_key_checks = @@foreign_key_checks", "SET foreign_key_checks = 0, autocommit = 0",
		"SET @a = NOW()", "SET transaction_isolation = 'READ-COMMITTED'", "SET ROLE x", "SET STATEMENT max_statement_time = 1 FOR SELECT 1",
		"SET GLOBAL sql_mode = ''", "SET GLOBAL time_zone = '+00:00'", "SET @@global.character_set_server = utf8", "SET GLOBAL TRANSACTION ISOLATION LEVEL SERIALIZABLE",
		"XA START 'a'", "START TRANSACTION WITH CONSISTENT SNAPSHOT", "COMMIT RELEASE", "COMMIT", "ROLLBACK", "SAVEPOINT a",
		"USE elsewhere", "PREPARE s FROM 'SELECT 1'", "EXECUTE s", "DEALLOCATE PREPARE s", "HANDLER t OPEN", "LOCK TABLES x WRITE", "UNLOCK TABLES", "LOCK TABLES t_order WRITE",
		"CREATE TEMPORARY TABLE t_order (a int)", "CREATE TEMPORARY TABLE x SELECT * FROM t_order", "CALL p()", "CALL p(t_order)",
		"KILL 5", "SHUTDOWN", "RESET MASTER", "INSTALL SONAME 'x'", "FLUSH LOGS", "FLUSH TABLES WITH READ LOCK", "CHANGE MASTER TO MASTER_HOST = 'x'", "BACKUP STAGE START",
		"SELECT FOUND_ROWS()", "SELECT ROW_COUNT()", "SELECT LAST_INSERT_ID()", "SELECT @@identity", "SELECT GET_LOCK('a', 1) FROM t_order WHERE order_id = 1",
		"SELECT @a, a FROM t_order",
		"BEGIN; SELECT 1", "SET foreign_key_checks = 0; DROP TABLE x",
	} {
		_, err := conn.ExecContext(t.Context(), query)
		var facts *fault.UnsupportedError
		if !errors.As(err, &facts) || facts.Clause == "" || facts.Reason == "" || facts.Remedy == "" {
			t.Errorf("%s: error %v, want ErrUnsupported with clause, reason and remedy", query, err)
		}
	}
	c.texts(t, 0)
	c.texts(t, 1)
}

func TestSettingTheServerRefusesChangesNothing(t *testing.T) {
	c := open(t)
	c.node[0].On("SET time_zone = 'nonsense'", fakedb.Answer{Err: &codedError{1298}})
	conn := c.take(t)
	_, err := conn.ExecContext(t.Context(), "SET time_zone = 'nonsense'")
	if coded, ok := err.(*codedError); !ok || coded.code != 1298 {
		t.Errorf("error %v, want the driver's own", err)
	}
	must(t, conn, "DELETE FROM t_order WHERE order_id = 1")
	c.texts(t, 1, "DELETE FROM t_order_1 WHERE order_id = 1")
}

func TestSettingThatAFurtherNodeRefusesFailsTheStatementUnsent(t *testing.T) {
	c := open(t)
	c.node[1].On("SET SESSION time_zone = 'Mars'", fakedb.Answer{Err: &codedError{1298}})
	conn := c.take(t)
	must(t, conn, "SET time_zone = 'Mars'")
	var node *fault.NodeError
	if _, err := conn.ExecContext(t.Context(), "DELETE FROM t_order WHERE order_id = 1"); !errors.As(err, &node) || node.DataSource != "ds1" {
		t.Errorf("error %v does not name ds1", err)
	}
	if n := c.node[1].OpenConns(); n != 0 {
		t.Errorf("%d connections of ds1 are still open, with a part of the settings", n)
	}
	must(t, conn, "DELETE FROM t_order WHERE order_id = 2")
}

func TestSessionEndsWithALostConnection(t *testing.T) {
	c := open(t)
	broken := fmt.Errorf("write: %w", sqldriver.ErrBadConn)
	c.node[1].On("DELETE FROM t_order_1 WHERE order_id = 1", fakedb.Answer{Err: broken, Break: true})
	conn := c.take(t)
	must(t, conn, "SET unique_checks = 0")
	if _, err := conn.ExecContext(t.Context(), "DELETE FROM t_order WHERE order_id = 1"); err == nil || errors.Is(err, sqldriver.ErrBadConn) {
		t.Errorf("error %v must not match driver.ErrBadConn", err)
	}
	for _, query := range []string{"DELETE FROM t_order WHERE order_id = 2", "SET unique_checks = 1", "SELECT 1"} {
		if _, err := conn.ExecContext(t.Context(), query); err == nil || errors.Is(err, sqldriver.ErrBadConn) || !strings.Contains(err.Error(), "ds1") {
			t.Errorf("%s on a lost session: error %v", query, err)
		}
	}
	if n := c.node[0].Count("DELETE FROM t_order_2 WHERE order_id = 2"); n != 0 {
		t.Error("a statement ran on what was left of the session")
	}
}

func TestCancelledStatementEndsTheSession(t *testing.T) {
	c := open(t)
	hold := make(chan struct{})
	defer close(hold)
	c.node[1].On("DELETE FROM t_order_1 WHERE order_id = 1", fakedb.Answer{Hold: hold})
	conn := c.take(t)
	must(t, conn, "SET unique_checks = 0")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := conn.ExecContext(ctx, "DELETE FROM t_order WHERE order_id = 1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want context.DeadlineExceeded", err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	for i, n := range c.node {
		if n.OpenConns() != 0 {
			t.Errorf("ds%d has %d open connections", i, n.OpenConns())
		}
	}
}

func TestSessionAndItsTransactionShareAPoolOfOne(t *testing.T) {
	c := open(t)
	for _, s := range c.pools {
		s.SetMaxOpenConns(1)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	conn := c.take(t)
	run := func(r runner, query string) {
		t.Helper()
		if _, err := r.ExecContext(ctx, query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	run(conn, "DELETE FROM t_order")
	run(conn, "SET unique_checks = 0")
	run(conn, "DELETE FROM t_order")
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	run(tx, "DELETE FROM t_order")
	run(tx, "SET unique_checks = 1")
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	run(conn, "CREATE USER a")
	run(conn, "SELECT 1 FROM t_order")
	rows, err := conn.QueryContext(ctx, "SELECT order_id FROM t_order")
	scan(t, rows, err)
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	run(c, "DELETE FROM t_order")
}

func TestNoticesOfTheStatementBeforeAreAskedOfItsNode(t *testing.T) {
	c := open(t)
	tx, err := c.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	refused := func(query string) {
		t.Helper()
		if _, err := tx.ExecContext(t.Context(), query); !errors.Is(err, fault.ErrUnsupported) {
			t.Errorf("%s: error %v, want ErrUnsupported", query, err)
		}
	}
	refused("SELECT LAST_INSERT_ID()")
	must(t, tx, "INSERT INTO audit (a) VALUES (1)", "SELECT ROW_COUNT()", "SELECT LAST_INSERT_ID()")
	must(t, tx, "INSERT INTO t_order (order_id) VALUES (1)")
	refused("SELECT ROW_COUNT()")      // ds0 would tell of an earlier statement
	refused("SELECT LAST_INSERT_ID()") // nobody knows whether ds1 has given an id
	must(t, tx, "SELECT a FROM t_order")
	refused("SELECT FOUND_ROWS()")
}

func TestUserVariablesLiveAsLongAsTheConnection(t *testing.T) {
	c := open(t)
	conn := c.take(t)
	must(t, conn, "SET @a = 1", "SELECT @a", "SELECT MAX(a) FROM audit INTO @m", "INSERT INTO audit (a) VALUES (@m)")
	c.wantSent(t, 0, "1: SET @a = 1", "1: SELECT @a", "1: SELECT MAX(a) FROM audit INTO @m", "1: INSERT INTO audit (a) VALUES (@m)")
	// Every variable that is read is assigned in the statement.
	must(t, c, "SELECT @r := @r + 1 FROM audit, (SELECT @r := 0) x")
}

func TestUseOfTheLogicalSchemaIsNotSent(t *testing.T) {
	c := open(t)
	must(t, c, "USE main")
	if _, err := c.ExecContext(t.Context(), "USE other"); !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("USE of another schema: error %v", err)
	}
	c.texts(t, 0)
}

func TestAccountsGoToEveryServerAndGrantsToTheirTables(t *testing.T) {
	c := open(t)
	must(t, c, "CREATE USER a IDENTIFIED BY 'x'", "GRANT SELECT ON *.* TO a", "GRANT SELECT (order_id) ON t_order TO a", "GRANT INSERT ON main.t_dict TO a",
		"REVOKE SELECT ON `main`.* FROM a", "GRANT SELECT ON audit TO a", "GRANT SELECT ON other.t_order TO a", "SET GLOBAL max_connections = 5")
	c.texts(t, 0, "CREATE USER a IDENTIFIED BY 'x'", "GRANT SELECT ON *.* TO a", "GRANT SELECT (order_id) ON `t_order_2` TO a", "GRANT SELECT (order_id) ON `t_order_0` TO a",
		"GRANT INSERT ON `t_dict` TO a", "REVOKE SELECT ON `main`.* FROM a", "GRANT SELECT ON `audit` TO a", "GRANT SELECT ON other.t_order TO a", "SET GLOBAL max_connections = 5")
	c.texts(t, 1, "CREATE USER a IDENTIFIED BY 'x'", "GRANT SELECT ON *.* TO a", "GRANT SELECT (order_id) ON `t_order_1` TO a", "GRANT SELECT (order_id) ON `t_order_3` TO a",
		"GRANT INSERT ON `t_dict` TO a", "REVOKE SELECT ON `main`.* FROM a", "SET GLOBAL max_connections = 5")
}

func TestHalfWayFailureNamesWhatIsDone(t *testing.T) {
	c := open(t)
	c.node[1].On("CREATE USER a", fakedb.Answer{Err: &codedError{1396}})
	_, err := c.ExecContext(t.Context(), "CREATE USER a")
	var nodes *fault.NodesError
	var coded *codedError
	if !errors.As(err, &nodes) || len(nodes.Nodes) != 1 || nodes.Nodes[0].DataSource != "ds1" || !errors.As(err, &coded) {
		t.Fatalf("error %v does not name ds1 as failed", err)
	}
	// The servers are asked at the same time, so ds0 may not have been any more.
	if sent, done := c.node[0].Count("CREATE USER a") > 0, slices.Contains(nodes.Done, "ds0"); sent != done || done != errors.Is(err, fault.ErrPartialDDL) {
		t.Errorf("error %v: sent to ds0 %t, named as done %t", err, sent, done)
	}
}
