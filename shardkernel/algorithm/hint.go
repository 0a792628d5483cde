package algorithm

// Hint is an algorithm of a hint strategy, whose values come from the caller of
// a statement and not from its SQL.
type Hint interface {
	// BindHint fixes the algorithm to the targets of one strategy, as
	// Standard.Bind does.
	BindHint(targets []string) (HintSharder, error)
}

// HintSharder finds the targets of hinted values. It must be safe for concurrent
// use.
type HintSharder interface {
	// Targets returns the indexes of the targets for the values, of which there
	// is at least one and none is NULL. Values are integers, texts and times as
	// the caller gave them: a hint in an SQL comment gives texts. An error means
	// that they lead nowhere; it says why, without quoting them.
	Targets(values []Value) ([]int, error)
}

// HintOf returns an algorithm for a hint strategy: the algorithm itself where it
// is a Hint one, else a Standard one of which each value gives one target. ok is
// false when it is neither.
func HintOf(a Algorithm) (h Hint, ok bool) {
	if h, ok = a.(Hint); ok {
		return h, true
	}
	s, ok := a.(Standard)
	return eachValue{s}, ok
}

type eachValue struct{ Standard }

func (a eachValue) BindHint(targets []string) (HintSharder, error) {
	if c, ok := a.Standard.(ColumnChecker); ok {
		if err := c.CheckColumn(hintVariable); err != nil {
			return nil, err
		}
	}
	s, err := a.Bind(targets)
	if err != nil {
		return nil, err
	}
	return eachValueSharder{s}, nil
}

type eachValueSharder struct{ Sharder }

func (s eachValueSharder) Targets(values []Value) ([]int, error) {
	targets := make([]int, len(values))
	for i, v := range values {
		var err error
		if targets[i], err = s.Shard(v); err != nil {
			return nil, err
		}
	}
	return targets, nil
}
