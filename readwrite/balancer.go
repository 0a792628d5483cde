// Package readwrite splits reads from writes: a group is one primary and the
// replicas that follow it, and a load balancer chooses who answers a read.
package readwrite

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/gormshard/sharding/internal/registry"
)

// Balancer chooses a replica for a read. It is asked for every read, by several
// goroutines at once, and should neither block nor allocate. Each group has a
// Balancer of its own.
type Balancer interface {
	// Choose returns the place of one of the replicas, of which there is at least
	// one. They are those that may answer now, in configured order, so that their
	// number may differ from call to call. It must not change or keep the slice.
	Choose(replicas []*Replica) int
}

// Factory makes the load balancer of a group.
type Factory func() (Balancer, error)

// Registry knows the types of load balancers by name, without regard to case:
// Register adds one, New makes one, Types lists them. It belongs to one plugin.
// It is safe for concurrent use.
type Registry = registry.Registry[struct{}, Balancer]

// NewRegistry returns a registry that knows the built-in types: ROUND_ROBIN,
// RANDOM, WEIGHT and LEAST_CONNECTIONS.
func NewRegistry() *Registry {
	return registry.New("load balancer", map[string]func(struct{}) (Balancer, error){
		"ROUND_ROBIN":       func(struct{}) (Balancer, error) { return &roundRobin{}, nil },
		"RANDOM":            func(struct{}) (Balancer, error) { return random{}, nil },
		"WEIGHT":            func(struct{}) (Balancer, error) { return &weight{}, nil },
		"LEAST_CONNECTIONS": func(struct{}) (Balancer, error) { return &leastConnections{}, nil },
	})
}

// roundRobin gives each replica its turn.
type roundRobin struct{ turn atomic.Uint64 }

func (r *roundRobin) Choose(replicas []*Replica) int {
	return int((r.turn.Add(1) - 1) % uint64(len(replicas)))
}

// random gives any replica.
type random struct{}

func (random) Choose(replicas []*Replica) int { return rand.IntN(len(replicas)) }

// weight gives each replica as many turns as it weighs.
type weight struct{ turn atomic.Uint64 }

func (w *weight) Choose(replicas []*Replica) int {
	var total uint64
	for _, r := range replicas {
		total += uint64(r.Weight)
	}
	turn := (w.turn.Add(1) - 1) % total
	for i, r := range replicas {
		if turn < uint64(r.Weight) {
			return i
		}
		turn -= uint64(r.Weight)
	}
	return 0 // not reached: the turn is below the total
}

// leastConnections gives the replica whose pool has the fewest connections in
// use, and among equal ones the next in turn.
type leastConnections struct{ turn atomic.Uint64 }

func (l *leastConnections) Choose(replicas []*Replica) int {
	first := int((l.turn.Add(1) - 1) % uint64(len(replicas)))
	best, least := first, replicas[first].InUse()
	for n := 1; n < len(replicas) && least > 0; n++ {
		i := (first + n) % len(replicas)
		if used := replicas[i].InUse(); used < least {
			best, least = i, used
		}
	}
	return best
}
