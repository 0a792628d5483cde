package merge

import (
	"database/sql/driver"
	"io"
)

// iterate gives the rows of one cursor after the other.
type iterate struct {
	inputs  *inputs
	current int
	row     []driver.Value // the whole row; nil when no column is hidden
}

func newIterate(head *header, in *inputs) *iterate {
	it := &iterate{inputs: in}
	if len(head.names) < len(head.columns) {
		it.row = make([]driver.Value, len(head.columns))
	}
	return it
}

func (it *iterate) next(dest []driver.Value) error {
	row := it.row
	if row == nil {
		row = dest
	}
	for it.current < len(it.inputs.cursors) {
		err := it.inputs.next(it.current, row)
		if isEnd(err) {
			it.current++
			continue
		}
		if err != nil {
			return err
		}
		if it.row != nil {
			copy(dest, row)
		}
		return nil
	}
	return io.EOF
}
