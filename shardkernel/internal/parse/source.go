package parse

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// Bounds on what is handed to the parser: it and every walk over its tree recurse
// as deep as expressions nest, and its chaining of joins takes quadratic time.
const (
	maxDepth   = 1000    // parentheses open at once
	maxNesting = 1 << 18 // tokens that may deepen the tree, operators and names
	maxJoins   = 1000
	// maxSources bounds the table sources of a block; servers allow 61. The
	// sides of joins are listed for every join.
	maxSources = 200
)

// source is a text to be parsed with its tokens, and the text the parser gets in
// its place: comments and hints are white space in it, tails are statements of
// their own, and configured names are sentinels. All positions of this package
// are positions of the original text; original maps the parser's to them.
type source struct {
	text    string
	dialect *dialect.Dialect
	names   Names
	tokens  []token // without closing semicolons
	pair    []int32 // for a parenthesis, the index of its counterpart, else -1
	markers []int   // byte offset of every marker
	pipes   bool    // || occurs, which is OR or, by sql_mode, concatenates

	listed    bool // a keyword behind a comma may be the name of a table
	tails     tails
	ties      int    // the first token of a limit WITH TIES, 0 for none
	buffer    []byte // what the parser gets, before the sentinels go in
	prefix    string // of the sentinels
	sentinels []sentinel
	clean     string // what the parser gets
}

// sentinel stands in clean for one token that equals a configured name.
type sentinel struct {
	token      int // index into tokens
	start, end int // in clean
	// seen is true when it turned up in the tree at a place whose role is known.
	seen bool
}

// newSource reads the tokens of text and refuses what the parser would read
// otherwise than the server.
func newSource(text string, names Names, d *dialect.Dialect) (*source, error) {
	s := &source{text: text, dialect: d, names: names, tokens: make([]token, 0, len(text)/5+8)}
	l := lexer{text: text, dialect: d}
	for {
		tok, ok, err := l.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		s.tokens = append(s.tokens, tok)
		if tok.depth > maxDepth {
			return nil, s.refuse(len(s.tokens)-1, fmt.Sprintf("more than %d parentheses are open at once", maxDepth), "simplify the statement")
		}
	}
	for n := len(s.tokens); n > 0 && s.raw(n-1) == ";"; n-- {
		s.tokens = s.tokens[:n-1]
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := s.pairParentheses(); err != nil {
		return nil, err
	}
	s.buffer = make([]byte, len(text))
	s.erase(0, len(text))
	for i, tok := range s.tokens {
		if tok.kind != tokenHint {
			copy(s.buffer[tok.start:tok.end], s.raw(i))
		}
	}
	return s, nil
}

// check refuses tokens that servers and the parser read differently.
func (s *source) check() error {
	nesting, joins := 0, 0
	for i, tok := range s.tokens {
		raw := s.raw(i)
		if tok.conditional {
			return s.refuse(i, "an executable comment that some servers skip stands in a statement on a configured table",
				"write its content outside of a comment, or leave it out")
		}
		switch tok.kind {
		case tokenMarker:
			if len(raw) > 1 {
				return s.refuse(i, "numbered parameters are not supported", "use ?")
			}
			s.markers = append(s.markers, tok.start)
		case tokenQuoted:
			if raw[0] != '`' {
				return s.refuse(i, "a name in "+raw[:1]+" may be a text to other servers",
					"quote names with backticks and texts with single quotes")
			}
			nesting++
		case tokenString:
			if !s.dialect.Backslash && strings.Contains(raw, `\`) {
				return s.refuse(i, "a backslash in a text means different things to servers", "bind the text as an argument")
			}
		case tokenVariable:
			if isSQLite(s.dialect) {
				return s.refuse(i, "named parameters are not supported", "use ?")
			}
			nesting++
		case tokenWord:
			if !utf8.ValidString(raw) {
				return s.refuse(i, "a name is not valid UTF-8", "send SQL as UTF-8")
			}
			nesting++
			if equalWord(raw, "JOIN") || equalWord(raw, "STRAIGHT_JOIN") {
				joins++
				if i > 0 && s.isWord(i-1, "FULL") {
					return s.refuse(i-1, "FULL JOIN is not supported", "use LEFT JOIN and UNION")
				}
			}
			if equalWord(raw, "ANALYSE") && s.isWord(i-1, "PROCEDURE") && !s.is(i-2, ".") {
				return s.refuse(i-1, "PROCEDURE ANALYSE shows the name and the rows of one actual table", "ask a data source for it, by Plugin.DataSource(name)")
			}
		case tokenOther:
			if raw == "||" && s.dialect.PipesConcat {
				return s.refuse(i, "|| means different things to servers", "bind the joined text as an argument")
			}
			s.pipes = s.pipes || raw == "||"
			if raw == ";" {
				return s.refuse(i, "several statements in one text", "send them one by one")
			}
			if len(raw) == 1 && !strings.Contains("(),.=<>!+-*/%&|^~:@{}", raw) {
				return s.refuse(i, "a character that is no SQL", "remove it")
			}
			if raw != "(" && raw != ")" && raw != "," {
				nesting++
			}
		}
	}
	if nesting > maxNesting || joins > maxJoins {
		return fault.Unsupported("", "the statement is too large to be understood", "split it")
	}
	return nil
}

// pairParentheses matches the parentheses.
func (s *source) pairParentheses() error {
	s.pair = make([]int32, len(s.tokens))
	var open []int32
	for i := range s.tokens {
		s.pair[i] = -1
		switch {
		case s.is(i, "("):
			open = append(open, int32(i))
		case s.is(i, ")"):
			if len(open) == 0 {
				return s.refuse(i, "a parenthesis that was not opened", "")
			}
			j := open[len(open)-1]
			open = open[:len(open)-1]
			s.pair[i], s.pair[j] = j, int32(i)
		}
	}
	if len(open) > 0 {
		return s.refuse(int(open[len(open)-1]), "a parenthesis that is not closed", "")
	}
	return nil
}

// raw returns the text of token i.
func (s *source) raw(i int) string { return s.text[s.tokens[i].start:s.tokens[i].end] }

// is reports whether token i exists and is the punctuation op.
func (s *source) is(i int, op string) bool {
	return i >= 0 && i < len(s.tokens) && s.tokens[i].kind == tokenOther && s.raw(i) == op
}

// isWord reports whether token i exists and is one of the upper-case words, not
// quoted.
func (s *source) isWord(i int, words ...string) bool {
	if i < 0 || i >= len(s.tokens) || s.tokens[i].kind != tokenWord {
		return false
	}
	for _, w := range words {
		if equalWord(s.raw(i), w) {
			return true
		}
	}
	return false
}

// isName reports whether token i exists and may be a name.
func (s *source) isName(i int) bool {
	return i >= 0 && i < len(s.tokens) && (s.tokens[i].kind == tokenWord || s.tokens[i].kind == tokenQuoted)
}

// end returns the byte offset behind token i.
func (s *source) end(i int) int { return s.tokens[i].end }

// span returns the bytes from the start of token from to before token to.
func (s *source) span(from, to int) Span {
	if from < 0 || from >= to {
		return Span{}
	}
	return Span{Start: s.tokens[from].start, End: s.tokens[to-1].end}
}

// at returns the index of the token that begins at the original offset, -1 when
// there is none.
func (s *source) at(offset int) int {
	i := sort.Search(len(s.tokens), func(i int) bool { return s.tokens[i].start >= offset })
	if i < len(s.tokens) && s.tokens[i].start == offset {
		return i
	}
	return -1
}

// split cuts the tokens [from, to) at commas that stand at the depth of the
// first, and returns the index at which each part begins.
func (s *source) split(from, to int) []int {
	if from >= to {
		return nil
	}
	starts := []int{from}
	for i := from; i < to; i++ {
		if s.is(i, "(") {
			i = int(s.pair[i])
			continue
		}
		if s.is(i, ",") {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// erase makes the bytes [from, to) white space to the parser.
func (s *source) erase(from, to int) {
	for i := from; i < to; i++ {
		s.buffer[i] = ' '
	}
}

// refuse returns an error that quotes the text around token i.
func (s *source) refuse(i int, reason, remedy string) error {
	return fault.Unsupported(s.excerpt(i), reason, remedy)
}

// excerpt quotes the text around token i. Literals may be secrets: they are
// shown as '…'.
func (s *source) excerpt(i int) string {
	if len(s.tokens) == 0 {
		return ""
	}
	i = min(max(i, 0), len(s.tokens)-1)
	var b strings.Builder
	b.WriteString("near `")
	for j := max(0, i-3); j <= min(i+2, len(s.tokens)-1); j++ {
		if j > max(0, i-3) && s.tokens[j].start > s.tokens[j-1].end {
			b.WriteByte(' ')
		}
		switch raw := s.raw(j); s.tokens[j].kind {
		case tokenString, tokenNumber:
			b.WriteString("'…'")
		case tokenHint:
			b.WriteString("/*+ … */")
		case tokenQuoted:
			if raw[0] == '"' { // which may be a text after all
				raw = "'…'"
			}
			b.WriteString(shorten(raw))
		default:
			b.WriteString(shorten(raw))
		}
	}
	fmt.Fprintf(&b, "` at byte %d", s.tokens[i].start)
	return b.String()
}

// shorten makes the text of a token fit for a message.
func shorten(raw string) string {
	if len(raw) > 64 {
		raw = raw[:64] + "…"
	}
	return strings.ToValidUTF8(raw, "�")
}
