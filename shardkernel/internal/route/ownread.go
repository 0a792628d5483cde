package route

import (
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// ownRead narrows the nodes of a read, or of a write to what models are associated
// with, to those of the part that is planned, where WHERE gives the primary keys of
// models, or of the rows that models are associated with. Without a declaration there is one such model, and the others are asked where
// its node does not have the row. It changes nothing where the nodes are not known.
func (p *Program) ownRead(e *evaluation, in *Input, sets []nodeSet) own {
	r, m := p.refs[0], in.Model
	if m == nil || m.Table != r.rule.Name || e.hinted || sets[0].count() < 2 {
		return own{}
	}
	o := own{narrowed: true}
	var of []string
	switch {
	case m.Associated:
		of = m.Keys
	case r.rule.TrustModel:
	case p.findsOneRow():
		o.rest = plan.RestRead
	default:
		return own{}
	}
	columns := e.meta.table(r.rule.Name)
	key := p.pinned(e, r, columns, of)
	if key == nil {
		return own{}
	}
	nodes, known := e.modelNodes(r, m, key, columns)
	nodes.intersect(sets[0])
	if !known || nodes.empty() || nodes.count() == sets[0].count() || len(key.Rows) > 1 && o.rest != plan.RestNone {
		return own{}
	}
	if in.Part == plan.PartRest {
		nodes = without(sets[0], nodes)
	}
	sets[0] = nodes
	return o
}

// findsOneRow reports whether a read by primary key gives the row that a node has
// and nothing where it has none, so that one that gives it answers alone.
func (p *Program) findsOneRow() bool {
	const twice = parse.FeatureInto | parse.FeatureUserVariable | parse.FeatureFoundRows | parse.FeatureVolatile | parse.FeatureLock |
		parse.FeatureRoutine | parse.FeatureWindow | parse.FeatureOtherAggregate
	s := p.stmt.Select
	return p.stmt.Features&twice == 0 && len(s.GroupBy) == 0 && !s.HasAggregate() && s.Having == (parse.Span{})
}
