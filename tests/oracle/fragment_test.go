//go:build unix

package oracle_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// fragment is a piece of SQL in which marker stands for each argument.
type fragment struct {
	sql  string
	args []any
}

const marker = "\x00"

// argument is a value that is bound.
type argument struct{ value any }

// f joins texts, fragments, and arguments.
func f(parts ...any) fragment {
	var b strings.Builder
	var out fragment
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			b.WriteString(p)
		case int:
			b.WriteString(strconv.Itoa(p))
		case fragment:
			b.WriteString(p.sql)
			out.args = append(out.args, p.args...)
		case argument:
			b.WriteString(marker)
			out.args = append(out.args, p.value)
		default:
			panic(fmt.Sprintf("no fragment of a %T", p))
		}
	}
	out.sql = b.String()
	return out
}

func join(parts []fragment, separator string) fragment {
	var all []any
	for i, p := range parts {
		if i > 0 {
			all = append(all, separator)
		}
		all = append(all, p)
	}
	return f(all...)
}

// bound returns the text with question marks, and the arguments.
func (p fragment) bound() (string, []any) { return strings.ReplaceAll(p.sql, marker, "?"), p.args }

// text returns the text with literals.
func (p fragment) text() string {
	var b strings.Builder
	rest := p.sql
	for _, arg := range p.args {
		before, after, _ := strings.Cut(rest, marker)
		rest = after
		b.WriteString(before + literal(arg))
	}
	return b.String() + rest
}

var escapes = strings.NewReplacer(`\`, `\\`, "'", "''", "\x00", `\0`, "\n", `\n`)

func literal(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return "'" + escapes.Replace(v) + "'"
	case []byte:
		return fmt.Sprintf("x'%x'", v)
	case time.Time:
		return "'" + v.Format("2006-01-02 15:04:05.999999") + "'"
	case bool, int, int64, uint64, float64:
		return fmt.Sprint(v)
	}
	panic(fmt.Sprintf("no literal of a %T", v))
}

// generator makes one statement.
type generator struct {
	*rand.Rand
	schema   string
	protocol string
	// inside is true in a transaction, which DDL would end on one side alone.
	inside bool
}

func newGenerator(seed uint64, schema string) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 11)), schema: schema}
}

// in reports true n times of a hundred.
func (g *generator) in(n int) bool { return g.IntN(100) < n }

func one[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

// value writes a value as an argument or a literal.
func (g *generator) value(v any) fragment {
	if g.in(60) {
		return f(argument{v})
	}
	if s, ok := v.(string); ok && g.in(10) && !strings.Contains(s, "\x00") {
		return f(one(g, "_utf8mb4", "N") + literal(v))
	}
	return f(literal(v))
}

// disturb puts comments and odd white space into a text, outside quotes.
func (g *generator) disturb(p fragment) fragment {
	if !g.in(25) {
		return p
	}
	var b strings.Builder
	var quote byte
	for i := 0; i < len(p.sql); i++ {
		c := p.sql[i]
		switch {
		case quote != 0:
			if c == '\\' && quote != '`' && i+1 < len(p.sql) {
				b.WriteByte(c)
				i++
				c = p.sql[i]
			} else if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == ' ' && g.in(15):
			b.WriteString(one(g, "\n", "\t", "  ", " /* orders ? ' */ ", " -- items `\n", " # notes ?\n", "/**/", " /*orders*/ "))
			continue
		}
		b.WriteByte(c)
	}
	return fragment{b.String(), p.args}
}
