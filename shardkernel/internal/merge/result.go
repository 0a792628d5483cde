package merge

import (
	"database/sql/driver"
	"reflect"
)

// result is the merged rows as database/sql sees them.
type result struct {
	header *header
	inputs *inputs
	memory *account
	rows   stream
	end    error // what Next returns from now on; nil while rows may come
}

var (
	_ driver.RowsColumnTypeDatabaseTypeName = (*result)(nil)
	_ driver.RowsColumnTypeScanType         = (*result)(nil)
	_ driver.RowsColumnTypeNullable         = (*result)(nil)
	_ driver.RowsColumnTypeLength           = (*result)(nil)
	_ driver.RowsColumnTypePrecisionScale   = (*result)(nil)
)

// Columns returns the names of the visible columns.
func (r *result) Columns() []string { return r.header.names }

// Next gives the next row. Cursors are closed at the end and on an error, for
// they hold connections.
func (r *result) Next(dest []driver.Value) error {
	if r.end != nil {
		return r.end
	}
	err := r.rows.next(dest)
	if err == nil {
		return nil
	}
	closeErr := r.Close()
	if isEnd(err) && closeErr != nil {
		err = closeErr
	}
	r.end = err
	return err
}

// Close closes the cursors that are still open and gives the memory back.
func (r *result) Close() error {
	if r.end == nil {
		r.end = errClosed
	}
	r.memory.release()
	return r.inputs.close()
}

func (r *result) ColumnTypeDatabaseTypeName(i int) string {
	return r.header.columns[i].typeName
}

func (r *result) ColumnTypeScanType(i int) reflect.Type {
	return r.header.columns[i].scanType
}

func (r *result) ColumnTypeNullable(i int) (nullable, ok bool) {
	c := &r.header.columns[i]
	return c.nullable, c.hasNullable
}

func (r *result) ColumnTypeLength(i int) (length int64, ok bool) {
	c := &r.header.columns[i]
	return c.length, c.hasLength
}

func (r *result) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	c := &r.header.columns[i]
	return c.precision, c.scale, c.hasScale
}
