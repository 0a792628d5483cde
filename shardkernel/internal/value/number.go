package value

import (
	"strings"

	"github.com/gormshard/sharding/shardkernel/algorithm"
)

// maxExactFloat is 2^53: integers of a smaller magnitude are one float64 each,
// and no other integer rounds to that float64.
const maxExactFloat = 1 << 53

// number is a decimal number written out, taken apart.
type number struct {
	negative bool
	whole    string // digits before the point without leading zeros
	fraction string // digits behind the point without trailing zeros
}

// parseNumber reads an optional sign, digits and an optional fraction. An
// exponent, or anything else the server would cut off or misread, is not ok.
func parseNumber(s string) (n number, ok bool) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		n.negative = s[0] == '-'
		s = s[1:]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	if len(whole)+len(fraction) == 0 || !digits(whole) || !digits(fraction) {
		return number{}, false
	}
	n.whole = strings.TrimLeft(whole, "0")
	n.fraction = strings.TrimRight(fraction, "0")
	return n, true
}

// parseTextNumber is parseNumber of text as the server reads it beside numbers:
// blanks around it do not matter.
func parseTextNumber(s string) (number, bool) {
	return parseNumber(strings.Trim(s, " \t\n"))
}

func digits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

func (n number) integral() bool { return n.fraction == "" }

// integer returns the whole part. ok is false when it fits neither int64 nor
// uint64.
func (n number) integer() (v algorithm.Value, ok bool) {
	if len(n.whole) > 20 {
		return v, false
	}
	var u uint64
	for i := 0; i < len(n.whole); i++ {
		digit := uint64(n.whole[i] - '0')
		if u > (1<<64-1-digit)/10 {
			return v, false
		}
		u = u*10 + digit
	}
	if !n.negative {
		return algorithm.Uint(u), true
	}
	if u > 1<<63 {
		return v, false
	}
	return algorithm.Int(-int64(u)), true
}

// value returns the number as an integer, or written out without needless
// zeros where it is none: equal numbers give equal Values.
func (n number) value() algorithm.Value {
	if n.integral() {
		if v, ok := n.integer(); ok {
			return v
		}
	}
	var b strings.Builder
	if n.negative {
		b.WriteByte('-')
	}
	if n.whole == "" {
		b.WriteByte('0')
	}
	b.WriteString(n.whole)
	if n.fraction != "" {
		b.WriteByte('.')
		b.WriteString(n.fraction)
	}
	return algorithm.Text(b.String())
}

// floor returns the greatest integer not above n, ceil the least not below it.
func (n number) floor() (algorithm.Value, bool) {
	if n.negative && !n.integral() {
		return n.awayFromZero()
	}
	return n.integer()
}

func (n number) ceil() (algorithm.Value, bool) {
	if !n.negative && !n.integral() {
		return n.awayFromZero()
	}
	return n.integer()
}

// awayFromZero returns the next integer of a number with a fraction.
func (n number) awayFromZero() (algorithm.Value, bool) {
	v, ok := n.integer()
	if !ok {
		return v, false
	}
	if i, isInt := v.Int64(); isInt {
		switch {
		case !n.negative:
			return algorithm.Uint(uint64(i) + 1), true
		case i > -1<<63:
			return algorithm.Int(i - 1), true
		}
		return v, false
	}
	u, _ := v.Uint64()
	if u == 1<<64-1 {
		return v, false
	}
	return algorithm.Uint(u + 1), true
}
