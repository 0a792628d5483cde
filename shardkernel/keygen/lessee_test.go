package keygen

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// fakeWorkers is the table in memory. Its clock is that of the test's bubble.
type fakeWorkers struct {
	mu      sync.Mutex
	rows    map[int64]*fakeWorker
	ttl     time.Duration
	err     error         // answers everything
	delay   time.Duration // before an answer
	claims  int
	renewed []time.Duration // since the first claim
	first   time.Time
}

type fakeWorker struct {
	holder    string
	expires   time.Time
	usedUntil int64
}

func (f *fakeWorkers) enter(ctx context.Context) error {
	f.mu.Lock()
	delay, err := f.delay, f.err
	f.mu.Unlock()
	if slept := sleep(ctx, delay); slept != nil {
		return slept
	}
	return err
}

func (f *fakeWorkers) list(ctx context.Context) ([]worker, error) {
	if err := f.enter(ctx); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []worker
	for id, r := range f.rows {
		list = append(list, worker{id: id, known: true, expired: !r.expires.After(time.Now()), holder: r.holder, usedUntil: r.usedUntil})
	}
	return list, nil
}

func (f *fakeWorkers) claim(ctx context.Context, w worker, holder string, usedUntil int64) (bool, error) {
	if err := f.enter(ctx); err != nil {
		return false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r, known := f.rows[w.id]
	if known != w.known || known && (r.holder != w.holder || r.usedUntil != w.usedUntil || r.expires.After(time.Now())) {
		return false, nil
	}
	if f.claims++; f.claims == 1 {
		f.first = time.Now()
	}
	f.rows[w.id] = &fakeWorker{holder, time.Now().Add(f.ttl), usedUntil}
	return true, nil
}

func (f *fakeWorkers) renew(ctx context.Context, id int64, holder string, usedUntil int64) (bool, error) {
	if err := f.enter(ctx); err != nil {
		return false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.rows[id]
	if r.holder != holder {
		return false, nil
	}
	f.renewed = append(f.renewed, time.Since(f.first))
	r.expires, r.usedUntil = time.Now().Add(f.ttl), max(r.usedUntil, usedUntil)
	return true, nil
}

func (f *fakeWorkers) release(ctx context.Context, id int64, holder string, usedUntil int64) error {
	if err := f.enter(ctx); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.rows[id]; r.holder == holder {
		*r = fakeWorker{usedUntil: usedUntil}
	}
	return nil
}

func (f *fakeWorkers) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fakeWorkers) claimed() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.claims
}

func (f *fakeWorkers) renewals() []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.renewed)
}

func (f *fakeWorkers) row(id int64) fakeWorker {
	f.mu.Lock()
	defer f.mu.Unlock()
	return *f.rows[id]
}

// steal gives every worker id to somebody else, for ever.
func (f *fakeWorkers) steal() {
	f.set(func() {
		for _, r := range f.rows {
			*r = fakeWorker{holder: "thief", expires: time.Now().Add(1000 * time.Hour), usedUntil: r.usedUntil}
		}
	})
}

// inBubble runs a test with a table for size worker ids, in the years of keys.
func inBubble(t *testing.T, size int64, test func(t *testing.T, f *fakeWorkers, lease func() *snowflake)) {
	synctest.Test(t, func(t *testing.T) {
		skipTo2024()
		f := &fakeWorkers{rows: map[int64]*fakeWorker{}, ttl: 30 * time.Second}
		test(t, f, func() *snowflake {
			s := newTestSnowflake(t, nil)
			s.lessee = newLessee(f, size, f.ttl, func() time.Time { return s.now() }, s)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			return s
		})
	})
}

func workerOf(key int64) int64 { return key >> sequenceBits & (1<<workerBits - 1) }

func millisecondOf(key int64) int64 { return key>>(sequenceBits+workerBits) + epoch }

func fails(t *testing.T, g Generator, want string) {
	t.Helper()
	if key, err := g.Next(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("got %v, %v, want an error with %q", key, err, want)
	}
}

func TestLeaseIsTakenOnceAtTheFirstKey(t *testing.T) {
	inBubble(t, 1024, func(t *testing.T, f *fakeWorkers, lease func() *snowflake) {
		f.delay = 100 * time.Millisecond
		s := lease()
		time.Sleep(time.Hour)
		if f.claimed() != 0 {
			t.Fatal("leased before a key was asked for")
		}
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() { next(t, s) })
		}
		wg.Wait()
		if n := f.claimed(); n != 1 {
			t.Errorf("100 callers took %d leases", n)
		}
	})
}

func TestGeneratorsHoldDifferentWorkerIDs(t *testing.T) {
	inBubble(t, 16, func(t *testing.T, _ *fakeWorkers, lease func() *snowflake) {
		var wg sync.WaitGroup
		ids := make([]int64, 16)
		for i := range ids {
			s := lease()
			wg.Go(func() { ids[i] = workerOf(next(t, s)) })
		}
		wg.Wait()
		slices.Sort(ids)
		for i, id := range ids {
			if id != int64(i) {
				t.Fatalf("worker ids %v, want 0 to 15", ids)
			}
		}
		fails(t, lease(), "no worker id is free: of 16, other processes hold 16, and 0 were used up to a time")
	})
}

func TestLeaseIsRenewedAtAThirdOfItsTime(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, f *fakeWorkers, lease func() *snowflake) {
		s := lease()
		next(t, s)
		time.Sleep(45 * time.Second)
		want := []time.Duration{10 * time.Second, 20 * time.Second, 30 * time.Second, 40 * time.Second}
		if got := f.renewals(); !slices.Equal(got, want) {
			t.Errorf("renewed at %v, want %v", got, want)
		}
		next(t, s)
		if n := f.claimed(); n != 1 {
			t.Errorf("%d leases", n)
		}
	})
}

func TestKeysEndBeforeALeaseThatCannotBeRenewed(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, f *fakeWorkers, lease func() *snowflake) {
		s := lease()
		next(t, s)
		start := time.Now()
		f.set(func() { f.err = errors.New("no route to host") })
		for time.Since(start) < time.Hour {
			_, err := s.Next(t.Context())
			if err != nil {
				if !strings.Contains(err.Error(), "no route to host") {
					t.Error(err)
				}
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if lasted := time.Since(start); lasted != 27*time.Second {
			t.Errorf("keys were made for %s of a lease of 30s, want 27s", lasted)
		}
		f.set(func() { f.err = nil })
		next(t, s)
		if n := f.claimed(); n != 1 {
			t.Errorf("the lease that nobody else took was not kept: %d leases", n)
		}
	})
}

func TestKeyIsNeverOfATimeBeyondTheLease(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, f *fakeWorkers, lease func() *snowflake) {
		s := lease()
		var ahead time.Duration
		s.now = func() time.Time { return time.Now().Add(ahead) }
		next(t, s)
		ahead = time.Hour // and the monotonic clock says that the lease has just begun
		key := next(t, s)
		if n := len(f.renewals()); n != 1 {
			t.Errorf("the lease was renewed %d times for a key an hour ahead", n)
		}
		if until := f.row(0).usedUntil; millisecondOf(key) > until {
			t.Errorf("a key of %d, while the table says %d", millisecondOf(key), until)
		}
		f.set(func() { f.err = errors.New("no route to host") })
		ahead = 2 * time.Hour
		fails(t, s, "no route to host")
		f.set(func() { f.err = nil })
	})
}

func TestLostLeaseIsReplacedByAnother(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, f *fakeWorkers, lease func() *snowflake) {
		s := lease()
		before := next(t, s)
		f.steal()
		time.Sleep(10*time.Second + time.Millisecond)
		after := next(t, s)
		if workerOf(before) == workerOf(after) {
			t.Error("the worker id of somebody else is used on")
		}
		if after <= before {
			t.Errorf("key %d after %d", after, before)
		}
		f.steal()
		time.Sleep(10*time.Second + time.Millisecond)
		fails(t, s, "no worker id is free")
	})
}

// What a process does that was stopped in the middle: it goes on with the clock
// readings it had.
func TestStoppedProcessAndNextHolderMakeDifferentKeys(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, f *fakeWorkers, lease func() *snowflake) {
		stopped := lease()
		next(t, stopped)
		f.set(func() { f.err = errors.New("no route to host") }) // its renewals end
		time.Sleep(20 * time.Second)
		latest := f.row(0).usedUntil
		f.set(func() { f.err = nil; f.rows[0].holder = "dead" })
		time.Sleep(time.Until(f.row(0).expires))
		// Both clocks show the lease's end: nothing but used_until is between them.
		fails(t, lease(), "1 were used up to a time that the clock here has not reached")
		time.Sleep(time.Millisecond)
		if key := next(t, lease()); millisecondOf(key) <= latest {
			t.Errorf("a key of %d, while the holder before may use up to %d", millisecondOf(key), latest)
		}
	})
}

func TestWorkerIDUsedByAClockAheadIsLeftAlone(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, f *fakeWorkers, lease func() *snowflake) {
		ahead := lease()
		ahead.now = func() time.Time { return time.Now().Add(time.Hour) }
		first := next(t, ahead)
		if err := ahead.Close(); err != nil {
			t.Fatal(err)
		}
		s := lease()
		if second := next(t, s); workerOf(first) == workerOf(second) {
			t.Error("leased a worker id whose keys are an hour ahead")
		}
		fails(t, lease(), "no worker id is free: of 2, other processes hold 1, and 1 were used")
		time.Sleep(time.Hour + time.Millisecond)
		if third := next(t, lease()); third <= first {
			t.Errorf("key %d after %d of the same worker id", third, first)
		}
	})
}

func TestClosedGeneratorGivesItsWorkerIDBack(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, f *fakeWorkers, lease func() *snowflake) {
		s := lease()
		last := next(t, s)
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Fatal(err)
		}
		if r := f.row(0); r.holder != "" || !r.expires.IsZero() || r.usedUntil != millisecondOf(last) {
			t.Errorf("row %+v after the last key of %d", r, millisecondOf(last))
		}
		fails(t, s, "the generator is closed")
		time.Sleep(time.Millisecond)
		if key := next(t, lease()); key <= last {
			t.Errorf("key %d after %d", key, last)
		}
	})
}

func TestLeaseThatWasNotUsedKeepsTheTimeOfTheHolderBefore(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, f *fakeWorkers, lease func() *snowflake) {
		used := time.Now().Add(-time.Second).UnixMilli()
		f.rows[0] = &fakeWorker{usedUntil: used}
		s := lease()
		if err := s.lessee.wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := f.row(0).usedUntil; got != used {
			t.Errorf("used_until is %d, want %d", got, used)
		}
	})
}

func TestCloseEndsWhatWaits(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, f *fakeWorkers, lease func() *snowflake) {
		f.delay = time.Hour
		s := lease()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if _, err := s.Next(t.Context()); !errors.Is(err, errClosed) {
					t.Errorf("got %v", err)
				}
			})
		}
		synctest.Wait()
		start := time.Now()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if took := time.Since(start); took != 0 {
			t.Errorf("Close took %s", took)
		}
	})
}

func TestCloseDoesNotWaitForADeadDatabase(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, f *fakeWorkers, lease func() *snowflake) {
		s := newTestSnowflake(t, nil)
		s.lessee = newLessee(f, 1, f.ttl, s.now, s)
		next(t, s)
		f.set(func() { f.delay = time.Hour })
		start := time.Now()
		if err := s.Close(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(start); took != releaseTimeout {
			t.Errorf("Close took %s, want %s", took, releaseTimeout)
		}
	})
}

func TestOneCallersContextDoesNotEndTheLeaseOfOthers(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, f *fakeWorkers, lease func() *snowflake) {
		f.delay = time.Second
		s := lease()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := s.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		next(t, s)
		if n := f.claimed(); n != 1 {
			t.Errorf("%d leases", n)
		}
	})
}

func TestFailedLeaseIsTriedAgainByTheNextKey(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, f *fakeWorkers, lease func() *snowflake) {
		f.err = errors.New("no route to host")
		s := lease()
		fails(t, s, "no route to host")
		f.set(func() { f.err = nil })
		next(t, s)
	})
}

func TestAnswerThatTakesAsLongAsTheLeaseIsOfNoUse(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, f *fakeWorkers, lease func() *snowflake) {
		f.ttl = time.Second
		f.delay = 950 * time.Millisecond
		s := newTestSnowflake(t, nil)
		s.lessee = newLessee(f, 1, f.ttl, s.now, s)
		s.lessee.table = slowClaim{f}
		fails(t, s, "too long for leases of 1s")
		f.set(func() { f.delay = 0 })
		next(t, s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// slowClaim is a table whose rows are read at once.
type slowClaim struct{ *fakeWorkers }

func (s slowClaim) list(context.Context) ([]worker, error) { return nil, nil }

func TestLostRaceForAWorkerIDTriesAnother(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, f *fakeWorkers, lease func() *snowflake) {
		s := lease()
		s.lessee.table = &stolenAfterList{fakeWorkers: f}
		next(t, s)
		if f.claims != 1 || len(f.rows) != 2 {
			t.Errorf("%d leases, %d rows", f.claims, len(f.rows))
		}
	})
}

// stolenAfterList is a table that somebody else takes a worker id of, between
// the first reading and the claim that follows from it.
type stolenAfterList struct {
	*fakeWorkers
	once sync.Once
}

func (s *stolenAfterList) claim(ctx context.Context, w worker, holder string, usedUntil int64) (bool, error) {
	s.once.Do(func() {
		s.rows[w.id] = &fakeWorker{holder: "thief", expires: time.Now().Add(time.Hour)}
	})
	return s.fakeWorkers.claim(ctx, w, holder, usedUntil)
}

func TestGeneratorWithoutItsStoreSaysSo(t *testing.T) {
	fails(t, newTestSnowflake(t, nil), "SNOWFLAKE without workerId: the generator needs a database and was given none")
	g, err := NewRegistry().New("SEGMENT", Props{"table": "t_order"})
	if err != nil {
		t.Fatal(err)
	}
	fails(t, g, "SEGMENT t_order: the generator needs a database and was given none")
}

func TestConfiguredWorkerIDNeedsNoStore(t *testing.T) {
	s := newTestSnowflake(t, Props{"workerId": 3})
	s.Attach(Store{})
	next(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func BenchmarkLeasedSnowflake(b *testing.B) {
	f := &fakeWorkers{rows: map[int64]*fakeWorker{}, ttl: time.Hour}
	s := newTestSnowflake(b, nil)
	at, n := time.Now(), 0
	s.now = func() time.Time {
		if n++; n%1000 == 0 {
			at = at.Add(time.Millisecond)
		}
		return at
	}
	s.lessee = newLessee(f, 1, f.ttl, time.Now, s)
	defer s.Close()
	next(b, s)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Next(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
