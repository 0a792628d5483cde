package parse

import (
	"math"
	"testing"
)

func TestDigitsBehindThePoint(t *testing.T) {
	for text, want := range map[string]int{
		"7":                       0,
		"7.":                      0,
		"7.0":                     0,
		"7.00":                    0,
		"-7.50":                   1,
		"1.25":                    2,
		"1.5abc":                  4,
		"0.00 ":                   3,
		"1e1":                     0,
		" 1.50e2":                 math.MaxInt, // white space before it is no number of Go's
		"1.50e2":                  0,
		"1.5e0":                   math.MaxInt,
		"15e-1":                   math.MaxInt,
		"1e400":                   math.MaxInt,
		"9007199254740991e0":      0,
		"9007199254740993e0":      math.MaxInt,
		"2026-01-01 00:00:00.100": 1,
		"2026-01-01":              0,
	} {
		if got := Digits(text); got != want {
			t.Errorf("Digits(%q) = %d, want %d", text, got, want)
		}
	}
}
