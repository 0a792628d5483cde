package route

import (
	"slices"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// ungathered are the features that do not mean the same over rows that were read
// before and may all be NULL, or that a common table expression does not allow.
const ungathered = ununited &^ parse.FeatureIndexHint

// Gathering is a SELECT that one data source answers, which gets the rows of the
// tables that it has not all of.
type Gathering struct {
	Home   string
	Reason string
	// Names holds the actual table at home for every entry of Statement.Tables that
	// is sharded; "" leaves the name as it is. Of a table in Tables it is one that
	// has the same columns.
	Names  []string
	Tables []Gathered
}

// Gathered is a table whose rows are read for the home of a Gathering.
type Gathered struct {
	Table *rule.Table
	Name  string // that the rows have at home, which is no other's in the statement
	Nodes []int  // of Table, by data source: those that may hold rows the statement asks for
	// References are the entries of Statement.Tables that it stands for.
	References []int
	Columns    []*value.Column // that the statement may need, in their order
	// Filter is fulfilled by all rows that matter.
	Filter Filter
}

// RouteGathered finds the data source that can answer a SELECT with the rows of
// the others. It returns nil when there is none; the statement then stays refused
// as Route refused it.
func (p *Program) RouteGathered(in *Input) (*Gathering, error) {
	stmt := p.stmt
	if stmt.Kind != parse.KindSelect || len(p.refs) == 0 || stmt.Features&ungathered != 0 || len(stmt.Defaults) > 0 {
		return nil, nil
	}
	if p.rounds(in) || p.ShowsBits(in.Meta) != "" || p.mixesMembers(in.Meta) || p.mixesRows(in) || p.MixesTiny(in.Meta) {
		return nil, nil
	}
	sets, err := p.gatheredSets(in)
	if sets == nil || err != nil {
		return nil, err
	}
	tables := p.gatheredTables(sets)
	home := p.home(tables)
	if home == "" {
		return nil, nil
	}
	g := &Gathering{
		Home: home, Names: make([]string, len(stmt.Tables)),
		Reason: "no merge of the nodes' answers is exact: data source " + home + " answers, and is given the rows of the others",
	}
	text := strings.ToLower(stmt.Text)
	for _, t := range tables {
		at := nodeAt(t.Table, home, t.Nodes)
		for _, ref := range t.References {
			g.Names[ref] = t.Table.Nodes[at].Table
		}
		if len(t.Nodes) == 0 || len(t.Nodes) == 1 && t.Nodes[0] == at {
			continue
		}
		columns := in.Meta.table(t.Table.Name)
		if t.Columns = p.gatheredColumns(columns, text); t.Columns == nil {
			return nil, nil
		}
		if len(t.References) == 1 {
			t.Filter = p.filter(p.refOf(t.References[0]), columns, in.Args)
		}
		if slices.ContainsFunc(t.References, func(ref int) bool { return stmt.Tables[ref].Blind }) {
			return nil, nil
		}
		t.Name = t.Table.Name + "_gathered"
		for strings.Contains(text, strings.ToLower(t.Name)) {
			t.Name += "X"
		}
		g.Tables = append(g.Tables, t)
	}
	if len(g.Tables) == 0 {
		return nil, nil
	}
	return g, nil
}

// gatheredSets returns, for each reference, the nodes that may hold rows the
// statement asks for; nil when a hint chooses them and they are not known.
func (p *Program) gatheredSets(in *Input) ([]nodeSet, error) {
	if p.checkTypes(in.Meta) == nil {
		e := newEvaluation(p, in)
		return p.nodeSets(&e, nil)
	}
	// The conditions may rely on what it refuses: every node is asked.
	sets := make([]nodeSet, len(p.refs))
	for i, r := range p.refs {
		if in.Hints != nil && in.Hints.Choose(r.rule) {
			return nil, nil
		}
		sets[i] = allNodes(len(r.rule.Nodes))
	}
	return sets, nil
}

// gatheredTables returns the sharded tables, each once however often it is named:
// its rows are read once, so that all references see the same ones.
func (p *Program) gatheredTables(sets []nodeSet) []Gathered {
	var tables []Gathered
	var nodes []nodeSet
	for i, r := range p.refs {
		at := slices.IndexFunc(tables, func(t Gathered) bool { return t.Table == r.rule })
		if at < 0 {
			at = len(tables)
			tables, nodes = append(tables, Gathered{Table: r.rule}), append(nodes, nodeSet{})
		}
		tables[at].References = append(tables[at].References, r.table)
		nodes[at].unite(sets[i])
	}
	for i := range tables {
		t := &tables[i]
		for n := nodes[i].next(0); n >= 0; n = nodes[i].next(n + 1) {
			t.Nodes = append(t.Nodes, n)
		}
		slices.SortStableFunc(t.Nodes, func(a, b int) int { return t.Table.Nodes[a].Order - t.Table.Nodes[b].Order })
	}
	return tables
}

// home returns the data source that needs the fewest rows of others, as far as
// nodes tell, among those that have a node of every table; empty when none has.
func (p *Program) home(tables []Gathered) string {
	best, most := "", -1
	for _, source := range p.set.DataSources {
		if p.single != "" && source != p.single {
			continue
		}
		own, complete := 0, true
		for _, t := range tables {
			complete = complete && nodeAt(t.Table, source, nil) >= 0
			for _, n := range t.Nodes {
				if t.Table.Nodes[n].DataSource == source {
					own++
				}
			}
			if len(t.Nodes) == 1 && t.Table.Nodes[t.Nodes[0]].DataSource == source { // nothing of it is carried
				own += len(t.Table.Nodes)
			}
		}
		if complete && own > most {
			best, most = source, own
		}
	}
	return best
}

// nodeAt returns a node of the table in a data source, one of those preferred if
// possible; -1 when it has none.
func nodeAt(t *rule.Table, source string, preferred []int) int {
	for _, n := range preferred {
		if t.Nodes[n].DataSource == source {
			return n
		}
	}
	return slices.IndexFunc(t.Nodes, func(n rule.Node) bool { return n.DataSource == source })
}

// distinct reports whether the rows of the answer are made distinct. The server makes
// a BIGINT of a BIT then, which the header of an answer without rows does not show.
// Measured on MariaDB 10.11.
func (p *Program) distinct() bool { return p.stmt.Select != nil && p.stmt.Select.Distinct }

// gatheredColumns returns the columns of a table that the statement, in lower case,
// may need; nil when they are not known or may mean something else. One found too many, as in a literal, is
// carried in vain.
func (p *Program) gatheredColumns(t *value.Table, text string) []*value.Column {
	if t == nil {
		return nil
	}
	star := p.stmt.Features&parse.FeatureStar != 0
	columns := []*value.Column{}
	for i := range t.Columns {
		c := &t.Columns[i]
		named := parse.HoldsName(text, c.Name)
		if named && !p.travels(c) || (named || star) && c.Class == value.ClassBit && p.distinct() {
			return nil
		}
		if named || star && !c.Invisible {
			columns = append(columns, c)
		}
	}
	return columns
}
