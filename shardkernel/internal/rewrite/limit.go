package rewrite

import (
	"math"
	"reflect"
	"strconv"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// limit puts a LIMIT of the statement, nil for none, into the recipe, and returns the edits that
// let every node give as many rows as the first pages may need. Without pushed,
// the nodes give all their rows.
func (t *Template) limit(merge *plan.Merge, l *parse.Limit, pushed bool, args []any) ([]edit, error) {
	if l == nil {
		return nil, nil
	}
	if l.Ties {
		return nil, fault.Unsupported("WITH TIES over several nodes", "how many rows there are is known when all nodes' rows are in order",
			"use LIMIT, or WHERE over RANK() in a derived table")
	}
	count, err := limitValue(l.Count, args)
	if err != nil {
		return nil, err
	}
	var offset uint64
	hasOffset := l.Offset.Span.End > l.Offset.Span.Start
	if hasOffset {
		if offset, err = limitValue(l.Offset, args); err != nil {
			return nil, err
		}
	}
	merge.HasLimit, merge.Count, merge.Offset = true, count, offset
	if count == 0 { // no node needs to give anything
		return nil, nil
	}
	if !pushed {
		start := l.Start
		for start > 0 && t.stmt.Text[start-1] == ' ' {
			start--
		}
		return []edit{{Span: parse.Span{Start: start, End: l.End}}}, nil
	}
	if offset == 0 {
		return nil, nil
	}
	// LIMIT 18446744073709551615 OFFSET 1 is legal and means "all but one".
	all := count + offset
	if all < count {
		all = math.MaxUint64
	}
	return []edit{limitEdit(l.Count, all), limitEdit(l.Offset, 0)}, nil
}

func limitEdit(o parse.Operand, n uint64) edit {
	if o.Kind != parse.OperandParam {
		return edit{Span: o.Span, text: strconv.FormatUint(n, 10)}
	}
	var arg any = n
	if n <= math.MaxInt64 {
		arg = int64(n)
	}
	return edit{Span: o.Span, text: "?", args: []any{arg}}
}

// limitValue returns the number that a part of LIMIT gives. What the server
// would refuse, or read in its own way, is refused here: the nodes' limits are
// computed from it.
func limitValue(o parse.Operand, args []any) (uint64, error) {
	arg := o.Literal
	if o.Kind == parse.OperandParam && o.Param < len(args) {
		arg = args[o.Param]
	}
	v := reflect.ValueOf(arg)
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	switch {
	case o.Kind != parse.OperandLiteral && o.Kind != parse.OperandParam:
	case v.CanInt() && v.Int() >= 0:
		return uint64(v.Int()), nil
	case v.CanUint():
		return v.Uint(), nil
	}
	return 0, fault.Unsupported("LIMIT over several nodes", "its values are not integers from 0", "pass integers")
}
