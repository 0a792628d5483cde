package algorithm

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// The places of stored rows: they must not change from one version to the next.
func TestPlacesByHashNeverChange(t *testing.T) {
	at := time.Date(2024, 1, 5, 10, 0, 0, 0, time.UTC)
	values := []Value{
		Int(0), Int(1), Int(-1), Int(1024), Int(4294967296), Int(math.MaxInt64), Int(math.MinInt64), Uint(math.MaxUint64),
		Text(""), Text("a"), Text("order-1001"), Text("中文😀"), Time(at),
	}
	tests := []struct {
		typeName string
		props    Props
		want     []int // -1 for none
	}{
		{"SLOT_RANGE", Props{}, []int{0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 6, 7, -1}},
		{"SLOT_RANGE", Props{"javaType": "integer"}, []int{0, 0, 7, 0, 0, 0, 0, 7, 0, 0, 6, 7, -1}},
		{"SLOT_RANGE", Props{"hash": "xxhash64"}, []int{7, 1, 5, 1, 2, 5, 0, 0, 3, 4, 5, 1, 1}},
		{"SLOT_RANGE", Props{"hash": "xxhash64", "slots": 1000, "substring": "-4,4"}, []int{0, 3, 1, 3, 5, 7, 1, 7, 7, 7, 7, 1, 5}},
		{"CONSISTENT_HASH", Props{}, []int{2, 6, 2, 6, 5, 7, 4, 5, 2, 1, 2, 6, 3}},
		{"CONSISTENT_HASH", Props{"virtualNodes": 1}, []int{5, 2, 5, 1, 6, 4, 2, 2, 3, 7, 2, 2, 3}},
	}
	for _, tt := range tests {
		s := newSharder(t, tt.typeName, tt.props, partitions(8)...)
		var got []int
		for _, v := range values {
			i, err := s.Shard(v)
			if err != nil {
				i = -1
			}
			got = append(got, i)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s %v: %#v, want %v", tt.typeName, tt.props, got, tt.want)
		}
	}
}

// slotOf returns the slot itself: with as many targets as slots they are one.
func slotOf(t *testing.T, props Props, slots int, v Value) int {
	t.Helper()
	i, err := newSharder(t, "SLOT_RANGE", props, partitions(slots)...).Shard(v)
	if err != nil {
		t.Fatalf("%v of %s: %v", props, v, err)
	}
	return i
}

func TestSlotIsTheFloorModuloOfTheHash(t *testing.T) {
	tests := []struct {
		props Props
		slots int
		value Value
		want  int
	}{
		{Props{}, 1024, Int(5), 5},
		{Props{}, 1024, Int(1025), 1},
		{Props{}, 1024, Int(-1), 0}, // Java's hash of a Long
		{Props{}, 1024, Int(-5), 4},
		{Props{}, 1024, Int(4294967296), 1},
		{Props{}, 1024, Int(math.MaxInt64), 0}, // its hash is -2147483648
		{Props{"javaType": "integer"}, 1024, Int(-1), 1023},
		{Props{"javaType": "integer"}, 1024, Int(-5), 1019},
		{Props{"javaType": "integer", "slots": 7}, 7, Int(math.MinInt32), 5},
		{Props{}, 1024, Text("a"), 97},
		{Props{}, 1024, Text("abc"), 96354 % 1024},
		{Props{}, 1024, Text("polygenelubricants"), 0},
		{Props{"slots": 10}, 10, Text("polygenelubricants"), 2}, // -2147483648
		{Props{"slots": 1}, 1, Text("abc"), 0},
	}
	for _, tt := range tests {
		if got := slotOf(t, tt.props, tt.slots, tt.value); got != tt.want {
			t.Errorf("%v of %s: slot %d, want %d", tt.props, tt.value, got, tt.want)
		}
	}
}

func TestSlotsAreSharedInOrder(t *testing.T) {
	tests := []struct{ slots, targets int }{{1024, 1}, {1024, 4}, {1024, 3}, {1000, 7}, {5, 5}, {1 << 14, 64}}
	for _, tt := range tests {
		s := newSharder(t, "SLOT_RANGE", Props{"slots": tt.slots}, partitions(tt.targets)...)
		held := make([]int, tt.targets)
		last := 0
		for slot := range tt.slots {
			i, err := s.Shard(Int(int64(slot))) // an int32 is its own hash
			if err != nil || i < last || i > last+1 {
				t.Fatalf("%d slots over %d targets: slot %d is on %d after %d, %v", tt.slots, tt.targets, slot, i, last, err)
			}
			last = i
			held[i]++
		}
		least, most := slices.Min(held), slices.Max(held)
		if least < tt.slots/tt.targets || most > (tt.slots+tt.targets-1)/tt.targets {
			t.Errorf("%d slots over %d targets: from %d to %d slots a target", tt.slots, tt.targets, least, most)
		}
	}
}

func TestTwiceTheTargetsSplitEachSlotRange(t *testing.T) {
	four := newSharder(t, "SLOT_RANGE", Props{}, partitions(4)...)
	eight := newSharder(t, "SLOT_RANGE", Props{}, partitions(8)...)
	for i := range int64(5000) {
		a, _ := four.Shard(Int(i))
		b, _ := eight.Shard(Int(i))
		if b/2 != a {
			t.Fatalf("%d: target %d of 4, but %d of 8", i, a, b)
		}
	}
}

func TestSlotIsOfTheChosenPart(t *testing.T) {
	tests := []struct {
		substring any
		value     Value
		part      string
	}{
		{[]int{0, 4}, Text("2024000123"), "2024"},
		{"-4, 4", Text("2024000123"), "0123"},
		{[]any{2, "3"}, Int(1234567), "345"},
		{[]int{0, 7}, Time(time.Date(2024, 1, 5, 10, 0, 0, 0, time.UTC)), "2024-01"},
		{[]int{1, 2}, Text("中文😀é"), "文😀"},
		{[]int{-1, 1}, Text("中文😀é"), "é"},
		{[]int{0, 4}, Text("ab"), "ab"},
		{[]int{1, 4}, Text("ab"), "b"},
		{[]int{2, 4}, Text("ab"), ""},
		{[]int{9, 4}, Text("ab"), ""},
		{[]int{-4, 4}, Text("ab"), "ab"},
		{[]int{-4, 3}, Text("ab"), "a"},
		{[]int{-4, 2}, Text("ab"), ""},
		{[]int{-9, 2}, Text("ab"), ""},
		{[]int{1, 2}, Text("a\xff\xfeb"), "\xff\xfe"},
		{[]int{0, 4}, Text(""), ""},
		{[]int{-2, 2}, Uint(math.MaxUint64), "15"},
	}
	for _, tt := range tests {
		for _, hash := range []string{"javaCompatible", "xxhash64"} {
			got := slotOf(t, Props{"hash": hash, "substring": tt.substring}, 1024, tt.value)
			if want := slotOf(t, Props{"hash": hash}, 1024, Text(tt.part)); got != want {
				t.Errorf("%v of %q: slot %d, want %d as %q", tt.substring, tt.value, got, want, tt.part)
			}
		}
	}
}

func TestHashedPlacesNeedTargets(t *testing.T) {
	for typeName, props := range map[string]Props{"SLOT_RANGE": {"slots": 4}, "CONSISTENT_HASH": nil} {
		a, err := NewRegistry().New(typeName, props)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.(Standard).Bind(nil); err == nil || !strings.Contains(err.Error(), "no targets") {
			t.Errorf("%s: %v", typeName, err)
		}
		if s, err := a.(Standard).Bind(partitions(4)); err != nil {
			t.Errorf("%s: %v", typeName, err)
		} else if _, err := s.Shard(Null()); err == nil {
			t.Errorf("%s gives NULL a target", typeName)
		}
	}
	a, err := NewRegistry().New("SLOT_RANGE", Props{"slots": 4})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.(Standard).Bind(partitions(5)); err == nil || !strings.Contains(err.Error(), `target "t_4" is never used: there are 5 targets, but slots is 4`) {
		t.Error(err)
	}
}

func TestSlotsOfTimesNeedAHashThatKnowsThem(t *testing.T) {
	when := Time(time.Unix(0, 0))
	s := newSharder(t, "SLOT_RANGE", nil, partitions(4)...)
	if _, err := s.Shard(when); err == nil || !strings.Contains(err.Error(), "set hash: xxhash64") {
		t.Error(err)
	}
	s = newSharder(t, "SLOT_RANGE", Props{"hash": "xxhash64"}, partitions(4)...)
	if _, err := s.Shard(when); err != nil {
		t.Error(err)
	}
}

const movedKeys = 20_000

func TestOneMoreTargetMovesOnlyItsShare(t *testing.T) {
	for _, n := range []int{1, 2, 4, 8, 16} {
		before := newSharder(t, "CONSISTENT_HASH", nil, partitions(n)...)
		after := newSharder(t, "CONSISTENT_HASH", nil, partitions(n+1)...)
		moved := 0
		for i := range int64(movedKeys) {
			a, _ := before.Shard(Int(i))
			b, _ := after.Shard(Int(i))
			if a == b {
				continue
			}
			moved++
			if b != n {
				t.Fatalf("key %d moves from target %d to %d, which was there before", i, a, b)
			}
		}
		share := float64(moved) / movedKeys * float64(n+1)
		if share < 0.7 || share > 1.3 {
			t.Errorf("from %d to %d targets: %d of %d keys move, %.2f of an equal share", n, n+1, moved, movedKeys, share)
		}
	}
}

func TestConsistentHashSharesEqually(t *testing.T) {
	const n = 8
	s := newSharder(t, "CONSISTENT_HASH", nil, partitions(n)...)
	held := make([]int, n)
	for i := range int64(movedKeys) {
		k, _ := s.Shard(Text(fmt.Sprintf("user-%d", i)))
		held[k]++
	}
	for k, count := range held {
		if share := float64(count) / movedKeys * n; share < 0.7 || share > 1.3 {
			t.Errorf("target %d has %.2f of an equal share: %v", k, share, held)
		}
	}
}

func TestConsistentHashGoesByNames(t *testing.T) {
	names := []string{"ds_b", "ds_a", "ds_c"}
	a := newSharder(t, "CONSISTENT_HASH", nil, names...)
	sorted := []string{"ds_a", "ds_b", "ds_c"}
	b := newSharder(t, "CONSISTENT_HASH", nil, sorted...)
	for i := range int64(2000) {
		x, _ := a.Shard(Int(i))
		y, _ := b.Shard(Int(i))
		if names[x] != sorted[y] {
			t.Fatalf("key %d is on %s, or on %s with the targets in another order", i, names[x], sorted[y])
		}
	}
}

func TestLabelsTellWhatDecides(t *testing.T) {
	tests := []struct {
		typeName     string
		props        Props
		target, want string
	}{
		{"MOD", Props{"shardingCount": 4}, "t_order_03", "3"},
		{"HASH_MOD", Props{"shardingCount": 4}, "t_order_000", "0"},
		{"VOLUME_RANGE", Props{"rangeLower": 0, "rangeUpper": 9, "shardingVolume": 3}, "ds10", "10"},
		{"SLOT_RANGE", nil, "t_order_03", ""},
		{"CONSISTENT_HASH", nil, "t_order_03", "t_order_03"},
	}
	for _, tt := range tests {
		a, err := NewRegistry().New(tt.typeName, tt.props)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.(Labeler).Label(tt.target); got != tt.want {
			t.Errorf("%s: label of %s is %q, want %q", tt.typeName, tt.target, got, tt.want)
		}
	}
}
