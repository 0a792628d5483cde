package route

import (
	"fmt"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/internal/model"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// Input is what one execution brings to a program. Route only reads it.
type Input struct {
	// Args are the arguments of the statement's markers.
	Args []any
	// Meta gives the columns of the tables; nil when nothing is known.
	Meta Meta
	// Keys are the generated keys of a result that needed them, see
	// Result.NeedsKeys; none otherwise.
	Keys []any
	// Now is the time of the statement as the servers show it, with six digits of
	// a second, for a result that needed it, see Result.NeedsNow; else empty.
	Now string
	// Hints are what the caller tells beside the SQL; nil when nothing.
	Hints *Hints
	// Model is what the models say that the statement is made of; nil when it is
	// made of none. Part is the part of the statement that is planned.
	Model *model.Model
	Part  plan.Part
	// Weigh is asked for the weights of texts; nil when no server is at hand.
	Weigh Weigher
	// Describe is asked for the types of expressions; nil when no server is at
	// hand.
	Describe Describer
}

// Hints are what the caller tells of one execution beside its SQL.
type Hints struct {
	// Values are sharding values, at most one entry for a table.
	Values []HintValues
}

// HintValues are the sharding values of a logical table.
//
// A hint strategy takes its values from here and nowhere else: none means every
// target. On a standard or complex strategy they stand in for the conditions of
// a statement that reads; one that writes is refused when its own values lead
// elsewhere. A value for a complex strategy is a map[string]any from column to
// value.
type HintValues struct {
	// Logical is the table; empty for every table that has no entry of its own.
	Logical string
	// Database and Table hold the values for the two levels; empty means that
	// nothing is told of the level.
	Database, Table []any
	// Node is the node whose actual table the caller names, in place of values for
	// either level; nil when none is named.
	Node *rule.Node
}

// of returns the values for a table; ok is false when there are none.
func (h *Hints) of(t *rule.Table) (values *HintValues, ok bool) {
	if h == nil {
		return nil, false
	}
	for i := range h.Values {
		switch h.Values[i].Logical {
		case t.Name:
			return &h.Values[i], true
		case "":
			values = &h.Values[i]
		}
	}
	return values, values != nil
}

// at returns the values for a level.
func (v *HintValues) at(l level) []any {
	if l == levelDatabase {
		return v.Database
	}
	return v.Table
}

// levels returns the levels that the values say something of.
func (v *HintValues) levels(t *rule.Table) (told level) {
	if v.Node != nil {
		return levelDatabase | levelTable
	}
	for _, l := range levels {
		if len(v.at(l)) > 0 && strategyAt(t, l) != nil {
			told |= l
		}
	}
	return told
}

// nodesOf returns the nodes of a reference by its conditions and hints.
func (e *evaluation) nodesOf(r *reference) nodeSet {
	hinted, ok := e.hints.of(r.rule)
	var told level
	if ok {
		told = hinted.levels(r.rule)
	}
	if told == 0 {
		set, every := e.eval(r, r.where)
		if every {
			return allNodes(len(r.rule.Nodes))
		}
		return set
	}
	e.hinted = true
	nodes := e.hintNodes(r, hinted)
	if e.err != nil {
		return nodes
	}
	if !e.program.stmt.Tables[r.table].Target {
		set, every := e.conditions(r, told)
		if every {
			return nodes
		}
		set.intersect(nodes)
		return set
	}
	// A statement that writes must not reach past its own values.
	own, every := e.conditions(r, (levelDatabase|levelTable)&^told)
	for i := own.next(0); i >= 0 && !every && e.err == nil; i = own.next(i + 1) {
		if !nodes.has(i) {
			e.err = errHintElsewhere(r.rule)
		}
	}
	set, every := e.conditions(r, 0)
	if every {
		return nodes
	}
	set.intersect(nodes)
	return set
}

// conditions returns the nodes of a reference by its conditions, without what they
// say of some levels.
func (e *evaluation) conditions(r *reference, without level) (set nodeSet, every bool) {
	e.replaced = without
	set, every = e.eval(r, r.where)
	e.replaced = 0
	return set, every
}

// hintNodes returns the nodes that hinted values lead to.
func (e *evaluation) hintNodes(r *reference, hinted *HintValues) nodeSet {
	if hinted.Node != nil {
		var set nodeSet
		for i := range r.rule.Nodes {
			if &r.rule.Nodes[i] == hinted.Node {
				set.add(i)
			}
		}
		return set
	}
	set := allNodes(len(r.rule.Nodes))
	for _, l := range levels {
		s, values := strategyAt(r.rule, l), hinted.at(l)
		if s == nil || len(values) == 0 {
			continue
		}
		targets, err := e.hintTargets(r, s, values)
		if err != nil {
			if e.err == nil {
				e.err = err
			}
			return set
		}
		var nodes nodeSet
		for i := range r.rule.Nodes {
			n := &r.rule.Nodes[i]
			if l == levelDatabase && targets[n.Source] || l == levelTable && targets[n.Target] {
				nodes.add(i)
			}
		}
		set.intersect(nodes)
	}
	return set
}

// hintTargets returns which targets of a strategy hinted values lead to.
func (e *evaluation) hintTargets(r *reference, s *rule.Strategy, values []any) ([]bool, error) {
	noNode := func(err error) error {
		return &fault.RouteError{
			Class: fault.ErrNoDataNode, Table: r.rule.Name, Err: err,
			Reason: "a hinted value leads to no node", Remedy: "correct the value of the hint",
		}
	}
	targets := make([]bool, len(s.Targets))
	mark := func(found []int, err error) error {
		if err != nil {
			return noNode(err)
		}
		for _, i := range found {
			if i < 0 || i >= len(targets) {
				return noNode(fmt.Errorf("algorithm %s gives target %d of %d", s.Algorithm, i, len(targets)))
			}
			targets[i] = true
		}
		return nil
	}
	if s.Hint != nil {
		plain := make([]algorithm.Value, len(values))
		for i, arg := range values {
			var err error
			if plain[i], err = e.hintValue(r, nil, arg); err != nil {
				return nil, err
			}
		}
		return targets, mark(s.Hint.Targets(plain))
	}
	for _, arg := range values {
		var err error
		if s.Complex != nil {
			err = mark(e.hintedColumns(r, s, arg))
		} else {
			var v algorithm.Value
			k, _ := r.keyNamed(s.Columns[0])
			if v, err = e.hintValue(r, k, arg); err == nil {
				var i int
				i, err = shard(s, v)
				err = mark([]int{i}, err)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return targets, nil
}

// hintedColumns returns the targets of a hint for several columns.
func (e *evaluation) hintedColumns(r *reference, s *rule.Strategy, arg any) ([]int, error) {
	values, ok := arg.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the hint for a complex strategy must be a map[string]any from column to value")
	}
	known := make([]algorithm.Known, len(s.Columns))
	left := len(values)
	for i, column := range s.Columns {
		arg, ok := values[column]
		if !ok {
			continue
		}
		left--
		k, _ := r.keyNamed(column)
		v, err := e.hintValue(r, k, arg)
		if err != nil {
			return nil, err
		}
		known[i].Value = v
	}
	if left > 0 {
		return nil, fmt.Errorf("the hint names a column that is none of the strategy's, in lower case")
	}
	found, ok, err := algorithm.NarrowBy(s.Complex, known)
	if err == nil && !ok {
		err = fmt.Errorf("the columns of the hint do not tell the node")
	}
	return found, err
}

// hintValue brings a hinted value to the type of a key; with none, it stays as it
// is.
func (e *evaluation) hintValue(r *reference, k *key, arg any) (algorithm.Value, error) {
	var column *value.Column
	if k != nil {
		column = e.column(r.rule, k)
	}
	v, match := e.program.convert.Compare(arg, column)
	if e.err == nil && match == value.MatchValue && k != nil {
		v = e.placed(k, column, v)
	}
	switch {
	case e.err != nil:
		return v, e.err
	case match != value.MatchValue:
		return v, fault.Unsupported("hint for table "+r.rule.Name, "a value of the hint is NULL, or cannot be brought to the type of the sharding column exactly",
			"give a value of the column's type")
	}
	return v, nil
}

func errHintElsewhere(t *rule.Table) error {
	return fault.Unsupported("hint for table "+t.Name, "the values of a statement that writes lead to other nodes than the hint",
		"leave the hint out, or make it agree with the values")
}

// checkHinted reports a row of an INSERT that a hint does not lead to its node.
func (e *evaluation) checkHinted(set *nodeSet) {
	in := e.program.insert
	hinted, ok := e.hints.of(in.ref.rule)
	if !ok || hinted.levels(in.ref.rule) == 0 {
		return
	}
	nodes := e.hintNodes(in.ref, hinted)
	if e.err != nil {
		return
	}
	before := set.count()
	set.intersect(nodes)
	if set.empty() && before > 0 {
		e.err = errHintElsewhere(in.ref.rule)
	}
}
