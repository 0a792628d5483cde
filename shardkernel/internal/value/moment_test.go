package value

import (
	"testing"
	"time"

	"github.com/gormshard/sharding/shardkernel/algorithm"
)

// at reads a wall clock as the time in UTC that carries it.
func at(s string) time.Time {
	t, err := time.Parse("2006-01-02 15:04:05", s)
	if err != nil {
		panic(err)
	}
	return t
}

func TestOneDateInManyFormsIsOneValue(t *testing.T) {
	east := time.FixedZone("east", 8*3600)
	midnight := algorithm.Time(at("2024-01-05 00:00:00"))
	for _, arg := range []any{
		"2024-01-05", "2024-1-5", "2024/01/05", "20240105", "20240105000000", []byte("2024-01-05"), 20240105, int64(20240105000000),
		"2024-01-05 00:00:00", "2024-01-05T00:00:00", "2024-01-05 0:0:0.000000",
		at("2024-01-05 00:00:00"), pointer(at("2024-01-05 00:00:00")), at("2024-01-05 00:00:00").In(east),
	} {
		for _, col := range []*Column{date, datetime, datetime3} {
			if v, match := (Converter{}).Compare(arg, col); v != midnight || match != MatchValue {
				t.Errorf("Compare(%v, %s) = %v, %d", arg, col.Type, v, match)
			}
			if v, err := (Converter{}).Store(arg, col); v != midnight || err != nil {
				t.Errorf("Store(%v, %s) = %v, %v", arg, col.Type, v, err)
			}
		}
	}
}

func TestTimesFollowTheDriversLocation(t *testing.T) {
	east := time.FixedZone("east", 8*3600)
	instant := at("2024-01-05 20:00:00") // 2024-01-06 04:00 in the east
	c := Converter{Location: east}
	if v, match := c.Compare(instant, datetime); v != algorithm.Time(at("2024-01-06 04:00:00")) || match != MatchValue {
		t.Errorf("Compare = %v, %d", v, match)
	}
	if v, err := c.Store(instant, date); v != algorithm.Time(at("2024-01-06 00:00:00")) || err != nil {
		t.Errorf("Store in a date = %v, %v", v, err)
	}
	if v, _ := c.Compare("2024-01-06 04:00:00", datetime); v != algorithm.Time(at("2024-01-06 04:00:00")) {
		t.Errorf("a text moved with the location: %v", v)
	}
	c.TimeTruncate = time.Hour
	if v, _ := c.Compare(at("2024-01-05 20:59:59.9"), datetime); v != algorithm.Time(at("2024-01-06 04:00:00")) {
		t.Errorf("timeTruncate: %v", v)
	}
}

// A wall clock that the zone has twice, or not at all, is kept as it is.
func TestWallClocksOfTimeChangesStayApart(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zone database: ", err)
	}
	c := Converter{Location: berlin}
	for _, s := range []string{"2024-03-31 02:30:00", "2024-03-31 03:30:00", "2024-10-27 02:30:00"} {
		if v, match := c.Compare(s, datetime); v != algorithm.Time(at(s)) || match != MatchValue {
			t.Errorf("%s became %v, %d", s, v, match)
		}
	}
}

func TestDatesThatServersReadDifferentlyWiden(t *testing.T) {
	for _, arg := range []any{
		"", " ", "2024", "2024-01", "24-01-05", "240105", 240105, "2024-13-01", "2024-02-30", "2024-00-05", "0000-00-00", "0999-01-01",
		"2024-01-05 ", " 2024-01-05", "2024-01-05T", "2024-01-05 24:00:00", "2024-01-05 10:60:00", "2024-01-05 10", "2024-01-05 10:00", "2024-01-05 10:00:00.",
		"2024-01-05 10:00:00.1234567890", "2024-01-05 10:00:00Z", "2024-01-05 10:00:00+02:00", "2024-01/05", "2024-001-05", "2024-01-05-06",
		"2024-01-05 10:00:00:00", "20240105100000.5", 20240105.0, Decimal("20240105"), Hex("2024-01-05"), 20241305, -20240105, int64(20240105250000),
		time.Time{},
		time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), true, "2024-01-05 10:00:00.5", at("2024-01-05 10:00:00.5"),
	} {
		if v, match := (Converter{}).Compare(arg, datetime); match != MatchUnknown {
			t.Errorf("Compare(%#v) = %v, %d; want unknown", arg, v, match)
		}
	}
	if v, match := (Converter{}).Compare("2024-01-05 10:00:00", date); match != MatchUnknown {
		t.Errorf("a clock beside a date = %v, %d; want unknown", v, match)
	}
}

func TestStoreShortensFractionsAsTheServer(t *testing.T) {
	for _, c := range []struct {
		arg  string
		col  *Column
		rule Fractions
		want string // empty: refused
	}{
		{"2024-01-05 10:00:00.4", datetime, FractionsUnknown, "2024-01-05 10:00:00"},
		{"2024-01-05 10:00:00.5", datetime, FractionsUnknown, ""},
		{"2024-01-05 10:00:00.5", datetime, FractionsCut, "2024-01-05 10:00:00"},
		{"2024-01-05 10:00:00.5", datetime, FractionsRound, "2024-01-05 10:00:01"},
		{"2024-01-05 10:00:00.1239", datetime3, FractionsCut, "2024-01-05 10:00:00.123"},
		{"2024-01-05 10:00:00.1239", datetime3, FractionsRound, "2024-01-05 10:00:00.124"},
		{"2024-01-05 10:00:00.4999996", datetime, FractionsRound, ""}, // once or twice rounded
		{"2024-01-05 10:00:00.4999996", datetime, FractionsCut, "2024-01-05 10:00:00"},
		{"2024-01-05 10:00:00", date, FractionsUnknown, "2024-01-05 00:00:00"},
		{"2024-01-05 23:59:59.4", date, FractionsUnknown, "2024-01-05 00:00:00"},
		{"2024-01-05 23:59:59.5", date, FractionsUnknown, ""},
		{"2024-01-05 23:59:59.5", date, FractionsCut, "2024-01-05 00:00:00"},
		{"2024-01-05 23:59:59.5", date, FractionsRound, "2024-01-06 00:00:00"},
		{"9999-12-31 23:59:59.5", datetime, FractionsRound, ""},
	} {
		v, err := Converter{Fractions: c.rule}.Store(c.arg, c.col)
		switch {
		case c.want == "" && err == nil:
			t.Errorf("Store(%s, %s, rule %d) = %v, want a refusal", c.arg, c.col.Type, c.rule, v)
		case c.want != "" && (err != nil || v != algorithm.Time(at(c.want))):
			t.Errorf("Store(%s, %s, rule %d) = %v, %v; want %s", c.arg, c.col.Type, c.rule, v, err, c.want)
		}
	}
}

// FuzzMoment proves that a text that is read as a date and time is read as what
// it says: written out again it is the same Value.
func FuzzMoment(f *testing.F) {
	for _, s := range []string{"2024-01-05", "2024/1/5 1:2:3.4", "20240105", "20240229235959", "2024-02-30", "2024-01-05T10:00:00.999999999"} {
		f.Add(s)
	}
	column := &Column{Class: ClassDateTime, Scale: 6}
	f.Fuzz(func(t *testing.T, s string) {
		v, match := Converter{}.Compare(s, column)
		if match != MatchValue {
			return
		}
		again, match := Converter{}.Compare(v.String(), column)
		if again != v || match != MatchValue {
			t.Fatalf("%q is %v, which is %v, %d", s, v, again, match)
		}
		if stored, err := (Converter{}).Store(s, column); err != nil || stored != v {
			t.Fatalf("Store(%q) = %v, %v; Compare gives %v", s, stored, err, v)
		}
	})
}
