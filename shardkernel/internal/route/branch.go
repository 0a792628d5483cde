package route

import (
	"slices"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
)

// unsplit are the features that tie the branches of a UNION to one session, or to
// one node.
const unsplit = parse.FeatureLocking | parse.FeatureInto | parse.FeatureUserVariable | parse.FeatureSystemVariable | parse.FeatureFoundRows |
	parse.FeatureLastInsertID | parse.FeatureLock | parse.FeatureVolatile | parse.FeatureOtherAggregate | parse.FeatureNestedCTE

// Splits reports whether the branches of the statement, a UNION, mean the same when
// they are sent one by one.
func (p *Program) Splits() bool { return p.stmt.Union != nil && p.stmt.Features&unsplit == 0 }

// AnyUnit returns a unit of a data source in which every table of the statement has
// its columns there, whatever rows it has; nil when a table is not in it.
func (p *Program) AnyUnit(source string) *Unit {
	if p.single != "" && p.single != source {
		return nil
	}
	u := &Unit{DataSource: source, Order: p.orderOf(source), Node: -1, Names: make([]string, len(p.stmt.Tables))}
	for i, r := range p.refs {
		node := slices.IndexFunc(r.rule.Nodes, func(n rule.Node) bool { return n.DataSource == source })
		if node < 0 {
			return nil
		}
		u.Names[r.table] = r.rule.Nodes[node].Table
		if i == 0 {
			u.Node = node
		}
	}
	return u
}

// unpreceded are the features by which a subquery may mean another thing before
// the statement around it runs.
const unpreceded = unsplit | parse.FeatureNow | parse.FeatureRandom | parse.FeatureOuterAggregate | parse.FeatureCTE | parse.FeatureAggregateMember

// Precedes reports whether subqueries of the statement may run before it.
func (p *Program) Precedes(meta Meta) bool {
	return len(p.stmt.Subqueries) > 0 && p.stmt.Features&unpreceded == 0 && !p.mixesMembers(meta)
}

// Everywhere reports whether every data source can answer the statement alone.
func (p *Program) Everywhere() bool { return len(p.refs) == 0 && p.single == "" }
