package algorithm

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
type slotRange struct{ slots *Slots }

func newSlotRange(props Props) (Algorithm, error) {
	r := ReadProps(props)
	a := &slotRange{slots: ReadSlots(r, maxShardingCount)}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return a, nil
}

// Label is the same for all: only the place in the list decides.
func (*slotRange) Label(string) string { return "" }

func (a *slotRange) Bind(targets []string) (Sharder, error) {
	share, err := a.slots.share(targets)
	if err != nil {
		return nil, err
	}
	return &slotRangeSharder{share}, nil
}

type slotRangeSharder struct{ slotShare }

func (s *slotRangeSharder) Shard(v Value) (int, error) {
	slot, err := s.slots.Of(v)
	if err != nil {
		return 0, err
	}
	return s.target(slot), nil
}
