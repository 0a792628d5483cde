package execute

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/execute/fakedb"
)

var (
	duplicateColumn = &mysql.MySQLError{Number: 1060, Message: "Duplicate column name"}
	noSuchTable     = &mysql.MySQLError{Number: 1146, Message: "Table doesn't exist"}
)

func TestADefinitionGoesOnWhereANodeIsDoneAlready(t *testing.T) {
	c := newCluster(t, Limits{}, "ds0", "ds1")
	c.fakes["ds0"].On("UPDATE t_0", fakedb.Answer{Err: duplicateColumn})
	results, err := c.Define(t.Context(), write([2]string{"ds0", "t_0"}, [2]string{"ds0", "t_1"}, [2]string{"ds1", "t_0"}), nil, nil)
	var failed *fault.NodesError
	if !errors.Is(err, fault.ErrPartialDDL) || !errors.As(err, &failed) || !errors.Is(err, duplicateColumn) {
		t.Fatalf("got %v", err)
	}
	equal(t, "done", failed.Done, []string{"ds0.t_1", "ds1.t_0"})
	equal(t, "results", len(results), 3)
	equal(t, "sent", c.executed(), map[string][]string{"ds0": {"UPDATE t_1", "UPDATE t_0"}, "ds1": {"UPDATE t_0"}})
	equal(t, "message", err.Error(), "sharding: DDL took effect in part (done on ds0.t_1, ds1.t_0): ds0.t_0: Error 1060: Duplicate column name; mend the cause and send the same statement again")
}

func TestADefinitionStopsAtAFailureAndWaitsForWhatIsUnderWay(t *testing.T) {
	c := newCluster(t, Limits{}, "ds0", "ds1")
	c.fakes["ds0"].On("UPDATE t_1", fakedb.Answer{Err: noSuchTable})
	c.fakes["ds1"].On("UPDATE t_0", fakedb.Answer{Delay: 30 * time.Millisecond})
	_, err := c.Define(t.Context(), write([2]string{"ds0", "t_0"}, [2]string{"ds0", "t_1"}, [2]string{"ds0", "t_2"}, [2]string{"ds1", "t_0"}, [2]string{"ds1", "t_1"}), nil, nil)
	var failed *fault.NodesError
	if !errors.As(err, &failed) || len(failed.Nodes) != 1 || failed.Nodes[0].Table != "t_1" {
		t.Fatalf("got %v", err)
	}
	sent := c.executed()
	if len(sent["ds0"]) != 1 || slices.Contains(sent["ds1"], "UPDATE t_1") {
		t.Errorf("sent after the failure: %v", sent)
	}
	if len(sent["ds1"]) == 1 && !slices.Equal(failed.Done, []string{"ds1.t_0"}) {
		t.Errorf("ds1.t_0 was under way and is not among the done: %v", failed.Done)
	}
}

// The first node answers for the table: what has to be repeated must not look done.
func TestADefinitionReachesTheFirstNodeLast(t *testing.T) {
	for name, units := range map[string][][2]string{
		"beside others": {{"ds0", "t_0"}, {"ds0", "t_1"}, {"ds1", "t_0"}},
		"alone":         {{"ds0", "t_0"}, {"ds1", "t_0"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, Limits{}, "ds0", "ds1")
			c.fakes["ds1"].On("UPDATE t_0", fakedb.Answer{Err: noSuchTable, Delay: 20 * time.Millisecond})
			_, err := c.Define(t.Context(), write(units...), nil, nil)
			var failed *fault.NodesError
			if !errors.As(err, &failed) || len(failed.Nodes) != 1 {
				t.Fatalf("got %v", err)
			}
			if sent := c.executed()["ds0"]; slices.Contains(sent, "UPDATE t_0") {
				t.Errorf("the first node was sent %q", sent)
			}
		})
	}
}

func TestADefinitionThatFailsEverywhereIsNoPart(t *testing.T) {
	c := newCluster(t, Limits{}, "ds0", "ds1")
	for _, f := range c.fakes {
		f.On("UPDATE t_0", fakedb.Answer{Err: duplicateColumn})
	}
	_, err := c.Define(t.Context(), write([2]string{"ds0", "t_0"}, [2]string{"ds1", "t_0"}), nil, nil)
	var failed *fault.NodesError
	if errors.Is(err, fault.ErrPartialDDL) || !errors.As(err, &failed) || len(failed.Nodes) != 2 {
		t.Errorf("got %v", err)
	}
}

func TestADefinitionTakesNoConnectionAfterTheEndOfItsContext(t *testing.T) {
	c := newCluster(t, Limits{}, "ds0", "ds1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Define(ctx, write([2]string{"ds0", "t_0"}, [2]string{"ds1", "t_0"}), nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	equal(t, "sent", len(c.executed()), 0)
}
