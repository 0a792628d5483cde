package route

import (
	"fmt"

	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
)

// maxCombinations is the number of combinations of values of several columns that
// are looked at for one condition; more of them narrow nothing.
const maxCombinations = 1 << 16

// complexLevel is a level of a reference at which several columns choose together.
type complexLevel struct {
	level    level
	strategy *rule.Strategy
	keys     []int // indexes into reference.keys, for each of the strategy's columns
}

func complexLevels(t *rule.Table, keys []key) []complexLevel {
	var out []complexLevel
	for _, l := range levels {
		s := strategyAt(t, l)
		if s == nil || s.Complex == nil {
			continue
		}
		c := complexLevel{level: l, strategy: s}
		for _, column := range s.Columns {
			for i := range keys {
				if keys[i].column == column {
					c.keys = append(c.keys, i)
				}
			}
		}
		out = append(out, c)
	}
	return out
}

// facts is what the conditions that surround a place in an expression say of the
// keys of a reference, by the index of the key. Nil says nothing.
type facts []fact

// fact is what is known of one key: that it has one of some values, or that it is
// in a range.
type fact struct {
	listed   bool
	values   []algorithm.Value // where listed
	interval algorithm.Range   // else; without bounds nothing is known
}

// learn returns the facts that hold for every operand of an AND: those around it,
// and what its operands say of keys that choose together with others.
func (e *evaluation) learn(r *reference, kids []*expr) facts {
	known := make(facts, len(r.keys))
	copy(known, e.facts)
	for _, kid := range kids {
		if kid == nil || kid.key == nil || kid.key.shared == 0 {
			continue
		}
		f := &known[kid.key.index]
		switch kid.op {
		case exprValues:
			if values, ok := e.values(r, kid); ok && (!f.listed || len(values) < len(f.values)) {
				*f = fact{listed: true, values: values}
			}
		case exprRange:
			if interval, _, every := e.interval(r, kid); !every && !f.listed {
				f.interval = interval
			}
		}
	}
	return known
}

// learnTuple returns the facts around a tuple, and what the tuple itself says.
func (e *evaluation) learnTuple(r *reference, parts []part, tuple []parse.Operand) facts {
	known := make(facts, len(r.keys))
	copy(known, e.facts)
	for _, part := range parts {
		if part.key.shared == 0 || part.position >= len(tuple) {
			continue
		}
		v, m := e.match(part.key, e.column(r.rule, part.key), &tuple[part.position])
		if m == matchOne {
			known[part.key.index] = fact{listed: true, values: []algorithm.Value{v}}
		}
	}
	return known
}

// values returns the values of a list; ok is false when one of them may be
// anything.
func (e *evaluation) values(r *reference, x *expr) (values []algorithm.Value, ok bool) {
	column := e.column(r.rule, x.key)
	values = make([]algorithm.Value, 0, len(x.values))
	for i := range x.values {
		v, match := e.match(x.key, column, &x.values[i])
		switch match {
		case matchNothing:
		case matchOne:
			values = append(values, v)
		default:
			return nil, false
		}
	}
	return values, true
}

// narrow returns the nodes that may hold rows of which the facts around are true,
// and f of the key.
func (e *evaluation) narrow(r *reference, c *complexLevel, k *key, f fact) (set nodeSet, every bool) {
	p := product{strategy: c.strategy, known: make([]algorithm.Known, len(c.keys)), lists: make([][]algorithm.Value, len(c.keys)), combinations: 1}
	for i, at := range c.keys {
		known := f
		switch {
		case at == k.index:
		case e.facts != nil:
			known = e.facts[at]
		default:
			continue
		}
		if known.listed {
			p.list(i, known.values)
		} else {
			p.known[i].Range = known.interval
		}
	}
	targets, ok, err := p.targets()
	if err == nil && !ok && p.enumerate(uint64(e.program.set.MaxRangeValues)) {
		targets, ok, err = p.targets()
	}
	switch {
	case err != nil:
		if e.err == nil {
			e.err = rangeRefused(c.strategy, err)
		}
		return nodeSet{}, all
	case !ok:
		return nodeSet{}, all
	}
	for i := range r.rule.Nodes {
		if targets[c.target(&r.rule.Nodes[i])] {
			set.add(i)
		}
	}
	return set, false
}

// shard returns the target of a row by the values of all keys of the reference.
func (c *complexLevel) shard(values []algorithm.Value) (int, error) {
	own := make([]algorithm.Value, len(c.keys))
	for i, at := range c.keys {
		own[i] = values[at]
	}
	i, err := c.strategy.Complex.Shard(own)
	if err == nil && (i < 0 || i >= len(c.strategy.Targets)) {
		err = fmt.Errorf("algorithm %s gives target %d of %d", c.strategy.Algorithm, i, len(c.strategy.Targets))
	}
	return i, err
}

// target returns the index of a node among the targets of the level.
func (c *complexLevel) target(n *rule.Node) int {
	if c.level == levelDatabase {
		return n.Source
	}
	return n.Target
}

// product is every combination of the values of several columns.
type product struct {
	strategy *rule.Strategy
	known    []algorithm.Known
	// lists holds the values of the columns that have a list; what is known of
	// the others does not change.
	lists        [][]algorithm.Value
	combinations int // above maxCombinations: too many
}

func (p *product) list(column int, values []algorithm.Value) {
	if values == nil {
		values = []algorithm.Value{}
	}
	p.lists[column] = values
	p.combinations = min(p.combinations*len(values), maxCombinations+1)
}

// enumerate makes lists of the columns that are in a small range of integers.
func (p *product) enumerate(limit uint64) (some bool) {
	for i := range p.known {
		if p.lists[i] != nil || !p.known[i].IsRange() {
			continue
		}
		if integers, ok := p.known[i].Range.Integers(limit); ok {
			p.list(i, integers)
			some = true
		}
	}
	return some
}

// targets returns which targets the combinations lead to. ok false means that
// they cannot be told.
func (p *product) targets() (found []bool, ok bool, err error) {
	if p.combinations > maxCombinations {
		return nil, false, nil
	}
	found = make([]bool, len(p.strategy.Targets))
	for n := range p.combinations {
		for i, list := range p.lists {
			if list != nil {
				p.known[i].Value = list[n%len(list)]
				n /= len(list)
			}
		}
		indexes, ok, err := algorithm.NarrowBy(p.strategy.Complex, p.known)
		if err != nil || !ok {
			return nil, false, err
		}
		for _, i := range indexes {
			if i < 0 || i >= len(found) {
				return nil, false, nil
			}
			found[i] = true
		}
	}
	return found, true, nil
}
