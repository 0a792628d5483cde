package execute

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

func TestUnitsThatMayGoTogetherAreOneStatementOfEachConnection(t *testing.T) {
	for perQuery, want := range map[int][]string{
		1: {"(SELECT id FROM t_0\n) UNION ALL (SELECT id FROM t_1\n) UNION ALL (SELECT id FROM t_2\n)"},
		2: {"SELECT id FROM t_0", "(SELECT id FROM t_1\n) UNION ALL (SELECT id FROM t_2\n)"},
		3: {"SELECT id FROM t_0", "SELECT id FROM t_1", "SELECT id FROM t_2"},
	} {
		c := newCluster(t, Limits{MaxConnectionsPerQuery: perQuery}, "ds0", "ds1")
		for _, f := range c.fakes {
			f.Otherwise(ids("1"))
		}
		ex := query(plan.MergeGroup, fourUnits...)
		ex.Together = true
		cursors, err := c.Query(t.Context(), ex, nil)
		if err != nil {
			t.Fatal(err)
		}
		closeAll(t, cursors)
		got := c.executed()["ds0"]
		if perQuery > 1 { // at the same time
			for _, text := range want {
				if c.fakes["ds0"].Count(text) != 1 {
					t.Errorf("%d connections: %q was not sent", perQuery, text)
				}
			}
		} else {
			equal(t, "sent", got, want)
		}
		equal(t, "statements", len(got), len(want))
	}
}

func TestUnitsTogetherKeepTheirArgumentsAndTheirBounds(t *testing.T) {
	var units []*plan.Unit
	for i := range 130 {
		units = append(units, &plan.Unit{DataSource: "ds0", Table: "t", SQL: fmt.Sprintf("SELECT %d, ?", i), Args: []any{i}})
	}
	units[3].Args, units[3].Prepare = nil, true
	out := together(units)
	if len(out) != 3 || !out[0].Prepare || out[1].Prepare || strings.Count(out[0].SQL, "SELECT") != 64 || len(out[0].Args) != 63 || len(out[2].Args) != 2 {
		t.Errorf("%d statements, the first %d arguments, the last %v", len(out), len(out[0].Args), out[len(out)-1].Args)
	}
	equal(t, "arguments", out[2].Args, []any{128, 129})
	for name, unit := range map[string]plan.Unit{
		"text":    {SQL: "SELECT '" + strings.Repeat("x", textTogether) + "'"},
		"markers": {SQL: "SELECT 1", Args: make([]any, 40_000)},
	} {
		if out := together([]*plan.Unit{&unit, &unit, &unit}); len(out) != 3 || out[0] != &unit {
			t.Errorf("%s: units beyond the bounds went together", name)
		}
	}
}
