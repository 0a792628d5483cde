//go:build unix

package zoo_test

import (
	"testing"

	"gorm.io/gorm"
)

// GORM detaches what was there before by making NULL of the foreign key, also where
// nothing was there, and the foreign key is the sharding column.
func TestAssociationsAreReplacedWhereNothingIsDetached(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		var users []*User
		for _, name := range []string{"a", "b", "c"} {
			users = append(users, &User{Name: name})
		}
		w.must(w.db.Create(users).Error)
		a, b := users[0], users[1]
		w.must(
			w.db.Model(a).Association("Account").Append(&Account{Number: "first"}),
			w.db.Model(a).Association("Account").Append(&a.Account),
			w.db.Model(b).Association("Account").Replace(&Account{Number: "other"}),
			w.db.Model(b).Association("Account").Replace(&b.Account),
			w.db.Model(a).Association("Pets").Replace(&Pet{Name: "cat"}, &Pet{Name: "dog"}),
			w.db.Model(a).Association("Pets").Replace(a.Pets[1], a.Pets[0], &Pet{Name: "hen"}),
			w.db.Model(b).Association("Toys").Replace(&Toy{Name: "ball"}),
			w.db.Model(b).Association("Pets").Clear(),
			w.db.Model(b).Association("Pets").Delete(a.Pets[0]),
			w.db.Model(&users).Association("Orders").Clear(),
		)
		w.holds("accounts", "first a", "other b")
		w.holds("pets", "cat a", "dog a", "hen a")
		w.holds("toys", "ball b users")
		w.must(w.db.Transaction(func(tx *gorm.DB) error {
			return tx.Model(users[2]).Association("Account").Append(&Account{Number: "third"})
		}))
		w.holds("accounts", "first a", "other b", "third c")
		var none Account
		done := w.db.Model(&none).Where("user_id = ?", 0).UpdateColumn("user_id", nil)
		w.must(done.Error)
		w.same("rows", done.RowsAffected, int64(0))
	})
}
