package algorithm

import (
	"errors"
	"time"
)

// maxYear is the last year that MySQL and MariaDB know.
const maxYear = 9999

// calendarEnd is the last instant of maxYear.
var calendarEnd = time.Date(maxYear, time.December, 31, 23, 59, 59, 999_999_999, time.UTC)

// steps cuts time into steps of equal length by the calendar, numbered from 0.
// Months and years are counted by the calendar, so that they are of different
// lengths. Times are wall clocks carried in UTC, where no hour is left out or
// comes twice.
type steps struct {
	lower time.Time // start of step 0, at a whole second
	// A step is a number of months or, where that is 0, of seconds.
	months  int64
	seconds int64
}

// newSteps returns steps of an amount of DAYS or another unit.
func newSteps(lower time.Time, amount int64, unit string) steps {
	s := steps{lower: lower}
	switch unit {
	case "YEARS":
		s.months = 12 * amount
	case "MONTHS":
		s.months = amount
	case "WEEKS":
		s.seconds = 7 * 24 * 3600 * amount
	case "DAYS":
		s.seconds = 24 * 3600 * amount
	case "HOURS":
		s.seconds = 3600 * amount
	case "MINUTES":
		s.seconds = 60 * amount
	default:
		s.seconds = amount
	}
	return s
}

// check reports a start that no step could have.
func (s steps) check() error {
	switch {
	case s.lower.Nanosecond() != 0:
		return errors.New(`property "datetimeLower" has a fraction of a second, where no step can start`)
	case s.months > 0 && s.lower.Day() > 28:
		return errors.New(`property "datetimeLower" is after the 28th, a day that not every month has; start at the first of a month`)
	}
	return nil
}

// start returns the start of a step.
func (s steps) start(step int64) time.Time {
	if s.months > 0 {
		return s.lower.AddDate(0, int(step*s.months), 0)
	}
	return time.Unix(s.lower.Unix()+step*s.seconds, 0).UTC()
}

// step returns the number of the step that holds t, which is not before lower
// nor after maxYear.
func (s steps) step(t time.Time) int64 {
	if s.months == 0 {
		return (t.Unix() - s.lower.Unix()) / s.seconds
	}
	year, month, day := t.Date()
	lowerYear, lowerMonth, lowerDay := s.lower.Date()
	months := 12*int64(year-lowerYear) + int64(month-lowerMonth)
	if day < lowerDay || day == lowerDay && clock(t) < clock(s.lower) {
		months--
	}
	return months / s.months
}

// clock returns the seconds since midnight.
func clock(t time.Time) int {
	hour, minute, second := t.Clock()
	return 3600*hour + 60*minute + second
}
