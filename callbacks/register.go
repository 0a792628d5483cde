// Package callbacks is the GORM side of the plugin: what only the model knows is
// settled here, before GORM builds the SQL.
package callbacks

import (
	"context"

	"gorm.io/gorm"
)

// Keys generates the values of key columns.
type Keys interface {
	// KeyColumn returns the lower-case name of the column of a logical table
	// that gets a generated value; ok is false when there is none.
	KeyColumn(table string) (column string, ok bool)
	// NextKey returns a new value for the table's key column.
	NextKey(ctx context.Context, table string) (any, error)
}

// Register adds the callbacks to db.
func Register(db *gorm.DB, keys Keys) error {
	return db.Callback().Create().
		After("gorm:before_create").Before("gorm:create").
		Register("sharding:generate_key", generateKey(keys))
}
