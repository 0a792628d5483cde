//go:build unix

package zoo_test

import (
	"errors"
	"fmt"
	"testing"

	"gorm.io/gorm"

	"github.com/gormshard/sharding"
)

// moves let a user take over what another has, whose foreign key is the sharding
// column: GORM's upsert sets it in the row that has the key already.
var moves = []struct {
	what string
	// take makes the second user take over.
	take func(db *gorm.DB, from, to *User) error
	// table holds these rows afterwards.
	table string
	then  []string
}{
	{"Association.Append of another user's pet", func(db *gorm.DB, from, to *User) error {
		return db.Model(to).Association("Pets").Append(from.Pets[0])
	}, "pets", []string{"from.cat to", "from.dog from", "to.cat to", "to.dog to"}},
	{"Create with another user's pet", func(db *gorm.DB, from, to *User) error {
		return db.Create(&User{Model: gorm.Model{ID: to.ID - 800}, Name: "new", Pets: []*Pet{{Name: "own"}, from.Pets[0]}}).Error
	}, "pets", []string{"from.cat new", "from.dog from", "own new", "to.cat to", "to.dog to"}},
	{"Updates with another user's pet", func(db *gorm.DB, from, to *User) error {
		to.Pets = append(to.Pets, from.Pets[1])
		return db.Updates(to).Error
	}, "pets", []string{"from.cat from", "from.dog to", "to.cat to", "to.dog to"}},
	{"Updates in full with another user's pet", func(db *gorm.DB, from, to *User) error {
		to.Pets = append(to.Pets, from.Pets[1])
		return whole(db).Updates(to).Error
	}, "pets", []string{"from.cat from", "from.dog to", "to.cat to", "to.dog to"}},
	{"Create of several with another user's pets", func(db *gorm.DB, from, to *User) error {
		return db.Create([]*User{{Model: gorm.Model{ID: to.ID - 800}, Name: "n1", Pets: []*Pet{from.Pets[0]}}, {Model: gorm.Model{ID: to.ID - 1600}, Name: "n2", Pets: []*Pet{from.Pets[1], {Name: "own"}}}}).Error
	}, "pets", []string{"from.cat n1", "from.dog n2", "own n2", "to.cat to", "to.dog to"}},
	{"Association.Append of another user's toy", func(db *gorm.DB, from, to *User) error {
		return db.Model(to).Association("Toys").Append(&from.Toys[0])
	}, "toys", []string{"from.ball to users", "from.kite from users", "from.mouse from.cat pets", "to.ball to users", "to.kite to users", "to.mouse to.cat pets"}},
	{"Create with another user's account", func(db *gorm.DB, from, to *User) error {
		return db.Create(&User{Model: gorm.Model{ID: to.ID - 800}, Name: "new", Account: from.Account}).Error
	}, "accounts", []string{"from.account new", "to.account to"}},
	{"Association.Append of another user's orders", func(db *gorm.DB, from, to *User) error {
		return db.Model(to).Association("Orders").Append(&from.Orders[0], &Order{Amount: 30})
	}, "orders", []string{"10 to", "20 from", "10 to", "20 to", "30 to"}},
}

// base keeps the keys of these users apart from those that a database chooses.
const base = 800000

// What moves to another node is refused, and nothing is stored twice; within its
// node a row is given away.
func TestAssociationsOfAnotherAreTakenOverWithinANode(t *testing.T) {
	for _, c := range moves {
		t.Run(c.what, func(t *testing.T) {
			eachWay(t, func(t *testing.T, w *way) {
				for to := uint(1); to <= 4; to++ {
					w.reset.clear(t)
					from, heir := family("from"), family("to")
					from.ID, heir.ID = base+5, base+to
					w.must(w.db.Create(from).Error, w.db.Create(heir).Error)
					err := w.unchanged(func() error {
						if w.variant.gorm.SkipDefaultTransaction { // what was stored before a refusal stays
							return w.db.Transaction(func(tx *gorm.DB) error { return c.take(tx, from, heir) })
						}
						return c.take(w.db, from, heir)
					})
					if w.sharded() && to != 1 { // 1 and 5 share a node
						if !errors.Is(err, sharding.ErrShardingKeyUpdate) {
							t.Errorf("to user %d: got %v", to, err)
						}
						continue
					}
					w.must(err)
					w.holds(c.table, c.then...)
				}
			})
		})
	}
}

// A row that another user has under the same key in a table whose key holds the
// sharding column is another row.
func TestJoinRowsOfSeveralUsersAreNotConfused(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		var want []string
		for id := uint(1); id <= 8; id++ {
			u := User{Model: gorm.Model{ID: id}, Name: fmt.Sprint("u", id), Languages: []Language{{Code: "en", Name: "English"}}}
			w.must(w.db.Create(&u).Error)
			w.must(w.db.Model(&u).Association("Languages").Append(&Language{Code: "en"}))
			want = append(want, fmt.Sprintf("u%d en", id))
		}
		w.holds("user_speaks", want...)
	})
}
