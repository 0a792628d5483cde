package plan

// Numbering is an INSERT into a broadcast table whose rows the first data source
// numbers: First runs first, and Rest makes the units of the other data sources
// of the numbers.
type Numbering struct {
	First Unit
	// Returned is true when First returns a row for every row it inserts, whose
	// last column, which the caller must not see, is the number. Otherwise it
	// inserts one row, and the number is its last insert id.
	Returned bool
	// Rows are the positions of the rows that are numbered, ascending.
	Rows []int
	// Rest takes one number for each of Rows.
	Rest func(numbers []any) []Unit
}
