package route

import (
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// Weigher returns the weight of a text under the collation of a column, in
// hexadecimal digits: the same for all texts that the collation takes for equal.
type Weigher func(column *value.Column, text string) (string, error)

// match tells what a comparison with an operand says of a key.
type match uint8

const (
	matchAny     match = iota // nothing
	matchOne                  // only rows with the value match
	matchNothing              // no row matches, as with NULL
)

// column returns what is known of a sharding column. Text whose collation takes
// different spellings for equal can be routed by only as the strategy's textKey
// says.
func (e *evaluation) column(t *rule.Table, k *key) *value.Column {
	c := e.meta.column(t.Name, k.column)
	if c == nil || c.Class != value.ClassText || c.Binary() {
		return c
	}
	if k.textKey == rule.TextRefuse && e.err == nil {
		e.err = errInexactText(t, c)
	}
	return c
}

// match returns the value of a key that a comparison with the operand asks for.
func (e *evaluation) match(k *key, column *value.Column, operand *parse.Operand) (algorithm.Value, match) {
	arg, known := e.arg(operand)
	if !known {
		return algorithm.Value{}, matchAny
	}
	v, m := e.program.convert.Compare(arg, column)
	switch m {
	case value.MatchNull: // nothing equals NULL
		return v, matchNothing
	case value.MatchUnknown:
		return v, matchAny
	}
	if k.textKey != rule.TextRefuse && v.Kind() == algorithm.KindText {
		return e.matchText(k, column, v)
	}
	return v, matchOne
}

// matchText brings a text to the form in which rows are placed by it.
func (e *evaluation) matchText(k *key, column *value.Column, v algorithm.Value) (algorithm.Value, match) {
	switch k.textKey {
	case rule.TextBinary:
		if column == nil || column.Class == value.ClassText && !column.Binary() {
			return v, matchAny // other spellings are equal and lie elsewhere
		}
	case rule.TextWeight:
		if column == nil {
			return v, matchAny
		}
		v = e.placed(k, column, v)
	}
	return v, matchOne
}

// placed returns the value by which a row is placed that holds v in the key.
func (e *evaluation) placed(k *key, column *value.Column, v algorithm.Value) algorithm.Value {
	switch {
	case k.textKey != rule.TextWeight || v.Kind() != algorithm.KindText || e.err != nil:
		return v
	case column == nil:
		e.err = errNoWeight(k.column, "the column is not known")
		return v
	case column.Class != value.ClassText:
		return v
	case e.weigh == nil:
		e.err = errNoWeight(k.column, "no server can be asked for it")
		return v
	}
	weight, err := e.weigh(column, v.String())
	if err != nil {
		e.err = err
		return v
	}
	return algorithm.Text(weight)
}

// checkJoinedText refuses to pair rows by a text column of which equal values may
// lie on different nodes.
func checkJoinedText(r *reference, column string, c *value.Column) error {
	k, ok := r.keyNamed(column)
	if !ok || k.textKey != rule.TextBinary || c == nil || c.Class != value.ClassText || c.Binary() {
		return nil
	}
	return errInexactText(r.rule, c)
}
