package route

import (
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
)

// rangeNodes returns the nodes that may hold a key in the interval.
//
// The values of a small range of integers are looked at one by one where an
// algorithm does not narrow ranges, and where the key chooses on both levels:
// what each of them gives for the range as a whole would make a product of nodes,
// most of which no value leads to.
func (e *evaluation) rangeNodes(r *reference, k *key, interval algorithm.Range) (set nodeSet, every bool) {
	concerned := k.levels &^ e.replaced
	sources, everySource := e.rangeTargets(r.rule.Database, concerned&levelDatabase != 0, interval)
	targets, everyTarget := e.rangeTargets(r.rule.Tables, concerned&levelTable != 0, interval)
	if e.err != nil {
		return nodeSet{}, all
	}
	every = everySource && everyTarget
	if !every {
		for i := range r.rule.Nodes {
			n := &r.rule.Nodes[i]
			if (everySource || sources[n.Source]) && (everyTarget || targets[n.Target]) {
				set.add(i)
			}
		}
	}
	both := concerned == levelDatabase|levelTable
	if concerned != 0 && (both || every) {
		if values, ok := e.enumerate(r, k, interval); ok {
			if every {
				set, every = values, false
			} else {
				set.intersect(values)
			}
		}
	}
	if k.shared != 0 {
		every = e.narrowShared(r, k, fact{interval: interval}, &set, every)
	}
	return set, every
}

func (e *evaluation) rangeTargets(s *rule.Strategy, concerned bool, interval algorithm.Range) (targets []bool, every bool) {
	if !concerned || s.Ranger == nil || e.err != nil {
		return nil, all
	}
	indexes, ok, err := s.Ranger.Range(interval)
	if err != nil {
		e.err = rangeRefused(s, err)
		return nil, all
	}
	if !ok {
		return nil, all
	}
	targets = make([]bool, len(s.Targets))
	for _, i := range indexes {
		if i < 0 || i >= len(targets) {
			return nil, all
		}
		targets[i] = true
	}
	return targets, false
}

// enumerate returns the nodes of every integer in the interval by what the key
// chooses itself. ok is false when they are too many, or when one of them has no
// target: rows that were stored under another rule may hold it.
func (e *evaluation) enumerate(r *reference, k *key, interval algorithm.Range) (set nodeSet, ok bool) {
	values, ok := interval.Integers(uint64(e.program.set.MaxRangeValues))
	if !ok {
		return set, false
	}
	alone := *k
	alone.shared = 0
	for _, v := range values {
		if e.addNodes(r, &alone, v, &set) {
			return nodeSet{}, false
		}
	}
	return set, true
}
