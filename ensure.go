package sharding

import (
	"context"
	"time"
)

// EnsureTables makes the actual tables that hold the time from from on and before
// to, such as those of the coming months, of the named tables, or of all that are
// sharded by INTERVAL or AUTO_INTERVAL. It returns the nodes that it has made, as
// "ds0.t_log_202608", in order, also beside an error; none where all are there. A
// zero to is the end of what is configured. INTERVAL counts by the clock of its
// location, AUTO_INTERVAL by that of the times given.
//
// A table is made like the one of the newest step that is there: columns, keys,
// constraints, options, partitions and comments; foreign keys and CHECKs get the
// names they have in the new one, and AUTO_INCREMENT starts anew. Tables that are
// referenced are made before those that reference them.
//
// Only nodes of the configuration are made. Reads without a condition on the time
// ask every configured node, so that the tables of a step should be there when the
// configuration that names them comes into use: call EnsureTables(ctx, now,
// time.Time{}) after the start, or before the month of a step begins. A step
// without a node fails with ErrNoDataNode before anything is sent.
//
// It may be called again, and by several processes at once: what is there is left
// as it is. Where a data source fails, the others are done nevertheless; the error
// is a NodesError that names what failed, and of class ErrPartialDDL where other
// tables were made. Tables of that time that are not like the newest are ErrSchemaDrift. It
// fails with ErrUnknownTable for a name that is no sharded table or of which no
// node has the table, and with ErrUnsupported for one that is not sharded by time,
// and on SQLite.
func (p *Plugin) EnsureTables(ctx context.Context, from, to time.Time, tables ...string) (made []string, err error) {
	e, err := p.running()
	if err != nil {
		return nil, err
	}
	kernel := e.live.Acquire()
	defer kernel.Release()
	return kernel.EnsureTables(ctx, from, to, tables)
}
