package value

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gormshard/sharding/shardkernel/algorithm"
)

// Match tells what a comparison of a column with a value says of stored values.
type Match uint8

// The matches.
const (
	// MatchUnknown means that several stored values may be equal, or that it is
	// not known which: the condition narrows nothing.
	MatchUnknown Match = iota
	// MatchValue means that only rows with the returned Value can match.
	MatchValue
	// MatchNull means that the value is NULL.
	MatchNull
)

// Fractions tells what a server does with fractional seconds that a column has
// no room for.
type Fractions uint8

// The rules for fractional seconds.
const (
	FractionsUnknown Fractions = iota // a store that depends on it is refused
	FractionsCut                      // MariaDB
	FractionsRound                    // MySQL; MariaDB with TIME_ROUND_FRACTIONAL
)

// Converter brings arguments and literals to the type of a column. The zero
// Converter has the MySQL driver's defaults. It is safe for concurrent use.
//
// A date or a date and time becomes a KindTime Value that carries the wall
// clock as a time in UTC, whatever the zone: a DATETIME may hold a wall clock
// that its zone skips or has twice.
type Converter struct {
	// Location is the zone in which the driver writes a time.Time, loc in a
	// MySQL DSN. Defaults to UTC.
	Location *time.Location
	// TimeTruncate is the unit to which the driver cuts a time.Time,
	// timeTruncate in a MySQL DSN. Defaults to none.
	TimeTruncate time.Duration
	// Fractions is what the servers do with fractional seconds too fine for a
	// column. Defaults to unknown.
	Fractions Fractions
}

// Compare tells which stored value of col equals arg, for col = arg and the
// elements of IN. arg is anything an application may bind, or a literal: nil,
// int64, uint64, float64, bool, string, Decimal, Hex. What cannot be converted
// exactly is MatchUnknown. A nil col, or one of an unknown class, takes
// integers, text and times as they are.
func (c Converter) Compare(arg any, col *Column) (algorithm.Value, Match) {
	o := read(arg)
	if o.form == formNull {
		return algorithm.Null(), MatchNull
	}
	if col == nil {
		return c.compareUntyped(o)
	}
	switch col.Class {
	case ClassUnknown:
		return c.compareUntyped(o)
	case ClassInteger:
		return compareInteger(o, col)
	case ClassDecimal:
		return compareDecimal(o, col)
	case ClassText:
		return compareText(o, col)
	case ClassBinary:
		if o.form == formText || o.form == formBytes || o.form == formHex {
			return algorithm.Text(o.text), MatchValue
		}
	case ClassYear:
		return compareYear(o)
	case ClassDate, ClassDateTime:
		if m, ok := c.readMoment(o); ok && m.exact(col) {
			return algorithm.Time(m.wall), MatchValue
		}
	}
	return algorithm.Value{}, MatchUnknown
}

// Bound converts arg to a bound of a range over col, a lower or an upper one;
// open tells whether the bound itself is excluded. ok is false when it cannot
// be converted: the range has no bound on that side then. excl tells whether
// the returned bound is excluded, which differs from open where the bound had
// to be moved: above 1.5 becomes above 1 for integers. Only integers and times
// have bounds; the order of text is the database's, and a column of unknown type
// may hold values between two integers.
func (c Converter) Bound(arg any, col *Column, lower, open bool) (v algorithm.Value, excl, ok bool) {
	o := read(arg)
	class := ClassUnknown
	if col != nil {
		class = col.Class
	}
	switch class {
	case ClassInteger:
		return boundInteger(o, col, lower, open)
	case ClassYear:
		if v, match := compareYear(o); match == MatchValue {
			return v, open, true
		}
	case ClassDate, ClassDateTime:
		return c.boundMoment(o, lower, open)
	}
	return algorithm.Value{}, false, false
}

func (c Converter) compareUntyped(o operand) (algorithm.Value, Match) {
	switch o.form {
	case formInt:
		return algorithm.Int(o.int), MatchValue
	case formUint:
		return algorithm.Uint(o.uint), MatchValue
	case formText, formBytes:
		return algorithm.Text(o.text), MatchValue
	case formTime:
		if m, ok := c.readMoment(o); ok {
			return algorithm.Time(m.wall), MatchValue
		}
	}
	return algorithm.Value{}, MatchUnknown
}

// compareInteger compares an integer column. A number with a fraction equals no
// integer, and yet MariaDB finds rows by it: where it looks the constant up in an
// index it rounds it first, and 8.5 finds 9. It may match anywhere.
func compareInteger(o operand, col *Column) (algorithm.Value, Match) {
	switch o.form {
	case formInt:
		return algorithm.Int(o.int), MatchValue
	case formUint:
		return algorithm.Uint(o.uint), MatchValue
	case formFloat:
		switch {
		case math.Abs(o.float) >= maxExactFloat || math.IsNaN(o.float):
			return algorithm.Value{}, MatchUnknown
		case o.float != math.Trunc(o.float):
			return algorithm.Value{}, MatchUnknown
		}
		return algorithm.Int(int64(o.float)), MatchValue
	case formDecimal:
		n, ok := parseNumber(o.text)
		if !ok {
			return algorithm.Value{}, MatchUnknown
		}
		if v, ok := n.integer(); ok && n.integral() {
			return v, MatchValue
		}
	case formText, formBytes:
		return compareIntegerText(o.text, col)
	}
	return algorithm.Value{}, MatchUnknown
}

// compareIntegerText compares an integer column with text. The server turns a
// constant into the column's type where that is exact, and else compares both
// as floating point, where several integers may equal one text.
func compareIntegerText(s string, col *Column) (algorithm.Value, Match) {
	n, ok := parseTextNumber(s)
	if !ok {
		return algorithm.Value{}, MatchUnknown
	}
	if v, ok := n.integer(); ok && n.integral() && col.holds(v) {
		return v, MatchValue
	}
	return algorithm.Value{}, MatchUnknown
}

func boundInteger(o operand, col *Column, lower, open bool) (v algorithm.Value, excl, ok bool) {
	switch o.form {
	case formInt:
		return algorithm.Int(o.int), open, true
	case formUint:
		return algorithm.Uint(o.uint), open, true
	case formFloat:
		if math.Abs(o.float) >= maxExactFloat || math.IsNaN(o.float) {
			return v, false, false
		}
		if o.float == math.Trunc(o.float) {
			return algorithm.Int(int64(o.float)), open, true
		}
		if lower {
			return algorithm.Int(int64(math.Floor(o.float))), !col.Flexible, true
		}
		return algorithm.Int(int64(math.Ceil(o.float))), !col.Flexible, true
	case formDecimal:
		n, parsed := parseNumber(o.text)
		if !parsed {
			return v, false, false
		}
		return boundNumber(n, lower, open, !col.Flexible)
	case formText, formBytes:
		n, parsed := parseTextNumber(o.text)
		if !parsed {
			return v, false, false
		}
		// The server compares a fraction in text as floating point, where it
		// may have become the integer beside it, which stays in. With more
		// digits several integers may be that one floating point number.
		if !n.integral() && len(n.whole) > 15 {
			return v, false, false
		}
		v, excl, ok = boundNumber(n, lower, open, false)
		return v, excl, ok && col.holds(v)
	}
	return v, false, false
}

// boundNumber moves a bound with a fraction outwards to the next integer, which
// is excluded if moved says so.
func boundNumber(n number, lower, open, moved bool) (v algorithm.Value, excl, ok bool) {
	switch {
	case n.integral():
		v, ok = n.integer()
		return v, open, ok
	case lower:
		v, ok = n.floor()
	default:
		v, ok = n.ceil()
	}
	return v, moved, ok
}

// holds reports whether the integer v is in the range of an integer column.
func (c *Column) holds(v algorithm.Value) bool {
	bits := c.Bits
	if bits <= 0 || bits > 64 {
		bits = 64
	}
	if c.Unsigned {
		u, ok := v.Uint64()
		return ok && u <= 1<<bits-1
	}
	i, ok := v.Int64()
	return ok && i >= -1<<(bits-1) && i <= 1<<(bits-1)-1
}

func compareDecimal(o operand, col *Column) (algorithm.Value, Match) {
	switch o.form {
	case formInt:
		return algorithm.Int(o.int), MatchValue
	case formUint:
		return algorithm.Uint(o.uint), MatchValue
	case formDecimal:
		// More decimals than the column's equal nothing; text and floats are
		// compared as floating point, where several decimals may be equal.
		if n, ok := parseNumber(o.text); ok && (n.integral() || len(n.fraction) <= col.Scale && !col.Flexible) {
			return n.value(), MatchValue
		}
	}
	return algorithm.Value{}, MatchUnknown
}

// compareText compares a text column. Against a number the server compares as
// floating point: '1', '01' and '1abc' all equal 1.
func compareText(o operand, col *Column) (algorithm.Value, Match) {
	if o.form != formText && o.form != formBytes || !utf8.ValidString(o.text) {
		return algorithm.Value{}, MatchUnknown
	}
	if o.form == formBytes && !col.unicode() && !ascii(o.text) {
		return algorithm.Value{}, MatchUnknown // bytes are read in the column's character set
	}
	return algorithm.Text(col.trim(o.text)), MatchValue
}

// trim takes away the trailing spaces that do not count in comparisons.
func (c *Column) trim(s string) string {
	if c.PadSpace {
		return strings.TrimRight(s, " ")
	}
	return s
}

// unicode reports whether the column's character set is UTF-8.
func (c *Column) unicode() bool {
	return c.Collation == "" || strings.HasPrefix(c.Collation, "utf8")
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// compareYear takes years of four digits; two digits mean a century that
// depends on how they are written.
func compareYear(o operand) (algorithm.Value, Match) {
	var v algorithm.Value
	switch o.form {
	case formInt:
		v = algorithm.Int(o.int)
	case formText, formBytes:
		n, ok := parseNumber(o.text)
		if !ok || len(o.text) != 4 {
			return v, MatchUnknown
		}
		v = n.value()
	}
	if year, ok := v.Int64(); ok && year >= 1901 && year <= 2155 {
		return v, MatchValue
	}
	return algorithm.Value{}, MatchUnknown
}
