package route

// Input is what one execution brings to a program. Route only reads it.
type Input struct {
	// Args are the arguments of the statement's markers.
	Args []any
	// Meta gives the columns of the tables; nil when nothing is known.
	Meta Meta
	// Keys are the generated keys of a result that needed them, see
	// Result.NeedsKeys; none otherwise.
	Keys []any
	// Hints are what the caller tells beside the SQL; nil when nothing.
	Hints *Hints
}

// Hints are what the caller tells of one execution beside its SQL.
type Hints struct {
	// Values are sharding values, at most one entry for a table.
	Values []HintValues
}

// HintValues are the sharding values of a logical table.
//
// A hint strategy takes its values from here and nowhere else: none means every
// target. On a standard or complex strategy they stand in for the conditions of
// a statement that reads; one that writes is refused when its own values lead
// elsewhere. A value for a complex strategy is a map[string]any from column to
// value.
type HintValues struct {
	// Logical is the table; empty for every table that has no entry of its own.
	Logical string
	// Database and Table hold the values for the two levels; empty means that
	// nothing is told of the level.
	Database, Table []any
	// Nodes are the indexes of the nodes that have the actual table the caller
	// names, in place of values for the table level; nil when none is named.
	Nodes []int
}
