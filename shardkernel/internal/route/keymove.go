package route

import (
	"slices"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
)

// checkUpdate refuses an UPDATE that may move a row to another node.
func (p *Program) checkUpdate(e *evaluation, result *Result) error {
	if p.stmt.Update == nil || result.Kind == plan.KindUnicast {
		return nil
	}
	for _, r := range p.refs {
		if err := p.checkMoves(e, r, p.stmt.Update.Set, result); err != nil {
			return err
		}
	}
	return nil
}

// checkUpsert does the same for what an INSERT sets in an existing row, which is
// in the node of the row that was to be inserted.
func (p *Program) checkUpsert(e *evaluation, result *Result) error {
	if len(p.stmt.Insert.OnDup) == 0 {
		return nil
	}
	return p.checkMoves(e, p.insert.ref, p.stmt.Insert.OnDup, result)
}

func (p *Program) checkMoves(e *evaluation, r *reference, set []parse.Assignment, result *Result) error {
	k, a, err := p.moved(e, r, set, result)
	switch {
	case k == nil || err != nil:
		return err
	case e.isNull(&a.Value):
		return &fault.RouteError{
			Class: fault.ErrShardingKeyUpdate, Table: r.rule.Name, Column: k.column,
			Reason: "rows that have NULL in it belong to no node",
			Remedy: "delete the rows instead: in GORM, those of Association(name).Unscoped() do, where Delete, Replace and Clear would detach them",
		}
	}
	return &fault.RouteError{
		Class: fault.ErrShardingKeyUpdate, Table: r.rule.Name, Column: k.column,
		Reason: "rows with the new value belong to another node, or it cannot be told",
		Remedy: "leave the column out of SET, or put a condition on it with the same value into WHERE (in GORM: db.Where(\"" + k.column + " = ?\", value).Save(&row)); to move a row, insert it anew and delete the old one",
	}
}

// moved returns the key by which a row may belong to another node than that of
// the result which it is in, and what sets it; nil where none does.
func (p *Program) moved(e *evaluation, r *reference, set []parse.Assignment, result *Result) (*key, *parse.Assignment, error) {
	if p.stmt.Tables[r.table].Target && len(r.rule.Nodes) > 1 {
		if err := p.checkImplied(e, r, set); err != nil {
			return nil, nil, err
		}
	}
	for i := range set {
		a := &set[i]
		if a.Column.Table >= 0 && a.Column.Table != r.table {
			continue
		}
		k, ok := r.keyNamed(a.Column.Name)
		if !ok || a.Self || a.Inserted == k.column && r.takesWhole(k, set) {
			continue
		}
		stays := p.stays(e, r, k, &a.Value, result) && (k.shared == 0 || e.staysTogether(r, set, result))
		if e.err != nil {
			return nil, nil, e.err
		}
		if !stays {
			return k, a, nil
		}
	}
	return nil, nil, nil
}

// takesWhole reports whether a row that takes over a key from the row that was to
// be inserted into its node belongs to that node still. Where several keys choose
// together, it has to take over all of them, unless this one decides alone.
func (r *reference) takesWhole(k *key, set []parse.Assignment) bool {
	for i := range r.complex {
		c := &r.complex[i]
		if k.shared&c.level == 0 || c.strategy.Decides(slices.Index(c.keys, k.index)) {
			continue
		}
		for _, at := range c.keys {
			column := r.keys[at].column
			last := -1 // the assignments take effect one after the other
			for j := range set {
				if set[j].Column.Name == column {
					last = j
				}
			}
			if last < 0 || set[last].Inserted != column {
				return false
			}
		}
	}
	return true
}

// checkImplied refuses a change of rows that the database answers by a change of
// a sharding column: one that is set to the time of the last change.
func (p *Program) checkImplied(e *evaluation, r *reference, set []parse.Assignment) error {
	for i := range r.keys {
		k := &r.keys[i]
		c := e.meta.column(r.rule.Name, k.column)
		if c == nil || !c.OnUpdate || slices.ContainsFunc(set, func(a parse.Assignment) bool {
			return a.Column.Name == k.column && (a.Column.Table < 0 || a.Column.Table == r.table)
		}) {
			continue
		}
		return &fault.RouteError{
			Class: fault.ErrShardingKeyUpdate, Table: r.rule.Name, Column: k.column,
			Reason: "the column is ON UPDATE CURRENT_TIMESTAMP, and rows with the new time may belong to another node",
			Remedy: "set it to itself in the same statement: " + k.column + " = " + k.column + "; or define the column without ON UPDATE",
		}
	}
	return nil
}

// stays reports whether a row of each of the result's nodes belongs to its node
// still after its key became the value.
func (p *Program) stays(e *evaluation, r *reference, k *key, operand *parse.Operand, result *Result) bool {
	o := literal(*operand)
	arg, known := e.arg(&o)
	if !known {
		return false
	}
	column := e.column(r.rule, k)
	v, err := e.program.convert.Store(arg, column)
	if err != nil || v.IsNull() {
		return false
	}
	v = e.placed(k, column, v)
	source, target := anyTarget, anyTarget
	if k.levels&levelDatabase != 0 {
		if source, err = shard(r.rule.Database, v); err != nil {
			return false
		}
	}
	if k.levels&levelTable != 0 {
		if target, err = shard(r.rule.Tables, v); err != nil {
			return false
		}
	}
	for i := range result.Units {
		n := r.nodeIn(&result.Units[i])
		if source != anyTarget && n.Source != source || target != anyTarget && n.Target != target {
			return false
		}
	}
	return true
}

// isNull reports whether a value is surely NULL.
func (e *evaluation) isNull(operand *parse.Operand) bool {
	o := literal(*operand)
	arg, known := e.arg(&o)
	return known && arg == nil
}

// staysTogether is stays for keys that choose together: what is set in them
// stands in for what the condition says of them, which holds for the others.
func (e *evaluation) staysTogether(r *reference, set []parse.Assignment, result *Result) bool {
	var after facts
	if r.where != nil && r.where.op == exprAnd {
		after = e.learn(r, r.where.kids)
	} else {
		after = e.learn(r, []*expr{r.where})
	}
	var changed []*key
	for i := range set {
		k, ok := r.keyNamed(set[i].Column.Name)
		if !ok || set[i].Self || set[i].Column.Table >= 0 && set[i].Column.Table != r.table {
			continue
		}
		o := literal(set[i].Value)
		column := e.column(r.rule, k)
		after[k.index] = fact{}
		if arg, known := e.arg(&o); known {
			if v, err := e.program.convert.Store(arg, column); err == nil && !v.IsNull() {
				after[k.index] = fact{listed: true, values: []algorithm.Value{e.placed(k, column, v)}}
			}
		}
		if k.shared != 0 {
			changed = append(changed, k)
		}
	}
	around := e.facts
	e.facts = after
	defer func() { e.facts = around }()
	for i := range r.complex {
		c := &r.complex[i]
		at := slices.IndexFunc(changed, func(k *key) bool { return k.shared&c.level != 0 })
		if at < 0 {
			continue
		}
		nodes, every := e.narrow(r, c, changed[at], after[changed[at].index])
		if every {
			return false
		}
		for u := range result.Units {
			target := c.target(r.nodeIn(&result.Units[u]))
			for n := nodes.next(0); n >= 0; n = nodes.next(n + 1) {
				if c.target(&r.rule.Nodes[n]) != target {
					return false
				}
			}
		}
	}
	return true
}

// nodeIn returns the node of the reference in a unit.
func (r *reference) nodeIn(u *Unit) *rule.Node {
	if r.index == 0 {
		return &r.rule.Nodes[u.Node]
	}
	i := slices.IndexFunc(r.rule.Nodes, func(n rule.Node) bool {
		return n.DataSource == u.DataSource && n.Table == u.Names[r.table]
	})
	return &r.rule.Nodes[i]
}
