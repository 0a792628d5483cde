//go:build unix

package zoo_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"
)

// seeded is the number of users of seed.
const seeded = 8

// epoch is when the first row of seed was made.
var epoch = time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)

// seed stores rows of all models. User i from 1 to 8 is 20+i years old and active
// where i is even; it works for company i%3+1 except for the last two, is managed
// by user 1 except for itself, speaks English and where i is even German, and is a
// friend of the next one. It has account i, pets 10i+1 and 10i+2, toy i, profile i,
// and the open order 10i+1 of i*100 and the paid order 10i+2 of i*200, each with
// items 1 and 2 behind its number, of price 10 and 20.
func (w *way) seed() {
	w.t.Helper()
	db := w.db.Omit("Account", "Pets", "Toys", "Profile", "Company", "Manager", "Team", "Languages", "Friends", "Orders", "Items").Session(&gorm.Session{})
	var users []User
	var accounts []Account
	var pets []Pet
	var toys []Toy
	var profiles []Profile
	var orders []Order
	var items []Item
	var speaks, friends []map[string]any
	for i := uint(1); i <= seeded; i++ {
		at := epoch.Add(time.Duration(i) * time.Hour)
		u := User{Name: fmt.Sprint("user ", i), Age: 20 + i, Active: i%2 == 0, Birthday: ptr(time.Date(1990, 1, int(i), 0, 0, 0, 0, time.UTC))}
		u.ID, u.CreatedAt, u.UpdatedAt = i, at, at
		if i <= 6 {
			u.CompanyID = ptr(int(i%3) + 1)
		}
		if i > 1 {
			u.ManagerID = ptr(uint(1))
		}
		users = append(users, u)
		account := Account{UserID: i, Number: fmt.Sprint("number ", i)}
		account.ID = i
		accounts = append(accounts, account)
		toy := Toy{Name: fmt.Sprint("toy ", i), OwnerID: i, OwnerType: "users"}
		toy.ID = i
		toys = append(toys, toy)
		profiles = append(profiles, Profile{
			ID: i, UserID: i, Names: Names{First: fmt.Sprint("first ", i), Last: "last"}, Tags: []string{"tag", fmt.Sprint(i)},
			Settings: map[string]string{"theme": fmt.Sprint(i)}, SeenAt: at.Unix(), Colour: Colour{Red: uint8(i)},
			Level: int(i), Motto: "none", Code: "xyz",
		})
		for k := uint(1); k <= 2; k++ {
			id := 10*i + k
			pet := Pet{UserID: i, Name: fmt.Sprint("pet ", id)}
			pet.ID = id
			pets = append(pets, pet)
			orders = append(orders, Order{ID: id, UserID: i, State: [2]string{"open", "paid"}[k-1], Amount: int64(i * k * 100), Version: 1, CreatedAt: at, UpdatedAt: at})
			for n := uint(1); n <= 2; n++ {
				items = append(items, Item{ID: 10*id + n, OrderID: id, UserID: i, Product: fmt.Sprint("product ", n), Price: int64(10 * n), Count: int(n)})
			}
		}
		speaks = append(speaks, map[string]any{"user_id": i, "language_code": "en"})
		if i%2 == 0 {
			speaks = append(speaks, map[string]any{"user_id": i, "language_code": "de"})
		}
		friends = append(friends, map[string]any{"user_id": i, "friend_id": i%seeded + 1})
	}
	w.must(
		db.Create([]Company{{ID: 1, Name: "one"}, {ID: 2, Name: "two"}, {ID: 3, Name: "three"}}).Error,
		db.Create([]Language{{Code: "en", Name: "English"}, {Code: "de", Name: "German"}}).Error,
		db.Create([]Coupon{{ID: 1, Code: "first", Percent: 10}, {ID: 2, Code: "second", Percent: 20}}).Error,
		db.Create(users).Error, db.Create(accounts).Error, db.Create(pets).Error, db.Create(toys).Error, db.Create(profiles).Error,
		db.Create(orders).Error, db.Create(items).Error,
		w.db.Table("user_speaks").Create(speaks).Error, w.db.Table("user_friends").Create(friends).Error,
	)
}

// same fails the test when two values differ.
func (w *way) same(what string, got, want any) {
	w.t.Helper()
	if !reflect.DeepEqual(got, want) {
		w.t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// names are those of users, in their order.
func names(users []User) string {
	var out []string
	for i := range users {
		out = append(out, strings.TrimPrefix(users[i].Name, "user "))
	}
	return strings.Join(out, " ")
}

// sorted are texts in order, in one.
func sorted(texts []string) string {
	slices.Sort(texts)
	return strings.Join(texts, " ")
}
