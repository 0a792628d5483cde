package algorithm

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gormshard/sharding/internal/nearest"
)

// Reader reads the properties of an algorithm or a key generator with their
// types. It collects every fault, so that a factory reads all it knows and then
// returns Err:
//
//	r := algorithm.ReadProps(props)
//	count := r.Int("shardingCount", 1, 1024)
//	if err := r.Err(); err != nil {
//		return nil, err
//	}
//
// Property names match without regard to case and hyphens, so that sharding-count
// is shardingCount. A number may be given as any Go number without a fraction, or
// as text; a boolean also as text.
type Reader struct {
	props   Props
	known   []string
	aliases map[string]string // other names of properties
	errs    []error
}

// ReadProps returns a reader of props, which may be nil.
func ReadProps(props Props) *Reader { return &Reader{props: props} }

// Err returns what is wrong with the properties read so far, properties that
// nobody asked for included, or nil.
func (r *Reader) Err() error {
	var unknown []string
	for name := range r.props {
		if !slices.ContainsFunc(r.known, func(k string) bool { return r.means(name, k) }) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	errs := r.errs
	for _, name := range unknown {
		errs = append(errs, fmt.Errorf("unknown property %q; %s", name, nearest.HintOrList(name, r.known)))
	}
	return errors.Join(errs...)
}

// Int returns a required integer between low and high.
func (r *Reader) Int(name string, low, high int64) int64 {
	value, ok := r.required(name)
	if !ok {
		return low
	}
	return r.integer(name, value, low, high)
}

// IntOr is Int with a default.
func (r *Reader) IntOr(name string, fallback, low, high int64) int64 {
	value, ok := r.lookup(name)
	if !ok {
		return fallback
	}
	return r.integer(name, value, low, high)
}

// String returns a required text that is not empty.
func (r *Reader) String(name string) string {
	value, ok := r.required(name)
	if !ok {
		return ""
	}
	return r.text(name, value)
}

// StringOr is String with a default.
func (r *Reader) StringOr(name, fallback string) string {
	value, ok := r.lookup(name)
	if !ok {
		return fallback
	}
	return r.text(name, value)
}

func (r *Reader) text(name string, value any) string {
	s, ok := value.(string)
	if !ok || strings.TrimSpace(s) == "" {
		r.fault(name, "must be a text that is not empty")
	}
	return s
}

// OneOf returns the property as spelled in choices, of which the first is the
// default.
func (r *Reader) OneOf(name string, choices ...string) string {
	value, ok := r.lookup(name)
	if !ok {
		return choices[0]
	}
	if s, ok := value.(string); ok {
		for _, c := range choices {
			if strings.EqualFold(c, s) {
				return c
			}
		}
	}
	r.fault(name, "must be one of "+strings.Join(choices, ", "))
	return choices[0]
}

// BoolOr returns a boolean with a default.
func (r *Reader) BoolOr(name string, fallback bool) bool {
	value, ok := r.lookup(name)
	if !ok {
		return fallback
	}
	switch v := value.(type) {
	case bool:
		return v
	case string:
		switch strings.ToLower(v) {
		case "true":
			return true
		case "false":
			return false
		}
	}
	r.fault(name, "must be true or false")
	return fallback
}

// lookup finds a property and remembers its name as a known one. A property
// without a value counts as absent.
func (r *Reader) lookup(name string) (any, bool) {
	r.known = append(r.known, name)
	var found any
	matches := 0
	for key, value := range r.props {
		if r.means(key, name) {
			found = value
			matches++
		}
	}
	if matches > 1 {
		r.fault(name, "is given twice, in different spelling")
	}
	return found, found != nil
}

// alias makes other a name of the property too.
func (r *Reader) alias(name, other string) {
	if r.aliases == nil {
		r.aliases = map[string]string{}
	}
	r.aliases[name] = other
}

// means reports whether key, as written, is the property of that name.
func (r *Reader) means(key, name string) bool {
	key = withoutHyphens(key)
	alias, ok := r.aliases[name]
	return strings.EqualFold(key, withoutHyphens(name)) || ok && strings.EqualFold(key, alias)
}

func withoutHyphens(name string) string { return strings.ReplaceAll(name, "-", "") }

func (r *Reader) required(name string) (any, bool) {
	value, ok := r.lookup(name)
	if !ok {
		r.fault(name, "is missing")
	}
	return value, ok
}

func (r *Reader) integer(name string, value any, low, high int64) int64 {
	n, ok := toInt64(value)
	switch {
	case !ok:
		r.fault(name, "must be an integer")
	case n < low || n > high:
		r.fault(name, fmt.Sprintf("is %d, outside %d to %d", n, low, high))
	default:
		return n
	}
	return low
}

// wideInteger returns a required integer of the whole int64 and uint64 range.
func (r *Reader) wideInteger(name string) Value {
	value, ok := r.required(name)
	if !ok {
		return Int(0)
	}
	v, ok := toInteger(value)
	if !ok {
		r.fault(name, "must be an integer")
	}
	return v
}

// Texts returns the texts of a list, which may be given as one text with commas,
// without the white space around them. It is empty when the property is absent.
func (r *Reader) Texts(name string) []string {
	value, ok := r.lookup(name)
	if !ok {
		return nil
	}
	var list []string
	for _, element := range elements(value) {
		text, _ := element.(string)
		if text = strings.TrimSpace(text); text == "" {
			r.fault(name, "must be a list of texts that are not empty")
			return nil
		}
		list = append(list, text)
	}
	return list
}

// integers returns the integers of a list, which may be given as a text with
// commas, or as one integer. It is empty when the property is absent.
func (r *Reader) integers(name string) []Value {
	value, ok := r.lookup(name)
	if !ok {
		return nil
	}
	var list []Value
	for i, element := range elements(value) {
		v, ok := toInteger(element)
		if !ok {
			r.fault(name, fmt.Sprintf("must be a list of integers; element %d is none", i+1))
		}
		list = append(list, v)
	}
	return list
}

// elements takes a list apart.
func elements(value any) []any {
	if text, ok := value.(string); ok {
		value = strings.Split(text, ",")
	}
	list := reflect.ValueOf(value)
	if list.Kind() != reflect.Slice {
		return []any{value}
	}
	out := make([]any, list.Len())
	for i := range out {
		out[i] = list.Index(i).Interface()
	}
	return out
}

func (r *Reader) fault(name, reason string) {
	r.errs = append(r.errs, fmt.Errorf("property %q %s", name, reason))
}

func toInt64(value any) (int64, bool) {
	v, ok := toInteger(value)
	n, fits := v.Int64()
	return n, ok && fits
}

func toInteger(value any) (Value, bool) {
	switch v := value.(type) {
	case int:
		return Int(int64(v)), true
	case int32:
		return Int(int64(v)), true
	case int64:
		return Int(v), true
	case uint:
		return Uint(uint64(v)), true
	case uint32:
		return Uint(uint64(v)), true
	case uint64:
		return Uint(v), true
	case float64:
		// Floats from 2^53 on do not tell which integer was written.
		return Int(int64(v)), v == math.Trunc(v) && math.Abs(v) < 1<<53
	case string:
		text := strings.TrimSpace(v)
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return Int(n), true
		}
		n, err := strconv.ParseUint(text, 10, 64)
		return Uint(n), err == nil
	}
	return Int(0), false
}
