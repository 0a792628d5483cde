package route

import "math/bits"

// nodeSet is a set of indexes of a table's nodes. The first 64 need no
// allocation, which covers most tables. The zero value is the empty set.
// A copy shares the memory of the indexes from 64 on; the methods that change a
// set are called only by the one that made it.
type nodeSet struct {
	low  uint64
	high []uint64 // nil, or the words for the indexes from 64 on
}

// allNodes returns the set of the indexes below n.
func allNodes(n int) nodeSet {
	if n < 64 {
		return nodeSet{low: 1<<n - 1}
	}
	s := nodeSet{low: ^uint64(0), high: make([]uint64, (n-1)/64)}
	for i := 64; i < n; i++ {
		s.add(i)
	}
	return s
}

func (s *nodeSet) add(i int) {
	if i < 64 {
		s.low |= 1 << i
		return
	}
	word := i/64 - 1
	if word >= len(s.high) {
		grown := make([]uint64, word+1)
		copy(grown, s.high)
		s.high = grown
	}
	s.high[word] |= 1 << (i % 64)
}

func (s *nodeSet) unite(t nodeSet) {
	s.low |= t.low
	if len(t.high) > len(s.high) {
		grown := make([]uint64, len(t.high))
		copy(grown, s.high)
		s.high = grown
	}
	for i, w := range t.high {
		s.high[i] |= w
	}
}

func (s *nodeSet) intersect(t nodeSet) {
	s.low &= t.low
	if len(s.high) > len(t.high) {
		s.high = s.high[:len(t.high)]
	}
	for i := range s.high {
		s.high[i] &= t.high[i]
	}
}

func (s nodeSet) has(i int) bool {
	if i < 64 {
		return s.low&(1<<i) != 0
	}
	word := i/64 - 1
	return word < len(s.high) && s.high[word]&(1<<(i%64)) != 0
}

func (s nodeSet) count() int {
	n := bits.OnesCount64(s.low)
	for _, w := range s.high {
		n += bits.OnesCount64(w)
	}
	return n
}

func (s nodeSet) empty() bool { return s.next(0) < 0 }

// next returns the smallest index of the set that is at least from, or -1.
func (s nodeSet) next(from int) int {
	if from < 64 {
		if w := s.low >> from; w != 0 {
			return from + bits.TrailingZeros64(w)
		}
		from = 64
	}
	for word := from/64 - 1; word < len(s.high); word++ {
		w := s.high[word]
		if word == from/64-1 {
			w &= ^uint64(0) << (from % 64)
		}
		if w != 0 {
			return (word+1)*64 + bits.TrailingZeros64(w)
		}
	}
	return -1
}
