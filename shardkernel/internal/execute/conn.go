package execute

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// Result is the outcome of a write on one node.
type Result struct {
	RowsAffected, LastInsertID int64
}

// Conn is one connection of a data source, used by one goroutine at a time and
// released once. Arguments and statements are handled as database/sql handles
// them. No error of it matches driver.ErrBadConn.
type Conn struct {
	source   *Source
	pool     *sql.Conn
	raw      driver.Conn
	tx       driver.Tx
	lost     bool
	released bool
	kept     func() // set by Keep
	name     string // what the source's Killer calls it; empty when that is not known
	// clockHeld is true while the session's clock stands still.
	clockHeld bool
}

// Query sends a statement and returns its rows, which the caller closes before
// it uses the connection again. The context has to live until then.
func (c *Conn) Query(ctx context.Context, query string, args []any) (driver.Rows, error) {
	rows, stmt, err := c.query(ctx, query, args, false)
	if err != nil {
		return nil, c.source.safe(err)
	}
	return &cursor{conn: c, rows: rows, stmt: stmt}, nil
}

// Exec sends a statement that returns no rows.
func (c *Conn) Exec(ctx context.Context, query string, args []any) (Result, error) {
	r, err := c.exec(ctx, query, args)
	return r, c.source.safe(err)
}

// Commit commits the transaction begun on the connection.
func (c *Conn) Commit() error { return c.source.safe(c.note(c.tx.Commit())) }

// rollbackTimeout is how long a rollback is waited for. The server rolls back by
// itself when the connection is closed then.
const rollbackTimeout = 5 * time.Second

// Rollback rolls the transaction begun on the connection back. It does not wait
// for a server that has stopped answering, as a driver's Tx would, which knows no
// context.
func (c *Conn) Rollback() error {
	e, ok := c.raw.(driver.ExecerContext)
	if !ok || !c.source.Dialect.IsMySQL() {
		return c.source.safe(c.note(c.tx.Rollback()))
	}
	ctx, cancel := context.WithTimeout(context.Background(), rollbackTimeout)
	defer cancel()
	_, err := e.ExecContext(ctx, "ROLLBACK", nil)
	return c.source.safe(c.note(err))
}

// Lost reports whether the connection is of no more use: a driver said so in an
// error or says so now. It is meant for the time after an error, when no rows
// are open.
func (c *Conn) Lost() bool {
	if !c.lost {
		if v, ok := c.raw.(driver.Validator); ok {
			c.lost = !v.IsValid()
		}
	}
	return c.lost
}

// Release gives the connection back to its pool, or closes it when it is bad or
// lost. Calls after the first do nothing.
func (c *Conn) Release(bad bool) {
	switch {
	case c.released:
	case c.kept != nil:
		if bad || c.lost {
			c.kept()
		}
	case bad || c.lost:
		c.Discard()
	default:
		c.released = true
		_ = c.pool.Close()
	}
}

// Keep makes Release leave the connection where it is, for a session that holds
// it and closes it with Discard. spoilt is called when Release would have closed
// it.
func (c *Conn) Keep(spoilt func()) { c.kept = spoilt }

// Discard closes the connection. Calls after the first, or after Release has
// given it back, do nothing.
func (c *Conn) Discard() {
	if c.released {
		return
	}
	c.released = true
	// The one way sql.Conn has to drop a connection.
	_ = c.pool.Raw(func(any) error { return driver.ErrBadConn })
}

// Move makes the connection that of another source over the same pool, and reports
// whether it is one.
func (c *Conn) Move(to *Source) bool {
	if to.DB != c.source.DB {
		return false
	}
	c.source = to
	return true
}

// note remembers that an error means the loss of the connection.
func (c *Conn) note(err error) error {
	if err != nil && dialect.ConnectionLost(err) {
		c.lost = true
	}
	return err
}

// identify lets the source's Killer know the connection, if it has one.
func (c *Conn) identify(ctx context.Context) {
	if c.source.Killer != nil && c.name == "" {
		c.source.Killer.name(ctx, c)
	}
}

// Begin begins a transaction on the connection.
func (c *Conn) Begin(ctx context.Context, opts driver.TxOptions) error {
	return c.source.safe(c.begin(ctx, opts))
}

func (c *Conn) begin(ctx context.Context, opts driver.TxOptions) error {
	var err error
	if b, ok := c.raw.(driver.ConnBeginTx); ok {
		c.tx, err = b.BeginTx(ctx, opts)
		return c.note(err)
	}
	if opts != (driver.TxOptions{}) {
		return fault.Unsupported("BEGIN", "the driver of data source "+c.source.Name+
			" knows no isolation levels and no read-only transactions", "begin without options")
	}
	c.tx, err = c.raw.Begin() //nolint:staticcheck // for drivers that have nothing newer
	return c.note(err)
}

// queryText returns the one value of a statement's one row.
func (c *Conn) queryText(ctx context.Context, query string) (string, error) {
	rows, stmt, err := c.query(ctx, query, nil, false)
	if err != nil {
		return "", err
	}
	row := make([]driver.Value, 1)
	err = rows.Next(row)
	text := fmt.Sprintf("%s", row[0])
	if e := rows.Close(); err == nil {
		err = e
	}
	if stmt != nil {
		if e := stmt.Close(); err == nil {
			err = e
		}
	}
	return text, c.note(err)
}

// query returns the driver's rows, and the statement to close after them when
// one had to be prepared, as prepare demands.
func (c *Conn) query(ctx context.Context, query string, args []any, prepare bool) (driver.Rows, driver.Stmt, error) {
	if q, ok := c.raw.(driver.QueryerContext); ok && !prepare {
		values, err := c.values(nil, args)
		if err != nil {
			return nil, nil, err
		}
		rows, err := q.QueryContext(ctx, query, values)
		if err != driver.ErrSkip { //nolint:errorlint // compared as database/sql does
			return rows, nil, c.note(err)
		}
	}
	stmt, values, err := c.prepare(ctx, query, args)
	if err != nil {
		return nil, nil, err
	}
	var rows driver.Rows
	if q, ok := stmt.(driver.StmtQueryContext); ok {
		rows, err = q.QueryContext(ctx, values)
	} else {
		rows, err = stmt.Query(plain(values)) //nolint:staticcheck // for drivers that have nothing newer
	}
	if err != nil {
		_ = stmt.Close()
		return nil, nil, c.note(err)
	}
	return rows, stmt, nil
}

func (c *Conn) exec(ctx context.Context, query string, args []any) (Result, error) {
	if e, ok := c.raw.(driver.ExecerContext); ok {
		values, err := c.values(nil, args)
		if err != nil {
			return Result{}, err
		}
		r, err := e.ExecContext(ctx, query, values)
		if err != driver.ErrSkip { //nolint:errorlint // compared as database/sql does
			return result(r, c.note(err))
		}
	}
	stmt, values, err := c.prepare(ctx, query, args)
	if err != nil {
		return Result{}, err
	}
	var r driver.Result
	if e, ok := stmt.(driver.StmtExecContext); ok {
		r, err = e.ExecContext(ctx, values)
	} else {
		r, err = stmt.Exec(plain(values)) //nolint:staticcheck // for drivers that have nothing newer
	}
	_ = stmt.Close()
	return result(r, c.note(err))
}

// result reads a driver's result. A number that the driver does not have, as
// after DDL, is 0.
func result(r driver.Result, err error) (Result, error) {
	if err != nil {
		return Result{}, err
	}
	var out Result
	if n, err := r.RowsAffected(); err == nil {
		out.RowsAffected = n
	}
	if n, err := r.LastInsertId(); err == nil {
		out.LastInsertID = n
	}
	return out, nil
}

// prepare prepares a statement and converts its arguments; on an error the
// statement is closed.
func (c *Conn) prepare(ctx context.Context, query string, args []any) (driver.Stmt, []driver.NamedValue, error) {
	var stmt driver.Stmt
	var err error
	if p, ok := c.raw.(driver.ConnPrepareContext); ok {
		stmt, err = p.PrepareContext(ctx, query)
	} else {
		stmt, err = c.raw.Prepare(query)
	}
	if err != nil {
		return nil, nil, c.note(err)
	}
	values, err := c.values(stmt, args)
	if err == nil {
		// Drivers without contexts would not notice that it has ended.
		err = ctx.Err()
	}
	if err != nil {
		_ = stmt.Close()
		return nil, nil, err
	}
	return stmt, values, nil
}

// values converts arguments by the rules of database/sql: the statement's or
// the connection's own checker first, then the statement's column converter,
// then the default. stmt is nil before a statement is prepared.
func (c *Conn) values(stmt driver.Stmt, args []any) ([]driver.NamedValue, error) {
	if stmt == nil && len(args) == 0 {
		return nil, nil
	}
	checker, ok := stmt.(driver.NamedValueChecker)
	if !ok {
		checker, _ = c.raw.(driver.NamedValueChecker)
	}
	columns, _ := stmt.(driver.ColumnConverter) //nolint:staticcheck // for drivers that have nothing newer
	want := -1
	if stmt != nil {
		want = stmt.NumInput()
	}
	out := make([]driver.NamedValue, 0, len(args))
	for i, arg := range args {
		if named, ok := arg.(sql.NamedArg); ok {
			return nil, fault.Unsupported("@"+named.Name, "a named argument", "pass the arguments by position")
		}
		// Converted in its place: a checker's argument is on the heap.
		out = append(out, driver.NamedValue{Ordinal: len(out) + 1, Value: arg})
		v := &out[len(out)-1]
		if want >= 0 && len(out) > want {
			columns = nil // it knows no such column; the count is checked below
		}
		err := convert(v, checker, columns)
		if err == driver.ErrRemoveArgument { //nolint:errorlint // compared as database/sql does
			out = out[:len(out)-1]
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("sharding: argument %d: %w", i+1, err)
		}
	}
	if want >= 0 && want != len(out) {
		return nil, fmt.Errorf("sharding: expected %d arguments, got %d", want, len(out))
	}
	return out, nil
}

func convert(v *driver.NamedValue, checker driver.NamedValueChecker, columns driver.ColumnConverter) error { //nolint:staticcheck // for drivers that have nothing newer
	var err error
	if checker != nil {
		if err = checker.CheckNamedValue(v); err != driver.ErrSkip { //nolint:errorlint // compared as database/sql does
			return err
		}
	}
	var conv driver.ValueConverter = driver.DefaultParameterConverter
	if columns != nil {
		conv = columns.ColumnConverter(v.Ordinal - 1)
		// A column's converter sees the value of a driver.Valuer, the default
		// one calls it.
		if _, ok := v.Value.(driver.Valuer); ok {
			if v.Value, err = driver.DefaultParameterConverter.ConvertValue(v.Value); err != nil {
				return err
			}
		}
	}
	if v.Value, err = conv.ConvertValue(v.Value); err != nil {
		return err
	}
	if !driver.IsValue(v.Value) {
		return errors.New("the driver's converter returned no driver value")
	}
	return nil
}

func plain(values []driver.NamedValue) []driver.Value {
	out := make([]driver.Value, len(values))
	for i, v := range values {
		out[i] = v.Value
	}
	return out
}
