//go:build unix

package zoo_test

import (
	"context"
	"errors"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// assign is an assignment of a value to a column.
func assign(column string, value any) clause.Assignment {
	return clause.Assignment{Column: clause.Column{Name: column}, Value: value}
}

// associationSets are the changes of associations that the generics API makes by Set.
var associationSets = []feature{
	generically("`G[T].Set(Association{OpCreate})`", func(w *way, ctx context.Context) error {
		_, err1 := gorm.G[User](w.db).Where("id IN ?", []int{2, 5}).Set(clause.Association{
			Association: "Orders", Type: clause.OpCreate, Set: []clause.Assignment{assign("amount", 7), assign("state", "new")},
		}).Update(ctx)
		_, err2 := gorm.G[User](w.db).Where("id = ?", 3).Set(clause.Association{
			Association: "Languages", Type: clause.OpCreate, Values: []any{&Language{Code: "fr", Name: "French"}},
		}).Update(ctx)
		w.same("owners", sorted(w.stored("orders", "user_id", "amount = 7")), "2 5")
		w.same("speakers", w.stored("user_speaks", "user_id", "language_code = 'fr'"), []string{"3"})
		return errors.Join(err1, err2)
	}),
	generically("has many: `G[T].Set(Association{OpUpdate})`", func(w *way, ctx context.Context) error {
		_, err := gorm.G[User](w.db).Where("age > ?", 26).Set(clause.Association{
			Association: "Orders", Type: clause.OpUpdate, Conditions: []clause.Expression{clause.Eq{Column: "state", Value: "open"}}, Set: []clause.Assignment{assign("state", "late")},
		}).Update(ctx)
		if err == nil {
			w.same("late orders", sorted(w.stored("orders", "id", "state = 'late'")), "71 81")
		}
		return err
	}),
	generically("has many: `G[T].Set(Association{OpDelete})`", func(w *way, ctx context.Context) error {
		_, err := gorm.G[User](w.db).Where("age > ?", 26).Set(clause.Association{Association: "Orders", Type: clause.OpDelete}).Update(ctx)
		if err == nil {
			w.same("orders", len(w.stored("orders", "id", "")), 12)
		}
		return err
	}),
	generically("has many: `G[T].Set(Association{OpUnlink})`", func(w *way, ctx context.Context) error {
		_, err := gorm.G[User](w.db).Where("id = ?", 2).Set(clause.Association{Association: "Orders", Type: clause.OpUnlink}).Update(ctx)
		if err == nil {
			w.same("orders", sorted(w.stored("orders", "id", "user_id IS NULL")), "21 22")
		}
		return err
	}),
	generically("belongs to: `G[T].Set(Association{OpUnlink})`", func(w *way, ctx context.Context) error {
		_, err := gorm.G[User](w.db).Where("age < ?", 23).Set(clause.Association{Association: "Company", Type: clause.OpUnlink}).Update(ctx)
		w.same("users", sorted(w.stored("users", "id", "company_id IS NULL")), "1 2 7 8")
		return err
	}),
	generically("belongs to: `G[T].Set(Association{OpUpdate})`", func(w *way, ctx context.Context) error {
		_, err := gorm.G[User](w.db).Where("id = ?", 2).Set(clause.Association{
			Association: "Company", Type: clause.OpUpdate, Set: []clause.Assignment{assign("name", "renamed")},
		}).Update(ctx)
		if err == nil {
			w.same("companies", w.stored("companies", "id", "name = 'renamed'"), []string{"3"})
		}
		return err
	}),
	generically("many to many: `G[T].Set(Association{OpUnlink})`", func(w *way, ctx context.Context) error {
		_, err := gorm.G[User](w.db).Where("id > ?", 0).Set(clause.Association{
			Association: "Languages", Type: clause.OpUnlink, Conditions: []clause.Expression{clause.Eq{Column: clause.Column{Table: "languages", Name: "name"}, Value: "German"}},
		}).Update(ctx)
		if err == nil {
			w.same("German", len(w.stored("user_speaks", "user_id", "language_code = 'de'")), 0)
			w.same("English", len(w.stored("user_speaks", "user_id", "language_code = 'en'")), 8)
		}
		return err
	}),
}
