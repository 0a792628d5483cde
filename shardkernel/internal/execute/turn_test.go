package execute

import (
	"errors"
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/execute/fakedb"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

func TestUnitsInTurnAreReadToTheirEndInTheirOrder(t *testing.T) {
	for _, kind := range []plan.MergeKind{plan.MergeIterate, plan.MergeOrdered} {
		c := newCluster(t, Limits{MaxConnectionsPerQuery: 4}, "ds0", "ds1")
		c.scriptFour()
		ex := query(kind, fourUnits...)
		ex.InTurn = true
		cursors, err := c.Query(t.Context(), ex, nil)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "connections in use", c.inUse(), 0)
		equal(t, "rows", collect(t, cursors), [][]string{{"1", "2"}, nil, {"3"}, {"4", "5"}})
	}
}

func TestAFailureInTurnSendsNoFurtherUnit(t *testing.T) {
	c := newCluster(t, Limits{}, "ds0", "ds1")
	c.fakes["ds0"].On("SELECT id FROM t_0", ids("1"))
	c.fakes["ds0"].On("SELECT id FROM t_1", fakedb.Answer{Err: errors.New("lock wait timeout")})
	ex := query(plan.MergeIterate, fourUnits...)
	ex.InTurn = true
	if _, err := c.Query(t.Context(), ex, nil); err == nil {
		t.Fatal("no error")
	}
	equal(t, "sent", c.executed(), map[string][]string{"ds0": {"SELECT id FROM t_0", "SELECT id FROM t_1"}})
	equal(t, "connections in use", c.inUse(), 0)
}
