package route

import (
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// Meta gives what the metadata knows of a logical table's columns, and nil when
// it knows nothing.
type Meta func(logical string) *value.Table

// table returns what is known of a table, nil when nothing is.
func (m Meta) table(logical string) *value.Table {
	if m == nil {
		return nil
	}
	return m(logical)
}

// column returns what is known of a column, nil when nothing is.
func (m Meta) column(logical, name string) *value.Column {
	if m == nil {
		return nil
	}
	c, ok := m(logical).Column(name)
	if !ok {
		return nil
	}
	return c
}

// Result tells to which nodes one execution of a statement goes. It is
// immutable and may be shared between executions.
type Result struct {
	Kind   plan.Kind
	Reason string // a sentence for people
	Units  []Unit // grouped by data source in configured order, then in node order
	// Broadcast is true for a write to a broadcast table, which is counted once.
	Broadcast bool
	// KeyRows are the rows of an INSERT whose key is to be generated. While Keys
	// is empty the result has no units: make one key a row with KeyTable's
	// generator and route again with them.
	KeyRows  []int
	KeyTable *rule.Table
	Keys     []any // the generated keys, one for each of KeyRows
	// Owners are, where the generator needs them, the values of its owner column,
	// one for each of KeyRows.
	Owners []algorithm.Value
	// KeyColumn is the column that Keys are for.
	KeyColumn string
	// KeyPosition is where the key stands in a row; -1: the column is to be added.
	KeyPosition int
	// LastKey is, for an INSERT over several units without generated keys, the
	// last integer it gives for the column that numbers the rows; 0 without one.
	LastKey int64
	// Numbered is true for an INSERT into a broadcast table whose KeyRows get
	// their number from the first data source, and the others that one.
	Numbered bool
	// NeedsNow is true for a result without units that depends on the time of the
	// statement: route again with Input.Now.
	NeedsNow bool
	// NowKeys are the calls of NOW() that rows were routed by.
	NowKeys []NowKey
	// Rest says what the other nodes are asked.
	Rest plan.Rest
	// Trusted is true where the sharding values of models narrowed the nodes.
	Trusted bool
	// Refusal is the error of a write that would change a row, and makes the units
	// the question whether it would; nil for all others.
	Refusal error
	// Probe makes the units questions for rows by primary key, in place of the
	// statement; nil for the statement itself.
	Probe *Probe
}

// NeedsKeys reports whether the statement must be routed again with generated
// keys.
func (r *Result) NeedsKeys() bool { return len(r.KeyRows) > 0 && len(r.Keys) == 0 && !r.Numbered }

// Unit is one statement for one data source.
type Unit struct {
	DataSource string
	Order      int // of the data source in the configuration
	// Node is the index of the node of the first sharded reference, -1 when the
	// statement names none.
	Node int
	// Names holds the actual table for every entry of Statement.Tables; "" leaves
	// the name as it is.
	Names []string
	// Unions holds, for every entry of Statement.Tables, the tables that stand in
	// its place as one; nil where there are none.
	Unions []Union
	// Rows are the positions of the rows of an INSERT that belong to the unit,
	// ascending; nil means all.
	Rows []int
	// Lists are the IN lists that the unit gets in part.
	Lists []List
}

// Union is the UNION ALL of actual tables in the place of a logical one. The zero
// value is none.
type Union struct {
	Tables  []string
	Columns []string // in the order of the table
}

// List is the part of an IN list that a unit gets.
type List struct {
	Cond *parse.Cond
	Keep []int // positions of elements, ascending, never empty
}

// oneUnit is a result with its single unit in one piece of memory.
type oneUnit struct {
	Result
	unit  [1]Unit
	names [2]string
}

// newOneUnit returns a result of one unit that has room for the names of
// tables references.
func newOneUnit(tables int) *oneUnit {
	r := new(oneUnit)
	r.Units = r.unit[:]
	u := &r.unit[0]
	u.Node = -1
	if tables <= len(r.names) {
		u.Names = r.names[:tables:tables]
	} else {
		u.Names = make([]string, tables)
	}
	return r
}
