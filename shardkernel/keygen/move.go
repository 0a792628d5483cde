package keygen

import "sync/atomic"

// Mover is implemented by a Stored that goes on when its store is reached in
// another way, such as after a replica of the database has become its primary.
// Others are made anew then.
type Mover interface {
	Stored
	// Move hands over the store in the place of the one before, which holds the
	// same. It may be called while Next runs.
	Move(store Store)
}

// place is where a store is at the moment.
type place struct{ now atomic.Pointer[Store] }

func at(store Store) *place {
	p := new(place)
	p.now.Store(&store)
	return p
}

func (p *place) store() *Store { return p.now.Load() }

func (p *place) move(to Store) { p.now.Store(&to) }
