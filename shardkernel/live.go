package shardkernel

import (
	"database/sql/driver"
	"io"
	"sync"
	"sync/atomic"
)

// Live is the kernel in force. Swap puts another one in its place while
// statements run; each of them is planned and sent by the kernel that it began
// with. It is safe for concurrent use.
type Live struct{ current atomic.Pointer[Kernel] }

// NewLive returns a Live with its first kernel.
func NewLive(k *Kernel) *Live {
	l := new(Live)
	l.current.Store(k)
	return l
}

// Kernel returns the kernel in force, for what needs none of its data sources.
func (l *Live) Kernel() *Kernel { return l.current.Load() }

// Acquire returns the kernel in force for one statement, which ends with Release.
// It takes no lock and allocates nothing.
func (l *Live) Acquire() *Kernel {
	for {
		k := l.current.Load()
		k.uses.count.Add(oneStatement)
		// One that was replaced before it was counted may be closed by now.
		if l.current.Load() == k {
			return k
		}
		k.Release()
	}
}

// Swap puts a kernel in the place of the one in force, which it returns.
// Statements that begin after Swap has returned are the new one's.
func (l *Live) Swap(next *Kernel) *Kernel {
	before := l.current.Swap(next)
	next.moveGenerators(before)
	before.uses.retire()
	return before
}

// uses counts what needs a kernel: statements on their way, in the lower half,
// and what stays behind when these have returned, rows, begun transactions and
// connections that are kept.
type uses struct {
	count   atomic.Int64
	retired atomic.Bool

	quiet, unused         chan struct{} // closed when there are no statements any more, and nothing at all
	quietOnce, unusedOnce sync.Once
}

const (
	oneStatement = 1
	oneHold      = 1 << 32
	statements   = oneHold - 1
)

func (u *uses) leave(n int64) {
	// Counted anew: before it was replaced, others may have begun meanwhile.
	if u.count.Add(-n)&statements == 0 && u.retired.Load() {
		u.settle(u.count.Load())
	}
}

func (u *uses) retire() {
	u.retired.Store(true)
	u.settle(u.count.Load())
}

func (u *uses) settle(left int64) {
	if left&statements == 0 {
		u.quietOnce.Do(func() { close(u.quiet) })
	}
	if left == 0 {
		u.unusedOnce.Do(func() { close(u.unused) })
	}
}

// Release ends a statement that began with Acquire.
func (k *Kernel) Release() { k.uses.leave(oneStatement) }

// hold keeps the kernel in use beyond the statement at hand.
func (k *Kernel) hold() { k.uses.count.Add(oneHold) }

func (k *Kernel) unhold() { k.uses.leave(oneHold) }

// Quiet is closed when a kernel that was replaced has no statement on its way any
// more. Transactions that have begun, and rows, may still be open.
func (k *Kernel) Quiet() <-chan struct{} { return k.uses.quiet }

// Unused is closed when nothing needs a kernel any more that was replaced.
func (k *Kernel) Unused() <-chan struct{} { return k.uses.unused }

// forwardedRows pass on what only texts of several statements have.
type forwardedRows struct{ columnRows }

// HasNextResultSet implements driver.RowsNextResultSet: texts of several statements
// have several results.
func (r forwardedRows) HasNextResultSet() bool {
	several, ok := r.columnRows.(driver.RowsNextResultSet)
	return ok && several.HasNextResultSet()
}

// NextResultSet implements driver.RowsNextResultSet.
func (r forwardedRows) NextResultSet() error {
	if several, ok := r.columnRows.(driver.RowsNextResultSet); ok {
		return several.NextResultSet()
	}
	return io.EOF
}

// heldRows keep their kernel in use.
type heldRows struct {
	forwardedRows
	kernel *Kernel // nil once they are closed
}

// held returns rows that keep the kernel in use until they are closed.
func (k *Kernel) held(rows driver.Rows) driver.Rows {
	if _, none := rows.(noRows); none {
		return rows
	}
	k.hold()
	return &heldRows{forwardedRows{rows.(columnRows)}, k}
}

func (r *heldRows) Close() error {
	err := r.columnRows.Close()
	if r.kernel != nil {
		r.kernel.unhold()
		r.kernel = nil
	}
	return err
}
