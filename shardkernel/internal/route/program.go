// Package route finds the data nodes a statement concerns. A Program is made
// once for a statement and rule set; routing one execution evaluates its
// conditions with the arguments.
//
// The nodes found are always a superset of those that can hold a row the
// statement speaks of: what is not understood widens, never narrows. A
// statement that needs several nodes is let through only in shapes whose exact
// answer can be made of the nodes' answers; any other is refused.
package route

import (
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// Program is a statement prepared for routing under one rule set. It is
// immutable and safe for concurrent use.
type Program struct {
	stmt    *parse.Statement
	set     *rule.Set
	convert value.Converter

	refs []*reference // to sharded tables, in text order
	// broadcast marks the entries of Statement.Tables that are broadcast tables.
	broadcast []bool
	// single is the data source of the single tables named beside others; empty
	// when there are none.
	single string
	apart  bool // single tables of several data sources are dropped at once

	links  []link
	places []placement
	lists  []list
	insert *insertion
	// fixed is the result of a statement whose route depends on no argument.
	fixed *Result
	drops [][][]string // see Drops
	// keyed is true for an UPDATE or DELETE that may be sent to a row's own node
	// first, and moves for one that sets sharding columns.
	keyed, moves bool
	// scatter is why the statement may not go to several nodes, nil when it may.
	scatter error
	reasons reasons
	// mixing is the text in lower case where it has the form of which MixesTiny speaks.
	mixing string
}

// reasons are the sentences of Result.Reason.
type reasons struct{ one, some, every, none, rows, own, trusted, detach string }

// Compile prepares a statement. It refuses what no arguments could make
// routable. convert knows how the data sources' drivers and servers take values.
func Compile(stmt *parse.Statement, set *rule.Set, convert value.Converter) (*Program, error) {
	p := &Program{stmt: stmt, set: set, convert: convert, broadcast: make([]bool, len(stmt.Tables))}
	if err := p.classify(); err != nil {
		return nil, err
	}
	if stmt.Kind == parse.KindSelect {
		if text := strings.ToLower(stmt.Text); mayMixTiny(text) {
			p.mixing = text
		}
	}
	broadcast := slices.Contains(p.broadcast, true)
	switch {
	case len(p.refs) == 0 && !broadcast && !p.apart:
		p.fixed = p.passThrough()
		return p, nil
	case stmt.Features&parse.FeatureSchemaName != 0:
		return nil, fault.Unsupported("DATABASE() beside a sharded or broadcast table", "it would be the name that the data source has for the schema",
			"ask for it with SELECT DATABASE(), which gives the logical schema, and pass it as a parameter")
	case stmt.DDL != nil:
		if err := p.compileDDL(); err != nil {
			return nil, err
		}
		return p, nil
	case stmt.Kind == parse.KindOther:
		return nil, refuseKind()
	case p.writesBroadcast():
		if err := p.compileBroadcastWrite(); err != nil {
			return nil, err
		}
		return p, nil
	case len(p.refs) == 0:
		p.fixed = p.unicast()
		return p, nil
	}
	if err := p.checkShadows(); err != nil {
		return nil, err
	}
	p.compileReasons()
	p.compileJoins()
	p.compileKeyed()
	if stmt.Insert != nil && !stmt.Insert.Select && p.targetRef() != nil {
		p.insert = p.compileInsert(p.targetRef())
	}
	return p, nil
}

// refuseKind refuses a statement on a configured table that is neither a SELECT
// nor a change of rows.
func refuseKind() error {
	return fault.Unsupported("this kind of statement on a sharded or broadcast table", "it is neither SELECT nor a change of rows",
		"run it on one data source, which Plugin.DataSource(name) gives; for EXPLAIN use Plugin.Preview")
}

// Statement returns the statement the program routes.
func (p *Program) Statement() *parse.Statement { return p.stmt }

// Logical returns the logical name of an entry of Statement.Tables; ok is false
// for a table that the rules leave alone.
func (p *Program) Logical(table int) (name string, ok bool) {
	if r := p.refOf(table); r != nil {
		return r.rule.Name, true
	}
	return p.stmt.Tables[table].Name, p.broadcast[table]
}

// DropsSchema reports whether a schema before the name of an entry of
// Statement.Tables is left out: the nodes' schemas are those of their connections.
func (p *Program) DropsSchema(table int, schema string) bool {
	_, configured := p.Logical(table)
	return configured || p.isSchema(schema)
}

// isSchema reports whether a name is that of the logical schema.
func (p *Program) isSchema(name string) bool {
	return name != "" && strings.EqualFold(name, p.set.Schema)
}

// Main returns the index into Statement.Tables of the first sharded table, -1
// when there is none.
func (p *Program) Main() int {
	if len(p.refs) == 0 {
		return -1
	}
	return p.refs[0].table
}

// main returns the first sharded table of the outermost block, of any block where
// that has none.
func (p *Program) main() *reference {
	for _, r := range p.refs {
		if p.placed(r) {
			return r
		}
	}
	return p.refs[0]
}

// Texts returns how many numbers TextOf gives, at least 1.
func (p *Program) Texts() int {
	switch {
	case len(p.refs) == 0:
		return 1
	case p.refs[0].rule.Tables != nil:
		return len(p.refs[0].rule.Tables.Targets)
	}
	return len(p.refs[0].rule.Nodes)
}

// TextOf numbers units by the actual table of the first sharded reference: units
// that give all tables the same names have the same number.
func (p *Program) TextOf(u *Unit) int {
	switch {
	case len(p.refs) == 0:
		return 0
	case p.refs[0].rule.Tables != nil:
		return p.refs[0].rule.Nodes[u.Node].Target
	}
	return u.Node
}

// classify finds out what each reference of the statement is.
func (p *Program) classify() error {
	layouts := map[*rule.Table]*layout{}
	for i := range p.stmt.Tables {
		ref := &p.stmt.Tables[i]
		table, sharded := p.set.Table(ref.Name)
		p.broadcast[i] = !sharded && p.set.IsBroadcast(ref.Name)
		if sharded || p.broadcast[i] {
			if err := p.checkSchema(ref); err != nil {
				return err
			}
		}
		switch {
		case sharded:
			l := layouts[table]
			if l == nil {
				l = newLayout(table)
				layouts[table] = l
			}
			r := &reference{index: len(p.refs), table: i, scope: ref.Scope, rule: table, layout: l, keys: keysOf(table)}
			r.complex = complexLevels(table, r.keys)
			p.refs = append(p.refs, r)
		case !p.broadcast[i]:
			if p.isSchema(ref.Schema) && !p.set.IsTable(ref.Name) { // where the name stands is not known
				return fault.Unsupported("schema "+ref.Schema+" before table "+ref.Name, "the table has no rule, and its data source may call the logical schema otherwise",
					"leave the schema out, or list the table in singleTables")
			}
			source := p.set.SingleSource(ref.Name)
			if p.single != "" && p.single != source {
				if p.apart = p.stmt.DDL != nil && p.stmt.DDL.Items != nil; p.apart {
					continue
				}
				if p.stmt.DDL != nil && p.stmt.DDL.Action == parse.CreateView {
					return fault.Unsupported("VIEW "+p.stmt.Tables[0].Name, "it and the tables that it names live in different data sources",
						"name the view in singleTables, with the data source of all its tables")
				}
				return fault.Unsupported("tables "+ref.Name+" and others", "they live in different data sources",
					"read them with separate statements, or make a small table a broadcast table")
			}
			p.single = source
		}
	}
	return p.checkQualifiers()
}

// checkQualifiers refuses columns under another schema's name.
func (p *Program) checkQualifiers() error {
	if p.set.Schema == "" {
		return nil
	}
	for i := range p.stmt.Renames {
		r := &p.stmt.Renames[i]
		if _, configured := p.Logical(r.Table); !configured || r.Schema.End == r.Schema.Start {
			continue
		}
		schema := parse.SchemaOf(p.stmt.Text[r.Schema.Start:r.Schema.End])
		if err := p.checkSchema(&parse.TableRef{Name: p.stmt.Tables[r.Table].Name, Schema: schema}); err != nil {
			return err
		}
	}
	return nil
}

// checkSchema refuses a configured table under another schema's name.
func (p *Program) checkSchema(ref *parse.TableRef) error {
	switch {
	case ref.Schema == "" || p.set.Schema != "" && strings.EqualFold(ref.Schema, p.set.Schema):
		return nil
	case p.set.Schema == "":
		return fault.Unsupported("schema "+ref.Schema+" before table "+ref.Name, "the configuration does not name the logical schema",
			"leave the schema out, or set schema in the configuration")
	}
	return fault.Unsupported("schema "+ref.Schema+" before table "+ref.Name, "a sharded or broadcast table has that name, but its logical schema is "+p.set.Schema,
		"leave the schema out")
}

func (p *Program) passThrough() *Result {
	source := p.single
	if source == "" {
		source = p.set.DefaultDataSource
	}
	return p.fixedUnit(plan.KindPassThrough, source, "no sharded and no broadcast table")
}

// unicast is the route of a statement that reads broadcast tables, and perhaps
// reads or writes single ones.
func (p *Program) unicast() *Result {
	if p.single != "" {
		return p.fixedUnit(plan.KindUnicast, p.single, "broadcast tables are read where the single table lives")
	}
	return p.fixedUnit(plan.KindUnicast, p.set.DataSources[0], "a broadcast table is the same in every data source")
}

func (p *Program) fixedUnit(kind plan.Kind, source, reason string) *Result {
	r := newOneUnit(len(p.stmt.Tables))
	r.Kind, r.Reason = kind, reason
	r.unit[0].DataSource = source
	r.unit[0].Order = p.orderOf(source)
	return &r.Result
}

func (p *Program) orderOf(source string) int { return slices.Index(p.set.DataSources, source) }

// targetRef returns the sharded table the statement writes, nil when there is
// none.
func (p *Program) targetRef() *reference {
	for _, r := range p.refs {
		if p.stmt.Tables[r.table].Target {
			return r
		}
	}
	return nil
}

func (p *Program) compileReasons() {
	t := p.main().rule
	keys := keyNames(t)
	if keys == "" {
		keys = "a sharding column"
	}
	p.reasons = reasons{
		one:   "the condition on " + keys + " leads to one node of " + t.Name,
		some:  "the condition on " + keys + " leads to some nodes of " + t.Name,
		every: "no condition on " + keys + " narrows the nodes of " + t.Name,
		none:  "the conditions contradict each other: one node answers",
		rows:  "each row goes to the node of its " + keys,
		own:   "the " + keys + " that it sets, or that its model holds, leads to the node of the row by primary key; the others of " + t.Name + " are asked only where that one does not have it",

		trusted: "the " + keys + " of its model leads to its node of " + t.Name + ", which trustModel relies on",
		detach:  "rows that have NULL in " + keys + " belong to no node: the nodes are asked whether there is one to change, which is refused",
	}
	if keyNames(t) == "" {
		p.reasons.rows = "each row goes to the node that a hint chooses"
	}
	if len(t.Nodes) == 1 {
		p.reasons.one = t.Name + " has one node"
		p.reasons.every = p.reasons.one
	}
}

// compileJoins prepares the conditions and what the joins say of the nodes.
func (p *Program) compileJoins() {
	for scope := range p.stmt.Scopes {
		p.markNullable(scope)
	}
	// The links of blocks that are looked into count in the block at the top.
	links := make([][]link, len(p.stmt.Scopes))
	for scope := range p.stmt.Scopes {
		found := p.linkScope(scope)
		links[p.top(scope)] = append(links[p.top(scope)], found...)
		p.links = append(p.links, found...)
	}
	for scope := range p.stmt.Scopes {
		member, sure := p.memberLinks(scope)
		if p.links = append(p.links, member...); sure {
			links[scope] = append(links[scope], member...)
		}
	}
	for _, r := range p.refs {
		known := links[p.top(r.scope)]
		for i := range r.keys {
			k := &r.keys[i]
			k.sources = sources(known, endpoint{r.index, k.column})
		}
		p.compileWhere(r, known)
	}
	p.scatter = p.refuseScatter()
	if p.stmt.Insert != nil && !p.stmt.Insert.Select {
		return
	}
	var err error
	if p.places, err = p.placeJoins(links[p.top(p.placedScope())]); p.scatter == nil {
		p.scatter = err
	}
	if err == nil {
		p.places = p.placeSubqueries(p.places, func(scope int) []link { return links[scope] })
	}
}
