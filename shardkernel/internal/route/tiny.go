package route

import (
	"slices"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
)

// MixesTiny reports whether rows may be grouped, or made distinct, by an expression that
// chooses one of its operands, of which one is a TINYTEXT or TINYBLOB. MariaDB 10.11
// takes different values for one then: SELECT DISTINCT COALESCE(t, 'q') may give one row
// of four, and each node another one. Something found too many, as in a literal, refuses
// what could have been answered, no more.
func (p *Program) MixesTiny(meta Meta) bool {
	if p.mixing == "" {
		return false
	}
	for i := range p.stmt.Tables {
		logical, _ := p.Logical(i)
		known := meta.table(logical)
		for c := 0; known != nil && c < len(known.Columns); c++ {
			if t := known.Columns[c].Type; (t == "tinytext" || t == "tinyblob") && parse.HoldsName(p.mixing, known.Columns[c].Name) {
				return true
			}
		}
	}
	return false
}

// mayMixTiny reports whether a statement, in lower case, has the form of which MixesTiny
// speaks.
func mayMixTiny(text string) bool {
	holds := func(word string) bool { return parse.HoldsName(text, word) }
	return slices.ContainsFunc([]string{"distinct", "distinctrow", "group", "union", "intersect", "except"}, holds) &&
		(slices.ContainsFunc(choosing, holds) || holds("least") || holds("greatest"))
}
