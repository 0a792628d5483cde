package parse

import "strings"

// HoldsName reports whether a name stands in a text, and not as a part of another.
// Both are in lower case.
func HoldsName(text, name string) bool {
	return stands(text, name, func(int) bool { return true })
}

// Qualifies reports whether a name, as of a table, may stand before a dot in a text.
// Both are in lower case.
func Qualifies(text, name string) bool {
	return stands(text, name, func(end int) bool {
		rest := strings.TrimLeft(strings.TrimPrefix(text[end:], "`"), " \t\r\n\v\f")
		return rest != "" && strings.IndexByte("./#-", rest[0]) >= 0 // a comment may be between
	})
}

// stands reports whether a name stands in a text where it ends at an offset that counts.
func stands(text, name string, counts func(end int) bool) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(name)
		if (start == 0 || !isNameByte(text[start-1])) && (end == len(text) || !isNameByte(text[end])) && counts(end) {
			return true
		}
		from = start + 1
	}
}

// SchemaOf returns the name in a qualifier with its dot.
func SchemaOf(qualifier string) string {
	name := strings.TrimSpace(qualifier[:strings.LastIndexByte(qualifier, '.')])
	return strings.ReplaceAll(strings.Trim(name, "`"), "``", "`")
}
