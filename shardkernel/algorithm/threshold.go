package algorithm

import (
	"fmt"
	"slices"
	"strings"
)

// threshold is the algorithm THRESHOLD: rows below a threshold are placed by one
// algorithm and all others by another one, so that nodes can be added without
// moving the rows that are there.
//
// Properties:
//
//	column        the column with the threshold; it may be the sharding column
//	              itself, which is the default, or another one. Then the strategy
//	              is complex and has this column beside those of the two
//	              algorithms
//	threshold     required: an integer, or a date as 2024-01-01 or
//	              2024-01-01 00:00:00. Rows below it are older
//	below, above  required: the names of the algorithms of rows below the
//	              threshold and of those from it on
//	belowTargets, aboveTargets
//	              the targets of the two, as t_order_${0..3}. By default those
//	              that the algorithm can address: of MOD with shardingCount 4
//	              those that end in 0 to 3, of INLINE those that its expression
//	              gives, of others all
//
// Where the condition on the column leaves both sides open, the targets of both
// are asked.
type threshold struct {
	column  string // lower case; empty for the one sharding column
	at      Value
	names   [2]string // of the algorithms below and above
	targets [2][]string
	parts   [2]Algorithm
}

// The sides of a threshold.
const (
	below = iota
	above
)

func newThreshold(props Props) (Algorithm, error) {
	r := ReadProps(props)
	a := &threshold{
		column: strings.ToLower(r.StringOr("column", "")),
		names:  [2]string{r.String("below"), r.String("above")},
	}
	a.at = r.threshold("threshold")
	for side, name := range [2]string{"belowTargets", "aboveTargets"} {
		text := r.StringOr(name, "")
		if text == "" {
			continue
		}
		var err error
		if a.targets[side], err = ExpandNames(text); err != nil {
			r.fault(name, err.Error())
		}
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return a, nil
}

// threshold returns a required integer or date.
func (r *Reader) threshold(name string) Value {
	value, ok := r.required(name)
	if !ok {
		return Int(0)
	}
	if v, ok := toInteger(value); ok {
		return v
	}
	text, _ := value.(string)
	for _, p := range mustPatterns("yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd") {
		if t, ok := p.parse(text); ok {
			return Time(t)
		}
	}
	r.fault(name, "must be an integer, or a date written as yyyy-MM-dd or yyyy-MM-dd HH:mm:ss")
	return Int(0)
}

// Parts implements Composite.
func (a *threshold) Parts() []string { return a.names[:] }

// Compose implements Composite.
func (a *threshold) Compose(parts []Algorithm) error {
	a.parts = [2]Algorithm(parts)
	for side, part := range a.parts {
		_, standard := part.(Standard)
		_, complex := part.(Complex)
		if !standard && !complex {
			return fmt.Errorf("THRESHOLD: algorithm %q is for hint strategies", a.names[side])
		}
	}
	return nil
}

// CheckColumn reports that the one column of a strategy is not the threshold's.
func (a *threshold) CheckColumn(column string) error {
	if a.column != "" && a.column != strings.ToLower(column) {
		return fmt.Errorf("the threshold is on %q, not on the sharding column %q; use a complex strategy with both", a.column, column)
	}
	for _, part := range a.parts {
		if c, ok := part.(ColumnChecker); ok {
			if err := c.CheckColumn(column); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *threshold) Bind(targets []string) (Sharder, error) {
	s := &thresholdSharder{threshold: a}
	if err := a.bind(&s.sides, targets, nil); err != nil {
		return nil, err
	}
	return s, nil
}

func (a *threshold) BindColumns(columns, targets []string) (ComplexSharder, error) {
	s := &complexThreshold{threshold: a, column: slices.Index(columns, a.column)}
	if s.column < 0 {
		return nil, fmt.Errorf("the threshold is on %q, which is no column of the strategy", a.column)
	}
	rest := slices.Delete(slices.Clone(columns), s.column, s.column+1)
	if err := a.bind(&s.sides, targets, rest); err != nil {
		return nil, err
	}
	return s, nil
}

// side is the algorithm of one side, bound to its targets.
type side struct {
	targets []int // places of its targets among all
	one     Sharder
	several ComplexSharder // where one is nil
}

// bind binds both sides, to the columns of a complex strategy where there are
// any. Every target must belong to a side.
func (a *threshold) bind(sides *[2]side, targets, columns []string) error {
	used := make([]bool, len(targets))
	for i, part := range a.parts {
		names, err := a.targetsOf(i, targets)
		if err != nil {
			return err
		}
		s := &sides[i]
		for _, name := range names {
			at := slices.Index(targets, name)
			used[at] = true
			s.targets = append(s.targets, at)
		}
		if err := s.bind(part, names, columns); err != nil {
			return fmt.Errorf("algorithm %q of THRESHOLD: %w", a.names[i], err)
		}
	}
	if i := slices.Index(used, false); i >= 0 {
		return fmt.Errorf("target %q is used on neither side of the threshold", targets[i])
	}
	return nil
}

func (s *side) bind(part Algorithm, targets, columns []string) (err error) {
	if standard, ok := part.(Standard); ok && len(columns) <= 1 {
		if c, ok := part.(ColumnChecker); ok && len(columns) == 1 {
			if err := c.CheckColumn(columns[0]); err != nil {
				return err
			}
		}
		s.one, err = standard.Bind(targets)
		return err
	}
	several, ok := part.(Complex)
	if !ok || len(columns) == 0 {
		return fmt.Errorf("it does not choose by %d columns", max(len(columns), 1))
	}
	s.several, err = several.BindColumns(columns, targets)
	return err
}

// selective is implemented by an algorithm that can tell which of a table's
// targets are its own.
type selective interface {
	addressed(targets []string) []string
}

func (a *threshold) targetsOf(side int, targets []string) ([]string, error) {
	if configured := a.targets[side]; configured != nil {
		for _, name := range configured {
			if !slices.Contains(targets, name) {
				return nil, fmt.Errorf("THRESHOLD names the target %q, which is not there", name)
			}
		}
		return configured, nil
	}
	if s, ok := a.parts[side].(selective); ok {
		return s.addressed(targets), nil
	}
	return targets, nil
}

// addressed returns the targets of both sides.
func (a *threshold) addressed(targets []string) []string {
	var both []string
	for side := range a.parts {
		names, _ := a.targetsOf(side, targets)
		both = append(both, names...)
	}
	return slices.DeleteFunc(slices.Clone(targets), func(name string) bool { return !slices.Contains(both, name) })
}

// sideOf returns the side of a value of the threshold's column.
func (a *threshold) sideOf(v Value) (int, error) {
	read := readInteger
	if a.at.kind == KindTime {
		read = readMoment
	}
	v, err := read(v)
	if err != nil {
		return 0, err
	}
	if order, _ := v.Compare(a.at); order < 0 {
		return below, nil
	}
	return above, nil
}

// sidesOf returns the sides that a range reaches.
func (a *threshold) sidesOf(r Range) (sides [2]bool) {
	sides = [2]bool{true, true}
	if r.HasLower {
		if order, ok := r.Lower.Compare(a.at); ok && order >= 0 {
			sides[below] = false
		}
	}
	if r.HasUpper {
		if order, ok := r.Upper.Compare(a.at); ok && (order < 0 || order == 0 && r.UpperOpen) {
			sides[above] = false
		}
	}
	return sides
}

// outer returns the threshold's targets that are the side's.
func (s *side) outer(found []int) []int {
	targets := make([]int, len(found))
	for i, at := range found {
		targets[i] = s.targets[at]
	}
	return targets
}

// ranged returns the targets that may hold a value in r.
func (s *side) ranged(r Range) (targets []int, ok bool, err error) {
	ranger, narrows := s.one.(Ranger)
	if !narrows {
		return nil, false, nil
	}
	found, ok, err := ranger.Range(r)
	if err != nil || !ok {
		return nil, false, err
	}
	return s.outer(found), true, nil
}

// thresholdSharder is a threshold on the one sharding column.
type thresholdSharder struct {
	*threshold
	sides [2]side
}

func (s *thresholdSharder) Shard(v Value) (int, error) {
	i, err := s.sideOf(v)
	if err != nil {
		return 0, err
	}
	at, err := s.sides[i].one.Shard(v)
	if err != nil {
		return 0, err
	}
	return s.sides[i].targets[at], nil
}

// Range asks each side that the range reaches for its part of it.
func (s *thresholdSharder) Range(r Range) (targets []int, ok bool, err error) {
	for i, reached := range s.sidesOf(r) {
		if !reached {
			continue
		}
		found, ok, err := s.sides[i].ranged(s.part(r, i))
		if err != nil || !ok {
			return nil, false, err
		}
		targets = append(targets, found...)
	}
	return targets, true, nil
}

// part returns the part of a range on a side that it reaches. Bounds that do not
// compare with the threshold stay.
func (s *thresholdSharder) part(r Range, side int) Range {
	if r.HasLower && r.Lower.isInteger() != s.at.isInteger() || r.HasUpper && r.Upper.isInteger() != s.at.isInteger() {
		return r
	}
	if reached := s.sidesOf(r); reached[below] && reached[above] {
		if side == below {
			r.Upper, r.HasUpper, r.UpperOpen = s.at, true, true
		} else {
			r.Lower, r.HasLower, r.LowerOpen = s.at, true, false
		}
	}
	return r
}

// complexThreshold is a threshold on another column than those of the two
// algorithms.
type complexThreshold struct {
	*threshold
	column int // place of the threshold's column
	sides  [2]side
}

func (s *complexThreshold) Shard(values []Value) (int, error) {
	i, err := s.sideOf(values[s.column])
	if err != nil {
		return 0, err
	}
	side := &s.sides[i]
	rest := slices.Delete(slices.Clone(values), s.column, s.column+1)
	var at int
	if side.one != nil {
		at, err = side.one.Shard(rest[0])
	} else {
		at, err = side.several.Shard(rest)
	}
	if err != nil {
		return 0, err
	}
	return side.targets[at], nil
}

// Narrow asks the sides that the threshold's column leaves open for the targets
// of the other columns.
func (s *complexThreshold) Narrow(known []Known) (targets []int, ok bool, err error) {
	sides := [2]bool{true, true}
	switch k := known[s.column]; {
	case k.IsValue():
		i, err := s.sideOf(k.Value)
		if err != nil {
			return nil, false, nil
		}
		sides[1-i] = false
	case k.IsRange():
		sides = s.sidesOf(k.Range)
	}
	rest := slices.Delete(slices.Clone(known), s.column, s.column+1)
	for i, reached := range sides {
		if !reached {
			continue
		}
		found, ok, err := s.sides[i].narrow(rest)
		if err != nil || !ok {
			return nil, false, err
		}
		targets = append(targets, found...)
	}
	return targets, true, nil
}

// narrow returns the targets of a side; ok false means that they cannot be told.
func (s *side) narrow(known []Known) (targets []int, ok bool, err error) {
	if s.one != nil {
		switch k := known[0]; {
		case k.IsValue():
			at, err := s.one.Shard(k.Value)
			if err != nil {
				return nil, false, nil // rows with it were stored under another rule
			}
			return []int{s.targets[at]}, true, nil
		case k.IsRange():
			return s.ranged(k.Range)
		}
		return s.targets, true, nil
	}
	found, ok, err := NarrowBy(s.several, known)
	if err != nil || !ok {
		return nil, false, err
	}
	return s.outer(found), true, nil
}
