package value

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// TestFoldComputesAsTheServer holds what MariaDB 10.11 answers; a blank is what is
// left to it.
func TestFoldComputesAsTheServer(t *testing.T) {
	type id int32
	cases := []struct {
		op   string
		args []any
		want string
	}{
		{"+", []any{10, int64(5)}, "15"},
		{"+", []any{uint8(3), id(-5)}, "-2"},
		{"-", []any{3, 5}, "-2"},
		{"*", []any{-4, 5}, "-20"},
		{"+", []any{true, 1}, "2"},
		{"+", []any{nil, 1}, "<nil>"},
		{"*", []any{"x", nil}, "<nil>"},
		{"+", []any{int64(math.MaxInt64), 1}, ""},
		{"*", []any{int64(math.MaxInt64), -2}, ""},
		{"+", []any{uint64(math.MaxUint64), -1}, "18446744073709551614"},
		{"+", []any{uint64(math.MaxUint64), 1}, ""},
		{"-", []any{uint64(math.MaxUint64), uint64(math.MaxUint64)}, "0"},
		{"+", []any{Decimal("1.50"), 2}, "3.50"},
		{"-", []any{Decimal("1.5"), Decimal("1.50")}, "0.00"},
		{"*", []any{Decimal("-.5"), Decimal("0.5")}, "-0.25"},
		{"*", []any{Decimal("0.1234567890123456"), Decimal("0.1234567890123456")}, ""},
		{"+", []any{"5", 1}, ""},
		{"+", []any{1.5, 1}, ""},
		{"+", []any{[]byte("5"), 1}, ""},
		{"+", []any{time.Unix(0, 0), 1}, ""},
		{"DIV", []any{-7, 2}, "-3"},
		{"%", []any{-7, 2}, "-1"},
		{"%", []any{7, -2}, "1"},
		{"DIV", []any{7, 0}, ""},
		{"%", []any{7, 0}, ""},
		{"DIV", []any{Decimal("7.5"), 2}, ""},
		{"DIV", []any{int64(math.MinInt64), -1}, ""},
		{"&", []any{6, 3}, "2"},
		{"|", []any{6, 3}, "7"},
		{"^", []any{6, 3}, "5"},
		{"<<", []any{1, 63}, "9223372036854775808"},
		{"<<", []any{1, 64}, "0"},
		{">>", []any{8, 2}, "2"},
		{"&", []any{-1, 3}, ""},
		{"/", []any{4, 2}, ""},
		{"neg", []any{5}, "-5"},
		{"neg", []any{Decimal("-1.50")}, "1.50"},
		{"neg", []any{nil}, "<nil>"},
		{"neg", []any{int64(math.MinInt64)}, ""},
		{"neg", []any{uint64(1 << 63)}, ""},
		{"neg", []any{"5"}, ""},
		{"~", []any{0}, "18446744073709551615"},
		{"signed", []any{"-12"}, "-12"},
		{"signed", []any{" 12"}, ""},
		{"signed", []any{"12x"}, ""},
		{"signed", []any{""}, ""},
		{"signed", []any{Decimal("1.5")}, ""},
		{"unsigned", []any{12}, "12"},
		{"unsigned", []any{-12}, ""},
		{"unsigned", []any{"-12"}, ""},
	}
	for _, c := range cases {
		got, ok := Fold(c.op, c.args...)
		text := ""
		if ok {
			text = fmt.Sprint(got)
		}
		if text != c.want {
			t.Errorf("%s %v = %q, want %q", c.op, c.args, text, c.want)
		}
	}
}
