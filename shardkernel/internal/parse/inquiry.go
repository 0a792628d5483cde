package parse

import (
	"slices"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// InquiryKind is what an Inquiry asks for.
type InquiryKind uint8

// The kinds of inquiries.
const (
	InquiryTable    InquiryKind = iota // DESCRIBE, SHOW COLUMNS, SHOW INDEX: one table
	InquiryCreate                      // SHOW CREATE TABLE, SHOW CREATE VIEW
	InquiryMaintain                    // CHECK, ANALYZE, OPTIMIZE, REPAIR, CHECKSUM TABLE
	InquiryTables                      // SHOW TABLES
	InquiryStatus                      // SHOW TABLE STATUS
	InquirySchemas                     // SHOW DATABASES
	InquiryTriggers                    // SHOW TRIGGERS
	InquirySession                     // SHOW WARNINGS and others that read what a statement before left
	InquirySchema                      // SELECT of DATABASE() without information_schema
	InquiryCatalog                     // SELECT from information_schema
	InquiryMaster                      // SELECT from SQLite's list of tables
)

// Inquiry is a statement that asks about tables and schemas instead of rows. It
// is read from its tokens alone, since servers have forms of their own that no
// parser knows. It is immutable and may be shared.
type Inquiry struct {
	Text    string
	Markers []int // byte offset of every parameter marker
	Kind    InquiryKind
	Clause  string // the leading words, such as SHOW INDEX, for messages
	// Tables are the tables named: one, but for a list behind CHECK TABLE and its
	// kin.
	Tables []TableName
	// Schema is that of FROM schema, unquoted, and SchemaClause its span with
	// FROM; empty without.
	Schema       string
	SchemaClause Span
	Full         bool // SHOW FULL TABLES
	Index        bool // SHOW INDEX
	// Like is the pattern of LIKE as typed, with its quotes; empty without.
	Like string
	// Where is true when there is a WHERE, and ByTable when it names a column
	// that holds the table's name.
	Where, ByTable bool

	Select *Catalog // InquirySchema, InquiryCatalog
	// Named is true for a text that also names a configured table as an
	// identifier.
	Named bool
}

// TableName is the name of a table in an Inquiry.
type TableName struct {
	Span             // the name with its quotes, without a schema before it
	Name      string // unquoted
	Quote     byte   // '`' or 0
	Schema    string // unquoted; empty when unqualified
	Qualifier Span   // the schema with its dot
}

// Inquire reads an inquiry, and returns nil for any other text, also for one
// that begins like an inquiry and is not understood. named says whether the text
// names a configured table, see Outline.
func Inquire(text string, named bool, d *dialect.Dialect) *Inquiry {
	if isSQLite(d) {
		return nil
	}
	s, ok := readTokens(text, d)
	if !ok {
		return nil
	}
	a := asker{source: s, q: &Inquiry{Text: text, Markers: s.markers, Named: named}}
	understood := false
	switch {
	case a.accept("SHOW"):
		understood = a.show()
	case a.accept("DESCRIBE", "DESC", "EXPLAIN"):
		understood = a.describe()
	case a.accept("CHECK", "ANALYZE", "OPTIMIZE", "REPAIR", "CHECKSUM"):
		understood = a.maintain()
	case s.isWord(0, "SELECT"), s.isWord(0, "WITH"), s.is(0, "("):
		understood = a.catalog()
	}
	if !understood || named && a.q.Kind == InquirySchema { // DATABASE() beside rows
		return nil
	}
	return a.q
}

// readTokens reads the tokens of a text without asking what they are; ok is
// false for a text that is cut short, holds several statements, or holds what
// some servers skip.
func readTokens(text string, d *dialect.Dialect) (s *source, ok bool) {
	s, ok = readServerTokens(text, d)
	return s, ok && !slices.ContainsFunc(s.tokens, func(t token) bool { return t.conditional })
}

// readServerTokens is readTokens of a text that a server has written: what it
// shows in an executable comment it reads.
func readServerTokens(text string, d *dialect.Dialect) (s *source, ok bool) {
	s = &source{text: text, dialect: d}
	l := lexer{text: text, dialect: d}
	for {
		tok, more, err := l.next()
		if err != nil || tok.depth > maxDepth {
			return nil, false
		}
		if !more {
			break
		}
		if tok.kind == tokenMarker {
			s.markers = append(s.markers, tok.start)
		}
		s.tokens = append(s.tokens, tok)
	}
	for n := len(s.tokens); n > 0 && s.is(n-1, ";"); n-- {
		s.tokens = s.tokens[:n-1]
	}
	for i := range s.tokens {
		if s.is(i, ";") {
			return nil, false
		}
	}
	return s, len(s.tokens) > 0 && s.pairParentheses() == nil
}

// asker reads an inquiry from left to right.
type asker struct {
	*source
	q *Inquiry
	i int // the token that comes next
}

// accept passes the next token if it is one of the words.
func (a *asker) accept(words ...string) bool {
	if !a.isWord(a.i, words...) {
		return false
	}
	a.i++
	return true
}

func (a *asker) atEnd() bool { return a.i == len(a.tokens) }

// clause keeps the words read so far as the name of the statement.
func (a *asker) clause(kind InquiryKind) {
	words := make([]string, a.i)
	for i := range words {
		words[i] = strings.ToUpper(a.raw(i))
	}
	a.q.Kind, a.q.Clause = kind, strings.Join(words, " ")
}

// table reads the name of a table.
func (a *asker) table() bool {
	if !a.isName(a.i) {
		return false
	}
	var t TableName
	if a.is(a.i+1, ".") && a.isName(a.i+2) {
		t.Schema, t.Qualifier = unquote(a.raw(a.i)), a.span(a.i, a.i+2)
		a.i += 2
	}
	t.Name, t.Span = unquote(a.raw(a.i)), a.span(a.i, a.i+1)
	if a.tokens[a.i].kind == tokenQuoted {
		t.Quote = a.text[t.Start]
	}
	a.i++
	a.q.Tables = append(a.q.Tables, t)
	return true
}

// schema reads FROM schema where there is one.
func (a *asker) schema() bool {
	if !a.isWord(a.i, "FROM", "IN") {
		return true
	}
	if !a.isName(a.i + 1) {
		return false
	}
	a.q.Schema, a.q.SchemaClause = unquote(a.raw(a.i+1)), a.span(a.i, a.i+2)
	a.i += 2
	return true
}

// filter reads LIKE or WHERE to the end; column is the result's column that
// holds a table's name, empty when there is none.
func (a *asker) filter(column string) bool {
	switch {
	case a.atEnd():
		return true
	case a.isWord(a.i, "LIKE"):
		if a.i+2 != len(a.tokens) || a.tokens[a.i+1].kind != tokenString {
			return false
		}
		a.q.Like = a.raw(a.i + 1)
		return true
	case a.isWord(a.i, "WHERE"):
		a.q.Where = true
		for i := a.i + 1; i < len(a.tokens) && column != ""; i++ {
			a.q.ByTable = a.q.ByTable || a.isName(i) && strings.EqualFold(unquote(a.raw(i)), column)
		}
		return a.i+1 < len(a.tokens)
	}
	return false
}

// show reads what follows SHOW.
func (a *asker) show() bool {
	a.accept("EXTENDED")
	a.q.Full = a.accept("FULL")
	switch {
	case a.accept("COLUMNS", "FIELDS"):
		a.clause(InquiryTable)
		return a.accept("FROM", "IN") && a.table() && a.schema() && a.filter("")
	case a.accept("INDEX", "INDEXES", "KEYS"):
		a.clause(InquiryTable)
		a.q.Index = true
		return a.accept("FROM", "IN") && a.table() && a.schema() && a.filter("TABLE")
	case a.accept("CREATE"):
		if !a.accept("TABLE", "VIEW") {
			return false
		}
		a.clause(InquiryCreate)
		return a.table() && a.atEnd()
	case a.accept("TABLES"):
		a.clause(InquiryTables)
		return a.schema() && a.filter("")
	case a.accept("TABLE"):
		if !a.accept("STATUS") {
			return false
		}
		a.clause(InquiryStatus)
		return a.schema() && a.filter("")
	case a.accept("DATABASES", "SCHEMAS"):
		a.clause(InquirySchemas)
		return a.filter("")
	case a.accept("TRIGGERS"):
		a.clause(InquiryTriggers)
		return true
	case a.accept("WARNINGS", "ERRORS", "PROFILE", "PROFILES"), a.accept("COUNT") && a.is(a.i, "("):
		a.clause(InquirySession)
		return true
	}
	return false
}

// describe reads the name that follows DESCRIBE, and a column or pattern behind
// it. EXPLAIN of a statement is none, see Explained.
func (a *asker) describe() bool {
	a.clause(InquiryTable)
	if _, explains := explained(a.source, a.i); explains || a.isWord(a.i, "FOR") {
		return false
	}
	if !a.table() {
		return false
	}
	if !a.atEnd() && (a.isName(a.i) || a.tokens[a.i].kind == tokenString) {
		a.i++
	}
	return a.atEnd()
}

// maintain reads what follows the verb of CHECK TABLE and its kin.
func (a *asker) maintain() bool {
	a.accept("NO_WRITE_TO_BINLOG", "LOCAL")
	if !a.accept("TABLE", "TABLES") {
		return false
	}
	a.clause(InquiryMaintain)
	for {
		if !a.table() {
			return false
		}
		if !a.is(a.i, ",") {
			return true
		}
		a.i++
	}
}

// Explanation is an EXPLAIN or ANALYZE in front of a statement.
type Explanation struct {
	// End is the byte offset where the explained statement begins.
	End int
	// Runs is true when the server also runs the statement.
	Runs bool
}

// Explained finds the statement that a text explains; ok is false for any other
// text.
func Explained(text string, d *dialect.Dialect) (e Explanation, ok bool) {
	if isSQLite(d) {
		return e, false
	}
	s, ok := readTokens(text, d)
	if !ok || !s.isWord(0, "EXPLAIN", "DESCRIBE", "DESC", "ANALYZE") {
		return e, false
	}
	at, ok := explained(s, 1)
	if !ok {
		return e, false
	}
	e.End = s.tokens[at].start
	for i := range at {
		e.Runs = e.Runs || s.isWord(i, "ANALYZE")
	}
	return e, true
}

// explained returns the token at which the statement begins that the words from
// token i on explain.
func explained(s *source, i int) (int, bool) {
	for {
		switch {
		case s.isWord(i, "EXTENDED", "PARTITIONS", "ANALYZE"):
			i++
		case s.isWord(i, "FORMAT") && s.is(i+1, "="):
			i += 3
		case s.isWord(i, "SELECT", "INSERT", "REPLACE", "UPDATE", "DELETE", "WITH", "VALUES"), s.is(i, "("):
			return i, true
		default:
			return 0, false
		}
	}
}
