package parse

import "strings"

// rowLimit is a limit of rows as standard SQL writes it behind the outermost query:
// OFFSET m ROWS FETCH NEXT n ROWS ONLY. Its parts are tokens, -1 where they are not
// there.
type rowLimit struct {
	start, offset, fetch, count, end int
	ties                             bool
}

// findRowLimit finds such a limit. Behind LIMIT, OFFSET m ROWS EXAMINED is another
// clause.
func (s *source) findRowLimit() (l rowLimit, ok bool) {
	if isSQLite(s.dialect) {
		return l, false
	}
	for i := range s.tokens {
		if s.tokens[i].depth > 0 || !s.isWord(i, "OFFSET", "FETCH") {
			continue
		}
		l = rowLimit{start: i, offset: -1, fetch: -1, count: -1}
		if s.isWord(i, "OFFSET") {
			if !s.isCount(i+1) || !s.isWord(i+2, "ROW", "ROWS") || s.isWord(i-2, "LIMIT") {
				continue
			}
			l.offset, l.end = i+1, i+3
			i += 3
			if !s.isWord(i, "FETCH") {
				return l, true
			}
		}
		l.fetch = i
		if i += 2; s.isCount(i) {
			l.count = i
			i++
		}
		switch {
		case !s.isWord(l.fetch+1, "FIRST", "NEXT") || !s.isWord(i, "ROW", "ROWS"):
		case s.isWord(i+1, "ONLY"):
			l.end = i + 2
			return l, true
		case s.isWord(i+1, "WITH") && s.isWord(i+2, "TIES"):
			l.end, l.ties = i+3, true
			return l, true
		}
	}
	return l, false
}

func (s *source) isCount(i int) bool {
	return i < len(s.tokens) && (s.tokens[i].kind == tokenNumber || s.tokens[i].kind == tokenMarker)
}

// asLimit returns what token i of the limit is in LIMIT m, n, which keeps the order
// of markers; ok is false for what stays as it is.
func (l *rowLimit) asLimit(i int) (word string, ok bool) {
	switch {
	case i == l.offset, i == l.count:
		return "", false
	case i == l.start:
		return "LIMIT", true
	case i == l.offset+1 && l.offset >= 0 && l.fetch < 0:
		return ", 18446744073709551615", true
	case i == l.offset+1 && l.offset >= 0:
		return ",", true
	case i == l.fetch+1 && l.count < 0:
		return "1", true
	}
	return "", true
}

// limited returns the text with LIMIT in the place of the limit. Comments between its
// parts stay.
func (s *source) limited(l *rowLimit) string {
	var b strings.Builder
	at := 0
	for i := l.start; i < l.end; i++ {
		if word, ok := l.asLimit(i); ok {
			b.WriteString(s.text[at:s.tokens[i].start] + word)
			at = s.tokens[i].end
		}
	}
	return b.String() + s.text[at:]
}

// hideTies lets the parser see LIMIT in the place of a limit WITH TIES, which it does
// not know.
func (s *source) hideTies(l *rowLimit) {
	s.ties = l.start
	for i := l.start; i < l.end; i++ {
		if word, ok := l.asLimit(i); ok {
			s.overwrite(i, i, word)
		}
	}
}
