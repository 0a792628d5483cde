package route

import (
	"github.com/gormshard/sharding/shardkernel/internal/parse"
)

// An UPDATE that makes NULL of a sharding column would take rows from their nodes.
// GORM sends one with every Replace of a has-one or has-many, of which the foreign
// key may be that column, and mostly there is no row to detach: then the UPDATE
// affects none, on one database too.

// mayAsk reports whether an UPDATE that may move rows of the result's nodes would move
// them to none, and changes nothing, fails for nothing, where no row fulfils WHERE.
func (p *Program) mayAsk(e *evaluation, result *Result) bool {
	s := p.stmt
	if len(s.Tables) != 1 || s.Tables[0].Alias != "" || s.Update.Where == (parse.Span{}) ||
		s.Features&(parse.FeatureSubquery|parse.FeatureDerived|parse.FeatureUserVariable|parse.FeatureVolatile|parse.FeatureRoutine|parse.FeatureLock|parse.FeaturePartition) != 0 {
		return false
	}
	r := p.refs[0]
	if k, a, err := p.moved(e, r, s.Update.Set, result); k == nil || err != nil || !e.isNull(&a.Value) {
		return false
	}
	columns := e.meta.table(r.rule.Name)
	if columns == nil {
		return false
	}
	for i := range s.Update.Set {
		a := &s.Update.Set[i]
		if _, listed := columns.Column(a.Column.Name); !listed {
			return false
		}
		o := literal(a.Value)
		if _, known := e.arg(&o); !known {
			return false
		}
	}
	return true
}
