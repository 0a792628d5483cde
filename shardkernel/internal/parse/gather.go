package parse

import (
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// Frame is where a SELECT can be given common table expressions, and where its
// outermost LIMIT is.
type Frame struct {
	// With is the offset behind WITH or WITH RECURSIVE, 0 without such a clause.
	With      int
	Recursive bool
	// IndexHints are the USE, FORCE and IGNORE INDEX clauses anywhere in it.
	IndexHints []Span
	// Limit is the outermost LIMIT clause, up to the end of the statement; empty, at
	// the place where it would stand, without one.
	Limit Span
}

// FrameOf finds the frame of a SELECT that locks nothing and has no INTO; ok is
// false for a text with executable comments, whose end may be in one.
func FrameOf(text string, d *dialect.Dialect) (f Frame, ok bool) {
	if strings.Contains(text, "/*!") || strings.Contains(text, "/*M!") {
		return f, false
	}
	l := lexer{text: text, dialect: d}
	end, limit := 0, -1
	offset, offsetAt := 0, -3 // of OFFSET, which stands three tokens before FETCH
	var last token
	for n := 0; ; n++ {
		tok, more, err := l.next()
		if err != nil {
			return f, false
		}
		if !more {
			break
		}
		switch word := text[tok.start:tok.end]; {
		case word == ";" && tok.kind == tokenOther:
			continue
		case tok.kind != tokenWord || last.end > 0 && text[last.start:last.end] == ".":
		case n == 0 && equalWord(word, "WITH"):
			f.With = tok.end
		case n == 1 && f.With > 0 && equalWord(word, "RECURSIVE"):
			f.With, f.Recursive = tok.end, true
		case (equalWord(word, "INDEX") || equalWord(word, "KEY")) && isIndexHint(text[last.start:last.end]):
			f.IndexHints = append(f.IndexHints, Span{last.start, 0})
		case tok.depth == 0 && equalWord(word, "LIMIT"):
			limit = tok.start
		case tok.depth == 0 && equalWord(word, "OFFSET"):
			offset, offsetAt = tok.start, n
		case tok.depth == 0 && equalWord(word, "FETCH"): // WITH TIES: others are LIMIT by now
			if limit = tok.start; n == offsetAt+3 {
				limit = offset
			}
		}
		end, last = tok.end, tok
		// The list of names ends a hint.
		if n := len(f.IndexHints); n > 0 && f.IndexHints[n-1].End == 0 && text[tok.start:tok.end] == ")" {
			f.IndexHints[n-1].End = tok.end
		}
	}
	if limit < 0 {
		limit = end
	}
	f.Limit = Span{limit, end}
	return f, true
}

// isIndexHint reports whether a word before INDEX or KEY begins an index hint.
func isIndexHint(word string) bool {
	return equalWord(word, "USE") || equalWord(word, "FORCE") || equalWord(word, "IGNORE")
}
