package merge

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/memory"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// byName groups by a padded text with weights, behind a number, and counts, sums
// and takes the greatest of further columns.
func byName(sorted int) *plan.Merge {
	text := plan.TextOrder{HasWeight: true, Weight: fromEnd(0), PadSpace: true, SpaceWeight: []byte{' '}}
	return &plan.Merge{
		Kind: plan.MergeGroup, Derived: 1, Sorted: sorted,
		GroupBy:    []plan.GroupKey{{Column: at(0)}, {Column: at(1), Text: text}},
		OrderBy:    []plan.SortKey{{Column: at(1), Text: text, Desc: true}, {Column: at(0)}, {Column: at(2)}},
		Aggregates: []plan.Aggregate{{Func: plan.AggregateCount, Column: at(2)}, {Func: plan.AggregateSum, Column: at(3)}, {Func: plan.AggregateMax, Column: at(4)}},
	}
}

const byNameColumns = "n BIGINT, name VARCHAR, count BIGINT, sum DECIMAL, max BIGINT, w VARBINARY"

// unitsByName returns the groups of some units, each in the order of byName.
func unitsByName(random *rand.Rand, units int) [][][]driver.Value {
	out := make([][][]driver.Value, units)
	for u := range out {
		seen := map[string]bool{}
		for range random.IntN(12) {
			name, n := []string{"a", "A ", "b", "B\t", ""}[random.IntN(5)], int64(random.IntN(3))
			var key, weight driver.Value
			if random.IntN(6) > 0 {
				key, weight = text(name), text(strings.ToLower(name))
			} else {
				name = "NULL"
			}
			if id := fmt.Sprint(strings.TrimRight(strings.ToLower(name), " "), n); seen[id] {
				continue
			} else {
				seen[id] = true
			}
			var greatest driver.Value
			if random.IntN(3) > 0 {
				greatest = int64(random.IntN(100))
			}
			out[u] = append(out[u], row(n, key, int64(1+random.IntN(5)), text(fmt.Sprintf("%d.50", random.IntN(50))), greatest, weight))
		}
		slices.SortFunc(out[u], func(a, b []driver.Value) int {
			wa, _ := a[5].([]byte)
			wb, _ := b[5].([]byte)
			switch {
			case a[5] == nil && b[5] == nil:
			case a[5] == nil:
				return 1
			case b[5] == nil:
				return -1
			}
			if c := comparePadded(wb, wa, []byte{' '}); c != 0 {
				return c
			}
			return int(a[0].(int64) - b[0].(int64))
		})
	}
	return out
}

func TestGroupsInOrderAreThoseThatMemoryGives(t *testing.T) {
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 1))
		units := unitsByName(random, 1+random.IntN(4))
		var answers []string
		for _, sorted := range []int{0, 2} {
			recipe := byName(sorted)
			if seed%3 == 0 {
				recipe.Having = &plan.Expr{Op: plan.OpGreater, Kids: []*plan.Expr{{Op: plan.OpColumn, Column: at(2)}, {Op: plan.OpConstant, Const: int64(3)}}}
			}
			if seed%5 == 0 {
				recipe.HasLimit, recipe.Offset, recipe.Count = true, 1, 3
			}
			var cursors []*fake
			for _, rows := range units {
				cursors = append(cursors, cursor(byNameColumns, rows...))
			}
			limits := Limits{}
			if sorted > 0 {
				limits.MaxRows = 1
			}
			got, err := mergedWithin(t, limits, recipe, cursors...)
			if err != nil {
				t.Fatalf("seed %d, sorted %d: %v", seed, sorted, err)
			}
			answers = append(answers, strings.Join(got, "\n"))
		}
		// Of the texts of a group, the first unit's is shown by both.
		if answers[0] != answers[1] {
			t.Fatalf("seed %d: in order\n%s\nin memory\n%s", seed, answers[1], answers[0])
		}
	}
}

// What is held does not grow with the number of groups.
func TestGroupsInOrderAreHeldOneAtATime(t *testing.T) {
	const groups = 5000
	units := make([][][]driver.Value, 4)
	for u := range units {
		for n := range groups {
			units[u] = append(units[u], row(int64(n), text("x"), int64(1), text("1.00"), int64(u), text("x")))
		}
	}
	open := func() []*fake {
		var cursors []*fake
		for _, rows := range units {
			cursors = append(cursors, cursor(byNameColumns, rows...))
		}
		return cursors
	}
	budget := memory.NewBudget(4096)
	rows, err := Rows(byName(2), asRows(open()), Limits{MaxRows: 1, MaxBytes: 4096, Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	dest := make([]driver.Value, 5)
	for n := range groups {
		if err := rows.Next(dest); err != nil {
			t.Fatal(err)
		}
		if dest[0] != int64(n) || dest[2] != int64(4) || dest[4] != int64(3) || string(dest[3].([]byte)) != "4.00" {
			t.Fatalf("group %d is %s", n, line(dest))
		}
		if used := budget.Used(); used > 2048 {
			t.Fatalf("%d bytes are held behind group %d", used, n)
		}
	}
	if err := rows.Next(dest); !isEnd(err) || budget.Used() != 0 {
		t.Errorf("the end: %v, %d bytes are held", err, budget.Used())
	}
	if _, err := mergedWithin(t, Limits{MaxRows: 1}, byName(0), open()...); !errors.Is(err, fault.ErrTooManyRows) {
		t.Errorf("without an order: %v, want too many rows", err)
	}
}

// The branches of a UNION share what a statement may hold.
func TestGroupsInOrderLeaveWhatOthersHold(t *testing.T) {
	memory := &account{limits: Limits{}.withDefaults()}
	if err := memory.hold(7, 700); err != nil {
		t.Fatal(err)
	}
	in := &inputs{cursors: asRows([]*fake{cursor(byNameColumns,
		row(int64(1), text("b"), int64(1), text("1"), int64(1), text("b")),
		row(int64(1), text("a"), int64(1), text("1"), int64(1), text("a")))})}
	_, rows, err := open(byName(2), in, memory)
	if err != nil {
		t.Fatal(err)
	}
	dest := make([]driver.Value, 5)
	for err == nil {
		if err = rows.next(dest); err == nil && memory.rows != 8 {
			t.Errorf("%d rows are held, want 8", memory.rows)
		}
	}
	if !isEnd(err) || memory.rows != 7 || memory.bytes != 700 {
		t.Errorf("the end: %v; %d rows of %d bytes are held", err, memory.rows, memory.bytes)
	}
}

func TestGroupsOutOfOrderAreRefused(t *testing.T) {
	disordered := cursor(byNameColumns,
		row(int64(1), text("a"), int64(1), text("1"), int64(1), text("a")),
		row(int64(1), text("b"), int64(1), text("1"), int64(1), text("b")))
	_, err := merged(t, byName(2), disordered, cursor(byNameColumns))
	if !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

func TestCutStreamOfGroupsIsAnError(t *testing.T) {
	cut := cursor(byNameColumns, row(int64(1), text("a"), int64(1), text("1"), int64(1), text("a")))
	cut.err = errors.New("cut")
	if got, err := merged(t, byName(2), cut); !errors.Is(err, cut.err) || len(got) > 0 {
		t.Errorf("rows %q, error %v", got, err)
	}
}
