package callbacks

import (
	"context"
	"database/sql/driver"
	"fmt"
	"reflect"

	"gorm.io/gorm/schema"

	"github.com/gormshard/sharding/internal/fault"
)

// setKey sets the key field of a model and fails where the field does not hold the
// key then: GORM cuts off what is too large for a field, and the rows would get
// keys that repeat. The field is empty after a failure, so that another attempt
// does not take what was left of the key for one of the application's.
func (g *keySetter) setKey(ctx context.Context, model reflect.Value, key any) error {
	err := g.field.Set(ctx, model, key)
	if err == nil && holds(ctx, g.field, model, key) {
		return nil
	}
	g.field.ReflectValueOf(ctx, model).SetZero()
	table := g.db.Statement.Table
	refusal := &fault.UnsupportedError{
		Clause: "key of " + table + "." + g.column, Err: err,
		Reason: fmt.Sprintf("what generator %s makes does not fit the field %s.%s (%s)", g.keys.KeyGenerator(table), g.field.Schema.Name, g.field.Name, g.field.FieldType),
		Remedy: "make the field int64, or use a generator of smaller keys, such as SEGMENT",
	}
	if _, text := key.(string); text {
		refusal.Reason = fmt.Sprintf("generator %s makes text, the field %s.%s is %s", g.keys.KeyGenerator(table), g.field.Schema.Name, g.field.Name, g.field.FieldType)
		refusal.Remedy, refusal.Err = "make the field a string, or use a generator of numbers, such as SNOWFLAKE", nil
	}
	return refusal
}

// holds reports whether a field holds a key that it was set to without an error.
// What a type of the application's makes of a key of another kind is its own
// affair: a text of a number, or the bytes of a text.
func holds(ctx context.Context, field *schema.Field, model reflect.Value, key any) bool {
	v := field.ReflectValueOf(ctx, model)
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return false
		}
		v = v.Elem()
	}
	want := reflect.ValueOf(key)
	if sameNumber(v, want) || v.Kind() == reflect.String {
		return true
	}
	held, zero := field.ValueOf(ctx, model)
	if valuer, ok := held.(driver.Valuer); ok {
		got, err := valuer.Value()
		if err != nil || got == nil {
			return false
		}
		v = reflect.ValueOf(got)
		return !numeric(v) || !numeric(want) || sameNumber(v, want)
	}
	switch {
	case v.Kind() == reflect.Bool:
		return false
	case numeric(v):
		return want.Kind() == reflect.String && fmt.Sprint(v.Interface()) == want.String()
	}
	return !zero
}

func numeric(v reflect.Value) bool { return v.CanInt() || v.CanUint() || v.CanFloat() }

// sameNumber reports whether both are numbers, and the same one.
func sameNumber(a, b reflect.Value) bool {
	switch {
	case a.CanInt() && b.CanInt():
		return a.Int() == b.Int()
	case a.CanUint() && b.CanUint():
		return a.Uint() == b.Uint()
	case a.CanInt() && b.CanUint():
		return a.Int() >= 0 && uint64(a.Int()) == b.Uint()
	case a.CanUint() && b.CanInt():
		return sameNumber(b, a)
	case a.CanFloat() && b.CanInt():
		f := a.Float()
		return f >= -1<<63 && f < 1<<63 && int64(f) == b.Int() && float64(b.Int()) == f
	case a.CanFloat() && b.CanUint():
		f := a.Float()
		return f >= 0 && f < 1<<64 && uint64(f) == b.Uint() && float64(b.Uint()) == f
	}
	return false
}
