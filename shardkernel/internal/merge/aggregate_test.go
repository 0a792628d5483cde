package merge

import (
	"database/sql/driver"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// folded merges one column of one group.
func folded(t *testing.T, f plan.AggregateFunc, typeName string, values ...driver.Value) (driver.Value, error) {
	t.Helper()
	cursors := make([]*fake, len(values))
	for i, v := range values {
		cursors[i] = cursor("v "+typeName, row(v))
	}
	rows, err := Rows(grouped(0, plan.Aggregate{Func: f}), asRows(cursors), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	dest := make([]driver.Value, 1)
	err = rows.Next(dest)
	if closeErr := rows.Close(); closeErr != nil {
		t.Error(closeErr)
	}
	return dest[0], err
}

// Semantics rows 14, 15, 25: exact, and of the type one server would return.
func TestAggregatesKeepTypeAndScale(t *testing.T) {
	for _, test := range []struct {
		rule     string
		f        plan.AggregateFunc
		typeName string
		values   []driver.Value
		want     driver.Value
	}{
		{"COUNT", plan.AggregateCount, "BIGINT", row(int64(2), int64(0), int64(3)), int64(5)},
		{"SUM of two MAX BIGINT UNSIGNED plus 1", plan.AggregateSum, "DECIMAL", row(text("18446744073709551615"), text("18446744073709551616")), text("36893488147419103231")},
		{"SUM keeps the scale", plan.AggregateSum, "DECIMAL", row(text("3.50"), text("1.50"), nil), text("5.00")},
		{"SUM that comes to zero", plan.AggregateSum, "DECIMAL", row(text("-3.50"), text("3.50")), text("0.00")},
		{"SUM of 30 digits of scale", plan.AggregateSum, "DECIMAL", row(text("99999999999999999999999999999999999.999999999999999999999999999998"), text("0.000000000000000000000000000001")), text("99999999999999999999999999999999999.999999999999999999999999999999")},
		{"SUM of DOUBLE in unit order", plan.AggregateSum, "DOUBLE", row(1e16, 1.0, -1e16), 0.0},
		{"SUM of SQLite integers", plan.AggregateSum, "", row(int64(math.MaxInt64-1), int64(1)), int64(math.MaxInt64)},
		{"SUM of SQLite integers and reals", plan.AggregateSum, "", row(int64(1), 0.5), 1.5},
		{"SUM of NULLs", plan.AggregateSum, "DECIMAL", row(nil, nil), nil},
		{"MAX keeps the scale", plan.AggregateMax, "DECIMAL", row(text("7.34"), text("93.95"), nil), text("93.95")},
		{"MAX of decimals is no text", plan.AggregateMax, "DECIMAL", row(text("9"), text("10")), text("10")},
		{"MIN skips NULL", plan.AggregateMin, "INT", row(nil, int64(3), int64(-2), nil), int64(-2)},
		{"MIN of equals is the first", plan.AggregateMin, "DECIMAL", row(text("1.50"), text("1.5")), text("1.50")},
		{"MAX of NULLs", plan.AggregateMax, "INT", row(nil, nil), nil},
		{"MAX of TIME", plan.AggregateMax, "TIME", row(text("09:00:00"), text("100:00:00"), text("-200:00:00")), text("100:00:00")},
		{"MAX of unsigned", plan.AggregateMax, "UNSIGNED BIGINT", row(int64(7), uint64(math.MaxUint64)), uint64(math.MaxUint64)},
		{"MIN of ENUM is by string", plan.AggregateMin, "ENUM", row(text("m"), text("a")), text("a")},
	} {
		t.Run(test.rule, func(t *testing.T) {
			got, err := folded(t, test.f, test.typeName, test.values...)
			if err != nil {
				t.Fatal(err)
			}
			if line(row(got)) != line(row(test.want)) {
				t.Errorf("got %T %s, want %T %s", got, line(row(got)), test.want, line(row(test.want)))
			}
		})
	}
}

// Semantics row 25.
func TestMaxOfTextIsByCollation(t *testing.T) {
	recipe := grouped(0, plan.Aggregate{Func: plan.AggregateMax, Text: padded}, plan.Aggregate{
		Func: plan.AggregateMin, Column: at(1), Text: plan.TextOrder{HasWeight: true, Weight: fromEnd(1)},
	})
	recipe.Derived = 2
	columns := "hi VARCHAR, lo VARCHAR, wlo VARBINARY, whi VARBINARY"
	c := func(hi, lo string) *fake {
		return cursor(columns, row(text(hi), text(lo), generalCI(lo), generalCI(hi)))
	}
	want(t, []string{`"C" "A"`}, recipe, c("b", "b"), c("C", "A"), cursor(columns, row(nil, nil, nil, nil)), c("c ", "a"))
}

// Semantics row 16. The results are those of MariaDB 10.11.
func TestAvgWeighsByCount(t *testing.T) {
	for _, test := range []struct {
		rule   string
		scale  int64 // as the driver reports it
		counts []driver.Value
		sums   []driver.Value
		want   driver.Value
	}{
		{"1, 1, 2", 4, row(int64(2), int64(1)), row(text("2"), text("2")), text("1.3333")},
		{"1, 2, 2 rounds up", 4, row(int64(1), int64(2)), row(text("1"), text("4")), text("1.6667")},
		{"negative rounds away from zero", 4, row(int64(1), int64(2)), row(text("-1"), text("-4")), text("-1.6667")},
		{"counts weigh", 4, row(int64(1), int64(9)), row(text("100"), text("0")), text("10.0000")},
		{"NULL rows do not count", 4, row(int64(0), int64(2)), row(nil, text("3")), text("1.5000")},
		{"over nothing", 4, row(int64(0), int64(0)), row(nil, nil), nil},
		{"scale 9 is cut", 9, row(int64(1), int64(2)), row(text("1.00000"), text("4.00000")), text("1.666666666")},
		{"scale 9 is cut, negative", 9, row(int64(1), int64(2)), row(text("-1.00000"), text("-4.00000")), text("-1.666666666")},
		{"scale 13", 13, row(int64(3)), row(text("5.000000000")), text("1.6666666666667")},
		{"scale 18 is cut", 18, row(int64(3)), row(text("5.00000000000000")), text("1.666666666666666666")},
		{"scale 34", 34, row(int64(3)), row(text("5.000000000000000000000000000000")), text("1.6666666666666666666666666666666667")},
		{"scale 38 of an argument with 38", 38, row(int64(3)), row(text("5." + strings.Repeat("0", 38))), text("1.66666666666666666666666666666666666667")},
		{"scale 0 is cut", 0, row(int64(3)), row(text("5")), text("1")},
		{"not reported: scale of the sum plus increment", -1, row(int64(3)), row(text("5.00")), text("1.666667")},
		{"not reported: at most 30", -1, row(int64(2)), row(text("1.0000000000000000000000000000")), text("0.500000000000000000000000000000")},
		{"DOUBLE", -1, row(int64(1), int64(1)), row(1.0, 2.0), 1.5},
		{"SQLite integers", -1, row(int64(1), int64(2)), row(int64(1), int64(4)), 5.0 / 3},
		{"beyond BIGINT UNSIGNED", 4, row(int64(2), int64(1)), row(text("36893488147419103230"), text("1")), text("12297829382473034410.3333")},
	} {
		t.Run(test.rule, func(t *testing.T) {
			var cursors []*fake
			for i := range test.counts {
				c := cursor("a DECIMAL, n BIGINT, s DECIMAL", row(text("0"), test.counts[i], test.sums[i]))
				c.scale = test.scale
				cursors = append(cursors, c)
			}
			recipe := grouped(0, plan.Aggregate{Func: plan.AggregateAvg, Count: fromEnd(1), Sum: fromEnd(0), DivPrecision: 4})
			recipe.Derived = 2
			want(t, []string{line(row(test.want))}, recipe, cursors...)
		})
	}
}

func TestAggregatesThatCannotBeExactAreErrors(t *testing.T) {
	nines := text(strings.Repeat("9", 65))
	for _, test := range []struct {
		rule     string
		f        plan.AggregateFunc
		typeName string
		values   []driver.Value
		class    error
	}{
		{"SQLite overflow", plan.AggregateSum, "", row(int64(math.MaxInt64), int64(1)), nil},
		{"SQLite overflow downwards", plan.AggregateSum, "", row(int64(math.MinInt64), int64(-1)), nil},
		{"more digits than DECIMAL has", plan.AggregateSum, "DECIMAL", row(nines, nines), fault.ErrUnsupported},
		{"sum that is no number", plan.AggregateSum, "VARCHAR", row(text("x")), fault.ErrUnsupported},
		{"sum with an exponent", plan.AggregateSum, "VARCHAR", row(text("1e400000000")), fault.ErrUnsupported},
		{"sums of two types", plan.AggregateSum, "DECIMAL", row(text("1"), 1.5), fault.ErrUnsupported},
		{"sum of another type", plan.AggregateSum, "DECIMAL", row(true), fault.ErrUnsupported},
		{"count of another type", plan.AggregateCount, "BIGINT", row(text("1")), fault.ErrUnsupported},
		{"count overflow", plan.AggregateCount, "BIGINT", row(int64(math.MaxInt64), int64(1)), nil},
		{"value of another type", plan.AggregateMax, "INT", row(int8(1)), fault.ErrUnsupported},
	} {
		got, err := folded(t, test.f, test.typeName, test.values...)
		if err == nil || test.class != nil && !errors.Is(err, test.class) {
			t.Errorf("%s: value %v, error %v, want %v", test.rule, got, err, test.class)
		}
	}
}

func TestAvgOfMoreDigitsThanTheServerHoldsIsAnError(t *testing.T) {
	c := cursor("a DECIMAL, n BIGINT, s DECIMAL", row(text("0"), int64(1), text(strings.Repeat("9", 65))))
	c.scale = 30
	_, err := merged(t, grouped(0, plan.Aggregate{Func: plan.AggregateAvg, Count: at(1), Sum: at(2)}), c)
	if !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("error %v, want ErrUnsupported", err)
	}
}
