package shardkernel

import (
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

func TestAPlanIsAnotherOneWhereASubqueryOrGatheredRowsAre(t *testing.T) {
	read := func(text string) plan.Execution {
		return plan.Execution{Units: []plan.Unit{{DataSource: "ds0", SQL: text}}}
	}
	first := func(text string) *plan.Execution {
		ex := read("SELECT 1")
		ex.First = &plan.First{Subqueries: []plan.Subquery{{Rows: read(text)}}}
		return &ex
	}
	gathered := func(text, member string) *plan.Execution {
		ex := read("SELECT 1")
		ex.Gather = &plan.Gather{Tables: []plan.GatheredTable{{Rows: read(text)}}}
		ex.Gather.Tables[0].Rows.Units[0].Member = member
		return &ex
	}
	for name, c := range map[string]struct {
		a, b *plan.Execution
		same bool
	}{
		"one subquery":                      {first("SELECT a"), first("SELECT a"), true},
		"two subqueries":                    {first("SELECT a"), first("SELECT b"), false},
		"the same rows, from a replica":     {gathered("SELECT a", "ds0_r0"), gathered("SELECT a", ""), true},
		"other rows":                        {gathered("SELECT a", ""), gathered("SELECT b", ""), false},
		"rows of a table and of a subquery": {gathered("SELECT a", ""), first("SELECT a"), false},
	} {
		if got := samePlan(c.a, c.b); got != c.same {
			t.Errorf("%s: the same plan is %v, want %v", name, got, c.same)
		}
	}
}
