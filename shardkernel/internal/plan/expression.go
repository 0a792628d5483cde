package plan

// Op is an operation of an expression over aggregates.
type Op uint8

// The operations. Operands are numbers or NULL; what compares gives 1, 0 or NULL.
const (
	OpNone     Op = iota // not understood
	OpColumn             // a column of the merged rows
	OpConstant           // Const
	OpAdd
	OpSubtract
	OpMultiply
	OpDivide
	OpIntDivide
	OpModulo
	OpNegate
	OpEqual
	OpNullEqual // <=>
	OpNotEqual
	OpLess
	OpLessEqual
	OpGreater
	OpGreaterEqual
	OpAnd
	OpOr
	OpXor
	OpNot
	OpIsNull
	OpIsTrue
	OpIsFalse
	OpBetween  // the first operand between the two others
	OpIn       // the first among the others, compared in all its digits
	OpCoalesce // also IFNULL
	OpNullIf
	OpCase  // condition, value, condition, value, …, and the value of ELSE if their number is odd
	OpRound // to the digits of the second operand, a constant; without one to an integer
	OpTruncate
	OpFloor
	OpCeiling
	OpAbs
)

// Expr is an expression that is evaluated over the columns of a merged row.
type Expr struct {
	Op     Op
	Kids   []*Expr
	Column ColumnRef // OpColumn
	// Const is nil, int64, uint64, float64 or Decimal.
	Const any // OpConstant
	// DivPrecision is the server's div_precision_increment, for OpDivide.
	DivPrecision int
	// Rounded is true for an average, an OpDivide, that servers may have rounded to
	// the digits they show before they calculate with it, by their plan of
	// execution: a result that depends on it fails with ErrUnsupported.
	Rounded bool
}

// Decimal is a decimal number as text, such as 1.50.
type Decimal string

// Computed is a column whose value is computed from others after the merge of
// aggregates.
type Computed struct {
	Column ColumnRef
	Expr   *Expr
}
