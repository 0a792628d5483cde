package execute

import (
	"bytes"
	"database/sql/driver"
	"io"
	"reflect"
	"sync/atomic"

	"github.com/gormshard/sharding/shardkernel/internal/memory"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// budget counts what one statement holds in memory, over all its units.
type budget struct {
	maxRows, maxBytes int64
	process           *memory.Budget
	rows, bytes       atomic.Int64
}

// row counts a row.
func (b *budget) row() error {
	if b.rows.Add(1) > b.maxRows {
		return &memory.TooManyRowsError{Limit: b.maxRows, Unit: "rows", Property: "props.maxMergeRows"}
	}
	return nil
}

// take takes bytes, which are given back to the process by themselves.
func (b *budget) take(bytes int) error {
	if b.bytes.Add(int64(bytes)) > b.maxBytes {
		return &memory.TooManyRowsError{Limit: b.maxBytes, Unit: "bytes", Property: "props.maxMergeBytes"}
	}
	return b.process.Take(int64(bytes))
}

// buffer is the rows of one unit, held in memory. It needs no connection.
type buffer struct {
	unit    *plan.Unit
	columns []column
	values  [][]driver.Value // in blocks of whole rows
	text    []byte           // the block that bytes are copied to
	rows    int
	next    int // the row to give
	block   int // the block it is in
	at      int // where it begins there
	budget  *budget
	held    int64
}

const (
	// A value is an interface, and what it points to is a number, a time or the
	// header of a slice.
	interfaceSize, pointedSize = 16, 24
	// Blocks double from the first to the last of these: the results of most
	// statements are short.
	firstRows, mostRows = 8, 512
	firstText, mostText = 256, 32 << 10
)

// readAll reads the rows of a unit to their end, without closing them.
func readAll(u *plan.Unit, rows driver.Rows, b *budget) (*buffer, error) {
	out := &buffer{unit: u, columns: describe(rows), budget: b}
	row := make([]driver.Value, len(out.columns))
	for {
		err := rows.Next(row)
		if err == io.EOF { //nolint:errorlint // a driver's end of rows is the value itself
			return out, nil
		}
		if err == nil {
			err = out.add(row)
		}
		if err != nil {
			_ = out.Close()
			return nil, err
		}
	}
}

func (b *buffer) add(row []driver.Value) error {
	if err := b.budget.row(); err != nil {
		return err
	}
	last := len(b.values) - 1
	if last < 0 || len(b.values[last])+len(row) > cap(b.values[last]) {
		size := len(row) * grown(firstRows, mostRows, len(b.values))
		if err := b.hold(size * interfaceSize); err != nil {
			return err
		}
		b.values = append(b.values, make([]driver.Value, 0, size))
		last++
	}
	if err := b.hold(len(row) * pointedSize); err != nil {
		return err
	}
	for _, v := range row {
		switch p := v.(type) {
		case []byte:
			own, err := b.clone(p) // the driver uses its bytes again
			if err != nil {
				return err
			}
			v = own
		case string:
			if err := b.hold(len(p)); err != nil {
				return err
			}
		}
		b.values[last] = append(b.values[last], v)
	}
	b.rows++
	return nil
}

// grown is the size of a block behind n others.
func grown(first, most, n int) int { return min(first<<min(n, 16), most) }

// clone copies bytes to the current block, or by themselves where they would
// waste one.
func (b *buffer) clone(p []byte) ([]byte, error) {
	if len(p) >= mostText/4 {
		err := b.hold(len(p))
		return bytes.Clone(p), err
	}
	if len(p) > cap(b.text)-len(b.text) {
		size := max(len(p), grown(firstText, mostText, len(b.values)))
		if err := b.hold(size); err != nil {
			return nil, err
		}
		b.text = make([]byte, 0, size)
	}
	from := len(b.text)
	b.text = append(b.text, p...)
	return b.text[from:len(b.text):len(b.text)], nil
}

func (b *buffer) hold(bytes int) error {
	err := b.budget.take(bytes)
	if err == nil {
		b.held += int64(bytes)
	}
	return err
}

// Next gives the next row. A block is let go with its last one.
func (b *buffer) Next(dest []driver.Value) error {
	if b.next >= b.rows {
		return io.EOF
	}
	n := len(b.columns)
	if b.at == len(b.values[b.block]) && n > 0 {
		b.values[b.block] = nil
		b.block, b.at = b.block+1, 0
	}
	copy(dest, b.values[b.block][b.at:b.at+n])
	b.at += n
	b.next++
	return nil
}

// Close lets the rows go and gives their bytes back to the process.
func (b *buffer) Close() error {
	b.budget.process.Give(b.held)
	b.values, b.text, b.rows, b.held = nil, nil, 0, 0
	return nil
}

// Node names the node that was read, for messages.
func (b *buffer) Node() string { return node(b.unit) }

func (b *buffer) Columns() []string {
	out := make([]string, len(b.columns))
	for i := range b.columns {
		out[i] = b.columns[i].name
	}
	return out
}

func (b *buffer) ColumnTypeDatabaseTypeName(i int) string { return b.columns[i].typ }
func (b *buffer) ColumnTypeScanType(i int) reflect.Type   { return b.columns[i].scan }
func (b *buffer) ColumnTypeNullable(i int) (nullable, ok bool) {
	return b.columns[i].nullable, b.columns[i].nullOK
}

func (b *buffer) ColumnTypeLength(i int) (int64, bool) {
	return b.columns[i].length, b.columns[i].lengthOK
}

func (b *buffer) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	c := &b.columns[i]
	return c.precision, c.scale, c.decimalOK
}
