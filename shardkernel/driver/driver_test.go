package driver_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/driver"
	"github.com/gormshard/sharding/shardkernel/internal/execute/fakedb"
	"github.com/gormshard/sharding/shardkernel/keygen"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// cluster is a logical database over scripted ones: t_order has four nodes,
// order_id % 4, two in each of ds0 and ds1; t_dict is broadcast.
type cluster struct {
	*sql.DB
	node   [2]*fakedb.Database
	pools  []*sql.DB
	kernel *shardkernel.Kernel
}

func open(t *testing.T) *cluster { return openWith(t, config.Props{}) }

func openWith(t *testing.T, props config.Props) *cluster {
	t.Helper()
	cfg := &config.Config{
		DataSources:       map[string]config.DataSource{"ds0": {Driver: "fake", DSN: "0"}, "ds1": {Driver: "fake", DSN: "1"}},
		DefaultDataSource: "ds0",
		Sharding: config.Sharding{
			Tables: map[string]config.Table{"t_order": {
				ActualDataNodes:  "ds0.t_order_0,ds0.t_order_2,ds1.t_order_1,ds1.t_order_3",
				DatabaseStrategy: &config.Strategy{Standard: &config.Standard{Column: "order_id", Algorithm: "ds"}},
				TableStrategy:    &config.Strategy{Standard: &config.Standard{Column: "order_id", Algorithm: "order"}},
			}},
			BroadcastTables: []string{"t_dict"},
			Algorithms: map[string]config.Algorithm{
				"ds":    {Type: "MOD", Props: map[string]any{"shardingCount": 2}},
				"order": {Type: "MOD", Props: map[string]any{"shardingCount": 4}},
			},
		},
	}
	rules, err := shardkernel.Compile(cfg, algorithm.NewRegistry(), keygen.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{}
	var sources []shardkernel.Source
	for i := range c.node {
		c.node[i] = fakedb.New()
		control := fakedb.New()
		control.On("SELECT sqlite_version()", fakedb.Answer{Columns: fakedb.Columns("v"), Rows: [][]sqldriver.Value{{"3.50"}}})
		pool, controlPool := c.node[i].DB(), control.DB()
		c.pools = append(c.pools, pool)
		t.Cleanup(func() {
			if n := pool.Stats().InUse; n != 0 {
				t.Errorf("ds%d: %d connections are still in use", i, n)
			}
			for _, misuse := range c.node[i].Misuse() {
				t.Errorf("ds%d: %s", i, misuse)
			}
			if err := errors.Join(pool.Close(), controlPool.Close()); err != nil {
				t.Error(err)
			}
		})
		sources = append(sources, shardkernel.Source{Name: fmt.Sprintf("ds%d", i), DB: pool, Control: controlPool, Dialect: "sqlite"})
	}
	c.kernel, err = shardkernel.New(rules, sources, shardkernel.Options{Props: props, ImplicitWrites: true})
	if err != nil {
		t.Fatal(err)
	}
	c.DB = sql.OpenDB(driver.NewConnector(shardkernel.NewLive(c.kernel), nil))
	t.Cleanup(func() {
		if err := c.DB.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func ids(values ...int64) fakedb.Answer {
	a := fakedb.Answer{Columns: []fakedb.Column{{Name: "order_id", Type: "BIGINT"}}}
	for _, v := range values {
		a.Rows = append(a.Rows, []sqldriver.Value{v})
	}
	return a
}

// texts fails unless the data source executed exactly these statements.
func (c *cluster) texts(t *testing.T, source int, want ...string) {
	t.Helper()
	if got := c.node[source].Texts(); !slices.Equal(got, want) {
		t.Errorf("ds%d executed\n  %s\nwant\n  %s", source, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func scan(t *testing.T, rows *sql.Rows, err error) []int64 {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []int64
	for rows.Next() {
		var v int64
		if err := rows.Scan(&v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPlainDatabaseSQLIsRoutedAndMerged(t *testing.T) {
	c := open(t)
	for i, n := range []*fakedb.Database{c.node[0], c.node[1]} {
		for _, table := range []int{i, i + 2} {
			n.On(fmt.Sprintf("SELECT order_id FROM t_order_%d ORDER BY order_id", table), ids(int64(table), int64(table+4)))
		}
	}
	rows, err := c.Query("SELECT order_id FROM t_order ORDER BY order_id")
	if got, want := scan(t, rows, err), []int64{0, 1, 2, 3, 4, 5, 6, 7}; !slices.Equal(got, want) {
		t.Errorf("rows %v, want %v", got, want)
	}
}

func TestPreparedStatementIsRoutedAtExecution(t *testing.T) {
	c := open(t)
	for i := range 4 {
		c.node[i%2].On(fmt.Sprintf("SELECT order_id FROM t_order_%d WHERE order_id = ?", i), ids(int64(i)))
	}
	stmt, err := c.Prepare("SELECT order_id FROM t_order WHERE order_id = ?")
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	for i := range 4 {
		rows, err := stmt.Query(i)
		if got := scan(t, rows, err); !slices.Equal(got, []int64{int64(i)}) {
			t.Errorf("order_id = %d: rows %v", i, got)
		}
	}
}

func TestColumnTypesPassThrough(t *testing.T) {
	c := open(t)
	c.node[1].Otherwise(ids(1))
	c.node[0].Otherwise(ids(2))
	for _, query := range []string{"SELECT order_id FROM t_order WHERE order_id = 1", "SELECT order_id FROM t_order"} {
		rows, err := c.Query(query)
		if err != nil {
			t.Fatal(err)
		}
		types, err := rows.ColumnTypes()
		if err := errors.Join(err, rows.Err()); err != nil {
			t.Fatal(err)
		}
		if len(types) != 1 || types[0].Name() != "order_id" || types[0].DatabaseTypeName() != "BIGINT" {
			t.Errorf("%s: column types %v", query, types)
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}
}

type codedError struct{ code int }

func (e *codedError) Error() string { return fmt.Sprintf("code %d", e.code) }

func TestErrorOfOneNodeIsTheDriversOwnValue(t *testing.T) {
	c := open(t)
	c.node[1].Otherwise(fakedb.Answer{Err: &codedError{1062}})
	_, err := c.Exec("INSERT INTO t_order (order_id) VALUES (1)")
	if coded, ok := err.(*codedError); !ok || coded.code != 1062 { // dialectors assert the value without unwrapping
		t.Errorf("error %T %v, want the driver's *codedError", err, err)
	}
}

func TestErrorOfSeveralNodesNamesThemAndUnwraps(t *testing.T) {
	c := open(t)
	c.node[1].On("UPDATE t_order_3 SET a = 1", fakedb.Answer{Err: &codedError{1062}})
	_, err := c.Exec("UPDATE t_order SET a = 1")
	var nodes *fault.NodesError
	var coded *codedError
	if !errors.As(err, &nodes) || len(nodes.Nodes) != 1 || nodes.Nodes[0].DataSource != "ds1" || nodes.Nodes[0].Table != "t_order_3" {
		t.Errorf("error %v does not name ds1.t_order_3", err)
	}
	if !errors.As(err, &coded) || coded.code != 1062 {
		t.Errorf("error %v does not unwrap to the driver's", err)
	}
}

// A write over several nodes whose connection breaks must not be run again:
// database/sql repeats whatever matches driver.ErrBadConn.
func TestNothingRunsTwiceWhenAConnectionBreaks(t *testing.T) {
	broken := fmt.Errorf("write: %w", sqldriver.ErrBadConn)
	for _, query := range []string{"UPDATE t_order SET a = 1", "UPDATE t_order SET a = 1 WHERE order_id = 3"} {
		c := open(t)
		c.node[1].On("UPDATE t_order_3 SET a = 1", fakedb.Answer{Err: broken, Break: true})
		c.node[1].On("UPDATE t_order_3 SET a = 1 WHERE order_id = 3", fakedb.Answer{Err: broken, Break: true})
		_, err := c.Exec(query)
		if err == nil || errors.Is(err, sqldriver.ErrBadConn) {
			t.Errorf("%s: error %v must not match driver.ErrBadConn", query, err)
		}
		for i, n := range c.node {
			counts := map[string]int{}
			for _, text := range n.Texts() {
				if counts[text]++; strings.HasPrefix(text, "UPDATE") && counts[text] > 1 {
					t.Errorf("%s: ds%d executed %q %d times", query, i, text, counts[text])
				}
			}
			if n := c.node[i].Count("COMMIT"); n != 0 {
				t.Errorf("%s: ds%d committed", query, i)
			}
		}
	}
}

func TestWriteOverSeveralNodesIsOneTransaction(t *testing.T) {
	c := open(t)
	result, err := c.Exec("DELETE FROM t_order WHERE a = ?", 5)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := result.RowsAffected(); n != 0 || err != nil {
		t.Errorf("RowsAffected %d, %v", n, err)
	}
	c.texts(t, 0, "BEGIN", "DELETE FROM t_order_0 WHERE a = ?", "DELETE FROM t_order_2 WHERE a = ?", "COMMIT")
	c.texts(t, 1, "BEGIN", "DELETE FROM t_order_1 WHERE a = ?", "DELETE FROM t_order_3 WHERE a = ?", "COMMIT")
}

func TestAffectedRowsAreSummedAndBroadcastCountsOnce(t *testing.T) {
	c := open(t)
	for _, n := range c.node {
		n.Otherwise(fakedb.Answer{Affected: 3})
	}
	for query, want := range map[string]int64{"UPDATE t_order SET a = 1": 12, "UPDATE t_dict SET a = 1": 3} {
		result, err := c.Exec(query)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := result.RowsAffected(); n != want || err != nil {
			t.Errorf("%s: RowsAffected %d, %v; want %d", query, n, err, want)
		}
	}
}

func TestTransactionBeginsWhereAStatementNeedsIt(t *testing.T) {
	c := open(t)
	tx, err := c.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	c.texts(t, 1)
	if _, err := tx.Exec("SELECT 1 FROM t_order WHERE order_id = 1"); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	c.texts(t, 0)
	if got := c.node[1].Texts(); len(got) != 3 || !strings.HasPrefix(got[0], "BEGIN ") || got[2] != "COMMIT" {
		t.Errorf("ds1 executed %q, want BEGIN with the read-only option, the statement, COMMIT", got)
	}
}

func TestFailedStatementOfATransactionLeavesTheRest(t *testing.T) {
	c := open(t)
	c.node[1].On("UPDATE t_order_1 SET a = 1", fakedb.Answer{Err: &codedError{1064}})
	tx, err := c.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("INSERT INTO t_order (order_id) VALUES (2)"); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("UPDATE t_order SET a = 1"); err == nil {
		t.Error("the failing write reports no error")
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	ds0 := strings.Join(c.node[0].Texts(), "; ")
	if !strings.HasPrefix(ds0, "BEGIN; INSERT INTO t_order_2 (order_id) VALUES (2); SAVEPOINT ") || !strings.Contains(ds0, "ROLLBACK TO SAVEPOINT") || !strings.HasSuffix(ds0, "COMMIT") {
		t.Errorf("ds0 executed %s; want the insert committed and the update undone", ds0)
	}
}

func TestSavepointsReachEveryBranch(t *testing.T) {
	c := open(t)
	tx, err := c.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		"INSERT INTO t_order (order_id) VALUES (0)", "SAVEPOINT sp1", "INSERT INTO t_order (order_id) VALUES (1)", "ROLLBACK TO SAVEPOINT sp1",
	} {
		result, err := tx.Exec(query)
		if err != nil || result == nil {
			t.Fatalf("%s: %v, %v", query, result, err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	c.texts(t, 0, "BEGIN", "INSERT INTO t_order_0 (order_id) VALUES (0)", "SAVEPOINT sp1", "ROLLBACK TO SAVEPOINT sp1", "COMMIT")
	c.texts(t, 1, "BEGIN", "SAVEPOINT sp1", "INSERT INTO t_order_1 (order_id) VALUES (1)", "ROLLBACK TO SAVEPOINT sp1", "COMMIT")
}

func TestRefusedStatementsSendNothing(t *testing.T) {
	c := open(t)
	for query, class := range map[string]error{
		"BEGIN":                                                fault.ErrUnsupported,
		"SAVEPOINT a":                                          fault.ErrUnsupported,
		"SET foreign_key_checks = 0":                           fault.ErrUnsupported,
		"SELECT * FROM t_order WHERE":                          fault.ErrUnsupported,
		"SELECT 'unclosed FROM t_order":                        fault.ErrUnsupported,
		"SELECT * FROM t_order WHERE order_id = ?":             fault.ErrUnsupported, // no argument
		"ALTER TABLE t_order RENAME TO t_orders":               fault.ErrUnsupported,
		"INSERT INTO t_order (a) VALUES (1)":                   fault.ErrNoShardingKey,
		"UPDATE t_order SET order_id = 2":                      fault.ErrShardingKeyUpdate,
		"DELETE FROM t_order LIMIT 1":                          fault.ErrUnsupported,
		"SELECT GROUP_CONCAT(a) FROM t_order":                  fault.ErrUnsupported,
		"SELECT a FROM t_order LIMIT 1 FOR UPDATE SKIP LOCKED": fault.ErrUnsupported,
		"SELECT 1; SELECT * FROM t_order WHERE a = 1;":         fault.ErrUnsupported,
	} {
		_, execErr := c.Exec(query)
		rows, queryErr := c.Query(query)
		if rows != nil {
			t.Errorf("%s: rows without an error, %v", query, errors.Join(rows.Err(), rows.Close()))
		}
		for _, err := range []error{execErr, queryErr} {
			if !errors.Is(err, class) {
				t.Errorf("%s: error %v, want one of class %q", query, err, class)
			}
		}
	}
	c.texts(t, 0)
	c.texts(t, 1)
}

func TestUnconfiguredTablesPassThroughByteForByte(t *testing.T) {
	c := open(t)
	const query = "INSERT  INTO audit (a) SELECT ' t_order ' /* t_order */ RETURNING a -- t_order"
	rows, err := c.Query(query)
	scan(t, rows, err)
	c.texts(t, 0, query)
	c.texts(t, 1)
}

type countingValuer struct{ calls *int }

func (v countingValuer) Value() (sqldriver.Value, error) {
	*v.calls++
	return int64(*v.calls), nil
}

func TestValuerIsAskedOnce(t *testing.T) {
	c := open(t)
	calls := 0
	if _, err := c.Exec("INSERT INTO t_order (order_id) VALUES (?)", countingValuer{&calls}); err != nil {
		t.Fatal(err)
	}
	if calls != 1 {
		t.Errorf("the Valuer was asked %d times; the value routed by would not be the value stored", calls)
	}
	if got := c.node[1].Executed(); len(got) != 1 || got[0].Args[0] != int64(1) || got[0].SQL != "INSERT INTO t_order_1 (order_id) VALUES (?)" {
		t.Errorf("ds1 executed %v", got)
	}
}

func TestNamedArgumentsAreRefused(t *testing.T) {
	c := open(t)
	_, err := c.Exec("INSERT INTO t_order (order_id) VALUES (@id)", sql.Named("id", 1))
	if err == nil || !strings.Contains(err.Error(), "@id") {
		t.Errorf("error %v does not name the argument", err)
	}
	c.texts(t, 0)
}

func TestCancelledContextEndsEveryNode(t *testing.T) {
	c := open(t)
	hold := make(chan struct{})
	defer close(hold)
	for _, n := range c.node {
		n.Otherwise(fakedb.Answer{Hold: hold})
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for c.node[0].OpenConns() == 0 || c.node[1].OpenConns() == 0 {
		}
		cancel()
	}()
	rows, err := c.QueryContext(ctx, "SELECT * FROM t_order")
	if rows != nil {
		err = errors.Join(err, rows.Err(), rows.Close())
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

func TestStatementTimeoutEndsASlowNode(t *testing.T) {
	c := openWith(t, config.Props{StatementTimeout: 20 * time.Millisecond})
	hold := make(chan struct{})
	defer close(hold)
	c.node[1].On("SELECT order_id FROM t_order_3", fakedb.Answer{Hold: hold})
	c.node[1].On("UPDATE t_order_3 SET a = 1", fakedb.Answer{Hold: hold})
	rows, err := c.Query("SELECT order_id FROM t_order")
	if err == nil {
		for rows.Next() {
		}
		err = errors.Join(rows.Err(), rows.Close())
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("query: error %v, want context.DeadlineExceeded", err)
	}
	if _, err := c.Exec("UPDATE t_order SET a = 1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("exec: error %v, want context.DeadlineExceeded", err)
	}
	rows, err = c.Query("SELECT order_id FROM t_order WHERE order_id = 1")
	if got := scan(t, rows, err); len(got) != 0 {
		t.Errorf("a quick statement: rows %v", got)
	}
}

func TestConnectorRefusesNames(t *testing.T) {
	c := open(t)
	if _, err := c.Driver().Open("ds0"); err == nil {
		t.Error("opening by name succeeded")
	}
	if err := c.PingContext(context.Background()); err != nil {
		t.Error(err)
	}
}
