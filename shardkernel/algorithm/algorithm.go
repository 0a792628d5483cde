package algorithm

import "time"

// Algorithm is a configured sharding algorithm, before it knows the targets it
// chooses among: a Standard, a Complex or a Hint one, after the strategies that
// use it. One that is several of them fits several strategies. One instance may
// serve several tables. It must be safe for concurrent use.
type Algorithm any

// Standard is an algorithm of one column. A hint strategy may use it too: every
// value of the hint leads to one target.
type Standard interface {
	// Bind fixes the algorithm to the targets of one strategy: the data source
	// names, or the actual table names, in configured order and without
	// repetition. It reports targets that the algorithm can never address, or
	// addresses it has no target for, as far as it can know.
	Bind(targets []string) (Sharder, error)
}

// Sharder finds the target of one value. It must be safe for concurrent use and
// give the same answer for the same value for as long as rows exist.
type Sharder interface {
	// Shard returns the index of the target that holds rows with the value v,
	// which is never NULL. An error means that the value has no target; it says
	// why, without quoting the value.
	Shard(v Value) (int, error)
}

// Ranger is implemented by a Sharder that can narrow a range, or refuses ranges.
// Of a range of few integers (maxRangeValues of the configuration) that no Ranger
// narrows, each value is asked for; any other is sent to every target.
type Ranger interface {
	// Range returns the indexes of all targets that may hold a value in r, in
	// any order. ok false means every target. An error refuses the statement.
	//
	// r may hold values that have no target. No row was stored with them under
	// the algorithm's rule, so they may be left out; but where r holds no other,
	// Range should give every target, as they are all asked for such a value.
	Range(r Range) (targets []int, ok bool, err error)
}

// Labeler is implemented by an Algorithm that does not choose by the whole names
// of its targets. Two tables can be bound to each other if their algorithms are
// configured alike and nodes in the same place of both have equal labels.
// Without a Labeler, the nodes' names must agree but for the name of the table.
type Labeler interface {
	// Label returns what decides, beside the place of the target in the list,
	// which values belong to it. The target is one that Bind accepts.
	Label(target string) string
}

// Counter is implemented by a Standard algorithm that knows how many targets it
// needs, which makes it fit for auto tables.
type Counter interface {
	// Shards returns the number of targets. The value of partition i is on the
	// target whose name ends in the number i.
	Shards() int
}

// Composite is implemented by an algorithm made of other algorithms of the
// configuration.
type Composite interface {
	// Parts returns the names of those algorithms. They must not lead back to
	// this one.
	Parts() []string
	// Compose hands them over, in the order of Parts. It is called once, before
	// the algorithm is bound. It reports a part that does not fit.
	Compose(parts []Algorithm) error
}

// Range is an interval of sharding values. An absent bound has HasLower or
// HasUpper false. Bounds are integers for an integer column, which holds nothing
// between two neighbours, and times for a temporal column.
type Range struct {
	Lower, Upper         Value
	HasLower, HasUpper   bool
	LowerOpen, UpperOpen bool // the bound itself is excluded
}

// Props are the properties of an algorithm or a key generator as configured:
// numbers, booleans, strings and lists.
type Props map[string]any

// Factory makes an algorithm from its properties. Its error names the property
// that is missing, unknown or wrong.
type Factory = func(props Props) (Algorithm, error)

// Stepper is implemented by a Sharder whose targets hold steps of time, one after
// the other. Tables of steps to come may be made ahead by it.
type Stepper interface {
	// Steps returns the targets of the steps that overlap with the time from from
	// on and before to, in the order of time, and what the names of targets would
	// end in that such steps need and that are not there. A zero from is the
	// beginning, a zero to the end of what there are targets for.
	Steps(from, to time.Time) (targets []int, missing []string, err error)
}
