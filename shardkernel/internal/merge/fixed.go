package merge

import (
	"math"

	"github.com/shopspring/decimal"
)

// fixed is a sum of DECIMALs of one scale in 64 bits, which is what nearly all
// are: adding to it allocates nothing.
type fixed struct {
	used  bool
	scale int32
	total int64 // in units of the last digit
}

// fixedDigits fit into an int64, whatever they are.
const fixedDigits = 18

// add adds a number such as "-12.50". It reports false, and adds nothing, when
// that does not fit.
func (f *fixed) add(text []byte) bool {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	var v int64
	digits, scale, point := 0, int32(0), false
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			v = v*10 + int64(c-'0')
			if digits++; digits > fixedDigits {
				return false
			}
			if point {
				scale++
			}
		case c == '.' && !point:
			point = true
		default:
			return false
		}
	}
	if digits == 0 || f.used && scale != f.scale {
		return false
	}
	if negative {
		v = -v
	}
	if v > 0 && f.total > math.MaxInt64-v || v < 0 && f.total < math.MinInt64-v {
		return false
	}
	f.used, f.scale, f.total = true, scale, f.total+v
	return true
}

// take returns the sum as a decimal of its scale, and begins a new one.
func (f *fixed) take() decimal.Decimal {
	d := decimal.New(f.total, -f.scale)
	*f = fixed{}
	return d
}
