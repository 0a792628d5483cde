package execute

import (
	"context"
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/gormshard/sharding/internal/fault"
)

// heldWait is how long whoever holds connections waits for one of a further data
// source. Two transactions that each hold the last connection the other one needs
// would otherwise wait for ever.
const heldWait = 10 * time.Second

// Start is how a connection is taken that is kept for several statements.
type Start struct {
	// Settings are sent first, in order.
	Settings []Setting
	// Begin, where it is not nil, begins a transaction with these options.
	Begin *driver.TxOptions
	// Holding says that the caller holds connections of other data sources. The
	// waiting for this one then ends after Wait with an error that matches
	// fault.ErrRetryable.
	Holding bool
	// Wait defaults to 10 seconds.
	Wait time.Duration
}

// Setting is a statement that sets something of the session it is sent on.
type Setting struct {
	SQL  string
	Args []any
}

// Start takes a connection from the pool and makes it ready. A connection that
// turns out to be dead before anything was sent is replaced. An error is a
// *fault.NodeError.
func (s *Source) Start(ctx context.Context, start Start) (*Conn, error) {
	if !start.Holding {
		return s.start(ctx, start)
	}
	wait := start.Wait
	if wait == 0 {
		wait = heldWait
	}
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	conn, err := s.start(waiting, start)
	if err != nil && waiting.Err() != nil && ctx.Err() == nil {
		return nil, &waitError{source: s.Name, wait: wait, err: err}
	}
	return conn, err
}

func (s *Source) start(ctx context.Context, start Start) (*Conn, error) {
	for try := 0; ; try++ {
		c, err := s.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		if err = c.start(ctx, start); err == nil {
			return c, nil
		}
		// What has been set may not go to the next borrower.
		c.Release(c.Lost() || len(start.Settings) > 0)
		if !unsent(err) || try == badConnRetries {
			return nil, s.nodeError("", err)
		}
	}
}

func (c *Conn) start(ctx context.Context, start Start) error {
	for _, set := range start.Settings {
		if _, err := c.exec(ctx, set.SQL, set.Args); err != nil {
			return err
		}
	}
	if start.Begin == nil {
		return nil
	}
	return c.begin(ctx, *start.Begin)
}

// waitError reports that a holder of connections found no free one of a further
// data source. The statement has not been sent.
type waitError struct {
	source string
	wait   time.Duration
	err    error
}

func (e *waitError) Error() string {
	return fmt.Sprintf("sharding: the transaction or session waited %s for a connection of data source %s while it held others; those that touch data sources in different order may wait for each other: "+
		"raise maxOpenConns, or roll back and try again", e.wait, e.source)
}

func (e *waitError) Is(target error) bool { return target == fault.ErrRetryable }

func (e *waitError) Unwrap() error { return e.err }
