package callbacks

import (
	"context"
	"errors"
	"reflect"
	"slices"
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
	// Associated returns the sharding columns of a logical table, and the columns of
	// another one that hold the same values in rows that are associated with each
	// other, where child, one of the two, is the table whose rows refer to the
	// other's; none where that is not declared.
	Associated(table, with, child string) (columns, others []string)
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
		c.Delete().Before("gorm:delete_before_associations").Register("sharding:parents", func(db *gorm.DB) {
			if len(db.Statement.Selects) > 0 {
				tellParents(db, everyField)
			}
		}),
		c.Delete().After("gorm:delete_before_associations").Before("gorm:delete").Register("sharding:model", tellDelete(acquire)),
		c.Delete().After("gorm:delete").Before("gorm:after_delete").Register("sharding:forget_model", forgetModel),
		registerReads(db, acquire),
	)
}

// tellModels puts the primary keys and sharding values of the models of an UPDATE,
// DELETE or SELECT into its context. It runs behind the hooks, which may change them,
// and before GORM builds the statement: to set a column is to set it on the model.
func tellModels(acquire func() Rules) func(*gorm.DB) {
	return func(db *gorm.DB) {
		stmt := db.Statement
		if db.Error != nil || stmt.Schema == nil || stmt.SQL.Len() > 0 || len(stmt.Schema.PrimaryFields) == 0 {
			return
		}
		columns := shardingColumns(acquire, stmt.Table)
		if len(columns) == 0 {
			return
		}
		var few [4]*schema.Field
		fields := append(few[:0], stmt.Schema.PrimaryFields...)
		keys := len(fields)
		for _, column := range columns {
			if field := lookUp(stmt.Schema, column); field != nil {
				fields = append(fields, field)
			}
		}
		if len(fields) == keys {
			return
		}
		r := reader{ctx: stmt.Context}
		if !r.readAll(fields, keys, stmt.ReflectValue) {
			return
		}
		names := r.told.Room.Names[:0]
		for _, field := range fields {
			names = append(names, strings.ToLower(field.DBName))
		}
		r.told.Model = model.Model{Table: stmt.Table, Keys: names[:keys], Sharding: names[keys:], Rows: r.rows}
		stmt.Context = r.told
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
	ctx context.Context
	// told is made when the first model turns out to have a key.
	told *model.Context
	rows []model.Row
	room []any // for the values of the models to come
	// lenient leaves out models without a key.
	lenient bool
}

// readAll reads the fields of a model, or of every model of a slice: the first ones,
// as many as keys says, are the primary key, the others the sharding columns. It
// reports false where one of the models has no key, or no sharding value: nothing is
// told of the others then.
func (r *reader) readAll(fields []*schema.Field, keys int, value reflect.Value) bool {
	switch value.Kind() {
	case reflect.Struct:
		return r.read(fields, keys, value)
	case reflect.Slice, reflect.Array:
		for i := range value.Len() {
			if row := reflect.Indirect(value.Index(i)); row.Kind() != reflect.Struct || !r.read(fields, keys, row) {
				return false
			}
		}
		return len(r.rows) > 0
	}
	return false
}

func (r *reader) read(fields []*schema.Field, keys int, of reflect.Value) bool {
	first := r.value(fields[0], of)
	if first == nil {
		return r.lenient && !slices.ContainsFunc(fields[1:keys], func(f *schema.Field) bool { return r.value(f, of) != nil })
	}
	if r.told == nil {
		r.told = &model.Context{Context: r.ctx}
		r.rows, r.room = r.told.Room.Rows[:0], r.told.Room.Values[:]
	}
	n := len(fields)
	if len(r.room) < n {
		r.room = make([]any, n)
	}
	values := r.room[:n:n]
	r.room = r.room[n:]
	values[0] = first
	known := false
	for i := 1; i < n; i++ {
		values[i] = r.value(fields[i], of)
		if i < keys && values[i] == nil {
			return false
		}
		known = known || i >= keys && values[i] != nil
	}
	r.rows = append(r.rows, model.Row{Keys: values[:keys], Sharding: values[keys:]})
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
