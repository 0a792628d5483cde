package readwrite

import (
	"context"
	"database/sql"
	"time"
)

// Replica is a database that holds what the primary of its group holds.
type Replica struct {
	// Name is the one in the configuration.
	Name string
	// Weight is its share in the reads, at least 1.
	Weight int

	// HangUp ends all connections of the reads, when the replica goes out since it
	// gives no answer. May be nil.
	HangUp func()

	db      *sql.DB // of the reads
	control *sql.DB // of the probes
	place   int     // among the group's replicas

	// Guarded by the group's lock.
	state     State
	good, bad int // probes in a row

	// Of the one goroutine that probes.
	syntax syntax
	ask    func(context.Context, Health) (time.Duration, error)
}

// NewReplica returns a replica over its pool, and another small one for probes.
func NewReplica(name string, weight int, db, control *sql.DB) *Replica {
	if control == nil {
		control = db
	}
	r := &Replica{Name: name, Weight: max(weight, 1), db: db, control: control}
	r.ask = r.lag
	return r
}

// InUse returns the number of connections to the replica that are in use.
func (r *Replica) InUse() int { return r.db.Stats().InUse }

// State is what is known of a replica.
type State struct {
	DataSource string // the group
	Replica    string
	// Up is true while the replica may answer reads, unless it is Disabled.
	Up       bool
	Disabled bool
	// Reason says why it is not up; empty when it is. It holds no DSN.
	Reason string
	// Lag is how far the replica was behind at the last probe, LagUnknown where
	// that is not known.
	Lag time.Duration
	// Since is when Up became what it is, and Outs how often the replica has gone
	// out since the start.
	Since time.Time
	Outs  int
}

// LagUnknown is the lag of a replica that does not tell. It is not zero: such a
// replica answers no reads, unless lag is not looked at.
const LagUnknown time.Duration = -1

// notProbed is the reason of a replica at the start.
const notProbed = "it was not probed yet"
