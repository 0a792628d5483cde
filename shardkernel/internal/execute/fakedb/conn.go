package fakedb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"
)

// control reports whether query controls a transaction.
func control(query string) bool {
	verb, _, _ := strings.Cut(query, " ")
	switch verb {
	case "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE":
		return true
	}
	return false
}

type connector struct{ db *Database }

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.db.mu.Lock()
	defer c.db.mu.Unlock()
	if c.db.connectErr != nil {
		return nil, c.db.connectErr
	}
	c.db.conns++
	c.db.open.Add(1)
	return &conn{db: c.db, id: c.db.conns}, nil
}

func (c connector) Driver() driver.Driver { return fakeDriver{} }

type fakeDriver struct{}

func (fakeDriver) Open(string) (driver.Conn, error) {
	return nil, errors.New("fakedb: open by Connector only")
}

// conn is used by one goroutine at a time, as database/sql promises; the race
// detector tells when it is not.
type conn struct {
	db      *Database
	id      int
	broken  error  // why the connection is of no more use
	reading string // the statement whose rows are open
	inTx    bool
	closed  bool
	buf     []byte // holds the bytes of the current row
}

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

func (c *conn) IsValid() bool { return c.broken == nil && c.reading == "" }

func (c *conn) ResetSession(context.Context) error {
	if c.inTx {
		c.db.blame("a connection went back to its pool with an open transaction")
	}
	if !c.IsValid() {
		return driver.ErrBadConn
	}
	return nil
}

func (c *conn) Ping(context.Context) error { return nil }

func (c *conn) Close() error {
	if !c.closed {
		c.closed = true
		c.db.open.Add(-1)
	}
	return nil
}

// CheckNamedValue lets a uint64 with the highest bit through, as MySQL's driver
// does, and leaves the rest to database/sql.
func (c *conn) CheckNamedValue(nv *driver.NamedValue) error {
	if _, ok := nv.Value.(uint64); ok {
		return nil
	}
	return driver.ErrSkip
}

// run executes a statement up to the point where its rows would be read.
func (c *conn) run(ctx context.Context, query string, args []driver.NamedValue) (*Answer, error) {
	if c.db.fast != nil {
		return c.db.fast, nil
	}
	if c.closed {
		c.db.blame(fmt.Sprintf("%q on a closed connection", query))
		return nil, driver.ErrBadConn
	}
	if c.broken != nil {
		return nil, driver.ErrBadConn
	}
	if c.reading != "" {
		c.db.blame(fmt.Sprintf("%q while the rows of %q are open", query, c.reading))
		return nil, errors.New("fakedb: commands out of sync")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a := c.db.answer(c.id, query, args)
	if err := c.wait(ctx, a.Delay, a.Hold); err != nil {
		return nil, err
	}
	if a.Err != nil {
		if a.Break {
			c.broken = a.Err
		}
		return nil, a.Err
	}
	return &a, nil
}

// wait passes the time the database works. A context that ends meanwhile breaks
// the connection.
func (c *conn) wait(ctx context.Context, delay time.Duration, hold <-chan struct{}) error {
	if hold == nil && delay == 0 {
		return nil
	}
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			c.broken = ctx.Err()
			return c.broken
		}
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		c.broken = ctx.Err()
		return c.broken
	}
	return nil
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if c.db.PrepareOnly && len(args) > 0 {
		return nil, driver.ErrSkip
	}
	return c.query(ctx, query, args)
}

func (c *conn) query(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	a, err := c.run(ctx, query, args)
	if err != nil {
		return nil, err
	}
	if c.db.fast == nil {
		c.reading = query
	}
	return &rows{conn: c, ctx: ctx, answer: a}, nil
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if c.db.PrepareOnly && len(args) > 0 {
		return nil, driver.ErrSkip
	}
	return c.exec(ctx, query, args)
}

func (c *conn) exec(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if query == "ROLLBACK" {
		c.inTx = false
	}
	a, err := c.run(ctx, query, args)
	if err != nil {
		return nil, err
	}
	return (*result)(a), nil
}

func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

func (c *conn) PrepareContext(_ context.Context, query string) (driver.Stmt, error) {
	c.db.stmts.Add(1)
	return &stmt{conn: c, query: query}, nil
}

func (c *conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	query := "BEGIN"
	if opts.Isolation != 0 {
		query += " " + sql.IsolationLevel(opts.Isolation).String()
	}
	if opts.ReadOnly {
		query += " READ ONLY"
	}
	if _, err := c.run(ctx, query, nil); err != nil {
		return nil, err
	}
	c.inTx = true
	return tx{c}, nil
}

type tx struct{ conn *conn }

func (t tx) Commit() error   { return t.end("COMMIT") }
func (t tx) Rollback() error { return t.end("ROLLBACK") }

func (t tx) end(query string) error {
	t.conn.inTx = false
	_, err := t.conn.run(context.Background(), query, nil)
	return err
}

type stmt struct {
	conn   *conn
	query  string
	closed bool
}

func (s *stmt) Close() error {
	if !s.closed {
		s.closed = true
		s.conn.db.stmts.Add(-1)
	}
	return nil
}

// NumInput counts the question marks: scripts hold none in literals.
func (s *stmt) NumInput() int { return strings.Count(s.query, "?") }

func (s *stmt) Exec([]driver.Value) (driver.Result, error) { return nil, errors.ErrUnsupported }
func (s *stmt) Query([]driver.Value) (driver.Rows, error)  { return nil, errors.ErrUnsupported }

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.conn.exec(ctx, s.query, args)
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.conn.query(ctx, s.query, args)
}

type result Answer

func (r *result) LastInsertId() (int64, error) { return r.InsertID, nil }
func (r *result) RowsAffected() (int64, error) { return r.Affected, nil }

type rows struct {
	conn   *conn
	ctx    context.Context
	answer *Answer
	next   int
	closed bool
}

var (
	_ driver.RowsColumnTypeDatabaseTypeName = (*rows)(nil)
	_ driver.RowsColumnTypeNullable         = (*rows)(nil)
	_ driver.RowsColumnTypeScanType         = (*rows)(nil)
)

func (r *rows) Columns() []string {
	out := make([]string, len(r.answer.Columns))
	for i, c := range r.answer.Columns {
		out[i] = c.Name
	}
	return out
}

func (r *rows) ColumnTypeDatabaseTypeName(i int) string { return r.answer.Columns[i].Type }

func (r *rows) ColumnTypeNullable(i int) (nullable, ok bool) {
	return r.answer.Columns[i].Nullable, true
}

func (r *rows) ColumnTypeScanType(i int) reflect.Type {
	if t := r.answer.Columns[i].ScanType; t != nil {
		return t
	}
	return reflect.TypeFor[any]()
}

func (r *rows) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	if r.conn.db.fast != nil {
		return nil
	}
	r.conn.spoil()
	r.conn.reading = ""
	return r.conn.broken
}

func (r *rows) Next(dest []driver.Value) error {
	if r.conn.db.fast != nil {
		return r.give(dest)
	}
	r.conn.spoil()
	if r.closed {
		r.conn.db.blame("Next on closed rows")
		return io.EOF
	}
	if r.conn.broken != nil {
		return r.conn.broken
	}
	if err := r.ctx.Err(); err != nil {
		r.conn.broken = err
		return err
	}
	if r.next < len(r.answer.Rows) {
		if err := r.conn.wait(r.ctx, r.answer.RowDelay, nil); err != nil {
			return err
		}
	}
	if err := r.give(dest); err != nil {
		if r.answer.Cut == nil {
			r.conn.reading = ""
			return err
		}
		if r.answer.Break {
			r.conn.broken = r.answer.Cut
		}
		return r.answer.Cut
	}
	r.conn.borrow(dest)
	return nil
}

func (r *rows) give(dest []driver.Value) error {
	if r.next >= len(r.answer.Rows) {
		return io.EOF
	}
	copy(dest, r.answer.Rows[r.next])
	r.next++
	return nil
}

// borrow moves the bytes of a row into the connection's buffer.
func (c *conn) borrow(dest []driver.Value) {
	for i, v := range dest {
		b, ok := v.([]byte)
		if !ok || b == nil {
			continue
		}
		start := len(c.buf)
		c.buf = append(c.buf, b...)
		dest[i] = c.buf[start:len(c.buf):len(c.buf)]
	}
}

// spoil overwrites the bytes of the row before, which its reader may not keep.
func (c *conn) spoil() {
	for i := range c.buf {
		c.buf[i] = '#'
	}
	c.buf = c.buf[:0]
}
