package shardkernel

import (
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// countsOnly reports whether the units of a plan count rows and nothing else: each
// gives one row of columns that are BIGINT NOT NULL whatever its tables are, so
// that one statement may give the rows of several. Of any other columns a UNION
// ALL would hide that nodes differ in them.
func (k *Kernel) countsOnly(s *statement, ex *plan.Execution) bool {
	const begin = "SELECT COUNT("
	m := ex.Merge
	if !k.dialect.IsMySQL() || m == nil || m.Kind != plan.MergeGroup || ex.InTurn || ex.Write {
		return false
	}
	if m.Derived > 0 || len(m.GroupBy)+len(m.OrderBy)+len(m.Computed) > 0 || m.Having != nil || m.Distinct != nil || m.HasLimit {
		return false
	}
	stmt := s.program.Statement()
	if stmt.Features != 0 || stmt.Select == nil || len(stmt.Select.Items) != len(m.Aggregates) {
		return false
	}
	for i := range m.Aggregates {
		if m.Aggregates[i].Func != plan.AggregateCount || len(m.Aggregates[i].Distinct) > 0 {
			return false
		}
	}
	for i := range ex.Units {
		text := ex.Units[i].SQL
		if len(text) < len(begin) || !strings.EqualFold(text[:len(begin)], begin) || strings.Contains(text, "/*") || strings.ContainsRune(text, ';') {
			return false
		}
	}
	return true
}
