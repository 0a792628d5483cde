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

// instants mixes neighbours of the starts of months with the ends of the
// calendar.
func instants(i int) algorithm.Value {
	month := time.Date(2023, time.Month(1+i/3), 1, 0, 0, 0, 0, time.UTC)
	switch {
	case i < 100:
		return algorithm.Time(month.Add(time.Duration(i%3 - 1)))
	case i < 110:
		return algorithm.Time(time.Date(9999, 12, 31, 23, 59, 59, 999_999_999-i, time.UTC))
	case i < 120:
		return algorithm.Time(time.Date(1000, 1, 1, 0, 0, 0, i, time.UTC))
	}
	return algorithm.Time(time.Date(2022, 12, i*3, i, i, i, i*1000, time.UTC))
}

// dates are written as integers and texts, some of them with no date.
func dates(i int) algorithm.Value {
	if i%5 == 0 {
		return algorithm.Text(fmt.Sprintf("2024-%d-%d", i%13, i%31))
	}
	return algorithm.Int(int64(20240001 + i%13*100 + i%33))
}

func monthNames(year, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = time.Date(year, time.Month(1+i), 1, 0, 0, 0, 0, time.UTC).Format("t_200601")
	}
	return out
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
		{"volume range integers", "VOLUME_RANGE", props{"rangeLower": -30, "rangeUpper": "18446744073709551600", "shardingVolume": 1 << 62}, names("t_", 7), integers},
		{"volume range texts", "VOLUME_RANGE", props{"rangeLower": 1001, "rangeUpper": 400400, "shardingVolume": 50000}, names("t_", 10), mixed},
		{"boundary range integers", "BOUNDARY_RANGE", props{"shardingRanges": "-1,0,1,9223372036854775807,18446744073709551615"}, names("t_", 6), integers},
		{"boundary range mixed", "BOUNDARY_RANGE", props{"shardingRanges": "0"}, names("t_", 2), mixed},
		{"auto interval times", "AUTO_INTERVAL", props{"datetimeLower": "2024-01-01 00:00:00", "datetimeUpper": "2024-12-31 00:00:00", "shardingSeconds": 86400 * 73}, names("t_", 7), instants},
		{"auto interval dates", "AUTO_INTERVAL", props{"datetimeLower": "2024-01-01 00:00:00", "datetimeUpper": "2024-12-31 00:00:00", "shardingSeconds": 86400 * 73}, names("t_", 7), dates},
		{"auto interval mixed", "AUTO_INTERVAL", props{"datetimeLower": "2024-01-01 00:00:00", "datetimeUpper": "2024-01-02 00:00:00", "shardingSeconds": 3600}, names("t_", 26), mixed},
		{"interval", "INTERVAL", months("datetimeUpper", "2024-12-31 23:59:59"), monthNames(2024, 12), instants},
		{"interval without end", "INTERVAL", months("datetimeLower", "9999-01-01 00:00:00"), monthNames(9999, 12), instants},
		{"interval that repeats", "INTERVAL", months("suffixPattern", "MM"), []string{"01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12"}, instants},
		{"interval of dates", "INTERVAL", months("datetimeUpper", "2024-12-31 23:59:59"), monthNames(2024, 12), dates},
		{"slot range integers", "SLOT_RANGE", props{"slots": 1000}, names("t_", 7), integers},
		{"slot range mixed", "SLOT_RANGE", props{}, names("t_", 4), mixed},
		{"slot range of a part", "SLOT_RANGE", props{"hash": "xxhash64", "substring": "-4,4"}, names("t_", 4), mixed},
		{"consistent hash integers", "CONSISTENT_HASH", props{}, names("t_", 5), integers},
		{"consistent hash mixed", "CONSISTENT_HASH", props{"virtualNodes": 3}, names("t_", 5), mixed},
		{"hash mod xxhash64", "HASH_MOD", props{"shardingCount": 5, "hash": "xxhash64"}, names("t_", 5), mixed},
	}
	// Those of several columns and of hints are in complex_test.go.
	types := map[string]bool{"COMPLEX_INLINE": true, "GENE": true, "HINT_INLINE": true, "THRESHOLD": true}
	registry := algorithm.NewRegistry()
	for _, tt := range tests {
		types[tt.typeName] = true
		t.Run(tt.name, func(t *testing.T) {
			a, err := registry.New(tt.typeName, tt.props)
			if err != nil {
				t.Fatal(err)
			}
			algorithmtest.Run(t, a.(algorithm.Standard), tt.targets, tt.values)
		})
	}
	for _, name := range registry.Types() {
		if !types[name] {
			t.Errorf("%s is not tested", name)
		}
	}
}

// months returns properties of monthly steps from 2024 on with one changed.
func months(name string, value any) algorithm.Props {
	p := algorithm.Props{"datetimeLower": "2024-01-01 00:00:00", "suffixPattern": "yyyyMM", "unit": "MONTHS"}
	p[name] = value
	return p
}
