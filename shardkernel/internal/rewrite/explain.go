package rewrite

import (
	"fmt"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
)

// Explanation is EXPLAIN in front of a statement that was routed by itself. It
// is immutable and may be shared.
type Explanation struct {
	Prefix string // the text before the statement
	Runs   bool   // the server runs the statement as well
	Stmt   *parse.Statement
	Rules  *rule.Set
}

// Explain turns what was planned for the statement into its explanation, in which
// tables have their logical names.
func (e *Explanation) Explain(ex *plan.Execution) error {
	if ex.Merge != nil && ex.Merge.Broadcast && !e.Runs { // the copies are alike
		ex.Units = ex.Units[:1]
	}
	if len(ex.Units) != 1 || ex.Gather != nil {
		return fault.Unsupported("EXPLAIN over several nodes", fmt.Sprintf("the statement goes to %d nodes, and each server explains its own part", ex.Nodes()),
			"see where it goes by Plugin.Preview, add a condition that leads to one node, or explain a part on its data source, which Plugin.DataSource(name) gives")
	}
	u := &ex.Units[0]
	u.SQL = e.Prefix + u.SQL
	ex.Write, ex.Query, ex.LastInsertID, ex.Merge = ex.Write && e.Runs, true, 0, nil
	n := &names{tables: map[string]string{}}
	for i := range e.Stmt.Tables {
		t, ok := e.Rules.Table(e.Stmt.Tables[i].Name)
		if !ok {
			continue
		}
		for _, node := range t.Nodes {
			if node.DataSource == u.DataSource && node.Table != t.Name {
				n.tables[node.Table] = t.Name
			}
		}
	}
	if len(n.tables) == 0 {
		return nil
	}
	ex.Merge = &plan.Merge{}
	for _, label := range []string{"table", "ref", "Extra", "EXPLAIN", "ANALYZE"} {
		ex.Merge.Names = append(ex.Merge.Names, plan.NameColumn{Column: plan.ColumnRef{Name: label}, Logical: n.words})
	}
	return nil
}
