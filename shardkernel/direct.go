package shardkernel

import (
	"context"
	"database/sql"
	"time"
)

// Direct is a statement that goes to one data source, for that data source's own
// pool.
type Direct struct {
	source *source
	sql    string
	args   []any
}

// Direct plans a statement outside a transaction. ok is false when it does not
// go to exactly one data source as it is; it has to take the way of the driver
// then. Nothing has been sent.
func (k *Kernel) Direct(ctx context.Context, text string, args []any) (d Direct, ok bool, err error) {
	s, err := k.statement(ctx, text)
	if err != nil {
		return Direct{}, false, err
	}
	if s.control() {
		return Direct{}, false, nil
	}
	if args, err = ResolveAll(args); err != nil {
		return Direct{}, false, err
	}
	ex, err := k.plan(ctx, s, text, args)
	if err != nil {
		return Direct{}, false, err
	}
	if len(ex.Units) != 1 {
		return Direct{}, false, nil
	}
	u := &ex.Units[0]
	src, err := k.source(ctx, u.DataSource)
	if err != nil {
		return Direct{}, false, err
	}
	return Direct{source: src, sql: u.SQL, args: u.Args}, true, nil
}

// Query runs the statement on its data source.
func (d Direct) Query(ctx context.Context) (*sql.Rows, error) {
	start := d.start()
	rows, err := d.source.DB.QueryContext(ctx, d.sql, d.args...)
	d.report(ctx, start, err)
	return rows, err
}

// Exec runs the statement on its data source.
func (d Direct) Exec(ctx context.Context) (sql.Result, error) {
	start := d.start()
	result, err := d.source.DB.ExecContext(ctx, d.sql, d.args...)
	d.report(ctx, start, err)
	return result, err
}

// QueryRow runs the statement on its data source.
func (d Direct) QueryRow(ctx context.Context) *sql.Row {
	start := d.start()
	row := d.source.DB.QueryRowContext(ctx, d.sql, d.args...)
	d.report(ctx, start, row.Err())
	return row
}

func (d *Direct) start() time.Time {
	if d.source.Trace == nil {
		return time.Time{}
	}
	return time.Now()
}

func (d *Direct) report(ctx context.Context, start time.Time, err error) {
	if d.source.Trace != nil {
		d.source.Trace(ctx, UnitTrace{DataSource: d.source.Name, SQL: d.sql, Elapsed: time.Since(start), Err: err})
	}
}
