package value

import (
	"strings"
	"time"

	"github.com/gormshard/sharding/shardkernel/algorithm"
)

// moment is a date, or a date and time, as the server reads it.
type moment struct {
	wall time.Time // the wall clock, as a time in UTC
}

// exact reports whether a column holds the moment without loss.
func (m moment) exact(col *Column) bool {
	return m.wall.Equal(m.wall.Truncate(precision(col)))
}

// precision is the unit of what a temporal column stores.
func precision(col *Column) time.Duration {
	if col.Class == ClassDate {
		return 24 * time.Hour
	}
	unit := time.Second
	for range min(max(col.Scale, 0), 6) {
		unit /= 10
	}
	return unit
}

// readMoment reads a time.Time, a text and a number in the formats all versions
// of the servers agree on: 2024-01-05 and 2024/1/5, with or without a time
// behind a space or a T, and 20240105 or 20240105103000.
func (c Converter) readMoment(o operand) (moment, bool) {
	switch o.form {
	case formTime:
		return c.momentOfTime(o.time)
	case formInt:
		switch {
		case o.int >= 1000_01_01 && o.int <= 9999_12_31:
			return compactMoment(o.int, 0)
		case o.int >= 1000_01_01_00_00_00 && o.int <= 9999_12_31_23_59_59:
			return compactMoment(o.int/1_000_000, o.int%1_000_000)
		}
	case formText, formBytes:
		return textMoment(o.text)
	}
	return moment{}, false
}

// momentOfTime reads what the driver writes for t: the wall clock in its
// location, the zero time as the zero date.
func (c Converter) momentOfTime(t time.Time) (moment, bool) {
	if t.IsZero() {
		return moment{}, false
	}
	location := c.Location
	if location == nil {
		location = time.UTC
	}
	t = t.In(location)
	if c.TimeTruncate > 0 {
		t = t.Truncate(c.TimeTruncate)
	}
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	return newMoment(year, int(month), day, hour, minute, second, t.Nanosecond())
}

// compactMoment reads a date written as YYYYMMDD and a clock written as HHMMSS.
func compactMoment(date, clock int64) (moment, bool) {
	return newMoment(int(date/10000), int(date/100%100), int(date%100),
		int(clock/10000), int(clock/100%100), int(clock%100), 0)
}

// newMoment refuses what is no date, such as the zero date, and the years below
// 1000, which the servers do not support.
func newMoment(year, month, day, hour, minute, second, nanosecond int) (moment, bool) {
	if year < 1000 || year > 9999 || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59 {
		return moment{}, false
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, nanosecond, time.UTC)
	return moment{t}, t.Day() == day
}

func textMoment(s string) (moment, bool) {
	if digits(s) {
		switch len(s) {
		case 8:
			return compactMoment(int64(atoi(s)), 0)
		case 14:
			return compactMoment(int64(atoi(s[:8])), int64(atoi(s[8:])))
		}
		return moment{}, false
	}
	date, clock := s, ""
	if i := strings.IndexAny(s, " T"); i >= 0 {
		date, clock = s[:i], s[i+1:]
		if clock == "" {
			return moment{}, false
		}
	}
	year, month, day, ok := textDate(date)
	if !ok {
		return moment{}, false
	}
	if clock == "" {
		return newMoment(year, month, day, 0, 0, 0, 0)
	}
	hour, minute, second, nanosecond, ok := textClock(clock)
	if !ok {
		return moment{}, false
	}
	return newMoment(year, month, day, hour, minute, second, nanosecond)
}

// textDate reads YYYY-M-D or YYYY/M/D.
func textDate(s string) (year, month, day int, ok bool) {
	if len(s) < 5 || s[4] != '-' && s[4] != '/' {
		return 0, 0, 0, false
	}
	monthText, dayText, found := strings.Cut(s[5:], s[4:5])
	if !found || !digits(s[:4]) || !shortNumber(monthText) || !shortNumber(dayText) {
		return 0, 0, 0, false
	}
	return atoi(s[:4]), atoi(monthText), atoi(dayText), true
}

// textClock reads H:M:S with an optional fraction of up to nine digits.
func textClock(s string) (hour, minute, second, nanosecond int, ok bool) {
	hourText, rest, _ := strings.Cut(s, ":")
	minuteText, rest, found := strings.Cut(rest, ":")
	secondText, fraction, dot := strings.Cut(rest, ".")
	if !found || !shortNumber(hourText) || !shortNumber(minuteText) || !shortNumber(secondText) {
		return 0, 0, 0, 0, false
	}
	if dot && (fraction == "" || len(fraction) > 9 || !digits(fraction)) {
		return 0, 0, 0, 0, false
	}
	nanosecond = atoi(fraction)
	for i := len(fraction); i < 9; i++ {
		nanosecond *= 10
	}
	return atoi(hourText), atoi(minuteText), atoi(secondText), nanosecond, true
}

// shortNumber reports whether s is one digit or two.
func shortNumber(s string) bool { return (len(s) == 1 || len(s) == 2) && digits(s) }

// atoi reads at most nine digits.
func atoi(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		n = n*10 + int(s[i]-'0')
	}
	return n
}

// boundMoment converts a bound. The server cuts or rounds a bound finer than a
// microsecond, so that it is moved outwards and stays in the range.
func (c Converter) boundMoment(o operand, lower, open bool) (v algorithm.Value, excl, ok bool) {
	m, ok := c.readMoment(o)
	if !ok {
		return v, false, false
	}
	wall := m.wall.Truncate(time.Microsecond)
	if wall.Equal(m.wall) {
		return algorithm.Time(wall), open, true
	}
	if !lower {
		wall = wall.Add(time.Microsecond)
	}
	return algorithm.Time(wall), false, true
}

// stored returns what a column stores of the moment. ok is false when that
// depends on a rule for fractions that is not known, or on the order of two
// roundings.
func (m moment) stored(col *Column, rule Fractions) (wall time.Time, ok bool) {
	cut := m.wall.Truncate(precision(col))
	round := m.rounded(col, m.wall)
	if twice := m.rounded(col, m.wall.Round(time.Microsecond)); !twice.Equal(round) && rule != FractionsCut {
		return wall, false
	}
	switch {
	case cut.Equal(round) || rule == FractionsCut:
		return cut, true
	case rule == FractionsRound:
		return round, round.Year() <= 9999
	}
	return wall, false
}

// rounded returns t as a server that rounds stores it: a date loses its clock
// only after the seconds were rounded.
func (m moment) rounded(col *Column, t time.Time) time.Time {
	if col.Class == ClassDate {
		return t.Round(time.Second).Truncate(24 * time.Hour)
	}
	return t.Round(precision(col))
}
