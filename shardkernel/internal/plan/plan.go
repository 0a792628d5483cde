// Package plan holds what the planner hands to execution and merging: the units
// to send and how to make one answer of theirs.
package plan

import (
	"context"
	"time"
)

// Kind is the kind of a route.
type Kind string

// The kinds of routes.
const (
	KindPassThrough Kind = "pass-through" // no sharded or broadcast table: one data source, text untouched
	KindDirect      Kind = "direct"       // a hint says where the text goes, untouched
	KindStandard    Kind = "standard"     // one sharded table, or binding tables only
	KindCartesian   Kind = "cartesian"
	KindAllNodes    Kind = "all nodes"     // no sharding condition narrowed it
	KindBroadcast   Kind = "broadcast"     // a write to a broadcast table: every data source
	KindUnited      Kind = "united"        // all nodes in one data source, read by one statement as UNION ALL
	KindUnion       Kind = "union"         // the branches of a UNION, each routed by itself
	KindGathered    Kind = "gathered"      // one data source answers, and is given the rows of the others
	KindUnicast     Kind = "unicast"       // any one node will do
	KindSession     Kind = "session"       // transaction control and settings as text
	KindInstances   Kind = "all instances" // accounts and global variables: every server once
	KindBlocked     Kind = "blocked"       // not sent: USE of the logical schema
	KindBatch       Kind = "batch"         // several statements in one string
)

// Unit is one statement for one data source.
type Unit struct {
	DataSource string
	// Member is the replica that answers in the place of its data source; empty
	// where none does.
	Member string
	// Table is the actual table of the main logical table, for messages.
	Table string
	SQL   string
	// Called returns SQL with the names that the node has for the keys and
	// constraints which DDL drops, changes or renames; called gives them. It is nil
	// where the names are what they are in SQL.
	Called func(called func(name string, kind NameKind) string) string
	Args   []any
	// Prepare sends a read without arguments as one with arguments is sent, and one
	// with arguments as its driver sends what it has prepared. The two ways do not
	// show every value alike: MySQL writes a FLOAT with six digits where nothing is
	// bound.
	Prepare bool
	// Secret keeps the text, which may hold a password, out of traces.
	Secret bool
	// Shown is what traces show in the place of a text that holds rows; empty for
	// the text itself.
	Shown string
}

// NameKind is what DDL takes a name for.
type NameKind uint8

// The kinds of names.
const (
	NameKey        NameKind = iota // a key
	NameConstraint                 // a foreign key or CHECK
	NameAny                        // a foreign key, CHECK or unique key: DROP CONSTRAINT
)

// Server names whose connections the unit is sent over: a replica's or the data
// source's own.
func (u *Unit) Server() string {
	if u.Member != "" {
		return u.Member
	}
	return u.DataSource
}

// Session remembers which data sources were written to.
type Session interface {
	// Write notes a write that has come to its end, InDoubt one that has failed.
	Write(dataSource string)
	InDoubt(dataSource string)
	// Wrote reports whether reads of a data source are to see writes that a
	// replica may not have yet.
	Wrote(dataSource string) bool
	// Wait is how long such a read may wait for a replica; 0 lets it go to the
	// primary.
	Wait(dataSource string) time.Duration
	// Position returns the number of writes so far, and the position of the
	// replication that has them, empty while Locate was not told.
	Position(dataSource string) (at string, writes int)
	Locate(dataSource, at string, writes int)
	// Reached reports whether a replica has all writes, as Reach was told; Late notes
	// that they were waited for in vain.
	Reached(dataSource string, replica any) bool
	Reach(dataSource string, replica any, writes int)
	Late(dataSource string, writes int)
}

// Reads says which members of a data source may answer a read. It means nothing
// to one without replicas.
type Reads uint8

// The choices of Reads.
const (
	ReadsAsConfigured Reads = iota
	ReadsPrimary
	ReadsReplica
)

// Execution is a routed and rewritten statement.
type Execution struct {
	Kind   Kind
	Reason string
	Units  []Unit // grouped by data source in configured order; of a batch in text order
	Write  bool   // changes rows: several units run all or nothing
	Query  bool   // may return rows
	Reads  Reads  // what the caller hinted
	// Session, where it is not nil, is what the caller's context remembers of
	// writes.
	Session Session
	// Replica says that a replica of the data sources may answer: it is a read
	// that neither locks rows nor depends on a session.
	Replica bool
	DDL     bool // defines tables: every unit commits by itself
	Inquiry bool // asks about tables instead of rows, which no condition narrows
	// Touched are the columns, keys and constraints, in lower case, that a DDL
	// statement is about; none where it is about the whole table.
	Touched []string
	// Lenient is set where a node that is not as a DDL statement would make it may
	// pass over the statement without an error: IF NOT EXISTS, IF EXISTS.
	Lenient bool
	// Renames is set where a DDL statement renames columns.
	Renames bool
	// Trial returns, for a CREATE TABLE over several units, what a unit's statement is
	// for a table of another name; nil for all other statements.
	Trial func(unit int, table string) string
	// Constraints are the names of the foreign keys and CHECKs of such a statement.
	Constraints []string
	// InTurn runs the data sources one after the other, in one order for all
	// statements: of what locks rows, two statements must not take the locks in
	// different orders, since no server sees that each waits for the other.
	InTurn bool
	// Together says that one statement may give the rows of several units of a data
	// source, by UNION ALL.
	Together bool
	// United is the number of nodes that the one unit reads as one, of the table that
	// has most; 0 where each unit goes to one node.
	United int
	Merge  *Merge // nil when there is one unit
	// Gather is set where the one unit is given the rows of other data sources; nil
	// for all others.
	Gather *Gather
	// First is set where subqueries run before the statement; nil for all others.
	First *First
	// Clock lets all units read one clock: NOW() and its like, and columns that
	// default to it, give the same on every node. Now is that time, in seconds; if
	// empty it is the time of the first unit's data source.
	Clock bool
	Now   string
	// Numbering is how an INSERT into a broadcast table runs whose rows the first
	// data source numbers, in place of Units; nil for all other statements.
	Numbering *Numbering
	// LastInsertID answers an insert with generated keys, or over several units:
	// the first generated key, else the last explicit integer key, else 0.
	LastInsertID int64
	// Batch holds the statements of a batch; its units are theirs. Nil otherwise.
	Batch []*Execution
	// Trusted is true where the sharding values of models narrowed the nodes.
	Trusted bool
	// Rest says what the nodes are asked that Units leave out; RestNone for nearly
	// all statements. Part plans a part of it then, and Logical is the table.
	Rest    Rest
	Part    func(context.Context, Part) (*Execution, error)
	Logical string
	// Refusal is, for RestRefuse, the error of a write that would change a row.
	Refusal error
}

// MergeKind tells how the units' rows become one result.
type MergeKind uint8

// The merges of rows.
const (
	// MergeIterate gives the units' rows one unit after the other.
	MergeIterate MergeKind = iota
	// MergeOrdered gives them in the order of OrderBy; every unit's rows are in
	// that order already.
	MergeOrdered
	// MergeGroup groups by GroupBy (no keys: one group, also over no rows) and
	// combines Aggregates, then sorts by OrderBy.
	MergeGroup
	// MergeRows gives RETURNING rows in the order of the inserted rows, see
	// Merge.Rows.
	MergeRows
	// MergeUnion gives the rows of Branches one after the other, then in the order
	// of OrderBy.
	MergeUnion
)

// Merge is the recipe for one result out of several units' rows.
type Merge struct {
	Kind MergeKind
	// Derived is the number of derived columns at the end of every row, which
	// the caller must not see.
	Derived int
	OrderBy []SortKey
	GroupBy []GroupKey
	// Sorted, where it is not 0, is the number of first items of OrderBy that tell
	// the groups of MergeGroup apart. Every unit's groups are in that order, so that
	// one group at a time is enough to hold, if there is a cursor for each unit.
	Sorted int
	// Arrival, where it is not empty, is an order in which every unit's rows are, and
	// in which MergeGroup reads them, so that rows which are equal in it follow one
	// another. Without it the units are read one after the other.
	Arrival []SortKey
	// Aggregates tells how visible and derived columns of a group are combined.
	// Columns of a group that are not listed take the value of the group's
	// first row.
	Aggregates []Aggregate
	// Computed are the columns that are computed once a group's aggregates are
	// combined, in this order, and Having is then true for the groups that are
	// given; nil: for all.
	Computed []Computed
	Having   *Expr
	// Distinct, where it is not nil, then leaves equal rows out.
	Distinct *Distinct
	// Offset rows are skipped, then at most Count are given. HasLimit false:
	// all.
	HasLimit      bool
	Offset, Count uint64
	// Rows holds, for MergeRows, the positions in the original statement of the
	// rows each unit inserted.
	Rows [][]int
	// MaySkip is true, for MergeRows, where a unit may leave out rows that it
	// does not insert.
	MaySkip bool
	// Broadcast is true for a write to a broadcast table: counted once.
	Broadcast bool
	// Branches are, for MergeUnion, what becomes of the units, in their order; the
	// unit Header shows the columns of the result. Of the first DistinctBranches,
	// rows that are equal by GroupBy are given once.
	Branches         []UnionBranch
	Header           int
	DistinctBranches int
	// Extremes are the visible columns that are a MIN or MAX by themselves, see
	// value.WiderType.
	Extremes []int
	// Labels are the labels of the visible columns that the planner counts on; one
	// that is empty, or nil, says nothing.
	Labels []string
	// Names are the columns whose values are names that the caller knows
	// otherwise.
	Names []NameColumn
}

// UnionBranch is a number of units whose rows become those of one branch.
type UnionBranch struct {
	Units int
	Merge *Merge // nil: one unit's rows follow those of another
}

// NameColumn is a column that holds names of tables or schemas as the data sources
// have them, alone or in a text.
type NameColumn struct {
	Column ColumnRef // by Name: every column of that name, also none
	// Logical gives a value with the names of the logical schema.
	Logical func(value string) string
}

// ColumnRef finds a column in a result.
type ColumnRef struct {
	// Index counts from 0 from the left when FromEnd is false, and from 0 from
	// the right (0 is the last column, derived ones included) when it is true.
	Index   int
	FromEnd bool
	// Name, when not empty, is looked up among the visible column names without
	// regard to case; it must occur exactly once, else the statement fails.
	Name string
}

// TextOrder tells how a text column is ordered and compared.
type TextOrder struct {
	// Weight is the derived column with WEIGHT_STRING of the value; HasWeight
	// false means that text compares by its bytes (binary collations, SQLite).
	HasWeight bool
	Weight    ColumnRef
	// PadSpace is true for a PAD SPACE collation: the shorter weight is padded
	// with SpaceWeight. Without weights the bytes are padded with a space.
	PadSpace    bool
	SpaceWeight []byte
	// Limit, where it is not 0, is the number of bytes of a weight, or of a text
	// without weights, that the server certainly sorts by. A sort by a longer one
	// fails with ErrUnsupported.
	Limit int
	// Sorted is true where servers may group by sorting, which takes a text for
	// equal to that with U+0000 behind it, though a comparison does not.
	Sorted bool
	// Digits is true where a BIT comes as a number in decimal digits instead of bytes.
	Digits bool
	// Refuse, when not empty, is why text in this column cannot be compared:
	// the merge returns ErrUnsupported before any row if the column turns out
	// to hold text.
	Refuse string
}

// SortKey is one item of ORDER BY.
type SortKey struct {
	Column ColumnRef
	Desc   bool
	Text   TextOrder
}

// GroupKey is one item of GROUP BY.
type GroupKey struct {
	Column ColumnRef
	Text   TextOrder
}

// AggregateFunc is how a column of a group is combined.
type AggregateFunc uint8

// The aggregate functions.
const (
	AggregateCount AggregateFunc = iota // sum of the units' counts
	AggregateSum
	AggregateMin
	AggregateMax
	AggregateAvg // from the derived columns Count and Sum
	AggregateBitAnd
	AggregateBitOr
	AggregateBitXor
)

// Aggregate is the combination of one column.
type Aggregate struct {
	Func   AggregateFunc
	Column ColumnRef
	// Text is for MIN and MAX of text; its Weight column holds the weight of
	// the unit's MIN or MAX.
	Text TextOrder
	// Count and Sum are the derived columns of AVG.
	Count, Sum ColumnRef
	// Plain is true where the units' values come in the protocol of texts with nothing
	// bound, in which an integer without sign has another Go type.
	Plain bool
	// DivPrecision is the server's div_precision_increment, for AVG.
	DivPrecision int
	// Distinct is for aggregates of DISTINCT arguments: of a group's rows that are
	// equal in these keys one counts. Every row is then of one combination of them.
	Distinct []GroupKey
	// Adjacent is true where rows that are equal in Distinct follow one another, so
	// that the keys of one row are held; otherwise those of all are.
	Adjacent bool
}
