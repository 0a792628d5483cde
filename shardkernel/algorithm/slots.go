package algorithm

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// Slots finds the slot of a value: a hash of it, or of a part of it, leads to one
// of a fixed number of slots. It is immutable.
type Slots struct {
	count     uint64
	hash      func(Value) (uint64, error)
	substring *substring // nil for the whole value
	text      string
}

// ReadSlots reads the properties slots, hash, javaType and substring, see
// SLOT_RANGE, of an algorithm or key generator that has at most that many slots.
func ReadSlots(r *Reader, most int64) *Slots {
	s := &Slots{count: uint64(r.IntOr("slots", 1024, 1, most))}
	var hash string
	s.hash, hash = readHash(r, func(h int32) uint64 { return floorMod(h, s.count) })
	s.substring = r.substring("substring")
	s.text = fmt.Sprintf("%d slots, hash %s", s.count, hash)
	if s.substring != nil {
		s.text += fmt.Sprintf(", substring [%d, %d]", s.substring.start, s.substring.length)
	}
	return s
}

// Count returns the number of slots.
func (s *Slots) Count() int64 { return int64(s.count) }

// String describes the slots: equal texts mean equal slots of all values.
func (s *Slots) String() string { return s.text }

// Of returns the slot of a value, from 0 to Count-1.
func (s *Slots) Of(v Value) (uint64, error) {
	if s.substring != nil && !v.IsNull() {
		v = Text(s.substring.of(v.String()))
	}
	h, err := s.hash(v)
	return h % s.count, err
}

// slotShare is slots shared out to targets in consecutive ranges.
type slotShare struct {
	slots   *Slots
	targets int
}

func (s *Slots) share(targets []string) (slotShare, error) {
	switch n := uint64(len(targets)); {
	case n == 0:
		return slotShare{}, errNoTargets
	case n > s.count:
		return slotShare{}, fmt.Errorf("target %q is never used: there are %d targets, but slots is %d", targets[s.count], n, s.count)
	}
	return slotShare{slots: s, targets: len(targets)}, nil
}

func (s *slotShare) target(slot uint64) int { return int(slot * uint64(s.targets) / s.slots.count) }

// floorMod returns h modulo n, which is at most maxShardingCount, rounding down.
func floorMod(h int32, n uint64) uint64 {
	r := int64(h) % int64(n)
	if r < 0 {
		r += int64(n)
	}
	return uint64(r)
}

// errNoTargets is returned by Bind for an empty list.
var errNoTargets = errors.New("there are no targets")

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
