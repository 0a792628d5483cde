package algorithm

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/internal/inline"
)

// ColumnChecker is implemented by an algorithm that names its sharding column.
type ColumnChecker interface {
	// CheckColumn reports an error unless column is the algorithm's.
	CheckColumn(column string) error
}

// inlineAlgorithm is the algorithm INLINE: an expression over the sharding
// column gives the target's name, as ShardingSphere's algorithm of that name
// does (user manual, "Sharding Algorithm", standard sharding).
//
// Properties:
//
//	expression       required, such as t_order_${order_id % 8}
//	allowRangeQuery  true by default: a closed range of few integers asks the
//	                 targets of those, any other range asks all targets; false
//	                 refuses ranges, which is ShardingSphere's default
//	arithmetic       exact by default: integers have any size; java: results wrap
//	                 around as Java's do, which places rows where ShardingSphere does
//	javaType         of arithmetic java: the type of the column's values there,
//	                 long by default, or integer
//
// The expression may use one column. Integers and texts have their own type in
// it, and a text that spells an integer can be computed with. Dates and times
// have no target.
type inlineAlgorithm struct {
	expression string
	template   *inline.Template
	ranges     bool
}

func newInline(props Props) (Algorithm, error) {
	r := ReadProps(props)
	r.alias("expression", "algorithmExpression")
	r.alias("allowRangeQuery", "allowRangeQueryWithInlineSharding")
	a := &inlineAlgorithm{expression: r.String("expression"), ranges: r.BoolOr("allowRangeQuery", true)}
	arithmetic := readArithmetic(r)
	if err := r.Err(); err != nil {
		return nil, err
	}
	template, err := inline.CompileAs(a.expression, nil, arithmetic)
	if err != nil {
		return nil, fmt.Errorf("property %q: %w", "expression", err)
	}
	if columns := template.Columns(); len(columns) > 1 {
		return nil, fmt.Errorf("property %q uses the columns %s; INLINE knows only one", "expression", strings.Join(columns, ", "))
	}
	a.template = template
	return a, nil
}

// readArithmetic reads how expressions compute.
func readArithmetic(r *Reader) inline.Arithmetic {
	if r.OneOf("arithmetic", "exact", "java") == "exact" {
		return inline.Exact // where a javaType would mean nothing
	}
	if r.OneOf("javaType", "long", "integer") == "integer" {
		return inline.JavaInteger
	}
	return inline.JavaLong
}

// CheckColumn reports an expression that uses another column.
func (a *inlineAlgorithm) CheckColumn(column string) error {
	if used := a.template.Columns(); len(used) > 0 && used[0] != strings.ToLower(column) {
		return fmt.Errorf("the expression %q uses %q, but the sharding column is %q", a.expression, used[0], column)
	}
	return nil
}

// Bind checks the whole range of an expression that uses its column only
// modulo constants; of other expressions the literal text around the
// placeholders.
func (a *inlineAlgorithm) Bind(targets []string) (Sharder, error) {
	index, err := indexTargets(a.template, a.expression, targets)
	if err != nil {
		return nil, err
	}
	s := &inlineSharder{inlineAlgorithm: a, index: index}
	if n, ok := a.template.Period(); ok {
		if err := s.tabulate(n, targets); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// indexTargets returns the places of the targets by their names. It reports an
// expression that never gives one of them, and one whose quotients are no node.
func indexTargets(template *inline.Template, expression string, targets []string) (map[string]int, error) {
	index := make(map[string]int, len(targets))
	for i, name := range targets {
		if !template.Fits(name) {
			return nil, fmt.Errorf("the expression %q never gives the target %q", expression, name)
		}
		index[name] = i
	}
	// Of a few small numbers / leaves a fraction of one if it can of any.
	args := make([]any, len(template.Columns()))
	for n := range int64(3) {
		for i := range args {
			args[i] = n + int64(i)
		}
		if _, err := template.Eval(args...); inline.IsFraction(err) {
			return nil, err
		}
	}
	return index, nil
}

// addressed returns the targets that the expression may give.
func (a *inlineAlgorithm) addressed(targets []string) []string {
	given := map[string]bool{}
	period, periodic := a.template.Period()
	for r := range period {
		if name, err := a.eval(r); err == nil {
			given[name] = true
		}
	}
	var out []string
	for _, name := range targets {
		if given[name] || !periodic && a.template.Fits(name) {
			out = append(out, name)
		}
	}
	return out
}

type inlineSharder struct {
	*inlineAlgorithm
	index map[string]int
	// table holds, where the expression has a period, the target of the
	// remainder r at r+period-1, or noTarget.
	table  []int
	period int64
}

const noTarget = -1

// tabulate evaluates the expression once for every remainder.
func (s *inlineSharder) tabulate(period int64, targets []string) error {
	table := make([]int, 2*period-1)
	used := make([]bool, len(targets))
	for r := 1 - period; r < period; r++ {
		at := r + period - 1
		name, err := s.eval(r)
		i, found := s.index[name]
		switch {
		case err == nil && found:
			table[at] = i
			used[i] = true
		case r < 0: // % of a negative value is negative: Shard reports it
			table[at] = noTarget
		case err != nil:
			return err
		default:
			return fmt.Errorf("the expression %q gives %q for some values, and there is no such target; the targets are %s",
				s.expression, name, abbreviated(targets))
		}
	}
	for i, name := range targets {
		if !used[i] {
			return fmt.Errorf("the expression %q never gives the target %q", s.expression, name)
		}
	}
	s.table, s.period = table, period
	return nil
}

func abbreviated(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most-1], ", ") + " … " + names[len(names)-1]
}

// eval gives the expression the value of its column, if it has one.
func (a *inlineAlgorithm) eval(value any) (string, error) {
	if len(a.template.Columns()) == 0 {
		return a.template.Eval()
	}
	return a.template.Eval(value)
}

func (s *inlineSharder) Shard(v Value) (int, error) {
	if s.table != nil {
		if i := s.tabled(v); i != noTarget {
			return i, nil
		}
	}
	value, err := operand(v)
	if err != nil {
		return 0, err
	}
	name, err := s.eval(value)
	if err != nil {
		return 0, err
	}
	i, ok := s.index[name]
	if ok {
		return i, nil
	}
	if n, integer := v.Int64(); integer && n < 0 {
		return 0, fmt.Errorf("the expression %q gives no target for a negative value, whose remainder by %% is negative; use floorMod(a, b)", s.expression)
	}
	return 0, fmt.Errorf("the expression %q gives no target", s.expression)
}

// operand returns a value as expressions know it.
func operand(v Value) (any, error) {
	switch v.Kind() {
	case KindInt:
		return int64(v.num), nil
	case KindUint:
		return v.num, nil
	case KindText:
		return v.text, nil
	case KindTime:
		return nil, errors.New("an inline expression cannot compute with a date or time")
	}
	return nil, errNull
}

// tabled returns the target of an integer by the table, or noTarget.
func (s *inlineSharder) tabled(v Value) int {
	switch v.Kind() {
	case KindInt:
		return s.table[int64(v.num)%s.period+s.period-1]
	case KindUint:
		return s.table[int64(v.num%uint64(s.period))+s.period-1]
	}
	return noTarget
}

func (s *inlineSharder) Range(r Range) ([]int, bool, error) {
	if !s.ranges {
		return nil, false, fault.Unsupported("a range of the sharding column",
			fmt.Sprintf("its algorithm INLINE %q has allowRangeQuery: false", s.expression),
			"set allowRangeQuery: true, or use = or IN")
	}
	return nil, false, nil
}
