package route

import (
	"reflect"
	"slices"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// mixesRows reports whether the rows of an IN list may have values of different types
// at one place. A server compares all of them as one type then, a text and a number as
// DOUBLE, unless an index finds the rows of each by its own type. A hexadecimal literal
// is a number beside a column that is NOT NULL, and a text beside one that may be NULL.
// Measured on MariaDB 10.11.
func (p *Program) mixesRows(in *Input) bool {
	return slices.ContainsFunc(p.stmt.RowPlaces, func(place []parse.RowValue) bool {
		values := make([]any, len(place))
		for i := range place {
			o := &place[i]
			switch _, isHex := o.Literal.([]byte); {
			case o.Kind == parse.OperandParam && o.Param < len(in.Args):
				values[i] = in.Args[o.Param]
			case o.Kind == parse.OperandLiteral && !isHex:
				values[i] = o.Literal
			default:
				v, ok := valueLike(p.known(o.Column, in.Meta))
				if !ok && (isHex || len(place) > 1) {
					return true
				}
				values[i] = v
			}
		}
		return !value.Alike(values)
	})
}

// valueLike returns a value that is compared as those of a column are, which may be
// nil; ok is false where none is.
func valueLike(c *value.Column) (v any, ok bool) {
	if c == nil {
		return nil, false
	}
	switch c.Class {
	case value.ClassInteger:
		return 0, true
	case value.ClassDecimal:
		return value.Decimal("0"), true
	case value.ClassFloat:
		return 0.0, true
	case value.ClassText:
		return "", true
	}
	return nil, false
}

func (e *evaluation) evalTuples(r *reference, x *expr) (set nodeSet, every bool) {
	shortens := e.shortens(x.tuples)
	if !shortens && e.doubtful(x) {
		return set, true
	}
	elements := make([]element, len(x.tuples))
	for i, tuple := range x.tuples {
		nodes, everyTuple := e.evalTuple(r, x.parts, tuple)
		elements[i] = element{nodes: nodes, always: everyTuple || nodes.empty()}
		every = every || everyTuple
		set.unite(nodes)
	}
	if x.list != noList && shortens {
		e.keepElements(x.list, elements)
	}
	return set, every
}

// shortens reports whether a server may be sent some of the tuples. It compares a
// column with all of the list in one type, and looks for texts among those of several
// rows by a search that misses some: with latin1_german2_ci, (8, 'ä') is found alone,
// and not beside (3, 'ae'). Measured on MariaDB 10.11.
func (e *evaluation) shortens(tuples [][]parse.Operand) bool {
	for _, tuple := range tuples {
		for i := range tuple {
			if arg, known := e.arg(&tuple[i]); !known || !isInteger(arg) {
				return false
			}
		}
	}
	return true
}

// doubtful reports whether a list of several types may meet rows in which a key has
// another value than the list: the server compares a text beside numbers as DOUBLE,
// which an integer up to maxExact does not mind.
func (e *evaluation) doubtful(x *expr) bool {
	return slices.ContainsFunc(x.parts, func(part part) bool {
		args, known := make([]any, 0, len(x.tuples)), true
		exact := true
		for _, tuple := range x.tuples {
			arg, ok := e.arg(&tuple[part.position])
			if known = known && ok; ok {
				args = append(args, arg)
				exact = exact && (arg == nil || isExact(arg))
			}
		}
		return !exact && !(known && value.Alike(args))
	})
}

// isExact reports whether an argument is an integer that a DOUBLE tells from others.
func isExact(arg any) bool {
	if !isInteger(arg) {
		return false
	}
	v := reflect.ValueOf(arg)
	if v.CanInt() {
		return v.Int() <= maxExact && v.Int() >= -maxExact
	}
	return v.Uint() <= maxExact
}

// maxExact is the last integer up to which a DOUBLE tells all of them apart, less
// one: its neighbour beyond is shown as the same.
const maxExact = 1<<53 - 1

func isInteger(arg any) bool {
	switch arg.(type) {
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return true
	}
	return false
}

func (e *evaluation) evalTuple(r *reference, parts []part, tuple []parse.Operand) (set nodeSet, every bool) {
	around := e.facts
	if r.complex != nil {
		e.facts = e.learnTuple(r, parts, tuple)
	}
	every = true
	for _, part := range parts {
		if part.position >= len(tuple) {
			continue
		}
		var nodes nodeSet
		column := e.column(r.rule, part.key)
		switch {
		case e.addValue(r, part.key, column, &tuple[part.position], &nodes):
		case every:
			set, every = nodes, false
		default:
			set.intersect(nodes)
		}
	}
	e.facts = around
	return set, every
}
