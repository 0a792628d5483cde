package parse

import (
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// ReplaceMarkers puts texts in the place of the parameter markers of a text, by
// their number from 0 on; the others stay.
func ReplaceMarkers(text string, d *dialect.Dialect, replacement func(marker int) (with string, ok bool)) string {
	var b strings.Builder
	l := lexer{text: text, dialect: d}
	at, n := 0, 0
	for {
		tok, ok, err := l.next()
		if err != nil || !ok {
			break
		}
		if tok.kind != tokenMarker {
			continue
		}
		if with, ok := replacement(n); ok {
			b.WriteString(text[at:tok.start])
			b.WriteString(with)
			at = tok.end
		}
		n++
	}
	return b.String() + text[at:]
}
