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
		"one node": {Execution{Kind: KindAllNodes, Units: two[:1], Write: true}, nil},
		"scatter":  {Execution{Kind: KindAllNodes, Units: two, Merge: &Merge{}}, []string{"no condition on a sharding column: all 2 nodes are asked"}},
		"write over data sources": {
			Execution{Kind: KindStandard, Units: two, Write: true},
			[]string{"2 data sources commit one after the other: a crash in between leaves a part"},
		},
		"write inside one": {Execution{Kind: KindStandard, Units: []Unit{two[0], two[0]}, Write: true}, nil},
		"groups":           {Execution{Kind: KindStandard, Units: two, Merge: &Merge{Kind: MergeGroup, GroupBy: []GroupKey{{}}}}, []string{"the groups of all nodes are held in memory, up to props.maxMergeRows"}},
		"page":             {Execution{Kind: KindStandard, Units: two, Merge: &Merge{HasLimit: true, Offset: 7}}, []string{"each node reads the 7 rows that OFFSET skips"}},
	} {
		if got := c.execution.Warnings(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
