package parse

import (
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// HintComment is a comment that holds hints, /* SHARDING: key=value, … */ or
// ShardingSphere's /* SHARDINGSPHERE_HINT: key=value, … */.
type HintComment struct {
	// Foreign is true for ShardingSphere's marker, whose keys differ.
	Foreign bool
	Items   []HintItem
}

// HintItem is one key=value of a comment.
type HintItem struct {
	Table string // before the last dot of the key; empty without one
	Key   string
	// Words are the words of the value, which spaces separate unless they are in
	// quotes. There is at least one.
	Words []HintWord
	// Value is the value as written.
	Value string
}

// HintWord is a word of a value.
type HintWord struct {
	Text   string // without quotes
	Quoted bool
}

// cutHintMarker returns what stands behind the marker of a hint comment. The
// plugin's own marker is in capital letters, so that prose is not taken for it.
func cutHintMarker(comment string) (body string, foreign, ok bool) {
	body, ok = strings.CutPrefix(comment, "/*")
	if !ok {
		return "", false, false
	}
	body = strings.TrimLeft(body, " \t\r\n")
	if rest, ok := strings.CutPrefix(body, "SHARDING:"); ok {
		return rest, false, true
	}
	for _, marker := range [...]string{"SHARDINGSPHERE_HINT:", "SHARDINGSPHERE HINT:"} {
		if len(body) >= len(marker) && strings.EqualFold(body[:len(marker)], marker) {
			return body[len(marker):], true, true
		}
	}
	return "", false, false
}

// HintComments returns the hints in the comments of a text, in text order. It
// fails on a malformed one, and on a text whose tokens cannot be told apart.
func HintComments(text string, d *dialect.Dialect) ([]HintComment, error) {
	if !mayHoldHints(text) {
		return nil, nil
	}
	l := lexer{text: text, dialect: d, collect: true}
	for {
		if _, ok, err := l.next(); err != nil {
			return nil, err
		} else if !ok {
			break
		}
	}
	var found []HintComment
	for _, c := range l.comments {
		body, foreign, ok := cutHintMarker(text[c.Start:c.End])
		if !ok {
			continue
		}
		items, err := hintItems(strings.TrimSuffix(body, "*/"), foreign)
		if err != nil {
			return nil, err
		}
		found = append(found, HintComment{Foreign: foreign, Items: items})
	}
	return found, nil
}

// mayHoldHints is a quick look that spares most texts the reading of tokens.
func mayHoldHints(text string) bool {
	for {
		i := strings.Index(text, "/*")
		if i < 0 {
			return false
		}
		if text = text[i+2:]; IsHintComment(text) {
			return true
		}
	}
}

// hintItems cuts what stands behind the marker into its items.
func hintItems(body string, foreign bool) ([]HintItem, error) {
	var items []HintItem
	for rest, more := body, true; more; {
		var raw string
		raw, rest, more = cutItem(rest, foreign)
		item, err := hintItem(strings.TrimSpace(raw), foreign)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// cutItem cuts at the first comma, for the plugin's own marker outside of quotes.
func cutItem(body string, foreign bool) (item, rest string, more bool) {
	quoted := false
	for i := 0; i < len(body); i++ {
		switch {
		case body[i] == '\'' && !foreign:
			quoted = !quoted
		case body[i] == ',' && !quoted:
			return body[:i], body[i+1:], true
		}
	}
	return body, "", false
}

func hintItem(raw string, foreign bool) (HintItem, error) {
	key, value, ok := strings.Cut(raw, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	switch {
	case raw == "":
		return HintItem{}, malformedHint("", "an item is empty", "write key=value, separated by commas")
	case !ok || key == "":
		return HintItem{}, malformedHint(raw, "has no key, or no = behind it", "write key=value, separated by commas")
	case value == "":
		return HintItem{}, malformedHint(raw, "has no value", "write key=value, separated by commas")
	}
	item := HintItem{Key: key, Value: value}
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		item.Table, item.Key = key[:i], key[i+1:]
		if item.Table == "" || item.Key == "" {
			return HintItem{}, malformedHint(raw, "names no table before the dot, or no key behind it", "")
		}
	}
	for rest := value; rest != ""; {
		var word HintWord
		if rest[0] == '\'' && !foreign {
			end := closingQuote(rest)
			if end < 0 || end+1 < len(rest) && rest[end+1] != ' ' {
				return HintItem{}, malformedHint(raw, "has a quote that is not closed, or text behind it", "")
			}
			word = HintWord{Text: strings.ReplaceAll(rest[1:end], "''", "'"), Quoted: true}
			rest = rest[end+1:]
		} else {
			word.Text, rest, _ = strings.Cut(rest, " ")
		}
		item.Words = append(item.Words, word)
		rest = strings.TrimLeft(rest, " ")
	}
	return item, nil
}

// closingQuote returns where the quoted text that s begins with ends, -1 if it
// does not. A doubled quote stands for itself.
func closingQuote(s string) int {
	for i := 1; i < len(s); i++ {
		if s[i] != '\'' {
			continue
		}
		if i+1 < len(s) && s[i+1] == '\'' {
			i++
			continue
		}
		return i
	}
	return -1
}

// maxQuotedHint is the length to which a hint is quoted in an error.
const maxQuotedHint = 40

func malformedHint(raw, reason, remedy string) error {
	clause := "hint comment"
	if raw = strings.TrimSpace(raw); raw != "" {
		// Only the key: the value may be an argument's.
		key, _, _ := strings.Cut(raw, "=")
		if len(key) > maxQuotedHint {
			key = strings.ToValidUTF8(key[:maxQuotedHint], "") + "…"
		}
		clause += ", " + strings.TrimSpace(key)
	}
	return fault.Unsupported(clause, reason, remedy)
}

// ConfiguredNames returns the configured names among the identifiers of a text, each
// once, but for those in optimizer hints.
func ConfiguredNames(text string, names Names, d *dialect.Dialect) []string {
	var found []string
	l := lexer{text: text, dialect: d}
	for {
		tok, ok, err := l.next()
		if err != nil || !ok {
			return found
		}
		name := text[tok.start:tok.end]
		switch tok.kind {
		case tokenWord, tokenQuoted:
			name = unquote(name)
		default:
			continue
		}
		if names.IsTable(name) && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
}
