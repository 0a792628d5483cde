package parse

import (
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// Outline is what the tokens of a text alone tell of it.
type Outline struct {
	// Verb is the first keyword in upper case, leading parentheses and comments
	// skipped; empty when the text has none.
	Verb string
	// Named is true when an identifier, also in an optimizer hint or an
	// executable comment, is a configured name. A text that is not Named needs
	// no parsing.
	Named bool
	// Asks is true when the statement may be an Inquiry or an Explanation.
	Asks bool
	// Several is true when the text holds more than one statement.
	Several bool
	// Read is true when the statement is a SELECT, WITH or parenthesised query
	// that shows no sign of locking, writing, or reading the session's state:
	// it may be sent to a replica.
	Read bool
	// Uses is how the statement uses the session it runs on.
	Uses Use
}

// Scan reads the tokens of text. It fails only when a string, quoted name or
// comment is not closed.
func Scan(text string, names Names, d *dialect.Dialect) (Outline, error) {
	var out Outline
	l := lexer{text: text, dialect: d}
	ended, marked, touches := false, false, false
	var before string // the word directly before, for FOR UPDATE and the like
	for {
		tok, ok, err := l.next()
		if err != nil {
			return Outline{}, err
		}
		if !ok {
			break
		}
		raw := text[tok.start:tok.end]
		if raw == ";" {
			ended = true
			continue
		}
		out.Several = out.Several || ended
		word := ""
		switch tok.kind {
		case tokenWord:
			word = raw
			if out.Verb == "" {
				out.Verb = strings.ToUpper(raw)
				out.Asks = asks(out.Verb)
			}
			out.Asks = out.Asks || equalWord(raw, "INFORMATION_SCHEMA")
			session := marksSession(before, word)
			marked = marked || session || out.Verb == "WITH" && marksWrite(word)
			touches = touches || session || equalWord(word, "TEMPORARY")
			out.Named = out.Named || names.IsTable(raw)
		case tokenQuoted:
			out.Named = out.Named || names.IsTable(unquote(raw))
			out.Asks = out.Asks || equalWord(unquote(raw), "INFORMATION_SCHEMA")
		case tokenVariable:
			marked, touches = marked || strings.HasPrefix(raw, "@@"), true
		case tokenHint:
			out.Named = out.Named || hintNames(raw, names, d)
		case tokenOther:
			marked = marked || raw == ":="
			out.Asks = out.Asks || raw == "(" && (equalWord(before, "DATABASE") || equalWord(before, "SCHEMA"))
		}
		before = word
	}
	switch out.Verb {
	case "SELECT", "WITH":
		out.Read = !marked && !out.Several
	case "LOCK", "UNLOCK", "CALL":
		touches = true
	}
	if touches {
		out.Uses = uses(text, out.Verb, d)
	}
	return out, nil
}

// asks reports whether a statement that begins with the verb may be about tables
// instead of rows.
func asks(verb string) bool {
	switch verb {
	case "SHOW", "DESCRIBE", "DESC", "EXPLAIN", "CHECK", "ANALYZE", "OPTIMIZE", "REPAIR", "CHECKSUM":
		return true
	}
	return false
}

// marksSession reports whether two words in turn make a query more than a plain
// read. The second may do so alone.
func marksSession(before, word string) bool {
	switch len(word) {
	case 2:
		return equalWord(word, "IN") && equalWord(before, "LOCK")
	case 4:
		return equalWord(word, "INTO")
	case 5:
		return equalWord(word, "SHARE") && equalWord(before, "FOR") ||
			equalWord(word, "VALUE") && (equalWord(before, "NEXT") || equalWord(before, "PREVIOUS"))
	case 6:
		return equalWord(word, "UPDATE") && equalWord(before, "FOR") || equalWord(word, "SETVAL")
	}
	switch {
	case equalWord(word, "NEXTVAL"), equalWord(word, "LASTVAL"),
		equalWord(word, "LAST_INSERT_ID"), equalWord(word, "FOUND_ROWS"), equalWord(word, "ROW_COUNT"),
		equalWord(word, "GET_LOCK"), equalWord(word, "RELEASE_LOCK"), equalWord(word, "RELEASE_ALL_LOCKS"),
		equalWord(word, "IS_FREE_LOCK"), equalWord(word, "IS_USED_LOCK"):
		return true
	}
	return false
}

// marksWrite reports whether the word may make a WITH statement a write.
func marksWrite(word string) bool {
	return equalWord(word, "UPDATE") || equalWord(word, "DELETE")
}

// hintNames reports whether an optimizer hint holds a configured name.
func hintNames(hint string, names Names, d *dialect.Dialect) bool {
	l := lexer{text: hint[3 : len(hint)-2], dialect: d}
	for {
		tok, ok, err := l.next()
		if err != nil || !ok {
			return false
		}
		if tok.kind == tokenWord || tok.kind == tokenQuoted {
			if names.IsTable(unquote(l.text[tok.start:tok.end])) {
				return true
			}
		}
	}
}
