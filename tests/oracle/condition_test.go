//go:build unix

package oracle_test

import (
	"fmt"
	"strings"
	"time"
)

// source is a table as it stands in FROM.
type source struct {
	*table
	alias string // what qualifies its columns
}

// scope is what column names may mean.
type scope struct {
	sources []source
	shadow  map[string]bool // aliases equal to column names
}

// name writes a column, qualified where it has to be.
func (g *generator) name(s *scope, src source, column string) string {
	name := column
	switch {
	case g.in(10):
		name = "`" + name + "`"
	case g.in(5):
		name = strings.ToUpper(name)
	}
	if len(s.sources) == 1 && !s.shadow[column] && g.in(75) {
		return name
	}
	q := src.alias
	switch {
	case q == src.name && src.table != staff && g.in(5):
		return g.schema + "." + q + "." + name
	case g.in(10):
		return "`" + q + "`." + name
	case g.in(3):
		return q + " . " + name
	}
	return q + "." + name
}

func (g *generator) pick(s *scope) (source, *column) {
	src := one(g, s.sources...)
	return src, &src.columns[g.IntN(len(src.columns))]
}

// key returns a sharding column of one of the sources, the first column where
// there is none.
func (g *generator) key(s *scope) (source, *column) {
	src := one(g, s.sources...)
	if len(src.keys) == 0 {
		return src, &src.columns[0]
	}
	return src, src.column(one(g, src.keys...))
}

// operand writes something to compare a column with.
func (g *generator) operand(s *scope, c *column) fragment {
	v := one(g, c.values...)
	switch n := g.IntN(100); {
	case n < 62:
		return g.value(v)
	case n < 66:
		return g.value(nil)
	case n < 84 && v != nil:
		return g.odd(c, v)
	case n < 90:
		return f(g.expression(s, c))
	case n < 95:
		src, other := g.pick(s)
		return f(g.name(s, src, other.name))
	}
	return g.value(one[any](g, "", "abc", 0, 1, -1, 1.5, true, false, "1", "9", uint64(1)<<63, []byte("9"), "9.5", "1e1"))
}

// odd writes a value in an unusual way, or one close to it.
func (g *generator) odd(c *column, v any) fragment {
	text := strings.Trim(literal(v), "'")
	if c.kind == kindInt || c.kind == kindUint {
		switch g.IntN(26) {
		case 22, 23:
			if n, ok := v.(int); ok {
				return one(g, f(g.value(n-3), " + ", g.value(3)), f("-(", g.value(-n), ")"), f("(", g.value(n/2), " * 2 + ", n%2, ")"),
					f("CAST(", g.value(text), " AS SIGNED)"), f(g.value(n*2), " DIV 2"), f(g.value(n), " % 7"), f(g.value(n), " | 0"), f("- - ", g.value(n)))
			}
			return f(g.value(v), one(g, " + 0", " - 1", " * 1"))
		case 24:
			return f(g.value(v), one(g, " + ", " - ", " * ", " / ", " DIV ", " % ", " & ", " | ", " << "), g.value(one[any](g, 0, 1, 2, "1", nil, 1.0, uint64(1)<<63)))
		case 25:
			return f(one(g, "-", "+", "~", "!"), g.value(v))
		case 0:
			return g.value(text)
		case 1:
			return g.value("0" + text)
		case 2:
			return g.value(text + "abc")
		case 3:
			return g.value(" " + text)
		case 4:
			return g.value(text + ".0")
		case 5:
			return f(text + ".0")
		case 6:
			return f(text + ".5")
		case 7:
			return g.value(text + ".5")
		case 8:
			return f(text + "e0")
		case 9:
			return g.value([]byte(text))
		case 10:
			return f("x'", fmt.Sprintf("%x", text), "'")
		case 11:
			return f(one(g, "0x09", "0x8", "b'1001'", "0b11", "x'09'"))
		case 12:
			return f("CAST('" + text + "' AS SIGNED)")
		case 13:
			return f(text + " + 0")
		case 14:
			return f("- - " + text)
		case 15:
			return f("+" + text)
		case 16:
			return f("(" + text + ")")
		case 17:
			return f("(SELECT " + text + ")")
		case 18:
			return f(one(g, "TRUE", "FALSE", "!0", "NOT 1", "NULL", "DATE'2024-01-01'", "TIME'00:00:09'", "PI()", "9007199254740993.0", "'9007199254740993'", "9007199254740992e0"))
		case 19:
			if n, ok := v.(int); ok {
				return g.value(float64(n))
			}
			return g.value(1.0)
		case 20:
			return g.value(text + " ")
		default:
			return g.value("+" + text)
		}
	}
	s := fmt.Sprint(v)
	if b, ok := v.([]byte); ok {
		s = string(b)
	}
	switch g.IntN(10) {
	case 0:
		return g.value(s + " ")
	case 1:
		return g.value(strings.ToUpper(s))
	case 2:
		return g.value([]byte(s))
	case 3:
		return f("BINARY ", g.value(s))
	case 4:
		if c.kind == kindText && !strings.Contains(s, "\x00") {
			return f("_utf8mb4", literal(s), " COLLATE ", one(g, "utf8mb4_general_ci", "utf8mb4_bin", "utf8mb4_unicode_ci"))
		}
		return g.value(s)
	case 5:
		return f("CONCAT(", g.value(s), ", '')")
	case 6:
		return f("x'" + fmt.Sprintf("%x", s) + "'")
	case 7:
		return g.value(" " + s)
	case 8:
		if c.kind == kindDate || c.kind == kindMoment {
			return g.value(time.Date(2026, 1, 1, 0, 0, 0, g.IntN(2)*20_000_000, time.UTC))
		}
		return f(literal(s))
	default:
		return g.value(one[any](g, 0, 1, 9, 10))
	}
}

// expression writes something that is computed from a column.
func (g *generator) expression(s *scope, c *column) string {
	src, other := g.pick(s)
	if c != nil && g.in(50) {
		for _, candidate := range s.sources {
			if candidate.column(c.name) == c {
				src, other = candidate, c
			}
		}
	}
	n := g.name(s, src, other.name)
	switch other.kind {
	case kindInt, kindUint, kindDecimal, kindFloat, kindYear, kindBits:
		return fmt.Sprintf(one(g, "%s + 0", "%s * 2", "- %s", "%s / 4", "%s %% 3", "%s DIV 2", "ABS(%s)", "IFNULL(%s, 7)", "COALESCE(NULL, %s)", "CASE WHEN %s > 3 THEN 'b' ELSE 'A' END", "ROUND(%s, 1)", "CAST(%s AS CHAR)", "%s IS NULL", "NULLIF(%s, 9)", "%s & 7", "GREATEST(%s, 3)", "CAST(%s AS DECIMAL(40,3))", "SIGN(%s)"), n)
	case kindDate, kindMoment, kindTime:
		return fmt.Sprintf(one(g, "YEAR(%s)", "DATE(%s)", "%s + INTERVAL 1 DAY", "DATE_FORMAT(%s, '%%Y-%%m')", "IFNULL(%s, '2020-01-01')", "%s IS NOT NULL", "CAST(%s AS CHAR)", "HOUR(%s)"), n)
	default:
		return fmt.Sprintf(one(g, "UPPER(%s)", "LENGTH(%s)", "CHAR_LENGTH(%s)", "CONCAT(%s, 'x')", "%s + 0", "IFNULL(%s, 'none')", "LEFT(%s, 1)", "TRIM(%s)", "HEX(%s)", "%s IS NULL", "REPLACE(%s, 'a', 'b')", "BINARY %s", "NULLIF(%s, 'a')"), n)
	}
}

// condition writes a tree of conditions.
func (g *generator) condition(s *scope, depth int) fragment {
	if depth > 0 && g.in(55) {
		a, b := g.condition(s, depth-1), g.condition(s, depth-1)
		switch n := g.IntN(100); {
		case n < 40:
			return f("(", a, one(g, " AND ", " and ", " && "), b, ")")
		case n < 80:
			return f("(", a, one(g, " OR ", " or "), b, ")")
		case n < 86:
			return f("(", a, " XOR ", b, ")")
		case n < 94:
			return f(one(g, "NOT (", "! ("), a, ")")
		case n < 97:
			return f("((", a, ") = ", one(g, "0", "1", "TRUE"), ")")
		}
		return f("((", a, ") IS ", one(g, "TRUE", "FALSE", "NULL", "NOT TRUE", "NOT FALSE", "NOT NULL", "UNKNOWN"), ")")
	}
	src, c := g.pick(s)
	if g.in(45) {
		src, c = g.key(s)
	}
	return g.comparison(s, src, c)
}

func (g *generator) comparison(s *scope, src source, c *column) fragment {
	n := g.name(s, src, c.name)
	switch g.IntN(26) {
	case 0, 1, 2, 3, 4, 5:
		if g.in(20) {
			return f(g.operand(s, c), one(g, " = ", " <=> ", "="), n)
		}
		return f(n, one(g, " = ", "=", " = "), g.operand(s, c))
	case 6:
		return f(n, " <=> ", g.operand(s, c))
	case 7:
		return f(n, one(g, " <> ", " != "), g.operand(s, c))
	case 8, 9, 10:
		return f(n, one(g, " > ", " < ", " >= ", " <= "), g.operand(s, c))
	case 11, 12, 13, 14:
		return f(n, one(g, " IN (", " in (", " IN(", " NOT IN ("), g.list(s, c), ")")
	case 15, 16:
		return f(n, one(g, " BETWEEN ", " NOT BETWEEN ", " BETWEEN "), g.operand(s, c), " AND ", g.operand(s, c))
	case 17:
		return f(n, one(g, " LIKE ", " NOT LIKE "), g.value(one(g, "a%", "%", "9", "1_", "", "A", "%a%", "\\%", "ß%")))
	case 18, 19:
		return f(n, one(g, " IS NULL", " IS NOT NULL"))
	case 20:
		return f(one(g, "", "NOT "), n)
	case 21:
		return f(g.expression(s, c), one(g, " = ", " > ", " <= ", " <> "), g.operand(s, c))
	case 22, 23:
		return g.tuples(s, src, c)
	case 24:
		return f(n, " ", one(g, "REGEXP", "RLIKE"), " ", g.value(one(g, "^a", "9", "[0-9]+$")))
	}
	return f(one(g, "1 = 1", "1 = 0", "TRUE", "NULL", "0", "1", "NULL = NULL", "'a' = 'A'"))
}

func (g *generator) list(s *scope, c *column) fragment {
	var list []fragment
	for range 1 + g.IntN(5) {
		list = append(list, g.operand(s, c))
	}
	return join(list, one(g, ", ", ",", " , "))
}

func (g *generator) tuples(s *scope, src source, c *column) fragment {
	d := &src.columns[g.IntN(len(src.columns))]
	left := f("(", g.name(s, src, c.name), ", ", g.name(s, src, d.name), ")")
	tuple := func() fragment { return f("(", g.operand(s, c), ", ", g.operand(s, d), ")") }
	switch g.IntN(4) {
	case 0:
		return f(left, one(g, " = ", " <> ", " <=> ", " > ", " <= "), tuple())
	case 1:
		return f(left, " NOT IN (", tuple(), ", ", tuple(), ")")
	}
	list := []fragment{tuple()}
	for range g.IntN(3) {
		list = append(list, tuple())
	}
	return f(left, " IN (", join(list, ", "), ")")
}

// narrow writes a condition that leads to one node, or to few.
func (g *generator) narrow(s *scope, src source) fragment {
	var parts []fragment
	for _, key := range src.keys {
		c := src.column(key)
		parts = append(parts, f(g.name(s, src, key), " = ", g.value(one(g, c.values...))))
	}
	if len(parts) == 0 {
		return f("1 = 1")
	}
	if g.in(20) {
		c := src.column(src.keys[0])
		parts[0] = f(g.name(s, src, c.name), " IN (", g.list(s, c), ")")
	}
	return join(parts, " AND ")
}
