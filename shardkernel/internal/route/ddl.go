package route

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// compileDDL fixes the route of a statement that defines tables: each node of a
// sharded table, each data source of a broadcast one, the one of a single table.
func (p *Program) compileDDL() error {
	d := p.stmt.DDL
	if err := p.checkDDL(d); err != nil {
		return err
	}
	if (d.Action == parse.DropTable || d.Action == parse.DropView) && len(p.stmt.Tables) > 1 {
		return p.compileDrops()
	}
	r := new(Result)
	switch target := p.refOf(0); {
	case target != nil:
		name := target.rule.Name
		r.Kind, r.Reason = plan.KindAllNodes, "a definition of "+name+" goes to every node of it"
		for i := range target.rule.Nodes {
			n := &target.rule.Nodes[i]
			u := p.newUnit(n.DataSource)
			u.Node, u.Names[0] = i, n.Table
			r.Units = append(r.Units, u)
		}
		slices.SortStableFunc(r.Units, func(a, b Unit) int { return cmp.Compare(a.Order, b.Order) })
	case p.broadcast[0]:
		r.Kind, r.Reason, r.Broadcast = plan.KindBroadcast, "a definition of a broadcast table goes to every data source", true
		for _, source := range p.set.DataSources {
			r.Units = append(r.Units, p.newUnit(source))
		}
	default:
		r.Kind, r.Reason = plan.KindUnicast, "a single table is defined where it lives"
		r.Units = []Unit{p.newUnit(p.set.SingleSource(p.stmt.Tables[0].Name))}
	}
	for i := range r.Units {
		if err := p.nameOthers(&r.Units[i]); err != nil {
			return err
		}
	}
	p.fixed = r
	return nil
}

func (p *Program) newUnit(source string) Unit {
	return Unit{DataSource: source, Order: p.orderOf(source), Node: -1, Names: make([]string, len(p.stmt.Tables))}
}

// checkDDL refuses what no node or data source may do by itself.
func (p *Program) checkDDL(d *parse.DDL) error {
	name := p.stmt.Tables[0].Name
	target := p.refOf(0)
	configured := target != nil || p.broadcast[0]
	several := len(p.set.DataSources) > 1
	switch {
	case d.Temporary:
		return fault.Unsupported("TEMPORARY table "+name, "the statement names configured tables, and a temporary one lives in one session of one data source",
			"give the temporary table a name that the configuration does not know, and use it on one connection of Plugin.DataSource(name)")
	case d.Action == parse.RenameTable:
		return fault.Unsupported("RENAME of table "+p.configuredName(), "the names of sharded and broadcast tables, and of their actual tables, are those of the configuration",
			"change the configuration, rename the actual tables of each data source, which Plugin.DataSource(name) gives, and start again")
	case d.Unnamed && (target != nil && len(target.rule.Nodes) > 1 || p.broadcast[0] && several):
		return fault.Unsupported("ALTER TABLE "+name+" that adds a key or constraint without a name", "if it failed on some nodes, repeating it would add another one on those that are done",
			"give it a name")
	case len(d.Others) > 0:
		return fault.Unsupported("DDL on table "+name+" with table "+p.stmt.Tables[d.Others[0]].Name, "rows would pass between tables that are not the same on every node",
			"run it on the actual tables of each data source, which Plugin.DataSource(name) gives")
	case d.Action == parse.CreateTableSelect && (configured || len(p.refs) > 0):
		return fault.Unsupported("CREATE TABLE … SELECT", "its rows would have to be carried from node to node",
			"create the table first, then read the rows and insert them")
	case d.Action == parse.CreateView && len(p.refs) > 0, d.Action == parse.DropView && len(p.refs) > 0:
		return fault.Unsupported("VIEW with the sharded table "+p.refs[0].rule.Name, "a view in one node sees the rows of that node only",
			"query the table itself")
	case d.Action == parse.CreateView && several && !p.broadcast[0]:
		return fault.Unsupported("VIEW "+name+" over a broadcast table", "a write through the view would change the rows of one data source only",
			"name the view in broadcastTables")
	case d.Action == parse.CreateView && several && p.single != "":
		return fault.Unsupported("VIEW "+name, "it is to be in every data source, and names a single table, which is in one", "make the single table a broadcast table")
	case target != nil:
		return p.checkKeys(d, target)
	}
	return nil
}

// configuredName returns the name of the first sharded or broadcast table.
func (p *Program) configuredName() string {
	for i := range p.stmt.Tables {
		if name, ok := p.Logical(i); ok {
			return name
		}
	}
	return p.stmt.Tables[0].Name
}

// checkKeys refuses a definition that leaves a table without a column that its
// rule needs.
func (p *Program) checkKeys(d *parse.DDL, target *reference) error {
	for _, c := range d.Constraints {
		if c.Index && !c.Key {
			return fault.Unsupported("FOREIGN KEY "+c.Name, "some servers give the name to the index alone, others to the foreign key as well",
				"write CONSTRAINT name FOREIGN KEY")
		}
	}
	columns := []string{}
	for i := range target.keys {
		columns = append(columns, target.keys[i].column)
	}
	if k := target.rule.Key; k != nil && !slices.Contains(columns, k.Column) {
		columns = append(columns, k.Column)
	}
	for _, c := range columns {
		switch {
		case d.Action == parse.CreateTable && !slices.Contains(d.Columns, c):
			return fault.Unsupported("CREATE TABLE "+target.rule.Name, "it lacks the column "+c+", which the table's rule names", "add the column, or name another in the configuration, where it may stand in sharding.defaults")
		case slices.Contains(d.Gone, c):
			return fault.Unsupported("ALTER TABLE "+target.rule.Name, "the table's rule names the column "+c+", which would be gone",
				"change the configuration and move the rows first")
		}
	}
	return nil
}

// checkDefinition refuses what the hints or the metadata speak against.
func (p *Program) checkDefinition(in *Input) error {
	if err := p.refuseHintedDDL(in.Hints); err != nil {
		return err
	}
	return p.checkRetyped(in.Meta)
}

// checkRetyped refuses to give a sharding column a type of another kind: the rows
// would stay where they are, and the same values lead elsewhere from then on.
func (p *Program) checkRetyped(meta Meta) error {
	target := p.refOf(0)
	if target == nil {
		return nil
	}
	for _, r := range p.stmt.DDL.Retyped {
		if _, ok := target.keyNamed(r.Column); !ok {
			continue
		}
		known := meta.column(target.rule.Name, r.Column)
		class, _ := value.ClassOf(r.Type)
		if known != nil && known.Class != class {
			return fault.Unsupported("ALTER TABLE "+target.rule.Name, "the sharding column "+r.Column+" would become "+r.Type+", whose values may lead to other nodes than those that hold the rows",
				"make a new table with the type and move the rows")
		}
	}
	return nil
}

// nameOthers gives the tables beside the one that a unit defines the names they
// have there.
func (p *Program) nameOthers(u *Unit) error {
	d := p.stmt.DDL
	for i := range d.References {
		if err := p.nameReferenced(u, &d.References[i]); err != nil {
			return err
		}
	}
	if d.Action == parse.CreateTableLike {
		return p.nameLike(u)
	}
	return nil
}

// nameLike finds the table of which a unit's is to be a copy. All nodes of a
// table are defined alike, so that any in the data source will do.
func (p *Program) nameLike(u *Unit) error {
	const like = 1
	name := p.stmt.Tables[like].Name
	apart := fault.Unsupported("CREATE TABLE "+p.stmt.Tables[0].Name+" LIKE "+name, "data source "+u.DataSource+" has no such table to take the definition from",
		"write the definition out")
	target, of := p.refOf(0), p.refOf(like)
	if of == nil {
		if !p.broadcast[like] && p.set.SingleSource(name) != u.DataSource {
			return apart
		}
		return nil
	}
	nodes := of.rule.Nodes
	at := slices.IndexFunc(nodes, func(n rule.Node) bool { return n.DataSource == u.DataSource })
	if target != nil && p.set.Bound(target.rule, of.rule) && nodes[u.Node].DataSource == u.DataSource {
		at = u.Node
	}
	if at < 0 {
		return apart
	}
	u.Names[like] = nodes[at].Table
	return nil
}

// nameReferenced finds the table that a foreign key of a unit references: the one
// that holds the rows with which the unit's can be related.
func (p *Program) nameReferenced(u *Unit, r *parse.Reference) error {
	name := p.stmt.Tables[r.Table].Name
	refuse := func(reason, remedy string) error {
		return fault.Unsupported("foreign key from "+p.stmt.Tables[0].Name+" to "+name, reason,
			remedy+"leave the foreign key out: with GORM, set DisableForeignKeyConstraintWhenMigrating")
	}
	child, parent := p.refOf(0), p.refOf(r.Table)
	if child != nil && moves(child, parent, r) {
		return refuse("it would change a sharding column of the rows of "+child.rule.Name+" in their node", "let it restrict instead of SET NULL, SET DEFAULT and CASCADE, or ")
	}
	switch {
	case parent == nil && p.broadcast[r.Table]:
		return nil
	case parent == nil:
		if source := p.set.SingleSource(name); source != u.DataSource {
			return refuse("the single table "+name+" is in data source "+source+" only", "make it a broadcast table, or ")
		}
		return nil
	case child == nil && len(parent.rule.Nodes) == 1 && parent.rule.Nodes[0].DataSource == u.DataSource:
		u.Names[r.Table] = parent.rule.Nodes[0].Table
		return nil
	case child == nil:
		return refuse("the rows of the sharded table are on several nodes", "")
	}
	node, levels := p.partner(child, parent, u)
	if node < 0 {
		return refuse("the tables are not bound, so that related rows may be on different nodes", "name both in bindingTables if they are sharded alike, or ")
	}
	if !relates(child, parent, r, levels) {
		return refuse("it relates a sharding column to another column, so that related rows may be on different nodes", "")
	}
	u.Names[r.Table] = parent.rule.Nodes[node].Table
	return nil
}

// partner returns the node of parent that holds the rows whose sharding values on
// the levels equal those of the unit's rows, -1 when there is no such node.
func (p *Program) partner(child, parent *reference, u *Unit) (node int, levels level) {
	nodes := parent.rule.Nodes
	if p.set.Bound(child.rule, parent.rule) && u.Node < len(nodes) && nodes[u.Node].DataSource == u.DataSource {
		return u.Node, levelDatabase | levelTable
	}
	if !p.set.DatabaseBound(child.rule, parent.rule) {
		return -1, 0
	}
	found := -1
	for i := range nodes {
		if nodes[i].DataSource != u.DataSource {
			continue
		}
		if found >= 0 {
			return -1, 0
		}
		found = i
	}
	return found, levelDatabase
}

// relates reports whether a foreign key can relate rows of one node: it may leave
// the sharding columns out, but not pair one of them with another column.
func relates(child, parent *reference, r *parse.Reference, levels level) bool {
	for _, c := range child.keys {
		for _, k := range parent.keys {
			if c.index == k.index && (c.levels|c.shared)&(k.levels|k.shared)&levels != 0 && !paired(r, c.column, k.column) &&
				(slices.Contains(r.Columns, c.column) || slices.Contains(r.Referenced, k.column)) {
				return false
			}
		}
	}
	return true
}

// paired reports whether a foreign key pairs the two columns.
func paired(r *parse.Reference, child, parent string) bool {
	for i := range min(len(r.Columns), len(r.Referenced)) {
		if r.Columns[i] == child && r.Referenced[i] == parent {
			return true
		}
	}
	return false
}

// moves reports whether the server may change a sharding column of the child's
// rows. The sharding column of a row it references does not change.
func moves(child, parent *reference, r *parse.Reference) bool {
	for _, c := range child.keys {
		if !slices.Contains(r.Columns, c.column) {
			continue
		}
		fixed := parent != nil && slices.ContainsFunc(parent.keys, func(k key) bool { return paired(r, c.column, k.column) })
		if r.OnDelete || r.OnUpdate && !fixed {
			return true
		}
	}
	return false
}

// compileDrops routes a DROP of several tables: one statement for each data
// source with all that it holds, because the server may need to see them
// together.
func (p *Program) compileDrops() error {
	names := map[string][][]string{} // by data source and table
	at := func(source string, table int) *[]string {
		if names[source] == nil {
			names[source] = make([][]string, len(p.stmt.Tables))
		}
		return &names[source][table]
	}
	for i := range p.stmt.Tables {
		name := p.stmt.Tables[i].Name
		switch ref := p.refOf(i); {
		case ref != nil:
			for _, n := range ref.rule.Nodes {
				list := at(n.DataSource, i)
				*list = append(*list, n.Table)
			}
		case p.broadcast[i]:
			for _, source := range p.set.DataSources {
				*at(source, i) = []string{name}
			}
		default:
			*at(p.set.SingleSource(name), i) = []string{name}
		}
	}
	r := &Result{Kind: plan.KindAllNodes, Reason: fmt.Sprintf("each of the %d tables is dropped wherever it lives", len(p.stmt.Tables))}
	for _, source := range p.set.DataSources {
		if names[source] == nil {
			continue
		}
		r.Units = append(r.Units, p.newUnit(source))
		p.drops = append(p.drops, names[source])
	}
	p.fixed = r
	return nil
}

// Drops returns, for a DROP of several tables, what the unit drops: the actual
// tables for every entry of Statement.Tables. It is nil for any other statement.
func (p *Program) Drops(unit int) [][]string {
	if p.drops == nil {
		return nil
	}
	return p.drops[unit]
}
