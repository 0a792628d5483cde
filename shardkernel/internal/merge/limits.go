package merge

import (
	"database/sql/driver"
	"fmt"
	"sync/atomic"

	"github.com/gormshard/sharding/internal/fault"
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
	Budget *Budget
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

// Budget is a number of bytes shared by all merges of a process. It is safe for
// concurrent use.
type Budget struct {
	max  int64
	used atomic.Int64
}

// NewBudget returns a budget of a number of bytes.
func NewBudget(bytes int64) *Budget { return &Budget{max: bytes} }

// Used returns the bytes in use.
func (b *Budget) Used() int64 { return b.used.Load() }

func (b *Budget) take(n int64) bool {
	if b.used.Add(n) > b.max && n > 0 {
		b.used.Add(-n)
		return false
	}
	return true
}

// TooManyRowsError reports a merge that would hold more in memory than allowed.
// It matches fault.ErrTooManyRows.
type TooManyRowsError struct {
	Limit int64  // the limit that was reached
	Unit  string // what it counts: rows, or bytes
	// Property is the configuration property that raises the limit; empty for
	// the limit of the whole process.
	Property string
}

func (e *TooManyRowsError) Error() string {
	if e.Property == "" {
		return fmt.Sprintf("sharding: %s: all statements of this process together would hold more than %d %s; narrow the statement, or run fewer of its kind at a time",
			fault.ErrTooManyRows, e.Limit, e.Unit)
	}
	return fmt.Sprintf("sharding: %s: the limit is %d %s; narrow the statement, or raise %s",
		fault.ErrTooManyRows, e.Limit, e.Unit, e.Property)
}

// Is matches fault.ErrTooManyRows.
func (e *TooManyRowsError) Is(target error) bool { return target == fault.ErrTooManyRows }

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
		return &TooManyRowsError{Limit: int64(a.limits.MaxRows), Unit: "rows", Property: "props.maxMergeRows"}
	}
	if a.bytes+bytes > a.limits.MaxBytes {
		return &TooManyRowsError{Limit: a.limits.MaxBytes, Unit: "bytes", Property: "props.maxMergeBytes"}
	}
	if b := a.limits.Budget; b != nil && !b.take(bytes) {
		return &TooManyRowsError{Limit: b.max, Unit: "bytes"}
	}
	a.rows += rows
	a.bytes += bytes
	return nil
}

// release gives everything back. It may be called more than once.
func (a *account) release() {
	if b := a.limits.Budget; b != nil {
		b.take(-a.bytes)
	}
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
