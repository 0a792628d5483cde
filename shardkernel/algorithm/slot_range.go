package algorithm

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// slotRange is the algorithm SLOT_RANGE: a hash of the value, or of a part of it,
// leads to one of a fixed number of slots, and consecutive ranges of slots to
// the targets.
//
// Properties:
//
//	slots      1024 by default, at most 1,048,576
//	hash       javaCompatible by default, or xxhash64, as for HASH_MOD
//	javaType   long by default, or integer; of hash javaCompatible only
//	substring  [start, length]: hash only this part of the value written out.
//	           Characters count from 0, a negative start from the end: [-4, 4] is
//	           the last four. A value that is shorter gives what it has of them
//
// The slot is the hash modulo slots, rounding down. The targets, in configured
// order, share the slots equally: of 1024 slots the first of 4 targets has 0 to
// 255. Where that does not divide, some have one slot more. With twice as many
// targets each range falls into two.
type slotRange struct {
	slots     uint64
	hash      func(Value) (uint64, error)
	substring *substring // nil for the whole value
}

func newSlotRange(props Props) (Algorithm, error) {
	r := ReadProps(props)
	a := &slotRange{slots: uint64(r.IntOr("slots", 1024, 1, maxShardingCount))}
	a.hash = readHash(r, func(h int32) uint64 { return floorMod(h, a.slots) })
	a.substring = r.substring("substring")
	if err := r.Err(); err != nil {
		return nil, err
	}
	return a, nil
}

// floorMod returns h modulo n, which is at most maxShardingCount, rounding down.
func floorMod(h int32, n uint64) uint64 {
	r := int64(h) % int64(n)
	if r < 0 {
		r += int64(n)
	}
	return uint64(r)
}

// Label is the same for all: only the place in the list decides.
func (*slotRange) Label(string) string { return "" }

func (a *slotRange) Bind(targets []string) (Sharder, error) {
	switch n := uint64(len(targets)); {
	case n == 0:
		return nil, errNoTargets
	case n > a.slots:
		return nil, fmt.Errorf("target %q is never used: there are %d targets, but slots is %d", targets[a.slots], n, a.slots)
	}
	return &slotRangeSharder{slotRange: a, targets: len(targets)}, nil
}

// errNoTargets is returned by Bind for an empty list.
var errNoTargets = errors.New("there are no targets")

type slotRangeSharder struct {
	*slotRange
	targets int
}

func (s *slotRangeSharder) Shard(v Value) (int, error) {
	if s.substring != nil && !v.IsNull() {
		v = Text(s.substring.of(v.String()))
	}
	h, err := s.hash(v)
	if err != nil {
		return 0, err
	}
	return int(h % s.slots * uint64(s.targets) / s.slots), nil
}

// Range looks at the values of a small range one by one.
func (s *slotRangeSharder) Range(r Range) ([]int, bool, error) {
	targets, ok := enumerate(s, r, maxRangeValues, s.targets)
	return targets, ok, nil
}

// substring is a part of a text, counted in characters.
type substring struct{ start, length int }

// substring returns [start, length], nil when the property is absent.
func (r *Reader) substring(name string) *substring {
	const most = 1 << 20
	list := r.integers(name)
	if list == nil {
		return nil
	}
	if len(list) == 2 {
		start, startFits := list[0].Int64()
		length, lengthFits := list[1].Int64()
		if startFits && lengthFits && start >= -most && start <= most && length >= 1 && length <= most {
			return &substring{start: int(start), length: int(length)}
		}
	}
	r.fault(name, "must be [start, length] with a length of at least 1")
	return nil
}

func (s *substring) of(text string) string {
	start, length := s.start, s.length
	if start < 0 {
		if start += utf8.RuneCountInString(text); start < 0 {
			start, length = 0, max(0, length+start)
		}
	}
	text = withoutFirst(text, start)
	return text[:len(text)-len(withoutFirst(text, length))]
}

// withoutFirst returns text without its first n characters. A byte that is no
// part of one counts as a character.
func withoutFirst(text string, n int) string {
	for ; n > 0 && text != ""; n-- {
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
	}
	return text
}
