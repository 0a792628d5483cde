// Package value brings the values of a statement to the type of the column they
// are compared with or stored in, by the rules of the database.
package value

import (
	"regexp"
	"strings"
)

// Class is the family of a column's type.
type Class uint8

// The classes.
const (
	ClassUnknown Class = iota
	ClassInteger
	ClassDecimal
	ClassFloat
	ClassText   // char, varchar, text of any length
	ClassBinary // binary, varbinary, blob
	ClassDate
	ClassDateTime
	ClassTimestamp
	ClassTime
	ClassYear
	ClassEnum
	ClassSet
	ClassBit
	ClassOther // JSON, GEOMETRY, UUID, INET6 and whatever else
)

// Column is what the metadata knows of a column.
type Column struct {
	Name      string // lower case
	Type      string // as the server prints it, such as bigint(20) unsigned
	Class     Class
	Bits      int // of an integer: 8, 16, 24, 32, 64
	Unsigned  bool
	Scale     int // decimals of DECIMAL, fractional second digits of temporal types
	Precision int // digits of DECIMAL, those behind the point included; 0 when unknown
	Length    int // characters of text, bytes of binary and of the TEXT types; 0 when unlimited
	Collation string
	// PadSpace is true for a text column whose collation pads with spaces.
	PadSpace bool
	// SpaceWeight is the weight of a space in Collation, for PadSpace columns.
	SpaceWeight []byte
	// WeightRefused, when not empty, is why the column's collation cannot be
	// compared by WEIGHT_STRING.
	WeightRefused string
	// SortRefused, when not empty, is why a server sorts the texts otherwise than
	// it compares them. It is set for expressions alone.
	SortRefused string
	// WeightLimit is, where a weight of the column may be longer, the number of
	// bytes of it that the server sorts by; 0 when every weight fits.
	WeightLimit int
	// Flexible is true where the database keeps a value of another type in the
	// column as it is (SQLite).
	Flexible      bool
	Nullable      bool
	Primary       bool // a column of the primary key
	AutoIncrement bool
	// Unique is true for a column of a primary or unique key, and where that
	// cannot be told.
	Unique bool
	// Unindexed is true for a column that is surely in no key.
	Unindexed bool
	Generated bool
	// Invisible is true for a column that * and an INSERT without column list
	// leave out.
	Invisible bool
	// Clocked is true for a column that takes the time of the statement where it
	// is given none: DEFAULT or ON UPDATE CURRENT_TIMESTAMP.
	Clocked bool
	// OnUpdate is true for a column that takes that time in every row that is
	// changed.
	OnUpdate bool
	// Random is true for a column whose default differs at every evaluation.
	Random bool
}

// Unbounded reports whether the column is of one of the TEXT and BLOB types.
func (c *Column) Unbounded() bool {
	return strings.HasSuffix(c.Type, "text") || strings.HasSuffix(c.Type, "blob")
}

// SurvivesUnion reports whether the column is of the same type in the result of
// a UNION ALL of tables that have it alike. Servers make texts of ENUM and SET,
// which have another order then, and forget ZEROFILL, and UNSIGNED of FLOAT and
// DOUBLE. Measured on MariaDB 10.11.
func (c *Column) SurvivesUnion() bool {
	return c.Class != ClassEnum && c.Class != ClassSet && c.Class != ClassUnknown && !strings.Contains(c.Type, "zerofill") &&
		(c.Class != ClassFloat || !strings.Contains(c.Type, "unsigned"))
}

// Filled reports whether the column is a DECIMAL with ZEROFILL, whose values are texts
// that begin with zeros. Drivers give the other numbers without.
func (c *Column) Filled() bool {
	return c.Class == ClassDecimal && strings.Contains(c.Type, "zerofill")
}

// MixesInSort reports whether a sort may take for equal what a comparison tells apart:
// texts of a NO PAD collation that differ in U+0000 at their end alone, and texts that
// are grouped by and may be longer than the server sorts by. Groups that a server finds
// by sorting then depend on the order in which it reads the rows, as it does for
// aggregates of DISTINCT values. Whether U+0000 counts in ORDER BY depends on the form
// of the sort's keys, and so on its plan. Measured on MariaDB 10.11. text is a statement
// in lower case, in which one word too many is found, if any.
func (c *Column) MixesInSort(text string) bool {
	holds := func(word string) bool { return strings.Contains(text, word) }
	if c.EndsOpen() && ordered.MatchString(text) && (holds(strings.ToLower(c.Name)) || position.MatchString(text)) {
		return true
	}
	if !holds("over") && !(holds("group by") && (holds("distinct") || holds("concat") || holds("rollup") || holds("agg"))) {
		return false
	}
	if c.EndsOpen() {
		return true
	}
	_, groups, _ := strings.Cut(text, " by") // of GROUP BY, PARTITION BY or something before them
	return c.WeightLimit > 0 && strings.Contains(groups, strings.ToLower(c.Name))
}

// ordered finds ORDER BY, and position an item of it that may be the place of a column
// that * stands for.
var (
	ordered  = regexp.MustCompile(`\border\b`)
	position = regexp.MustCompile(`(by|,)\s*[0-9]+\s*(asc|desc|,|\)|limit|offset|fetch|for|lock|$)`)
)

// EndsOpen reports whether the column's texts are of a NO PAD collation.
func (c *Column) EndsOpen() bool {
	return c.Class == ClassText && strings.Contains(c.Collation, "_nopad_")
}

// Binary reports whether text in the column compares by its bytes.
func (c *Column) Binary() bool {
	return c.Class == ClassBinary || c.Class == ClassText && !c.PadSpace && (c.Collation == "binary" || c.Collation == "")
}

// Table is what the metadata knows of a table. It is immutable.
type Table struct {
	Columns []Column
	// Key holds the names of the columns of the primary key, in the order of the
	// table's columns; none where there is no key, or it is not known.
	Key    []string
	byName map[string]int
}

// NewTable returns a Table of the columns, in their order.
func NewTable(columns []Column) *Table {
	t := &Table{Columns: columns, byName: make(map[string]int, len(columns))}
	for i := range columns {
		t.byName[columns[i].Name] = i
		if columns[i].Primary {
			t.Key = append(t.Key, columns[i].Name)
		}
	}
	return t
}

// Column returns the column of a lower-case name. A nil Table knows none.
func (t *Table) Column(name string) (*Column, bool) {
	if t == nil {
		return nil, false
	}
	i, ok := t.byName[name]
	if !ok {
		return nil, false
	}
	return &t.Columns[i], true
}

// ClassOf returns the class of a data type of MySQL, in lower case, and the bits of
// an integer.
func ClassOf(dataType string) (class Class, bits int) {
	switch dataType {
	case "tinyint":
		return ClassInteger, 8
	case "smallint":
		return ClassInteger, 16
	case "mediumint":
		return ClassInteger, 24
	case "int":
		return ClassInteger, 32
	case "bigint":
		return ClassInteger, 64
	case "decimal":
		return ClassDecimal, 0
	case "float", "double":
		return ClassFloat, 0
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext":
		return ClassText, 0
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		return ClassBinary, 0
	case "date":
		return ClassDate, 0
	case "datetime":
		return ClassDateTime, 0
	case "timestamp":
		return ClassTimestamp, 0
	case "time":
		return ClassTime, 0
	case "year":
		return ClassYear, 0
	case "enum":
		return ClassEnum, 0
	case "set":
		return ClassSet, 0
	case "bit":
		return ClassBit, 0
	}
	return ClassOther, 0
}
