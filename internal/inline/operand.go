package inline

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Inside an expression a value is one of
//
//	int64      an integer that fits
//	*big.Int   any other integer
//	string     a text
//	bool       the result of a comparison
//	fraction   a quotient that is no integer
//
// Every function below takes and returns these. None of them uses floating
// point, and none of them wraps around.

// fraction is a quotient that is no integer. It can only be made whole, by
// longValue and its like, which cut it towards zero.
type fraction struct{ whole any }

// operandError is the failure of an operation for the values it met. It never
// quotes them: they are arguments of somebody's statement.
type operandError struct {
	reason   string
	fraction bool // a quotient would have to be whole
}

func (e *operandError) Error() string { return e.reason }

func fail(reason string) error { return &operandError{reason: reason} }

func failFraction(reason string) error { return &operandError{reason: reason, fraction: true} }

// IsFraction reports whether an evaluation failed because / left a fraction
// where only an integer has a meaning, so that intdiv was meant.
func IsFraction(err error) bool {
	var e *operandError
	return errors.As(err, &e) && e.fraction
}

const (
	// maxDigits is the longest text that is read as an integer.
	maxDigits = 100
	// maxPadding is the longest text that padLeft makes.
	maxPadding = 256
	// maxConcatenation is the longest text in bytes that + makes.
	maxConcatenation = 64 << 10
	// maxFractionDivisor is the largest divisor that may leave a fraction:
	// Groovy rounds quotients to ten decimals, which turns 0.99999999999 into 1
	// where the exact quotient is cut to 0.
	maxFractionDivisor = 1_000_000_000
)

// operand normalises an argument of Eval.
func operand(arg any) (any, error) {
	switch v := arg.(type) {
	case int64, string:
		return arg, nil
	case uint64:
		if v <= 1<<63-1 {
			return int64(v), nil
		}
		return new(big.Int).SetUint64(v), nil
	case *big.Int:
		return shrink(v), nil
	case int:
		return int64(v), nil
	}
	return nil, fail("the value is neither an integer nor a text")
}

// shrink returns v as an int64 where it fits.
func shrink(v *big.Int) any {
	if v.IsInt64() {
		return v.Int64()
	}
	return v
}

// whole returns an operand of an arithmetic operation as int64 or *big.Int. A
// text counts when it spells an integer and nothing else.
func whole(operation string, v any) (any, error) {
	switch v := v.(type) {
	case int64, *big.Int:
		return v, nil
	case string:
		if n, ok := parseInteger(v); ok {
			return n, nil
		}
		return nil, fail(operation + " needs an integer, and the text is none")
	case fraction:
		return nil, failFraction(operation + " needs an integer, and the quotient is a fraction; use intdiv instead of /")
	}
	return nil, fail(operation + " needs an integer")
}

func parseInteger(s string) (any, bool) {
	if len(s) > maxDigits {
		return nil, false
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	for i, c := range []byte(s) {
		if (c < '0' || c > '9') && (i > 0 || c != '-' && c != '+') {
			return nil, false
		}
	}
	n, ok := new(big.Int).SetString(s, 10)
	return n, ok
}

func wholes(operation string, params []any) (a, b any, err error) {
	if a, err = whole(operation, params[0]); err == nil {
		b, err = whole(operation, params[1])
	}
	return a, b, err
}

func grow(v any) *big.Int {
	if n, ok := v.(int64); ok {
		return big.NewInt(n)
	}
	return v.(*big.Int)
}

func isZero(v any) bool { return v == any(int64(0)) }

// plus adds numbers and concatenates as soon as one side is a text.
func plus(params ...any) (any, error) {
	_, text1 := params[0].(string)
	_, text2 := params[1].(string)
	if text1 || text2 {
		left, err := textOf(params[0])
		if err != nil {
			return nil, err
		}
		right, err := textOf(params[1])
		if err != nil {
			return nil, err
		}
		if len(left)+len(right) > maxConcatenation {
			return nil, fail("+ makes too long a text")
		}
		return left + right, nil
	}
	a, b, err := wholes("+", params)
	if err != nil {
		return nil, err
	}
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			if sum := x + y; (sum > x) == (y > 0) {
				return sum, nil
			}
		}
	}
	return shrink(new(big.Int).Add(grow(a), grow(b))), nil
}

func minus(params ...any) (any, error) {
	a, b, err := numbers("-", params)
	if err != nil {
		return nil, err
	}
	return shrink(new(big.Int).Sub(grow(a), grow(b))), nil
}

func times(params ...any) (any, error) {
	a, b, err := numbers("*", params)
	if err != nil {
		return nil, err
	}
	return shrink(new(big.Int).Mul(grow(a), grow(b))), nil
}

// numbers refuses texts: Groovy repeats a text with * and cuts pieces out of it
// with -, which nobody wants in the name of a node.
func numbers(operation string, params []any) (a, b any, err error) {
	for _, p := range params {
		if _, ok := p.(string); ok {
			return nil, nil, fail(operation + " needs numbers; convert the text with toLong()")
		}
	}
	return wholes(operation, params)
}

func negate(params ...any) (any, error) {
	v, err := whole("-", params[0])
	if err != nil {
		return nil, err
	}
	return shrink(new(big.Int).Neg(grow(v))), nil
}

// remainder has the sign of the dividend: -3 % 2 is -1.
func remainder(params ...any) (any, error) {
	a, b, err := wholes("%", params)
	if err != nil {
		return nil, err
	}
	if isZero(b) {
		return nil, fail("% by zero")
	}
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			return x % y, nil
		}
	}
	return shrink(new(big.Int).Rem(grow(a), grow(b))), nil
}

// floorMod has the sign of the divisor: floorMod(-3, 2) is 1.
func floorMod(params ...any) (any, error) {
	a, b, err := wholes("floorMod", params)
	if err != nil {
		return nil, err
	}
	if isZero(b) {
		return nil, fail("floorMod by zero")
	}
	divisor := grow(b)
	m := new(big.Int).Rem(grow(a), divisor)
	if m.Sign() != 0 && m.Sign() != divisor.Sign() {
		m.Add(m, divisor)
	}
	return shrink(m), nil
}

// intdiv cuts the quotient towards zero.
func intdiv(params ...any) (any, error) {
	a, b, err := wholes("intdiv", params)
	if err != nil {
		return nil, err
	}
	if isZero(b) {
		return nil, fail("intdiv by zero")
	}
	return shrink(new(big.Int).Quo(grow(a), grow(b))), nil
}

// divide is Groovy's /, whose quotient is a decimal number.
func divide(params ...any) (any, error) {
	a, b, err := wholes("/", params)
	if err != nil {
		return nil, err
	}
	if isZero(b) {
		return nil, fail("/ by zero")
	}
	quotient, rest := new(big.Int).QuoRem(grow(a), grow(b), new(big.Int))
	if rest.Sign() == 0 {
		return shrink(quotient), nil
	}
	if grow(b).CmpAbs(big.NewInt(maxFractionDivisor)) > 0 {
		return nil, fail("/ by so large a number leaves a fraction; use intdiv")
	}
	return fraction{shrink(quotient)}, nil
}

func abs(params ...any) (any, error) {
	v, err := whole("abs", params[0])
	if err != nil {
		return nil, err
	}
	if n, ok := v.(int64); ok && n >= 0 {
		return v, nil
	}
	return shrink(new(big.Int).Abs(grow(v))), nil
}

// toLong makes a number of a text or a fraction.
func toLong(params ...any) (any, error) {
	v := params[0]
	if f, ok := v.(fraction); ok {
		v = f.whole
	}
	v, err := whole("the conversion to an integer", v)
	if err != nil {
		return nil, err
	}
	if _, ok := v.(int64); !ok {
		return nil, fail("the value does not fit 64 bits")
	}
	return v, nil
}

func toInteger(params ...any) (any, error) {
	v, err := toLong(params...)
	if err != nil {
		return nil, err
	}
	if n := v.(int64); n != int64(int32(n)) {
		return nil, fail("the value does not fit 32 bits; use longValue()")
	}
	return v, nil
}

// hashCode is that of Java's String, Long and BigInteger.
func hashCode(params ...any) (any, error) {
	switch v := params[0].(type) {
	case int64:
		return int64(HashLong(v)), nil
	case *big.Int:
		return int64(HashBigInteger(v)), nil
	case string:
		return int64(HashText(v)), nil
	}
	return nil, fail("hashCode needs an integer or a text")
}

func toString(params ...any) (any, error) { return textOf(params[0]) }

// textOf returns a value as part of a name.
func textOf(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case *big.Int:
		return v.String(), nil
	case fraction:
		return "", failFraction("a fraction cannot be part of a name; use intdiv instead of /")
	}
	return "", fail("true or false cannot be part of a name")
}

func length(params ...any) (any, error) {
	s, err := textOf(params[0])
	return int64(len(units(s))), err
}

// substring counts UTF-16 units from 0, as Java does.
func substring(params ...any) (any, error) {
	s, err := textOf(params[0])
	if err != nil {
		return nil, err
	}
	u := units(s)
	from, err := position(params[1], len(u))
	if err != nil {
		return nil, err
	}
	to := len(u)
	if len(params) > 2 {
		if to, err = position(params[2], len(u)); err != nil {
			return nil, err
		}
	}
	if from > to {
		return nil, fail("substring ends before it starts")
	}
	if half(u, from) || half(u, to) {
		return nil, fail("substring would cut a character in two")
	}
	return text(u[from:to]), nil
}

func position(v any, end int) (int, error) {
	n, ok := v.(int64)
	if !ok || n < 0 || n > int64(end) {
		return 0, fail("substring reaches outside the text")
	}
	return int(n), nil
}

// padLeft fills up with zeros or whatever is given, spaces by default.
func padLeft(params ...any) (any, error) {
	s, err := textOf(params[0])
	if err != nil {
		return nil, err
	}
	width, ok := params[1].(int64)
	if !ok || width > maxPadding {
		return nil, fail("padLeft needs a width of at most " + strconv.Itoa(maxPadding))
	}
	padding := " "
	if len(params) > 2 {
		if padding, err = textOf(params[2]); err != nil {
			return nil, err
		}
	}
	missing := int(width) - len(units(s))
	if missing <= 0 {
		return s, nil
	}
	fill := units(padding)
	if len(fill) == 0 {
		return nil, fail("padLeft needs something to pad with")
	}
	if half(fill, missing%len(fill)) {
		return nil, fail("padLeft would cut a character in two")
	}
	return strings.Repeat(padding, missing/len(fill)) + text(fill[:missing%len(fill)]) + s, nil
}

// equal compares two integers or two texts.
func equal(params ...any) (any, error) {
	a, text1 := params[0].(string)
	b, text2 := params[1].(string)
	if text1 && text2 {
		return a == b, nil
	}
	order, err := compare("==", params)
	return order == 0, err
}

func compare(operation string, params []any) (int, error) {
	a, b, err := numbers(operation, params)
	if err != nil {
		return 0, err
	}
	return grow(a).Cmp(grow(b)), nil
}

// units returns the UTF-16 code units of s, in which Java counts.
func units(s string) []uint16 { return utf16.Encode([]rune(s)) }

func text(u []uint16) string { return string(utf16.Decode(u)) }

// half reports whether position i lies between the two units of one character.
func half(u []uint16, i int) bool {
	return i > 0 && i < len(u) && utf16.IsSurrogate(rune(u[i])) && u[i] >= 0xDC00
}
