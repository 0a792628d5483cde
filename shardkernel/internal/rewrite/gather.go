package rewrite

import (
	"fmt"
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
// LIMIT makes it a table of its own, which joins can be given a key for.
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
	for i := range g.Tables {
		table := &g.Tables[i]
		for _, reference := range table.References {
			names[reference] = table.Name
		}
		carriage, ok := newCarriage(table, text)
		if !ok {
			return nil
		}
		with = append(with, quote(table.Name, '`')+" AS ("+carriage.table+")")
		rows = append(rows, plan.RowsOf(table.Table.Name))
		gather.Tables = append(gather.Tables, plan.GatheredTable{Table: table.Table.Name, Rows: t.gathered(table, carriage.row)})
	}
	e := &plan.Execution{Kind: plan.KindGathered, Reason: g.Reason, Query: true, Gather: gather}

	given := home
	given.Names = names
	clause := "WITH " + strings.Join(with, ", ") + " "
	if frame.With > 0 {
		clause = " " + strings.Join(with, ", ") + ","
	}
	sql, unitArgs := splice(t.stmt, append(t.names(&given), at(frame.With, clause, rows)), args)
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
	for i, n := range table.Nodes {
		node := &table.Table.Nodes[n]
		e.Units[i] = plan.Unit{DataSource: node.DataSource, Table: node.Table, SQL: "SELECT " + row + " FROM " + quote(node.Table, '`')}
	}
	return e
}

// carriage is how the rows of a table travel.
type carriage struct {
	row   string // the expression of a row
	table string // the SELECT that makes the table of the rows again
}

// allRows is the LIMIT that cuts nothing off.
const allRows = "18446744073709551615"

func newCarriage(table *route.Gathered, text string) (c carriage, ok bool) {
	if len(table.Columns) == 0 { // the number of rows counts
		return carriage{
			row:   "'[]'",
			table: "SELECT j.n FROM JSON_TABLE(?, '$[*]' COLUMNS (n FOR ORDINALITY)) AS j LIMIT " + allRows,
		}, true
	}
	var written, doubts, given, read []string
	for i, column := range table.Columns {
		how, ok := carry(column, text)
		if !ok || strings.Contains(column.Name, "?") { // which a literal would be written into
			return c, false
		}
		name := quote(column.Name, '`')
		written = append(written, how.written)
		given = append(given, how.given+" AS "+name)
		read = append(read, fmt.Sprintf("%s %s PATH '$[%d]' ERROR ON ERROR", name, how.typ, i))
		if how.doubt != "" {
			doubts = append(doubts, " WHEN "+how.doubt+" THEN '"+strings.NewReplacer("'", "''", `\`, `\\`).Replace(column.Name)+"'")
		}
	}
	c.row = "JSON_ARRAY(" + strings.Join(written, ", ") + ")"
	if len(doubts) > 0 {
		c.row = "CASE" + strings.Join(doubts, "") + " ELSE " + c.row + " END"
	}
	c.table = "SELECT " + strings.Join(given, ", ") + " FROM JSON_TABLE(?, '$[*]' COLUMNS (" + strings.Join(read, ", ") + ")) AS j LIMIT " + allRows
	return c, true
}
