package transaction

import (
	"context"
	"database/sql/driver"
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/execute"
	"github.com/gormshard/sharding/shardkernel/internal/execute/fakedb"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster is three scripted data sources and an executor over them. At the end
// of the test it checks that every connection went back and that none was
// misused or went back with an open transaction.
type cluster struct {
	*execute.Executor
	fakes   map[string]*fakedb.Database
	sources map[string]*execute.Source
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{fakes: map[string]*fakedb.Database{}, sources: map[string]*execute.Source{}}
	for _, n := range []string{"ds0", "ds1", "ds2"} {
		c.fakes[n] = fakedb.New()
		c.sources[n] = &execute.Source{Name: n, DB: c.fakes[n].DB(), Dialect: dialect.MySQL}
	}
	c.Executor = execute.New(c.lookup, execute.Limits{})
	t.Cleanup(func() {
		for n, s := range c.sources {
			if used := s.DB.Stats().InUse; used != 0 {
				t.Errorf("%s: %d connections were not given back", n, used)
			}
			// Taking what is idle shows whether a transaction was left open.
			for range s.DB.Stats().Idle {
				conn, err := s.Acquire(context.Background())
				if err != nil {
					t.Errorf("%s: %v", n, err)
					break
				}
				defer conn.Release(false)
			}
			for _, m := range c.fakes[n].Misuse() {
				t.Errorf("%s: %s", n, m)
			}
			defer s.DB.Close()
		}
	})
	return c
}

func (c *cluster) lookup(name string) (*execute.Source, error) {
	if s, ok := c.sources[name]; ok {
		return s, nil
	}
	return nil, fmt.Errorf("no data source %s", name)
}

func (c *cluster) begin() *Tx { return New(driver.TxOptions{}, Pools(c.lookup)) }

// exec runs one statement of as many units as data sources are named.
func (c *cluster) exec(t *testing.T, br execute.Branches, text string, sources ...string) error {
	t.Helper()
	ex := &plan.Execution{Write: true, Merge: &plan.Merge{}}
	for _, s := range sources {
		ex.Units = append(ex.Units, plan.Unit{DataSource: s, Table: "t", SQL: text})
	}
	_, err := c.Exec(t.Context(), ex, br)
	return err
}

func (c *cluster) must(t *testing.T, br execute.Branches, text string, sources ...string) {
	t.Helper()
	if err := c.exec(t, br, text, sources...); err != nil {
		t.Fatalf("%s on %v: %v", text, sources, err)
	}
}

// want compares what was sent to a data source.
func (c *cluster) want(t *testing.T, source string, texts ...string) {
	t.Helper()
	if got := c.fakes[source].Texts(); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", texts) {
		t.Errorf("%s was sent\n got %q\nwant %q", source, got, texts)
	}
}

const (
	mark = "SAVEPOINT _sharding_stmt"
	undo = "ROLLBACK TO SAVEPOINT _sharding_stmt"
)
