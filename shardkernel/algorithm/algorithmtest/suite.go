// Package algorithmtest checks that a sharding algorithm keeps the promises of
// the interfaces in package algorithm. Call Run from a test of your own
// algorithm; the built-in ones pass it too.
package algorithmtest

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gormshard/sharding/shardkernel/algorithm"
)

// samples is the number of values that Run asks for.
const samples = 500

// Run checks the algorithm over the targets, which it must accept. values
// returns sharding values for i from 0 to 499: mix small and large ones,
// negative ones if the column can hold them, and neighbours, since the ranges
// that are checked lie between them. At least one value must have a target.
func Run(t *testing.T, a algorithm.Standard, targets []string, values func(i int) algorithm.Value) {
	t.Helper()
	s := bind(t, a, targets)
	vs := make([]algorithm.Value, samples)
	for i := range vs {
		if vs[i] = values(i); vs[i].IsNull() {
			t.Fatalf("values(%d) is NULL, which no algorithm is asked about", i)
		}
	}
	t.Run("TargetsAreInTheSet", func(t *testing.T) { targetsAreInTheSet(t, s, targets, vs) })
	t.Run("AnswersAreStable", func(t *testing.T) { answersAreStable(t, a, s, targets, vs) })
	t.Run("ConcurrentUse", func(t *testing.T) { concurrentUse(t, s, vs) })
	t.Run("ErrorsDoNotQuoteValues", func(t *testing.T) { errorsDoNotQuoteValues(t, s, vs) })
	if r, ok := s.(algorithm.Ranger); ok {
		t.Run("RangesHoldTheirValues", func(t *testing.T) { rangesHoldTheirValues(t, s, r, targets, vs) })
	}
}

// bind hands the algorithm a list and overwrites it afterwards: the caller may.
func bind(t *testing.T, a algorithm.Standard, targets []string) algorithm.Sharder {
	t.Helper()
	list := slices.Clone(targets)
	s, err := a.Bind(list)
	if err != nil {
		t.Fatalf("Bind(%q): %v", targets, err)
	}
	if !slices.Equal(list, targets) {
		t.Errorf("Bind changed its list of targets to %q", list)
	}
	clear(list)
	return s
}

func targetsAreInTheSet(t *testing.T, s algorithm.Sharder, targets []string, vs []algorithm.Value) {
	found := 0
	for _, v := range vs {
		i, err := s.Shard(v)
		if err != nil {
			continue
		}
		found++
		if i < 0 || i >= len(targets) {
			t.Errorf("Shard(%s) = %d, but there are %d targets", v, i, len(targets))
		}
	}
	if found == 0 {
		t.Error("no value has a target")
	}
}

func answersAreStable(t *testing.T, a algorithm.Standard, s algorithm.Sharder, targets []string, vs []algorithm.Value) {
	again := bind(t, a, targets)
	for _, v := range vs {
		i, err1 := s.Shard(v)
		j, err2 := again.Shard(v)
		if i != j || (err1 == nil) != (err2 == nil) {
			t.Errorf("Shard(%s) = %d, %v; bound once more to the same targets %d, %v", v, i, err1, j, err2)
		}
	}
}

func concurrentUse(t *testing.T, s algorithm.Sharder, vs []algorithm.Value) {
	want := make([]int, len(vs))
	for k, v := range vs {
		want[k], _ = s.Shard(v)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for k, v := range vs {
				if i, _ := s.Shard(v); i != want[k] {
					t.Errorf("Shard(%s) = %d among other goroutines, %d alone", v, i, want[k])
				}
			}
		})
	}
	wg.Wait()
}

func errorsDoNotQuoteValues(t *testing.T, s algorithm.Sharder, vs []algorithm.Value) {
	for _, v := range vs {
		_, err := s.Shard(v)
		// Short values occur in any message by chance.
		if text := v.String(); err != nil && len(text) > 5 && strings.Contains(err.Error(), text) {
			t.Errorf("the error %q quotes the value", err)
		}
	}
}

// noTarget stands for the target of a value that has none.
const noTarget = -1

// rangesHoldTheirValues checks ranges between the values: every value in a
// range that has a target must have it among the targets of the range.
func rangesHoldTheirValues(t *testing.T, s algorithm.Sharder, r algorithm.Ranger, targets []string, vs []algorithm.Value) {
	c := rangeCheck{ranger: r, targets: len(targets), values: vs, places: make([]int, len(vs))}
	for i, v := range vs {
		place, err := s.Shard(v)
		if err != nil {
			place = noTarget
		}
		c.places[i] = place
	}
	for i, low := range vs {
		if low.Kind() == algorithm.KindText {
			continue // texts have the order of their collation: nobody asks
		}
		for _, open := range []bool{false, true} {
			c.check(t, algorithm.Range{Lower: low, HasLower: true, LowerOpen: open})
			c.check(t, algorithm.Range{Upper: low, HasUpper: true, UpperOpen: open})
		}
		for _, high := range []algorithm.Value{low, vs[(i+1)%len(vs)], vs[(i+7)%len(vs)], vs[(i*31+11)%len(vs)]} {
			if _, ok := low.Compare(high); !ok {
				continue
			}
			for shape := range 4 {
				c.check(t, algorithm.Range{
					Lower: low, Upper: high, HasLower: true, HasUpper: true,
					LowerOpen: shape&1 != 0, UpperOpen: shape&2 != 0,
				})
			}
		}
		if t.Failed() {
			return // one range is enough to see what is wrong
		}
	}
}

type rangeCheck struct {
	ranger  algorithm.Ranger
	targets int
	values  []algorithm.Value
	places  []int // targets of the values
}

func (c *rangeCheck) check(t *testing.T, rng algorithm.Range) {
	found, ok, err := c.ranger.Range(rng)
	if err != nil || !ok {
		return // refused, or every target
	}
	for _, i := range found {
		if i < 0 || i >= c.targets {
			t.Errorf("Range(%s) gives target %d, but there are %d", describe(rng), i, c.targets)
		}
	}
	held, without := 0, 0
	for k, v := range c.values {
		if !holds(rng, v) {
			continue
		}
		if c.places[k] == noTarget {
			without++ // no row was stored with it
			continue
		}
		held++
		if !slices.Contains(found, c.places[k]) {
			t.Errorf("Range(%s) gives the targets %v, but %s in it is on %d", describe(rng), found, v, c.places[k])
		}
	}
	if without > 0 && held == 0 && len(found) == 0 {
		t.Errorf("Range(%s) gives no target, but holds values without one, for which every target is asked", describe(rng))
	}
}

func holds(r algorithm.Range, v algorithm.Value) bool {
	if r.HasLower {
		order, ok := v.Compare(r.Lower)
		if !ok || order < 0 || order == 0 && r.LowerOpen {
			return false
		}
	}
	if r.HasUpper {
		order, ok := v.Compare(r.Upper)
		if !ok || order > 0 || order == 0 && r.UpperOpen {
			return false
		}
	}
	return true
}

// describe writes a range as mathematicians do: [1, 5) excludes 5.
func describe(r algorithm.Range) string {
	low, high := "(-∞", "∞)"
	if r.HasLower {
		low = "[" + r.Lower.String()
		if r.LowerOpen {
			low = "(" + r.Lower.String()
		}
	}
	if r.HasUpper {
		high = r.Upper.String() + "]"
		if r.UpperOpen {
			high = r.Upper.String() + ")"
		}
	}
	return low + ", " + high
}
