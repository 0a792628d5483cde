package transaction

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/execute"
	"github.com/gormshard/sharding/shardkernel/internal/execute/fakedb"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

var (
	deadlock  = &mysql.MySQLError{Number: 1213, Message: "Deadlock found"}
	timeout   = &mysql.MySQLError{Number: 1205, Message: "Lock wait timeout exceeded"}
	duplicate = &mysql.MySQLError{Number: 1062, Message: "Duplicate entry"}
)

func TestBranchesBeginWhenTheyAreFirstNeeded(t *testing.T) {
	c := newCluster(t)
	tx := New(driver.TxOptions{Isolation: driver.IsolationLevel(sql.LevelSerializable), ReadOnly: true}, Pools(c.lookup))
	c.want(t, "ds0")
	c.must(t, tx, "S1", "ds1")
	c.must(t, tx, "S2", "ds0")
	c.must(t, tx, "S3", "ds1")
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	c.want(t, "ds0", "BEGIN Serializable READ ONLY", "S2", "COMMIT")
	c.want(t, "ds1", "BEGIN Serializable READ ONLY", "S1", "S3", "COMMIT")
	c.want(t, "ds2")
}

func TestAnEmptyTransactionTouchesNothing(t *testing.T) {
	c := newCluster(t)
	if err := c.begin().Commit(); err != nil {
		t.Error(err)
	}
	if err := c.begin().Rollback(); err != nil {
		t.Error(err)
	}
	c.want(t, "ds0")
}

func TestATransactionEndsOnce(t *testing.T) {
	c := newCluster(t)
	tx := c.begin()
	c.must(t, tx, "S", "ds0", "ds1")
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Errorf("second Rollback: %v", err)
	}
	if err := tx.Commit(); !errors.Is(err, sql.ErrTxDone) {
		t.Errorf("Commit after Rollback: %v, want sql.ErrTxDone", err)
	}
	if err := c.exec(t, tx, "S", "ds0"); !errors.Is(err, sql.ErrTxDone) {
		t.Errorf("statement after Rollback: %v, want sql.ErrTxDone", err)
	}
	if err := tx.Savepoint(t.Context(), "a"); !errors.Is(err, sql.ErrTxDone) {
		t.Errorf("savepoint after Rollback: %v, want sql.ErrTxDone", err)
	}
	c.want(t, "ds0", "BEGIN", mark, "S", "ROLLBACK")
}

func TestAFirstCommitThatFailsRollsTheOthersBack(t *testing.T) {
	c := newCluster(t)
	c.fakes["ds0"].On("COMMIT", fakedb.Answer{Err: duplicate})
	tx := c.begin()
	c.must(t, tx, "S", "ds0", "ds1", "ds2")
	if err := tx.Commit(); err != error(duplicate) {
		t.Errorf("got %v, want the driver's error itself", err)
	}
	c.want(t, "ds1", "BEGIN", mark, "S", "ROLLBACK")
	c.want(t, "ds2", "BEGIN", mark, "S", "ROLLBACK")
}

func TestACommitInPartNamesWhatIsDoneAndWhatFailed(t *testing.T) {
	c := newCluster(t)
	c.fakes["ds1"].On("COMMIT", fakedb.Answer{Err: mysql.ErrInvalidConn, Break: true})
	tx := c.begin()
	c.must(t, tx, "S", "ds0", "ds1", "ds2")
	err := tx.Commit()
	var nodes *fault.NodesError
	if !errors.Is(err, fault.ErrPartialCommit) || !errors.As(err, &nodes) {
		t.Fatalf("got %v, want ErrPartialCommit", err)
	}
	if !slices.Equal(nodes.Done, []string{"ds0", "ds2"}) || len(nodes.Nodes) != 1 || nodes.Nodes[0].DataSource != "ds1" {
		t.Errorf("done %v, failed %v; want done ds0 and ds2, failed ds1", nodes.Done, nodes.Nodes)
	}
	if !errors.Is(err, mysql.ErrInvalidConn) {
		t.Errorf("the driver's error cannot be reached in %v", err)
	}
	c.want(t, "ds2", "BEGIN", mark, "S", "COMMIT")
}

func TestAConnectionLostInTheFirstOfSeveralCommitsLeavesDoubt(t *testing.T) {
	for _, lost := range []error{mysql.ErrInvalidConn, fmt.Errorf("write: %w", driver.ErrBadConn)} {
		c := newCluster(t)
		c.fakes["ds0"].On("COMMIT", fakedb.Answer{Err: lost, Break: true})
		tx := c.begin()
		c.must(t, tx, "S", "ds0", "ds1")
		err := tx.Commit()
		if !errors.Is(err, fault.ErrInDoubt) || errors.Is(err, driver.ErrBadConn) || !strings.Contains(err.Error(), "ds0") {
			t.Errorf("got %v, want ErrInDoubt that names ds0", err)
		}
		c.want(t, "ds1", "BEGIN", mark, "S", "ROLLBACK")

		one := c.begin()
		c.must(t, one, "S", "ds0")
		if err := one.Commit(); err == nil || errors.Is(err, fault.ErrInDoubt) || errors.Is(err, driver.ErrBadConn) {
			t.Errorf("one branch: got %v, want the driver's error", err)
		}
	}
}

func TestRollbackGivesEveryConnectionBackWhateverHappens(t *testing.T) {
	c := newCluster(t)
	c.fakes["ds1"].On("ROLLBACK", fakedb.Answer{Err: errors.New("gone")})
	tx := c.begin()
	c.must(t, tx, "S", "ds0", "ds1", "ds2")
	err := tx.Rollback()
	if err == nil || err.Error() != "sharding: ds1: gone" {
		t.Errorf("got %v", err)
	}
	if open := c.fakes["ds1"].OpenConns(); open != 0 {
		t.Error("the connection that did not roll back was not closed")
	}
	c.want(t, "ds2", "BEGIN", mark, "S", "ROLLBACK")
}

// Semantics row 61.
func TestAWriteOverSeveralNodesThatFailsOnOneLeavesNothing(t *testing.T) {
	c := newCluster(t)
	c.fakes["ds1"].On("S2", fakedb.Answer{Err: duplicate})
	tx := c.begin()
	c.must(t, tx, "S1", "ds0")
	err := c.exec(t, tx, "S2", "ds0", "ds1", "ds2")
	var server *mysql.MySQLError
	if !errors.As(err, &server) || server != duplicate {
		t.Fatalf("got %v, want the duplicate", err)
	}
	c.must(t, tx, "S3", "ds1", "ds0")
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	// ds2 need not have been reached before ds1 failed, but is undone all the same.
	c.want(t, "ds0", append(append([]string{"BEGIN", "S1", mark}, ran(c, "ds0")...), undo, mark, "S3", "COMMIT")...)
	c.want(t, "ds1", "BEGIN", mark, "S2", undo, mark, "S3", "COMMIT")
	c.want(t, "ds2", append(append([]string{"BEGIN", mark}, ran(c, "ds2")...), undo, "COMMIT")...)
}

func ran(c *cluster, source string) []string {
	return slices.Repeat([]string{"S2"}, c.fakes[source].Count("S2"))
}

func TestAWriteOfSeveralUnitsOnOneBranchIsUndoneToo(t *testing.T) {
	c := newCluster(t)
	c.fakes["ds0"].On("S", fakedb.Answer{}, fakedb.Answer{Err: timeout})
	tx := c.begin()
	if err := c.exec(t, tx, "S", "ds0", "ds0", "ds0"); !errors.Is(err, timeout) {
		t.Fatalf("got %v, want the timeout", err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	c.want(t, "ds0", "BEGIN", mark, "S", "S", undo, "COMMIT")
}

func TestOneUnitNeedsNoSavepoint(t *testing.T) {
	c := newCluster(t)
	c.fakes["ds1"].On("S", fakedb.Answer{Err: duplicate})
	tx := c.begin()
	c.must(t, tx, "S", "ds0")
	if err := c.exec(t, tx, "S", "ds1"); err != error(duplicate) {
		t.Errorf("got %v, want the driver's error itself", err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	c.want(t, "ds1", "BEGIN", "S", "COMMIT")
}

func TestAnUndoThatFailsLeavesOnlyRollback(t *testing.T) {
	for _, sources := range [][]string{{"ds0", "ds1"}, {"ds0", "ds0"}} {
		c := newCluster(t)
		last := sources[1]
		c.fakes[last].On("S", fakedb.Answer{Err: duplicate})
		c.fakes[last].On(undo, fakedb.Answer{Err: errors.New("no savepoint")})
		tx := c.begin()
		if err := c.exec(t, tx, "S", sources...); !errors.Is(err, duplicate) {
			t.Errorf("got %v, want the duplicate", err)
		}
		if err := c.exec(t, tx, "S2", "ds0"); err == nil || !strings.Contains(err.Error(), "only ROLLBACK is left") {
			t.Errorf("got %v, want a refusal", err)
		}
		if err := tx.Commit(); err == nil || !strings.Contains(err.Error(), "only ROLLBACK is left") {
			t.Errorf("Commit: got %v, want a refusal", err)
		}
		if n := c.fakes["ds0"].Count("COMMIT"); n != 0 {
			t.Errorf("ds0 committed %d times", n)
		}
		if c.fakes["ds0"].Count("ROLLBACK") != 1 {
			t.Error("a refused Commit has to roll back: database/sql does not call Rollback after it")
		}
	}
}

// Semantics row 59.
func TestALostBranchLeavesOnlyRollback(t *testing.T) {
	for name, answer := range map[string]fakedb.Answer{
		"deadlock":           {Err: deadlock},
		"invalid connection": {Err: mysql.ErrInvalidConn},
		"bad connection":     {Err: fmt.Errorf("write: %w", driver.ErrBadConn)},
		"broken":             {Err: errors.New("unexpected packet"), Break: true},
	} {
		for _, sources := range [][]string{{"ds1"}, {"ds0", "ds1"}} {
			t.Run(fmt.Sprint(name, len(sources)), func(t *testing.T) {
				c := newCluster(t)
				c.fakes["ds1"].On("S", answer)
				tx := c.begin()
				c.must(t, tx, "S0", "ds0")
				if err := c.exec(t, tx, "S", sources...); err == nil || errors.Is(err, driver.ErrBadConn) {
					t.Errorf("got %v, want an error", err)
				}
				sent := len(c.fakes["ds0"].Texts())
				for what, err := range map[string]error{
					"open branch": c.exec(t, tx, "S2", "ds0"),
					"new branch":  c.exec(t, tx, "S2", "ds2"),
					"savepoint":   tx.Savepoint(t.Context(), "a"),
					"commit":      tx.Commit(),
				} {
					if err == nil || !strings.Contains(err.Error(), "only ROLLBACK is left") && !errors.Is(err, sql.ErrTxDone) {
						t.Errorf("%s: got %v, want a refusal", what, err)
					}
				}
				if err := tx.Rollback(); err != nil {
					t.Error(err)
				}
				if got := c.fakes["ds0"].Texts()[sent:]; !slices.Equal(got, []string{"ROLLBACK"}) {
					t.Errorf("ds0 was sent %q after the loss, want ROLLBACK alone", got)
				}
				c.want(t, "ds2")
			})
		}
	}
}

func TestWithOneBranchADeadlockIsAsTheServerHasIt(t *testing.T) {
	c := newCluster(t)
	c.fakes["ds0"].On("S", fakedb.Answer{Err: deadlock})
	tx := c.begin()
	if err := c.exec(t, tx, "S", "ds0"); err != error(deadlock) {
		t.Fatalf("got %v, want the driver's error itself", err)
	}
	c.must(t, tx, "S2", "ds0")
	if err := c.exec(t, tx, "S3", "ds1"); err == nil || !strings.Contains(err.Error(), "only ROLLBACK is left") {
		t.Errorf("a second branch would be committed without the first: got %v", err)
	}
	if err := c.exec(t, tx, "S4", "ds0", "ds0"); err == nil || !strings.Contains(err.Error(), "only ROLLBACK is left") {
		t.Errorf("without a transaction two units cannot be undone: got %v", err)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	c.want(t, "ds0", "BEGIN", "S", "S2", "COMMIT")
	c.want(t, "ds1")
}

func TestALockTimeoutUndoesTheStatementAlone(t *testing.T) {
	c := newCluster(t)
	c.fakes["ds1"].On("S", fakedb.Answer{Err: timeout})
	tx := c.begin()
	c.must(t, tx, "S0", "ds0")
	if err := c.exec(t, tx, "S", "ds0", "ds1"); !errors.Is(err, timeout) {
		t.Fatalf("got %v, want the timeout", err)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	if n := c.fakes["ds0"].Count(undo); n != 1 {
		t.Errorf("ds0 was undone %d times", n)
	}
}

// Semantics row 60.
func TestACancelledStatementEndsEveryBranch(t *testing.T) {
	c := newCluster(t)
	for _, n := range []string{"ds0", "ds1"} {
		c.fakes[n].On("S", fakedb.Answer{Delay: time.Minute})
	}
	tx := c.begin()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	ex := &plan.Execution{Write: true, Units: []plan.Unit{{DataSource: "ds0", SQL: "S"}, {DataSource: "ds1", SQL: "S"}}}
	start := time.Now()
	_, err := c.Exec(ctx, ex, tx)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want DeadlineExceeded", err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	if err := tx.Commit(); err == nil || !strings.Contains(err.Error(), "only ROLLBACK is left") {
		t.Errorf("Commit: got %v, want a refusal", err)
	}
}

func TestAStatementCancelledOnOneNodeIsUndoneOnTheOthers(t *testing.T) {
	c := newCluster(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tx := c.begin()
	c.must(t, tx, "S0", "ds0", "ds1")
	err := tx.Atomic(ctx, []string{"ds0", "ds1"}, func() error {
		cancel()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	c.want(t, "ds0", "BEGIN", mark, "S0", mark, undo, "COMMIT")
}

func TestALostStreamLeavesOnlyRollback(t *testing.T) {
	c := newCluster(t)
	rows := fakedb.Answer{Columns: fakedb.Columns("a"), Cut: mysql.ErrInvalidConn, Break: true}
	c.fakes["ds1"].On("Q", rows)
	tx := c.begin()
	c.must(t, tx, "S", "ds0")
	ex := &plan.Execution{Query: true, Units: []plan.Unit{{DataSource: "ds1", SQL: "Q"}}}
	cursors, err := c.Query(t.Context(), ex, tx)
	if err != nil {
		t.Fatal(err)
	}
	if err := cursors[0].Next(make([]driver.Value, 1)); err != mysql.ErrInvalidConn {
		t.Errorf("got %v, want the driver's error itself", err)
	}
	_ = cursors[0].Close()
	if err := tx.Commit(); err == nil || !strings.Contains(err.Error(), "only ROLLBACK is left") {
		t.Errorf("Commit: got %v, want a refusal", err)
	}
}

func TestABranchThatCannotBeginIsNamed(t *testing.T) {
	c := newCluster(t)
	c.fakes["ds1"].On("BEGIN", fakedb.Answer{Err: errors.New("read only server")})
	tx := c.begin()
	err := c.exec(t, tx, "S", "ds0", "ds1")
	var node *fault.NodeError
	if !errors.As(err, &node) || node.DataSource != "ds1" {
		t.Errorf("got %v, want a *fault.NodeError of ds1", err)
	}
	c.must(t, tx, "S", "ds0")
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	c.want(t, "ds0", "BEGIN", "S", "COMMIT")
}

func TestAnImplicitTransactionCommitsOrLeavesNothing(t *testing.T) {
	run := func(c *cluster) error {
		return Implicit(t.Context(), driver.TxOptions{}, Pools(c.lookup), func(br execute.Branches) error {
			return c.exec(t, br, "S", "ds0", "ds1")
		})
	}
	t.Run("commit", func(t *testing.T) {
		c := newCluster(t)
		if err := run(c); err != nil {
			t.Fatal(err)
		}
		c.want(t, "ds0", "BEGIN", "S", "COMMIT")
		c.want(t, "ds1", "BEGIN", "S", "COMMIT")
	})
	t.Run("failure", func(t *testing.T) {
		c := newCluster(t)
		c.fakes["ds1"].On("S", fakedb.Answer{Err: duplicate})
		if err := run(c); !errors.Is(err, duplicate) {
			t.Fatalf("got %v, want the duplicate", err)
		}
		c.want(t, "ds1", "BEGIN", "S", "ROLLBACK")
		if c.fakes["ds0"].Count("COMMIT") != 0 || c.fakes["ds0"].Count("ROLLBACK") != 1 {
			t.Errorf("ds0 was sent %q", c.fakes["ds0"].Texts())
		}
	})
	t.Run("first commit fails unsent", func(t *testing.T) {
		c := newCluster(t)
		c.fakes["ds0"].On("COMMIT", fakedb.Answer{Err: driver.ErrBadConn})
		if err := run(c); err == nil || errors.Is(err, driver.ErrBadConn) {
			t.Fatalf("got %v: database/sql would run the write again", err)
		}
		c.want(t, "ds1", "BEGIN", "S", "ROLLBACK")
	})
	t.Run("cancelled before the commit", func(t *testing.T) {
		c := newCluster(t)
		ctx, cancel := context.WithCancel(t.Context())
		err := Implicit(ctx, driver.TxOptions{}, Pools(c.lookup), func(br execute.Branches) error {
			defer cancel()
			return c.exec(t, br, "S", "ds0", "ds1")
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		c.want(t, "ds0", "BEGIN", "S", "ROLLBACK")
	})
}

func TestATransactionDoesNotWaitForEverForAnotherOnesConnection(t *testing.T) {
	defer func(wait time.Duration) { branchWait = wait }(branchWait)
	branchWait = 20 * time.Millisecond
	c := newCluster(t)
	for _, s := range c.sources {
		s.DB.SetMaxOpenConns(1)
	}
	one, other := c.begin(), c.begin()
	c.must(t, one, "A", "ds0")
	c.must(t, other, "B", "ds1")
	err := c.exec(t, one, "A", "ds1")
	if !errors.Is(err, fault.ErrRetryable) || !strings.Contains(err.Error(), "ds1") {
		t.Errorf("got %v, want ErrRetryable that names ds1", err)
	}
	if err := errors.Join(one.Rollback(), other.Commit()); err != nil {
		t.Error(err)
	}
}
