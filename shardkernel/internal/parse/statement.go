// Package parse turns SQL text into a Statement: what the statement is, which
// tables it names, what it says of their columns, and where in the text
// everything stands that may be rewritten. It knows no rules, no values and no
// connections.
package parse

import "github.com/gormshard/sharding/shardkernel/internal/plan"

// Kind is the verb of a statement.
type Kind uint8

// The kinds of statements.
const (
	KindOther Kind = iota // parsed, but none of those below
	KindSelect
	KindInsert
	KindReplace
	KindUpdate
	KindDelete
	KindDDL
)

// Span is a byte range of Statement.Text: [Start, End).
type Span struct{ Start, End int }

// Statement is one parsed statement. It is immutable and may be shared.
type Statement struct {
	Text string
	Kind Kind
	// Markers holds the byte offset of every parameter marker, in text order.
	Markers []int
	// Tables holds every reference to a base table, in text order. Derived
	// tables and references to common table expressions are not among them.
	Tables []TableRef
	// Renames holds the names that stand for a referenced base table: the
	// reference itself and every qualifier that resolves to it without an alias
	// between. In text order.
	Renames []Rename
	// Scopes holds the query blocks; 0 is the outermost.
	Scopes []Scope
	// Features is what occurs anywhere in the statement.
	Features Feature
	// Members are the columns that set operations behind IN, ANY and ALL give in one
	// place, each with that of the first branch; of NoTable where one is no column of
	// a table.
	Members []ColumnPair
	// RowPlaces holds what stands at each place of the rows of an IN list, such as the
	// two 1 and the two 2 of (a, b) IN ((1, 2), (1, 2)).
	RowPlaces [][]RowValue
	// Equated holds the constants of equalities that have or may have digits behind
	// the point.
	Equated []Equated
	// Linked are the columns, in lower case, that an equality may make equal to
	// something else than a constant, so that what is said of one is said of
	// others; "*" for any.
	Linked []string
	// CTEs are the names, in lower case, of common table expressions.
	CTEs []string
	// Aliases are the aliases, in lower case, of tables and derived tables in FROM.
	Aliases []string
	// Shown are the aliases of select lists, in lower case.
	Shown []string
	// Renamed are the columns, in lower case, in what select lists give another name;
	// "*" for any.
	Renamed []string
	// Extremes are the columns, in lower case, in the arguments of MIN and MAX.
	Extremes []string
	// Defaults are the columns, in lower case, whose default stands as a value,
	// DEFAULT(c), anywhere in the statement.
	Defaults []string
	// Wrapped holds the columns that stand inside a function or in arithmetic in
	// WHERE, and in ON where it holds for every row.
	Wrapped []Column
	// Subqueries are those in WHERE and HAVING of Select, in text order.
	Subqueries []Subquery

	Select *Select // outermost SELECT that is a single query block, else nil
	Union  *Union  // outermost UNION of query blocks, else nil
	Insert *Insert // INSERT and REPLACE
	Update *Update // UPDATE
	Delete *Delete // DELETE
	DDL    *DDL    // statements that define tables or views
}

// TableRef is one reference to a base table.
type TableRef struct {
	Name   string // as written, unquoted
	Schema string // as written, unquoted; empty when unqualified
	Alias  string // empty when there is none
	Scope  int    // index into Statement.Scopes
	// Target is true for the table an INSERT, UPDATE or DELETE writes.
	Target bool
	// Blind is true where the statement's own common table expressions are not seen: in
	// a definition by the WITH clause of a subquery or derived table.
	Blind bool
}

// Rename is one name in the text that follows the table it refers to.
type Rename struct {
	Span       // the name with its quotes, without a schema before it
	Quote byte // '`' or 0
	// Schema is the span of a schema qualifier with its dot, to be replaced or
	// removed with the name; empty when there is none.
	Schema Span
	Table  int // index into Statement.Tables
	// Qualifier is true before the name of a column or a star, and not for the
	// reference itself.
	Qualifier bool
	// Alias is true for the alias of the table, which stays; only the schema before
	// it is removed.
	Alias bool
}

// Scope is one query block, or the single block of an INSERT, UPDATE, DELETE.
type Scope struct {
	// Parent is the index of the enclosing block, of a common table expression
	// that is looked into that which names it; -1 for the outermost.
	Parent int
	Use    ScopeUse
	// Nullable is true for a block in FROM that is looked into and stands on a
	// nullable side of an outer join there.
	Nullable bool
	// Limit is true when LIMIT stands in the block, or behind the set operation
	// it is a branch of.
	Limit bool
	// Correlated is true when a qualifier in the block names a table of a block
	// around it.
	Correlated bool
	// Member holds, for a subquery of IN or = ANY, the columns of the block around
	// it, as A, that columns of the subquery's rows, as B, have to equal.
	// OnlyTrue tells that it stands where FALSE and NULL are the same.
	Member   []ColumnPair
	OnlyTrue bool
	// Aggregated holds the unqualified names, in lower case, in aggregate functions
	// of a subquery. One that belongs to an enclosing block would make the
	// aggregate that block's.
	Aggregated []string
	// Labelled holds the texts of the select list that label columns: items that
	// are neither columns nor have an alias.
	Labelled []Span
	// Where is what every row of the block fulfils: WHERE and the ON conditions
	// of inner joins that stand on no nullable side of an outer join, joined by
	// AND. Nil when there is nothing.
	Where *Cond
	// Equal holds the column equalities that stand as AND terms of WHERE, as in
	// FROM a, b WHERE a.k = b.k. Those of ON and USING are with their joins.
	Equal []ColumnPair
	// Joins holds the joins of the block's FROM in text order. It is empty for
	// one table.
	Joins []Join
	// Merged is true when NATURAL or USING makes one column of two.
	Merged bool
	// Derived is true when FROM holds a derived table or a reference to a
	// common table expression.
	Derived bool
	// Sources counts the table sources of FROM: base tables, derived tables,
	// CTE references.
	Sources int
}

// JoinKind is the kind of a Join.
type JoinKind uint8

// The kinds of joins. A right join is reported as JoinLeft with sides swapped.
const (
	JoinInner JoinKind = iota // inner, cross, comma, STRAIGHT_JOIN
	JoinLeft
	JoinNatural // any natural join
)

// Join is one join of a FROM clause.
type Join struct {
	Kind JoinKind
	// Left and Right hold the indexes into Statement.Tables of the base tables
	// below each side; for JoinLeft Left is the preserved side.
	Left, Right []int
	// Equal holds the column equalities that stand as AND terms of ON, or come
	// from USING.
	Equal []ColumnPair
}

// RowValue is a value in a row: a constant, a column, or what is neither.
type RowValue struct {
	Operand
	Column Column // of NoTable for what is none
}

// ColumnPair is the equality of two columns.
type ColumnPair struct{ A, B Column }

// Column is a column reference, resolved as far as the text allows.
type Column struct {
	// Table is the index into Statement.Tables, or AnyTable for an unqualified
	// name in a block with several table sources, or NoTable when the name
	// belongs to a derived table, a CTE or an enclosing block.
	Table int
	Name  string // lower case, unquoted
}

// Special values of Column.Table.
const (
	AnyTable = -1
	NoTable  = -2
)

// Feature is a set of things that occur in a statement.
type Feature uint32

// The features.
const (
	FeatureSubquery        Feature = 1 << iota // any subquery outside FROM
	FeatureDerived                             // a derived table
	FeatureCTE                                 // WITH
	FeatureUnion                               // UNION, INTERSECT, EXCEPT
	FeatureWindow                              // a window function
	FeatureLocking                             // FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE
	FeatureInto                                // INTO OUTFILE, INTO @v
	FeatureUserVariable                        // @v read or set
	FeatureSystemVariable                      // @@v
	FeatureFoundRows                           // SQL_CALC_FOUND_ROWS, FOUND_ROWS(), ROW_COUNT()
	FeatureLastInsertID                        // LAST_INSERT_ID()
	FeatureNow                                 // NOW() and the other clock functions that SET timestamp holds
	FeatureVolatile                            // SYSDATE(), RAND(n), SLEEP(), CONNECTION_ID() and others that differ between nodes
	FeatureLock                                // GET_LOCK() and its kin
	FeaturePartition                           // PARTITION (p0)
	FeatureSchemaName                          // DATABASE(), SCHEMA()
	FeatureIndexHint                           // USE, FORCE, IGNORE INDEX
	FeatureRoutine                             // a function of the user's, or another one that may do more than give a value
	FeatureStar                                // * or t.* in a select list, or columns that a natural join finds
	FeatureMatch                               // MATCH … AGAINST
	FeatureSkipLocked                          // FOR UPDATE SKIP LOCKED, FOR SHARE SKIP LOCKED
	FeatureRowNumber                           // ROWNUM()
	FeatureRelevance                           // MATCH … AGAINST whose value weighs words, or counts otherwise than as a condition
	FeatureOtherAggregate                      // an aggregate function that the parser takes for another
	FeatureOuterAggregate                      // an aggregate function in a subquery over columns of the block around it
	FeatureRandom                              // UUID(), RAND(): another value for every row, whatever the node
	FeatureNestedCTE                           // WITH that defines a name which a WITH around it defines too
	FeatureAggregateMember                     // an aggregate function beside IN, ANY or ALL of a subquery
)

// CondOp is the operator of a Cond.
type CondOp uint8

// The operators. A condition is in negation normal form: NOT has been pushed
// down by three-valued logic, and what is not listed here is CondOpen.
const (
	CondOpen CondOp = iota // nothing is known of the rows: never narrows
	CondAnd
	CondOr
	CondCompare // Column Compare Values[0]
	CondIn      // Column IN Values
	CondBetween // Column BETWEEN Values[0] AND Values[1]
	CondIsNull  // Column IS NULL, Column <=> NULL
	CondTupleIn // (Columns...) IN (Tuples...)
	CondFalse   // a literal that is false or NULL: no row
)

// Compare is a comparison operator, the column being on its left.
type Compare uint8

// The comparisons. Others (such as <>) are CondOpen.
const (
	Equal Compare = iota // = and <=> with a value that is not NULL
	Less
	LessEqual
	Greater
	GreaterEqual
	NullSafe // <=> with a value that may be NULL
)

// Cond is a node of a condition tree.
type Cond struct {
	Op      CondOp
	Kids    []*Cond // CondAnd, CondOr
	Column  Column
	Columns []Column // CondTupleIn
	Compare Compare
	Values  []Operand
	Tuples  [][]Operand // CondTupleIn; also gives the elements' spans through Spans
	// List is the span between the parentheses of an IN list, and Spans the
	// span of every element, for CondIn and CondTupleIn; Spans is nil when the
	// list cannot be split. Top is true when the list stands as an AND term of
	// WHERE in the outermost block, so that it may be split.
	List  Span
	Spans []Span
	Top   bool
}

// Operand is the constant side of a condition, a value of an INSERT row or of a
// SET: a literal, a parameter marker, or something unknown.
type Operand struct {
	Kind OperandKind
	// Param is the ordinal of the marker, counted from 0 over the statement.
	Param int
	// Literal is nil (NULL), int64, uint64, float64, bool, string, []byte (hex
	// and bit literals) or Decimal.
	Literal any
	// Expr is set for OperandExpr.
	Expr *Expr
	Span Span
}

// OperandKind tells what an Operand is.
type OperandKind uint8

// The kinds of operands.
const (
	OperandUnknown OperandKind = iota // an expression that is not evaluated
	OperandLiteral
	OperandParam
	OperandDefault // DEFAULT in an INSERT row
	OperandNow     // NOW(), CURRENT_TIMESTAMP and synonyms; Param is the number of fractional digits
	OperandExpr    // an operation on constants, to be computed with the arguments
)

// Decimal is a decimal literal as typed, such as 1.50.
type Decimal string

// Select is the outermost query block of a SELECT.
type Select struct {
	// Start is the byte offset of SELECT, and From what stands behind FROM, empty
	// without.
	Start    int
	From     Span
	Distinct bool
	// Alike is true where all rows are the same, since no item is over a column.
	Alike bool
	Items []Item
	// ItemsEnd is the byte offset behind the last item, where derived columns go.
	ItemsEnd int
	GroupBy  []ByItem
	// GroupBySpan reaches from GROUP to the end of its last item; empty without.
	GroupBySpan Span
	Rollup      bool
	Having      Span // from HAVING to its end; empty without
	// HavingExpr is the condition of HAVING, nil without one and where it is not
	// understood.
	HavingExpr *Computed
	// HavingAggregate is true when an aggregate function stands in HAVING.
	HavingAggregate bool
	OrderBy         []ByItem
	OrderBySpan     Span // from ORDER to the end of its last item; empty without
	Limit           *Limit
	// TailStart is the byte offset where ORDER BY would be inserted if there is
	// none: behind WHERE, GROUP BY and HAVING, before LIMIT, FOR and what
	// follows.
	TailStart int
}

// HasAggregate reports whether an aggregate function stands in the select list,
// in HAVING or in ORDER BY of the block.
func (s *Select) HasAggregate() bool {
	for i := range s.Items {
		if s.Items[i].HasAggregate {
			return true
		}
	}
	for i := range s.OrderBy {
		if s.OrderBy[i].HasAggregate {
			return true
		}
	}
	return s.HavingAggregate
}

// Item is one item of a select list.
type Item struct {
	Span          // the whole item with its alias
	Expr   Span   // the expression alone
	Star   bool   // * or t.*
	StarOf string // the qualifier of t.*
	Alias  string // empty when there is none
	Label  string // the column's label: the alias, the column's name, or the text as typed
	Column *Column
	// Aggregate is set when the whole expression is one aggregate call.
	Aggregate    *Aggregate
	HasAggregate bool // an aggregate stands somewhere in the expression
	// Computed is the expression over aggregates that the item is, nil for others
	// and where it is not understood.
	Computed *Computed
	Constant bool // made of literals, or one parameter
}

// Aggregate is a call of an aggregate function.
type Aggregate struct {
	Func     string // upper case: COUNT, SUM, AVG, MIN, MAX, GROUP_CONCAT, …
	Distinct bool
	Star     bool    // COUNT(*), or COUNT of a literal that is not NULL
	Arg      Span    // the text of the argument list
	Args     int     // number of arguments
	Column   *Column // the argument when it is one column
	// Each holds the arguments of COUNT(DISTINCT), and of any with one argument.
	Each []Argument
}

// Argument is one argument of an aggregate.
type Argument struct {
	Span
	Column *Column // nil for any other expression
}

// Computed is an expression over aggregates, or a part of one. Its leaves are
// aggregates, columns, items of the select list and constants.
type Computed struct {
	Op   plan.Op // OpColumn for all leaves but constants
	Kids []*Computed
	Span Span // of an aggregate or a column
	// One of these is set for OpColumn: Item is the index of a select item that is
	// meant by its alias, -1 for none.
	Aggregate *Aggregate
	Column    *Column
	Item      int
	Constant  Operand // OpConstant
}

// ByItem is one item of GROUP BY or ORDER BY.
type ByItem struct {
	Span // the expression, without ASC or DESC
	Desc bool
	// Item is the index of the select item it stands for (by position, by
	// alias, by the same column or the same expression text), or -1. Positions
	// that lie behind a * are resolved only through Position.
	Item int
	// ByAlias is true when Item was found by its alias alone. In GROUP BY a
	// column of that name in one of the block's tables would win over the alias.
	ByAlias bool
	// Position is the 1-based position when the item is an integer literal.
	Position     int
	Column       *Column
	Aggregate    *Aggregate
	HasAggregate bool
	Computed     *Computed // as Item.Computed
	Constant     bool      // an expression without columns that is no position
}

// Limit is a LIMIT clause.
type Limit struct {
	Span
	Count  Operand
	Offset Operand // Kind OperandUnknown and an empty Span when there is none
	// Ties is true for FETCH FIRST n ROWS WITH TIES, whose counts are not read.
	Ties bool
}

// Insert is the body of an INSERT or REPLACE.
type Insert struct {
	Columns []string // lower case, unquoted; nil without a column list
	// ColumnsEnd is the offset of the closing parenthesis of the column list, -1
	// without a list.
	ColumnsEnd int
	// Rows holds the VALUES rows; for INSERT … SET one row without spans.
	Rows []Row
	// RowsSpan reaches from the first row's parenthesis to the last row's.
	RowsSpan Span
	Set      bool // INSERT … SET
	// SetEnd is the offset behind the last assignment of INSERT … SET.
	SetEnd int
	Select bool // INSERT … SELECT
	// From is the SELECT of INSERT … SELECT, nil when it is no single query block.
	From     *InsertSelect
	Ignore   bool
	OnDup    []Assignment // ON DUPLICATE KEY UPDATE or ON CONFLICT … DO UPDATE SET
	Conflict bool         // an ON CONFLICT clause, whatever it does
	// End is the offset behind the statement, where RETURNING, or a further member
	// of its list, would go.
	End       int
	Returning bool
}

// Row is one row of VALUES.
type Row struct {
	Span   // with its parentheses
	Values []Operand
}

// Assignment is column = value in SET or ON DUPLICATE KEY UPDATE.
type Assignment struct {
	Column Column
	Value  Operand
	// Self is true when the value is the column itself.
	Self bool
	// Inserted is the lower-case name of the column c when the value is
	// VALUES(c), new.c for a row alias, or excluded.c.
	Inserted string
}

// Update is the body of an UPDATE.
type Update struct {
	Set       []Assignment
	Where     Span // from WHERE to its end; empty without, and where something follows it
	Multi     bool // several tables
	Ignore    bool
	OrderBy   bool
	Limit     bool
	Returning bool
}

// Delete is the body of a DELETE.
type Delete struct {
	Multi     bool
	OrderBy   bool
	Limit     bool
	Returning bool
}

// Names tells which identifiers are worth finding: the logical tables that are
// sharded, broadcast or placed by name.
type Names interface {
	// IsTable reports whether name, as written and unquoted, may be a
	// configured table.
	IsTable(name string) bool
}
