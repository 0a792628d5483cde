//go:build unix

package zoo_test

import (
	"errors"
	"fmt"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

func TestCreateStoresEveryKindOfAssociation(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		u := family("a")
		u.Manager.Company = Company{Name: "deep"}
		u.Manager.Manager = &User{Name: "a.chief", Account: Account{Number: "a.chief.account"}}
		u.Team[0].Pets = []*Pet{{Name: "a.ann.bird", Toy: Toy{Name: "a.ann.bell"}}}
		u.Friends[0].Friends = []*User{{Name: "a.pal.pal", Languages: []Language{{Code: "fr", Name: "French"}}}}
		w.must(w.db.Create(u).Error)

		w.holds("users", "a a.company a.boss", "a.boss deep a.chief", "a.chief - -", "a.ann - a", "a.bob - a", "a.pal - -", "a.mate - -", "a.pal.pal - -")
		w.holds("accounts", "a.account a", "a.chief.account a.chief")
		w.holds("pets", "a.cat a", "a.dog a", "a.ann.bird a.ann")
		w.holds("toys", "a.mouse a.cat pets", "a.ball a users", "a.kite a users", "a.ann.bell a.ann.bird pets")
		w.holds("companies", "a.company", "deep")
		w.holds("languages", "a of a", "en English", "fr French")
		w.holds("user_speaks", "a a", "a en", "a.pal.pal fr")
		w.holds("user_friends", "a a.mate", "a a.pal", "a.pal a.pal.pal")
		w.holds("orders", "10 a", "20 a")
		for _, id := range []uint{u.ID, u.Account.ID, uint(u.Company.ID), u.Pets[1].ID, u.Pets[0].Toy.ID, u.Toys[1].ID, u.Manager.ID, u.Team[1].ID, u.Friends[1].ID, u.Orders[0].ID} {
			if id == 0 {
				w.t.Error("a key was not set on its model")
			}
		}
		w.same("foreign keys", []uint{u.Account.UserID, u.Pets[0].UserID, u.Toys[0].OwnerID, *u.Team[0].ManagerID}, []uint{u.ID, u.ID, u.ID, u.ID})
	})
}

func TestCreateOfSeveralStoresTheirAssociations(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		users := []*User{family("a"), family("b"), family("c"), {Name: "alone"}}
		users[1].Company = Company{}
		w.must(w.db.Create(&users).Error)
		w.holds("users", "alone - -", "a a.company a.boss", "b - b.boss", "c c.company c.boss", "a.boss - -", "b.boss - -", "c.boss - -",
			"a.ann - a", "a.bob - a", "b.ann - b", "b.bob - b", "c.ann - c", "c.bob - c", "a.pal - -", "a.mate - -", "b.pal - -", "b.mate - -", "c.pal - -", "c.mate - -")
		w.holds("accounts", "a.account a", "b.account b", "c.account c")
		w.holds("pets", "a.cat a", "a.dog a", "b.cat b", "b.dog b", "c.cat c", "c.dog c")
		w.holds("languages", "a of a", "b of b", "c of c", "en English")
		w.holds("user_speaks", "a a", "a en", "b b", "b en", "c c", "c en")
		w.holds("user_friends", "a a.mate", "a a.pal", "b b.mate", "b b.pal", "c c.mate", "c c.pal")
		for _, u := range users {
			var pets []Pet
			w.must(w.db.Where("user_id = ?", u.ID).Find(&pets).Error)
			w.same("pets of "+u.Name, petNames(pets), petNames(u.Pets))
		}
	})
}

func TestCreateInBatchesStoresAssociations(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		var users []User
		var pets, speaks []string
		for i := range 7 {
			u := User{Name: fmt.Sprint("n", i), Pets: []*Pet{{Name: fmt.Sprint("p", i)}}, Languages: []Language{{Code: "en", Name: "English"}}}
			users = append(users, u)
			pets, speaks = append(pets, fmt.Sprintf("p%d n%d", i, i)), append(speaks, fmt.Sprintf("n%d en", i))
		}
		w.must(w.db.CreateInBatches(&users, 3).Error)
		w.holds("pets", pets...)
		w.holds("user_speaks", speaks...)
	})
}

func TestCreateTakesExistingAssociationsAsTheyAre(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		a := w.families("a")[0]
		changed := a.Company
		changed.Name = "not written"
		english := a.Languages[1]
		english.Name = "not written"
		for i := range 4 {
			u := User{Name: fmt.Sprint("n", i), Company: changed, Manager: &User{Model: gorm.Model{ID: a.ID}, Name: "not written"}, Languages: []Language{english}, Friends: []*User{a}}
			w.must(w.db.Create(&u).Error)
		}
		w.holds("companies", "a.company")
		w.holds("languages", "a of a", "en English")
		w.holds("users", "a a.company a.boss", "a.boss - -", "a.ann - a", "a.bob - a", "a.pal - -", "a.mate - -",
			"n0 a.company a", "n1 a.company a", "n2 a.company a", "n3 a.company a")
		w.holds("user_friends", "a a.mate", "a a.pal", "n0 a", "n1 a", "n2 a", "n3 a")
	})
}

// A has-many whose foreign key is not the sharding column moves from owner to owner
// by GORM's upsert.
func TestCreateTakesOverTheTeamOfAnother(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		a := w.families("a")[0]
		for i := range 4 {
			w.must(w.db.Create(&User{Name: fmt.Sprint("n", i), Team: []User{a.Team[0]}}).Error)
		}
		w.holds("users", "a a.company a.boss", "a.boss - -", "a.ann - n3", "a.bob - a", "a.pal - -", "a.mate - -", "n0 - -", "n1 - -", "n2 - -", "n3 - -")
	})
}

func TestUpdatesLeavesExistingAssociationsAndAddsNewOnes(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		u := w.families("a")[0]
		u.Age = 19
		u.Pets[0].Name, u.Company.Name, u.Account.Number, u.Toys[0].Name, u.Languages[0].Name, u.Manager.Name, u.Team[0].Name, u.Friends[0].Name = "x", "x", "x", "x", "x", "x", "x", "x"
		u.Pets = append(u.Pets, &Pet{Name: "a.fish"})
		u.Friends = append(u.Friends, &User{Name: "a.new"})
		w.must(w.db.Updates(u).Error)
		w.holds("pets", "a.cat a", "a.dog a", "a.fish a")
		w.holds("companies", "a.company")
		w.holds("accounts", "a.account a")
		w.holds("toys", "a.mouse a.cat pets", "a.ball a users", "a.kite a users")
		w.holds("languages", "a of a", "en English")
		w.holds("user_friends", "a a.mate", "a a.pal", "a a.new")
		w.holds("users", "a a.company a.boss", "a.boss - -", "a.ann - a", "a.bob - a", "a.pal - -", "a.mate - -", "a.new - -")
	})
}

func TestFullSaveAssociationsWritesEveryColumn(t *testing.T) {
	for _, how := range []struct {
		name string
		save func(db *gorm.DB, u *User) error
	}{
		{"Updates", func(db *gorm.DB, u *User) error { return whole(db).Updates(u).Error }},
		{"Save", func(db *gorm.DB, u *User) error { return whole(db).Save(u).Error }},
	} {
		t.Run(how.name, func(t *testing.T) {
			eachWay(t, func(_ *testing.T, w *way) {
				u := w.families("a")[0]
				u.Pets[0].Name, u.Pets[0].Toy.Name, u.Company.Name, u.Account.Number, u.Toys[0].Name, u.Languages[0].Name = "cat", "mouse", "company", "account", "ball", "language"
				u.Manager.Name, u.Team[0].Name, u.Friends[0].Name = "boss", "ann", "pal"
				u.Pets = append(u.Pets, &Pet{Name: "fish"})
				w.must(how.save(w.db, u))
				w.holds("pets", "cat a", "a.dog a", "fish a")
				w.holds("companies", "company")
				w.holds("accounts", "account a")
				w.holds("toys", "mouse cat pets", "ball a users", "a.kite a users")
				w.holds("languages", "a language", "en English")
				w.holds("users", "a company boss", "boss - -", "ann - a", "a.bob - a", "pal - -", "a.mate - -")
			})
		})
	}
}

func TestCreateOmitsAndSelectsAssociations(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		w.must(w.db.Omit(clause.Associations).Create(family("a")).Error)
		w.holds("users", "a - -")
		w.holds("pets")

		w.must(w.db.Omit("Pets", "Manager", "Team", "Friends", "Orders").Create(family("b")).Error)
		w.holds("users", "a - -", "b b.company -")
		w.holds("accounts", "b.account b")
		w.holds("user_speaks", "b b", "b en")

		w.must(w.db.Create(&Language{Code: "c", Name: "there"}).Error)
		c := family("c")
		c.Friends = []*User{{Model: gorm.Model{ID: 1 << 40}}}
		w.must(w.db.Omit("Languages.*", "Friends.*", "Pets.Toy", "Manager", "Team", "Company", "Orders").Create(c).Error)
		w.holds("languages", "b of b", "c there", "en English")
		w.holds("user_speaks", "b b", "b en", "c c", "c en")
		w.holds("user_friends", "c -")
		w.holds("toys", "b.ball b users", "b.kite b users", "c.ball c users", "c.kite c users")

		w.must(w.db.Select("Name", "Pets").Create(family("d")).Error)
		w.holds("pets", "c.cat c", "c.dog c", "d.cat d", "d.dog d")
		w.must(w.db.Select("Name", "Age", "Company", "CompanyID").Create(family("e")).Error)
		w.holds("users", "a - -", "b b.company -", "c - -", "d - -", "e e.company -")
	})
}

// A belongs-to whose key exists nowhere is stored with it.
func TestCreateStoresAnAssociationWithItsKey(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		for id := uint(1); id <= 8; id++ {
			u := User{
				Model: gorm.Model{ID: id}, Name: fmt.Sprint("u", id), Manager: &User{Model: gorm.Model{ID: 100 + id}, Name: fmt.Sprint("m", id)},
				Pets: []*Pet{{Model: gorm.Model{ID: 10 + id}, Name: fmt.Sprint("p", id)}}, Company: Company{ID: int(id)/2 + 1, Name: "c"},
			}
			w.must(w.db.Create(&u).Error)
		}
		w.holds("pets", "p1 u1", "p2 u2", "p3 u3", "p4 u4", "p5 u5", "p6 u6", "p7 u7", "p8 u8")
		w.same("managers", len(w.rows("users")), 16)
		w.same("companies", len(w.rows("companies")), 5)
		w.same("their keys", sorted(w.stored("pets", "id", "")), "11 12 13 14 15 16 17 18")
	})
}

// Whatever fails among the associations, nothing of them and of their owner stays.
func TestCreateThatFailsLeavesNothing(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		if w.variant.gorm.SkipDefaultTransaction {
			return // GORM leaves what came before the failure
		}
		u := family("a")
		u.Friends[1].Languages = []Language{{Code: "longer than the column is"}}
		if err := w.unchanged(func() error { return w.db.Create(u).Error }); err == nil && !w.variant.sqlite {
			t.Error("a code that is too long was stored")
		}
		onPurpose := errors.New("on purpose")
		err := w.unchanged(func() error {
			return w.db.Transaction(func(tx *gorm.DB) error { return errors.Join(tx.Create(family("b")).Error, onPurpose) })
		})
		w.same("the error", err.Error(), onPurpose.Error())
	})
}
