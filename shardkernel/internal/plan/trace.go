package plan

import (
	"context"
	"time"
)

// UnitTrace reports one unit: a statement sent to one data source. It carries
// no argument values.
type UnitTrace struct {
	DataSource string
	SQL        string
	// Rows is the number of rows that were read, or that the data source says a
	// write has affected; of a unit that failed
	// it may be less. It is -1 where
	// it is not known: the rows of a statement for one data source, outside a
	// transaction, are read from that data source's own pool, unless props.sqlShow
	// is on.
	Rows int64
	// Answered is the time until the data source answered: until the first row
	// could be read, or until the write was done.
	Answered time.Duration
	// Elapsed is the time until the last row was read and the unit let go. It is
	// Answered for writes, and where Rows is not known.
	Elapsed time.Duration
	Err     error // nil on success
}

// Tracer is called after every unit, on the goroutine that ended it. It must be
// quick and safe for concurrent use.
type Tracer func(context.Context, UnitTrace)
