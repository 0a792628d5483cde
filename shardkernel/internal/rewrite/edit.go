package rewrite

import (
	"slices"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/route"
)

// edit replaces a byte range of the statement. The arguments of the markers in
// it go; args come in their place.
type edit struct {
	parse.Span
	text string
	args []any
}

// splice applies edits that do not overlap to the whole statement. Two at the
// same place keep their order.
func splice(stmt *parse.Statement, edits []edit, args []any) (string, []any) {
	return spliceRange(stmt, parse.Span{End: len(stmt.Text)}, edits, args)
}

// spliceRange applies edits to a part of the statement, and returns its text and
// arguments. args itself is returned where the whole statement keeps them all.
func spliceRange(stmt *parse.Statement, within parse.Span, edits []edit, args []any) (string, []any) {
	whole := within == parse.Span{End: len(stmt.Text)}
	if len(edits) == 0 && whole {
		return stmt.Text, args
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.Start - b.Start })
	size, sameArgs, count := within.End-within.Start, whole, markersIn(stmt, within)
	for i := range edits {
		size += len(edits[i].text) - (edits[i].End - edits[i].Start)
		removed := markersIn(stmt, edits[i].Span)
		sameArgs = sameArgs && len(edits[i].args) == 0 && removed == 0
		count += len(edits[i].args) - removed
	}
	var text strings.Builder
	text.Grow(max(size, 0))
	out := args
	var pick *picker
	if !sameArgs {
		pick = &picker{stmt: stmt, args: args, out: make([]any, 0, max(count, 0))}
	}
	position := within.Start
	for i := range edits {
		e := &edits[i]
		if e.Start < position {
			continue // a name inside a piece that another edit removes
		}
		text.WriteString(stmt.Text[position:e.Start])
		text.WriteString(e.text)
		if e.Start == e.End && joins(e.text, stmt.Text[e.End:within.End]) {
			text.WriteByte(' ')
		}
		if pick != nil {
			pick.take(position, e.Start)
			pick.out = append(pick.out, e.args...)
		}
		position = e.End
	}
	text.WriteString(stmt.Text[position:within.End])
	if pick != nil {
		pick.take(position, within.End)
		out = pick.out
	}
	return text.String(), out
}

// joins reports whether a text that is put in would become one word with what follows
// at once, as FROM does behind a select list that ends with a parenthesis.
func joins(text, rest string) bool {
	return text != "" && rest != "" && isWordByte(text[len(text)-1]) && isWordByte(rest[0])
}

// picker collects the arguments of the text that stays, in its order.
type picker struct {
	stmt *parse.Statement
	args []any
	out  []any
}

func (p *picker) take(start, end int) {
	first, _ := slices.BinarySearch(p.stmt.Markers, start)
	for i := first; i < len(p.stmt.Markers) && p.stmt.Markers[i] < end && i < len(p.args); i++ {
		p.out = append(p.out, p.args[i])
	}
}

func markersIn(stmt *parse.Statement, s parse.Span) int {
	first, _ := slices.BinarySearch(stmt.Markers, s.Start)
	last, _ := slices.BinarySearch(stmt.Markers, s.End)
	return last - first
}

// renames returns the edits that put a unit's names into a part of the
// statement.
func (t *Template) renames(u *route.Unit, within parse.Span) []edit {
	var edits []edit
	for i := range t.stmt.Renames {
		r := &t.stmt.Renames[i]
		if r.Start < within.Start || r.End > within.End {
			continue
		}
		if r.Alias {
			if t.program.DropsSchema(r.Table, parse.SchemaOf(t.stmt.Text[r.Schema.Start:r.Schema.End])) {
				edits = append(edits, edit{Span: r.Schema})
			}
			continue
		}
		name, kept := u.Names[r.Table], t.labels.kept[r.Table]
		span := r.Span
		if r.Schema.End > r.Schema.Start && t.program.DropsSchema(r.Table, parse.SchemaOf(t.stmt.Text[r.Schema.Start:r.Schema.End])) {
			span.Start = r.Schema.Start
		}
		typed := t.stmt.Text[r.Start:r.End]
		text := typed
		if name != "" && (kept < 0 || kept == i) {
			text = quote(name, r.Quote)
		}
		if kept == i && text != typed {
			text += " AS " + typed
		}
		if union := unionOf(u, r.Table); union != nil {
			text = typed // a qualifier: the derived table has the name
			if i == t.labels.references[r.Table] {
				text = t.derivedTable(union, r, typed)
			}
		}
		if t.stmt.Text[span.Start:span.End] != text {
			edits = append(edits, edit{Span: span, text: text})
		}
	}
	return edits
}

// quote writes a name as the statement wrote the logical one, and in backticks
// where it has to be quoted.
func quote(name string, q byte) string {
	if q == 0 {
		if plain(name) {
			return name
		}
		q = '`'
	}
	quoted := string(q)
	return quoted + strings.ReplaceAll(name, quoted, quoted+quoted) + quoted
}

// plain reports whether a name needs no quotes, keywords apart.
func plain(name string) bool {
	digits := true
	for i := range len(name) {
		switch c := name[i]; {
		case c >= '0' && c <= '9':
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == '$', c >= 0x80:
			digits = false
		default:
			return false
		}
	}
	return name != "" && !digits
}

// keep returns the edits that leave only some members of a list. What separates
// neighbours stays as typed; where a member between two goes, ", " joins them.
func keep(spans []parse.Span, kept []int) []edit {
	var edits []edit
	drop := func(start, end int, text string) {
		if start < end {
			edits = append(edits, edit{Span: parse.Span{Start: start, End: end}, text: text})
		}
	}
	drop(spans[0].Start, spans[kept[0]].Start, "")
	for i := 1; i < len(kept); i++ {
		if kept[i] != kept[i-1]+1 {
			drop(spans[kept[i-1]].End, spans[kept[i]].Start, ", ")
		}
	}
	drop(spans[kept[len(kept)-1]].End, spans[len(spans)-1].End, "")
	return edits
}

// listEdits returns the edits of a unit's IN lists.
func listEdits(u *route.Unit) []edit {
	var edits []edit
	for _, l := range u.Lists {
		edits = append(edits, keep(l.Cond.Spans, l.Keep)...)
	}
	return edits
}
