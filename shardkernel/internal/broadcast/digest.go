package broadcast

import (
	"strconv"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// digest writes the statements by which a server makes checksums of a table's
// rows. Rows are told apart by SHA-256 of their columns, and put into chunks by
// that of their primary key, which works alike for keys of every type and
// collation.
type digest struct {
	table   string
	columns []value.Column // all that count
	key     []value.Column // of the primary key, none without one
}

// chunkDigits is the number of hexadecimal digits of a key's hash that make a
// chunk: 4,096 chunks.
const chunkDigits = "3"

// noLimit overrides a session's sql_select_limit.
const noLimit = " LIMIT 18446744073709551615"

// sums asks for a chunk's name, its number of rows, the number of those with a
// hash, and the sums of the hashes' first and second eight bytes, modulo 2^64.
func (d *digest) sums() string {
	word := func(from string) string {
		return "CAST(SUM(CAST(CONV(SUBSTRING(r, " + from + ", 16), 16, 10) AS UNSIGNED)) % 18446744073709551616 AS CHAR)"
	}
	return "SELECT " + chunk + " AS c, COUNT(*), COUNT(r), " + word("1") + ", " + word("17") +
		" FROM " + d.hashed("") + " GROUP BY c" + noLimit
}

// chunk is a row's chunk.
const chunk = "LEFT(k, " + chunkDigits + ")"

// rows asks for the rows of some chunks in the order of their keys' hashes: that
// hash, the row's, and the key for people to read.
func (d *digest) rows(chunks []string) string {
	var shown string
	for i := range d.key {
		shown += ", " + readable(&d.key[i]) + " AS s" + strconv.Itoa(i)
	}
	// The names of chunks are hexadecimal digits.
	return "SELECT x.* FROM " + d.hashed(shown) + " WHERE " + chunk + " IN ('" + strings.Join(chunks, "', '") + "') ORDER BY k" + noLimit
}

// hashed is a derived table of the hash k of each row's key, its own hash r, and
// what else is asked for.
func (d *digest) hashed(more string) string {
	k := "''"
	if len(d.key) > 0 {
		k = hash(d.key)
	}
	return "(SELECT " + k + " AS k, " + hash(d.columns) + " AS r" + more + " FROM " + quoted(d.table) + ") x"
}

// hash makes of columns what differs if any of them does: none of the texts that
// are joined holds a comma, and none of them is the one of NULL.
func hash(columns []value.Column) string {
	texts := make([]string, len(columns))
	for i := range columns {
		texts[i] = "COALESCE(" + exact(&columns[i]) + ", 'N')"
	}
	return "SHA2(CONCAT_WS(',', " + strings.Join(texts, ", ") + "), 256)"
}

// exact makes of a column's values texts of digits and punctuation that differ if
// the values do, also where the column's own comparison takes them for equal.
func exact(c *value.Column) string {
	name := quoted(c.Name)
	switch c.Class {
	case value.ClassInteger, value.ClassDecimal, value.ClassDate, value.ClassDateTime, value.ClassTime, value.ClassYear:
		return "CAST(" + name + " AS CHAR)"
	case value.ClassTimestamp:
		// What the clock shows comes twice when summer time ends.
		return "CAST(UNIX_TIMESTAMP(" + name + ") AS CHAR)"
	case value.ClassFloat:
		// A FLOAT prints six digits, a DOUBLE as many as it needs.
		return "CAST(" + name + " * 1e0 AS CHAR)"
	case value.ClassEnum, value.ClassSet, value.ClassBit:
		return "CAST(" + name + " AS UNSIGNED)"
	}
	// The hash is one of bytes, in the column's character set.
	return "SHA2(" + name + ", 256)"
}

// readable makes a text for people of a key's column.
func readable(c *value.Column) string {
	name := quoted(c.Name)
	switch c.Class {
	case value.ClassBinary:
		return "CONCAT('0x', LEFT(HEX(" + name + "), 768))"
	case value.ClassBit, value.ClassFloat:
		return exact(c)
	}
	return "LEFT(CAST(" + name + " AS CHAR), 768)"
}

func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
