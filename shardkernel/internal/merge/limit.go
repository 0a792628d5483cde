package merge

import (
	"database/sql/driver"
	"io"
)

// limit skips rows, then gives a number of them.
type limit struct {
	rows       stream
	skip, left uint64
}

func (l *limit) next(dest []driver.Value) error {
	// The cursors are not read beyond the last row wanted, and the bytes of that
	// row stay valid until the caller asks once more and learns of the end.
	if l.left == 0 {
		return io.EOF
	}
	for ; l.skip > 0; l.skip-- {
		if err := l.rows.next(dest); err != nil {
			return err
		}
	}
	if err := l.rows.next(dest); err != nil {
		return err
	}
	l.left--
	return nil
}
