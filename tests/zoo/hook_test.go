//go:build unix

package zoo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"
)

// hooked is a user whose hooks do what the context says.
type hooked struct {
	gorm.Model
	Name      string
	Age       uint
	ManagerID *uint
	Pets      []hookedPet `gorm:"foreignKey:UserID"`
}

// TableName implements schema.Tabler.
func (hooked) TableName() string { return "users" }

// hookedPet is a pet whose hooks do what the context says.
type hookedPet struct {
	gorm.Model
	UserID uint
	Name   string
}

// TableName implements schema.Tabler.
func (hookedPet) TableName() string { return "pets" }

// hooks is the key in the context of what hooks do, and called notes them.
type hooks struct {
	called []string
	do     map[string]func(tx *gorm.DB, model any) error
}

type hooksKey struct{}

func (h *hooks) on(db *gorm.DB) *gorm.DB {
	return db.WithContext(context.WithValue(db.Statement.Context, hooksKey{}, h))
}

func hook(tx *gorm.DB, event, name string, model any) error {
	h, ok := tx.Statement.Context.Value(hooksKey{}).(*hooks)
	if !ok {
		return nil
	}
	h.called = append(h.called, event+" "+name)
	if do := h.do[event+" "+name]; do != nil {
		return do(tx, model)
	}
	if do := h.do[event]; do != nil {
		return do(tx, model)
	}
	return nil
}

// The hooks of GORM.
func (u *hooked) BeforeSave(tx *gorm.DB) error   { return hook(tx, "BeforeSave", u.Name, u) }
func (u *hooked) AfterSave(tx *gorm.DB) error    { return hook(tx, "AfterSave", u.Name, u) }
func (u *hooked) BeforeCreate(tx *gorm.DB) error { return hook(tx, "BeforeCreate", u.Name, u) }
func (u *hooked) AfterCreate(tx *gorm.DB) error  { return hook(tx, "AfterCreate", u.Name, u) }
func (u *hooked) BeforeUpdate(tx *gorm.DB) error { return hook(tx, "BeforeUpdate", u.Name, u) }
func (u *hooked) AfterUpdate(tx *gorm.DB) error  { return hook(tx, "AfterUpdate", u.Name, u) }
func (u *hooked) BeforeDelete(tx *gorm.DB) error { return hook(tx, "BeforeDelete", u.Name, u) }
func (u *hooked) AfterDelete(tx *gorm.DB) error  { return hook(tx, "AfterDelete", u.Name, u) }
func (u *hooked) AfterFind(tx *gorm.DB) error    { return hook(tx, "AfterFind", u.Name, u) }

// The hooks of GORM.
func (p *hookedPet) BeforeCreate(tx *gorm.DB) error { return hook(tx, "BeforeCreate", p.Name, p) }
func (p *hookedPet) AfterCreate(tx *gorm.DB) error  { return hook(tx, "AfterCreate", p.Name, p) }
func (p *hookedPet) AfterFind(tx *gorm.DB) error    { return hook(tx, "AfterFind", p.Name, p) }

func TestHooksAreCalledInOrder(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		h := &hooks{}
		db := h.on(w.db)
		expect := func(what string, want ...string) {
			w.t.Helper()
			if !slices.Equal(h.called, want) {
				w.t.Errorf("%s called %q, want %q", what, h.called, want)
			}
			h.called = nil
		}
		u := hooked{Name: "a", Pets: []hookedPet{{Name: "cat"}, {Name: "dog"}}}
		w.must(db.Create(&u).Error)
		expect("Create", "BeforeSave a", "BeforeCreate a", "BeforeCreate cat", "BeforeCreate dog", "AfterCreate cat", "AfterCreate dog", "AfterCreate a", "AfterSave a")
		several := []hooked{{Name: "b"}, {Name: "c"}, {Name: "d"}}
		w.must(db.Create(&several).Error)
		expect("Create of several", "BeforeSave b", "BeforeCreate b", "BeforeSave c", "BeforeCreate c", "BeforeSave d", "BeforeCreate d",
			"AfterCreate b", "AfterSave b", "AfterCreate c", "AfterSave c", "AfterCreate d", "AfterSave d")
		var found []hooked
		w.must(db.Preload("Pets").Order("name").Find(&found).Error)
		expect("Find", "AfterFind cat", "AfterFind dog", "AfterFind a", "AfterFind b", "AfterFind c", "AfterFind d")
		w.must(db.Model(&u).Omit("Pets").Update("age", 7).Error)
		expect("Update", "BeforeSave a", "BeforeUpdate a", "AfterUpdate a", "AfterSave a")
		w.must(db.Model(&u).Omit("Pets").UpdateColumn("age", 8).Error)
		expect("UpdateColumn")
		w.must(db.Session(&gorm.Session{SkipHooks: true}).Omit("Pets").Model(&u).Updates(map[string]any{"age": 9}).Error)
		expect("SkipHooks")
		w.must(db.Delete(&u).Error)
		expect("Delete", "BeforeDelete a", "AfterDelete a")
		w.must(db.Delete(&several).Error)
		expect("Delete of several", "BeforeDelete b", "BeforeDelete c", "BeforeDelete d", "AfterDelete b", "AfterDelete c", "AfterDelete d")
	})
}

// Hooks run other statements on other tables and nodes, in the transaction of
// theirs.
func TestHooksRunStatements(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		w.must(w.db.Create(&Coupon{Code: "c", Percent: 1}).Error)
		h := &hooks{do: map[string]func(tx *gorm.DB, model any) error{}}
		db := h.on(w.db)
		h.do["BeforeCreate"] = func(tx *gorm.DB, model any) error {
			if _, ok := model.(*hooked); !ok {
				return nil
			}
			var n int64
			return errors.Join(
				tx.Model(&User{}).Where("name = ?", "of a hook").Count(&n).Error,
				tx.Create(&User{Name: "of a hook"}).Error,
				tx.Model(&Coupon{}).Where("code = ?", "c").Update("percent", gorm.Expr("percent + 1")).Error,
			)
		}
		h.do["AfterCreate"] = func(tx *gorm.DB, model any) error {
			u, ok := model.(*hooked)
			if !ok {
				return nil
			}
			var again User
			return errors.Join(
				tx.First(&again, u.ID).Error,
				tx.Create(&Account{UserID: u.ID, Number: "of " + again.Name}).Error,
				tx.Create(&Company{Name: "of " + again.Name}).Error,
				tx.Session(&gorm.Session{NewDB: true}).Model(&Pet{}).Where("user_id = ?", u.ID).Update("name", gorm.Expr("UPPER(name)")).Error,
			)
		}
		users := []hooked{{Name: "a", Pets: []hookedPet{{Name: "cat"}}}, {Name: "b"}, {Name: "c", Pets: []hookedPet{{Name: "dog"}}}}
		w.must(db.Create(&users).Error)
		w.holds("users", "a - -", "b - -", "c - -", "of a hook - -", "of a hook - -", "of a hook - -")
		w.holds("accounts", "of a a", "of b b", "of c c")
		w.holds("companies", "of a", "of b", "of c")
		w.holds("pets", "CAT a", "DOG c")
		w.same("coupons", w.stored("coupons", "percent", ""), []string{"4"})

		h.do["AfterFind"] = func(tx *gorm.DB, model any) error {
			u, ok := model.(*hooked)
			if !ok {
				return nil
			}
			var account Account
			if err := tx.Where("user_id = ?", u.ID).Limit(1).Find(&account).Error; err != nil {
				return err
			}
			u.Name += " " + account.Number
			return nil
		}
		var found []hooked
		w.must(db.Preload("Pets").Where("name <> ?", "of a hook").Order("name").Find(&found).Error)
		w.same("found", []string{found[0].Name, found[1].Name, found[2].Name, found[2].Pets[0].Name}, []string{"a of a", "b of b", "c of c", "DOG"})
		found = nil
		w.must(db.Transaction(func(tx *gorm.DB) error {
			return tx.Where("name <> ?", "of a hook").Order("name DESC").Find(&found).Error
		}))
		w.same("in a transaction", found[0].Name, "c of c")
		clear(h.do)

		h.do["BeforeDelete"] = func(tx *gorm.DB, model any) error {
			return tx.Unscoped().Where("user_id = ?", model.(*hooked).ID).Delete(&Pet{}).Error
		}
		h.do["AfterUpdate"] = func(tx *gorm.DB, model any) error {
			return tx.Model(&Account{}).Where("user_id = ?", model.(*hooked).ID).Update("number", "updated").Error
		}
		w.must(db.Omit("Pets").Model(&users[1]).Updates(hooked{Age: 5}).Error)
		w.must(db.Delete(&users[0]).Error)
		w.holds("pets", "DOG c")
		w.holds("accounts", "of a a", "updated b", "of c c")
		w.same("user", w.user("a"), "a - - †")
	})
}

// A hook that fails undoes what was done on every node.
func TestHooksThatFailUndoEverything(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		if w.variant.gorm.SkipDefaultTransaction {
			return // nothing is undone without a transaction
		}
		existing := []hooked{{Name: "x", Pets: []hookedPet{{Name: "x.pet"}}}, {Name: "y"}, {Name: "z"}}
		w.must(w.db.Create(&existing).Error)
		onPurpose := errors.New("on purpose")
		fail := func(tx *gorm.DB, _ any) error {
			return errors.Join(tx.Create(&[]User{{Name: "1"}, {Name: "2"}, {Name: "3"}}).Error, onPurpose)
		}
		create := func(db *gorm.DB) error {
			return db.Create(&[]hooked{{Name: "a", Pets: []hookedPet{{Name: "cat"}}}, {Name: "b", Pets: []hookedPet{{Name: "dog"}}}, {Name: "c"}, {Name: "d"}}).Error
		}
		update := func(db *gorm.DB) error { return db.Omit("Pets").Model(&existing[1]).Update("age", 99).Error }
		remove := func(db *gorm.DB) error { return db.Unscoped().Select("Pets").Delete(&existing).Error }
		for event, run := range map[string]func(db *gorm.DB) error{
			"BeforeSave b": create, "BeforeCreate d": create, "AfterCreate c": create, "AfterCreate dog": create, "AfterSave d": create,
			"BeforeUpdate y": update, "AfterUpdate y": update, "AfterSave y": update,
			"BeforeDelete z": remove, "AfterDelete z": remove,
		} {
			h := &hooks{do: map[string]func(tx *gorm.DB, model any) error{event: fail}}
			err := w.unchanged(func() error { return run(h.on(w.db)) })
			if !errors.Is(err, onPurpose) {
				t.Errorf("%s: got %v", event, err)
			}
			// A nested transaction is undone alone.
			before := w.rows("users")
			w.must(w.db.Transaction(func(tx *gorm.DB) error {
				if err := tx.Transaction(func(tx *gorm.DB) error { return run(h.on(tx)) }); !errors.Is(err, onPurpose) {
					t.Errorf("%s, nested: got %v", event, err)
				}
				return tx.Create(&User{Name: "kept by " + event}).Error
			}))
			before = append(before, "kept by "+event+" - -")
			slices.Sort(before)
			w.same("after a nested transaction", w.rows("users"), before)
		}
		w.holds("pets", "x.pet x")
	})
}

// What a hook sets of the sharding column, before a row is stored, decides on its
// node.
func TestHooksSetTheShardingColumn(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		for id := uint(1); id <= 4; id++ {
			w.must(w.db.Create(&User{Model: gorm.Model{ID: id}, Name: fmt.Sprint("u", id)}).Error)
		}
		h := &hooks{do: map[string]func(tx *gorm.DB, model any) error{
			"BeforeCreate": func(tx *gorm.DB, model any) error {
				switch m := model.(type) {
				case *hookedPet:
					m.UserID++
				case *hooked:
					if m.ID == 0 {
						m.ID = 100 + m.Age
					}
					tx.Statement.SetColumn("Age", m.Age+1)
				}
				return nil
			},
		}}
		db := h.on(w.db)
		pets := []hookedPet{{UserID: 1, Name: "a"}, {UserID: 0, Name: "b"}, {UserID: 3, Name: "c"}, {UserID: 2, Name: "d"}}
		w.must(db.Create(&pets).Error)
		w.must(db.Create(&hookedPet{UserID: 3, Name: "e"}).Error)
		w.holds("pets", "a u2", "b u1", "c u4", "d u3", "e u4")
		users := []hooked{{Name: "v1", Age: 1}, {Name: "v2", Age: 2}, {Name: "v3", Age: 3}}
		w.must(db.Create(&users).Error)
		for i, u := range users {
			w.same("id", u.ID, uint(101+i))
			w.same("stored", w.stored("users", "age", fmt.Sprint("id = ", u.ID)), []string{fmt.Sprint(i + 2)})
			var again User
			w.must(w.db.First(&again, u.ID).Error)
			w.same("name", again.Name, u.Name)
		}
		var again []Pet
		w.must(w.db.Where("user_id = ?", 4).Find(&again).Error)
		w.same("pets of u4", petNames(again), "c e")
	})
}

func TestHooksSetColumnsAndAskForChanges(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		u := hooked{Name: "a", Age: 1}
		w.must(w.db.Create(&u).Error)
		var changed []string
		h := &hooks{do: map[string]func(tx *gorm.DB, model any) error{
			"BeforeUpdate": func(tx *gorm.DB, _ any) error {
				changed = append(changed, fmt.Sprint(tx.Statement.Changed("Name"), tx.Statement.Changed("Age"), tx.Statement.Changed()))
				if tx.Statement.Changed("Age") {
					tx.Statement.SetColumn("Name", "older")
				}
				return nil
			},
		}}
		db := h.on(w.db).Omit("Pets").Session(&gorm.Session{})
		w.must(db.Model(&u).Update("age", uint(1)).Error)
		w.must(db.Model(&u).Updates(map[string]any{"age": 2}).Error)
		w.same("name", w.user("older"), "older - -")
		w.must(db.Model(&u).Updates(hooked{Name: "b"}).Error)
		w.must(db.Model(&u).Select("Name").Updates(hooked{Name: "c", Age: 3}).Error)
		w.same("changed", strings.Join(changed, "; "), "false false false; false true true; true false true; true false true")
		w.same("name", w.user("c"), "c - -")
	})
}

// A *gorm.DB that a session made is used again and again, and a statement takes
// nothing over from the one before it.
func TestReuseOfGORMValues(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		w.families("a", "b")
		base := w.db.Where("name IN ?", []string{"a", "b"}).Session(&gorm.Session{})
		for range 3 {
			var users []User
			w.must(base.Preload("Pets").Order("name").Find(&users).Error)
			w.same("users", userNames(users), "a b")
			w.must(base.Where("name = ?", "b").Find(&users).Error)
			w.same("users", userNames(users), "b")
			var n int64
			w.must(base.Model(&User{}).Count(&n).Error)
			w.same("count", n, int64(2))
			w.must(base.Model(&User{}).Update("age", gorm.Expr("age + ?", 1)).Error)
		}
		w.same("ages", sorted(w.stored("users", "age", "name IN ('a','b')")), "21 21")

		// What a finisher returns has the statement in it still.
		tx := w.db.Where("name = ?", "a").Find(&[]User{})
		var n int64
		w.must(tx.Count(&n).Error)
		w.same("count after find", n, int64(1))
		created := w.db.Create(&User{Name: "c"})
		w.must(created.Error, created.Session(&gorm.Session{NewDB: true}).Create(&User{Name: "d"}).Error)
		w.same("created", []string{w.user("c"), w.user("d")}, []string{"c - -", "d - -"})

		w.must(w.db.Transaction(func(tx *gorm.DB) error {
			some := tx.Where("name = ?", "a").Session(&gorm.Session{})
			var u User
			return errors.Join(some.First(&u).Error, some.Model(&User{}).Update("age", 50).Error, some.Preload("Pets").Take(&u).Error, tx.Model(&u).Association("Pets").Append(&Pet{Name: "new"}))
		}))
		w.same("age", w.stored("users", "age", "name = 'a'"), []string{"50"})
		w.holds("pets", "a.cat a", "a.dog a", "new a", "b.cat b", "b.dog b")
	})
}
