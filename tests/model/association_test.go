//go:build unix

package model_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm"

	"github.com/gormshard/sharding"
)

// Hooked runs other statements in its hooks, with the context that GORM gives it.
type Hooked struct {
	ID      int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID  int64
	Status  int
	Version int
}

// TableName returns the logical table.
func (Hooked) TableName() string { return "t_order" }

// BeforeUpdate changes another order of the table.
func (h *Hooked) BeforeUpdate(tx *gorm.DB) error {
	return tx.Session(&gorm.Session{NewDB: true}).Model(&Order{}).Where("id = ?", h.ID+1).Update("status", 50).Error
}

// AfterUpdate changes one that is on another node, by its key alone.
func (h *Hooked) AfterUpdate(tx *gorm.DB) error {
	return tx.Session(&gorm.Session{NewDB: true}).Exec("UPDATE t_order SET status = 51 WHERE id = ?", h.ID+2).Error
}

// AfterDelete deletes another item.
func (h *Hooked) AfterDelete(tx *gorm.DB) error {
	return tx.Session(&gorm.Session{NewDB: true}).Delete(&Item{}, h.ID+1).Error
}

func TestHooksAreNotToldOfTheModel(t *testing.T) {
	p := newCluster(t, "hooks").open(t, modes[0])
	p.must(t, seed(p.plain))
	p.must(t, seed(p.sharded))
	for _, db := range []*gorm.DB{p.plain, p.sharded} {
		h := Hooked{ID: 1, UserID: 1, Status: 3, Version: 1}
		p.must(t, errors.Join(db.Model(&h).Update("status", 4).Error, db.Save(&h).Error, db.Delete(&h).Error))
	}
	p.compare(t)
}

func TestReturnedDBIsUsedAgain(t *testing.T) {
	p := newCluster(t, "again").open(t, modes[0])
	p.must(t, seed(p.plain))
	p.must(t, seed(p.sharded))
	for _, db := range []*gorm.DB{p.plain, p.sharded} {
		tx := db.Model(order(1, 1)).Update("status", 4)
		p.must(t, tx.Error)
		p.must(t, tx.Session(&gorm.Session{NewDB: true}).Model(&Order{}).Where("id = ?", 2).Update("status", 5).Error)
		p.must(t, db.Session(&gorm.Session{}).Save(order(3, 3)).Error)
		if tx.Statement.Context != db.Statement.Context {
			t.Error("the context of the returned DB is not the caller's")
		}
	}
	p.compare(t)
}

func TestAssociationsAreThoseOfOneDatabase(t *testing.T) {
	p := newCluster(t, "associations").open(t, modes[0])
	p.must(t, seed(p.plain))
	p.must(t, seed(p.sharded))
	item := func(id, user int64, kind int) Item {
		i := Item{ID: id, Kind: at(kind), Qty: 2}
		i.UserID.Int64, i.UserID.Valid = user, true
		return i
	}
	tests := []struct {
		name    string
		refused bool
		run     func(db *gorm.DB) error
	}{
		{"create with items and a parent", false, func(db *gorm.DB) error {
			o := order(70, 5)
			o.Items, o.Parent = []Item{item(70, 5, 1), item(71, 6, 0)}, order(71, 2)
			return db.Create(o).Error
		}},
		{"save with items that are there", false, func(db *gorm.DB) error {
			var o Order
			return errors.Join(db.Preload("Items").Preload("Parent").First(&o, 70).Error, db.Session(&gorm.Session{FullSaveAssociations: true}).Save(&o).Error)
		}},
		{"take over an item", false, func(db *gorm.DB) error {
			o := order(2, 2)
			o.Items = []Item{item(1, 1, 0)}
			return db.Save(o).Error
		}},
		{"take over an item whose user was changed", true, func(db *gorm.DB) error {
			o := order(2, 2)
			o.Items = []Item{item(1, 2, 0)}
			return db.Save(o).Error
		}},
		{"append, replace, delete and clear items", false, func(db *gorm.DB) error {
			o := order(4, 4)
			one, two := item(80, 4, 1), item(81, 3, 0)
			items := func() *gorm.Association { return db.Model(o).Association("Items") }
			return errors.Join(items().Append(&one, &two), items().Replace(&one), items().Delete(&one), items().Clear())
		}},
		{"children and their parents", false, func(db *gorm.DB) error {
			o := order(5, 5)
			return errors.Join(
				db.Model(o).Association("Children").Append(order(6, 6), order(90, 1)),
				db.Model(order(90, 1)).Association("Parent").Replace(order(7, 7)),
			)
		}},
		{"delete with items", false, func(db *gorm.DB) error { return db.Select("Items").Delete(order(3, 3)).Error }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.run(p.sharded)
			if tt.refused {
				if !errors.Is(got, sharding.ErrShardingKeyUpdate) {
					t.Errorf("error %v, want ErrShardingKeyUpdate", got)
				}
				p.compare(t)
				return
			}
			if want := tt.run(p.plain); got != nil || want != nil {
				t.Fatalf("error %v, on one database %v", got, want)
			}
			p.compare(t)
			for _, db := range []*gorm.DB{p.sharded, p.plain} {
				var orders []Order
				p.must(t, db.Preload("Items").Preload("Children.Items").Order("id").Find(&orders).Error)
			}
		})
	}
}

func TestTrustedModelsAskNoOtherNode(t *testing.T) {
	c := newCluster(t, "trusted")
	p := c.open(t, mode{trust: true})
	p.must(t, seed(p.sharded))
	for _, tt := range []struct {
		name  string
		run   func(*gorm.DB) *gorm.DB
		rows  int64
		units int
	}{
		{"update", func(db *gorm.DB) *gorm.DB { return db.Model(order(1, 1)).Update("status", 3) }, 1, 1},
		{"update of a model whose user was changed", func(db *gorm.DB) *gorm.DB { return db.Model(order(1, 2)).Update("status", 3) }, 0, 1},
		{"delete of a slice", func(db *gorm.DB) *gorm.DB { return db.Unscoped().Delete([]Order{*order(1, 1), *order(5, 5)}) }, 2, 1},
		{"save anew", func(db *gorm.DB) *gorm.DB { return db.Save(order(1, 1)) }, 1, 2},
		{"save", func(db *gorm.DB) *gorm.DB { o := order(1, 1); o.Status = 8; return db.Save(o) }, 1, 1},
		{"delete without a user", func(db *gorm.DB) *gorm.DB { return db.Delete(&Order{ID: 1}) }, 1, 4},
	} {
		p.sent.take()
		done := tt.run(p.sharded)
		sent := p.sent.take()
		if done.Error != nil || done.RowsAffected != tt.rows || len(sent) != tt.units {
			t.Errorf("%s: %d rows, error %v, want %d rows; sent\n%s", tt.name, done.RowsAffected, done.Error, tt.rows, strings.Join(sent, "\n"))
		}
	}
	// What is deleted along is that of the orders deleted, and nothing else.
	p.must(t, seed(p.plain))
	p.sent.take()
	for _, db := range []*gorm.DB{p.sharded, p.plain} {
		p.must(t, db.Unscoped().Select("Parts").Delete(&Basket{ID: 3, UserID: 3}).Error)
	}
	if sent := p.sent.take(); len(sent) != 2 {
		t.Errorf("the nodes got\n%s", strings.Join(sent, "\n"))
	}
	for _, db := range []*gorm.DB{p.sharded, p.plain} {
		p.must(t, db.Unscoped().Select("Parts").Delete([]Basket{{ID: 1, UserID: 1}, {ID: 5, UserID: 5}, {ID: 2, UserID: 2}}).Error)
	}
	if sent := p.sent.take(); len(sent) != 4 {
		t.Errorf("the nodes got\n%s", strings.Join(sent, "\n"))
	}
	var kept, wanted []Line
	p.must(t, p.sharded.Order("order_id").Find(&kept).Error)
	p.must(t, p.plain.Order("order_id").Find(&wanted).Error)
	if !reflect.DeepEqual(kept, wanted) {
		t.Errorf("lines %v, want %v", kept, wanted)
	}
	if err := p.sharded.Model(order(4, 4)).Update("user_id", 3).Error; !errors.Is(err, sharding.ErrShardingKeyUpdate) {
		t.Errorf("a move of a trusted model: error %v", err)
	}
}

// Saves of new rows, of the same rows and of rows with changed users at the same
// time wait for each other on no two nodes, and store no row twice.
func TestConcurrentSavesStoreNoRowTwice(t *testing.T) {
	p := newCluster(t, "concurrent").open(t, modes[0])
	p.must(t, seed(p.sharded))
	var wg sync.WaitGroup
	for worker := range int64(8) {
		wg.Go(func() {
			for i := range int64(12) {
				for _, o := range []*Order{order(1000+100*worker+i, i), order(1+i%8, 1+i%8), order(1+i%8, 2+i%8)} {
					o.Status = int(worker)
					// One server alone would also tell of deadlocks of Saves.
					if err := p.sharded.WithContext(context.Background()).Save(o).Error; err != nil && !errors.Is(err, sharding.ErrShardingKeyUpdate) && !strings.Contains(err.Error(), "1213") {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	var ids []int64
	p.must(t, p.sharded.Model(&Order{}).Order("id").Pluck("id", &ids).Error)
	if len(slices.Compact(slices.Clone(ids))) != len(ids) {
		t.Errorf("a row is stored twice: %v", ids)
	}
}
