package merge

import (
	"cmp"
	"database/sql/driver"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/shopspring/decimal"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// scalar is a number of an SQL type. The zero value is NULL.
type scalar struct {
	typ     numberType
	integer int64 // typeInt; of typeUint the bits
	decimal decimal.Decimal
	float   float64
}

func (s scalar) null() bool { return s.typ == typeNull }

func boolean(b bool) scalar {
	if b {
		return scalar{typ: typeInt, integer: 1}
	}
	return scalar{typ: typeInt}
}

func (s scalar) isTrue() bool { return !s.null() && s.sign() != 0 }

func (s scalar) sign() int {
	switch s.typ {
	case typeInt:
		return cmp.Compare(s.integer, 0)
	case typeUint:
		return cmp.Compare(uint64(s.integer), 0)
	case typeDecimal:
		return s.decimal.Sign()
	}
	return cmp.Compare(s.float, 0)
}

// big returns the value of an integer.
func (s scalar) big() *big.Int {
	if s.typ == typeUint {
		return new(big.Int).SetUint64(uint64(s.integer))
	}
	return big.NewInt(s.integer)
}

// as converts a number to a type that holds it, as the servers do where types
// meet. NULL and a wider number stay what they are.
func (s scalar) as(typ numberType) scalar {
	if s.null() || s.typ >= typ {
		return s
	}
	switch typ {
	case typeDecimal:
		return scalar{typ: typ, decimal: decimal.NewFromBigInt(s.big(), 0)}
	case typeDouble:
		f := scalar{typ: typ}
		switch s.typ {
		case typeInt:
			f.float = float64(s.integer)
		case typeUint:
			f.float = float64(uint64(s.integer))
		default:
			f.float, _ = strconv.ParseFloat(s.decimal.String(), 64)
		}
		return f
	}
	return s
}

// toScale rounds a decimal number that has more decimals.
func (s scalar) toScale(scale int) scalar {
	if s.typ == typeDecimal && int(-s.decimal.Exponent()) > scale {
		s.decimal = s.decimal.Round(int32(scale))
	}
	return s
}

// compareScalars compares numbers that are not NULL: as doubles if one is, else
// exactly.
func compareScalars(a, b scalar) int {
	if a.typ == typeDouble || b.typ == typeDouble {
		return cmp.Compare(a.as(typeDouble).float, b.as(typeDouble).float)
	}
	return a.as(typeDecimal).decimal.Cmp(b.as(typeDecimal).decimal)
}

// readScalar reads a number of a row.
func readScalar(v driver.Value, typ numberType) (scalar, error) {
	switch v := v.(type) {
	case nil:
		return scalar{}, nil
	case int64:
		if typ == typeUint {
			return scalar{typ: typeUint, integer: v}, nil
		}
		return scalar{typ: typeInt, integer: v}, nil
	case uint64:
		return scalar{typ: typeUint, integer: int64(v)}, nil
	case float32:
		return scalar{typ: typeDouble, float: float64(v)}, nil
	case float64:
		return scalar{typ: typeDouble, float: v}, nil
	case []byte:
		return parseScalar(string(v), typ)
	case string:
		return parseScalar(v, typ)
	}
	return scalar{}, fault.Unsupported(clauseExpression, fmt.Sprintf("the driver returned a number as %T", v), "")
}

func parseScalar(text string, typ numberType) (scalar, error) {
	var err error
	s := scalar{typ: typ}
	switch typ {
	case typeInt:
		s.integer, err = strconv.ParseInt(text, 10, 64)
	case typeUint:
		var u uint64
		u, err = strconv.ParseUint(text, 10, 64)
		s.integer = int64(u)
	case typeDouble:
		s.float, err = strconv.ParseFloat(text, 64)
	default:
		s.typ = typeDecimal
		s.decimal, err = decimal.NewFromString(text)
	}
	if err != nil {
		return scalar{}, fault.Unsupported(clauseExpression, "a unit returned a number that is none", "")
	}
	return s, nil
}

// rounded evaluates the operations of one operand, and those that round it to the
// digits of a second.
func (x *expression) rounded(v []scalar) (scalar, error) {
	s := v[0]
	digits := int64(0)
	if len(v) > 1 {
		digits = min(max(v[1].integer, -maxDecimalDigits), maxFractionDigits)
	}
	switch s.typ {
	case typeDecimal:
		s.decimal = roundDecimal(x.op, s.decimal, int32(digits))
		return s, nil
	case typeDouble:
		s.float = roundDouble(x.op, s.float, int(digits))
		return s, nil
	}
	switch x.op {
	case plan.OpNegate:
		n := s.big()
		return integerScalar(n.Neg(n), x.typ)
	case plan.OpAbs:
		n := s.big()
		return integerScalar(n.Abs(n), s.typ)
	case plan.OpRound, plan.OpTruncate:
		if digits < 0 {
			d := roundDecimal(x.op, s.as(typeDecimal).decimal, int32(digits))
			return integerScalar(d.BigInt(), s.typ)
		}
	}
	return s, nil
}

func roundDecimal(op plan.Op, d decimal.Decimal, digits int32) decimal.Decimal {
	switch op {
	case plan.OpNegate:
		return d.Neg()
	case plan.OpAbs:
		return d.Abs()
	case plan.OpFloor:
		return d.Floor()
	case plan.OpCeiling:
		return d.Ceil()
	case plan.OpTruncate:
		if digits >= 0 {
			return d.Truncate(digits)
		}
		return d.Shift(digits).Truncate(0).Shift(-digits)
	}
	if -d.Exponent() <= digits { // adds no zeros
		return d
	}
	return d.Round(digits) // half away from zero
}

// roundDouble rounds as the servers' my_double_round does.
func roundDouble(op plan.Op, f float64, digits int) float64 {
	switch op {
	case plan.OpNegate:
		return -f
	case plan.OpAbs:
		return math.Abs(f)
	case plan.OpFloor:
		return math.Floor(f)
	case plan.OpCeiling:
		return math.Ceil(f)
	}
	whole := math.RoundToEven
	if op == plan.OpTruncate {
		whole = math.Trunc
	}
	power := math.Pow10(max(digits, -digits))
	scaled := f * power
	switch {
	case digits < 0:
		return whole(f/power) * power
	case math.IsInf(scaled, 0):
		return f
	}
	return whole(scaled) / power
}

// shown returns the value as a driver gives one of a column.
func (s scalar) shown(c *column, name string) (driver.Value, error) {
	if s.null() {
		return nil, nil
	}
	switch t := numberTypes[c.typeName]; t {
	case typeDecimal:
		if !c.hasScale || s.typ == typeDouble {
			break
		}
		d := s.as(typeDecimal).decimal.Round(int32(c.scale))
		if d.NumDigits() > maxDecimalDigits {
			return nil, tooManyDigits(clauseExpression)
		}
		return []byte(d.StringFixed(int32(c.scale))), nil
	case typeDouble:
		return s.as(typeDouble).float, nil
	case typeInt, typeUint:
		if s.typ == typeDecimal && s.decimal.IsInteger() {
			i, err := integerScalar(s.decimal.BigInt(), t)
			if err != nil {
				return nil, err
			}
			s = i
		}
		if s.typ == typeUint && uint64(s.integer) > math.MaxInt64 {
			return uint64(s.integer), nil
		}
		if s.typ <= typeUint {
			return s.integer, nil
		}
	}
	return nil, fault.Unsupported(clauseExpression, fmt.Sprintf("column %q is a %s to the servers, which its value does not fit", name, c.typeName), "")
}
