package route

import (
	"slices"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// mixesRows reports whether the rows of an IN list may have values of different types
// at one place. A server compares all of them as one type then, a text and a number as
// DOUBLE, unless an index finds the rows of each by its own type. A hexadecimal literal
// is a number beside a column that is NOT NULL, and a text beside one that may be NULL.
// Measured on MariaDB 10.11.
func (p *Program) mixesRows(args []any) bool {
	return slices.ContainsFunc(p.stmt.RowPlaces, func(place []parse.Operand) bool {
		values := make([]any, len(place))
		for i, o := range place {
			switch _, isHex := o.Literal.([]byte); {
			case o.Kind == parse.OperandParam && o.Param < len(args):
				values[i] = args[o.Param]
			case o.Kind != parse.OperandLiteral, isHex:
				return true
			default:
				values[i] = o.Literal
			}
		}
		return !value.Alike(values)
	})
}
