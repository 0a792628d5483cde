//go:build unix

package readwrite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/hint"
	"github.com/gormshard/sharding/tests/mariadb"
)

// writes are the ways in which an application writes the rows of ids.
var writes = map[string]func(db *gorm.DB, ids ...int) error{
	"short way": func(db *gorm.DB, ids ...int) error {
		for _, id := range ids {
			if err := db.Exec("INSERT INTO t_order VALUES (?, 1)", id).Error; err != nil {
				return err
			}
		}
		return nil
	},
	"prepared": func(db *gorm.DB, ids ...int) error {
		db = db.Session(&gorm.Session{PrepareStmt: true})
		for _, id := range ids {
			if err := db.Exec("INSERT INTO t_order VALUES (?, 1)", id).Error; err != nil {
				return err
			}
		}
		return nil
	},
	"several nodes": func(db *gorm.DB, ids ...int) error {
		return db.Exec("INSERT INTO t_order VALUES (?, 1), (?, 1)", ids[0], ids[1]).Error
	},
	"transaction": func(db *gorm.DB, ids ...int) error {
		return db.Transaction(func(tx *gorm.DB) error {
			for _, id := range ids {
				if err := tx.Exec("INSERT INTO t_order VALUES (?, 1)", id).Error; err != nil {
					return err
				}
			}
			return nil
		})
	},
	"returning": func(db *gorm.DB, ids ...int) error {
		for _, id := range ids {
			if err := db.Raw("INSERT INTO t_order VALUES (?, 1) RETURNING id", id).Scan(new(int)).Error; err != nil {
				return err
			}
		}
		return nil
	},
}

// sees reads rows, of all nodes where none are named, in a session, and returns who
// was asked.
func (g *groups) sees(ctx context.Context, t *testing.T, ids ...int) string {
	t.Helper()
	g.asked()
	var n int
	db := g.db.WithContext(ctx).Table("t_order").Select("COUNT(*)")
	if len(ids) > 0 {
		db = db.Where("id IN ?", ids)
	}
	if err := db.Scan(&n).Error; err != nil || n < len(ids) || len(ids) > 0 && n > len(ids) {
		t.Errorf("%d rows of %v, error %v", n, ids, err)
	}
	return g.asked()
}

// fromReplicas reports whether no primary was asked.
func fromReplicas(asked string) bool {
	for _, who := range strings.Fields(asked) {
		if !strings.Contains(who, "_r") {
			return false
		}
	}
	return asked != ""
}

func TestReadsOfASessionWaitForAReplicaThatHasItsWrites(t *testing.T) {
	g := newGroups(t, "wait")
	g.cfg.ReadwriteSplitting.Health = config.Health{Off: true}
	g.open(t)
	id := 0
	for name, write := range writes {
		for range 10 {
			id += 2
			ctx := hint.WithSession(t.Context(), hint.WaitForReplica(10*time.Second))
			if err := write(g.db.WithContext(ctx), id, id+1); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for range 4 { // each replica twice
				if asked := g.sees(ctx, t, id, id+1); !fromReplicas(asked) {
					t.Errorf("%s: the read went to %q", name, asked)
				}
			}
		}
	}
}

// While replication stands nothing that was written is on a replica.
// A write that gives rows is done when they end: what is read before does not count,
// and no position that is known by then.
func TestASessionWaitsForWhatWasWrittenBehindTheFirstRows(t *testing.T) {
	g := newGroups(t, "returning")
	g.cfg.ReadwriteSplitting.Health = config.Health{Off: true}
	g.run(t, g.primary, 0, "CREATE TABLE plain (id int PRIMARY KEY, text text)")
	g.catchUp(t)
	g.open(t)
	const size = 3000
	db := g.db.WithContext(hint.WithSession(t.Context(), hint.WaitForReplica(20*time.Second)))
	rows, err := db.Raw("INSERT INTO plain SELECT seq, REPEAT('x', 4000) FROM seq_1_to_3000 RETURNING id, text").Rows()
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var n int
	for range 2 { // both replicas have what was written before
		if err := db.Raw("SELECT COUNT(*) FROM plain").Scan(&n).Error; err != nil {
			t.Error(err)
		}
	}
	for n = 0; rows.Next(); n++ {
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || n != size {
		t.Errorf("%d rows, error %v", n, err)
	}
	if err := db.Raw("SELECT COUNT(*) FROM plain").Scan(&n).Error; err != nil || n != size {
		t.Errorf("%d rows were read, error %v", n, err)
	}
}

func TestReadsOfASessionGoToThePrimaryWhenNoReplicaHasItsWritesInTime(t *testing.T) {
	g := newGroups(t, "late")
	g.cfg.ReadwriteSplitting.Health = config.Health{Off: true}
	g.open(t)
	g.stopReplicating(t)
	const limit = 300 * time.Millisecond
	ctx := hint.WithSession(t.Context(), hint.WaitForReplica(limit))
	if asked := g.sees(ctx, t); !fromReplicas(asked) {
		t.Errorf("before the first write the read went to %q", asked)
	}
	if err := writes["short way"](g.db.WithContext(ctx), 2); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if asked := g.sees(ctx, t, 2); asked != "ds0" || time.Since(began) < limit {
		t.Errorf("the first read went to %q after %s", asked, time.Since(began))
	}
	began = time.Now()
	for range 20 { // nothing is waited for again
		if asked := g.sees(ctx, t, 2); asked != "ds0" {
			t.Errorf("another read went to %q", asked)
		}
	}
	if took := time.Since(began); took > 20*limit/2 {
		t.Errorf("20 reads took %s", took)
	}
	// The other group was not written to, and has replicas for its reads.
	if asked := g.sees(ctx, t); !strings.HasPrefix(asked, "ds0 ds1_r") {
		t.Errorf("a read of both groups went to %q", asked)
	}
	cancelled, cancel := context.WithTimeout(hint.WithSession(t.Context(), hint.WaitForReplica(time.Minute)), limit)
	defer cancel()
	if err := writes["short way"](g.db.WithContext(cancelled), 4); err != nil {
		t.Fatal(err)
	}
	if err := g.db.WithContext(cancelled).Raw("SELECT id FROM t_order").Scan(&[]int{}).Error; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the caller's context ends while a replica is waited for: %v", err)
	}

	// The next write is waited for again, as long as it takes.
	ctx = hint.WithSession(t.Context(), hint.WaitForReplica(20*time.Second))
	if err := writes["transaction"](g.db.WithContext(ctx), 6, 7); err != nil {
		t.Fatal(err)
	}
	var read sync.WaitGroup
	read.Go(func() {
		if asked := g.sees(ctx, t, 6, 7); !fromReplicas(asked) {
			t.Errorf("a read that waits went to %q", asked)
		}
	})
	time.Sleep(limit)
	for _, replica := range g.replicas {
		if err := replica.Replicate(t.Context(), mariadb.SQLThread); err != nil {
			t.Error(err)
		}
	}
	read.Wait()
}

// A transaction that only reads, and one that was rolled back, a write that failed.
func TestASessionThatWaitsInTransactions(t *testing.T) {
	for _, reads := range []string{config.TransactionalFixed, config.TransactionalDynamic} {
		for _, wait := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, waits %v", reads, wait), func(t *testing.T) {
				if wait != (reads == config.TransactionalFixed) && !long() {
					t.Skip("SHARDING_TEST_LONG is not set")
				}
				g := newGroups(t, "waittx")
				g.cfg.ReadwriteSplitting.Health = config.Health{Off: true}
				g.configure(func(_ string, group *config.Group) { group.TransactionalReads = reads })
				g.open(t)
				var options []hint.SessionOption
				if wait {
					options = append(options, hint.WaitForReplica(10*time.Second))
				} else {
					g.stopReplicating(t)
				}
				ctx := hint.WithSession(t.Context(), options...)
				if err := writes["short way"](g.db.WithContext(ctx), 2); err != nil {
					t.Fatal(err)
				}
				err := g.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
					for range 3 {
						g.asked()
						var n int
						if err := tx.Raw("SELECT COUNT(*) FROM t_order WHERE id IN (1, 2)").Scan(&n).Error; err != nil {
							return err
						}
						if asked := g.asked(); n != 1 || fromReplicas(asked) != wait || !strings.Contains(asked, "ds1_r") {
							t.Errorf("%d rows from %q", n, asked)
						}
					}
					return nil
				}, &sql.TxOptions{ReadOnly: true})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
	g := newGroups(t, "waitfail")
	g.cfg.ReadwriteSplitting.Health = config.Health{Off: true}
	g.open(t)
	session := func() context.Context { return hint.WithSession(t.Context(), hint.WaitForReplica(10*time.Second)) }
	if err := writes["short way"](g.db, 2); err != nil {
		t.Fatal(err)
	}
	ctx := session()
	undo := errors.New("undo")
	err := g.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		if err := writes["short way"](tx, 4, 5); err != nil {
			return err
		}
		if asked := g.sees(ctx, t, 2); !fromReplicas(asked) { // beside the transaction
			t.Errorf("beside a transaction a read went to %q", asked)
		}
		return undo
	})
	if asked := g.sees(ctx, t, 2); !errors.Is(err, undo) || !fromReplicas(asked) {
		t.Errorf("after a rollback the read went to %q, error %v", asked, err)
	}
	// What is committed later than it was written is seen from then on.
	tx := g.db.WithContext(ctx).Begin()
	defer tx.Rollback()
	if err := writes["short way"](tx, 4); err != nil {
		t.Fatal(err)
	}
	g.sees(ctx, t, 2)
	if err := tx.Commit().Error; err != nil {
		t.Fatal(err)
	}
	if asked := g.sees(ctx, t, 2, 4); !fromReplicas(asked) {
		t.Errorf("after the commit the read went to %q", asked)
	}
	if err := writes["short way"](g.db.WithContext(ctx), 2); err == nil {
		t.Error("a key is stored twice")
	}
	if asked := g.sees(ctx, t, 2, 4); asked != "ds0" {
		t.Errorf("after a write that has failed the read went to %q", asked)
	}
}

// Reads of one session by several goroutines find what each of them has written.
func TestASessionThatWaitsIsSharedByGoroutines(t *testing.T) {
	g := newGroups(t, "shared")
	g.cfg.ReadwriteSplitting.Health = config.Health{Off: true}
	g.open(t)
	ctx := hint.WithSession(t.Context(), hint.WaitForReplica(10*time.Second))
	var wg sync.WaitGroup
	began := time.Now()
	for worker := range 8 {
		wg.Go(func() {
			for i := range 25 {
				id := worker*1000 + 2*i
				if err := g.db.WithContext(ctx).Exec("INSERT INTO t_order VALUES (?, 1), (?, 1)", id, id+1).Error; err != nil {
					t.Error(err)
					return
				}
				var n int
				if err := g.db.WithContext(ctx).Raw("SELECT COUNT(*) FROM t_order WHERE id IN (?, ?)", id, id+1).Scan(&n).Error; err != nil || n != 2 {
					t.Errorf("%d rows of 2, error %v", n, err)
				}
			}
		})
	}
	wg.Wait()
	asked := map[string]int{}
	for _, who := range g.sent {
		asked[who]++
	}
	t.Logf("200 writes and reads of both groups in %s: %v", time.Since(began), asked)
	if asked["ds0_r0"] == 0 || asked["ds1_r1"] == 0 {
		t.Errorf("replicas were not asked: %v", asked)
	}
}
