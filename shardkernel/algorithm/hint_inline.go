package algorithm

import (
	"fmt"
	"strings"

	"github.com/gormshard/sharding/internal/inline"
)

// hintVariable is what expressions call the value of a hint.
const hintVariable = "value"

// hintInline is the algorithm HINT_INLINE: an expression over the hinted value
// gives the target's name, as ShardingSphere's algorithm of that name does (user
// manual, "Sharding Algorithm", hint sharding).
//
// Property: expression (algorithm-expression), ${value} by default, so that the
// value is the name of the target. The one variable is value. A text that spells
// an integer can be computed with. arithmetic and javaType are as for INLINE.
type hintInline struct {
	expression string
	template   *inline.Template
}

func newHintInline(props Props) (Algorithm, error) {
	r := ReadProps(props)
	r.alias("expression", "algorithmExpression")
	a := &hintInline{expression: r.StringOr("expression", "${"+hintVariable+"}")}
	arithmetic := readArithmetic(r)
	if err := r.Err(); err != nil {
		return nil, err
	}
	template, err := inline.CompileAs(a.expression, nil, arithmetic)
	if err != nil {
		return nil, fmt.Errorf("property %q: %w", "expression", err)
	}
	if used := template.Columns(); len(used) != 1 || used[0] != hintVariable {
		return nil, fmt.Errorf("property %q uses %q; HINT_INLINE knows only %q", "expression", strings.Join(used, ", "), hintVariable)
	}
	a.template = template
	return a, nil
}

func (a *hintInline) BindHint(targets []string) (HintSharder, error) {
	index, err := indexTargets(a.template, a.expression, targets)
	if err != nil {
		return nil, err
	}
	return &hintInlineSharder{hintInline: a, index: index}, nil
}

type hintInlineSharder struct {
	*hintInline
	index map[string]int
}

func (s *hintInlineSharder) Targets(values []Value) ([]int, error) {
	targets := make([]int, len(values))
	for i, v := range values {
		arg, err := operand(v)
		if err != nil {
			return nil, err
		}
		name, err := s.template.Eval(arg)
		if err != nil {
			return nil, err
		}
		at, ok := s.index[name]
		if !ok {
			return nil, fmt.Errorf("the expression %q gives no target for the value of the hint", s.expression)
		}
		targets[i] = at
	}
	return targets, nil
}
