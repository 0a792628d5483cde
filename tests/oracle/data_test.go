//go:build unix

package oracle_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gormshard/sharding/tests/rowtext"
)

// rowSeed is one of few by which groups are on all nodes, as
// TestGroupsAreSplitOverTheNodesAndSomeNodesAreEmpty wants them.
const rowSeed = 7169

// rowsOf are the rows that a table starts with: the same at every run. Each value of a
// column occurs, in rows that the others' values do not tell, where there are as many.
func rowsOf(t *table) [][]any {
	random := rand.New(rand.NewPCG(rowSeed, uint64(len(t.name))))
	rows := make([][]any, t.rows)
	for i := range rows {
		rows[i] = make([]any, len(t.columns))
	}
	for c := range t.columns {
		column := &t.columns[c]
		order := random.Perm(t.rows)
		if counts := len(column.values) == t.rows && column.values[0] == 1; counts || t == region && c == 0 {
			slices.Sort(order)
		}
		first := random.IntN(len(column.values))
		if len(column.values) >= t.rows {
			first = 0
		}
		for i, row := range order {
			rows[row][c] = column.values[(first+i)%len(column.values)]
		}
	}
	return rows
}

// fill puts the rows into the unsharded database one by one, and into the
// sharded ones in batches through the plugin.
func (c *cluster) fill(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	for _, table := range tables {
		var columns []string
		for _, column := range table.columns {
			columns = append(columns, column.name)
		}
		head := "INSERT INTO " + table.name + " (" + strings.Join(columns, ", ") + ") VALUES "
		marks := "(" + strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ") + ")"
		rows := rowsOf(table)
		for i := 0; !c.shared && i < len(rows); i++ {
			row := rows[i]
			if _, err := c.prepared.single.ExecContext(ctx, head+marks, row...); err != nil {
				t.Fatalf("%s %v: %v", table.name, row, err)
			}
		}
		for batch := range slices.Chunk(rows, 17) {
			all := strings.TrimSuffix(strings.Repeat(marks+", ", len(batch)), ", ")
			got, err := c.prepared.sharded.ConnPool.ExecContext(ctx, head+all, slices.Concat(batch...)...)
			if err != nil {
				t.Fatalf("%s: %s: %v", c.name, table.name, err)
			}
			if n, _ := got.RowsAffected(); n != int64(len(batch)) {
				t.Errorf("%s: %d rows affected instead of %d", table.name, n, len(batch))
			}
		}
	}
	c.compareRows(t.Context(), t.Fatalf, tables...)
}

// empty removes all rows without the code under test.
func (c *cluster) empty(t *testing.T) {
	t.Helper()
	remove := func(pool *sql.DB, name string) {
		if _, err := pool.ExecContext(t.Context(), "DELETE FROM "+name); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range tables {
		remove(c.prepared.single, table.name)
		for i, node := range c.nodes {
			for _, actual := range c.actual(table, i) {
				remove(node, actual)
			}
		}
	}
	again := func(pool *sql.DB, table string) {
		if _, err := pool.ExecContext(t.Context(), "ALTER TABLE "+table+" AUTO_INCREMENT = 1"); err != nil {
			t.Fatal(err)
		}
	}
	again(c.prepared.single, "staff")
	again(c.nodes[c.staffSource()], "staff")
	again(c.prepared.single, "region")
	again(c.nodes[0], "region") // which numbers the others' rows
}

// compareRows compares what the nodes hold together with what the unsharded
// database holds.
func (c *cluster) compareRows(ctx context.Context, report func(format string, args ...any), which ...*table) bool {
	same := true
	for _, table := range which {
		want, err := dump(ctx, c.prepared.single, table.name)
		if err != nil {
			report("%s: %v", table.name, err)
			return false
		}
		var got []string
		for i, node := range c.nodes {
			var rows []string
			for _, actual := range c.actual(table, i) {
				part, err := dump(ctx, node, actual)
				if err != nil {
					report("%s: %v", actual, err)
					return false
				}
				rows = append(rows, part...)
			}
			if table == region && i > 0 {
				if d := rowtext.Differ(want, rows); d != "" {
					report("%s: the rows of %s on ds%d differ: %s", c.name, table.name, i, d)
					same = false
				}
				continue
			}
			got = append(got, rows...)
		}
		slices.Sort(got)
		if d := rowtext.Differ(want, got); d != "" {
			report("%s: the rows of %s differ: %s", c.name, table.name, d)
			same = false
		}
	}
	return same
}

// dump returns all rows of a table, sorted by what they look like.
func dump(ctx context.Context, pool *sql.DB, name string) ([]string, error) {
	a := read(pool.QueryContext(ctx, "SELECT * FROM "+name))
	if a.err != nil {
		return nil, fmt.Errorf("SELECT * FROM %s: %w", name, a.err)
	}
	rows := rowtext.Shown(a.rows)
	slices.Sort(rows)
	return rows, nil
}
