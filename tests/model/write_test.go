//go:build unix

package model_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gormshard/sharding"
)

// write is one write through a model. The database has the orders 1 … 8 of the
// users 1 … 8, with items and lines of the same numbers.
type write struct {
	name string
	run  func(*gorm.DB) *gorm.DB
	// refused is true where the row would have to move.
	refused bool
	// unsupported is true where the row could be on no node.
	unsupported bool
	// units is how many statements the nodes get in the mode "default", 0 where it
	// does not matter.
	units int
}

func at[T any](v T) *T { return &v }

func order(id, user int64) *Order { return &Order{ID: id, UserID: user, Status: 1, Version: 1} }

func seed(db *gorm.DB) error {
	var orders []*Order
	var items []Item
	var lines []Line
	var docs []Doc
	var loose []Loose
	for i := int64(1); i <= 8; i++ {
		item := Item{ID: i, Kind: at(int(i / 2)), OrderID: at(i), Qty: 1}
		item.UserID.Int64, item.UserID.Valid = i, true
		orders, items = append(orders, order(i, i)), append(items, item)
		lines = append(lines, Line{OrderID: i, No: int(i), UserID: i, Qty: 1})
		docs = append(docs, Doc{ID: fmt.Sprint("doc", i), Region: i, Tenant: tenant(fmt.Sprint("T", i/2)), Title: "a"})
		loose = append(loose, Loose{ID: 1, UserID: i, Qty: 1})
	}
	return errors.Join(db.Create(orders).Error, db.Create(&items).Error, db.Create(&lines).Error, db.Create(&docs).Error, db.Create(&loose).Error)
}

// loaded reads a model and changes it.
func loaded[T any](id any, change func(*T)) func(*gorm.DB) *T {
	return func(db *gorm.DB) *T {
		m := new(T)
		if err := db.First(m, "id = ?", id).Error; err != nil {
			panic(err)
		}
		change(m)
		return m
	}
}

func saved[T any](id any, change func(*T)) func(*gorm.DB) *gorm.DB {
	read := loaded(id, change)
	return func(db *gorm.DB) *gorm.DB { return db.Save(read(db)) }
}

var writes = []write{
	// Save.
	{name: "save a change", run: saved(1, func(o *Order) { o.Status = 7 })},
	{name: "save nothing new", run: saved(1, func(o *Order) { o.UpdatedAt = &clock })},
	{name: "save another user on the same node", run: saved(1, func(o *Order) { o.UserID = 5 })},
	{name: "save another user", run: saved(1, func(o *Order) { o.UserID = 2 }), refused: true},
	{name: "save another user, same table elsewhere", run: saved(1, func(o *Order) { o.UserID = 4 }), refused: true},
	{name: "save a new order", run: func(db *gorm.DB) *gorm.DB { return db.Save(order(20, 6)) }},
	{name: "save the key of another user", run: func(db *gorm.DB) *gorm.DB { return db.Save(order(3, 6)) }, refused: true},
	{name: "save with the zero user", run: func(db *gorm.DB) *gorm.DB { return db.Save(order(3, 0)) }, refused: true},
	{name: "save the zero user anew", run: func(db *gorm.DB) *gorm.DB { return db.Save(order(30, 0)) }},
	{name: "save some columns", run: func(db *gorm.DB) *gorm.DB {
		return db.Select("Status").Save(loaded(2, func(o *Order) { o.Status, o.UserID = 4, 3 })(db))
	}},
	{name: "save without a column", run: func(db *gorm.DB) *gorm.DB {
		return db.Omit("UserID").Save(loaded(2, func(o *Order) { o.Status, o.UserID = 4, 2 })(db))
	}},
	{name: "save under a condition", run: func(db *gorm.DB) *gorm.DB {
		return db.Where("version = ?", 1).Select("*").Save(loaded(2, func(o *Order) { o.Version = 2 })(db))
	}},
	{name: "save with a condition that fails", run: func(db *gorm.DB) *gorm.DB {
		return db.Where("version = ?", 9).Select("*").Save(loaded(2, func(o *Order) { o.Version = 2 })(db))
	}},
	{name: "save a slice", run: func(db *gorm.DB) *gorm.DB {
		return db.Save([]*Order{order(1, 1), order(40, 2), order(41, 3), order(4, 4)})
	}},
	{name: "save a slice with one that moved", run: func(db *gorm.DB) *gorm.DB {
		return db.Save([]Order{*order(50, 1), *order(2, 2), *order(3, 4)})
	}, refused: true},
	{name: "save a slice with a key twice, on two nodes", run: func(db *gorm.DB) *gorm.DB { return db.Save([]*Order{order(50, 1), order(50, 2)}) }, refused: true},
	{name: "save a slice with a key twice, on one node", run: func(db *gorm.DB) *gorm.DB { return db.Save([]*Order{order(50, 1), order(50, 5)}) }},
	{name: "save documents whose keys differ in a trailing space", run: func(db *gorm.DB) *gorm.DB {
		return db.Save([]Doc{{ID: "docz ", Region: 2, Tenant: "T0", Title: "x"}, {ID: "docz", Region: 1, Tenant: "T0", Title: "y"}})
	}, refused: true},
	{name: "save documents whose keys differ in case", run: func(db *gorm.DB) *gorm.DB {
		return db.Save([]Doc{{ID: "docz", Region: 2, Tenant: "T0", Title: "x"}, {ID: "Docz", Region: 1, Tenant: "T0", Title: "y"}})
	}},
	{name: "do nothing to a key given twice", run: func(db *gorm.DB) *gorm.DB {
		return db.Clauses(clause.OnConflict{DoNothing: true}).Create([]*Order{order(50, 1), order(50, 2)})
	}, refused: true},
	{name: "save a deleted order", run: func(db *gorm.DB) *gorm.DB {
		o := loaded(6, func(o *Order) { o.Status = 3 })(db)
		if err := db.Delete(&Order{ID: 6, UserID: 6}).Error; err != nil {
			panic(err)
		}
		return db.Save(o)
	}},
	{name: "save an item", run: saved(3, func(i *Item) { i.Qty = 9 })},
	{name: "save an item of another kind", run: saved(3, func(i *Item) { i.Kind = at(2) }), refused: true},
	{name: "save an item of another user", run: saved(3, func(i *Item) { i.UserID.Int64 = 4 }), refused: true},
	{name: "save a document", run: saved("doc3", func(d *Doc) { d.Title = "new" })},
	{name: "save a document on its node", run: saved("doc3", func(d *Doc) { d.Region, d.Tenant = 5, "T7" })},
	{name: "save a document elsewhere", run: saved("doc3", func(d *Doc) { d.Tenant = "T2" }), refused: true},
	{name: "save a new document without a title", run: func(db *gorm.DB) *gorm.DB { return db.Save(&Doc{ID: "docx", Region: 2, Tenant: "T3"}) }},
	{name: "save documents", run: func(db *gorm.DB) *gorm.DB {
		return db.Save([]Doc{{ID: "doc1", Region: 1, Tenant: "T0", Title: "x"}, {ID: "docy", Region: 4, Tenant: "T0"}})
	}},
	{name: "save a line", run: func(db *gorm.DB) *gorm.DB { return db.Save(&Line{OrderID: 3, No: 3, UserID: 3, Qty: 5}) }},
	{name: "save a new line", run: func(db *gorm.DB) *gorm.DB { return db.Save(&Line{OrderID: 3, No: 4, UserID: 3, Qty: 5}) }},
	{name: "save lines", run: func(db *gorm.DB) *gorm.DB {
		return db.Save([]Line{{OrderID: 3, No: 5, UserID: 3, Qty: 5}, {OrderID: 4, No: 4, UserID: 4, Qty: 5}})
	}},
	{name: "save a line of another user", run: func(db *gorm.DB) *gorm.DB { return db.Save(&Line{OrderID: 3, No: 3, UserID: 4, Qty: 5}) }, refused: true},
	// Updates.
	{name: "updates of a struct", run: func(db *gorm.DB) *gorm.DB { return db.Model(order(1, 1)).Updates(Order{Status: 5}) }, units: 1},
	{name: "updates of a struct with the user", run: func(db *gorm.DB) *gorm.DB { return db.Updates(&Order{ID: 1, UserID: 1, Status: 5}) }, units: 1},
	{name: "updates of a struct with another user", run: func(db *gorm.DB) *gorm.DB { return db.Updates(&Order{ID: 1, UserID: 2, Status: 5}) }, refused: true},
	{name: "updates of a map", run: func(db *gorm.DB) *gorm.DB { return db.Model(order(1, 1)).Updates(map[string]any{"status": 6}) }, units: 1},
	{name: "updates of a map with the user", run: func(db *gorm.DB) *gorm.DB {
		return db.Model(order(1, 1)).Updates(map[string]any{"status": 6, "user_id": 5})
	}, units: 1},
	{name: "updates of a map with another user", run: func(db *gorm.DB) *gorm.DB {
		return db.Model(order(1, 1)).Updates(map[string]any{"status": 6, "user_id": 2})
	}, refused: true},
	{name: "update of the user", run: func(db *gorm.DB) *gorm.DB { return db.Model(order(1, 1)).Update("user_id", 7) }, refused: true},
	{name: "update of the user of no order", run: func(db *gorm.DB) *gorm.DB { return db.Model(order(99, 1)).Update("user_id", 7) }},
	{name: "detach nothing", run: func(db *gorm.DB) *gorm.DB {
		return db.Model(&Order{}).Where("user_id = ? AND status = ?", 1, 9).Update("user_id", nil)
	}, units: 2},
	{name: "detach nothing, wherever it is", run: func(db *gorm.DB) *gorm.DB {
		return db.Model(&Order{}).Where("status = ?", 9).Update("user_id", nil)
	}, units: 8},
	{name: "detach nothing, by a text that is no number", run: func(db *gorm.DB) *gorm.DB {
		if done := db.Exec("UPDATE t_order SET note = 'none' WHERE user_id = ?", 1); done.Error != nil {
			return done
		}
		return db.Exec("UPDATE t_order SET user_id = NULL WHERE note = 5 AND user_id = ?", 1)
	}, units: 3},
	{name: "detach nothing, by a text that is no number, which is ignored", run: func(db *gorm.DB) *gorm.DB {
		if done := db.Exec("UPDATE t_order SET note = 'none' WHERE user_id = ?", 1); done.Error != nil {
			return done
		}
		return db.Exec("UPDATE IGNORE t_order SET user_id = NULL WHERE note = 5 AND user_id = ?", 1)
	}, units: 3},
	{name: "detach nothing, by a text that is a number", run: func(db *gorm.DB) *gorm.DB {
		return db.Exec("UPDATE t_order SET user_id = NULL WHERE CONCAT(id, '') = 500 AND user_id = ?", 1)
	}, units: 2},
	{name: "detach", run: func(db *gorm.DB) *gorm.DB { return db.Model(order(1, 1)).Update("user_id", nil) }, refused: true},
	{name: "update of an expression", run: func(db *gorm.DB) *gorm.DB {
		return db.Model(order(1, 1)).Update("status", gorm.Expr("status + ?", 1))
	}, units: 1},
	{name: "update of a column", run: func(db *gorm.DB) *gorm.DB { return db.Model(order(1, 1)).UpdateColumn("status", 9) }, units: 1},
	{name: "update of a model whose user was changed", run: func(db *gorm.DB) *gorm.DB { return db.Model(order(1, 4)).Update("status", 9) }},
	{name: "update of a model without a user", run: func(db *gorm.DB) *gorm.DB { return db.Model(order(3, 0)).Update("status", 9) }},
	{name: "update of no row", run: func(db *gorm.DB) *gorm.DB { return db.Model(order(99, 1)).Update("status", 9) }},
	{name: "update to what it is", run: func(db *gorm.DB) *gorm.DB { return db.Model(order(1, 1)).UpdateColumn("status", 1) }},
	{name: "optimistic lock", run: func(db *gorm.DB) *gorm.DB {
		return db.Model(order(1, 1)).Where("version = ?", 1).Updates(map[string]any{"version": 2})
	}, units: 1},
	{name: "optimistic lock that is lost", run: func(db *gorm.DB) *gorm.DB {
		return db.Model(order(1, 1)).Where("version = ?", 5).Updates(map[string]any{"version": 6})
	}, units: 2},
	{name: "update with a choice", run: func(db *gorm.DB) *gorm.DB {
		return db.Model(order(1, 1)).Where("version = ?", 5).Or("status = ?", 1).Update("status", 3)
	}},
	{name: "updates of a slice", run: func(db *gorm.DB) *gorm.DB {
		return db.Model([]*Order{order(1, 1), order(2, 4), order(3, 3)}).Update("status", 9)
	}},
	{name: "update of an item", run: func(db *gorm.DB) *gorm.DB {
		i := loaded(3, func(*Item) {})(db)
		return db.Model(i).Update("qty", 4)
	}},
	{name: "update of a document", run: func(db *gorm.DB) *gorm.DB {
		return db.Model(&Doc{ID: "doc3", Region: 3, Tenant: "T1"}).Update("title", "b")
	}, units: 1},
	{name: "update of a document of which a half is known", run: func(db *gorm.DB) *gorm.DB {
		return db.Model(&Doc{ID: "doc3", Region: 3}).Update("title", "b")
	}, units: 2},
	{name: "update of a line", run: func(db *gorm.DB) *gorm.DB {
		return db.Model(&Line{OrderID: 3, No: 3, UserID: 3}).Update("qty", 4)
	}, units: 1},
	{name: "update of half a key", run: func(db *gorm.DB) *gorm.DB { return db.Model(&Line{OrderID: 3, UserID: 3}).Update("qty", 4) }},
	{name: "update by a key that is none", run: func(db *gorm.DB) *gorm.DB { return db.Model(&Loose{ID: 1, UserID: 3}).Update("qty", 4) }, units: 4},
	{name: "update of another row than the model's", run: func(db *gorm.DB) *gorm.DB {
		return db.Model(&Order{UserID: 1}).Where("id = ?", 2).Update("status", 4)
	}},
	// Delete.
	{name: "delete", run: func(db *gorm.DB) *gorm.DB { return db.Delete(order(1, 1)) }, units: 1},
	{name: "delete for good", run: func(db *gorm.DB) *gorm.DB { return db.Unscoped().Delete(order(1, 1)) }, units: 1},
	{name: "delete a model whose user was changed", run: func(db *gorm.DB) *gorm.DB { return db.Delete(order(1, 2)) }},
	{name: "delete a model without a user", run: func(db *gorm.DB) *gorm.DB { return db.Delete(&Order{ID: 1}) }},
	{name: "delete by key", run: func(db *gorm.DB) *gorm.DB { return db.Delete(&Order{}, 1) }},
	{name: "delete twice", run: func(db *gorm.DB) *gorm.DB {
		if err := db.Delete(order(1, 1)).Error; err != nil {
			panic(err)
		}
		return db.Delete(order(1, 1))
	}},
	{name: "delete under a condition", run: func(db *gorm.DB) *gorm.DB { return db.Where("status = ?", 2).Delete(order(1, 1)) }},
	{name: "delete a slice", run: func(db *gorm.DB) *gorm.DB {
		return db.Delete([]Order{*order(1, 1), *order(2, 2), *order(3, 8)})
	}},
	{name: "delete an item", run: func(db *gorm.DB) *gorm.DB { return db.Delete(loaded(3, func(*Item) {})(db)) }},
	{name: "delete a document", run: func(db *gorm.DB) *gorm.DB { return db.Delete(&Doc{ID: "doc3", Region: 3, Tenant: "T1"}) }, units: 1},
	{name: "delete a line", run: func(db *gorm.DB) *gorm.DB { return db.Delete(&Line{OrderID: 3, No: 3, UserID: 3}) }, units: 1},
	{name: "delete lines", run: func(db *gorm.DB) *gorm.DB {
		return db.Delete([]Line{{OrderID: 3, No: 3, UserID: 3}, {OrderID: 4, No: 4, UserID: 4}})
	}},
	// ON CONFLICT.
	{name: "do nothing", run: func(db *gorm.DB) *gorm.DB { return db.Clauses(clause.OnConflict{DoNothing: true}).Create(order(3, 3)) }},
	{name: "do nothing to a row elsewhere", run: func(db *gorm.DB) *gorm.DB {
		return db.Clauses(clause.OnConflict{DoNothing: true}).Create(order(3, 4))
	}, refused: true},
	{name: "update on conflict", run: func(db *gorm.DB) *gorm.DB {
		return db.Clauses(clause.OnConflict{DoUpdates: clause.AssignmentColumns([]string{"status"})}).Create([]*Order{order(3, 3), order(60, 1)})
	}},
	{name: "update of a map on conflict", run: func(db *gorm.DB) *gorm.DB {
		return db.Model(&Order{}).Clauses(clause.OnConflict{DoUpdates: clause.AssignmentColumns([]string{"status"})}).
			Create(map[string]any{"id": 3, "user_id": 4, "status": 1, "version": 1})
	}, refused: true},
}

func TestWritesOfModelsAreThoseOfOneDatabase(t *testing.T) {
	c := newCluster(t, "writes")
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			p := c.open(t, m)
			p.must(t, seed(p.plain))
			p.must(t, seed(p.sharded))
			p.seeded = p.compare(t)
			for _, w := range writes {
				t.Run(w.name, func(t *testing.T) {
					p.sent.take()
					p.write(t, w, m.name == "default")
				})
			}
		})
	}
}

// write runs a write on both sides in a transaction that is rolled back, and for
// itself.
func (p *pair) write(t *testing.T, w write, count bool) {
	undone := errors.New("undone")
	in := func(db *gorm.DB) (rows int64, err error) {
		outer := db.Transaction(func(tx *gorm.DB) error {
			done := w.run(tx)
			rows, err = done.RowsAffected, done.Error
			return undone
		})
		if !errors.Is(outer, undone) {
			t.Fatal(outer)
		}
		return rows, err
	}
	gotRows, got := in(p.sharded)
	if sent := p.sent.take(); count && w.units > 0 && len(sent) != w.units {
		t.Errorf("the nodes got %d statements, want %d:\n%s", len(sent), w.units, strings.Join(sent, "\n"))
	}
	p.compare(t)
	wantRows, want := in(p.plain)
	p.check(t, w, gotRows, got, wantRows, want)
	done := w.run(p.sharded)
	gotRows, got = done.RowsAffected, done.Error
	if w.refused || w.unsupported {
		p.check(t, w, gotRows, got, 0, nil)
		p.compare(t)
		return
	}
	done = w.run(p.plain)
	p.check(t, w, gotRows, got, done.RowsAffected, done.Error)
	if now := p.compare(t); !reflect.DeepEqual(now, p.seeded) {
		p.reset(t)
	}
}

func (p *pair) check(t *testing.T, w write, gotRows int64, got error, wantRows int64, want error) {
	t.Helper()
	switch {
	case w.unsupported:
		if got == nil {
			t.Error("no error")
		}
	case w.refused:
		if !errors.Is(got, sharding.ErrShardingKeyUpdate) {
			t.Errorf("error %v, want ErrShardingKeyUpdate", got)
		}
	case got != nil && want != nil && got.Error() == want.Error():
	case got != nil || want != nil:
		t.Errorf("error %v, on one database %v", got, want)
	case gotRows != wantRows:
		t.Errorf("%d rows affected, on one database %d", gotRows, wantRows)
	}
}

// reset gives both sides the rows they began with.
func (p *pair) reset(t *testing.T) {
	t.Helper()
	for logical := range p.definitions {
		p.must(t, p.sharded.Exec("DELETE FROM "+logical).Error)
		p.must(t, p.plain.Exec("DELETE FROM "+logical).Error)
	}
	p.must(t, p.seed(p.plain))
	p.must(t, p.seed(p.sharded))
}
