//go:build unix

package readwrite_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/tests/mariadb"
)

// quick probes replicas that are allowed to be a second behind.
var quick = config.Health{Interval: 150 * time.Millisecond, MaxLag: time.Second, FailAfter: 2, RecoverAfter: 2}

// patient takes out replicas that refuse connections, and none that a busy machine
// keeps from answering: a read is sent again once, not for every replica in turn.
var patient = config.Health{Interval: 150 * time.Millisecond, Timeout: 20 * time.Second, MaxLag: time.Minute, FailAfter: 2, RecoverAfter: 2}

// replica returns the state of the first replica of ds0.
func (g *groups) replica(t *testing.T) sharding.ReplicaState {
	t.Helper()
	states := g.plugin.Replicas()
	if len(states) != 4 || states[0].Replica != "ds0_r0" || states[3].Replica != "ds1_r1" {
		t.Fatalf("states %+v", states)
	}
	return states[0]
}

// becomes waits until both groups have the first replica in or out, and the
// second one in.
func (g *groups) becomes(t *testing.T, up bool, within time.Duration) {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		states := g.plugin.Replicas()
		if states[0].Up == up && states[2].Up == up && states[1].Up && states[3].Up {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %s: %+v, want up %v", within, states, up)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// reads are answered, and by the second replica alone where the first is out.
func (g *groups) reads(t *testing.T, first bool) {
	t.Helper()
	g.asked()
	for range 6 {
		var n int
		if err := g.db.Raw("SELECT COUNT(*) FROM t_order").Scan(&n).Error; err != nil {
			t.Fatal(err)
		}
	}
	want := "ds0_r1 ds1_r1"
	if first {
		want = "ds0_r0 ds0_r1 ds1_r0 ds1_r1"
	}
	if asked := g.asked(); asked != want {
		t.Errorf("reads went to %q, want %q", asked, want)
	}
}

func TestAReplicaThatStandsOrLagsAnswersNoReads(t *testing.T) {
	g := newGroups(t, "lag")
	g.cfg.ReadwriteSplitting.Health = quick
	l := new(told)
	g.logger = logger.New(l, logger.Config{LogLevel: logger.Info})
	g.open(t)
	replica := g.replicas[0]
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	g.becomes(t, true, 10*time.Second)
	g.reads(t, true)
	for _, thread := range []string{mariadb.SQLThread, mariadb.IOThread} {
		check(replica.StopReplicating(t.Context(), thread))
		g.becomes(t, false, 5*time.Second)
		if s := g.replica(t); s.Lag != sharding.LagUnknown || !strings.Contains(s.Reason, "Running is No") {
			t.Errorf("with the %s stopped: %+v", thread, s)
		}
		g.reads(t, false)
		check(replica.Replicate(t.Context(), thread))
		g.becomes(t, true, 10*time.Second)
	}

	check(replica.Delay(t.Context(), time.Minute))
	g.becomes(t, true, 10*time.Second) // it has nothing to be behind of
	g.run(t, g.primary, 0, "INSERT INTO t_order VALUES (2, 2)")
	g.becomes(t, false, 5*time.Second)
	if s := g.replica(t); s.Lag < time.Second || !strings.Contains(s.Reason, "behind") {
		t.Errorf("with a delay: %+v", s)
	}
	g.reads(t, false)
	check(replica.Delay(t.Context(), 0))
	check(replica.CatchUp(t.Context(), g.primary))
	g.becomes(t, true, 10*time.Second)
	g.reads(t, true)

	// It has been out three times, and all that is told.
	if s := g.replica(t); s.Outs != 3 || s.Reason != "" || time.Since(s.Since) > time.Minute {
		t.Errorf("state %+v", s)
	}
	for line, want := range map[string]int{
		"replica ds0_r0 of ds0 answers no reads: ": 3, "replica ds1_r0 of ds1 answers no reads: ": 3,
		"replica ds0_r0 of ds0 answers reads": 4, "replica ds0_r1 of ds0 answers reads": 1,
	} {
		if n := l.count(line); n != want {
			t.Errorf("%q is logged %d times, want %d", line, n, want)
		}
	}
}

// told keeps what is logged.
type told struct {
	mu    sync.Mutex
	lines []string
}

func (l *told) Printf(format string, values ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, values...))
}

// about returns the lines that hold the text.
func (l *told) about(text string) (lines string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			lines += line + "\n"
		}
	}
	return lines
}

func (l *told) count(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

func TestReadsAreForcedAwayFromReplicas(t *testing.T) {
	g := newGroups(t, "forced")
	g.cfg.Props.PrimaryOnly = true
	g.configure(func(name string, group *config.Group) {
		if name == "ds0" {
			group.NoReplica = config.NoReplicaError
		}
	})
	g.open(t)
	asks := func(want string) {
		t.Helper()
		g.asked()
		for range 4 {
			if err := g.db.Exec("SELECT * FROM t_order").Error; err != nil {
				t.Error(err)
			}
			rows, err := g.db.Raw("SELECT * FROM t_order").Rows()
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(rows.Err(), rows.Close()); err != nil {
				t.Error(err)
			}
		}
		if asked := g.asked(); !strings.HasSuffix(asked, want) {
			t.Errorf("reads went to %q, want %q", asked, want)
		}
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	asks("ds0 ds1")
	check(g.plugin.PrimaryOnly(false, "ds1"))
	asks("ds0 ds1 ds1_r0 ds1_r1")
	check(g.plugin.PrimaryOnly(false))
	asks("ds0_r0 ds0_r1 ds1 ds1_r0 ds1_r1")
	check(g.plugin.DisableReplica("ds0_r0", true))
	check(g.plugin.DisableReplica("ds1_r1", true))
	asks("ds0_r1 ds1 ds1_r0")
	check(g.plugin.DisableReplica("ds1_r0", true)) // none is left: the primary
	asks("ds0_r1 ds1")
	check(g.plugin.DisableReplica("ds0_r1", true)) // none is left: an error
	err := g.db.Raw("SELECT * FROM t_order").Scan(new([]int)).Error
	if !errors.Is(err, sharding.ErrNoReplica) {
		t.Errorf("without a replica: %v", err)
	}
	check(g.plugin.PrimaryOnly(true, "ds0"))
	asks("ds0 ds1")

	for what, err := range map[string]error{"group": g.plugin.PrimaryOnly(true, "ds7"), "replica": g.plugin.DisableReplica("ds0_r7", true)} {
		if !errors.Is(err, sharding.ErrConfig) || !strings.Contains(err.Error(), "did you mean") {
			t.Errorf("unknown %s: %v", what, err)
		}
	}
}

// A heartbeat table tells of lag that the status does not show.
func TestAQueryTellsTheLag(t *testing.T) {
	g := newGroups(t, "heartbeat")
	g.run(t, g.primary, 0, "CREATE TABLE beat (at datetime(6))", "INSERT INTO beat VALUES (NULL)")
	g.run(t, g.primary, 1, "CREATE TABLE beat (at datetime(6))", "INSERT INTO beat VALUES (UTC_TIMESTAMP(6))")
	g.catchUp(t)
	g.cfg.ReadwriteSplitting.Health = config.Health{
		Interval: 100 * time.Millisecond, MaxLag: time.Minute, LagQuery: "SELECT TIMESTAMPDIFF(MICROSECOND, MAX(at), UTC_TIMESTAMP(6)) / 1e6 FROM beat",
	}
	g.open(t)
	states := func() string {
		text := ""
		for _, s := range g.plugin.Replicas() {
			text += fmt.Sprintf("%s %v; ", s.Replica, s.Up)
		}
		return text
	}
	if err := g.db.Exec("SELECT 1").Error; err != nil { // waits for the first probes
		t.Fatal(err)
	}
	if got, want := states(), "ds0_r0 false; ds0_r1 false; ds1_r0 true; ds1_r1 true; "; got != want {
		deadline, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		for got != want && deadline.Err() == nil {
			time.Sleep(50 * time.Millisecond)
			got = states()
		}
		if got != want {
			t.Errorf("states %s want %s", got, want)
		}
	}
}
