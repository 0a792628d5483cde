package rewrite

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// carried is how the values of a column travel as elements of a JSON array. Every
// one of them comes out as it was: measured on MariaDB 10.11 for the limits of all
// types.
type carried struct {
	written string // the element, an expression over the column
	typ     string // of the column of JSON_TABLE that reads it
	given   string // the value again, an expression over j and the column's name
	doubt   string // true for a row in which the value would not come out; "" for none
	// wider is true for a row whose value the column could not hold as it is known:
	// it has been altered; "" where every value fits.
	wider string
	// borrowed is true where typ is not the column's type, which JSON_TABLE has not:
	// a table itself lends it, see newCarriage.
	borrowed bool
}

// carry returns how a column travels; ok is false for what would come out as
// something else. text is the statement in lower case.
func carry(c *value.Column, text string) (how carried, ok bool) {
	how, ok = carryAs(c, text)
	if other := otherClass(c, quote(c.Name, '`')); other != "" && how.wider != "" {
		how.wider = other + " OR " + how.wider
	} else if other != "" {
		how.wider = other
	}
	return how, ok
}

// otherClass is true for a value of a column that is of another class than the
// column as it is known: a node may have been altered before others, or all of them
// since the columns were read, and a text would travel as the number 0. Servers say
// binary of the character set of what is no text.
func otherClass(c *value.Column, name string) string {
	noText := "CHARSET(" + name + ")<>'binary'"
	switch c.Class {
	case value.ClassInteger:
		return noText + " OR " + name + "%1<>0"
	case value.ClassDate:
		return noText + " OR " + name + "<>CAST(" + name + " AS DATE)"
	case value.ClassFloat, value.ClassDecimal, value.ClassTime, value.ClassYear, value.ClassDateTime, value.ClassTimestamp, value.ClassBit:
		return noText
	case value.ClassEnum, value.ClassSet:
		return name + "+0=0 AND " + name + "<>''"
	case value.ClassText:
		return "CHARSET(" + name + ")='binary'"
	}
	return ""
}

func carryAs(c *value.Column, text string) (how carried, ok bool) {
	name := quote(c.Name, '`')
	how = carried{written: name, typ: c.Type, given: "j." + name}
	switch c.Class {
	case value.ClassInteger:
		how.written += "+0" // ZEROFILL is no JSON
		how.wider = widerInteger(c, name)
	case value.ClassFloat:
		// In the digits of a DOUBLE, which tell every FLOAT. -0 loses its sign.
		how.written += "+0e0"
		how.doubt = name + "=0 AND LEFT(" + name + ",1)='-'"
	case value.ClassDecimal:
		how.written = "CAST(" + name + " AS CHAR)"
		how.wider = fmt.Sprintf("%s<>CAST(%s AS DECIMAL(%d,%d))", name, name, c.Precision, c.Scale)
	case value.ClassTime, value.ClassYear:
		how.written = "CAST(" + name + " AS CHAR)"
		how.wider = widerMoment(c, name)
	case value.ClassDate, value.ClassDateTime:
		how.written = "CAST(" + name + " AS CHAR)"
		if !c.Nullable && (strings.Contains(text, "null") || strings.Contains(text, "<=>")) {
			how.doubt = name + "=0" // which IS NULL finds, where the column is NOT NULL
		}
		how.wider = widerMoment(c, name)
	case value.ClassTimestamp:
		how.written = "CAST(" + name + " AS CHAR)"
		// Where clocks are put back, one time is two instants.
		how.doubt = "UNIX_TIMESTAMP(CAST(" + name + " AS DATETIME(6)))<>UNIX_TIMESTAMP(" + name + ")"
		how.wider = widerMoment(c, name)
	case value.ClassText:
		return carryText(c, name, text)
	case value.ClassBinary:
		how = carryBinary(c, name, text)
	case value.ClassEnum, value.ClassSet, value.ClassBit:
		// By the number, which also tells the value that an ENUM has for errors.
		how.written += "+0"
		how.typ, how.borrowed = "bigint unsigned", true
	case value.ClassOther:
		return carryOther(c, name)
	default:
		return how, false
	}
	return how, how.borrowed || c.Class == value.ClassBinary || plainType.MatchString(c.Type)
}

// widerInteger is carried.wider of an integer.
func widerInteger(c *value.Column, name string) string {
	switch {
	case c.Bits >= 64:
		return ""
	case c.Unsigned:
		return fmt.Sprintf("%s>%d", name, int64(1)<<c.Bits-1)
	}
	half := int64(1) << (c.Bits - 1)
	return fmt.Sprintf("%s NOT BETWEEN %d AND %d", name, -half, half-1)
}

// widerMoment is carried.wider of a type with fractions of a second.
func widerMoment(c *value.Column, name string) string {
	if c.Scale >= 6 || c.Class == value.ClassDate || c.Class == value.ClassYear {
		return ""
	}
	return fmt.Sprintf("MICROSECOND(%s)%%%d<>0", name, [...]int{1000000, 100000, 10000, 1000, 100, 10}[c.Scale])
}

// carryBinary returns how a BINARY, VARBINARY or BLOB travels.
func carryBinary(c *value.Column, name, text string) carried {
	how := carryBytes(name)
	if !c.Unbounded() {
		how.typ = fmt.Sprintf("varchar(%d) CHARACTER SET ascii", max(2*c.Length, 1))
		how.wider = fmt.Sprintf("LENGTH(%s)>%d", name, c.Length)
	}
	if c.MixesInSort(text) {
		how.doubt += fmt.Sprintf(" OR LENGTH(%s)>%d", name, c.WeightLimit)
	}
	return how
}

// carryBytes returns how bytes travel, in hexadecimal digits. They are read as a
// MEDIUMTEXT, since the length of UNHEX of a LONGTEXT overflows to 0 in a table of
// its results. HEX of what is longer than max_allowed_packet is NULL. Without CAST
// the bytes would be coercible, so that beside a text they would be compared as one.
func carryBytes(name string) carried {
	return carried{
		written: "HEX(" + name + ")", typ: "mediumtext CHARACTER SET ascii", given: "CAST(UNHEX(j." + name + ") AS BINARY)",
		doubt: "2*LENGTH(" + name + ")>LEAST(@@max_allowed_packet, 16777215)",
	}
}

func carryText(c *value.Column, name, text string) (how carried, ok bool) {
	charset, _, _ := strings.Cut(c.Collation, "_")
	if !slices.Contains(carriedCharsets, charset) {
		return how, false
	}
	how = carried{written: "CONCAT(CONVERT(" + name + " USING utf8mb4),'')", typ: c.Type, given: "j." + name}
	if c.Unbounded() {
		how.typ = "longtext"
	} else {
		how.wider = fmt.Sprintf("CHAR_LENGTH(%s)>%d", name, c.Length)
	}
	how.typ += " CHARACTER SET " + charset + " COLLATE " + c.Collation
	if c.MixesInSort(text) { // and the order of rows is another one
		var doubts []string
		if c.EndsOpen() {
			doubts = append(doubts, "ORD(RIGHT("+name+",1))=0 AND "+name+"<>''")
		}
		if c.WeightLimit > 0 {
			doubts = append(doubts, fmt.Sprintf("LENGTH(WEIGHT_STRING(%s))>%d", name, c.WeightLimit))
		}
		how.doubt = strings.Join(doubts, " OR ")
	}
	// MariaDB's JSON is a LONGTEXT, which functions of JSON treat otherwise.
	how.borrowed = c.Type == "longtext" && c.Collation == "utf8mb4_bin" && strings.Contains(text, "json")
	return how, plainType.MatchString(c.Type)
}

// carryOther returns how a column of a type without a class travels.
func carryOther(c *value.Column, name string) (how carried, ok bool) {
	switch c.Type {
	case "uuid", "inet4", "inet6":
		how = carried{written: "CAST(" + name + " AS CHAR)", typ: "varchar(64) CHARACTER SET ascii", given: "j." + name}
	case "json":
		how = carried{written: "CAST(" + name + " AS CHAR)", typ: "longtext CHARACTER SET utf8mb4", given: "j." + name}
	case "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection":
		how = carryBytes(name) // with the SRID before it
	default:
		return how, false
	}
	how.borrowed = true
	return how, true
}

// carriedCharsets are those of which every character is one of Unicode and back.
var carriedCharsets = []string{"utf8mb4", "utf8mb3", "utf8", "latin1", "ascii", "ucs2", "utf16", "utf16le", "utf32"}

// plainType is a type as servers print it, without attributes that are not known.
var plainType = regexp.MustCompile(`^[a-z]+(\(\d+(,\d+)?\))?( unsigned)?( zerofill)?$`)

// carriage is how the rows of a table travel.
type carriage struct {
	row    string // the expression of a row
	tables string // the common table expressions that make the table of the rows again
	// recursive is true where they need WITH RECURSIVE.
	recursive bool
}

// allRows is the LIMIT that cuts nothing off. It makes a common table expression a
// table of its own, which a join can be given a key for.
const allRows = " LIMIT 18446744073709551615"

// newCarriage returns how the rows with some columns travel to where they are a
// table of a name, and lender is an actual table with the same columns.
//
// A table with columns of types that JSON_TABLE has not, such as ENUM, is made by
// a recursive common table expression, whose columns have the types of its first
// rows: here one of the lender without a value. The rows are its one next step.
func newCarriage(name, lender string, columns []*value.Column, text string) (c carriage, ok bool) {
	name = quote(name, '`')
	if len(columns) == 0 { // the number of rows counts
		return carriage{row: "'[]'", tables: name + " AS (SELECT j.n FROM JSON_TABLE(?, '$[*]' COLUMNS (n FOR ORDINALITY)) AS j" + allRows + ")"}, true
	}
	var written, doubts, names, given, lent, read []string
	again := typedAgain{}
	for i, column := range columns {
		how, ok := carry(column, text)
		if !ok {
			return c, false
		}
		quoted := quote(column.Name, '`')
		written = append(written, how.written)
		names = append(names, "s."+quoted)
		if !how.borrowed && !column.SurvivesUnion() {
			names[i] = again.add(quoted, how)
		}
		given = append(given, how.given+" AS "+quoted)
		lent = append(lent, "t."+quoted)
		read = append(read, fmt.Sprintf("%s %s PATH '$[%d]' ERROR ON ERROR", quoted, how.typ, i))
		typed := strings.NewReplacer("'", "''", `\`, `\\`).Replace(column.Name)
		if how.doubt != "" {
			doubts = append(doubts, " WHEN "+how.doubt+" THEN '="+typed+"'")
		}
		if how.wider != "" {
			doubts = append(doubts, " WHEN "+how.wider+" THEN '>"+typed+"'")
		}
		c.recursive = c.recursive || how.borrowed
	}
	c.row = "JSON_ARRAY(" + strings.Join(written, ", ") + ")"
	if len(doubts) > 0 {
		c.row = "CASE" + strings.Join(doubts, "") + " ELSE " + c.row + " END"
	}
	rows := "JSON_TABLE(?, '$[*]' COLUMNS (" + strings.Join(read, ", ") + ")) AS j"
	if !c.recursive {
		c.tables = name + " AS (SELECT " + strings.Join(given, ", ") + " FROM " + rows + allRows + ")"
		return c, true
	}
	step := strings.TrimSuffix(name, "`") + "_step`"
	c.tables = step + " AS (SELECT 0 AS step_, " + strings.Join(lent, ", ") + " FROM (SELECT 1) AS one LEFT JOIN " + quote(lender, '`') + " AS t ON FALSE" +
		" UNION ALL SELECT 1, " + strings.Join(given, ", ") + " FROM " + step + " AS r STRAIGHT_JOIN " + rows + " WHERE r.step_ = 0), " +
		name + " AS (SELECT " + strings.Join(names, ", ") + " FROM " + step + " AS s" + again.table() + " WHERE s.step_ = 1" + allRows + ")"
	return c, true
}

// typedAgain are columns with ZEROFILL or of a FLOAT or DOUBLE UNSIGNED, which a
// recursive common table expression loses: a JSON_TABLE over its rows, each of one row, gives it to them again.
type typedAgain struct {
	written, read []string
}

// add returns the column as it is selected.
func (f *typedAgain) add(quoted string, how carried) string {
	f.read = append(f.read, fmt.Sprintf("%s %s PATH '$[%d]' ERROR ON ERROR", quoted, how.typ, len(f.written)))
	f.written = append(f.written, strings.ReplaceAll(how.written, quoted, "s."+quoted))
	return "z." + quoted
}

func (f *typedAgain) table() string {
	if len(f.written) == 0 {
		return ""
	}
	return " STRAIGHT_JOIN JSON_TABLE(JSON_ARRAY(" + strings.Join(f.written, ", ") + "), '$' COLUMNS (" + strings.Join(f.read, ", ") + ")) AS z"
}
