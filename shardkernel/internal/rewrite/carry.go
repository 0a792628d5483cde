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
	given   string // the column of the table again, an expression over j and its name
	doubt   string // true for a row in which the value would not come out; "" for none
}

// carry returns how a column travels; ok is false for types that JSON_TABLE has
// not, or that would come out as another type. text is the statement in lower
// case.
func carry(c *value.Column, text string) (how carried, ok bool) {
	if !plainType.MatchString(c.Type) {
		return how, false
	}
	name := quote(c.Name, '`')
	how = carried{written: name, typ: c.Type, given: "j." + name}
	switch c.Class {
	case value.ClassInteger:
		how.written += "+0" // ZEROFILL is no JSON
	case value.ClassFloat:
		// In the digits of a DOUBLE, which tell every FLOAT. -0 loses its sign.
		how.written += "+0e0"
		how.doubt = name + "=0 AND LEFT(" + name + ",1)='-'"
	case value.ClassDecimal, value.ClassTime, value.ClassYear:
		how.written = "CAST(" + name + " AS CHAR)"
	case value.ClassDate, value.ClassDateTime:
		how.written = "CAST(" + name + " AS CHAR)"
		if !c.Nullable && (strings.Contains(text, "null") || strings.Contains(text, "<=>")) {
			how.doubt = name + "=0" // which IS NULL finds, where the column is NOT NULL
		}
	case value.ClassTimestamp:
		how.written = "CAST(" + name + " AS CHAR)"
		// Where clocks are put back, one time is two instants.
		how.doubt = "UNIX_TIMESTAMP(CAST(" + name + " AS DATETIME(6)))<>UNIX_TIMESTAMP(" + name + ")"
	case value.ClassText:
		return carryText(c, name, text)
	case value.ClassBinary:
		how.written = "HEX(" + name + ")"
		how.typ = "longtext CHARACTER SET ascii"
		if !c.Unbounded() {
			how.typ = fmt.Sprintf("varchar(%d) CHARACTER SET ascii", max(2*c.Length, 1))
		}
		how.given = "UNHEX(j." + name + ")"
		how.doubt = "2*LENGTH(" + name + ")>@@max_allowed_packet" // HEX would be NULL
	default:
		return how, false
	}
	return how, true
}

func carryText(c *value.Column, name, text string) (how carried, ok bool) {
	charset, _, _ := strings.Cut(c.Collation, "_")
	if !slices.Contains(carriedCharsets, charset) {
		return how, false
	}
	// MariaDB's JSON is a LONGTEXT, which functions of JSON treat otherwise.
	if c.Type == "longtext" && c.Collation == "utf8mb4_bin" && strings.Contains(text, "json") {
		return how, false
	}
	how = carried{written: "CONCAT(CONVERT(" + name + " USING utf8mb4),'')", typ: c.Type, given: "j." + name}
	if c.Unbounded() {
		how.typ = "longtext"
	}
	how.typ += " CHARACTER SET " + charset + " COLLATE " + c.Collation
	return how, true
}

// carriedCharsets are those of which every character is one of Unicode and back.
var carriedCharsets = []string{"utf8mb4", "utf8mb3", "utf8", "latin1", "ascii", "ucs2", "utf16", "utf16le", "utf32"}

// plainType is a type as servers print it, without attributes that are not known.
var plainType = regexp.MustCompile(`^[a-z]+(\(\d+(,\d+)?\))?( unsigned)?( zerofill)?$`)
