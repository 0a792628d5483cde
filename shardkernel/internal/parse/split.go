package parse

import (
	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// Part is one of several statements in a text.
type Part struct {
	Text    string // without the semicolon and the white space around it
	Markers int    // number of parameter markers in it
	// Session is the first word or variable by which the statement reads what the
	// one before it may have left in the session; empty when there is none.
	Session string
	// Returning is true when the word RETURNING occurs.
	Returning bool
}

// Split cuts a text at the semicolons between statements. Comments stay with the
// statement that follows them, and with the last one. It fails where there is
// nothing between two semicolons, as servers do, and on a semicolon inside an
// executable comment.
func Split(text string, d *dialect.Dialect) ([]Part, error) {
	var parts []Part
	l := lexer{text: text, dialect: d}
	start, end := 0, -1 // of the part so far; end is behind its last token
	var p Part
	for {
		tok, ok, err := l.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		raw := text[tok.start:tok.end]
		if raw == ";" {
			switch {
			case l.inExecutable:
				return nil, fault.Unsupported("; in /*! … */", "where the statement ends depends on the server", "write the statements without the comment")
			case end < 0:
				return nil, fault.Unsupported(";", "there is no statement before it", "remove it")
			}
			p.Text = text[start:end]
			parts = append(parts, p)
			p, start, end = Part{}, tok.end, -1
			for start < len(text) && isSpace(text[start]) {
				start++
			}
			continue
		}
		end = tok.end
		switch tok.kind {
		case tokenMarker:
			p.Markers++
		case tokenVariable:
			p.session(raw)
		case tokenWord:
			if equalWord(raw, "LAST_INSERT_ID") || equalWord(raw, "ROW_COUNT") || equalWord(raw, "FOUND_ROWS") {
				p.session(raw)
			}
			p.Returning = p.Returning || equalWord(raw, "RETURNING")
		}
	}
	if end >= 0 {
		p.Text = text[start:]
		parts = append(parts, p)
	}
	return parts, nil
}

func (p *Part) session(raw string) {
	if p.Session == "" {
		p.Session = raw
	}
}
