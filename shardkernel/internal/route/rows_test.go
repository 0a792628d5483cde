package route

import (
	"testing"
	"time"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
)

func TestRowsOfAnInListAreComparedAsOneTypeEach(t *testing.T) {
	literal := func(v any) parse.Operand { return parse.Operand{Kind: parse.OperandLiteral, Literal: v} }
	param := func(n int) parse.Operand { return parse.Operand{Kind: parse.OperandParam, Param: n} }
	name := "ada"
	args := []any{int64(7), &name, []byte("x"), time.Time{}, nil, 1.5}
	for what, test := range map[string]struct {
		place []parse.Operand
		mixes bool
	}{
		"numbers":                  {[]parse.Operand{literal(int64(1)), literal(uint64(1 << 63)), param(0)}, false},
		"texts":                    {[]parse.Operand{literal("a"), param(1), param(2), param(3)}, false},
		"NULL is of any type":      {[]parse.Operand{literal("a"), param(4), literal(nil)}, false},
		"a text and a number":      {[]parse.Operand{literal("a"), param(0)}, true},
		"an integer and a decimal": {[]parse.Operand{literal(int64(1)), literal(parse.Decimal("1.5"))}, true},
		"an integer and a float":   {[]parse.Operand{param(0), param(5)}, true},
		"a hexadecimal literal":    {[]parse.Operand{literal([]byte("x"))}, true},
		"a column":                 {[]parse.Operand{literal("a"), {}}, true},
	} {
		p := &Program{stmt: &parse.Statement{RowPlaces: [][]parse.Operand{{literal(int64(1))}, test.place}}}
		if got := p.mixesRows(args); got != test.mixes {
			t.Errorf("%s: mixesRows is %v, want %v", what, got, test.mixes)
		}
	}
}
