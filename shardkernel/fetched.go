package shardkernel

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"slices"

	"github.com/gormshard/sharding/shardkernel/internal/execute"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// fetchedBytes is how much of a replica's answer is read before its rows are
// given: while none has been, a read that fails can be sent elsewhere.
const fetchedBytes = 64 << 10

// fetchedRows are rows of which the first have been read.
type fetchedRows struct {
	columnRows
	first [][]driver.Value
	end   error // behind the first rows; nil while others may come
}

func (r *fetchedRows) Next(dest []driver.Value) error {
	switch {
	case len(r.first) > 0:
		copy(dest, r.first[0])
		r.first = r.first[1:]
		return nil
	case r.end != nil:
		return r.end
	}
	return r.columnRows.Next(dest)
}

// read runs a read, and fetches the first rows where a replica answers that may be
// replaced by another one, unlike that of a transaction.
func (k *Kernel) read(ctx context.Context, ex *plan.Execution, branches execute.Branches) (driver.Rows, error) {
	rows, err := k.merged(ctx, ex, branches)
	if err != nil || !k.grouped || branches != nil || !slices.ContainsFunc(unitsOf(ex), func(u *plan.Unit) bool { return u.Member != "" }) {
		return rows, err
	}
	return fetch(rows)
}

// fetch reads the first rows. It closes them when one fails.
func fetch(rows driver.Rows) (driver.Rows, error) {
	f := &fetchedRows{columnRows: rows.(columnRows)}
	for size := 0; size < fetchedBytes; {
		row := make([]driver.Value, len(f.Columns()))
		err := f.columnRows.Next(row)
		if err == io.EOF { //nolint:errorlint // a driver's end of rows is the value itself
			f.end = err
			break
		}
		if err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		for i, v := range row {
			size += 16
			switch v := v.(type) {
			case []byte:
				row[i], size = slices.Clone(v), size+len(v)
			case string:
				size += len(v)
			}
		}
		f.first = append(f.first, row)
	}
	return f, nil
}
