package execute

import (
	"context"
	"sync"
	"time"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// resetTimeout is how long a session whose clock was held is given to let it go.
// One that does not is closed.
const resetTimeout = 5 * time.Second

// readClock returns the session's time in the form that SET timestamp takes.
func (c *Conn) readClock(ctx context.Context) (string, error) {
	return c.queryText(ctx, "SELECT CAST(@@timestamp AS DECIMAL(20,6))")
}

// holdClock sets the session's clock to an instant, until letClock.
func (c *Conn) holdClock(ctx context.Context, now string) error {
	if _, err := c.exec(ctx, "SET timestamp = "+now, nil); err != nil {
		return err
	}
	c.clockHeld = true
	return nil
}

// letClock lets the session's clock go on. It is called before the connection is
// used for anything else; where it fails the connection is of no more use.
func (c *Conn) letClock() {
	if !c.clockHeld {
		return
	}
	c.clockHeld = false
	if c.Lost() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), resetTimeout)
	defer cancel()
	if _, err := c.exec(ctx, "SET timestamp = DEFAULT", nil); err != nil {
		c.lost = true
	}
}

// holdClocks sets the clocks of all lanes to one instant, that of the plan or
// else of the first lane. On an error all connections have been given back.
func holdClocks(ctx context.Context, ex *plan.Execution, lanes []*lane, br Branches) error {
	now := ex.Now
	var failed *lane
	var cause error
	if now == "" {
		if now, cause = lanes[0].conn.readClock(ctx); cause != nil {
			failed = lanes[0]
		}
	}
	if failed == nil {
		errs := make([]error, len(lanes))
		var wg sync.WaitGroup
		for i, l := range lanes {
			wg.Go(func() { errs[i] = l.conn.holdClock(ctx, now) })
		}
		wg.Wait()
		for i, err := range errs {
			if err != nil {
				failed, cause = lanes[i], err
				break
			}
		}
	}
	if failed == nil {
		return nil
	}
	for _, l := range lanes {
		l.conn.letClock() //nolint:contextcheck // also when the caller's context has ended
		if l.owned {
			l.conn.Release(false)
		}
	}
	if br != nil {
		br.Failed(failed.source.Name, cause)
	}
	return failed.source.nodeError("", cause)
}
