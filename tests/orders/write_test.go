//go:build unix

package orders_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gormshard/sharding"
)

// affected is what an application sees of a write. A failed one has no number
// that means something.
func affected(tx *gorm.DB) (any, error) {
	if tx.Error != nil {
		return nil, tx.Error
	}
	return tx.RowsAffected, nil
}

// write returns a step of one write.
func write(name string, run func(db *gorm.DB) *gorm.DB) step {
	return step{name: name, run: func(db *gorm.DB) (any, error) { return affected(run(db)) }}
}

// batch are new orders over four nodes, not in the order of their nodes.
func batch() []Order {
	var orders []Order
	for i, ent := range []int64{6, 1, 4, 3, 5, 2, 8, 7} {
		orders = append(orders, Order{ID: int64(1000 + i), EntID: ent, Name: ptr(fmt.Sprint("order ", i)), Amount: ptr("1.50000")})
	}
	return orders
}

var gormWrites = []step{
	{name: "create one", run: func(db *gorm.DB) (any, error) {
		o := Order{ID: 1000, EntID: 7, Name: ptr("new"), Amount: ptr("7.34000")}
		tx := db.Create(&o)
		return []any{o, tx.RowsAffected}, tx.Error
	}},
	{name: "create a slice over four nodes, with RETURNING", run: func(db *gorm.DB) (any, error) {
		orders := batch()
		tx := db.Create(&orders)
		return []any{orders, tx.RowsAffected}, tx.Error
	}},
	{name: "create a slice of pointers, some with states of their own", run: func(db *gorm.DB) (any, error) {
		var orders []*Order
		for i, o := range batch() {
			if i%2 == 0 {
				o.State = fmt.Sprint("state ", i)
			}
			orders = append(orders, &o)
		}
		tx := db.Create(orders)
		return []any{orders, tx.RowsAffected}, tx.Error
	}},
	{name: "create in batches", run: func(db *gorm.DB) (any, error) {
		orders := batch()
		tx := db.CreateInBatches(&orders, 3)
		return []any{orders, tx.RowsAffected}, tx.Error
	}},
	{name: "create from a map", run: func(db *gorm.DB) (any, error) {
		return affected(db.Model(&Order{}).Create(map[string]any{"ID": 1000, "EntID": 9, "Name": "map"}))
	}},
	{name: "create from maps", run: func(db *gorm.DB) (any, error) {
		return affected(db.Table("t_ent_order").Create([]map[string]any{
			{"id": 1000, "ent_id": 9, "name": "a"}, {"id": 1001, "ent_id": 10, "name": nil}, {"id": 1002, "ent_id": -1, "name": "c"},
		}))
	}},
	{name: "create with associations", run: func(db *gorm.DB) (any, error) {
		o := Order{
			ID: 1000, EntID: 6, Detail: &Detail{OrderID: 1000, EntID: 6, Address: ptr("12 Harbour Road")},
			Items: []Item{{ID: 5000, EntID: 6, Product: ptr("p")}, {ID: 5001, EntID: 6, Product: ptr("q"), Count: ptr(int64(2))}},
		}
		tx := db.Omit("Region").Create(&o)
		return []any{tx.RowsAffected, len(o.Items)}, tx.Error
	}},
	{name: "create selected columns", run: func(db *gorm.DB) (any, error) {
		return affected(db.Select("ID", "EntID").Create(&Order{ID: 1000, EntID: 6, Name: ptr("left out")}))
	}},
	{name: "create rows in a broadcast table", run: func(db *gorm.DB) (any, error) {
		return affected(db.Create([]Region{{ID: 10, Name: ptr("a")}, {ID: 11, Name: ptr("b")}}))
	}},
	{name: "a duplicate key of one node", run: func(db *gorm.DB) (any, error) {
		return affected(db.Create(&Order{ID: 106, EntID: 1}))
	}},
	{name: "a batch with one bad row", run: func(db *gorm.DB) (any, error) {
		orders := append(batch(), Order{ID: 106, EntID: 1})
		return affected(db.Create(&orders))
	}},
	{name: "batches with one bad row", run: func(db *gorm.DB) (any, error) {
		orders := append(batch(), Order{ID: 106, EntID: 1})
		tx := db.CreateInBatches(&orders, 2)
		return nil, tx.Error
	}},
	{name: "a duplicate in a broadcast table", run: func(db *gorm.DB) (any, error) {
		return affected(db.Create([]Region{{ID: 10, Name: ptr("a")}, {ID: 11, Name: ptr("North")}}))
	}},

	// Upserts.
	write("upsert that updates one, one node", func(db *gorm.DB) *gorm.DB {
		return db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&Order{ID: 106, EntID: 1, Name: ptr("again"), State: "x"})
	}),
	write("upsert over nodes that inserts some and updates some", func(db *gorm.DB) *gorm.DB {
		orders := append(batch(), Order{ID: 106, EntID: 1, Name: ptr("again")}, Order{ID: 107, EntID: 2, Name: ptr("again")})
		for i := range orders {
			orders[i].State = "set"
		}
		return db.Clauses(clause.OnConflict{DoUpdates: clause.AssignmentColumns([]string{"name"})}).Create(&orders)
	}),
	write("upsert that does nothing", func(db *gorm.DB) *gorm.DB {
		return db.Clauses(clause.OnConflict{DoNothing: true}).Create(&[]Detail{{OrderID: 107, EntID: 2}, {OrderID: 1000, EntID: 2}, {OrderID: 1001, EntID: 5}})
	}),
	write("upsert with an assignment", func(db *gorm.DB) *gorm.DB {
		return db.Clauses(clause.OnConflict{DoUpdates: clause.Assignments(map[string]any{"address": gorm.Expr("CONCAT(IFNULL(address, ''), '!')")})}).
			Create(&[]Detail{{OrderID: 107, EntID: 2}, {OrderID: 110, EntID: 6}, {OrderID: 1001, EntID: 5}})
	}),
	write("upsert of a broadcast table", func(db *gorm.DB) *gorm.DB {
		return db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&[]Region{{ID: 1, Name: ptr("Far North")}, {ID: 12, Name: ptr("c")}})
	}),

	// Updates.
	write("update one column", func(db *gorm.DB) *gorm.DB {
		return db.Model(&Order{}).Where("ent_id = ? AND id = ?", 1, 106).Update("name", "changed")
	}),
	write("update by the model's key and the sharding column", func(db *gorm.DB) *gorm.DB {
		return db.Model(&Order{ID: 106}).Where("ent_id = ?", 1).Updates(Order{Name: ptr("changed"), Status: ptr("paid")})
	}),
	write("update of everything", func(db *gorm.DB) *gorm.DB {
		return db.Model(&Order{}).Where("1 = 1").Update("small", 7)
	}),
	write("update over nodes by a condition", func(db *gorm.DB) *gorm.DB {
		return db.Model(&Order{}).Where("status = ?", "new").Updates(map[string]any{"status": "paid", "amount": gorm.Expr("amount * ?", 2)})
	}),
	write("update of several enterprises", func(db *gorm.DB) *gorm.DB {
		return db.Model(&Order{}).Where("ent_id IN ?", []int64{1, 2, 4, 5}).Update("code", "x")
	}),
	write("update that changes nothing", func(db *gorm.DB) *gorm.DB {
		return db.Model(&Order{}).Where("ent_id = 4").UpdateColumn("state", "fresh")
	}),
	write("update of no row", func(db *gorm.DB) *gorm.DB {
		return db.Model(&Order{}).Where("id < 0").UpdateColumn("state", "x")
	}),
	write("update under a contradiction", func(db *gorm.DB) *gorm.DB {
		return db.Model(&Order{}).Where("ent_id = 1 AND ent_id = 2").UpdateColumn("state", "x")
	}),
	write("update of items over 32 nodes", func(db *gorm.DB) *gorm.DB {
		return db.Model(&Item{}).Where("price > ?", 1).Update("count", gorm.Expr("count + 1"))
	}),
	write("update by the primary key alone", func(db *gorm.DB) *gorm.DB {
		return db.Model(&Order{ID: 140}).Update("name", "found")
	}),
	write("update of a broadcast table", func(db *gorm.DB) *gorm.DB {
		return db.Model(&Region{}).Where("id > 1").Update("name", gorm.Expr("CONCAT(name, '!')"))
	}),
	write("update of a single table", func(db *gorm.DB) *gorm.DB {
		return db.Model(&Operator{}).Where("id = 1").Update("name", "Ada L.")
	}),
	write("update that breaks on one node", func(db *gorm.DB) *gorm.DB {
		return db.Model(&Order{}).Where("id IN ?", []int64{106, 125, 107, 109}).Update("id", gorm.Expr("IF(id = 106, 125, id + 5000)"))
	}),
	write("update without a condition", func(db *gorm.DB) *gorm.DB { return db.Model(&Order{}).Update("name", "x") }),
	write("order by in an update of one node", func(db *gorm.DB) *gorm.DB {
		return db.Exec("UPDATE t_ent_order SET name = 'first' WHERE ent_id = ? ORDER BY id LIMIT 1", 4)
	}),
	write("the sharding column set to what it is", func(db *gorm.DB) *gorm.DB {
		return db.Exec("UPDATE t_ent_order SET ent_id = ?, name = ? WHERE ent_id = ?", 4, "same", 4)
	}),

	// Save.
	{name: "save an order that was read", run: func(db *gorm.DB) (any, error) {
		var o Order
		if err := db.First(&o, "ent_id = ? AND id = ?", 4, 108).Error; err != nil {
			return nil, err
		}
		o.Name = ptr("saved")
		return affected(db.Where("ent_id = ?", o.EntID).Save(&o))
	}},
	{name: "save an order that was read, without a word on the sharding column", open: true, run: func(db *gorm.DB) (any, error) {
		var o Order
		if err := db.First(&o, "ent_id = ? AND id = ?", 4, 108).Error; err != nil {
			return nil, err
		}
		o.Name = ptr("saved")
		return affected(db.Save(&o))
	}},
	write("save several new ones", func(db *gorm.DB) *gorm.DB {
		orders := batch()
		for i := range orders {
			orders[i].State = "set"
		}
		return db.Save(&orders)
	}),

	// Deletes.
	write("delete one", func(db *gorm.DB) *gorm.DB { return db.Where("ent_id = ?", 4).Delete(&Order{}, 108) }),
	write("delete over nodes", func(db *gorm.DB) *gorm.DB { return db.Unscoped().Where("status = ?", "new").Delete(&Order{}) }),
	write("delete softly over nodes", func(db *gorm.DB) *gorm.DB { return db.Where("status = ?", "new").Delete(&Order{}) }),
	write("delete by a list of keys", func(db *gorm.DB) *gorm.DB { return db.Delete(&[]Item{{ID: 1}, {ID: 2}, {ID: 30}}) }),
	write("delete in a range", func(db *gorm.DB) *gorm.DB { return db.Where("ent_id BETWEEN 1 AND 6").Delete(&Item{}) }),
	write("delete of no row", func(db *gorm.DB) *gorm.DB { return db.Where("ent_id IN ?", []int64{3, 7}).Delete(&Item{}) }),
	write("delete from a broadcast table", func(db *gorm.DB) *gorm.DB { return db.Where("id IN (1, 2)").Delete(&Region{}) }),
	write("delete from a single table", func(db *gorm.DB) *gorm.DB { return db.Delete(&Operator{}, 1) }),
	write("delete without a condition", func(db *gorm.DB) *gorm.DB { return db.Delete(&Order{}) }),

	{name: "deleted rows come back with RETURNING", open: true, run: func(db *gorm.DB) (any, error) {
		var deleted []Item
		tx := db.Clauses(clause.Returning{}).Where("ent_id IN ?", []int64{4, 5}).Delete(&deleted)
		slices.SortFunc(deleted, func(a, b Item) int { return int(a.ID - b.ID) })
		return []any{deleted, tx.RowsAffected}, tx.Error
	}},

	// What is made of several statements.
	{name: "first or create", run: func(db *gorm.DB) (any, error) {
		var found, made Order
		err := errors.Join(
			db.Where("ent_id = ?", 4).Order("id").FirstOrCreate(&found).Error,
			db.Where(Order{EntID: 7}).Attrs(Order{ID: 1000, Name: ptr("made")}).FirstOrCreate(&made).Error,
			db.Where(Order{EntID: 7}).Assign(Order{Name: ptr("assigned")}).FirstOrCreate(&made).Error)
		return []Order{found, made}, err
	}},
	{name: "associations", run: func(db *gorm.DB) (any, error) {
		o := Order{ID: 108, EntID: 4}
		var items []Item
		items1 := db.Model(&o).Association("Items").Count()
		err := errors.Join(
			db.Model(&o).Association("Items").Append(&Item{ID: 5000, EntID: 4}, &Item{ID: 5001, EntID: 4}),
			db.Model(&o).Order("id").Association("Items").Find(&items))
		return []any{items1, items, db.Model(&o).Association("Items").Count()}, err
	}},
	{name: "update of what is being read", run: func(db *gorm.DB) (any, error) {
		var orders []Order
		n := int64(0)
		err := db.Where("status = ?", "new").FindInBatches(&orders, 5, func(tx *gorm.DB, _ int) error {
			for i := range orders {
				done := tx.Session(&gorm.Session{NewDB: true}).Model(&orders[i]).Where("ent_id = ?", orders[i].EntID).Update("state", "seen")
				if done.Error != nil {
					return done.Error
				}
				n += done.RowsAffected
			}
			return nil
		}).Error
		return n, err
	}},
	{name: "a dry run", run: func(db *gorm.DB) (any, error) {
		dry := db.Session(&gorm.Session{DryRun: true})
		orders := batch()
		create := dry.Create(&orders)
		remove := dry.Where("1 = 1").Delete(&Item{})
		text := db.ToSQL(func(tx *gorm.DB) *gorm.DB { return tx.Model(&Order{}).Where("ent_id = 4").Update("name", "x") })
		return []any{create.Statement.SQL.String(), remove.Statement.SQL.String(), text}, errors.Join(create.Error, remove.Error)
	}},

	// Text.
	write("insert of rows over nodes as text", func(db *gorm.DB) *gorm.DB {
		return db.Exec("INSERT INTO t_ent_order (id, ent_id, name) VALUES (1000, 4, 'a?'), (1001, 5, NULL), (1002, 6, 'c'), (1003, -5, DEFAULT)")
	}),
	write("insert with values in other types", func(db *gorm.DB) *gorm.DB {
		return db.Exec("INSERT INTO t_ent_order (id, ent_id) VALUES (?, ?), (?, ?), (1002, '7')", 1000, "5", 1001, []byte("6"))
	}),
	{name: "insert with values that are rounded", open: true, run: func(db *gorm.DB) (any, error) {
		return affected(db.Exec("INSERT INTO t_ent_order (id, ent_id) VALUES (1002, '2.5'), (1003, 1.4)"))
	}},
	write("insert with SET", func(db *gorm.DB) *gorm.DB {
		return db.Exec("INSERT INTO t_ent_order SET id = ?, ent_id = ?, name = 'set'", 1000, 7)
	}),
	write("insert ignore", func(db *gorm.DB) *gorm.DB {
		return db.Exec("INSERT IGNORE INTO t_ent_order (id, ent_id) VALUES (106, 1), (1001, 2), (1002, 5)")
	}),
	write("replace", func(db *gorm.DB) *gorm.DB {
		return db.Exec("REPLACE INTO t_ent_order_detail (order_id, ent_id, address) VALUES (107, 2, 'r'), (1001, 5, 's')")
	}),
	write("row alias of an upsert", func(db *gorm.DB) *gorm.DB {
		return db.Exec("INSERT INTO t_ent_order_detail (order_id, ent_id, address) VALUES (107, 2, 'r'), (1001, 5, 's') ON DUPLICATE KEY UPDATE ent_id = VALUES(ent_id), address = VALUES(address)")
	}),
	write("delete with IN NULL", func(db *gorm.DB) *gorm.DB {
		return db.Exec("DELETE FROM t_ent_order WHERE ent_id IN (1, NULL, 2) AND NOT (region_id = 1)")
	}),
	write("update with a subquery in one node", func(db *gorm.DB) *gorm.DB {
		return db.Exec("UPDATE t_ent_order SET name = 'has items' WHERE ent_id = 4 AND id IN (SELECT order_id FROM t_ent_order_item WHERE ent_id = 4)")
	}),
}

func TestGORMWritesDoWhatTheyDoOnOneDatabase(t *testing.T) {
	compareWrites(t, gormWrites, configurations)
}

// compareWrites takes every step on the nodes and on the single database, from
// the same rows, and compares what was seen and what is stored.
func compareWrites(t *testing.T, steps []step, configurations []configuration) {
	t.Helper()
	c := writeCluster(t)
	now := func() time.Time { return newYear }
	for _, conf := range configurations {
		t.Run(conf.name, func(t *testing.T) {
			forSingle, forSharded := conf.gorm, conf.gorm
			forSingle.NowFunc, forSharded.NowFunc = now, now
			single := c.openSingle(t, &forSingle, conf.params...)
			a := c.open(t, c.config(conf.params...), &forSharded)
			for _, s := range steps {
				t.Run(s.name, func(t *testing.T) {
					c.reset(t)
					wantValue, wantErr := s.run(single.WithContext(t.Context()))
					a.trace.take()
					value, err := s.run(a.WithContext(t.Context()))
					if s.open && (errors.Is(err, sharding.ErrUnsupported) || errors.Is(err, sharding.ErrShardingKeyUpdate)) {
						t.Log(err)
						return
					}
					if want, got := outcome(wantValue, wantErr), outcome(value, err); want != got {
						t.Errorf("single:\n%s\nsharded (%v):\n%s\nunits:\n%s", want, err, got, a.trace)
					}
					if wantErr != nil && conf.gorm.SkipDefaultTransaction {
						return // what the single database keeps then is another story
					}
					c.contents(t).same(t)
				})
			}
		})
	}
}
