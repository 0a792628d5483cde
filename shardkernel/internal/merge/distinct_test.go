package merge

import (
	"bytes"
	"cmp"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// once is a recipe by which rows are distinct in all their columns.
func once(columns int, sorted bool) *plan.Merge {
	m := &plan.Merge{Distinct: &plan.Distinct{Columns: columns, Sorted: sorted}}
	for i := range columns {
		m.Distinct.Keys = append(m.Distinct.Keys, plan.GroupKey{Column: at(i)})
		if sorted {
			m.Kind = plan.MergeOrdered
			m.OrderBy = append(m.OrderBy, plan.SortKey{Column: at(i)})
		}
	}
	return m
}

func TestEqualRowsAreGivenOnce(t *testing.T) {
	columns := "a INT, b DECIMAL"
	cursors := func() []*fake {
		return []*fake{
			cursor(columns, row(nil, nil), row(int64(1), text("1.50"))),
			cursor(columns, row(nil, nil), row(nil, text("0.0")), row(int64(1), text("1.5"))),
			cursor(columns, row(nil, text("-0")), row(int64(1), text("9")), row(int64(1), text("10"))),
		}
	}
	want(t, []string{"NULL NULL", `NULL "0.0"`, `1 "1.50"`, `1 "9"`, `1 "10"`}, once(2, true), cursors()...)
	want(t, []string{"NULL NULL", `1 "1.50"`, `NULL "0.0"`, `1 "9"`, `1 "10"`}, once(2, false), cursors()...)
}

// Semantics row 2.
func TestDistinctTextsArePadded(t *testing.T) {
	recipe := &plan.Merge{Derived: 1, Distinct: &plan.Distinct{Columns: 1, Keys: []plan.GroupKey{{
		Column: at(0), Text: plan.TextOrder{HasWeight: true, Weight: fromEnd(0), PadSpace: true, SpaceWeight: []byte(" ")},
	}}}}
	columns := "name VARCHAR, w VARBINARY"
	want(t, []string{`"a"`, `"a\t"`, `""`}, recipe,
		cursor(columns, row(text("a"), text("A"))), cursor(columns, row(text("A "), text("A ")), row(text("a\t"), text("A\t")), row(text(""), text(""))),
		cursor(columns, row(text(" "), text(" "))))
}

func TestDistinctStopsAtTheLimit(t *testing.T) {
	recipe := once(1, false)
	recipe.HasLimit, recipe.Offset, recipe.Count = true, 1, 2
	second := cursor("a INT", row(int64(2)), row(int64(3)), row(int64(4)))
	want(t, []string{"2", "3"}, recipe, cursor("a INT", row(int64(1)), row(int64(1))), second)
	if second.read != 2 {
		t.Errorf("%d rows were read of the second cursor, want 2", second.read)
	}
}

func TestDistinctIsLimitedUnlessSorted(t *testing.T) {
	few := func() *fake { return cursor("a INT", row(int64(1)), row(int64(1)), row(int64(2))) }
	many := func() *fake { return cursor("a INT", row(int64(1)), row(int64(2)), row(int64(3))) }
	for name, test := range map[string]struct {
		limits Limits
		sorted bool
		cursor *fake
		fails  bool
	}{
		"as many as allowed": {limits: Limits{MaxRows: 2}, cursor: few()},
		"rows":               {limits: Limits{MaxRows: 2}, cursor: many(), fails: true},
		"bytes":              {limits: Limits{MaxBytes: 2 * keyOverhead}, cursor: many(), fails: true},
		"sorted":             {limits: Limits{MaxRows: 1, MaxBytes: 1}, cursor: many(), sorted: true},
	} {
		_, err := mergedWithin(t, test.limits, once(1, test.sorted), test.cursor)
		if errors.Is(err, fault.ErrTooManyRows) != test.fails || err != nil && !test.fails {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestDistinctNeedsTheColumnsItKnows(t *testing.T) {
	_, err := merged(t, once(1, false), cursor("a INT, b INT", row(int64(1), int64(2))))
	if !errors.Is(err, fault.ErrSchemaDrift) {
		t.Errorf("error %v, want ErrSchemaDrift", err)
	}
}

func TestDistinctGroups(t *testing.T) {
	recipe := grouped(1, over(1, count))
	recipe.GroupBy[0].Column = fromEnd(0)
	recipe.Aggregates[0].Column = at(0)
	recipe.Derived = 1
	recipe.Distinct = &plan.Distinct{Columns: 1, Keys: []plan.GroupKey{{Column: at(0)}}}
	recipe.OrderBy = []plan.SortKey{{Column: at(0), Desc: true}}
	columns := "n BIGINT, k INT"
	want(t, []string{"3", "1"}, recipe,
		cursor(columns, row(int64(1), int64(7)), row(int64(2), int64(8))),
		cursor(columns, row(int64(2), int64(7)), row(int64(1), int64(8)), row(int64(1), int64(9))))
}

// TestDistinctAgreesWithASet merges random rows of random nodes both ways.
func TestDistinctAgreesWithASet(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 300 {
		nodes := make([][][]driver.Value, 1+r.Intn(4))
		wanted := map[string]bool{}
		for range r.Intn(30) {
			made := row(nil, nil)
			if r.Intn(4) > 0 {
				made[0] = int64(r.Intn(4) - 1)
			}
			if r.Intn(4) > 0 {
				made[1] = text(fmt.Sprint(r.Intn(3)))
			}
			wanted[line(made)] = true
			n := r.Intn(len(nodes))
			nodes[n] = append(nodes[n], made)
		}
		for _, sorted := range []bool{false, true} {
			var cursors []*fake
			for _, rows := range nodes {
				if sorted {
					slices.SortFunc(rows, func(a, b []driver.Value) int {
						return cmp.Or(compareNumbers(a[0], b[0]), compareTexts(a[1], b[1]))
					})
				}
				cursors = append(cursors, cursor("a INT, b VARBINARY", rows...))
			}
			got, err := merged(t, once(2, sorted), cursors...)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for _, l := range got {
				if seen[l] || !wanted[l] {
					t.Fatalf("sorted %v: row %s twice, or from nowhere, in %q of %v", sorted, l, got, nodes)
				}
				seen[l] = true
			}
			if len(seen) != len(wanted) {
				t.Fatalf("sorted %v: %d rows of %d, %q of %v", sorted, len(seen), len(wanted), got, nodes)
			}
		}
	}
}

func compareNumbers(a, b driver.Value) int {
	number := func(v driver.Value) int64 {
		if v == nil {
			return math.MinInt64
		}
		return v.(int64)
	}
	return cmp.Compare(number(a), number(b))
}

func compareTexts(a, b driver.Value) int {
	if a == nil || b == nil {
		return cmp.Compare(boolInt(a != nil), boolInt(b != nil))
	}
	return bytes.Compare(a.([]byte), b.([]byte))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestDistinctAggregatesAgreeWithSets spreads random rows over nodes, lets each
// answer as it does when it groups by the arguments as well, and compares with
// sets over all rows.
func TestDistinctAggregatesAgreeWithSets(t *testing.T) {
	recipe := &plan.Merge{
		Kind: plan.MergeGroup, Derived: 4, GroupBy: []plan.GroupKey{{Column: at(0)}}, OrderBy: []plan.SortKey{{Column: at(0)}},
		Aggregates: []plan.Aggregate{
			{Func: plan.AggregateCount, Column: at(1), Distinct: []plan.GroupKey{{Column: at(6)}}},
			{Func: plan.AggregateSum, Column: at(2), Distinct: []plan.GroupKey{{Column: at(7)}}},
			{Func: plan.AggregateAvg, Column: at(3), Count: at(8), Sum: at(9), DivPrecision: 4, Distinct: []plan.GroupKey{{Column: at(7)}}},
			{Func: plan.AggregateCount, Column: at(4), Distinct: []plan.GroupKey{{Column: at(6)}, {Column: at(7)}}},
			{Func: plan.AggregateCount, Column: at(5)},
		},
	}
	columns := "g INT, cx BIGINT, sy DECIMAL, ay DECIMAL, cxy BIGINT, n BIGINT, x VARBINARY, y INT, ny BIGINT, ty DECIMAL"
	type key struct{ g, x, y int }
	r := rand.New(rand.NewSource(2))
	for range 300 {
		nodes := make([]map[key]int64, 1+r.Intn(4))
		for i := range nodes {
			nodes[i] = map[key]int64{}
		}
		type sets struct {
			x, y map[int]bool
			xy   map[[2]int]bool
			n    int64
		}
		groups := map[int]*sets{}
		for range r.Intn(40) {
			k := key{r.Intn(3), r.Intn(4), r.Intn(5)} // 0 of x and y is NULL
			nodes[r.Intn(len(nodes))][k]++
			g := groups[k.g]
			if g == nil {
				g = &sets{x: map[int]bool{}, y: map[int]bool{}, xy: map[[2]int]bool{}}
				groups[k.g] = g
			}
			g.n++
			if k.x > 0 {
				g.x[k.x] = true
			}
			if k.y > 0 {
				g.y[k.y] = true
			}
			if k.x > 0 && k.y > 0 {
				g.xy[[2]int{k.x, k.y}] = true
			}
		}
		var cursors []*fake
		for _, node := range nodes {
			c := cursor(columns)
			for k, n := range node {
				answer := row(int64(k.g), int64(boolInt(k.x > 0)), nil, nil, int64(boolInt(k.x > 0 && k.y > 0)), n, nil, nil, int64(boolInt(k.y > 0)), nil)
				if k.x > 0 {
					answer[6] = text(strings.Repeat("x", k.x))
				}
				if k.y > 0 {
					answer[2], answer[3], answer[7], answer[9] = text(fmt.Sprint(k.y)), text(fmt.Sprintf("%d.0000", k.y)), int64(k.y), text(fmt.Sprint(k.y))
				}
				c.rows = append(c.rows, answer)
			}
			cursors = append(cursors, c)
		}
		var wanted []string
		for g := range 3 {
			s := groups[g]
			if s == nil {
				continue
			}
			sum := 0
			for y := range s.y {
				sum += y
			}
			total, average := "NULL NULL", ""
			if len(s.y) > 0 {
				average = fmt.Sprintf("%.4f", float64(sum)/float64(len(s.y)))
				total = fmt.Sprintf("%q %q", fmt.Sprint(sum), average)
			}
			wanted = append(wanted, fmt.Sprintf("%d %d %s %d %d", g, len(s.x), total, len(s.xy), s.n))
		}
		want(t, wanted, recipe, cursors...)
	}
}

// Semantics row 13.
func TestDistinctAggregatesOverNothingAreOneRow(t *testing.T) {
	recipe := &plan.Merge{Kind: plan.MergeGroup, Derived: 1, Aggregates: []plan.Aggregate{
		{Func: plan.AggregateCount, Column: at(0), Distinct: []plan.GroupKey{{Column: at(2)}}},
		{Func: plan.AggregateBitAnd, Column: at(1), Plain: true},
	}}
	want(t, []string{"0 18446744073709551615"}, recipe, cursor("n BIGINT, b UNSIGNED BIGINT, x INT"), cursor("n BIGINT, b UNSIGNED BIGINT, x INT"))
}

func TestDistinctValuesAreLimited(t *testing.T) {
	recipe := &plan.Merge{Kind: plan.MergeGroup, Derived: 1, Aggregates: []plan.Aggregate{
		{Func: plan.AggregateCount, Column: at(0), Distinct: []plan.GroupKey{{Column: at(1)}}},
	}}
	rows := func() *fake { return cursor("n BIGINT, x INT", row(int64(1), int64(1)), row(int64(1), int64(2))) }
	if _, err := mergedWithin(t, Limits{MaxRows: 2}, recipe, rows()); !errors.Is(err, fault.ErrTooManyRows) {
		t.Errorf("a group and two values within 2 rows: error %v", err)
	}
	if _, err := mergedWithin(t, Limits{MaxRows: 3}, recipe, rows(), rows()); err != nil {
		t.Errorf("a group and two values within 3 rows: %v", err)
	}
}

// Values that come in order are not held, whatever their number.
func TestDistinctValuesInOrderAreNotHeld(t *testing.T) {
	recipe := &plan.Merge{
		Kind: plan.MergeGroup, Derived: 2, Arrival: []plan.SortKey{{Column: at(2)}},
		Aggregates: []plan.Aggregate{
			{Func: plan.AggregateCount, Column: at(0), Distinct: []plan.GroupKey{{Column: at(2)}}, Adjacent: true},
			{Func: plan.AggregateCount, Column: at(1)},
			{Func: plan.AggregateCount, Column: at(3), Distinct: []plan.GroupKey{{Column: at(3)}}},
		},
	}
	var cursors []*fake
	for u := range 3 {
		c := cursor("n BIGINT, c BIGINT, x INT, y BIGINT", row(int64(0), int64(1), nil, int64(0)))
		for n := range 2000 {
			c.rows = append(c.rows, row(int64(1), int64(2), int64(n*(1+u%2)), int64(1)))
		}
		cursors = append(cursors, c)
	}
	got, err := mergedWithin(t, Limits{MaxRows: 3}, recipe, cursors...)
	if err != nil || len(got) != 1 || got[0] != "3000 12003" {
		t.Errorf("%q, error %v", got, err)
	}
}

func TestBitsOfNodesAreCombined(t *testing.T) {
	recipe := &plan.Merge{Kind: plan.MergeGroup, Aggregates: []plan.Aggregate{
		{Func: plan.AggregateBitAnd, Column: at(0)}, {Func: plan.AggregateBitOr, Column: at(1)}, {Func: plan.AggregateBitXor, Column: at(2)},
	}}
	columns := "a UNSIGNED BIGINT, o UNSIGNED BIGINT, x UNSIGNED BIGINT"
	want(t, []string{`"18446744073709551614" 7 5`}, recipe,
		cursor(columns, row(text("18446744073709551615"), int64(3), int64(6))),
		cursor(columns, row(text("18446744073709551614"), int64(4), int64(3))))
	want(t, []string{"8 18446744073709551615 0"}, recipe,
		cursor(columns, row(uint64(12), uint64(math.MaxUint64), uint64(9))),
		cursor(columns, row(uint64(10), uint64(1), uint64(9))))

	_, err := merged(t, recipe, cursor("a VARBINARY, o UNSIGNED BIGINT, x UNSIGNED BIGINT"))
	if !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("bits of a binary text: error %v, want ErrUnsupported", err)
	}
}
