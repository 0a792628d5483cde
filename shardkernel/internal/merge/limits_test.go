package merge

import (
	"errors"
	"strings"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/memory"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

func groupsOf(n int) *fake {
	c := cursor("id BIGINT, n BIGINT")
	for i := range n {
		c.rows = append(c.rows, row(int64(i), int64(1)))
	}
	return c
}

func TestMergeInMemoryStopsAtTheLimits(t *testing.T) {
	recipe := &plan.Merge{Kind: plan.MergeGroup, GroupBy: []plan.GroupKey{{}}, Aggregates: []plan.Aggregate{{Column: at(1)}}}
	returning := &plan.Merge{Kind: plan.MergeRows, Rows: [][]int{make([]int, 100), make([]int, 100)}}
	budget := memory.NewBudget(10_000)
	for _, test := range []struct {
		limits   Limits
		property string
		limit    int64
	}{
		{Limits{MaxRows: 99}, "props.maxMergeRows", 99},
		{Limits{MaxBytes: 10_000}, "props.maxMergeBytes", 10_000},
		{Limits{Budget: budget}, "", 10_000},
	} {
		for _, recipe := range []*plan.Merge{recipe, returning} {
			_, err := mergedWithin(t, test.limits, recipe, groupsOf(100), groupsOf(100))
			var tooMany *memory.TooManyRowsError
			if !errors.As(err, &tooMany) || !errors.Is(err, fault.ErrTooManyRows) {
				t.Fatalf("%+v: error %v, want ErrTooManyRows", test.limits, err)
			}
			if tooMany.Property != test.property || tooMany.Limit != test.limit || !strings.Contains(err.Error(), test.property) {
				t.Errorf("error %+v, want property %q and limit %d", tooMany, test.property, test.limit)
			}
			if budget.Used() != 0 {
				t.Errorf("%d bytes of the budget were not given back", budget.Used())
			}
		}
	}
	if _, err := mergedWithin(t, Limits{MaxRows: 100}, recipe, groupsOf(100), groupsOf(100)); err != nil {
		t.Errorf("100 groups under a limit of 100: %v", err)
	}
}

func TestStreamingMergesAreNotLimited(t *testing.T) {
	limits := Limits{MaxRows: 1, MaxBytes: 1, Budget: memory.NewBudget(1)}
	for _, kind := range []plan.MergeKind{plan.MergeIterate, plan.MergeOrdered} {
		got, err := mergedWithin(t, limits, &plan.Merge{Kind: kind, OrderBy: []plan.SortKey{{}}}, groupsOf(50), groupsOf(50))
		if err != nil || len(got) != 100 {
			t.Errorf("kind %d gives %d rows, error %v", kind, len(got), err)
		}
	}
}

func TestBudgetIsHeldWhileRowsAreOpenAndGivenBackOnce(t *testing.T) {
	budget := memory.NewBudget(1 << 20)
	rows, err := Rows(&plan.Merge{Kind: plan.MergeGroup, GroupBy: []plan.GroupKey{{}}}, asRows([]*fake{groupsOf(100)}), Limits{Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	if err := rows.Next(row(nil, nil)); err != nil {
		t.Fatal(err)
	}
	if budget.Used() < 100*16 {
		t.Errorf("the budget knows of %d bytes for 100 groups", budget.Used())
	}
	for range 2 {
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
		if budget.Used() != 0 {
			t.Errorf("%d bytes in use after Close", budget.Used())
		}
	}
}

func TestLongWinnersOfMaxCount(t *testing.T) {
	recipe := &plan.Merge{Kind: plan.MergeGroup, Aggregates: []plan.Aggregate{{Func: plan.AggregateMax}}}
	_, err := mergedWithin(t, Limits{MaxBytes: 2000}, recipe,
		cursor("v VARCHAR", row(text("a"))), cursor("v VARCHAR", row(text(strings.Repeat("b", 3000)))))
	if !errors.Is(err, fault.ErrTooManyRows) {
		t.Errorf("error %v, want ErrTooManyRows", err)
	}
}
