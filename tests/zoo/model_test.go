//go:build unix

package zoo_test

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// User belongs to a company and to its manager, and owns nearly all the rest. It
// is sharded by its id.
type User struct {
	gorm.Model
	Name      string
	Age       uint
	Birthday  *time.Time
	Active    bool
	Account   Account
	Pets      []*Pet
	Toys      []Toy `gorm:"polymorphic:Owner"`
	Profile   Profile
	CompanyID *int
	Company   Company
	ManagerID *uint
	Manager   *User
	Team      []User     `gorm:"foreignKey:ManagerID"`
	Languages []Language `gorm:"many2many:user_speaks"`
	Friends   []*User    `gorm:"many2many:user_friends"`
	Orders    []Order
}

// Account is the one a user has. It is sharded by its user.
type Account struct {
	gorm.Model
	UserID uint
	Number string
}

// Pet is one of many of a user, sharded by it.
type Pet struct {
	gorm.Model
	UserID uint
	Name   string
	Toy    Toy `gorm:"polymorphic:Owner"`
}

// Toy belongs to a user or a pet, and is sharded by the owner's id.
type Toy struct {
	gorm.Model
	Name      string
	OwnerID   uint
	OwnerType string
}

// Company is a broadcast table.
type Company struct {
	ID   int
	Name string
}

// Language is a broadcast table with a text as key.
type Language struct {
	Code string `gorm:"primaryKey;size:20"`
	Name string
}

// Order is one of many of a user, sharded by it.
type Order struct {
	ID        uint
	UserID    uint
	State     string `gorm:"size:20;default:open"`
	Amount    int64
	Version   int64
	CreatedAt time.Time
	UpdatedAt time.Time
	Items     []Item
}

// Item is one of many of an order. It holds the order's user too, by which it is
// sharded: an application sets it together with the order.
type Item struct {
	ID      uint
	OrderID uint
	UserID  uint
	Product string `gorm:"size:50"`
	Price   int64
	Count   int
}

// Profile has a column of every kind that GORM or the database treats in its own
// way. It is sharded by its user.
type Profile struct {
	ID       uint
	UserID   uint              `gorm:"uniqueIndex"`
	Names    Names             `gorm:"embedded;embeddedPrefix:name_"`
	Tags     []string          `gorm:"serializer:json"`
	Settings map[string]string `gorm:"serializer:gob;type:blob"`
	SeenAt   int64             `gorm:"serializer:unixtime;type:datetime"`
	Colour   Colour
	Level    int    `gorm:"default:3"`
	Motto    string `gorm:"size:50;default:carpe diem"`
	Code     string `gorm:"size:20;default:(lower('ABC'))"`
	Made     int64  `gorm:"autoCreateTime:milli"`
	Touched  int64  `gorm:"autoUpdateTime:nano"`
	Fixed    string `gorm:"<-:create;size:20"`
	Unread   string `gorm:"->:false;<-;size:20"`
	Doubled  int    `gorm:"->;type:bigint GENERATED ALWAYS AS (level * 2) VIRTUAL;default:(-)"`
}

// Names is embedded.
type Names struct {
	First string `gorm:"size:20"`
	Last  string `gorm:"size:20"`
}

// Colour is stored as #rrggbb.
type Colour struct{ Red, Green, Blue uint8 }

// Value implements driver.Valuer.
func (c Colour) Value() (driver.Value, error) {
	return fmt.Sprintf("#%02x%02x%02x", c.Red, c.Green, c.Blue), nil
}

// Scan implements sql.Scanner.
func (c *Colour) Scan(v any) error {
	if b, ok := v.([]byte); ok {
		v = string(b)
	}
	text, ok := v.(string)
	if v == nil {
		*c = Colour{}
		return nil
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(text, "#"), 16, 24)
	if !ok || err != nil {
		return errors.Join(fmt.Errorf("%v is no colour", v), err)
	}
	*c = Colour{Red: uint8(n >> 16), Green: uint8(n >> 8), Blue: uint8(n)}
	return nil
}

// GormDataType implements schema.GormDataTypeInterface.
func (Colour) GormDataType() string { return "char(7)" }

// Coupon is a single table.
type Coupon struct {
	ID      uint
	Code    string `gorm:"size:20;uniqueIndex"`
	Percent int
}

// Club is a broadcast table.
type Club struct {
	ID   uint
	Name string
}

// Membership is a join table with more than keys, sharded by its user.
type Membership struct {
	UserID    uint   `gorm:"primaryKey;autoIncrement:false"`
	ClubID    uint   `gorm:"primaryKey;autoIncrement:false"`
	Role      string `gorm:"size:20;default:member"`
	Since     time.Time
	DeletedAt gorm.DeletedAt
}

// models are all of the zoo; the tables of user_speaks and user_friends come with
// the users.
var models = []any{
	&User{}, &Account{}, &Pet{}, &Toy{}, &Company{}, &Language{}, &Order{}, &Item{}, &Profile{}, &Coupon{}, &Club{}, &Membership{},
}

// tables are those of the models.
var tables = []string{
	"users", "accounts", "pets", "toys", "companies", "languages", "orders", "items", "profiles", "coupons", "user_speaks", "user_friends", "clubs", "memberships",
}

// ptr returns a pointer to a value.
func ptr[T any](v T) *T { return &v }

var _ schema.GormDataTypeInterface = Colour{}
