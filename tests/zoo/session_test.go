//go:build unix

package zoo_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"
)

var sessions = []feature{
	{name: "`Session{DryRun}`", run: func(w *way) error {
		dry := w.db.Session(&gorm.Session{DryRun: true})
		read := dry.First(&User{}, 3).Statement
		write := dry.Create(&User{Name: "dry"}).Statement
		w.same("the read", strings.HasPrefix(read.SQL.String(), "SELECT * FROM `users` WHERE `users`.`id` = ?"), true)
		w.same("the write", strings.HasPrefix(write.SQL.String(), "INSERT INTO `users`"), true)
		w.same("users", len(w.stored("users", "id", "")), 8)
		return nil
	}},
	{name: "`Session{PrepareStmt}`", run: func(w *way) error {
		db := w.db.Session(&gorm.Session{PrepareStmt: true})
		for id := uint(1); id <= 4; id++ {
			var u User
			if err := errors.Join(db.First(&u, id).Error, db.Model(&u).Update("age", 50+id).Error); err != nil {
				return err
			}
		}
		err := db.Transaction(func(tx *gorm.DB) error {
			return errors.Join(tx.First(&User{}, 2).Error, tx.Model(user(5)).Update("age", 55).Error, tx.Create(&User{Name: "prepared", Age: 99}).Error)
		})
		w.same("ages", sorted(w.stored("users", "age", "")), "26 27 28 51 52 53 54 55 99")
		if prepared, ok := db.ConnPool.(*gorm.PreparedStmtDB); ok && w.variant.gorm.PrepareStmt == false {
			prepared.Close()
		}
		return err
	}},
	{name: "`Session{NewDB}`", run: func(w *way) error {
		var n int64
		err := w.db.Where("age > 100").Session(&gorm.Session{NewDB: true}).Model(&User{}).Count(&n).Error
		w.same("users", n, int64(8))
		return err
	}},
	{name: "`Session{Initialized}`, reuse of a `*gorm.DB`", run: func(w *way) error {
		base := w.db.Model(&User{}).Where("age > 22").Session(&gorm.Session{Initialized: true}).Session(&gorm.Session{})
		var a, b, c int64
		err := errors.Join(base.Where("active = ?", true).Count(&a).Error, base.Where("age < 25").Count(&b).Error, base.Count(&c).Error)
		w.same("counts", []int64{a, b, c}, []int64{3, 2, 6})
		return err
	}},
	{name: "`Session{SkipHooks}`", run: func(w *way) error {
		u := User{Name: "no hooks"}
		err := w.db.Session(&gorm.Session{SkipHooks: true}).Create(&u).Error
		if err == nil {
			w.created([]User{u}, 1)
		}
		return err
	}},
	{name: "`Session{FullSaveAssociations}`", run: func(w *way) error {
		u := User{Name: "full", Account: Account{Number: "a"}, Pets: []*Pet{{Name: "a"}, {Name: "b"}}}
		err := w.db.Session(&gorm.Session{FullSaveAssociations: true}).Create(&u).Error
		if err == nil {
			w.same("rows", len(w.stored("accounts", "id", "number = 'a'"))+len(w.stored("pets", "id", "name IN ('a', 'b')")), 3)
		}
		return err
	}},
	{name: "`WithContext`, cancelled", run: func(w *way) error {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		err := w.db.WithContext(ctx).Find(&[]User{}).Error
		write := w.db.WithContext(ctx).Create(&User{Name: "late"}).Error
		w.same("errors", []bool{errors.Is(err, context.Canceled), errors.Is(write, context.Canceled)}, []bool{true, true})
		w.same("users", len(w.stored("users", "id", "")), 8)
		return nil
	}},
	{name: "`Debug`, a scoped logger", run: func(w *way) error {
		var n int64
		err := w.db.Session(&gorm.Session{Logger: w.db.Logger}).Model(&User{}).Count(&n).Error
		w.same("users", n, int64(8))
		return err
	}},
}

var fields = []feature{
	{name: "embedded structs", run: func(w *way) error {
		var p Profile
		err := w.db.Where(&Profile{Names: Names{First: "first 3"}}).First(&p).Error
		w.same("the names", p.Names, Names{First: "first 3", Last: "last"})
		return err
	}},
	{name: "serializers: json, gob, unixtime", run: func(w *way) error {
		p := Profile{UserID: 30, Tags: []string{"a", "b"}, Settings: map[string]string{"k": "v"}, SeenAt: 1700000000}
		if err := w.db.Create(&p).Error; err != nil {
			return err
		}
		var found Profile
		err := w.db.First(&found, "user_id = ?", 30).Error
		w.same("the tags", found.Tags, p.Tags)
		w.same("the settings", found.Settings, p.Settings)
		w.same("the time", found.SeenAt, p.SeenAt)
		if err == nil {
			err = w.db.Model(&found).Where("user_id = ?", 30).Updates(Profile{Tags: []string{"c"}}).Error
			w.same("the tags", w.stored("profiles", "tags", "user_id = 30"), []string{`["c"]`})
		}
		return err
	}},
	{name: "a `Valuer` and `Scanner`", run: func(w *way) error {
		var found []Profile
		err := errors.Join(w.db.Model(&Profile{}).Where("user_id = ?", 4).Update("colour", Colour{1, 2, 3}).Error,
			w.db.Where("colour IN ?", []Colour{{1, 2, 3}, {Red: 7}}).Order("id").Find(&found).Error)
		if err == nil {
			w.same("profiles", len(found), 2)
			w.same("the colour", found[0].Colour, Colour{1, 2, 3})
		}
		return err
	}},
	{name: "default values, constants", run: func(w *way) error {
		profiles := []Profile{{UserID: 31}, {UserID: 32, Level: 9, Motto: "own"}, {UserID: 33}}
		if err := w.db.Create(&profiles).Error; err != nil {
			return err
		}
		w.same("levels", []int{profiles[0].Level, profiles[1].Level, profiles[2].Level}, []int{3, 9, 3})
		w.same("rows", sorted(w.stored("profiles", "CONCAT(level, motto)", "user_id > 30")), "3carpe diem 3carpe diem 9own")
		return nil
	}},
	{name: "default values, functions of the database", onlyMySQL: true, run: func(w *way) error {
		profiles := []Profile{{UserID: 31}, {UserID: 32, Code: "own"}, {UserID: 33}}
		if err := w.db.Create(&profiles).Error; err != nil {
			return err
		}
		if !w.variant.noReturning {
			w.same("codes", []string{profiles[0].Code, profiles[1].Code, profiles[2].Code}, []string{"abc", "own", "abc"})
		}
		w.same("rows", sorted(w.stored("profiles", "code", "user_id > 30")), "abc abc own")
		return nil
	}},
	{name: "generated columns", run: func(w *way) error {
		p := Profile{UserID: 31, Level: 6}
		var found []Profile
		err := errors.Join(w.db.Create(&p).Error, w.db.Where("doubled >= ?", 12).Order("doubled, id").Find(&found).Error)
		if err == nil {
			var doubled []int
			for _, f := range found {
				doubled = append(doubled, f.Doubled)
			}
			w.same("columns", doubled, []int{12, 12, 14, 16})
		}
		return err
	}},
	{name: "fields that are written or read in part, times as numbers", run: func(w *way) error {
		p := Profile{UserID: 31, Fixed: "once", Unread: "secret"}
		if err := w.db.Create(&p).Error; err != nil {
			return err
		}
		touched := p.Touched
		w.same("times", p.Made/1000 > epoch.Unix() && touched/1e9 > epoch.Unix(), true)
		var found Profile
		err := errors.Join(
			w.db.Model(&p).Where("user_id = ?", 31).Updates(Profile{Fixed: "twice", Unread: "other", Level: 8}).Error,
			w.db.First(&found, "user_id = ?", 31).Error,
		)
		w.same("the row", w.stored("profiles", "CONCAT(fixed, unread, level)", "user_id = 31"), []string{"onceother8"})
		w.same("what is read", fmt.Sprint(found.Fixed, found.Unread, found.Made == p.Made, found.Touched >= touched), "oncetrue true")
		found.Fixed, found.Level = "third", 9
		err = errors.Join(err, w.db.Save(&found).Error)
		w.same("what is saved", w.stored("profiles", "CONCAT(fixed, level)", "user_id = 31"), []string{"once9"})
		return err
	}},
	{name: "times and their zone", run: func(w *way) error {
		var u User
		err := w.db.Where("birthday = ?", "1990-01-05").First(&u).Error
		if err == nil {
			w.same("the user", u.ID, uint(5))
			w.same("the birthday", u.Birthday.UTC().Format("2006-01-02 15:04"), "1990-01-05 00:00")
		}
		return err
	}, onlyMySQL: true},
	{name: "a pointer that is nil", run: func(w *way) error {
		var users []User
		err := errors.Join(w.db.Model(user(2)).Where("id = ?", 2).Update("company_id", nil).Error, w.db.Where("company_id IS NULL").Order("id").Find(&users).Error)
		w.same("users", names(users), "2 7 8")
		return err
	}},
}
