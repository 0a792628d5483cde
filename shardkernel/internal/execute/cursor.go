package execute

import (
	"database/sql/driver"
	"io"
	"reflect"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// cursor streams the rows of one unit, or of several units of one data source
// in turn over one connection.
type cursor struct {
	conn     *Conn
	rows     driver.Rows
	stmt     driver.Stmt // to close after rows; may be nil
	sent     *sent       // the unit's report
	atEnd    bool        // rows have no more to give
	ended    bool        // rows and stmt are closed
	branches Branches    // nil outside a transaction
	owned    bool        // the connection goes back to its pool at Close

	// Of a statement of several units; run is nil for one.
	run   *run
	unit  *plan.Unit   // the unit being read
	left  []*plan.Unit // units not sent yet
	first []column     // the columns of the first unit, kept while others follow
	from  string       // the first unit's node

	err    error
	closed bool
}

// open sends the next unit and takes its rows.
func (c *cursor) open() error {
	unit := c.left[0]
	rows, stmt, sent, err := c.conn.queryUnit(c.run.ctx, unit)
	c.unit, c.left = unit, c.left[1:]
	if err != nil {
		return err
	}
	c.rows, c.stmt, c.sent, c.atEnd, c.ended = rows, stmt, sent, false, false
	if c.first != nil {
		err := drift(c.first, c.run.extremes, c.from, rows, node(unit))
		sent.fail(err)
		return err
	}
	if len(c.left) > 0 {
		c.first, c.from = describe(rows), node(unit)
	}
	return nil
}

// Node names the node that is read, for messages; it is empty for a single unit.
func (c *cursor) Node() string {
	if c.unit == nil {
		return ""
	}
	return node(c.unit)
}

func node(u *plan.Unit) string {
	if u.Table == "" {
		return u.DataSource
	}
	return u.DataSource + "." + u.Table
}

// Next gives the next row. Its bytes are valid until the call after it.
func (c *cursor) Next(dest []driver.Value) error {
	if c.err != nil {
		return c.err
	}
	for {
		err := c.rows.Next(dest)
		if err == nil {
			c.sent.read()
			return nil
		}
		c.atEnd = true
		if err != io.EOF { //nolint:errorlint // a driver's end of rows is the value itself
			return c.fail(err)
		}
		if c.run == nil {
			return io.EOF
		}
		// A driver may end the rows of a cancelled statement early.
		if err := c.run.ctx.Err(); err != nil {
			return c.fail(err)
		}
		if len(c.left) == 0 {
			return io.EOF
		}
		if err := c.closeRows(); err != nil {
			return c.fail(err)
		}
		if err := c.open(); err != nil {
			return c.fail(err)
		}
	}
}

// fail settles the error that every later Next returns.
func (c *cursor) fail(err error) error {
	_ = c.conn.note(err)
	c.sent.fail(err)
	if c.run != nil {
		c.run.spoil(c.conn)
		c.run.kill(c.conn, c.unit)
		c.run.stop()
	}
	// Closed before the branch is judged: open rows look like a lost connection.
	_ = c.closeRows()
	if c.branches != nil {
		c.branches.Failed(c.conn.source.Name, err)
	}
	if c.run == nil {
		c.err = c.conn.source.safe(err)
	} else {
		c.err = c.run.fault(c.conn.source, c.unit, err)
	}
	return c.err
}

// closeRows ends the unit being read. The rows stay for their column types.
func (c *cursor) closeRows() error {
	if c.ended || c.rows == nil {
		return nil
	}
	c.leave()
	c.ended = true
	err := c.rows.Close()
	if c.stmt != nil {
		_ = c.conn.note(c.stmt.Close()) // as for database/sql, the rows have all come
	}
	c.sent.end()
	if c.run != nil {
		c.run.spoil(c.conn)
	}
	return c.conn.note(err)
}

// Close ends the statement on the node and gives the connection back.
func (c *cursor) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	err := c.closeRows()
	if err != nil && c.branches != nil {
		c.branches.Failed(c.conn.source.Name, err)
	}
	c.conn.letClock()
	if c.owned {
		c.conn.Release(false)
	}
	if c.run != nil {
		c.run.done()
	}
	if c.err != nil {
		return nil // told by Next
	}
	if c.run != nil && c.branches == nil && c.run.stopped.Load() {
		return nil // leave has closed the connection
	}
	return c.conn.source.safe(err)
}

// Columns returns the column names.
func (c *cursor) Columns() []string { return c.rows.Columns() }

// HasNextResultSet is true only for one unit: a plan of several has one result.
func (c *cursor) HasNextResultSet() bool {
	r, ok := c.rows.(driver.RowsNextResultSet)
	return ok && c.run == nil && r.HasNextResultSet()
}

// NextResultSet moves to the next result of a statement that has several.
func (c *cursor) NextResultSet() error {
	r, ok := c.rows.(driver.RowsNextResultSet)
	if !ok || c.run != nil {
		return io.EOF
	}
	err := r.NextResultSet()
	if err != nil && err != io.EOF { //nolint:errorlint // the end is the value itself
		return c.fail(err)
	}
	return err
}

func (c *cursor) ColumnTypeDatabaseTypeName(i int) string    { return typeName(c.rows, i) }
func (c *cursor) ColumnTypeScanType(i int) reflect.Type      { return scanType(c.rows, i) }
func (c *cursor) ColumnTypeNullable(i int) (nullOK, ok bool) { return nullable(c.rows, i) }
func (c *cursor) ColumnTypeLength(i int) (int64, bool)       { return length(c.rows, i) }
func (c *cursor) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	return precisionScale(c.rows, i)
}

// Compile-time list of what database/sql asks of rows.
var (
	_ driver.RowsNextResultSet              = (*cursor)(nil)
	_ driver.RowsColumnTypeDatabaseTypeName = (*cursor)(nil)
	_ driver.RowsColumnTypeScanType         = (*cursor)(nil)
	_ driver.RowsColumnTypeNullable         = (*cursor)(nil)
	_ driver.RowsColumnTypeLength           = (*cursor)(nil)
	_ driver.RowsColumnTypePrecisionScale   = (*cursor)(nil)
	_ driver.RowsColumnTypeDatabaseTypeName = (*buffer)(nil)
	_ driver.RowsColumnTypeScanType         = (*buffer)(nil)
	_ driver.RowsColumnTypeNullable         = (*buffer)(nil)
	_ driver.RowsColumnTypeLength           = (*buffer)(nil)
	_ driver.RowsColumnTypePrecisionScale   = (*buffer)(nil)
)
