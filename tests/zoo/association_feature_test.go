//go:build unix

package zoo_test

import (
	"errors"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// order reads an order as it is.
func (w *way) order(id uint) Order {
	w.t.Helper()
	var o Order
	w.must(w.db.First(&o, id).Error)
	return o
}

var saves = []feature{
	{name: "`Save` of a new row", run: func(w *way) error {
		u := newUsers(1)[0]
		o := Order{UserID: 3, Amount: 7}
		tx := w.db.Save(&u)
		if err := errors.Join(tx.Error, w.db.Save(&o).Error); err != nil {
			return err
		}
		w.created([]User{u}, tx.RowsAffected)
		w.same("owners", w.stored("orders", "user_id", "amount = 7"), []string{"3"})
		return nil
	}},
	{name: "`Save` of a row whose key is the sharding column", run: func(w *way) error {
		var u User
		w.must(w.db.First(&u, 5).Error)
		u.Age = 90
		tx := w.db.Save(&u)
		w.same("RowsAffected", tx.RowsAffected, int64(1))
		w.same("ages", sorted(w.stored("users", "age", "")), "21 22 23 24 26 27 28 90")
		return tx.Error
	}},
	{name: "`Save` of a row", run: func(w *way) error {
		o := w.order(41)
		o.State = "saved"
		err := w.db.Save(&o).Error
		if err == nil {
			w.same("orders", w.stored("orders", "id", "state = 'saved'"), []string{"41"})
		}
		return err
	}},
	{name: "`Where(owner).Save` of a row", run: func(w *way) error {
		o := w.order(41)
		o.State = "saved"
		err := w.db.Where("user_id = ?", o.UserID).Save(&o).Error
		if err == nil {
			w.same("orders", w.stored("orders", "id", "state = 'saved'"), []string{"41"})
		}
		return err
	}},
	{name: "`Save` that moves a row", run: func(w *way) error {
		o := w.order(41)
		o.UserID = 5
		err := w.db.Save(&o).Error
		owner := map[bool]string{true: "4", false: "5"}[err != nil]
		w.same("owners of the one row", w.stored("orders", "user_id", "id = 41"), []string{owner})
		return err
	}},
	{name: "`Save(&slice)` whose keys are the sharding column", run: func(w *way) error {
		var users []User
		w.must(w.db.Where("id > ?", 5).Order("id").Find(&users).Error)
		for i := range users {
			users[i].Age = 90
		}
		users = append(users, newUsers(1)[0])
		err := w.db.Save(&users).Error
		if err == nil {
			w.same("ages", sorted(w.stored("users", "age", "")), "0 21 22 23 24 25 90 90 90")
		}
		return err
	}},
}

// hasManyOf is a model of user id with its orders unread.
func hasManyOf(w *way, id uint, name string) *gorm.Association {
	return w.db.Model(user(id)).Association(name)
}

var associations = []feature{
	{name: "`Create` with all associations", run: func(w *way) error {
		u := family("z")
		if err := w.db.Create(u).Error; err != nil {
			return err
		}
		w.same("rows", []int{
			len(w.stored("accounts", "id", "number = 'z.account'")), len(w.stored("pets", "id", "name LIKE 'z.%'")),
			len(w.stored("toys", "id", "name LIKE 'z.%'")), len(w.stored("users", "id", "name LIKE 'z.%'")),
			len(w.stored("languages", "code", "code = 'z'")), len(w.stored("user_speaks", "user_id", fmt.Sprint("user_id = ", u.ID))),
			len(w.stored("user_friends", "user_id", fmt.Sprint("user_id = ", u.ID))), len(w.stored("orders", "id", fmt.Sprint("user_id = ", u.ID))),
		}, []int{1, 2, 3, 5, 1, 2, 2, 2})
		return nil
	}},
	{name: "`Association().Find`, `Count`", run: func(w *way) error {
		var orders []Order
		var pets []Pet
		var languages []Language
		var friends []User
		var company Company
		u := user(4)
		u.CompanyID = ptr(2)
		err := errors.Join(
			w.db.Model(u).Order("id").Association("Orders").Find(&orders), w.db.Model(u).Where("name LIKE ?", "%2").Association("Pets").Find(&pets),
			w.db.Model(u).Order("code").Association("Languages").Find(&languages), w.db.Model(u).Association("Friends").Find(&friends),
			w.db.Model(u).Association("Company").Find(&company))
		if err != nil {
			return err
		}
		w.same("found", fmt.Sprint(len(orders), len(pets), len(languages), names(friends), company.Name), "2 1 25two")
		w.same("counts", []int64{hasManyOf(w, 4, "Orders").Count(), hasManyOf(w, 4, "Languages").Count(), hasManyOf(w, 4, "Toys").Count()}, []int64{2, 2, 1})
		return err
	}},
	{name: "`Association().Append`", run: func(w *way) error {
		err := errors.Join(hasManyOf(w, 4, "Pets").Append(&Pet{Name: "appended"}), hasManyOf(w, 3, "Languages").Append(&Language{Code: "de", Name: "German"}),
			hasManyOf(w, 4, "Company").Append(&Company{Name: "appended"}), hasManyOf(w, 4, "Toys").Append(&Toy{Name: "appended"}))
		w.same("owners", []string{
			sorted(w.stored("pets", "user_id", "name = 'appended'")), sorted(w.stored("user_speaks", "user_id", "language_code = 'de'")),
			sorted(w.stored("toys", "owner_id", "name = 'appended'")),
		}, []string{"4", "2 3 4 6 8", "4"})
		return err
	}},
	{name: "many to many: `Association().Replace`, `Delete`, `Clear`", run: func(w *way) error {
		err := errors.Join(hasManyOf(w, 4, "Languages").Replace(&Language{Code: "fr", Name: "French"}),
			hasManyOf(w, 6, "Languages").Delete(&Language{Code: "de"}), hasManyOf(w, 8, "Languages").Clear(), hasManyOf(w, 1, "Friends").Delete(user(2)))
		w.same("speakers", sorted(w.stored("user_speaks", "CONCAT(user_id, language_code)", "user_id IN (4, 6, 8)")), "4fr 6en")
		w.same("friends", len(w.stored("user_friends", "user_id", "")), 7)
		return err
	}},
	{name: "belongs to: `Association().Replace`, `Delete`, `Clear`", run: func(w *way) error {
		u := user(4)
		u.CompanyID = ptr(2)
		err := errors.Join(hasManyOf(w, 3, "Company").Replace(&Company{ID: 3, Name: "three"}), w.db.Model(u).Association("Company").Delete(&Company{ID: 2}),
			hasManyOf(w, 5, "Company").Clear())
		w.same("companies", sorted(w.stored("users", "COALESCE(company_id, 'none')", "id IN (3, 4, 5)")), "3 none none")
		return err
	}},
	{name: "has many: `Association().Delete`, `Clear`", run: func(w *way) error {
		err := hasManyOf(w, 4, "Pets").Clear()
		want := map[bool]string{true: "41 42", false: ""}[err != nil]
		w.same("pets of the user", sorted(w.stored("pets", "id", "user_id = 4")), want)
		return err
	}},
	{name: "has many: `Association().Unscoped().Delete`, `Clear`", run: func(w *way) error {
		err := errors.Join(hasManyOf(w, 4, "Pets").Unscoped().Delete(&Pet{Model: gorm.Model{ID: 41}}), hasManyOf(w, 5, "Orders").Unscoped().Clear())
		w.same("pets of the user", sorted(w.stored("pets", "id", "user_id = 4 AND deleted_at IS NULL")), "42")
		w.same("orders", len(w.stored("orders", "id", "")), 14)
		return err
	}},
	{name: "`Select(association).Delete`", run: func(w *way) error {
		err := w.db.Select("Pets", "Orders", "Languages").Delete(user(4)).Error
		w.same("what is left", []int{
			len(w.stored("pets", "id", "user_id = 4 AND deleted_at IS NULL")), len(w.stored("orders", "id", "user_id = 4")),
			len(w.stored("user_speaks", "user_id", "user_id = 4")),
		}, []int{0, 0, 0})
		return err
	}},
}

// preloads returns a feature that preloads into users 3 to 6.
func preloads(name, want string, preload func(db *gorm.DB) *gorm.DB, tell func(u *User) string) feature {
	return feature{name: name, run: func(w *way) error {
		var users []User
		err := preload(w.db).Where("users.id BETWEEN ? AND ?", 3, 6).Order("users.id").Find(&users).Error
		told := ""
		for i := range users {
			told += tell(&users[i]) + "; "
		}
		if err == nil {
			w.same("preloaded", told, want)
		}
		return err
	}}
}

var preloading = []feature{
	preloads("`Preload(has one)`", "number 3; number 4; number 5; number 6; ", func(db *gorm.DB) *gorm.DB { return db.Preload("Account") },
		func(u *User) string { return u.Account.Number }),
	preloads("`Preload(has many, conditions)`", "32; 42; 52; 62; ", func(db *gorm.DB) *gorm.DB { return db.Preload("Orders", "state = ?", "paid") },
		func(u *User) string { return fmt.Sprint(u.Orders[0].ID) }),
	preloads("`Preload(belongs to)`, `Preload(self)`", "one user 1; two user 1; three user 1; one user 1; ",
		func(db *gorm.DB) *gorm.DB { return db.Preload("Company").Preload("Manager") }, func(u *User) string { return u.Company.Name + " " + u.Manager.Name }),
	preloads("`Preload(many to many)`", "1 user 4; 2 user 5; 1 user 6; 2 user 7; ", func(db *gorm.DB) *gorm.DB { return db.Preload("Languages").Preload("Friends") },
		func(u *User) string { return fmt.Sprint(len(u.Languages), " ", u.Friends[0].Name) }),
	preloads("`Preload(polymorphic)`", "toy 3; toy 4; toy 5; toy 6; ", func(db *gorm.DB) *gorm.DB { return db.Preload("Toys") },
		func(u *User) string { return u.Toys[0].Name }),
	preloads("nested `Preload`", "2 2; 2 2; 2 2; 2 2; ", func(db *gorm.DB) *gorm.DB {
		return db.Preload("Orders.Items", func(db *gorm.DB) *gorm.DB { return db.Order("items.id DESC") })
	}, func(u *User) string { return fmt.Sprint(len(u.Orders), len(u.Orders[1].Items)) }),
	preloads("`Joins` with nested `Preload`", "user 1 2; user 1 2; user 1 2; user 1 2; ", func(db *gorm.DB) *gorm.DB { return db.Joins("Manager").Preload("Manager.Pets") },
		func(u *User) string { return fmt.Sprint(u.Manager.Name, " ", len(u.Manager.Pets)) }),
	preloads("`Preload(clause.Associations)`", "number 3 2; number 4 2; number 5 2; number 6 2; ", func(db *gorm.DB) *gorm.DB { return db.Preload(clause.Associations) },
		func(u *User) string { return fmt.Sprint(u.Account.Number, " ", len(u.Pets)) }),
}
