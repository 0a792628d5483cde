// Package callbacks is the GORM side of the plugin: what only the model knows is
// settled here, before GORM builds the SQL.
package callbacks

import (
	"context"
	"errors"

	"gorm.io/gorm"
)

// Keys generates the values of key columns.
type Keys interface {
	// KeyColumn returns the lower-case name of the column of a logical table
	// that gets a generated value; ok is false when there is none. owner is the
	// column whose value the generator needs, empty for none.
	KeyColumn(table string) (column, owner string, ok bool)
	// NextKey returns a new value for the table's key column. owner is what the
	// application gives the owner column, nil where none is needed.
	NextKey(ctx context.Context, table string, owner any) (any, error)
	// KeyGenerator returns the name and the type of the generator of the table's
	// keys, for messages.
	KeyGenerator(table string) string
	// Release tells that the statement needs no more keys.
	Release()
}

// Rules is what the callbacks ask of the sharded tables.
type Rules interface {
	Keys
	Models
	// Mistaken returns the table with a rule that is probably meant by the name of
	// a table without one, and the data source that the latter is in; near is empty
	// where there is none.
	Mistaken(table string) (near, dataSource string)
}

// Register adds the callbacks to db. rules returns the rules of one statement.
func Register(db *gorm.DB, rules func() Rules) error {
	c := db.Callback()
	return errors.Join(
		refuseLaterResolver(db),
		c.Create().After("gorm:before_create").Before("gorm:create").Register("sharding:generate_key", generateKey(rules)),
		registerModels(db, rules),
		c.Create().After("gorm:create").Register("sharding:translate_error", translateError),
		c.Query().After("gorm:query").Register("sharding:translate_error", translateError),
		c.Update().After("gorm:update").Register("sharding:translate_error", translateError),
		c.Delete().After("gorm:delete").Register("sharding:translate_error", translateError),
		c.Row().After("gorm:row").Register("sharding:translate_error", translateError),
		c.Raw().Before("gorm:raw").Register("sharding:warn_unruled", warnUnruled(rules)),
		c.Raw().After("gorm:raw").Register("sharding:translate_error", translateError),
	)
}
