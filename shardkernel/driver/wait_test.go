package driver_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"testing"
	"time"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/hint"
	"github.com/gormshard/sharding/shardkernel"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/driver"
	"github.com/gormshard/sharding/shardkernel/internal/execute/fakedb"
	"github.com/gormshard/sharding/shardkernel/keygen"
)

// always chooses one replica.
type always int

func (a always) Choose(context.Context) (int, error) { return int(a), nil }
func (always) Failed(int, error)                     {}

// A server that keeps no account of its replication has nothing to be waited for.
func TestASessionThatWaitsReadsFromAPrimaryThatTellsNoPosition(t *testing.T) {
	rules, err := shardkernel.Compile(&config.Config{
		DataSources: map[string]config.DataSource{"ds0": {Driver: "fake", DSN: "0"}}, DefaultDataSource: "ds0",
	}, algorithm.NewRegistry(), keygen.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	control := fakedb.New()
	control.On("SELECT sqlite_version()", fakedb.Answer{Columns: fakedb.Columns("v"), Rows: [][]sqldriver.Value{{"3.50"}}})
	controlPool := control.DB()
	t.Cleanup(func() { _ = controlPool.Close() })
	opened := func(name string) (*fakedb.Database, shardkernel.Source) {
		node := fakedb.New()
		node.On("SELECT id FROM t_audit", ids(1))
		node.On("INSERT INTO t_audit VALUES (1)", fakedb.Answer{Affected: 1})
		pool := node.DB()
		t.Cleanup(func() { _ = pool.Close() })
		return node, shardkernel.Source{Name: name, DB: pool, Control: controlPool, Dialect: "sqlite"}
	}
	primary, source := opened("ds0")
	replica, member := opened("r0")
	source.Replicas, source.Chooser = []shardkernel.Source{member}, always(0)
	kernel, err := shardkernel.New(rules, []shardkernel.Source{source}, shardkernel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(driver.NewConnector(shardkernel.NewLive(kernel), nil))
	t.Cleanup(func() { _ = db.Close() })

	ctx := hint.WithSession(t.Context(), hint.WaitForReplica(time.Minute))
	reads := func(wantPrimary, wantReplica int) {
		t.Helper()
		rows, err := db.QueryContext(ctx, "SELECT id FROM t_audit")
		scan(t, rows, err)
		if p, r := len(primary.Texts()), len(replica.Texts()); p != wantPrimary || r != wantReplica {
			t.Errorf("the primary was asked %d times and the replica %d, want %d and %d", p, r, wantPrimary, wantReplica)
		}
	}
	reads(0, 1)
	if _, err := db.ExecContext(ctx, "INSERT INTO t_audit VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	reads(2, 1)
	reads(3, 1)
}
