package algorithm

import (
	"cmp"
	"slices"
	"sort"
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// consistentHash is the algorithm CONSISTENT_HASH: every target has virtualNodes
// points on a ring of 2^64 places, and a value belongs to the target of the first
// point from its own place on. One more target takes an equal share of the
// values from each of the others, and moves no value between these.
//
// Property: virtualNodes, 160 by default, at most 10,000. With more of them the
// shares are more alike, and the ring is larger.
//
// The places are XXH64, of the value written out and, for point 0 of the target
// ds_0, of "ds_0#0". So it is the names of the targets that decide, not their
// order: a target that gets another name gets other values. Tables whose actual
// tables have different names cannot be bound to each other on this level.
type consistentHash struct{ virtualNodes int }

func newConsistentHash(props Props) (Algorithm, error) {
	r := ReadProps(props)
	a := &consistentHash{virtualNodes: int(r.IntOr("virtualNodes", 160, 1, 10_000))}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return a, nil
}

// Label is the whole name.
func (*consistentHash) Label(target string) string { return target }

// point is a point of the ring.
type point struct {
	place  uint64
	target int
}

func (a *consistentHash) Bind(targets []string) (Sharder, error) {
	if len(targets) == 0 {
		return nil, errNoTargets
	}
	ring := make([]point, 0, len(targets)*a.virtualNodes)
	var name []byte
	for i, target := range targets {
		for node := range a.virtualNodes {
			name = append(append(name[:0], target...), '#')
			name = strconv.AppendInt(name, int64(node), 10)
			ring = append(ring, point{place: xxhash.Sum64(name), target: i})
		}
	}
	slices.SortFunc(ring, func(a, b point) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(targets[a.target], targets[b.target]))
	})
	return &consistentHashSharder{ring: ring, targets: len(targets)}, nil
}

type consistentHashSharder struct {
	ring    []point // ascending
	targets int
}

func (s *consistentHashSharder) Shard(v Value) (int, error) {
	place, err := xxhash64(v)
	if err != nil {
		return 0, err
	}
	i := sort.Search(len(s.ring), func(i int) bool { return s.ring[i].place >= place })
	if i == len(s.ring) {
		i = 0
	}
	return s.ring[i].target, nil
}
