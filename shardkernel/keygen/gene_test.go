package keygen

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/gormshard/sharding/shardkernel/algorithm"
)

func newTestGene(t *testing.T, props Props) OwnerGenerator {
	t.Helper()
	g, err := NewRegistry().New("GENE_SNOWFLAKE", props)
	if err != nil {
		t.Fatal(err)
	}
	return g.(OwnerGenerator)
}

func nextFor(t *testing.T, g OwnerGenerator, owner algorithm.Value) int64 {
	t.Helper()
	key, err := g.NextFor(context.Background(), owner)
	if err != nil {
		t.Fatal(err)
	}
	return key.(int64)
}

func TestGeneKeysCarryTheSlotOfTheOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		skipTo2024()
		g := newTestGene(t, Props{"ownerColumn": "User_ID", "workerId": 21, "maxVibrationOffset": 0})
		if g.OwnerColumn() != "user_id" {
			t.Errorf("owner column %q", g.OwnerColumn())
		}
		for _, owner := range []int64{0, 77, 1023, -1, 1 << 40} {
			key := nextFor(t, g, algorithm.Int(owner))
			slot, err := g.(*geneSnowflake).slots.Of(algorithm.Int(owner))
			if err != nil || uint64(key>>12&0x3ff) != slot {
				t.Errorf("owner %d of slot %d, %v: key %d carries %d", owner, slot, err, key, key>>12&0x3ff)
			}
			if worker := key >> 7 & 31; worker != 21 {
				t.Errorf("key %d is of worker %d", key, worker)
			}
		}
	})
}

func TestGeneKeysAreUniqueAmongWorkersAndOwners(t *testing.T) {
	var mu sync.Mutex
	seen := map[int64]bool{}
	var wg sync.WaitGroup
	for worker := range 2 {
		g := newTestGene(t, Props{"ownerColumn": "u", "workerId": worker, "workerBits": 1})
		for range 4 {
			wg.Go(func() {
				for i := range 2000 {
					key := nextFor(t, g, algorithm.Int(int64(i%3)))
					mu.Lock()
					if seen[key] {
						t.Errorf("key %d twice", key)
					}
					seen[key] = true
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
}

func TestGeneNeedsAnOwner(t *testing.T) {
	g := newTestGene(t, Props{"ownerColumn": "user_id", "workerId": 1})
	if _, err := g.Next(context.Background()); err == nil || !strings.Contains(err.Error(), "user_id") {
		t.Errorf("Next: %v", err)
	}
	for _, props := range []Props{{}, {"ownerColumn": "u", "slots": 1025}, {"ownerColumn": "u", "workerBits": 11}, {"ownerColumn": "u", "workerId": 32}, {"ownerColumn": "u", "workerBits": 10, "maxVibrationOffset": 4}} {
		if _, err := NewRegistry().New("GENE_SNOWFLAKE", props); err == nil {
			t.Errorf("%v is accepted", props)
		}
	}
}
