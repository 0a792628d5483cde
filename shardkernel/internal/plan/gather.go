package plan

// Gather is how a statement is answered by one data source although rows it reads
// are in others: they are read first, and the one unit of the execution gets them
// as arguments, each a JSON array of rows.
type Gather struct {
	// Tables are the tables whose rows are read, in the order of the unit's first
	// arguments, which stand for the rows as RowsOf until they are known.
	Tables []GatheredTable
	// Header asks the unit's data source for no rows: what it tells of the columns
	// is what the tables themselves would give, types, labels and nullability.
	Header Unit
	// Typed is true for a statement without arguments of its own, whose answer is
	// that of a text with nothing bound. The rows become literals of it then.
	Typed bool
}

// GatheredTable is a table whose rows are read for another data source.
type GatheredTable struct {
	Table string // logical name
	// Rows gives one column: a row as a JSON array, or, for a row that cannot be
	// carried, the name of the column that is why, behind = for a value that has no
	// such form, and behind > for one that the column as it is known could not hold.
	Rows Execution
}

// RowsOf stands for the rows of the table it names among the arguments of a unit.
type RowsOf string
