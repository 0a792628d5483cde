package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Placeholders that no configured text holds.
const (
	tablePlace  = "\x00t"
	columnPlace = "\x00c"
)

// nameless are the built-in types whose properties name neither table nor
// column: a column called days is not the unit days.
var nameless = []string{
	"MOD", "HASH_MOD", "VOLUME_RANGE", "BOUNDARY_RANGE", "AUTO_INTERVAL", "INTERVAL", "SLOT_RANGE", "CONSISTENT_HASH",
}

// Shape returns a text that is the same for two strategies of two tables if they
// place equal values alike: type and properties of the algorithm, with the
// table's own name and the sharding columns' replaced by placeholders. The table
// is empty for a strategy that chooses the data source.
func (s *Sharding) Shape(strategy *Strategy, table string) string {
	var b strings.Builder
	s.writeShape(&b, strategy.AlgorithmName(), table, strategy.Columns())
	return b.String()
}

func (s *Sharding) writeShape(b *strings.Builder, name, table string, columns []string) {
	a := s.Algorithms[name]
	typeName := strings.ToUpper(strings.TrimSpace(a.Type))
	b.WriteString(typeName)
	if slices.Contains(nameless, typeName) {
		table, columns = "", nil
	}
	props := a.Props
	if typeName == "THRESHOLD" {
		props = maps.Clone(props)
		for _, key := range sortedNames(a.Props) {
			part, ok := props[key].(string)
			if !ok || !strings.EqualFold(key, "below") && !strings.EqualFold(key, "above") {
				continue
			}
			// What the two algorithms do counts, not what they are called.
			delete(props, key)
			b.WriteString(strings.ToLower(key))
			b.WriteByte(':')
			s.writeShape(b, part, table, columns)
		}
	}
	writeShape(b, props, table, columns)
}

func writeShape(b *strings.Builder, value any, table string, columns []string) {
	switch v := value.(type) {
	case map[string]any:
		b.WriteByte('{')
		for _, name := range sortedNames(v) {
			b.WriteString(strconv.Quote(name))
			b.WriteByte(':')
			writeShape(b, v[name], table, columns)
			b.WriteByte(',')
		}
		b.WriteByte('}')
	case string:
		b.WriteString(strconv.Quote(textShape(v, table, columns)))
	default:
		list := reflect.ValueOf(value)
		if list.Kind() != reflect.Slice {
			fmt.Fprintf(b, "%#v", value)
			return
		}
		b.WriteByte('[')
		for i := range list.Len() {
			writeShape(b, list.Index(i).Interface(), table, columns)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	}
}

// textShape replaces the table's name in plain text, and the column's in the
// code between ${ and }, where it must be a whole word.
func textShape(text, table string, columns []string) string {
	if place := columnShape(text, columns); place != "" {
		return place
	}
	var b strings.Builder
	for {
		start, open := codeStart(text)
		if start < 0 {
			break
		}
		length := codeLength(text[start+open:])
		if length < 0 {
			break
		}
		b.WriteString(nameShape(text[:start], table))
		b.WriteString("${")
		writeCodeShape(&b, text[start+open:start+open+length], table, columns)
		b.WriteByte('}')
		text = text[start+open+length+1:]
	}
	b.WriteString(nameShape(text, table))
	return b.String()
}

// columnShape returns the placeholder of a sharding column, empty for any other
// text.
func columnShape(text string, columns []string) string {
	for i, column := range columns {
		if strings.EqualFold(text, column) {
			return columnPlace + strconv.Itoa(i)
		}
	}
	return ""
}

// nameShape replaces the table's name in a text.
func nameShape(text, table string) string {
	if table == "" {
		return text
	}
	return strings.ReplaceAll(text, table, tablePlace)
}

// codeStart finds ${ or $->{ and how long it is.
func codeStart(text string) (start, length int) {
	for i := range text {
		if strings.HasPrefix(text[i:], "${") {
			return i, 2
		}
		if strings.HasPrefix(text[i:], "$->{") {
			return i, 4
		}
	}
	return -1, 0
}

// codeLength returns the number of bytes before the } that ends the code, -1 if
// none does.
func codeLength(code string) int {
	depth := 0
	for i := 0; i < len(code); i++ {
		switch code[i] {
		case '\'', '"':
			i += quotedLength(code[i:]) - 1
		case '{':
			depth++
		case '}':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// quotedLength returns the length of the quoted text that code begins with.
func quotedLength(code string) int {
	for i := 1; i < len(code); i++ {
		switch code[i] {
		case '\\':
			i++
		case code[0]:
			return i + 1
		}
	}
	return len(code)
}

// writeCodeShape writes code with the column as placeholder and without the
// white space that separates nothing.
func writeCodeShape(b *strings.Builder, code, table string, columns []string) {
	wordBefore, space := false, false
	for i := 0; i < len(code); {
		switch c := code[i]; {
		case c == '\'' || c == '"':
			n := quotedLength(code[i:])
			b.WriteString(nameShape(code[i:i+n], table))
			i, wordBefore, space = i+n, false, false
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i, space = i+1, true
		case isWord(c):
			n := 1
			for i+n < len(code) && isWord(code[i+n]) {
				n++
			}
			if wordBefore && space {
				b.WriteByte(' ')
			}
			if word := code[i : i+n]; columnShape(word, columns) != "" {
				b.WriteString(columnShape(word, columns))
			} else {
				b.WriteString(word)
			}
			i, wordBefore, space = i+n, true, false
		default:
			b.WriteByte(c)
			i, wordBefore, space = i+1, false, false
		}
	}
}

func isWord(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c >= 0x80
}
