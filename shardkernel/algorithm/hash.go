package algorithm

import (
	"errors"
	"math/big"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/gormshard/sharding/internal/inline"
)

// errNoJavaHash is returned for what Java programs hash in several ways.
var errNoJavaHash = errors.New("there is no hash of dates and times that agrees with Java; set hash: xxhash64")

// readHash reads the properties hash and javaType. A Java hash is signed; fold
// makes it the number that the algorithm goes on with.
//
// hash javaCompatible, the default, is Java's hashCode. That of an integer
// depends on its type there: javaType long, the default, is for BIGINT columns
// and Long fields, integer for INT columns and Integer fields. Integers above
// the signed 64-bit range hash as BigInteger.
//
// hash xxhash64 is the XXH64 of the value written out, which spreads better and
// knows no types: 12 and "12" have the same hash.
//
// The text names the choice.
func readHash(r *Reader, fold func(int32) uint64) (hash func(Value) (uint64, error), text string) {
	if text = r.OneOf("hash", "javaCompatible", "xxhash64"); text == "xxhash64" {
		return xxhash64, text
	}
	java, javaType := javaLong, r.OneOf("javaType", "long", "integer")
	if javaType == "integer" {
		java = javaInteger
	}
	return func(v Value) (uint64, error) {
		h, err := java(v)
		return fold(h), err
	}, text + " of " + javaType
}

func xxhash64(v Value) (uint64, error) {
	switch v.Kind() {
	case KindNull:
		return 0, errNull
	case KindInt:
		var buf [20]byte
		return xxhash.Sum64(strconv.AppendInt(buf[:0], int64(v.num), 10)), nil
	}
	return xxhash.Sum64String(v.String()), nil
}

// javaLong is the hashCode of Long, BigInteger or String.
func javaLong(v Value) (int32, error) {
	switch v.Kind() {
	case KindInt:
		return inline.HashLong(int64(v.num)), nil
	case KindUint:
		return inline.HashBigInteger(new(big.Int).SetUint64(v.num)), nil
	case KindText:
		return inline.HashText(v.text), nil
	case KindTime:
		return 0, errNoJavaHash
	}
	return 0, errNull
}

// javaInteger is javaLong but for integers of 32 bits, which are their own hash.
func javaInteger(v Value) (int32, error) {
	if n, ok := v.Int64(); ok && n == int64(int32(n)) {
		return int32(n), nil
	}
	return javaLong(v)
}

// absolute widens first: the smallest int32 has a positive counterpart then.
func absolute(h int32) uint64 {
	if h < 0 {
		return uint64(-int64(h))
	}
	return uint64(h)
}
