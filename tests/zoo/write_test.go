//go:build unix

package zoo_test

import (
	"errors"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

var firsts = []feature{
	{name: "`FirstOrInit`", run: func(w *way) error {
		var found, made, assigned User
		err := errors.Join(
			w.db.Where(User{Name: "user 3"}).Attrs(User{Age: 99}).FirstOrInit(&found).Error,
			w.db.Where(User{Name: "nobody"}).Attrs(User{Age: 99}).FirstOrInit(&made).Error,
			w.db.Where(User{Name: "user 4"}).Assign(User{Age: 98}).FirstOrInit(&assigned).Error)
		w.same("users", fmt.Sprint(found.ID, found.Age, made.ID, made.Name, made.Age, assigned.ID, assigned.Age), "3 23 0nobody99 4 98")
		w.same("ages", w.stored("users", "age", "id = 4"), []string{"24"})
		return err
	}},
	{name: "`FirstOrCreate`", run: func(w *way) error {
		var found, made User
		first := w.db.Where(User{Name: "user 3"}).Attrs(User{Age: 99}).FirstOrCreate(&found)
		second := w.db.Where(User{Name: "new"}).Attrs(User{Age: 99}).FirstOrCreate(&made)
		if err := errors.Join(first.Error, second.Error); err != nil {
			return err
		}
		w.same("RowsAffected", []int64{first.RowsAffected, second.RowsAffected}, []int64{0, 1})
		w.same("ages", sorted(w.stored("users", "age", "name IN ('user 3', 'new')")), "23 99")
		w.created([]User{made}, 1)
		return nil
	}},
	{name: "`Assign().FirstOrCreate`", run: func(w *way) error {
		var found, made User
		err := errors.Join(w.db.Where(User{Name: "user 3"}).Assign(User{Age: 98}).FirstOrCreate(&found).Error,
			w.db.Where(User{Name: "new"}).Assign(map[string]any{"age": 97}).FirstOrCreate(&made).Error)
		w.same("ages", sorted(w.stored("users", "age", "name IN ('user 3', 'new')")), "97 98")
		return err
	}},
}

// stepped returns a feature that updates users and holds RowsAffected and the ages
// of all of them.
func stepped(name, ages string, affected int64, update func(db *gorm.DB) *gorm.DB) feature {
	return feature{name: name, run: func(w *way) error {
		tx := update(w.db)
		if tx.Error != nil {
			return tx.Error
		}
		w.same("RowsAffected", tx.RowsAffected, affected)
		w.same("ages", sorted(w.stored("users", "age", "")), ages)
		return nil
	}}
}

// user is a model of a stored user with nothing but its key.
func user(id uint) *User {
	u := &User{}
	u.ID = id
	return u
}

var updates = []feature{
	stepped("`Model(&model).Update`", "21 22 24 25 26 27 28 90", 1, func(db *gorm.DB) *gorm.DB { return db.Model(user(3)).Update("age", 90) }),
	stepped("`Model(&model).Updates(struct)`", "21 22 24 25 26 27 28 90", 1, func(db *gorm.DB) *gorm.DB {
		return db.Model(user(3)).Updates(User{Age: 90, Name: ""})
	}),
	stepped("`Model(&model).Updates(map)`", "0 21 22 24 25 26 27 28", 1, func(db *gorm.DB) *gorm.DB {
		return db.Model(user(3)).Updates(map[string]any{"age": 0, "active": true})
	}),
	stepped("`Updates(&model)`", "21 22 24 25 26 27 28 90", 1, func(db *gorm.DB) *gorm.DB {
		u := user(3)
		u.Age = 90
		return db.Updates(u)
	}),
	stepped("`Select(columns).Updates`", "0 21 22 24 25 26 27 28", 1, func(db *gorm.DB) *gorm.DB {
		return db.Model(user(3)).Select("Age", "Active").Updates(User{Name: "not this", Age: 0})
	}),
	stepped("`Omit(columns).Updates`", "21 22 24 25 26 27 28 90", 1, func(db *gorm.DB) *gorm.DB {
		return db.Model(user(3)).Omit("name").Updates(map[string]any{"name": "not this", "age": 90})
	}),
	stepped("`Where().Update` over nodes", "21 22 23 24 90 90 90 90", 4, func(db *gorm.DB) *gorm.DB {
		return db.Model(&User{}).Where("age > ?", 24).Update("age", 90)
	}),
	stepped("`Where().Update` of an owner", "21 22 23 24 26 27 28 90", 1, func(db *gorm.DB) *gorm.DB {
		return db.Model(&User{}).Where("id = ?", 5).Update("age", 90)
	}),
	stepped("`Update` that changes nothing", "21 22 23 24 25 26 27 28", 0, func(db *gorm.DB) *gorm.DB {
		return db.Model(&User{}).Where("age > ?", 100).Update("age", 1)
	}),
	stepped("`Update` with an expression", "23 24 25 26 27 28 29 30", 8, func(db *gorm.DB) *gorm.DB {
		return db.Model(&User{}).Where("age > 0").Update("age", gorm.Expr("age + ?", 2))
	}),
	stepped("`Update` with a subquery of a broadcast table", "21 22 23 24 25 26 3 3", 2, func(db *gorm.DB) *gorm.DB {
		return db.Model(&User{}).Where("age > 26").Update("age", db.Session(&gorm.Session{NewDB: true}).Model(&Company{}).Select("COUNT(*)"))
	}),
	stepped("`Update` with a subquery of the owner", "1700 2000 2300 24 25 26 27 28", 3, func(db *gorm.DB) *gorm.DB {
		fresh := db.Session(&gorm.Session{NewDB: true})
		return db.Model(&User{}).Where("age < 24").Update("age", fresh.Model(&Order{}).Select("SUM(amount) + 1400").Where("orders.user_id = users.id"))
	}),
	stepped("`Update` where a subquery of the owner", "1 1 1 21 22 23 24 25", 3, func(db *gorm.DB) *gorm.DB {
		fresh := db.Session(&gorm.Session{NewDB: true})
		return db.Model(&User{}).Where("id IN (?)", fresh.Model(&Order{}).Select("user_id").Where("amount > 1000")).Update("age", 1)
	}),
	{name: "`Update` sets `updated_at`", run: func(w *way) error {
		err := w.db.Model(&User{}).Where("id IN ?", []int{1, 2}).Update("age", 1).Error
		if err == nil {
			w.same("rows of a new time", sorted(w.stored("users", "id", "updated_at > '2024-02-01'")), "1 2")
		}
		return err
	}},
	{name: "`UpdateColumn`, `UpdateColumns`", run: func(w *way) error {
		err := errors.Join(w.db.Model(user(3)).UpdateColumn("age", 90).Error,
			w.db.Model(&User{}).Where("age > 26").UpdateColumns(map[string]any{"age": gorm.Expr("age * 10"), "name": "old"}).Error)
		w.same("ages", sorted(w.stored("users", "age", "")), "21 22 24 25 26 270 280 900")
		w.same("rows of a new time", w.stored("users", "id", "updated_at > '2024-02-01'"), []string(nil))
		return err
	}},
	{name: "`ErrMissingWhereClause`", run: func(w *way) error {
		for _, err := range []error{w.db.Model(&User{}).Update("age", 1).Error, w.db.Delete(&User{}).Error, w.db.Where("").Delete(&Order{}).Error} {
			if !errors.Is(err, gorm.ErrMissingWhereClause) {
				return errors.Join(errors.New("no ErrMissingWhereClause"), err)
			}
		}
		w.same("ages", sorted(w.stored("users", "age", "deleted_at IS NULL")), "21 22 23 24 25 26 27 28")
		return nil
	}},
	stepped("`AllowGlobalUpdate`, `Update`", "1 1 1 1 1 1 1 1", 8, func(db *gorm.DB) *gorm.DB {
		return db.Session(&gorm.Session{AllowGlobalUpdate: true}).Model(&User{}).Update("age", 1)
	}),
	{name: "an optimistic lock by hand", run: func(w *way) error {
		first := w.db.Model(&Order{}).Where("id = ? AND user_id = ? AND version = ?", 42, 4, 1).Updates(map[string]any{"state": "sent", "version": gorm.Expr("version + 1")})
		second := w.db.Model(&Order{}).Where("id = ? AND version = ?", 42, 1).Updates(map[string]any{"state": "lost", "version": gorm.Expr("version + 1")})
		w.same("RowsAffected", []int64{first.RowsAffected, second.RowsAffected}, []int64{1, 0})
		w.same("the order", w.stored("orders", "CONCAT(state, version)", "id = 42"), []string{"sent2"})
		return errors.Join(first.Error, second.Error)
	}},
	{name: "`Update` of the sharding column to its own value", run: func(w *way) error {
		err := w.db.Model(&Order{}).Where("user_id = ?", 4).Updates(map[string]any{"user_id": 4, "state": "kept"}).Error
		if err == nil {
			w.same("orders", sorted(w.stored("orders", "id", "state = 'kept' AND user_id = 4")), "41 42")
		}
		return err
	}},
	{name: "`Update` of the sharding column", run: func(w *way) error {
		err := w.db.Model(&Order{}).Where("id = ?", 41).Update("user_id", 5).Error
		owner := map[bool]string{true: "4", false: "5"}[err != nil]
		w.same("owners of the one row", w.stored("orders", "user_id", "id = 41"), []string{owner})
		return err
	}},
	{name: "`Update` of a broadcast table", run: func(w *way) error {
		tx := w.db.Model(&Company{}).Where("id > ?", 1).Update("name", "renamed")
		w.same("RowsAffected", tx.RowsAffected, int64(2))
		w.same("companies", sorted(w.stored("companies", "name", "")), "one renamed renamed")
		return tx.Error
	}},
	{name: "`Update` of a join table", run: func(w *way) error {
		tx := w.db.Table("user_speaks").Where("language_code = ? AND user_id < ?", "de", 5).Update("language_code", "fr")
		w.same("RowsAffected", tx.RowsAffected, int64(2))
		w.same("speakers", sorted(w.stored("user_speaks", "user_id", "language_code = 'fr'")), "2 4")
		return tx.Error
	}},
	{name: "`Order().Limit().Update`", onlyMySQL: true, run: func(w *way) error {
		tx := w.db.Model(&User{}).Where("age > 0").Order("age DESC").Limit(2).Update("age", 1)
		if tx.Error == nil {
			w.same("ages", sorted(w.stored("users", "age", "")), "1 1 21 22 23 24 25 26")
		} else {
			w.same("ages", sorted(w.stored("users", "age", "")), "21 22 23 24 25 26 27 28")
		}
		return tx.Error
	}},
	{name: "`Order().Limit().Update` of an owner", onlyMySQL: true, run: func(w *way) error {
		tx := w.db.Model(&Order{}).Where("user_id = ?", 6).Order("amount DESC").Limit(1).Update("state", "best")
		if tx.Error == nil {
			w.same("orders", w.stored("orders", "id", "state = 'best'"), []string{"62"})
		}
		return tx.Error
	}},
}

// kept holds the ids of the rows of a table that are there and not deleted softly.
func (w *way) kept(table, ids string) {
	w.t.Helper()
	w.same(table+" that are left", sorted(w.stored(table, "id", "deleted_at IS NULL")), ids)
}

var deletes = []feature{
	{name: "`Delete(&model)`, soft", run: func(w *way) error {
		tx := w.db.Delete(user(3))
		if tx.Error != nil {
			return tx.Error
		}
		w.same("RowsAffected", tx.RowsAffected, int64(1))
		w.kept("users", "1 2 4 5 6 7 8")
		w.same("rows", len(w.stored("users", "id", "")), 8)
		if err := w.db.First(&User{}, 3).Error; !errors.Is(err, gorm.ErrRecordNotFound) {
			w.t.Errorf("the deleted user is found: %v", err)
		}
		return w.db.Unscoped().First(&User{}, 3).Error
	}},
	{name: "`Delete(&Model{}, key)`", run: func(w *way) error {
		err := errors.Join(w.db.Delete(&User{}, 3).Error, w.db.Delete(&User{}, "4").Error)
		w.kept("users", "1 2 5 6 7 8")
		return err
	}},
	{name: "`Delete(&Model{}, keys)`", run: func(w *way) error {
		tx := w.db.Delete(&User{}, []uint{1, 2, 7, 99})
		w.same("RowsAffected", tx.RowsAffected, int64(3))
		w.kept("users", "3 4 5 6 8")
		return tx.Error
	}},
	{name: "`Delete(&slice)`", run: func(w *way) error {
		users := []User{*user(1), *user(8)}
		tx := w.db.Delete(&users)
		w.same("RowsAffected", tx.RowsAffected, int64(2))
		w.kept("users", "2 3 4 5 6 7")
		return tx.Error
	}},
	{name: "`Where().Delete`", run: func(w *way) error {
		tx := w.db.Where("age > ?", 25).Delete(&User{})
		w.same("RowsAffected", tx.RowsAffected, int64(3))
		w.kept("users", "1 2 3 4 5")
		return tx.Error
	}},
	{name: "`Delete` of an owner", run: func(w *way) error {
		tx := w.db.Where("user_id = ?", 4).Delete(&Pet{})
		w.same("RowsAffected", tx.RowsAffected, int64(2))
		w.same("pets", len(w.stored("pets", "id", "deleted_at IS NULL")), 14)
		return tx.Error
	}},
	{name: "`Unscoped().Delete`", run: func(w *way) error {
		one := w.db.Unscoped().Delete(user(3))
		many := w.db.Unscoped().Where("age > ?", 26).Delete(&User{})
		w.same("RowsAffected", []int64{one.RowsAffected, many.RowsAffected}, []int64{1, 2})
		w.same("rows", sorted(w.stored("users", "id", "")), "1 2 4 5 6")
		return errors.Join(one.Error, many.Error)
	}},
	{name: "`Delete` without soft delete", run: func(w *way) error {
		one := w.db.Delete(&Order{ID: 42})
		many := w.db.Where("state = ?", "open").Delete(&Order{})
		w.same("RowsAffected", []int64{one.RowsAffected, many.RowsAffected}, []int64{1, 8})
		w.same("rows", sorted(w.stored("orders", "id", "")), "12 22 32 52 62 72 82")
		return errors.Join(one.Error, many.Error)
	}},
	{name: "`Delete` where a subquery of the owner", run: func(w *way) error {
		tx := w.db.Where("user_id IN (?)", w.db.Model(&User{}).Select("id").Where("age > 26")).Delete(&Order{})
		if tx.Error == nil {
			w.same("RowsAffected", tx.RowsAffected, int64(4))
		}
		return tx.Error
	}},
	{name: "`AllowGlobalUpdate`, `Delete`", run: func(w *way) error {
		tx := w.db.Session(&gorm.Session{AllowGlobalUpdate: true}).Delete(&Item{})
		w.same("RowsAffected", tx.RowsAffected, int64(32))
		w.same("rows", w.stored("items", "id", ""), []string(nil))
		return tx.Error
	}},
	{name: "`Delete` of a join table's rows", run: func(w *way) error {
		tx := w.db.Exec("DELETE FROM user_speaks WHERE language_code = ?", "de")
		w.same("RowsAffected", tx.RowsAffected, int64(4))
		return tx.Error
	}},
	{name: "`Delete` of a broadcast table", run: func(w *way) error {
		tx := w.db.Delete(&Company{}, []int{1, 3})
		w.same("RowsAffected", tx.RowsAffected, int64(2))
		w.same("companies", w.stored("companies", "name", ""), []string{"two"})
		return tx.Error
	}},
	{name: "`Clauses(Returning{}).Delete` of an owner", run: func(w *way) error {
		if w.variant.noReturning {
			return nil
		}
		var orders []Order
		tx := w.db.Clauses(clause.Returning{}).Where("user_id = ?", 4).Delete(&orders)
		if tx.Error == nil {
			w.same("orders", len(orders), 2)
		}
		return tx.Error
	}},
	{name: "`Clauses(Returning{}).Delete` over nodes", run: func(w *way) error {
		if w.variant.noReturning {
			return nil
		}
		var orders []Order
		tx := w.db.Clauses(clause.Returning{}).Where("state = ?", "paid").Delete(&orders)
		if tx.Error == nil {
			w.same("orders", len(orders), 8)
			w.same("rows", len(w.stored("orders", "id", "")), 8)
		}
		return tx.Error
	}},
}
