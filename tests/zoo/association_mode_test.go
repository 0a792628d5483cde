//go:build unix

package zoo_test

import (
	"testing"

	"gorm.io/gorm"
)

func TestAssociationOfBelongsTo(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		a := w.families("a", "b")[0]
		var company Company
		w.must(w.db.Model(a).Association("Company").Find(&company))
		w.same("company", company.Name, "a.company")
		var boss User
		w.must(w.db.Model(a).Association("Manager").Find(&boss, "name LIKE ?", "%.boss"))
		w.same("boss", boss.Name, "a.boss")
		w.same("count", []int64{w.db.Model(a).Association("Company").Count(), w.db.Model(a).Where("name = ?", "x").Association("Manager").Count()}, []int64{1, 0})

		w.must(w.db.Model(a).Association("Company").Append(&Company{Name: "new"}))
		w.must(w.db.Model(a).Association("Manager").Replace(&User{Name: "new.boss"}))
		w.same("model", []string{a.Company.Name, a.Manager.Name}, []string{"new", "new.boss"})
		w.holds("companies", "a.company", "b.company", "new")
		w.same("user", w.user("a"), "a new new.boss")

		w.must(w.db.Model(a).Association("Company").Delete(&company)) // it is not a's any more
		w.same("user", w.user("a"), "a new new.boss")
		w.must(w.db.Model(a).Association("Company").Delete(&a.Company))
		w.same("user", w.user("a"), "a - new.boss")
		w.must(w.db.Model(a).Association("Manager").Clear())
		w.same("user", w.user("a"), "a - -")
		w.same("model", []bool{a.CompanyID == nil, a.ManagerID == nil}, []bool{true, true})

		w.must(w.db.Model(a).Association("Manager").Append(&User{Name: "last"}))
		w.must(w.db.Model(a).Association("Manager").Unscoped().Clear())
		w.same("manager", w.user("last"), "last - -") // of which GORM lost sight
		w.same("user", w.user("a"), "a - -")
		w.same("the other", w.user("b"), "b b.company b.boss")
	})
}

// user tells the user of a name as rows does, and what is stored twice, twice.
func (w *way) user(name string) string {
	w.t.Helper()
	var found string
	for _, row := range w.rows("users") {
		if len(row) > len(name) && row[:len(name)+1] == name+" " {
			found += row
		}
	}
	return found
}

func TestAssociationOfHasMany(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		users := w.families("a", "b")
		a := users[0]
		var pets []Pet
		w.must(w.db.Model(a).Association("Pets").Find(&pets))
		w.same("pets", petNames(pets), "a.cat a.dog")
		w.must(w.db.Model(a).Association("Pets").Find(&pets, "name LIKE ?", "%.dog"))
		w.same("dogs", petNames(pets), "a.dog")
		w.must(w.db.Model(a).Where("name <> ?", "a.dog").Order("name").Limit(1).Preload("Toy").Association("Pets").Find(&pets))
		w.same("with toys", []string{pets[0].Name, pets[0].Toy.Name}, []string{"a.cat", "a.mouse"})
		w.same("count", w.db.Model(a).Association("Pets").Count(), int64(2))
		w.same("count of cats", w.db.Model(a).Where("name LIKE ?", "%.cat").Association("Pets").Count(), int64(1))

		w.must(w.db.Model(a).Association("Pets").Append(&Pet{Name: "fish", Toy: Toy{Name: "fish.toy"}}, []Pet{{Name: "bird"}}[:1]))
		w.must(w.db.Model(a).Association("Pets").Append(map[string]any{"name": "mapped"}))
		w.holds("pets", "a.cat a", "a.dog a", "fish a", "bird a", "mapped a", "b.cat b", "b.dog b")
		w.same("model", petNames(a.Pets), "a.cat a.dog bird fish")
		w.must(w.db.Model(a).Association("Pets").Append(a.Pets[0])) // it is a's already
		w.same("stored once", len(w.rows("pets")), 7)

		w.must(w.db.Model(a).Association("Pets").Unscoped().Delete(a.Pets[0], &Pet{Model: gorm.Model{ID: users[1].Pets[0].ID}}))
		w.holds("pets", "a.cat a †", "a.dog a", "fish a", "bird a", "mapped a", "b.cat b", "b.dog b")
		w.must(w.db.Model(a).Association("Pets").Unscoped().Replace(&Pet{Name: "hen"}))
		w.holds("pets", "a.cat a †", "a.dog a †", "fish a †", "bird a †", "mapped a †", "hen a", "b.cat b", "b.dog b")
		w.must(w.db.Unscoped().Model(a).Association("Pets").Clear())
		w.holds("pets", "b.cat b", "b.dog b")

		// A foreign key that is not the sharding column may become NULL.
		w.must(w.db.Model(a).Association("Team").Append(&User{Name: "cyd"}))
		w.must(w.db.Model(a).Association("Team").Delete(&a.Team[0]))
		w.same("ann", w.user("a.ann"), "a.ann - -")
		w.must(w.db.Model(a).Association("Team").Replace(&User{Name: "dan"}))
		w.same("team", []string{w.user("a.bob"), w.user("cyd"), w.user("dan")}, []string{"a.bob - -", "cyd - -", "dan - a"})
		w.must(w.db.Model(a).Association("Team").Clear())
		w.same("dan", w.user("dan"), "dan - -")
		w.same("the other's", w.user("b.ann"), "b.ann - b")
	})
}

func TestAssociationOfHasOne(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		a := w.families("a", "b")[0]
		var account Account
		w.must(w.db.Model(a).Association("Account").Find(&account))
		w.same("account", account.Number, "a.account")
		w.same("count", w.db.Model(a).Association("Account").Count(), int64(1))
		w.must(w.db.Model(a).Association("Account").Unscoped().Replace(&Account{Number: "new"}))
		w.same("model", a.Account.Number, "new")
		w.holds("accounts", "a.account a †", "new a", "b.account b")
		w.must(w.db.Model(a).Association("Account").Unscoped().Delete(&a.Account))
		w.holds("accounts", "a.account a †", "new a †", "b.account b")
		w.must(w.db.Model(a).Association("Account").Unscoped().Append(&Account{Number: "third"}))
		w.must(w.db.Model(a).Association("Account").Unscoped().Clear())
		w.holds("accounts", "a.account a †", "new a †", "third a †", "b.account b")

		var toy Toy
		w.must(w.db.Model(a.Pets[0]).Association("Toy").Find(&toy))
		w.same("toy of a pet", toy.Name, "a.mouse")
		w.must(w.db.Model(a.Pets[0]).Association("Toy").Unscoped().Replace(&Toy{Name: "bell"}))
		w.holds("toys", "a.ball a users", "a.kite a users", "a.mouse a.cat pets †", "bell a.cat pets", "b.ball b users", "b.kite b users", "b.mouse b.cat pets")
	})
}

func TestAssociationOfPolymorphic(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		a := w.families("a", "b")[0]
		var toys []Toy
		w.must(w.db.Model(a).Association("Toys").Find(&toys))
		w.same("toys", toyNames(toys), "a.ball a.kite")
		w.must(w.db.Model(a).Association("Toys").Append(&Toy{Name: "hoop"}))
		w.same("count", w.db.Model(a).Association("Toys").Count(), int64(3))
		w.must(w.db.Model(a).Association("Toys").Unscoped().Delete(&a.Toys[0]))
		w.holds("toys", "a.ball a users †", "a.kite a users", "hoop a users", "a.mouse a.cat pets", "b.ball b users", "b.kite b users", "b.mouse b.cat pets")
		w.must(w.db.Model(a).Association("Toys").Unscoped().Replace(&Toy{Name: "top"}))
		w.must(w.db.Model(a).Association("Toys").Unscoped().Clear())
		w.holds("toys", "a.ball a users †", "a.kite a users †", "hoop a users †", "top a users †", "a.mouse a.cat pets", "b.ball b users", "b.kite b users", "b.mouse b.cat pets")
	})
}

func TestAssociationOfManyToMany(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		if w.limited() {
			return
		}
		users := w.families("a", "b")
		a, b := users[0], users[1]
		var languages []Language
		w.must(w.db.Model(a).Association("Languages").Find(&languages))
		w.same("languages", codes(languages), "a en")
		w.must(w.db.Model(a).Where("languages.code = ?", "en").Association("Languages").Find(&languages, "languages.name <> ?", "x"))
		w.same("found", codes(languages), "en")
		var friends []User
		w.must(w.db.Model(a).Order("users.name DESC").Limit(1).Association("Friends").Find(&friends))
		w.same("last friend", userNames(friends), "a.pal")
		w.same("counts", []int64{w.db.Model(a).Association("Languages").Count(), w.db.Model(a).Association("Friends").Count()}, []int64{2, 2})

		w.must(w.db.Model(a).Association("Languages").Append([]Language{{Code: "fr", Name: "French"}, {Code: "en", Name: "not written"}}))
		w.must(w.db.Model(a).Association("Languages").Append(map[string]any{"code": "it", "name": "Italian"}))
		w.must(w.db.Model(a).Association("Friends").Append(b, &User{Name: "new"}))
		w.must(w.db.Model(a).Association("Friends").Append(b))
		w.must(w.db.Model(b).Omit("Languages.*").Association("Languages").Append(&Language{Code: "fr"}, &Language{Code: "nowhere"}))
		w.holds("languages", "a of a", "b of b", "en English", "fr French", "it Italian")
		w.holds("user_speaks", "a a", "a en", "a fr", "a it", "b b", "b en", "b fr", "b nowhere")
		w.holds("user_friends", "a a.mate", "a a.pal", "a b", "a new", "b b.mate", "b b.pal")

		w.must(w.db.Model(a).Association("Languages").Delete(&Language{Code: "en"}, &Language{Code: "b"}))
		w.must(w.db.Model(a).Association("Friends").Delete(b))
		w.holds("user_speaks", "a a", "a fr", "a it", "b b", "b en", "b fr", "b nowhere")
		w.same("model", codes(a.Languages), "a fr it")
		w.must(w.db.Model(a).Association("Languages").Replace(&Language{Code: "fr"}, &Language{Code: "es", Name: "Spanish"}))
		w.must(w.db.Model(a).Association("Friends").Replace(b))
		w.holds("user_speaks", "a fr", "a es", "b b", "b en", "b fr", "b nowhere")
		w.holds("user_friends", "a b", "b b.mate", "b b.pal")
		w.must(w.db.Model(a).Association("Languages").Clear(), w.db.Model(b).Association("Friends").Unscoped().Clear())
		w.holds("user_speaks", "b b", "b en", "b fr", "b nowhere")
		w.holds("user_friends", "a b")
		w.same("languages stay", len(w.rows("languages")), 6)
	})
}

func TestAssociationsOfSeveral(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		if w.limited() {
			return
		}
		w.families("a", "b", "c")
		var users []User
		w.must(w.db.Where("name IN ?", []string{"a", "b", "c"}).Order("name").Find(&users).Error)
		all := w.db.Model(&users)
		var counts []int64
		for _, name := range []string{"Account", "Pets", "Toys", "Company", "Manager", "Team", "Languages", "Friends", "Orders"} {
			counts = append(counts, all.Session(&gorm.Session{}).Association(name).Count())
		}
		w.same("counts", counts, []int64{3, 6, 6, 3, 3, 6, 6, 6, 6})
		var pets []Pet
		w.must(all.Session(&gorm.Session{}).Order("name DESC").Limit(4).Offset(1).Association("Pets").Find(&pets))
		w.same("pets", []string{pets[0].Name, petNames(pets)}, []string{"c.cat", "a.dog b.cat b.dog c.cat"})
		var languages []Language
		w.must(all.Session(&gorm.Session{}).Association("Languages").Find(&languages))
		w.same("languages", codes(languages), "a b c en en en")
		var friends []User
		w.must(all.Session(&gorm.Session{}).Association("Friends").Find(&friends))
		w.same("friends", userNames(friends), "a.mate a.pal b.mate b.pal c.mate c.pal")

		on := func(name string) *gorm.Association { return w.db.Model(&users).Association(name) }
		w.must(on("Pets").Append(&Pet{Name: "1"}, &Pet{Name: "2"}, &Pet{Name: "3"}))
		w.must(on("Languages").Append(&Language{Code: "1"}, &[]Language{{Code: "2"}}[0], &Language{Code: "1"}))
		if err := on("Languages").Append(&Language{Code: "4"}); err == nil {
			t.Error("one language was given to three users")
		}
		w.holds("pets", "a.cat a", "a.dog a", "1 a", "b.cat b", "b.dog b", "2 b", "c.cat c", "c.dog c", "3 c")
		w.holds("user_speaks", "a a", "a en", "a 1", "b b", "b en", "b 2", "c c", "c en", "c 1")

		w.must(on("Languages").Replace(&Language{Code: "r"}, &Language{Code: "s"}, &Language{Code: "r"}))
		w.must(on("Company").Replace(&Company{Name: "x"}, &Company{Name: "y"}, &Company{Name: "z"}))
		w.must(on("Manager").Replace(&User{Name: "ma"}, &User{Name: "mb"}, &User{Name: "mc"}))
		w.must(on("Pets").Unscoped().Replace(&Pet{Name: "pa"}, &Pet{Name: "pb"}, &Pet{Name: "pc"}))
		w.holds("user_speaks", "a r", "b s", "c r")
		w.same("users", []string{w.user("a"), w.user("b"), w.user("c")}, []string{"a x ma", "b y mb", "c z mc"})
		w.holds("pets", "a.cat a †", "a.dog a †", "1 a †", "b.cat b †", "b.dog b †", "2 b †", "c.cat c †", "c.dog c †", "3 c †", "pa a", "pb b", "pc c")

		w.must(on("Languages").Delete(&Language{Code: "r"}), on("Company").Delete(&users[0].Company, &users[1].Company))
		w.holds("user_speaks", "b s")
		w.same("users", []string{w.user("a"), w.user("b"), w.user("c")}, []string{"a - ma", "b - mb", "c z mc"})
		// GORM saves c's company with the map of new values, and so writes it to all.
		w.must(on("Manager").Clear(), on("Friends").Clear(), on("Toys").Unscoped().Clear(), on("Account").Unscoped().Clear())
		w.same("users", []string{w.user("a"), w.user("b"), w.user("c")}, []string{"a z -", "b z -", "c z -"})
		w.holds("user_friends")
		w.holds("accounts", "a.account a †", "b.account b †", "c.account c †")
	})
}

func TestAssociationsInATransactionAreRolledBack(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		a := w.families("a")[0]
		_ = w.unchanged(func() error {
			return w.db.Transaction(func(tx *gorm.DB) error {
				w.must(
					tx.Model(a).Association("Pets").Append(&Pet{Name: "fish"}),
					tx.Model(a).Association("Languages").Replace(&Language{Code: "fr"}),
					tx.Model(a).Association("Friends").Clear(),
					tx.Model(a).Association("Company").Clear(),
					tx.Model(a).Association("Toys").Unscoped().Clear(),
				)
				return gorm.ErrInvalidTransaction
			})
		})
	})
}

// detached are the calls that make NULL of a foreign key by which the tables are
// sharded.
var detached = []struct {
	what string
	call func(db *gorm.DB, u *User) error
	// then are what the tables hold after it.
	table string
	then  []string
}{
	{
		"Association.Delete of a has-many by the sharding column", func(db *gorm.DB, u *User) error { return db.Model(u).Association("Pets").Delete(u.Pets[0]) },
		"pets",
		[]string{"a.cat -", "a.dog a"},
	},
	{
		"Association.Replace of a has-many by the sharding column", func(db *gorm.DB, u *User) error { return db.Model(u).Association("Pets").Replace(&Pet{Name: "fish"}) },
		"pets",
		[]string{"a.cat -", "a.dog -", "fish a"},
	},
	{
		"Association.Clear of a has-many by the sharding column", func(db *gorm.DB, u *User) error { return db.Model(u).Association("Pets").Clear() },
		"pets",
		[]string{"a.cat -", "a.dog -"},
	},
	{
		"Association.Append of a has-one by the sharding column", func(db *gorm.DB, u *User) error {
			return db.Model(u).Association("Account").Append(&Account{Number: "new"})
		},
		"accounts",
		[]string{"a.account -", "new a"},
	},
	{
		"Association.Delete of a has-one by the sharding column", func(db *gorm.DB, u *User) error { return db.Model(u).Association("Account").Delete(&u.Account) },
		"accounts",
		[]string{"a.account -"},
	},
	{
		"Association.Clear of a has-one by the sharding column", func(db *gorm.DB, u *User) error { return db.Model(u).Association("Account").Clear() },
		"accounts",
		[]string{"a.account -"},
	},
	{
		"Association.Clear of a polymorphic has-many by the sharding column", func(db *gorm.DB, u *User) error { return db.Model(u).Association("Toys").Clear() },
		"toys",
		[]string{"a.ball - users", "a.kite - users", "a.mouse a.cat pets"},
	},
}

// A row without an owner has no node. What is refused in a transaction leaves
// nothing.
func TestAssociationsAreNotDetachedFromTheirNode(t *testing.T) {
	for _, c := range detached {
		t.Run(c.what, func(t *testing.T) {
			eachWay(t, func(_ *testing.T, w *way) {
				a := w.families("a")[0]
				err := w.unchanged(func() error {
					return w.db.Transaction(func(tx *gorm.DB) error { return c.call(tx, a) })
				})
				if !w.refused(err, c.what) {
					w.holds(c.table, c.then...)
				}
			})
		})
	}
}
