//go:build unix

package zoo_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"
)

var raws = []feature{
	{name: "`Raw().Scan`", run: func(w *way) error {
		var users []User
		var n int64
		err := errors.Join(w.db.Raw("SELECT * FROM users WHERE age > ? ORDER BY id", 26).Scan(&users).Error,
			w.db.Raw("SELECT COUNT(*) FROM orders WHERE user_id IN ?", []int{1, 2, 3}).Scan(&n).Error)
		w.same("answers", fmt.Sprint(names(users), n), "7 86")
		return err
	}},
	{name: "`Raw` with `sql.Named`", run: func(w *way) error {
		var users []User
		err := w.db.Raw("SELECT * FROM users WHERE name = @name OR age = @age AND name <> @name ORDER BY id", sql.Named("name", "user 2"), sql.Named("age", 25)).Find(&users).Error
		w.same("users", names(users), "2 5")
		return err
	}},
	{name: "`Raw` with a map, with a struct", run: func(w *way) error {
		var one, two []User
		err := errors.Join(
			w.db.Raw("SELECT * FROM users WHERE id IN @ids ORDER BY id", map[string]any{"ids": []int{3, 8}}).Find(&one).Error,
			w.db.Raw("SELECT * FROM users WHERE name = @Name OR age = @Age ORDER BY id", struct {
				Name string
				Age  int
			}{"user 1", 24}).Find(&two).Error)
		w.same("users", names(one)+", "+names(two), "3 8, 1 4")
		return err
	}},
	{name: "`Raw().Row`, `Raw().Rows`", run: func(w *way) error {
		var total int64
		if err := w.db.Raw("SELECT SUM(amount) FROM orders WHERE state = ?", "open").Row().Scan(&total); err != nil {
			return err
		}
		rows, err := w.db.Raw("SELECT id FROM users WHERE active ORDER BY id DESC").Rows()
		if err != nil {
			return err
		}
		ids, err := idsOf(rows)
		if err != nil {
			return err
		}
		w.same("answers", fmt.Sprint(total, ids), "3600 [8 6 4 2]")
		return nil
	}},
	{name: "`Exec`", run: func(w *way) error {
		one := w.db.Exec("UPDATE users SET age = ? WHERE id = ?", 90, 3)
		many := w.db.Exec("UPDATE users SET age = ? WHERE age BETWEEN @low AND @high", gorm.Expr("age + 100"), map[string]any{"low": 25, "high": 27})
		if err := errors.Join(one.Error, many.Error); err != nil {
			return err
		}
		w.same("RowsAffected", []int64{one.RowsAffected, many.RowsAffected}, []int64{1, 3})
		w.same("ages", sorted(w.stored("users", "age", "")), "125 126 127 21 22 24 28 90")
		return nil
	}},
	{name: "`Exec` with named arguments", run: func(w *way) error {
		tx := w.db.Exec("INSERT INTO items (id, order_id, user_id, product, price, count) VALUES (@id, 11, @user, @name, 1, 1), (@id + 1, 21, 2, @name, 1, 1)",
			map[string]any{"id": 5000, "user": 1, "name": "named"})
		if tx.Error == nil {
			w.same("RowsAffected", tx.RowsAffected, int64(2))
			w.same("owners", sorted(w.stored("items", "user_id", "product = 'named'")), "1 2")
		}
		return tx.Error
	}},
	{name: "`Exec` of `INSERT … SELECT` by owner", run: func(w *way) error {
		tx := w.db.Exec("INSERT INTO items (id, order_id, user_id, product, price, count) SELECT id + 9000, id, user_id, 'copied', amount, 1 FROM orders WHERE state = ?", "paid")
		if tx.Error == nil {
			w.same("RowsAffected", tx.RowsAffected, int64(8))
			w.same("items", len(w.stored("items", "id", "product = 'copied'")), 8)
		}
		return tx.Error
	}},
	{name: "`Exec` of an UPDATE with a JOIN by owner", onlyMySQL: true, run: func(w *way) error {
		tx := w.db.Exec("UPDATE orders JOIN users ON users.id = orders.user_id SET orders.state = 'senior' WHERE users.age > ?", 26)
		if tx.Error == nil {
			w.same("RowsAffected", tx.RowsAffected, int64(4))
			w.same("orders", sorted(w.stored("orders", "id", "state = 'senior'")), "71 72 81 82")
		}
		return tx.Error
	}},
	{name: "`ToSQL`", run: func(w *way) error {
		text := w.db.ToSQL(func(tx *gorm.DB) *gorm.DB { return tx.Model(&User{}).Where("id = ?", 3).Limit(5).Find(&[]User{}) })
		w.same("the text", strings.ReplaceAll(text, "\"", "`"), "SELECT * FROM `users` WHERE id = 3 AND `users`.`deleted_at` IS NULL LIMIT 5")
		text = w.db.ToSQL(func(tx *gorm.DB) *gorm.DB { return tx.Create(&Company{ID: 7, Name: "seven"}) })
		w.same("the text of a write", strings.HasPrefix(text, "INSERT INTO `companies` (`name`,`id`) VALUES ("), true)
		w.same("companies", len(w.stored("companies", "id", "")), 3)
		return nil
	}},
}

var errWanted = errors.New("wanted")

// aged updates the users 1 to n through tx.
func aged(tx *gorm.DB, age int, ids ...uint) error {
	return tx.Model(&User{}).Where("id IN ?", ids).Update("age", age).Error
}

var transactions = []feature{
	{name: "`Transaction`, committed", run: func(w *way) error {
		err := w.db.Transaction(func(tx *gorm.DB) error {
			var n int64
			err := errors.Join(aged(tx, 1, 1, 2, 3), tx.Create(&Order{ID: 500, UserID: 3}).Error, tx.Create(&Coupon{Code: "tx"}).Error,
				tx.Model(&User{}).Where("age = 1").Count(&n).Error)
			w.same("what it sees of itself", n, int64(3))
			return err
		})
		w.same("ages", sorted(w.stored("users", "age", "")), "1 1 1 24 25 26 27 28")
		return err
	}},
	{name: "`Transaction`, rolled back", run: func(w *way) error {
		err := w.db.Transaction(func(tx *gorm.DB) error {
			w.must(aged(tx, 1, 1, 2, 3), tx.Create(&Company{Name: "gone"}).Error)
			return errWanted
		})
		w.same("the error", errors.Is(err, errWanted), true)
		w.same("ages", sorted(w.stored("users", "age", "")), "21 22 23 24 25 26 27 28")
		w.same("companies", len(w.stored("companies", "id", "")), 3)
		return nil
	}},
	{name: "`Transaction`, panicking", run: func(w *way) error {
		func() {
			defer func() { w.same("the panic", recover(), any("wanted")) }()
			_ = w.db.Transaction(func(tx *gorm.DB) error {
				w.must(aged(tx, 1, 1, 2, 3))
				panic("wanted")
			})
		}()
		w.same("ages", sorted(w.stored("users", "age", "")), "21 22 23 24 25 26 27 28")
		return nil
	}},
	{name: "nested `Transaction`", run: func(w *way) error {
		err := w.db.Transaction(func(tx *gorm.DB) error {
			w.must(aged(tx, 1, 1, 2))
			inner := tx.Transaction(func(tx *gorm.DB) error {
				w.must(aged(tx, 2, 2, 3, 4))
				return errWanted
			})
			w.same("the error of the inner one", errors.Is(inner, errWanted), true)
			return tx.Transaction(func(tx *gorm.DB) error { return aged(tx, 3, 7, 8) })
		})
		w.same("ages", sorted(w.stored("users", "age", "")), "1 1 23 24 25 26 3 3")
		return err
	}},
	{name: "`DisableNestedTransaction`", run: func(w *way) error {
		err := w.db.Session(&gorm.Session{DisableNestedTransaction: true}).Transaction(func(tx *gorm.DB) error {
			w.must(aged(tx, 1, 1, 2))
			_ = tx.Transaction(func(tx *gorm.DB) error {
				w.must(aged(tx, 2, 3))
				return errWanted
			})
			return nil
		})
		w.same("ages", sorted(w.stored("users", "age", "")), "1 1 2 24 25 26 27 28")
		return err
	}},
	{name: "`SavePoint`, `RollbackTo`", run: func(w *way) error {
		tx := w.db.Begin()
		defer tx.Rollback()
		w.must(aged(tx, 1, 1))
		if err := tx.SavePoint("here").Error; err != nil {
			return err
		}
		w.must(aged(tx, 2, 1, 2, 3, 4))
		if err := tx.RollbackTo("here").Error; err != nil {
			return err
		}
		w.must(aged(tx, 3, 8), tx.Commit().Error)
		w.same("ages", sorted(w.stored("users", "age", "")), "1 22 23 24 25 26 27 3")
		return nil
	}},
	{name: "`Begin`, `Commit`, `Rollback`", run: func(w *way) error {
		tx := w.db.Begin()
		if tx.Error != nil {
			return tx.Error
		}
		w.must(aged(tx, 1, 1, 2), tx.Commit().Error)
		again := w.db.Begin()
		w.must(aged(again, 2, 3, 4), again.Rollback().Error)
		w.same("Commit after Commit fails", tx.Commit().Error != nil, true)
		w.same("ages", sorted(w.stored("users", "age", "")), "1 1 23 24 25 26 27 28")
		return nil
	}},
	{name: "`Begin(&sql.TxOptions{ReadOnly})`", onlyMySQL: true, run: func(w *way) error {
		tx := w.db.Begin(&sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead})
		defer tx.Rollback()
		var n int64
		err := errors.Join(tx.Error, tx.Model(&User{}).Count(&n).Error)
		w.same("users", n, int64(8))
		if err := aged(tx, 1, 1); err == nil {
			w.t.Error("a read-only transaction writes")
		}
		return err
	}},
	{name: "a failed statement in a transaction", run: func(w *way) error {
		err := w.db.Transaction(func(tx *gorm.DB) error {
			w.must(aged(tx, 1, 1))
			users := newUsers(4)
			users[3].ID = 6
			if tx.Create(&users).Error == nil {
				w.t.Error("a duplicate key was inserted")
			}
			return aged(tx, 2, 2)
		})
		w.same("ages", sorted(w.stored("users", "age", "")), "1 2 23 24 25 26 27 28")
		return err
	}},
	{name: "`Connection`", run: func(w *way) error {
		return w.db.Connection(func(db *gorm.DB) error {
			var n int64
			err := errors.Join(aged(db, 1, 1, 2, 3), db.Model(&User{}).Where("age = 1").Count(&n).Error)
			w.same("users", n, int64(3))
			return err
		})
	}},
}

// idsOf reads rows of one id each, and closes them.
func idsOf(rows *sql.Rows) ([]uint, error) {
	defer rows.Close()
	var ids []uint
	for rows.Next() {
		var id uint
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}
