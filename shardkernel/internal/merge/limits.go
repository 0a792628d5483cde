package merge

import (
	"database/sql/driver"

	"github.com/gormshard/sharding/shardkernel/internal/memory"
)

// Limits bounds what one statement may hold in memory. Merges that stream hold
// one row a cursor and are not bounded by it.
type Limits struct {
	// MaxRows is the number of rows or groups. Defaults to 300000.
	MaxRows int
	// MaxBytes is their size in bytes, overhead included by estimate. Defaults
	// to 67108864 (64 MiB).
	MaxBytes int64
	// Budget, when not nil, is what all statements of the process share.
	Budget *memory.Budget
}

const (
	defaultMaxRows  = 300_000
	defaultMaxBytes = 64 << 20
)

func (l Limits) withDefaults() Limits {
	if l.MaxRows == 0 {
		l.MaxRows = defaultMaxRows
	}
	if l.MaxBytes == 0 {
		l.MaxBytes = defaultMaxBytes
	}
	return l
}

// account is what one statement holds.
type account struct {
	limits Limits
	rows   int
	bytes  int64
}

// hold books rows and bytes, or fails at a limit. Bytes may be negative when a
// value gave way to a shorter one.
func (a *account) hold(rows int, bytes int64) error {
	if a.rows+rows > a.limits.MaxRows {
		return &memory.TooManyRowsError{Limit: int64(a.limits.MaxRows), Unit: "rows", Property: "props.maxMergeRows"}
	}
	if a.bytes+bytes > a.limits.MaxBytes {
		return &memory.TooManyRowsError{Limit: a.limits.MaxBytes, Unit: "bytes", Property: "props.maxMergeBytes"}
	}
	if err := a.limits.Budget.Take(bytes); err != nil {
		return err
	}
	a.rows += rows
	a.bytes += bytes
	return nil
}

// release gives everything back. It may be called more than once.
func (a *account) release() {
	a.limits.Budget.Give(a.bytes)
	a.rows, a.bytes = 0, 0
}

// Estimated sizes, in bytes, of what Go adds to the values themselves.
const (
	valueOverhead = 16 // an interface
	rowOverhead   = 64 // slice headers and the entry in a table
	foldOverhead  = 160
)

func sizeOf(v driver.Value) int64 {
	switch v := v.(type) {
	case nil:
		return valueOverhead
	case []byte:
		return valueOverhead + 24 + int64(len(v))
	case string:
		return valueOverhead + 16 + int64(len(v))
	}
	return valueOverhead + 24
}

func sizeOfRow(row []driver.Value) int64 {
	size := int64(rowOverhead)
	for _, v := range row {
		size += sizeOf(v)
	}
	return size
}

// keep returns a value that stays valid when the cursor moves on.
func keep(v driver.Value) driver.Value {
	if b, ok := v.([]byte); ok {
		return append(make([]byte, 0, len(b)), b...)
	}
	return v
}

func keepRow(row []driver.Value) []driver.Value {
	kept := make([]driver.Value, len(row))
	for i, v := range row {
		kept[i] = keep(v)
	}
	return kept
}
