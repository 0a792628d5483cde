package route

import (
	"testing"
	"time"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

func TestRowsOfAnInListAreComparedAsOneTypeEach(t *testing.T) {
	literal := func(v any) parse.RowValue {
		return parse.RowValue{Operand: parse.Operand{Kind: parse.OperandLiteral, Literal: v}}
	}
	param := func(n int) parse.RowValue {
		return parse.RowValue{Operand: parse.Operand{Kind: parse.OperandParam, Param: n}}
	}
	column := func(name string) parse.RowValue { return parse.RowValue{Column: parse.Column{Name: name}} }
	name := "ada"
	meta := func(string) *value.Table {
		return value.NewTable([]value.Column{{Name: "uid", Class: value.ClassInteger}, {Name: "name", Class: value.ClassText}})
	}
	args := []any{int64(7), &name, []byte("x"), time.Time{}, nil, 1.5}
	for what, test := range map[string]struct {
		place []parse.RowValue
		mixes bool
	}{
		"numbers":                  {[]parse.RowValue{literal(int64(1)), literal(uint64(1 << 63)), param(0)}, false},
		"texts":                    {[]parse.RowValue{literal("a"), param(1), param(2), param(3)}, false},
		"NULL is of any type":      {[]parse.RowValue{literal("a"), param(4), literal(nil)}, false},
		"a text and a number":      {[]parse.RowValue{literal("a"), param(0)}, true},
		"an integer and a decimal": {[]parse.RowValue{literal(int64(1)), literal(parse.Decimal("1.5"))}, true},
		"an integer and a float":   {[]parse.RowValue{param(0), param(5)}, true},
		"a hexadecimal literal":    {[]parse.RowValue{literal([]byte("x"))}, true},
		"a column of numbers":      {[]parse.RowValue{literal(int64(1)), column("uid")}, false},
		"a number beside a column": {[]parse.RowValue{literal(int64(1)), column("name")}, true},
		"a computed value":         {[]parse.RowValue{literal("a"), {Column: parse.Column{Table: parse.NoTable}}}, true},
		"a computed value alone":   {[]parse.RowValue{{Column: parse.Column{Table: parse.NoTable}}}, false},
	} {
		p := &Program{broadcast: []bool{true}, stmt: &parse.Statement{
			Tables:    []parse.TableRef{{Name: "t"}},
			RowPlaces: [][]parse.RowValue{{literal(int64(1))}, test.place},
		}}
		if got := p.mixesRows(&Input{Args: args, Meta: meta}); got != test.mixes {
			t.Errorf("%s: mixesRows is %v, want %v", what, got, test.mixes)
		}
	}
}
