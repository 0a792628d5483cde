package merge

import (
	"bytes"
	"database/sql/driver"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// fake is a cursor over rows in memory. Like MySQL's driver it hands out bytes
// of one buffer, which it overwrites when it is asked for more or closed.
type fake struct {
	names    []string
	types    []string
	scale    int64 // of every DECIMAL column; negative: not reported
	rows     [][]driver.Value
	err      error // after the rows, instead of io.EOF
	closeErr error
	read     int
	closed   int
	buffer   []byte
}

// cursor makes a fake of columns written "name TYPE".
func cursor(columns string, rows ...[]driver.Value) *fake {
	f := &fake{rows: rows, scale: -1}
	for _, c := range strings.Split(columns, ",") {
		name, typeName, _ := strings.Cut(strings.TrimSpace(c), " ")
		f.names, f.types = append(f.names, name), append(f.types, typeName)
	}
	return f
}

func row(values ...driver.Value) []driver.Value { return values }

func text(s string) []byte { return []byte(s) }

func (f *fake) Columns() []string { return f.names }

func (f *fake) Next(dest []driver.Value) error {
	if f.closed > 0 {
		panic("Next of a closed cursor")
	}
	f.scribble()
	if f.read == len(f.rows) {
		if f.err != nil {
			return f.err
		}
		return io.EOF
	}
	f.buffer = f.buffer[:0]
	for i, v := range f.rows[f.read] {
		if b, ok := v.([]byte); ok {
			start := len(f.buffer)
			if cap(f.buffer)-start < len(b) {
				f.buffer, start = make([]byte, 0, 1024+len(b)), 0
			}
			f.buffer = append(f.buffer, b...)
			v = f.buffer[start:len(f.buffer):len(f.buffer)]
		}
		dest[i] = v
	}
	f.read++
	return nil
}

func (f *fake) scribble() {
	for i := range f.buffer {
		f.buffer[i] = '#'
	}
}

func (f *fake) Close() error {
	f.scribble()
	f.closed++
	return f.closeErr
}

func (f *fake) ColumnTypeDatabaseTypeName(i int) string { return f.types[i] }

func (f *fake) ColumnTypeScanType(i int) reflect.Type {
	if f.types[i] == "BIGINT" {
		return reflect.TypeFor[int64]()
	}
	return reflect.TypeFor[[]byte]()
}

func (f *fake) ColumnTypeNullable(i int) (nullable, ok bool) { return f.types[i] != "BIGINT", true }

func (f *fake) ColumnTypeLength(i int) (length int64, ok bool) {
	if f.types[i] == "TEXT" {
		return math.MaxUint16, true
	}
	return 0, false
}

func (f *fake) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	if f.types[i] == "DECIMAL" && f.scale >= 0 {
		return 20, f.scale, true
	}
	return 0, 0, false
}

func asRows(cursors []*fake) []driver.Rows {
	rows := make([]driver.Rows, len(cursors))
	for i, c := range cursors {
		rows[i] = c
	}
	return rows
}

// merged returns the rows as lines, and the error that ended them. It fails the
// test unless every cursor was closed exactly once in the end.
func merged(t testing.TB, recipe *plan.Merge, cursors ...*fake) ([]string, error) {
	t.Helper()
	return mergedWithin(t, Limits{}, recipe, cursors...)
}

func mergedWithin(t testing.TB, limits Limits, recipe *plan.Merge, cursors ...*fake) ([]string, error) {
	t.Helper()
	defer closedOnce(t, cursors)
	rows, err := Rows(recipe, asRows(cursors), limits)
	if err != nil {
		return nil, err
	}
	lines, err := drain(rows)
	if closeErr := rows.Close(); closeErr != nil {
		t.Errorf("Close: %v", closeErr)
	}
	return lines, err
}

func drain(rows driver.Rows) ([]string, error) {
	var lines []string
	dest := make([]driver.Value, len(rows.Columns()))
	for {
		if err := rows.Next(dest); err != nil {
			if isEnd(err) {
				return lines, nil
			}
			return lines, err
		}
		lines = append(lines, line(dest))
	}
}

func line(values []driver.Value) string {
	var b bytes.Buffer
	for i, v := range values {
		if i > 0 {
			b.WriteByte(' ')
		}
		switch v := v.(type) {
		case nil:
			b.WriteString("NULL")
		case []byte:
			b.WriteString(strconv.Quote(string(v)))
		default:
			fmt.Fprint(&b, v)
		}
	}
	return b.String()
}

func closedOnce(t testing.TB, cursors []*fake) {
	t.Helper()
	for i, c := range cursors {
		if c.closed != 1 {
			t.Errorf("cursor %d was closed %d times, want once", i, c.closed)
		}
	}
}

// want fails the test unless the merge gives these rows.
func want(t testing.TB, rows []string, recipe *plan.Merge, cursors ...*fake) {
	t.Helper()
	got, err := merged(t, recipe, cursors...)
	if err != nil {
		t.Fatalf("merge failed: %v\nafter %q", err, got)
	}
	if strings.Join(got, "\n") != strings.Join(rows, "\n") {
		t.Errorf("got rows\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(rows, "\n  "))
	}
}

func at(i int) plan.ColumnRef { return plan.ColumnRef{Index: i} }

func fromEnd(i int) plan.ColumnRef { return plan.ColumnRef{Index: i, FromEnd: true} }
