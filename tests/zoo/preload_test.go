//go:build unix

package zoo_test

import (
	"fmt"
	"slices"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// loaded tells what was loaded into a user.
func loaded(u *User) string {
	text := fmt.Sprintf("%s: %s; %s; %s; %s", u.Name, u.Account.Number, petNames(u.Pets), toyNames(u.Toys), u.Company.Name)
	if u.Manager != nil {
		text += "; " + u.Manager.Name
	}
	return fmt.Sprintf("%s; %s; %s; %s; %d", text, userNames(u.Team), codes(u.Languages), userNames(u.Friends), len(u.Orders))
}

func TestPreloadOfEveryKind(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		w.families("a", "b")
		wantA := "a: a.account; a.cat a.dog; a.ball a.kite; a.company; a.boss; a.ann a.bob; a en; a.mate a.pal; 2"
		var users []User
		all := w.db.Preload("Account").Preload("Pets").Preload("Toys").Preload("Company").Preload("Manager").Preload("Team").Preload("Languages").Preload("Friends").Preload("Orders")
		w.must(all.Session(&gorm.Session{}).Order("name").Find(&users).Error)
		w.same("number of users", len(users), 12)
		w.same("a", loaded(&users[0]), wantA)
		w.same("a.ann", loaded(&users[1]), "a.ann: ; ; ; ; a; ; ; ; 0")
		w.same("a.boss", loaded(&users[3]), "a.boss: ; ; ; ; a; ; ; 0")
		var one User
		w.must(all.Session(&gorm.Session{}).Where("name = ?", "a").First(&one).Error)
		w.same("one", loaded(&one), wantA)
		var associations User
		w.must(w.db.Preload(clause.Associations).Take(&associations, "name = ?", "a").Error)
		w.same("associations", loaded(&associations), wantA)
		var pointers []*User
		w.must(w.db.Preload(clause.Associations).Where("name IN ?", []string{"a", "b"}).Order("name DESC").Find(&pointers).Error)
		w.same("pointers", loaded(pointers[1]), wantA)
		var none []User
		w.must(all.Session(&gorm.Session{}).Where("name = ?", "nobody").Find(&none).Error)
		w.same("nobody", len(none), 0)
	})
}

func TestPreloadNested(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		for _, name := range []string{"a", "b"} {
			u := family(name)
			u.Manager.Company = Company{Name: name + ".deep"}
			u.Manager.Pets = []*Pet{{Name: name + ".boss.pet", Toy: Toy{Name: name + ".boss.toy"}}}
			u.Friends[0].Languages = []Language{{Code: "fr", Name: "French"}}
			u.Team[0].Friends = []*User{{Name: name + ".third"}}
			w.must(w.db.Create(u).Error)
			for i := range u.Orders {
				w.must(w.db.Create(&[]Item{{OrderID: u.Orders[i].ID, UserID: u.ID, Product: "x"}, {OrderID: u.Orders[i].ID, UserID: u.ID, Product: "y"}}).Error)
			}
		}
		var users []User
		w.must(w.db.Where("name IN ?", []string{"a", "b"}).Order("name").Preload("Manager.Company").Preload("Manager.Pets.Toy").Preload("Friends.Languages").
			Preload("Team.Friends").Preload("Orders.Items").Preload("Pets.Toy").Find(&users).Error)
		for _, u := range users {
			w.same("company", u.Manager.Company.Name, u.Name+".deep")
			w.same("toy", u.Manager.Pets[0].Toy.Name, u.Name+".boss.toy")
			pal := slices.IndexFunc(u.Friends, func(f *User) bool { return f.Name == u.Name+".pal" })
			w.same("languages", codes(u.Friends[pal].Languages), "fr")
			ann := slices.IndexFunc(u.Team, func(f User) bool { return f.Name == u.Name+".ann" })
			w.same("third", userNames(u.Team[ann].Friends), u.Name+".third")
			w.same("items", []int{len(u.Orders), len(u.Orders[0].Items), len(u.Orders[1].Items)}, []int{2, 2, 2})
			cat := slices.IndexFunc(u.Pets, func(p *Pet) bool { return p.Name == u.Name+".cat" })
			w.same("toys", []string{u.Pets[cat].Toy.Name, u.Pets[1-cat].Toy.Name}, []string{u.Name + ".mouse", ""})
		}
	})
}

func TestPreloadWithConditions(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		w.families("a", "b", "c")
		names := []string{"a", "b", "c"}
		first := func(preload func(db *gorm.DB) *gorm.DB) *User {
			var users []User
			w.must(preload(w.db).Where("name IN ?", names).Order("name").Find(&users).Error)
			w.same("number", len(users), 3)
			return &users[1]
		}
		w.same("condition", petNames(first(func(db *gorm.DB) *gorm.DB { return db.Preload("Pets", "name LIKE ?", "%.dog") }).Pets), "b.dog")
		w.same("struct condition", petNames(first(func(db *gorm.DB) *gorm.DB { return db.Preload("Pets", Pet{Name: "b.cat"}) }).Pets), "b.cat")
		u := first(func(db *gorm.DB) *gorm.DB {
			return db.Preload("Pets", func(db *gorm.DB) *gorm.DB { return db.Order("pets.name DESC") })
		})
		w.same("order", []string{u.Pets[0].Name, u.Pets[1].Name}, []string{"b.dog", "b.cat"})
		u = first(func(db *gorm.DB) *gorm.DB {
			return db.Preload("Languages", func(db *gorm.DB) *gorm.DB { return db.Select("code").Order("languages.code DESC") })
		})
		w.same("columns", u.Languages, []Language{{Code: "en"}, {Code: "b"}})
		u = first(func(db *gorm.DB) *gorm.DB {
			return db.Preload("Friends", func(db *gorm.DB) *gorm.DB { return db.Order("name").Limit(3) })
		})
		w.same("limit over all", userNames(u.Friends), "b.mate")
		u = first(func(db *gorm.DB) *gorm.DB {
			if w.limited() {
				return db.Preload("Pets", "name = ?", "b.cat")
			}
			return db.Preload("Pets", func(db *gorm.DB) *gorm.DB {
				return db.Joins("JOIN toys ON toys.owner_id = pets.id AND toys.owner_type = 'pets'")
			})
		})
		w.same("join", petNames(u.Pets), "b.cat")
		u = first(func(db *gorm.DB) *gorm.DB {
			return db.Preload("Pets.Toy", "name = ?", "none").Preload("Pets", "name LIKE ?", "%.cat")
		})
		w.same("nested", []string{petNames(u.Pets), u.Pets[0].Toy.Name}, []string{"b.cat", ""})
		w.must(w.db.Where("name LIKE ?", "%.cat").Delete(&Pet{}).Error)
		w.same("deleted", petNames(first(func(db *gorm.DB) *gorm.DB { return db.Preload("Pets") }).Pets), "b.dog")
		w.same("unscoped", petNames(first(func(db *gorm.DB) *gorm.DB {
			return db.Preload("Pets", func(db *gorm.DB) *gorm.DB { return db.Unscoped() })
		}).Pets), "b.cat b.dog")
		w.same("unscoped outside", petNames(first(func(db *gorm.DB) *gorm.DB { return db.Unscoped().Preload("Pets") }).Pets), "b.cat b.dog")
	})
}

func TestPreloadOfManyParents(t *testing.T) {
	const n = 250
	eachWay(t, func(_ *testing.T, w *way) {
		var users []User
		for i := range n {
			u := User{Name: fmt.Sprintf("u%03d", i), Age: uint(i), Pets: []*Pet{{Name: fmt.Sprintf("p%03d", i)}, {Name: fmt.Sprintf("q%03d", i)}}, Languages: []Language{{Code: "en", Name: "English"}}}
			if i%3 == 0 {
				u.Languages = append(u.Languages, Language{Code: fmt.Sprint("l", i)})
			}
			users = append(users, u)
		}
		w.must(w.db.Create(&users).Error)
		for i := range users {
			users[i].Friends = []*User{&users[(i+1)%n], &users[(i+7)%n]}
			w.must(w.db.Omit("Friends.*").Model(&users[i]).Association("Friends").Append(users[i].Friends))
		}
		check := func(found []User, from int) {
			w.t.Helper()
			for k, u := range found {
				i := from + k
				want := fmt.Sprintf("u%03d p%03d q%03d %d %s", i, i, i, 1+(3-i%3)/3, userNames([]User{users[(i+1)%n], users[(i+7)%n]}))
				if got := fmt.Sprintf("%s %s %d %s", u.Name, petNames(u.Pets), len(u.Languages), userNames(u.Friends)); got != want {
					w.t.Errorf("got %s, want %s", got, want)
				}
			}
		}
		var found []User
		w.must(w.db.Preload("Pets").Preload("Languages").Preload("Friends").Order("name").Find(&found).Error)
		w.same("number", len(found), n)
		check(found, 0)

		var batch []User
		seen := 0
		tx := w.db.Preload("Pets").Preload("Languages").Preload("Friends").FindInBatches(&batch, 60, func(*gorm.DB, int) error {
			for _, u := range batch {
				check([]User{u}, int(u.Age))
			}
			seen += len(batch)
			return nil
		})
		w.must(tx.Error)
		w.same("in batches", []int64{int64(seen), tx.RowsAffected}, []int64{n, n})
		if w.limited() {
			return
		}
		w.same("associations of all", []int64{w.db.Model(&found).Association("Pets").Count(), w.db.Model(&found).Association("Friends").Count(), w.db.Model(&found).Association("Languages").Count()}, []int64{2 * n, 2 * n, n + 84})
	})
}

// authored reads users through embedded structs that hold associations.
type authored struct {
	ID     uint
	Name   string
	People people `gorm:"embedded"`
}

type people struct {
	CompanyID *int
	Company   *Company
	ManagerID *uint
	Manager   *User
	Pets      []Pet  `gorm:"foreignKey:UserID"`
	Deep      deeper `gorm:"embedded"`
}

type deeper struct {
	Account *Account `gorm:"foreignKey:UserID"`
}

// TableName implements schema.Tabler.
func (authored) TableName() string { return "users" }

func TestPreloadOfEmbedded(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		w.families("a", "b")
		for _, preload := range []func(db *gorm.DB) *gorm.DB{
			func(db *gorm.DB) *gorm.DB {
				return db.Preload("People.Company").Preload("People.Manager").Preload("People.Pets").Preload("People.Deep.Account")
			},
			func(db *gorm.DB) *gorm.DB { return db.Preload(clause.Associations) },
		} {
			var found []authored
			w.must(preload(w.db).Where("name IN ?", []string{"a", "b"}).Order("name").Find(&found).Error)
			for _, u := range found {
				w.same("embedded", []string{u.People.Company.Name, u.People.Manager.Name, petNames(u.People.Pets), u.People.Deep.Account.Number},
					[]string{u.Name + ".company", u.Name + ".boss", u.Name + ".cat " + u.Name + ".dog", u.Name + ".account"})
			}
		}
	})
}

func TestJoinsOfAssociations(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		if w.limited() {
			return
		}
		for _, name := range []string{"a", "b", "c"} {
			u := family(name)
			u.Manager.Company = Company{Name: name + ".deep"}
			u.Manager.Account = Account{Number: name + ".boss.account"}
			w.must(w.db.Create(u).Error)
		}
		find := func(tx *gorm.DB) (found []User) {
			w.t.Helper()
			w.must(tx.Where("users.name IN ?", []string{"a", "b", "a.boss"}).Order("users.name").Find(&found).Error)
			return found
		}
		found := find(w.db.Joins("Company"))
		w.same("companies", []string{found[0].Company.Name, found[1].Company.Name, found[2].Company.Name}, []string{"a.company", "a.deep", "b.company"})
		found = find(w.db.Joins("Account"))
		w.same("accounts", []string{found[0].Account.Number, found[1].Account.Number}, []string{"a.account", "a.boss.account"})
		found = find(w.db.InnerJoins("Account", w.db.Where(&Account{Number: "b.account"})))
		w.same("inner", loaded(&found[0]), "b: b.account; ; ; ; ; ; ; 0")
		found = find(w.db.Joins("Account", w.db.Where(&Account{Number: "b.account"})))
		w.same("with condition", []any{len(found), found[0].Account.Number, found[2].Account.Number}, []any{3, "", "b.account"})
		found = find(w.db.Joins("Manager"))
		w.same("managers", []any{len(found), found[0].Manager.Name, found[1].Manager == nil, found[2].Manager.Name}, []any{3, "a.boss", true, "b.boss"})
		found = find(w.db.InnerJoins("Manager"))
		w.same("inner managers", []any{len(found), found[0].Manager.Name, found[1].Manager.Name}, []any{2, "a.boss", "b.boss"})
		found = find(w.db.Joins("Manager.Company").Joins("Company").Joins("Manager.Account"))
		w.same("nested", []any{len(found), found[0].Manager.Company.Name, found[0].Company.Name, found[0].Manager.Account.Number, found[1].Manager == nil}, []any{3, "a.deep", "a.company", "a.boss.account", true})
		found = find(w.db.Joins("Manager", w.db.Omit("age")).Joins("Company", w.db.Select("name")))
		w.same("some columns", []any{found[0].Manager.Name, found[0].Company}, []any{"a.boss", Company{Name: "a.company"}})
		found = find(w.db.Joins("Manager").Preload("Manager.Account").Preload("Manager.Languages").Preload("Pets").Where("Manager.name = ?", "a.boss"))
		w.same("with preload", []any{len(found), found[0].Manager.Account.Number, petNames(found[0].Pets)}, []any{1, "a.boss.account", "a.cat a.dog"})
		var one User
		w.must(w.db.Joins("Company").Joins("Manager").First(&one, "users.name = ?", "c").Error)
		w.same("one", []string{one.Company.Name, one.Manager.Name}, []string{"c.company", "c.boss"})
		var count int64
		w.must(w.db.Model(&User{}).InnerJoins("Company").Count(&count).Error)
		w.same("count", count, int64(6))
		var pets []Pet
		w.must(w.db.Joins("Toy").Order("pets.name").Find(&pets).Error)
		w.same("polymorphic", []any{len(pets), pets[0].Toy.Name, pets[1].Toy.Name}, []any{6, "a.mouse", ""})
	})
}
