// Package noop is a database/sql driver for benchmarks: a MariaDB of one table
// that answers at once and keeps nothing. What a benchmark over it measures is
// the cost of everything above the driver.
package noop

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"reflect"
	"strings"
)

// Column is a column of the table.
type Column struct {
	Name string
	// Type is the data type in lower case: bigint, varchar, datetime.
	Type string
	// Value is what every row holds, of a type the MySQL driver gives for Type.
	Value driver.Value
}

// Database has one table, whatever its name. It is safe for concurrent use.
type Database struct {
	columns []string
	types   []string
	scans   []reflect.Type
	row     []driver.Value
	rows    int
	// schema is the answer to the question for the table's columns.
	schema [][]driver.Value
}

// New returns a database whose table has a number of equal rows. A SELECT with a
// LIMIT gives one of them, any other SELECT all. Every write affects one row.
func New(columns []Column, rows int) *Database {
	d := &Database{rows: rows}
	for _, c := range columns {
		d.columns = append(d.columns, c.Name)
		d.types = append(d.types, strings.ToUpper(c.Type))
		d.scans = append(d.scans, reflect.TypeOf(c.Value))
		d.row = append(d.row, c.Value)
		charset, collation := "", ""
		if c.Type == "varchar" {
			charset, collation = "utf8mb4", "utf8mb4_general_ci"
		}
		key := ""
		if c.Name == "id" {
			key = "PRI"
		}
		zero := int64(0)
		d.schema = append(d.schema, []driver.Value{
			c.Name, c.Type, c.Type, zero, zero, zero, int64(255), zero, charset, collation, "YES", key, "", "", zero, zero,
		})
	}
	return d
}

// Open returns a new pool on the database. The caller closes it.
func (d *Database) Open() *sql.DB { return sql.OpenDB(connector{d}) }

// variables are the settings of the server.
var variables = [][]driver.Value{
	{"version", "11.8.2-MariaDB"},
	{"lower_case_table_names", "0"},
	{"div_precision_increment", "4"},
	{"max_sort_length", "1024"},
	{"max_allowed_packet", "16777216"},
	{"sql_mode", "STRICT_TRANS_TABLES"},
	{"time_zone", "+00:00"},
	{"sql_auto_is_null", "OFF"},
}

// query answers a SELECT or SHOW.
func (d *Database) query(query string) driver.Rows {
	switch {
	case strings.HasPrefix(query, "SHOW SESSION VARIABLES"):
		return newRows([]string{"Variable_name", "Value"}, variables)
	case strings.Contains(query, "information_schema.columns"):
		return newRows(make([]string, len(d.schema[0])), d.schema)
	case strings.HasPrefix(query, "SELECT @@max_sort_length, VERSION()"):
		answer := []driver.Value{int64(1024), "11.8.2-MariaDB"}
		for range strings.Count(query, "WEIGHT_STRING") {
			answer = append(answer, "20")
		}
		return newRows(make([]string, len(answer)), [][]driver.Value{answer})
	case strings.HasSuffix(query, " LIMIT ?"):
		return &tableRows{database: d, left: 1}
	}
	return &tableRows{database: d, left: d.rows}
}

// Driver returns a driver for sql.Register: every DSN leads to the database.
func (d *Database) Driver() driver.Driver { return named{d} }

type named struct{ database *Database }

func (n named) Open(string) (driver.Conn, error) { return &conn{n.database}, nil }

type connector struct{ database *Database }

func (c connector) Connect(context.Context) (driver.Conn, error) { return &conn{c.database}, nil }
func (c connector) Driver() driver.Driver                        { return nameless{} }

type nameless struct{}

func (nameless) Open(string) (driver.Conn, error) {
	return nil, errors.New("noop: open with Database.Open")
}

// conn implements what the MySQL driver's connection does.
type conn struct{ database *Database }

var (
	_ driver.ConnBeginTx        = (*conn)(nil)
	_ driver.ConnPrepareContext = (*conn)(nil)
	_ driver.QueryerContext     = (*conn)(nil)
	_ driver.ExecerContext      = (*conn)(nil)
	_ driver.NamedValueChecker  = (*conn)(nil)
	_ driver.Validator          = (*conn)(nil)
	_ driver.SessionResetter    = (*conn)(nil)
	_ driver.Pinger             = (*conn)(nil)
)

func (c *conn) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	return c.database.query(query), nil
}

func (c *conn) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return oneRow{}, nil
}

func (c *conn) CheckNamedValue(v *driver.NamedValue) (err error) {
	v.Value, err = driver.DefaultParameterConverter.ConvertValue(v.Value)
	return err
}

func (c *conn) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) { return tx{}, nil }
func (c *conn) Begin() (driver.Tx, error)                                    { return tx{}, nil }
func (c *conn) IsValid() bool                                                { return true }
func (c *conn) ResetSession(context.Context) error                           { return nil }
func (c *conn) Ping(context.Context) error                                   { return nil }
func (c *conn) Close() error                                                 { return nil }
func (c *conn) Prepare(query string) (driver.Stmt, error)                    { return &stmt{c, query}, nil }

func (c *conn) PrepareContext(_ context.Context, query string) (driver.Stmt, error) {
	return c.Prepare(query)
}

type tx struct{}

func (tx) Commit() error   { return nil }
func (tx) Rollback() error { return nil }

type stmt struct {
	conn  *conn
	query string
}

func (s *stmt) NumInput() int { return strings.Count(s.query, "?") }
func (s *stmt) Close() error  { return nil }

func (s *stmt) Query([]driver.Value) (driver.Rows, error)  { return s.conn.database.query(s.query), nil }
func (s *stmt) Exec([]driver.Value) (driver.Result, error) { return oneRow{}, nil }

// oneRow is the result of a write of one row whose key the caller gave.
type oneRow struct{}

func (oneRow) LastInsertId() (int64, error) { return 0, nil }
func (oneRow) RowsAffected() (int64, error) { return 1, nil }

// tableRows gives the row of the table some times.
type tableRows struct {
	database *Database
	left     int
}

func (r *tableRows) Columns() []string                       { return r.database.columns }
func (r *tableRows) ColumnTypeDatabaseTypeName(i int) string { return r.database.types[i] }
func (r *tableRows) ColumnTypeScanType(i int) reflect.Type   { return r.database.scans[i] }
func (r *tableRows) Close() error                            { return nil }

func (r *tableRows) Next(dest []driver.Value) error {
	if r.left == 0 {
		return io.EOF
	}
	r.left--
	copy(dest, r.database.row)
	return nil
}

// rows gives the rows of an answer about the server.
type rows struct {
	columns []string
	left    [][]driver.Value
}

func newRows(columns []string, answer [][]driver.Value) *rows { return &rows{columns, answer} }

func (r *rows) Columns() []string { return r.columns }
func (r *rows) Close() error      { return nil }

func (r *rows) Next(dest []driver.Value) error {
	if len(r.left) == 0 {
		return io.EOF
	}
	copy(dest, r.left[0])
	r.left = r.left[1:]
	return nil
}
