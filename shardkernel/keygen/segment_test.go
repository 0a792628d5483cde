package keygen

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// counter gives out numbers from memory.
type counter struct {
	mu    sync.Mutex
	next  int64
	taken []int64 // the first number of each block
	err   error
	hold  chan struct{} // a receive is made before every answer
}

func (c *counter) take(ctx context.Context, _ string, start, step int64) (int64, error) {
	if c.hold != nil {
		select {
		case <-c.hold:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	first := max(c.next, start)
	c.next = first + step
	c.taken = append(c.taken, first)
	return first, nil
}

func newTestSegment(t *testing.T, c *counter, props Props) *segment {
	t.Helper()
	g, err := NewRegistry().New("SEGMENT", props)
	if err != nil {
		t.Fatal(err)
	}
	s := g.(*segment)
	s.blocks = c
	return s
}

func TestSegmentCountsThroughItsBlocks(t *testing.T) {
	c := &counter{}
	g := newTestSegment(t, c, Props{"table": "t_order", "step": 3, "start": 100})
	for want := int64(100); want < 110; want++ {
		if want == 106 {
			c.next += 30 // another process
		}
		got := next(t, g)
		if skipped := want + 30; want >= 106 && got != skipped || want < 106 && got != want {
			t.Fatalf("got %d after %d keys", got, want-100)
		}
	}
	if len(c.taken) != 4 {
		t.Errorf("took blocks at %v for 10 keys, want 4 of 3", c.taken)
	}
}

func TestSegmentTakesOneBlockHoweverManyAsk(t *testing.T) {
	c := &counter{}
	g := newTestSegment(t, c, Props{"table": "t_order", "step": 100})
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() { next(t, g) })
	}
	wg.Wait()
	if len(c.taken) != 1 {
		t.Errorf("took %d blocks for 100 keys of 100", len(c.taken))
	}
}

func TestSegmentFailureIsNotKept(t *testing.T) {
	c := &counter{err: errors.New("no route to host")}
	g := newTestSegment(t, c, Props{"table": "t_order"})
	fails(t, g, "SEGMENT t_order: no route to host")
	c.err = nil
	if got := next(t, g); got != 1 {
		t.Errorf("got %d", got)
	}
}

func TestSegmentCallerWhoGivesUpLeavesTheBlockToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counter{hold: make(chan struct{})}
		g := newTestSegment(t, c, Props{"table": "t_order"})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 2 { // one asks the database, the other waits for it
			wg.Go(func() {
				if _, err := g.Next(ctx); !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
			})
		}
		synctest.Wait()
		wg.Go(func() { next(t, g) })
		synctest.Wait()
		cancel()
		synctest.Wait()
		c.hold <- struct{}{}
		wg.Wait()
		if len(c.taken) != 1 {
			t.Errorf("took %d blocks", len(c.taken))
		}
		// Nobody is left behind.
		time.Sleep(time.Second)
		next(t, g)
	})
}
