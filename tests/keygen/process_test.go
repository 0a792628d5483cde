//go:build unix

package keygen_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gormshard/sharding/shardkernel/keygen"
)

func TestTwoProcessesMakeDifferentKeys(t *testing.T) {
	for _, test := range []struct {
		typeName string
		props    keygen.Props
	}{
		{"SNOWFLAKE", nil},
		{"SEGMENT", keygen.Props{"table": "t_order", "step": 100}},
	} {
		t.Run(test.typeName, func(t *testing.T) {
			count := 20_000
			if long() {
				count = 100_000
			}
			// Both make the table, too.
			spec := childSpec{DSN: database(t), Type: test.typeName, Props: test.props, TTL: 30 * time.Second, Count: count}
			a, b := start(t, spec), start(t, spec)
			a.await(t, 1)
			b.await(t, 1)
			for _, c := range []*child{a, b} {
				if _, err := io.WriteString(c.input, "go\n"); err != nil {
					t.Fatal(err)
				}
			}
			a.stop(t)
			b.stop(t)
			if len(a.made()) != count || len(b.made()) != count {
				t.Fatalf("made %d and %d keys, want %d", len(a.made()), len(b.made()), count)
			}
			unique(t, a.made(), b.made())
		})
	}
}

// A stopped process is in the place of one whose virtual machine was: it goes on
// with what it last knew, long after its worker id went to somebody else.
func TestPausedProcessStopsMakingKeys(t *testing.T) {
	dsn := database(t)
	onlyWorker(t, open(t, dsn), 7)
	spec := childSpec{DSN: dsn, Type: "SNOWFLAKE", TTL: 2 * time.Second}
	a := start(t, spec)
	a.await(t, 50)
	a.signal(t, syscall.SIGSTOP)

	b := start(t, spec)
	b.await(t, 100)
	before := a.made()
	if workerOf(before[0]) != 7 || workerOf(b.made()[0]) != 7 {
		t.Fatalf("worker ids %d and %d: the test is for 7 being used by both", workerOf(before[0]), workerOf(b.made()[0]))
	}

	a.signal(t, syscall.SIGCONT)
	waitFor(t, func() bool { return strings.Contains(strings.Join(a.failed(), "\n"), "no worker id is free") }, func() string {
		return fmt.Sprintf("the process that was paused has made %d keys more, last errors %q", len(a.made())-len(before), lastOf(a.failed()))
	})
	b.await(t, len(b.made())+1000)
	if extra := a.made()[len(before):]; len(extra) > 1 {
		t.Errorf("the process that was paused made %d keys without a lease, want none but the one it was at: %v", len(extra), extra)
	}

	b.stop(t)
	a.await(t, len(before)+50) // it leased anew
	a.stop(t)
	unique(t, a.made(), b.made())
	if !slices.IsSorted(a.made()) {
		t.Error("the keys of the process that was paused do not ascend")
	}
}

func TestWorkerIDOfAKilledProcessIsTakenAfterItsLease(t *testing.T) {
	dsn := database(t)
	pool := open(t, dsn)
	onlyWorker(t, pool, 7)
	spec := childSpec{DSN: dsn, Type: "SNOWFLAKE", TTL: time.Second}
	a := start(t, spec)
	a.await(t, 500)
	a.kill()
	var usedUntil int64
	if err := pool.QueryRowContext(t.Context(), "SELECT used_until FROM _sharding_worker WHERE worker_id = 7").Scan(&usedUntil); err != nil {
		t.Fatal(err)
	}

	b := start(t, spec)
	b.await(t, 100)
	b.stop(t)
	keys := b.made()
	if at := keys[0]>>22 + 1_477_929_600_000; workerOf(keys[0]) != 7 || at <= usedUntil {
		t.Errorf("the next holder's first key is of worker %d and of %d; the one before might have used 7 until %d", workerOf(keys[0]), at, usedUntil)
	}
	unique(t, a.made(), keys)
}

func TestSegmentOfAKilledProcessIsNotGivenAgain(t *testing.T) {
	dsn := database(t)
	spec := childSpec{DSN: dsn, Type: "SEGMENT", Props: keygen.Props{"table": "t_order", "step": 10}, TTL: time.Second}
	a := start(t, spec)
	a.await(t, 55)
	a.kill()
	b := start(t, spec)
	b.await(t, 55)
	b.stop(t)
	unique(t, a.made(), b.made())
}
