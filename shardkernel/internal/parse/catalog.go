package parse

import (
	"slices"
	"strings"
)

// CatalogRole is what a column of information_schema holds.
type CatalogRole uint8

// The roles of columns.
const (
	CatalogOther           CatalogRole = iota // nothing that differs between data sources
	CatalogSchema                             // the schema the row is about
	CatalogTable                              // the table the row is about
	CatalogConstraint                         // the name of a constraint
	CatalogReferenced                         // the table a foreign key leads to
	CatalogReferencedOwner                    // the schema of that table
)

// catalogs are the tables of information_schema whose rows are about tables,
// with the columns that hold names. Those of schemas alone are with them.
var catalogs = map[string]map[string]CatalogRole{
	"TABLES":  {"TABLE_SCHEMA": CatalogSchema, "TABLE_NAME": CatalogTable},
	"COLUMNS": {"TABLE_SCHEMA": CatalogSchema, "TABLE_NAME": CatalogTable},
	// A foreign key without a fitting key gets one of its own name.
	"STATISTICS": {"TABLE_SCHEMA": CatalogSchema, "INDEX_SCHEMA": CatalogSchema, "TABLE_NAME": CatalogTable, "INDEX_NAME": CatalogConstraint},
	"TABLE_CONSTRAINTS": {
		"CONSTRAINT_SCHEMA": CatalogSchema, "TABLE_SCHEMA": CatalogSchema, "TABLE_NAME": CatalogTable, "CONSTRAINT_NAME": CatalogConstraint,
	},
	"KEY_COLUMN_USAGE": {
		"CONSTRAINT_SCHEMA": CatalogSchema, "TABLE_SCHEMA": CatalogSchema, "TABLE_NAME": CatalogTable, "CONSTRAINT_NAME": CatalogConstraint,
		"REFERENCED_TABLE_SCHEMA": CatalogReferencedOwner, "REFERENCED_TABLE_NAME": CatalogReferenced,
	},
	"REFERENTIAL_CONSTRAINTS": {
		"CONSTRAINT_SCHEMA": CatalogSchema, "TABLE_NAME": CatalogTable, "CONSTRAINT_NAME": CatalogConstraint,
		"UNIQUE_CONSTRAINT_SCHEMA": CatalogReferencedOwner, "REFERENCED_TABLE_NAME": CatalogReferenced,
	},
	"CHECK_CONSTRAINTS": {"CONSTRAINT_SCHEMA": CatalogSchema, "TABLE_NAME": CatalogTable, "CONSTRAINT_NAME": CatalogConstraint},
	"SCHEMATA":          {"SCHEMA_NAME": CatalogSchema},
}

// CatalogColumns gives the columns of an information_schema table that hold names.
func CatalogColumns(table string) map[string]CatalogRole { return catalogs[table] }

// NamesConstraints reports whether the answer, or the question, may hold names of
// keys and constraints.
func (q *Inquiry) NamesConstraints() bool {
	switch q.Kind {
	case InquiryCreate:
		return true
	case InquiryTable:
		return q.Index
	case InquiryCatalog:
		for _, role := range catalogs[q.Select.Table] {
			if role == CatalogConstraint {
				return true
			}
		}
	}
	return false
}

// catalogSizes are the columns of TABLES that count rows and bytes.
var catalogSizes = []string{
	"TABLE_ROWS", "AVG_ROW_LENGTH", "DATA_LENGTH", "INDEX_LENGTH", "DATA_FREE", "AUTO_INCREMENT", "CHECKSUM", "UPDATE_TIME",
}

// Catalog is a SELECT from one table of information_schema, or one without
// information_schema that calls DATABASE().
type Catalog struct {
	Table string // in upper case; empty without information_schema
	// Known is true when the table's rows are about tables or schemas and its
	// columns are known.
	Known bool
	// Refuse names what keeps the names in the statement from being mapped; empty
	// when nothing does.
	Refuse string
	// Star is true when the select list is * alone.
	Star bool
	// Items are the items of the select list that are a name and nothing else.
	Items []CatalogItem
	// Terms are the AND terms of WHERE that say what a name is equal to.
	Terms []CatalogTerm
	// Names are the names anywhere else that must read as in the logical schema.
	Names []CatalogName
	// Calls are the calls of DATABASE() outside of Terms.
	Calls []Span
	// Labels are the items without alias that Names or Calls are part of; their
	// text is their label.
	Labels []Span
	// Where is the condition of WHERE; empty without. WhereAt is where one would
	// be put.
	Where   Span
	WhereAt int
	// Gathers names the first clause that looks at the rows together, such as
	// ORDER BY; empty when the rows of several data sources may follow one another.
	Gathers string
	// Ordinal is true when ORDER BY or GROUP BY counts the items.
	Ordinal bool
	// Counts is true when COUNT(*) is all that is asked for.
	Counts bool
	// Sizes is true when numbers of rows or bytes are asked for.
	Sizes bool
	// Texts holds every text literal that is plain.
	Texts []string
}

// CatalogItem is an item of the select list that is a name.
type CatalogItem struct {
	Index int // in the select list
	Role  CatalogRole
}

// CatalogName is a name that is part of an expression.
type CatalogName struct {
	Span // with its qualifiers
	Role CatalogRole
}

// CatalogTerm is a name = value, or value = name.
type CatalogTerm struct {
	Span  // the whole term
	Role  CatalogRole
	Name  Span // with its qualifiers
	Value Span
	// Param is the ordinal of the value's marker, -1 when it is none.
	Param int
	Text  string // the literal
	// Call is true for DATABASE().
	Call bool
}

// catalog reads a SELECT from information_schema, or with DATABASE().
func (a *asker) catalog() bool {
	c := &Catalog{}
	a.q.Kind, a.q.Clause, a.q.Select = InquirySchema, "DATABASE()", c
	r := catalogReader{source: a.source, c: c, from: len(a.tokens), end: len(a.tokens)}
	calls := false
	for i := range a.tokens {
		calls = calls || r.isCall(i)
		if a.isName(i) && strings.EqualFold(unquote(a.raw(i)), "information_schema") && a.is(i+1, ".") && a.isName(i+2) && !a.is(i+3, ".") {
			table := strings.ToUpper(unquote(a.raw(i + 2)))
			c.Known = c.Known || catalogs[table] != nil
			if c.Table != "" {
				r.refuse("a join within information_schema")
			}
			c.Table = table
		}
		if a.tokens[i].kind == tokenString {
			if text, ok := plainText(a.raw(i)); ok {
				c.Texts = append(c.Texts, text)
			}
		}
	}
	if c.Table == "" && !calls {
		return false
	}
	if c.Table != "" {
		a.q.Kind, a.q.Clause = InquiryCatalog, "information_schema."+c.Table
	}
	r.read()
	return true
}

// catalogReader reads the clauses of a Catalog.
type catalogReader struct {
	*source
	c     *Catalog
	roles map[string]CatalogRole
	from  int    // the token FROM, or where the select list ends
	end   int    // where the clauses of FROM and WHERE end
	taken []bool // tokens that Items and Terms have dealt with
}

func (r *catalogReader) refuse(what string) {
	if r.c.Refuse == "" {
		r.c.Refuse = what
	}
}

// isCall reports whether token i begins DATABASE() or SCHEMA().
func (r *catalogReader) isCall(i int) bool {
	return r.isWord(i, "DATABASE", "SCHEMA") && r.is(i+1, "(") && r.is(i+2, ")") && !r.is(i-1, ".")
}

// role returns the role of the name at token i, CatalogOther when it is none.
func (r *catalogReader) role(i int) CatalogRole {
	if !r.isName(i) || r.is(i+1, "(") || r.is(i+1, ".") {
		return CatalogOther
	}
	return r.roles[strings.ToUpper(unquote(r.raw(i)))]
}

// first returns the token at which the name that ends at i begins, with its
// qualifiers.
func (r *catalogReader) first(i int) int {
	for r.is(i-1, ".") && r.isName(i-2) {
		i -= 2
	}
	return i
}

func (r *catalogReader) read() {
	r.roles, r.taken = catalogs[r.c.Table], make([]bool, len(r.tokens))
	if !r.isWord(0, "SELECT") {
		r.refuse("WITH, or a query in parentheses")
		return
	}
	where := r.clauses()
	if r.c.Refuse != "" {
		return
	}
	r.items()
	if where >= 0 {
		r.c.Where = r.span(where+1, r.end)
		r.terms(where+1, r.end)
	}
	r.others()
}

// clauses finds where the clauses begin, and what the statement may not hold.
// It returns the token WHERE, -1 without.
func (r *catalogReader) clauses() (where int) {
	where = -1
	last := len(r.tokens)
	for i := range r.tokens {
		switch {
		case i > 0 && r.isWord(i, "SELECT", "UNION", "EXCEPT", "INTERSECT"):
			r.refuse("a query within the query, or UNION")
		case r.isWord(i, "INTO"), r.isWord(i, "FOR") && r.isWord(i+1, "UPDATE", "SHARE"):
			r.refuse("INTO, or a locking clause")
		case r.isWord(i, "OVER"):
			r.gather("a window function")
		case r.isWord(i, aggregateWords...) && r.is(i+1, "("):
			r.gather(strings.ToUpper(r.raw(i)))
		case r.isName(i) && slices.Contains(catalogSizes, strings.ToUpper(unquote(r.raw(i)))):
			r.c.Sizes = true
		}
		if r.tokens[i].depth > 0 {
			continue
		}
		switch {
		case r.isWord(i, "FROM") && r.from == len(r.tokens):
			r.from = i
		case r.isWord(i, "DISTINCT", "DISTINCTROW") && i < r.from:
			r.gather("DISTINCT")
		case r.isWord(i, "WHERE"):
			where = i
		case r.isWord(i, "GROUP", "ORDER") && r.isWord(i+1, "BY"), r.isWord(i, "HAVING", "LIMIT", "PROCEDURE", "OFFSET", "FETCH"):
			clause := strings.ToUpper(r.raw(i))
			if r.isWord(i+1, "BY") {
				clause += " BY"
			}
			r.gather(clause)
			last = min(last, i)
			for j := i; r.isWord(i, "GROUP", "ORDER") && j+1 < len(r.tokens) && !r.isWord(j+1, "HAVING", "LIMIT"); j++ {
				r.c.Ordinal = r.c.Ordinal || (r.isWord(j, "BY") || r.is(j, ",") && r.tokens[j].depth == 0) && r.tokens[j+1].kind == tokenNumber
			}
		}
	}
	r.end = last
	r.c.WhereAt = r.tokens[last-1].end
	if r.c.Table == "" {
		return where
	}
	// information_schema . TABLE [AS] alias, and nothing else, is read from.
	i := r.from + 1
	if !r.isName(i) || !strings.EqualFold(unquote(r.raw(i)), "information_schema") || !r.is(i+1, ".") {
		r.refuse("a place of information_schema that is not understood")
		return where
	}
	i += 3
	if r.isWord(i, "AS") {
		i++
	}
	if i < last && r.isName(i) && i != where {
		i++
	}
	if i != last && i != where {
		r.refuse("a join, or a clause behind the table that is not understood")
	}
	return where
}

var aggregateWords = []string{
	"COUNT", "SUM", "MIN", "MAX", "AVG", "GROUP_CONCAT", "BIT_AND", "BIT_OR", "BIT_XOR", "STD", "STDDEV", "STDDEV_POP", "STDDEV_SAMP",
	"VARIANCE", "VAR_POP", "VAR_SAMP", "JSON_ARRAYAGG", "JSON_OBJECTAGG", "ANY_VALUE", "MEDIAN",
}

func (r *catalogReader) gather(clause string) {
	if r.c.Gathers == "" {
		r.c.Gathers = clause
	}
}

// items reads the select list.
func (r *catalogReader) items() {
	begin := 1
	for r.isWord(begin, "ALL", "DISTINCT", "DISTINCTROW", "SQL_NO_CACHE", "SQL_CACHE", "HIGH_PRIORITY") || begin < r.from && r.tokens[begin].kind == tokenHint {
		begin++
	}
	list := r.end
	if r.from < r.end {
		list = r.from
	}
	r.c.Counts = list-begin == 4 && r.isWord(begin, "COUNT") && r.is(begin+1, "(") && r.is(begin+2, "*") && r.is(begin+3, ")")
	starts := r.split(begin, list)
	for n, from := range starts {
		to := list
		if n+1 < len(starts) {
			to = starts[n+1] - 1
		}
		r.item(n, from, to, len(starts) == 1)
	}
}

// item reads one item of the select list.
func (r *catalogReader) item(index, from, to int, alone bool) {
	if to <= from {
		return
	}
	if r.is(to-1, "*") && (to-from == 1 || r.is(to-2, ".")) {
		if !alone {
			r.refuse("* beside other items")
		}
		r.c.Star = true
		r.c.Sizes = r.c.Sizes || r.c.Table == "TABLES"
		return
	}
	if role := r.role(to - 1); role != CatalogOther && r.first(to-1) == from {
		r.c.Items = append(r.c.Items, CatalogItem{Index: index, Role: role})
		r.taken[to-1] = true
		return
	}
	if r.aliased(from, to) {
		if r.role(to-1) != CatalogOther {
			r.refuse("an alias that is also the name of a column")
		}
		return
	}
	for i := from; i < to; i++ {
		if r.role(i) != CatalogOther || r.isCall(i) {
			r.c.Labels = append(r.c.Labels, r.span(from, to))
			return
		}
	}
}

// operators are the words behind which the last name of an item is no alias.
var operators = []string{
	"AND", "OR", "XOR", "NOT", "DIV", "MOD", "LIKE", "RLIKE", "REGEXP", "IN", "IS", "BETWEEN", "BINARY", "CASE", "WHEN", "THEN", "ELSE",
	"COLLATE", "INTERVAL", "ESCAPE", "SOUNDS",
}

// aliased reports whether the item ends in an alias.
func (r *catalogReader) aliased(from, to int) bool {
	if to-from < 2 || !r.isName(to-1) && r.tokens[to-1].kind != tokenString {
		return false
	}
	before := to - 2
	switch {
	case r.isWord(before, "AS"):
		return true
	case r.isWord(to-1, "END", "NULL", "TRUE", "FALSE", "UNKNOWN"), r.isWord(before, operators...):
		return false
	}
	return r.isName(before) || r.is(before, ")") || r.tokens[before].kind == tokenString || r.tokens[before].kind == tokenNumber
}

// terms reads the AND terms of a condition.
func (r *catalogReader) terms(from, to int) {
	var starts []int // of the terms
	open := false    // between BETWEEN and its AND
	for i := from; i < to; i++ {
		switch {
		case r.is(i, "("):
			i = int(r.pair[i])
		case r.isWord(i, "OR", "XOR", "CASE"), r.is(i, "||"):
			return
		case r.isWord(i, "BETWEEN"):
			open = true
		case open && r.isWord(i, "AND"):
			open = false
		case r.isWord(i, "AND"), r.is(i, "&&"):
			starts = append(starts, i+1)
		}
	}
	for _, next := range append(starts, to+1) {
		r.term(from, next-1)
		from = next
	}
}

// term reads one term: name = value, value = name, or more terms in parentheses.
func (r *catalogReader) term(from, to int) {
	if r.is(from, "(") && int(r.pair[from]) == to-1 {
		r.terms(from+1, to-1)
		return
	}
	for i := from + 1; i < to-1; i++ {
		if !r.is(i, "=") {
			continue
		}
		if !r.equality(from, i, i+1, to) {
			r.equality(i+1, to, from, i)
		}
		return
	}
}

// equality reads name = value, given the tokens of both.
func (r *catalogReader) equality(name, nameEnd, value, valueEnd int) bool {
	role := r.role(nameEnd - 1)
	if role == CatalogOther || r.first(nameEnd-1) != name {
		return false
	}
	t := CatalogTerm{
		Span: r.span(min(name, value), max(nameEnd, valueEnd)), Role: role,
		Name: r.span(name, nameEnd), Value: r.span(value, valueEnd), Param: -1,
	}
	switch {
	case valueEnd-value == 3 && r.isCall(value):
		t.Call = true
		r.taken[value] = true
	case valueEnd-value != 1:
		return false
	case r.tokens[value].kind == tokenMarker:
		for t.Param = 0; r.markers[t.Param] != r.tokens[value].start; t.Param++ {
		}
	case r.tokens[value].kind == tokenString:
		text, ok := plainText(r.raw(value))
		if !ok {
			return false
		}
		t.Text = text
	default:
		return false
	}
	r.taken[nameEnd-1] = true
	r.c.Terms = append(r.c.Terms, t)
	return true
}

// others collects the names and calls that stand anywhere else. GROUP BY keeps
// the names of a data source apart as well as those of the logical schema.
func (r *catalogReader) others() {
	grouping := false
	for i := range r.tokens {
		if r.tokens[i].depth == 0 {
			if r.isWord(i, "GROUP") {
				grouping = true
			} else if r.isWord(i, "HAVING", "ORDER", "LIMIT") {
				grouping = false
			}
		}
		if r.taken[i] || i > r.from && i < r.from+4 { // the table's own name is none of these
			continue
		}
		if r.isCall(i) {
			r.c.Calls = append(r.c.Calls, r.span(i, i+3))
			continue
		}
		if role := r.role(i); role != CatalogOther && !grouping && !r.isWord(i-1, "AS") {
			r.c.Names = append(r.c.Names, CatalogName{Span: r.span(r.first(i), i+1), Role: role})
		}
	}
}

// plainText returns the value of a text literal in which nothing is escaped but
// quotes by doubling.
func plainText(raw string) (string, bool) {
	if len(raw) < 2 || raw[0] != '\'' && raw[0] != '"' || strings.Contains(raw, `\`) {
		return "", false
	}
	quote := raw[:1]
	return strings.ReplaceAll(raw[1:len(raw)-1], quote+quote, quote), true
}
