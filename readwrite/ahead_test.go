package readwrite

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// script is a driver whose connections answer every query alike.
type script struct {
	rows     int   // of an answer
	size     int   // of their texts, in bytes
	fails    int   // the row at which the connection is lost; 0 for none
	err      error // what it is lost with
	prepares bool  // as where arguments are not written into the text
	more     bool  // another result follows

	mu     sync.Mutex
	given  int // rows, to database/sql or ahead of it
	closed int // statements
}

func (s *script) open(t *testing.T) (*Lines, *sql.DB) {
	t.Helper()
	lines := &Lines{}
	db := sql.OpenDB(lines.Connector(s))
	t.Cleanup(func() {
		if n := db.Stats().InUse; n != 0 {
			t.Errorf("%d connections are in use", n)
		}
		_ = db.Close()
	})
	return lines, db
}

func (s *script) Connect(context.Context) (driver.Conn, error) { return &scripted{script: s}, nil }
func (s *script) Driver() driver.Driver                        { return nil }

// scripted is a connection, and the one statement of it.
type scripted struct {
	driver.Conn
	script *script
	stmt   bool
}

func (c *scripted) Close() error {
	if c.stmt {
		c.script.mu.Lock()
		defer c.script.mu.Unlock()
		c.script.closed++
		return mysql.ErrInvalidConn // it is lost since
	}
	return nil
}

func (c *scripted) Prepare(string) (driver.Stmt, error) {
	return scriptedStmt{&scripted{script: c.script, stmt: true}}, nil
}

func (c *scripted) QueryContext(_ context.Context, _ string, args []driver.NamedValue) (driver.Rows, error) {
	if c.script.prepares && !c.stmt && len(args) > 0 {
		return nil, driver.ErrSkip
	}
	return &scriptedRows{script: c.script, more: c.script.more}, nil
}

type scriptedStmt struct{ *scripted }

func (s scriptedStmt) NumInput() int                              { return 1 }
func (s scriptedStmt) Exec([]driver.Value) (driver.Result, error) { return nil, errors.ErrUnsupported }

func (s scriptedStmt) Query([]driver.Value) (driver.Rows, error) { return nil, errors.ErrUnsupported }

func (s scriptedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.scripted.QueryContext(ctx, "", args)
}

type scriptedRows struct {
	script *script
	row    int
	buffer []byte // used again for every row, as a driver may
	more   bool
}

func (r *scriptedRows) Columns() []string                       { return []string{"n", "text"} }
func (r *scriptedRows) Close() error                            { return nil }
func (r *scriptedRows) ColumnTypeDatabaseTypeName(i int) string { return []string{"INT", "TEXT"}[i] }
func (r *scriptedRows) HasNextResultSet() bool                  { return r.more }

func (r *scriptedRows) NextResultSet() error {
	if !r.more {
		return io.EOF
	}
	r.row, r.more = 0, false
	return nil
}

func (r *scriptedRows) Next(dest []driver.Value) error {
	r.script.mu.Lock()
	defer r.script.mu.Unlock()
	r.buffer = append(r.buffer[:0], bytes.Repeat([]byte{'-'}, r.script.size)...)
	switch {
	case r.script.fails > 0 && r.row+1 == r.script.fails:
		return r.script.err
	case r.row == r.script.rows:
		return io.EOF
	}
	r.script.given++
	r.row++
	for i := range r.buffer {
		r.buffer[i] = 'a' + byte(r.row%26)
	}
	dest[0], dest[1] = int64(r.row), r.buffer
	return nil
}

// read returns the numbers of the rows, and fails where a text is another row's.
func read(t *testing.T, rows *sql.Rows) (numbers []int64) {
	t.Helper()
	for rows.Next() {
		var n int64
		var text []byte
		if err := rows.Scan(&n, &text); err != nil {
			t.Error(err)
		}
		for _, b := range text {
			if b != 'a'+byte(n%26) {
				t.Errorf("row %d has the text %q", n, text)
				break
			}
		}
		numbers = append(numbers, n)
	}
	return numbers
}

func upTo(n int) (out []int64) {
	for i := range n {
		out = append(out, int64(i+1))
	}
	return out
}

func TestAQueryHasItsFirst64KiBWhenItReturns(t *testing.T) {
	for _, test := range []struct {
		name   string
		script *script
		args   []any
		off    bool
		ahead  int // rows that have come when the query returns
	}{
		{name: "no rows", script: &script{}},
		{name: "all of a small answer", script: &script{rows: 7, size: 100}, ahead: 7},
		{name: "the beginning of a great one", script: &script{rows: 100, size: 1 << 10}, ahead: 63},
		{name: "one long row", script: &script{rows: 3, size: 1 << 20}, ahead: 1},
		{name: "with arguments", script: &script{rows: 7, size: 100, prepares: true}, args: []any{1}, ahead: 7},
		{name: "off", script: &script{rows: 7, size: 100}, off: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := test.script
			lines, db := s.open(t)
			lines.FetchAhead(!test.off)
			for range 2 { // the second one has the room of the first
				rows, err := db.QueryContext(t.Context(), "SELECT", test.args...)
				if err != nil {
					t.Fatal(err)
				}
				if s.given != test.ahead {
					t.Errorf("%d rows have come, want %d", s.given, test.ahead)
				}
				types, err := rows.ColumnTypes()
				if err != nil || types[1].DatabaseTypeName() != "TEXT" {
					t.Errorf("column types %v, error %v", types, err)
				}
				if got := read(t, rows); !slices.Equal(got, upTo(s.rows)) {
					t.Errorf("rows %v", got)
				}
				if err := errors.Join(rows.Err(), rows.Close()); err != nil {
					t.Error(err)
				}
				s.given = 0
			}
			if want := 2 * len(test.args); s.closed != want {
				t.Errorf("%d statements were closed, want %d", s.closed, want)
			}
		})
	}
}

func TestAnErrorAmongTheFirst64KiBFailsTheQuery(t *testing.T) {
	lost := errors.New("lost")
	for _, test := range []struct {
		name   string
		script *script
		query  error // of the query
		rows   int   // that it gives before it fails
	}{
		{"at the first row", &script{rows: 9, fails: 1, err: lost}, lost, 0},
		{"before the end", &script{rows: 9, size: 100, fails: 10, err: lost}, lost, 0},
		// database/sql would send it again by itself.
		{"as a bad connection", &script{rows: 9, fails: 5, err: driver.ErrBadConn}, mysql.ErrInvalidConn, 0},
		{"later", &script{rows: 100, size: 1 << 10, fails: 90, err: lost}, nil, 89},
	} {
		t.Run(test.name, func(t *testing.T) {
			lines, db := test.script.open(t)
			lines.FetchAhead(true)
			rows, err := db.QueryContext(t.Context(), "SELECT")
			if !errors.Is(err, test.query) {
				t.Fatalf("error %v, want %v", err, test.query)
			}
			if err != nil {
				return
			}
			defer rows.Close()
			if got := read(t, rows); !slices.Equal(got, upTo(test.rows)) || !errors.Is(rows.Err(), lost) {
				t.Errorf("rows %v, error %v", got, rows.Err())
			}
		})
	}
}

func TestResultsBehindTheFirstAreRead(t *testing.T) {
	s := &script{rows: 3, size: 10, more: true}
	lines, db := s.open(t)
	lines.FetchAhead(true)
	for _, skip := range []bool{false, true} {
		rows, err := db.QueryContext(t.Context(), "SELECT; SELECT")
		if err != nil {
			t.Fatal(err)
		}
		if !skip {
			read(t, rows)
		}
		if !rows.NextResultSet() {
			t.Fatalf("there is no second result: %v", rows.Err())
		}
		if got := read(t, rows); !slices.Equal(got, upTo(3)) || rows.NextResultSet() {
			t.Errorf("rows %v", got)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Error(err)
		}
	}
}

// Rows that were closed lend their room to others, which must not see through.
func TestFetchedRowsAreNobodyElses(t *testing.T) {
	s := &script{rows: 30, size: 50}
	lines, db := s.open(t)
	lines.FetchAhead(true)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				rows, err := db.QueryContext(t.Context(), "SELECT")
				if err != nil {
					t.Error(err)
					return
				}
				if got := read(t, rows); !slices.Equal(got, upTo(30)) {
					t.Errorf("rows %v", got)
				}
				_ = rows.Close()
			}
		})
	}
	wg.Wait()
}
