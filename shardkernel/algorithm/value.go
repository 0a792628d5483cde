// Package algorithm holds the sharding algorithms: the interfaces an
// application implements to bring its own, the built-in ones, and the registry
// that names them.
package algorithm

import (
	"strconv"
	"time"
)

// Kind is the type of a Value.
type Kind uint8

// The kinds of a Value.
const (
	KindNull Kind = iota // SQL NULL
	KindInt              // an integer that fits int64
	KindUint             // an integer above the int64 range, up to 2^64-1
	KindText             // text in the connection's character set, or a decimal number written out
	KindTime             // a date and time as the column shows it, carried as a time in UTC whatever the zone
)

// Value is a sharding value, normalised to its column's type by the rules of
// the database: 12, int64(12), "12" and []byte("12") compared with an integer
// column are the same Value. It is immutable and comparable with ==.
type Value struct {
	kind Kind
	num  uint64
	text string
	wall time.Time
}

// Null is the SQL NULL.
func Null() Value { return Value{} }

// Int returns the Value of a signed integer.
func Int(v int64) Value { return Value{kind: KindInt, num: uint64(v)} }

// Uint returns the Value of an unsigned integer. Up to MaxInt64 it equals Int.
func Uint(v uint64) Value {
	if v <= 1<<63-1 {
		return Value{kind: KindInt, num: v}
	}
	return Value{kind: KindUint, num: v}
}

// Text returns the Value of a text.
func Text(s string) Value { return Value{kind: KindText, text: s} }

// Time returns the Value of a date and time. Its monotonic clock reading is
// dropped.
func Time(t time.Time) Value { return Value{kind: KindTime, wall: t.Round(0)} }

// Kind returns the type of v.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether v is the SQL NULL.
func (v Value) IsNull() bool { return v.kind == KindNull }

// Int64 returns v as a signed integer; ok is false unless the kind is KindInt.
func (v Value) Int64() (n int64, ok bool) { return int64(v.num), v.kind == KindInt }

// Uint64 returns v as an unsigned integer; ok is false for negative integers
// and for kinds other than KindInt and KindUint.
func (v Value) Uint64() (n uint64, ok bool) {
	return v.num, v.kind == KindUint || v.kind == KindInt && int64(v.num) >= 0
}

// Time returns v as a time; ok is false unless the kind is KindTime.
func (v Value) Time() (t time.Time, ok bool) { return v.wall, v.kind == KindTime }

// String returns v as text: an integer in decimal, a time as
// "2006-01-02 15:04:05.999999", NULL as "NULL".
func (v Value) String() string {
	switch v.kind {
	case KindInt:
		return strconv.FormatInt(int64(v.num), 10)
	case KindUint:
		return strconv.FormatUint(v.num, 10)
	case KindText:
		return v.text
	case KindTime:
		return v.wall.Format("2006-01-02 15:04:05.999999")
	}
	return "NULL"
}

// Compare orders two values of comparable kinds: integers by size, times by
// instant. ok is false for texts, whose order is the database's collation, for
// NULL, and for a mix of kinds.
func (v Value) Compare(w Value) (order int, ok bool) {
	switch {
	case v.isInteger() && w.isInteger():
		return v.compareInteger(w), true
	case v.kind == KindTime && w.kind == KindTime:
		return v.wall.Compare(w.wall), true
	}
	return 0, false
}

func (v Value) isInteger() bool { return v.kind == KindInt || v.kind == KindUint }

func (v Value) compareInteger(w Value) int {
	if v.kind != w.kind { // a KindUint is above every KindInt
		if v.kind == KindUint {
			return 1
		}
		return -1
	}
	if v.kind == KindInt {
		a, b := int64(v.num), int64(w.num)
		switch {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return 0
	}
	switch {
	case v.num < w.num:
		return -1
	case v.num > w.num:
		return 1
	}
	return 0
}
