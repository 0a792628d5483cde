// Package nearest finds the name somebody meant when he wrote another one, and
// orders names as people count.
package nearest

import (
	"strings"
	"unicode/utf8"
)

// maxLength bounds the work a single comparison may take.
const maxLength = 128

// Nearest returns the name in of that is closest to name, ignoring case, or ""
// when none is close enough to be a likely slip of the pen: one edit for every
// three characters of the name, at least one. Of equally close names it returns
// the first. An edit inserts, removes or replaces a character or swaps two
// neighbours.
func Nearest(name string, of []string) string {
	if name == "" || len(name) > maxLength {
		return ""
	}
	limit := max(1, utf8.RuneCountInString(name)/3)
	best := ""
	for _, candidate := range of {
		if candidate == "" || len(candidate) > maxLength {
			continue
		}
		if d := distance(strings.ToLower(name), strings.ToLower(candidate)); d <= limit {
			best, limit = candidate, d-1
		}
		if limit < 0 {
			break
		}
	}
	return best
}

// Hint returns a sentence for an error's remedy, `did you mean "x"?`, or "" when
// no name is near.
func Hint(name string, of []string) string {
	near := Nearest(name, of)
	if near == "" {
		return ""
	}
	return `did you mean "` + near + `"?`
}

// HintOrList is Hint, or where no name is near, the list of all: `known: a, b`.
func HintOrList(name string, of []string) string {
	if hint := Hint(name, of); hint != "" {
		return hint
	}
	if len(of) == 0 {
		return "there is none"
	}
	return "known: " + strings.Join(of, ", ")
}

// distance is the number of edits between a and b, with swaps of neighbours
// that are not edited again.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	beforeLast := make([]int, len(y)+1)
	last := make([]int, len(y)+1)
	row := make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], beforeLast[j-2]+1)
			}
		}
		beforeLast, last, row = last, row, beforeLast
	}
	return last[len(y)]
}

// Compare orders names as people count: runs of digits by their number, so that
// ds2 comes before ds10, all else by bytes. Names that differ only in leading
// zeros are ordered by bytes, so only equal names compare as 0.
func Compare(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		m, n := digits(x), digits(y)
		if m == 0 || n == 0 {
			if x[0] != y[0] {
				return strings.Compare(x[:1], y[:1])
			}
			x, y = x[1:], y[1:]
			continue
		}
		p, q := strings.TrimLeft(x[:m], "0"), strings.TrimLeft(y[:n], "0")
		if len(p) != len(q) {
			return len(p) - len(q)
		}
		if order := strings.Compare(p, q); order != 0 {
			return order
		}
		x, y = x[m:], y[n:]
	}
	if len(x) != len(y) {
		return len(x) - len(y)
	}
	return strings.Compare(a, b)
}

// digits is the length of the run of decimal digits that s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}
