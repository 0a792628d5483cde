// Package keygentest checks that a key generator keeps the promises of package
// keygen. Call Run from a test of your own generator; the built-in ones pass it
// too.
package keygentest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gormshard/sharding/shardkernel/keygen"
)

const (
	goroutines = 8
	keysEach   = 2000
)

// Run takes 16,000 keys from the generator in 8 goroutines.
func Run(t *testing.T, g keygen.Generator) {
	t.Helper()
	t.Run("KeysAreUnique", func(t *testing.T) { keysAreUnique(t, g) })
	t.Run("CancelledContextEnds", func(t *testing.T) { cancelledContextEnds(t, g) })
}

func keysAreUnique(t *testing.T, g keygen.Generator) {
	made := make([][]any, goroutines)
	var wg sync.WaitGroup
	for i := range made {
		wg.Go(func() {
			for range keysEach {
				key, err := g.Next(t.Context())
				if err != nil {
					t.Errorf("Next: %v", err)
					return
				}
				made[i] = append(made[i], key)
			}
		})
	}
	wg.Wait()
	seen := make(map[any]bool, goroutines*keysEach)
	types := map[string]bool{}
	for _, keys := range made {
		for _, key := range keys {
			switch key {
			// A database column that receives one of these makes a key itself.
			case nil, int64(0), uint64(0), "":
				t.Fatalf("Next returned %#v, which stands for no key", key)
			}
			if seen[key] {
				t.Fatalf("Next returned %v twice", key)
			}
			seen[key] = true
			types[fmt.Sprintf("%T", key)] = true
		}
	}
	if len(types) != 1 || !types["int64"] && !types["uint64"] && !types["string"] {
		t.Errorf("Next returned the types %v, want one of int64, uint64 and string", types)
	}
}

// cancelledContextEnds allows a key as well: a generator that never waits need
// not look at the context.
func cancelledContextEnds(t *testing.T, g keygen.Generator) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = g.Next(ctx)
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Error("Next does not return although its context is done")
	}
}
