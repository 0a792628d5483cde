package readwrite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gormshard/sharding/internal/fault"
)

// patient is a replica whose answers a test gives.
type patient struct {
	*Replica
	mu     sync.Mutex
	answer answer
}

type answer struct {
	lag time.Duration
	err error
	// hang waits for the probe's timeout.
	hang bool
}

// says sets what the replica answers from now on.
func (p *patient) says(a answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = a
}

func newPatient(name string) *patient {
	p := &patient{Replica: &Replica{Name: name, Weight: 1}}
	p.ask = func(ctx context.Context, _ Health) (time.Duration, error) {
		p.mu.Lock()
		a := p.answer
		p.mu.Unlock()
		if a.hang {
			<-ctx.Done()
			return LagUnknown, ctx.Err()
		}
		return a.lag, a.err
	}
	return p
}

// probed runs a test with a group of two replicas in a bubble with a clock of its
// own, where a probe runs every second or so. tell is what is told of changes.
// At first both answer so.
func probed(t *testing.T, opts Options, first answer, test func(t *testing.T, g *Group, a, b *patient, told func() []string)) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newPatient("a"), newPatient("b")
		a.says(first)
		b.says(first)
		var mu sync.Mutex
		var lines []string
		opts.Changed = func(s State) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, fmt.Sprintf("%s %v %s", s.Replica, s.Up, s.Reason))
		}
		told := func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(lines)
		}
		if opts.Health == nil {
			opts.Health = &Health{}
		}
		g := NewGroup("g", &roundRobin{}, []*Replica{a.Replica, b.Replica}, opts)
		defer g.Close()
		test(t, g, a, b, told)
	})
}

// up names the replicas that answer.
func up(g *Group) string {
	var names []string
	for _, r := range *g.available.Load() {
		names = append(names, r.Name)
	}
	return strings.Join(names, "")
}

func TestAReplicaIsOutAfterFailedProbesAndBackAfterGoodOnes(t *testing.T) {
	for name, ill := range map[string]answer{
		"an error":       {err: errors.New("Slave_SQL_Running is No")},
		"no answer":      {hang: true},
		"unknown lag":    {lag: LagUnknown},
		"too much of it": {lag: 5*time.Second + 1},
	} {
		t.Run(name, func(t *testing.T) {
			probed(t, Options{}, answer{}, func(t *testing.T, g *Group, a, _ *patient, told func() []string) {
				if _, err := g.Choose(t.Context()); err != nil || up(g) != "ab" { // waits for the first probes
					t.Fatalf("%v, %s answer", err, up(g))
				}
				a.says(answer{lag: 5 * time.Second})
				time.Sleep(3 * time.Second)
				if up(g) != "ab" {
					t.Errorf("%s answer at the limit", up(g))
				}
				a.says(ill)
				time.Sleep(1800 * time.Millisecond) // one failed probe or two
				if up(g) != "ab" {
					t.Errorf("%s answer before three probes failed", up(g))
				}
				time.Sleep(3700 * time.Millisecond)
				if up(g) != "b" {
					t.Errorf("%s answer after three probes", up(g))
				}
				s := g.States()[0]
				if s.Up || s.Outs != 1 || s.Reason == "" || time.Since(s.Since) > 4*time.Second {
					t.Errorf("state %+v", s)
				}
				a.says(answer{})
				time.Sleep(3900 * time.Millisecond)
				if up(g) != "ab" {
					t.Errorf("%s answer after two good probes", up(g))
				}
				if n := told(); len(n) != 4 {
					t.Errorf("told %q", n)
				}
			})
		})
	}
}

func TestAFailedReadTakesTheReplicaOutAtOnce(t *testing.T) {
	probed(t, Options{}, answer{}, func(t *testing.T, g *Group, _, _ *patient, _ func() []string) {
		time.Sleep(500 * time.Millisecond)
		g.Failed(1, errors.New("reset by peer"))
		if up(g) != "a" || !strings.Contains(g.States()[1].Reason, "reset by peer") {
			t.Errorf("%s answer: %+v", up(g), g.States()[1])
		}
		for range 4 {
			if n, err := g.Choose(t.Context()); n != 0 || err != nil {
				t.Errorf("replica %d was chosen, %v", n, err)
			}
		}
		time.Sleep(900 * time.Millisecond)
		if up(g) != "a" {
			t.Error("one good probe brought it back")
		}
		time.Sleep(time.Second)
		if up(g) != "ab" {
			t.Error("two good probes did not bring it back")
		}
	})
}

func TestWithoutAReplicaReadsGoToThePrimaryOrFail(t *testing.T) {
	for _, must := range []bool{false, true} {
		probed(t, Options{MustReplica: must}, answer{err: errors.New("Access denied")}, func(t *testing.T, g *Group, a, b *patient, told func() []string) {
			n, err := g.Choose(t.Context())
			if must != errors.Is(err, fault.ErrNoReplica) || n != -1 {
				t.Errorf("with mustReplica %v: %d, %v", must, n, err)
			}
			if must && !strings.Contains(err.Error(), "a: Access denied; b: Access denied") {
				t.Errorf("the error does not say why: %v", err)
			}
			if len(told()) != 2 {
				t.Errorf("told %q, want each replica once", told())
			}
			a.says(answer{})
			b.says(answer{})
			time.Sleep(1200 * time.Millisecond)
			if up(g) != "ab" {
				t.Errorf("%s answer after their first good probe", up(g))
			}
		})
	}
}

func TestReadsAreForcedToThePrimaryAndAwayFromOneReplica(t *testing.T) {
	probed(t, Options{PrimaryOnly: true}, answer{}, func(t *testing.T, g *Group, _, _ *patient, _ func() []string) {
		choose := func() int {
			t.Helper()
			n, err := g.Choose(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		if n := choose(); n != -1 {
			t.Errorf("replica %d was chosen", n)
		}
		g.PrimaryOnly(false)
		if !g.Disable("a", true) || g.Disable("c", true) {
			t.Error("Disable does not know the replicas")
		}
		for range 4 {
			if n := choose(); n != 1 {
				t.Errorf("replica %d was chosen", n)
			}
		}
		time.Sleep(5 * time.Second)
		if up(g) != "b" {
			t.Error("a probe brought a disabled replica back")
		}
		g.Disable("a", false)
		if up(g) != "ab" {
			t.Errorf("%s answer", up(g))
		}
	})
}

func TestWaitingForTheFirstProbesEndsWithTheContext(t *testing.T) {
	probed(t, Options{Health: &Health{Timeout: time.Minute}}, answer{hang: true}, func(t *testing.T, g *Group, _, _ *patient, _ func() []string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := g.Choose(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}
