package algorithm

import (
	"errors"
	"math/big"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/gormshard/sharding/internal/inline"
)

// hashMod is the algorithm HASH_MOD: a hash of the value modulo shardingCount.
// Targets are numbered as for MOD.
//
// hash javaCompatible, the default, gives the node that ShardingSphere's
// HASH_MOD (user manual, "Sharding Algorithm", auto sharding) gives: the
// absolute value of Java's hashCode. Java's hash of an integer depends on its
// type there: javaType long, the default, is for BIGINT columns and Long fields,
// integer for INT columns and Integer fields. Integers above the signed 64-bit
// range hash as BigInteger.
//
// hash xxhash64 is the XXH64 of the value written out, which spreads better and
// knows no types: 12 and "12" are the same node.
type hashMod struct {
	count int64
	hash  func(Value) (uint64, error)
}

func newHashMod(props Props) (Algorithm, error) {
	r := ReadProps(props)
	h := &hashMod{count: r.Int("shardingCount", 1, maxShardingCount), hash: xxhash64}
	if r.OneOf("hash", "javaCompatible", "xxhash64") == "javaCompatible" {
		h.hash = javaLong
		if r.OneOf("javaType", "long", "integer") == "integer" {
			h.hash = javaInteger
		}
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return h, nil
}

func (h *hashMod) Bind(targets []string) (Sharder, error) {
	byRemainder, err := numbered(targets, h.count)
	if err != nil {
		return nil, err
	}
	return &hashModSharder{byRemainder: byRemainder, hash: h.hash}, nil
}

type hashModSharder struct {
	byRemainder []int
	hash        func(Value) (uint64, error)
}

func (s *hashModSharder) Shard(v Value) (int, error) {
	h, err := s.hash(v)
	if err != nil {
		return 0, err
	}
	return s.byRemainder[h%uint64(len(s.byRemainder))], nil
}

// Range looks at the values of a small range one by one.
func (s *hashModSharder) Range(r Range) ([]int, bool, error) {
	targets, ok := enumerate(s, r, maxRangeValues, len(s.byRemainder))
	return targets, ok, nil
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

// javaLong is the absolute value of the hashCode of Long, BigInteger or String.
func javaLong(v Value) (uint64, error) {
	switch v.Kind() {
	case KindInt:
		return absolute(inline.HashLong(int64(v.num))), nil
	case KindUint:
		return absolute(inline.HashBigInteger(new(big.Int).SetUint64(v.num))), nil
	case KindText:
		return absolute(inline.HashText(v.text)), nil
	case KindTime:
		return 0, errors.New("HASH_MOD has no hash of dates and times that agrees with Java; set hash: xxhash64")
	}
	return 0, errNull
}

// javaInteger is javaLong but for integers of 32 bits, which are their own hash.
func javaInteger(v Value) (uint64, error) {
	if n, ok := v.Int64(); ok && n == int64(int32(n)) {
		return absolute(int32(n)), nil
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
