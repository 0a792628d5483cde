package route

import (
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
)

// checkShadows refuses a statement in which something else than a sharded table has
// the name of an actual table that would be written in the place of the logical one.
// A common table expression of that name would be read instead of the rows, and a
// qualifier that means an alias would mean the columns of the table.
func (p *Program) checkShadows() error {
	stmt := p.stmt
	aliases := stmt.Aliases
	for i := range stmt.Tables {
		if t := &stmt.Tables[i]; t.Alias == "" && !p.set.IsTable(t.Name) {
			aliases = append(slices.Clip(aliases), strings.ToLower(t.Name))
		}
	}
	if len(aliases)+len(stmt.CTEs) == 0 {
		return nil
	}
	for _, r := range p.refs {
		for i := range r.rule.Nodes {
			name := strings.ToLower(r.rule.Nodes[i].Table)
			switch {
			case strings.EqualFold(name, r.rule.Name):
			case slices.Contains(stmt.CTEs, name):
				return refuseShadow("common table expression", name, r.rule.Name)
			case stmt.Tables[r.table].Alias == "" && slices.Contains(aliases, name):
				return refuseShadow("table", name, r.rule.Name)
			}
		}
	}
	return nil
}

func refuseShadow(what, name, table string) error {
	return fault.Unsupported("a "+what+" called "+name, "an actual table of "+table+" has that name, which takes the place of "+table, "give it another name or alias")
}
