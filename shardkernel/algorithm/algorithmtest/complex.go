package algorithmtest

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gormshard/sharding/shardkernel/algorithm"
)

// RunComplex checks an algorithm of several columns, which it must accept with
// the targets. rows returns the values of the columns for i from 0 to 499, none
// of them NULL: mix them as for Run. At least one row must have a target.
func RunComplex(t *testing.T, a algorithm.Complex, columns, targets []string, rows func(i int) []algorithm.Value) {
	t.Helper()
	c := &complexCheck{algorithm: a, columns: columns, targets: targets}
	c.sharder = c.bind(t)
	for i := range samples {
		row := rows(i)
		if len(row) != len(columns) || slices.ContainsFunc(row, algorithm.Value.IsNull) {
			t.Fatalf("rows(%d) must have %d values that are not NULL", i, len(columns))
		}
		c.rows = append(c.rows, row)
		place, err := c.sharder.Shard(slices.Clone(row))
		if err != nil {
			place = noTarget
		}
		c.places = append(c.places, place)
	}
	t.Run("TargetsAreInTheSet", c.targetsAreInTheSet)
	t.Run("AnswersAreStable", c.answersAreStable)
	t.Run("ConcurrentUse", c.concurrentUse)
	t.Run("ErrorsDoNotQuoteValues", c.errorsDoNotQuoteValues)
	t.Run("WhatIsKnownOfARowLeadsToItsTarget", c.partsLeadToTheTarget)
}

type complexCheck struct {
	algorithm        algorithm.Complex
	sharder          algorithm.ComplexSharder
	columns, targets []string
	rows             [][]algorithm.Value
	places           []int
}

func (c *complexCheck) bind(t *testing.T) algorithm.ComplexSharder {
	t.Helper()
	columns, targets := slices.Clone(c.columns), slices.Clone(c.targets)
	s, err := c.algorithm.BindColumns(columns, targets)
	if err != nil {
		t.Fatalf("BindColumns(%q, %q): %v", c.columns, c.targets, err)
	}
	if !slices.Equal(columns, c.columns) || !slices.Equal(targets, c.targets) {
		t.Errorf("BindColumns changed its lists to %q and %q", columns, targets)
	}
	clear(columns)
	clear(targets)
	return s
}

func (c *complexCheck) targetsAreInTheSet(t *testing.T) {
	found := 0
	for i, place := range c.places {
		if place == noTarget {
			continue
		}
		found++
		if place < 0 || place >= len(c.targets) {
			t.Errorf("Shard(%s) = %d, but there are %d targets", c.rows[i], place, len(c.targets))
		}
	}
	if found == 0 {
		t.Error("no row has a target")
	}
}

func (c *complexCheck) answersAreStable(t *testing.T) {
	again := c.bind(t)
	for i, row := range c.rows {
		place, err := again.Shard(row)
		if err != nil {
			place = noTarget
		}
		if place != c.places[i] {
			t.Errorf("Shard(%s) = %d; bound once more to the same targets %d", row, c.places[i], place)
		}
	}
}

func (c *complexCheck) concurrentUse(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i, row := range c.rows {
				if place, err := c.sharder.Shard(row); err == nil && place != c.places[i] {
					t.Errorf("Shard(%s) = %d among other goroutines, %d alone", row, place, c.places[i])
				}
			}
		})
	}
	wg.Wait()
}

func (c *complexCheck) errorsDoNotQuoteValues(t *testing.T) {
	for _, row := range c.rows {
		_, err := c.sharder.Shard(row)
		for _, v := range row {
			if text := v.String(); err != nil && len(text) > 5 && strings.Contains(err.Error(), text) {
				t.Errorf("the error %q quotes a value", err)
			}
		}
	}
}

// partsLeadToTheTarget checks for every row that what may be known of it, some
// values and some ranges, leads to its target too.
func (c *complexCheck) partsLeadToTheTarget(t *testing.T) {
	for i, row := range c.rows {
		if c.places[i] == noTarget {
			continue
		}
		other := c.rows[(i*31+11)%len(c.rows)]
		forms := 1
		for range row {
			forms *= knowledge
		}
		for form := range forms {
			known := make([]algorithm.Known, len(row))
			for column, v := range row {
				known[column] = know(v, other[column], form%knowledge)
				form /= knowledge
			}
			found, ok, err := algorithm.NarrowBy(c.sharder, known)
			if err != nil || !ok {
				continue // refused, or every target
			}
			if !slices.Contains(found, c.places[i]) {
				t.Fatalf("Narrow gives the targets %v for a part of what is known of the row %s, which is on %d: %+v", found, row, c.places[i], known)
			}
			for _, target := range found {
				if target < 0 || target >= len(c.targets) {
					t.Fatalf("Narrow gives target %d, but there are %d", target, len(c.targets))
				}
			}
		}
	}
}

// knowledge is the number of forms that know has.
const knowledge = 5

// know returns what may be known of a column that holds v: nothing, the value,
// ranges that hold it and have another value as bound.
func know(v, other algorithm.Value, form int) algorithm.Known {
	order, ok := v.Compare(other)
	switch {
	case form == 1:
		return algorithm.Known{Value: v}
	case form == 0 || !ok:
		return algorithm.Known{}
	case form == 2:
		return algorithm.Known{Range: algorithm.Range{Lower: v, Upper: v, HasLower: true, HasUpper: true}}
	case order > 0:
		return algorithm.Known{Range: algorithm.Range{Lower: other, HasLower: true, LowerOpen: true, Upper: v, HasUpper: form == 3}}
	case order < 0:
		return algorithm.Known{Range: algorithm.Range{Upper: other, HasUpper: true, UpperOpen: true, Lower: v, HasLower: form == 3}}
	}
	return algorithm.Known{Range: algorithm.Range{Lower: v, HasLower: form == 3, Upper: v, HasUpper: form == 4}}
}

// RunHint checks an algorithm of hint strategies, which it must accept with the
// targets. values returns hinted values for i from 0 to 499, none of them NULL.
// At least one must have a target.
func RunHint(t *testing.T, a algorithm.Hint, targets []string, values func(i int) algorithm.Value) {
	t.Helper()
	bind := func() algorithm.HintSharder {
		s, err := a.BindHint(slices.Clone(targets))
		if err != nil {
			t.Fatalf("BindHint(%q): %v", targets, err)
		}
		return s
	}
	s, again := bind(), bind()
	found := 0
	var last algorithm.Value
	for i := range samples {
		v := values(i)
		one, err := s.Targets([]algorithm.Value{v})
		same, errAgain := again.Targets([]algorithm.Value{v})
		if !slices.Equal(one, same) || (err == nil) != (errAgain == nil) {
			t.Errorf("Targets(%s) = %v, %v; bound once more to the same targets %v, %v", v, one, err, same, errAgain)
		}
		if err != nil {
			if text := v.String(); len(text) > 5 && strings.Contains(err.Error(), text) {
				t.Errorf("the error %q quotes the value", err)
			}
			continue
		}
		for _, target := range one {
			if target < 0 || target >= len(targets) {
				t.Errorf("Targets(%s) gives target %d, but there are %d", v, target, len(targets))
			}
		}
		if found++; found > 1 {
			both, err := s.Targets([]algorithm.Value{last, v})
			if err != nil || slices.ContainsFunc(one, func(target int) bool { return !slices.Contains(both, target) }) {
				t.Errorf("Targets(%s, %s) = %v, %v lacks some of %v, the targets of the second", last, v, both, err, one)
			}
		}
		last = v
	}
	if found == 0 {
		t.Error("no value has a target")
	}
}
