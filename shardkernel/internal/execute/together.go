package execute

import (
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// Bounds of a statement that stands for several units.
const (
	mostTogether    = 64
	textTogether    = 64 << 10
	markersTogether = 65_535
)

// between stands between units. A comment ends at the end of its line.
const between = "\n) UNION ALL ("

// together puts units of one data source into as few statements as bounds allow.
// It saves the round trips of all but one of them.
func together(units []*plan.Unit) []*plan.Unit {
	var out []*plan.Unit
	for len(units) > 0 {
		n, text, args := 0, 0, 0
		for ; n < min(len(units), mostTogether); n++ {
			text += len(units[n].SQL) + len(between)
			args += len(units[n].Args)
			if n > 0 && (text > textTogether || args > markersTogether) {
				break
			}
		}
		out = append(out, union(units[:n]))
		units = units[n:]
	}
	return out
}

func union(units []*plan.Unit) *plan.Unit {
	if len(units) == 1 {
		return units[0]
	}
	one := *units[0]
	one.Table, one.Args = "", nil // the failure of one is that of all
	var text strings.Builder
	text.WriteString("(")
	for i, u := range units {
		if i > 0 {
			text.WriteString(between)
		}
		text.WriteString(u.SQL)
		one.Args = append(one.Args, u.Args...)
		one.Prepare = one.Prepare || u.Prepare
	}
	text.WriteString("\n)")
	one.SQL = text.String()
	return &one
}
