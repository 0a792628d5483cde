package execute

import (
	"context"
	"database/sql/driver"
	"time"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// sent is a unit whose rows are being read, for the report at their end. A nil
// sent reports nothing.
type sent struct {
	ctx      context.Context
	source   *Source
	unit     *plan.Unit
	start    time.Time
	answered time.Duration
	rows     int64
	err      error
}

// queryUnit sends a unit for its rows. Whoever has read them ends what it
// returns; a unit that fails has been reported.
func (c *Conn) queryUnit(ctx context.Context, u *plan.Unit) (driver.Rows, driver.Stmt, *sent, error) {
	if c.source.Trace == nil {
		rows, stmt, err := c.query(ctx, u.SQL, u.Args, u.Prepare)
		return rows, stmt, nil, err
	}
	s := &sent{ctx: ctx, source: c.source, unit: u, start: time.Now()}
	rows, stmt, err := c.query(ctx, u.SQL, u.Args, u.Prepare)
	s.answered = time.Since(s.start)
	if err != nil {
		s.err = err
		s.end()
		return nil, nil, nil, err
	}
	return rows, stmt, s, nil
}

// execUnit sends a unit for its result and reports it.
func (c *Conn) execUnit(ctx context.Context, u *plan.Unit) (Result, error) {
	if c.source.Trace == nil {
		return c.exec(ctx, u.SQL, u.Args)
	}
	start := time.Now()
	r, err := c.exec(ctx, u.SQL, u.Args)
	elapsed := time.Since(start)
	c.source.Trace(ctx, plan.UnitTrace{
		DataSource: c.source.Name, SQL: shown(u), Rows: r.RowsAffected, Answered: elapsed, Elapsed: elapsed, Err: err,
	})
	return r, err
}

// read counts a row.
func (s *sent) read() {
	if s != nil {
		s.rows++
	}
}

// buffered notes that the rows were read into memory, as far as err lets.
func (s *sent) buffered(b *buffer, err error) {
	if s == nil {
		return
	}
	if s.err = err; err == nil {
		s.rows = int64(b.rows)
	}
}

// fail notes what ended the rows before their end.
func (s *sent) fail(err error) {
	if s != nil {
		s.err = err
	}
}

// end reports the unit.
func (s *sent) end() {
	if s == nil {
		return
	}
	s.source.Trace(s.ctx, plan.UnitTrace{
		DataSource: s.source.Name, SQL: shown(s.unit), Rows: s.rows, Answered: s.answered, Elapsed: time.Since(s.start), Err: s.err,
	})
}

// shown is the text of a unit as it may be shown.
func shown(u *plan.Unit) string {
	switch {
	case u.Secret:
		return "(text withheld: it may hold a password)"
	case u.Shown != "":
		return u.Shown
	}
	return u.SQL
}
