package rewrite_test

import (
	"cmp"
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"time"
)

// kindOf is the kind of a cell.
type kindOf uint8

const (
	kindNull kindOf = iota
	kindNumber
	kindText // compares by its bytes
	kindTime
)

// cell is a value of the oracle, by MySQL's rules for what the generators write.
type cell struct {
	kind kindOf
	n    *big.Rat
	text string
	at   time.Time
}

func integer(n int) cell { return cell{kind: kindNumber, n: new(big.Rat).SetInt64(int64(n))} }

// textCell is a text; as a number it is its numeric prefix, as a date what it
// spells.
func textCell(s string) cell {
	c := cell{kind: kindText, text: s, n: new(big.Rat)}
	if prefix := numericPrefix.FindString(s); prefix != "" {
		c.n.SetString(strings.TrimSpace(prefix))
	}
	c.at, _ = readTime(s)
	return c
}

var numericPrefix = regexp.MustCompile(`^ *-?\d+(\.\d+)?`)

// cellOf is an argument as a cell.
func cellOf(arg any) cell {
	switch v := arg.(type) {
	case nil:
		return cell{}
	case string:
		return textCell(v)
	case []byte:
		return textCell(string(v))
	case time.Time:
		return cell{kind: kindTime, at: v}
	case float64:
		return cell{kind: kindNumber, n: new(big.Rat).SetFloat64(v)}
	case bool:
		if v {
			return integer(1)
		}
		return integer(0)
	}
	return literalCell(fmt.Sprint(arg))
}

// literalCell is a literal as a cell.
func literalCell(t string) cell {
	switch {
	case t == "NULL":
		return cell{}
	case t == "TRUE":
		return integer(1)
	case t == "FALSE":
		return integer(0)
	case t[0] == '\'':
		return textCell(strings.Trim(t, "'"))
	}
	n, ok := new(big.Rat).SetString(t)
	if !ok {
		panic("oracle cannot read the literal " + t)
	}
	c := cell{kind: kindNumber, n: n}
	c.at, _ = readTime(t)
	return c
}

// readTime reads the forms of dates that the generators write.
func readTime(s string) (time.Time, bool) {
	for _, layout := range []string{"2006-1-2", "20060102", "2006-1-2 15:4:5", "2006-1-2T15:4:5", "20060102150405"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// record is a row of a table.
type record map[string]cell

// joined is a row of a join: the record of each alias a0, a1, …; nil where an
// outer join found none.
type joined [4]record

// truth is true, false or unknown.
type truth int8

const (
	no truth = iota
	unknown
	yes
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// condition evaluates a condition over rows of a join.
type condition struct {
	tokens []string
	args   []any // of its markers
	next   int
	marker int
	row    joined
}

var tokenPattern = regexp.MustCompile(`[a-z0-9_]+\.[a-z]+|[A-Z]+|'[^']*'|-?\d+(?:\.\d+)?|<=>|<=|>=|<>|[-=<>(),?+*]`)

func newCondition(text string, args []any) *condition {
	return &condition{tokens: tokenPattern.FindAllString(text, -1), args: args}
}

// holds reports whether the condition is true of a row.
func (c *condition) holds(row joined) bool {
	if len(c.tokens) == 0 {
		return true
	}
	c.next, c.marker, c.row = 0, 0, row
	t := c.or()
	if c.next < len(c.tokens) {
		panic("oracle cannot read " + strings.Join(c.tokens, " ") + " from " + c.tokens[c.next])
	}
	return t == yes
}

func (c *condition) take() string {
	c.next++
	return c.tokens[c.next-1]
}

func (c *condition) accept(t string) bool {
	if c.next == len(c.tokens) || c.tokens[c.next] != t {
		return false
	}
	c.next++
	return true
}

func (c *condition) expect(t string) {
	if !c.accept(t) {
		panic("oracle wants " + t + " in " + strings.Join(c.tokens, " "))
	}
}

func (c *condition) or() truth {
	t := c.and()
	for c.accept("OR") {
		t = max(t, c.and())
	}
	return t
}

func (c *condition) and() truth {
	t := c.not()
	for c.accept("AND") {
		t = min(t, c.not())
	}
	return t
}

func (c *condition) not() truth {
	switch {
	case c.accept("NOT"):
		return yes - c.not()
	case c.next+2 < len(c.tokens) && c.tokens[c.next] == "(" && c.tokens[c.next+2] == ",":
		return c.tuple()
	case c.accept("("):
		t := c.or()
		c.expect(")")
		return t
	}
	return c.predicate()
}

// list reads what stands between parentheses, and calls read for each member.
func (c *condition) list(read func()) {
	c.expect("(")
	read()
	for c.accept(",") {
		read()
	}
	c.expect(")")
}

// tuple evaluates (a, b) IN ((…, …), …).
func (c *condition) tuple() truth {
	var left []cell
	c.list(func() { left = append(left, c.operand()) })
	negate := c.accept("NOT")
	c.expect("IN")
	t := no
	c.list(func() {
		equal, i := yes, 0
		c.list(func() {
			equal = min(equal, compare("=", left[i], c.operand()))
			i++
		})
		t = max(t, equal)
	})
	if negate {
		return yes - t
	}
	return t
}

// operand reads a column, a literal or a marker, and sums of them.
func (c *condition) operand() cell {
	v := c.term()
	for {
		switch {
		case c.accept("+"):
			v = calculate(v, c.term(), (*big.Rat).Add)
		case c.accept("-"):
			v = calculate(v, c.term(), (*big.Rat).Sub)
		case c.accept("*"):
			v = calculate(v, c.term(), (*big.Rat).Mul)
		default:
			return v
		}
	}
}

func calculate(a, b cell, by func(z, x, y *big.Rat) *big.Rat) cell {
	if a.kind == kindNull || b.kind == kindNull {
		return cell{}
	}
	c := cell{kind: kindNumber, n: by(new(big.Rat), a.n, b.n)}
	c.at, _ = readTime(c.n.RatString())
	return c
}

func (c *condition) term() cell {
	t := c.take()
	switch {
	case t == "?":
		c.marker++
		return cellOf(c.args[c.marker-1])
	case len(t) > 2 && t[0] == 'a' && t[2] == '.':
		row := c.row[t[1]-'0']
		if row == nil {
			return cell{}
		}
		return row[t[3:]]
	}
	return literalCell(t)
}

func (c *condition) predicate() truth {
	left := c.operand()
	negate := c.accept("NOT")
	t := no
	switch op := c.take(); op {
	case "IN":
		c.list(func() { t = max(t, compare("=", left, c.operand())) })
	case "BETWEEN":
		low := c.operand()
		c.expect("AND")
		t = min(compare(">=", left, low), compare("<=", left, c.operand()))
	case "IS":
		negate = c.accept("NOT")
		c.expect("NULL")
		t = truthOf(left.kind == kindNull)
	default:
		t = compare(op, left, c.operand())
	}
	if negate {
		return yes - t
	}
	return t
}

func compare(op string, a, b cell) truth {
	if op == "<=>" {
		if a.kind == kindNull || b.kind == kindNull {
			return truthOf(a.kind == b.kind)
		}
		op = "="
	}
	if a.kind == kindNull || b.kind == kindNull {
		return unknown
	}
	order := 0
	switch {
	case a.kind == kindTime || b.kind == kindTime:
		order = a.at.Compare(b.at)
	case a.kind == kindText && b.kind == kindText:
		order = cmp.Compare(a.text, b.text)
	default:
		order = a.n.Cmp(b.n)
	}
	switch op {
	case "=":
		return truthOf(order == 0)
	case "<>":
		return truthOf(order != 0)
	case "<":
		return truthOf(order < 0)
	case "<=":
		return truthOf(order <= 0)
	case ">":
		return truthOf(order > 0)
	case ">=":
		return truthOf(order >= 0)
	}
	panic("oracle has no operator " + op)
}
