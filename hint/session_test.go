package hint

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestASessionIsStickyForItsTimeAfterTheLastWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outer := WithSession(t.Context(), StickyFor(time.Minute))
		inner := WithSession(PrimaryOnly(outer))
		s, other := FromContext(outer).Session, FromContext(inner).Session
		if s == other || FromContext(None(outer)).Session != s || FromContext(None(t.Context())) != nil {
			t.Error("sessions of contexts are mixed up")
		}
		s.Write("ds0")
		other.Write("ds1")
		time.Sleep(40 * time.Second)
		s.Write("ds0")
		time.Sleep(40 * time.Second)
		if !s.Wrote("ds0") || s.Wrote("ds1") {
			t.Error("not sticky to what was written")
		}
		time.Sleep(20 * time.Second)
		if s.Wrote("ds0") {
			t.Error("sticky for longer than its time")
		}
		time.Sleep(24 * time.Hour)
		if !other.Wrote("ds1") {
			t.Error("a session without a limit has ended")
		}
	})
}

func TestASessionWaitsForReplicasUntilAWriteFailsOrOneIsLate(t *testing.T) {
	const limit = 3 * time.Second
	s := FromContext(WithSession(t.Context(), WaitForReplica(limit))).Session
	waits := func(want time.Duration) {
		t.Helper()
		if got := s.Wait("ds0"); got != want {
			t.Errorf("waits for %s, want %s", got, want)
		}
	}
	s.Write("ds0")
	waits(limit)
	s.Late("ds0", 1)
	waits(0)
	if s.Wait("ds1") != limit {
		t.Error("one data source is late for another")
	}
	s.Write("ds0")
	waits(limit)
	s.Late("ds0", 1) // of the write before
	waits(limit)
	s.InDoubt("ds0")
	waits(0)
	s.Write("ds0") // the one before may still be to come
	waits(0)
	for _, limit := range []time.Duration{0, -1} {
		s := FromContext(WithSession(t.Context(), WaitForReplica(limit))).Session
		s.Write("ds0")
		if s.Wait("ds0") != 0 || !s.Wrote("ds0") {
			t.Errorf("with a limit of %d reads are not the primary's", limit)
		}
	}
}

func TestAPositionIsThatOfTheWritesItWasAskedFor(t *testing.T) {
	s := FromContext(WithSession(t.Context(), WaitForReplica(time.Second))).Session
	position := func(want string, writes int) {
		t.Helper()
		if at, n := s.Position("ds0"); at != want || n != writes {
			t.Errorf("position %q of %d writes, want %q of %d", at, n, want, writes)
		}
	}
	position("", 0)
	s.Locate("ds0", "0-1-4", 0)
	position("", 0)
	s.Write("ds0")
	s.Locate("ds0", "0-1-5", 1)
	s.Reach("ds0", "r0", 1)
	position("0-1-5", 1)
	if !s.Reached("ds0", "r0") || s.Reached("ds0", "r1") || s.Reached("ds1", "r0") {
		t.Error("replicas are mixed up")
	}
	s.Write("ds0")
	position("", 2)
	s.Locate("ds0", "0-1-5", 1) // asked before the second write
	s.Reach("ds0", "r0", 1)
	position("", 2)
	if s.Reached("ds0", "r0") {
		t.Error("a replica is taken to have a write that came later")
	}
}

func TestASessionIsSharedByGoroutines(t *testing.T) {
	s := FromContext(WithSession(t.Context(), WaitForReplica(time.Second))).Session
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				s.Write("ds0")
				at, n := s.Position("ds0")
				s.Locate("ds0", at+"1", n)
				s.Reach("ds0", "r0", n)
				s.Reached("ds0", "r0")
				s.Wrote("ds0")
				s.Wait("ds0")
			}
		})
	}
	wg.Wait()
	if _, n := s.Position("ds0"); n != 800 {
		t.Errorf("%d writes", n)
	}
}
