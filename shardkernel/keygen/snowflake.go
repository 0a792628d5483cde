package keygen

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gormshard/sharding/shardkernel/algorithm"
)

const (
	sequenceBits = 12
	workerBits   = 10
	timeBits     = 41

	maxSequence = 1<<sequenceBits - 1
	maxWorkerID = 1<<workerBits - 1
	maxTime     = 1<<timeBits - 1

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
//	workerId            required, 0 to 1023, different in every process that
//	                    writes to the same tables. There is no default: two
//	                    processes without a configuration would make the same
//	                    keys
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
	workerID  int64
	maxOffset int64
	tolerance int64 // milliseconds
	now       func() time.Time

	mu       sync.Mutex
	last     int64 // the millisecond of the last key, since the epoch
	sequence int64 // of the last key
	offset   int64 // the sequence that the millisecond of the last key started with
}

func newSnowflake(props Props) (Generator, error) {
	r := algorithm.ReadProps(algorithm.Props(props))
	s := &snowflake{
		workerID:  r.IntOr("workerId", -1, 0, maxWorkerID),
		maxOffset: r.IntOr("maxVibrationOffset", 255, 0, maxSequence),
		tolerance: r.IntOr("maxTolerateTimeDifferenceMilliseconds", 10, 0, 60_000),
		now:       time.Now,
		last:      -1,
		offset:    -1,
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if s.workerID < 0 {
		return nil, fmt.Errorf("property %q is missing; give every process that writes a number of its own, 0 to %d (it cannot be leased from a database yet)", "workerId", maxWorkerID)
	}
	return s, nil
}

// Next returns an int64. It waits, until ctx is done, for the next millisecond
// when 4,096 keys have been made in this one, and for a clock that went back a
// little.
func (s *snowflake) Next(ctx context.Context) (any, error) {
	for {
		key, wait, err := s.take()
		if err != nil {
			return nil, err
		}
		if wait == 0 {
			return key, nil
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// take returns a key, or how long to wait before asking again. It does not wait
// itself, so that no caller's context is held up by the lock.
func (s *snowflake) take() (key int64, wait time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.now()
	now := at.UnixMilli() - epoch
	switch {
	case now < 0 || now > maxTime:
		return 0, 0, fmt.Errorf("SNOWFLAKE: the clock shows %s, keys exist from 2016 to 2086", at.UTC().Format(time.DateOnly))
	case now < s.last:
		if back := s.last - now; back > s.tolerance {
			return 0, 0, fmt.Errorf("SNOWFLAKE: the clock went back by %d ms, which could repeat keys; up to maxTolerateTimeDifferenceMilliseconds %d are waited for", back, s.tolerance)
		}
		return 0, until(at, s.last), nil
	case now == s.last && s.sequence == maxSequence:
		return 0, until(at, now+1), nil
	case now == s.last:
		s.sequence++
	default:
		if s.offset++; s.offset > s.maxOffset {
			s.offset = 0
		}
		s.last, s.sequence = now, s.offset
	}
	return s.last<<(workerBits+sequenceBits) | s.workerID<<sequenceBits | s.sequence, 0, nil
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
