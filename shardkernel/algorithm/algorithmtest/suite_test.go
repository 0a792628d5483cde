package algorithmtest_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/algorithm/algorithmtest"
)

func names(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return out
}

// integers mixes neighbours around zero with the ends of both 64-bit ranges.
func integers(i int) algorithm.Value {
	switch {
	case i < 100:
		return algorithm.Int(int64(i - 50))
	case i < 200:
		return algorithm.Int(math.MinInt64 + int64(i-100))
	case i < 300:
		return algorithm.Uint(math.MaxInt64 - 250 + uint64(i))
	case i < 400:
		return algorithm.Uint(math.MaxUint64 - uint64(i-300))
	}
	return algorithm.Int(int64(i) * 7919 * 1000003)
}

func positive(i int) algorithm.Value { return algorithm.Uint(uint64(i) * 37 * uint64(1+i%3)) }

func texts(i int) algorithm.Value {
	if i%2 == 0 {
		return algorithm.Text(fmt.Sprintf("order-%d-中😀", i))
	}
	return algorithm.Text(fmt.Sprint(i * 1001))
}

func times(i int) algorithm.Value {
	return algorithm.Time(time.Date(2024, 1, 1, 0, i, 0, i*1000, time.UTC))
}

func mixed(i int) algorithm.Value {
	switch i % 3 {
	case 0:
		return texts(i)
	case 1:
		return times(i)
	}
	return integers(i)
}

func TestBuiltInAlgorithmsConform(t *testing.T) {
	type props = algorithm.Props
	tests := []struct {
		name     string
		typeName string
		props    props
		targets  []string
		values   func(int) algorithm.Value
	}{
		{"inline integers", "INLINE", props{"expression": "t_${floorMod(id, 8)}"}, names("t_", 8), integers},
		{"inline truncating", "INLINE", props{"expression": "t_${id % 8}"}, names("t_", 8), integers},
		{"inline positive", "INLINE", props{"expression": "t_${id % 8}"}, names("t_", 8), positive},
		{"inline without period", "INLINE", props{"expression": "t_${(id + 1).abs() % 8}"}, names("t_", 8), integers},
		{"inline partial", "INLINE", props{"expression": "t_${id.abs().intdiv(10)}"}, names("t_", 8), integers},
		{"inline ranges refused", "INLINE", props{"expression": "t_${id % 8}", "allowRangeQuery": false}, names("t_", 8), positive},
		{"inline texts", "INLINE", props{"expression": "t_${id.hashCode().abs() % 8}"}, names("t_", 8), mixed},
		{"mod integers", "MOD", props{"shardingCount": 7}, names("t_", 7), integers},
		{"mod one target", "MOD", props{"shardingCount": 1}, names("t_", 1), integers},
		{"mod texts", "MOD", props{"shardingCount": 7}, names("t_", 7), mixed},
		{"hash mod integers", "HASH_MOD", props{"shardingCount": 5}, names("t_", 5), integers},
		{"hash mod 32 bits", "HASH_MOD", props{"shardingCount": 5, "javaType": "integer"}, names("t_", 5), integers},
		{"hash mod mixed", "HASH_MOD", props{"shardingCount": 5}, names("t_", 5), mixed},
		{"hash mod xxhash64", "HASH_MOD", props{"shardingCount": 5, "hash": "xxhash64"}, names("t_", 5), mixed},
	}
	registry := algorithm.NewRegistry()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := registry.New(tt.typeName, tt.props)
			if err != nil {
				t.Fatal(err)
			}
			algorithmtest.Run(t, a, tt.targets, tt.values)
		})
	}
}
