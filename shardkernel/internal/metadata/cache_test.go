package metadata

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// reads is a Reader that counts, and runs a step in between.
type reads struct {
	n    atomic.Int32
	step func(ctx context.Context, n int32) error
}

func (r *reads) read(ctx context.Context, _, table string) (*value.Table, error) {
	n := r.n.Add(1)
	if r.step != nil {
		if err := r.step(ctx, n); err != nil {
			return nil, err
		}
	}
	return value.NewTable([]value.Column{{Name: table}}), nil
}

func TestTableIsReadOnceAndKeptTenMinutes(t *testing.T) {
	now := time.Unix(0, 0)
	r := &reads{}
	c := New(r.read, func() time.Time { return now })
	get := func() *value.Table {
		t.Helper()
		table, err := c.Table(context.Background(), "ds0", "t_0", "t")
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	if _, ok := c.Get("t"); ok {
		t.Error("an empty cache has the table")
	}
	first := get()
	if _, ok := first.Column("t_0"); !ok {
		t.Errorf("the actual table was not read: %v", first.Columns)
	}
	now = now.Add(Lifetime - 1)
	if get() != first || r.n.Load() != 1 {
		t.Errorf("read %d times within the lifetime", r.n.Load())
	}
	if hit, ok := c.Get("t"); !ok || hit != first {
		t.Error("Get misses the table within the lifetime")
	}
	now = now.Add(1)
	if _, ok := c.Get("t"); ok {
		t.Error("Get gives the table after the lifetime")
	}
	if get() == first || r.n.Load() != 2 {
		t.Errorf("read %d times after the lifetime, want 2", r.n.Load())
	}
	c.Drop("t")
	get()
	if r.n.Load() != 3 {
		t.Errorf("read %d times after Drop, want 3", r.n.Load())
	}
	if _, err := c.Table(context.Background(), "ds0", "u_0", "u"); err != nil || r.n.Load() != 4 {
		t.Errorf("another table: %v, read %d times", err, r.n.Load())
	}
}

func TestErrorsAreNotKept(t *testing.T) {
	broken := errors.New("broken")
	r := &reads{step: func(_ context.Context, n int32) error {
		if n == 1 {
			return broken
		}
		return nil
	}}
	c := New(r.read, time.Now)
	if _, err := c.Table(context.Background(), "ds0", "t_0", "t"); !errors.Is(err, broken) {
		t.Errorf("err = %v, want the reader's", err)
	}
	if _, err := c.Table(context.Background(), "ds0", "t_0", "t"); err != nil {
		t.Errorf("second try: %v", err)
	}
}

func TestManyCallersShareOneReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reads{step: func(context.Context, int32) error { time.Sleep(time.Second); return nil }}
		c := New(r.read, time.Now)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if _, err := c.Table(context.Background(), "ds0", "t_0", "t"); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := r.n.Load(); n != 1 {
			t.Errorf("read %d times, want 1", n)
		}
	})
}

func TestWaitingCallerHonoursItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reads{step: func(context.Context, int32) error { time.Sleep(time.Hour); return nil }}
		c := New(r.read, time.Now)
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = c.Table(context.Background(), "ds0", "t_0", "t") })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := c.Table(ctx, "ds0", "t_0", "t"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("err = %v, want the context's", err)
		}
		if waited := time.Since(start); waited != time.Second {
			t.Errorf("waited %v", waited)
		}
		wg.Wait()
	})
}

func TestWaitingCallerReadsWhenTheReadingOneGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reads{step: func(ctx context.Context, _ int32) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Second):
				return nil
			}
		}}
		c := New(r.read, time.Now)
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := c.Table(ctx, "ds0", "t_0", "t"); !errors.Is(err, context.Canceled) {
				t.Errorf("the one that gave up: %v", err)
			}
		})
		synctest.Wait()
		for range 3 {
			wg.Go(func() {
				if _, err := c.Table(context.Background(), "ds0", "t_0", "t"); err != nil {
					t.Errorf("a waiting one: %v", err)
				}
			})
		}
		synctest.Wait()
		cancel()
		wg.Wait()
		if n := r.n.Load(); n != 2 {
			t.Errorf("read %d times, want 2", n)
		}
	})
}

func TestDropDuringAReadingKeepsNothingOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reads{step: func(context.Context, int32) error { time.Sleep(time.Second); return nil }}
		c := New(r.read, time.Now)
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = c.Table(context.Background(), "ds0", "t_0", "t") })
		synctest.Wait()
		c.Drop("t")
		wg.Wait()
		if _, err := c.Table(context.Background(), "ds0", "t_0", "t"); err != nil || r.n.Load() != 2 {
			t.Errorf("err %v, read %d times, want 2", err, r.n.Load())
		}
	})
}

func TestOnlyColumnsOfSomeAgeAreDroppedByAge(t *testing.T) {
	r := &reads{}
	now := time.Unix(0, 0)
	c := New(r.read, func() time.Time { return now })
	if c.DropOlder("t", 0) {
		t.Error("columns were dropped that had not been read")
	}
	if _, err := c.Table(t.Context(), "ds0", "t_0", "t"); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Second - 1)
	if _, kept := c.Get("t"); c.DropOlder("t", time.Second) || !kept {
		t.Error("columns were dropped before their age")
	}
	now = now.Add(1)
	if !c.DropOlder("t", time.Second) {
		t.Error("columns of the age were not dropped")
	}
	if _, kept := c.Get("t"); kept {
		t.Error("dropped columns are still there")
	}
}

func TestPanickingReaderLeavesNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reads{step: func(context.Context, int32) error { time.Sleep(time.Second); panic("reader") }}
		c := New(r.read, time.Now)
		var wg sync.WaitGroup
		wg.Go(func() {
			defer func() { _ = recover() }()
			_, _ = c.Table(context.Background(), "ds0", "t_0", "t")
		})
		synctest.Wait()
		if _, err := c.Table(context.Background(), "ds0", "t_0", "t"); !errors.Is(err, errAbandoned) {
			t.Errorf("err = %v", err)
		}
		wg.Wait()
	})
}

func TestHitDoesNotAllocate(t *testing.T) {
	c := New((&reads{}).read, time.Now)
	ctx := context.Background()
	if n := testing.AllocsPerRun(100, func() { _, _ = c.Table(ctx, "ds0", "t_0", "t") }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkHit(b *testing.B) {
	c := New((&reads{}).read, time.Now)
	ctx := context.Background()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_, _ = c.Table(ctx, "ds0", "t_0", "t")
		}
	})
}
