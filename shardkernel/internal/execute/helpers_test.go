package execute

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"testing"

	"go.uber.org/goleak"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/execute/fakedb"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster is a set of scripted data sources; at the end of the test it checks
// that every connection went back and that none was misused.
type cluster struct {
	*Executor
	fakes   map[string]*fakedb.Database
	sources map[string]*Source
}

func newCluster(t *testing.T, limits Limits, names ...string) *cluster {
	t.Helper()
	c := &cluster{fakes: map[string]*fakedb.Database{}, sources: map[string]*Source{}}
	for _, n := range names {
		c.fakes[n] = fakedb.New()
		c.sources[n] = &Source{Name: n, DB: c.fakes[n].DB(), Dialect: dialect.MySQL}
	}
	c.Executor = New(func(name string) (*Source, error) {
		if s, ok := c.sources[name]; ok {
			return s, nil
		}
		return nil, fmt.Errorf("no data source %s", name)
	}, limits)
	t.Cleanup(func() {
		for n, s := range c.sources {
			if used := s.DB.Stats().InUse; used != 0 {
				t.Errorf("%s: %d connections were not given back", n, used)
			}
			if err := s.DB.Close(); err != nil {
				t.Errorf("%s: %v", n, err)
			}
			if open := c.fakes[n].OpenConns(); open != 0 {
				t.Errorf("%s: %d connections are open", n, open)
			}
			if open := c.fakes[n].OpenStmts(); open != 0 {
				t.Errorf("%s: %d prepared statements are open", n, open)
			}
			for _, m := range c.fakes[n].Misuse() {
				t.Errorf("%s: %s", n, m)
			}
		}
	})
	return c
}

func (c *cluster) executed() map[string][]string {
	out := map[string][]string{}
	for n, f := range c.fakes {
		if texts := f.Texts(); len(texts) > 0 {
			out[n] = texts
		}
	}
	return out
}

// query makes a plan of a SELECT from the units "ds.table".
func query(kind plan.MergeKind, units ...[2]string) *plan.Execution {
	ex := &plan.Execution{Query: true, Merge: &plan.Merge{Kind: kind}}
	for _, u := range units {
		ex.Units = append(ex.Units, plan.Unit{DataSource: u[0], Table: u[1], SQL: "SELECT id FROM " + u[1]})
	}
	if len(units) == 1 {
		ex.Merge = nil
	}
	return ex
}

func write(units ...[2]string) *plan.Execution {
	ex := &plan.Execution{Write: true, Merge: &plan.Merge{}}
	for _, u := range units {
		ex.Units = append(ex.Units, plan.Unit{DataSource: u[0], Table: u[1], SQL: "UPDATE " + u[1]})
	}
	return ex
}

// ids is an answer of one column of texts.
func ids(values ...string) fakedb.Answer {
	a := fakedb.Answer{Columns: []fakedb.Column{{Name: "id", Type: "BIGINT"}}}
	for _, v := range values {
		a.Rows = append(a.Rows, []driver.Value{[]byte(v)})
	}
	return a
}

// collect reads and closes cursors, each as one list.
func collect(t *testing.T, cursors []driver.Rows) [][]string {
	t.Helper()
	out := make([][]string, len(cursors))
	for i, rows := range cursors {
		for {
			row := make([]driver.Value, len(rows.Columns()))
			err := rows.Next(row)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("cursor %d: %v", i, err)
			}
			out[i] = append(out[i], fmt.Sprintf("%s", row[0]))
		}
	}
	closeAll(t, cursors)
	return out
}

func closeAll(t *testing.T, cursors []driver.Rows) {
	t.Helper()
	for i, rows := range cursors {
		if err := rows.Close(); err != nil {
			t.Errorf("close of cursor %d: %v", i, err)
		}
	}
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}

// branches is the least a transaction does: one connection for each data source.
type branches struct {
	c      *cluster
	conns  map[string]*Conn
	events []string
}

func (b *branches) Branch(ctx context.Context, source string) (*Conn, error) {
	if c := b.conns[source]; c != nil {
		return c, nil
	}
	c, err := b.c.sources[source].Start(ctx, Start{Begin: &driver.TxOptions{}})
	if err != nil {
		return nil, err
	}
	if b.conns == nil {
		b.conns = map[string]*Conn{}
	}
	b.conns[source] = c
	b.events = append(b.events, "branch "+source)
	return c, nil
}

func (b *branches) Atomic(_ context.Context, sources []string, run func() error) error {
	b.events = append(b.events, fmt.Sprint("atomic ", sources))
	return run()
}

func (b *branches) Failed(source string, err error) {
	b.events = append(b.events, fmt.Sprintf("failed %s: %v", source, err))
}

func (b *branches) end() {
	for _, c := range b.conns {
		c.Release(c.Rollback() != nil)
	}
}

// inUse returns the number of connections in use over all sources.
func (c *cluster) inUse() int {
	n := 0
	for _, s := range c.sources {
		n += s.DB.Stats().InUse
	}
	return n
}
