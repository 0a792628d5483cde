package algorithm

import (
	"strings"
	"testing"
	"time"
)

func TestPatternsWriteJavasLetters(t *testing.T) {
	when := time.Date(2024, 3, 5, 7, 8, 9, 12_345_678, time.UTC)
	late := time.Date(1999, 12, 31, 23, 59, 58, 999_999_999, time.UTC)
	tests := []struct{ pattern, want, wantLate string }{
		{"yyyyMM", "202403", "199912"},
		{"uuuu-LL-dd", "2024-03-05", "1999-12-31"},
		{"yy_M_d", "24_3_5", "99_12_31"},
		{"uuDDD", "24065", "99365"},
		{"yyyy'Q'Q QQ q", "2024Q1 01 1", "1999Q4 04 4"},
		{"HH:mm:ss", "07:08:09", "23:59:58"},
		{"H:m:s", "7:8:9", "23:59:58"},
		{"S SSS SSSSSS SSSSSSSSS", "0 012 012345 012345678", "9 999 999999 999999999"},
		{"'yyyy''s' '' ''''yyyy", "yyyy's ' ''2024", "yyyy's ' ''1999"},
		{"年yyyy", "年2024", "年1999"},
	}
	for _, tt := range tests {
		p, err := compilePattern(tt.pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		if got := string(p.appendTime(nil, when)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.pattern, got, tt.want)
		}
		if got := string(p.appendTime(nil, late)); got != tt.wantLate {
			t.Errorf("%s: %q, want %q", tt.pattern, got, tt.wantLate)
		}
	}
}

func TestPatternsRefuseWhatIsNotTheSameEverywhere(t *testing.T) {
	tests := []struct{ pattern, want string }{
		{"YYYYMM", "has YYYY, which is not supported; Y is the year that a week belongs to; the year is yyyy"},
		{"yyyyMMM", "has MMM, which is not supported; the fields are"},
		{"yyy", "has yyy"},
		{"hh:mm a", "has hh"},
		{"yyyy-ww", "has ww"},
		{"DD", "has DD"},
		{"SSSSSSSSSS", "has SSSSSSSSSS"},
		{"yyyy-MM-ddTHH", "has T, which is not supported"},
		{"yyyy[MM]", "has [, which is not supported; write '[' in quotation marks"},
		{"yyyy'MM", "quotation mark that is not closed"},
		{"'MM'", "has no field of a date"},
		{"yyyyM", "has M beside another number; write MM"},
		{"yyyy'1'M", "has M beside another number"},
		{"M0", "has M beside another number"},
		{"dHH", "has d beside another number"},
		{strings.Repeat("-", 99) + "yy", "longer than 100 bytes"},
	}
	for _, tt := range tests {
		if _, err := compilePattern(tt.pattern); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.pattern, err, tt.want)
		}
	}
}

func TestPatternsReadWholeDatesOnly(t *testing.T) {
	tests := []struct{ pattern, text, want string }{
		{"yyyy-MM-dd HH:mm:ss", "2024-02-29 23:59:58", "2024-02-29 23:59:58"},
		{"yyyy-MM-dd HH:mm:ss", "2024-02-29 23:59", ""},
		{"yyyy-MM-dd HH:mm:ss", "2024-02-29 23:59:58 ", ""},
		{"yyyy-MM-dd HH:mm:ss", "2023-02-29 00:00:00", ""},
		{"yyyy-MM-dd HH:mm:ss", "2024-00-01 00:00:00", ""},
		{"yyyy-MM-dd HH:mm:ss", "2024-01-00 00:00:00", ""},
		{"yyyy-MM-dd HH:mm:ss", "2024-01-01 24:00:00", ""},
		{"yyyy-MM-dd HH:mm:ss", "2024-01-01 00:60:00", ""},
		{"yyyy-MM-dd HH:mm:ss", "2024-01-01 00:00:60", ""},
		{"yyyy-MM-dd HH:mm:ss", "0999-01-01 00:00:00", ""},
		{"yyyy-MM-dd HH:mm:ss", "+024-01-01 00:00:00", ""},
		{"yyyyMM", "202402", "2024-02-01 00:00:00"},
		{"yyyyMM", "20240", ""},
		{"yyyyMM", "２０２４０２", ""},
		{"yyyy", "2024", "2024-01-01 00:00:00"},
		{"yyyy/M/d", "2024/2/9", "2024-02-09 00:00:00"},
		{"yyyy/M/d", "2024/02/09", "2024-02-09 00:00:00"},
		{"yyyy/M/d", "2024/012/9", ""},
		{"yyyy-MM-dd HH:mm:ss.SSS", "2024-02-09 00:00:00.050", "2024-02-09 00:00:00.05"},
		{"yyyy yyyy", "2024 2024", "2024-01-01 00:00:00"},
		{"yyyy yyyy", "2024 2025", ""},
	}
	for _, tt := range tests {
		p, err := compilePattern(tt.pattern)
		if err == nil {
			err = p.readable()
		}
		if err != nil {
			t.Fatalf("%s: %v", tt.pattern, err)
		}
		got := ""
		if when, ok := p.parse(tt.text); ok {
			got = Time(when).String()
		}
		if got != tt.want {
			t.Errorf("%s of %q: %q, want %q", tt.text, tt.pattern, got, tt.want)
		}
	}
}

func TestOnlyDatesThatEveryServerReadsAlikeAreRead(t *testing.T) {
	tests := []struct {
		value Value
		want  string
	}{
		{Text("2024-01-05"), "2024-01-05 00:00:00"},
		{Text("2024-1-5"), "2024-01-05 00:00:00"},
		{Text("2024/01/05"), "2024-01-05 00:00:00"},
		{Text("20240105"), "2024-01-05 00:00:00"},
		{Int(20240105), "2024-01-05 00:00:00"},
		{Text("2024-01-05 10:30:00"), "2024-01-05 10:30:00"},
		{Text("2024-01-05T1:3:0"), "2024-01-05 01:03:00"},
		{Text("2024/1/5 10:30:00.000"), "2024-01-05 10:30:00"},
		{Text("20240105103000"), "2024-01-05 10:30:00"},
		{Int(20240105103000), "2024-01-05 10:30:00"},
		{Text("2024-01-05 10:30:00.5"), ""}, // cut by one server, rounded by another
		{Text("2024-01-05 10:30:00."), ""},
		{Text("2024-01-05."), ""},
		{Text("20240105.0"), ""},
		{Text("24-01-05"), ""},
		{Text("240105"), ""},
		{Int(240105), ""},
		{Text("2024-01/05"), ""},
		{Text("2024-01-05 10:30"), ""},
		{Text("2024-01-05T10:30:00Z"), ""},
		{Text("2024-01-05 10:30:00+02:00"), ""},
		{Text(" 2024-01-05"), ""},
		{Text("2024-01-05 "), ""},
		{Text("2024-02-30"), ""},
		{Text("0000-00-00"), ""},
		{Text("0999-12-31"), ""},
		{Text("now"), ""},
		{Text(""), ""},
		{Int(-20240105), ""},
		{Int(1704412800), ""}, // seconds since 1970
	}
	for _, tt := range tests {
		got := ""
		if v, err := readMoment(tt.value); err == nil {
			got = v.String()
		}
		if got != tt.want {
			t.Errorf("%q: %q, want %q", tt.value, got, tt.want)
		}
	}
}

// A pattern never panics, and what it writes it reads.
func FuzzPattern(f *testing.F) {
	for _, seed := range []string{"yyyy-MM-dd HH:mm:ss.SSS", "yyyyMM", "yy'x'Q", "''", "'", "_M_d", "DDD yyyy", "yyyy/M/d H:m:s"} {
		f.Add(seed, int64(1704412800), "2024-01-05")
	}
	f.Fuzz(func(t *testing.T, text string, unix int64, value string) {
		p, err := compilePattern(text)
		if err != nil {
			return
		}
		const first, last = -30610224000, 253402300799 // the years 1000 to 9999
		when := time.Unix(first+int64(uint64(unix)%(last-first+1)), 0).UTC()
		written := string(p.appendTime(nil, when))
		if !p.fits(written) {
			t.Errorf("%q writes %q, which does not fit it", text, written)
		}
		if least, most := p.lengths(); len(written) < least || len(written) > most {
			t.Errorf("%q writes %q, of %d bytes, not %d to %d", text, written, len(written), least, most)
		}
		p.fits(value)
		if p.readable() != nil {
			return
		}
		read, ok := p.parse(written)
		if !ok || string(p.appendTime(nil, read)) != written {
			t.Errorf("%q writes %q and reads %s, %t", text, written, read, ok)
		}
		if read, ok := p.parse(value); ok && (read.Year() < 1000 || read.Year() > 9999) {
			t.Errorf("%q reads %q as %s", text, value, read)
		}
	})
}
