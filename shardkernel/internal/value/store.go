package value

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/algorithm"
)

// Store returns the value that col will hold when arg is stored in it, for
// INSERT. NULL gives Null. What would be stored in another form than it has, or
// in one that depends on the server's settings, is an error that matches
// fault.ErrUnsupported: the row could go to a node where nobody looks for it.
// arg and a nil col are as for Compare.
func (c Converter) Store(arg any, col *Column) (algorithm.Value, error) {
	o := read(arg)
	if o.form == formNull {
		return algorithm.Null(), nil
	}
	if col == nil {
		if v, match := c.compareUntyped(o); match == MatchValue {
			return v, nil
		}
		return algorithm.Value{}, refusal("the sharding column", "its type is not known, and the value's type has more than one meaning", "bind an integer, a string or a time.Time")
	}
	switch col.Class {
	case ClassUnknown:
		if v, match := c.compareUntyped(o); match == MatchValue {
			return v, nil
		}
	case ClassInteger:
		return storeInteger(o, col)
	case ClassDecimal:
		return storeDecimal(o, col)
	case ClassText:
		return storeText(o, col)
	case ClassBinary:
		return storeBinary(o, col)
	case ClassYear:
		if v, match := compareYear(o); match == MatchValue {
			return v, nil
		}
		return algorithm.Value{}, col.refuse("the value is not a year from 1901 to 2155", "bind the year as an integer of four digits")
	case ClassDate, ClassDateTime:
		return c.storeMoment(o, col)
	}
	return algorithm.Value{}, col.refuse("what a column of type "+col.Type+" stores cannot be foreseen", "shard by an integer, a text, a DATE or a DATETIME column")
}

// refuse returns the error of a value that cannot be routed by.
func (c *Column) refuse(reason, remedy string) error {
	return refusal("the value of sharding column "+c.Name, reason, remedy)
}

func refusal(clause, reason, remedy string) error {
	return fault.Unsupported(clause, reason, remedy)
}

func storeInteger(o operand, col *Column) (algorithm.Value, error) {
	var v algorithm.Value
	fits := true
	switch o.form {
	case formInt:
		v = algorithm.Int(o.int)
	case formUint:
		v = algorithm.Uint(o.uint)
	case formFloat:
		if math.IsNaN(o.float) || math.Abs(o.float) >= maxExactFloat {
			return v, col.refuse("a floating point number of this size stands for several integers", "bind an integer")
		}
		if o.float != math.Trunc(o.float) {
			return v, col.refuse("the column holds integers, and how a fraction is rounded depends on how it is sent", "bind an integer")
		}
		v = algorithm.Int(int64(o.float))
	case formDecimal, formText, formBytes:
		n, ok := parseNumber(o.text)
		if o.form != formDecimal {
			n, ok = parseTextNumber(o.text)
		}
		if !ok || !n.integral() {
			return v, col.refuse("the column holds integers, and the value is none", "bind an integer")
		}
		v, fits = n.integer()
	default:
		return v, col.refuse("the column holds integers, and the value is none", "bind an integer")
	}
	if !fits || !col.holds(v) {
		return algorithm.Value{}, col.refuse("the value is outside the range of "+col.Type, "bind a value in the column's range")
	}
	return v, nil
}

func storeDecimal(o operand, col *Column) (algorithm.Value, error) {
	var text string
	switch o.form {
	case formInt:
		text = algorithm.Int(o.int).String()
	case formUint:
		text = algorithm.Uint(o.uint).String()
	case formDecimal, formText, formBytes:
		text = o.text
	default:
		return algorithm.Value{}, col.refuse("the column holds decimals, and the value is none", "bind an integer, or the decimal written out")
	}
	n, ok := parseNumber(text)
	if !ok || !n.integral() && col.Flexible {
		return algorithm.Value{}, col.refuse("the column holds decimals, and the value is none", "bind an integer, or the decimal written out")
	}
	precision := col.Precision
	if precision == 0 {
		precision = 65 // the most a server allows
	}
	if len(n.fraction) > col.Scale || len(n.whole) > precision-col.Scale {
		return algorithm.Value{}, col.refuse("the value has more digits than "+col.Type, "round it before it is bound")
	}
	return n.value(), nil
}

func storeText(o operand, col *Column) (algorithm.Value, error) {
	s := o.text
	switch o.form {
	case formInt:
		s = algorithm.Int(o.int).String()
	case formUint:
		s = algorithm.Uint(o.uint).String()
	case formText, formBytes:
	default:
		return algorithm.Value{}, col.refuse("the column holds text, and how the value is written as text depends on the server", "bind a string")
	}
	if !utf8.ValidString(s) {
		return algorithm.Value{}, col.refuse("the text is not valid UTF-8", "bind valid text, or shard by a VARBINARY column")
	}
	if !col.keeps(s) {
		return algorithm.Value{}, col.refuse("the text has characters that collation "+col.Collation+" may not hold", "use a column of character set utf8mb4")
	}
	if strings.HasPrefix(col.Type, "char(") && !col.Flexible { // CHAR loses trailing spaces
		s = strings.TrimRight(s, " ")
	}
	s = col.trim(s)
	length := utf8.RuneCountInString(s)
	if strings.Contains(col.Type, "text") { // the length of TEXT types is in bytes
		length = len(s)
	}
	if col.Length > 0 && length > col.Length {
		return algorithm.Value{}, col.refuse("the text is longer than "+col.Type, "bind a text that fits")
	}
	return algorithm.Text(s), nil
}

// keeps reports whether the column's character set surely has all characters
// of s.
func (c *Column) keeps(s string) bool {
	if ascii(s) {
		return true
	}
	if !c.unicode() {
		return false
	}
	if c.Collation == "" || strings.HasPrefix(c.Collation, "utf8mb4") {
		return true
	}
	for _, r := range s { // utf8 and utf8mb3 end at the basic plane
		if r > 0xffff {
			return false
		}
	}
	return true
}

func storeBinary(o operand, col *Column) (algorithm.Value, error) {
	if o.form != formText && o.form != formBytes && o.form != formHex {
		return algorithm.Value{}, col.refuse("the column holds bytes, and the value is none", "bind a []byte or a string")
	}
	s := o.text
	if col.Length > 0 && len(s) > col.Length {
		return algorithm.Value{}, col.refuse("the value is longer than "+col.Type, "bind a value that fits")
	}
	if strings.HasPrefix(col.Type, "binary(") && !col.Flexible { // BINARY is filled up with zero bytes
		s += strings.Repeat("\x00", max(col.Length-len(s), 0))
	}
	return algorithm.Text(s), nil
}

func (c Converter) storeMoment(o operand, col *Column) (algorithm.Value, error) {
	m, ok := c.readMoment(o)
	if !ok {
		return algorithm.Value{}, col.refuse("the value is no date that all servers read alike", "bind a time.Time, or a text such as 2006-01-02 15:04:05")
	}
	wall, ok := m.stored(col, c.Fractions)
	if !ok {
		return algorithm.Value{}, col.refuse("how the server shortens the value's fraction to "+col.Type+" is not known", "truncate the time to the column's precision before it is bound")
	}
	return algorithm.Time(wall), nil
}
