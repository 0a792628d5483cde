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
)

// registerReads tells reads of the model whose primary key GORM takes as condition,
// as in db.First(&order), and those of Preload of the models they are for.
func registerReads(db *gorm.DB, acquire func() Rules) error {
	c := db.Callback()
	return errors.Join(
		c.Query().Before("gorm:query").Register("sharding:model", tellRead(acquire)),
		c.Query().After("gorm:query").Before("gorm:preload").Register("sharding:parents", func(db *gorm.DB) {
			forgetModel(db)
			if len(db.Statement.Preloads) > 0 {
				tellParents(db)
			}
		}),
		c.Query().After("gorm:preload").Before("gorm:after_query").Register("sharding:forget_parents", forgetParents),
		c.Row().Before("gorm:row").Register("sharding:model", tellRead(acquire)),
		c.Row().After("gorm:row").Register("sharding:forget_model", forgetModel),
	)
}

func tellRead(acquire func() Rules) func(*gorm.DB) {
	tellModel := tellModels(acquire)
	return func(db *gorm.DB) {
		stmt := db.Statement
		if db.Error != nil || stmt.Schema == nil || stmt.SQL.Len() > 0 {
			return
		}
		switch stmt.ReflectValue.Kind() {
		case reflect.Struct:
			if stmt.ReflectValue.Type() == stmt.Schema.ModelType && hasKey(stmt, stmt.ReflectValue) {
				tellModel(db)
			}
		case reflect.Slice:
			if p, ok := stmt.Context.Value(parentsKey{}).(*parents); ok && p.schema != nil {
				p.tell(stmt, acquire)
			}
		}
	}
}

// parents are the models that Preload reads the associations of, or with which
// associations are deleted.
type parents struct {
	context.Context
	of     *gorm.Statement // that read them
	table  string
	schema *schema.Schema // nil where they are not known
	value  reflect.Value
}

type parentsKey struct{}

// Value implements context.Context.
func (p *parents) Value(key any) any {
	if key == (parentsKey{}) {
		return p
	}
	return p.Context.Value(key)
}

// tellDelete tells a DELETE of its models, or of those whose associations it deletes
// along with them, as db.Select("Items").Delete(&order) does.
func tellDelete(acquire func() Rules) func(*gorm.DB) {
	tellModel := tellModels(acquire)
	return func(db *gorm.DB) {
		forgetParents(db)
		stmt := db.Statement
		if p, ok := stmt.Context.Value(parentsKey{}).(*parents); ok && p.schema != nil && db.Error == nil && stmt.Schema != nil && stmt.SQL.Len() == 0 && p.tell(stmt, acquire) {
			return
		}
		tellModel(db)
	}
}

// tellParents puts the models that were just read, or are being deleted, into the
// context that GORM hands on to the statements of Preload, or of the associations
// that are deleted along. Those of joined associations are others, and what is read
// into another type has other fields.
func tellParents(db *gorm.DB) {
	stmt := db.Statement
	if db.Error != nil {
		return
	}
	p := &parents{Context: stmt.Context, of: stmt}
	if len(stmt.Joins) == 0 && stmt.Schema != nil && elementOf(stmt.ReflectValue) == stmt.Schema.ModelType {
		p.table, p.schema, p.value = stmt.Table, stmt.Schema, stmt.ReflectValue
	}
	stmt.Context = p
}

// elementOf returns the type of a value, or of the elements of a slice of values or
// of pointers to them.
func elementOf(v reflect.Value) reflect.Type {
	if !v.IsValid() {
		return nil
	}
	t := v.Type()
	if t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

func forgetParents(db *gorm.DB) {
	if p, ok := db.Statement.Context.(*parents); ok && p.of == db.Statement {
		db.Statement.Context = p.Context
	}
}

// tell tells a statement about an association of the parents which sharding values
// its rows are declared to have. It reports whether it did.
func (p *parents) tell(stmt *gorm.Statement, acquire func() Rules) bool {
	of := &p.schema.Relationships
	for _, list := range [][]*schema.Relationship{of.HasMany, of.HasOne, of.BelongsTo} {
		for _, rel := range list {
			if rel.FieldSchema.ModelType == stmt.Schema.ModelType && rel.Polymorphic == nil && p.tellOf(stmt, rel, acquire) {
				return true
			}
		}
	}
	return false
}

// tellOf does so for one association. It reports false where the statement is not
// about it, or nothing is declared of it.
func (p *parents) tellOf(stmt *gorm.Statement, rel *schema.Relationship, acquire func() Rules) bool {
	var fields []*schema.Field // of the parents
	var keys []string
	for _, ref := range rel.References {
		own, other := ref.ForeignKey, ref.PrimaryKey
		if ref.OwnPrimaryKey {
			own, other = other, own
		}
		if own == nil || other == nil {
			return false
		}
		fields, keys = append(fields, own), append(keys, strings.ToLower(other.DBName))
	}
	if !reads(stmt, keys) {
		return false
	}
	child := p.table
	if rel.Type != schema.BelongsTo {
		child = stmt.Table
	}
	columns, others := associated(acquire, stmt.Table, p.table, child)
	if len(others) == 0 {
		return false
	}
	// Where the association is one by sharding columns, the condition leads to the
	// nodes, and the other ones may hold values of other rows.
	if slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(columns, key) }) ||
		slices.ContainsFunc(fields, func(f *schema.Field) bool { return slices.Contains(others, strings.ToLower(f.DBName)) }) {
		return false
	}
	n := len(fields)
	var names []string
	for i, column := range others {
		if field := lookUp(p.schema, column); field != nil {
			fields, names = append(fields, field), append(names, columns[i])
		}
	}
	r := reader{ctx: p.Context, lenient: true}
	if len(names) == 0 || !r.readAll(fields, n, p.value) || len(r.rows) == 0 {
		return false
	}
	r.told.Context = stmt.Context
	r.told.Model = model.Model{Table: stmt.Table, Associated: true, Keys: keys, Sharding: names, Rows: r.rows}
	stmt.Context = r.told
	return true
}

func associated(acquire func() Rules, table, with, child string) (columns, others []string) {
	rules := acquire()
	defer rules.Release()
	return rules.Associated(table, with, child)
}

// reads reports whether a condition of the statement lists values of the columns.
func reads(stmt *gorm.Statement, columns []string) bool {
	where, _ := stmt.Clauses[clause.Where{}.Name()].Expression.(clause.Where)
	return slices.ContainsFunc(where.Exprs, func(x clause.Expression) bool {
		in, ok := x.(clause.IN)
		if !ok {
			return false
		}
		switch of := in.Column.(type) {
		case clause.Column:
			return len(columns) == 1 && strings.EqualFold(of.Name, columns[0])
		case []clause.Column:
			return slices.EqualFunc(of, columns, func(c clause.Column, name string) bool { return strings.EqualFold(c.Name, name) })
		}
		return false
	})
}
