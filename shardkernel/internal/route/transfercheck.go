package route

import (
	"slices"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// checkNumbers refuses rows whose key would have to be generated one by one: by
// the key generator, which cannot see them, or by nodes that each count for
// themselves.
func (t *transfer) checkNumbers(meta *value.Table, position func(string) int) error {
	table := t.target.rule
	if table.Key != nil && t.generates(position(table.Key.Column)) {
		return fault.Unsupported("INSERT … SELECT into "+table.Name, "its key column "+table.Key.Column+" would have to be generated for rows that only the database sees",
			"select a value for "+table.Key.Column+", or read the rows first and insert them with VALUES")
	}
	if meta == nil || len(table.Nodes) == 1 {
		return nil
	}
	for i := range meta.Columns {
		c := &meta.Columns[i]
		if !c.AutoIncrement || t.given(position(c.Name)) {
			continue
		}
		return fault.Unsupported("INSERT … SELECT into "+table.Name, "every node would give "+c.Name+", which is AUTO_INCREMENT, a number of its own, and the numbers repeat",
			"select a value for "+c.Name+" that is never NULL or 0")
	}
	return t.e.err
}

// generates reports whether rows surely get no value for the generated column.
func (t *transfer) generates(position int) bool {
	if position < 0 || position >= len(t.values) {
		return true
	}
	none, known := t.none(&t.values[position])
	return known && none
}

// given reports whether every row gets a value for an AUTO_INCREMENT column: a
// constant that is neither NULL nor 0, or a column in which no row has NULL.
func (t *transfer) given(position int) bool {
	if position < 0 || position >= len(t.values) {
		return false
	}
	v := &t.values[position]
	if v.Column == nil {
		none, known := t.none(v)
		return known && !none
	}
	at := t.program.ownerOf(t.from.Scope, *v.Column, t.e.meta)
	if at < 0 {
		return false
	}
	if r := t.program.refOf(at); r != nil && r.nullable {
		return false
	}
	logical, _ := t.program.Logical(at)
	c := t.e.meta.column(logical, v.Column.Name)
	return c != nil && !c.Nullable
}

// none reports whether a constant is NULL or 0, for which a number is generated.
func (t *transfer) none(v *parse.SelectedValue) (none, known bool) {
	if v.Column != nil {
		return false, false
	}
	o := literal(v.Value)
	arg, known := t.e.arg(&o)
	if !known {
		return false, false
	}
	stored, err := t.program.convert.Store(arg, nil)
	n, isInt := stored.Int64()
	return stored.IsNull() || isInt && n == 0, err == nil
}

// refuseInsertSelect returns why an INSERT … SELECT may not go to several nodes,
// whatever they are.
func (p *Program) refuseInsertSelect() error {
	from := p.stmt.Insert.From
	switch {
	case from == nil:
		return p.refuse("INSERT … SELECT", "it selects by something else than one query block", "")
	case from.Limit:
		return p.refuse("INSERT … SELECT with LIMIT", "no node knows how many rows the others select", "")
	case from.Rollup:
		return p.refuse("WITH ROLLUP", "the subtotals of nodes are not combined", "")
	case from.Aggregate && !from.Grouped:
		return p.refuse("INSERT … SELECT of an aggregate", "its rows are on several nodes, and its row would be inserted by one", "")
	case (from.OrderBy || from.Grouped) && p.stmt.Insert.Returning:
		return p.refuse("RETURNING of an INSERT … SELECT with ORDER BY or GROUP BY", "the nodes' rows are not put in order", "leave out RETURNING or the order")
	}
	return nil
}

// checkSeveral refuses what the nodes, each for itself, would select or insert
// otherwise than one database.
func (t *transfer) checkSeveral(combinations [][]int) error {
	p := t.program
	if p.scatter != nil {
		return p.scatter
	}
	if err := p.checkAggregates(t.e.meta); err != nil {
		return err
	}
	if t.from.Grouped && !t.separates(t.from.GroupBy, combinations) {
		return p.refuse("INSERT … SELECT with GROUP BY", "a group may have rows on several nodes", "group by the sharding columns of one of its tables, or add a condition that leads to one node")
	}
	if t.from.Distinct {
		var columns []parse.Column
		for i := range t.values {
			if t.values[i].Column != nil {
				columns = append(columns, *t.values[i].Column)
			}
		}
		if !t.separates(columns, combinations) {
			return p.refuse("INSERT … SELECT DISTINCT", "equal rows may be on several nodes", "select the sharding columns of one of its tables, or add a condition that leads to one node")
		}
	}
	written := slices.IndexFunc(p.stmt.Tables, func(ref parse.TableRef) bool { return ref.Target })
	if t.target == nil {
		for i := range p.stmt.Tables {
			if _, configured := p.Logical(i); i != written && !configured && p.stmt.Tables[i].Name == p.stmt.Tables[written].Name {
				return p.refuse("INSERT … SELECT from the table it inserts into", "a node would select what was inserted for another", "")
			}
		}
		return t.checkOrder(len(combinations) > 1)
	}
	seen := map[int]bool{}
	shared := false
	for _, nodes := range combinations {
		node := nodes[t.target.index]
		shared = shared || seen[node]
		seen[node] = true
		for _, r := range p.refs {
			if r.rule == t.target.rule && nodes[r.index] != node {
				return p.refuse("INSERT … SELECT from the table it inserts into", "a node would select what was inserted for another", "")
			}
		}
	}
	return t.checkOrder(shared)
}

// checkOrder refuses an order that several units inserting into one table would
// not keep.
func (t *transfer) checkOrder(shared bool) error {
	if shared && t.from.OrderBy {
		return t.program.refuse("INSERT … SELECT with ORDER BY into one node", "the rows of the nodes would be inserted one node after the other", "")
	}
	return nil
}

// separates reports whether rows that are equal in the columns are never selected
// by two units: the columns hold all sharding columns of a table, each node of
// which one unit reads.
func (t *transfer) separates(columns []parse.Column, combinations [][]int) bool {
	p := t.program
	for _, r := range p.refs {
		if r == t.target || !p.holdsKeys(r, t.from.Scope, columns, t.e.meta) {
			continue
		}
		all := true
		seen := map[int]bool{}
		for _, nodes := range combinations {
			all = all && !seen[nodes[r.index]]
			seen[nodes[r.index]] = true
		}
		if all {
			return true
		}
	}
	return false
}
