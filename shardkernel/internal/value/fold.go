package value

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

const (
	// maxFoldedDigits is the most digits a folded DECIMAL may have. Servers keep
	// 65 and round what is longer.
	maxFoldedDigits = 60
	// maxFoldedScale is the most decimals that every server keeps of a product.
	maxFoldedScale = 30
)

// Fold computes an operation on constants as the server does: op is one of
// "+ - * DIV % & | ^ << >>" with two arguments, or of "neg ~ signed unsigned"
// with one. Arguments are as for Converter.Compare. ok is false where the result
// depends on the server's settings or on how the driver sends an argument, and
// where the server would report an error.
//
// The result is nil, an int64, a uint64 or a Decimal.
func Fold(op string, args ...any) (result any, ok bool) {
	var operands [2]operand
	if len(args) == 0 || len(args) > len(operands) {
		return nil, false
	}
	null := false
	for i, arg := range args {
		operands[i] = read(arg)
		null = null || operands[i].form == formNull
	}
	if null {
		return nil, true
	}
	if len(args) == 1 {
		return foldOne(op, operands[0])
	}
	a, okA := exactOf(operands[0])
	b, okB := exactOf(operands[1])
	if !okA || !okB {
		return nil, false
	}
	switch op {
	case "+", "-", "*":
		return foldNumbers(op, a, b)
	case "DIV", "%":
		return foldDivision(op, a, b)
	}
	return foldBits(op, a, b)
}

// exact is an exact number: unscaled / 10^scale.
type exact struct {
	unscaled *big.Int
	scale    int
	decimal  bool // a DECIMAL, also where it has no decimals
}

// exactOf takes integers and decimal literals. Texts and floating point numbers
// are calculated with as DOUBLE.
func exactOf(o operand) (exact, bool) {
	switch o.form {
	case formInt:
		return exact{unscaled: big.NewInt(o.int)}, true
	case formUint:
		return exact{unscaled: new(big.Int).SetUint64(o.uint)}, true
	case formDecimal:
		whole, fraction, _ := strings.Cut(o.text, ".")
		if len(whole)+len(fraction) > maxFoldedDigits {
			return exact{}, false
		}
		if _, ok := parseNumber(o.text); !ok {
			return exact{}, false
		}
		n, ok := new(big.Int).SetString(strings.TrimPrefix(whole, "+")+fraction, 10)
		return exact{unscaled: n, scale: len(fraction), decimal: true}, ok
	}
	return exact{}, false
}

// integer returns an integer's value as the server's BIGINT; ok is false for a
// DECIMAL and for what BIGINT UNSIGNED alone can hold.
func (x exact) integer() (int64, bool) {
	return x.unscaled.Int64(), !x.decimal && x.unscaled.IsInt64()
}

// result returns a number in the form that other parts of the package know. An
// integer must fit the type that the server calculates in: BIGINT UNSIGNED only
// where an operand is so large that it has that type however it is sent.
func (x exact) result(unsigned bool) (any, bool) {
	switch {
	case !x.decimal && x.unscaled.IsInt64():
		return x.unscaled.Int64(), true
	case !x.decimal:
		return x.unscaled.Uint64(), unsigned && x.unscaled.IsUint64()
	}
	digits := new(big.Int).Abs(x.unscaled).String()
	if len(digits) <= x.scale {
		digits = strings.Repeat("0", x.scale-len(digits)+1) + digits
	}
	if len(digits) > maxFoldedDigits || x.scale > maxFoldedScale {
		return nil, false
	}
	text := digits
	if x.scale > 0 {
		text = digits[:len(digits)-x.scale] + "." + digits[len(digits)-x.scale:]
	}
	if x.unscaled.Sign() < 0 {
		text = "-" + text
	}
	return Decimal(text), true
}

func foldNumbers(op string, a, b exact) (any, bool) {
	unsigned := !a.decimal && !a.unscaled.IsInt64() || !b.decimal && !b.unscaled.IsInt64()
	out := exact{unscaled: new(big.Int), decimal: a.decimal || b.decimal}
	if op == "*" {
		out.unscaled.Mul(a.unscaled, b.unscaled)
		out.scale = a.scale + b.scale
		return out.result(unsigned)
	}
	out.scale = max(a.scale, b.scale)
	left, right := a.scaled(out.scale), b.scaled(out.scale)
	if op == "+" {
		out.unscaled.Add(left, right)
	} else {
		out.unscaled.Sub(left, right)
	}
	return out.result(unsigned)
}

// scaled returns the unscaled number for a scale that is not smaller.
func (x exact) scaled(scale int) *big.Int {
	factor := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale-x.scale)), nil)
	return factor.Mul(factor, x.unscaled)
}

// foldDivision computes a DIV b and a % b, which truncate. A quotient by / hides
// digits, and division by zero is NULL or an error as sql_mode says.
func foldDivision(op string, a, b exact) (any, bool) {
	m, okA := a.integer()
	n, okB := b.integer()
	if !okA || !okB || n == 0 || m == math.MinInt64 {
		return nil, false
	}
	if op == "DIV" {
		return m / n, true
	}
	return m % n, true
}

// foldBits computes in BIGINT UNSIGNED.
func foldBits(op string, a, b exact) (any, bool) {
	m, okA := a.integer()
	n, okB := b.integer()
	if !okA || !okB || m < 0 || n < 0 {
		return nil, false
	}
	x, y := uint64(m), uint64(n)
	switch op {
	case "&":
		return x & y, true
	case "|":
		return x | y, true
	case "^":
		return x ^ y, true
	case "<<":
		return x << y, true
	case ">>":
		return x >> y, true
	}
	return nil, false
}

func foldOne(op string, o operand) (any, bool) {
	switch op {
	case "signed", "unsigned":
		n, ok := foldCast(o)
		return n, ok && (op == "signed" || n >= 0)
	}
	x, ok := exactOf(o)
	if !ok {
		return nil, false
	}
	switch op {
	case "neg":
		if n, isInt := x.integer(); !x.decimal && (!isInt || n == math.MinInt64) {
			return nil, false // the server makes a DECIMAL of it, or an error
		}
		x.unscaled = new(big.Int).Neg(x.unscaled)
		return x.result(false)
	case "~":
		n, isInt := x.integer()
		return ^uint64(n), isInt && n >= 0
	}
	return nil, false
}

// foldCast is CAST of an integer, or of a text that spells one, to an integer.
func foldCast(o operand) (int64, bool) {
	switch o.form {
	case formInt:
		return o.int, true
	case formText:
		if !digits(strings.TrimPrefix(o.text, "-")) {
			return 0, false
		}
		n, err := strconv.ParseInt(o.text, 10, 64)
		return n, err == nil
	}
	return 0, false
}
