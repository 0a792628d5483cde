package route

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// choosing are the beginnings of expressions that give one of their operands, so that
// the operand's type is theirs.
var choosing = []string{"nullif", "ifnull", "coalesce", "case", "if", "nvl"}

// ShowsBits returns the text of an item of the select list that may be a BIT which an
// expression chooses; "" when there is none. A server shows it as bytes where a
// temporary table holds it, and as a number elsewhere. Measured on MariaDB 10.11.
func (p *Program) ShowsBits(meta Meta) string {
	if p.stmt.Select == nil {
		return ""
	}
	for i := range p.stmt.Select.Items {
		item := &p.stmt.Select.Items[i]
		if item.Star || item.Column != nil || item.Constant || item.Aggregate != nil {
			continue
		}
		expr := p.stmt.Text[item.Expr.Start:item.Expr.End]
		if p.choosesBit(strings.ToLower(expr), meta) {
			return expr
		}
	}
	return ""
}

// choosesBit reports whether an expression, in lower case, may give a column that is
// a BIT. One found too many refuses what could have been answered, no more.
func (p *Program) choosesBit(expr string, meta Meta) bool {
	if !slices.ContainsFunc(choosing, func(word string) bool { return parse.HoldsName(expr, word) }) {
		return false
	}
	for _, r := range p.refs {
		t := meta.table(r.rule.Name)
		for i := 0; t != nil && i < len(t.Columns); i++ {
			if c := &t.Columns[i]; c.Class == value.ClassBit && chosen(expr, strings.ToLower(c.Name)) {
				return true
			}
		}
	}
	return false
}

// chosen reports whether a name stands in an expression as what may be chosen, and
// not beside an operator. A literal beside it in COALESCE makes a number or a text.
func chosen(expr, name string) bool {
	commented := strings.Contains(expr, "/*") || strings.Contains(expr, "--") || strings.Contains(expr, "#")
	filled := strings.HasPrefix(expr, "ifnull") || strings.HasPrefix(expr, "coalesce") || strings.HasPrefix(expr, "nvl")
	for from := 0; ; {
		i := strings.Index(expr[from:], name)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(name)
		from = end
		before, after := unqualified(expr[:start]), strings.TrimLeft(expr[end:], " \t\r\n`")
		begins := strings.HasSuffix(before, "(") || strings.HasSuffix(before, ",") || strings.HasSuffix(before, "then") || strings.HasSuffix(before, "else")
		ends := strings.HasPrefix(after, ",") || strings.HasPrefix(after, ")") || strings.HasPrefix(after, "when") || strings.HasPrefix(after, "else") || strings.HasPrefix(after, "end")
		if commented || begins && ends && !(filled && literalIn.MatchString(before+" "+after)) {
			return true
		}
	}
}

var literalIn = regexp.MustCompile(`['"?]|(^|[^\w$])[0-9]`)

// unqualified is what stands before a name, without its quote and its qualifiers.
func unqualified(before string) string {
	for {
		before = strings.TrimRight(before, " \t\r\n`")
		if !strings.HasSuffix(before, ".") {
			return before
		}
		before = strings.TrimRight(before[:len(before)-1], " \t\r\n`")
		before = strings.TrimRightFunc(before, func(c rune) bool { return c == '_' || c == '$' || unicode.IsLetter(c) || unicode.IsDigit(c) })
	}
}
