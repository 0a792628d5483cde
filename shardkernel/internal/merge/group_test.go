package merge

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

func grouped(keys int, aggregates ...plan.Aggregate) *plan.Merge {
	m := &plan.Merge{Kind: plan.MergeGroup, Aggregates: aggregates}
	for i := range keys {
		m.GroupBy = append(m.GroupBy, plan.GroupKey{Column: at(i)})
	}
	return m
}

var (
	count = plan.Aggregate{Func: plan.AggregateCount}
	total = plan.Aggregate{Func: plan.AggregateSum}
	least = plan.Aggregate{Func: plan.AggregateMin}
	most  = plan.Aggregate{Func: plan.AggregateMax}
)

func over(i int, a plan.Aggregate) plan.Aggregate {
	a.Column = at(i)
	return a
}

// Semantics row 13.
func TestAggregatesOverNothingAreOneRow(t *testing.T) {
	recipe := grouped(0, count, over(1, total), over(2, most), plan.Aggregate{
		Func: plan.AggregateAvg, Column: at(3), Count: at(4), Sum: at(5), DivPrecision: 4,
	})
	recipe.Derived = 2
	columns := "n BIGINT, s DECIMAL, m INT, a DECIMAL, ac BIGINT, as DECIMAL"
	nothing := func() *fake {
		return cursor(columns, row(int64(0), nil, nil, nil, int64(0), nil))
	}
	want(t, []string{"0 NULL NULL NULL"}, recipe, nothing(), nothing())
	want(t, []string{"0 NULL NULL NULL"}, recipe, cursor(columns), cursor(columns))

	recipe.GroupBy = []plan.GroupKey{{}}
	want(t, nil, recipe, cursor(columns), cursor(columns))
}

// Semantics rows 20 and 21.
func TestGroupKeys(t *testing.T) {
	day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		rule, typeName string
		a, b           driver.Value
		same           bool
	}{
		{"NULL is one group", "VARCHAR", nil, nil, true},
		{"NULL is not the text NULL", "VARCHAR", nil, text("NULL"), false},
		{"NULL is not empty", "VARCHAR", nil, text(""), false},
		{"NULL is not zero", "INT", nil, int64(0), false},
		{"decimals of other scale", "DECIMAL", text("1.50"), text("1.5"), true},
		{"decimal zero", "DECIMAL", text("-0.00"), text("0"), true},
		{"decimals by digits, not by point", "DECIMAL", text("1.23"), text("12.3"), false},
		{"big unsigned by both protocols", "UNSIGNED BIGINT", uint64(math.MaxUint64), text("18446744073709551615"), true},
		{"float zeros", "DOUBLE", 0.0, math.Copysign(0, -1), true},
		{"floats", "DOUBLE", 0.1, 0.2, false},
		{"SQLite integer and real", "", int64(1), 1.0, true},
		{"SQLite number and text", "", int64(1), "1", false},
		{"signs", "INT", int64(1), int64(-1), false},
		{"fractions of a second", "DATETIME", text("2024-01-01 00:00:00"), text("2024-01-01 00:00:00.000"), true},
		{"instants", "TIMESTAMP", day, day.In(time.FixedZone("", 3600)), true},
		{"instants apart", "TIMESTAMP", day, day.Add(1), false},
		{"bytes", "BLOB", text("a"), text("a "), false},
		{"bits", "BIT", text("\x00\x01"), text("\x01"), true},
		{"ENUM by its text", "ENUM", text("x"), text("x"), true},
	} {
		t.Run(test.rule, func(t *testing.T) {
			columns := "k " + test.typeName + ", n BIGINT"
			got, err := merged(t, grouped(1, over(1, count)),
				cursor(columns, row(test.a, int64(2))), cursor(columns, row(test.b, int64(3))))
			if err != nil {
				t.Fatal(err)
			}
			wanted := []string{line(row(test.a, int64(2))), line(row(test.b, int64(3)))}
			if test.same {
				wanted = []string{line(row(test.a, int64(5)))}
			}
			if !slices.Equal(got, wanted) {
				t.Errorf("got %q, want %q", got, wanted)
			}
		})
	}
}

// Semantics row 21: ('ab','c') is not ('a','bc').
func TestGroupKeysAreNeverJoined(t *testing.T) {
	columns := "a VARCHAR, b VARCHAR, n BIGINT"
	want(t, []string{`"ab" "c" 1`, `NULL "" 1`, `"a" "bc" 1`, `"" NULL 1`}, grouped(2, over(2, count)),
		cursor(columns, row(text("ab"), text("c"), int64(1)), row(nil, text(""), int64(1))),
		cursor(columns, row(text("a"), text("bc"), int64(1)), row(text(""), nil, int64(1))))
}

// Semantics row 20: 'a', 'A' and 'a ' are one group, shown as any of them.
func TestTextGroupsByPaddedWeight(t *testing.T) {
	recipe := &plan.Merge{
		Kind: plan.MergeGroup, Derived: 1,
		GroupBy:    []plan.GroupKey{{Text: padded}},
		Aggregates: []plan.Aggregate{over(1, count)},
		OrderBy:    []plan.SortKey{{Text: padded, Desc: true}},
	}
	c := func(values ...string) *fake {
		f := cursor("s VARCHAR, n BIGINT, w VARBINARY")
		for _, v := range values {
			f.rows = append(f.rows, row(text(v), int64(1), generalCI(v)))
		}
		return f
	}
	want(t, []string{`"b" 1`, `"a" 3`, `"a\t" 1`}, recipe, c("a", "b"), c("A", "a\t"), c("a "))
}

func TestGroupedTextIsRefusedWhereItCannotBeCompared(t *testing.T) {
	recipe := grouped(1)
	recipe.GroupBy[0].Text.Refuse = "the collation is not known"
	_, err := merged(t, recipe, cursor("s VARCHAR"), cursor("s VARCHAR"))
	if !errors.Is(err, fault.ErrUnsupported) || !strings.Contains(err.Error(), "GROUP BY") {
		t.Errorf("error %v, want ErrUnsupported of GROUP BY", err)
	}
}

func TestColumnsThatAreNoAggregatesTakeTheFirstRow(t *testing.T) {
	columns := "k INT, note VARCHAR, n BIGINT"
	want(t, []string{`1 "first" 5`}, grouped(1, over(2, count)),
		cursor(columns, row(int64(1), text("first"), int64(2))), cursor(columns, row(int64(1), text("second"), int64(3))))
}

// Semantics row 22: nothing was pushed, the merge sorts and cuts.
func TestGroupsAreSortedByMergedValuesThenCut(t *testing.T) {
	recipe := grouped(1, over(1, count))
	recipe.OrderBy = []plan.SortKey{{Column: at(1), Desc: true}, {Column: at(0)}}
	recipe.HasLimit, recipe.Offset, recipe.Count = true, 1, 2
	columns := "k VARCHAR, n BIGINT"
	want(t, []string{`"b" 5`, `"c" 5`}, recipe,
		cursor(columns, row(text("c"), int64(5)), row(text("b"), int64(1)), row(text("a"), int64(3))),
		cursor(columns, row(text("d"), int64(4)), row(text("b"), int64(4)), row(text("a"), int64(6))))
}

// The weight follows the winner, or the groups would be sorted by another value.
func TestGroupsAreSortedByTheWeightOfTheMergedMax(t *testing.T) {
	order := plan.TextOrder{HasWeight: true, Weight: at(2)}
	recipe := grouped(1, plan.Aggregate{Func: plan.AggregateMax, Column: at(1), Text: order})
	recipe.Derived, recipe.OrderBy = 1, []plan.SortKey{{Column: at(1), Text: order}}
	columns := "k INT, m VARCHAR, w VARBINARY"
	want(t, []string{`2 "m"`, `1 "Z"`}, recipe,
		cursor(columns, row(int64(1), text("a"), generalCI("a")), row(int64(2), text("m"), generalCI("m"))),
		cursor(columns, row(int64(1), text("Z"), generalCI("Z"))))
}

// Property: merging the groups of shards is grouping the whole.
func TestGroupMergeEqualsGroupingOfTheWhole(t *testing.T) {
	type all struct {
		n, sum, least, most int64
		have                bool
	}
	for seed := range int64(200) {
		r := rand.New(rand.NewSource(seed))
		units := 1 + r.Intn(5)
		shards, whole := make([]map[int64]*all, units), map[int64]*all{}
		for i := range shards {
			shards[i] = map[int64]*all{}
		}
		put := func(m map[int64]*all, key, v int64, null bool) {
			a := m[key]
			if a == nil {
				a = &all{}
				m[key] = a
			}
			if null {
				return
			}
			a.n, a.sum = a.n+1, a.sum+v
			if !a.have || v < a.least {
				a.least = v
			}
			if !a.have || v > a.most {
				a.most = v
			}
			a.have = true
		}
		for range r.Intn(80) {
			key, v, null, unit := int64(r.Intn(6)), int64(r.Intn(2001)-1000), r.Intn(6) == 0, r.Intn(units)
			put(whole, key, v, null)
			put(shards[unit], key, v, null)
		}
		values := func(key int64, a *all, avg driver.Value) []driver.Value {
			if !a.have {
				return row(key, a.n, nil, nil, nil, nil)
			}
			return row(key, a.n, text(fmt.Sprint(a.sum)), a.least, a.most, avg)
		}
		cursors := make([]*fake, units)
		for i := range cursors {
			cursors[i] = cursor("k INT, n BIGINT, s DECIMAL, lo INT, hi INT, a DECIMAL")
			for key, a := range shards[i] {
				cursors[i].rows = append(cursors[i].rows, values(key, a, text("0.0000")))
			}
		}
		var wanted []string
		for key := range int64(6) {
			if a := whole[key]; a != nil {
				avg := ""
				if a.have {
					avg = roundedQuotient(a.sum, a.n)
				}
				wanted = append(wanted, line(values(key, a, text(avg))))
			}
		}
		recipe := grouped(1, over(1, count), over(2, total), over(3, least), over(4, most),
			plan.Aggregate{Func: plan.AggregateAvg, Column: at(5), Count: at(1), Sum: at(2), DivPrecision: 4})
		recipe.OrderBy = []plan.SortKey{{}}
		got, err := merged(t, recipe, cursors...)
		if err != nil || !slices.Equal(got, wanted) {
			t.Fatalf("seed %d: error %v, got\n%s\nwant\n%s", seed, err, strings.Join(got, "\n"), strings.Join(wanted, "\n"))
		}
	}
}

// roundedQuotient is sum / n with four digits, half away from zero, by integers.
func roundedQuotient(sum, n int64) string {
	sign := ""
	if sum < 0 {
		sign, sum = "-", -sum
	}
	q := (sum*20_000/n + 1) / 2
	if q == 0 {
		sign = ""
	}
	return fmt.Sprintf("%s%d.%04d", sign, q/10_000, q%10_000)
}
