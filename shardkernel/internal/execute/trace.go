package execute

import (
	"context"
	"database/sql/driver"
	"time"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// queryUnit sends a unit for its rows and reports it.
func (c *Conn) queryUnit(ctx context.Context, u *plan.Unit) (driver.Rows, driver.Stmt, error) {
	if c.source.Trace == nil {
		return c.query(ctx, u.SQL, u.Args, u.Prepare)
	}
	start := time.Now()
	rows, stmt, err := c.query(ctx, u.SQL, u.Args, u.Prepare)
	c.report(ctx, u, start, err)
	return rows, stmt, err
}

// execUnit sends a unit for its result and reports it.
func (c *Conn) execUnit(ctx context.Context, u *plan.Unit) (Result, error) {
	if c.source.Trace == nil {
		return c.exec(ctx, u.SQL, u.Args)
	}
	start := time.Now()
	r, err := c.exec(ctx, u.SQL, u.Args)
	c.report(ctx, u, start, err)
	return r, err
}

func (c *Conn) report(ctx context.Context, u *plan.Unit, start time.Time, err error) {
	sql := u.SQL
	switch {
	case u.Secret:
		sql = "(text withheld: it may hold a password)"
	case u.Shown != "":
		sql = u.Shown
	}
	c.source.Trace(ctx, plan.UnitTrace{DataSource: c.source.Name, SQL: sql, Elapsed: time.Since(start), Err: err})
}
