//go:build unix

package oracle_test

import (
	"math"
	"strings"
)

// A point as the server stores it: SRID, byte order, type, x and y.
var point = []byte("\x00\x00\x00\x00\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\x40")

// everyKind has a column of each type that MySQL has, with the values at the
// ends of its range.
var everyKind = []column{
	{"uid", "bigint NOT NULL", kindInt, users},
	{"id", "bigint NOT NULL", kindInt, span(48)},
	{"t8", "tinyint unsigned", kindUint, []any{nil, 0, 1, 255}},
	{"t16", "smallint", kindInt, []any{nil, 0, -32768, 32767, 9, 10}},
	{"u16", "smallint unsigned zerofill", kindUint, []any{nil, 0, 65535, 7}},
	{"t24", "mediumint", kindInt, []any{nil, 0, -8388608, 8388607}},
	{"u32", "int unsigned", kindUint, []any{nil, 0, 4294967295, 2147483648}},
	{"z32", "int(5) zerofill", kindUint, []any{nil, 0, 12, 123456}},
	{"t64", "bigint", kindInt, []any{nil, 0, int64(math.MinInt64), int64(math.MaxInt64), int64(1)<<53 + 1, int64(1) << 53}},
	{"z64", "bigint unsigned zerofill", kindUint, []any{nil, 0, uint64(math.MaxUint64), 5}},
	{"yes", "boolean", kindInt, []any{nil, 0, 1}},
	{"one_bit", "bit(1)", kindBits, []any{nil, 0, 1}},
	{"all_bits", "bit(64)", kindBits, []any{nil, 0, 1, uint64(math.MaxUint64), uint64(1) << 63}},
	{"d65", "decimal(65,30)", kindDecimal, []any{nil, "0", "99999999999999999999999999999999999.999999999999999999999999999999", "-99999999999999999999999999999999999.999999999999999999999999999999", "0.000000000000000000000000000001", "1.5", "10"}},
	{"d0", "decimal(38,0)", kindDecimal, []any{nil, "0", "99999999999999999999999999999999999999", "-1", "9", "10"}},
	{"d5", "decimal(5,5)", kindDecimal, []any{nil, "0.00000", "0.99999", "-0.00001"}},
	{"dz", "decimal(8,2) unsigned zerofill", kindDecimal, []any{nil, "0", "1.50", "999999.99"}},
	{"f2", "float(7,2)", kindFloat, []any{nil, 0.5, -2.25, 99999.99}},
	{"dbl", "double", kindFloat, []any{nil, 0.1, 0.2, 2.5, 1e6, -0.1}},
	{"dbl2", "double(20,4) unsigned", kindFloat, []any{nil, 0.5, 1234567.25}},
	{"c10", "char(10)", kindText, []any{nil, "", "a", "A", "a ", "á", "b", "日本", "ß"}},
	{"cbin", "char(5) CHARACTER SET latin1 COLLATE latin1_bin", kindText, []any{nil, "", "a", "A", "é", "b"}},
	{"utf8", "varchar(20) CHARACTER SET utf8mb3", kindText, []any{nil, "", "a", "A", "á", "日本", "a "}},
	{"bin4", "binary(4)", kindBytes, []any{nil, []byte{}, []byte("a"), []byte("a\x00"), []byte{255, 254, 0, 1}}},
	{"tt", "tinytext", kindLong, []any{nil, "", "a", "A", "b"}},
	{"mt", "mediumtext COLLATE utf8mb4_bin", kindLong, []any{nil, "", "a", "A", "á", strings.Repeat("m", 3000)}},
	{"lt", "longtext CHARACTER SET ascii", kindLong, []any{nil, "", "a", "A", "b ", "b"}},
	{"tb", "tinyblob", kindBytes, []any{nil, []byte{}, []byte("a"), []byte{0, 255}}},
	{"blb", "blob", kindBytes, []any{nil, []byte{}, []byte("a"), []byte("a "), []byte(strings.Repeat("z", 2000))}},
	{"mb", "mediumblob", kindBytes, []any{nil, []byte("x"), []byte{128}}},
	{"lb", "longblob", kindBytes, []any{nil, []byte("x"), []byte("X")}},
	{"en", "enum('zebra','apple','','Mango','ä')", kindEnum, []any{nil, "zebra", "apple", "Mango", "", "ä"}},
	{"st", "set('c','a','b','long one')", kindSet, []any{nil, "", "a", "c,b", "c,a,b", "long one"}},
	{"dt", "date", kindDate, []any{nil, "0000-00-00", "2024-00-00", "1000-01-01", "9999-12-31", "2026-01-01"}},
	{"t0", "time", kindTime, []any{nil, "00:00:00", "-00:00:01", "838:59:59", "10:00:00", "09:00:00"}},
	{"t6", "time(6)", kindTime, []any{nil, "00:00:00.000001", "-838:59:59.000000", "12:00:00.500000"}},
	{"dt0", "datetime", kindMoment, []any{nil, "0000-00-00 00:00:00", "2026-01-01 10:00:00", "1000-01-01 00:00:00"}},
	{"ts0", "timestamp NULL", kindMoment, []any{nil, "1970-01-02 00:00:01", "2038-01-18 00:00:00", "2026-01-01 10:00:00"}},
	{"ts6", "timestamp(6) NULL", kindMoment, []any{nil, "2026-01-01 10:00:00.000001", "2026-01-01 10:00:00.1"}},
	{"y4", "year", kindYear, []any{nil, 0, 1901, 2155, 2026}},
	{"doc", "json", kindJSON, documents},
	{"pt", "point", kindBytes, []any{nil, point}},
}
