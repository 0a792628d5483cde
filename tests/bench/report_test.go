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
	plain, sharded []memory
	turns          []turns
}

// memory is what one operation allocates.
type memory struct{ allocs, bytes float64 }

// turns are the median times of an operation, in nanoseconds.
type turns struct{ plain, sharded float64 }

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
func measure(b *testing.B, run func() error) memory {
	b.ReportAllocs()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for b.Loop() {
		if err := run(); err != nil {
			b.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	n := float64(b.N)
	return memory{
		allocs: float64(after.Mallocs-before.Mallocs) / n,
		bytes:  float64(after.TotalAlloc-before.TotalAlloc) / n,
	}
}

// takeTurns runs one operation of one side and one of the other, again and
// again, and returns the medians: what else the machine does meanwhile hits both
// sides alike and leaves most operations alone, so that the ratio is steady on a
// busy machine where the times are not. Most operations meet no round of the
// garbage collector; what they cost it shows in the bytes.
func takeTurns(b *testing.B, plain, sharded func() error) turns {
	var took [2][]float64
	for b.Loop() {
		for side, run := range [2]func() error{plain, sharded} {
			start := time.Now()
			err := run()
			took[side] = append(took[side], float64(time.Since(start)))
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	t := turns{plain: median(took[0]), sharded: median(took[1])}
	b.ReportMetric(t.sharded/t.plain, "ratio")
	b.ReportMetric(0, "ns/op") // of both sides together: means nothing
	return t
}

// print writes the medians of every benchmark that ran.
func (r *report) print(w io.Writer) {
	if len(r.comparisons) == 0 {
		return
	}
	fmt.Fprintln(w, "\nplain GORM on the actual table and the plugin, by operation; times are medians, of operations in turns")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tplain ns\tsharded ns\tratio\tallocs\tallocs\tratio\tbytes\tbytes\tratio\t")
	for _, c := range r.comparisons {
		fmt.Fprintf(t, "%s\t", c.name)
		column(t, medianOf(c.turns, func(t turns) float64 { return t.plain }), medianOf(c.turns, func(t turns) float64 { return t.sharded }))
		allocs, bytes := func(m memory) float64 { return m.allocs }, func(m memory) float64 { return m.bytes }
		column(t, medianOf(c.plain, allocs), medianOf(c.sharded, allocs))
		column(t, medianOf(c.plain, bytes), medianOf(c.sharded, bytes))
		fmt.Fprintln(t)
	}
	_ = t.Flush()
}

// column writes both sides and their ratio; 0 stands for what was not measured.
func column(w io.Writer, plain, sharded float64) {
	if plain == 0 || sharded == 0 {
		fmt.Fprint(w, "-\t-\t-\t")
		return
	}
	fmt.Fprintf(w, "%.0f\t%.0f\t%.2f\t", plain, sharded, sharded/plain)
}

// median returns 0 for no values.
func median(values []float64) float64 {
	return medianOf(values, func(v float64) float64 { return v })
}

func medianOf[T any](measurements []T, of func(T) float64) float64 {
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
