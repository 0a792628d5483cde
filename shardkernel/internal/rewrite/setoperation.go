package rewrite

import (
	"slices"
	"strconv"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/route"
)

// Branch is a branch of a UNION as a statement of its own.
type Branch interface {
	Template() *Template
	// Plan plans one execution.
	Plan(args []any) (*plan.Execution, error)
}

// Union plans a UNION whose branches are on different nodes: each is planned by
// itself, and the rows of all their units become one result. compile prepares the
// text of a branch.
//
// A branch's units send the whole UNION where they can, with the other branches
// emptied: so the server gives every row the types that the columns have in the
// UNION. Where they cannot, because a branch's rows have a merge of their own or a
// data source lacks another's table, the columns must be such that no value needs
// another form, and one more unit shows the types.
func (t *Template) Union(args []any, meta route.Meta, compile func(text string) (Branch, error)) (*plan.Execution, error) {
	if !t.server.Dialect.IsMySQL() || !t.program.Splits() {
		return nil, refuse("UNION", "this form of it is not combined over several nodes", "")
	}
	if t.program.MixesTiny(meta) {
		return nil, errMixesTiny()
	}
	w := &unionWriter{template: t, union: t.stmt.Union, args: args, meta: meta}
	for i := range w.union.Branches {
		if err := w.prepare(i, w.text(i), compile); err != nil {
			return nil, err
		}
	}
	if err := w.writeKeys(); err != nil {
		return nil, err
	}
	for i := range w.branches {
		b := &w.branches[i]
		if len(w.keys.derived) > 0 {
			if s := b.Template().stmt.Select; s.Distinct || s.Rollup {
				return nil, refuse("UNION", "the weight of a text would have to stand in a branch that is DISTINCT or WITH ROLLUP, where it counts as a column", "")
			}
			if err := w.prepare(i, w.withDerived(i), compile); err != nil {
				return nil, err
			}
		}
		var err error
		if b.execution, err = b.Plan(w.argsOf(i)); err != nil {
			return nil, err
		}
		if e := b.execution; e.Write || e.DDL || e.InTurn || e.Numbering != nil || e.Gather != nil || e.First != nil || len(e.Units) == 0 {
			return nil, refuse("UNION", "a branch of it has no answer of its own", "")
		}
	}
	return w.write()
}

// unionWriter is writing the units of a UNION.
type unionWriter struct {
	template *Template
	union    *parse.Union
	args     []any
	meta     route.Meta
	branches []unionBranch
	keys     unionKeys
}

type unionBranch struct {
	Branch
	columns   []branchColumn // as typed, without derived ones
	execution *plan.Execution
}

func (w *unionWriter) text(i int) string {
	s := w.union.Branches[i].Span
	return w.template.stmt.Text[s.Start:s.End]
}

// argsOf returns the arguments of branch i.
func (w *unionWriter) argsOf(i int) []any {
	first, last := markerRange(w.template.stmt, w.union.Branches[i].Whole)
	return w.args[first:last:last]
}

func markerRange(stmt *parse.Statement, s parse.Span) (first, last int) {
	first, _ = slices.BinarySearch(stmt.Markers, s.Start)
	last, _ = slices.BinarySearch(stmt.Markers, s.End)
	return first, last
}

// prepare compiles the text of branch i.
func (w *unionWriter) prepare(i int, text string, compile func(text string) (Branch, error)) error {
	b, err := compile(text)
	if err != nil {
		return err
	}
	if b.Template().stmt.Select == nil {
		return refuse("UNION", "a branch of it is no plain SELECT", "")
	}
	if i < len(w.branches) {
		w.branches[i].Branch = b
		return nil
	}
	w.branches = append(w.branches, unionBranch{Branch: b, columns: b.Template().branchColumns(w.argsOf(i), w.meta)})
	return nil
}

// withDerived returns the text of branch i with the derived columns.
func (w *unionWriter) withDerived(i int) string {
	text, end := w.text(i), w.branches[i].Template().stmt.Select.ItemsEnd
	added := ""
	for j, d := range w.keys.derived {
		added += " , " + d[i] + " AS " + w.keys.alias + strconv.Itoa(j)
	}
	return text[:end] + added + text[end:]
}

// write puts the branches' units and merges together.
func (w *unionWriter) write() (*plan.Execution, error) {
	t := w.template
	e := &plan.Execution{Kind: plan.KindUnion, Reason: "each branch of UNION is routed by itself", Query: true}
	e.Clock = t.program.Clocked(w.args, w.meta)
	m := &plan.Merge{Derived: len(w.keys.derived), OrderBy: w.keys.orderBy, Labels: w.keys.labels}
	e.Merge = m
	wrapped := w.wraps()
	if !wrapped {
		if err := w.checkAlike(); err != nil {
			return nil, err
		}
	}
	flat := wrapped && (w.distinct() == 0 || w.distinct() == len(w.branches)) && !slices.ContainsFunc(w.branches, func(b unionBranch) bool {
		return b.execution.Merge != nil && b.execution.Merge.HasLimit
	})
	// A weight tells texts apart that are equal: LIMIT would count both.
	limits, err := t.limit(m, w.union.Limit, !(w.distinct() > 0 && m.Derived > 0), w.args)
	if err != nil {
		return nil, err
	}
	if !flat {
		limits = []edit{{Span: w.tail()}}
		m.Kind, m.DistinctBranches, m.GroupBy = plan.MergeUnion, w.distinct(), w.keys.groupBy
		m.Branches = make([]plan.UnionBranch, len(w.branches))
	} else {
		if m.OrderBy != nil {
			m.Kind = plan.MergeOrdered
		}
		if w.keys.groupBy != nil {
			m.Distinct = &plan.Distinct{Keys: w.keys.groupBy, Columns: len(w.branches[0].columns)}
		}
	}
	for i := range w.branches {
		b := w.branches[i].execution
		for k := range b.Units {
			u := b.Units[k]
			if wrapped {
				u.SQL, u.Args = w.whole(u.DataSource, i, &u, limits)
			}
			e.Units = append(e.Units, u)
		}
		if !flat {
			m.Branches[i].Units = len(b.Units)
			if b.Merge != nil && !needsNoMerge(b.Merge) {
				m.Branches[i].Merge = b.Merge
			}
		}
		e.Clock = e.Clock || b.Clock
	}
	if !wrapped {
		header, err := w.header(e.Units)
		if err != nil {
			return nil, err
		}
		e.Units = append(e.Units, header)
		m.Header = len(e.Units) - 1
	}
	return e, nil
}

// distinct returns the number of branches from the first on among which rows that
// are equal are given once.
func (w *unionWriter) distinct() int {
	n := 0
	for i, b := range w.union.Branches {
		if b.Distinct {
			n = i + 1
		}
	}
	return n
}

// tail is what stands behind the branches.
func (w *unionWriter) tail() parse.Span {
	last := w.union.Branches[len(w.union.Branches)-1].Whole
	return parse.Span{Start: last.End, End: len(w.template.stmt.Text)}
}

// needsNoMerge reports whether the units' rows may follow one another: those of a
// branch have no order unless LIMIT stands with it.
func needsNoMerge(m *plan.Merge) bool {
	return m.Kind == plan.MergeOrdered && !m.HasLimit && m.Derived == 0 && m.Distinct == nil
}

// wraps reports whether every unit can send the whole UNION.
func (w *unionWriter) wraps() bool {
	for i := range w.branches {
		e := w.branches[i].execution
		m := e.Merge
		if m != nil && !needsNoMerge(m) && (m.Kind != plan.MergeIterate || m.Derived > 0 || m.Distinct != nil) {
			return false
		}
		for k := range e.Units {
			if !w.holds(e.Units[k].DataSource, i) {
				return false
			}
		}
	}
	return true
}

// holds reports whether a data source has the tables of all branches but one.
func (w *unionWriter) holds(source string, but int) bool {
	for i := range w.branches {
		if i != but && w.branches[i].Template().program.AnyUnit(source) == nil {
			return false
		}
	}
	return true
}

// whole returns the UNION as it is sent to a data source: with what a unit of one
// branch, if own is not -1, has in its place, and the others emptied.
func (w *unionWriter) whole(source string, own int, u *plan.Unit, more []edit) (sql string, args []any) {
	edits := slices.Clone(more)
	for i, b := range w.union.Branches {
		e := edit{Span: b.Whole}
		if i == own {
			e.text, e.args = u.SQL, u.Args
		} else {
			e.text, e.args = w.branches[i].Template().emptied(source, w.argsOf(i))
		}
		e.text = "(" + e.text + ")"
		edits = append(edits, e)
	}
	return splice(w.template.stmt, edits, w.args)
}

// header returns the unit that gives no rows and shows the columns. Where it can
// be, it goes to the data source of the last unit.
func (w *unionWriter) header(units []plan.Unit) (plan.Unit, error) {
	for i := len(units) - 1; i >= 0; i-- {
		source := units[i].DataSource
		if !w.holds(source, -1) {
			continue
		}
		h := plan.Unit{DataSource: source, Table: units[i].Table}
		h.SQL, h.Args = w.whole(source, -1, nil, []edit{{Span: w.tail()}})
		return h, nil
	}
	return plan.Unit{}, refuse("UNION", "no data source has the tables of all its branches, which would tell the types of the columns", "")
}

// emptied returns the statement as a data source that holds its tables would be
// asked for its columns alone.
func (t *Template) emptied(source string, args []any) (sql string, kept []any) {
	edits := t.names(t.program.AnyUnit(source))
	if l := t.stmt.Select.Limit; l != nil {
		edits = append(edits, edit{Span: l.Span, text: "LIMIT 0"})
	} else {
		edits = append(edits, at(len(t.stmt.Text), " LIMIT 0", nil))
	}
	return splice(t.stmt, edits, args)
}
