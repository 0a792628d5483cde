package value

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/gormshard/sharding/shardkernel/algorithm"
)

var (
	bigint    = &Column{Name: "id", Type: "bigint(20)", Class: ClassInteger, Bits: 64}
	unsigned  = &Column{Name: "id", Type: "bigint(20) unsigned", Class: ClassInteger, Bits: 64, Unsigned: true}
	tinyint   = &Column{Name: "id", Type: "tinyint(4)", Class: ClassInteger, Bits: 8}
	flexible  = &Column{Name: "id", Type: "integer", Class: ClassInteger, Bits: 64, Flexible: true}
	decimal   = &Column{Name: "d", Type: "decimal(10,2)", Class: ClassDecimal, Precision: 10, Scale: 2}
	varchar   = &Column{Name: "s", Type: "varchar(5)", Class: ClassText, Length: 5, Collation: "utf8mb4_bin", PadSpace: true}
	noPad     = &Column{Name: "s", Type: "varchar(5)", Class: ClassText, Length: 5, Collation: "utf8mb4_nopad_bin"}
	noPadChar = &Column{Name: "s", Type: "char(5)", Class: ClassText, Length: 5, Collation: "utf8mb4_nopad_bin"}
	latin     = &Column{Name: "s", Type: "varchar(5)", Class: ClassText, Length: 5, Collation: "latin1_bin", PadSpace: true}
	utf8mb3   = &Column{Name: "s", Type: "varchar(5)", Class: ClassText, Length: 5, Collation: "utf8mb3_bin", PadSpace: true}
	binary    = &Column{Name: "b", Type: "binary(3)", Class: ClassBinary, Length: 3}
	varbinary = &Column{Name: "b", Type: "varbinary(3)", Class: ClassBinary, Length: 3}
	date      = &Column{Name: "d", Type: "date", Class: ClassDate}
	datetime  = &Column{Name: "d", Type: "datetime", Class: ClassDateTime}
	datetime3 = &Column{Name: "d", Type: "datetime(3)", Class: ClassDateTime, Scale: 3}
	timestamp = &Column{Name: "d", Type: "timestamp", Class: ClassTimestamp}
	year      = &Column{Name: "y", Type: "year(4)", Class: ClassYear}
	double    = &Column{Name: "f", Type: "double", Class: ClassFloat}
	enum      = &Column{Name: "e", Type: "enum('a','b')", Class: ClassEnum}
)

type (
	named     int32
	namedText string
	valuer    struct{ v any }
	panicky   struct{}
	failing   struct{}
	endless   struct{}
	pointerly struct{ n int64 }
)

func (v valuer) Value() (driver.Value, error)     { return v.v, nil }
func (panicky) Value() (driver.Value, error)      { panic("no value") }
func (failing) Value() (driver.Value, error)      { return nil, errors.New("no value") }
func (endless) Value() (driver.Value, error)      { return endless{}, nil }
func (p *pointerly) Value() (driver.Value, error) { return p.n, nil }

func pointer[T any](v T) *T { return &v }

// The server's answers were seen on MariaDB 10.11 with a BIGINT column.
func TestOneIntegerInManyGoTypesIsOneValue(t *testing.T) {
	want := algorithm.Int(12)
	for _, arg := range []any{
		12, int8(12), int16(12), int32(12), int64(12), uint(12), uint8(12), uint16(12), uint32(12), uint64(12),
		float32(12), 12.0, "12", " 12", "12 ", "\t12\n", "+12", "0012", "12.0", "12.", []byte("12"), json.Number("12"),
		sql.NullInt64{Int64: 12, Valid: true},
		sql.NullInt32{Int32: 12, Valid: true},
		sql.NullString{String: "12", Valid: true},
		sql.Null[int]{V: 12, Valid: true},
		sql.NullFloat64{Float64: 12, Valid: true},
		sql.RawBytes("12"), json.RawMessage("12"),
		pointer(12), pointer(pointer("12")), named(12), pointer(named(12)), namedText("12"), Decimal("12.00"),
		valuer{int64(12)},
		&valuer{"12"},
		valuer{valuer{[]byte("12")}},
		&pointerly{12},
	} {
		for _, col := range []*Column{bigint, unsigned, tinyint, flexible} {
			if v, match := (Converter{}).Compare(arg, col); v != want || match != MatchValue {
				t.Errorf("Compare(%T %v, %s) = %v, %d; want 12", arg, arg, col.Type, v, match)
			}
			if v, err := (Converter{}).Store(arg, col); v != want || err != nil {
				t.Errorf("Store(%T %v, %s) = %v, %v; want 12", arg, arg, col.Type, v, err)
			}
		}
	}
}

func TestCompareConvertsExactlyOrWidens(t *testing.T) {
	value := func(v algorithm.Value) algorithm.Value { return v }
	unknown, null := MatchUnknown, MatchNull
	for _, c := range []struct {
		name string
		arg  any
		col  *Column
		want any // a Value, or the Match
	}{
		{"NULL", nil, bigint, null},
		{"nil pointer", (*int)(nil), bigint, null},
		{"invalid NullInt64", sql.NullInt64{}, bigint, null},
		{"nil slice", []byte(nil), varchar, null},
		{"nil pointer to a Valuer by value", (*valuer)(nil), bigint, null},
		{"nil pointer to a Valuer by pointer panics", (*pointerly)(nil), bigint, unknown},
		{"panicking Valuer", panicky{}, bigint, unknown},
		{"failing Valuer", failing{}, bigint, unknown},
		{"endless Valuer", endless{}, bigint, unknown},
		{"channel", make(chan int), bigint, unknown},
		{"struct", struct{}{}, bigint, unknown},
		{"slice of ints", []int{1}, bigint, unknown},

		{"TRUE", true, bigint, value(algorithm.Int(1))},
		{"1abc equals 1, and is not exact", "1abc", bigint, unknown},
		{"abc equals 0", "abc", bigint, unknown},
		{"empty text equals 0", "", bigint, unknown},
		{"sign only", "-", bigint, unknown},
		{"two signs", "--1", bigint, unknown},
		{"blank behind the sign", "+ 1", bigint, unknown},
		{"exponent", "1e2", bigint, unknown},
		{"text of other digits", "١٢", bigint, unknown},
		{"hex literal", Hex{1}, bigint, unknown},
		{"float fraction", 1.5, bigint, unknown},
		{"decimal fraction", Decimal("1.5"), bigint, unknown},
		{"text fraction", "1.5", bigint, unknown},
		{"text fraction that rounds to 1", "1.00000000000000000000001", bigint, unknown},
		{"fraction where columns hold anything", 1.5, flexible, unknown},
		{"beyond 2^53 as text", "9007199254740993", bigint, value(algorithm.Int(9007199254740993))},
		{"beyond 2^53 as float", 9007199254740992.0, bigint, unknown},
		{"below 2^53 as float", 9007199254740991.0, bigint, value(algorithm.Int(9007199254740991))},
		{"NaN", math.NaN(), bigint, unknown},
		{"infinity", math.Inf(-1), bigint, unknown},
		{"least integer", "-9223372036854775808", bigint, value(algorithm.Int(math.MinInt64))},
		{"greatest unsigned", "18446744073709551615", unsigned, value(algorithm.Uint(math.MaxUint64))},
		{"greatest unsigned as uint64", uint64(math.MaxUint64), unsigned, value(algorithm.Uint(math.MaxUint64))},
		{"text beyond the range", "9223372036854775808", bigint, unknown},
		{"text beyond all ranges", "18446744073709551616", unsigned, unknown},
		{"very long text", strings.Repeat("9", 100), unsigned, unknown},
		{"negative text and an unsigned column", "-1", unsigned, unknown},
		{"minus zero", "-0", unsigned, value(algorithm.Int(0))},
		{"time and an integer column", time.Now(), bigint, unknown},

		{"decimal", Decimal("1.50"), decimal, value(algorithm.Text("1.5"))},
		{"decimal without whole", Decimal(".50"), decimal, value(algorithm.Text("0.5"))},
		{"negative decimal", Decimal("-01.50"), decimal, value(algorithm.Text("-1.5"))},
		{"integral decimal", Decimal("2.00"), decimal, value(algorithm.Int(2))},
		{"integer and a decimal column", 2, decimal, value(algorithm.Int(2))},
		{"text and a decimal column", "1.5", decimal, unknown},
		{"float and a decimal column", 2.0, decimal, unknown},
		{"decimal finer than the column", Decimal("1.555"), decimal, unknown},

		{"text", "ab", varchar, value(algorithm.Text("ab"))},
		{"trailing spaces pad", "ab  ", varchar, value(algorithm.Text("ab"))},
		{"only spaces", "  ", varchar, value(algorithm.Text(""))},
		{"a trailing tab counts", "ab\t", varchar, value(algorithm.Text("ab\t"))},
		{"trailing spaces without padding", "ab ", noPad, value(algorithm.Text("ab "))},
		{"text key and a number", 1, varchar, unknown},
		{"text key and a boolean", true, varchar, unknown},
		{"text key and a decimal", Decimal("1.5"), varchar, unknown},
		{"text key and a time", time.Now(), varchar, unknown},
		{"text key and a hex literal", Hex("a"), varchar, unknown},
		{"invalid UTF-8", "a\xff", varchar, unknown},
		{"text in latin1", "é", latin, value(algorithm.Text("é"))},
		{"bytes in latin1", []byte("é"), latin, unknown},
		{"bytes", []byte("中"), varchar, value(algorithm.Text("中"))},
		{"binary", "a\xff ", varbinary, value(algorithm.Text("a\xff "))},
		{"binary and a hex literal", Hex{0xff}, varbinary, value(algorithm.Text("\xff"))},
		{"binary and a number", 1, varbinary, unknown},

		{"year", 2024, year, value(algorithm.Int(2024))},
		{"year as text", "2024", year, value(algorithm.Int(2024))},
		{"year of two digits", 24, year, unknown},
		{"year of two digits as text", "24.0", year, unknown},

		{"float column", 1, double, unknown},
		{"enum column", "a", enum, unknown},
		{"timestamp column", "2024-01-05 10:00:00", timestamp, unknown},

		{"unknown column and an integer", uint64(math.MaxUint64), nil, value(algorithm.Uint(math.MaxUint64))},
		{"unknown column and a text", "ab ", nil, value(algorithm.Text("ab "))},
		{"unknown column and a float", 1.0, nil, unknown},
		{"unknown column and a decimal", Decimal("1"), nil, unknown},
		{"column of unknown class", 1, &Column{Name: "x"}, value(algorithm.Int(1))},
	} {
		v, match := Converter{}.Compare(c.arg, c.col)
		want, wantMatch := algorithm.Value{}, MatchValue
		switch w := c.want.(type) {
		case Match:
			wantMatch = w
		case algorithm.Value:
			want = w
		}
		if v != want || match != wantMatch {
			t.Errorf("%s: Compare = %v (kind %d), match %d; want %v (kind %d), match %d", c.name, v, v.Kind(), match, want, want.Kind(), wantMatch)
		}
	}
}

func TestDecimalTypeOfTheParserIsANumber(t *testing.T) {
	type Decimal string
	if _, match := (Converter{}).Compare(Decimal("1"), varchar); match != MatchUnknown {
		t.Errorf("a decimal literal beside text: match %d, want unknown", match)
	}
	if v, match := (Converter{}).Compare(Decimal("1.0"), bigint); v != algorithm.Int(1) || match != MatchValue {
		t.Errorf("a decimal literal beside integers = %v, %d; want 1", v, match)
	}
}

func TestBoundMovesOutwardsToAnInteger(t *testing.T) {
	for _, c := range []struct {
		name        string
		arg         any
		col         *Column
		lower, open bool
		want        algorithm.Value
		excl, ok    bool
	}{
		{"closed", 5, bigint, true, false, algorithm.Int(5), false, true},
		{"open", "5", bigint, false, true, algorithm.Int(5), true, true},
		{"unsigned", uint64(math.MaxUint64), unsigned, false, false, algorithm.Uint(math.MaxUint64), false, true},
		{"above 1.5", 1.5, bigint, true, true, algorithm.Int(1), true, true},
		{"from 1.5", 1.5, bigint, true, false, algorithm.Int(1), true, true},
		{"up to 1.5", 1.5, bigint, false, false, algorithm.Int(2), true, true},
		{"from -1.5", -1.5, bigint, true, false, algorithm.Int(-2), true, true},
		{"up to -1.5", Decimal("-1.5"), bigint, false, false, algorithm.Int(-1), true, true},
		{"from a decimal", Decimal("1.5"), bigint, true, false, algorithm.Int(1), true, true},
		{"from an integral decimal", Decimal("2.0"), bigint, true, true, algorithm.Int(2), true, true},
		{"from a text fraction", "1.5", bigint, true, true, algorithm.Int(1), false, true},
		{"up to a text fraction", "1.5", bigint, false, true, algorithm.Int(2), false, true},
		{"text fraction beyond 2^53", "1152921504606846977.5", bigint, false, false, algorithm.Value{}, false, false},
		{"text that is no number", "1x", bigint, true, false, algorithm.Value{}, false, false},
		{"text beyond the range", "9223372036854775808", bigint, false, false, algorithm.Value{}, false, false},
		{"float beyond 2^53", 1e18, bigint, true, false, algorithm.Value{}, false, false},
		{"NaN", math.NaN(), bigint, true, false, algorithm.Value{}, false, false},
		{"NULL", nil, bigint, true, false, algorithm.Value{}, false, false},
		{"fraction in a flexible column", 1.5, flexible, true, false, algorithm.Int(1), false, true},
		{"text column", "a", varchar, true, false, algorithm.Value{}, false, false},
		{"decimal column", 1, decimal, true, false, algorithm.Value{}, false, false},
		{"unknown column", 7, nil, true, true, algorithm.Value{}, false, false},
		{"unknown column and text", "7", nil, true, true, algorithm.Value{}, false, false},
		{"year", 2024, year, true, false, algorithm.Int(2024), false, true},
		{"date", "2024-1-5", date, true, false, algorithm.Time(at("2024-01-05 00:00:00")), false, true},
		{"time finer than the column", "2024-01-05 10:00:00.5", datetime, true, true, algorithm.Time(at("2024-01-05 10:00:00.5")), true, true},
		{"lower bound finer than any column", at("2024-01-05 10:00:00.123456789"), datetime, true, true, algorithm.Time(at("2024-01-05 10:00:00.123456")), false, true},
		{"upper bound finer than any column", at("2024-01-05 10:00:00.123456789"), datetime, false, true, algorithm.Time(at("2024-01-05 10:00:00.123457")), false, true},
		{"timestamp", "2024-01-05", timestamp, true, false, algorithm.Value{}, false, false},
	} {
		v, excl, ok := Converter{}.Bound(c.arg, c.col, c.lower, c.open)
		if v != c.want && ok || excl != c.excl || ok != c.ok {
			t.Errorf("%s: Bound = %v, excl %t, ok %t; want %v, %t, %t", c.name, v, excl, ok, c.want, c.excl, c.ok)
		}
	}
}

func TestCompareOfIntegersDoesNotAllocate(t *testing.T) {
	var arg any = int64(123456789)
	var text any = "123456789"
	for name, f := range map[string]func(){
		"int64": func() { Converter{}.Compare(arg, bigint) },
		"text":  func() { Converter{}.Compare(text, bigint) },
		"bound": func() { Converter{}.Bound(arg, bigint, true, false) },
		"store": func() { _, _ = Converter{}.Store(arg, bigint) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations, want none", name, n)
		}
	}
}

func BenchmarkCompareInteger(b *testing.B) {
	var arg any = int64(123456789)
	b.ReportAllocs()
	for b.Loop() {
		Converter{}.Compare(arg, bigint)
	}
}

// FuzzIntegerText proves against exact arithmetic: text that is one integer
// gives that integer in whatever spelling, text that is no integer gives none,
// and a range never loses a value that fulfils it.
func FuzzIntegerText(f *testing.F) {
	for _, s := range []string{"1", "01", " 1", "1.0", "-0", "1.5", "-1.5", "18446744073709551615", "9223372036854775808", "1e3", "", ".", "+.5", "9007199254740993.5"} {
		f.Add(s, int64(1))
	}
	f.Fuzz(func(t *testing.T, s string, stored int64) {
		v, match := Converter{}.Compare(s, bigint)
		exact, isNumber := new(big.Rat).SetString(strings.Trim(s, " \t\n"))
		switch match {
		case MatchValue:
			n, ok := v.Int64()
			if !ok || !isNumber || exact.Cmp(new(big.Rat).SetInt64(n)) != 0 {
				t.Fatalf("Compare(%q) = %v, exactly %v", s, v, exact)
			}
			if stored, err := (Converter{}).Store(s, bigint); err != nil || stored != v {
				t.Fatalf("Store(%q) = %v, %v; Compare gives %v", s, stored, err, v)
			}
		}
		for _, lower := range []bool{true, false} {
			for _, open := range []bool{true, false} {
				bound, excl, ok := Converter{}.Bound(s, bigint, lower, open)
				if !ok {
					continue
				}
				order := new(big.Rat).SetInt64(stored).Cmp(exact)
				if !lower {
					order = -order
				}
				fulfils := order > 0 || order == 0 && !open
				got, _ := algorithm.Int(stored).Compare(bound)
				if !lower {
					got = -got
				}
				if fulfils && !(got > 0 || got == 0 && !excl) {
					t.Fatalf("Bound(%q, lower %t, open %t) = %v, excl %t loses %d", s, lower, open, bound, excl, stored)
				}
			}
		}
	})
}
