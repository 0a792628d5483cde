package route

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// insertion is an INSERT or REPLACE with VALUES or SET into a sharded table.
type insertion struct {
	ref *reference
	// positions holds the position of each of ref.keys in a row; generated that
	// of the generated column. -1: not in the column list. They are unknown
	// without a column list until the metadata gives the columns.
	positions []int
	generated int
	listed    bool
	rows      [][]parse.Operand
}

func (p *Program) compileInsert(ref *reference) *insertion {
	in := &insertion{ref: ref}
	if columns := p.stmt.Insert.Columns; columns != nil {
		in.listed = true
		in.positions, in.generated = columnPositions(ref, func(name string) int { return slices.Index(columns, name) })
	}
	for _, row := range p.stmt.Insert.Rows {
		in.rows = append(in.rows, literals(row.Values))
	}
	return in
}

func columnPositions(ref *reference, indexOf func(name string) int) (keys []int, generated int) {
	for _, k := range ref.keys {
		keys = append(keys, indexOf(k.column))
	}
	generated = -1
	if ref.rule.Key != nil {
		generated = indexOf(ref.rule.Key.Column)
	}
	return keys, generated
}

// columnsOf returns the positions of the columns, from the metadata when the
// statement has no list.
func (in *insertion) columnsOf(meta Meta) (keys []int, generated int, err error) {
	if in.listed {
		return in.positions, in.generated, nil
	}
	var table *value.Table
	if meta != nil {
		table = meta(in.ref.rule.Name)
	}
	if table == nil {
		return nil, 0, fault.Unsupported("INSERT without column list", "the columns of "+in.ref.rule.Name+" are not known, so the sharding column cannot be found",
			"name the columns")
	}
	keys, generated = columnPositions(in.ref, func(name string) int { return visiblePosition(table, name) })
	return keys, generated, nil
}

func (p *Program) routeInsert(input *Input) (*Result, error) {
	in, keys := p.insert, input.Keys
	e := newEvaluation(p, input)
	positions, generated, err := in.columnsOf(input.Meta)
	if err != nil {
		return nil, err
	}
	keyRows, err := in.keyRows(&e, generated)
	if err != nil {
		return nil, err
	}
	if err := in.checkNumbered(&e); err != nil {
		return nil, err
	}
	if len(keyRows) > 0 && generated < 0 && !in.listed {
		return nil, fault.Unsupported("INSERT without column list", "the metadata has no column "+in.ref.rule.Key.Column+" to put the generated key into", "name the columns")
	}
	if len(keyRows) > 0 && len(keys) == 0 {
		result := &Result{Kind: plan.KindStandard, Reason: p.reasons.rows, KeyRows: keyRows, KeyTable: in.ref.rule}
		if in.ref.rule.Key.Owners != nil {
			result.Owners, err = in.owners(&e, keyRows)
		}
		return result, err
	}
	if len(keys) != len(keyRows) {
		return nil, fmt.Errorf("sharding: %d generated keys for %d rows", len(keys), len(keyRows))
	}

	var few [16]int
	nodes := few[:0]
	next := 0
	for row := range in.rows {
		var key any
		hasKey := next < len(keyRows) && keyRows[next] == row
		if hasKey {
			key = keys[next]
			next++
		}
		node, err := in.nodeOf(&e, row, positions, key, hasKey)
		if errors.Is(err, errNeedsNow) {
			return &Result{Kind: plan.KindStandard, Reason: p.reasons.rows, NeedsNow: true}, nil
		}
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
	var upserted *Probe
	if input.Model != nil && len(keyRows) == 0 {
		upserted = in.upserted(&e, input)
		switch {
		case upserted == nil:
		case input.Part == plan.PartRest:
			return p.probeElsewhere(upserted, nodes), nil
		default:
			if err := in.checkTwice(&e, upserted, nodes); err != nil {
				return nil, err
			}
		}
	}
	result, err := p.insertResult(&e, nodes)
	if err != nil {
		return nil, err
	}
	if upserted != nil {
		result.Rest = plan.RestProbeFirst
	}
	if len(keyRows) == 0 && len(result.Units) > 1 {
		result.LastKey = in.lastKey(&e, generated)
	}
	if len(keyRows) > 0 {
		result.KeyRows, result.KeyTable, result.Keys, result.KeyPosition = keyRows, in.ref.rule, keys, generated
		result.KeyColumn = in.ref.rule.Key.Column
	}
	if e.now != "" {
		result.NowKeys = in.nowKeys(&e, positions)
	}
	return result, p.checkUpsert(&e, result)
}

// checkNumbered refuses to leave an AUTO_INCREMENT column of a table of several
// nodes to them: each counts for itself, and their numbers repeat.
func (in *insertion) checkNumbered(e *evaluation) error {
	table := in.ref.rule
	columns := e.meta.table(table.Name)
	if columns == nil || len(table.Nodes) == 1 {
		return nil
	}
	for i := range columns.Columns {
		c := &columns.Columns[i]
		if !c.AutoIncrement || table.Key != nil && table.Key.Column == c.Name {
			continue
		}
		position := visiblePosition(columns, c.Name)
		if listed := e.program.stmt.Insert.Columns; listed != nil {
			position = slices.Index(listed, c.Name)
		}
		for row := range in.rows {
			if e.numbered(c, in.rows[row], position) {
				return fault.Unsupported(fmt.Sprintf("INSERT into %s, row %d", table.Name, row+1), "every node would give "+c.Name+", which is AUTO_INCREMENT, a number of its own, and the numbers repeat",
					"configure keyGenerate for the column, or give it a value")
			}
		}
	}
	return e.err
}

// keyRows returns the rows whose key is to be generated: those without the
// column, and those that give it NULL, 0 or DEFAULT, as AUTO_INCREMENT does.
func (in *insertion) keyRows(e *evaluation, generated int) ([]int, error) {
	key := in.ref.rule.Key
	if key == nil {
		return nil, nil
	}
	column := e.meta.column(in.ref.rule.Name, key.Column)
	var rows []int
	for i, values := range in.rows {
		generate := generated < 0
		if !generate && generated < len(values) {
			o := &values[generated]
			generate = o.Kind == parse.OperandDefault
			if arg, known := e.arg(o); known && !generate {
				v, err := e.program.convert.Store(arg, column)
				n, isInt := v.Int64()
				generate = err == nil && (v.IsNull() || isInt && n == 0)
			}
		}
		if generate {
			rows = append(rows, i)
		}
	}
	return rows, e.err
}

// lastKey returns the integer that the last row gives for the generated column, 0
// where there is none.
func (in *insertion) lastKey(e *evaluation, generated int) int64 {
	for i := len(in.rows) - 1; i >= 0 && generated >= 0; i-- {
		if generated >= len(in.rows[i]) {
			continue
		}
		arg, known := e.arg(&in.rows[i][generated])
		if !known {
			continue
		}
		v, err := e.program.convert.Store(arg, e.meta.column(in.ref.rule.Name, in.ref.rule.Key.Column))
		if n, ok := v.Int64(); ok && err == nil {
			return n
		}
	}
	return 0
}

// nodeOf returns the node of one row. key is the row's generated key, if
// hasKey.
func (in *insertion) nodeOf(e *evaluation, row int, positions []int, key any, hasKey bool) (int, error) {
	source, target := anyTarget, anyTarget
	var values []algorithm.Value // of the keys, where some choose together
	if in.ref.complex != nil {
		values = make([]algorithm.Value, len(in.ref.keys))
	}
	for i := range in.ref.keys {
		k := &in.ref.keys[i]
		v, err := in.stored(e, row, k, positions[i], key, hasKey)
		if err != nil {
			return 0, err
		}
		if values != nil {
			values[i] = v
		}
		if k.levels&levelDatabase != 0 {
			if source, err = shard(in.ref.rule.Database, v); err != nil {
				return 0, in.noNode(row, k.column, err)
			}
		}
		if k.levels&levelTable != 0 {
			if target, err = shard(in.ref.rule.Tables, v); err != nil {
				return 0, in.noNode(row, k.column, err)
			}
		}
	}
	for i := range in.ref.complex {
		c := &in.ref.complex[i]
		at, err := c.shard(values)
		if err != nil {
			return 0, in.noNode(row, strings.Join(c.strategy.Columns, " and "), err)
		}
		if c.level == levelDatabase {
			source = at
		} else {
			target = at
		}
	}
	var set nodeSet
	if source == anyTarget && target == anyTarget {
		set = allNodes(len(in.ref.rule.Nodes))
	} else {
		in.ref.layout.add(&set, source, target)
	}
	if e.hints != nil {
		if e.checkHinted(&set); e.err != nil {
			return 0, e.err
		}
	}
	switch set.count() {
	case 1:
		return set.next(0), nil
	case 0:
		return 0, in.noNode(row, "", fmt.Errorf("the data source and the table its values lead to are no configured node together"))
	}
	if in.ref.rule.ByHint() {
		return 0, in.errNoKey(row, "", "a hint strategy chooses its node, and no hint leads to one", "give one value as a hint for the table")
	}
	return 0, in.errNoKey(row, "", "its values leave several nodes", "configure a strategy for both levels of the table")
}

// stored returns the value that the key column will hold.
func (in *insertion) stored(e *evaluation, row int, k *key, position int, key any, hasKey bool) (algorithm.Value, error) {
	const remedy = "give the column a value"
	table := in.ref.rule
	var arg any
	switch values := in.rows[row]; {
	case hasKey && k.column == table.Key.Column:
		arg = key
	case position < 0 || position >= len(values):
		return algorithm.Null(), in.errNoKey(row, k.column, "the column is missing", remedy)
	case values[position].Kind == parse.OperandDefault:
		return algorithm.Null(), in.errNoKey(row, k.column, "the value is DEFAULT", remedy)
	case values[position].Kind == parse.OperandNow:
		if e.now == "" {
			return algorithm.Null(), errNeedsNow
		}
		arg = nowOf(e.now, &values[position])
	default:
		var known bool
		if arg, known = e.arg(&values[position]); !known {
			if e.err != nil {
				return algorithm.Null(), e.err
			}
			return algorithm.Null(), fault.Unsupported("VALUES", fmt.Sprintf("row %d gives the sharding column %s an expression, whose value is known only to the database", row+1, k.column),
				"give it as a literal or a parameter")
		}
	}
	column := e.column(table, k)
	if e.err != nil {
		return algorithm.Null(), e.err
	}
	v, err := e.program.convert.Store(arg, column)
	if err != nil {
		return v, &fault.UnsupportedError{
			Clause: "VALUES", Reason: fmt.Sprintf("row %d: what the sharding column %s would hold is not certain", row+1, k.column), Err: err,
			Remedy: "give a value of the column's type",
		}
	}
	if v.IsNull() {
		return v, in.errNoKey(row, k.column, "the value is NULL", remedy)
	}
	v = e.placed(k, column, v)
	return v, e.err
}

func (in *insertion) errNoKey(row int, column, reason, remedy string) error {
	return &fault.RouteError{Class: fault.ErrNoShardingKey, Table: in.ref.rule.Name, Column: column, Row: row + 1, Reason: reason, Remedy: remedy}
}

func (in *insertion) noNode(row int, column string, err error) error {
	return &fault.RouteError{
		Class: fault.ErrNoDataNode, Table: in.ref.rule.Name, Column: column, Row: row + 1, Err: err,
		Remedy: "correct the value, or the rule of the table",
	}
}

// insertResult makes the units of rows that go to the given nodes.
func (p *Program) insertResult(e *evaluation, nodes []int) (*Result, error) {
	in := p.insert
	table := in.ref.rule
	one := len(nodes) > 0
	for _, n := range nodes {
		one = one && n == nodes[0]
	}
	switch {
	case one:
		return p.insertOne(e, nodes[0])
	case p.scatter != nil:
		return nil, p.scatter
	}
	rows := make(map[int][]int)
	var used []int
	for row, n := range nodes {
		if rows[n] == nil {
			used = append(used, n)
		}
		rows[n] = append(rows[n], row)
	}
	slices.SortFunc(used, func(a, b int) int { return compareNodes(table, a, b) })
	result := &Result{Kind: plan.KindStandard, Reason: p.reasons.rows, Units: make([]Unit, len(used))}
	for i, n := range used {
		node := &table.Nodes[n]
		names := make([]string, len(p.stmt.Tables))
		names[in.ref.table] = node.Table
		result.Units[i] = Unit{DataSource: node.DataSource, Order: node.Order, Node: n, Names: names, Rows: rows[n]}
	}
	return result, nil
}

// insertOne is the route of an INSERT that goes to one node whole. Other tables
// in it, as in a subquery, have to be there too.
func (p *Program) insertOne(e *evaluation, node int) (*Result, error) {
	in := p.insert
	n := &in.ref.rule.Nodes[node]
	if p.single != "" && p.single != n.DataSource {
		return nil, p.errApart()
	}
	result := newOneUnit(len(p.stmt.Tables))
	result.Kind, result.Reason = plan.KindStandard, p.reasons.rows
	u := &result.unit[0]
	u.DataSource, u.Order, u.Node = n.DataSource, n.Order, node
	u.Names[in.ref.table] = n.Table
	for _, r := range p.refs {
		if r == in.ref {
			continue
		}
		set := e.nodesOf(r)
		if e.err != nil {
			return nil, e.err
		}
		other := set.next(0)
		if set.count() > 1 {
			return nil, p.scatter
		}
		if other < 0 {
			other = slices.IndexFunc(r.rule.Nodes, func(o rule.Node) bool { return o.DataSource == n.DataSource })
		}
		if other < 0 || r.rule.Nodes[other].DataSource != n.DataSource {
			return nil, p.errApart()
		}
		u.Names[r.table] = r.rule.Nodes[other].Table
	}
	return &result.Result, nil
}

// compareNodes orders nodes by data source, then as configured.
func compareNodes(t *rule.Table, a, b int) int {
	if d := t.Nodes[a].Order - t.Nodes[b].Order; d != 0 {
		return d
	}
	return a - b
}
