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
				tellParents(db, columnsRead(db.Statement))
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
	has    func(*schema.Field) bool // whether a field holds what is stored
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
// into another type has other fields. has says which fields of the models hold what
// is stored; nil where that is not known.
func tellParents(db *gorm.DB, has func(*schema.Field) bool) {
	stmt := db.Statement
	if db.Error != nil {
		return
	}
	p := &parents{Context: stmt.Context, of: stmt}
	if has != nil && len(stmt.Joins) == 0 && stmt.Schema != nil && elementOf(stmt.ReflectValue) == stmt.Schema.ModelType {
		p.table, p.schema, p.value, p.has = stmt.Table, stmt.Schema, stmt.ReflectValue, has
	}
	stmt.Context = p
}

// everyField is for models that are as the caller gives them.
func everyField(*schema.Field) bool { return true }

// columnsRead returns which fields of the models a query has just set to what is
// stored: the others hold what they held before, as those of a struct that is used
// again do. It returns nil where that cannot be told, since the rows are not those of
// the table, or an expression may go by the name of a column.
func columnsRead(stmt *gorm.Statement) func(*schema.Field) bool {
	from, built := stmt.Clauses[clause.From{}.Name()].Expression.(clause.From)
	list, plain := stmt.Clauses[clause.Select{}.Name()].Expression.(clause.Select)
	switch {
	case !built || !plain || stmt.Schema == nil, // SQL of the caller's
		len(from.Joins) > 0 || len(from.Tables) > 0,
		stmt.TableExpr != nil && strings.ContainsAny(stmt.TableExpr.SQL, " ("):
		return nil
	case len(list.Columns) == 0:
		return everyField
	}
	var read []*schema.Field
	every := false
	for _, column := range list.Columns {
		if column.Alias != "" {
			return nil
		}
		for name := range strings.SplitSeq(column.Name, ",") {
			name = strings.ReplaceAll(strings.TrimSpace(name), "`", "")
			name = strings.TrimPrefix(name, stmt.Table+".")
			field := stmt.Schema.LookUpField(name)
			if every = every || name == "*"; name != "*" && field == nil {
				return nil
			}
			read = append(read, field)
		}
	}
	return func(f *schema.Field) bool { return every || slices.Contains(read, f) }
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
		if own == nil || other == nil || !p.has(own) {
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
		if field := lookUp(p.schema, column); field != nil && p.has(field) {
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
