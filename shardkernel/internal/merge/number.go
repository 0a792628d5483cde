package merge

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
)

// form is how a number is held.
type form uint8

const (
	formInteger form = iota // negative, magnitude
	formFloat               // float
	formDecimal             // negative, whole, digits
)

// number is a number of any SQL type, compared exactly: integers over the whole
// of BIGINT and BIGINT UNSIGNED, decimals digit by digit, never as floats.
type number struct {
	form      form
	negative  bool
	magnitude uint64
	float     float64
	// whole is the count of digits before the decimal point. digits has no zeros
	// at its ends other than those of the whole part.
	whole  int
	digits []byte
}

func (n *number) setInt(v int64) {
	n.form, n.negative, n.magnitude = formInteger, v < 0, uint64(v)
	if v < 0 {
		n.magnitude = -n.magnitude
	}
}

func (n *number) setUint(v uint64) {
	n.form, n.negative, n.magnitude = formInteger, false, v
}

func (n *number) setFloat(v float64) {
	n.form, n.float = formFloat, v
}

// parse reads a number from text such as "-12.50". It reports false, and leaves
// the number undefined, when the text is something else.
func (n *number) parse(text []byte) bool {
	n.negative = false
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		n.negative = text[0] == '-'
		text = text[1:]
	}
	whole, fraction := text, []byte(nil)
	point := bytes.IndexByte(text, '.')
	if point >= 0 {
		whole, fraction = text[:point], text[point+1:]
	}
	if len(whole)+len(fraction) == 0 || !allDigits(whole) || !allDigits(fraction) {
		return false
	}
	for len(whole) > 0 && whole[0] == '0' {
		whole = whole[1:]
	}
	if point < 0 {
		if m, ok := parseMagnitude(whole); ok {
			n.form, n.magnitude = formInteger, m
			n.negative = n.negative && m > 0
			return true
		}
	}
	for len(fraction) > 0 && fraction[len(fraction)-1] == '0' {
		fraction = fraction[:len(fraction)-1]
	}
	n.form, n.whole = formDecimal, len(whole)
	n.digits = append(append(n.digits[:0], whole...), fraction...)
	n.negative = n.negative && len(n.digits) > 0
	return true
}

func allDigits(text []byte) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// parseMagnitude reads digits, and reports false beyond 64 bits.
func parseMagnitude(digits []byte) (uint64, bool) {
	var m uint64
	for _, c := range digits {
		d := uint64(c - '0')
		if m > (math.MaxUint64-d)/10 {
			return 0, false
		}
		m = m*10 + d
	}
	return m, true
}

// parseClock reads a TIME such as "-838:59:59.5" as microseconds, for the text
// does not sort: -01:00:00 < 09:00:00 < 100:00:00 (semantics row 7).
func (n *number) parseClock(text []byte) bool {
	n.form, n.negative = formInteger, false
	if len(text) > 0 && text[0] == '-' {
		n.negative = true
		text = text[1:]
	}
	text, fraction, _ := bytes.Cut(text, []byte{'.'})
	if len(fraction) > 6 || !allDigits(fraction) {
		return false
	}
	var seconds uint64
	for i := range 3 {
		part, rest, more := bytes.Cut(text, []byte{':'})
		if more != (i < 2) || len(part) == 0 || len(part) > 3 || !allDigits(part) {
			return false
		}
		v, _ := parseMagnitude(part)
		seconds, text = seconds*60+v, rest
	}
	micros, _ := parseMagnitude(fraction)
	for i := len(fraction); i < 6; i++ {
		micros *= 10
	}
	n.magnitude = seconds*1_000_000 + micros
	n.negative = n.negative && n.magnitude > 0
	return true
}

// parseBits reads a BIT, whose bytes come with the highest first.
func (n *number) parseBits(bits []byte) bool {
	if len(bits) > 8 {
		return false
	}
	var v uint64
	for _, b := range bits {
		v = v<<8 | uint64(b)
	}
	n.setUint(v)
	return true
}

func (n *number) compare(m *number) int {
	if n.form != m.form {
		return n.compareForms(m)
	}
	if n.form == formFloat {
		return cmp.Compare(n.float, m.float)
	}
	if n.negative != m.negative {
		if n.negative {
			return -1
		}
		return 1
	}
	c := 0
	switch {
	case n.form == formInteger:
		c = cmp.Compare(n.magnitude, m.magnitude)
	case n.whole != m.whole:
		c = n.whole - m.whole
	default:
		c = bytes.Compare(n.digits, m.digits)
	}
	if n.negative {
		return -c
	}
	return c
}

// compareForms compares numbers of different forms, which SQLite mixes in one
// column and MariaDB in DECIMALs of more than 64 bits.
func (n *number) compareForms(m *number) int {
	if n.form == formFloat && math.IsInf(n.float, 0) {
		return cmp.Compare(n.float, 0)
	}
	if m.form == formFloat && math.IsInf(m.float, 0) {
		return cmp.Compare(0, m.float)
	}
	return n.rational().Cmp(m.rational())
}

func (n *number) rational() *big.Rat {
	r := new(big.Rat)
	switch n.form {
	case formFloat:
		r.SetFloat64(n.float)
		return r
	case formInteger:
		r.SetUint64(n.magnitude)
	case formDecimal:
		digits, _ := new(big.Int).SetString("0"+string(n.digits), 10)
		scale := int64(len(n.digits) - n.whole)
		r.SetFrac(digits, new(big.Int).Exp(big.NewInt(10), big.NewInt(scale), nil))
	}
	if n.negative {
		r.Neg(r)
	}
	return r
}

// appendKey appends the number in a form that depends only on its value.
func (n *number) appendKey(key []byte) []byte {
	if n.form == formFloat {
		f := n.float
		if f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
			key = append(key, byte(formFloat))
			return binary.BigEndian.AppendUint64(key, math.Float64bits(f))
		}
		// SQLite: 1 and 1.0 are one group.
		var integer number
		integer.setInt(int64(f))
		return integer.appendKey(key)
	}
	sign := byte('+')
	if n.negative {
		sign = '-'
	}
	if n.form == formInteger {
		key = append(key, byte(formInteger), sign)
		return binary.BigEndian.AppendUint64(key, n.magnitude)
	}
	if len(n.digits) == n.whole {
		if m, ok := parseMagnitude(n.digits); ok {
			integer := number{negative: n.negative, magnitude: m}
			return integer.appendKey(key)
		}
	}
	key = append(key, byte(formDecimal), sign)
	key = strconv.AppendInt(key, int64(n.whole), 10)
	key = append(key, '.')
	return appendSized(key, n.digits)
}
