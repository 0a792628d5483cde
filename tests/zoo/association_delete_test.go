//go:build unix

package zoo_test

import (
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

func TestDeleteTakesSelectedAssociationsAlong(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		users := w.families("a", "b", "c", "d")
		a, b, c, d := users[0], users[1], users[2], users[3]
		w.must(w.db.Select("Account", "Pets", "Toys", "Languages", "Friends", "Orders").Delete(a).Error)
		w.same("a", w.user("a"), "a a.company a.boss †")
		w.must(w.db.Unscoped().Select("Pets", "Account").Delete(b).Error)
		w.same("b", w.user("b"), "")
		w.must(w.db.Select(clause.Associations).Omit("Company", "Manager").Delete(c).Error)
		w.holds("accounts", "a.account a †", "c.account c †", "d.account d")
		w.holds("pets", "a.cat a †", "a.dog a †", "c.cat c †", "c.dog c †", "d.cat d", "d.dog d")
		w.holds("user_speaks", "- b", "- en", "d d", "d en")
		w.holds("user_friends", "- b.mate", "- b.pal", "d d.mate", "d d.pal")
		w.holds("orders", "10 -", "20 -", "10 d", "20 d")
		w.same("the team of c", []string{w.user("c.ann"), w.user("c.bob")}, []string{"c.ann - c †", "c.bob - c †"})

		if err := w.db.Select("Pets").Delete(&User{}).Error; err == nil {
			t.Error("a user without a key was deleted")
		}
		w.must(w.db.Unscoped().Select("Pets", "Languages").Delete([]*User{a, c, d}).Error)
		w.holds("pets")
		w.holds("user_speaks", "- b", "- en")
	})
}

func TestDeleteOfNestedAssociations(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		a := w.families("a")[0]
		w.must(w.db.Preload("Pets").First(&User{}, a.ID).Error)
		w.must(w.db.Select("Toy").Delete(a.Pets[0]).Error)
		w.holds("pets", "a.cat a †", "a.dog a")
		w.holds("toys", "a.mouse a.cat pets †", "a.ball a users", "a.kite a users")
	})
}

func TestDeleteThatFailsKeepsAssociations(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		users := w.families("a", "b")
		_ = w.unchanged(func() error {
			return w.db.Transaction(func(tx *gorm.DB) error {
				w.must(tx.Unscoped().Select("Pets", "Languages", "Account", "Toys").Delete(users).Error)
				return gorm.ErrInvalidTransaction
			})
		})
	})
}
