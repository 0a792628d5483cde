package route

import (
	"cmp"
	"slices"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// transfer is one execution of an INSERT … SELECT. Every unit of it selects in
// nodes of one data source and inserts into one node there, which is known for
// all rows of the unit: a constant leads to it, or the sharding column is taken
// over unchanged from a table that is sharded alike.
type transfer struct {
	program *Program
	e       *evaluation
	from    *parse.InsertSelect // nil when it is no single query block
	target  *reference          // nil for a single table
	// source and table tell the two levels of the target's node.
	source, table origin
	// values are what the columns of the inserted rows are given, by position;
	// nil when the select list does not tell.
	values []parse.SelectedValue
}

// origin is where one level of the target's node comes from: the node of ref, or
// index, which is a target of the level's strategy or anyTarget.
type origin struct {
	ref   *reference
	index int
}

// placedScope is the query block whose tables are placed node by node: that of
// INSERT … SELECT, else the outermost.
func (p *Program) placedScope() int {
	if p.stmt.Insert != nil && p.stmt.Insert.From != nil {
		return p.stmt.Insert.From.Scope
	}
	return 0
}

// placed reports whether the reference is one of the placed block, or the table
// that its rows are inserted into.
func (p *Program) placed(r *reference) bool {
	return p.block(r.scope) == p.placedScope() || p.stmt.Insert != nil && p.stmt.Insert.Select && p.stmt.Tables[r.table].Target
}

func (p *Program) routeInsertSelect(in *Input) (*Result, error) {
	if err := p.checkTypes(in.Meta); err != nil {
		return nil, err
	}
	e := newEvaluation(p, in)
	t := &transfer{
		program: p, e: &e, from: p.stmt.Insert.From, target: p.targetRef(),
		source: origin{index: anyTarget}, table: origin{index: anyTarget},
	}
	if t.target != nil {
		if err := t.findTarget(); err != nil {
			return nil, err
		}
	}
	sets := make([]nodeSet, len(p.refs))
	for _, r := range p.refs {
		if r == t.target {
			continue
		}
		sets[r.index] = e.nodesOf(r)
	}
	if e.err != nil {
		return nil, e.err
	}
	p.narrowPairs(sets)
	combinations, err := t.combinations(sets)
	if err != nil {
		return nil, err
	}
	result, err := t.result(combinations)
	if err != nil || t.target == nil || len(p.stmt.Insert.OnDup) == 0 {
		return result, err
	}
	return result, p.checkMoves(&e, t.target, p.stmt.Insert.OnDup, result)
}

// combinations returns the nodes of the references that are selected from, one
// combination for each unit; the target's place is open.
func (t *transfer) combinations(sets []nodeSet) ([][]int, error) {
	p := t.program
	one := make([]int, len(p.refs))
	single, empty := true, false
	for _, r := range p.refs {
		if r == t.target {
			continue
		}
		single = single && sets[r.index].count() <= 1
		empty = empty || r.scope == p.placedScope() && !r.nullable && sets[r.index].empty()
		one[r.index] = sets[r.index].next(0)
	}
	switch {
	case single && !empty:
		return [][]int{one}, nil
	case empty:
		for i := range one {
			one[i] = -1 // no row is asked for: any node will do
		}
		return [][]int{one}, nil
	case p.scatter != nil:
		return nil, p.scatter
	}
	combinations, err := p.place(sets, t.e.meta)
	if err != nil || len(combinations) > 0 {
		return combinations, err
	}
	for i := range one {
		one[i] = -1
	}
	return [][]int{one}, nil
}

// result makes the units.
func (t *transfer) result(combinations [][]int) (*Result, error) {
	p := t.program
	result := &Result{Kind: plan.KindStandard, Reason: "the rows are selected and inserted in one node", Units: make([]Unit, len(combinations))}
	for i, nodes := range combinations {
		u := &result.Units[i]
		u.Names = make([]string, len(p.stmt.Tables))
		if err := t.unit(u, nodes); err != nil {
			return nil, err
		}
		u.Node = nodes[0]
	}
	if len(combinations) > 1 {
		if err := t.checkSeveral(combinations); err != nil {
			return nil, err
		}
		result.Reason = "the rows of each node are inserted where they are selected"
	}
	slices.SortStableFunc(result.Units, func(a, b Unit) int { return cmp.Compare(a.Order, b.Order) })
	return result, nil
}

// unit fills a unit, and the nodes that are open in a combination.
func (t *transfer) unit(u *Unit, nodes []int) error {
	p := t.program
	u.DataSource = p.single
	join := func(n *rule.Node) error {
		if u.DataSource != "" && u.DataSource != n.DataSource {
			return p.errApart()
		}
		u.DataSource, u.Order = n.DataSource, n.Order
		return nil
	}
	for _, r := range p.refs {
		if r == t.target || nodes[r.index] < 0 {
			continue
		}
		if err := join(&r.rule.Nodes[nodes[r.index]]); err != nil {
			return err
		}
	}
	if t.target != nil {
		node, err := t.targetNode(u, nodes)
		if err != nil {
			return err
		}
		nodes[t.target.index] = node
		if err := join(&t.target.rule.Nodes[node]); err != nil {
			return err
		}
	}
	for _, r := range p.refs {
		if nodes[r.index] < 0 {
			nodes[r.index] = slices.IndexFunc(r.rule.Nodes, func(n rule.Node) bool { return u.DataSource == "" || n.DataSource == u.DataSource })
			if nodes[r.index] < 0 {
				return p.errApart()
			}
			u.DataSource = r.rule.Nodes[nodes[r.index]].DataSource
		}
		u.Names[r.table] = r.rule.Nodes[nodes[r.index]].Table
	}
	u.Order = p.orderOf(u.DataSource)
	return nil
}

// targetNode returns the node that the rows of a unit belong to.
func (t *transfer) targetNode(u *Unit, nodes []int) (int, error) {
	table := t.target.rule
	source, target := t.source.index, t.table.index
	if r := t.source.ref; r != nil && nodes[r.index] >= 0 {
		source = slices.Index(table.Sources(), r.rule.Nodes[nodes[r.index]].DataSource)
	}
	if r := t.table.ref; r != nil && nodes[r.index] >= 0 {
		target = table.Nodes[nodes[r.index]].Target
	}
	if source == anyTarget && target == anyTarget {
		// Of several nodes only when no row is selected.
		i := slices.IndexFunc(table.Nodes, func(n rule.Node) bool { return u.DataSource == "" || n.DataSource == u.DataSource })
		if i < 0 {
			return 0, t.program.errApart()
		}
		return i, nil
	}
	var set nodeSet
	t.target.layout.add(&set, source, target)
	if set.empty() {
		return 0, &fault.RouteError{
			Class: fault.ErrNoDataNode, Table: table.Name, Reason: "the data source and the table its values lead to are no configured node together",
			Remedy: "correct the values, or the rule of the table",
		}
	}
	return set.next(0), nil
}

// findTarget finds out how the node of the inserted rows is known.
func (t *transfer) findTarget() error {
	table := t.target.rule
	columns := t.program.stmt.Insert.Columns
	meta := t.e.meta.table(table.Name)
	t.values = t.program.selectedValues(t.from, t.e.meta)
	position := func(name string) int {
		if columns != nil {
			return slices.Index(columns, name)
		}
		return visiblePosition(meta, name)
	}
	if len(table.Nodes) > 1 && !table.ByOneColumn() {
		return fault.Unsupported("INSERT … SELECT into "+table.Name, "the node of a row follows from several columns or from a hint, which is not found out for rows that only the database sees",
			"read the rows first and insert them with VALUES")
	}
	if len(table.Nodes) > 1 && columns == nil && meta == nil {
		return fault.Unsupported("INSERT without column list", "the columns of "+table.Name+" are not known, so the sharding column cannot be found", "name the columns")
	}
	for i := range t.target.keys {
		k := &t.target.keys[i]
		if err := t.findKey(k, position(k.column)); err != nil {
			return err
		}
	}
	return t.checkNumbers(meta, position)
}

// findKey finds out what a sharding column of the target is given.
func (t *transfer) findKey(k *key, position int) error {
	table := t.target.rule
	refuse := func(reason, remedy string) error {
		return fault.Unsupported("INSERT … SELECT into "+table.Name, reason, remedy)
	}
	remedy := "select " + k.column + " as it is from a table bound to " + table.Name + ", or as a constant; else read the rows first and insert them with VALUES"
	switch {
	case position < 0:
		return t.errNoKey(k, "the column is missing")
	case t.values == nil:
		return refuse("which value the sharding column "+k.column+" gets cannot be told from the select list", remedy)
	case position >= len(t.values):
		return t.errNoKey(k, "the select list is too short")
	}
	v := &t.values[position]
	if v.Column != nil {
		return t.takeOver(k, v.Column, func(reason string) error { return refuse(reason, remedy) })
	}
	o := literal(v.Value)
	arg, known := t.e.arg(&o)
	if t.e.err != nil {
		return t.e.err
	}
	if !known {
		return refuse("the sharding column "+k.column+" gets an expression, whose value is known only to the database", remedy)
	}
	column := t.e.column(table, k)
	if t.e.err != nil {
		return t.e.err
	}
	stored, err := t.program.convert.Store(arg, column)
	if err != nil {
		return &fault.UnsupportedError{Clause: "INSERT … SELECT", Reason: "what the sharding column " + k.column + " would hold is not certain", Err: err, Remedy: "give a value of the column's type"}
	}
	if stored.IsNull() {
		return t.errNoKey(k, "the value is NULL")
	}
	noNode := func(err error) error {
		return &fault.RouteError{Class: fault.ErrNoDataNode, Table: table.Name, Column: k.column, Err: err, Remedy: "correct the value, or the rule of the table"}
	}
	if k.levels&levelDatabase != 0 {
		if t.source.index, err = shard(table.Database, stored); err != nil {
			return noNode(err)
		}
	}
	if k.levels&levelTable != 0 {
		if t.table.index, err = shard(table.Tables, stored); err != nil {
			return noNode(err)
		}
	}
	return nil
}

func (t *transfer) errNoKey(k *key, reason string) error {
	return &fault.RouteError{Class: fault.ErrNoShardingKey, Table: t.target.rule.Name, Column: k.column, Reason: reason, Remedy: "select a value for the column"}
}

// takeOver makes the key the column of a table that is selected from.
func (t *transfer) takeOver(k *key, c *parse.Column, refuse func(reason string) error) error {
	p, table := t.program, t.target.rule
	at := p.ownerOf(t.from.Scope, *c, t.e.meta)
	if at < 0 {
		return refuse("which table " + c.Name + ", the value of its sharding column " + k.column + ", belongs to is not certain")
	}
	r := p.refOf(at)
	if r == nil || r.scope != t.from.Scope {
		return refuse("its sharding column " + k.column + " gets " + p.stmt.Tables[at].Name + "." + c.Name + ", which is no sharding column")
	}
	if r.nullable {
		return refuse("its sharding column " + k.column + " gets a column that may be NULL where an outer join finds no row")
	}
	bound := p.set.Bound(table, r.rule)
	if k.levels&levelDatabase != 0 {
		if !bound && !p.set.DatabaseBound(table, r.rule) || !r.rule.Database.By(c.Name) {
			return refuse("its sharding column " + k.column + " gets " + r.rule.Name + "." + c.Name + ", by which rows are spread over the data sources in another way")
		}
		t.source.ref = r
	}
	if k.levels&levelTable != 0 {
		if !bound || !r.rule.Tables.By(c.Name) {
			return refuse("its sharding column " + k.column + " gets " + r.rule.Name + "." + c.Name + ", by which rows are spread over the tables in another way")
		}
		t.table.ref = r
	}
	to, from := t.e.column(table, k), t.e.meta.column(r.rule.Name, c.Name)
	if t.e.err != nil {
		return t.e.err
	}
	if to != nil && from != nil && (to.Type != from.Type || to.Collation != from.Collation) {
		return refuse("its sharding column " + k.column + " is of another type than " + r.rule.Name + "." + c.Name + ", so that it may hold another value")
	}
	return nil
}

// selectedValues returns what a select list gives, column by column; nil when a
// star stands for columns that are not known.
func (p *Program) selectedValues(from *parse.InsertSelect, meta Meta) []parse.SelectedValue {
	if from == nil {
		return nil
	}
	values := make([]parse.SelectedValue, 0, len(from.Items))
	for _, item := range from.Items {
		if !item.Star {
			values = append(values, item)
			continue
		}
		for _, table := range item.Of {
			logical, configured := p.Logical(table)
			columns := meta.table(logical)
			if !configured || columns == nil {
				return nil
			}
			for i := range columns.Columns {
				if c := &columns.Columns[i]; !c.Invisible {
					values = append(values, parse.SelectedValue{Column: &parse.Column{Table: table, Name: c.Name}})
				}
			}
		}
		if item.Of == nil {
			return nil
		}
	}
	return values
}

// ownerOf returns the index in Statement.Tables of the table a column of a block
// belongs to, -1 when that is not certain.
func (p *Program) ownerOf(scope int, c parse.Column, meta Meta) int {
	if c.Table != parse.AnyTable {
		return c.Table
	}
	owner := -1
	for i := range p.stmt.Tables {
		if p.stmt.Tables[i].Scope != scope {
			continue
		}
		logical, configured := p.Logical(i)
		columns := meta.table(logical)
		if !configured || columns == nil {
			return -1
		}
		// Several have it only where USING makes one column of them.
		if _, ok := columns.Column(c.Name); ok && owner < 0 {
			owner = i
		}
	}
	return owner
}

// visiblePosition returns where a column stands among those that a row without a
// column list gives, -1 for none.
func visiblePosition(table *value.Table, name string) int {
	if table == nil {
		return -1
	}
	position := 0
	for i := range table.Columns {
		c := &table.Columns[i]
		switch {
		case c.Invisible:
		case c.Name == name:
			return position
		default:
			position++
		}
	}
	return -1
}
