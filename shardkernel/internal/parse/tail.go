package parse

import (
	"strings"
)

// tails is what the parser cannot read and gets in another form, of the same
// length: the tail of RETURNING as a SELECT, that of ON CONFLICT … DO UPDATE SET
// as an UPDATE, both as statements of their own behind the first one; the alias
// of inserted rows as white space.
type tails struct {
	verb int // index of the statement's verb
	end  int // index behind the statement proper: where the first tail begins

	rowAlias        string // of VALUES … AS new(cols)
	rowAliasColumns []string

	conflict       bool // ON CONFLICT
	conflictUpdate bool // … DO UPDATE SET
	returning      bool
}

// cutTails finds the tails and writes them in the parser's form.
func (s *source) cutTails() error {
	s.tails.verb = s.findVerb()
	s.tails.end = len(s.tokens)
	verb := s.tails.verb
	if s.isWord(verb, "CREATE", "ALTER", "DROP") {
		s.cutDefinition()
		return s.checkStored()
	}
	if !s.isWord(verb, "INSERT", "REPLACE", "UPDATE", "DELETE") {
		if l, ok := s.findRowLimit(); ok && l.ties {
			s.hideTies(&l)
		}
		return nil
	}
	end := len(s.tokens)
	for i := verb + 1; i < end; i++ {
		if s.is(i, "(") {
			i = int(s.pair[i])
			continue
		}
		if s.isWord(i, "RETURNING") && s.endsExpression(i-1) && i+1 < end && !s.is(i+1, "=") && !s.is(i+1, ".") && !s.is(i+1, ",") {
			s.tails.returning = true
			s.overwrite(i, i, "; SELECT ")
			end = i
		}
	}
	s.tails.end = end
	if s.isWord(verb, "INSERT", "REPLACE") {
		if err := s.cutConflict(end); err != nil {
			return err
		}
		return s.cutRowAlias()
	}
	return nil
}

// findVerb returns the index of the word that says what the statement does:
// behind leading parentheses and behind WITH.
func (s *source) findVerb() int {
	i := 0
	for s.is(i, "(") {
		i++
	}
	if !s.isWord(i, "WITH") {
		return i
	}
	for j := i + 1; j < len(s.tokens); j++ {
		if s.is(j, "(") {
			// A parenthesis behind one is the query itself: WITH x AS (…) (SELECT …).
			if s.is(j-1, ")") {
				return s.findWord(j, "SELECT", "VALUES", "TABLE")
			}
			j = int(s.pair[j])
			continue
		}
		if s.isWord(j, "SELECT", "INSERT", "REPLACE", "UPDATE", "DELETE", "VALUES", "TABLE") && s.is(j-1, ")") {
			return j
		}
	}
	return i
}

// findWord returns the index of the first of the words from token i on, or i.
func (s *source) findWord(i int, words ...string) int {
	for j := i; j < len(s.tokens); j++ {
		if s.isWord(j, words...) {
			return j
		}
	}
	return i
}

// endsExpression reports whether an expression, a name or a list can end with
// token i.
func (s *source) endsExpression(i int) bool {
	if i < 0 {
		return false
	}
	switch s.tokens[i].kind {
	case tokenOther:
		return s.is(i, ")")
	case tokenWord:
		if s.is(i-1, ".") {
			return true
		}
		return !s.isWord(i, "SET", "WHERE", "AND", "OR", "XOR", "NOT", "BY", "ON", "LIKE", "IN", "IS", "BETWEEN", "DIV",
			"MOD", "REGEXP", "RLIKE", "SELECT", "AS", "FROM", "INTO", "UPDATE", "LIMIT", "CASE", "WHEN", "THEN", "ELSE",
			"USING", "HAVING", "BINARY", "COLLATE", "INTERVAL", "DISTINCT", "JOIN")
	}
	return true
}

// cutConflict writes ON CONFLICT (…) DO UPDATE SET as UPDATE x SET, and erases
// ON CONFLICT (…) DO NOTHING.
func (s *source) cutConflict(end int) error {
	for i := s.tails.verb + 1; i < end; i++ {
		if s.is(i, "(") {
			i = int(s.pair[i])
			continue
		}
		if !s.isWord(i, "ON") || !s.isWord(i+1, "CONFLICT") {
			continue
		}
		if s.tails.conflict {
			return s.refuse(i, "several ON CONFLICT clauses", "use one")
		}
		do := i + 2
		for do < end && !s.isWord(do, "DO") {
			if s.tokens[do].kind == tokenMarker {
				return s.refuse(do, "a parameter in the target of ON CONFLICT", "write the value as a literal")
			}
			if s.isWord(do, "SELECT") {
				return s.refuse(do, "a subquery in the target of ON CONFLICT", "")
			}
			do++
		}
		s.tails.conflict = true
		s.tails.end = min(s.tails.end, i)
		switch {
		case s.isWord(do+1, "NOTHING") && do+2 == end:
			s.overwrite(i, do+1, "")
			return nil
		case s.isWord(do+1, "UPDATE") && s.isWord(do+2, "SET") && do+3 < end:
			s.tails.conflictUpdate = true
			s.overwrite(i, do+2, ";UPDATE x SET")
			i = do + 2
		default:
			return s.refuse(min(do, end-1), "an ON CONFLICT clause that is not understood", "use DO NOTHING or DO UPDATE SET")
		}
	}
	return nil
}

// cutRowAlias erases the alias that MySQL allows for the inserted row.
func (s *source) cutRowAlias() error {
	values := false
	for i := s.tails.verb + 1; i < s.tails.end; i++ {
		if s.is(i, "(") {
			i = int(s.pair[i])
			continue
		}
		if s.isWord(i, "SELECT", "TABLE", "WITH") {
			return nil
		}
		values = values || s.isWord(i, "VALUES", "VALUE", "SET")
		if !values || !s.isWord(i, "AS") || !s.isName(i+1) {
			continue
		}
		last := i + 1
		s.tails.rowAlias = unquote(s.raw(i + 1))
		if s.is(i+2, "(") {
			last = int(s.pair[i+2])
			for j := i + 3; j < last; j += 2 {
				if !s.isName(j) || j+1 < last && !s.is(j+1, ",") {
					return s.refuse(j, "the column list of a row alias is not understood", "")
				}
				s.tails.rowAliasColumns = append(s.tails.rowAliasColumns, strings.ToLower(unquote(s.raw(j))))
			}
		}
		if last+1 < s.tails.end && !s.isWord(last+1, "ON") {
			return s.refuse(last+1, "a row alias that is not understood", "")
		}
		s.overwrite(i, last, "")
		return nil
	}
	return nil
}

// overwrite writes with, which is no longer, in place of the tokens from first to
// last, at their end, and erases the rest.
func (s *source) overwrite(first, last int, with string) {
	for i := first; i <= last; i++ {
		s.tokens[i].erased = true
	}
	s.erase(s.tokens[first].start, s.end(last))
	copy(s.buffer[s.end(last)-len(with):], with)
}
