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
	// Elapsed is the time until the data source answered: until the first row
	// could be read, or until the write was done.
	Elapsed time.Duration
	Err     error // nil on success
}

// Tracer is called after every unit, on the goroutine that sent it. It must be
// quick and safe for concurrent use.
type Tracer func(context.Context, UnitTrace)
