//go:build unix

package readwrite_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
)

// everyWay is a read in each way that leads to a replica, whose answer is 2.
var everyWay = []string{
	"SELECT id FROM t_order WHERE id = 2",                                      // the short one
	"SELECT id FROM t_order ORDER BY id",                                       // both groups
	"SELECT MAX(id) FROM t_order UNION SELECT id FROM t_order",                 // branch by branch
	"SELECT SUM(id) OVER (ORDER BY id) FROM t_order",                           // gathered
	"SELECT id FROM t_order WHERE id = 2 AND v = (SELECT MAX(v) FROM t_order)", // a subquery first
	"SELECT id FROM t_order WHERE id = (SELECT v FROM t_order WHERE id = 2)",   // whose rows are on one node
}

// units are those that were sent for one read.
type units struct {
	mu   sync.Mutex
	sent []sharding.UnitTrace
}

// unitsKey is that of the units in the context of a read.
type unitsKey struct{}

func (u *units) add(of sharding.UnitTrace) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sent = append(u.sent, of)
}

// rate is how many reads begin in a second, however long each of them takes.
const rate = 200

// paced begins reads at the rate until stop is called, which waits for the last of
// them, and returns their number and the time in which they began.
func paced(read func(n int)) (stop func() (int, time.Duration)) {
	done := make(chan struct{})
	var reads sync.WaitGroup
	var begun int
	var lasted time.Duration
	began := time.Now()
	reads.Go(func() {
		due := time.NewTicker(time.Second / rate)
		defer due.Stop()
		for ended := false; !ended; {
			select {
			case <-due.C:
			case <-done:
				ended = true
			}
			lasted = time.Since(began)
			for ; begun < int(lasted*rate/time.Second); begun++ {
				n := begun
				reads.Go(func() { read(n) })
			}
		}
	})
	return func() (int, time.Duration) {
		close(done)
		reads.Wait()
		return begun, lasted
	}
}

func TestAReplicaThatIsKilledUnder200ReadsASecondCostsNone(t *testing.T) {
	g := newGroups(t, "killed")
	g.cfg.ReadwriteSplitting.Health = patient
	l := new(told)
	g.logger = logger.New(l, logger.Config{LogLevel: logger.Warn})
	g.open(t)
	g.run(t, g.primary, 0, "INSERT INTO t_order VALUES (2, 2)")
	g.catchUp(t)
	g.becomes(t, true, 20*time.Second)
	const large = "SELECT REPEAT('x', 1500) FROM seq_1_to_40"
	cached := g.db.Session(&gorm.Session{PrepareStmt: true})
	var answered atomic.Int64
	stop := paced(func(n int) {
		var err error
		var found []int64
		switch way := n % (len(everyWay) + 4); {
		case way < len(everyWay):
			err = g.db.Raw(everyWay[way]).Scan(&found).Error
		case way == len(everyWay):
			var texts []string
			if err = g.db.Raw(large).Scan(&texts).Error; len(texts) == 40 {
				found = []int64{2}
			}
		case way == len(everyWay)+1:
			err = cached.Raw("SELECT id FROM t_order WHERE id = ?", 2).Scan(&found).Error
		case way == len(everyWay)+2:
			found, err = []int64{2}, g.db.Exec(everyWay[0]).Error
		default:
			err = g.db.Table("t_order").Where("id = ?", 2).Pluck("id", &found).Error
		}
		if err != nil || fmt.Sprint(found) != "[2]" {
			t.Errorf("read %d: %v, error %v", n, found, err)
			return
		}
		answered.Add(1)
	})
	await := func(what, asked string) {
		t.Helper()
		deadline := time.Now().Add(20 * time.Second)
		for g.asked() != asked {
			if time.Now().After(deadline) {
				t.Errorf("%s: no reads by %q", what, asked)
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	await("at first", "ds0_r0 ds0_r1 ds1_r0 ds1_r1")
	if err := g.replicas[0].Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	g.becomes(t, false, 20*time.Second)
	for _, s := range g.plugin.Replicas() {
		if took := s.Since.Sub(killed); !s.Up && took > 2*time.Second {
			t.Errorf("%s was out %s after it was killed", s.Replica, took)
		}
	}
	await("while it is out", "ds0_r1 ds1_r1")
	if err := g.replicas[0].Restart(t.Context()); err != nil {
		t.Error(err)
	}
	g.becomes(t, true, time.Minute)
	await("when it is back", "ds0_r0 ds0_r1 ds1_r0 ds1_r1")
	begun, lasted := stop()
	if least := int(lasted * rate / time.Second); begun < least || answered.Load() != int64(begun) || g.failed.Load() == 0 {
		t.Errorf("%d reads of %d in %s, %d were answered, %d units sent again", begun, least, lasted, answered.Load(), g.failed.Load())
	}
	for _, s := range g.plugin.Replicas() {
		if want := map[bool]int{true: 1}[strings.HasSuffix(s.Replica, "_r0")]; s.Outs != want {
			t.Errorf("%s was out %d times, want %d: %q", s.Replica, s.Outs, want, l.lines)
		}
	}
	t.Logf("%d reads in %s, %d units were sent again", begun, lasted, g.failed.Load())
}

func TestAPausedReplicaIsOutUntilItGoesOn(t *testing.T) {
	g := newGroups(t, "paused")
	g.cfg.ReadwriteSplitting.Health = quick
	g.open(t)
	g.run(t, g.primary, 0, "INSERT INTO t_order VALUES (2, 2)")
	g.catchUp(t)
	g.becomes(t, true, 10*time.Second)
	g.reads(t, true)
	if err := g.replicas[0].Pause(); err != nil {
		t.Fatal(err)
	}
	paused := time.Now()
	defer func() {
		if err := g.replicas[0].Resume(); err != nil {
			t.Error(err)
		}
	}()
	// What waits for it is ended, and sent elsewhere, once.
	var readers sync.WaitGroup
	var ended sync.Map
	for _, sql := range everyWay {
		for n := range 4 {
			readers.Go(func() {
				var sent units
				ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), unitsKey{}, &sent), 10*time.Second)
				defer cancel()
				var ids []int64
				if err := g.db.WithContext(ctx).Raw(sql).Scan(&ids).Error; err != nil || len(ids) != 1 {
					t.Errorf("%s: %v, %v", sql, ids, err)
				}
				ended.Store(fmt.Sprint(sql, n), time.Now())
				failed := map[string]int{}
				for _, u := range sent.sent {
					if u.Err == nil || errors.Is(u.Err, context.Canceled) { // beside one that failed
						continue
					}
					if failed[u.DataSource+u.SQL]++; failed[u.DataSource+u.SQL] > 1 || !strings.HasSuffix(u.DataSource, "_r0") {
						t.Errorf("%s, read %d: %s failed %d times: %v", sql, n, u.DataSource, failed[u.DataSource+u.SQL], u.Err)
					}
				}
				if most := 2; sql == everyWay[0] && len(sent.sent) > most {
					t.Errorf("%s was sent %d times, at most %d", sql, len(sent.sent), most)
				}
			})
		}
	}
	g.becomes(t, false, 20*time.Second)
	for _, s := range g.plugin.Replicas() {
		if took := s.Since.Sub(paused); !s.Up && took > 5*time.Second {
			t.Errorf("%s was out %s after it was paused", s.Replica, took)
		}
	}
	if s := g.replica(t); !strings.Contains(s.Reason, "no answer within") {
		t.Errorf("state %+v", s)
	}
	readers.Wait() // while it stands
	waited, out := 0, g.replica(t).Since
	ended.Range(func(_, at any) bool {
		if at.(time.Time).After(out) {
			waited++
		}
		return true
	})
	if waited == 0 {
		t.Error("no read has waited for the replica")
	}
	g.reads(t, false)
	if err := g.replicas[0].Resume(); err != nil {
		t.Fatal(err)
	}
	g.becomes(t, true, 10*time.Second)
	g.reads(t, true)
}

// A replica is out after as many probes as configured have failed, and back after as
// many good ones. One that cannot reach its primary does not know its lag.
func TestProbesAreCountedBeforeAReplicaGoesOutAndComesBack(t *testing.T) {
	g := newGroups(t, "probes")
	g.cfg.ReadwriteSplitting.Health = config.Health{Interval: 60 * time.Millisecond, Timeout: 10 * time.Second, MaxLag: time.Minute, FailAfter: 6, RecoverAfter: 5}
	g.configure(func(name string, group *config.Group) {
		if name == "ds1" { // whose probes are not to be counted
			group.Replicas = group.Replicas[1:]
			delete(g.cfg.DataSources, "ds1_r0")
		}
	})
	g.open(t)
	replica := g.replicas[0]
	awaits := func(up bool) sharding.ReplicaState {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			s := g.plugin.Replicas()[0]
			if s.Up == up || time.Now().After(deadline) {
				if s.Up != up || s.Replica != "ds0_r0" {
					t.Fatalf("state %+v, want up %v", s, up)
				}
				return s
			}
		}
	}
	awaits(true)
	for _, test := range []struct {
		reason      string
		break_, fix func() error
	}{
		{
			"Slave_SQL_Running is No",
			func() error { return replica.StopReplicating(t.Context(), "SQL_THREAD") },
			func() error { return replica.Replicate(t.Context(), "SQL_THREAD") },
		},
		{
			"Slave_IO_Running is Connecting",
			func() error {
				g.run(t, replica, 0, "STOP SLAVE", "CHANGE MASTER TO MASTER_PORT = 1", "START SLAVE")
				return nil
			},
			func() error { return replica.Follow(t.Context(), g.primary) },
		},
	} {
		_, from := g.status(t, replica)
		if err := test.break_(); err != nil {
			t.Fatal(err)
		}
		s := awaits(false)
		lag, to := g.status(t, replica)
		if s.Reason != test.reason || s.Lag != sharding.LagUnknown || lag.Valid || to-from < 6 {
			t.Errorf("out after %d probes, with a lag of %v: %+v", to-from, lag, s)
		}
		_, from = g.status(t, replica)
		if err := test.fix(); err != nil {
			t.Fatal(err)
		}
		awaits(true)
		if lag, to = g.status(t, replica); !lag.Valid || to-from < 5 {
			t.Errorf("%s: back after %d probes, with a lag of %v", test.reason, to-from, lag)
		}
	}
}
