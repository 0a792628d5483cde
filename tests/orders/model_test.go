//go:build unix

package orders_test

import (
	"time"

	"gorm.io/gorm"
)

// Order is an order as the application knows it.
type Order struct {
	ID        int64 `gorm:"primaryKey;autoIncrement:false"`
	EntID     int64
	RegionID  *int64
	Name      *string
	Code      *string
	Status    *string
	Amount    *string // DECIMAL
	Price     *string
	Small     *int8
	CreatedAt *time.Time
	State     string `gorm:"default:('fresh')"` // read back with RETURNING
	DeletedAt gorm.DeletedAt

	Region *Region `gorm:"foreignKey:RegionID"`
	Detail *Detail `gorm:"foreignKey:OrderID"`
	Items  []Item  `gorm:"foreignKey:OrderID"`
}

// TableName returns the logical table.
func (Order) TableName() string { return "t_ent_order" }

// afterCreate is the key of a func() error in the context that AfterCreate
// returns the result of.
type afterCreate struct{}

// AfterCreate is the hook that a test may let fail.
func (*Order) AfterCreate(tx *gorm.DB) error {
	if hook, ok := tx.Statement.Context.Value(afterCreate{}).(func() error); ok {
		return hook()
	}
	return nil
}

// Detail is one row an order, in the order's database.
type Detail struct {
	OrderID int64 `gorm:"primaryKey;autoIncrement:false"`
	EntID   int64
	Address *string
	Weight  *string
}

// TableName returns the logical table.
func (Detail) TableName() string { return "t_ent_order_detail" }

// Item is several rows an order.
type Item struct {
	ID      int64 // primary key by its name, generated
	EntID   int64
	OrderID int64
	Product *string
	Price   *string
	Count   *int64
}

// TableName returns the logical table.
func (Item) TableName() string { return "t_ent_order_item" }

// Region is the same in every database.
type Region struct {
	ID   int64 `gorm:"primaryKey;autoIncrement:false"`
	Name *string
}

// TableName returns the logical table.
func (Region) TableName() string { return "t_region" }

// Operator lives in the default data source, which numbers its rows.
type Operator struct {
	ID   int64
	Name string
}

// TableName returns the logical table.
func (Operator) TableName() string { return "t_operator" }

func ptr[T any](v T) *T { return &v }
