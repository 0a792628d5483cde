//go:build unix

package model_test

import (
	"errors"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/gormshard/sharding"
)

// A row that another transaction has stored on another node since the snapshot of
// this one is found, as the upsert of one database finds it.
func TestSaveFindsRowsThatItsSnapshotDoesNotSee(t *testing.T) {
	p := newCluster(t, "snapshot").open(t, modes[0])
	p.must(t, seed(p.sharded))
	for _, save := range []func(tx *gorm.DB) error{
		func(tx *gorm.DB) error { return tx.Save(order(300, 2)).Error },
		func(tx *gorm.DB) error { return tx.Save([]*Order{order(301, 2), order(300, 3)}).Error },
	} {
		p.must(t, p.sharded.Unscoped().Delete(&Order{}, 300).Error)
		tx := p.sharded.Begin()
		p.must(t, tx.Find(&[]Order{}).Error)
		p.must(t, p.sharded.Create(order(300, 1)).Error)
		if err := save(tx); !errors.Is(err, sharding.ErrShardingKeyUpdate) {
			t.Errorf("error %v", err)
		}
		p.must(t, tx.Rollback().Error)
	}
	var stored []Order
	p.must(t, p.sharded.Find(&stored, "id IN ?", []int64{300, 301}).Error)
	if len(stored) != 1 || stored[0].UserID != 1 {
		t.Errorf("stored: %+v", stored)
	}
}

// A transaction moves a row by deleting it first, which others do not see yet.
func TestSaveAfterADeleteMovesTheRow(t *testing.T) {
	p := newCluster(t, "moved").open(t, modes[0])
	p.must(t, seed(p.sharded))
	p.must(t, p.sharded.Create(order(300, 1)).Error)
	p.must(t, p.sharded.Transaction(func(tx *gorm.DB) error {
		if err := tx.Unscoped().Delete(order(300, 1)).Error; err != nil {
			return err
		}
		return tx.Save(order(300, 2)).Error
	}))
	var stored []Order
	p.must(t, p.sharded.Find(&stored, "id = ?", 300).Error)
	if len(stored) != 1 || stored[0].UserID != 2 {
		t.Errorf("stored: %+v", stored)
	}
}

// The question whether an UPDATE would detach a row sees what the UPDATE would: rows
// that others have committed since the transaction's snapshot was made. It locks them.
func TestDetachSeesRowsThatItsSnapshotDoesNot(t *testing.T) {
	c := newCluster(t, "detached")
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			p := c.open(t, m)
			p.must(t, seed(p.sharded))
			err := p.sharded.Transaction(func(tx *gorm.DB) error {
				p.must(t, tx.Find(&[]Order{}).Error)
				p.must(t, p.sharded.Session(&gorm.Session{}).Create(order(20, 6)).Error)
				p.sent.take()
				return tx.Model(&Order{}).Where("id = ? AND user_id = ?", 20, 6).Update("user_id", nil).Error
			})
			if !errors.Is(err, sharding.ErrShardingKeyUpdate) {
				t.Errorf("error %v, want ErrShardingKeyUpdate", err)
			}
			if sent := p.sent.take(); len(sent) != 1 || !strings.HasSuffix(sent[0], " FOR UPDATE") {
				t.Errorf("the nodes got %q, want one question that locks", sent)
			}
		})
	}
}

// Whether the own node has a row that a write did not change is asked under a lock:
// the answer has to be what the write has seen.
func TestQuestionForTheOwnRowLocks(t *testing.T) {
	p := newCluster(t, "ownrow").open(t, modes[0])
	p.must(t, seed(p.sharded))
	p.must(t, p.sharded.Transaction(func(tx *gorm.DB) error {
		p.must(t, tx.Find(&[]Order{}).Error)
		p.must(t, p.sharded.Session(&gorm.Session{}).Create(order(20, 6)).Error)
		p.sent.take()
		return tx.Model(order(20, 6)).UpdateColumn("status", 1).Error
	}))
	if sent := p.sent.take(); len(sent) != 2 || !strings.HasSuffix(sent[1], " FOR UPDATE") {
		t.Errorf("the nodes got %q, want the write and a question that locks", sent)
	}
}
