package parse

import (
	"strconv"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// Tracing writes a comment of its own into every statement, which must not make
// a plan of its own out of each. So a plan is made for the text in which every
// ordinary comment has become a placeholder, itself a comment, and the comments
// are put back into what is sent. White space is not touched: inside an unaliased
// item of a select list it is part of the column's label, and so is a comment,
// which is why the placeholders stay where they are.

// placeholder begins the comment that stands for an ordinary one; its number
// and "~*/" follow.
const placeholder = "/*~"

// Uncomment returns text with placeholders in place of its ordinary comments,
// and the comments. What a server or the planner may read stays: /*! … */,
// optimizer hints and hint comments (IsHintComment). There are no comments to be
// put back when text itself is returned.
func Uncomment(text string, d *dialect.Dialect) (key string, comments []string) {
	if !mayHoldComment(text) || strings.Contains(text, placeholder) {
		return text, nil
	}
	l := lexer{text: text, dialect: d, collect: true}
	for {
		if _, ok, err := l.next(); err != nil {
			return text, nil // for the planner to say why
		} else if !ok {
			break
		}
	}
	var b strings.Builder
	at := 0
	for _, c := range l.comments {
		comment := text[c.Start:c.End]
		if !isOrdinary(comment) {
			continue
		}
		if at == 0 {
			b.Grow(len(text))
		}
		b.WriteString(text[at:c.Start])
		b.WriteString(placeholder)
		b.WriteString(strconv.Itoa(len(comments)))
		b.WriteString("~*/")
		comments = append(comments, comment)
		at = c.End
	}
	if len(comments) == 0 {
		return text, nil
	}
	b.WriteString(text[at:])
	return b.String(), comments
}

// Recomment puts comments back in the place of their placeholders, wherever the
// rewriting of the text has left them.
func Recomment(sql string, comments []string) string {
	var b strings.Builder
	for {
		start := strings.Index(sql, placeholder)
		if start < 0 {
			b.WriteString(sql)
			return b.String()
		}
		number, rest, _ := strings.Cut(sql[start+len(placeholder):], "~*/")
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || n >= len(comments) { // none of ours
			b.WriteString(sql[:start+len(placeholder)])
			sql = sql[start+len(placeholder):]
			continue
		}
		if b.Len() == 0 {
			size := len(sql)
			for _, c := range comments {
				size += len(c)
			}
			b.Grow(size)
		}
		b.WriteString(sql[:start])
		b.WriteString(comments[n])
		// A line's comment must not swallow what has been put behind it.
		if comments[n][0] != '/' && rest != "" && rest[0] != '\n' {
			b.WriteByte('\n')
		}
		sql = rest
	}
}

func mayHoldComment(text string) bool {
	return strings.Contains(text, "/*") || strings.Contains(text, "--") || strings.IndexByte(text, '#') >= 0
}

// isOrdinary reports whether a comment means nothing to server and planner. One
// with a backtick stays, because a label that becomes an alias is quoted with
// them; so does one that only the end of the text closes.
func isOrdinary(comment string) bool {
	if strings.IndexByte(comment, '`') >= 0 {
		return false
	}
	body, block := strings.CutPrefix(comment, "/*")
	if !block {
		return !IsHintComment(strings.TrimLeft(comment, "-#"))
	}
	return len(body) >= 2 && strings.HasSuffix(body, "*/") && body[0] != '+' && body[0] != '!' && !strings.HasPrefix(body, "M!") && !IsHintComment(body)
}

// IsHintComment reports whether the text of a comment, behind its opening, may
// be a hint to the planner: it begins with SHARDING or SHARDINGSPHERE, in any
// case and whatever follows.
func IsHintComment(body string) bool {
	body = strings.TrimLeft(body, " \t\r\n")
	const word = "SHARDING"
	return len(body) >= len(word) && equalWord(body[:len(word)], word)
}
