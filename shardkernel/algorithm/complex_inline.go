package algorithm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/internal/inline"
)

// complexInline is the algorithm COMPLEX_INLINE: an expression over several
// columns gives the target's name, as ShardingSphere's algorithm of that name
// does (user manual, "Sharding Algorithm", complex sharding).
//
// Properties:
//
//	columns          the columns of the strategy, as a list or a text with
//	                 commas (sharding-columns). By default those of the strategy
//	expression       required (algorithm-expression), such as
//	                 t_order_${(user_id + order_id) % 8}
//	allowRangeQuery  true by default; false refuses a range of one of the
//	                 columns, which is ShardingSphere's default
//	arithmetic, javaType  as for INLINE, the type that of all columns
//
// Every column of the expression must be fixed by values, or by a closed range
// of few integers, for the targets to be narrowed: to those of every combination
// of the values. The expression may leave out columns of the strategy.
type complexInline struct {
	columns    []string // lower case; nil for those of the strategy
	expression string
	ranges     bool
	arithmetic inline.Arithmetic
}

func newComplexInline(props Props) (Algorithm, error) {
	r := ReadProps(props)
	r.alias("columns", "shardingColumns")
	r.alias("expression", "algorithmExpression")
	r.alias("allowRangeQuery", "allowRangeQueryWithInlineSharding")
	a := &complexInline{expression: r.String("expression"), ranges: r.BoolOr("allowRangeQuery", true)}
	for _, column := range r.Texts("columns") {
		a.columns = append(a.columns, strings.ToLower(column))
	}
	a.arithmetic = readArithmetic(r)
	if err := r.Err(); err != nil {
		return nil, err
	}
	if _, err := inline.CompileAs(a.expression, a.columns, a.arithmetic); err != nil {
		return nil, fmt.Errorf("property %q: %w", "expression", err)
	}
	return a, nil
}

func (a *complexInline) BindColumns(columns, targets []string) (ComplexSharder, error) {
	if a.columns != nil && !slices.Equal(slices.Sorted(slices.Values(a.columns)), slices.Sorted(slices.Values(columns))) {
		return nil, fmt.Errorf("property columns of COMPLEX_INLINE names %s, but the columns of the strategy are %s",
			strings.Join(a.columns, ", "), strings.Join(columns, ", "))
	}
	template, err := inline.CompileAs(a.expression, nil, a.arithmetic)
	if err != nil {
		return nil, err
	}
	s := &complexInlineSharder{complexInline: a, template: template}
	for _, used := range template.Columns() {
		at := slices.Index(columns, used)
		if at < 0 {
			return nil, fmt.Errorf("the expression %q uses %q, which is no column of the strategy", a.expression, used)
		}
		s.used = append(s.used, at)
	}
	s.index, err = indexTargets(template, a.expression, targets)
	if err != nil {
		return nil, err
	}
	return s, nil
}

type complexInlineSharder struct {
	*complexInline
	template *inline.Template
	used     []int // places among the strategy's columns of the template's
	index    map[string]int
}

func (s *complexInlineSharder) Shard(values []Value) (int, error) {
	return s.shard(func(column int) Value { return values[column] })
}

func (s *complexInlineSharder) shard(value func(column int) Value) (int, error) {
	args := make([]any, len(s.used))
	for i, column := range s.used {
		var err error
		if args[i], err = operand(value(column)); err != nil {
			return 0, err
		}
	}
	name, err := s.template.Eval(args...)
	if err != nil {
		return 0, err
	}
	if i, ok := s.index[name]; ok {
		return i, nil
	}
	return 0, fmt.Errorf("the expression %q gives no target; %% of a negative number is negative, floorMod(a, b) is not", s.expression)
}

// Narrow needs the values of all columns of the expression.
func (s *complexInlineSharder) Narrow(known []Known) ([]int, bool, error) {
	if !s.ranges && slices.ContainsFunc(known, Known.IsRange) {
		return nil, false, fault.Unsupported("a range of a sharding column",
			fmt.Sprintf("its algorithm COMPLEX_INLINE %q has allowRangeQuery: false", s.expression),
			"set allowRangeQuery: true, or use = or IN")
	}
	for _, column := range s.used {
		if !known[column].IsValue() {
			return nil, false, nil
		}
	}
	i, err := s.shard(func(column int) Value { return known[column].Value })
	if err != nil {
		return nil, false, nil // a row with such values was stored under another rule
	}
	return []int{i}, true, nil
}
