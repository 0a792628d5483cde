package parse

import "strings"

// HoldsName reports whether a name stands in a text, and not as a part of another.
// Both are in lower case.
func HoldsName(text, name string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(name)
		if (start == 0 || !isNameByte(text[start-1])) && (end == len(text) || !isNameByte(text[end])) {
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
