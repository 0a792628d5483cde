//go:build unix

package model_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
)

// Basket is an order with its lines, which are in a table that is bound to that of
// orders, and with an item that is in one that is not.
type Basket struct {
	ID       int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID   int64
	Status   int
	Version  int
	ParentID *int64
	Parts    []Part  `gorm:"foreignKey:OrderID"`
	Items    []Item  `gorm:"foreignKey:OrderID"`
	Part     *Part   `gorm:"foreignKey:OrderID"`
	Parent   *Basket `gorm:"foreignKey:ParentID"`
}

// TableName returns the logical table.
func (Basket) TableName() string { return "t_order" }

// Part is a line with its order, and another order that it only mentions by its qty.
type Part struct {
	OrderID int64 `gorm:"primaryKey;autoIncrement:false"`
	No      int   `gorm:"primaryKey;autoIncrement:false"`
	UserID  int64
	Qty     int
	Order   *Basket `gorm:"foreignKey:OrderID"`
	// Buyer is by the sharding column, in another sense than that of the tables.
	Buyer *Basket `gorm:"foreignKey:Qty;references:UserID"`
}

// TableName returns the logical table.
func (Part) TableName() string { return "t_line" }

// Watcher is an order whose lines are watched.
type Watcher struct {
	ID     int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID int64
	Parts  []Watched `gorm:"foreignKey:OrderID"`
}

// TableName returns the logical table.
func (Watcher) TableName() string { return "t_order" }

// Watched reads all lines when one is read, and those of its order.
type Watched struct {
	OrderID int64 `gorm:"primaryKey;autoIncrement:false"`
	No      int   `gorm:"primaryKey;autoIncrement:false"`
	UserID  int64
	All     int `gorm:"-"`
	Mine    int `gorm:"-"`
}

// TableName returns the logical table.
func (Watched) TableName() string { return "t_line" }

// AfterFind reads other lines with the context that GORM gives it.
func (w *Watched) AfterFind(tx *gorm.DB) error {
	var all, mine []Part
	db := tx.Session(&gorm.Session{NewDB: true})
	err := errors.Join(db.Find(&all).Error, db.Find(&mine, map[string]any{"order_id": []int64{w.OrderID, 1}}).Error)
	w.All, w.Mine = len(all), len(mine)
	return err
}

// read is a read through models, and what the nodes get for it: without a
// declaration, and with trustModel. It is 0 where it does not matter, and -1 where
// what was declared is not so.
type read struct {
	name           string
	run            func(*gorm.DB) (any, error)
	units, trusted int
	writes         bool // it runs in the transaction alone
}

func found[T any](change func(db *gorm.DB, m *T) *gorm.DB) func(*gorm.DB) (any, error) {
	return func(db *gorm.DB) (any, error) {
		var m T
		tx := change(db, &m)
		text, err := json.Marshal(&m)
		return fmt.Sprintf("%d %s", tx.RowsAffected, text), errors.Join(tx.Error, err)
	}
}

var reads = []read{
	{"first", found(func(db *gorm.DB, o *Order) *gorm.DB { o.ID, o.UserID = 3, 3; return db.First(o) }), 1, 1, false},
	{"find", found(func(db *gorm.DB, o *Order) *gorm.DB { o.ID, o.UserID = 3, 3; return db.Find(o) }), 1, 1, false},
	{"take of no row", found(func(db *gorm.DB, o *Order) *gorm.DB { o.ID, o.UserID = 99, 3; return db.Take(o) }), 4, 1, false},
	{"first without a user", found(func(db *gorm.DB, o *Order) *gorm.DB { o.ID = 3; return db.First(o) }), 4, 4, false},
	{"first of a changed user", found(func(db *gorm.DB, o *Order) *gorm.DB { o.ID, o.UserID = 3, 4; return db.First(o) }), 4, -1, false},
	{"under a condition", found(func(db *gorm.DB, o *Order) *gorm.DB { o.ID, o.UserID = 3, 3; return db.Where("status = ?", 1).First(o) }), 1, 1, false},
	{"under a condition that fails", found(func(db *gorm.DB, o *Order) *gorm.DB {
		o.ID, o.UserID = 3, 3
		return db.Where("status = ?", 2).First(o)
	}), 4, 1, false},
	{"under a choice", found(func(db *gorm.DB, o *Order) *gorm.DB {
		o.ID, o.UserID = 3, 3
		return db.Where("status = ?", 2).Or("id = ?", 4).First(o)
	}), 4, 1, false},
	{"of another key", found(func(db *gorm.DB, o *Order) *gorm.DB { o.ID, o.UserID = 3, 3; return db.First(o, 4) }), 0, 0, false},
	{"locked", found(func(db *gorm.DB, o *Order) *gorm.DB {
		o.ID, o.UserID = 3, 3
		return db.Clauses(clause.Locking{Strength: "UPDATE"}).First(o)
	}), 1, 1, false},
	{"behind the row", found(func(db *gorm.DB, o *Order) *gorm.DB { o.ID, o.UserID = 3, 3; return db.Limit(1).Offset(1).Find(o) }), 4, 1, false},
	{"of a softly deleted one", found(func(db *gorm.DB, o *Order) *gorm.DB {
		if err := db.Delete(&Order{ID: 5, UserID: 5}).Error; err != nil {
			panic(err)
		}
		o.ID, o.UserID = 5, 5
		return db.Unscoped().Find(o)
	}), 2, 2, true},
	{"of a count", func(db *gorm.DB) (any, error) {
		var n int64
		err := db.Model(&Order{ID: 3, UserID: 4}).Select("COUNT(*)").Row().Scan(&n)
		return n, err
	}, 0, -1, false},
	{"of a row", func(db *gorm.DB) (any, error) {
		var n int64
		err := db.Model(&Order{ID: 3, UserID: 3}).Select("user_id").Row().Scan(&n)
		return n, err
	}, 1, 1, false},
	{"of a key of two columns", found(func(db *gorm.DB, l *Line) *gorm.DB { l.OrderID, l.No, l.UserID = 3, 3, 3; return db.First(l) }), 1, 1, false},
	{"of half a key", found(func(db *gorm.DB, l *Line) *gorm.DB { l.OrderID, l.UserID = 3, 3; return db.First(l) }), 4, 4, false},
	{"of a key that is none", found(func(db *gorm.DB, l *Loose) *gorm.DB { l.ID, l.UserID = 1, 3; return db.Order("user_id").Find(l) }), 4, 4, false},
	{"of a text key", found(func(db *gorm.DB, d *Doc) *gorm.DB { d.ID, d.Region, d.Tenant = "doc3", 3, "T1"; return db.First(d) }), 1, 1, false},
	{"of half the sharding columns", found(func(db *gorm.DB, d *Doc) *gorm.DB { d.ID, d.Region = "doc3", 3; return db.First(d) }), 2, 2, false},
	{"first or create", found(func(db *gorm.DB, o *Order) *gorm.DB {
		o.ID, o.UserID = 3, 3
		return db.Where("status = ?", 1).FirstOrCreate(o)
	}), 1, 1, true},
	{"first or create anew", found(func(db *gorm.DB, o *Order) *gorm.DB { o.ID, o.UserID = 40, 3; return db.FirstOrCreate(o) }), 5, 2, true},
	{"into another type", found(func(db *gorm.DB, o *struct{ ID, UserID, Status int64 }) *gorm.DB {
		o.ID, o.UserID = 3, 3
		return db.Model(&Order{}).Where("id = ?", 4).Take(o)
	}), 0, 0, false},
	// Preload.
	{"parts of one", found(func(db *gorm.DB, b *Basket) *gorm.DB { return db.Preload("Parts").Where("user_id = ?", 3).First(b) }), 5, 2, false},
	{"parts of several on a node", found(func(db *gorm.DB, b *[]Basket) *gorm.DB {
		return db.Preload("Parts").Where("user_id IN ?", []int{1, 5}).Order("id").Find(b)
	}), 5, 2, false},
	{"parts of several", found(func(db *gorm.DB, b *[]Basket) *gorm.DB {
		return db.Preload("Parts").Where("user_id IN ?", []int{1, 2, 5}).Order("id").Find(b)
	}), 6, 4, false},
	{"parts of pointers under a condition", found(func(db *gorm.DB, b *[]*Part) *gorm.DB {
		var baskets []*Basket
		tx := db.Preload("Parts", "qty > ?", 0).Where("user_id = ?", 2).Find(&baskets)
		for _, basket := range baskets {
			for i := range basket.Parts {
				*b = append(*b, &basket.Parts[i])
			}
		}
		return tx
	}), 5, 2, false},
	{"one part", found(func(db *gorm.DB, p *Part) *gorm.DB {
		var b Basket
		tx := db.Preload("Part").Where("user_id = ?", 3).First(&b)
		*p = *b.Part
		return tx
	}), 5, 2, false},
	{"orders of parts", found(func(db *gorm.DB, o *Basket) *gorm.DB {
		var p []Part
		tx := db.Preload("Order").Where("user_id = ?", 3).Find(&p)
		*o = *p[0].Order
		return tx
	}), 5, 2, false},
	{"parts and their orders", found(func(db *gorm.DB, o *Basket) *gorm.DB {
		var b Basket
		tx := db.Preload("Parts.Order").Where("user_id = ?", 3).First(&b)
		*o = *b.Parts[0].Order
		return tx
	}), 9, 3, false},
	{"parts of orders whose users are not read", found(func(db *gorm.DB, b *Basket) *gorm.DB {
		return db.Select("id").Preload("Parts").Where("user_id = ?", 3).First(b)
	}), 5, 5, false},
	{"parts of an order read in part into one of another user", found(func(db *gorm.DB, b *Basket) *gorm.DB {
		b.UserID = 4
		return db.Select("id", "status").Preload("Parts").Where("user_id = ?", 3).First(b)
	}), 5, 5, false},
	{"parts of an order read without its user into one of another", found(func(db *gorm.DB, b *Basket) *gorm.DB {
		b.UserID = 4
		return db.Omit("user_id").Preload("Parts").Where("user_id = ?", 3).First(b)
	}), 5, 5, false},
	{"parts of an order read by SQL into one of another user", found(func(db *gorm.DB, b *Basket) *gorm.DB {
		b.UserID = 4
		return db.Raw("SELECT id FROM t_order WHERE user_id = ?", 3).Preload("Parts").Find(b)
	}), 5, 5, false},
	{"parts of orders of which columns are read", found(func(db *gorm.DB, b *[]Basket) *gorm.DB {
		return db.Select("id, `t_order`.user_id").Preload("Parts").Where("user_id = ?", 3).Find(b)
	}), 5, 2, false},
	{"parts of orders that go by the id of others", found(func(db *gorm.DB, b *[]Basket) *gorm.DB {
		return db.Select("*, id + 1 AS id").Preload("Parts").Where("user_id = ?", 3).Find(b)
	}), 5, 5, false},
	{"parts of a subquery's orders", found(func(db *gorm.DB, b *[]Basket) *gorm.DB {
		return db.Table("(?) AS t_order", db.Model(&Basket{}).Select("id, 4 AS user_id").Where("user_id = ?", 3)).Preload("Parts").Find(b)
	}), 5, 5, false},
	{"items, which are not bound", found(func(db *gorm.DB, b *Basket) *gorm.DB { return db.Preload("Items").Where("user_id = ?", 3).First(b) }), 5, 5, false},
	{"parents of the same table, who may be others", found(func(db *gorm.DB, o *Basket) *gorm.DB {
		if err := db.Exec("UPDATE t_order SET parent_id = 4 WHERE user_id = 3").Error; err != nil {
			panic(err)
		}
		var b Basket
		tx := db.Preload("Parent").Where("user_id = ?", 3).First(&b)
		*o = *b.Parent
		return tx
	}), 6, 6, true},
	{"buyers, by the sharding column", found(func(db *gorm.DB, o *Basket) *gorm.DB {
		if err := db.Exec("UPDATE t_line SET qty = 4 WHERE user_id = 3").Error; err != nil {
			panic(err)
		}
		var p Part
		tx := db.Preload("Buyer").Where("user_id = ?", 3).Take(&p)
		*o = *p.Buyer
		return tx
	}), 3, 3, true},
	{"parts beside a join", found(func(db *gorm.DB, b *Basket) *gorm.DB {
		return db.Joins("JOIN t_line ON t_line.user_id = t_order.user_id AND t_line.order_id = t_order.id").Preload("Parts").Where("t_order.user_id = ?", 3).First(b)
	}), 5, 5, false},
	{"parts with hooks", found(func(db *gorm.DB, b *[]Watcher) *gorm.DB {
		return db.Preload("Parts").Where("user_id IN ?", []int{3, 4}).Order("id").Find(b)
	}), 0, 0, false},
	{"parts with a choice", found(func(db *gorm.DB, b *Basket) *gorm.DB {
		return db.Preload("Parts", func(tx *gorm.DB) *gorm.DB { return tx.Or("order_id = ?", 3) }).Where("user_id = ?", 3).First(b)
	}), 5, 5, false},
}

// sameError reports whether both are nil, or no record was found.
func sameError(a, b error) bool {
	return a == nil && b == nil || errors.Is(a, gorm.ErrRecordNotFound) && errors.Is(b, gorm.ErrRecordNotFound)
}

// Reads that know the model give what they give without; the other nodes are asked
// where its own does not have the row, and not where trustModel says so.
func TestReadsOfModelsAreThoseOfOneDatabase(t *testing.T) {
	c := newCluster(t, "reads")
	in := []mode{modes[0], {name: "trusted", trust: true, returning: true}}
	if os.Getenv("SHARDING_TEST_LONG") != "" {
		in = append(in, modes[1:]...)
	}
	for _, m := range in {
		t.Run(m.name, func(t *testing.T) {
			p := c.open(t, m)
			p.must(t, seed(p.plain))
			p.must(t, seed(p.sharded))
			for _, r := range reads {
				t.Run(r.name, func(t *testing.T) { p.read(t, r, m.trust) })
			}
		})
	}
}

// read runs a read on both sides, for itself and in a transaction that is rolled back.
func (p *pair) read(t *testing.T, r read, trust bool) {
	units := r.units
	if trust {
		units = r.trusted
	}
	if units < 0 {
		return
	}
	undone := errors.New("undone")
	in := func(db *gorm.DB) (got any, err error) {
		outer := db.Transaction(func(tx *gorm.DB) error {
			got, err = r.run(tx)
			return undone
		})
		if !errors.Is(outer, undone) {
			t.Fatal(outer)
		}
		return got, err
	}
	want, wantErr := in(p.plain)
	p.sent.take()
	for range 2 { // the columns of the tables are known the second time
		got, err := in(p.sharded)
		sent := p.sent.take()
		if units > 0 && len(sent) != units {
			t.Errorf("the nodes got %d statements, want %d:\n%s", len(sent), units, strings.Join(sent, "\n"))
		}
		if !sameError(err, wantErr) || !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, error %v\nwant %v, error %v", got, err, want, wantErr)
		}
	}
	if r.writes {
		return
	}
	want, wantErr = r.run(p.plain)
	p.sent.take()
	got, err := r.run(p.sharded)
	if sent := p.sent.take(); units > 0 && len(sent) != units {
		t.Errorf("outside of a transaction the nodes got %d statements, want %d:\n%s", len(sent), units, strings.Join(sent, "\n"))
	}
	if !sameError(err, wantErr) || !reflect.DeepEqual(got, want) {
		t.Errorf("outside of a transaction got %v, error %v\nwant %v, error %v", got, err, want, wantErr)
	}
}

// What the others may have to answer for is audited before anything is sent.
func TestAuditsSeeTheOtherNodesOfARead(t *testing.T) {
	l := usual
	l.rules = func(trust bool) config.Sharding {
		s := usualRules(trust)
		order := s.Tables["t_order"]
		order.Audit = &config.Audit{MaxNodes: 2}
		s.Tables["t_order"] = order
		return s
	}
	c := newClusterOf(t, "audited", &l)
	for _, trust := range []bool{false, true} {
		p := c.open(t, mode{trust: trust, returning: true})
		p.must(t, seed(p.sharded.Session(&gorm.Session{CreateBatchSize: 1})))
		p.must(t, p.sharded.Find(&[]Order{}, "user_id = 1").Error)
		p.sent.take()
		err := p.sharded.First(order(3, 3)).Error
		sent := p.sent.take()
		if trust && (err != nil || len(sent) != 1) || !trust && (!errors.Is(err, sharding.ErrScatterDenied) || len(sent) > 0) {
			t.Errorf("trusted %t: error %v, sent %v", trust, err, sent)
		}
	}
}

func TestPreloadLeavesTheContextAsItWas(t *testing.T) {
	p := newCluster(t, "contexts").open(t, mode{trust: true, returning: true})
	p.must(t, seed(p.sharded))
	db := p.sharded.WithContext(t.Context())
	var b Basket
	tx := db.Preload("Parts.Order").Where("user_id = ?", 3).First(&b)
	p.must(t, tx.Error)
	if tx.Statement.Context != db.Statement.Context {
		t.Error("the context of the returned DB is not the caller's")
	}
}
