package algorithm

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gormshard/sharding/internal/fault"
)

func newSharder(t testing.TB, typeName string, props Props, targets ...string) Sharder {
	t.Helper()
	a, err := NewRegistry().New(typeName, props)
	if err != nil {
		t.Fatalf("New(%s, %v): %v", typeName, props, err)
	}
	s, err := a.(Standard).Bind(targets)
	if err != nil {
		t.Fatalf("Bind(%q): %v", targets, err)
	}
	return s
}

// partitions returns targets numbered from 0.
func partitions(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("t_%d", i)
	}
	return out
}

func closed(low, high Value) Range {
	return Range{Lower: low, Upper: high, HasLower: true, HasUpper: true}
}

// The vectors are ShardingSphere's nodes of 4, by Java's hashCode.
func TestHashModAgreesWithShardingSphere(t *testing.T) {
	long := newSharder(t, "HASH_MOD", Props{"shardingCount": 4}, partitions(4)...)
	integer := newSharder(t, "HASH_MOD", Props{"shardingCount": 4, "javaType": "integer"}, partitions(4)...)
	tests := []struct {
		sharder Sharder
		value   Value
		want    int
	}{
		{long, Text("a"), 1},
		{long, Text("abc"), 2},
		{long, Text("order-1001"), 3},
		{long, Text("中文"), 2},
		{long, Text("😀"), 3},
		{long, Text(""), 0},
		{long, Text("polygenelubricants"), 0},
		{long, Int(1), 1},
		{long, Int(-1), 0},
		{long, Int(-5), 0},
		{long, Int(2147483648), 0},
		{long, Int(4294967296), 1},
		{long, Int(4294967297), 0},
		{long, Int(math.MaxInt64), 0},
		{long, Int(math.MinInt64), 0},
		{long, Uint(math.MaxUint64), 0},
		{integer, Int(-1), 1},
		{integer, Int(-5), 1},
		{integer, Int(math.MinInt32), 0},
		{integer, Int(4294967296), 1}, // no Integer: hashed as a Long
		{integer, Text("abc"), 2},
		{integer, Uint(math.MaxUint64), 0},
	}
	for _, tt := range tests {
		if got, err := tt.sharder.Shard(tt.value); err != nil || got != tt.want {
			t.Errorf("%s: node %d, %v; want %d", tt.value, got, err, tt.want)
		}
	}
}

func TestXXHashKnowsNoTypes(t *testing.T) {
	s := newSharder(t, "HASH_MOD", Props{"shardingCount": 64, "hash": "xxhash64"}, partitions(64)...)
	at := time.Date(2024, 1, 5, 10, 0, 0, 0, time.UTC)
	for text, v := range map[string]Value{
		"12": Int(12), "-9223372036854775808": Int(math.MinInt64), "18446744073709551615": Uint(math.MaxUint64), "2024-01-05 10:00:00": Time(at),
	} {
		a, err1 := s.Shard(v)
		b, err2 := s.Shard(Text(text))
		if a != b || err1 != nil || err2 != nil {
			t.Errorf("%q: node %d as text, %d as it is (%v, %v)", text, b, a, err1, err2)
		}
	}
}

// Number.longValue of Java keeps the lowest 64 bits, so that ShardingSphere takes an
// integer beyond a Long for a negative one. A text it reads whole.
func TestModWrapsAroundWhereJavaDoes(t *testing.T) {
	s := newSharder(t, "MOD", Props{"shardingCount": 3, "arithmetic": "java"}, partitions(3)...)
	for _, tt := range []struct {
		value Value
		want  int
	}{
		{Uint(math.MaxUint64), 2}, // -1
		{Uint(1 << 63), 1},        // the smallest Long
		{Int(math.MaxInt64), 1},   // as it is
		{Int(-1), 2},              // likewise
		{Text("18446744073709551615"), 0},
	} {
		if got, err := s.Shard(tt.value); err != nil || got != tt.want {
			t.Errorf("%s: node %d, %v; want %d", tt.value, got, err, tt.want)
		}
	}
	exact := newSharder(t, "MOD", Props{"shardingCount": 3}, partitions(3)...)
	if got, err := exact.Shard(Uint(math.MaxUint64)); err != nil || got != 0 {
		t.Errorf("exact: node %d, %v", got, err)
	}
}

func TestInlineComputesAsItsPropertiesSay(t *testing.T) {
	const id = int64(1<<62 + 12345)
	for _, tt := range []struct {
		props Props
		want  int
	}{
		{Props{}, 4},
		{Props{"arithmetic": "java"}, 1},
	} {
		props := Props{"expression": "t_${floorMod(id * 31, 5)}"}
		for name, value := range tt.props {
			props[name] = value
		}
		s := newSharder(t, "INLINE", props, partitions(5)...)
		if got, err := s.Shard(Int(id)); err != nil || got != tt.want {
			t.Errorf("%v: node %d, %v; want %d", tt.props, got, err, tt.want)
		}
	}
}

func TestAJavaTypeNeedsJavaArithmetic(t *testing.T) {
	for _, typeName := range []string{"INLINE", "COMPLEX_INLINE", "HINT_INLINE"} {
		props := Props{"expression": "t_${value * 31 % 2}", "javaType": "integer"}
		if _, err := NewRegistry().New(typeName, props); err == nil || !strings.Contains(err.Error(), `"javaType"`) {
			t.Errorf("%s without it: %v", typeName, err)
		}
		props["arithmetic"] = "java"
		if _, err := NewRegistry().New(typeName, props); err != nil {
			t.Errorf("%s: %v", typeName, err)
		}
	}
}

func TestModRoundsDownOverTheWholeRange(t *testing.T) {
	s := newSharder(t, "MOD", Props{"shardingCount": 4}, "t_3", "t_02", "t_1", "t_000")
	tests := []struct {
		value Value
		want  string
	}{
		{Int(5), "t_1"},
		{Int(-1), "t_3"},
		{Int(-4), "t_000"},
		{Int(-5), "t_3"},
		{Int(math.MaxInt64), "t_3"},
		{Int(math.MinInt64), "t_000"},
		{Uint(math.MaxInt64 + 1), "t_000"},
		{Uint(math.MaxUint64), "t_3"},
		{Text("6"), "t_02"},
		{Text("+6"), "t_02"},
		{Text("-6"), "t_02"},
		{Text("-7"), "t_1"},
		{Text("18446744073709551615"), "t_3"},
		{Text("100000000000000000000000000001"), "t_1"},
	}
	targets := []string{"t_3", "t_02", "t_1", "t_000"}
	for _, tt := range tests {
		if got, err := s.Shard(tt.value); err != nil || targets[got] != tt.want {
			t.Errorf("%s: target %d, %v; want %s", tt.value, got, err, tt.want)
		}
	}
}

func TestModRangeIsExactBelowTheCount(t *testing.T) {
	s := newSharder(t, "MOD", Props{"shardingCount": 5}, partitions(5)...).(Ranger)
	tests := []struct {
		name string
		r    Range
		want []int // nil: every target
	}{
		{"two values", closed(Int(3), Int(4)), []int{3, 4}},
		{"around", closed(Int(4), Int(6)), []int{0, 1, 4}},
		{"negative", closed(Int(-2), Int(0)), []int{0, 3, 4}},
		{"one", closed(Int(7), Int(7)), []int{2}},
		{"over the signed end", closed(Int(math.MaxInt64), Uint(math.MaxInt64+1)), []int{2, 3}},
		{"unsigned end", closed(Uint(math.MaxUint64-1), Uint(math.MaxUint64)), []int{0, 4}},
		{"bounds excluded", Range{Lower: Int(3), Upper: Int(5), HasLower: true, HasUpper: true, LowerOpen: true, UpperOpen: true}, []int{4}},
		{"nothing between", Range{Lower: Int(3), Upper: Int(4), HasLower: true, HasUpper: true, LowerOpen: true, UpperOpen: true}, []int{}},
		{"one excluded", Range{Lower: Int(3), Upper: Int(3), HasLower: true, HasUpper: true, LowerOpen: true, UpperOpen: true}, []int{}},
		{"largest excluded", Range{Lower: Uint(math.MaxUint64), Upper: Uint(math.MaxUint64), HasLower: true, HasUpper: true, LowerOpen: true}, []int{}},
		{"upside down", closed(Int(4), Int(3)), []int{}},
		{"all remainders", closed(Int(0), Int(4)), []int{0, 1, 2, 3, 4}},
		{"more than the count", closed(Int(0), Int(5)), nil},
		{"everything", closed(Int(math.MinInt64), Uint(math.MaxUint64)), nil},
		{"wraps 64 bits", closed(Int(-1), Uint(math.MaxUint64)), nil},
		{"no upper bound", Range{Lower: Int(3), HasLower: true}, nil},
		{"no lower bound", Range{Upper: Int(3), HasUpper: true}, nil},
		{"times", closed(Time(time.Unix(0, 0)), Time(time.Unix(1, 0))), nil},
	}
	for _, tt := range tests {
		got, ok, err := s.Range(tt.r)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		slices.Sort(got)
		if ok != (tt.want != nil) || ok && !slices.Equal(got, tt.want) {
			t.Errorf("%s: targets %v, %t; want %v", tt.name, got, ok, tt.want)
		}
	}
}

func TestNumberedTargetsMustFitTheCount(t *testing.T) {
	tests := []struct {
		targets []string
		want    string
	}{
		{[]string{"t_0", "t_1"}, "no target ends in the number 2"},
		{[]string{"t_0", "t_1", "t_2", "t_3"}, `target "t_3" is never used`},
		{[]string{"t_0", "t_1", "t_2", "t_02"}, `targets "t_2" and "t_02" both end in the number 2`},
		{[]string{"t_0", "t_1", "t"}, `target "t" does not end in a number`},
		{[]string{"t_0", "t_1", "t12"}, `target "t12" is never used`},
		{[]string{"t_0", "t_1", "t_99999999999999999999999"}, "is never used"},
		{nil, "no target ends in the number 0"},
	}
	for _, typeName := range []string{"MOD", "HASH_MOD"} {
		for _, tt := range tests {
			a, err := NewRegistry().New(typeName, Props{"shardingCount": 3})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := a.(Standard).Bind(tt.targets); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s over %q: %v, want %q", typeName, tt.targets, err, tt.want)
			}
		}
	}
}

func TestInlineFindsTheNamedTarget(t *testing.T) {
	tests := []struct {
		expression string
		targets    []string
		value      Value
		want       string // empty: an error
		reason     string
	}{
		{"t_${order_id % 8}", partitions(8), Int(11), "t_3", ""},
		{"t_${order_id % 8}", partitions(8), Uint(math.MaxUint64), "t_7", ""},
		{"t_${order_id % 8}", partitions(8), Text("11"), "t_3", ""},
		{"t_${order_id % 8}", partitions(8), Int(-8), "t_0", ""},
		{"t_${order_id % 8}", partitions(8), Int(-11), "", "use floorMod(a, b)"},
		{"t_${order_id % 8}", partitions(8), Int(math.MinInt64), "t_0", ""},
		{"t_${floorMod(order_id, 8)}", partitions(8), Int(-11), "t_5", ""},
		{"t_${order_id % 8}", partitions(8), Text("customer-77"), "", "the text is none"},
		{"t_${order_id % 8}", partitions(8), Time(time.Unix(0, 0)), "", "date or time"},
		{"t_${order_id % 8}", partitions(8), Null(), "", "NULL"},
		{"t_${order_id % 8 + 1}", []string{"t_8", "t_7", "t_6", "t_5", "t_4", "t_3", "t_2", "t_1"}, Int(7), "t_8", ""},
		{"t_${order_id % 4 < 2 ? 'low' : 'high'}", []string{"t_high", "t_low"}, Int(6), "t_high", ""},
		{"t_${month.substring(0, 4)}", []string{"t_2023", "t_2024"}, Text("202405"), "t_2024", ""},
		{"t_${month.substring(0, 4)}", []string{"t_2023", "t_2024"}, Text("202505"), "", "gives no target"},
		{"t_${month.intdiv(100)}", []string{"t_2023", "t_2024"}, Int(202405), "t_2024", ""},
		{"t_${month.intdiv(100)}", []string{"t_2023", "t_2024"}, Int(202505), "", "gives no target"},
		{"t_${region}", []string{"t_eu", "t_us"}, Text("us"), "t_us", ""},
		{"t_0", []string{"t_0"}, Text("anything"), "t_0", ""},
		{"t_0", []string{"t_0"}, Int(-1), "t_0", ""},
	}
	for _, tt := range tests {
		s := newSharder(t, "INLINE", Props{"expression": tt.expression}, tt.targets...)
		got, err := s.Shard(tt.value)
		switch {
		case tt.want != "" && (err != nil || tt.targets[got] != tt.want):
			t.Errorf("%s of %s: target %d, %v; want %s", tt.expression, tt.value, got, err, tt.want)
		case tt.want == "" && (err == nil || !strings.Contains(err.Error(), tt.reason)):
			t.Errorf("%s of %s: target %d, %v; want an error with %q", tt.expression, tt.value, got, err, tt.reason)
		}
	}
}

func TestInlineChecksItsTargets(t *testing.T) {
	tests := []struct {
		expression string
		targets    []string
		want       string
	}{
		{"t_${id % 8}", partitions(4), `gives "t_4" for some values`},
		{"t_${id % 4}", partitions(5), `never gives the target "t_4"`},
		{"t_ordr_${id % 2}", []string{"t_order_0", "t_order_1"}, `never gives the target "t_order_0"`},
		{"t_ordr_${id.hashCode().abs() % 2}", []string{"t_order_0", "t_order_1"}, `never gives the target "t_order_0"`},
		{"t_${id % 4 / 2}", partitions(4), "use intdiv"},
		{"ds_0", []string{"ds_0", "ds_1"}, `never gives the target "ds_1"`},
	}
	for _, tt := range tests {
		a, err := NewRegistry().New("INLINE", Props{"expression": tt.expression})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.(Standard).Bind(tt.targets); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s over %q: %v, want %q", tt.expression, tt.targets, err, tt.want)
		}
	}
}

func TestInlineKnowsItsColumn(t *testing.T) {
	a, err := NewRegistry().New("INLINE", Props{"expression": "t_${Order_ID % 8}"})
	if err != nil {
		t.Fatal(err)
	}
	checker := a.(ColumnChecker)
	if err := checker.CheckColumn("ORDER_ID"); err != nil {
		t.Error(err)
	}
	err = checker.CheckColumn("user_id")
	if want := `uses "order_id", but the sharding column is "user_id"`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

func TestWrongPropertiesAreConfigurationErrors(t *testing.T) {
	const day = "2024-01-01 00:00:00"
	tests := []struct {
		typeName string
		props    Props
		want     string
	}{
		{"INLINE", nil, `property "expression" is missing`},
		{"INLINE", Props{"expression": "t_${a % 2 + b % 2}"}, "uses the columns a, b"},
		{"INLINE", Props{"expression": "t_${a %}"}, `property "expression": inline expression`},
		{"INLINE", Props{"expression": "t_${a % 2}", "allowRangeQurey": true}, `unknown property "allowRangeQurey"; did you mean "allowRangeQuery"?`},
		{"MOD", nil, `property "shardingCount" is missing`},
		{"MOD", Props{"shardingCount": 0}, "outside 1 to"},
		{"MOD", Props{"shard-count": 4}, `did you mean "shardingCount"?`},
		{"HASH_MOD", Props{"shardingCount": 4, "hash": "md5"}, "must be one of javaCompatible, xxhash64"},
		{"HASH_MOD", Props{"shardingCount": 4, "javaType": "short"}, "must be one of long, integer"},
		{"HASH_MOD", Props{"shardingCount": 4, "hash": "xxhash64", "javaType": "long"}, `unknown property "javaType"`},
		{"VOLUME_RANGE", Props{"rangeLower": 1}, "property \"rangeUpper\" is missing\nproperty \"shardingVolume\" is missing"},
		{"VOLUME_RANGE", Props{"rangeLower": "one", "rangeUpper": 9, "shardingVolume": 1}, `property "rangeLower" must be an integer`},
		{"VOLUME_RANGE", Props{"rangeLower": 1, "rangeUpper": 1e20, "shardingVolume": 1}, `property "rangeUpper" must be an integer`},
		{"VOLUME_RANGE", Props{"rangeLower": 9, "rangeUpper": 9, "shardingVolume": 1}, `"rangeUpper" is not above rangeLower`},
		{"VOLUME_RANGE", Props{"rangeLower": 0, "rangeUpper": 9, "shardingVolume": 0}, `"shardingVolume" is 0, outside 1`},
		{"VOLUME_RANGE", Props{"rangeLower": 0, "rangeUpper": 9, "shardingVolume": 10}, `"shardingVolume" is larger than the range`},
		{"VOLUME_RANGE", Props{"rangeLower": 0, "rangeUpper": 65535, "shardingVolume": 1}, "more than 65536 partitions"},
		{"VOLUME_RANGE", Props{"rangeLower": -1, "rangeUpper": "18446744073709551615", "shardingVolume": 1}, "more than 65536 partitions"},
		{"VOLUME_RANGE", Props{"rangeLower": math.MinInt64, "rangeUpper": 9, "shardingVolume": 1}, "no value belongs to partition 0"},
		{"BOUNDARY_RANGE", nil, `property "shardingRanges" is missing`},
		{"BOUNDARY_RANGE", Props{"shardingRanges": []int{}}, `property "shardingRanges" is missing`},
		{"BOUNDARY_RANGE", Props{"shardingRanges": "1,x,3"}, "must be a list of integers; element 2 is none"},
		{"BOUNDARY_RANGE", Props{"shardingRanges": "1,,3"}, "must be a list of integers; element 2 is none"},
		{"BOUNDARY_RANGE", Props{"shardingRanges": "1,3,2"}, "must be ascending; 3 stands before 2"},
		{"BOUNDARY_RANGE", Props{"shardingRanges": "1,1"}, "must be ascending; 1 stands before 1"},
		{"BOUNDARY_RANGE", Props{"shardingRanges": "-9223372036854775808,1"}, "no value belongs to partition 0"},
		{"BOUNDARY_RANGE", Props{"shardingRanges": make([]int, 1<<16)}, "more than 65536 partitions"},
		{"AUTO_INTERVAL", Props{"datetimeLower": "2024-01-01"}, `property "datetimeLower" must be a date written as yyyy-MM-dd HH:mm:ss`},
		{"AUTO_INTERVAL", Props{"datetimeLower": day, "datetimeUpper": day, "shardingSeconds": 1}, `"datetimeUpper" is not after datetimeLower`},
		{"AUTO_INTERVAL", Props{"datetimeLower": day, "datetimeUpper": "2024-01-01 00:00:09", "shardingSeconds": 10}, `"shardingSeconds" is longer than`},
		{"AUTO_INTERVAL", Props{"datetimeLower": day, "datetimeUpper": "2025-01-01 00:00:00", "shardingSeconds": 1}, "more than 65536 partitions"},
		{"INTERVAL", nil, "property \"suffixPattern\" is missing\nproperty \"datetimeLower\" is missing"},
		{"INTERVAL", Props{"datetimeLower": day, "suffixPattern": "YYYY"}, `property "suffixPattern" has YYYY`},
		{"INTERVAL", Props{"datetimeLower": day, "suffixPattern": "M"}, `property "suffixPattern" begins with a number without leading zeros; write MM`},
		{"INTERVAL", Props{"datetimeLower": day, "suffixPattern": "yyyy", "datetimePattern": "MM"}, `property "datetimePattern" has no yyyy`},
		{"INTERVAL", Props{"datetimeLower": day, "suffixPattern": "yyyy", "datetimePattern": "yyyy dd"}, `property "datetimePattern" has d without M`},
		{"INTERVAL", Props{"datetimeLower": day, "suffixPattern": "yyyy", "datetimePattern": "yyyy Q"}, `property "datetimePattern" has a field that dates are not read from`},
		{"INTERVAL", Props{"datetimeLower": "2024-02-30 00:00:00", "suffixPattern": "yyyy"}, `property "datetimeLower" must be a date written as yyyy-MM-dd HH:mm:ss`},
		{"INTERVAL", Props{"datetimeLower": "2024-01-31 00:00:00", "suffixPattern": "yyyyMM", "unit": "MONTHS"}, "is after the 28th"},
		{"INTERVAL", Props{"datetimeLower": "2024-01-01 00:00:00.5", "datetimePattern": "yyyy-MM-dd HH:mm:ss.S", "suffixPattern": "yyyyMM"}, "fraction of a second"},
		{"INTERVAL", Props{"datetimeLower": day, "datetimeUpper": "2023-12-31 23:59:59", "suffixPattern": "yyyy"}, `"datetimeUpper" is before datetimeLower`},
		{"INTERVAL", Props{"datetimeLower": day, "datetimeUpper": "2025-01-01 00:00:00", "suffixPattern": "ss", "unit": "SECONDS"}, "more than 1048576 steps"},
		{"INTERVAL", Props{"datetimeLower": day, "suffixPattern": "yyyy", "unit": "FORTNIGHTS"}, `property "unit" must be one of DAYS, SECONDS`},
		{"INTERVAL", Props{"datetimeLower": day, "suffixPattern": "yyyy", "amount": 0}, `property "amount" is 0`},
		{"INTERVAL", Props{"datetimeLower": day, "suffixPattern": "yyyy", "location": "Mars/Olympus"}, `property "location" is no time zone`},
		{"INTERVAL", Props{"datetimeLower": day, "suffixPattern": "yyyy", "sharding-suffix-pattern": "yyyy"}, `property "suffixPattern" is given twice`},
		{"INTERVAL", Props{"datetimeLower": day, "suffixPattern": "yyyy", "datetime-interval-units": "DAYS"}, `unknown property "datetime-interval-units"`},
		{"SLOT_RANGE", Props{"slots": 0}, `property "slots" is 0`},
		{"SLOT_RANGE", Props{"hash": "crc32"}, "must be one of javaCompatible, xxhash64"},
		{"SLOT_RANGE", Props{"substring": "4"}, `property "substring" must be [start, length]`},
		{"SLOT_RANGE", Props{"substring": []int{0, 0}}, "with a length of at least 1"},
		{"SLOT_RANGE", Props{"substring": []any{0, uint64(math.MaxUint64)}}, `property "substring" must be [start, length]`},
		{"SLOT_RANGE", Props{"substring": "a,b"}, "element 1 is none"},
		{"CONSISTENT_HASH", Props{"virtualNodes": 0}, `property "virtualNodes" is 0`},
	}
	for _, tt := range tests {
		if _, err := NewRegistry().New(tt.typeName, tt.props); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("New(%s, %v): %v, want %q", tt.typeName, tt.props, err, tt.want)
		}
	}
}

// Every property of ShardingSphere's algorithms has its name there, too.
func TestShardingSphereNamesAreAliases(t *testing.T) {
	for typeName, props := range map[string]Props{
		"INLINE":         {"algorithm-expression": "t_${id % 4}", "allow-range-query-with-inline-sharding": true},
		"COMPLEX_INLINE": {"sharding-columns": "a,b", "algorithm-expression": "t_${a + b}", "allow-range-query-with-inline-sharding": false},
		"HINT_INLINE":    {"algorithm-expression": "t_${value % 4}"},
		"MOD":            {"sharding-count": 4},
		"HASH_MOD":       {"sharding-count": 4},
		"VOLUME_RANGE":   {"range-lower": 10, "range-upper": 45, "sharding-volume": 10},
		"BOUNDARY_RANGE": {"sharding-ranges": "1,5,10"},
		"AUTO_INTERVAL":  {"datetime-lower": "2024-01-01 00:00:00", "datetime-upper": "2024-12-31 23:59:59", "sharding-seconds": "86400"},
		"INTERVAL": {
			"datetime-pattern": "yyyy-MM-dd", "datetime-lower": "2024-01-01", "datetime-upper": "2024-12-31", "sharding-suffix-pattern": "yyyyMM",
			"datetime-interval-amount": "1", "datetime-interval-unit": "MONTHS",
		},
	} {
		if _, err := NewRegistry().New(typeName, props); err != nil {
			t.Errorf("%s: %v", typeName, err)
		}
	}
}

func TestIntegersOfARangeAreListedUpToALimit(t *testing.T) {
	tests := []struct {
		r     Range
		limit uint64
		want  []Value // nil: too many, or no integers
	}{
		{closed(Int(-1), Int(1)), 3, []Value{Int(-1), Int(0), Int(1)}},
		{closed(Int(-1), Int(1)), 2, nil},
		{Range{Lower: Int(0), Upper: Int(3), HasLower: true, HasUpper: true, LowerOpen: true, UpperOpen: true}, 2, []Value{Int(1), Int(2)}},
		{closed(Int(2), Int(1)), 1, []Value{}},
		{closed(Int(math.MaxInt64), Uint(math.MaxInt64+1)), 5, []Value{Int(math.MaxInt64), Uint(math.MaxInt64 + 1)}},
		{closed(Uint(math.MaxUint64), Uint(math.MaxUint64)), 1, []Value{Uint(math.MaxUint64)}},
		{closed(Int(math.MinInt64), Uint(math.MaxUint64)), 1000, nil},
		{Range{Lower: Int(1), HasLower: true}, 1000, nil},
		{closed(Time(time.Unix(0, 0)), Time(time.Unix(1, 0))), 1000, nil},
	}
	for _, tt := range tests {
		values, ok := tt.r.Integers(tt.limit)
		if ok != (tt.want != nil) {
			t.Errorf("[%s, %s] up to %d: %t", tt.r.Lower, tt.r.Upper, tt.limit, ok)
			continue
		}
		if ok && !slices.Equal(values, tt.want) {
			t.Errorf("[%s, %s]: %v, want %v", tt.r.Lower, tt.r.Upper, values, tt.want)
		}
	}
}

func TestInlineRefusesRangesWhereTheyAreNotAllowed(t *testing.T) {
	s := newSharder(t, "INLINE", Props{"expression": "t_${id % 2}", "allowRangeQuery": "false"}, partitions(2)...)
	_, _, err := s.(Ranger).Range(closed(Int(1), Int(1)))
	if !errors.Is(err, fault.ErrUnsupported) || !strings.Contains(err.Error(), "set allowRangeQuery: true") {
		t.Errorf("got %v", err)
	}
}

func BenchmarkShard(b *testing.B) {
	sharders := []struct {
		name    string
		sharder Sharder
		value   Value
	}{
		{"inline/period", newSharder(b, "INLINE", Props{"expression": "t_${id % 8}"}, partitions(8)...), Int(1 << 40)},
		{"inline/expression", newSharder(b, "INLINE", Props{"expression": "t_${id.abs() % 8}"}, partitions(8)...), Int(1 << 40)},
		{"mod", newSharder(b, "MOD", Props{"shardingCount": 8}, partitions(8)...), Int(1 << 40)},
		{"hash_mod/text", newSharder(b, "HASH_MOD", Props{"shardingCount": 8}, partitions(8)...), Text("order-1001")},
		{"volume_range", newSharder(b, "VOLUME_RANGE", Props{"rangeLower": 0, "rangeUpper": 1 << 50, "shardingVolume": 1 << 44}, partitions(66)...), Int(1 << 40)},
		{"auto_interval", newSharder(b, "AUTO_INTERVAL", Props{"datetimeLower": "2024-01-01 00:00:00", "datetimeUpper": "2024-12-31 00:00:00", "shardingSeconds": 86400}, partitions(367)...), Time(time.Date(2024, 6, 5, 7, 8, 9, 0, time.UTC))},
		{"interval/months", bindAt(b, "2024-01-05 00:00:00", openMonths, months("2024-01-01", 12)...), Time(time.Date(2024, 6, 5, 7, 8, 9, 0, time.UTC))},
		{"slot_range", newSharder(b, "SLOT_RANGE", nil, partitions(8)...), Int(1 << 40)},
		{"slot_range/substring", newSharder(b, "SLOT_RANGE", Props{"substring": "-4,4"}, partitions(8)...), Text("order-1001")},
		{"consistent_hash", newSharder(b, "CONSISTENT_HASH", nil, partitions(8)...), Int(1 << 40)},
		{"hash_mod/xxhash64", newSharder(b, "HASH_MOD", Props{"shardingCount": 8, "hash": "xxhash64"}, partitions(8)...), Int(1 << 40)},
	}
	for _, bb := range sharders {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bb.sharder.Shard(bb.value); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
