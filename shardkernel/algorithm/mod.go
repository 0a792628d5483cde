package algorithm

import (
	"errors"
	"strings"
)

// maxShardingCount bounds shardingCount.
const maxShardingCount = 1 << 20

// mod is the algorithm MOD: the value modulo shardingCount, as ShardingSphere's
// algorithm of that name (user manual, "Sharding Algorithm", auto sharding),
// but rounding down, so that negative values have a target too.
//
// The target of the remainder i is the one whose name ends in the number i.
//
// Properties:
//
//	shardingCount  required, from 1 to 1,048,576
//	arithmetic     exact by default; java: an integer beyond Java's Long counts as
//	               the negative one of its lowest 64 bits, as with ShardingSphere
type mod struct {
	numbering
	wraps bool
}

func newMod(props Props) (Algorithm, error) {
	r := ReadProps(props)
	m := &mod{numbering: numbering{count: r.Int("shardingCount", 1, maxShardingCount)}}
	m.wraps = r.OneOf("arithmetic", "exact", "java") == "java"
	if err := r.Err(); err != nil {
		return nil, err
	}
	return m, nil
}

func (m *mod) Bind(targets []string) (Sharder, error) {
	byRemainder, err := m.number(targets)
	if err != nil {
		return nil, err
	}
	return &modSharder{byRemainder: byRemainder, wraps: m.wraps}, nil
}

type modSharder struct {
	byRemainder []int
	wraps       bool
}

// Shard takes integers, and texts that spell one.
func (s *modSharder) Shard(v Value) (int, error) {
	count := int64(len(s.byRemainder))
	if s.wraps && v.Kind() == KindUint {
		v = Int(int64(v.num))
	}
	switch v.Kind() {
	case KindInt:
		r := int64(v.num) % count
		if r < 0 {
			r += count
		}
		return s.byRemainder[r], nil
	case KindUint:
		return s.byRemainder[v.num%uint64(count)], nil
	case KindText:
		r, ok := textModulo(v.text, count)
		if !ok {
			return 0, errors.New("MOD needs an integer, and the text is none")
		}
		return s.byRemainder[r], nil
	case KindTime:
		return 0, errors.New("MOD needs an integer, not a date or time")
	}
	return 0, errNull
}

// Range is exact for ranges of fewer values than there are targets.
func (s *modSharder) Range(r Range) (found []int, ok bool, err error) {
	first, n, ok := r.integers(uint64(len(s.byRemainder)))
	if !ok {
		return nil, false, nil
	}
	for i := range n { // n different remainders
		target, err := s.Shard(first.plus(i))
		if err != nil {
			return nil, false, err
		}
		found = append(found, target)
	}
	return found, true, nil
}

// errNull is returned for a NULL, which callers handle themselves.
var errNull = errors.New("NULL has no target")

// textModulo returns the integer that s spells modulo count, rounding down. ok
// is false when s spells none.
func textModulo(s string, count int64) (r int64, ok bool) {
	digits := strings.TrimPrefix(s, "-")
	negative := len(digits) < len(s)
	if !negative {
		digits = strings.TrimPrefix(s, "+")
	}
	if digits == "" {
		return 0, false
	}
	for i := range len(digits) {
		c := digits[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		r = (r*10 + int64(c-'0')) % count
	}
	if negative && r != 0 {
		r = count - r
	}
	return r, true
}
