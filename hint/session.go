package hint

import (
	"context"
	"sync"
	"time"
)

// Session remembers, for the statements of a context, which data sources were
// written to. It is safe for concurrent use. Its methods are for who carries out
// statements; an application that has written by other means calls Write.
type Session struct {
	sticky time.Duration // 0: for good
	wait   time.Duration // 0: reads of what was written go to the primary

	mu    sync.Mutex
	wrote map[string]*written // by data source
}

// written is what is known of the writes to a data source.
type written struct {
	last    time.Time
	writes  int          // so far
	inDoubt bool         // nobody knows whether one of them is still to come
	late    bool         // a replica did not have them in time
	at      string       // the position in the replication that has all of them; empty while it is not known
	reached map[any]bool // replicas that have come there
}

// SessionOption changes what WithSession does.
type SessionOption func(*Session)

// StickyFor lets reads go to replicas again when a time has passed since the last
// write to their data source, or since the commit of the transaction it was in:
// longer than replicas lag behind.
func StickyFor(limit time.Duration) SessionOption {
	return func(s *Session) { s.sticky = limit }
}

// WaitForReplica lets reads after a write go to a replica, too: they wait until it
// has what the session has written, at most for limit, and go to the primary if it
// does not come that far; then so do those to come, until the session writes again.
// It needs replication by GTID, and the primary's binary log. Where the primary does
// not tell how far it has written, and after a write that has failed, reads go to
// the primary as without this option. A limit that is not positive does nothing.
//
// The first read after a write asks the primary for its position, in one round trip,
// and the first one on each replica waits for that, in another one. Writes cost
// nothing.
func WaitForReplica(limit time.Duration) SessionOption {
	return func(s *Session) { s.wait = max(limit, 0) }
}

// WithSession returns a context whose statements see what its statements have
// written: once one of them has written to a data source, those to come read it
// from the primary. Contexts made of this one share the session, such as those of
// all statements of a request; calling WithSession on one of them begins another
// session. By default it lasts as long as the context is used.
//
// A connection that is held, as by db.Connection, and a transaction that may write
// need no session to read their own writes. The session has no effect on data sources
// without replicas, and ReplicaAllowed goes before it.
func WithSession(ctx context.Context, options ...SessionOption) context.Context {
	s := &Session{wrote: map[string]*written{}}
	for _, option := range options {
		option(s)
	}
	return with(ctx, func(h *Hints) { h.Session = s })
}

// Write notes a write to a data source that has come to its end.
func (s *Session) Write(dataSource string) { s.note(dataSource, false) }

// InDoubt notes a write that has failed. The server may still be at it, so that no
// position is sure to have it, and reads go to the primary from now on.
func (s *Session) InDoubt(dataSource string) { s.note(dataSource, true) }

func (s *Session) note(dataSource string, inDoubt bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.wrote[dataSource]
	if w == nil {
		w = &written{}
		s.wrote[dataSource] = w
	}
	*w = written{last: time.Now(), writes: w.writes + 1, inDoubt: w.inDoubt || inDoubt}
}

// Wrote reports whether reads of a data source are to see what a replica may not
// have.
func (s *Session) Wrote(dataSource string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, ok := s.wrote[dataSource]
	return ok && (s.sticky <= 0 || time.Since(w.last) < s.sticky)
}

// Wait returns how long a read may wait for a replica to have what was written to a
// data source; 0 where it is to go to the primary.
func (s *Session) Wait(dataSource string) time.Duration {
	if s.wait == 0 {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.wrote[dataSource]; w != nil && (w.inDoubt || w.late) {
		return 0
	}
	return s.wait
}

// Position returns the number of writes to a data source, and the position that has
// all of them, empty while it is not known.
func (s *Session) Position(dataSource string) (at string, writes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.wrote[dataSource]; w != nil {
		return w.at, w.writes
	}
	return "", 0
}

// Locate notes the position that has so many writes to a data source. It is of no use
// once there are more.
func (s *Session) Locate(dataSource, at string, writes int) {
	s.upTo(dataSource, writes, func(w *written) { w.at = at })
}

// Reached reports whether a replica of a data source has all that was written. Any
// value tells replicas apart by which they are compared.
func (s *Session) Reached(dataSource string, replica any) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.wrote[dataSource]
	return w != nil && w.reached[replica]
}

// Reach notes that a replica of a data source has so many writes.
func (s *Session) Reach(dataSource string, replica any, writes int) {
	s.upTo(dataSource, writes, func(w *written) {
		if w.reached == nil {
			w.reached = map[any]bool{}
		}
		w.reached[replica] = true
	})
}

// Late notes that so many writes to a data source were waited for in vain: reads go
// to the primary until there are more.
func (s *Session) Late(dataSource string, writes int) {
	s.upTo(dataSource, writes, func(w *written) { w.late = true })
}

// upTo changes what is known of the writes to a data source, unless there have been
// others since.
func (s *Session) upTo(dataSource string, writes int, change func(*written)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.wrote[dataSource]; w != nil && w.writes == writes {
		change(w)
	}
}
