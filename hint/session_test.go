package hint

import (
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
