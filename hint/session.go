package hint

import (
	"context"
	"sync"
	"time"
)

// Session remembers, for the statements of a context, which data sources were
// written to. It is safe for concurrent use.
type Session struct {
	sticky time.Duration // 0: for good

	mu    sync.Mutex
	wrote map[string]time.Time // by data source: when last
}

// SessionOption changes what WithSession does.
type SessionOption func(*Session)

// StickyFor lets reads go to replicas again when a time has passed since the last
// write to their data source, or since the commit of the transaction it was in:
// longer than replicas lag behind.
func StickyFor(limit time.Duration) SessionOption {
	return func(s *Session) { s.sticky = limit }
}

// WithSession returns a context whose statements see what its statements have
// written: once one of them has written to a data source, those to come read it
// from the primary. Contexts made of this one share the session, such as those of
// all statements of a request; calling WithSession on one of them begins another
// session. By default it lasts as long as the context is used.
//
// A connection that is held, as by db.Connection, and a transaction need no
// session to read their own writes. The session has no effect on data sources
// without replicas, and ReplicaAllowed goes before it.
func WithSession(ctx context.Context, options ...SessionOption) context.Context {
	s := &Session{wrote: map[string]time.Time{}}
	for _, option := range options {
		option(s)
	}
	return with(ctx, func(h *Hints) { h.Session = s })
}

// Write notes a write to a data source, for who carries out statements, or for an
// application that has written by other means.
func (s *Session) Write(dataSource string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrote[dataSource] = time.Now()
}

// Wrote reports whether reads of a data source are to go to its primary.
func (s *Session) Wrote(dataSource string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, ok := s.wrote[dataSource]
	return ok && (s.sticky <= 0 || time.Since(last) < s.sticky)
}
