package merge

import (
	"bytes"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// kind is how the text or bytes of a column are to be understood. Values that
// Go has a type for, such as int64, need no kind.
type kind uint8

const (
	kindAny     kind = iota // SQLite's declared types and expressions: by the value
	kindNumber              // text is a number
	kindMoment              // DATE, DATETIME, TIMESTAMP
	kindClock               // TIME
	kindBits                // BIT
	kindText                // bytes are text with a collation
	kindEnum                // text, but sorted by something else
	kindBytes               // bytes without a collation
	kindRefused             // no order that could be computed here
)

// kinds maps the names that the drivers give to column types.
var kinds = map[string]kind{
	"TINYINT": kindNumber, "SMALLINT": kindNumber, "MEDIUMINT": kindNumber,
	"INT": kindNumber, "INTEGER": kindNumber, "BIGINT": kindNumber,
	"UNSIGNED TINYINT": kindNumber, "UNSIGNED SMALLINT": kindNumber, "UNSIGNED MEDIUMINT": kindNumber,
	"UNSIGNED INT": kindNumber, "UNSIGNED BIGINT": kindNumber,
	"YEAR": kindNumber, "DECIMAL": kindNumber, "NUMERIC": kindNumber,
	"FLOAT": kindNumber, "DOUBLE": kindNumber, "REAL": kindNumber,
	"DATE": kindMoment, "DATETIME": kindMoment, "TIMESTAMP": kindMoment,
	"TIME": kindClock,
	"BIT":  kindBits,
	"CHAR": kindText, "VARCHAR": kindText, "TINYTEXT": kindText, "TEXT": kindText,
	"MEDIUMTEXT": kindText, "LONGTEXT": kindText,
	"ENUM": kindEnum, "SET": kindEnum,
	"BINARY": kindBytes, "VARBINARY": kindBytes, "TINYBLOB": kindBytes, "BLOB": kindBytes,
	"MEDIUMBLOB": kindBytes, "LONGBLOB": kindBytes,
	"JSON": kindRefused, "GEOMETRY": kindRefused, "VECTOR": kindRefused,
}

// class is what a value is. The classes stand in SQLite's order of storage
// classes; in the other databases a column has one class.
type class uint8

const (
	classNull class = iota
	classNumber
	classTime
	classText
	classBytes
)

// cell is a value made ready for comparison. It keeps its own copy of the
// value, in memory that the next value of the cell uses again.
type cell struct {
	class  class
	number number
	time   time.Time
	bytes  []byte // text as the weights or bytes it is compared by
}

// operand reads the values of one column into cells and compares them.
type operand struct {
	index  int
	weight int // the column with the weights; -1 when there is none
	kind   kind
	order  plan.TextOrder
	pad    []byte // what the shorter text is padded with; nil when it is not
	name   string
	clause string
	sorts  bool // the servers may sort by it
	seen   [classBytes + 1]bool
}

// newOperand resolves a column and refuses one whose values cannot be compared.
func newOperand(h *header, ref plan.ColumnRef, order plan.TextOrder, clause string) (*operand, error) {
	index, err := h.resolve(ref, clause)
	if err != nil {
		return nil, err
	}
	typeName := h.columns[index].typeName
	o := &operand{
		index: index, weight: -1, kind: kinds[typeName], order: order,
		name: h.name(index), clause: clause, sorts: order.Sorted,
	}
	if o.kind == kindBits && order.Digits {
		o.kind = kindNumber
	}
	if order.HasWeight {
		if o.weight, err = h.resolve(order.Weight, clause); err != nil {
			return nil, err
		}
	}
	if order.PadSpace {
		o.pad = []byte{' '}
		if order.HasWeight {
			o.pad = order.SpaceWeight
		}
	}
	switch o.kind {
	case kindRefused:
		return nil, fault.Unsupported(clause,
			fmt.Sprintf("values of type %s, column %q, cannot be compared outside the database", typeName, o.name),
			"use a column of another type, or restrict the statement to one node")
	case kindText, kindEnum:
		if order.Refuse != "" {
			return nil, o.refused()
		}
	}
	h.doubtful = h.doubtful || order.Limit > 0 || order.HasWeight || order.Refuse != ""
	return o, nil
}

func (o *operand) refused() error {
	return fault.Unsupported(o.clause,
		fmt.Sprintf("text of column %q cannot be compared over several nodes: %s", o.name, o.order.Refuse),
		"restrict the statement to one node, or give the column a collation that can be compared")
}

// load reads the operand's value of a row.
func (o *operand) load(c *cell, row []driver.Value) error {
	switch v := row[o.index].(type) {
	case nil:
		c.class = classNull
		return nil
	case int64:
		c.class = classNumber
		c.number.setInt(v)
	case uint64:
		c.class = classNumber
		c.number.setUint(v)
	case float64:
		c.class = classNumber
		c.number.setFloat(v)
	case float32:
		c.class = classNumber
		c.number.setFloat(float64(v))
	case bool:
		c.class = classNumber
		c.number.setInt(0)
		if v {
			c.number.setInt(1)
		}
	case time.Time:
		c.class = classTime
		c.time = v
	case []byte:
		c.bytes = append(c.bytes[:0], v...)
		if err := o.loadBytes(c, row, classBytes); err != nil {
			return err
		}
	case string:
		c.bytes = append(c.bytes[:0], v...)
		if err := o.loadBytes(c, row, classText); err != nil {
			return err
		}
	default:
		return fault.Unsupported(o.clause,
			fmt.Sprintf("the driver returned a %T in column %q", v, o.name), "")
	}
	// SQLite's driver turns the texts of a date column that it understands into
	// times; how these compare with the remaining texts is lost.
	o.seen[c.class] = true
	if o.seen[classTime] && o.seen[classText] {
		return fault.Unsupported(o.clause,
			fmt.Sprintf("column %q holds times and texts that are no times", o.name), "store one format")
	}
	return o.checkLimit(c)
}

// loadBytes understands the text in c.bytes. otherwise is the class of a value
// that is not what the column's type says, as SQLite allows: classBytes for a
// []byte, which is how MySQL's driver returns text of every type, classText for
// a string, which only SQLite's returns.
func (o *operand) loadBytes(c *cell, row []driver.Value, otherwise class) error {
	c.class = otherwise
	isBytes := otherwise == classBytes
	switch o.kind {
	case kindNumber:
		if c.number.parse(c.bytes) {
			c.class = classNumber
			return nil
		}
	case kindClock:
		if isBytes && c.number.parseClock(c.bytes) {
			c.class = classNumber
			return nil
		}
	case kindBits:
		if isBytes && c.number.parseBits(c.bytes) {
			c.class = classNumber
			return nil
		}
	case kindMoment:
		// One format, so the bytes show the order (ISO 8601); a fraction may be
		// written with more or fewer digits.
		if isBytes {
			c.bytes = trimFraction(c.bytes)
		}
		c.class = classText
		return nil
	case kindText, kindEnum:
		c.class = classText
	case kindAny:
		if o.weight >= 0 {
			c.class = classText
		}
	}
	if c.class == classText {
		return o.loadText(c, row)
	}
	return nil
}

// loadText replaces the text by its weight.
func (o *operand) loadText(c *cell, row []driver.Value) error {
	if o.order.Refuse != "" {
		return o.refused()
	}
	if o.weight < 0 {
		return nil
	}
	if o.sorts && len(o.pad) == 0 && bytes.HasSuffix(c.bytes, []byte{0}) {
		// Its comparison tells 'a\x00' from 'a', an index too, but a sort fills its
		// keys up with zeros and takes them for equal.
		return fault.Unsupported(o.clause,
			fmt.Sprintf("a text of column %q ends in U+0000, which the server tells from the text without it in some orders only", o.name),
			"restrict the statement to one node, or store the text without it")
	}
	switch w := row[o.weight].(type) {
	case []byte:
		c.bytes = append(c.bytes[:0], w...)
	case string:
		c.bytes = append(c.bytes[:0], w...)
	default:
		return fault.Unsupported(o.clause,
			fmt.Sprintf("the database gave no WEIGHT_STRING for a text of column %q", o.name),
			"restrict the statement to one node")
	}
	return nil
}

// checkLimit refuses a sort by more than the server sorts by: its order of the
// rows would not be the one that is compared here (semantics row 66).
func (o *operand) checkLimit(c *cell) error {
	text := c.class == classText || c.class == classBytes
	if o.order.Limit == 0 || !text || len(c.bytes) <= o.order.Limit {
		return nil
	}
	return fault.Unsupported(o.clause,
		fmt.Sprintf("a text of column %q is longer than the server sorts by", o.name),
		"raise max_sort_length in the DSN of every data source, or restrict the statement to one node")
}

// compare orders two cells, NULL first.
func (o *operand) compare(a, b *cell) int {
	if a.class != b.class {
		return int(a.class) - int(b.class)
	}
	switch a.class {
	case classNumber:
		return a.number.compare(&b.number)
	case classTime:
		return a.time.Compare(b.time)
	case classText:
		if o.kind == kindMoment {
			return bytes.Compare(a.bytes, b.bytes)
		}
		return comparePadded(a.bytes, b.bytes, o.pad)
	case classBytes:
		return bytes.Compare(a.bytes, b.bytes)
	}
	return 0
}

// appendKey appends a form of the cell that is equal for equal cells and for
// these only. Every part has a length, so that keys may follow each other
// (semantics row 21).
func (o *operand) appendKey(key []byte, c *cell) []byte {
	key = append(key, byte(c.class))
	switch c.class {
	case classNumber:
		return c.number.appendKey(key)
	case classTime:
		key = binary.BigEndian.AppendUint64(key, uint64(c.time.Unix()))
		return binary.BigEndian.AppendUint32(key, uint32(c.time.Nanosecond()))
	case classText:
		text := c.bytes
		if o.kind != kindMoment {
			text = trimPadding(text, o.pad)
		}
		return appendSized(key, text)
	case classBytes:
		return appendSized(key, c.bytes)
	}
	return key
}

func appendSized(key, part []byte) []byte {
	key = binary.AppendUvarint(key, uint64(len(part)))
	return append(key, part...)
}
