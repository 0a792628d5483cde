package readwrite

import (
	"context"
	"database/sql"
	"fmt"
)

// Replica is a database that holds what the primary of its group holds.
type Replica struct {
	// Name is the one in the configuration.
	Name string
	// Weight is its share in the reads, at least 1.
	Weight int

	place int // among the group's replicas
	db    *sql.DB
}

// NewReplica returns a replica over its pool.
func NewReplica(name string, weight int, db *sql.DB) *Replica {
	return &Replica{Name: name, Weight: max(weight, 1), db: db}
}

// InUse returns the number of connections to the replica that are in use.
func (r *Replica) InUse() int { return r.db.Stats().InUse }

// Group chooses who answers the reads of a data source that is made of a primary
// and replicas. It is safe for concurrent use.
type Group struct {
	name     string
	replicas []*Replica
	balancer Balancer
}

// NewGroup returns a group over its replicas, of which there is at least one.
func NewGroup(name string, balancer Balancer, replicas []*Replica) *Group {
	for i, r := range replicas {
		r.place = i
	}
	return &Group{name: name, replicas: replicas, balancer: balancer}
}

// Choose returns the place of the replica that answers a read.
func (g *Group) Choose(context.Context) (int, error) {
	n := g.balancer.Choose(g.replicas)
	if n < 0 || n >= len(g.replicas) {
		return 0, fmt.Errorf("sharding: the load balancer of group %s chose replica %d of %d", g.name, n, len(g.replicas))
	}
	return g.replicas[n].place, nil
}
