package shardkernel

import (
	"database/sql/driver"
	"errors"
	"io"
	"testing"
)

// numbered are rows that count, and fail behind one.
type numbered struct {
	columnRows
	last   int
	err    error
	given  int
	closed bool
	value  []byte
}

func (r *numbered) Columns() []string { return []string{"n", "text"} }

func (r *numbered) Close() error {
	r.closed = true
	return nil
}

func (r *numbered) Next(dest []driver.Value) error {
	if r.given == r.last {
		return r.err
	}
	r.given++
	r.value[0] = byte(r.given) // the driver's, until the next row
	dest[0], dest[1] = int64(r.given), r.value
	return nil
}

func TestAReplicaFailsBeforeItsFirstRowsOrNotAtAll(t *testing.T) {
	lost := errors.New("lost")
	for name, c := range map[string]struct {
		rows    int
		size    int
		err     error
		fetched int // rows that are read before the first is given
		fails   bool
	}{
		"none":                    {0, 1, io.EOF, 0, false},
		"none, and an error":      {0, 1, lost, 0, true},
		"some":                    {10, 100, io.EOF, 10, false},
		"some, and an error":      {10, 100, lost, 10, true},
		"many":                    {1000, 1 << 10, io.EOF, 63, false},
		"many, with a late error": {1000, 1 << 10, lost, 63, false},
	} {
		t.Run(name, func(t *testing.T) {
			source := &numbered{last: c.rows, err: c.err, value: make([]byte, c.size)}
			rows, err := fetch(source)
			if source.given != c.fetched || (err != nil) != c.fails || source.closed != c.fails {
				t.Fatalf("%d rows were read, %v, closed: %v; want %d, %v", source.given, err, source.closed, c.fetched, c.fails)
			}
			if c.fails {
				return
			}
			dest := make([]driver.Value, 2)
			for n := 1; ; n++ {
				err := rows.Next(dest)
				if err != nil {
					if !errors.Is(err, c.err) || n != c.rows+1 {
						t.Fatalf("%v behind %d rows, want %v behind %d", err, n-1, c.err, c.rows)
					}
					return
				}
				if dest[0] != int64(n) || dest[1].([]byte)[0] != byte(n) {
					t.Fatalf("row %d is %v, %v", n, dest[0], dest[1].([]byte)[0])
				}
			}
		})
	}
}
