package plan

import (
	"slices"
	"testing"
)

func TestWarningsNameWhatSeveralNodesCost(t *testing.T) {
	two := []Unit{{DataSource: "ds0"}, {DataSource: "ds1"}}
	for name, c := range map[string]struct {
		execution Execution
		want      []string
	}{
		"one node":   {Execution{Kind: KindAllNodes, Units: two[:1], Write: true}, nil},
		"scatter":    {Execution{Kind: KindAllNodes, Units: two, Merge: &Merge{}}, []string{"no condition on a sharding column: all 2 nodes are asked"}},
		"all tables": {Execution{Kind: KindAllNodes, Units: two, Inquiry: true, Merge: &Merge{}}, nil},
		"definition": {Execution{Kind: KindAllNodes, Units: two, Write: true, DDL: true, Merge: &Merge{}}, []string{"2 statements take effect one by one: after a failure some nodes are done, and the same statement is to be repeated"}},
		"write over data sources": {
			Execution{Kind: KindStandard, Units: two, Write: true},
			[]string{"2 data sources commit one after the other: a crash in between leaves a part"},
		},
		"write inside one": {Execution{Kind: KindStandard, Units: []Unit{two[0], two[0]}, Write: true}, nil},
		"groups":           {Execution{Kind: KindStandard, Units: two, Merge: &Merge{Kind: MergeGroup, GroupBy: []GroupKey{{}}}}, []string{"groups or distinct values of all nodes are held in memory, up to props.maxMergeRows"}},
		"distinct values": {
			Execution{Kind: KindStandard, Units: two, Merge: &Merge{Kind: MergeGroup, Aggregates: []Aggregate{{Distinct: []GroupKey{{}}}}}},
			[]string{"groups or distinct values of all nodes are held in memory, up to props.maxMergeRows"},
		},
		"distinct rows": {
			Execution{Kind: KindStandard, Units: two, Merge: &Merge{Distinct: &Distinct{}}},
			[]string{"groups or distinct values of all nodes are held in memory, up to props.maxMergeRows"},
		},
		"sorted distinct rows": {Execution{Kind: KindStandard, Units: two, Merge: &Merge{Kind: MergeOrdered, Distinct: &Distinct{Sorted: true}}}, nil},
		"page":                 {Execution{Kind: KindStandard, Units: two, Merge: &Merge{HasLimit: true, Offset: 7}}, []string{"each node reads the 7 rows that OFFSET skips"}},
	} {
		if got := c.execution.Warnings(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestNodesAreCountedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		execution      Execution
		nodes, sources int
	}{
		"none":                   {Execution{}, 0, 0},
		"an INSERT in parts":     {Execution{Units: []Unit{{DataSource: "a", Table: "t_0"}, {DataSource: "a", Table: "t_0"}, {DataSource: "a", Table: "t_1"}}}, 2, 1},
		"a table in each":        {Execution{Units: []Unit{{DataSource: "a", Table: "t"}, {DataSource: "b", Table: "t"}}}, 2, 2},
		"a batch back and forth": {Execution{Units: []Unit{{DataSource: "a", Table: "t"}, {DataSource: "b", Table: "t"}, {DataSource: "a", Table: "t"}}}, 3, 2},
		"one unit for several":   {Execution{United: 8, Units: []Unit{{DataSource: "a"}}}, 8, 1},
	} {
		if nodes, sources := c.execution.Nodes(), c.execution.Sources(); nodes != c.nodes || sources != c.sources {
			t.Errorf("%s: %d nodes of %d sources, want %d of %d", name, nodes, sources, c.nodes, c.sources)
		}
	}
}
