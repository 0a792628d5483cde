//go:build unix

package zoo_test

import (
	"database/sql"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// finds returns a feature that finds users, by name.
func finds(name, want string, query func(db *gorm.DB) *gorm.DB) feature {
	return feature{name: name, run: func(w *way) error {
		var users []User
		err := query(w.db).Order("users.id").Find(&users).Error
		w.same("users", names(users), want)
		return err
	}}
}

var clauses = []feature{
	finds("`Where(text)`", "3 4", func(db *gorm.DB) *gorm.DB { return db.Where("age > ? AND age < ?", 22, 25) }),
	finds("`Where(struct)`", "6", func(db *gorm.DB) *gorm.DB { return db.Where(&User{Name: "user 6", Active: true}) }),
	finds("`Where(struct, fields)`", "1 3 5 7", func(db *gorm.DB) *gorm.DB { return db.Where(&User{Name: "x", Active: false}, "Active") }),
	finds("`Where(map)`", "2 4", func(db *gorm.DB) *gorm.DB {
		return db.Where(map[string]any{"active": true, "age": []int{21, 22, 23, 24}})
	}),
	finds("`Where` of the sharding column", "2 3", func(db *gorm.DB) *gorm.DB { return db.Where("id IN ?", []uint{2, 3}) }),
	finds("`Where` in groups", "1 8", func(db *gorm.DB) *gorm.DB {
		return db.Where(db.Where("age < ?", 23).Where("active = ?", false)).Or(db.Where("age = ?", 28).Where("active = ?", true))
	}),
	finds("`Where` with named arguments", "3 5", func(db *gorm.DB) *gorm.DB {
		return db.Where("name = @a OR name = @b", sql.Named("a", "user 3"), map[string]any{"b": "user 5"})
	}),
	finds("`Not`, `Or`", "1 2 3 7 8", func(db *gorm.DB) *gorm.DB { return db.Not("age > ?", 23).Or("age > ?", 26) }),
	finds("`LIKE`, `BETWEEN`", "4 5 6", func(db *gorm.DB) *gorm.DB {
		return db.Where("name LIKE ?", "user%").Where("created_at BETWEEN ? AND ?", epoch.Add(4*3600e9), epoch.Add(6*3600e9))
	}),
	finds("tuples", "2 5", func(db *gorm.DB) *gorm.DB {
		return db.Where("(name, age) IN ?", [][]any{{"user 2", 22}, {"user 5", 25}, {"user 6", 1}})
	}),
	finds("`clause.Expr`, `clause.Eq`, `clause.Or`", "1 5 8", func(db *gorm.DB) *gorm.DB {
		return db.Clauses(clause.Or(clause.Eq{Column: "age", Value: 21}, clause.IN{Column: clause.Column{Table: "users", Name: "age"}, Values: []any{25, 28}}))
	}),
	{name: "`Order`, `Limit`, `Offset`", run: func(w *way) error {
		var users []User
		err := w.db.Order("active DESC").Order(clause.OrderByColumn{Column: clause.Column{Name: "age"}, Desc: true}).Offset(2).Limit(4).Find(&users).Error
		if err == nil {
			w.same("users", names(users), "4 2 7 5")
		}
		return err
	}},
	{name: "`Order` by an expression", run: func(w *way) error {
		var users []User
		err := w.db.Clauses(clause.OrderBy{Expression: clause.Expr{SQL: "CASE WHEN id IN (?) THEN 0 ELSE 1 END, id", Vars: []any{[]int{5, 3}}, WithoutParentheses: true}}).Limit(3).Find(&users).Error
		if err == nil {
			w.same("users", names(users), "3 5 1")
		}
		return err
	}},
	{name: "`Distinct`", run: func(w *way) error {
		var rows []struct {
			Active  bool
			Company *int `gorm:"column:company_id"`
		}
		err := w.db.Model(&User{}).Distinct("active", "company_id").Where("company_id IS NOT NULL").Order("active, company_id").Find(&rows).Error
		if err == nil {
			w.same("rows", len(rows), 6)
		}
		return err
	}},
	{name: "`Group`, `Having`", run: func(w *way) error {
		var rows []struct {
			UserID uint
			Total  int64
		}
		err := w.db.Model(&Order{}).Select("user_id, SUM(amount) AS total").Group("user_id").Having("SUM(amount) > ?", 1700).Order("total DESC").Scan(&rows).Error
		if err == nil {
			w.same("sums", fmt.Sprint(rows), "[{8 2400} {7 2100} {6 1800}]")
		}
		return err
	}},
	{name: "`Group` by another column, aggregates", run: func(w *way) error {
		var rows []struct {
			State   string
			N       int64
			Average float64
			Least   int64
		}
		err := w.db.Model(&Order{}).Select("state, COUNT(*) AS n, AVG(amount) AS average, MIN(amount) AS least").Group("state").Order("state").Scan(&rows).Error
		if err == nil {
			w.same("rows", fmt.Sprint(rows), "[{open 8 450 100} {paid 8 900 200}]")
		}
		return err
	}},
	{name: "`Select(expression)`", run: func(w *way) error {
		var rows []struct {
			Label string
			Twice int
		}
		err := w.db.Model(&User{}).Select("UPPER(name) AS label, age * ? AS twice", 2).Where("id < 3").Order("id").Scan(&rows).Error
		if err == nil {
			w.same("rows", fmt.Sprint(rows), "[{USER 1 42} {USER 2 44}]")
		}
		return err
	}},
	{name: "`Omit` in a read", run: func(w *way) error {
		var u User
		err := w.db.Omit("name").First(&u, 2).Error
		if err == nil {
			w.same("the user", fmt.Sprint(u.ID, u.Name, u.Age), fmt.Sprint(2, "", 22))
		}
		return err
	}},
	{name: "`Table` with an alias", run: func(w *way) error {
		var found []string
		err := w.db.Table("users AS u").Where("u.age > ?", 26).Order("u.id").Pluck("u.name", &found).Error
		if err == nil {
			w.same("names", fmt.Sprint(found), "[user 7 user 8]")
		}
		return err
	}},
	{name: "`Locking{UPDATE}`", run: func(w *way) error {
		return w.db.Transaction(func(tx *gorm.DB) error {
			var users []User
			err := tx.Clauses(clause.Locking{Strength: "UPDATE"}).Where("age > ?", 26).Order("id").Find(&users).Error
			w.same("users", names(users), "7 8")
			return err
		})
	}},
	{name: "`Locking{UPDATE, SKIP LOCKED}`", run: func(w *way) error {
		return w.db.Transaction(func(tx *gorm.DB) error {
			var u User
			err := tx.Clauses(clause.Locking{Strength: "UPDATE", Options: "SKIP LOCKED"}).First(&u, "id = ?", 5).Error
			w.same("the user", u.Name, "user 5")
			return err
		})
	}},
	{name: "an index hint", onlyMySQL: true, run: func(w *way) error {
		var n int64
		err := w.db.Table("users FORCE INDEX (idx_users_deleted_at)").Where("deleted_at IS NULL").Count(&n).Error
		if err == nil {
			w.same("users", n, int64(8))
		}
		return err
	}},
	{name: "a comment clause", run: func(w *way) error {
		var n int64
		err := w.db.Model(&User{}).Where("/* who asks */ age > ?", 25).Count(&n).Error
		if err == nil {
			w.same("users", n, int64(3))
		}
		return err
	}},
}

var joins = []feature{
	{name: "`Joins(belongs to)`, broadcast", run: func(w *way) error {
		var users []User
		err := w.db.Joins("Company").Order("users.id").Find(&users).Error
		w.same("users", names(users), "1 2 3 4 5 6 7 8")
		var companies []string
		for _, u := range users {
			companies = append(companies, u.Company.Name)
		}
		w.same("companies", fmt.Sprint(companies), "[two three one two three one  ]")
		return err
	}},
	{name: "`InnerJoins(belongs to)`, broadcast", run: func(w *way) error {
		var users []User
		err := w.db.InnerJoins("Company").Where("Company.name <> ?", "two").Order("users.id").Find(&users).Error
		if err == nil {
			w.same("users", names(users), "2 3 5 6")
		}
		return err
	}},
	{name: "`Joins(has one)`", run: func(w *way) error {
		var users []User
		err := w.db.Joins("Account").Where("users.age < ?", 24).Order("users.id").Find(&users).Error
		w.same("users", names(users), "1 2 3")
		for _, u := range users {
			w.same("the account", u.Account.Number, fmt.Sprint("number ", u.ID))
		}
		return err
	}},
	{name: "`Joins(has one, conditions)`", run: func(w *way) error {
		var users []User
		err := w.db.Joins("Account", w.db.Where("number = ?", "number 4")).Where("users.id IN ?", []int{3, 4}).Order("users.id").Find(&users).Error
		if err == nil {
			w.same("accounts", users[0].Account.Number+"/"+users[1].Account.Number, "/number 4")
		}
		return err
	}},
	{name: "`Joins(self)`", run: func(w *way) error {
		var users []User
		err := w.db.Joins("Manager").Where("users.id < ?", 4).Order("users.id").Find(&users).Error
		if err == nil {
			w.same("managers", fmt.Sprint(users[0].Manager == nil, users[1].Manager.Name, users[2].Manager.Name), "trueuser 1user 1")
		}
		return err
	}},
	{name: "`Joins(text)` on the owner", run: func(w *way) error {
		var rows []struct {
			Name string
			Pet  string
		}
		err := w.db.Model(&User{}).Select("users.name, pets.name AS pet").Joins("JOIN pets ON pets.user_id = users.id AND pets.id > ?", 60).
			Order("pets.id").Scan(&rows).Error
		if err == nil {
			w.same("rows", fmt.Sprint(rows), "[{user 6 pet 61} {user 6 pet 62} {user 7 pet 71} {user 7 pet 72} {user 8 pet 81} {user 8 pet 82}]")
		}
		return err
	}},
	{name: "`LEFT JOIN` on the owner, grouped", run: func(w *way) error {
		var rows []struct {
			Name string
			N    int64
		}
		err := w.db.Model(&User{}).Select("users.name, COUNT(orders.id) AS n").Joins("LEFT JOIN orders ON orders.user_id = users.id AND orders.amount > ?", 700).
			Group("users.id, users.name").Having("COUNT(orders.id) > 0").Order("users.id").Scan(&rows).Error
		if err == nil {
			w.same("rows", fmt.Sprint(rows), "[{user 4 1} {user 5 1} {user 6 1} {user 7 1} {user 8 2}]")
		}
		return err
	}},
	{name: "a join of three tables by owner", run: func(w *way) error {
		var total int64
		err := w.db.Model(&User{}).Joins("JOIN orders ON orders.user_id = users.id").Joins("JOIN items ON items.order_id = orders.id AND items.user_id = users.id").
			Where("orders.state = ?", "paid").Select("SUM(items.price * items.count)").Scan(&total).Error
		if err == nil {
			w.same("the total", total, int64(8*(10+40)))
		}
		return err
	}},
	{name: "a join on other columns", run: func(w *way) error {
		var n int64
		err := w.db.Table("users").Joins("JOIN orders ON orders.amount = users.age * 100 - 2000").Count(&n).Error
		if err == nil {
			w.same("pairs", n, int64(8+4))
		}
		return err
	}},
	{name: "a join of many to many", run: func(w *way) error {
		var users []User
		err := w.db.Joins("JOIN user_speaks ON user_speaks.user_id = users.id").Joins("JOIN languages ON languages.code = user_speaks.language_code").
			Where("languages.name = ?", "German").Order("users.id").Find(&users).Error
		if err == nil {
			w.same("users", names(users), "2 4 6 8")
		}
		return err
	}},
	{name: "a subquery as value", run: func(w *way) error {
		var users []User
		average := w.db.Model(&User{}).Select("AVG(age)")
		err := w.db.Where("age > (?)", average).Order("id").Find(&users).Error
		if err == nil {
			w.same("users", names(users), "5 6 7 8")
		}
		return err
	}},
	{name: "a subquery in `IN`, of the owner", run: func(w *way) error {
		var users []User
		err := w.db.Where("id IN (?)", w.db.Model(&Order{}).Select("user_id").Where("amount > ?", 1000)).Order("id").Find(&users).Error
		if err == nil {
			w.same("users", names(users), "6 7 8")
		}
		return err
	}},
	{name: "a subquery in `IN`, of another column", run: func(w *way) error {
		var users []User
		err := w.db.Where("age IN (?)", w.db.Model(&Order{}).Select("amount / 100 + 20").Where("state = ?", "paid")).Order("id").Find(&users).Error
		if err == nil {
			w.same("users", names(users), "2 4 6 8")
		}
		return err
	}},
	{name: "a correlated subquery", run: func(w *way) error {
		var users []User
		err := w.db.Where("EXISTS (?)", w.db.Model(&Order{}).Select("1").Where("orders.user_id = users.id AND orders.amount = ?", 800)).Order("id").Find(&users).Error
		if err == nil {
			w.same("users", names(users), "4 8")
		}
		return err
	}},
	{name: "a subquery as table", run: func(w *way) error {
		var found []string
		err := w.db.Table("(?) AS u", w.db.Model(&User{}).Select("name, age")).Where("u.age > ?", 26).Order("u.age DESC").Pluck("name", &found).Error
		if err == nil {
			w.same("names", fmt.Sprint(found), "[user 8 user 7]")
		}
		return err
	}},
	{name: "subqueries as tables, joined", run: func(w *way) error {
		var n int64
		err := w.db.Table("(?) AS u, (?) AS o", w.db.Model(&User{}).Select("id, age"), w.db.Model(&Order{}).Select("user_id, amount")).
			Where("o.user_id = u.id AND o.amount > u.age * 40").Count(&n).Error
		if err == nil {
			w.same("pairs", n, int64(3))
		}
		return err
	}},
	{name: "a grouped subquery as table", run: func(w *way) error {
		var most int64
		err := w.db.Table("(?) AS sums", w.db.Model(&Order{}).Select("user_id, SUM(amount) AS total").Group("user_id")).Select("MAX(total)").Scan(&most).Error
		if err == nil {
			w.same("the most", most, int64(2400))
		}
		return err
	}},
	{name: "a subquery in `Having`", run: func(w *way) error {
		var rows []struct{ UserID uint }
		err := w.db.Model(&Order{}).Select("user_id").Group("user_id").
			Having("SUM(amount) > (?)", w.db.Model(&Order{}).Select("AVG(amount) * 3")).Order("user_id").Scan(&rows).Error
		if err == nil {
			w.same("owners", fmt.Sprint(rows), "[{7} {8}]")
		}
		return err
	}},
	{name: "a window function", run: func(w *way) error {
		var rows []struct {
			ID   uint
			Rank int
		}
		err := w.db.Raw("SELECT id, ROW_NUMBER() OVER (ORDER BY amount DESC, id) AS `rank` FROM orders ORDER BY amount DESC, id LIMIT 3").Scan(&rows).Error
		if err == nil {
			w.same("rows", fmt.Sprint(rows), "[{82 1} {72 2} {62 3}]")
		}
		return err
	}},
	{name: "`UNION` by `Raw`", run: func(w *way) error {
		var found []string
		err := w.db.Raw("? UNION ALL ? ORDER BY name", w.db.Model(&User{}).Select("name").Where("age = 23"), w.db.Model(&Pet{}).Select("name").Where("user_id = 3")).Scan(&found).Error
		if err == nil {
			w.same("names", fmt.Sprint(found), "[pet 31 pet 32 user 3]")
		}
		return err
	}},
}
