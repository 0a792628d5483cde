package rewrite

import (
	"slices"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/route"
)

// Gather returns how a statement is answered at one data source with the rows of
// others, nil when it cannot be.
//
// The data source is given each table as a common table expression, which takes
// the place of an actual table:
//
//	WITH t_order_gathered AS (SELECT … FROM JSON_TABLE(?, …) AS j LIMIT …) SELECT … FROM t_order_gathered …
//
// Index hints go, since such a table has no indexes.
func (t *Template) Gather(g *route.Gathering, args []any) *plan.Execution {
	frame, ok := parse.FrameOf(t.stmt.Text, t.server.Dialect)
	if !ok {
		return nil
	}
	text := strings.ToLower(t.stmt.Text)
	home := route.Unit{DataSource: g.Home, Node: -1, Names: g.Names}
	names := slices.Clone(g.Names)
	gather := &plan.Gather{Typed: len(args) == 0}
	var with []string
	var rows []any
	recursive := false
	for i := range g.Tables {
		table := &g.Tables[i]
		for _, reference := range table.References {
			names[reference] = table.Name
		}
		lender := g.Names[table.References[0]]
		carriage, ok := newCarriage(table.Name, lender, table.Columns, text)
		if !ok || carriage.recursive && !t.server.MariaDB {
			return nil
		}
		if carriage.recursive && slices.Contains(t.stmt.CTEs, strings.ToLower(lender)) {
			return nil // which WITH RECURSIVE would take for the lender
		}
		with = append(with, carriage.tables)
		recursive = recursive || carriage.recursive
		rows = append(rows, plan.RowsOf(table.Table.Name))
		gather.Tables = append(gather.Tables, plan.GatheredTable{Table: table.Table.Name, Rows: t.gathered(table, carriage.row)})
	}
	e := &plan.Execution{Kind: plan.KindGathered, Reason: g.Reason, Query: true, Gather: gather}

	given := home
	given.Names = names
	clause := " " + strings.Join(with, ", ")
	if recursive && !frame.Recursive {
		clause = " RECURSIVE" + clause
	}
	if frame.With > 0 {
		clause += ","
	} else {
		clause = "WITH" + clause + " "
	}
	edits := append(t.names(&given), at(frame.With, clause, rows))
	for _, hint := range frame.IndexHints {
		edits = append(edits, edit{Span: hint})
	}
	sql, unitArgs := splice(t.stmt, edits, args)
	e.Units = []plan.Unit{{DataSource: g.Home, SQL: sql, Args: unitArgs}}

	none := edit{Span: frame.Limit, text: "LIMIT 0"}
	if none.Start == none.End {
		none.text = " LIMIT 0"
	}
	sql, unitArgs = splice(t.stmt, append(t.names(&home), none), args)
	gather.Header = t.unit(&home, sql, unitArgs)
	return e
}

// gathered returns what reads the rows of a table.
func (t *Template) gathered(table *route.Gathered, row string) plan.Execution {
	e := plan.Execution{Kind: plan.KindStandard, Query: true, Merge: &plan.Merge{}, Units: make([]plan.Unit, len(table.Nodes))}
	if len(table.Nodes) == len(table.Table.Nodes) {
		e.Kind = plan.KindAllNodes
	}
	where := ""
	if table.Filter.Text != "" {
		where = " WHERE " + table.Filter.Text
	}
	for i, n := range table.Nodes {
		node := &table.Table.Nodes[n]
		e.Units[i] = plan.Unit{DataSource: node.DataSource, Table: node.Table, SQL: "SELECT " + row + " FROM " + quote(node.Table, '`') + where, Args: table.Filter.Args}
	}
	return e
}
