package merge

import (
	"cmp"
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

// orderOf merges values that stand one a cursor, each cursor being in order by
// itself, and returns them in the merged order.
func orderOf(t *testing.T, typeName string, desc bool, order plan.TextOrder, values ...driver.Value) ([]string, error) {
	t.Helper()
	cursors := make([]*fake, len(values))
	for i, v := range values {
		cursors[i] = cursor("v "+typeName, row(v))
	}
	return merged(t, &plan.Merge{Kind: plan.MergeOrdered, OrderBy: []plan.SortKey{{Desc: desc, Text: order}}}, cursors...)
}

// Semantics rows 1 (binary collation), 4, 5, 7; values are given in reverse.
func TestValuesAreOrderedAsTheirTypeIs(t *testing.T) {
	day := time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		rule, typeName string
		values         []driver.Value // ascending
	}{
		{"integers over both signs", "BIGINT", row(int64(math.MinInt64), int64(-1), int64(0), int64(math.MaxInt64))},
		{"unsigned beyond int64", "UNSIGNED BIGINT", row(int64(5), int64(math.MaxInt64), uint64(1<<63), uint64(math.MaxUint64))},
		{"unsigned as the binary protocol gives it", "UNSIGNED BIGINT", row(int64(5), text("9223372036854775808"), text("18446744073709551615"))},
		{"integers next to each other beyond 2^53", "BIGINT", row(int64(1<<53), int64(1<<53+1), int64(1<<53+2))},
		{"decimals as numbers", "DECIMAL", row(text("-10.5"), text("-9.50"), text("0.00"), text("0.01"), text("9"), text("10"))},
		{"decimals beyond float", "DECIMAL", row(text("0.1234567890123456789"), text("0.123456789012345679"), text("123456789012345678901234567890.1"), text("123456789012345678901234567890.2"))},
		{"decimals beyond 64 bits beside smaller ones", "DECIMAL", row(text("-99999999999999999999"), text("-1"), text("7"), text("99999999999999999999"))},
		{"doubles", "DOUBLE", row(-1e300, -0.5, 0.0, 1e-300, 2.5)},
		{"floats", "FLOAT", row(float32(-1.5), float32(1.1), float32(1.2))},
		{"TIME", "TIME", row(text("-100:00:00"), text("-01:00:00"), text("-00:00:00.5"), text("00:00:00"), text("09:00:00"), text("09:00:00.25"), text("100:00:00"))},
		{"BIT", "BIT", row(text("\x00\x05"), text("\x00\xff"), text("\x01\x00"))},
		{"BIT of MAX, as MariaDB returns it", "BIT", row(text("5"), text("10"), text("255"))},
		{"dates as text", "DATE", row(text("0000-00-00"), text("2024-01-05"), text("2024-02-01"))},
		{"datetimes as text", "DATETIME", row(text("2024-01-05 10:00:00"), text("2024-01-05 10:00:00.000001"), text("2024-01-05 10:00:01"))},
		{"times by instant", "TIMESTAMP", row(day.In(time.FixedZone("", 7200)), day.Add(time.Nanosecond), day.Add(time.Hour).In(time.FixedZone("", -7200)))},
		{"YEAR", "YEAR", row(int64(0), int64(1999), int64(2024))},
		{"bytes", "VARBINARY", row(text("A"), text("B"), text("a"), text("a "), text("a\x00b"))[:3]},
		{"text of a binary collation", "VARCHAR", row(text("A"), text("B"), text("a"))},
		{"SQLite storage classes", "", row(int64(-1), 1.5, int64(2), "10", "9", text("1"))},
		{"SQLite declared types", "VARCHAR(20)", row("", "a", "b")},
		{"SQLite integers beside reals", "", row(math.Inf(-1), -0.5, int64(0), 9007199254740992.0, int64(9007199254740993), int64(math.MaxInt64), 9223372036854775808.0, math.Inf(1))},
		{"SQLite text in a number column", "INTEGER", row(int64(5), "x")},
		{"SQLite TIME is text", "TIME", row("09:00:00", "1:00:00", "95:00:00")},
		{"bool", "", row(false, true)},
	} {
		t.Run(test.rule, func(t *testing.T) {
			ascending := append(row(nil), test.values...)
			for _, desc := range []bool{false, true} {
				wanted := slices.Clone(ascending)
				given := slices.Clone(ascending)
				slices.Reverse(given)
				if desc {
					slices.Reverse(wanted)
					given = ascending
				}
				got, err := orderOf(t, test.typeName, desc, plan.TextOrder{}, given...)
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range wanted {
					if got[i] != line(row(v)) {
						t.Fatalf("desc %v: got %q, want %v", desc, got, wanted)
					}
				}
			}
		})
	}
}

func TestEqualKeysComeInTheOrderOfTheCursors(t *testing.T) {
	recipe := &plan.Merge{Kind: plan.MergeOrdered, OrderBy: []plan.SortKey{{}}}
	for _, pairs := range [][2]driver.Value{
		{int64(1), int64(1)}, {text("1.50"), text("1.5")}, {nil, nil}, {text("-0"), text("0.0")},
	} {
		want(t, []string{line(row(pairs[0], int64(1))), line(row(pairs[1], int64(2))), line(row(pairs[0], int64(3)))}, recipe,
			cursor("v DECIMAL, unit INT", row(pairs[0], int64(1))),
			cursor("v DECIMAL, unit INT", row(pairs[1], int64(2))),
			cursor("v DECIMAL, unit INT", row(pairs[0], int64(3))))
	}
}

func TestLaterKeysDecideBetweenEqualEarlierOnes(t *testing.T) {
	want(t, []string{`"a" 3`, `"a" 2`, `"a" 1`, `"b" 9`, `"b" NULL`},
		&plan.Merge{Kind: plan.MergeOrdered, OrderBy: []plan.SortKey{{Column: at(0)}, {Column: fromEnd(0), Desc: true}}},
		cursor("s VARCHAR, n INT", row(text("a"), int64(2)), row(text("b"), int64(9))),
		cursor("s VARCHAR, n INT", row(text("a"), int64(3)), row(text("a"), int64(1)), row(text("b"), nil)))
}

// generalCI gives weights as utf8mb4_general_ci does for these texts: measured
// on MariaDB 10.11.
func generalCI(s string) []byte {
	var w []byte
	for _, c := range strings.ToUpper(s) {
		w = append(w, byte(c>>8), byte(c))
	}
	return w
}

var padded = plan.TextOrder{HasWeight: true, Weight: fromEnd(0), PadSpace: true, SpaceWeight: generalCI(" ")}

func texts(values ...string) *fake {
	c := cursor("s VARCHAR, w VARBINARY")
	for _, v := range values {
		c.rows = append(c.rows, row(text(v), generalCI(v)))
	}
	return c
}

// Semantics rows 1, 2 and 3: 'a\t' < 'a' = 'a ' = 'A' < 'B'.
func TestTextIsOrderedByPaddedWeights(t *testing.T) {
	recipe := &plan.Merge{Kind: plan.MergeOrdered, Derived: 1, OrderBy: []plan.SortKey{{Text: padded}}}
	want(t, []string{`"a\t"`, `"a"`, `"a "`, `"A"`, `"A  x"`, `"B"`}, recipe,
		texts("a", "a "), texts("a\t", "A", "B"), texts("A  x"))
	recipe.OrderBy[0].Desc = true
	want(t, []string{`"B"`, `"a"`, `"a "`, `"A"`, `"a\t"`}, recipe,
		texts("a", "a "), texts("B", "A", "a\t"))

	noPad := plan.TextOrder{HasWeight: true, Weight: fromEnd(0)}
	want(t, []string{`"a"`, `"A"`, `"a\t"`, `"a "`, `"B"`},
		&plan.Merge{Kind: plan.MergeOrdered, Derived: 1, OrderBy: []plan.SortKey{{Text: noPad}}},
		texts("a", "a "), texts("A", "a\t", "B"))
}

// MariaDB compares 'a' and 'a\x00' of a NO PAD collation as different, yet sorts
// them as equal.
func TestTextEndingInZeroIsNotSortedWithoutPadding(t *testing.T) {
	noPad := plan.TextOrder{HasWeight: true, Weight: fromEnd(0)}
	recipe := &plan.Merge{Kind: plan.MergeOrdered, Derived: 1, OrderBy: []plan.SortKey{{Text: noPad}}}
	if _, err := merged(t, recipe, texts("a", "a\x00"), texts("b")); !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("error %v, want ErrUnsupported", err)
	}
	want(t, []string{`"a"`, `"a\x00b"`, `"b"`}, recipe, texts("a", "b"), texts("a\x00b"))
	recipe.OrderBy[0].Text = padded
	want(t, []string{`"a\x00"`, `"a"`}, recipe, texts("a"), texts("a\x00"))
	recipe = &plan.Merge{Kind: plan.MergeGroup, Derived: 1, GroupBy: []plan.GroupKey{{Text: noPad}}}
	want(t, []string{`"a"`, `"a\x00"`}, recipe, texts("a"), texts("a\x00"))
}

func TestBinaryTextIsPaddedWithSpacesWithoutWeights(t *testing.T) {
	got, err := orderOf(t, "VARCHAR", false, plan.TextOrder{PadSpace: true}, text("a"), text("a\t"), text("a "), text("A"))
	if err != nil || strings.Join(got, " ") != `"A" "a\t" "a" "a "` {
		t.Errorf("got %q, error %v", got, err)
	}
}

// The planner asks for weights where it does not know the type.
func TestTypeSeenAtRunTimeDecidesNotTheWeight(t *testing.T) {
	order := padded
	for _, test := range []struct {
		typeName string
		a, b     driver.Value
	}{
		{"INT", int64(9), int64(10)},
		{"DECIMAL", text("9"), text("10")},
		{"VARBINARY", text("a "), text("a!")},
		{"DATETIME", text("2024-01-01 00:00:00"), text("2024-01-01 00:00:00.1")},
	} {
		want(t, []string{line(row(test.a)), line(row(test.b))},
			&plan.Merge{Kind: plan.MergeOrdered, Derived: 1, OrderBy: []plan.SortKey{{Text: order}}},
			cursor("v "+test.typeName+", w VARBINARY", row(test.b, nil)),
			cursor("v "+test.typeName+", w VARBINARY", row(test.a, nil)))
	}
}

func TestOrdersThatTheValuesDoNotShowAreRefusedBeforeAnyRow(t *testing.T) {
	refuse := plan.TextOrder{Refuse: "the collation has several levels"}
	for _, test := range []struct {
		typeName string
		order    plan.TextOrder
		value    driver.Value
		reason   string
	}{
		{"VARCHAR", refuse, text("a"), "several levels"},
		{"LONGTEXT", refuse, nil, "several levels"},
		{"VARCHAR(9)", refuse, "a", "several levels"},
		{"ENUM", plan.TextOrder{}, text("a"), "place of the value"}, // semantics row 6
		{"SET", plan.TextOrder{}, text("a"), "place of the value"},
		{"JSON", plan.TextOrder{}, text("{}"), "JSON"},
		{"GEOMETRY", plan.TextOrder{}, nil, "GEOMETRY"},
		{"VARCHAR", plan.TextOrder{HasWeight: true, Weight: at(1)}, text("a"), "no WEIGHT_STRING"},
		{"INT", plan.TextOrder{}, int8(1), "int8"},
	} {
		c := func() *fake { return cursor("v "+test.typeName+", w VARBINARY", row(test.value, nil)) }
		got, err := merged(t, &plan.Merge{Kind: plan.MergeOrdered, OrderBy: []plan.SortKey{{Text: test.order}}}, c(), c())
		if !errors.Is(err, fault.ErrUnsupported) || !strings.Contains(err.Error(), test.reason) || len(got) > 0 {
			t.Errorf("%s: rows %q, error %v, want ErrUnsupported with %q", test.typeName, got, err, test.reason)
		}
	}
	if got, err := orderOf(t, "INT", false, refuse, int64(2), int64(1)); err != nil || strings.Join(got, " ") != "1 2" {
		t.Errorf("numbers where only text is refused: %q, error %v", got, err)
	}
}

// Semantics row 66: the server cuts its sort keys, so that texts which differ
// behind the cut come in any order.
func TestSortByTextLongerThanTheServersSortKeyIsRefused(t *testing.T) {
	order := plan.TextOrder{Limit: 3}
	for _, typeName := range []string{"VARCHAR", "BLOB"} {
		if got, err := orderOf(t, typeName, false, order, text("abc"), text("ab")); err != nil || strings.Join(got, " ") != `"ab" "abc"` {
			t.Errorf("%s within the limit: %q, error %v", typeName, got, err)
		}
		if _, err := orderOf(t, typeName, false, order, text("abcd"), text("ab")); !errors.Is(err, fault.ErrUnsupported) || !strings.Contains(err.Error(), "longer than the server sorts by") {
			t.Errorf("%s beyond the limit: error %v, want ErrUnsupported", typeName, err)
		}
	}
}

func TestTimesBesideOtherTextsAreRefused(t *testing.T) {
	_, err := orderOf(t, "DATETIME", false, plan.TextOrder{}, time.Unix(0, 0), "yesterday")
	if !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("error %v, want ErrUnsupported", err)
	}
}

// A node that sorts by a rule we do not know must not lead to a wrong order.
func TestCursorOutOfOrderIsAnError(t *testing.T) {
	for _, desc := range []bool{false, true} {
		c := cursor("v INT", row(int64(1)), row(int64(2)), row(int64(1)))
		if desc {
			c = cursor("v INT", row(int64(2)), row(int64(1)), row(int64(2)))
		}
		got, err := merged(t, &plan.Merge{Kind: plan.MergeOrdered, OrderBy: []plan.SortKey{{Desc: desc}}}, cursor("v INT"), c)
		if !errors.Is(err, fault.ErrUnsupported) || !strings.Contains(err.Error(), `unit 2`) || !strings.Contains(err.Error(), `"v"`) || len(got) != 2 {
			t.Errorf("rows %q, error %v", got, err)
		}
	}
}

// Property: merging sorted shards is sorting the whole.
func TestOrderedMergeEqualsSortOfTheWhole(t *testing.T) {
	for seed := range int64(300) {
		r := rand.New(rand.NewSource(seed))
		makers := []func() driver.Value{
			func() driver.Value { return int64(r.Intn(7) - 3) },
			func() driver.Value { return text(fmt.Sprintf("%d.%02d", r.Intn(20)-10, r.Intn(3)*25)) },
			func() driver.Value { return text(strings.Repeat("ab ", 3)[r.Intn(4) : 4+r.Intn(5)]) },
			func() driver.Value { return float64(r.Intn(9)) / 4 },
		}
		maker := makers[seed%4]
		typeName := []string{"INT", "DECIMAL", "VARCHAR", "DOUBLE"}[seed%4]
		desc := r.Intn(2) == 0
		var all [][]driver.Value
		for id := range r.Intn(60) {
			v := maker()
			if r.Intn(8) == 0 {
				v = nil
			}
			all = append(all, row(v, int64(id)))
		}
		recipe := &plan.Merge{Kind: plan.MergeOrdered, OrderBy: []plan.SortKey{{Desc: desc}, {Column: at(1)}}}
		head, err := newHeader([]driver.Rows{cursor("v " + typeName + ", id INT")}, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		keys, err := newSortKeys(head, recipe.OrderBy)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(all, func(a, b []driver.Value) int {
			x, y := make([]cell, 2), make([]cell, 2)
			if err := errors.Join(keys.load(x, a), keys.load(y, b)); err != nil {
				t.Fatal(err)
			}
			return keys.compare(x, y)
		})
		cursors := make([]*fake, 1+r.Intn(6))
		for i := range cursors {
			cursors[i] = cursor("v " + typeName + ", id INT")
		}
		var wanted []string
		for _, values := range all {
			wanted = append(wanted, line(values))
			c := cursors[r.Intn(len(cursors))]
			c.rows = append(c.rows, values)
		}
		got, err := merged(t, recipe, cursors...)
		if err != nil || !slices.Equal(got, wanted) {
			t.Fatalf("seed %d: error %v, got\n%s\nwant\n%s", seed, err, strings.Join(got, "\n"), strings.Join(wanted, "\n"))
		}
	}
}

func FuzzTextsCompareAndGroupAlike(f *testing.F) {
	f.Add([]byte("a"), []byte("a "), []byte(" "))
	f.Add([]byte("a\t"), []byte("a"), []byte(" "))
	f.Add([]byte("\x00\x41"), []byte("\x00\x41\x00\x20"), []byte("\x00\x20"))
	f.Fuzz(func(t *testing.T, a, b, pad []byte) {
		// Weights come in whole units.
		if n := len(pad); n > 0 {
			a, b = a[:len(a)/n*n], b[:len(b)/n*n]
		}
		c := comparePadded(a, b, pad)
		if d := comparePadded(b, a, pad); cmp.Compare(c, 0) != -cmp.Compare(d, 0) {
			t.Errorf("%q against %q is %d, the other way %d", a, b, c, d)
		}
		if same := string(trimPadding(a, pad)) == string(trimPadding(b, pad)); same != (c == 0) {
			t.Errorf("%q, %q padded with %q: compare %d, one group %v", a, b, pad, c, same)
		}
	})
}

func FuzzNumbersCompareExactly(f *testing.F) {
	for _, s := range []string{"", "-", ".", "0", "-0.0", "1.50", "1.5", "00012", "18446744073709551616", "-9223372036854775808", "1e5", "１", "99999999999999999999.9"} {
		f.Add([]byte(s), []byte("1.05"))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var x, y number
		if !x.parse(a) || !y.parse(b) {
			return
		}
		exact := x.rational().Cmp(y.rational())
		if got := cmp.Compare(x.compare(&y), 0); got != exact {
			t.Errorf("%s against %s is %d, want %d", a, b, got, exact)
		}
		if same := string(x.appendKey(nil)) == string(y.appendKey(nil)); same != (exact == 0) {
			t.Errorf("%s and %s: one group %v, want %v", a, b, same, exact == 0)
		}
	})
}

func FuzzClockIsReadOrRefused(f *testing.F) {
	for _, s := range []string{"", "-01:00:00", "838:59:59.999999", "1:2", "::", "1:2:3:4", "-"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(_ *testing.T, a []byte) {
		var n number
		n.parseClock(a)
		n.parseBits(a)
		trimFraction(a)
	})
}
