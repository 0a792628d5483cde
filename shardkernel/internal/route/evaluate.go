package route

import (
	"fmt"

	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// evaluation is one execution's walk over the conditions.
type evaluation struct {
	program *Program
	args    []any
	meta    Meta
	hints   *Hints
	weigh   Weigher
	// facts is what the conditions around the present one say of a reference
	// with a complex strategy.
	facts  facts
	hinted bool // a hint chose nodes
	// replaced are the levels at which a hint stands in for conditions.
	replaced level
	now      string
	// elements holds, for each of Program.lists, where its elements live; nil for
	// a list that was not evaluated.
	elements [][]element
	// err is the first error; what was computed after it has no meaning.
	err error
}

func newEvaluation(p *Program, in *Input) evaluation {
	return evaluation{program: p, args: in.Args, meta: in.Meta, hints: in.Hints, weigh: in.Weigh, now: in.Now}
}

// element is where one element of an IN list lives.
type element struct {
	nodes nodeSet
	// always is true for an element that every unit keeps: NULL, and what could
	// not be understood.
	always bool
}

// all is the answer "every node".
const all = true

// eval returns the nodes for which the condition may be true; every is true
// instead of a full set.
func (e *evaluation) eval(r *reference, x *expr) (set nodeSet, every bool) {
	if x == nil {
		return nodeSet{}, all
	}
	switch x.op {
	case exprAnd:
		return e.evalAnd(r, x)
	case exprOr:
		for _, kid := range x.kids {
			s, everyKid := e.eval(r, kid)
			if everyKid {
				return nodeSet{}, all
			}
			set.unite(s)
		}
		return set, false
	case exprValues:
		return e.evalValues(r, x)
	case exprTuples:
		return e.evalTuples(r, x)
	case exprRange:
		return e.evalRange(r, x)
	}
	return nodeSet{}, false
}

func (e *evaluation) evalAnd(r *reference, x *expr) (set nodeSet, every bool) {
	around := e.facts
	if r.complex != nil {
		e.facts = e.learn(r, x.kids)
	}
	every = true
	for _, kid := range x.kids {
		s, everyKid := e.eval(r, kid)
		switch {
		case everyKid:
		case every:
			set, every = s, false
		default:
			set.intersect(s)
		}
	}
	e.facts = around
	return set, every
}

func (e *evaluation) evalValues(r *reference, x *expr) (set nodeSet, every bool) {
	if x.nullSafe {
		// Where rows with a NULL key are is not known.
		if arg, known := e.arg(&x.values[0]); !known || value.IsNull(arg) {
			return nodeSet{}, all
		}
	}
	column := e.column(r.rule, x.key)
	if found := e.found(x); found != nil {
		for _, v := range found.Values {
			if e.addValue(r, x.key, column, &parse.Operand{Kind: parse.OperandLiteral, Literal: v}, &set) {
				return nodeSet{}, all
			}
		}
		return set, false
	}
	if x.list == noList || len(x.values) < 2 {
		for i := range x.values {
			if e.addValue(r, x.key, column, &x.values[i], &set) {
				return nodeSet{}, all
			}
		}
		return set, false
	}
	elements := make([]element, len(x.values))
	for i := range x.values {
		el := &elements[i]
		el.always = e.addValue(r, x.key, column, &x.values[i], &el.nodes)
		every = every || el.always
		el.always = el.always || el.nodes.empty()
		set.unite(el.nodes)
	}
	e.keepElements(x.list, elements)
	return set, every
}

func (e *evaluation) keepElements(list int, elements []element) {
	if e.elements == nil {
		e.elements = make([][]element, len(e.program.lists))
	}
	e.elements[list] = elements
}

// addValue adds the nodes of one value of a key; it reports true when the value
// may be anywhere.
func (e *evaluation) addValue(r *reference, k *key, column *value.Column, operand *parse.Operand, set *nodeSet) bool {
	v, match := e.match(k, column, operand)
	switch match {
	case matchOne:
		return e.addNodes(r, k, v, set)
	case matchNothing:
		return false
	}
	return all
}

// addNodes adds the nodes of a value. A value without a target may be in rows
// that were written under another rule or by hand, so a condition on it narrows
// nothing.
func (e *evaluation) addNodes(r *reference, k *key, v algorithm.Value, set *nodeSet) bool {
	concerned := k.levels &^ e.replaced
	source, target := anyTarget, anyTarget
	var err error
	if concerned&levelDatabase != 0 {
		if source, err = shard(r.rule.Database, v); err != nil {
			return all
		}
	}
	if concerned&levelTable != 0 {
		if target, err = shard(r.rule.Tables, v); err != nil {
			return all
		}
	}
	if k.shared != 0 {
		return e.addShared(r, k, v, source, target, set)
	}
	if concerned == 0 {
		return all
	}
	r.layout.add(set, source, target)
	return false
}

// addShared is addNodes for a key that chooses together with others on some
// level; source and target are what it chooses by itself.
func (e *evaluation) addShared(r *reference, k *key, v algorithm.Value, source, target int, set *nodeSet) bool {
	var nodes nodeSet
	every := source == anyTarget && target == anyTarget
	if !every {
		r.layout.add(&nodes, source, target)
	}
	every = e.narrowShared(r, k, fact{listed: true, values: []algorithm.Value{v}}, &nodes, every)
	if !every {
		set.unite(nodes)
	}
	return every
}

// narrowShared narrows nodes, or every node, by the levels at which the key
// chooses together with others.
func (e *evaluation) narrowShared(r *reference, k *key, f fact, nodes *nodeSet, every bool) bool {
	for i := range r.complex {
		c := &r.complex[i]
		if k.shared&c.level&^e.replaced == 0 {
			continue
		}
		switch s, everyLevel := e.narrow(r, c, k, f); {
		case everyLevel:
		case every:
			*nodes, every = s, false
		default:
			nodes.intersect(s)
		}
	}
	return every
}

// shard returns the index of the strategy's target for a value.
func shard(s *rule.Strategy, v algorithm.Value) (int, error) {
	i, err := s.Sharder.Shard(v)
	if err != nil {
		return 0, err
	}
	if i < 0 || i >= len(s.Targets) {
		return 0, fmt.Errorf("algorithm %s gives target %d of %d", s.Algorithm, i, len(s.Targets))
	}
	return i, nil
}

func (e *evaluation) evalRange(r *reference, x *expr) (set nodeSet, every bool) {
	interval, none, every := e.interval(r, x)
	if none || every {
		return nodeSet{}, every
	}
	return e.rangeNodes(r, x.key, interval)
}

// interval returns the range of an expression: none when it holds no value, every
// when it has no known bound.
func (e *evaluation) interval(r *reference, x *expr) (interval algorithm.Range, none, every bool) {
	column := e.column(r.rule, x.key)
	for i := range x.lower {
		v, open, ok, none := e.bound(&x.lower[i], column, true)
		if none {
			return interval, true, false
		}
		if !ok {
			continue
		}
		order := 1
		if interval.HasLower {
			order, ok = v.Compare(interval.Lower)
		}
		if ok && (order > 0 || order == 0 && open) {
			interval.Lower, interval.LowerOpen, interval.HasLower = v, open, true
		}
	}
	for i := range x.upper {
		v, open, ok, none := e.bound(&x.upper[i], column, false)
		if none {
			return interval, true, false
		}
		if !ok {
			continue
		}
		order := -1
		if interval.HasUpper {
			order, ok = v.Compare(interval.Upper)
		}
		if ok && (order < 0 || order == 0 && open) {
			interval.Upper, interval.UpperOpen, interval.HasUpper = v, open, true
		}
	}
	if !interval.HasLower && !interval.HasUpper {
		return interval, false, all
	}
	if interval.HasLower && interval.HasUpper {
		order, ok := interval.Lower.Compare(interval.Upper)
		if !ok {
			return interval, false, all
		}
		if order > 0 || order == 0 && (interval.LowerOpen || interval.UpperOpen) {
			return interval, true, false
		}
	}
	return interval, false, false
}

// bound brings a bound to the column's type. ok is false when it is not known,
// none is true when nothing compares with it, as with NULL.
func (e *evaluation) bound(b *bound, column *value.Column, lower bool) (v algorithm.Value, open, ok, none bool) {
	arg, known := e.arg(&b.operand)
	if !known {
		return v, false, false, false
	}
	if arg == nil {
		return v, false, false, true
	}
	v, open, ok = e.program.convert.Bound(arg, column, lower, b.open)
	switch v.Kind() {
	case algorithm.KindInt, algorithm.KindUint, algorithm.KindTime:
		return v, open, ok, false
	}
	// The order of texts is the collation's, which algorithms do not know.
	return v, false, false, false
}

// arg returns the value of an operand; known is false when it has none before
// the statement runs.
func (e *evaluation) arg(o *parse.Operand) (arg any, known bool) {
	switch o.Kind {
	case parse.OperandLiteral:
		return o.Literal, true
	case parse.OperandParam:
		if o.Param >= len(e.args) {
			if e.err == nil {
				e.err = tooFewArguments(len(e.program.stmt.Markers), len(e.args))
			}
			return nil, false
		}
		if found, ok := e.args[o.Param].(*plan.Found); ok {
			return scalar(found)
		}
		return e.args[o.Param], true
	case parse.OperandExpr:
		return e.fold(o.Expr)
	}
	return nil, false
}

// found returns the known rows of the subquery that is the list of an IN; nil for
// anything else.
func (e *evaluation) found(x *expr) *plan.Found {
	if len(x.values) != 1 || x.values[0].Kind != parse.OperandParam || x.values[0].Param >= len(e.args) {
		return nil
	}
	found, _ := e.args[x.values[0].Param].(*plan.Found)
	if found == nil || !found.List || !found.Known {
		return nil
	}
	return found
}

// scalar returns the value that a subquery found. Of several rows the server says
// that they are too many.
func scalar(found *plan.Found) (arg any, known bool) {
	switch {
	case found.List, !found.Known, len(found.Values) > 1:
		return nil, false
	case len(found.Values) == 0:
		return nil, true
	}
	return found.Values[0], true
}

// fold computes an operation on constants.
func (e *evaluation) fold(x *parse.Expr) (any, bool) {
	args := make([]any, len(x.Args))
	for i := range x.Args {
		o := literal(x.Args[i])
		arg, known := e.arg(&o)
		if !known {
			return nil, false
		}
		args[i] = arg
	}
	return value.Fold(x.Op, args...)
}
