package algorithm

import (
	"errors"
	"slices"
	"sort"
)

// maxPartitions bounds the partitions of an ordered algorithm.
const maxPartitions = 1 << 16

// ordered is an algorithm whose partitions follow each other in the order of the
// values: VOLUME_RANGE, BOUNDARY_RANGE and AUTO_INTERVAL. Partition 0 holds the
// values below bounds[0], partition i those from bounds[i-1] on that are below
// bounds[i], and the last one all others.
type ordered struct {
	numbering
	bounds []position // ascending
	times  bool       // the bounds are times, not integers
	// read brings a value to the kind of the bounds.
	read func(Value) (Value, error)
}

// newOrdered takes the bounds in ascending order: all integers, or all times.
func newOrdered(bounds []Value, read func(Value) (Value, error)) *ordered {
	a := &ordered{numbering: numbering{count: int64(len(bounds)) + 1}, times: bounds[0].kind == KindTime, read: read}
	for _, bound := range bounds {
		a.bounds = append(a.bounds, bound.position())
	}
	return a
}

// position is where an integer or a time stands in the order of its kind: the
// halves of the integer in 128 bits, or seconds and nanoseconds.
type position struct {
	high int64
	low  uint64
}

func (v Value) position() position {
	if v.kind == KindTime {
		return position{v.wall.Unix(), uint64(v.wall.Nanosecond())}
	}
	return position{int64(v.sign()), v.num}
}

func (p position) after(q position) bool {
	return p.high > q.high || p.high == q.high && p.low > q.low
}

func (a *ordered) Bind(targets []string) (Sharder, error) {
	byNumber, err := a.number(targets)
	if err != nil {
		return nil, err
	}
	return &orderedSharder{ordered: a, byNumber: byNumber}, nil
}

type orderedSharder struct {
	*ordered
	byNumber []int
}

func (s *orderedSharder) Shard(v Value) (int, error) {
	v, err := s.read(v)
	if err != nil {
		return 0, err
	}
	return s.byNumber[s.partition(v)], nil
}

// partition returns the number of bounds up to v, which is of their kind.
func (s *orderedSharder) partition(v Value) int {
	p := v.position()
	return sort.Search(len(s.bounds), func(i int) bool { return s.bounds[i].after(p) })
}

// Range is exact for bounds of the kind of the partitions'.
func (s *orderedSharder) Range(r Range) ([]int, bool, error) {
	if !s.comparable(r.HasLower, r.Lower) || !s.comparable(r.HasUpper, r.Upper) {
		return nil, false, nil // such as integers that are dates written as numbers
	}
	low, high, some := r.ends()
	if !some {
		return nil, true, nil
	}
	first, last := 0, len(s.bounds)
	if r.HasLower {
		first = s.partition(low)
	}
	if r.HasUpper {
		last = s.partition(high)
	}
	return slices.Clone(s.byNumber[first : last+1]), true, nil
}

// comparable reports whether a bound of a range is absent or of the kind of the
// partitions' bounds.
func (s *orderedSharder) comparable(has bool, v Value) bool {
	if s.times {
		return !has || v.kind == KindTime
	}
	return !has || v.isInteger()
}

// readInteger takes integers, and texts that spell one. A text beyond 64 bits
// counts as the nearest integer within.
func readInteger(v Value) (Value, error) {
	switch v.Kind() {
	case KindInt, KindUint:
		return v, nil
	case KindText:
		if n, ok := textInteger(v.text); ok {
			return n, nil
		}
		return v, errors.New("the algorithm needs an integer, and the text is none")
	case KindTime:
		return v, errors.New("the algorithm needs an integer, not a date or time")
	}
	return v, errNull
}
