package route

// checkPairs refuses an UPDATE or DELETE of several tables unless each row it may
// change is seen by one unit only: a row that is joined in two units would be
// changed twice, and one joined with what another unit has changed would be
// judged by its new values.
func (p *Program) checkPairs(combinations [][]int) error {
	if len(p.stmt.Tables) == 1 {
		return nil
	}
	verb := "multi-table UPDATE"
	if p.stmt.Delete != nil {
		verb = "multi-table DELETE"
	}
	for i := range p.stmt.Tables {
		if t := &p.stmt.Tables[i]; t.Target && p.refOf(i) == nil {
			return p.refuse(verb, "every node would change "+t.Name+", whose rows are in one place", "change it with a statement of its own")
		}
	}
	for _, r := range p.refs {
		if !p.stmt.Tables[r.table].Target {
			continue
		}
		seen := map[int]bool{}
		for _, nodes := range combinations {
			node := nodes[r.index]
			if seen[node] {
				return p.refuse(verb, "rows of "+r.rule.Name+" would be joined in several places, and changed in each",
					"join the tables on the sharding columns of binding tables, or add conditions that lead to one node")
			}
			seen[node] = true
			for _, other := range p.refs {
				if other.rule == r.rule && nodes[other.index] != node {
					return p.refuse(verb, "a node would read rows of "+r.rule.Name+" that another unit has changed",
						"join it with itself on its sharding columns, or add conditions that lead to one node")
				}
			}
		}
	}
	return nil
}
