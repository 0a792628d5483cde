//go:build unix

package readwrite_test

import (
	"database/sql"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/readwrite"
)

// answers counts, by what the servers say of themselves, who answered reads of
// several goroutines.
func (g *groups) answers(t *testing.T, query string, reads int) map[string]int {
	t.Helper()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range reads / 4 {
				var n int
				if err := g.db.Raw(query).Scan(&n).Error; err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	counts := map[string]int{}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, who := range g.sent {
		counts[who]++
	}
	g.sent = nil
	return counts
}

func TestReadsAreSpreadByWeightWithinTwoPercent(t *testing.T) {
	g := newGroups(t, "weights")
	g.configure(func(name string, group *config.Group) {
		group.LoadBalancer, group.Weights = "WEIGHT", map[string]int{name + "_r0": 3}
	})
	g.open(t)
	const reads = 1000
	got := g.answers(t, "SELECT COUNT(*) FROM t_order", reads)
	for who, share := range map[string]float64{"ds0_r0": 0.75, "ds0_r1": 0.25, "ds1_r0": 0.75, "ds1_r1": 0.25} {
		if off := math.Abs(float64(got[who])/reads - share); off > 0.02 {
			t.Errorf("%s had %d of %d reads, want %v of them", who, got[who], reads, share)
		}
	}
}

// first is a load balancer of an application.
type first struct{}

func (first) Choose([]*readwrite.Replica) int { return 0 }

func TestAnApplicationMayBringItsOwnLoadBalancer(t *testing.T) {
	g := newGroups(t, "own")
	g.configure(func(_ string, group *config.Group) { group.LoadBalancer = "first" })
	g.open(t, sharding.WithLoadBalancer("FIRST", func() (readwrite.Balancer, error) { return first{}, nil }))
	if got := g.answers(t, "SELECT COUNT(*) FROM t_audit", 40); got["ds0_r0"] != 40 {
		t.Errorf("got %v", got)
	}

	cfg := *g.cfg
	cfg.ReadwriteSplitting = config.ReadwriteSplitting{Groups: map[string]config.Group{}}
	for name, group := range g.cfg.ReadwriteSplitting.Groups {
		group.LoadBalancer = "ROUND_ROBBIN"
		cfg.ReadwriteSplitting.Groups[name] = group
	}
	_, err := sharding.Connector(&cfg)
	if !errors.Is(err, sharding.ErrConfig) || !strings.Contains(err.Error(), `readwriteSplitting.groups.ds1.loadBalancer: no load balancer type "ROUND_ROBBIN"; did you mean "ROUND_ROBIN"?`) {
		t.Errorf("unknown type: %v", err)
	}
}

// A replica whose connections are in use is passed by as long as another one has
// fewer.
func TestReadsGoToTheReplicaWithTheFewestConnectionsInUse(t *testing.T) {
	g := newGroups(t, "least")
	g.cfg.ReadwriteSplitting.Health = config.Health{Off: true}
	g.configure(func(_ string, group *config.Group) { group.LoadBalancer = "LEAST_CONNECTIONS" })
	g.open(t)
	hold := func() (who string, rows *sql.Rows) {
		t.Helper()
		g.asked()
		rows, err := g.db.Raw("SELECT REPEAT('x', 1000) FROM seq_1_to_2000").Rows()
		if err != nil || !rows.Next() {
			t.Fatalf("no rows, error %v", err)
		}
		return g.asked(), rows
	}
	answers := func(when, want string) {
		t.Helper()
		g.asked()
		for _, query := range []string{"SELECT COUNT(*) FROM t_audit", "SELECT id FROM t_order WHERE id = 2", "SELECT COUNT(*) FROM t_order"} {
			for range 5 {
				if err := g.db.Raw(query).Scan(new([]int)).Error; err != nil {
					t.Error(err)
				}
			}
		}
		if asked := g.asked(); !strings.HasPrefix(asked, want+" ds1_") {
			t.Errorf("%s: reads went to %q, want %q of ds0", when, asked, want)
		}
	}
	answers("all are idle", "ds0_r0 ds0_r1")
	busy, first := hold()
	defer first.Close()
	other := map[string]string{"ds0_r0": "ds0_r1", "ds0_r1": "ds0_r0"}[busy]
	answers("one is busy", other)
	who, second := hold()
	defer second.Close()
	if who != other {
		t.Errorf("%s was asked for more rows, want %s", who, other)
	}
	if err := errors.Join(first.Err(), second.Err(), first.Close()); err != nil {
		t.Error(err)
	}
	answers("the other one is busy", busy)
}
