//go:build unix

package zoo_test

import (
	"errors"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// newUsers are n users without keys.
func newUsers(n int) []User {
	users := make([]User, n)
	for i := range users {
		users[i] = User{Name: fmt.Sprint("new ", i), Age: uint(i)}
	}
	return users
}

// created holds users that were created against the rows that are there: each key
// belongs to the model that has it.
func (w *way) created(users []User, affected int64) {
	w.t.Helper()
	w.same("RowsAffected", affected, int64(len(users)))
	seen := map[uint]bool{}
	for _, u := range users {
		if u.ID == 0 || seen[u.ID] {
			w.t.Errorf("%s has key %d", u.Name, u.ID)
		}
		seen[u.ID] = true
		w.same("the name of the row with the key", w.stored("users", "name", fmt.Sprint("id = ", u.ID)), []string{u.Name})
	}
}

var creates = []feature{
	{name: "`Create(&model)`", run: func(w *way) error {
		u := newUsers(1)[0]
		tx := w.db.Create(&u)
		if tx.Error != nil {
			return tx.Error
		}
		w.created([]User{u}, tx.RowsAffected)
		if u.CreatedAt.IsZero() || u.UpdatedAt.IsZero() {
			w.t.Error("no times were set")
		}
		var found User
		err := w.db.First(&found, u.ID).Error
		w.same("the time of creation", found.CreatedAt.UnixMilli(), u.CreatedAt.UnixMilli())
		return err
	}},
	{name: "`Create(&model)` with a key", run: func(w *way) error {
		u := newUsers(1)[0]
		u.ID = 77
		tx := w.db.Create(&u)
		if tx.Error == nil {
			w.created([]User{u}, tx.RowsAffected)
			w.same("the key", u.ID, uint(77))
		}
		return tx.Error
	}},
	{name: "`Create(&slice)`", run: func(w *way) error {
		users := newUsers(9)
		tx := w.db.Create(&users)
		if tx.Error == nil {
			w.created(users, tx.RowsAffected)
		}
		return tx.Error
	}},
	{name: "`Create(slice of pointers)`", run: func(w *way) error {
		users := newUsers(9)
		var pointers []*User
		for i := range users {
			pointers = append(pointers, &users[i])
		}
		tx := w.db.Create(pointers)
		if tx.Error == nil {
			w.created(users, tx.RowsAffected)
		}
		return tx.Error
	}},
	{name: "`Create(&slice)`, some with keys", run: func(w *way) error {
		users := newUsers(7)
		users[2].ID, users[5].ID = 100078, 100077
		tx := w.db.Create(&users)
		if tx.Error != nil {
			return tx.Error
		}
		w.same("the keys given", []uint{users[2].ID, users[5].ID}, []uint{100078, 100077})
		if w.variant.noReturning && !w.sharded() {
			return nil // GORM guesses the keys of the others
		}
		w.created(users, tx.RowsAffected)
		return nil
	}},
	{name: "`Create(map)`", run: func(w *way) error {
		tx := w.db.Model(&User{}).Create(map[string]any{"Name": "mapped", "Age": 18})
		if tx.Error == nil {
			w.same("RowsAffected", tx.RowsAffected, int64(1))
			w.same("ages", w.stored("users", "age", "name = 'mapped'"), []string{"18"})
		}
		return tx.Error
	}},
	{name: "`Create(&slice of maps)`", run: func(w *way) error {
		tx := w.db.Model(&User{}).Create(&[]map[string]any{{"Name": "mapped", "Age": 18}, {"Name": "mapped", "Age": 19}, {"Name": "mapped", "Age": 20}})
		if tx.Error == nil {
			w.same("RowsAffected", tx.RowsAffected, int64(3))
			w.same("ages", sorted(w.stored("users", "age", "name = 'mapped'")), "18 19 20")
		}
		return tx.Error
	}},
	{name: "`Table(name).Create(map)`", run: func(w *way) error {
		tx := w.db.Table("pets").Create(map[string]any{"name": "mapped", "user_id": 3})
		if tx.Error == nil {
			w.same("owners", w.stored("pets", "user_id", "name = 'mapped'"), []string{"3"})
		}
		return tx.Error
	}},
	{name: "`Create(map)` with an expression", run: func(w *way) error {
		tx := w.db.Model(&User{}).Create(map[string]any{"Name": clause.Expr{SQL: "UPPER(?)", Vars: []any{"abc"}}, "Age": gorm.Expr("? + 1", 2)})
		if tx.Error == nil {
			w.same("ages", w.stored("users", "age", "name = 'ABC'"), []string{"3"})
		}
		return tx.Error
	}},
	{name: "`CreateInBatches`", run: func(w *way) error {
		users := newUsers(10)
		tx := w.db.CreateInBatches(&users, 4)
		if tx.Error == nil {
			w.created(users, tx.RowsAffected)
		}
		return tx.Error
	}},
	{name: "`Session{CreateBatchSize}`", run: func(w *way) error {
		users := newUsers(10)
		tx := w.db.Session(&gorm.Session{CreateBatchSize: 3}).Create(&users)
		if tx.Error == nil {
			w.created(users, tx.RowsAffected)
		}
		return tx.Error
	}},
	{name: "`Select(columns).Create`", run: func(w *way) error {
		u := User{Name: "selected", Age: 50, Active: true}
		err := w.db.Select("Name", "Active").Create(&u).Error
		if err == nil {
			w.same("the age that was left out", w.stored("users", "COALESCE(age, 'none')", "name = 'selected'"), []string{"none"})
		}
		return err
	}},
	{name: "`Omit(columns).Create`", run: func(w *way) error {
		u := User{Name: "omitted", Age: 50, Active: true}
		err := w.db.Omit("Age").Create(&u).Error
		if err == nil {
			w.same("the age that was left out", w.stored("users", "COALESCE(age, 'none')", "name = 'omitted'"), []string{"none"})
		}
		return err
	}},
	{name: "a duplicate key, `TranslateError`", run: func(w *way) error {
		users := newUsers(5)
		users[3].ID = 5
		before := len(w.stored("users", "id", ""))
		err := w.db.Create(&users).Error
		if err == nil || isRefusal(err) {
			w.t.Error("a duplicate key gave", err)
		}
		if w.variant.gorm.TranslateError != errors.Is(err, gorm.ErrDuplicatedKey) {
			w.t.Errorf("TranslateError is %v, and the error %v", w.variant.gorm.TranslateError, err)
		}
		w.same("users", len(w.stored("users", "id", "")), before)
		return nil
	}},
	{name: "a single table's `Create`", run: func(w *way) error {
		coupons := []Coupon{{Code: "a"}, {Code: "b"}}
		err := w.db.Create(&coupons).Error
		if err == nil && (coupons[0].ID == 0 || coupons[1].ID != coupons[0].ID+1) {
			w.t.Errorf("coupons have the keys %d and %d", coupons[0].ID, coupons[1].ID)
		}
		return err
	}},
	{name: "an owner that is missing", run: func(w *way) error {
		// The zero value is a value like any other: the row goes to its node.
		err := w.db.Create(&Pet{Name: "stray"}).Error
		if err == nil {
			w.same("owners", w.stored("pets", "user_id", "name = 'stray'"), []string{"0"})
		}
		return err
	}},
	{name: "`Clauses(Returning{}).Create`", run: func(w *way) error {
		if w.variant.noReturning {
			return nil
		}
		orders := []Order{{UserID: 3}, {UserID: 4}, {UserID: 1}}
		err := w.db.Clauses(clause.Returning{}).Create(&orders).Error
		if err == nil {
			for i, o := range orders {
				w.same("the owner", o.UserID, []uint{3, 4, 1}[i])
				w.same("the state", o.State, "open")
			}
		}
		return err
	}},
}

// conflicting are accounts of which 1, 3 and 6 exist.
func conflicting() []Account {
	var accounts []Account
	for _, id := range []uint{21, 1, 22, 3, 23, 6, 24} {
		a := Account{UserID: id, Number: fmt.Sprint("again ", id)}
		a.ID = id
		accounts = append(accounts, a)
	}
	return accounts
}

// upserted holds the accounts' numbers and what the server said of the rows.
func (w *way) upserted(tx *gorm.DB, numbers string) error {
	w.t.Helper()
	if tx.Error != nil {
		return tx.Error
	}
	w.plainly("RowsAffected", tx.RowsAffected)
	w.same("numbers", sorted(w.stored("accounts", "CONCAT(id, '=', REPLACE(number, ' ', ''))", "id IN (1, 2, 3, 6, 21, 22, 23, 24)")), numbers)
	return nil
}

var upserts = []feature{
	{name: "`OnConflict{DoNothing}`", run: func(w *way) error {
		accounts := conflicting()
		return w.upserted(w.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&accounts),
			"1=number1 21=again21 22=again22 23=again23 24=again24 2=number2 3=number3 6=number6")
	}},
	{name: "`OnConflict{UpdateAll}`", run: func(w *way) error {
		accounts := conflicting()
		return w.upserted(w.db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&accounts),
			"1=again1 21=again21 22=again22 23=again23 24=again24 2=number2 3=again3 6=again6")
	}},
	{name: "`OnConflict{DoUpdates: AssignmentColumns}`", run: func(w *way) error {
		accounts := conflicting()
		return w.upserted(w.db.Clauses(clause.OnConflict{
			Columns: []clause.Column{{Name: "id"}}, DoUpdates: clause.AssignmentColumns([]string{"number"}),
		}).Create(&accounts), "1=again1 21=again21 22=again22 23=again23 24=again24 2=number2 3=again3 6=again6")
	}},
	{name: "`OnConflict{DoUpdates: Assignments}`", run: func(w *way) error {
		accounts := conflicting()
		return w.upserted(w.db.Clauses(clause.OnConflict{
			Columns: []clause.Column{{Name: "id"}}, DoUpdates: clause.Assignments(map[string]any{"number": "taken"}),
		}).Create(&accounts), "1=taken 21=again21 22=again22 23=again23 24=again24 2=number2 3=taken 6=taken")
	}},
	{name: "`OnConflict` with an expression", run: func(w *way) error {
		accounts := conflicting()
		return w.upserted(w.db.Clauses(clause.OnConflict{
			Columns: []clause.Column{{Name: "id"}}, DoUpdates: clause.Assignments(map[string]any{"number": gorm.Expr("REPLACE(accounts.number, 'number', 'old')")}),
		}).Create(&accounts), "1=old1 21=again21 22=again22 23=again23 24=again24 2=number2 3=old3 6=old6")
	}},
	{name: "`OnConflict` on a unique column", run: func(w *way) error {
		profiles := []Profile{{UserID: 3, Motto: "again"}, {UserID: 30, Motto: "again"}, {UserID: 4, Motto: "again"}}
		tx := w.db.Clauses(clause.OnConflict{
			Columns: []clause.Column{{Name: "user_id"}}, DoUpdates: clause.AssignmentColumns([]string{"motto"}),
		}).Create(&profiles)
		if tx.Error == nil {
			w.plainly("RowsAffected", tx.RowsAffected)
			w.same("owners", sorted(w.stored("profiles", "user_id", "motto = 'again'")), "3 30 4")
			w.same("profiles", len(w.stored("profiles", "id", "")), seeded+1)
		}
		return tx.Error
	}},
	{name: "`OnConflict` of one row that is unchanged", run: func(w *way) error {
		coupon := Coupon{ID: 1, Code: "first", Percent: 10}
		toy := Toy{Name: "toy 2", OwnerID: 2, OwnerType: "users"}
		toy.ID = 2
		one := w.db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&coupon)
		two := w.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&toy)
		w.plainly("RowsAffected", []int64{one.RowsAffected, two.RowsAffected})
		return errors.Join(one.Error, two.Error)
	}},
	{name: "`OnConflict` of a join table", run: func(w *way) error {
		rows := []speaks{{UserID: 1, LanguageCode: "en"}, {UserID: 3, LanguageCode: "de"}}
		tx := w.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&rows)
		if tx.Error == nil {
			w.plainly("RowsAffected", tx.RowsAffected)
			w.same("who speaks German", sorted(w.stored("user_speaks", "user_id", "language_code = 'de'")), "2 3 4 6 8")
		}
		return tx.Error
	}},
}

// speaks is a row of the join table of users and languages.
type speaks struct {
	UserID       uint   `gorm:"primaryKey"`
	LanguageCode string `gorm:"primaryKey"`
}

// TableName is that of the join table.
func (speaks) TableName() string { return "user_speaks" }
