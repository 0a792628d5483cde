//go:build unix

package orders_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gormshard/sharding/tests/mariadb"
	"github.com/gormshard/sharding/tests/rowtext"
)

// writes is the cluster whose rows tests change. reset gives it the rows of the
// sample.
var writes struct {
	once sync.Once
	*cluster
}

func writeCluster(t *testing.T) *cluster {
	t.Helper()
	sampleCluster(t)
	writes.once.Do(func() { writes.cluster = newCluster(t, "writes", mariadb.Shared(t, 2)) })
	if writes.cluster == nil {
		t.Fatal("the cluster could not be made")
	}
	return writes.cluster
}

// reset gives the cluster the rows of the sample, on all nodes at once.
func (c *cluster) reset(t *testing.T) {
	t.Helper()
	var wg sync.WaitGroup
	copyRows := func(server *mariadb.Server, to, from string, ddl []string) {
		wg.Go(func() {
			var b strings.Builder
			for _, create := range ddl {
				table := strings.Fields(create)[2]
				fmt.Fprintf(&b, "DELETE FROM %s.%s; INSERT INTO %s.%s SELECT * FROM %s.%s;", to, table, to, table, from, table)
			}
			pool, err := sql.Open("mysql", server.DSN(to, "multiStatements=true"))
			if err != nil {
				t.Error(err)
				return
			}
			defer pool.Close()
			if _, err := pool.ExecContext(t.Context(), b.String()); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range databases {
		copyRows(c.server(i), c.database(i), sample.database(i), nodeTables(i))
	}
	copyRows(c.servers[0], c.name+"_single", sample.name+"_single", singleTables())
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// pool returns a pool of a node, or of the single database for -1, without the
// code under test.
func (c *cluster) pool(t *testing.T, i int, params ...string) *sql.DB {
	t.Helper()
	if i < 0 {
		return openDSN(t, c.singleDSN(params...))
	}
	return openDSN(t, c.dsn(i, params...))
}

// rowsOf reads a table, sorted as text. columns leaves some out when it is not
// *.
func rowsOf(t *testing.T, pool *sql.DB, table, columns string) []string {
	t.Helper()
	a := ask(context.WithoutCancel(t.Context()), pooled(pool), "SELECT "+columns+" FROM "+table, nil)
	if a.err != nil {
		t.Fatal(a.err)
	}
	rows := rowtext.Shown(a.rows)
	slices.Sort(rows)
	return rows
}

// contents are the rows of every table of the nodes, and of the single database.
type contents struct{ nodes, single map[string][]string }

// contents reads all rows, and fails the test when one is on the wrong node or
// the copies of the broadcast table differ.
func (c *cluster) contents(t *testing.T) contents {
	t.Helper()
	out := contents{map[string][]string{}, map[string][]string{}}
	one := c.pool(t, -1)
	for _, table := range []string{"t_ent_order", "t_ent_order_detail", "t_ent_order_item", "t_region", "t_operator"} {
		out.single[table] = rowsOf(t, one, table, "*")
	}
	for i := range databases {
		pool := c.pool(t, i)
		where := fmt.Sprintf(" WHERE ((ent_id %% 4) + 4) %% 4 <> %d", i)
		add := func(logical, table, misplaced string) {
			out.nodes[logical] = append(out.nodes[logical], rowsOf(t, pool, table, "*")...)
			if wrong := rowsOf(t, pool, table+misplaced, "id"); len(wrong) > 0 && logical != "t_ent_order_detail" {
				t.Errorf("ds%d.%s holds rows of other nodes: %v", i, table, wrong)
			}
		}
		add("t_ent_order", "t_ent_order", where)
		out.nodes["t_ent_order_detail"] = append(out.nodes["t_ent_order_detail"], rowsOf(t, pool, "t_ent_order_detail", "*")...)
		if wrong := rowsOf(t, pool, "t_ent_order_detail"+where, "order_id"); len(wrong) > 0 {
			t.Errorf("ds%d.t_ent_order_detail holds rows of other nodes: %v", i, wrong)
		}
		for n := range itemTables {
			add("t_ent_order_item", fmt.Sprintf("t_ent_order_item_%d", n), fmt.Sprintf("%s OR ((ent_id DIV 4) %% 8 + 8) %% 8 <> %d", where, n))
		}
		region := rowsOf(t, pool, "t_region", "*")
		if i == 0 {
			out.nodes["t_region"] = region
			out.nodes["t_operator"] = rowsOf(t, pool, "t_operator", "*")
		} else if !slices.Equal(region, out.nodes["t_region"]) {
			t.Errorf("the broadcast table differs: ds0 has %v, ds%d %v", out.nodes["t_region"], i, region)
		}
	}
	for _, rows := range out.nodes {
		slices.Sort(rows)
	}
	return out
}

// same fails the test when the nodes hold other rows than the single database.
func (c contents) same(t *testing.T) {
	t.Helper()
	for table, want := range c.single {
		if d := differ(want, c.nodes[table]); d != "" {
			t.Errorf("%s: %s", table, d)
		}
	}
}

// unchanged fails the test when the nodes' rows are not those of before.
func (c contents) unchanged(t *testing.T, before contents) {
	t.Helper()
	for table, want := range before.nodes {
		if d := differ(want, c.nodes[table]); d != "" {
			t.Errorf("%s has changed: %s", table, d)
		}
	}
}
