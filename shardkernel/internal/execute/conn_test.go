package execute

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// oldConn is a driver with the interfaces of Go 1.0 alone.
type oldConn struct {
	got    []driver.Value
	closed int // statements
}

func (c *oldConn) Connect(context.Context) (driver.Conn, error) { return c, nil }
func (c *oldConn) Driver() driver.Driver                        { return nil }
func (c *oldConn) Prepare(string) (driver.Stmt, error)          { return &oldStmt{c}, nil }
func (c *oldConn) Begin() (driver.Tx, error)                    { return oldTx{}, nil }
func (c *oldConn) Close() error                                 { return nil }

type oldTx struct{}

func (oldTx) Commit() error   { return nil }
func (oldTx) Rollback() error { return nil }

type oldStmt struct{ conn *oldConn }

func (s *oldStmt) Close() error  { s.conn.closed++; return nil }
func (s *oldStmt) NumInput() int { return 1 }

// ColumnConverter panics for a column that the statement does not have.
func (s *oldStmt) ColumnConverter(i int) driver.ValueConverter {
	return []driver.ValueConverter{driver.String}[i]
}

func (s *oldStmt) Exec(args []driver.Value) (driver.Result, error) {
	s.conn.got = args
	return driver.ResultNoRows, nil
}

func (s *oldStmt) Query(args []driver.Value) (driver.Rows, error) {
	s.conn.got = args
	return &twoResults{}, nil
}

// twoResults holds one row in each of two results, and says nothing of types.
type twoResults struct{ result, row int }

func (r *twoResults) Columns() []string { return []string{fmt.Sprintf("c%d", r.result)} }
func (r *twoResults) Close() error      { return nil }

func (r *twoResults) Next(dest []driver.Value) error {
	if r.row > 0 {
		return io.EOF
	}
	r.row++
	dest[0] = int64(r.result)
	return nil
}

func (r *twoResults) HasNextResultSet() bool { return r.result == 0 }

func (r *twoResults) NextResultSet() error {
	if r.result > 0 {
		return io.EOF
	}
	r.result, r.row = 1, 0
	return nil
}

func oldSource(t *testing.T) (*oldConn, *Source) {
	c := &oldConn{}
	s := &Source{Name: "old", DB: sql.OpenDB(c)}
	t.Cleanup(func() { _ = s.DB.Close() })
	return c, s
}

func TestADriverWithoutContextsIsServed(t *testing.T) {
	old, source := oldSource(t)
	conn, err := source.Start(t.Context(), Start{Begin: &driver.TxOptions{}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release(false)
	r, err := conn.Exec(t.Context(), "x", []any{upper("a")})
	if err != nil || r != (Result{}) {
		t.Errorf("Exec: %v, %v; want no numbers and no error", r, err)
	}
	equal(t, "argument of Exec", old.got, []driver.Value{"A"})
	rows, err := conn.Query(t.Context(), "x", []any{7})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "argument of Query", old.got, []driver.Value{"7"})
	equal(t, "statements closed while rows are open", old.closed, 1)
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
	equal(t, "statements closed", old.closed, 2)
	if _, err := conn.Exec(t.Context(), "x", []any{1, 2}); err == nil {
		t.Error("two arguments for one marker were accepted")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := conn.Exec(ended, "x", []any{1}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context's end: %v", err)
	}
	equal(t, "statements closed", old.closed, 4)
	if err := conn.Commit(); err != nil {
		t.Error(err)
	}
}

func TestADriverWithoutOptionsRefusesThem(t *testing.T) {
	_, source := oldSource(t)
	_, err := source.Start(t.Context(), Start{Begin: &driver.TxOptions{ReadOnly: true}})
	if !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("got %v, want ErrUnsupported", err)
	}
	equal(t, "connections in use", source.DB.Stats().InUse, 0)
}

func TestFurtherResultsOfOneUnitAreReached(t *testing.T) {
	_, source := oldSource(t)
	e := New(func(string) (*Source, error) { return source, nil }, Limits{})
	u := plan.Unit{DataSource: "old", SQL: "x", Args: []any{1}}
	cursors, err := e.Query(t.Context(), &plan.Execution{Units: []plan.Unit{u}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := cursors[0].(driver.RowsNextResultSet)
	row := make([]driver.Value, 1)
	for i := range 2 {
		equal(t, "columns", rows.Columns(), []string{fmt.Sprintf("c%d", i)})
		if err := rows.Next(row); err != nil || row[0] != int64(i) {
			t.Errorf("result %d: %v, %v", i, row, err)
		}
		if has := rows.HasNextResultSet(); has != (i == 0) {
			t.Errorf("result %d: HasNextResultSet is %v", i, has)
		}
		if err := rows.NextResultSet(); (err == io.EOF) != (i == 1) {
			t.Errorf("result %d: NextResultSet: %v", i, err)
		}
	}
	closeAll(t, cursors)
}

// What database/sql assumes of a driver that tells nothing of its columns.
func TestUnknownColumnTypesAreAsDatabaseSQLHasThem(t *testing.T) {
	type typed interface {
		driver.RowsColumnTypeDatabaseTypeName
		driver.RowsColumnTypeScanType
		driver.RowsColumnTypeNullable
		driver.RowsColumnTypeLength
		driver.RowsColumnTypePrecisionScale
	}
	b, err := readAll(&plan.Unit{}, &twoResults{}, &budget{maxRows: 9, maxBytes: 999})
	if err != nil {
		t.Fatal(err)
	}
	for name, rows := range map[string]typed{"cursor": &cursor{rows: &twoResults{}}, "buffer": b} {
		_, nullKnown := rows.ColumnTypeNullable(0)
		_, lengthKnown := rows.ColumnTypeLength(0)
		_, _, decimalKnown := rows.ColumnTypePrecisionScale(0)
		if rows.ColumnTypeDatabaseTypeName(0) != "" || rows.ColumnTypeScanType(0) != reflect.TypeFor[any]() ||
			nullKnown || lengthKnown || decimalKnown {
			t.Errorf("%s claims to know something of a column", name)
		}
	}
}
