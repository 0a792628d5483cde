// Package bench compares plain GORM on an actual table with the plugin, over a
// driver that does nothing: what differs is the plugin's own cost.
package bench

import (
	"testing"

	"gorm.io/gorm"
)

var (
	defaultConfig = gorm.Config{}
	// withoutTransactions leaves out the transaction that GORM puts around every
	// write.
	withoutTransactions = gorm.Config{SkipDefaultTransaction: true}
)

func BenchmarkTake(b *testing.B) { compare(b, defaultConfig, take) }

func BenchmarkTakeInTransaction(b *testing.B) { compareWith(b, defaultConfig, take, begin) }

func BenchmarkFind1000(b *testing.B) { compare(b, defaultConfig, findAll) }

func BenchmarkUpdate(b *testing.B)                   { compare(b, withoutTransactions, update) }
func BenchmarkUpdateDefaultTransaction(b *testing.B) { compare(b, defaultConfig, update) }

func BenchmarkCreate(b *testing.B)                   { compare(b, withoutTransactions, create) }
func BenchmarkCreateDefaultTransaction(b *testing.B) { compare(b, defaultConfig, create) }

// Create100 sends one statement without the plugin and four with it.
func BenchmarkCreate100(b *testing.B)                   { compare(b, withoutTransactions, createBatch()) }
func BenchmarkCreate100DefaultTransaction(b *testing.B) { compare(b, defaultConfig, createBatch()) }

// begin returns an open transaction.
func begin(tb testing.TB, db *gorm.DB) *gorm.DB {
	tx := db.Begin()
	tb.Cleanup(func() {
		if err := tx.Rollback().Error; err != nil {
			tb.Error(err)
		}
	})
	return tx
}

func take(db *gorm.DB) error {
	var o order
	return db.Where("ent_id = ? AND id = ?", ent, 42).Take(&o).Error
}

func findAll(db *gorm.DB) error {
	var orders []order
	return db.Where("ent_id = ?", ent).Find(&orders).Error
}

func update(db *gorm.DB) error {
	return db.Model(&order{}).Where("ent_id = ? AND id = ?", ent, 42).Update("status", 2).Error
}

func model() *order {
	return &order{ID: 42, EntID: ent, Status: 1, Amount: 1999, Customer: "Ada Lovelace", Note: "ring twice"}
}

func updateModel(db *gorm.DB) error {
	return db.Model(model()).Updates(map[string]any{"status": 2}).Error
}

func saveModel(db *gorm.DB) error { return db.Save(model()).Error }

func deleteModel(db *gorm.DB) error { return db.Delete(model()).Error }

func create(db *gorm.DB) error {
	return db.Create(&order{ID: 42, EntID: ent, Status: 1, Amount: 1999, Customer: "Ada Lovelace", Note: "ring twice"}).Error
}

func createBatch() func(db *gorm.DB) error {
	orders := make([]order, 100)
	for i := range orders {
		orders[i] = order{ID: int64(i + 1), EntID: int64(i % 4), Status: 1, Amount: 1999, Customer: "Ada Lovelace", Note: "ring twice"}
	}
	return func(db *gorm.DB) error { return db.Create(orders).Error }
}

func compare(b *testing.B, cfg gorm.Config, run func(*gorm.DB) error) {
	compareWith(b, cfg, run, func(_ testing.TB, db *gorm.DB) *gorm.DB { return db })
}

// compareWith measures run on what prepare makes of plain GORM's database, on
// that of the sharded one, and on both in turn.
func compareWith(b *testing.B, cfg gorm.Config, run func(*gorm.DB) error, prepare func(testing.TB, *gorm.DB) *gorm.DB) {
	c := measured.comparison(b.Name())
	open := func(b *testing.B, open func(testing.TB, gorm.Config) *gorm.DB) func() error {
		db := prepare(b, open(b, cfg))
		if err := run(db); err != nil { // also fills the caches
			b.Fatal(err)
		}
		return func() error { return run(db) }
	}
	b.Run("plain", func(b *testing.B) { c.plain = append(c.plain, measure(b, open(b, plain))) })
	b.Run("sharded", func(b *testing.B) { c.sharded = append(c.sharded, measure(b, open(b, sharded))) })
	b.Run("turns", func(b *testing.B) { c.turns = append(c.turns, takeTurns(b, open(b, plain), open(b, sharded))) })
}
