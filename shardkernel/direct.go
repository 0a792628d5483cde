package shardkernel

import (
	"context"
	"database/sql"
	"time"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// Direct is a statement that goes to one data source, for that data source's own
// pool.
type Direct struct {
	kernel    *Kernel
	source    *source
	execution *Execution // of one unit
	again     bool       // it was sent to a replica in vain
}

// Planned is a statement that cannot go to a data source's own pool. It takes the
// way of the driver, which gets it as the one argument of the statement's text
// and does not plan again: the values of a driver.Valuer and generated keys,
// which need not be the same twice, are in it already.
type Planned struct {
	kernel    *Kernel
	execution *Execution
	from      origin
	// command is set for a statement that no table routes, which is carried out
	// with its text and arguments.
	command *statement
	text    string
	args    []any
}

// Direct plans a statement outside a transaction, under the hints of the caller,
// which may be nil. planned is not nil when it goes to several units, gathers
// rows, defines tables, holds a clock, has a time limit, has to ask other nodes
// before, or when its rows are to be followed to their end, or may come from a replica
// whose pool does not fetch ahead; d is of no use then. Nothing has been sent.
func (k *Kernel) Direct(ctx context.Context, h *Hints, text string, args []any) (d Direct, planned *Planned, err error) {
	s, told, err := k.hinted(ctx, h, text)
	if err != nil {
		return Direct{}, nil, err
	}
	if s.command != nil {
		return Direct{}, &Planned{kernel: k, command: s, text: text, args: args}, refuseUnheldCommand(s.command)
	}
	if args, err = ResolveAll(args); err != nil {
		return Direct{}, nil, err
	}
	ex, err := k.planFor(ctx, nil, told, s, text, args)
	if err != nil {
		return Direct{}, nil, err
	}
	if len(ex.Units) != 1 || ex.Merge != nil || ex.Gather != nil || ex.First != nil || ex.DDL || ex.Clock || ex.Rest.Asks() || k.followed || k.grouped && k.follows(ex) {
		return Direct{}, &Planned{kernel: k, execution: ex, from: origin{s, told, text, args}}, nil
	}
	src, err := k.answering(ctx, ex, ex.Units[0].DataSource)
	if err != nil {
		return Direct{}, nil, err
	}
	return Direct{kernel: k, source: src, execution: ex}, nil, nil
}

func (d *Direct) unit() *Unit { return &d.execution.Units[0] }

// Query runs the statement on its data source.
func (d Direct) Query(ctx context.Context) (*sql.Rows, error) {
	start := d.start()
	rows, err := d.source.DB.QueryContext(ctx, d.unit().SQL, d.unit().Args...)
	d.report(ctx, start, -1, err)
	if err != nil && d.elsewhere(ctx, err) {
		return d.Query(ctx)
	}
	return rows, err
}

// elsewhere lets a read that failed on a replica go to another one, or to the
// primary, once. It reports whether it may be sent again.
func (d *Direct) elsewhere(ctx context.Context, err error) bool {
	if d.again || !d.source.failed(ctx, err) {
		return false
	}
	src, err := d.kernel.reader(ctx, d.source.of, d.execution)
	if err != nil {
		return false // the first error tells more
	}
	d.source, d.again = src, true
	return true
}

// Exec runs the statement on its data source.
func (d Direct) Exec(ctx context.Context) (sql.Result, error) {
	start := d.start()
	result, err := d.source.DB.ExecContext(ctx, d.unit().SQL, d.unit().Args...)
	d.reportWrite(ctx, start, result, err)
	switch {
	case err != nil && d.elsewhere(ctx, err): // a read, whose rows nobody wants
		return d.Exec(ctx)
	case err == nil && d.execution.LastInsertID != 0: // generated for the first row of an INSERT
		return keyResult{result, d.execution.LastInsertID}, nil
	case err == nil && d.execution.Rest != plan.RestNone:
		return d.kernel.askRest(ctx, nil, d.execution, result)
	}
	return result, err
}

// keyResult is a node's result with the key that was generated here.
type keyResult struct {
	sql.Result
	key int64
}

// LastInsertId returns the generated key.
func (r keyResult) LastInsertId() (int64, error) { return r.key, nil }

// QueryRow runs the statement on its data source.
func (d Direct) QueryRow(ctx context.Context) *sql.Row {
	start := d.start()
	row := d.source.DB.QueryRowContext(ctx, d.unit().SQL, d.unit().Args...)
	d.report(ctx, start, -1, row.Err())
	if err := row.Err(); err != nil && d.elsewhere(ctx, err) {
		return d.QueryRow(ctx)
	}
	return row
}

func (d *Direct) start() time.Time {
	if d.source.Trace == nil {
		return time.Time{}
	}
	return time.Now()
}

// report reports the statement. rows is -1 where their number is not known.
func (d *Direct) report(ctx context.Context, start time.Time, rows int64, err error) {
	d.kernel.noteSession(nil, d.execution, err)
	if d.source.Trace != nil {
		elapsed := time.Since(start)
		d.source.Trace(ctx, UnitTrace{DataSource: d.source.Name, SQL: d.unit().SQL, Rows: rows, Answered: elapsed, Elapsed: elapsed, Err: err})
	}
}

func (d *Direct) reportWrite(ctx context.Context, start time.Time, result sql.Result, err error) {
	var rows int64
	if err == nil && d.source.Trace != nil {
		rows, _ = result.RowsAffected() // a driver without the number has none to tell
	}
	d.report(ctx, start, rows, err)
}
