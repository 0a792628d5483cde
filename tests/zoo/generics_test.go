//go:build unix

package zoo_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// generically returns a feature of the generics API, which takes the context with
// every call.
func generically(name string, run func(w *way, ctx context.Context) error) feature {
	return feature{name: name, run: func(w *way) error { return run(w, w.t.Context()) }}
}

var generic = []feature{
	generically("`G[T].Create`", func(w *way, ctx context.Context) error {
		u := User{Name: "generic"}
		err := gorm.G[User](w.db).Create(ctx, &u)
		if err == nil {
			w.created([]User{u}, 1)
		}
		return err
	}),
	generically("`G[T].CreateInBatches`", func(w *way, ctx context.Context) error {
		users := newUsers(7)
		err := gorm.G[User](w.db).CreateInBatches(ctx, &users, 3)
		if err == nil {
			w.created(users, 7)
		}
		return err
	}),
	generically("`G[T]` with `WithResult`", func(w *way, ctx context.Context) error {
		result := gorm.WithResult()
		u := User{Name: "with result"}
		if err := gorm.G[User](w.db, result).Create(ctx, &u); err != nil {
			return err
		}
		w.same("RowsAffected", result.RowsAffected, int64(1))
		coupon := Coupon{Code: "with result"}
		err := gorm.G[Coupon](w.db, result).Create(ctx, &coupon)
		if err == nil && result.Result != nil {
			id, _ := result.Result.LastInsertId()
			w.same("LastInsertId", uint(id), coupon.ID)
		}
		w.plainly("there is a result", result.Result != nil)
		return err
	}),
	generically("`G[T].First`, `Take`, `Last`, `Find`", func(w *way, ctx context.Context) error {
		first, err1 := gorm.G[User](w.db).Order("age").First(ctx)
		last, err2 := gorm.G[User](w.db).Last(ctx)
		one, err3 := gorm.G[User](w.db).Where("age = ?", 24).Take(ctx)
		all, err4 := gorm.G[User](w.db).Where("age > ?", 22).Not("active = ?", true).Order("id DESC").Limit(2).Offset(1).Find(ctx)
		w.same("users", names([]User{first, last, one})+", "+names(all), "1 8 4, 5 3")
		_, none := gorm.G[User](w.db).Where("id = ?", 99).First(ctx)
		w.same("ErrRecordNotFound", errors.Is(none, gorm.ErrRecordNotFound), true)
		return errors.Join(err1, err2, err3, err4)
	}),
	generically("`G[T].Select`, `Omit`, `Distinct`, `Group`, `Having`", func(w *way, ctx context.Context) error {
		selected, err1 := gorm.G[User](w.db).Select("id, name").Where("id = ?", 3).First(ctx)
		omitted, err2 := gorm.G[User](w.db).Omit("name").Where("id = ?", 3).First(ctx)
		states, err3 := gorm.G[Order](w.db).Distinct("state").Order("state").Find(ctx)
		var sums []struct{ UserID, Total int64 }
		err4 := gorm.G[Order](w.db).Select("user_id, SUM(amount) AS total").Group("user_id").Having("SUM(amount) > ?", 2000).Order("user_id").Scan(ctx, &sums)
		w.same("answers", fmt.Sprint(selected.Name, selected.Age, omitted.Name, omitted.Age, len(states), sums), "user 3023 2 [{7 2100} {8 2400}]")
		return errors.Join(err1, err2, err3, err4)
	}),
	generically("`G[T].Count`", func(w *way, ctx context.Context) error {
		all, err1 := gorm.G[User](w.db).Count(ctx, "*")
		some, err2 := gorm.G[User](w.db).Where("active = ?", true).Count(ctx, "id")
		w.same("counts", []int64{all, some}, []int64{8, 4})
		return errors.Join(err1, err2)
	}),
	generically("`G[T].Update`, `Updates`", func(w *way, ctx context.Context) error {
		one, err1 := gorm.G[User](w.db).Where("id = ?", 3).Update(ctx, "age", 90)
		many, err2 := gorm.G[User](w.db).Where("age < ?", 23).Updates(ctx, User{Age: 1, Name: "young"})
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		w.same("rows affected", []int{one, many}, []int{1, 2})
		w.same("ages", sorted(w.stored("users", "age", "")), "1 1 24 25 26 27 28 90")
		return nil
	}),
	generically("`G[T].Set().Update`", func(w *way, ctx context.Context) error {
		n, err := gorm.G[User](w.db).Where("age > ?", 26).Set(clause.Assignment{Column: clause.Column{Name: "age"}, Value: 1}).Update(ctx)
		if err == nil {
			w.same("rows affected", n, 2)
			w.same("ages", sorted(w.stored("users", "age", "")), "1 1 21 22 23 24 25 26")
		}
		return err
	}),
	generically("`G[T].Set().Create`", func(w *way, ctx context.Context) error {
		err := gorm.G[User](w.db).Set(clause.Assignment{Column: clause.Column{Name: "name"}, Value: "set"}, clause.Assignment{Column: clause.Column{Name: "age"}, Value: 31}).Create(ctx)
		if err == nil {
			w.same("ages", w.stored("users", "age", "name = 'set'"), []string{"31"})
		}
		return err
	}),
	generically("`G[T].Delete`", func(w *way, ctx context.Context) error {
		soft, err1 := gorm.G[User](w.db).Where("id IN ?", []int{1, 2}).Delete(ctx)
		hard, err2 := gorm.G[Order](w.db).Where("user_id = ?", 3).Delete(ctx)
		w.same("rows affected", []int{soft, hard}, []int{2, 2})
		w.kept("users", "3 4 5 6 7 8")
		return errors.Join(err1, err2)
	}),
	generically("`G[T].Raw`, `Exec`", func(w *way, ctx context.Context) error {
		users, err1 := gorm.G[User](w.db).Raw("SELECT * FROM users WHERE age > ? ORDER BY id", 26).Find(ctx)
		err2 := gorm.G[User](w.db).Exec(ctx, "UPDATE users SET age = ? WHERE age > ?", 1, 26)
		w.same("users", names(users), "7 8")
		w.same("ages", sorted(w.stored("users", "age", "")), "1 1 21 22 23 24 25 26")
		return errors.Join(err1, err2)
	}),
	generically("`G[T].Row`, `Rows`", func(w *way, ctx context.Context) error {
		var most int64
		if err := gorm.G[User](w.db).Select("MAX(age)").Row(ctx).Scan(&most); err != nil {
			return err
		}
		rows, err := gorm.G[User](w.db).Select("id").Where("age > 25").Order("id").Rows(ctx)
		if err != nil {
			return err
		}
		ids, err := idsOf(rows)
		if err != nil {
			return err
		}
		w.same("answers", fmt.Sprint(most, ids), "28 [6 7 8]")
		return nil
	}),
	generically("`G[T].FindInBatches`", func(w *way, ctx context.Context) error {
		var batches []string
		err := gorm.G[User](w.db).Where("id <> ?", 4).FindInBatches(ctx, 3, func(users []User, n int) error {
			batches = append(batches, fmt.Sprint(n, ":", names(users)))
			return nil
		})
		w.same("batches", strings.Join(batches, ", "), "1:1 2 3, 2:5 6 7, 3:8")
		return err
	}),
	generically("`G[T].Scopes`, `Table`", func(w *way, ctx context.Context) error {
		users, err := gorm.G[User](w.db).Scopes(func(s *gorm.Statement) { s.Where("active = ?", true) }).Order("id").Find(ctx)
		n, err2 := gorm.G[User](w.db).Table("users").Where("age > 27").Count(ctx, "*")
		w.same("answers", fmt.Sprint(names(users), n), "2 4 6 81")
		return errors.Join(err, err2)
	}),
	generically("`G[T].Joins`", func(w *way, ctx context.Context) error {
		users, err := gorm.G[User](w.db).Joins(clause.Has("Company"), func(db gorm.JoinBuilder, _, _ clause.Table) error {
			db.Where(map[string]any{"name": "two"})
			return nil
		}).Order("users.id").Find(ctx)
		w.same("users", names(users), "1 4")
		return err
	}),
	generically("`G[T].Joins` of the owner's", func(w *way, ctx context.Context) error {
		users, err := gorm.G[User](w.db).Joins(clause.LeftJoin.Association("Account"), nil).Where("users.id < ?", 3).Order("users.id").Find(ctx)
		if err == nil {
			w.same("accounts", users[0].Account.Number+users[1].Account.Number, "number 1number 2")
		}
		return err
	}),
	generically("`G[T].Preload`", func(w *way, ctx context.Context) error {
		users, err := gorm.G[User](w.db).Preload("Orders", func(db gorm.PreloadBuilder) error {
			db.Where("state = ?", "paid").Order("id")
			return nil
		}).Preload("Company", nil).Where("id IN ?", []int{2, 5}).Order("id").Find(ctx)
		if err == nil {
			w.same("preloaded", fmt.Sprint(users[0].Orders[0].ID, len(users[0].Orders), users[1].Orders[0].ID, users[1].Company.Name), "22 1 52three")
		}
		return err
	}),
	generically("`G[T].Preload` with `LimitPerRecord`", func(w *way, ctx context.Context) error {
		users, err := gorm.G[User](w.db).Preload("Orders", func(db gorm.PreloadBuilder) error {
			db.Order("amount DESC").LimitPerRecord(1)
			return nil
		}).Where("id < ?", 4).Order("id").Find(ctx)
		if err == nil {
			var orders []uint
			for _, u := range users {
				for _, o := range u.Orders {
					orders = append(orders, o.ID)
				}
			}
			w.same("orders", orders, []uint{12, 22, 32})
		}
		return err
	}),
	generically("`G[T]` with `OnConflict`", func(w *way, ctx context.Context) error {
		toy := Toy{Name: "again", OwnerID: 2, OwnerType: "users"}
		toy.ID = 2
		err := gorm.G[Toy](w.db, clause.OnConflict{UpdateAll: true}).Create(ctx, &toy)
		if err == nil {
			w.same("toys", w.stored("toys", "name", "id = 2"), []string{"again"})
		}
		return err
	}),
	generically("`G[T]` in a transaction", func(w *way, ctx context.Context) error {
		err := w.db.Transaction(func(tx *gorm.DB) error {
			_, err := gorm.G[User](tx).Where("id < ?", 4).Update(ctx, "age", 1)
			n, err2 := gorm.G[User](tx).Where("age = 1").Count(ctx, "*")
			w.same("users", n, int64(3))
			return errors.Join(err, err2, errWanted)
		})
		w.same("the error", errors.Is(err, errWanted), true)
		w.same("ages", sorted(w.stored("users", "age", "")), "21 22 23 24 25 26 27 28")
		return nil
	}),
}
