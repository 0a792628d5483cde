package parse

import (
	"fmt"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	tokenWord     tokenKind = iota // keyword or unquoted identifier
	tokenQuoted                    // quoted identifier
	tokenString                    // 'x', N'x', x'ff', b'1', and "x" where it is no identifier
	tokenNumber                    // 1, 1.5, .5e3, 0xff
	tokenMarker                    // ?
	tokenVariable                  // @x, @@x
	tokenHint                      // a whole optimizer hint, /*+ … */
	tokenOther                     // operator or punctuation
)

// token is one token of a text. Comments and white space are no tokens; what
// stands inside an executable comment is.
type token struct {
	kind tokenKind
	// conditional is true inside an executable comment that some servers read
	// as SQL and others skip.
	conditional bool
	// erased is true when the parser does not get to see the token.
	erased bool
	// depth is the number of parentheses open around the token. A parenthesis
	// has the depth of what stands outside of it.
	depth      int32
	start, end int
}

// lexer cuts a text into tokens, in one pass and without allocating.
type lexer struct {
	text    string
	dialect *dialect.Dialect
	pos     int
	depth   int32

	inExecutable bool // inside /*! … */ or /*M! … */
	conditional  bool
	executable   int // where the executable comment began

	collect  bool   // comments are wanted
	comments []Span // those outside of executable comments, without the line end behind them

	last     token // the token before
	hintable bool  // the token before is a verb that an optimizer hint may follow
}

// next returns the next token; ok is false at the end of the text. It fails on a
// string, quoted name or comment that is never closed.
func (l *lexer) next() (tok token, ok bool, err error) {
	hint, err := l.skipBlanks()
	if err != nil {
		return token{}, false, err
	}
	if hint.end > 0 {
		l.hintable = false
		l.last = hint
		return hint, true, nil
	}
	if l.pos >= len(l.text) {
		if l.inExecutable {
			return token{}, false, l.unclosed("comment", l.executable)
		}
		return token{}, false, nil
	}
	tok = token{start: l.pos, depth: l.depth, conditional: l.conditional}
	if tok.kind, err = l.scan(); err != nil {
		return token{}, false, err
	}
	tok.end = l.pos
	if tok.kind == tokenOther && tok.end == tok.start+1 {
		switch l.text[tok.start] {
		case '(':
			l.depth++
		case ')':
			if l.depth > 0 {
				l.depth--
			}
			tok.depth = l.depth
		}
	}
	l.hintable = tok.kind == tokenWord && isHintable(l.text[tok.start:tok.end])
	l.last = tok
	return tok, true, nil
}

// skipBlanks skips white space and comments. A comment that stands where an
// optimizer hint may stand is returned instead.
func (l *lexer) skipBlanks() (hint token, err error) {
	for l.pos < len(l.text) {
		c := l.text[l.pos]
		switch {
		case isSpace(c):
			l.pos++
		case c == '#' && l.dialect.HashComment:
			l.skipLine()
		case c == '-' && l.startsLineComment():
			l.skipLine()
		case c == '*' && l.inExecutable && strings.HasPrefix(l.text[l.pos:], "*/"):
			l.pos += 2
			l.inExecutable, l.conditional = false, false
		case c == '/' && strings.HasPrefix(l.text[l.pos:], "/*"):
			start := l.pos
			isHint, err := l.enterComment()
			if err != nil {
				return token{}, err
			}
			if isHint {
				return token{kind: tokenHint, start: start, end: l.pos, depth: l.depth, conditional: l.conditional}, nil
			}
		default:
			return token{}, nil
		}
	}
	return token{}, nil
}

// startsLineComment reports whether the two dashes at the position start a
// comment: MySQL wants white space or a control character behind them.
func (l *lexer) startsLineComment() bool {
	rest := l.text[l.pos:]
	if !strings.HasPrefix(rest, "--") {
		return false
	}
	return !l.hasExecutableComments() || len(rest) == 2 || rest[2] <= ' ' || rest[2] == 0x7f
}

func (l *lexer) skipLine() {
	start := l.pos
	if i := strings.IndexByte(l.text[l.pos:], '\n'); i >= 0 {
		l.pos += i + 1
		l.note(Span{start, l.pos - 1})
		return
	}
	l.pos = len(l.text)
	l.note(Span{start, l.pos})
}

// note collects a comment.
func (l *lexer) note(comment Span) {
	if l.collect && !l.inExecutable {
		l.comments = append(l.comments, comment)
	}
}

// hasExecutableComments reports whether /*! … */ is SQL.
func (l *lexer) hasExecutableComments() bool { return !isSQLite(l.dialect) }

// enterComment skips the comment at the position, or only its opening when what
// follows is SQL. It reports whether it skipped an optimizer hint.
func (l *lexer) enterComment() (hint bool, err error) {
	start := l.pos
	body := l.text[start+2:]
	if l.hasExecutableComments() && !l.inExecutable {
		mariadb := strings.HasPrefix(body, "M!")
		if mariadb || strings.HasPrefix(body, "!") {
			l.enterExecutable(start, mariadb)
			return false, nil
		}
	}
	i := strings.Index(body, "*/")
	if i < 0 {
		if !l.hasExecutableComments() { // SQLite closes a comment at the end of the text
			l.pos = len(l.text)
			l.note(Span{start, l.pos})
			return false, nil
		}
		return false, l.unclosed("comment", start)
	}
	l.pos = start + 2 + i + 2
	if l.hasExecutableComments() && l.hintable && body[0] == '+' {
		return true, nil
	}
	l.note(Span{start, l.pos})
	return false, nil
}

// enterExecutable skips the opening of an executable comment, or all of it where no
// server reads it.
func (l *lexer) enterExecutable(start int, mariadb bool) {
	l.pos = start + 3
	if mariadb {
		l.pos++
	}
	version, digits := l.version()
	reading := l.dialect.Server.Reads(mariadb, version, digits)
	if reading == dialect.ReadByNone {
		// A quote, a comment or a marker in it is no such thing to servers, but may be
		// to those who count markers.
		end := strings.Index(l.text[l.pos:], "*/")
		if end >= 0 && !strings.ContainsAny(l.text[l.pos:l.pos+end], "/*'\"`?#-") {
			l.pos += end + 2
			return
		}
	}
	l.inExecutable, l.executable = true, start
	l.conditional = reading != dialect.ReadByAll
}

// version skips the version of an executable comment, which has five or six digits,
// and returns it and their number.
func (l *lexer) version() (version, digits int) {
	for digits < 6 && l.pos+digits < len(l.text) && isDigit(l.text[l.pos+digits]) {
		version = version*10 + int(l.text[l.pos+digits]-'0')
		digits++
	}
	if digits < 5 {
		return 0, 0
	}
	l.pos += digits
	return version, digits
}

// scan moves behind the token at the position and returns its kind.
func (l *lexer) scan() (tokenKind, error) {
	c := l.text[l.pos]
	switch {
	case c == '\'' || c == '"' && !l.dialect.DoubleQuoteNames:
		return tokenString, l.skipQuoted(c, l.dialect.Backslash, "string")
	case c == '`' || c == '"':
		return tokenQuoted, l.skipQuoted(c, false, "quoted name")
	case c == '[' && isSQLite(l.dialect):
		return tokenQuoted, l.skipQuoted(']', false, "quoted name")
	case isLiteralPrefix(c, l.dialect) && l.pos+1 < len(l.text) && l.text[l.pos+1] == '\'':
		l.pos++
		return tokenString, l.skipQuoted('\'', l.dialect.Backslash && (c == 'n' || c == 'N'), "string")
	case isDigit(c) && !l.afterDot():
		return l.scanNumber(), nil
	case c == '.' && l.pos+1 < len(l.text) && isDigit(l.text[l.pos+1]) && !l.afterName():
		return l.scanNumber(), nil
	case isNameByte(c):
		l.skipName()
		return tokenWord, nil
	case c == '?':
		l.pos++
		for isSQLite(l.dialect) && l.pos < len(l.text) && isDigit(l.text[l.pos]) {
			l.pos++ // SQLite's ?1
		}
		return tokenMarker, nil
	case c == '@':
		return l.scanVariable()
	}
	l.pos += operatorLength(l.text[l.pos:])
	return tokenOther, nil
}

// afterName reports whether the position stands directly behind a name.
func (l *lexer) afterName() bool {
	return l.last.end == l.pos && l.pos > 0 && (l.last.kind == tokenWord || l.last.kind == tokenQuoted)
}

// afterDot reports whether the position stands directly behind the dot of a
// qualified name, where a name may begin with, or be, digits.
func (l *lexer) afterDot() bool {
	return l.last.end == l.pos && l.pos > 1 && l.text[l.pos-1] == '.' && l.last.kind == tokenOther &&
		(isNameByte(l.text[l.pos-2]) || l.text[l.pos-2] == '`')
}

// skipQuoted skips what stands between two quotes; the opening quote is at the
// position. A doubled quote stands for itself.
func (l *lexer) skipQuoted(quote byte, backslash bool, what string) error {
	start := l.pos
	for i := l.pos + 1; i < len(l.text); i++ {
		switch c := l.text[i]; {
		case c == '\\' && backslash:
			i++
		case c == quote && i+1 < len(l.text) && l.text[i+1] == quote && quote != ']':
			i++
		case c == quote:
			l.pos = i + 1
			return nil
		}
	}
	return l.unclosed(what, start)
}

func (l *lexer) skipName() {
	for l.pos < len(l.text) && isNameByte(l.text[l.pos]) {
		l.pos++
	}
}

func (l *lexer) skipDigits() {
	for l.pos < len(l.text) && isDigit(l.text[l.pos]) {
		l.pos++
	}
}

// scanNumber scans a number, or a name that begins with digits such as 1st.
func (l *lexer) scanNumber() tokenKind {
	start := l.pos
	l.skipDigits()
	if l.pos == start+1 && l.text[start] == '0' && l.pos < len(l.text) && (l.text[l.pos]|0x20 == 'x' || l.text[l.pos] == 'b') {
		l.skipName()
		return tokenNumber
	}
	fraction := l.pos < len(l.text) && l.text[l.pos] == '.'
	if fraction {
		l.pos++
		l.skipDigits()
	}
	if l.pos < len(l.text) && l.text[l.pos]|0x20 == 'e' {
		i := l.pos + 1
		if i < len(l.text) && (l.text[i] == '+' || l.text[i] == '-') {
			i++
		}
		if i < len(l.text) && isDigit(l.text[i]) {
			l.pos = i
			l.skipDigits()
			return tokenNumber
		}
	}
	if !fraction && l.pos < len(l.text) && isNameByte(l.text[l.pos]) {
		l.skipName()
		return tokenWord
	}
	return tokenNumber
}

// scanVariable scans @name, @'name' and @@scope.name; a lone @ is punctuation.
func (l *lexer) scanVariable() (tokenKind, error) {
	start := l.pos
	l.pos++
	if l.pos < len(l.text) && l.text[l.pos] == '@' {
		l.pos++
	}
	if l.pos < len(l.text) {
		if c := l.text[l.pos]; c == '\'' || c == '"' || c == '`' {
			return tokenVariable, l.skipQuoted(c, c != '`' && l.dialect.Backslash, "variable name")
		}
	}
	begin := l.pos
	for l.pos < len(l.text) && (isNameByte(l.text[l.pos]) || l.text[l.pos] == '.') {
		l.pos++
	}
	if l.pos == begin {
		l.pos = start + 1
		return tokenOther, nil
	}
	return tokenVariable, nil
}

func (l *lexer) unclosed(what string, at int) error {
	return fault.Unsupported(fmt.Sprintf("at byte %d", at), "a "+what+" that begins there is not closed", "close it")
}

// isSQLite reports whether the dialect has SQLite's own forms.
func isSQLite(d *dialect.Dialect) bool { return d.Name == dialect.SQLite.Name }

// operatorLength returns the length of the operator rest begins with.
func operatorLength(rest string) int {
	for _, op := range [...]string{"<=>", "->>", "||", "&&", ":=", "<=", ">=", "<>", "!=", "<<", ">>", "->"} {
		if strings.HasPrefix(rest, op) {
			return len(op)
		}
	}
	return 1
}

// isLiteralPrefix reports whether c directly before a quote makes a literal.
func isLiteralPrefix(c byte, d *dialect.Dialect) bool {
	switch c {
	case 'x', 'X':
		return true
	case 'b', 'B', 'n', 'N':
		return !isSQLite(d)
	}
	return false
}

// isHintable reports whether an optimizer hint may follow the word.
func isHintable(word string) bool {
	switch len(word) {
	case len("SELECT"): // and INSERT, UPDATE, DELETE
		return equalWord(word, "SELECT") || equalWord(word, "INSERT") || equalWord(word, "UPDATE") || equalWord(word, "DELETE")
	case len("REPLACE"):
		return equalWord(word, "REPLACE")
	}
	return false
}

// equalWord reports whether word equals upper, which is upper-case ASCII, without
// regard to case.
func equalWord(word, upper string) bool {
	if len(word) != len(upper) {
		return false
	}
	for i := 0; i < len(word); i++ {
		c := word[i]
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		if c != upper[i] {
			return false
		}
	}
	return true
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$' || isDigit(c) || c >= 0x80
}

// unquote returns the name that an identifier token stands for.
func unquote(text string) string {
	if text == "" || isNameByte(text[0]) {
		return text
	}
	body, quote := text[1:len(text)-1], text[len(text)-1:]
	if quote == "]" || !strings.Contains(body, quote) {
		return body
	}
	return strings.ReplaceAll(body, quote+quote, quote)
}
