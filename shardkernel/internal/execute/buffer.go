package execute

import (
	"bytes"
	"database/sql/driver"
	"fmt"
	"io"
	"reflect"
	"sync/atomic"

	"github.com/gormshard/sharding/internal/fault"
)

// budget counts what one statement holds in memory, over all its units.
type budget struct {
	maxRows, maxBytes int64
	rows, bytes       atomic.Int64
}

// charge takes a row of so many bytes from the budget.
func (b *budget) charge(size int64) error {
	if b.rows.Add(1) > b.maxRows {
		return fmt.Errorf("sharding: %w: the nodes' rows have to be buffered and are more than %d; "+
			"narrow the statement, or raise props.maxMergeRows", fault.ErrTooManyRows, b.maxRows)
	}
	if b.bytes.Add(size) > b.maxBytes {
		return fmt.Errorf("sharding: %w: the nodes' rows have to be buffered and hold more than %d bytes; "+
			"narrow the statement, or select fewer columns", fault.ErrTooManyRows, b.maxBytes)
	}
	return nil
}

// buffer is the rows of one unit, held in memory. It needs no connection.
type buffer struct {
	columns []column
	values  []driver.Value // row after row
	rows    int
	next    int
}

// valueSize is about what a value occupies beside its bytes.
const valueSize = 16

// readAll reads rows to their end, without closing them.
func readAll(rows driver.Rows, b *budget) (*buffer, error) {
	out := &buffer{columns: describe(rows)}
	row := make([]driver.Value, len(out.columns))
	for {
		err := rows.Next(row)
		if err == io.EOF { //nolint:errorlint // a driver's end of rows is the value itself
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		size := int64(len(row)) * valueSize
		for _, v := range row {
			switch v := v.(type) {
			case []byte:
				size += int64(len(v))
			case string:
				size += int64(len(v))
			}
		}
		if err := b.charge(size); err != nil {
			return nil, err
		}
		for _, v := range row {
			if p, ok := v.([]byte); ok {
				v = bytes.Clone(p) // the driver uses its bytes again
			}
			out.values = append(out.values, v)
		}
		out.rows++
	}
}

func (b *buffer) Next(dest []driver.Value) error {
	if b.next >= b.rows {
		return io.EOF
	}
	n := len(b.columns)
	copy(dest, b.values[b.next*n:(b.next+1)*n])
	b.next++
	return nil
}

func (b *buffer) Close() error {
	b.values, b.rows = nil, 0
	return nil
}

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
