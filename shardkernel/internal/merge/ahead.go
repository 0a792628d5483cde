package merge

import (
	"database/sql/driver"
	"io"
)

// The rows that are looked at ahead, and their size in bytes: beyond either no
// further one is. Many results are shorter, such as those of a page, and the rest is
// not held.
const (
	aheadRows  = 256
	aheadBytes = 64 << 10
)

// ahead reads the first rows of a stream before one of them is given, so that values
// which cannot be merged are found while the statement can still be answered in
// another way.
type ahead struct {
	rows  stream
	kept  [][]driver.Value
	given int
	ended bool // there are no rows behind those kept
}

func newAhead(rows stream, columns int) (*ahead, error) {
	a := &ahead{rows: rows}
	row := make([]driver.Value, columns)
	for size := int64(0); len(a.kept) < aheadRows && size < aheadBytes; size += sizeOfRow(row) {
		err := rows.next(row)
		if isEnd(err) {
			a.ended = true
			break
		}
		if err != nil {
			return nil, err
		}
		a.kept = append(a.kept, keepRow(row))
	}
	return a, nil
}

func (a *ahead) next(dest []driver.Value) error {
	if a.given < len(a.kept) {
		copy(dest, a.kept[a.given])
		a.kept[a.given] = nil
		a.given++
		return nil
	}
	if a.ended {
		return io.EOF
	}
	return a.rows.next(dest)
}
