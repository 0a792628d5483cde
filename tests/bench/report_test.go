package bench

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

func TestMain(m *testing.M) {
	code := m.Run()
	measured.print(os.Stdout)
	os.Exit(code)
}

// measured collects what the benchmarks of this run have measured.
var measured report

// report holds a comparison for each benchmark, in the order of their runs.
type report struct{ comparisons []*comparison }

// comparison holds the measurements of one benchmark, one for each -count.
type comparison struct {
	name           string
	plain, sharded []figures
	// ratios are those of the processor time when both sides took turns.
	ratios []float64
}

// figures are those of one operation.
type figures struct{ ns, allocs, bytes float64 }

func (r *report) comparison(benchmark string) *comparison {
	name := strings.TrimPrefix(benchmark, "Benchmark")
	for _, c := range r.comparisons {
		if c.name == name {
			return c
		}
	}
	c := &comparison{name: name}
	r.comparisons = append(r.comparisons, c)
	return c
}

// measure runs one side by itself.
func measure(b *testing.B, run func() error) figures {
	b.ReportAllocs()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for b.Loop() {
		if err := run(); err != nil {
			b.Fatal(err)
		}
	}
	elapsed := b.Elapsed()
	runtime.ReadMemStats(&after)
	n := float64(b.N)
	return figures{
		ns:     float64(elapsed.Nanoseconds()) / n,
		allocs: float64(after.Mallocs-before.Mallocs) / n,
		bytes:  float64(after.TotalAlloc-before.TotalAlloc) / n,
	}
}

// turn is for how long a side runs before the other one does: some rounds of
// the garbage collector.
const turn = 10 * time.Millisecond

// ratio lets both sides run in short turns on one processor, and compares the
// processor time they take, collecting garbage included: what else the machine
// does meanwhile hits both alike.
func ratio(b *testing.B, plain, sharded func() error) float64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var ratios []float64
	var n int
	for b.Loop() {
		if n == 0 {
			n = perTurn(b, sharded)
		}
		var cpu [2]time.Duration
		for side, run := range [2]func() error{plain, sharded} {
			start := cpuTime()
			for range n {
				if err := run(); err != nil {
					b.Fatal(err)
				}
			}
			cpu[side] = cpuTime() - start
		}
		ratios = append(ratios, float64(cpu[1])/float64(cpu[0]))
	}
	r := median(ratios, func(r float64) float64 { return r })
	b.ReportMetric(r, "ratio")
	b.ReportMetric(0, "ns/op") // that of a turn: means nothing
	return r
}

// perTurn returns how many operations fit into a turn.
func perTurn(b *testing.B, run func() error) int {
	start := time.Now()
	for n := 1; ; n++ {
		if err := run(); err != nil {
			b.Fatal(err)
		}
		if time.Since(start) >= turn {
			return n
		}
	}
}

// print writes the medians of every benchmark that ran on both sides.
func (r *report) print(w io.Writer) {
	if len(r.comparisons) == 0 {
		return
	}
	fmt.Fprintln(w, "\nplain GORM / the plugin, for each operation; the time ratio is that of the processor time, both taking turns")
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tns\tratio\tallocs\tratio\tbytes\tratio\t")
	for _, c := range r.comparisons {
		ns := func(f figures) float64 { return f.ns }
		fmt.Fprintf(t, "%s\t%.0f / %.0f\t%.2f\t", c.name, median(c.plain, ns), median(c.sharded, ns), median(c.ratios, func(r float64) float64 { return r }))
		for _, of := range []func(figures) float64{
			func(f figures) float64 { return f.allocs },
			func(f figures) float64 { return f.bytes },
		} {
			plain, sharded := median(c.plain, of), median(c.sharded, of)
			fmt.Fprintf(t, "%.0f / %.0f\t%.2f\t", plain, sharded, sharded/plain)
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush()
}

// median returns 0 for a benchmark that was left out.
func median[T any](measurements []T, of func(T) float64) float64 {
	if len(measurements) == 0 {
		return 0
	}
	values := make([]float64, len(measurements))
	for i, m := range measurements {
		values[i] = of(m)
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}
