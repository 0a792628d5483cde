package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gormshard/sharding/internal/nearest"
)

// later are keys that the specification knows and this version does not honour.
// Ignoring them would answer differently from what the file says.
var later = map[reflect.Type][]string{
	reflect.TypeFor[Transaction](): {"xa"},

	reflect.TypeFor[BroadcastCheck](): {"interval"},
}

// decoder fills the structs from a document. It goes on after an error, so that
// all are found.
type decoder struct {
	faults
}

// key returns the name of a struct field in a file.
func key(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
	return name
}

// byPresence reports whether a field is set by its key alone, as in {none: {}}.
func byPresence(field reflect.StructField) bool { return field.Tag.Get("file") == "presence" }

// byList returns the field of a struct that a list in its place sets; ok is false
// where there is none.
func byList(t reflect.Type) (field int, ok bool) {
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("file") == "list" {
			return i, true
		}
	}
	return 0, false
}

func (d *decoder) value(path string, in any, out reflect.Value) {
	if in == nil {
		return
	}
	if out.Type() == reflect.TypeFor[time.Duration]() {
		d.duration(path, in, out)
		return
	}
	switch out.Kind() {
	case reflect.Pointer:
		out.Set(reflect.New(out.Type().Elem()))
		d.value(path, in, out.Elem())
	case reflect.Struct:
		d.structure(path, in, out)
	case reflect.Map:
		d.mapping(path, in, out)
	case reflect.Slice:
		d.list(path, in, out)
	case reflect.String:
		d.text(path, in, out)
	case reflect.Bool:
		d.boolean(path, in, out)
	case reflect.Int, reflect.Int64:
		d.integer(path, in, out)
	case reflect.Interface:
		if d.property(path, in) {
			out.Set(reflect.ValueOf(in))
		}
	default:
		panic("config: no decoding for " + out.Type().String())
	}
}

func (d *decoder) structure(path string, in any, out reflect.Value) {
	doc, ok := in.(document)
	if field, lists := byList(out.Type()); !ok && lists {
		d.value(path, in, out.Field(field))
		return
	}
	if !ok {
		d.wrong(path, "a map", in)
		return
	}
	var known []string
	for i := range out.NumField() {
		field := out.Type().Field(i)
		name := key(field)
		known = append(known, name)
		item, given := doc[name]
		switch {
		case given && byPresence(field):
			d.presence(join(path, name), item, out.Field(i))
		case given:
			d.value(join(path, name), item, out.Field(i))
		}
	}
	notYet := later[out.Type()]
	for _, name := range sortedNames(doc) {
		if slices.Contains(known, name) {
			continue
		}
		if slices.Contains(notYet, name) {
			if !empty(doc[name]) {
				d.add(join(path, name), "is not supported yet", "remove it")
			}
			continue
		}
		d.add(join(path, name), "unknown key", nearest.HintOrList(name, known))
	}
}

func (d *decoder) mapping(path string, in any, out reflect.Value) {
	doc, ok := in.(document)
	if !ok {
		d.wrong(path, "a map", in)
		return
	}
	if len(doc) == 0 {
		return
	}
	out.Set(reflect.MakeMapWithSize(out.Type(), len(doc)))
	for _, name := range sortedNames(doc) {
		item := reflect.New(out.Type().Elem()).Elem()
		d.value(join(path, name), doc[name], item)
		out.SetMapIndex(reflect.ValueOf(name), item)
	}
}

func (d *decoder) list(path string, in any, out reflect.Value) {
	items, ok := in.([]any)
	if !ok {
		text, isText := in.(string)
		if env, isEnv := in.(fromEnv); isEnv {
			text, isText = env.text, true
		}
		if !isText || out.Type().Elem().Kind() != reflect.String {
			d.wrong(path, "a list", in)
			return
		}
		for item := range strings.SplitSeq(text, ",") {
			items = append(items, strings.TrimSpace(item))
		}
	}
	if len(items) == 0 {
		return
	}
	out.Set(reflect.MakeSlice(out.Type(), len(items), len(items)))
	for i, item := range items {
		d.value(path+"["+strconv.Itoa(i)+"]", item, out.Index(i))
	}
}

func (d *decoder) text(path string, in any, out reflect.Value) {
	switch v := in.(type) {
	case string:
		out.SetString(v)
	case fromEnv:
		out.SetString(v.text)
	default:
		d.wrong(path, "a text", in)
	}
}

func (d *decoder) boolean(path string, in any, out reflect.Value) {
	switch v := in.(type) {
	case bool:
		out.SetBool(v)
		return
	case fromEnv:
		if b, err := strconv.ParseBool(v.text); err == nil {
			out.SetBool(b)
			return
		}
	}
	d.wrong(path, "true or false", in)
}

func (d *decoder) integer(path string, in any, out reflect.Value) {
	var n int64
	switch v := in.(type) {
	case int:
		n = int64(v)
	case int64:
		n = v
	case uint64:
		if v > math.MaxInt64 {
			d.add(path, "the number is too large", "")
			return
		}
		n = int64(v)
	case fromEnv:
		parsed, err := strconv.ParseInt(v.text, 10, 64)
		if err != nil {
			d.wrong(path, "a whole number", in)
			return
		}
		n = parsed
	default:
		d.wrong(path, "a whole number", in)
		return
	}
	if out.OverflowInt(n) {
		d.add(path, "the number is too large", "")
		return
	}
	out.SetInt(n)
}

func (d *decoder) duration(path string, in any, out reflect.Value) {
	text, isText := in.(string)
	if env, isEnv := in.(fromEnv); isEnv {
		text, isText = env.text, true
	}
	if isText {
		if v, err := time.ParseDuration(text); err == nil {
			out.SetInt(int64(v))
			return
		}
	} else if in == 0 {
		return
	}
	d.wrong(path, "a duration with its unit, such as 30s, 5m or 1h", in)
}

func (d *decoder) presence(path string, in any, out reflect.Value) {
	switch v := in.(type) {
	case nil:
		out.SetBool(true)
	case bool:
		out.SetBool(v)
	case document:
		for _, name := range sortedNames(v) {
			d.add(join(path, name), "unknown key", "")
		}
		out.SetBool(true)
	default:
		d.wrong(path, "{}", in)
	}
}

// property checks that a property holds only what Props may hold.
func (d *decoder) property(path string, in any) bool {
	ok := true
	switch v := in.(type) {
	case nil, string, bool, int, int64, uint64, float64:
	case []any:
		for i, item := range v {
			ok = d.property(path+"["+strconv.Itoa(i)+"]", item) && ok
		}
	case document:
		for _, name := range sortedNames(v) {
			ok = d.property(join(path, name), v[name]) && ok
		}
	default:
		d.wrong(path, "a number, true or false, a text, a list or a map", in)
		return false
	}
	return ok
}

// wrong reports a value of the wrong type, without the value.
func (d *decoder) wrong(path, want string, in any) {
	if env, ok := in.(fromEnv); ok {
		d.add(path, fmt.Sprintf("the environment variable %s must hold %s", env.name, want), "")
		return
	}
	d.add(path, fmt.Sprintf("must be %s, not %s", want, typeName(in)), "")
}

func typeName(in any) string {
	switch in.(type) {
	case nil:
		return "nothing"
	case string:
		return "a text"
	case bool:
		return "true or false"
	case int, int64, uint64:
		return "a whole number"
	case float64:
		return "a number with a fraction"
	case []any:
		return "a list"
	case document:
		return "a map"
	}
	return "a value of another kind"
}

// empty reports whether a value says nothing: it asks for no more than leaving
// its key out.
func empty(in any) bool {
	switch v := in.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case int:
		return v == 0
	case []any:
		return len(v) == 0
	case document:
		for _, item := range v {
			if !empty(item) {
				return false
			}
		}
		return true
	}
	return false
}
