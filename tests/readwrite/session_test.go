//go:build unix

package readwrite_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/hint"
)

// While replication stands, a read that sees a write can only have come from the
// primary.
func TestASessionOfAContextReadsItsOwnWrites(t *testing.T) {
	g := newGroups(t, "session")
	g.cfg.ReadwriteSplitting.Health = config.Health{Off: true}
	g.open(t)
	g.stopReplicating(t)
	count := func(ctx context.Context, where string) (n int) {
		t.Helper()
		if err := g.db.WithContext(ctx).Raw("SELECT COUNT(*) FROM t_order WHERE " + where).Scan(&n).Error; err != nil {
			t.Fatal(err)
		}
		return n
	}
	const all = "id > 0"
	for name, write := range map[string]func(db *gorm.DB, id int) error{
		"short way": func(db *gorm.DB, id int) error { return db.Exec("INSERT INTO t_order VALUES (?, 1)", id).Error },
		"prepared": func(db *gorm.DB, id int) error {
			return db.Session(&gorm.Session{PrepareStmt: true}).Exec("INSERT INTO t_order VALUES (?, 1)", id).Error
		},
		"several nodes": func(db *gorm.DB, id int) error {
			return db.Exec("INSERT INTO t_order VALUES (?, 1), (?, 2)", id, id+1).Error
		},
		"transaction": func(db *gorm.DB, id int) error {
			return db.Transaction(func(tx *gorm.DB) error { return tx.Exec("INSERT INTO t_order VALUES (?, 1)", id).Error })
		},
		"returning": func(db *gorm.DB, id int) error {
			return db.Raw("INSERT INTO t_order VALUES (?, 1) RETURNING id", id).Scan(new(int)).Error
		},
	} {
		ctx := hint.WithSession(t.Context())
		g.asked()
		if n := count(ctx, all); n != 0 { // nothing was written under it
			t.Errorf("%s: %d rows on replicas that stand", name, n)
		}
		if err := write(g.db.WithContext(ctx), 2); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for range 4 {
			if n := count(ctx, "id = 2"); n != 1 {
				t.Errorf("%s: a row that was written is not read", name)
			}
			g.asked()
			count(context.WithValue(hint.None(ctx), "key", "value"), all) //nolint:staticcheck // any value
			want := "ds0 ds1_r0"
			if name == "several nodes" {
				want = "ds0 ds1"
			}
			if asked := g.asked(); asked != want && asked != "ds0 ds1_r1" {
				t.Errorf("%s: reads of all nodes went to %q, want %q", name, asked, want)
			}
		}
		if n := count(t.Context(), all); n != 0 {
			t.Errorf("%s: %d rows for others", name, n)
		}
		if n := count(hint.ReplicaAllowed(ctx), all); n != 0 {
			t.Errorf("%s: %d rows where a replica is allowed", name, n)
		}
		if err := g.db.Exec("DELETE FROM t_order").Error; err != nil {
			t.Fatal(err)
		}
	}

	ctx := hint.WithSession(t.Context(), hint.StickyFor(300*time.Millisecond))
	tx := g.db.WithContext(ctx).Begin()
	defer tx.Rollback()
	if err := tx.Exec("INSERT INTO t_order VALUES (2, 2)").Error; err != nil {
		t.Fatal(err)
	}
	time.Sleep(400 * time.Millisecond)
	if err := tx.Commit().Error; err != nil {
		t.Fatal(err)
	}
	if n := count(ctx, "id = 2"); n != 1 {
		t.Error("the time counts from the write, not from the commit")
	}
	time.Sleep(400 * time.Millisecond)
	if n := count(ctx, "id = 2"); n != 0 {
		t.Error("sticky for longer than its time")
	}
}

// A DDL statement commits what was written before it, and may still be at work when
// nobody waits for it any more: no position of the replication is sure to have it, and
// a rollback undoes nothing.
func TestADDLStatementInDoubtLeavesTheSessionOnThePrimary(t *testing.T) {
	g := newGroups(t, "doubt")
	g.cfg.ReadwriteSplitting.Health = config.Health{Off: true}
	g.open(t)
	ctx := hint.WithSession(t.Context(), hint.WaitForReplica(10*time.Second))
	asks := func(replica bool) {
		t.Helper()
		g.asked()
		var n int
		if err := g.db.WithContext(ctx).Raw("SELECT COUNT(*) FROM t_audit").Scan(&n).Error; err != nil || n != 1 {
			t.Errorf("%d rows, error %v", n, err)
		}
		if asked := g.asked(); fromReplicas(asked) != replica {
			t.Errorf("the read went to %q", asked)
		}
	}
	// Somebody reads the table in a transaction, behind whom DDL waits.
	primary, err := sql.Open("mysql", g.primary.DSN(g.name+"_0"))
	if err != nil {
		t.Fatal(err)
	}
	defer primary.Close()
	reader, err := primary.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Rollback() }()
	if _, err := reader.ExecContext(t.Context(), "SELECT * FROM t_audit"); err != nil {
		t.Fatal(err)
	}
	tx := g.db.WithContext(ctx).Begin()
	defer tx.Rollback()
	if err := tx.Exec("INSERT INTO t_audit (v) VALUES (1)").Error; err != nil {
		t.Fatal(err)
	}
	limited, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	if err := tx.WithContext(limited).Exec("ALTER TABLE t_audit ADD COLUMN w int").Error; err == nil {
		t.Fatal("the statement did not wait")
	}
	if err := reader.Rollback(); err != nil {
		t.Error(err)
	}
	if err := tx.Rollback().Error; err == nil {
		t.Error("what was committed is said to be rolled back")
	}
	g.catchUp(t)
	asks(false)
	ctx = hint.WithSession(t.Context(), hint.WaitForReplica(10*time.Second))
	asks(true) // nothing was written in another session
}
