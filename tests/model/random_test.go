//go:build unix

package model_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gormshard/sharding"
)

// TestRandomWritesOfModelsAreThoseOfOneDatabase runs random sequences of writes on
// both sides. A write that would move a row is refused by the nodes and left out on
// the one database.
func TestRandomWritesOfModelsAreThoseOfOneDatabase(t *testing.T) {
	steps := 120
	if os.Getenv("SHARDING_TEST_LONG") != "" {
		steps = 5000
	}
	c := newCluster(t, "random")
	for i, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			p := c.open(t, m)
			p.must(t, seed(p.plain))
			p.must(t, seed(p.sharded))
			g := generator{rand.New(rand.NewPCG(7, uint64(i)))}
			refused := 0
			for step := range steps {
				w := g.write()
				done := w.run(p.sharded)
				if errors.Is(done.Error, sharding.ErrShardingKeyUpdate) {
					if !w.refused {
						t.Fatalf("step %d, %s: %v", step, w.name, done.Error)
					}
					refused++
					continue
				}
				want := w.run(p.plain)
				if (done.Error == nil) != (want.Error == nil) || done.RowsAffected != want.RowsAffected {
					t.Fatalf("step %d, %s: %d rows, error %v; on one database %d rows, error %v", step, w.name, done.RowsAffected, done.Error, want.RowsAffected, want.Error)
				}
				if step%5 == 0 {
					p.compareNamed(t, fmt.Sprintf("step %d, %s", step, w.name))
				}
			}
			p.compare(t)
			if refused == 0 || refused > steps/2 {
				t.Errorf("%d of %d writes were refused", refused, steps)
			}
		})
	}
}

// compareNamed names the step where the rows differ.
func (p *pair) compareNamed(t *testing.T, name string) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Log(name)
		}
	}()
	p.compare(t)
}

// generator makes writes of orders 1 … 12 for users 0 … 8.
type generator struct{ *rand.Rand }

func (g generator) model() *Order {
	return &Order{ID: 1 + g.Int64N(12), UserID: g.Int64N(9), Status: g.IntN(3), Version: 1 + g.IntN(2)}
}

// write is a random write. What it would do to a row of another user than the
// model's may be refused.
func (g generator) write() write {
	m, status, user := g.model(), g.IntN(3), g.Int64N(9)
	with := func(what string, moves bool, run func(db *gorm.DB, m *Order) *gorm.DB) write {
		// Every run has a model of its own: GORM changes it.
		return write{name: fmt.Sprintf("%s of %+v with %d, %d", what, *m, status, user), refused: moves, run: func(db *gorm.DB) *gorm.DB {
			copied := *m
			return run(db, &copied)
		}}
	}
	switch g.IntN(15) {
	case 0, 1:
		return with("save", true, func(db *gorm.DB, m *Order) *gorm.DB { return db.Save(m) })
	case 2:
		return with("save of what is read", true, func(db *gorm.DB, m *Order) *gorm.DB {
			var o Order
			if db.Limit(1).Find(&o, m.ID).RowsAffected == 0 {
				return db.Save(m)
			}
			o.Status = status
			if status == 0 {
				o.UserID = user
			}
			return db.Save(&o)
		})
	case 3:
		return with("updates of a struct", true, func(db *gorm.DB, m *Order) *gorm.DB { return db.Updates(m) })
	case 4:
		return with("updates of a map", false, func(db *gorm.DB, m *Order) *gorm.DB {
			return db.Model(m).Updates(map[string]any{"status": status})
		})
	case 5:
		return with("update of the user", true, func(db *gorm.DB, m *Order) *gorm.DB { return db.Model(m).Update("user_id", user) })
	case 6:
		return with("update under a lock", false, func(db *gorm.DB, m *Order) *gorm.DB {
			return db.Model(m).Where("version = ?", m.Version).Updates(map[string]any{"version": m.Version%2 + 1})
		})
	case 7:
		return with("delete", false, func(db *gorm.DB, m *Order) *gorm.DB { return db.Delete(m) })
	case 8:
		return with("delete for good", false, func(db *gorm.DB, m *Order) *gorm.DB { return db.Unscoped().Delete(m) })
	case 9:
		return with("save of a slice", true, func(db *gorm.DB, m *Order) *gorm.DB {
			other := Order{ID: m.ID%12 + 1, UserID: m.UserID, Status: status, Version: 1}
			return db.Save([]*Order{m, &other, {ID: 100 + m.ID, UserID: m.ID % 3, Version: 1}})
		})
	case 10:
		return with("delete of a slice", false, func(db *gorm.DB, m *Order) *gorm.DB {
			return db.Delete([]Order{*m, {ID: m.ID%12 + 1, UserID: user}})
		})
	case 11:
		return with("upsert of a column", true, func(db *gorm.DB, m *Order) *gorm.DB {
			return db.Clauses(clause.OnConflict{DoUpdates: clause.AssignmentColumns([]string{"status"})}).Create(m)
		})
	case 13:
		return with("read", false, func(db *gorm.DB, m *Order) *gorm.DB { return db.Where("status = ?", status).Find(m) })
	case 12:
		return with("transaction", true, func(db *gorm.DB, m *Order) *gorm.DB {
			var rows int64
			err := db.Transaction(func(tx *gorm.DB) error {
				done := tx.Model(m).Update("status", status)
				rows = done.RowsAffected
				if done.Error != nil {
					return done.Error
				}
				if saved := tx.Save(m); saved.Error != nil {
					return saved.Error
				}
				tx.SavePoint("before")
				if deleted := tx.Delete(&Order{ID: m.ID, UserID: user}); deleted.Error != nil {
					return deleted.Error
				}
				return tx.RollbackTo("before").Error
			})
			return &gorm.DB{Error: err, RowsAffected: rows}
		})
	}
	return with("save of a line", true, func(db *gorm.DB, m *Order) *gorm.DB {
		return db.Save(&Line{OrderID: m.ID, No: int(m.ID), UserID: m.UserID, Qty: status})
	})
}
