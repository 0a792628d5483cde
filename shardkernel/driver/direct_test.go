package driver_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/execute/fakedb"
)

func TestPlannedStatementRunsWithWhatItWasPlannedWith(t *testing.T) {
	c := open(t)
	c.node[0].Otherwise(fakedb.Answer{Affected: 1})
	c.node[1].Otherwise(fakedb.Answer{Affected: 1})
	const query = "UPDATE t_order SET a = ?"
	calls := 0
	_, planned, err := c.kernel.Direct(t.Context(), nil, query, []any{countingValuer{&calls}})
	if err != nil || planned == nil {
		t.Fatalf("planned %v, error %v; want a plan for several units", planned, err)
	}
	c.texts(t, 0)
	c.texts(t, 1)
	result, err := c.ExecContext(t.Context(), query, planned)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := result.RowsAffected(); n != 4 || err != nil {
		t.Errorf("%d rows affected, error %v; want 4", n, err)
	}
	if calls != 1 {
		t.Errorf("the Valuer was asked %d times, so its value need not be the one the statement was routed by", calls)
	}
	for i, n := range c.node {
		for _, s := range n.Executed() {
			if len(s.Args) > 0 && s.Args[0] != int64(1) {
				t.Errorf("ds%d executed %s with %v, want 1", i, s.SQL, s.Args)
			}
		}
	}
	c.texts(t, 0, "BEGIN", "UPDATE t_order_0 SET a = ?", "UPDATE t_order_2 SET a = ?", "COMMIT")
	c.texts(t, 1, "BEGIN", "UPDATE t_order_1 SET a = ?", "UPDATE t_order_3 SET a = ?", "COMMIT")
}

func TestPlannedQueryIsMerged(t *testing.T) {
	c := open(t)
	for table := range 4 {
		c.node[table%2].On(fmt.Sprintf("SELECT order_id FROM t_order_%d ORDER BY order_id", table), ids(int64(table)))
	}
	const query = "SELECT order_id FROM t_order ORDER BY order_id"
	_, planned, err := c.kernel.Direct(t.Context(), nil, query, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := c.QueryContext(t.Context(), query, planned)
	if got := scan(t, rows, err); !slices.Equal(got, []int64{0, 1, 2, 3}) {
		t.Errorf("rows %v, want 0 to 3", got)
	}
}

func TestOneUnitGoesToItsDataSourceDirectly(t *testing.T) {
	c := open(t)
	c.node[1].Otherwise(ids(1))
	direct, planned, err := c.kernel.Direct(t.Context(), nil, "SELECT order_id FROM t_order WHERE order_id = ?", []any{1})
	if err != nil || planned != nil {
		t.Fatalf("planned %v, error %v; want neither", planned, err)
	}
	rows, err := direct.Query(t.Context())
	if got := scan(t, rows, err); !slices.Equal(got, []int64{1}) {
		t.Errorf("rows %v, want 1", got)
	}
	c.texts(t, 1, "SELECT order_id FROM t_order_1 WHERE order_id = ?")
}

// The rows of a data source's own pool could not end the statement's time limit.
func TestStatementWithATimeLimitTakesTheWayOfTheDriver(t *testing.T) {
	c := openWith(t, config.Props{StatementTimeout: time.Minute})
	_, planned, err := c.kernel.Direct(t.Context(), nil, "SELECT order_id FROM t_order WHERE order_id = 1", nil)
	if err != nil || planned == nil {
		t.Errorf("planned %v, error %v; want a plan", planned, err)
	}
}

func TestTransactionControlOutsideATransactionIsRefused(t *testing.T) {
	c := open(t)
	for _, query := range []string{"BEGIN", "COMMIT", "SAVEPOINT a"} {
		if _, _, err := c.kernel.Direct(t.Context(), nil, query, nil); !errors.Is(err, fault.ErrUnsupported) {
			t.Errorf("%s: error %v, want ErrUnsupported", query, err)
		}
	}
}
