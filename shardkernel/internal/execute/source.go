// Package execute sends the units of a plan to the data sources and gives back
// their rows and results. It works on the driver's own interfaces, so that a
// row is read without a copy, and owns the rules that keep a statement whole:
// nothing is sent twice, every connection goes back, a cut stream is an error.
package execute

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// Source is a data source: a pool of connections to one database. Make one
// Source for each pool and use it by its pointer; it is safe for concurrent use.
type Source struct {
	Name    string
	DB      *sql.DB
	Dialect *dialect.Dialect
	// Trace is called after every unit that was sent. Defaults to nil.
	Trace plan.Tracer
	// Killer ends what was cancelled while it ran as one of several units.
	// Defaults to nil: the server ends it when it notices.
	Killer *Killer

	gate gate
}

// gate lets one statement at a time take several connections of a data source.
// Two statements that each hold a part of a small pool would otherwise wait for
// each other for ever.
type gate struct {
	once sync.Once
	slot chan struct{}
}

func (g *gate) enter(ctx context.Context) error {
	g.once.Do(func() { g.slot = make(chan struct{}, 1) })
	select {
	case g.slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *gate) leave() { <-g.slot }

// badConnRetries is how often a connection on which the driver could send
// nothing is replaced by another one, as database/sql does.
const badConnRetries = 2

// Acquire takes a connection from the pool; the caller releases it. The context
// is for the waiting and dialling alone. An error is a *fault.NodeError that
// names the data source.
func (s *Source) Acquire(ctx context.Context) (*Conn, error) {
	pool, err := s.DB.Conn(ctx)
	if err != nil {
		return nil, s.nodeError("", err)
	}
	c := &Conn{source: s, pool: pool}
	// The raw connection is used outside Raw as well: nobody else reaches it
	// before it is released, and a lock for each row would be wasted.
	err = pool.Raw(func(raw any) error {
		c.raw = raw.(driver.Conn)
		if ahead, ok := raw.(interface{ Unfetched() driver.Conn }); ok {
			c.raw = ahead.Unfetched()
		}
		return nil
	})
	if err != nil {
		_ = pool.Close()
		return nil, s.nodeError("", err)
	}
	return c, nil
}

// acquire takes n connections at once, or none.
func (s *Source) acquire(ctx context.Context, n int) ([]*Conn, error) {
	if n > 1 {
		if err := s.gate.enter(ctx); err != nil {
			return nil, s.nodeError("", err)
		}
		defer s.gate.leave()
	}
	conns := make([]*Conn, 0, n)
	for range n {
		c, err := s.Acquire(ctx)
		if err != nil {
			release(conns)
			return nil, err
		}
		conns = append(conns, c)
	}
	return conns, nil
}

func release(conns []*Conn) {
	for _, c := range conns {
		c.Release(false)
	}
}

// nodeError names the data source, and the table where there is one, of an
// error.
func (s *Source) nodeError(table string, err error) *fault.NodeError {
	var node *fault.NodeError
	if errors.As(err, &node) {
		return node
	}
	return &fault.NodeError{DataSource: s.Name, Table: table, Err: dialect.Disarm(err)}
}

// safe returns the driver's error as it is, unless database/sql would take it
// as leave to run the statement again.
func (s *Source) safe(err error) error {
	if errors.Is(err, driver.ErrBadConn) {
		return s.nodeError("", err)
	}
	return err
}

// unsent reports whether err is the driver's promise that nothing was sent. A
// wrapped driver.ErrBadConn is no such promise.
func unsent(err error) bool {
	return err == driver.ErrBadConn //nolint:errorlint // the value itself is the promise
}
