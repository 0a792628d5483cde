package algorithm

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Integers returns the integers in r, ascending. ok is false unless r has two
// integer bounds and holds at most limit integers.
func (r Range) Integers(limit uint64) (values []Value, ok bool) {
	first, n, ok := r.integers(limit)
	if !ok {
		return nil, false
	}
	values = make([]Value, n)
	for i := range values {
		values[i] = first.plus(uint64(i))
	}
	return values, true
}

// integers returns the first integer in r and how many there are.
func (r Range) integers(limit uint64) (first Value, n uint64, ok bool) {
	if !r.HasLower || !r.HasUpper || !r.Lower.isInteger() || !r.Upper.isInteger() {
		return Value{}, 0, false
	}
	low, high, some := r.ends()
	if !some {
		return low, 0, true
	}
	over, n := low.distance(high)
	if over != 0 || n >= limit {
		return Value{}, 0, false
	}
	return low, n + 1, true
}

// ends returns the smallest and the largest value in r, whose bounds are
// integers or times. An absent bound gives NULL. some is false when there is no
// value between the bounds.
func (r Range) ends() (low, high Value, some bool) {
	if r.HasLower {
		low = r.Lower
		if r.LowerOpen {
			if low, some = low.next(); !some {
				return low, high, false
			}
		}
	}
	if r.HasUpper {
		high = r.Upper
		if r.UpperOpen {
			if high, some = high.previous(); !some {
				return low, high, false
			}
		}
	}
	order, both := low.Compare(high)
	return low, high, !both || order <= 0
}

// next returns the integer after v, or the time a nanosecond after it. ok is
// false for the largest integer.
func (v Value) next() (next Value, ok bool) {
	switch {
	case v.kind == KindTime:
		return Time(v.wall.Add(1)), true
	case v.kind == KindUint && v.num == math.MaxUint64:
		return v, false
	}
	return v.plus(1), true
}

// previous returns the integer before v, or the time a nanosecond before it. ok
// is false for the smallest integer.
func (v Value) previous() (previous Value, ok bool) {
	switch {
	case v.kind == KindTime:
		return Time(v.wall.Add(-1)), true
	case v.kind == KindUint:
		return Uint(v.num - 1), true
	case int64(v.num) == math.MinInt64:
		return v, false
	}
	return Int(int64(v.num) - 1), true
}

// plus returns v+n, which is not above the largest integer.
func (v Value) plus(n uint64) Value {
	low, carry := bits.Add64(v.num, n, 0)
	if v.sign()+carry != 0 {
		return Int(int64(low)) // still negative
	}
	return Uint(low)
}

// distance returns w-v, which is not negative, as high*2^64 + low.
func (v Value) distance(w Value) (high, low uint64) {
	low, borrow := bits.Sub64(w.num, v.num, 0)
	high, _ = bits.Sub64(w.sign(), v.sign(), borrow)
	return high, low
}

// sign returns the upper half of the integer v in 128 bits.
func (v Value) sign() uint64 {
	if v.kind == KindInt && int64(v.num) < 0 {
		return math.MaxUint64
	}
	return 0
}

// textInteger returns the integer that s spells, or the nearest one within 64
// bits. ok is false when it spells none.
func textInteger(s string) (v Value, ok bool) {
	digits := strings.TrimPrefix(s, "-")
	negative := len(digits) < len(s)
	if !negative {
		digits = strings.TrimPrefix(s, "+")
	}
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return Value{}, false
	}
	// ParseUint and ParseInt give the nearest number of their range where the
	// number written is beyond it.
	if negative {
		n, _ := strconv.ParseInt(s, 10, 64)
		return Int(n), true
	}
	n, _ := strconv.ParseUint(digits, 10, 64)
	return Uint(n), true
}
