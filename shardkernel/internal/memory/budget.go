// Package memory bounds what statements hold in memory while their rows become
// one result.
package memory

import (
	"fmt"
	"sync/atomic"

	"github.com/gormshard/sharding/internal/fault"
)

// Budget is a number of bytes shared by all statements of a process. It is safe
// for concurrent use.
type Budget struct {
	max  int64
	used atomic.Int64
}

// NewBudget returns a budget of a number of bytes.
func NewBudget(bytes int64) *Budget { return &Budget{max: bytes} }

// Used returns the bytes in use.
func (b *Budget) Used() int64 { return b.used.Load() }

// Take takes bytes, or fails with a *TooManyRowsError and takes none. A nil
// Budget has no end.
func (b *Budget) Take(bytes int64) error {
	if b != nil && b.used.Add(bytes) > b.max && bytes > 0 {
		b.used.Add(-bytes)
		return &TooManyRowsError{Limit: b.max, Unit: "bytes"}
	}
	return nil
}

// Give gives bytes back that were taken.
func (b *Budget) Give(bytes int64) {
	if b != nil {
		b.used.Add(-bytes)
	}
}

// TooManyRowsError reports a statement that would hold more in memory than
// allowed. It matches fault.ErrTooManyRows.
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
