package merge

import (
	"database/sql/driver"
	"errors"
	"strings"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// Short ways to write expressions.
func field(i int) *plan.Expr { return &plan.Expr{Op: plan.OpColumn, Column: plan.ColumnRef{Index: i}} }
func num(v any) *plan.Expr   { return &plan.Expr{Op: plan.OpConstant, Const: v} }

func op(o plan.Op, kids ...*plan.Expr) *plan.Expr {
	return &plan.Expr{Op: o, Kids: kids, DivPrecision: 4}
}

// TestExpressionsFollowTheServers holds what MariaDB 10.11 answers to the same
// expressions over constants.
func TestExpressionsFollowTheServers(t *testing.T) {
	sum := func(text string) *plan.Expr { return num(plan.Decimal(text)) }
	for _, test := range []struct {
		name string
		typ  string // of the column that shows the result
		want driver.Value
		expr *plan.Expr
	}{
		{"a quotient shows four digits more", "DECIMAL 4", []byte("0.3333"), op(plan.OpDivide, num(int64(1)), num(int64(3)))},
		{"a quotient keeps hidden digits", "DECIMAL 4", []byte("1.0000"), op(plan.OpMultiply, op(plan.OpDivide, num(int64(1)), num(int64(3))), num(int64(3)))},
		{"a quotient is compared as it is shown", "INT", int64(1), op(plan.OpEqual, op(plan.OpDivide, num(int64(1)), num(int64(3))), sum("0.3333"))},
		{"and not in its hidden digits", "INT", int64(0), op(plan.OpLess, op(plan.OpDivide, num(int64(5)), num(int64(3))), sum("1.6667"))},
		{"NULLIF compares likewise", "DECIMAL 4", nil, op(plan.OpNullIf, op(plan.OpDivide, num(int64(1)), num(int64(3))), sum("0.3333"))},
		{"a list compares all digits, cut at nine", "INT", int64(1), op(plan.OpIn, op(plan.OpDivide, num(int64(1)), num(int64(3))), num(int64(2)), sum("0.333333333"))},
		{"and not those shown", "INT", int64(0), op(plan.OpIn, op(plan.OpDivide, num(int64(1)), num(int64(3))), num(int64(2)), sum("0.3333"))},
		{"so does BETWEEN", "INT", int64(0), op(plan.OpBetween, op(plan.OpDivide, num(int64(1)), num(int64(3))), sum("0.3333"), sum("0.3333"))},
		{"a product has the digits of both sides", "INT", int64(1), op(plan.OpEqual, op(plan.OpMultiply, op(plan.OpDivide, num(int64(5)), num(int64(3))), sum("1.0")), sum("1.66667"))},
		{"a rounded number those it is rounded to", "INT", int64(0), op(plan.OpEqual, op(plan.OpRound, op(plan.OpDivide, num(int64(1)), num(int64(3))), num(int64(8))), sum("0.3333"))},
		{"CASE has the most of its values", "INT", int64(0), op(plan.OpEqual, op(plan.OpCase, num(int64(1)), op(plan.OpDivide, num(int64(1)), num(int64(3))), sum("0.000001")), sum("0.3333"))},
		{"division by zero", "DECIMAL 4", nil, op(plan.OpDivide, num(int64(1)), num(int64(0)))},
		{"DIV cuts", "BIGINT", int64(-2), op(plan.OpIntDivide, sum("-5.0"), num(int64(2)))},
		{"the remainder has the sign of the left side", "BIGINT", int64(-1), op(plan.OpModulo, num(int64(-7)), num(int64(3)))},
		{"half is rounded away from zero", "DECIMAL 1", []byte("-2.3"), op(plan.OpRound, sum("-2.25"), num(int64(1)))},
		{"an integer is rounded to tens", "BIGINT", int64(20), op(plan.OpRound, num(int64(15)), num(int64(-1)))},
		{"a double is rounded to even", "DOUBLE", float64(2), op(plan.OpRound, num(2.5))},
		{"NULL makes NULL", "BIGINT", nil, op(plan.OpAdd, num(nil), num(int64(1)))},
		{"FALSE AND NULL", "INT", int64(0), op(plan.OpAnd, num(int64(0)), num(nil))},
		{"NULL AND FALSE", "INT", int64(0), op(plan.OpAnd, num(nil), num(int64(0)))},
		{"TRUE AND NULL", "INT", nil, op(plan.OpAnd, num(int64(1)), num(nil))},
		{"NULL OR TRUE", "INT", int64(1), op(plan.OpOr, num(nil), num(int64(2)))},
		{"NULL XOR TRUE", "INT", nil, op(plan.OpXor, num(nil), num(int64(1)))},
		{"NULL <=> NULL", "INT", int64(1), op(plan.OpNullEqual, num(nil), num(nil))},
		{"not in a list with NULL", "INT", nil, op(plan.OpNot, op(plan.OpIn, num(int64(1)), num(int64(2)), num(nil)))},
		{"between a bound and NULL, outside", "INT", int64(0), op(plan.OpBetween, num(int64(1)), num(int64(2)), num(nil))},
		{"between a bound and NULL, inside", "INT", nil, op(plan.OpBetween, num(int64(3)), num(int64(2)), num(nil))},
		{"beyond 53 bits is compared exactly", "INT", int64(0), op(plan.OpEqual, sum("9007199254740993"), sum("9007199254740992"))},
		{"beside a double is compared as one", "INT", int64(1), op(plan.OpEqual, sum("9007199254740993"), num(float64(9007199254740992)))},
		{"the type of COALESCE is that of all its values", "DECIMAL 2", []byte("0.00"), op(plan.OpCoalesce, num(nil), num(int64(0)), sum("1.25"))},
		{"CASE without ELSE", "BIGINT", nil, op(plan.OpCase, num(int64(0)), num(int64(1)))},
		{"NULLIF", "BIGINT", nil, op(plan.OpNullIf, num(int64(1)), sum("1.0"))},
		{"FLOOR of a negative", "BIGINT", int64(-3), op(plan.OpFloor, sum("-2.5"))},
		{"a sum beyond 64 bits stays exact", "DECIMAL 0", []byte("36893488147419103231"), op(plan.OpAdd, sum("18446744073709551616"), sum("18446744073709551615"))},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := &header{names: []string{"x"}, columns: describedAs(test.typ)}
			x, err := newExpression(h, test.expr)
			if err != nil {
				t.Fatal(err)
			}
			v, err := x.eval(nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := v.shown(&h.columns[0], "x")
			if err != nil {
				t.Fatal(err)
			}
			if g, ok := got.([]byte); ok {
				got = string(g)
			}
			want := test.want
			if w, ok := want.([]byte); ok {
				want = string(w)
			}
			if got != want {
				t.Errorf("got %v (%T), want %v (%T)", got, got, want, want)
			}
		})
	}
}

// describedAs is what a driver says of a column of a type, such as "DECIMAL 2".
func describedAs(typ string) []column {
	name, scale, hasScale := strings.Cut(typ, " ")
	c := column{typeName: name, hasScale: hasScale}
	if hasScale {
		c.scale = int64(scale[0] - '0')
	}
	return []column{c}
}

func TestExpressionsOverTextAreRefused(t *testing.T) {
	h := &header{names: []string{"x"}, columns: describedAs("VARCHAR")}
	if _, err := newExpression(h, op(plan.OpAdd, field(0), num(int64(1)))); !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

func TestIntegersBeyondTheirTypeAreRefused(t *testing.T) {
	h := &header{names: []string{"x"}, columns: describedAs("BIGINT")}
	x, err := newExpression(h, op(plan.OpMultiply, field(0), num(int64(2))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.eval([]driver.Value{int64(1) << 62}); !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	if v, err := x.eval([]driver.Value{int64(1) << 61}); err != nil || v.integer != 1<<62 {
		t.Errorf("got %v, %v", v, err)
	}
}
