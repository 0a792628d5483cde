package algorithm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// at reads a wall clock with an optional fraction.
func at(t testing.TB, text string) Value {
	t.Helper()
	when, err := time.Parse("2006-01-02 15:04:05", text)
	if err != nil {
		t.Fatal(err)
	}
	return Time(when)
}

// placed is a value and the number of the partition it belongs to.
type placed struct {
	value Value
	want  int
}

func checkPlaces(t *testing.T, s Sharder, places []placed) {
	t.Helper()
	for _, p := range places {
		if got, err := s.Shard(p.value); err != nil || got != p.want {
			t.Errorf("%s: partition %d, %v; want %d", p.value, got, err, p.want)
		}
	}
}

func TestVolumeRangeCutsAtEveryVolume(t *testing.T) {
	s := newSharder(t, "VOLUME_RANGE", Props{"rangeLower": 10, "rangeUpper": 45, "shardingVolume": 10}, partitions(6)...)
	checkPlaces(t, s, []placed{
		{Int(math.MinInt64), 0},
		{Int(-1), 0},
		{Int(9), 0},
		{Int(10), 1},
		{Int(11), 1},
		{Int(19), 1},
		{Int(20), 2},
		{Int(29), 2},
		{Int(30), 3},
		{Int(39), 3},
		{Int(40), 4},
		{Int(44), 4},
		{Int(45), 5},
		{Int(46), 5},
		{Int(math.MaxInt64), 5},
		{Uint(math.MaxInt64 + 1), 5},
		{Uint(math.MaxUint64), 5},
		{Text("9"), 0},
		{Text("010"), 1},
		{Text("+44"), 4},
		{Text("-100000000000000000000000"), 0},
		{Text("100000000000000000000000"), 5},
	})
}

func TestVolumeRangeCountsOverTheWholeRange(t *testing.T) {
	tests := []struct {
		lower, upper any
		volume       int64
		places       []placed
		partitions   int
	}{
		{math.MinInt64 + 1, math.MaxInt64, math.MaxInt64, []placed{
			{Int(math.MinInt64), 0}, {Int(math.MinInt64 + 1), 1}, {Int(-1), 1}, {Int(0), 2}, {Int(math.MaxInt64 - 1), 2}, {Int(math.MaxInt64), 3}, {Uint(math.MaxUint64), 3},
		}, 4},
		{"-9223372036854775807", "18446744073709551615", math.MaxInt64, []placed{
			{Int(math.MinInt64), 0},
			{Int(math.MinInt64 + 1), 1},
			{Int(-1), 1},
			{Int(0), 2},
			{Int(math.MaxInt64 - 1), 2},
			{Int(math.MaxInt64), 3},
			{Uint(math.MaxUint64 - 2), 3},
			{Uint(math.MaxUint64 - 1), 4},
			{Uint(math.MaxUint64), 5},
		}, 6},
		{uint64(math.MaxUint64 - 2), uint64(math.MaxUint64), 1, []placed{
			{Uint(math.MaxUint64 - 3), 0}, {Uint(math.MaxUint64 - 2), 1}, {Uint(math.MaxUint64 - 1), 2}, {Uint(math.MaxUint64), 3}, {Int(-1), 0},
		}, 4},
		{-1, 1, 2, []placed{{Int(-2), 0}, {Int(-1), 1}, {Int(0), 1}, {Int(1), 2}}, 3},
		{math.MaxInt64 - 1, uint64(math.MaxInt64) + 2, 1, []placed{
			{Int(math.MaxInt64 - 2), 0}, {Int(math.MaxInt64 - 1), 1}, {Int(math.MaxInt64), 2}, {Uint(math.MaxInt64 + 1), 3}, {Uint(math.MaxInt64 + 2), 4},
		}, 5},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%v to %v", tt.lower, tt.upper), func(t *testing.T) {
			s := newSharder(t, "VOLUME_RANGE", Props{"range-lower": tt.lower, "range-upper": tt.upper, "sharding-volume": tt.volume}, partitions(tt.partitions)...)
			checkPlaces(t, s, tt.places)
		})
	}
}

func TestBoundaryRangeCutsAtTheBoundaries(t *testing.T) {
	for _, ranges := range []any{"1, 5,10", []any{1, "5", 10.0}, []int64{1, 5, 10}} {
		s := newSharder(t, "BOUNDARY_RANGE", Props{"shardingRanges": ranges}, partitions(4)...)
		checkPlaces(t, s, []placed{
			{Int(math.MinInt64), 0},
			{Int(0), 0},
			{Int(1), 1},
			{Int(2), 1},
			{Int(4), 1},
			{Int(5), 2},
			{Int(9), 2},
			{Int(10), 3},
			{Int(11), 3},
			{Int(math.MaxInt64), 3},
			{Uint(math.MaxUint64), 3},
			{Text("5"), 2},
			{Text("-5"), 0},
		})
	}
	one := newSharder(t, "BOUNDARY_RANGE", Props{"sharding-ranges": uint64(math.MaxUint64)}, partitions(2)...)
	checkPlaces(t, one, []placed{{Uint(math.MaxUint64 - 1), 0}, {Uint(math.MaxUint64), 1}, {Text("18446744073709551616"), 1}, {Int(-1), 0}})
}

func TestAutoIntervalCutsAtEveryStep(t *testing.T) {
	s := newSharder(t, "AUTO_INTERVAL", Props{"datetimeLower": "2024-01-01 00:00:00", "datetimeUpper": "2024-01-01 00:00:18", "shardingSeconds": 4}, partitions(6)...)
	checkPlaces(t, s, []placed{
		{at(t, "1000-01-01 00:00:00"), 0},
		{at(t, "2023-12-31 23:59:59.999999"), 0},
		{at(t, "2024-01-01 00:00:00"), 1},
		{at(t, "2024-01-01 00:00:00.000001"), 1},
		{at(t, "2024-01-01 00:00:03.999999"), 1},
		{at(t, "2024-01-01 00:00:04"), 2},
		{at(t, "2024-01-01 00:00:11.999999"), 3},
		{at(t, "2024-01-01 00:00:12"), 4},
		{at(t, "2024-01-01 00:00:15.999999"), 4},
		{at(t, "2024-01-01 00:00:16"), 5},
		{at(t, "9999-12-31 23:59:59.999999"), 5},
		{Text("2024-01-01 00:00:04"), 2},
		{Text("2024/1/1 0:0:3"), 1},
		{Text("20240101000008"), 3},
		{Int(20240101000008), 3},
		{Int(20231231), 0},
		{Text("2024-1-1"), 1},
	})
}

// ShardingSphere's number of partitions: the whole steps, and one at each end.
func TestAutoIntervalHasTwoPartitionsMoreThanSteps(t *testing.T) {
	for _, tt := range []struct {
		upper      string
		seconds    int
		partitions int
	}{
		{"2024-01-02 00:00:00", 86400, 3},
		{"2024-12-31 23:59:59", 2678400, 13},
		{"2024-01-01 23:59:59", 3600, 25},
		{"2024-01-02 00:00:00", 3600, 26},
		{"9999-12-31 23:59:59", 1 << 36, 5},
	} {
		props := Props{"datetime-lower": "2024-01-01 00:00:00", "datetime-upper": tt.upper, "sharding-seconds": tt.seconds}
		newSharder(t, "AUTO_INTERVAL", props, partitions(tt.partitions)...)
	}
}

func TestOrderedAlgorithmsRefuseOtherValues(t *testing.T) {
	numbers := newSharder(t, "BOUNDARY_RANGE", Props{"shardingRanges": "1,5"}, partitions(3)...)
	times := newSharder(t, "AUTO_INTERVAL", Props{"datetimeLower": "2024-01-01 00:00:00", "datetimeUpper": "2024-01-02 00:00:00", "shardingSeconds": 3600}, partitions(26)...)
	tests := []struct {
		s     Sharder
		value Value
		want  string
	}{
		{numbers, Null(), "NULL"},
		{numbers, Text(""), "the text is none"},
		{numbers, Text("1.5"), "the text is none"},
		{numbers, Text("1e3"), "the text is none"},
		{numbers, Text("-"), "the text is none"},
		{numbers, Text(" 1"), "the text is none"},
		{numbers, Time(time.Unix(0, 0)), "not a date or time"},
		{times, Null(), "NULL"},
		{times, Text("24-01-05"), "needs a date or time"},
		{times, Int(240105), "needs a date or time"},
		{times, Uint(math.MaxUint64), "needs a date or time"},
	}
	for _, tt := range tests {
		if got, err := tt.s.Shard(tt.value); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %q: partition %d, %v; want an error with %q", tt.value, tt.value, got, err, tt.want)
		}
	}
}

func TestOrderedRangesAreExact(t *testing.T) {
	numbers := newSharder(t, "BOUNDARY_RANGE", Props{"shardingRanges": "10,20,30"}, "t_3", "t_2", "t_1", "t_0").(Ranger)
	times := newSharder(t, "AUTO_INTERVAL", Props{"datetimeLower": "2024-01-01 00:00:00", "datetimeUpper": "2024-01-03 00:00:00", "shardingSeconds": 86400}, partitions(4)...).(Ranger)
	open := func(low, high Value) Range {
		r := closed(low, high)
		r.LowerOpen, r.UpperOpen = true, true
		return r
	}
	tests := []struct {
		name   string
		ranger Ranger
		r      Range
		want   []int // nil: every target
	}{
		{"inside one", numbers, closed(Int(11), Int(19)), []int{2}},
		{"touching the next", numbers, closed(Int(11), Int(20)), []int{1, 2}},
		{"up to the next", numbers, open(Int(11), Int(20)), []int{2}},
		{"from the last of one", numbers, open(Int(9), Int(12)), []int{2}},
		{"below", numbers, Range{Upper: Int(9), HasUpper: true}, []int{3}},
		{"below the first boundary", numbers, Range{Upper: Int(10), HasUpper: true, UpperOpen: true}, []int{3}},
		{"from the first boundary down", numbers, Range{Upper: Int(10), HasUpper: true}, []int{2, 3}},
		{"above", numbers, Range{Lower: Int(29), HasLower: true, LowerOpen: true}, []int{0}},
		{"from the last of the last but one", numbers, Range{Lower: Int(29), HasLower: true}, []int{0, 1}},
		{"everything", numbers, closed(Int(math.MinInt64), Uint(math.MaxUint64)), []int{0, 1, 2, 3}},
		{"nothing between", numbers, open(Int(10), Int(11)), []int{}},
		{"upside down", numbers, closed(Int(21), Int(19)), []int{}},
		{"above the largest", numbers, Range{Lower: Uint(math.MaxUint64), HasLower: true, LowerOpen: true}, []int{}},
		{"below the smallest", numbers, Range{Upper: Int(math.MinInt64), HasUpper: true, UpperOpen: true}, []int{}},
		{"times", numbers, closed(Time(time.Unix(0, 0)), Time(time.Unix(1, 0))), nil},
		{"an integer and a time", numbers, closed(Int(1), Time(time.Unix(1, 0))), nil},
		{"texts", numbers, closed(Text("1"), Text("2")), nil},
		{"a day", times, Range{Lower: at(t, "2024-01-01 00:00:00"), Upper: at(t, "2024-01-02 00:00:00"), HasLower: true, HasUpper: true, UpperOpen: true}, []int{1}},
		{"a day and an instant", times, closed(at(t, "2024-01-01 00:00:00"), at(t, "2024-01-02 00:00:00")), []int{1, 2}},
		{"after the last instant of a day", times, Range{Lower: at(t, "2024-01-01 23:59:59.999999999"), HasLower: true, LowerOpen: true}, []int{2, 3}},
		{"before the first", times, Range{Upper: at(t, "2024-01-01 00:00:00"), HasUpper: true, UpperOpen: true}, []int{0}},
		{"no instant", times, open(at(t, "2024-01-01 00:00:00"), at(t, "2024-01-01 00:00:00.000000001")), []int{}},
		{"dates as integers, which are asked for one by one", times, closed(Int(20240101), Int(20240102)), nil},
		{"integers that are no dates", times, closed(Int(20240131), Int(20240201)), nil},
		{"dates as integers without end", times, Range{Lower: Int(20240101), HasLower: true}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkTargets(t, tt.ranger, tt.r, tt.want) })
	}
}

// checkTargets checks the targets of a range; nil means every target.
func checkTargets(t *testing.T, ranger Ranger, r Range, want []int) {
	t.Helper()
	got, ok, err := ranger.Range(r)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if ok != (want != nil) || ok && !slices.Equal(got, want) {
		t.Errorf("targets %v, %t; want %v", got, ok, want)
	}
}

func TestCallersMayKeepTheTargetsOfARange(t *testing.T) {
	s := newSharder(t, "BOUNDARY_RANGE", Props{"shardingRanges": "1,5"}, partitions(3)...)
	got, _, _ := s.(Ranger).Range(closed(Int(0), Int(9)))
	clear(got)
	checkPlaces(t, s, []placed{{Int(1), 1}, {Int(5), 2}})
}

// Ranges are compared with the targets of every value of a small world around
// the boundaries: all of them, and no other.
func TestRangesAreExactlyTheTargetsOfTheirValues(t *testing.T) {
	integers := make([]Value, 120)
	for i := range integers {
		integers[i] = Int(int64(i) - 20)
	}
	var instants []Value
	for day := time.Date(2023, 12, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2025; day = day.AddDate(0, 0, 1) {
		instants = append(instants, Time(day.Add(-1)), Time(day), Time(day.Add(1)), Time(day.Add(12*time.Hour)))
	}
	monthly := Props{"datetimeLower": "2024-01-01 00:00:00", "suffixPattern": "yyyyMM", "unit": "MONTHS"}
	tests := []struct {
		name  string
		s     Sharder
		world []Value
	}{
		{"VOLUME_RANGE", newSharder(t, "VOLUME_RANGE", Props{"rangeLower": 0, "rangeUpper": 77, "shardingVolume": 10}, partitions(10)...), integers},
		{"BOUNDARY_RANGE", newSharder(t, "BOUNDARY_RANGE", Props{"shardingRanges": "-3,0,1,50,51"}, partitions(6)...), integers},
		{"AUTO_INTERVAL", newSharder(t, "AUTO_INTERVAL", Props{
			"datetimeLower": "2024-01-01 00:00:00", "datetimeUpper": "2024-12-20 00:00:00", "shardingSeconds": 30 * 86400,
		}, partitions(13)...), instants},
		{"INTERVAL", bindAt(t, "2024-12-05 00:00:00", monthly, months("2024-01-01", 12)...), instants},
		{"INTERVAL of 10 days", newSharder(t, "INTERVAL", Props{
			"datetimeLower": "2023-12-01 00:00:00", "datetimeUpper": "2024-12-31 00:00:00", "suffixPattern": "yyyyMM", "amount": 10,
		}, months("2023-12-01", 13)...), instants},
		{"INTERVAL that repeats", bindAt(t, "2023-12-05 00:00:00", Props{
			"datetimeLower": "2023-12-01 00:00:00", "suffixPattern": "_dd", "amount": 1,
		}, suffixed("t_", "_02", 31)...), instants},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			const seed = 20240105
			random := rand.New(rand.NewPCG(seed, 0))
			for range 200 {
				r := Range{
					HasLower: random.IntN(4) > 0, HasUpper: random.IntN(4) > 0,
					LowerOpen: random.IntN(2) > 0, UpperOpen: random.IntN(2) > 0,
				}
				// Beyond the bounds the world goes on for longer than a step.
				n := len(tt.world)
				i, j := n/6+random.IntN(n*2/3), n/6+random.IntN(n*2/3)
				if random.IntN(2) > 0 { // a short one
					j = i + random.IntN(5)
				}
				r.Lower, r.Upper = tt.world[i], tt.world[j]
				var want []int
				placeless := false
				for _, v := range slices.Concat(tt.world, neighbours(r.Lower), neighbours(r.Upper)) {
					if !inside(r, v) {
						continue
					}
					i, err := tt.s.Shard(v)
					if err != nil {
						placeless = true
					} else if !slices.Contains(want, i) {
						want = append(want, i)
					}
				}
				slices.Sort(want)
				got, ok, err := tt.s.(Ranger).Range(r)
				slices.Sort(got)
				everywhere := placeless && want == nil // as for an equality with such a value
				if err != nil || ok == everywhere || !everywhere && !slices.Equal(got, want) {
					t.Fatalf("%+v: targets %v, %t, %v; want %v", r, got, ok, err, want)
				}
			}
		})
	}
}

// neighbours returns the values beside a bound.
func neighbours(v Value) []Value {
	if when, ok := v.Time(); ok {
		return []Value{Time(when.Add(-1)), Time(when.Add(1))}
	}
	n, _ := v.Int64()
	return []Value{Int(n - 1), Int(n + 1)}
}

func inside(r Range, v Value) bool {
	if r.HasLower {
		if order, _ := v.Compare(r.Lower); order < 0 || order == 0 && r.LowerOpen {
			return false
		}
	}
	if r.HasUpper {
		if order, _ := v.Compare(r.Upper); order > 0 || order == 0 && r.UpperOpen {
			return false
		}
	}
	return true
}

func TestPartitionsNeedOneTargetEach(t *testing.T) {
	tests := []struct {
		typeName string
		props    Props
	}{
		{"VOLUME_RANGE", Props{"rangeLower": 0, "rangeUpper": 10, "shardingVolume": 10}},
		{"BOUNDARY_RANGE", Props{"shardingRanges": "0,10"}},
		{"AUTO_INTERVAL", Props{"datetimeLower": "2024-01-01 00:00:00", "datetimeUpper": "2024-01-02 00:00:00", "shardingSeconds": 86400}},
	}
	for _, tt := range tests {
		a, err := NewRegistry().New(tt.typeName, tt.props)
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range []struct {
			targets []string
			want    string
		}{
			{partitions(2), "no target ends in the number 2; the 3 partitions need one target each, ending in 0 to 2"},
			{partitions(4), `target "t_3" is never used`},
			{[]string{"t_0", "t_1", "t_01"}, `targets "t_1" and "t_01" both end in the number 1`},
			{nil, "no target ends in the number 0"},
		} {
			if _, err := a.(Standard).Bind(wrong.targets); err == nil || !strings.Contains(err.Error(), wrong.want) {
				t.Errorf("%s over %q: %v, want %q", tt.typeName, wrong.targets, err, wrong.want)
			}
		}
	}
}
