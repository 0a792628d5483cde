package merge

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/shopspring/decimal"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// fold combines one aggregate over the rows of a group.
type fold interface {
	// add takes in the row of a unit. kept is the row of the group.
	add(kept, row []driver.Value, memory *account) error
	// finish writes the result into the row of the group.
	finish(kept []driver.Value) error
}

type newFold func() fold

// resolveAggregate returns what makes the fold of an aggregate for each group.
func resolveAggregate(h *header, item plan.Aggregate) (newFold, error) {
	plain, err := resolvePlain(h, item)
	if err != nil || len(item.Distinct) == 0 {
		return plain, err
	}
	keys, err := newKeySet(h, item.Distinct, clauseDistinct)
	if item.Adjacent {
		return func() fold { return &adjacentFold{fold: plain(), keys: &keys} }, err
	}
	return func() fold { return &distinctFold{fold: plain(), keys: &keys, seen: map[string]struct{}{}} }, err
}

// resolvePlain is resolveAggregate without regard to DISTINCT.
func resolvePlain(h *header, item plan.Aggregate) (newFold, error) {
	clause := [...]string{
		plan.AggregateCount: "COUNT", plan.AggregateSum: "SUM", plan.AggregateMin: "MIN",
		plan.AggregateMax: "MAX", plan.AggregateAvg: "AVG",
		plan.AggregateBitAnd: "BIT_AND", plan.AggregateBitOr: "BIT_OR", plan.AggregateBitXor: "BIT_XOR",
	}
	if int(item.Func) >= len(clause) {
		return nil, fmt.Errorf("sharding: merge: unknown aggregate function %d", item.Func)
	}
	name := clause[item.Func]
	index, err := h.resolve(item.Column, name)
	if err != nil {
		return nil, err
	}
	switch item.Func {
	case plan.AggregateCount:
		return func() fold { return &countFold{index: index} }, nil
	case plan.AggregateSum:
		return func() fold { return &sumFold{index: index, sum: sum{clause: name}} }, nil
	case plan.AggregateAvg:
		return resolveAverage(h, item, index)
	case plan.AggregateBitAnd, plan.AggregateBitOr, plan.AggregateBitXor:
		return newBitFold(h, index, item, name)
	}
	o, err := newOperand(h, item.Column, item.Text, name)
	if err != nil {
		return nil, err
	}
	return func() fold { return &extremeFold{operand: o, max: item.Func == plan.AggregateMax} }, nil
}

func resolveAverage(h *header, item plan.Aggregate, index int) (newFold, error) {
	count, err := h.resolve(item.Count, "AVG")
	if err != nil {
		return nil, err
	}
	total, err := h.resolve(item.Sum, "AVG")
	if err != nil {
		return nil, err
	}
	scale := -1
	if c := h.columns[index]; c.hasScale && c.scale <= maxDecimalDigits {
		scale = int(c.scale)
	}
	return func() fold {
		return &averageFold{
			index: index, scale: scale, increment: item.DivPrecision,
			count: countFold{index: count},
			sum:   sumFold{index: total, sum: sum{clause: "AVG"}},
		}
	}, nil
}

// countFold adds up counts.
type countFold struct {
	index int
	count int64
}

func (f *countFold) add(_, row []driver.Value, _ *account) error {
	switch v := row[f.index].(type) {
	case nil:
		return nil
	case int64:
		if v > math.MaxInt64-f.count {
			return errors.New("sharding: merge: COUNT is beyond 64 bits")
		}
		f.count += v
		return nil
	default:
		return fault.Unsupported("COUNT", fmt.Sprintf("the driver returned a count as %T", v), "")
	}
}

func (f *countFold) finish(kept []driver.Value) error {
	kept[f.index] = f.count
	return nil
}

// sumFold adds up sums.
type sumFold struct {
	index int
	sum   sum
}

func (f *sumFold) add(_, row []driver.Value, _ *account) error { return f.sum.add(row[f.index]) }

func (f *sumFold) finish(kept []driver.Value) error {
	v, err := f.sum.value()
	kept[f.index] = v
	return err
}

// sum is a sum in the types in which the units return theirs: DECIMAL as text,
// DOUBLE as float64, and SQLite's integers. The sum is of the same type, never
// of a less exact one (semantics row 14).
type sum struct {
	clause                     string
	integer                    int64
	overflow                   bool // of integer
	float                      float64
	decimal                    decimal.Decimal // beside what is in fixed
	fixed                      fixed
	integers, floats, decimals bool // what has been added
}

func (s *sum) add(v driver.Value) error {
	switch v := v.(type) {
	case nil:
		return nil
	case int64:
		s.integers = true
		t := s.integer + v
		if (t > s.integer) != (v > 0) && v != 0 {
			s.overflow = true
		}
		s.integer = t
		s.float += float64(v)
		return nil
	case float64:
		s.floats = true
		s.float += v
		return nil
	case []byte:
		if s.fixed.add(v) {
			s.decimals = true
			return nil
		}
		return s.addText(string(v))
	case string:
		return s.addText(v)
	}
	return fault.Unsupported(s.clause, fmt.Sprintf("the driver returned a sum as %T", v), "")
}

func (s *sum) addText(text string) error {
	d, err := decimal.NewFromString(text)
	if err != nil || d.Exponent() > 0 {
		return fault.Unsupported(s.clause, "a unit returned a sum that is no number", "")
	}
	s.decimals = true
	s.decimal = s.decimal.Add(d)
	return nil
}

// value returns the sum, nil over nothing.
func (s *sum) value() (driver.Value, error) {
	switch {
	case s.decimals:
		if s.integers || s.floats {
			return nil, fault.Unsupported(s.clause, "the units returned sums of different types", "")
		}
		if s.fixed.used {
			s.decimal = s.decimal.Add(s.fixed.take())
		}
		if s.decimal.NumDigits() > maxDecimalDigits {
			return nil, tooManyDigits(s.clause)
		}
		return []byte(s.decimal.StringFixed(-s.decimal.Exponent())), nil
	case s.floats:
		return s.float, nil
	case s.integers:
		if s.overflow {
			return nil, errors.New("sharding: merge: integer overflow in " + s.clause)
		}
		return s.integer, nil
	}
	return nil, nil
}

// averageFold divides the sum of the sums by the sum of the counts.
type averageFold struct {
	index     int
	scale     int // of the result as the driver reports it; -1 when it does not
	increment int // div_precision_increment
	count     countFold
	sum       sumFold
}

func (f *averageFold) add(kept, row []driver.Value, memory *account) error {
	if err := f.count.add(kept, row, memory); err != nil {
		return err
	}
	return f.sum.add(kept, row, memory)
}

func (f *averageFold) finish(kept []driver.Value) error {
	kept[f.index] = nil
	total, count := &f.sum.sum, f.count.count
	if count == 0 {
		return nil
	}
	if !total.decimals {
		// DOUBLE; and SQLite's AVG is a float even over integers.
		if total.integers || total.floats {
			kept[f.index] = total.float / float64(count)
		}
		return nil
	}
	if _, err := total.value(); err != nil {
		return err
	}
	scale := f.scale
	if scale < 0 {
		scale = min(int(-total.decimal.Exponent())+f.increment, maxFractionDigits)
	}
	quotient, err := divide(total.decimal, count, scale)
	if err != nil {
		return err
	}
	kept[f.index] = quotient
	return nil
}

const (
	maxDecimalDigits  = 65
	maxFractionDigits = 30 // what every server allows; MariaDB allows 38
	// The servers calculate in words of 9 decimal digits, and DECIMAL has 9 of
	// them.
	wordDigits = 9
	maxWords   = 9
)

// divide returns the DECIMAL text of sum / count as the servers calculate it:
// the quotient is cut at a whole number of words, then rounded half away from
// zero to its scale. So a scale that is a multiple of the word's digits is cut
// and not rounded: AVG over a DECIMAL(20,5) of 1, 2, 2 is 1.666666666. Measured
// on MariaDB 10.11.
func divide(sum decimal.Decimal, count int64, scale int) ([]byte, error) {
	fraction := words(scale)
	exact := cutQuotient(sum, decimal.NewFromInt(count), fraction)
	// The servers reserve a digit more than the quotient may need.
	whole := max(0, exact.NumDigits()-fraction*wordDigits) + 1
	if words(whole)+fraction > maxWords {
		return nil, tooManyDigits("AVG")
	}
	return []byte(exact.StringFixed(int32(scale))), nil
}

// cutQuotient divides and cuts the quotient behind a number of words of decimals.
func cutQuotient(a, b decimal.Decimal, fraction int) decimal.Decimal {
	digits := fraction * wordDigits
	numerator, denominator := a.Coefficient(), b.Coefficient()
	if shift := digits + int(a.Exponent()) - int(b.Exponent()); shift >= 0 {
		numerator.Mul(numerator, power10(shift))
	} else {
		denominator.Mul(denominator, power10(-shift))
	}
	return decimal.NewFromBigInt(numerator.Quo(numerator, denominator), int32(-digits))
}

// words returns the words that hold a number of digits.
func words(digits int) int { return (digits + wordDigits - 1) / wordDigits }

func power10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

func tooManyDigits(clause string) error {
	return &fault.UnsupportedError{
		Clause: clause, ByPlan: true,
		Reason: "the result has more than " + strconv.Itoa(maxDecimalDigits) + " digits, which the servers round differently",
		Remedy: "convert the argument to DOUBLE, or to a DECIMAL of a smaller scale",
	}
}

// extremeFold keeps the least or the greatest value. NULLs do not count.
type extremeFold struct {
	operand *operand
	max     bool
	best    cell
	rival   cell
}

// add copies the value of the winner as it is, and its weight, by which the
// groups may be sorted later.
func (f *extremeFold) add(kept, row []driver.Value, memory *account) error {
	if err := f.operand.load(&f.rival, row); err != nil {
		return err
	}
	if f.rival.class == classNull {
		return nil
	}
	if f.best.class != classNull {
		c := f.operand.compare(&f.rival, &f.best)
		if f.max && c <= 0 || !f.max && c >= 0 {
			return nil
		}
	}
	f.best, f.rival = f.rival, f.best
	for _, i := range [...]int{f.operand.index, f.operand.weight} {
		if i < 0 {
			continue
		}
		if err := memory.hold(0, sizeOf(row[i])-sizeOf(kept[i])); err != nil {
			return err
		}
		kept[i] = keep(row[i])
	}
	return nil
}

func (f *extremeFold) finish([]driver.Value) error { return nil }
