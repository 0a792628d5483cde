package keygen

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"
)

// releaseTimeout bounds how long Close waits for a database that does not
// answer. A lease that could not be given back expires.
const releaseTimeout = 2 * time.Second

// term is the time for which a worker id may be used.
type term struct {
	workerID int64
	// until is the last millisecond since 1970 that may stand in a key. The
	// table holds no smaller used_until, so that keys of a later holder are
	// later, whatever happens to this process and to the clocks.
	until int64
	// deadline is when, by the monotonic clock, the id must be taken for lost,
	// somewhat before the lease expires. Zero means never.
	deadline time.Time
}

// over reports whether no key of the millisecond may be made under the term.
func (t term) over(millisecond int64) bool {
	return millisecond > t.until || !t.deadline.IsZero() && time.Until(t.deadline) <= 0
}

// tenant is who uses a leased worker id.
type tenant interface {
	// begin starts a term under a new worker id, whose keys must be later than
	// the millisecond since 1970.
	begin(t term, after int64)
	// extend replaces the term by a longer one under the same worker id.
	extend(t term)
	// end ends the term and returns the latest millisecond since 1970 in a key
	// so far.
	end() int64
}

// lessee leases a worker id for a tenant and keeps it. A goroutine of its own
// talks to the store, from the first wait until close, so that no caller's
// context ends what others wait for too.
//
// Two processes never make the same key, because the table keeps them apart
// twice. A lease has one holder at a time. And a holder writes into used_until
// the latest time its keys may have before it makes such keys, while the next
// holder begins after that; so even a process that was stopped in the middle of
// making a key, and goes on when its worker id is another's, makes one that
// nobody else makes.
type lessee struct {
	table  workers
	size   int64 // worker ids are 0 to size-1
	ttl    time.Duration
	now    func() time.Time
	tenant tenant
	holder string

	// Of the goroutine alone.
	id       int64 // -1 when none is held
	until    int64 // the used_until of the term
	deadline time.Time

	mu      sync.Mutex
	closed  bool
	cancel  context.CancelFunc // nil before the goroutine was started
	pending *attempt           // what callers wait for, nil when none does
	wake    chan struct{}
	ended   chan struct{}
	err     error // of giving the lease back, once ended is closed
}

// attempt is one try to get or renew a lease.
type attempt struct {
	done chan struct{}
	err  error // once done is closed
}

var errClosed = errors.New("the generator is closed")

func newLessee(table workers, size int64, ttl time.Duration, now func() time.Time, user tenant) *lessee {
	return &lessee{
		table: table, size: size, ttl: ttl, now: now, tenant: user, holder: newHolder(),
		id: -1, wake: make(chan struct{}, 1), ended: make(chan struct{}),
	}
}

// newHolder returns a text that no other lessee has, and that tells a person
// where this one runs.
func newHolder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	host = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '_'
		}
		return r
	}, host)
	return fmt.Sprintf("%.100s/%d/%s", host, os.Getpid(), rand.Text())
}

// wait returns when the lease has been taken or renewed, or cannot be.
func (l *lessee) wait(ctx context.Context) error {
	a, err := l.ask() //nolint:contextcheck // what it starts outlives the caller
	if err != nil {
		return err
	}
	select {
	case <-a.done:
		return a.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *lessee) ask() (*attempt, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errClosed
	}
	if l.pending == nil {
		l.pending = &attempt{done: make(chan struct{})}
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
	if l.cancel == nil {
		ctx, cancel := context.WithCancel(context.Background())
		l.cancel = cancel
		go l.run(ctx)
	}
	return l.pending, nil
}

// close gives the lease back and returns when the goroutine has ended.
func (l *lessee) close() error {
	l.mu.Lock()
	l.closed = true
	cancel := l.cancel
	l.mu.Unlock()
	if cancel == nil {
		return nil
	}
	cancel()
	<-l.ended
	return l.err
}

func (l *lessee) run(ctx context.Context) {
	defer close(l.ended)
	for {
		pause := l.finish(l.lease(ctx))
		select {
		case <-ctx.Done():
			l.finish(errClosed)
			l.err = l.giveBack(ctx)
			return
		case <-pause:
		case <-l.wake:
		}
	}
}

// finish tells who waits how the attempt went, and returns what to wait for
// before the next one.
func (l *lessee) finish(err error) <-chan time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		err = errClosed
	}
	if l.pending != nil {
		l.pending.err = err
		close(l.pending.done)
		l.pending = nil
		select { // they have their answer
		case <-l.wake:
		default:
		}
	}
	switch {
	case err == nil:
		return time.After(l.ttl / 3)
	case l.id >= 0 && time.Until(l.deadline) > 0:
		return time.After(l.ttl / 10)
	}
	return nil // until somebody wants a key
}

// lease renews the lease, or takes one if there is none to renew.
func (l *lessee) lease(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, max(l.ttl/3, time.Second))
	defer cancel()
	if l.id >= 0 {
		sent, until := time.Now(), max(l.until, l.now().Add(l.ttl).UnixMilli())
		held, err := l.table.renew(ctx, l.id, l.holder, until)
		switch {
		case err != nil:
			return err
		case held:
			t, err := l.term(sent, until)
			if err == nil {
				l.tenant.extend(t)
			}
			return err
		}
		l.id = -1
		l.tenant.end()
	}
	return l.claim(ctx)
}

func (l *lessee) claim(ctx context.Context) error {
	for {
		list, err := l.table.list(ctx)
		if err != nil {
			return err
		}
		now := l.now()
		w, err := l.pick(list, now.UnixMilli())
		if err != nil {
			return err
		}
		sent, until := time.Now(), now.Add(l.ttl).UnixMilli()
		won, err := l.table.claim(ctx, w, l.holder, until)
		if err != nil {
			return err
		}
		if won {
			l.id = w.id
			t, err := l.term(sent, until)
			l.tenant.begin(t, w.usedUntil)
			return err
		}
	}
}

// term returns the term of a lease that was asked for at a time by the monotonic
// clock. An answer that took so long that the lease may be over is an error.
func (l *lessee) term(sent time.Time, until int64) (term, error) {
	l.until, l.deadline = until, sent.Add(l.ttl-l.ttl/10)
	t := term{workerID: l.id, until: until, deadline: l.deadline}
	if time.Until(l.deadline) <= 0 {
		return t, fmt.Errorf("the answer to the lease of a worker id took %s, too long for leases of %s", time.Since(sent).Round(time.Millisecond), l.ttl)
	}
	return t, nil
}

// pick chooses a free worker id at random, since many processes may start at
// once, and one that was used before if it can: their number stays small then.
func (l *lessee) pick(list []worker, now int64) (worker, error) {
	known := make([]bool, l.size)
	var free, fresh []worker
	ahead := 0
	for _, w := range list {
		if w.id < 0 || w.id >= l.size {
			continue
		}
		known[w.id] = true
		switch {
		case !w.expired:
		case w.usedUntil >= now:
			ahead++
		default:
			free = append(free, w)
		}
	}
	for id, known := range known {
		if !known {
			fresh = append(fresh, worker{id: int64(id)})
		}
	}
	if len(free) == 0 {
		free = fresh
	}
	if len(free) == 0 {
		return worker{}, fmt.Errorf("no worker id is free: of %d, other processes hold %d, and %d were used up to a time that the clock here has not reached; "+
			"%s says by whom (expires_at is in microseconds since 1970)", l.size, l.size-int64(ahead), ahead, workerTable)
	}
	return free[mathrand.IntN(len(free))], nil
}

// giveBack ends the lease, with used_until at what was really used, so that the
// worker id can be leased again at once.
func (l *lessee) giveBack(ctx context.Context) error {
	used := l.tenant.end()
	if l.id < 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	return l.table.release(ctx, l.id, l.holder, used)
}
