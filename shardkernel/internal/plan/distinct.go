package plan

// Distinct gives every row once. Two rows are the same when they are equal in
// Keys: texts by their collation, numbers as numbers, NULLs being equal.
type Distinct struct {
	Keys []GroupKey
	// Columns is the number of visible columns that Keys were made for; with
	// another number the merge fails with ErrSchemaDrift.
	Columns int
	// Sorted is true where equal rows follow one another, so that one row is held;
	// otherwise the keys of all rows given are.
	Sorted bool
}
