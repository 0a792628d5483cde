package readwrite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/go-sql-driver/mysql"
)

// aheadBytes is how much of a replica's answer is fetched before its rows are given:
// while none has been, a read that fails can be sent elsewhere.
const aheadBytes = 64 << 10

// FetchAhead lets a query on the connections of Connector return only when its
// first 64 KiB have come, or all rows, so that a server which goes away before fails
// the query and not its rows. It concerns queries to come, and is off at first: those
// of a primary have nowhere else to go.
func (l *Lines) FetchAhead(on bool) { l.ahead.Store(on) }

// Connector returns a connector like inner, whose connections FetchAhead concerns.
func (l *Lines) Connector(inner driver.Connector) driver.Connector { return &aheadConnector{inner, l} }

type aheadConnector struct {
	driver.Connector
	lines *Lines
}

func (c *aheadConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	queryer, _ := conn.(driver.QueryerContext)
	return &aheadConn{Conn: conn, queryer: queryer, on: &c.lines.ahead}, nil
}

// aheadConn is a driver's connection with another QueryContext. What else a driver
// may implement is handed on, or answered as database/sql does where it does not.
type aheadConn struct {
	driver.Conn
	queryer driver.QueryerContext // nil where it is none
	on      *atomic.Bool
}

// Unfetched returns the driver's own connection, for who fetches by himself.
func (c *aheadConn) Unfetched() driver.Conn { return c.Conn }

func (c *aheadConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if c.queryer == nil {
		return nil, driver.ErrSkip
	}
	rows, err := c.queryer.QueryContext(ctx, query, args)
	if !c.on.Load() {
		return rows, err
	}
	var stmt driver.Stmt
	if err == driver.ErrSkip { //nolint:errorlint // compared as database/sql does
		stmt, rows, err = c.prepared(ctx, query, args)
	}
	if err != nil {
		return nil, err
	}
	return ahead(rows, stmt)
}

// prepared runs a query whose arguments the driver does not write into the text.
func (c *aheadConn) prepared(ctx context.Context, query string, args []driver.NamedValue) (driver.Stmt, driver.Rows, error) {
	stmt, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, nil, err
	}
	queryer, ok := stmt.(driver.StmtQueryContext)
	switch want := stmt.NumInput(); {
	case !ok:
		err = driver.ErrSkip // database/sql knows how
	case want >= 0 && want != len(args):
		err = fmt.Errorf("sql: expected %d arguments, got %d", want, len(args))
	default:
		var rows driver.Rows
		if rows, err = queryer.QueryContext(ctx, args); err == nil {
			return stmt, rows, nil
		}
	}
	_ = stmt.Close() // the error above tells more
	return nil, nil, err
}

func (c *aheadConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if execer, ok := c.Conn.(driver.ExecerContext); ok {
		return execer.ExecContext(ctx, query, args)
	}
	return nil, driver.ErrSkip
}

func (c *aheadConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if preparer, ok := c.Conn.(driver.ConnPrepareContext); ok {
		return preparer.PrepareContext(ctx, query)
	}
	return c.Prepare(query)
}

func (c *aheadConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if beginner, ok := c.Conn.(driver.ConnBeginTx); ok {
		return beginner.BeginTx(ctx, opts)
	}
	if opts != (driver.TxOptions{}) {
		return nil, errors.New("sharding: the driver knows no isolation levels and no read-only transactions")
	}
	return c.Begin() // of drivers that have nothing newer
}

func (c *aheadConn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.Conn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

func (c *aheadConn) ResetSession(ctx context.Context) error {
	if resetter, ok := c.Conn.(driver.SessionResetter); ok {
		return resetter.ResetSession(ctx)
	}
	return nil
}

func (c *aheadConn) IsValid() bool {
	validator, ok := c.Conn.(driver.Validator)
	return !ok || validator.IsValid()
}

func (c *aheadConn) Ping(ctx context.Context) error {
	if pinger, ok := c.Conn.(driver.Pinger); ok {
		return pinger.Ping(ctx)
	}
	return nil
}

// aheadRows are rows of which the first have been read. They are used again once
// they are closed, when database/sql touches neither them nor their values any
// more.
type aheadRows struct {
	rows   driver.Rows
	stmt   driver.Stmt    // to close behind them; nil where none was prepared
	width  int            // the number of columns
	values []driver.Value // of the first rows, one after the other
	bytes  []byte         // of the values: the driver's own are good until its next row
	given  int            // values that were given
	end    error          // behind the first rows; nil while others may come
}

var aheadPool = sync.Pool{New: func() any { return new(aheadRows) }}

// ahead reads the first rows of a query. It closes them when one fails.
func ahead(rows driver.Rows, stmt driver.Stmt) (driver.Rows, error) {
	r := aheadPool.Get().(*aheadRows)
	r.rows, r.stmt, r.width = rows, stmt, len(rows.Columns())
	for size := 0; size < aheadBytes; {
		from := len(r.values)
		for range r.width {
			r.values = append(r.values, nil)
		}
		row := r.values[from:]
		if err := rows.Next(row); err != nil {
			r.values = r.values[:from]
			if err == io.EOF { //nolint:errorlint // a driver's end of rows is the value itself
				r.end = err
				return r, nil
			}
			_ = r.Close() // the error above tells more
			if errors.Is(err, driver.ErrBadConn) {
				err = mysql.ErrInvalidConn // the other one is leave to send the query again
			}
			return nil, err
		}
		for i, v := range row {
			size += 16
			switch v := v.(type) {
			case []byte:
				if v != nil {
					at := len(r.bytes)
					r.bytes = append(r.bytes, v...)
					row[i] = r.bytes[at:len(r.bytes):len(r.bytes)]
				}
				size += len(v)
			case string:
				size += len(v)
			}
		}
	}
	return r, nil
}

func (r *aheadRows) Next(dest []driver.Value) error {
	switch {
	case r.given < len(r.values):
		copy(dest, r.values[r.given:r.given+r.width])
		r.given += r.width
		return nil
	case r.end != nil:
		return r.end
	}
	return r.rows.Next(dest)
}

// keptBytes bounds what rows that were closed hold for those to come.
const keptBytes = 2 * aheadBytes

func (r *aheadRows) Close() error {
	if r.rows == nil {
		return nil
	}
	err := r.rows.Close()
	if r.stmt != nil {
		_ = r.stmt.Close() // as for database/sql, the rows have all come
	}
	clear(r.values)
	kept := aheadRows{values: r.values[:0], bytes: r.bytes[:0]}
	if cap(kept.bytes) > keptBytes || cap(kept.values)*16 > keptBytes {
		kept = aheadRows{}
	}
	*r = kept
	aheadPool.Put(r)
	return err
}

func (r *aheadRows) Columns() []string { return r.rows.Columns() }

// HasNextResultSet implements driver.RowsNextResultSet: texts of several statements
// have several results.
func (r *aheadRows) HasNextResultSet() bool {
	several, ok := r.rows.(driver.RowsNextResultSet)
	return ok && several.HasNextResultSet()
}

// NextResultSet implements driver.RowsNextResultSet. Nothing of the next result is
// fetched ahead.
func (r *aheadRows) NextResultSet() error {
	several, ok := r.rows.(driver.RowsNextResultSet)
	if !ok {
		return io.EOF
	}
	r.given, r.end = len(r.values), nil
	return several.NextResultSet()
}

func (r *aheadRows) ColumnTypeDatabaseTypeName(i int) string {
	if of, ok := r.rows.(driver.RowsColumnTypeDatabaseTypeName); ok {
		return of.ColumnTypeDatabaseTypeName(i)
	}
	return ""
}

func (r *aheadRows) ColumnTypeScanType(i int) reflect.Type {
	if of, ok := r.rows.(driver.RowsColumnTypeScanType); ok {
		return of.ColumnTypeScanType(i)
	}
	return reflect.TypeFor[any]()
}

func (r *aheadRows) ColumnTypeNullable(i int) (nullable, ok bool) {
	if of, ok := r.rows.(driver.RowsColumnTypeNullable); ok {
		return of.ColumnTypeNullable(i)
	}
	return false, false
}

func (r *aheadRows) ColumnTypeLength(i int) (length int64, ok bool) {
	if of, ok := r.rows.(driver.RowsColumnTypeLength); ok {
		return of.ColumnTypeLength(i)
	}
	return 0, false
}

func (r *aheadRows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	if of, ok := r.rows.(driver.RowsColumnTypePrecisionScale); ok {
		return of.ColumnTypePrecisionScale(i)
	}
	return 0, 0, false
}
