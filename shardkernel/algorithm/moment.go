package algorithm

import (
	"errors"
	"strings"
	"time"
)

// The forms of a date and of a clock that every MySQL and MariaDB reads alike,
// whatever its settings. Dates of two-digit years are not among them.
var (
	dateForms  = mustPatterns("yyyy-M-d", "yyyy/M/d", "yyyyMMdd")
	clockForms = mustPatterns("yyyy-M-d H:m:s", "yyyy/M/d H:m:s", "yyyy-M-d'T'H:m:s", "yyyy/M/d'T'H:m:s", "yyyyMMddHHmmss")
)

func mustPatterns(texts ...string) []pattern {
	patterns := make([]pattern, len(texts))
	for i, text := range texts {
		p, err := compilePattern(text)
		if err != nil {
			panic(err) // a mistake in the list above
		}
		patterns[i] = p
	}
	return patterns
}

// errNoMoment is returned for a value that is not a date without doubt.
var errNoMoment = errors.New("the algorithm needs a date or time, written as 2024-01-05 or 2024-01-05 10:30:00, and the value is none or has another meaning elsewhere")

// readMoment takes times, and texts and integers that are a date in a form
// that every server reads alike, such as 2024-1-5 and 20240105.
func readMoment(v Value) (Value, error) { return readMomentAs(v, nil) }

// readMomentAs is readMoment for texts and integers in the own pattern, too. One
// that is two different dates is an error.
func readMomentAs(v Value, own *pattern) (Value, error) {
	switch v.Kind() {
	case KindTime:
		return v, nil
	case KindNull:
		return v, errNull
	}
	text := v.String()
	t, found := serverDate(text)
	if own != nil {
		if u, ok := own.parse(text); ok {
			if found && !u.Equal(t) {
				return v, errNoMoment
			}
			t, found = u, true
		}
	}
	if !found {
		return v, errNoMoment
	}
	return Time(t), nil
}

// serverDate reads a text in one of the forms, with a fraction of the second
// only if that is zero: one server cuts what a column has no room for, the
// other rounds it.
func serverDate(text string) (time.Time, bool) {
	for i := range dateForms {
		if t, ok := dateForms[i].parse(text); ok {
			return t, true
		}
	}
	if whole, fraction, dot := strings.Cut(text, "."); dot {
		if fraction == "" || strings.Trim(fraction, "0") != "" {
			return time.Time{}, false
		}
		text = whole
	}
	for i := range clockForms {
		if t, ok := clockForms[i].parse(text); ok {
			return t, true
		}
	}
	return time.Time{}, false
}
