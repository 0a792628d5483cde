package execute

import (
	"context"
	"database/sql/driver"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/execute/fakedb"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// Beside units that have arguments a unit without any must not be sent as plain
// text: MySQL shows a FLOAT with fewer digits then.
func TestAUnitIsPreparedWithoutArgumentsWhereItsStatementHadSome(t *testing.T) {
	c := newCluster(t, Limits{}, "ds0", "ds1")
	ex := query(plan.MergeOrdered, [2]string{"ds0", "t_0"}, [2]string{"ds1", "t_1"})
	ex.Units[1].Prepare = true
	cursors, err := c.Query(t.Context(), ex, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "prepared statements of the unit without Prepare", c.fakes["ds0"].OpenStmts(), 0)
	equal(t, "prepared statements of the unit with Prepare", c.fakes["ds1"].OpenStmts(), 1)
	closeAll(t, cursors)
}

func TestARollbackDoesNotWaitForAServerThatHasStoppedAnswering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := fakedb.New()
		fake.On("ROLLBACK", fakedb.Answer{Delay: time.Hour})
		source := &Source{Name: "ds0", DB: fake.DB(), Dialect: dialect.MySQL}
		conn, err := source.Start(t.Context(), Start{Begin: &driver.TxOptions{}})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		err = conn.Rollback()
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != rollbackTimeout {
			t.Errorf("after %v: %v, want the end of %v", time.Since(start), err, rollbackTimeout)
		}
		conn.Release(true)
		if err := source.DB.Close(); err != nil {
			t.Error(err)
		}
		equal(t, "open connections", fake.OpenConns(), 0)
	})
}
