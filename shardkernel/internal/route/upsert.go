package route

import (
	"slices"

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
