package parse

// SubqueryUse is what a subquery is to the expression around it.
type SubqueryUse uint8

// The uses of a subquery.
const (
	SubqueryScalar SubqueryUse = iota // a value
	SubqueryList                      // the list of IN or NOT IN
	SubqueryExists                    // EXISTS (…)
)

// Subquery is a subquery in WHERE or HAVING of a SELECT, that stands in no other.
type Subquery struct {
	Span           // with its parentheses, and EXISTS, = ANY or <> ALL before them
	As      string // IN or NOT IN for = ANY and <> ALL, which mean the same
	Inner   Span   // the query
	Use     SubqueryUse
	Grouped bool // it stands in HAVING
}

// subqueries finds the subqueries in WHERE and HAVING that begin with SELECT. Those
// of ANY and ALL are left out, unless they say what IN and NOT IN do of a column.
func (b *builder) subqueries(c *clauses) []Subquery {
	var found []Subquery
	for _, clause := range []int{c.where, c.having} {
		if clause < 0 {
			continue
		}
		for i, end := clause+1, c.next(clause); i < end; i++ {
			if !b.is(i, "(") || !b.isWord(i+1, "SELECT") {
				continue
			}
			to := int(b.pair[i])
			s := Subquery{Span: b.span(i, to+1), Inner: b.span(i+1, to), Grouped: clause == c.having}
			switch {
			case b.isWord(i-1, "ANY", "SOME", "ALL"):
				if s.As = b.asMember(i - 1); s.As == "" {
					i = to
					continue
				}
				s.Use, s.Span = SubqueryList, b.span(i-2, to+1)
			case b.isWord(i-1, "IN"):
				s.Use = SubqueryList
			case b.isWord(i-1, "EXISTS"):
				s.Use, s.Span = SubqueryExists, b.span(i-1, to+1)
			}
			found = append(found, s)
			i = to
		}
	}
	return found
}

// asMember returns IN or NOT IN where the word i, ANY or ALL, says the same of a
// column; "" for anything else. IN binds more tightly than a comparison, so that only
// a column that a condition begins with is the same operand of both.
func (b *builder) asMember(i int) string {
	as := ""
	switch {
	case b.is(i-1, "=") && b.isWord(i, "ANY", "SOME"):
		as = "IN "
	case (b.is(i-1, "<>") || b.is(i-1, "!=")) && b.isWord(i, "ALL"):
		as = "NOT IN "
	default:
		return ""
	}
	at := i - 2
	for ; b.isName(at) && b.is(at-1, "."); at -= 2 {
	}
	if !b.isName(at) || !b.is(at-1, "(") && !b.isWord(at-1, "WHERE", "HAVING", "AND", "OR") || b.endsBetween(at-1) {
		return ""
	}
	if b.tokens[i-1].start == b.tokens[i-2].end { // a sign ends a name, a word does not
		as = " " + as
	}
	return as
}

// endsBetween reports whether the word i may be the AND of a BETWEEN. An END may be
// that of a CASE, in which anything can stand.
func (b *builder) endsBetween(i int) bool {
	if !b.isWord(i, "AND") {
		return false
	}
	for i--; i >= 0 && !b.is(i, "(") && !b.isWord(i, "WHERE", "HAVING", "AND", "OR"); i-- {
		if b.isWord(i, "BETWEEN", "END") {
			return true
		}
		if b.is(i, ")") {
			i = int(b.pair[i])
		}
	}
	return false
}
