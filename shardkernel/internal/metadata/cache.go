// Package metadata reads what the data sources say of themselves and of their
// tables, and keeps the columns of tables for a while.
package metadata

import (
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// ErrNoTable is matched when the data source has no such table, or shows the
// user none. The server's own answer to a statement on the table says more.
var ErrNoTable = errors.New("table not found")

// Lifetime is how long the columns of a table are kept.
const Lifetime = 10 * time.Minute

// Reader reads the columns of an actual table of a data source.
type Reader func(ctx context.Context, dataSource, table string) (*value.Table, error)

// Cache keeps the columns of logical tables, each read from one of its actual
// tables. It is safe for concurrent use.
type Cache struct {
	read Reader
	now  func() time.Time
	// tables is replaced as a whole, so that a hit takes no lock.
	tables atomic.Pointer[map[string]entry]

	mu    sync.Mutex // guards loads and the replacing of tables
	loads map[string]*load

	next atomic.Pointer[Cache] // nil for none
}

type entry struct {
	table *value.Table
	until time.Time
}

// load is one reading that is under way.
type load struct {
	done  chan struct{} // closed when table and err are set
	table *value.Table
	err   error
}

// New returns a Cache that reads with read and takes the time from now.
func New(read Reader, now func() time.Time) *Cache {
	c := &Cache{read: read, now: now, loads: make(map[string]*load)}
	c.tables.Store(&map[string]entry{})
	return c
}

// Get returns the columns of the logical table if the cache has them. It takes
// no lock and allocates nothing.
func (c *Cache) Get(logical string) (*value.Table, bool) {
	e, ok := (*c.tables.Load())[logical]
	if !ok || !c.now().Before(e.until) {
		return nil, false
	}
	return e.table, true
}

// Table returns the columns of the logical table, from the cache or else from
// the actual table of the data source. However many ask at once, one of them
// reads, under its own context; the others wait under theirs. Errors are not
// kept.
func (c *Cache) Table(ctx context.Context, dataSource, actualTable, logical string) (*value.Table, error) {
	for {
		if t, ok := c.Get(logical); ok {
			return t, nil
		}
		l, mine := c.join(logical)
		if mine {
			c.run(ctx, l, dataSource, actualTable, logical)
			return l.table, l.err
		}
		select {
		case <-l.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if !interrupted(l.err) {
			return l.table, l.err
		}
		// The one that read gave up, not the server: somebody else reads.
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}

func interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// join returns the load of the table that is under way, or a new one that is
// the caller's to run.
func (c *Cache) join(logical string) (l *load, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l, ok := c.loads[logical]; ok {
		return l, false
	}
	l = &load{done: make(chan struct{}), err: errAbandoned}
	c.loads[logical] = l
	return l, true
}

// errAbandoned is what the others get when the reader panics.
var errAbandoned = errors.New("sharding: reading the table's columns was abandoned")

func (c *Cache) run(ctx context.Context, l *load, dataSource, actualTable, logical string) {
	defer func() {
		c.mu.Lock()
		if c.loads[logical] == l { // else dropped meanwhile: the table may have changed since it was read
			delete(c.loads, logical)
			if l.err == nil {
				c.replace(func(tables map[string]entry) {
					tables[logical] = entry{l.table, c.now().Add(Lifetime)}
				})
			}
		}
		c.mu.Unlock()
		close(l.done)
	}()
	l.table, l.err = c.read(ctx, dataSource, actualTable)
}

// Take takes over what before has of the tables that keep holds for the same.
// Before's Drop and Clear count here as well from then on.
func (c *Cache) Take(before *Cache, keep func(logical string) bool) {
	before.next.Store(c)
	c.mu.Lock() // what is dropped meanwhile is dropped here behind it
	defer c.mu.Unlock()
	kept := maps.Clone(*before.tables.Load())
	maps.DeleteFunc(kept, func(logical string, _ entry) bool { return !keep(logical) })
	c.tables.Store(&kept)
}

// replace changes a copy of the tables. c.mu is held.
func (c *Cache) replace(change func(map[string]entry)) {
	tables := maps.Clone(*c.tables.Load())
	change(tables)
	c.tables.Store(&tables)
}

// Drop forgets the columns of a logical table, also those being read: after
// Drop returns, they are read anew.
func (c *Cache) Drop(logical string) {
	defer func() {
		if next := c.next.Load(); next != nil {
			next.Drop(logical)
		}
	}()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.loads, logical)
	c.replace(func(tables map[string]entry) { delete(tables, logical) })
}

// DropOlder is Drop for columns that were read longer ago than age, and reports
// whether they were.
func (c *Cache) DropOlder(logical string, age time.Duration) bool {
	e, ok := (*c.tables.Load())[logical]
	if !ok || c.now().Add(Lifetime-age).Before(e.until) {
		return false
	}
	c.Drop(logical)
	return true
}

// Clear forgets the columns of all tables, also those being read.
func (c *Cache) Clear() {
	defer func() {
		if next := c.next.Load(); next != nil {
			next.Clear()
		}
	}()
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.loads)
	c.tables.Store(&map[string]entry{})
}
