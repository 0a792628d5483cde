package parse

import (
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
)

// keywords holds the parser's keywords, in upper case.
var keywords = sync.OnceValue(func() map[string]bool {
	m := make(map[string]bool, len(parser.Keywords))
	for _, k := range parser.Keywords {
		m[strings.ToUpper(k.Word)] = true
	}
	return m
})

// plant replaces every token that equals a configured name by a name that occurs
// nowhere else, so that the tree shows which token stands where.
func (s *source) plant() {
	for i := range s.tokens {
		if !s.isName(i) || s.tokens[i].erased {
			continue
		}
		raw := s.raw(i)
		if !s.names.IsTable(unquote(raw)) || s.tokens[i].kind == tokenWord && !s.mayPlant(i) {
			continue
		}
		s.sentinels = append(s.sentinels, sentinel{token: i})
	}
	if len(s.sentinels) == 0 {
		s.clean = string(s.buffer)
		return
	}
	lower := strings.ToLower(s.text)
	for n := 0; ; n++ {
		s.prefix = "s" + strconv.Itoa(n) + "q"
		if !strings.Contains(lower, s.prefix) {
			break
		}
	}
	var b strings.Builder
	b.Grow(len(s.buffer) + 12*len(s.sentinels))
	from := 0
	for k := range s.sentinels {
		tok := s.tokens[s.sentinels[k].token]
		b.Write(s.buffer[from:tok.start])
		s.sentinels[k].start = b.Len()
		b.WriteByte('`')
		b.WriteString(s.prefix)
		b.WriteString(strconv.Itoa(k))
		b.WriteByte('`')
		s.sentinels[k].end = b.Len()
		from = tok.end
	}
	b.Write(s.buffer[from:])
	s.clean = b.String()
}

// mayPlant reports whether the unquoted word i can be replaced without changing
// what the parser makes of the text: a keyword or the name of a function may
// mean something by its spelling. Where such a word turns out to be a table
// after all, the statement is refused.
func (s *source) mayPlant(i int) bool {
	if s.is(i-1, ".") || s.is(i+1, ".") {
		return true
	}
	introduced := s.isWord(i-1, "FROM", "JOIN", "INTO", "UPDATE", "TABLE", "STRAIGHT_JOIN", "REFERENCES") || s.listed && s.is(i-1, ",")
	if keywords()[strings.ToUpper(s.raw(i))] || i+1 < len(s.tokens) && s.tokens[i+1].kind == tokenString {
		return introduced // _charset 'x' and DATE 'x' are literals
	}
	if s.is(i+1, "(") {
		return introduced || s.isWord(i-1, "INSERT", "REPLACE", "IGNORE", "LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED", "WITH", "RECURSIVE") ||
			s.isWord(i-1, "ON", "EXISTS") && s.isWord(s.tails.verb, "CREATE", "DROP", "ALTER")
	}
	return true
}

// original maps an offset of the parser's text to the text.
func (s *source) original(offset int) int {
	k := sort.Search(len(s.sentinels), func(k int) bool { return s.sentinels[k].start > offset }) - 1
	if k < 0 {
		return offset
	}
	tok := s.tokens[s.sentinels[k].token]
	if offset < s.sentinels[k].end {
		return tok.start
	}
	return tok.end + offset - s.sentinels[k].end
}

// tokenOf returns the index of the token at which the node begins, or -1.
func (s *source) tokenOf(n ast.Node) int { return s.at(s.original(n.OriginTextPosition())) }

// nameOf returns the name as it stands in the text, and the index of its
// sentinel or -1.
func (s *source) nameOf(name ast.CIStr) (string, int) {
	if s.prefix == "" || !strings.HasPrefix(name.L, s.prefix) {
		return name.O, -1
	}
	k, err := strconv.Atoi(name.L[len(s.prefix):])
	if err != nil || k < 0 || k >= len(s.sentinels) {
		return name.O, -1
	}
	return unquote(s.raw(s.sentinels[k].token)), k
}

// see notes that the names stand where they are no tables.
func (s *source) see(names ...ast.CIStr) {
	for _, n := range names {
		if _, k := s.nameOf(n); k >= 0 {
			s.sentinels[k].seen = true
		}
	}
}
