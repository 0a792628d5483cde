package route

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// upserted returns the keys of the rows of an INSERT that may be in the table
// already; nil where no other node than a row's own can have its key. Each node
// knows the keys of its own rows alone, so a row that the model has moved would be
// stored a second time.
func (in *insertion) upserted(e *evaluation, input *Input) *Probe {
	table := in.ref.rule
	m := input.Model
	if m == nil || !m.Upsert || m.Table != table.Name || table.TrustModel || len(table.Nodes) < 2 {
		return nil
	}
	columns := e.meta.table(table.Name)
	if columns == nil || len(columns.Key) == 0 || decidesNode(table, columns.Key) {
		return nil
	}
	positions := make([]int, len(columns.Key))
	for i, column := range columns.Key {
		positions[i] = visiblePosition(columns, column)
		if in.listed {
			positions[i] = slices.Index(e.program.stmt.Insert.Columns, column)
		}
		if positions[i] < 0 {
			return nil // the server gives it
		}
	}
	p := &Probe{Columns: columns.Key, Rows: make([][]parse.Operand, len(in.rows))}
	some := false
	for row, values := range in.rows {
		key := make([]parse.Operand, len(positions))
		given := true
		for i, at := range positions {
			if at >= len(values) {
				given = false
				break
			}
			key[i] = values[at]
			given = given && e.isGiven(&key[i])
		}
		if given {
			p.Rows[row], some = key, true
		}
	}
	if !some {
		return nil
	}
	return p
}

// checkTwice refuses rows with one key that go to different nodes: each node would
// store its own, where one database lets the later one change the earlier.
func (in *insertion) checkTwice(e *evaluation, p *Probe, nodes []int) error {
	if !slices.ContainsFunc(nodes, func(n int) bool { return n != nodes[0] }) {
		return nil
	}
	columns := e.meta.table(in.ref.rule.Name)
	first := make(map[string]int, len(p.Rows)) // row by key
	var text []byte
	for row, key := range p.Rows {
		if key == nil {
			continue
		}
		text = text[:0]
		for i := range key {
			part, ok := e.spelled(columns, p.Columns[i], &key[i])
			if !ok {
				return fault.Unsupported(fmt.Sprintf("upsert of several rows into %s, row %d", in.ref.rule.Name, row+1),
					"the rows go to several nodes, and whether the server takes its "+p.Columns[i]+" for that of another row cannot be told",
					"write the rows one by one")
			}
			text = strconv.AppendQuote(text, part)
		}
		other, twice := first[string(text)]
		if !twice {
			first[string(text)] = row
		} else if nodes[other] != nodes[row] {
			return &fault.RouteError{
				Class: fault.ErrShardingKeyUpdate, Table: in.ref.rule.Name,
				Reason: fmt.Sprintf("rows %d and %d have the same primary key, and belong to different nodes by their sharding values", other+1, row+1),
				Remedy: "leave one of them out",
			}
		}
	}
	return nil
}

// spelled returns the same text for all values of a key column that the server may
// take for equal; ok is false where it cannot be told. Beyond ASCII a collation may
// take quite different texts for equal.
func (e *evaluation) spelled(columns *value.Table, name string, o *parse.Operand) (text string, ok bool) {
	arg, _ := e.arg(o)
	column, _ := columns.Column(name)
	v, err := e.program.convert.Store(arg, column)
	if err != nil {
		v = algorithm.Text(fmt.Sprint(arg))
	}
	text = v.String()
	if column == nil || column.Binary() || strings.HasSuffix(column.Collation, "_bin") {
		return text, true
	}
	beyond := strings.IndexFunc(text, func(c rune) bool { return c < ' ' || c > '~' }) >= 0
	return strings.ToLower(strings.TrimRight(text, " ")), !beyond
}

// isGiven reports whether an inserted value of a key column is the caller's.
func (e *evaluation) isGiven(o *parse.Operand) bool {
	if o.Kind != parse.OperandParam && o.Kind != parse.OperandLiteral {
		return false
	}
	arg, known := e.arg(o)
	return known && !value.IsNull(arg)
}

// probeElsewhere makes a result of the questions for keys to all nodes but those
// their rows go to.
func (p *Program) probeElsewhere(probe *Probe, nodes []int) *Result {
	in := p.insert
	result := &Result{Kind: plan.KindStandard, Reason: p.reasons.rows, Probe: probe}
	for n := range in.ref.rule.Nodes {
		var rows []int
		for row, own := range nodes {
			if own != n && probe.Rows[row] != nil {
				rows = append(rows, row)
			}
		}
		if rows == nil {
			continue
		}
		node := &in.ref.rule.Nodes[n]
		names := make([]string, len(p.stmt.Tables))
		names[in.ref.table] = node.Table
		result.Units = append(result.Units, Unit{DataSource: node.DataSource, Order: node.Order, Node: n, Names: names, Rows: rows})
	}
	slices.SortStableFunc(result.Units, func(a, b Unit) int { return a.Order - b.Order })
	return result
}
