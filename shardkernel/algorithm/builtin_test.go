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
	s, err := a.Bind(targets)
	if err != nil {
		t.Fatalf("Bind(%q): %v", targets, err)
	}
	return s
}

func numberedTargets(n int) []string {
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
	long := newSharder(t, "HASH_MOD", Props{"shardingCount": 4}, numberedTargets(4)...)
	integer := newSharder(t, "HASH_MOD", Props{"shardingCount": 4, "javaType": "integer"}, numberedTargets(4)...)
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
	s := newSharder(t, "HASH_MOD", Props{"shardingCount": 64, "hash": "xxhash64"}, numberedTargets(64)...)
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
	s := newSharder(t, "MOD", Props{"shardingCount": 5}, numberedTargets(5)...).(Ranger)
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
			if _, err := a.Bind(tt.targets); err == nil || !strings.Contains(err.Error(), tt.want) {
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
		{"t_${order_id % 8}", numberedTargets(8), Int(11), "t_3", ""},
		{"t_${order_id % 8}", numberedTargets(8), Uint(math.MaxUint64), "t_7", ""},
		{"t_${order_id % 8}", numberedTargets(8), Text("11"), "t_3", ""},
		{"t_${order_id % 8}", numberedTargets(8), Int(-8), "t_0", ""},
		{"t_${order_id % 8}", numberedTargets(8), Int(-11), "", "use floorMod(a, b)"},
		{"t_${order_id % 8}", numberedTargets(8), Int(math.MinInt64), "t_0", ""},
		{"t_${floorMod(order_id, 8)}", numberedTargets(8), Int(-11), "t_5", ""},
		{"t_${order_id % 8}", numberedTargets(8), Text("customer-77"), "", "the text is none"},
		{"t_${order_id % 8}", numberedTargets(8), Time(time.Unix(0, 0)), "", "date or time"},
		{"t_${order_id % 8}", numberedTargets(8), Null(), "", "NULL"},
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
		{"t_${id % 8}", numberedTargets(4), `gives "t_4" for some values`},
		{"t_${id % 4}", numberedTargets(5), `never gives the target "t_4"`},
		{"t_ordr_${id % 2}", []string{"t_order_0", "t_order_1"}, `never gives the target "t_order_0"`},
		{"t_ordr_${id.hashCode().abs() % 2}", []string{"t_order_0", "t_order_1"}, `never gives the target "t_order_0"`},
		{"t_${id % 4 / 2}", numberedTargets(4), "use intdiv"},
		{"ds_0", []string{"ds_0", "ds_1"}, `never gives the target "ds_1"`},
	}
	for _, tt := range tests {
		a, err := NewRegistry().New("INLINE", Props{"expression": tt.expression})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Bind(tt.targets); err == nil || !strings.Contains(err.Error(), tt.want) {
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
		{"MOD", Props{"sharding-count": 4}, `did you mean "shardingCount"?`},
		{"HASH_MOD", Props{"shardingCount": 4, "hash": "md5"}, "must be one of javaCompatible, xxhash64"},
		{"HASH_MOD", Props{"shardingCount": 4, "javaType": "short"}, "must be one of long, integer"},
		{"HASH_MOD", Props{"shardingCount": 4, "hash": "xxhash64", "javaType": "long"}, `unknown property "javaType"`},
	}
	for _, tt := range tests {
		if _, err := NewRegistry().New(tt.typeName, tt.props); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("New(%s, %v): %v, want %q", tt.typeName, tt.props, err, tt.want)
		}
	}
}

func TestSmallRangesAreEnumerated(t *testing.T) {
	sharders := map[string]Sharder{
		"INLINE":   newSharder(t, "INLINE", Props{"expression": "t_${id.intdiv(500)}"}, numberedTargets(8)...),
		"HASH_MOD": newSharder(t, "HASH_MOD", Props{"shardingCount": 8}, numberedTargets(8)...),
	}
	tests := []struct {
		typeName string
		r        Range
		want     []int // nil: every target
	}{
		{"INLINE", closed(Int(499), Int(500)), []int{0, 1}},
		{"INLINE", closed(Int(0), Int(999)), []int{0, 1}},
		{"INLINE", closed(Int(0), Int(1000)), nil},
		{"INLINE", Range{Lower: Int(0), Upper: Int(1000), HasLower: true, HasUpper: true, UpperOpen: true}, []int{0, 1}},
		{"INLINE", closed(Int(3999), Int(4000)), nil}, // 4000 has no target
		{"INLINE", Range{Lower: Int(499), HasLower: true}, nil},
		{"HASH_MOD", closed(Int(2), Int(3)), []int{2, 3}},
		{"HASH_MOD", closed(Int(0), Int(1000)), nil},
	}
	for _, tt := range tests {
		got, ok, err := sharders[tt.typeName].(Ranger).Range(tt.r)
		if err != nil {
			t.Errorf("%s %v: %v", tt.typeName, tt.r, err)
			continue
		}
		slices.Sort(got)
		if ok != (tt.want != nil) || !slices.Equal(got, tt.want) {
			t.Errorf("%s [%s, %s]: targets %v, %t; want %v", tt.typeName, tt.r.Lower, tt.r.Upper, got, ok, tt.want)
		}
	}
}

func TestInlineRefusesRangesWhereTheyAreNotAllowed(t *testing.T) {
	s := newSharder(t, "INLINE", Props{"expression": "t_${id % 2}", "allowRangeQuery": "false"}, numberedTargets(2)...)
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
		{"inline/period", newSharder(b, "INLINE", Props{"expression": "t_${id % 8}"}, numberedTargets(8)...), Int(1 << 40)},
		{"inline/expression", newSharder(b, "INLINE", Props{"expression": "t_${id.abs() % 8}"}, numberedTargets(8)...), Int(1 << 40)},
		{"mod", newSharder(b, "MOD", Props{"shardingCount": 8}, numberedTargets(8)...), Int(1 << 40)},
		{"hash_mod/text", newSharder(b, "HASH_MOD", Props{"shardingCount": 8}, numberedTargets(8)...), Text("order-1001")},
		{"hash_mod/xxhash64", newSharder(b, "HASH_MOD", Props{"shardingCount": 8, "hash": "xxhash64"}, numberedTargets(8)...), Int(1 << 40)},
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
