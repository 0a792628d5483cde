//go:build unix

package zoo_test

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// modifier writes an expression into a clause of a statement, as gorm.io/hints does:
// behind the clause's name, or behind the clause.
type modifier struct {
	clause.Expr
	in    string
	after bool
}

// ModifyStatement implements gorm.StatementModifier.
func (m modifier) ModifyStatement(s *gorm.Statement) {
	c := s.Clauses[m.in]
	if m.after {
		c.AfterExpression = m.Expr
	} else {
		c.AfterNameExpression = m.Expr
	}
	s.Clauses[m.in] = c
}

// upper is a value that the database computes.
type upper string

// GormValue implements gorm.Valuer.
func (u upper) GormValue(context.Context, *gorm.DB) clause.Expr {
	return clause.Expr{SQL: "UPPER(?)", Vars: []any{string(u)}}
}

// modifiers are clauses and conditions that an application brings along.
var modifiers = []feature{
	finds("`Clauses` of an optimizer hint", "7 8", func(db *gorm.DB) *gorm.DB {
		return db.Clauses(modifier{in: "SELECT", Expr: clause.Expr{SQL: "/*+ MAX_EXECUTION_TIME(60000) */"}}).Where("age > ?", 26)
	}),
	finds("`Clauses` of a comment", "7 8", func(db *gorm.DB) *gorm.DB {
		return db.Clauses(modifier{in: "WHERE", after: true, Expr: clause.Expr{SQL: "/* who asks? */"}}).Where("age > ?", 26)
	}),
	finds("a `GormValuer` in `Where`", "3", func(db *gorm.DB) *gorm.DB { return db.Where("UPPER(name) = ?", upper("user 3")) }),
	{name: "`Locking{SHARE}`", run: func(w *way) error {
		return w.db.Transaction(func(tx *gorm.DB) error {
			var users []User
			err := tx.Clauses(clause.Locking{Strength: clause.LockingStrengthShare}).Where("age > ?", 26).Order("id").Find(&users).Error
			w.same("users", names(users), "7 8")
			return err
		})
	}},
	{name: "`Locking{UPDATE, NOWAIT}`", run: func(w *way) error {
		return w.db.Transaction(func(tx *gorm.DB) error {
			var users []User
			err := tx.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate, Options: clause.LockingOptionsNoWait}).Where("id IN ?", []int{2, 5}).Order("id").Find(&users).Error
			w.same("users", names(users), "2 5")
			return err
		})
	}},
	{name: "`MapColumns`", run: func(w *way) error {
		var users []User
		mapped, err1 := gorm.G[User](w.db).Select("id, UPPER(name) AS label").MapColumns(map[string]string{"label": "name"}).Where("id = ?", 2).First(w.t.Context())
		err2 := w.db.Select("id, age + 1 AS next").MapColumns(map[string]string{"next": "age"}).Where("age > ?", 26).Order("id").Find(&users).Error
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		w.same("answers", fmt.Sprint(mapped.Name, users[0].Age, users[1].Age), "USER 228 29")
		return nil
	}},
	{name: "a generic query as a subquery", run: func(w *way) error {
		var users []User
		err := w.db.Where("id IN (?)", gorm.G[Order](w.db).Select("user_id").Where("amount > ?", 1000)).Order("id").Find(&users).Error
		if err == nil {
			w.same("users", names(users), "6 7 8")
		}
		return err
	}},
	{name: "`Session{PropagateUnscoped}`", run: func(w *way) error {
		w.must(w.db.Where("user_id = ?", 3).Delete(&Pet{}).Error)
		var scoped, unscoped User
		db := w.db.Session(&gorm.Session{PropagateUnscoped: true})
		err := errors.Join(w.db.Unscoped().Preload("Pets").First(&scoped, 3).Error, db.Unscoped().Preload("Pets").First(&unscoped, 3).Error)
		w.plainly("pets", fmt.Sprint(len(scoped.Pets), len(unscoped.Pets)))
		w.must(w.db.Unscoped().Model(&Pet{}).Where("user_id = ?", 3).Update("deleted_at", nil).Error)
		return err
	}},
}

// computed are writes of values that the database computes.
var computed = []feature{
	{name: "a `GormValuer` in `Create`, `Update`", run: func(w *way) error {
		err := errors.Join(
			w.db.Model(user(3)).Update("name", upper("loud")).Error,
			w.db.Model(&User{}).Create(map[string]any{"name": upper("louder"), "age": 40}).Error,
		)
		w.same("names", sorted(w.stored("users", "name", "name LIKE 'LOUD%'")), "LOUD LOUDER")
		return err
	}},
}
