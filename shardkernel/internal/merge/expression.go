package merge

import (
	"database/sql/driver"
	"fmt"
	"math"
	"math/big"

	"github.com/shopspring/decimal"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// expression is an expression over the columns of a row, with the type that the
// servers give it. It is evaluated by their rules: MySQL manual, 12.24.3
// Expression Handling and 14.3 Type Conversion in Expression Evaluation.
type expression struct {
	op    plan.Op
	kids  []*expression
	typ   numberType
	scale int    // decimals of typ, shown ones; a quotient has more
	index int    // OpColumn
	value scalar // OpConstant
	// increment is div_precision_increment.
	increment int
	// mayRound is plan.Expr.Rounded; rounds says that this one does.
	mayRound, rounds bool
}

// numberType is the type of a number. A greater one wins where two meet.
type numberType uint8

const (
	typeNull numberType = iota
	typeInt
	typeUint
	typeDecimal
	typeDouble
)

const clauseExpression = "an expression over aggregates"

func newExpression(h *header, e *plan.Expr) (*expression, error) {
	x := &expression{op: e.Op, increment: e.DivPrecision, mayRound: e.Rounded}
	for _, kid := range e.Kids {
		k, err := newExpression(h, kid)
		if err != nil {
			return nil, err
		}
		x.kids = append(x.kids, k)
	}
	switch e.Op {
	case plan.OpColumn:
		var err error
		if x.index, err = h.resolve(e.Column, clauseExpression); err != nil {
			return nil, err
		}
		x.typ, x.scale, err = typeOfColumn(h, x.index)
		return x, err
	case plan.OpConstant:
		var err error
		x.value, err = constant(e.Const)
		x.typ = x.value.typ
		if x.typ == typeDecimal {
			x.scale = max(0, int(-x.value.decimal.Exponent()))
		}
		return x, err
	}
	x.typ = x.resultType()
	if x.typ == typeDecimal {
		x.scale = min(x.resultScale(), maxFractionDigits)
	}
	return x, nil
}

// numberTypes are the types of numbers by the names that drivers give them.
var numberTypes = map[string]numberType{
	"TINYINT": typeInt, "SMALLINT": typeInt, "MEDIUMINT": typeInt, "INT": typeInt, "BIGINT": typeInt, "YEAR": typeInt,
	"UNSIGNED TINYINT": typeUint, "UNSIGNED SMALLINT": typeUint, "UNSIGNED MEDIUMINT": typeUint, "UNSIGNED INT": typeUint, "UNSIGNED BIGINT": typeUint,
	"DECIMAL": typeDecimal, "FLOAT": typeDouble, "DOUBLE": typeDouble, "NULL": typeNull,
}

func typeOfColumn(h *header, index int) (t numberType, scale int, err error) {
	c := &h.columns[index]
	t, ok := numberTypes[c.typeName]
	if !ok {
		return 0, 0, fault.Unsupported(clauseExpression, fmt.Sprintf("column %q is a %s, and only numbers are calculated with over several nodes", h.name(index), c.typeName),
			"add a condition on the sharding column that leads to one node")
	}
	if t == typeDecimal {
		if !c.hasScale {
			return 0, 0, fault.Unsupported(clauseExpression, fmt.Sprintf("the driver does not say how many decimals column %q has", h.name(index)),
				"add a condition on the sharding column that leads to one node")
		}
		scale = int(c.scale)
	}
	return t, scale, nil
}

func constant(v any) (scalar, error) {
	switch v := v.(type) {
	case nil:
		return scalar{}, nil
	case int64:
		return scalar{typ: typeInt, integer: v}, nil
	case uint64:
		if v <= math.MaxInt64 {
			return scalar{typ: typeInt, integer: int64(v)}, nil
		}
		return scalar{typ: typeUint, integer: int64(v)}, nil
	case float64:
		return scalar{typ: typeDouble, float: v}, nil
	case plan.Decimal:
		d, err := decimal.NewFromString(string(v))
		return scalar{typ: typeDecimal, decimal: d}, err
	}
	return scalar{}, fmt.Errorf("sharding: merge: a constant of type %T in an expression", v)
}

// resultType is the type of what an operation gives.
func (x *expression) resultType() numberType {
	widest := func(kids []*expression) (t numberType) {
		for _, k := range kids {
			if t == typeInt && k.typ == typeUint || t == typeUint && k.typ == typeInt {
				return mixedIntegers(kids)
			}
			t = max(t, k.typ)
		}
		return t
	}
	switch x.op {
	case plan.OpAdd, plan.OpSubtract, plan.OpMultiply, plan.OpModulo:
		t := max(x.kids[0].typ, x.kids[1].typ)
		if x.op == plan.OpModulo && t <= typeUint { // the sign is that of the left side
			return x.kids[0].typ
		}
		return t
	case plan.OpDivide:
		if t := max(x.kids[0].typ, x.kids[1].typ); t == typeDouble {
			return typeDouble
		}
		return typeDecimal
	case plan.OpIntDivide:
		if x.kids[0].typ == typeUint || x.kids[1].typ == typeUint {
			return typeUint
		}
		return typeInt
	case plan.OpNegate:
		if x.kids[0].typ == typeUint {
			return typeInt
		}
		return x.kids[0].typ
	case plan.OpCoalesce:
		return widest(x.kids)
	case plan.OpNullIf, plan.OpRound, plan.OpTruncate, plan.OpFloor, plan.OpCeiling, plan.OpAbs:
		return x.kids[0].typ
	case plan.OpCase:
		return widest(x.caseValues())
	}
	return typeInt // a truth value
}

// resultScale is the number of decimals that the servers show of a DECIMAL.
func (x *expression) resultScale() int {
	widest := func(kids []*expression) (scale int) {
		for _, k := range kids {
			scale = max(scale, k.scale)
		}
		return scale
	}
	switch x.op {
	case plan.OpAdd, plan.OpSubtract, plan.OpModulo, plan.OpCoalesce:
		return widest(x.kids)
	case plan.OpCase:
		return widest(x.caseValues())
	case plan.OpMultiply:
		return x.kids[0].scale + x.kids[1].scale
	case plan.OpDivide:
		return x.kids[0].scale + x.increment
	case plan.OpNegate, plan.OpAbs, plan.OpNullIf:
		return x.kids[0].scale
	case plan.OpRound, plan.OpTruncate:
		if len(x.kids) > 1 {
			return int(min(max(x.kids[1].value.integer, 0), maxFractionDigits))
		}
	}
	return 0
}

// caseValues are the operands of CASE that it may give.
func (x *expression) caseValues() []*expression {
	var values []*expression
	for i := 1; i < len(x.kids); i += 2 {
		values = append(values, x.kids[i])
	}
	if len(x.kids)%2 == 1 {
		values = append(values, x.kids[len(x.kids)-1])
	}
	return values
}

// mixedIntegers is the type of one of several integers, some of them signed and
// some not: a DECIMAL, as no integer type holds both.
func mixedIntegers(kids []*expression) numberType {
	for _, k := range kids {
		if k.typ == typeDouble {
			return typeDouble
		}
	}
	return typeDecimal
}

// eval evaluates the expression over a row.
func (x *expression) eval(row []driver.Value) (scalar, error) {
	switch x.op {
	case plan.OpColumn:
		return readScalar(row[x.index], x.typ)
	case plan.OpConstant:
		return x.value, nil
	case plan.OpAnd, plan.OpOr, plan.OpXor, plan.OpNot, plan.OpIsTrue, plan.OpIsFalse, plan.OpIsNull:
		return x.truth(row)
	case plan.OpCase:
		return x.caseOf(row)
	case plan.OpCoalesce:
		for _, k := range x.kids {
			if v, err := k.eval(row); err != nil || !v.null() {
				return v.as(x.typ), err
			}
		}
		return scalar{}, nil
	}
	values := make([]scalar, len(x.kids))
	for i, k := range x.kids {
		v, err := k.eval(row)
		if err != nil {
			return scalar{}, err
		}
		values[i] = v
	}
	switch x.op {
	case plan.OpEqual, plan.OpNullEqual, plan.OpNotEqual, plan.OpLess, plan.OpLessEqual, plan.OpGreater, plan.OpGreaterEqual,
		plan.OpBetween, plan.OpIn:
		return x.predicate(values), nil
	case plan.OpNullIf:
		if !values[0].null() && !values[1].null() && x.compare(values) == 0 {
			return scalar{}, nil
		}
		return values[0], nil
	}
	for _, v := range values {
		if v.null() {
			return scalar{}, nil
		}
	}
	switch x.op {
	case plan.OpRound, plan.OpTruncate, plan.OpFloor, plan.OpCeiling, plan.OpAbs, plan.OpNegate:
		return x.rounded(values)
	}
	return x.arithmetic(values[0], values[1])
}

func (x *expression) caseOf(row []driver.Value) (scalar, error) {
	i := 0
	for ; i+1 < len(x.kids); i += 2 {
		when, err := x.kids[i].eval(row)
		if err != nil {
			return scalar{}, err
		}
		if when.isTrue() {
			v, err := x.kids[i+1].eval(row)
			return v.as(x.typ), err
		}
	}
	if i == len(x.kids) {
		return scalar{}, nil
	}
	v, err := x.kids[i].eval(row)
	return v.as(x.typ), err
}

// truth evaluates what takes truth values, by three-valued logic.
func (x *expression) truth(row []driver.Value) (scalar, error) {
	a, err := x.kids[0].eval(row)
	if err != nil {
		return scalar{}, err
	}
	switch x.op {
	case plan.OpIsNull:
		return boolean(a.null()), nil
	case plan.OpIsTrue:
		return boolean(a.isTrue()), nil
	case plan.OpIsFalse:
		return boolean(!a.null() && !a.isTrue()), nil
	case plan.OpNot:
		if a.null() {
			return a, nil
		}
		return boolean(!a.isTrue()), nil
	}
	decided := x.op == plan.OpOr // the value that decides alone
	if x.op != plan.OpXor && !a.null() && a.isTrue() == decided {
		return boolean(decided), nil
	}
	b, err := x.kids[1].eval(row)
	if err != nil {
		return scalar{}, err
	}
	switch {
	case x.op != plan.OpXor && !b.null() && b.isTrue() == decided:
		return boolean(decided), nil
	case a.null() || b.null():
		return scalar{}, nil
	case x.op == plan.OpXor:
		return boolean(a.isTrue() != b.isTrue()), nil
	}
	return boolean(!decided), nil
}

func (x *expression) predicate(v []scalar) scalar {
	switch x.op {
	case plan.OpNullEqual:
		if v[0].null() || v[1].null() {
			return boolean(v[0].null() && v[1].null())
		}
		return boolean(x.compare(v) == 0)
	case plan.OpIn:
		unknown := v[0].null()
		for _, candidate := range v[1:] {
			switch {
			case candidate.null():
				unknown = true
			case !v[0].null() && compareScalars(v[0], candidate) == 0:
				return boolean(true)
			}
		}
		if unknown {
			return scalar{}
		}
		return boolean(false)
	case plan.OpBetween:
		return between(v[0], v[1], v[2])
	}
	if v[0].null() || v[1].null() {
		return scalar{}
	}
	c := x.compare(v)
	switch x.op {
	case plan.OpEqual:
		return boolean(c == 0)
	case plan.OpNotEqual:
		return boolean(c != 0)
	case plan.OpLess:
		return boolean(c < 0)
	case plan.OpLessEqual:
		return boolean(c <= 0)
	case plan.OpGreater:
		return boolean(c > 0)
	}
	return boolean(c >= 0)
}

// compare compares two operands that are not NULL. The servers round each to the
// decimals that it shows, unless they compare floating point numbers; a list of
// several elements, BETWEEN and CASE compare all digits. Measured on MariaDB 10.11.
func (x *expression) compare(v []scalar) int {
	a, b := v[0], v[1]
	if a.typ != typeDouble && b.typ != typeDouble {
		a, b = a.toScale(x.kids[0].scale), b.toScale(x.kids[1].scale)
	}
	return compareScalars(a, b)
}

// between compares all three in one type: as doubles if one of them is.
func between(v, low, high scalar) scalar {
	if v.null() {
		return scalar{}
	}
	if v.typ == typeDouble || low.typ == typeDouble || high.typ == typeDouble {
		v, low, high = v.as(typeDouble), low.as(typeDouble), high.as(typeDouble)
	}
	below := !low.null() && compareScalars(v, low) < 0
	above := !high.null() && compareScalars(v, high) > 0
	switch {
	case below || above:
		return boolean(false)
	case low.null() || high.null():
		return scalar{}
	}
	return boolean(true)
}

func (x *expression) arithmetic(a, b scalar) (scalar, error) {
	switch x.op {
	case plan.OpIntDivide:
		return intDivide(a, b, x.typ)
	case plan.OpDivide, plan.OpModulo:
		if b.sign() == 0 {
			return scalar{}, nil
		}
	}
	switch x.typ {
	case typeDouble:
		f, g := a.as(typeDouble).float, b.as(typeDouble).float
		switch x.op {
		case plan.OpAdd:
			f += g
		case plan.OpSubtract:
			f -= g
		case plan.OpMultiply:
			f *= g
		case plan.OpDivide:
			f /= g
		case plan.OpModulo:
			f = math.Mod(f, g)
		}
		if math.IsInf(f, 0) || math.IsNaN(f) {
			return scalar{}, outOfRange("DOUBLE")
		}
		return scalar{typ: typeDouble, float: f}, nil
	case typeDecimal:
		d, e := a.as(typeDecimal).decimal, b.as(typeDecimal).decimal
		switch x.op {
		case plan.OpAdd:
			d = d.Add(e)
		case plan.OpSubtract:
			d = d.Sub(e)
		case plan.OpMultiply:
			d = d.Mul(e)
		case plan.OpDivide:
			d = quotient(d, e, x.increment)
			if x.rounds {
				d = d.Round(int32(x.scale))
			}
		case plan.OpModulo:
			d = d.Mod(e)
		}
		if d.NumDigits() > maxDecimalDigits || -d.Exponent() > maxFractionDigits {
			return scalar{}, tooManyDigits(clauseExpression)
		}
		return scalar{typ: typeDecimal, decimal: d}, nil
	}
	n, m := a.big(), b.big()
	switch x.op {
	case plan.OpAdd:
		n.Add(n, m)
	case plan.OpSubtract:
		n.Sub(n, m)
	case plan.OpMultiply:
		n.Mul(n, m)
	case plan.OpModulo:
		n.Rem(n, m)
	}
	return integerScalar(n, x.typ)
}

// quotient divides as the servers do: the digits behind the point are whole words
// of nine, cut and not rounded (decimal_div of the servers' strings/decimal.c).
func quotient(a, b decimal.Decimal, increment int) decimal.Decimal {
	fa, fb := max(0, int(-a.Exponent())), max(0, int(-b.Exponent()))
	wa, wb := words(fa)*wordDigits, words(fb)*wordDigits
	extra := max(0, increment-(wa-fa)-(wb-fb))
	return cutQuotient(a, b, words(wa+wb+extra))
}

// intDivide is DIV: of decimals and floats too, the whole part of the quotient.
func intDivide(a, b scalar, typ numberType) (scalar, error) {
	if b.sign() == 0 {
		return scalar{}, nil
	}
	if a.typ == typeDouble || b.typ == typeDouble {
		return scalar{}, fault.Unsupported("DIV", "its operands are floating point numbers", "use FLOOR(a / b)")
	}
	d, e := a.as(typeDecimal).decimal, b.as(typeDecimal).decimal
	whole := new(big.Rat).Quo(d.Rat(), e.Rat())
	return integerScalar(new(big.Int).Quo(whole.Num(), whole.Denom()), typ)
}

func integerScalar(n *big.Int, typ numberType) (scalar, error) {
	if typ == typeUint {
		if !n.IsUint64() {
			return scalar{}, outOfRange("BIGINT UNSIGNED")
		}
		return scalar{typ: typeUint, integer: int64(n.Uint64())}, nil
	}
	if !n.IsInt64() {
		return scalar{}, outOfRange("BIGINT")
	}
	return scalar{typ: typeInt, integer: n.Int64()}, nil
}

func outOfRange(typ string) error {
	return fault.Unsupported(clauseExpression, "its value is out of the range of "+typ, "")
}
