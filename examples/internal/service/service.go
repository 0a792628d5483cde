// Package service is an order service written as if there were one database:
// nothing in it knows of shards.
package service

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"
)

// Order is one row an order, sharded by enterprise over the databases.
type Order struct {
	ID        int64 `gorm:"primaryKey;autoIncrement:false"`
	EntID     int64
	RegionID  int64
	Status    string
	Amount    int64 // cents
	CreatedAt time.Time
}

// TableName returns the logical table.
func (Order) TableName() string { return "t_ent_order" }

// Detail is one row an order, in the order's database.
type Detail struct {
	OrderID int64 `gorm:"primaryKey;autoIncrement:false"`
	EntID   int64
	Address string
}

// TableName returns the logical table.
func (Detail) TableName() string { return "t_ent_order_detail" }

// Item is several rows an order, sharded by enterprise over the databases and
// over eight tables in each.
type Item struct {
	ID      int64 `gorm:"primaryKey;autoIncrement:false"`
	EntID   int64
	OrderID int64
	Product string
	Price   int64 // cents
	Count   int64
}

// TableName returns the logical table.
func (Item) TableName() string { return "t_ent_order_item" }

// Region is the same in every database.
type Region struct {
	ID   int64 `gorm:"primaryKey;autoIncrement:false"`
	Name string
}

// TableName returns the logical table.
func (Region) TableName() string { return "t_region" }

// Operator lives in the default database alone.
type Operator struct {
	ID   int64 `gorm:"primaryKey;autoIncrement:false"`
	Name string
}

// TableName returns the logical table.
func (Operator) TableName() string { return "t_operator" }

// StatusTotal is what all enterprises together ordered in one status.
type StatusTotal struct {
	Status  string
	Orders  int64
	Total   int64
	Average float64
}

// ErrOutOfStock makes a transaction roll back.
var ErrOutOfStock = errors.New("out of stock")

// Service is the order service. Make it with New.
type Service struct{ db *gorm.DB }

// New returns the service over a database.
func New(db *gorm.DB) Service { return Service{db: db} }

// Place stores an order with its detail and items, or nothing.
func (s Service) Place(ctx context.Context, order *Order, address string, items []Item) error {
	return s.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		if err := tx.Create(order).Error; err != nil {
			return err
		}
		if err := tx.Create(&Detail{OrderID: order.ID, EntID: order.EntID, Address: address}).Error; err != nil {
			return err
		}
		for i := range items {
			items[i].EntID, items[i].OrderID = order.EntID, order.ID
			if items[i].Count == 0 {
				return ErrOutOfStock
			}
		}
		return tx.Create(&items).Error
	})
}

// Order reads one order.
func (s Service) Order(ctx context.Context, entID, id int64) (Order, error) {
	var order Order
	err := s.db.WithContext(ctx).Where("ent_id = ?", entID).First(&order, id).Error
	return order, err
}

// Page lists an enterprise's orders, the newest first.
func (s Service) Page(ctx context.Context, entID int64, page, size int) ([]Order, error) {
	var orders []Order
	err := s.db.WithContext(ctx).Where("ent_id = ?", entID).
		Order("id DESC").Limit(size).Offset(page * size).Find(&orders).Error
	return orders, err
}

// Largest lists the largest orders of all enterprises.
func (s Service) Largest(ctx context.Context, n, skip int) ([]Order, error) {
	var orders []Order
	err := s.db.WithContext(ctx).Order("amount DESC, id").Limit(n).Offset(skip).Find(&orders).Error
	return orders, err
}

// Of lists the orders of several enterprises.
func (s Service) Of(ctx context.Context, entIDs ...int64) ([]Order, error) {
	var orders []Order
	err := s.db.WithContext(ctx).Where("ent_id IN ?", entIDs).Order("id").Find(&orders).Error
	return orders, err
}

// Totals sums the orders of all enterprises by status.
func (s Service) Totals(ctx context.Context) ([]StatusTotal, error) {
	var totals []StatusTotal
	err := s.db.WithContext(ctx).Model(&Order{}).
		Select("status, COUNT(*) AS orders, SUM(amount) AS total, AVG(amount) AS average").
		Group("status").Order("status").Scan(&totals).Error
	return totals, err
}

// ShippingLine is one item of an order with what is needed to ship it.
type ShippingLine struct {
	OrderID int64
	Product string
	Count   int64
	Region  string
}

// Shipping joins an enterprise's orders with their items and regions.
func (s Service) Shipping(ctx context.Context, entID int64) ([]ShippingLine, error) {
	var lines []ShippingLine
	err := s.db.WithContext(ctx).Table("t_ent_order o").
		Select("i.order_id, i.product, i.count, r.name AS region").
		Joins("JOIN t_ent_order_item i ON i.ent_id = o.ent_id AND i.order_id = o.id").
		Joins("JOIN t_region r ON r.id = o.region_id").
		Where("o.ent_id = ?", entID).Order("i.id").Scan(&lines).Error
	return lines, err
}

// Pay marks an order as paid.
func (s Service) Pay(ctx context.Context, entID, id int64) (int64, error) {
	tx := s.db.WithContext(ctx).Model(&Order{}).
		Where("ent_id = ? AND id = ? AND status = ?", entID, id, "new").Update("status", "paid")
	return tx.RowsAffected, tx.Error
}

// Purge deletes the cancelled orders of all enterprises.
func (s Service) Purge(ctx context.Context) (int64, error) {
	tx := s.db.WithContext(ctx).Where("status = ?", "cancelled").Delete(&Order{})
	return tx.RowsAffected, tx.Error
}
