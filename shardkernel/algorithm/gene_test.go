package algorithm

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func bindComplex(t *testing.T, typeName string, props Props, columns []string, targets ...string) ComplexSharder {
	t.Helper()
	a, err := NewRegistry().New(typeName, props)
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.(Complex).BindColumns(columns, targets)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The slot of an id is (id >> 12) & 0x3ff, whatever the time before it and the
// worker and sequence after it.
func TestGeneReadsTheSlotInTheMiddleOfTheID(t *testing.T) {
	s := bindComplex(t, "GENE", Props{"idColumn": "id", "ownerColumn": "user_id"}, []string{"id", "user_id"}, partitions(4)...)
	for slot, want := range map[int64]int{0: 0, 255: 0, 256: 1, 511: 1, 512: 2, 1023: 3} {
		for _, rest := range []int64{0, 4095, 1 << 22, 1<<62 | 17} {
			got, ok, err := s.(Narrower).Narrow([]Known{{Value: Int(rest&^(1023<<12) | slot<<12)}, {}})
			if err != nil || !ok || !slices.Equal(got, []int{want}) {
				t.Errorf("slot %d with %d around it: %v, %t, %v; want %d", slot, rest, got, ok, err, want)
			}
		}
	}
}

func TestGeneRefusesAnIDWithAnotherOwnersSlot(t *testing.T) {
	s := bindComplex(t, "GENE", Props{"idColumn": "id", "ownerColumn": "user_id"}, []string{"user_id", "id"}, partitions(4)...)
	if i, err := s.Shard([]Value{Int(77), Int(1<<22 | 77<<12)}); err != nil || i != 0 {
		t.Errorf("own slot: %d, %v", i, err)
	}
	for _, id := range []Value{Int(1<<22 | 78<<12), Int(-1), Uint(1 << 63), Text("x"), Time(at(t, "2024-01-01 00:00:00").wall)} {
		if i, err := s.Shard([]Value{Int(77), id}); err == nil {
			t.Errorf("id %s of owner 77 is on %d", id, i)
		}
	}
}

func TestGeneFromLeavesOlderIDsToTheirOwner(t *testing.T) {
	s := bindComplex(t, "GENE", Props{"idColumn": "id", "ownerColumn": "user_id", "geneFrom": 1 << 22}, []string{"id", "user_id"}, partitions(4)...)
	owner := Known{Value: Int(900)}
	if i, err := s.Shard([]Value{Int(5), owner.Value}); err != nil || i != 3 {
		t.Errorf("Shard: %d, %v", i, err)
	}
	if _, ok, _ := s.(Narrower).Narrow([]Known{{Value: Int(5)}, {}}); ok {
		t.Error("an id from before geneFrom narrows")
	}
	if got, ok, _ := s.(Narrower).Narrow([]Known{{Value: Int(5)}, owner}); !ok || !slices.Equal(got, []int{3}) {
		t.Errorf("id and owner: %v, %t", got, ok)
	}
	if d := s.(Decider); d.Decides(0) || !d.Decides(1) {
		t.Error("rows with equal older ids need not be on one target")
	}
}

func TestSlotsAreDescribedByAllThatDecidesThem(t *testing.T) {
	seen := map[string]Props{}
	for _, props := range []Props{
		nil, {"slots": 512}, {"hash": "xxhash64"}, {"javaType": "integer"}, {"substring": "-4,4"}, {"substring": "0,4"},
	} {
		r := ReadProps(props)
		text := ReadSlots(r, 1024).String()
		if err := r.Err(); err != nil {
			t.Fatal(err)
		}
		if other, taken := seen[text]; taken {
			t.Errorf("%v and %v are both %q", props, other, text)
		}
		seen[text] = props
	}
}

func TestThresholdKeepsOldRowsWhereTheyWere(t *testing.T) {
	registry := NewRegistry()
	part := func(n int) Algorithm {
		a, err := registry.New("MOD", Props{"shardingCount": n})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a, err := registry.New("THRESHOLD", Props{"column": "made_at", "threshold": "2024-01-01", "below": "old", "above": "new"})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.(Composite).Compose([]Algorithm{part(2), part(4)}); err != nil {
		t.Fatal(err)
	}
	s, err := a.(Complex).BindColumns([]string{"id", "made_at"}, partitions(4))
	if err != nil {
		t.Fatal(err)
	}
	times := func(text string) Known { return Known{Value: at(t, text)} }
	since := func(text string) Known { return Known{Range: Range{Lower: at(t, text), HasLower: true}} }
	before := func(text string) Known {
		return Known{Range: Range{Upper: at(t, text), HasUpper: true, UpperOpen: true}}
	}
	id := func(n int64) Known { return Known{Value: Int(n)} }
	tests := []struct {
		id, madeAt Known
		want       string
	}{
		{id(3), times("2023-12-31 23:59:59"), "[1]"},
		{id(3), times("2024-01-01 00:00:00"), "[3]"},
		{id(3), Known{}, "[1 3]"},
		{id(3), since("2024-01-01 00:00:00"), "[3]"},
		{id(3), since("2023-12-31 00:00:00"), "[1 3]"},
		{id(3), before("2024-01-01 00:00:00"), "[1]"},
		{Known{}, before("2024-01-01 00:00:00"), "[0 1]"},
		{Known{}, since("2024-06-01 00:00:00"), "[0 1 2 3]"},
		{Known{Range: closed(Int(2), Int(3))}, since("2024-06-01 00:00:00"), "[2 3]"},
	}
	for _, tt := range tests {
		got, ok, err := s.(Narrower).Narrow([]Known{tt.id, tt.madeAt})
		slices.Sort(got)
		if err != nil || !ok || fmt.Sprint(got) != tt.want {
			t.Errorf("id %+v, made_at %+v: %v, %t, %v; want %s", tt.id, tt.madeAt, got, ok, err, tt.want)
		}
	}
	if _, err := s.Shard([]Value{Int(3), Text("soon")}); err == nil || strings.Contains(err.Error(), "soon") {
		t.Errorf("a text that is no date: %v", err)
	}
}
