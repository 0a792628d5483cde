package callbacks

import (
	"reflect"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// generateKey sets the generated key on models and maps whose key is zero. It
// runs after the BeforeCreate hooks, which may set the key themselves, and
// before GORM builds the INSERT, so that the key is on the model whatever the
// database returns for a batch over several nodes.
func generateKey(acquire func() Rules) func(*gorm.DB) {
	return func(db *gorm.DB) {
		stmt := db.Statement
		if db.Error != nil || stmt.SQL.Len() > 0 {
			return
		}
		keys := acquire()
		defer keys.Release()
		column, owner, ok := keys.KeyColumn(stmt.Table)
		if !ok {
			return
		}
		g := keySetter{db: db, keys: keys, column: column, owner: owner}
		switch dest := stmt.Dest.(type) {
		case map[string]any:
			g.fillMap(dest)
		case *map[string]any:
			g.fillMap(*dest)
		case []map[string]any:
			g.fillMaps(dest)
		case *[]map[string]any:
			g.fillMaps(*dest)
		default:
			g.fillModels()
		}
	}
}

type keySetter struct {
	db     *gorm.DB
	keys   Keys
	column string
	owner  string // empty for none
	field  *schema.Field
	// ownerField is the field of owner, nil for none.
	ownerField *schema.Field
}

// fillModels sets the key field of the model, or of every model of a slice. A
// model without a field for the key column is left to the kernel, which adds
// the column to the INSERT.
func (g *keySetter) fillModels() {
	stmt := g.db.Statement
	if stmt.Schema == nil {
		return
	}
	g.field = lookUp(stmt.Schema, g.column)
	if g.field == nil || !g.inserted(g.field) {
		return
	}
	if g.owner != "" {
		if g.ownerField = lookUp(stmt.Schema, g.owner); g.ownerField == nil || !g.inserted(g.ownerField) {
			return // the kernel reads it from the INSERT
		}
	}
	value := stmt.ReflectValue
	switch value.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range value.Len() {
			if !g.fillModel(reflect.Indirect(value.Index(i))) {
				return
			}
		}
	case reflect.Struct:
		g.fillModel(value)
	}
}

// inserted reports whether the INSERT will have the field.
func (g *keySetter) inserted(field *schema.Field) bool {
	stmt := g.db.Statement
	if len(stmt.Selects) == 0 && len(stmt.Omits) == 0 { // spares the map below
		return field.Creatable
	}
	columns, restricted := stmt.SelectAndOmitColumns(true, false)
	use, listed := columns[field.DBName]
	return use || !listed && !restricted
}

func (g *keySetter) fillModel(model reflect.Value) bool {
	if !model.IsValid() || model.Kind() != reflect.Struct {
		return true // a nil pointer: GORM reports it
	}
	ctx := g.db.Statement.Context
	if _, zero := g.field.ValueOf(ctx, model); !zero {
		return true
	}
	var owner any
	if g.ownerField != nil {
		var zero bool
		if owner, zero = g.ownerField.ValueOf(ctx, model); zero && g.ownerField.HasDefaultValue {
			return true // the database chooses it
		}
	}
	key, err := g.keys.NextKey(ctx, g.db.Statement.Table, owner)
	if err == nil {
		err = g.setKey(ctx, model, key)
	}
	return g.db.AddError(err) == nil
}

func (g *keySetter) fillMaps(rows []map[string]any) {
	for _, row := range rows {
		if !g.fillMap(row) {
			return
		}
	}
}

// fillMap sets the key of a map, under the name it uses for it already.
func (g *keySetter) fillMap(row map[string]any) bool {
	if row == nil {
		return true
	}
	name, v := g.find(row, g.column)
	if v != nil && !reflect.ValueOf(v).IsZero() {
		return true
	}
	var owner any
	if g.owner != "" {
		if _, owner = g.find(row, g.owner); owner == nil {
			return true // the kernel says what is missing
		}
	}
	key, err := g.keys.NextKey(g.db.Statement.Context, g.db.Statement.Table, owner)
	if g.db.AddError(err) != nil {
		return false
	}
	row[name] = key
	return true
}

// find returns the value of a column in a map, and the name that the map uses for
// it, or has to.
func (g *keySetter) find(row map[string]any, column string) (name string, v any) {
	name = column
	var field *schema.Field
	if s := g.db.Statement.Schema; s != nil {
		if field = lookUp(s, column); field != nil {
			name = field.DBName
		}
	}
	for key, v := range row {
		if strings.EqualFold(key, column) || field != nil && key == field.Name {
			return key, v
		}
	}
	return name, nil
}

func lookUp(s *schema.Schema, column string) *schema.Field {
	if field, ok := s.FieldsByDBName[column]; ok {
		return field
	}
	for name, field := range s.FieldsByDBName {
		if strings.EqualFold(name, column) {
			return field
		}
	}
	return nil
}
