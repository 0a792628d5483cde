//go:build unix

package orders_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/tests/mariadb"
)

// TestFailures breaks servers of its own: ds0 and ds2 are on the first, ds1 and
// ds3 on the second, which is the one that breaks.
func TestFailures(t *testing.T) {
	servers, err := mariadb.StartSet(t.Context(), 2, mariadb.Options{Args: []string{"--innodb-lock-wait-timeout=8"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, s := range servers {
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
		}
	})
	c := newCluster(t, "failures", servers)
	var rows []row
	for i := range int64(32) {
		rows = append(rows, row{"t_ent_order", i, "id, ent_id, small", []any{100 + i, i, 0}})
	}
	c.load(t, rows)
	f := &failures{cluster: c, broken: servers[1]}
	for _, test := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"nothing of what is refused reaches a server", f.refusalsSendNothing},
		{"a stream that is cut is an error", f.cutStream},
		{"a killed server in a transaction", f.killedInTransaction},
		{"a server killed before the commit", f.killedBeforeCommit},
		{"a paused server and a context's end", f.paused},
		{"a paused server and a rollback", f.pausedRollback},
		{"idle connections that the server has closed", f.staleConnections},
		{"a connection that breaks under a write", f.brokenUnderWrite},
		{"nodes whose columns differ", f.schemaDrift},
	} {
		if !t.Run(test.name, test.run) {
			f.recover(t)
		}
	}
}

type failures struct {
	*cluster
	broken *mariadb.Server
}

// recover makes the broken server work again.
func (f *failures) recover(t *testing.T) {
	t.Helper()
	if f.broken.PID() == 0 {
		if err := f.broken.Restart(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
	} else if err := f.broken.Resume(); err != nil {
		t.Fatal(err)
	}
}

// smalls sums what is stored on all nodes: how often rows were counted up.
func (f *failures) smalls(t *testing.T) int {
	t.Helper()
	sum := 0
	for i := range databases {
		var n int
		if err := f.pool(t, i).QueryRowContext(t.Context(), "SELECT SUM(small) FROM t_ent_order").Scan(&n); err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return sum
}

func (f *failures) zero(t *testing.T) {
	t.Helper()
	for i := range databases {
		if _, err := f.pool(t, i).ExecContext(t.Context(), "UPDATE t_ent_order SET small = 0"); err != nil {
			t.Fatal(err)
		}
	}
}

// noRepeat fails the test when database/sql would run a statement again after
// this error.
func noRepeat(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, driver.ErrBadConn) {
		t.Errorf("the error asks for a repetition: %v", err)
	}
}

// cutStream kills a server while rows of it are read.
func (f *failures) cutStream(t *testing.T) {
	defer f.recover(t)
	for i := range databases {
		_, err := f.pool(t, i).ExecContext(t.Context(), fmt.Sprintf("INSERT INTO t_ent_order_detail (order_id, ent_id, address) SELECT seq * 4 + %d, %d, REPEAT('x', 200) FROM seq_1_to_30000", i, i))
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, query := range []string{"SELECT * FROM t_ent_order_detail", "SELECT * FROM t_ent_order_detail ORDER BY order_id"} {
		pool, _ := f.openSQL(t, f.config())
		rows, err := pool.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for rows.Next() {
			if n++; n == 10 {
				if err := f.broken.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		err = errors.Join(rows.Err(), rows.Close())
		if err == nil {
			t.Errorf("%s: %d of %d rows and no error", query, n, 4*30000)
		}
		noRepeat(t, err)
		var nodes *sharding.NodesError
		if !errors.As(err, &nodes) || nodes.Nodes[0].DataSource != "ds1" && nodes.Nodes[0].DataSource != "ds3" {
			t.Errorf("%s: the error does not name the node: %v", query, err)
		}
		f.recover(t)
		if err := pool.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM t_ent_order_detail").Scan(&n); err != nil || n != 4*30000 {
			t.Errorf("after the restart: %d rows, %v", n, err)
		}
	}
	for i := range databases {
		if _, err := f.pool(t, i).ExecContext(t.Context(), "TRUNCATE t_ent_order_detail"); err != nil {
			t.Fatal(err)
		}
	}
}

// killedInTransaction: what was written elsewhere is undone, and only rollback is
// left.
func (f *failures) killedInTransaction(t *testing.T) {
	defer f.recover(t)
	a := f.open(t, f.config(), nil)
	before := f.contents(t)
	tx := a.WithContext(t.Context()).Begin()
	if err := tx.Model(&Order{}).Where("1 = 1").Update("small", gorm.Expr("small + 1")).Error; err != nil {
		t.Fatal(err)
	}
	if err := f.broken.Kill(); err != nil {
		t.Fatal(err)
	}
	err := tx.Model(&Order{}).Where("ent_id = ?", 1).Update("small", 5).Error
	if err == nil {
		t.Error("a write to the killed server succeeded")
	}
	noRepeat(t, err)
	err = tx.Model(&Order{}).Where("ent_id = ?", 4).Update("small", 5).Error
	if err == nil || !strings.Contains(err.Error(), "ROLLBACK") {
		t.Errorf("a write after the loss of a branch gave %v", err)
	}
	if err := tx.Commit().Error; err == nil {
		t.Error("the commit succeeded")
	}
	if err := a.Transaction(func(tx *gorm.DB) error { return tx.Create(&Order{ID: 5000, EntID: 5}).Error }); err == nil {
		t.Error("a transaction on the dead server succeeded")
	}
	if err := a.Create(&Order{ID: 5000, EntID: 4}).Error; err != nil {
		t.Errorf("the living server does not take part any more: %v", err)
	}
	if err := a.Delete(&Order{}, "ent_id = ? AND id = ?", 4, 5000).Error; err != nil {
		t.Error(err)
	}
	f.recover(t)
	a.Unscoped().Delete(&Order{}, "ent_id = ? AND id = ?", 4, 5000)
	f.contents(t).unchanged(t, before)
}

// killedBeforeCommit: the commit of the first branch decides what is told.
func (f *failures) killedBeforeCommit(t *testing.T) {
	defer f.recover(t)
	for _, first := range []int64{0, 1} {
		f.zero(t)
		a := f.open(t, f.config(), nil)
		tx := a.WithContext(t.Context()).Begin()
		for _, ent := range []int64{first, 1 - first} {
			if err := tx.Model(&Order{}).Where("ent_id = ?", ent).Update("small", 1).Error; err != nil {
				t.Fatal(err)
			}
		}
		if err := f.broken.Kill(); err != nil {
			t.Fatal(err)
		}
		err := tx.Commit().Error
		noRepeat(t, err)
		f.recover(t)
		sum := f.smalls(t)
		if first == 0 {
			var nodes *sharding.NodesError
			if !errors.Is(err, sharding.ErrPartialCommit) || !errors.As(err, &nodes) || len(nodes.Done) != 1 || nodes.Done[0] != "ds0" || nodes.Nodes[0].DataSource != "ds1" {
				t.Errorf("ds0 committed, ds1 is dead: %v", err)
			}
			if sum != 1 {
				t.Errorf("%d rows written, want the one of ds0", sum)
			}
		} else if err == nil || sum != 0 {
			t.Errorf("the first branch is dead: %d rows written, %v", sum, err)
		}
	}
	f.zero(t)
}

// paused: a server that answers nothing costs no more than the context's time.
func (f *failures) paused(t *testing.T) {
	defer f.recover(t)
	f.zero(t)
	cfg := f.config()
	a := f.open(t, cfg, nil)
	pool, _ := f.openSQL(t, cfg)
	var n int
	if err := errors.Join(a.First(&Order{}).Error, pool.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM t_ent_order").Scan(&n)); err != nil {
		t.Fatal(err)
	}
	tx := a.WithContext(t.Context()).Begin()
	if err := tx.Model(&Order{}).Where("ent_id IN (0, 1)").Update("small", 1).Error; err != nil {
		t.Fatal(err)
	}
	if err := f.broken.Pause(); err != nil {
		t.Fatal(err)
	}
	bounded := func(what string, run func(ctx context.Context) error) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
		defer cancel()
		start := time.Now()
		err := run(ctx)
		// GORM keeps only the text where its own rollback fails too.
		if err == nil || !strings.Contains(err.Error(), context.DeadlineExceeded.Error()) {
			t.Errorf("%s gave %v", what, err)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("%s took %v", what, took)
		}
	}
	bounded("a read of all nodes", func(ctx context.Context) error { return a.WithContext(ctx).Find(&[]Order{}).Error })
	bounded("a sorted read", func(ctx context.Context) error { return a.WithContext(ctx).Order("id").Find(&[]Order{}).Error })
	bounded("a read of one node", func(ctx context.Context) error {
		return a.WithContext(ctx).Find(&[]Order{}, "ent_id = 1").Error
	})
	bounded("a sum", func(ctx context.Context) error {
		var n int
		return pool.QueryRowContext(ctx, "SELECT COUNT(*) FROM t_ent_order").Scan(&n)
	})
	bounded("a write to all nodes", func(ctx context.Context) error {
		return a.WithContext(ctx).Model(&Order{}).Where("1 = 1").Update("small", 9).Error
	})
	bounded("a statement of a transaction", func(ctx context.Context) error {
		return tx.WithContext(ctx).Model(&Order{}).Where("ent_id = 1").Update("small", 2).Error
	})
	if err := tx.Rollback().Error; err != nil {
		t.Logf("the rollback: %v", err)
	}
	bounded("a transaction", func(ctx context.Context) error {
		return a.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
			return errors.Join(tx.Model(&Order{}).Where("ent_id = 0").Update("small", 3).Error, tx.Find(&[]Order{}, "ent_id = 1").Error)
		})
	})
	f.recover(t)
	checkIdle(t, a.plugin, cfg)
	// What a paused server received, it may still have done for a moment.
	time.Sleep(100 * time.Millisecond)
	if sum := f.smalls(t); sum != 0 {
		t.Errorf("rows were counted up %d times", sum)
	}
	if err := a.WithContext(t.Context()).Find(&[]Order{}).Error; err != nil {
		t.Errorf("after the pause: %v", err)
	}
}

// pausedRollback: a branch that waits for nothing when its server stops answering
// is not waited for without an end.
func (f *failures) pausedRollback(t *testing.T) {
	defer f.recover(t)
	f.zero(t)
	cfg := f.config()
	a := f.open(t, cfg, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tx := a.WithContext(ctx).Begin()
	if err := tx.Model(&Order{}).Where("ent_id IN (0, 1, 3)").Update("small", 1).Error; err != nil {
		t.Fatal(err)
	}
	if err := f.broken.Pause(); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	done := make(chan error, 1)
	go func() { done <- tx.Rollback().Error }()
	select {
	case err := <-done:
		t.Logf("the rollback took %v: %v", time.Since(start), err)
	case <-time.After(15 * time.Second):
		t.Error("the rollback waits for the paused server")
		f.recover(t)
		t.Log(<-done)
	}
	f.recover(t)
	checkIdle(t, a.plugin, cfg)
	time.Sleep(100 * time.Millisecond)
	if sum := f.smalls(t); sum != 0 {
		t.Errorf("rows were counted up %d times", sum)
	}
}

// staleConnections: a connection that died while idle is replaced, and nothing
// runs twice.
func (f *failures) staleConnections(t *testing.T) {
	f.zero(t)
	a := f.open(t, f.config(), nil)
	pool, _ := f.openSQL(t, f.config())
	db, err := a.DB.DB()
	if err != nil {
		t.Fatal(err)
	}
	count := func(ctx context.Context, where string) error {
		return a.WithContext(ctx).Exec("UPDATE t_ent_order SET small = small + 1 WHERE " + where).Error
	}
	want := 0
	for name, run := range map[string]func() error{
		"a read of all nodes": func() error { return a.Find(&[]Order{}).Error },
		"a sorted read":       func() error { return a.Order("id").Find(&[]Order{}).Error },
		"a read of one node":  func() error { return a.Find(&[]Order{}, "ent_id = 1").Error },
		"a read with arguments": func() error {
			rows, err := db.Query("SELECT * FROM t_ent_order WHERE id > ?", 0)
			if err != nil {
				return err
			}
			return errors.Join(rows.Err(), rows.Close())
		},
		"a write to one node":  func() error { want++; return count(t.Context(), "ent_id = 1") },
		"a write to all nodes": func() error { want += 32; return count(t.Context(), "1 = 1") },
		"as text":              func() error { want += 32; _, err := pool.Exec("UPDATE t_ent_order SET small = small + 1"); return err },
		"a transaction": func() error {
			want += 2
			return a.Transaction(func(tx *gorm.DB) error {
				return tx.Exec("UPDATE t_ent_order SET small = small + 1 WHERE ent_id IN (1, 2)").Error
			})
		},
	} {
		var n int
		if err := errors.Join(a.Find(&[]Order{}).Error, pool.QueryRow("SELECT COUNT(*) FROM t_ent_order").Scan(&n)); err != nil {
			t.Fatal(err)
		}
		f.killConnections(t, "")
		if err := run(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if sum := f.smalls(t); sum != want {
		t.Errorf("rows were counted up %d times, want %d", sum, want)
	}
}

// killConnections ends the connections to the broken server's databases whose
// statement contains a text. With a text it waits for such a statement first.
func (f *failures) killConnections(t *testing.T, text string) {
	t.Helper()
	admin := openDSN(t, f.broken.DSN("mysql", "interpolateParams=true"))
	defer admin.Close()
	found := func() [][]any {
		a := ask(t.Context(), pooled(admin), "SELECT id FROM information_schema.processlist WHERE db LIKE 'failures%' AND IFNULL(info, '') LIKE ?", []any{"%" + text + "%"})
		if a.err != nil {
			t.Fatal(a.err)
		}
		return a.rows
	}
	ids := found()
	for deadline := time.Now().Add(5 * time.Second); text != "" && len(ids) == 0 && time.Now().Before(deadline); ids = found() {
		time.Sleep(2 * time.Millisecond)
	}
	// A KILL that comes just before the statement begins to wait is overheard.
	for deadline := time.Now().Add(5 * time.Second); len(ids) > 0; ids = found() {
		if time.Now().After(deadline) {
			t.Fatal("the connections did not end")
		}
		for _, id := range ids {
			_, err := admin.ExecContext(t.Context(), fmt.Sprintf("KILL CONNECTION %v", id[0]))
			if err != nil && serverError(err) != "server error 1094" { // it has ended meanwhile
				t.Fatal(err)
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// brokenUnderWrite kills the connection of a write that waits for a lock: whether
// it was done is not known then, so it must not be sent again.
func (f *failures) brokenUnderWrite(t *testing.T) {
	for _, where := range []string{"1 = 1", "ent_id = 1", "ent_id IN (1, 3)"} {
		for _, implicit := range []bool{true, false} {
			f.zero(t)
			cfg := f.config()
			cfg.Transaction = config.Transaction{Implicit: &implicit}
			a := f.open(t, cfg, &gorm.Config{SkipDefaultTransaction: true})
			lock, err := f.pool(t, 1).BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := lock.ExecContext(t.Context(), "SELECT * FROM t_ent_order WHERE ent_id = 1 FOR UPDATE"); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- a.Exec("UPDATE t_ent_order SET small = small + 1 WHERE " + where).Error }()
			f.killConnections(t, "UPDATE t_ent_order SET small")
			err = <-done
			if err == nil {
				t.Errorf("%s: no error", where)
			}
			noRepeat(t, err)
			if err := lock.Rollback(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond)
			var most, sum int
			for i := range databases {
				var n, m int
				if err := f.pool(t, i).QueryRowContext(t.Context(), "SELECT SUM(small), MAX(small) FROM t_ent_order").Scan(&n, &m); err != nil {
					t.Fatal(err)
				}
				sum, most = sum+n, max(most, m)
			}
			if most > 1 || implicit && sum != 0 {
				t.Errorf("%s, implicit transaction %v: rows were counted up %d times, one of them %d times (%v)", where, implicit, sum, most, err)
			}
		}
	}
}
