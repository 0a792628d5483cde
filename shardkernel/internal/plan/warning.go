package plan

import (
	"fmt"
	"slices"
)

// Warnings name what an execution over several nodes may surprise with.
func (e *Execution) Warnings() []string {
	if e.Gather != nil {
		return e.Gather.warnings(e.Units[0].DataSource)
	}
	if e.First != nil {
		return e.First.warnings(e)
	}
	if len(e.Units) < 2 {
		return nil
	}
	var out []string
	if e.DDL {
		return append(out, fmt.Sprintf("%d statements take effect one by one: after a failure some nodes are done, and the same statement is to be repeated", len(e.Units)))
	}
	if e.Kind == KindAllNodes && !e.Inquiry {
		out = append(out, fmt.Sprintf("no condition on a sharding column: all %d nodes are asked", len(e.Units)))
	}
	if e.Write {
		if n := e.Sources(); n > 1 {
			out = append(out, fmt.Sprintf("%d data sources commit one after the other: a crash in between leaves a part", n))
		}
	}
	if m := e.Merge; m != nil {
		if e.InMemory() {
			out = append(out, "groups or distinct values of all nodes are held in memory, up to props.maxMergeRows")
		}
		if m.HasLimit && m.Offset > 0 {
			out = append(out, fmt.Sprintf("each node reads the %d rows that OFFSET skips", m.Offset))
		}
	}
	return out
}

// Sources counts the data sources the execution goes to.
func (e *Execution) Sources() int {
	sources := map[string]bool{}
	e.eachUnit(func(u *Unit) { sources[u.DataSource] = true })
	return len(sources)
}

// eachUnit calls visit for every unit, those that rows are gathered from included.
func (e *Execution) eachUnit(visit func(u *Unit)) {
	if e.Gather != nil {
		for i := range e.Gather.Tables {
			e.Gather.Tables[i].Rows.eachUnit(visit)
		}
	}
	if e.First != nil {
		for i := range e.First.Subqueries {
			e.First.Subqueries[i].Rows.eachUnit(visit)
		}
	}
	for i := range e.Units {
		visit(&e.Units[i])
	}
}

// Nodes counts the nodes that the execution goes to, of the main table or of the
// one that has most; a long INSERT may go to one of them in several units.
func (e *Execution) Nodes() int {
	n := e.United
	if n > 0 {
		return n
	}
	if e.Gather != nil {
		for i := range e.Gather.Tables {
			n = max(n, e.Gather.Tables[i].Rows.Nodes())
		}
		return n
	}
	for i := range e.Units {
		if i == 0 || e.Units[i].DataSource != e.Units[i-1].DataSource || e.Units[i].Table != e.Units[i-1].Table {
			n++
		}
	}
	if e.First != nil {
		for i := range e.First.Subqueries {
			n = max(n, e.First.Subqueries[i].Rows.Nodes())
		}
	}
	return n
}

// warnings name what carrying rows to a data source may surprise with.
func (g *Gather) warnings(home string) []string {
	var out []string
	for i := range g.Tables {
		t := &g.Tables[i]
		out = append(out, fmt.Sprintf("the rows of %d nodes of %s are read and handed to data source %s, up to props.maxMergeRows and maxMergeBytes", t.Rows.Nodes(), t.Table, home))
	}
	return out
}

// warnings name what is to be said of the subqueries and of the statement behind
// them.
func (f *First) warnings(e *Execution) []string {
	var out []string
	for i := range f.Subqueries {
		out = append(out, f.Subqueries[i].Rows.Warnings()...)
	}
	behind := *e
	behind.First = nil
	return append(append(out, "the rows of a subquery are read first and handed to every node that is asked then, up to props.maxMergeRows and maxMergeBytes"), behind.Warnings()...)
}

// InMemory reports whether a number of rows is held in memory that grows with the
// tables. Groups that come in order are held one at a time if each unit has a
// connection of its own, as it surely has where data sources have one unit.
func (e *Execution) InMemory() bool {
	m := e.Merge
	switch {
	case e.Gather != nil, e.First != nil:
		return true
	case m == nil, m.Sorted > 0 && e.Sources() == len(e.Units):
		return false
	}
	return m.inMemory()
}

// inMemory reports whether the merge holds a number of rows in memory that grows
// with the answer.
func (m *Merge) inMemory() bool {
	if m.Distinct != nil && !m.Distinct.Sorted {
		return true
	}
	if m.Kind == MergeUnion {
		return len(m.GroupBy)+len(m.OrderBy) > 0
	}
	return m.Kind == MergeGroup && (len(m.GroupBy) > 0 ||
		slices.ContainsFunc(m.Aggregates, func(a Aggregate) bool { return len(a.Distinct) > 0 && !a.Adjacent }))
}
