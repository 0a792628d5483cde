package shardkernel

import (
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// idleKernel is a kernel that can be counted, and no more.
func idleKernel() *Kernel {
	return &Kernel{uses: uses{quiet: make(chan struct{}), unused: make(chan struct{})}}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestAReplacedKernelIsInUseUntilItsLastStatementAndRowsEnd(t *testing.T) {
	first := idleKernel()
	live := NewLive(first)
	one, two := live.Acquire(), live.Acquire()
	two.hold() // rows that stay behind
	two.Release()
	if live.Swap(idleKernel()) != first || one != first {
		t.Fatal("another kernel was in force")
	}
	if live.Acquire() == first {
		t.Error("a statement begins on the kernel that was replaced")
	}
	if closed(first.Quiet()) || closed(first.Unused()) {
		t.Error("a statement is on its way, and not known")
	}
	one.Release()
	if !closed(first.Quiet()) || closed(first.Unused()) {
		t.Error("rows are open, and nothing else is")
	}
	two.unhold()
	if !closed(first.Unused()) {
		t.Error("nothing is open")
	}
	if k := live.Kernel(); closed(k.Quiet()) {
		t.Error("the kernel in force is taken for replaced")
	}
}

func TestNoStatementHasAKernelThatIsUnused(t *testing.T) {
	live := NewLive(idleKernel())
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for !stop.Load() {
				k := live.Acquire()
				if closed(k.Unused()) || closed(k.Quiet()) {
					t.Error("a statement has a kernel that may be closed")
					stop.Store(true)
				}
				k.Release()
				runtime.Gosched()
			}
		})
	}
	for range 300 {
		before := live.Swap(idleKernel())
		<-before.Quiet()
		<-before.Unused()
	}
	stop.Store(true)
	wg.Wait()
}

// BenchmarkAcquire is what each statement pays for the configuration to be
// replaceable, by one goroutine and by several, which share one counter.
func BenchmarkAcquire(b *testing.B) {
	for _, goroutines := range []int{1, 2, 8} {
		b.Run(strconv.Itoa(goroutines), func(b *testing.B) {
			b.ReportAllocs()
			live := NewLive(idleKernel())
			var wg sync.WaitGroup
			for i := range goroutines {
				share := (b.N + i) / goroutines
				wg.Go(func() {
					for range share {
						live.Acquire().Release()
					}
				})
			}
			wg.Wait()
		})
	}
}
