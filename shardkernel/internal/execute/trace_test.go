package execute

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/execute/fakedb"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// follow collects what is reported of the units, sorted.
func (c *cluster) follow() (reported func() []string) {
	var mu sync.Mutex
	var all []string
	for _, s := range c.sources {
		s.Trace = func(_ context.Context, u plan.UnitTrace) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, fmt.Sprintf("%s %s: %d rows, %v", u.DataSource, u.SQL, u.Rows, u.Err))
			if u.Elapsed < u.Answered {
				all = append(all, "ended before it was answered")
			}
		}
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		out := slices.Sorted(slices.Values(all))
		all = nil
		return out
	}
}

func TestAUnitIsReportedWithItsRowsWhenTheyEnd(t *testing.T) {
	for _, kind := range []plan.MergeKind{plan.MergeIterate, plan.MergeOrdered} {
		c := newCluster(t, Limits{}, "ds0", "ds1")
		c.scriptFour()
		reported := c.follow()
		cursors, err := c.Query(t.Context(), query(kind, fourUnits...), nil)
		if err != nil {
			t.Fatal(err)
		}
		collect(t, cursors)
		equal(t, "reported", reported(), []string{
			"ds0 SELECT id FROM t_0: 2 rows, <nil>", "ds0 SELECT id FROM t_1: 0 rows, <nil>",
			"ds0 SELECT id FROM t_2: 1 rows, <nil>", "ds1 SELECT id FROM t_3: 2 rows, <nil>",
		})
	}
}

func TestAUnitIsReportedOnceHoweverItEnds(t *testing.T) {
	broken := errors.New("broken")
	cut := ids("1")
	cut.Cut = broken
	for _, test := range []struct {
		name   string
		answer fakedb.Answer
		write  bool
		read   int // rows that are read before the cursor is closed
		want   string
	}{
		{"left half read", ids("1", "2", "3"), false, 1, "ds0 SELECT id FROM t_0: 1 rows, <nil>"},
		{"never read", ids("1"), false, 0, "ds0 SELECT id FROM t_0: 0 rows, <nil>"},
		{"cut", cut, false, 2, "ds0 SELECT id FROM t_0: 1 rows, broken"},
		{"refused", fakedb.Answer{Err: broken}, false, 0, "ds0 SELECT id FROM t_0: 0 rows, broken"},
		{"written", fakedb.Answer{Affected: 7}, true, 0, "ds0 UPDATE t_0: 7 rows, <nil>"},
		{"write refused", fakedb.Answer{Err: broken}, true, 0, "ds0 UPDATE t_0: 0 rows, broken"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t, Limits{}, "ds0")
			reported := c.follow()
			if test.write {
				c.fakes["ds0"].On("UPDATE t_0", test.answer)
				_, _ = c.Exec(t.Context(), write([2]string{"ds0", "t_0"}), nil)
			} else {
				c.fakes["ds0"].On("SELECT id FROM t_0", test.answer)
				cursors, err := c.Query(t.Context(), query(plan.MergeIterate, [2]string{"ds0", "t_0"}), nil)
				if err == nil {
					row := make([]driver.Value, 1)
					for range test.read {
						_ = cursors[0].Next(row)
					}
					for range 2 {
						_ = cursors[0].Close()
					}
				}
			}
			equal(t, "reported", reported(), []string{test.want})
		})
	}
}
