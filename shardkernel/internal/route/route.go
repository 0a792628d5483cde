package route

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
)

// Route finds the units of one execution.
func (p *Program) Route(in Input) (*Result, error) {
	switch {
	case p.fixed == nil && p.insert != nil:
		return p.routeInsert(&in)
	case p.fixed == nil && p.stmt.Insert != nil && p.stmt.Insert.Select:
		return p.routeInsertSelect(&in)
	case p.fixed == nil:
		return p.routeConditions(&in)
	case p.fixed.Broadcast:
		return p.routeBroadcast(&in)
	case p.stmt.DDL != nil:
		return p.fixed, p.checkDefinition(&in)
	}
	return p.fixed, nil
}

func (p *Program) routeConditions(in *Input) (*Result, error) {
	if err := p.checkTypes(in.Meta); err != nil {
		return nil, err
	}
	e := newEvaluation(p, in)
	var few [4]nodeSet
	sets, err := p.nodeSets(&e, few[:0])
	if err != nil {
		return nil, err
	}

	var own own
	if p.keyed {
		if own, err = p.ownNodes(&e, in, sets); err != nil {
			return nil, err
		}
	}
	result, err := p.oneNode(sets)
	if result == nil && err == nil {
		result, err = p.severalNodes(&e, sets)
	}
	if err != nil {
		return nil, err
	}
	if own.narrowed {
		p.keepOwn(result, own, in.Part)
	}
	if result.Probe == nil {
		if err := p.checkUpdate(&e, result); err != nil {
			if !p.mayAsk(&e, result) {
				return nil, err
			}
			result.Refusal, result.Reason = err, p.reasons.detach
			if in.Part == plan.PartWrite {
				result.Rest = plan.RestRefuse
			}
		}
	}
	if e.hinted {
		result.Reason = "a hint chooses the nodes of " + p.refs[0].rule.Name
	}
	return result, nil
}

// nodeSets appends, for each reference, the nodes that may hold rows the statement
// asks for.
func (p *Program) nodeSets(e *evaluation, sets []nodeSet) ([]nodeSet, error) {
	for _, r := range p.refs {
		sets = append(sets, e.nodesOf(r))
	}
	if e.err != nil {
		return nil, e.err
	}
	p.narrowPairs(sets)
	return sets, nil
}

// checkTypes refuses to rely on an equality of columns that the metadata shows
// to be of different types: '05' = 5, but they need not be on one node.
func (p *Program) checkTypes(meta Meta) error {
	for _, l := range p.links {
		a, b := p.refs[l.a.ref], p.refs[l.b.ref]
		ca, cb := meta.column(a.rule.Name, l.a.column), meta.column(b.rule.Name, l.b.column)
		if err := cmp.Or(checkJoinedText(a, l.a.column, ca), checkJoinedText(b, l.b.column, cb)); err != nil {
			return err
		}
		if a.rule == b.rule && l.a.column == l.b.column {
			continue
		}
		if ca != nil && cb != nil && (ca.Class != cb.Class || ca.Collation != cb.Collation) {
			return errDifferentTypes(a, b, l.a.column, l.b.column)
		}
	}
	return nil
}

// narrowPairs intersects the sets of inner-joined binding tables, whose rows
// meet in nodes of the same index.
func (p *Program) narrowPairs(sets []nodeSet) {
	for _, place := range p.places {
		if place.nullable && !place.subquery || place.member != nil || place.relation != relationPaired {
			continue
		}
		sets[place.ref.index].intersect(sets[place.partner])
		if place.subquery { // whose rows need not exist
			continue
		}
		sets[place.partner].intersect(sets[place.ref.index])
	}
}

// oneNode returns the result when every reference leads to one node and all of
// them are in one data source: then the statement can be sent as it is, whatever
// its shape. It returns nil when several nodes are needed.
func (p *Program) oneNode(sets []nodeSet) (*Result, error) {
	source := p.single
	contradiction := false
	for i, r := range p.refs {
		if p.free(sets, i) {
			contradiction = contradiction || p.block(r.scope) == 0 && !r.nullable
			continue
		}
		if sets[i].count() > 1 {
			return nil, nil
		}
		s := r.rule.Nodes[sets[i].next(0)].DataSource
		if source != "" && source != s {
			if p.scatter == nil && p.single == "" {
				return nil, nil
			}
			return nil, p.errApart()
		}
		source = s
	}
	if source == "" {
		source = p.refs[0].rule.Nodes[0].DataSource
	}
	result := newOneUnit(len(p.stmt.Tables))
	u := &result.unit[0]
	u.DataSource = source
	for i, r := range p.refs {
		node := sets[i].next(0)
		if p.free(sets, i) {
			// No row of it is asked for, so any node will do.
			node = slices.IndexFunc(r.rule.Nodes, func(n rule.Node) bool { return n.DataSource == source })
			if node < 0 {
				return nil, p.errApart()
			}
		}
		u.Names[r.table] = r.rule.Nodes[node].Table
		u.Order = r.rule.Nodes[node].Order
		if i == 0 {
			u.Node = node
		}
	}
	result.Kind, result.Reason = plan.KindStandard, p.reasons.one
	if contradiction {
		result.Kind, result.Reason = plan.KindUnicast, p.reasons.none
	}
	return &result.Result, nil
}

// free reports whether no row of reference i is asked for: no node can hold one,
// or one joined with it in the same block.
func (p *Program) free(sets []nodeSet, i int) bool {
	if sets[i].empty() {
		return true
	}
	if len(p.refs) == 1 {
		return false
	}
	for j, r := range p.refs {
		if r.scope == p.refs[i].scope && !r.nullable && sets[j].empty() {
			return true
		}
	}
	return false
}

func (p *Program) errApart() error {
	var names []string
	for i := range p.stmt.Tables {
		name := p.stmt.Tables[i].Name
		if !p.broadcast[i] && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return fault.Unsupported("tables in different data sources", "no data source holds all the rows of "+strings.Join(names, " and ")+" that the statement names together",
		"read them with separate statements, or make a small table a broadcast table")
}

// severalNodes returns the result for several nodes.
func (p *Program) severalNodes(e *evaluation, narrowed []nodeSet) (*Result, error) {
	if p.scatter != nil && len(p.places) == 0 {
		return nil, p.scatter
	}
	sets := slices.Clone(narrowed) // so that the caller's stay on its stack
	combinations, err := p.place(sets, e.meta)
	if err != nil {
		return nil, err
	}
	if len(combinations) == 0 {
		for i, r := range p.refs {
			if p.placed(r) {
				sets[i] = nodeSet{}
			}
		}
		result, err := p.oneNode(sets)
		if result == nil && err == nil { // a subquery is asked all the same
			err = p.errApart()
			if i := slices.IndexFunc(sets, func(s nodeSet) bool { return s.count() > 1 }); i >= 0 {
				err = p.errElsewhere(p.refs[i])
			}
		}
		return result, err
	}
	return p.resultOf(e, sets, combinations)
}

// resultOf makes the units of the combinations of nodes.
func (p *Program) resultOf(e *evaluation, sets []nodeSet, combinations [][]int) (*Result, error) {
	tables := len(p.stmt.Tables)
	names := make([]string, len(combinations)*tables)
	result := &Result{Units: make([]Unit, len(combinations))}
	for i, nodes := range combinations {
		u := &result.Units[i]
		u.Names, names = names[:tables:tables], names[tables:]
		for ref, node := range nodes {
			r := p.refs[ref]
			n := &r.rule.Nodes[node]
			u.Names[r.table] = n.Table
			u.DataSource, u.Order = n.DataSource, n.Order
		}
		u.Node = nodes[0]
		if p.single != "" && u.DataSource != p.single {
			return nil, p.errApart()
		}
		if len(combinations) > 1 {
			u.Lists = p.splitLists(e, nodes)
		}
	}
	if len(combinations) > 1 {
		if err := p.checkAggregates(e.meta); err != nil {
			return nil, err
		}
	}
	if len(combinations) > 1 && (p.stmt.Update != nil || p.stmt.Delete != nil) {
		if err := p.checkPairs(combinations); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(result.Units, func(a, b Unit) int { return cmp.Compare(a.Order, b.Order) })

	switch main := p.main(); {
	case p.cartesian():
		result.Kind, result.Reason = plan.KindCartesian, "tables that are not joined on their sharding columns: each node with each"
	case sets[main.index].count() == len(main.rule.Nodes):
		result.Kind, result.Reason = plan.KindAllNodes, p.reasons.every
	default:
		result.Kind, result.Reason = plan.KindStandard, p.reasons.some
	}
	return result, nil
}

func (p *Program) cartesian() bool {
	return slices.ContainsFunc(p.places, func(pl placement) bool { return !pl.nullable && !pl.subquery && pl.component > 0 })
}

// splitLists returns the parts of the IN lists that belong to a combination of
// nodes.
func (p *Program) splitLists(e *evaluation, nodes []int) []List {
	var out []List
	for i, l := range p.lists {
		if e.elements == nil || e.elements[i] == nil {
			continue
		}
		var keep []int
		found := false
		for j := range e.elements[i] {
			el := &e.elements[i][j]
			has := el.nodes.has(nodes[l.ref])
			if has || el.always {
				keep = append(keep, j)
			}
			found = found || has
		}
		// A node that is asked for the sake of another condition keeps its list.
		if found && len(keep) < len(e.elements[i]) {
			out = append(out, List{Cond: l.cond, Keep: keep})
		}
	}
	return out
}
