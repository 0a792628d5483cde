//go:build unix

package oracle_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"
)

// Transactions that lock rows on all nodes wait for each other, and never in a
// circle, which no server could see.
func TestLockingReadsTakeTheNodesInOneOrder(t *testing.T) {
	c := newCluster(t, "locking", topologies[2])
	c.fill(t)
	db, plugin := c.application(t, &gorm.Config{}, nil)
	logical, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	want := 0
	if err := c.prepared.single.QueryRowContext(ctx, "SELECT COUNT(*) FROM items").Scan(&want); err != nil {
		t.Fatal(err)
	}
	lock := func(statement string) error {
		tx, err := logical.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		rows, err := tx.QueryContext(ctx, statement)
		if err != nil {
			return err
		}
		n := 0
		for rows.Next() {
			n++
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil || n != want {
			return fmt.Errorf("%d rows of %d: %w", n, want, err)
		}
		if _, err := tx.ExecContext(ctx, "UPDATE items SET qty = qty WHERE uid IN (3, 5, 8, 9)"); err != nil {
			return err
		}
		return tx.Commit()
	}
	statements := []string{
		"SELECT id FROM items FOR UPDATE", "SELECT id FROM items ORDER BY id DESC FOR UPDATE", "SELECT uid, id FROM items ORDER BY uid FOR UPDATE",
	}
	var all sync.WaitGroup
	errs := make(chan error, 90)
	for i := range 4 {
		all.Go(func() {
			for range 3 {
				if err := lock(statements[i%len(statements)]); err != nil {
					errs <- err
				}
			}
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	idle(t, c, plugin)
}
