package route

import (
	"math/rand/v2"
	"testing"
)

// TestNodeSetIsASet compares the bit operations with a map, around the border
// of the word that needs no allocation and beyond.
func TestNodeSetIsASet(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		size := 1 + r.IntN(200)
		a, inA := randomSet(r, size)
		b, inB := randomSet(r, size)
		union := nodeSet{}
		union.unite(a)
		union.unite(b)
		both := nodeSet{}
		both.unite(a)
		both.intersect(b)

		count, next := 0, both.next(0)
		for i := range size + 70 {
			if got, want := union.has(i), inA[i] || inB[i]; got != want {
				t.Fatalf("round %d: union has %d: %v, want %v", round, i, got, want)
			}
			want := inA[i] && inB[i]
			if got := both.has(i); got != want {
				t.Fatalf("round %d: intersection has %d: %v, want %v", round, i, got, want)
			}
			if want {
				if next != i {
					t.Fatalf("round %d: next is %d, want %d", round, next, i)
				}
				next = both.next(i + 1)
				count++
			}
		}
		if next != -1 || both.count() != count || both.empty() != (count == 0) {
			t.Fatalf("round %d: next %d, count %d, empty %v; want -1, %d", round, next, both.count(), both.empty(), count)
		}
	}
}

func randomSet(r *rand.Rand, size int) (nodeSet, map[int]bool) {
	var s nodeSet
	in := map[int]bool{}
	for range r.IntN(size + 1) {
		i := r.IntN(size)
		s.add(i)
		in[i] = true
	}
	return s, in
}

func TestAllNodesHoldsEveryIndex(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 128, 129, 300} {
		s := allNodes(n)
		if s.count() != n || s.has(n) || n > 0 && !s.has(n-1) {
			t.Errorf("allNodes(%d): count %d, has(%d) %v", n, s.count(), n, s.has(n))
		}
	}
}
