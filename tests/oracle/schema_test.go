//go:build unix

package oracle_test

import (
	"math"
	"strings"
)

// kind is the kind of a column's type.
type kind uint8

const (
	kindInt kind = iota
	kindUint
	kindDecimal
	kindFloat
	kindText
	kindBytes
	kindLong
	kindEnum
	kindSet
	kindBits
	kindDate
	kindTime
	kindMoment
	kindYear
	kindJSON
)

// column is a column, its definition, and the values that rows and conditions
// take from.
type column struct {
	name, ddl string
	kind      kind
	values    []any
}

type table struct {
	name    string
	columns []column
	primary string
	keys    []string // sharding columns
	rows    int
}

func (t *table) column(name string) *column {
	for i := range t.columns {
		if t.columns[i].name == name {
			return &t.columns[i]
		}
	}
	return nil
}

func (t *table) ddl(actual string) string {
	var b strings.Builder
	b.WriteString("CREATE TABLE `" + actual + "` (")
	for _, c := range t.columns {
		b.WriteString(c.name + " " + c.ddl + ", ")
	}
	return b.String() + "PRIMARY KEY (" + t.primary + "))"
}

// The sharding values leave a data source of four empty, and two of eight.
var users = []any{
	-12, -9, -7, -4, -3, -1, 0, 3, 5, 8, 9, 11, 12, 15, 17, 20,
	int64(1)<<53 + 1, int64(1) << 53, int64(math.MinInt64) + 3, int64(math.MaxInt64) - 7,
}

var (
	texts = []any{
		nil, "", " ", "a", "A", "a ", "á", "Á", "ä", "b", "B", "ß", "ss", "SS", "s", "😀", "🎉", "a\t", "a\x01", "a\x00", "ab", "a b",
		"10", "9", "01", "1abc", "NULL", "a'b", `a\b`, "%", "a_", "日本", "ñ", "n",
	}
	asciiTexts = []any{nil, "", "a", "A", "a ", "b", "10", "9", "Z", "z"}
	decimals   = []any{nil, "0", "0.0000000001", "-0.0000000001", "12345678901234567890.1234567891", "-99999999999999999999.9999999999", "9", "10", "1.5", "-7.34", "10.0000000000"}
	prices     = []any{nil, "0.00", "1.00", "1.10", "2.25", "-3.50", "9.99", "10.00", "99999999.99"}
	ratios     = []any{nil, 0.0, -1.5, 0.125, 1024.25, 3.0, float64(1 << 40), 10.0, 9.0}
	rates      = []any{nil, 0.0, -2.5, 16777216.0, 1234567.0, 0.125, 3.0}
	bigs       = []any{nil, 0, 1, uint64(math.MaxUint64), uint64(math.MaxUint64) - 1, uint64(math.MaxInt64), uint64(1) << 63, uint64(1)<<53 + 1, uint64(1) << 53, 42}
	smalls     = []any{nil, 0, 1, -1, 9, 10, 100, 127, -128}
	numbers    = []any{nil, 0, 1, 2, 3, -1, 10, 9, 2147483647}
	days       = []any{nil, "1999-12-31", "2024-02-29", "2026-01-01", "2026-01-02", "0001-01-01", "9999-12-31"}
	clocks     = []any{nil, "-01:00:00", "09:00:00", "100:00:00", "00:00:00", "23:59:59.500", "-838:59:59", "838:59:59"}
	moments    = []any{nil, "2026-01-01 00:00:00", "2026-01-01 00:00:00.1", "2026-01-01 00:00:00.020000", "1999-12-31 23:59:59.999999", "2024-02-29 12:00:00.5"}
	statuses   = []any{nil, "paid", "new", "cancelled"}
	flags      = []any{nil, "", "x", "y,z", "x,z", "x,y,z"}
	bits       = []any{nil, 0, 1, 2, 9, 10, 256, 1023}
	raws       = []any{nil, []byte{}, []byte("a"), []byte("A"), []byte("a "), []byte{0}, []byte{255, 0}}
	years      = []any{nil, 1999, 2024, 2026}
	documents  = []any{nil, `{"a": 1}`, `[1, 2]`, `"x"`, `{"a": null}`, `1`}
	longTexts  = []any{nil, "", "short", strings.Repeat("x", 300) + "a", strings.Repeat("x", 300) + "B", strings.Repeat("Y", 600), strings.Repeat("x", 2000) + "1", strings.Repeat("x", 2000) + "2"}
	orderIDs   = span(60)
	names      = []any{"", "a", "A", "á", "ß", "ss", "😀", "10", "9", "01", "1abc", "b", "B", "日本", "a\x00", "Z", "NULL"}
	logins     = []any{"ada", "Bob", "carol", "dave", "", "10", "9", "é", "😀", "zoë"}
	wides      = []any{0, 1, 2, 3, 7, 42, uint64(1)<<53 + 1, uint64(1) << 53, uint64(math.MaxInt64), uint64(1) << 63, uint64(math.MaxUint64), uint64(math.MaxUint64) - 1}
)

func span(n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = i + 1
	}
	return out
}

// The tables. orders and items are binding tables, notes is bound to them by
// database alone, region is broadcast, staff is single.
var (
	orders = &table{name: "orders", primary: "uid, id", keys: []string{"uid"}, rows: 60, columns: []column{
		{"uid", "bigint NOT NULL", kindInt, users},
		{"id", "bigint NOT NULL", kindInt, orderIDs},
		{"region_id", "int", kindInt, []any{nil, 1, 2, 3, 9}},
		{"name", "varchar(40)", kindText, texts},
		{"code", "varchar(20) CHARACTER SET ascii COLLATE ascii_bin", kindText, asciiTexts},
		{"label", "varchar(20) COLLATE utf8mb4_general_nopad_ci", kindText, texts},
		{"title", "varchar(30) COLLATE utf8mb4_unicode_ci", kindText, texts},
		{"latin", "varchar(20) CHARACTER SET latin1 COLLATE latin1_german2_ci", kindText, []any{nil, "a", "A", "ä", "ae", "ß", "ss", "b"}},
		{"raw", "varbinary(20)", kindBytes, raws},
		{"txt", "text", kindLong, longTexts},
		{"js", "json", kindJSON, documents},
		{"amount", "decimal(30,10)", kindDecimal, decimals},
		{"price", "decimal(10,2)", kindDecimal, prices},
		{"ratio", "double", kindFloat, ratios},
		{"rate", "float", kindFloat, rates},
		{"big", "bigint unsigned", kindUint, bigs},
		{"small", "tinyint", kindInt, smalls},
		{"med", "mediumint unsigned zerofill", kindUint, []any{nil, 0, 7, 16777215}},
		{"bits", "bit(10)", kindBits, bits},
		{"status", "enum('paid','new','cancelled')", kindEnum, statuses},
		{"flags", "set('x','y','z')", kindSet, flags},
		{"day", "date", kindDate, days},
		{"clock", "time(3)", kindTime, clocks},
		{"at", "datetime(6)", kindMoment, moments},
		{"ts", "timestamp(3) NULL", kindMoment, moments},
		{"yr", "year", kindYear, years},
	}}
	items = &table{name: "items", primary: "uid, id", keys: []string{"uid"}, rows: 80, columns: []column{
		{"uid", "bigint NOT NULL", kindInt, users},
		{"id", "bigint NOT NULL", kindInt, span(80)},
		{"order_id", "bigint", kindInt, orderIDs},
		{"product", "varchar(40)", kindText, texts},
		{"qty", "int", kindInt, numbers},
		{"cost", "decimal(12,4)", kindDecimal, prices},
	}}
	notes = &table{name: "notes", primary: "uid, oid, id", keys: []string{"uid", "oid"}, rows: 50, columns: []column{
		{"id", "int NOT NULL", kindInt, span(50)},
		{"uid", "bigint NOT NULL", kindInt, users},
		{"oid", "int NOT NULL", kindInt, []any{0, 1, 2, 3, 4, 5, -1, -2}},
		{"body", "varchar(60)", kindText, texts},
	}}
	tags = &table{name: "tags", primary: "name, n", keys: []string{"name"}, rows: 30, columns: []column{
		{"name", "varchar(30) COLLATE utf8mb4_bin NOT NULL", kindText, names},
		{"n", "int NOT NULL", kindInt, span(30)},
		{"val", "decimal(8,3)", kindDecimal, []any{nil, "0", "1.5", "-1.5", "7.125"}},
	}}
	people = &table{name: "people", primary: "login, n", keys: []string{"login"}, rows: 20, columns: []column{
		{"login", "varchar(30) NOT NULL", kindText, logins},
		{"n", "int NOT NULL", kindInt, span(20)},
		{"born", "date", kindDate, days},
	}}
	wide = &table{name: "wide", primary: "k, n", keys: []string{"k"}, rows: 30, columns: []column{
		{"k", "bigint unsigned NOT NULL", kindUint, wides},
		{"n", "int NOT NULL", kindInt, span(30)},
		{"v", "varchar(20)", kindText, texts},
	}}
	kinds  = &table{name: "kinds", primary: "uid, id", keys: []string{"uid"}, rows: 48, columns: everyKind}
	region = &table{name: "region", primary: "id", rows: 5, columns: []column{
		{"id", "int NOT NULL AUTO_INCREMENT", kindInt, []any{1, 2, 3, 4, 9}},
		{"name", "varchar(30)", kindText, texts},
		{"pop", "decimal(20,3)", kindDecimal, []any{nil, "0", "1.500", "99999999999999999.999"}},
	}}
	staff = &table{name: "staff", primary: "id", rows: 6, columns: []column{
		{"id", "int NOT NULL AUTO_INCREMENT", kindInt, span(6)},
		{"name", "varchar(30)", kindText, texts},
		{"boss", "int", kindInt, []any{nil, 1, 2, 3}},
	}}
	tables  = []*table{orders, items, notes, tags, people, wide, kinds, region, staff}
	sharded = []*table{orders, items, notes, tags, people, wide, kinds}
)
