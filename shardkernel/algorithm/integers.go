package algorithm

// maxRangeValues is the number of values of a range that an algorithm without
// an order of its own looks at one by one.
const maxRangeValues = 1000

// integers returns the first integer in r and how many there are. ok is false
// unless r has two integer bounds and holds at most limit integers.
func (r Range) integers(limit uint64) (first Value, n uint64, ok bool) {
	low, high := r.Lower, r.Upper
	if !r.HasLower || !r.HasUpper || !low.isInteger() || !high.isInteger() {
		return Value{}, 0, false
	}
	if low.compareInteger(high) > 0 {
		return low, 0, true
	}
	if low.kind == KindInt && int64(low.num) < 0 && high.kind == KindUint {
		return Value{}, 0, false // the difference may not fit uint64
	}
	n = high.num - low.num // the number of steps, less than 2^64
	if n > limit {
		return Value{}, 0, false
	}
	n++
	if r.UpperOpen {
		n--
	}
	if r.LowerOpen && n > 0 {
		n--
		if n > 0 {
			low = low.successor()
		}
	}
	return low, n, n <= limit
}

// successor returns the integer after v, which is not the largest one.
func (v Value) successor() Value {
	if n, ok := v.Int64(); ok && n < 0 {
		return Int(n + 1)
	}
	return Uint(v.num + 1)
}

// enumerate returns the targets of all integers in r. ok is false when they are
// more than limit, or when one of them has no target: rows that were stored
// under another rule may hold it, so every target must be asked.
func enumerate(s Sharder, r Range, limit uint64, targets int) (found []int, ok bool) {
	v, n, ok := r.integers(limit)
	if !ok {
		return nil, false
	}
	seen := make([]bool, targets)
	for ; n > 0; n-- {
		i, err := s.Shard(v)
		if err != nil {
			return nil, false
		}
		if !seen[i] {
			seen[i] = true
			found = append(found, i)
		}
		if n > 1 {
			v = v.successor()
		}
	}
	return found, true
}
