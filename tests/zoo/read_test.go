//go:build unix

package zoo_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"
)

var reads = []feature{
	{name: "`First`, `Last`", run: func(w *way) error {
		var first, last User
		err := errors.Join(w.db.First(&first).Error, w.db.Last(&last).Error)
		w.same("users", names([]User{first, last}), "1 8")
		return err
	}},
	{name: "`Take`", run: func(w *way) error {
		var u User
		err := w.db.Where("age = ?", 25).Take(&u).Error
		w.same("the name", u.Name, "user 5")
		return err
	}},
	{name: "`First` by key", run: func(w *way) error {
		var a, b, c User
		c.ID = 4
		err := errors.Join(w.db.First(&a, 3).Error, w.db.First(&b, "id = ?", "7").Error, w.db.First(&c).Error)
		w.same("users", names([]User{a, b, c}), "3 7 4")
		return err
	}},
	{name: "`First` into a map", run: func(w *way) error {
		row := map[string]any{}
		err := w.db.Model(&User{}).Select("id", "name").First(&row).Error
		w.same("the name", fmt.Sprint(row["name"]), "user 1")
		w.same("columns", len(row), 2)
		w.plainly("types", fmt.Sprintf("%T %T", row["id"], row["name"]))
		return err
	}},
	{name: "`ErrRecordNotFound`", run: func(w *way) error {
		var u User
		for _, err := range []error{w.db.First(&u, 999).Error, w.db.Take(&u, "age > 100").Error, w.db.Last(&u, "name = ?", "nobody").Error} {
			if !errors.Is(err, gorm.ErrRecordNotFound) {
				return errors.Join(errors.New("no ErrRecordNotFound"), err)
			}
		}
		return nil
	}},
	{name: "`Find`", run: func(w *way) error {
		var users []User
		tx := w.db.Order("id").Find(&users)
		w.same("users", names(users), "1 2 3 4 5 6 7 8")
		w.same("RowsAffected", tx.RowsAffected, int64(8))
		for i := range users {
			w.same("created at", users[i].CreatedAt, epoch.Add(time.Duration(i+1)*time.Hour))
		}
		return tx.Error
	}},
	{name: "`Find` by keys", run: func(w *way) error {
		var users []User
		tx := w.db.Order("id").Find(&users, []int{1, 4, 6, 99})
		w.same("users", names(users), "1 4 6")
		return tx.Error
	}},
	{name: "`Find` into maps and other structs", run: func(w *way) error {
		var rows []map[string]any
		var small []struct {
			ID   uint
			Name string
		}
		err := errors.Join(w.db.Model(&User{}).Order("id DESC").Find(&rows).Error, w.db.Model(&User{}).Order("id DESC").Limit(3).Find(&small).Error)
		w.same("rows", len(rows), seeded)
		w.plainly("the first row", fmt.Sprintf("%#v", rows[0]["name"]))
		w.plainly("columns", len(rows[0]))
		w.same("the first ones", fmt.Sprint(small), "[{8 user 8} {7 user 7} {6 user 6}]")
		return err
	}},
	{name: "`Scan`", run: func(w *way) error {
		var one struct{ Total, Most int64 }
		var list []struct {
			State string
			Total int64
		}
		err := errors.Join(
			w.db.Model(&Order{}).Select("SUM(amount) AS total, MAX(amount) AS most").Scan(&one).Error,
			w.db.Model(&Order{}).Select("state, SUM(amount) AS total").Group("state").Order("state").Scan(&list).Error)
		w.same("sums", fmt.Sprint(one, list), "{10800 1600} [{open 3600} {paid 7200}]")
		return err
	}},
	{name: "`Pluck`", run: func(w *way) error {
		var ages []int64
		var kinds []string
		err := errors.Join(w.db.Model(&User{}).Order("age DESC").Pluck("age", &ages).Error,
			w.db.Model(&Order{}).Distinct().Order("state").Pluck("state", &kinds).Error)
		w.same("plucked", fmt.Sprint(ages, kinds), "[28 27 26 25 24 23 22 21] [open paid]")
		return err
	}},
	{name: "`Count`", run: func(w *way) error {
		var all, some, states, groups int64
		err := errors.Join(w.db.Model(&User{}).Count(&all).Error, w.db.Model(&User{}).Where("age > 24").Count(&some).Error,
			w.db.Model(&Order{}).Distinct("state").Count(&states).Error, w.db.Model(&Order{}).Group("user_id").Count(&groups).Error)
		w.same("counts", []int64{all, some, states, groups}, []int64{8, 4, 2, 8})
		return err
	}},
	{name: "`Row`", run: func(w *way) error {
		var n int64
		var name string
		err := errors.Join(w.db.Model(&User{}).Select("COUNT(*), MAX(name)").Row().Scan(&n, &name))
		w.same("the row", fmt.Sprint(n, name), "8user 8")
		return err
	}},
	{name: "`Rows`, `ScanRows`", run: func(w *way) error {
		rows, err := w.db.Model(&User{}).Where("age < ?", 25).Order("name DESC").Rows()
		if err != nil {
			return err
		}
		defer rows.Close()
		var users []User
		for rows.Next() {
			var u User
			if err := w.db.ScanRows(rows, &u); err != nil {
				return err
			}
			users = append(users, u)
		}
		w.same("users", names(users), "4 3 2 1")
		return rows.Err()
	}},
	{name: "`FindInBatches`", run: func(w *way) error {
		var users []User
		var batches []string
		tx := w.db.Where("id <> 4").FindInBatches(&users, 3, func(_ *gorm.DB, n int) error {
			batches = append(batches, fmt.Sprint(n, ":", names(users)))
			return nil
		})
		w.same("batches", strings.Join(batches, ", "), "1:1 2 3, 2:5 6 7, 3:8")
		w.same("RowsAffected", tx.RowsAffected, int64(7))
		return tx.Error
	}},
	{name: "`QueryFields`", run: func(w *way) error {
		var u User
		err := w.db.Session(&gorm.Session{QueryFields: true}).Where("name = ?", "user 6").First(&u).Error
		w.same("the user", u.ID, uint(6))
		return err
	}},
	{name: "smart select fields", run: func(w *way) error {
		type label struct {
			ID   uint
			Name string
		}
		var labels []label
		err := w.db.Model(&User{}).Order("age DESC").Limit(2).Find(&labels).Error
		w.same("labels", fmt.Sprint(labels), "[{8 user 8} {7 user 7}]")
		return err
	}},
	{name: "`Unscoped`", run: func(w *way) error {
		var n int64
		err := w.db.Unscoped().Model(&User{}).Where("deleted_at IS NULL").Count(&n).Error
		w.same("users", n, int64(8))
		return err
	}},
	{name: "`Scopes`", run: func(w *way) error {
		active := func(db *gorm.DB) *gorm.DB { return db.Where("active = ?", true) }
		page := func(n int) func(db *gorm.DB) *gorm.DB {
			return func(db *gorm.DB) *gorm.DB { return db.Offset((n - 1) * 2).Limit(2) }
		}
		var users []User
		err := w.db.Scopes(active, page(2)).Order("id").Find(&users).Error
		w.same("the second page", names(users), "6 8")
		return err
	}},
	{name: "a broadcast table", run: func(w *way) error {
		var companies []Company
		var n int64
		err := errors.Join(w.db.Order("id").Find(&companies).Error, w.db.Model(&Language{}).Count(&n).Error)
		w.same("companies", fmt.Sprint(companies, n), "[{1 one} {2 two} {3 three}] 2")
		return err
	}},
	{name: "a single table", run: func(w *way) error {
		var coupon Coupon
		err := w.db.Where(&Coupon{Code: "second"}).First(&coupon).Error
		w.same("percent", coupon.Percent, 20)
		return err
	}},
}
