package execute

import (
	"database/sql/driver"
	"time"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

const (
	// leftRows and leftTime bound what is read of rows that nobody wants, so that
	// their connection can be used again. A new connection costs about as much.
	leftRows = 1000
	leftTime = 10 * time.Millisecond
)

// leave ends rows before their end. Drivers read what is left of closed rows,
// however long that takes: beyond a little of it the statement is cancelled, on
// all nodes, which costs the connections. A transaction's connection is worth the
// time.
func (c *cursor) leave() {
	if c.run == nil || c.branches != nil || c.atEnd {
		return
	}
	c.run.hurry()
	row := make([]driver.Value, len(c.rows.Columns()))
	for n := 1; ; n++ {
		if err := c.rows.Next(row); err != nil {
			_ = c.conn.note(err)
			break
		}
		// Read on until the driver has noticed: it may look at the rows first when
		// they are closed.
		if n == leftRows {
			c.run.stop()
		}
	}
	c.atEnd = true
	c.run.kill(c.conn, c.unit)
}

// hurry cancels the statement in a moment.
func (r *run) hurry() {
	r.hurried.Do(func() { time.AfterFunc(leftTime, r.stop) })
}

// spoil lets go of a connection whose statement was cancelled before it was closed.
// A driver does that by closing the connection, which not everything that wraps a
// driver tells the pool.
func (r *run) spoil(c *Conn) {
	if _, tells := c.raw.(driver.Validator); !tells && r.branches == nil && r.ctx.Err() != nil {
		c.lost = true
	}
}

// kill ends the unit on the server if it was cancelled while it ran there.
func (r *run) kill(c *Conn, u *plan.Unit) {
	if k := c.source.Killer; k != nil && r.ctx.Err() != nil && c.Lost() {
		k.kill(c, u)
	}
}
