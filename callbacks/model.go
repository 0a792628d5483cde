package callbacks

import (
	"context"
	"errors"
	"reflect"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/gormshard/sharding/internal/model"
	"github.com/gormshard/sharding/shardkernel"
)

// Models tells what the kernel wants to know of models.
type Models interface {
	// ShardingColumns returns the lower-case names of the columns that choose the
	// node of a row of a logical table; none where no model has to tell them.
	ShardingColumns(table string) []string
}

// registerModels puts what only the models know into the context of the one
// statement that is made of them. The context is what it was right behind that
// statement: GORM hands it on to hooks, associations and Preload. GORM runs what is
// registered After alone at the very end.
func registerModels(db *gorm.DB, acquire func() Rules) error {
	c := db.Callback()
	return errors.Join(
		c.Create().Before("sharding:generate_key").Register("sharding:upsert", tellUpsert(acquire)),
		c.Create().After("gorm:create").Before("gorm:save_after_associations").Register("sharding:forget_model", forgetModel),
		c.Update().Before("gorm:update").Register("sharding:model", tellModels(acquire)),
		c.Update().After("gorm:update").Before("gorm:save_after_associations").Register("sharding:forget_model", forgetModel),
		c.Delete().Before("gorm:delete").Register("sharding:model", tellModels(acquire)),
		c.Delete().After("gorm:delete").Before("gorm:after_delete").Register("sharding:forget_model", forgetModel),
	)
}

// tellModels puts the primary keys and sharding values of the models of an UPDATE
// or DELETE into its context. It runs behind the hooks, which may change them, and
// before GORM builds the statement: to set a column is to set it on the model.
func tellModels(acquire func() Rules) func(*gorm.DB) {
	return func(db *gorm.DB) {
		stmt := db.Statement
		if db.Error != nil || stmt.Schema == nil || stmt.SQL.Len() > 0 || len(stmt.Schema.PrimaryFields) == 0 {
			return
		}
		columns := shardingColumns(acquire, stmt.Table)
		if len(columns) == 0 || stmt.ReflectValue.Kind() == reflect.Struct && !hasKey(stmt, stmt.ReflectValue) {
			return
		}
		r := reader{ctx: stmt.Context, keys: stmt.Schema.PrimaryFields, sharding: make([]*schema.Field, 0, len(columns))}
		for _, column := range columns {
			if field := lookUp(stmt.Schema, column); field != nil {
				r.sharding = append(r.sharding, field)
			}
		}
		if len(r.sharding) == 0 || !r.readAll(stmt.ReflectValue) {
			return
		}
		columns = names(r.keys, r.sharding)
		stmt.Context = &model.Context{Context: stmt.Context, Model: model.Model{
			Table: stmt.Table, Keys: columns[:len(r.keys)], Sharding: columns[len(r.keys):], Rows: r.rows,
		}}
	}
}

// tellUpsert says of an INSERT with ON CONFLICT, such as that of Save, whether its
// rows have keys of the caller's. It runs before keys are generated.
func tellUpsert(acquire func() Rules) func(*gorm.DB) {
	return func(db *gorm.DB) {
		stmt := db.Statement
		if db.Error != nil || stmt.SQL.Len() > 0 {
			return
		}
		if _, upsert := stmt.Clauses[clause.OnConflict{}.Name()]; !upsert || len(shardingColumns(acquire, stmt.Table)) == 0 || !given(stmt) {
			return
		}
		stmt.Context = &model.Context{Context: stmt.Context, Model: model.Model{Table: stmt.Table, Upsert: true}}
	}
}

// given reports whether a row to be inserted may have a primary key already.
func given(stmt *gorm.Statement) bool {
	if stmt.Schema == nil {
		return true
	}
	switch value := stmt.ReflectValue; value.Kind() {
	case reflect.Struct:
		return hasKey(stmt, value)
	case reflect.Slice, reflect.Array:
		for i := range value.Len() {
			if row := reflect.Indirect(value.Index(i)); row.Kind() != reflect.Struct || hasKey(stmt, row) {
				return true
			}
		}
		return false
	}
	return true // maps
}

func shardingColumns(acquire func() Rules, table string) []string {
	rules := acquire()
	defer rules.Release()
	return rules.ShardingColumns(table)
}

func forgetModel(db *gorm.DB) {
	db.Statement.Context = model.Without(db.Statement.Context)
}

// reader reads the fields of models.
type reader struct {
	ctx            context.Context
	keys, sharding []*schema.Field
	rows           []model.Row
}

// readAll reads a model, or every model of a slice. It reports false where one of
// them has no key, or a value cannot be had: nothing is told of the others then.
func (r *reader) readAll(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.Struct:
		return r.read(value)
	case reflect.Slice, reflect.Array:
		for i := range value.Len() {
			if row := reflect.Indirect(value.Index(i)); row.Kind() != reflect.Struct || !r.read(row) {
				return false
			}
		}
		return len(r.rows) > 0
	}
	return false
}

func (r *reader) read(value reflect.Value) bool {
	values := make([]any, len(r.keys)+len(r.sharding))
	row := model.Row{Keys: values[:len(r.keys)], Sharding: values[len(r.keys):]}
	for i, field := range r.keys {
		if row.Keys[i] = r.value(field, value); row.Keys[i] == nil {
			return false
		}
	}
	known := false
	for i, field := range r.sharding {
		row.Sharding[i] = r.value(field, value)
		known = known || row.Sharding[i] != nil
	}
	r.rows = append(r.rows, row)
	return known
}

// value returns what a field would be bound as, nil where it is zero, NULL or
// cannot be had.
func (r *reader) value(field *schema.Field, of reflect.Value) any {
	v, zero := field.ValueOf(r.ctx, of)
	if zero {
		return nil
	}
	v, err := shardkernel.Resolve(v)
	if err != nil {
		return nil
	}
	return v
}

// hasKey reports whether a part of a model's primary key is not zero.
func hasKey(stmt *gorm.Statement, value reflect.Value) bool {
	for _, field := range stmt.Schema.PrimaryFields {
		if _, zero := field.ValueOf(stmt.Context, value); !zero {
			return true
		}
	}
	return false
}

// names returns the names of the fields' columns in lower case.
func names(keys, sharding []*schema.Field) []string {
	out := make([]string, 0, len(keys)+len(sharding))
	for _, fields := range [...][]*schema.Field{keys, sharding} {
		for _, field := range fields {
			out = append(out, strings.ToLower(field.DBName))
		}
	}
	return out
}
