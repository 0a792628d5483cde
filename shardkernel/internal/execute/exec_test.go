package execute

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/execute/fakedb"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

func TestResultsStandInTheOrderOfTheUnits(t *testing.T) {
	c := newCluster(t, Limits{}, "ds0", "ds1")
	c.fakes["ds0"].On("UPDATE t_0", fakedb.Answer{Affected: 1, InsertID: 10, Delay: 5 * time.Millisecond})
	c.fakes["ds0"].On("UPDATE t_1", fakedb.Answer{Affected: 2})
	c.fakes["ds1"].On("UPDATE t_2", fakedb.Answer{Affected: 3})
	got, err := c.Exec(t.Context(), write([2]string{"ds0", "t_0"}, [2]string{"ds1", "t_2"}, [2]string{"ds0", "t_1"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "results", got, []Result{{1, 10}, {3, 0}, {2, 0}})
	equal(t, "sent", c.executed(), map[string][]string{"ds0": {"UPDATE t_0", "UPDATE t_1"}, "ds1": {"UPDATE t_2"}})
	equal(t, "connections of ds0", c.fakes["ds0"].OpenConns(), 1)
}

// No server sees that two statements wait for each other's locks on others, so
// both have to ask the data sources in the same order.
func TestWritesThatLockRowsGoFromDataSourceToDataSource(t *testing.T) {
	c := newCluster(t, Limits{}, "ds0", "ds1", "ds2")
	c.fakes["ds0"].On("UPDATE t_0", fakedb.Answer{Affected: 1, Delay: 20 * time.Millisecond})
	c.fakes["ds1"].On("UPDATE t_1", fakedb.Answer{Err: errors.New("no")})
	ex := write([2]string{"ds2", "t_2"}, [2]string{"ds1", "t_1"}, [2]string{"ds0", "t_0"})
	ex.InTurn = true
	if _, err := c.Exec(t.Context(), ex, nil); err == nil || !strings.Contains(err.Error(), "ds1.t_1: no") {
		t.Errorf("error %v", err)
	}
	// Had all been sent at once, or in text order, ds2 would have been reached.
	equal(t, "sent", c.executed(), map[string][]string{"ds0": {"UPDATE t_0"}, "ds1": {"UPDATE t_1"}})
	c.fakes["ds1"].On("UPDATE t_1", fakedb.Answer{Affected: 2})
	c.fakes["ds2"].On("UPDATE t_2", fakedb.Answer{Affected: 3})
	got, err := c.Exec(t.Context(), ex, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "results", got, []Result{{3, 0}, {2, 0}, {1, 0}})
}

// Semantics row 65. What a driver says after it may have sent something is not
// believed to be a leave to repeat it.
func TestNothingRunsTwice(t *testing.T) {
	wrapped := fmt.Errorf("write: %w", driver.ErrBadConn)
	single, several := [][2]string{{"ds0", "t_0"}}, [][2]string{{"ds0", "t_0"}, {"ds1", "t_1"}}
	for _, test := range []struct {
		name  string
		units [][2]string
		err   error
		tx    bool
	}{
		{"one unit", single, wrapped, false},
		{"several units", several, wrapped, false},
		{"one unit in a transaction", single, wrapped, true},
		{"several units in a transaction", several, wrapped, true},
		{"several units, unsent", several, driver.ErrBadConn, false},
		{"one unit in a transaction, unsent", single, driver.ErrBadConn, true},
	} {
		for _, rows := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, rows %v", test.name, rows), func(t *testing.T) {
				c := newCluster(t, Limits{}, "ds0", "ds1")
				ex := write(test.units...)
				c.fakes["ds0"].On(ex.Units[0].SQL, fakedb.Answer{Err: test.err, Break: true})
				var br Branches
				if test.tx {
					b := &branches{c: c}
					defer b.end()
					br = b
				}
				var err error
				if rows {
					_, err = c.Query(t.Context(), ex, br)
				} else {
					_, err = c.Exec(t.Context(), ex, br)
				}
				if err == nil || errors.Is(err, driver.ErrBadConn) {
					t.Errorf("got %v, want an error that does not match driver.ErrBadConn", err)
				}
				if !strings.Contains(err.Error(), "ds0") || !strings.Contains(err.Error(), "bad connection") {
					t.Errorf("%v does not keep the text and name ds0", err)
				}
				for _, u := range ex.Units {
					if n := c.fakes[u.DataSource].Count(u.SQL); n > 1 {
						t.Errorf("%s ran %d times", u.SQL, n)
					}
				}
			})
		}
	}
}

func TestAStatementThatWasNotSentIsRepeatedOnAnotherConnection(t *testing.T) {
	dead := fakedb.Answer{Err: driver.ErrBadConn, Break: true}
	t.Run("until one works", func(t *testing.T) {
		c := newCluster(t, Limits{}, "ds0")
		c.fakes["ds0"].On("UPDATE t_0", dead, dead, fakedb.Answer{Affected: 1})
		got, err := c.Exec(t.Context(), write([2]string{"ds0", "t_0"}), nil)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "results", got, []Result{{RowsAffected: 1}})
		equal(t, "executions", c.fakes["ds0"].Count("UPDATE t_0"), 1)
	})
	t.Run("not for ever", func(t *testing.T) {
		c := newCluster(t, Limits{}, "ds0")
		c.fakes["ds0"].On("UPDATE t_0", dead)
		_, err := c.Exec(t.Context(), write([2]string{"ds0", "t_0"}), nil)
		if err == nil || errors.Is(err, driver.ErrBadConn) {
			t.Fatalf("got %v, want an error that does not match driver.ErrBadConn", err)
		}
		equal(t, "executions", c.fakes["ds0"].Count("UPDATE t_0"), 0)
	})
	t.Run("and so is BEGIN", func(t *testing.T) {
		c := newCluster(t, Limits{}, "ds0")
		c.fakes["ds0"].On("BEGIN", dead, fakedb.Answer{})
		conn, err := c.sources["ds0"].Start(t.Context(), Start{Begin: &driver.TxOptions{}})
		if err != nil {
			t.Fatal(err)
		}
		conn.Release(conn.Rollback() != nil)
		equal(t, "sent", c.executed(), map[string][]string{"ds0": {"BEGIN", "ROLLBACK"}})
	})
}

func TestOneUnitGivesTheDriversErrorAsItIs(t *testing.T) {
	duplicate := &mysql.MySQLError{Number: 1062, Message: "Duplicate entry"}
	c := newCluster(t, Limits{}, "ds0")
	c.fakes["ds0"].Otherwise(fakedb.Answer{Err: duplicate})
	if _, err := c.Exec(t.Context(), write([2]string{"ds0", "t_0"}), nil); err != error(duplicate) {
		t.Errorf("Exec: got %T %v, want the *mysql.MySQLError itself", err, err)
	}
	if _, err := c.Query(t.Context(), query(plan.MergeIterate, [2]string{"ds0", "t_0"}), nil); err != error(duplicate) {
		t.Errorf("Query: got %T %v, want the *mysql.MySQLError itself", err, err)
	}
}

func TestAnUnreachableDatabaseIsNamed(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	for _, units := range [][][2]string{{{"ds1", "t_1"}}, {{"ds0", "t_0"}, {"ds1", "t_1"}}} {
		c := newCluster(t, Limits{}, "ds0", "ds1")
		c.fakes["ds1"].FailConnect(refused)
		_, err := c.Exec(t.Context(), write(units...), nil)
		var node *fault.NodeError
		var dial *net.OpError
		if !errors.As(err, &node) || node.DataSource != "ds1" || !errors.As(err, &dial) {
			t.Errorf("%d units: got %v, want a *fault.NodeError of ds1 around the driver's error", len(units), err)
		}
		equal(t, "sent", c.executed(), map[string][]string{})

		c.fakes["ds1"].FailConnect(driver.ErrBadConn)
		if _, err = c.Exec(t.Context(), write(units...), nil); err == nil || errors.Is(err, driver.ErrBadConn) {
			t.Errorf("%d units: got %v, want an error that does not match driver.ErrBadConn", len(units), err)
		}
	}
}

func TestInATransactionNoFurtherUnitIsSentAfterAFailure(t *testing.T) {
	c := newCluster(t, Limits{}, "ds0", "ds1")
	c.fakes["ds0"].On("UPDATE t_1", fakedb.Answer{Err: errors.New("no")})
	br := &branches{c: c}
	defer br.end()
	_, err := c.Exec(t.Context(), write([2]string{"ds0", "t_0"}, [2]string{"ds0", "t_1"}, [2]string{"ds0", "t_2"}), br)
	equal(t, "error", err, "sharding: ds0.t_1: no")
	equal(t, "events", br.events, []string{"branch ds0", "atomic [ds0]", "failed ds0: ds0.t_1: no"})
	equal(t, "sent", c.executed(), map[string][]string{"ds0": {"BEGIN", "UPDATE t_0", "UPDATE t_1"}})
}

func TestBranchesAreTakenInTheOrderOfNames(t *testing.T) {
	c := newCluster(t, Limits{}, "ds0", "ds1", "ds2")
	br := &branches{c: c}
	defer br.end()
	if _, err := c.Exec(t.Context(), write([2]string{"ds2", "t_2"}, [2]string{"ds0", "t_0"}, [2]string{"ds1", "t_1"}), br); err != nil {
		t.Fatal(err)
	}
	equal(t, "events", br.events, []string{"branch ds0", "branch ds1", "branch ds2", "atomic [ds2 ds0 ds1]"})
}

type upper string

func (u upper) Value() (driver.Value, error) { return strings.ToUpper(string(u)), nil }

func TestArgumentsAreConvertedAsDatabaseSQLDoes(t *testing.T) {
	for _, prepare := range []bool{false, true} {
		c := newCluster(t, Limits{}, "ds0")
		c.fakes["ds0"].PrepareOnly = prepare
		seven := 7
		args := []any{1, upper("a"), &seven, (*int)(nil), uint64(1 << 63), []byte("x"), true, sql.NullInt64{}}
		text := "INSERT (?, ?, ?, ?, ?, ?, ?, ?)"
		c.fakes["ds0"].On(text, ids("1"))
		ex := &plan.Execution{Units: []plan.Unit{{DataSource: "ds0", SQL: text, Args: args}}}
		if _, err := c.Exec(t.Context(), ex, nil); err != nil {
			t.Fatal(err)
		}
		cursors, err := c.Query(t.Context(), ex, nil)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "rows", collect(t, cursors), [][]string{{"1"}})
		want := fmt.Sprintf("%#v", []driver.Value{int64(1), "A", int64(7), nil, uint64(1 << 63), []byte("x"), true, nil})
		for _, s := range c.fakes["ds0"].Executed() {
			equal(t, "arguments", fmt.Sprintf("%#v", s.Args), want)
		}
		equal(t, "executions", c.fakes["ds0"].Count(text), 2)

		for name, bad := range map[string][]any{
			"named":     {sql.Named("x", 1)},
			"no value":  {struct{ password string }{"secret"}},
			"too few":   {1},
			"misbehave": {failing{}},
		} {
			ex.Units[0].Args = bad
			_, err := c.Exec(t.Context(), ex, nil)
			if name == "too few" && !prepare {
				continue // only a prepared statement counts
			}
			if err == nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: got %v, want an error without the value", name, err)
			}
			if name == "named" && !errors.Is(err, fault.ErrUnsupported) {
				t.Errorf("named: got %v, want ErrUnsupported", err)
			}
		}
	}
}

type failing struct{}

func (failing) Value() (driver.Value, error) { return nil, errors.New("no value") }

func TestAConnIsReleasedOnce(t *testing.T) {
	c := newCluster(t, Limits{}, "ds0")
	conn, err := c.sources["ds0"].Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "SET x", nil); err != nil {
		t.Fatal(err)
	}
	conn.Release(false)
	conn.Release(true)
	equal(t, "open connections", c.fakes["ds0"].OpenConns(), 1)

	conn, err = c.sources["ds0"].Acquire(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	conn.Release(true)
	equal(t, "open connections after a bad one", c.fakes["ds0"].OpenConns(), 0)
}

func TestAPlanWithoutUnitsSendsNothing(t *testing.T) {
	c := newCluster(t, Limits{})
	cursors, err := c.Query(t.Context(), &plan.Execution{}, nil)
	if err != nil || len(cursors) != 0 {
		t.Errorf("Query: %v, %v", cursors, err)
	}
	results, err := c.Exec(t.Context(), &plan.Execution{}, nil)
	if err != nil || len(results) != 0 {
		t.Errorf("Exec: %v, %v", results, err)
	}
}

func TestAnUnknownDataSourceIsAnErrorBeforeAnythingIsSent(t *testing.T) {
	c := newCluster(t, Limits{}, "ds0")
	for _, ex := range []*plan.Execution{
		write([2]string{"ds7", "t"}), write([2]string{"ds0", "t"}, [2]string{"ds7", "t"}),
	} {
		if _, err := c.Exec(t.Context(), ex, nil); err == nil || !strings.Contains(err.Error(), "ds7") {
			t.Errorf("got %v, want an error that names ds7", err)
		}
	}
	equal(t, "sent", c.executed(), map[string][]string{})
}
