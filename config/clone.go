package config

import "reflect"

// Clone returns a copy that shares nothing with c that can be changed.
func (c *Config) Clone() *Config {
	if c == nil {
		return nil
	}
	out := copied(reflect.ValueOf(*c)).Interface().(Config)
	return &out
}

// copied returns a deep copy of a value of the kinds that a configuration is made
// of.
func copied(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice:
		if v.IsNil() {
			return v
		}
	}
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			out.Field(i).Set(copied(v.Field(i)))
		}
	case reflect.Pointer:
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(copied(v.Elem()))
	case reflect.Interface:
		out.Set(copied(v.Elem()))
	case reflect.Map:
		out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for entry := v.MapRange(); entry.Next(); {
			out.SetMapIndex(entry.Key(), copied(entry.Value()))
		}
	case reflect.Slice:
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(copied(v.Index(i)))
		}
	default:
		return v
	}
	return out
}
