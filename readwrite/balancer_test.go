package readwrite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"slices"
	"sync"
	"testing"
)

// replicas returns replicas of these weights over pools that dial nothing.
func replicas(t *testing.T, weights ...int) []*Replica {
	t.Helper()
	var out []*Replica
	for _, w := range weights {
		db := sql.OpenDB(idle{})
		t.Cleanup(func() { _ = db.Close() })
		out = append(out, NewReplica("r", w, db, nil))
	}
	return out
}

// idle opens connections that do nothing.
type idle struct{}

func (idle) Connect(context.Context) (driver.Conn, error) { return conn{}, nil }
func (idle) Driver() driver.Driver                        { return nil }

type conn struct{ driver.Conn }

func (conn) Close() error { return nil }

func made(t *testing.T, typeName string) Balancer {
	t.Helper()
	b, err := NewRegistry().New(typeName, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// shares counts the choices of several goroutines.
func shares(b Balancer, of []*Replica, n int) []int {
	counts := make([]int, len(of))
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range n / 4 {
				i := b.Choose(of)
				mu.Lock()
				counts[i]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return counts
}

func TestReadsAreSharedOutAsTheBalancerSays(t *testing.T) {
	for _, test := range []struct {
		typeName string
		weights  []int
		want     []int // of 1,200
		off      int
	}{
		{"round_robin", []int{1, 5, 1}, []int{400, 400, 400}, 0},
		{"WEIGHT", []int{1, 1}, []int{600, 600}, 0},
		{"WEIGHT", []int{3, 2, 1}, []int{600, 400, 200}, 0},
		{"WEIGHT", []int{7}, []int{1200}, 0},
		{"RANDOM", []int{1, 1}, []int{600, 600}, 150},
		{"LEAST_CONNECTIONS", []int{1, 1, 1}, []int{400, 400, 400}, 0},
	} {
		got := shares(made(t, test.typeName), replicas(t, test.weights...), 1200)
		for i := range got {
			if got[i] < test.want[i]-test.off || got[i] > test.want[i]+test.off {
				t.Errorf("%s of %v: %v, want %v", test.typeName, test.weights, got, test.want)
				break
			}
		}
	}
}

func TestLeastConnectionsPassesBusyReplicasBy(t *testing.T) {
	of := replicas(t, 1, 1, 1)
	for range 2 {
		c, err := of[0].db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	c, err := of[2].db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := shares(made(t, "LEAST_CONNECTIONS"), of, 100); !slices.Equal(got, []int{0, 100, 0}) {
		t.Errorf("got %v, want all on the idle one", got)
	}
	if got := shares(made(t, "LEAST_CONNECTIONS"), []*Replica{of[0], of[2]}, 100); !slices.Equal(got, []int{0, 100}) {
		t.Errorf("got %v, want all on the less busy one", got)
	}
}

func TestChoosingAllocatesNothing(t *testing.T) {
	for _, typeName := range NewRegistry().Types() {
		g := NewGroup("g", made(t, typeName), replicas(t, 1, 2, 3), Options{})
		if n := testing.AllocsPerRun(100, func() {
			if _, err := g.Choose(t.Context()); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("%s allocates %v times", typeName, n)
		}
	}
}

type wrong int

func (w wrong) Choose([]*Replica) int { return int(w) }

func TestAChoiceOutOfRangeIsAnError(t *testing.T) {
	for _, n := range []wrong{-1, 2} {
		if i, err := NewGroup("g", n, replicas(t, 1, 1), Options{}).Choose(t.Context()); err == nil {
			t.Errorf("choice %d of 2 is taken for %d", n, i)
		}
	}
}
