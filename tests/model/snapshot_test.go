//go:build unix

package model_test

import (
	"errors"
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
