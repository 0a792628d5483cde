package shardkernel

import (
	"database/sql/driver"
	"fmt"
	"reflect"
)

// Resolve asks a driver.Valuer for its value, once, so that the value a
// statement is routed by is the value that is stored. Everything else stays as
// it is and is converted by the node's driver. A nil pointer whose type has a
// Valuer of its value type is NULL, as in database/sql.
func Resolve(arg any) (v any, err error) {
	valuer, ok := arg.(driver.Valuer)
	if !ok {
		return arg, nil
	}
	if rv := reflect.ValueOf(arg); rv.Kind() == reflect.Pointer && rv.IsNil() && rv.Type().Elem().Implements(valuerType) {
		return nil, nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("sharding: the Value method of an argument of type %T panicked", arg)
		}
	}()
	return valuer.Value()
}

var valuerType = reflect.TypeFor[driver.Valuer]()

// ResolveAll resolves every argument. The slice given is not changed; it is
// returned when there is nothing to resolve.
func ResolveAll(args []any) ([]any, error) {
	for i, arg := range args {
		if _, ok := arg.(driver.Valuer); ok {
			return resolveFrom(args, i)
		}
	}
	return args, nil
}

func resolveFrom(args []any, first int) ([]any, error) {
	out := make([]any, len(args))
	copy(out, args[:first])
	for i := first; i < len(args); i++ {
		v, err := Resolve(args[i])
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}
