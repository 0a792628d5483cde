//go:build unix

package placement_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/gormshard/sharding/config"
)

// below and above are the algorithms on the sides of a threshold.
const below, above = "two", "four"

// key is a type of sharding column.
type key struct {
	name, ddl string
	textKey   config.TextKey
	open      bool // conditions narrow nothing
	refused   bool // no value of the type is placed
	random    func(r *rand.Rand) any
	// forms are other ways in which an application gives the same value.
	forms []func(any) any
	// algorithms that take it, by name.
	algorithms []string
}

var (
	hashes  = []string{"hash_java", "hash_xx", "slots", "slots_xx", "ring"}
	numbers = append([]string{"mod", "inline"}, hashes...)
	moments = []string{"hash_xx", "slots_xx", "ring", "auto_interval", "interval"}
)

var keys = []key{
	{
		name: "bigint", ddl: "bigint", algorithms: append([]string{"volume", "boundary", "ends", "threshold", "complex"}, numbers...),
		random: func(r *rand.Rand) any {
			if r.IntN(2) == 0 {
				return r.Int64N(4000) - 2000
			}
			return int64(r.Uint64())
		},
		forms: []func(any) any{text, func(v any) any { return []byte(fmt.Sprint(v)) }},
	},
	{
		name: "unsigned", ddl: "bigint unsigned", algorithms: append([]string{"volume", "boundary", "wide"}, numbers...),
		random: func(r *rand.Rand) any {
			if r.IntN(2) == 0 {
				return r.Uint64N(4000)
			}
			return r.Uint64()
		},
		forms: []func(any) any{text},
	},
	{
		name: "int", ddl: "int", algorithms: append([]string{"volume", "boundary"}, numbers...),
		random: func(r *rand.Rand) any { return int64(int32(r.Uint32())) >> r.IntN(24) },
		forms:  []func(any) any{text, func(v any) any { return int32(v.(int64)) }},
	},
	{
		name: "decimal", ddl: "decimal(20,4)", algorithms: hashes,
		random: func(r *rand.Rand) any {
			return fmt.Sprintf("%d.%04d", r.Int64N(2_000_000)-1_000_000, r.IntN(10_000))
		},
		forms: []func(any) any{func(v any) any { return []byte(v.(string)) }, func(v any) any { return v.(string) + "00" }},
	},
	{
		name: "text_binary", ddl: "varchar(60) CHARACTER SET binary", algorithms: append([]string{"inline_text"}, hashes...),
		random: func(r *rand.Rand) any { return randomText(r, "aAbB zZ09äßé日本😀'\\\x00\x01\t") },
		forms:  []func(any) any{func(v any) any { return []byte(v.(string)) }},
	},
	{
		name: "text_exact", ddl: "varchar(40)", textKey: config.TextKeyExact, algorithms: append([]string{"inline_text"}, hashes...),
		random: func(r *rand.Rand) any { return randomText(r, "abcdefghijklmnopqrstuvwxyz0123456789-") },
		forms:  []func(any) any{func(v any) any { return []byte(v.(string)) }},
	},
	{
		name: "text_weight", ddl: "varchar(40) COLLATE utf8mb4_general_ci", textKey: config.TextKeyWeight, algorithms: []string{"hash_java", "hash_xx", "ring"},
		random: func(r *rand.Rand) any { return randomText(r, "aAbBzZäÄáßsS09 ") },
	},
	{
		name: "text_bytes", ddl: "varchar(40) COLLATE utf8mb4_general_ci", textKey: config.TextKeyBinary, open: true, algorithms: []string{"hash_xx", "slots"},
		random: func(r *rand.Rand) any { return randomText(r, "aAbBzZäÄáßsS09 ") },
	},
	{
		name: "date", ddl: "date", algorithms: moments,
		random: func(r *rand.Rand) any { return randomTime(r).Truncate(24 * time.Hour) },
		forms:  []func(any) any{formatted("2006-01-02"), formatted("20060102"), formatted("2006-1-2"), formatted("2006-01-02 00:00:00")},
	},
	{
		name: "datetime", ddl: "datetime(6)", algorithms: moments,
		random: func(r *rand.Rand) any { return randomTime(r) },
		forms:  []func(any) any{formatted("2006-01-02 15:04:05.999999"), formatted("2006-1-2T15:4:5.999999")},
	},
	{
		name: "timestamp", ddl: "timestamp(6) NOT NULL DEFAULT '2021-01-01'", refused: true, algorithms: moments,
		random: func(r *rand.Rand) any { return randomTime(r) },
		forms:  []func(any) any{formatted("2006-01-02 15:04:05.999999")},
	},
	{
		name: "bytes", ddl: "binary(16)", algorithms: []string{"hash_java", "hash_xx", "slots", "slots_xx", "ring"},
		random: func(r *rand.Rand) any {
			b := make([]byte, 16)
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			return b
		},
	},
}

func text(v any) any { return fmt.Sprint(v) }

func formatted(layout string) func(any) any {
	return func(v any) any { return v.(time.Time).Format(layout) }
}

func randomText(r *rand.Rand, letters string) string {
	from := []rune(letters)
	out := make([]rune, r.IntN(16))
	for i := range out {
		out[i] = from[r.IntN(len(from))]
	}
	return string(out)
}

// randomTime is in one of the years 2021 to 2024, sometimes at a boundary.
func randomTime(r *rand.Rand) time.Time {
	t := time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.Int64N(4*365*24*3600*1e6)) * time.Microsecond)
	switch r.IntN(6) {
	case 0:
		return t.Truncate(time.Second)
	case 1:
		return time.Date(t.Year(), 1, 1, 0, 0, 0, r.IntN(1000)*1000, time.UTC)
	case 2:
		return time.Date(t.Year(), 12, 31, 23, 59, 59, 999_999_000-r.IntN(1000)*1000, time.UTC)
	}
	return t
}

// method is an algorithm with properties for four tables.
type method struct {
	typ    string
	props  map[string]any
	tables []string // endings of the actual tables; 0 to 3 when nil
	// complex is true for a strategy over k and n.
	complex bool
}

// methodOf returns an algorithm by name, for the table and column.
func methodOf(name, table string, unsigned bool) method {
	last := func(n int64) any {
		if unsigned {
			return strconv.FormatUint(uint64(n), 10)
		}
		return n
	}
	switch name {
	case "mod":
		return method{typ: "MOD", props: map[string]any{"shardingCount": 4}}
	case "hash_java":
		return method{typ: "HASH_MOD", props: map[string]any{"shardingCount": 4}}
	case "hash_xx":
		return method{typ: "HASH_MOD", props: map[string]any{"shardingCount": 4, "hash": "xxhash64"}}
	case "inline":
		return method{typ: "INLINE", props: map[string]any{"expression": table + "_${floorMod(k, 4)}"}}
	case "inline_text":
		return method{typ: "INLINE", props: map[string]any{"expression": table + "_${floorMod(k.hashCode(), 4)}"}}
	case "slots":
		return method{typ: "SLOT_RANGE", props: map[string]any{"slots": 64}}
	case "slots_xx":
		return method{typ: "SLOT_RANGE", props: map[string]any{"hash": "xxhash64"}}
	case "ring":
		return method{typ: "CONSISTENT_HASH"}
	case "volume":
		return method{typ: "VOLUME_RANGE", props: map[string]any{"rangeLower": last(10), "rangeUpper": last(2010), "shardingVolume": 1000}}
	case "boundary":
		return method{typ: "BOUNDARY_RANGE", props: map[string]any{"shardingRanges": []any{1, 500, 1_000_000}}}
	case "ends":
		return method{typ: "BOUNDARY_RANGE", props: map[string]any{"shardingRanges": []any{int64(math.MinInt64) + 1, 0, int64(math.MaxInt64)}}}
	case "wide":
		return method{typ: "BOUNDARY_RANGE", props: map[string]any{"shardingRanges": []any{uint64(1), uint64(1) << 63, uint64(math.MaxUint64)}}}
	case "auto_interval":
		return method{typ: "AUTO_INTERVAL", props: map[string]any{
			"datetimeLower": "2022-01-01 00:00:00", "datetimeUpper": "2024-01-01 00:00:00", "shardingSeconds": 365 * 24 * 3600,
		}}
	case "threshold":
		return method{typ: "THRESHOLD", props: map[string]any{"threshold": 100, "below": below, "above": above}}
	case "complex":
		return method{typ: "COMPLEX_INLINE", complex: true, props: map[string]any{"expression": table + "_${floorMod(k + n, 4)}"}}
	case "interval":
		return method{typ: "INTERVAL", tables: []string{"2021", "2022", "2023", "2024"}, props: map[string]any{
			"datetimeLower": "2021-01-01 00:00:00", "datetimeUpper": "2024-12-31 23:59:59", "suffixPattern": "yyyy", "amount": 1, "unit": "YEARS",
		}}
	}
	panic("no method " + name)
}
