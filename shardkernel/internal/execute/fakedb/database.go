// Package fakedb is a database/sql driver for tests and overhead benchmarks: a
// database whose answers are scripted and which remembers every statement it
// executed. It is strict where real drivers are: a connection runs one
// statement at a time, bytes of a row are overwritten by the next row, and a
// context that ends while the database works breaks the connection, as
// go-sql-driver/mysql does.
package fakedb

import (
	"database/sql"
	"database/sql/driver"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Column describes a column of an answer.
type Column struct {
	Name string
	// Type is the database type's name, such as BIGINT.
	Type     string
	Nullable bool
	// ScanType is nil for any.
	ScanType reflect.Type
}

// Columns returns columns of the given names, all of type VARCHAR.
func Columns(names ...string) []Column {
	out := make([]Column, len(names))
	for i, n := range names {
		out[i] = Column{Name: n, Type: "VARCHAR"}
	}
	return out
}

// Answer is what the database does with a statement. The zero Answer succeeds
// with no rows and nothing affected.
type Answer struct {
	Columns  []Column
	Rows     [][]driver.Value
	Affected int64
	InsertID int64

	// Err is returned instead of a result. driver.ErrBadConn itself means what
	// it means to database/sql, that the statement was not sent: it is not
	// counted as executed. Any other error is returned after execution.
	Err error
	// Cut is returned by Next after the last row, in place of the end.
	Cut error
	// Break makes the connection invalid when Err or Cut is returned.
	Break bool

	// Delay passes before the answer, and RowDelay before each row.
	Delay, RowDelay time.Duration
	// Hold, when not nil, is waited for before the answer.
	Hold <-chan struct{}
}

// Statement is an executed statement. Transactions appear as BEGIN (followed by
// the options that are not the default), COMMIT and ROLLBACK.
type Statement struct {
	Conn int // connections count from 1 in the order they were opened
	SQL  string
	Args []driver.Value
}

// Database is one scripted database. Set it up before it is used; its methods
// are safe for concurrent use.
type Database struct {
	// PrepareOnly makes statements with arguments take the way through Prepare,
	// as go-sql-driver/mysql does without interpolateParams.
	PrepareOnly bool

	fast *Answer

	mu         sync.Mutex
	script     map[string][]Answer
	otherwise  Answer
	connectErr error
	executed   []Statement
	misuse     []string
	conns      int

	open  atomic.Int64
	stmts atomic.Int64
}

// New returns a database that answers every statement with the zero Answer.
func New() *Database { return &Database{script: map[string][]Answer{}} }

// Fast returns a database for benchmarks: every statement gets the same answer
// at once, nothing is recorded, nothing is checked.
func Fast(answer Answer) *Database {
	d := New()
	d.fast = &answer
	return d
}

// DB returns a new pool on the database. The caller closes it.
func (d *Database) DB() *sql.DB { return sql.OpenDB(d.Connector()) }

// Connector returns the database's connector.
func (d *Database) Connector() driver.Connector { return connector{d} }

// On sets the answers to a statement of exactly this text: the first execution
// gets the first one, and the last is repeated.
func (d *Database) On(query string, answers ...Answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.script[query] = answers
}

// Otherwise sets the answer to the statements not set by On, transaction
// control and savepoints excepted.
func (d *Database) Otherwise(a Answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.otherwise = a
}

// FailConnect makes new connections fail with err; nil lets them succeed again.
func (d *Database) FailConnect(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.connectErr = err
}

// Executed returns the statements executed so far, in their order.
func (d *Database) Executed() []Statement {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.executed)
}

// Texts returns the texts of the statements executed so far.
func (d *Database) Texts() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]string, len(d.executed))
	for i, s := range d.executed {
		out[i] = s.SQL
	}
	return out
}

// Count returns how often a statement of exactly this text was executed.
func (d *Database) Count(query string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, s := range d.executed {
		if s.SQL == query {
			n++
		}
	}
	return n
}

// Misuse returns what callers did that a real connection would not survive,
// such as a statement while the rows of another were open.
func (d *Database) Misuse() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.misuse)
}

// OpenConns returns the number of connections that are open.
func (d *Database) OpenConns() int { return int(d.open.Load()) }

// OpenStmts returns the number of prepared statements that are open.
func (d *Database) OpenStmts() int { return int(d.stmts.Load()) }

// answer records the execution and returns the answer to it.
func (d *Database) answer(conn int, query string, args []driver.NamedValue) Answer {
	d.mu.Lock()
	defer d.mu.Unlock()
	var a Answer
	if queue, ok := d.script[query]; ok && len(queue) > 0 {
		a = queue[0]
		if len(queue) > 1 {
			d.script[query] = queue[1:]
		}
	} else if !control(query) {
		a = d.otherwise
	}
	if a.Err == driver.ErrBadConn { //nolint:errorlint // the value itself promises that nothing was sent
		return a
	}
	values := make([]driver.Value, len(args))
	for i, arg := range args {
		values[i] = arg.Value
	}
	d.executed = append(d.executed, Statement{Conn: conn, SQL: query, Args: values})
	return a
}

func (d *Database) blame(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.misuse = append(d.misuse, what)
}
