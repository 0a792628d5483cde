package algorithm

// Complex is an algorithm of several columns.
type Complex interface {
	// BindColumns fixes the algorithm to the columns of one strategy, in lower
	// case, and to its targets, as Standard.Bind does. It reports columns that it
	// needs and are not there.
	BindColumns(columns, targets []string) (ComplexSharder, error)
}

// ComplexSharder finds the target of a row by the values of several columns. It
// must be safe for concurrent use and give the same answer for the same values
// for as long as rows exist.
type ComplexSharder interface {
	// Shard returns the index of the target that holds rows with these values,
	// one for each column of the strategy, none of them NULL. It only reads the
	// slice. An error means that the values have no target together; it says
	// why, without quoting them.
	Shard(values []Value) (int, error)
}

// Narrower is implemented by a ComplexSharder that can narrow by a part of the
// columns or by ranges, or refuses ranges. Without it a statement that does not
// fix every column by values is sent to every target.
type Narrower interface {
	// Narrow returns the indexes of all targets that may hold a row of which
	// this is known, one entry for each column of the strategy; it only reads
	// the slice. ok false means every target. An error refuses the statement.
	Narrow(known []Known) (targets []int, ok bool, err error)
}

// Decider is implemented by a ComplexSharder of which a column alone decides.
type Decider interface {
	// Decides reports whether rows with equal values in that column of the
	// strategy are always on the same target, so that bound tables may be joined
	// on it.
	Decides(column int) bool
}

// Known is what the conditions of a statement say of one column.
type Known struct {
	// Value is the value of the column; NULL when it is not known.
	Value Value
	// Range holds the value where Value is NULL. Without bounds it says nothing.
	Range Range
}

// IsValue reports whether the value of the column is known.
func (k Known) IsValue() bool { return !k.Value.IsNull() }

// IsRange reports whether the column is known to be in a range.
func (k Known) IsRange() bool { return !k.IsValue() && (k.Range.HasLower || k.Range.HasUpper) }

// NarrowBy asks a sharder for the targets that may hold a row of which this is
// known: as a Narrower where it is one, else for the values where all are known.
func NarrowBy(s ComplexSharder, known []Known) (targets []int, ok bool, err error) {
	if n, narrows := s.(Narrower); narrows {
		return n.Narrow(known)
	}
	values := make([]Value, len(known))
	for i := range known {
		if !known[i].IsValue() {
			return nil, false, nil
		}
		values[i] = known[i].Value
	}
	i, err := s.Shard(values)
	if err != nil {
		return nil, false, nil // rows with such values were stored under another rule
	}
	return []int{i}, true, nil
}
