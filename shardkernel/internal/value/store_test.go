package value

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/algorithm"
)

func TestStoreGivesWhatTheColumnWillHold(t *testing.T) {
	for _, c := range []struct {
		name string
		arg  any
		col  *Column
		want algorithm.Value
	}{
		{"NULL", nil, bigint, algorithm.Null()},
		{"NULL in an unknown column", nil, nil, algorithm.Null()},
		{"least tinyint", -128, tinyint, algorithm.Int(-128)},
		{"greatest unsigned", uint64(math.MaxUint64), unsigned, algorithm.Uint(math.MaxUint64)},
		{"integral float", 2.0, bigint, algorithm.Int(2)},
		{"decimal written out", "1.50", decimal, algorithm.Text("1.5")},
		{"decimal literal", Decimal("12345678.90"), decimal, algorithm.Text("12345678.9")},
		{"integer in a decimal", 12345678, decimal, algorithm.Int(12345678)},
		{"text", "abcde", varchar, algorithm.Text("abcde")},
		{"trailing spaces under PAD SPACE", "ab ", varchar, algorithm.Text("ab")},
		{"trailing spaces under NO PAD", "ab ", noPad, algorithm.Text("ab ")},
		{"trailing spaces in CHAR", "ab ", noPadChar, algorithm.Text("ab")},
		{"integer in text", 42, varchar, algorithm.Text("42")},
		{"length in characters", "中中中中中", varchar, algorithm.Text("中中中中中")},
		{"basic plane in utf8mb3", "中", utf8mb3, algorithm.Text("中")},
		{"BINARY fills up with zero bytes", "a", binary, algorithm.Text("a\x00\x00")},
		{"VARBINARY does not", Hex("a"), varbinary, algorithm.Text("a")},
		{"year", 2024, year, algorithm.Int(2024)},
		{"unknown column", "x", nil, algorithm.Text("x")},
	} {
		if v, err := (Converter{}).Store(c.arg, c.col); err != nil || v != c.want {
			t.Errorf("%s: Store = %v (kind %d), %v; want %v", c.name, v, v.Kind(), err, c.want)
		}
	}
}

func TestStoreRefusesWhatWouldBeStoredOtherwise(t *testing.T) {
	for _, c := range []struct {
		name string
		arg  any
		col  *Column
	}{
		{"fraction as float", 1.5, bigint},
		{"fraction as decimal", Decimal("2.5"), bigint},
		{"fraction as text", "2.5", bigint},
		{"text that is no number", "1abc", bigint},
		{"empty text", "", bigint},
		{"time", time.Now(), bigint},
		{"hex literal", Hex{1}, bigint},
		{"float beyond 2^53", 1e18, bigint},
		{"beyond tinyint", 128, tinyint},
		{"below tinyint", "-129", tinyint},
		{"negative in unsigned", -1, unsigned},
		{"beyond bigint", uint64(math.MaxUint64), bigint},
		{"beyond all integers", "18446744073709551616", unsigned},
		{"panicking Valuer", panicky{}, bigint},
		{"finer than the decimal", "1.555", decimal},
		{"too large a decimal", 123456789, decimal},
		{"float in a decimal", 1.5, decimal},
		{"fraction in a flexible decimal", "1.5", &Column{Name: "d", Class: ClassDecimal, Scale: 2, Flexible: true}},
		{"too long a text", "abcdef", varchar},
		{"too long an integer in text", 123456, varchar},
		{"too long a TEXT in bytes", "中中", &Column{Name: "s", Type: "tinytext", Class: ClassText, Length: 5}},
		{"invalid UTF-8", "\xff", varchar},
		{"float in text", 1.5, varchar},
		{"time in text", time.Now(), varchar},
		{"a character latin1 may lack", "é", latin},
		{"a character utf8mb3 lacks", "😀", utf8mb3},
		{"number in binary", 1, binary},
		{"too long a binary", "abcd", binary},
		{"year of two digits", 24, year},
		{"no date", "2024-02-30", date},
		{"timestamp", time.Now(), timestamp},
		{"float column", 1.5, double},
		{"enum", "a", enum},
		{"float in an unknown column", 1.5, nil},
	} {
		v, err := Converter{}.Store(c.arg, c.col)
		if !errors.Is(err, fault.ErrUnsupported) {
			t.Errorf("%s: Store = %v, %v; want a refusal", c.name, v, err)
			continue
		}
		var u *fault.UnsupportedError
		if !errors.As(err, &u) || u.Remedy == "" || u.Reason == "" {
			t.Errorf("%s: no reason or no way out in %q", c.name, err)
		}
		if c.col != nil && !strings.Contains(err.Error(), c.col.Name) {
			t.Errorf("%s: the column is not named in %q", c.name, err)
		}
	}
}
