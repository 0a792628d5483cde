package plan

import "fmt"

// Warnings name what an execution over several nodes may surprise with.
func (e *Execution) Warnings() []string {
	if len(e.Units) < 2 {
		return nil
	}
	var out []string
	if e.DDL {
		return append(out, fmt.Sprintf("%d statements take effect one by one: after a failure some nodes are done, and the same statement is to be repeated", len(e.Units)))
	}
	if e.Kind == KindAllNodes {
		out = append(out, fmt.Sprintf("no condition on a sharding column: all %d nodes are asked", len(e.Units)))
	}
	if e.Write {
		sources := map[string]bool{}
		for i := range e.Units {
			sources[e.Units[i].DataSource] = true
		}
		if len(sources) > 1 {
			out = append(out, fmt.Sprintf("%d data sources commit one after the other: a crash in between leaves a part", len(sources)))
		}
	}
	if m := e.Merge; m != nil {
		if m.Kind == MergeGroup && len(m.GroupBy) > 0 {
			out = append(out, "the groups of all nodes are held in memory, up to props.maxMergeRows")
		}
		if m.HasLimit && m.Offset > 0 {
			out = append(out, fmt.Sprintf("each node reads the %d rows that OFFSET skips", m.Offset))
		}
	}
	return out
}
