//go:build unix

package orders_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"gorm.io/gorm"
)

// lockNode keeps writes to enterprise 1 waiting on ds1 until the test ends or
// unlock is called.
func lockNode(t *testing.T, c *cluster) (unlock func()) {
	t.Helper()
	tx, err := c.pool(t, 1).BeginTx(context.WithoutCancel(t.Context()), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	if _, err := tx.ExecContext(t.Context(), "UPDATE t_ent_order SET small = 0 WHERE ent_id = 1"); err != nil {
		t.Fatal(err)
	}
	return func() { _ = tx.Rollback() }
}

// TestACancelledWriteLeavesNothing cancels writes that wait for a lock on one
// node and have been done on the others.
func TestACancelledWriteLeavesNothing(t *testing.T) {
	c := writeCluster(t)
	c.reset(t)
	before := c.contents(t)
	cfg := c.config()
	a := c.open(t, cfg, nil)
	pool, _ := c.openSQL(t, cfg)
	unlock := lockNode(t, c)
	all := "UPDATE t_ent_order SET small = 5"
	for name, run := range map[string]func(ctx context.Context) error{
		"update": func(ctx context.Context) error { return a.WithContext(ctx).Exec(all).Error },
		"update through the connector": func(ctx context.Context) error {
			_, err := pool.ExecContext(ctx, all)
			return err
		},
		"insert with RETURNING": func(ctx context.Context) error {
			orders := append(batch(), Order{ID: 106, EntID: 1})
			return a.WithContext(ctx).Create(&orders).Error
		},
		"transaction": func(ctx context.Context) error {
			return a.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
				if err := tx.Create(&Order{ID: 1000, EntID: 4}).Error; err != nil {
					return err
				}
				return tx.Exec(all).Error
			})
		},
		"transaction of the connector": func(ctx context.Context) error {
			tx, err := pool.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback() }()
			if _, err := tx.ExecContext(ctx, "DELETE FROM t_ent_order WHERE ent_id IN (2, 4)"); err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, all)
			return errors.Join(err, tx.Commit())
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		timer := time.AfterFunc(80*time.Millisecond, cancel)
		start := time.Now()
		err := run(ctx)
		timer.Stop()
		cancel()
		if err == nil || time.Since(start) > 3*time.Second {
			t.Errorf("%s took %v and gave %v", name, time.Since(start), err)
		}
		noRepeat(t, err)
		checkIdle(t, a.plugin, cfg)
		waitIdle(t, name, pool)
	}
	unlock()
	c.contents(t).unchanged(t, before)
}

// TestACancelledReadEnds cancels reads of all nodes in their middle.
func TestACancelledReadEnds(t *testing.T) {
	c := sampleCluster(t)
	cfg := c.config()
	pool, _ := c.openSQL(t, cfg)
	a := c.open(t, cfg, nil)
	for _, query := range []string{"SELECT * FROM t_ent_order", "SELECT * FROM t_ent_order ORDER BY id", "SELECT * FROM t_ent_order_item ORDER BY id"} {
		ctx, cancel := context.WithCancel(t.Context())
		rows, err := pool.QueryContext(ctx, query)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for rows.Next() {
			if n++; n == 5 {
				cancel()
				time.Sleep(5 * time.Millisecond)
			}
		}
		if err := rows.Err(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %d rows and %v", query, n, err)
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
		cancel()
		waitIdle(t, query, pool)

		early, err := a.WithContext(t.Context()).Raw(query).Rows()
		if err != nil {
			t.Fatal(err)
		}
		early.Next()
		if err := errors.Join(early.Close(), early.Err()); err != nil {
			t.Errorf("%s: closing early: %v", query, err)
		}
		checkIdle(t, a.plugin, cfg)

		dead, kill := context.WithCancel(t.Context())
		kill()
		if err := ask(dead, pooled(pool), query, nil).err; !errors.Is(err, context.Canceled) {
			t.Errorf("%s under a dead context gave %v", query, err)
		}
	}
}

// TestAStatementTimeLimitEndsStatements on all nodes.
func TestAStatementTimeLimitEndsStatements(t *testing.T) {
	c := writeCluster(t)
	c.reset(t)
	cfg := c.config()
	cfg.Props.StatementTimeout = 500 * time.Millisecond
	a := c.open(t, cfg, nil)
	unlock := lockNode(t, c)
	defer unlock()
	for _, where := range []string{"ent_id = 1", "1 = 1"} {
		start := time.Now()
		err := a.Exec("UPDATE t_ent_order SET small = 5 WHERE " + where).Error
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 3*time.Second {
			t.Errorf("%s took %v and gave %v", where, time.Since(start), err)
		}
	}
	var n int64
	if err := a.Model(&Order{}).Count(&n).Error; err != nil || n != 76 {
		t.Errorf("a quick statement under a time limit gave %d, %v", n, err)
	}
	checkIdle(t, a.plugin, cfg)
}

// TestManyStatementsShareSmallPools: statements over all nodes, transactions and
// statements of one node on pools of two connections, all at once.
func TestManyStatementsShareSmallPools(t *testing.T) {
	c := writeCluster(t)
	c.clear(t)
	cfg := c.config()
	cfg.Props.MaxConnectionsPerQuery = 4
	for name, ds := range cfg.DataSources {
		ds.MaxOpenConns, ds.MaxIdleConns = 2, 2
		cfg.DataSources[name] = ds
	}
	a := c.open(t, cfg, &gorm.Config{PrepareStmt: true})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	const workers, rounds = 8, 12
	failed := make(chan error, workers)
	for w := range workers {
		go func() {
			var err error
			for i := 0; i < rounds && err == nil; i++ {
				id := int64(1000 * (w + 1) * (i + 1))
				ent := int64(w*rounds + i)
				switch i % 3 {
				case 0:
					err = a.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
						var items []Item
						if err := tx.Create(&[]Item{{EntID: ent}, {EntID: ent}}).Error; err != nil {
							return err
						}
						return tx.Where("ent_id = ?", ent).Order("id").Find(&items).Error
					})
				case 1:
					var n int64
					err = errors.Join(a.WithContext(ctx).Create(&Item{EntID: ent}).Error, a.WithContext(ctx).Model(&Item{}).Count(&n).Error)
				default:
					var items []Item
					err = errors.Join(a.WithContext(ctx).Create(&[]Item{{EntID: ent}, {EntID: ent + 1}, {EntID: ent + 6}}).Error,
						a.WithContext(ctx).Order("product, id").Limit(5).Find(&items).Error)
				}
				if err != nil {
					err = fmt.Errorf("worker %d, round %d, id %d: %w", w, i, id, err)
				}
			}
			failed <- err
		}()
	}
	for range workers {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	if n := len(stored(t, c)); n != workers*(4*2+4*1+4*3) {
		t.Errorf("%d rows are stored, want %d", n, workers*(4*2+4*1+4*3))
	}
	checkIdle(t, a.plugin, cfg)
}

// TestATimeLimitKeepsAllResults of a text that the default data source answers.
func TestATimeLimitKeepsAllResults(t *testing.T) {
	cfg := sampleCluster(t).config("multiStatements=true")
	cfg.Props.StatementTimeout = time.Minute
	pool, _ := sampleCluster(t).openSQL(t, cfg)
	rows, err := pool.QueryContext(t.Context(), "SELECT 1; SELECT 2")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got []int
	for more := true; more; more = rows.NextResultSet() {
		for rows.Next() {
			var n int
			if err := rows.Scan(&n); err != nil {
				t.Fatal(err)
			}
			got = append(got, n)
		}
	}
	if err := rows.Err(); err != nil || len(got) != 2 || got[1] != 2 {
		t.Errorf("got %v, %v", got, err)
	}
}
