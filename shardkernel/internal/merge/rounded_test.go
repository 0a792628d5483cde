package merge

import (
	"errors"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// Of 1, 1 and 2 the average is 1.3333, with digits that are not shown.
func TestRoundedAveragesFailWhereTheyMakeADifference(t *testing.T) {
	average := &plan.Expr{Op: plan.OpDivide, Kids: []*plan.Expr{field(1), field(2)}, DivPrecision: 4, Rounded: true}
	for name, test := range map[string]struct {
		expr  *plan.Expr
		want  string
		fails bool
	}{
		"rounded to fewer digits":  {expr: op(plan.OpRound, average, num(int64(2))), want: `"1.3300"`},
		"the average itself":       {expr: average, want: `"1.3333"`},
		"what is added is shown":   {expr: op(plan.OpAdd, average, num(int64(1))), want: `"2.3333"`},
		"three times the average":  {expr: op(plan.OpMultiply, average, num(int64(3))), fails: true},
		"no average":               {expr: op(plan.OpMultiply, field(2), num(int64(3))), want: `"9.0000"`},
		"a comparison either way":  {expr: op(plan.OpGreater, average, num(int64(1))), want: `"1.0000"`},
		"a comparison that is not": {expr: op(plan.OpIn, average, num(plan.Decimal("1.33333333")), num(int64(7))), fails: true},
	} {
		recipe := grouped(0, over(1, total), over(2, count))
		recipe.Computed = []plan.Computed{{Column: at(0), Expr: test.expr}}
		recipe.Derived = 2
		c := cursor("a DECIMAL, s DECIMAL, n BIGINT", row(nil, text("4.0000"), int64(3)))
		c.scale = 4
		got, err := merged(t, recipe, c)
		switch {
		case test.fails:
			if !errors.Is(err, fault.ErrUnsupported) {
				t.Errorf("%s: %q, error %v, want ErrUnsupported", name, got, err)
			}
		case err != nil || len(got) != 1 || got[0] != test.want:
			t.Errorf("%s: %q, error %v, want %s", name, got, err, test.want)
		}
	}
}
