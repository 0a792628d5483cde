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
	Span         // with its parentheses, and EXISTS before them
	Inner   Span // the query
	Use     SubqueryUse
	Grouped bool // it stands in HAVING
}

// subqueries finds the subqueries in WHERE and HAVING that begin with SELECT. Those
// of ANY and ALL are left out.
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
				i = to
				continue
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
