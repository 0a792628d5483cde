//go:build unix

package model_test

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"
)

// Order has an optimistic lock by hand, a soft delete, and refers to itself.
type Order struct {
	ID        int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID    int64
	Status    int
	Note      *string
	Version   int
	ParentID  *int64
	UpdatedAt *time.Time
	DeletedAt gorm.DeletedAt

	Parent   *Order  `gorm:"foreignKey:ParentID"`
	Children []Order `gorm:"foreignKey:ParentID"`
	Items    []Item  `gorm:"foreignKey:OrderID"`
}

// TableName returns the logical table.
func (Order) TableName() string { return "t_order" }

// Item has a sharding column of a type of its own and one that is a pointer.
type Item struct {
	ID      int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID  sql.NullInt64
	Kind    *int
	OrderID *int64
	Qty     int
}

// TableName returns the logical table.
func (Item) TableName() string { return "t_item" }

// tenant is a custom type, stored as its number.
type tenant string

// Value implements driver.Valuer.
func (t tenant) Value() (driver.Value, error) {
	if t == "" {
		return nil, nil
	}
	var n int64
	_, err := fmt.Sscanf(string(t), "T%d", &n)
	return n, err
}

// Scan implements sql.Scanner.
func (t *tenant) Scan(v any) error {
	*t = tenant(strings.TrimSpace(fmt.Sprintf("T%v", v)))
	return nil
}

// Doc has a key of text and a column with a default of the database.
type Doc struct {
	ID     string `gorm:"primaryKey;size:36"`
	Region int64
	Tenant tenant `gorm:"type:bigint"`
	Title  string `gorm:"default:untitled"`
}

// TableName returns the logical table.
func (Doc) TableName() string { return "t_doc" }

// Line has a key of two columns.
type Line struct {
	OrderID int64 `gorm:"primaryKey;autoIncrement:false"`
	No      int   `gorm:"primaryKey;autoIncrement:false"`
	UserID  int64
	Qty     int
}

// TableName returns the logical table.
func (Line) TableName() string { return "t_line" }

// Loose tells GORM of a key that is none: two rows may share an ID.
type Loose struct {
	ID     int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID int64
	Qty    int
}

// TableName returns the logical table.
func (Loose) TableName() string { return "t_loose" }
