package shardkernel

import (
	"database/sql/driver"
	"fmt"

	"github.com/gormshard/sharding/internal/fault"
)

// Enter begins a statement of the session and returns the kernel that runs it,
// until Leave: the one in force, but for a transaction that has begun on a data
// source, which ends with the kernel that it began with. Node connections that
// are kept outside a transaction go over to the kernel in force, as far as it has
// their data sources; otherwise what was set on them is lost, and the session can
// only be closed.
func (s *Session) Enter() (*Kernel, error) {
	s.running = true
	if s.begun() {
		s.kernel.uses.count.Add(oneStatement)
		return s.kernel, nil
	}
	k := s.live.Acquire()
	if k == s.kernel {
		return k, nil
	}
	if s.pins != nil {
		if err := s.pins.Move(k.lookup); err != nil {
			k.Release()
			s.running = false
			return nil, err
		}
	}
	if s.keeping {
		k.hold()
		s.kernel.unhold()
	}
	s.kernel = k
	return k, nil
}

// Leave ends a statement. Where node connections stay behind, the kernel stays in
// use.
func (s *Session) Leave() {
	if !s.keeping && (s.begun() || s.pins != nil) {
		s.keeping = true
		s.kernel.hold()
	}
	k := s.kernel
	s.running = false
	s.settle()
	k.Release()
}

// Keep returns the rows of a statement that is about to be left. They keep the
// kernel in use, where the session does not.
func (s *Session) Keep(rows driver.Rows) driver.Rows {
	if s.begun() || s.pins != nil {
		return rows
	}
	return s.kernel.held(rows)
}

// settle lets the kernel go that nothing of the session needs any more.
func (s *Session) settle() {
	if s.begun() || s.pins != nil {
		return
	}
	if s.keeping {
		s.keeping = false
		s.kernel.unhold()
	}
	if !s.running {
		s.kernel = nil
	}
}

// begun reports whether the open transaction has begun on a data source.
func (s *Session) begun() bool { return s.tx != nil && s.tx.Begun() }

// replaced is the error of a data source that is to take part in what a session
// has begun under a configuration before, when it leads elsewhere by now: what
// were written there would be missed.
func (s *Session) replaced(name string) error {
	current := s.live.Kernel()
	if current == s.kernel {
		return nil
	}
	before, ok := s.kernel.sources[name]
	if !ok {
		return nil // the lookup says so
	}
	if now, ok := current.sources[name]; ok && now.DB == before.DB {
		return nil
	}
	return fmt.Errorf("sharding: data source %s was replaced or removed while the transaction was open: begin it again: %w", name, fault.ErrRetryable)
}
