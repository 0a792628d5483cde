package keygen

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gormshard/sharding/shardkernel/algorithm"
)

const (
	sequenceBits = 12
	workerBits   = 10
	timeBits     = 41

	maxTime = 1<<timeBits - 1

	// epoch is the zero of the time bits in Unix milliseconds: the midnight
	// before 1 November 2016 in UTC+8, which is ShardingSphere's where it runs
	// in that zone. Keys of both are of the same era and size.
	epoch = 1_477_929_600_000
)

// snowflake is the generator SNOWFLAKE. Its keys are int64 and positive: 41
// bits of milliseconds since the epoch, 10 bits of the worker's number, 12 bits
// of sequence, as ShardingSphere's generator of that name (user manual, "Key
// Generate Algorithm"). Keys of one generator ascend.
//
// Properties:
//
//	workerId            0 to 1023, different in every process that writes to
//	                    the same tables. By default it is leased from a table of
//	                    the store, so that processes without a configuration
//	                    make different keys too. Leased numbers and configured
//	                    ones do not know of each other: use one kind only
//	maxVibrationOffset  the largest sequence that a new millisecond starts with,
//	                    0 to 4095, by default 255. Starts go round from 0 to it,
//	                    because a sequence that started at 0 each time would
//	                    leave most keys of a quiet process on node 0 of any
//	                    key % 8. ShardingSphere's default, 1, leaves them on two
//	                    nodes
//	maxTolerateTimeDifferenceMilliseconds
//	                    0 to 60000, by default 10: Next waits when the clock
//	                    went back by no more than this, and fails when it went
//	                    back further
type snowflake struct {
	name string // of the type
	// workerShift is the place of the worker id, above the sequence; workers is
	// the number of worker ids.
	workerShift uint
	workers     int64
	maxOffset   int64
	tolerance   int64 // milliseconds
	now         func() time.Time
	leased      bool
	lessee      *lessee // nil unless leased and attached
	place       *place  // likewise

	*sequences
}

// sequences is what has been made under a worker id.
type sequences struct {
	mu       sync.Mutex
	term     term
	last     int64 // the millisecond of the last key, since the epoch
	sequence int64 // of the last key
	offset   int64 // the sequence that the millisecond of the last key started with
}

// configured holds the sequences of the worker ids that are configured, which all
// generators of a registry share that have the same one: those of a configuration
// before, too, while statements that began under it make keys.
type configured struct {
	mu   sync.Mutex
	used map[sharer]*sequences
}

// sharer is what the keys of a generator have in common.
type sharer struct {
	name        string // of the type
	workerShift uint
	workerID    int64
}

func (c *configured) sequences(of sharer) *sequences {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used == nil {
		c.used = map[sharer]*sequences{}
	}
	if c.used[of] == nil {
		c.used[of] = &sequences{last: -1, offset: -1, term: term{workerID: of.workerID, until: epoch + maxTime}}
	}
	return c.used[of]
}

var _ Mover = (*snowflake)(nil)

func (c *configured) newSnowflake(props Props) (Generator, error) {
	r := algorithm.ReadProps(algorithm.Props(props))
	s := c.readSnowflake(r, "SNOWFLAKE", workerBits, sequenceBits)
	if err := r.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

// readSnowflake reads the properties of a generator whose keys have so many bits
// of worker id above so many bits of sequence.
func (c *configured) readSnowflake(r *algorithm.Reader, name string, workerBits, sequenceBits uint) *snowflake {
	s := &snowflake{name: name, workerShift: sequenceBits, workers: 1 << workerBits, now: time.Now}
	workerID := r.IntOr("workerId", -1, 0, s.workers-1)
	s.maxOffset = r.IntOr("maxVibrationOffset", min(255, s.maxSequence()), 0, s.maxSequence())
	s.tolerance = r.IntOr("maxTolerateTimeDifferenceMilliseconds", 10, 0, 60_000)
	if s.leased = workerID < 0; s.leased {
		s.sequences = &sequences{last: -1, offset: -1}
	} else {
		s.sequences = c.sequences(sharer{name, sequenceBits, workerID})
	}
	return s
}

func (s *snowflake) maxSequence() int64 { return 1<<s.workerShift - 1 }

// Attach implements Stored.
func (s *snowflake) Attach(store Store) {
	if !s.leased {
		return
	}
	if store.Now != nil {
		s.now = store.Now
	}
	s.place = at(store)
	s.lessee = newLessee(&storedWorkers{at: s.place, pool: s.name}, s.workers, store.TTL, s.now, s)
}

// Move implements Mover.
func (s *snowflake) Move(store Store) {
	if s.place != nil {
		s.place.move(store)
	}
}

// Close implements Stored: it gives the worker id back.
func (s *snowflake) Close() error {
	if s.lessee == nil {
		return nil
	}
	return s.lessee.close()
}

// Next returns an int64. It waits, until ctx is done, for the next millisecond
// when 4,096 keys have been made in this one, for a clock that went back a
// little, and for a worker id if it has none.
func (s *snowflake) Next(ctx context.Context) (any, error) {
	key, err := s.next(ctx)
	if err != nil {
		return nil, err
	}
	return key, nil
}

func (s *snowflake) next(ctx context.Context) (int64, error) {
	for {
		key, wait, err := s.take()
		switch {
		case errors.Is(err, errTermOver):
			if s.lessee == nil {
				return 0, fmt.Errorf("%s without workerId: %w", s.name, errDetached)
			}
			err = s.lessee.wait(ctx)
		case err == nil && wait == 0:
			return key, nil
		case err == nil:
			err = sleep(ctx, wait)
		}
		if err != nil {
			return 0, fmt.Errorf("%s: %w", s.name, err)
		}
	}
}

// errTermOver says that a worker id is needed.
var errTermOver = errors.New("no worker id is held")

// take returns a key, or how long to wait before asking again. It does not wait
// itself, so that no caller's context is held up by the lock.
func (s *snowflake) take() (key int64, wait time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.now()
	now := at.UnixMilli() - epoch
	switch {
	case now < 0 || now > maxTime:
		return 0, 0, fmt.Errorf("the clock shows %s, keys exist from 2016 to 2086", at.UTC().Format(time.DateOnly))
	case now < s.last:
		if back := s.last - now; back > s.tolerance {
			return 0, 0, fmt.Errorf("the clock went back by %d ms, which could repeat keys; up to maxTolerateTimeDifferenceMilliseconds %d are waited for", back, s.tolerance)
		}
		return 0, until(at, s.last), nil
	case s.term.over(at.UnixMilli()):
		return 0, 0, errTermOver
	case now == s.last && s.sequence == s.maxSequence():
		return 0, until(at, now+1), nil
	case now == s.last:
		s.sequence++
	default:
		if s.offset++; s.offset > s.maxOffset {
			s.offset = 0
		}
		s.last, s.sequence = now, s.offset
	}
	return s.last<<(workerBits+sequenceBits) | s.term.workerID<<s.workerShift | s.sequence, 0, nil
}

// begin implements tenant. The next key is of a later millisecond than the last
// one, so that keys ascend although the worker id may be smaller.
func (s *snowflake) begin(t term, after int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.term, s.last, s.sequence = t, max(s.last, after-epoch), s.maxSequence()
}

// extend implements tenant.
func (s *snowflake) extend(t term) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.term = t
}

// end implements tenant.
func (s *snowflake) end() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.term = term{}
	return s.last + epoch
}

// until returns the time from at to a millisecond after the epoch.
func until(at time.Time, millisecond int64) time.Duration {
	return time.UnixMilli(epoch + millisecond).Sub(at)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
