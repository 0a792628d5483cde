package plan

import "strings"

// First is what runs before a statement, which is then planned with what was found.
// The units of the execution are those of a statement that knows nothing of it yet.
type First struct {
	Subqueries []Subquery
	// Then plans the statement with what each subquery found.
	Then func(found []*Found) (*Execution, error)
}

// Subquery is a query whose rows take the place of a subquery of another one.
type Subquery struct {
	Rows    Execution
	Columns []CarriedColumn
	Integer bool // the one column is an integer, by which nodes can be chosen
	Exists  bool // only whether there is a row matters
	// Place is what it is before it has run.
	Place *Found
}

// CarriedColumn is how the values of a column are written as JSON.
type CarriedColumn uint8

// The ways of a CarriedColumn.
const (
	CarriedText   CarriedColumn = iota // the text that it is
	CarriedNumber                      // a number as its text
	CarriedBytes                       // hexadecimal digits
	CarriedDate                        // a date as its text
	CarriedMoment                      // a date and time as its text
)

// Found stands among the arguments of a statement for the rows of a subquery.
type Found struct {
	// SQL takes the place of the marker, and its own marker, if it has one, is for
	// JSON, an array of the rows.
	SQL  string
	JSON string
	// List is true where the rows are those of IN, and false for a value. Known tells
	// that Values are the rows, as far as nodes are chosen by them; a scalar
	// subquery without a row has none.
	List   bool
	Known  bool
	Values []any
	// Number is true for a value that is an exact number, and Constant is then the
	// value: int64, uint64, Decimal, or nil for NULL.
	Number   bool
	Constant any
}

// Marker is the first marker of SQL, -1 without one.
func (f *Found) Marker() int { return strings.IndexByte(f.SQL, '?') }
