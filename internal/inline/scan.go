// Package inline reads ShardingSphere's inline expressions: literal text with
// expressions between ${ and }, or $->{ and }. Expand lists the data nodes that
// a text stands for; Compile makes a Template that turns a sharding value into
// the name of a target.
//
// The language between the braces is the part of Groovy that the ShardingSphere
// documentation uses in its examples (user manual, "Row Value Expressions").
// What this package does not know is an error, never a guess.
package inline

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// maxText is the length in bytes of the longest text read.
	maxText = 4096
	// maxNesting is how deep brackets may be nested between the braces.
	maxNesting = 32
)

// part is literal text, or the code between ${ and }.
type part struct {
	text   string
	code   bool
	offset int // of text, in bytes from the start of the whole text
}

// scan cuts a text into its items, which are separated by the commas outside
// braces, and the items into parts. White space around an item is dropped.
func scan(text string) ([][]part, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("inline expression of %d bytes: at most %d are read", len(text), maxText)
	}
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("inline expression %q: not valid UTF-8", abbreviate(text))
	}
	var items [][]part
	var item []part
	start := 0 // of the literal text before i
	literal := func(end int) {
		if end > start {
			item = append(item, part{text: text[start:end], offset: start})
		}
	}
	finish := func(end int) error {
		literal(end)
		item = trim(item)
		if len(item) == 0 {
			return errorAt(text, end, "an empty name")
		}
		items = append(items, item)
		item = nil
		return nil
	}
	for i := 0; i < len(text); {
		switch text[i] {
		case '$':
			open := placeholder(text[i:])
			if open == 0 {
				return nil, errorAt(text, i, "a $ that starts neither ${ nor $->{")
			}
			literal(i)
			end, err := closing(text, i+open)
			if err != nil {
				return nil, err
			}
			code := text[i+open : end]
			if strings.TrimSpace(code) == "" {
				return nil, errorAt(text, i, "nothing between the braces")
			}
			item = append(item, part{text: code, code: true, offset: i + open})
			i = end + 1
			start = i
		case '{', '}':
			return nil, errorAt(text, i, "a %c outside ${…}", text[i])
		case ',':
			if err := finish(i); err != nil {
				return nil, err
			}
			i++
			start = i
		default:
			i++
		}
	}
	if err := finish(len(text)); err != nil {
		return nil, err
	}
	return items, nil
}

// placeholder returns the length of the ${ or $->{ at the start of s, 0 when
// there is neither.
func placeholder(s string) int {
	switch {
	case strings.HasPrefix(s, "${"):
		return len("${")
	case strings.HasPrefix(s, "$->{"):
		return len("$->{")
	}
	return 0
}

// closing returns the index of the brace that ends the code starting at from.
func closing(text string, from int) (int, error) {
	depth := 0
	for i := from; i < len(text); i++ {
		switch c := text[i]; c {
		case '\'', '"':
			end, err := quoted(text, i)
			if err != nil {
				return 0, err
			}
			i = end
		case '$':
			return 0, errorAt(text, i, "a $ inside ${…}; is a } missing before it?")
		case '(', '[', '{':
			if depth++; depth > maxNesting {
				return 0, errorAt(text, i, "brackets nested deeper than %d", maxNesting)
			}
		case ')', ']':
			depth--
		case '}':
			if depth <= 0 {
				return i, nil
			}
			depth--
		}
	}
	return 0, errorAt(text, from, "no } ends this expression")
}

// quoted returns the index of the quote that ends the string starting at from.
// Groovy replaces $name and ${…} inside double quotes: refused, because taking
// them for text would name another node.
func quoted(text string, from int) (int, error) {
	quote := text[from]
	for i := from + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case quote:
			return i, nil
		case '$':
			if quote == '"' {
				return 0, errorAt(text, i, "a $ inside double quotes; concatenate with + instead")
			}
		}
	}
	return 0, errorAt(text, from, "no %c ends this string", quote)
}

// trim drops white space at both ends of an item.
func trim(item []part) []part {
	if len(item) > 0 && !item[0].code {
		item[0].text = strings.TrimLeft(item[0].text, " \t\r\n")
	}
	if n := len(item) - 1; n >= 0 && !item[n].code {
		item[n].text = strings.TrimRight(item[n].text, " \t\r\n")
	}
	kept := item[:0]
	for _, p := range item {
		if p.text != "" {
			kept = append(kept, p)
		}
	}
	return kept
}

// errorAt reports a fault at a byte offset of a configured text.
func errorAt(text string, offset int, format string, args ...any) error {
	return fmt.Errorf("inline expression %q, column %d: %s", abbreviate(text), offset+1, fmt.Sprintf(format, args...))
}

// abbreviate keeps messages readable.
func abbreviate(text string) string {
	const longest = 120
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}
