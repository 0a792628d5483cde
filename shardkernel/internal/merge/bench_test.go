package merge

import (
	"database/sql/driver"
	"fmt"
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

const (
	benchCursors = 4
	benchRows    = 10_000
)

// interleaved makes cursors whose rows alternate in the merged order. The values
// exist before the merge runs, so that what is allocated is the merge's.
func interleaved(key func(i int) []driver.Value, columns string) []*fake {
	cursors := make([]*fake, benchCursors)
	for unit := range cursors {
		cursors[unit] = cursor(columns)
		cursors[unit].buffer = make([]byte, 0, 1024)
		for i := range benchRows {
			cursors[unit].rows = append(cursors[unit].rows, key(i*benchCursors+unit))
		}
	}
	return cursors
}

func intKey(i int) []driver.Value { return row(int64(i), text("a name of some length")) }

func decimalKey(i int) []driver.Value {
	return row(text(fmt.Sprintf("%d.%02d", i/100, i%100)), text("a name of some length"))
}

func TestOrderedMergeAllocatesNothingForARow(t *testing.T) {
	for _, test := range []struct {
		name, columns string
		key           func(i int) []driver.Value
	}{
		{"int", "id BIGINT, n BIGINT", func(i int) []driver.Value { return row(int64(i), int64(i)) }},
		{"int, with text", "id BIGINT, name VARCHAR", intKey},
		{"decimal", "amount DECIMAL, name VARCHAR", decimalKey},
	} {
		cursors := interleaved(test.key, test.columns)
		rows, err := Rows(&plan.Merge{Kind: plan.MergeOrdered, OrderBy: []plan.SortKey{{}}}, asRows(cursors), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		dest := make([]driver.Value, 2)
		next := func() {
			if err := rows.Next(dest); err != nil {
				t.Fatal(err)
			}
		}
		for range 100 {
			next()
		}
		got := testing.AllocsPerRun(1000, next)
		// Bytes in an interface are an allocation of the cursor, as of a real one.
		ofCursor := testing.AllocsPerRun(1000, func() { _ = cursors[0].Next(dest) })
		if got > ofCursor {
			t.Errorf("%s: %v allocations a row, of which the cursor makes %v", test.name, got, ofCursor)
		}
		if test.name == "int" && got > 0 {
			t.Errorf("int: %v allocations a row, want none", got)
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func benchmark(b *testing.B, recipe *plan.Merge, cursors []*fake) {
	dest := make([]driver.Value, len(cursors[0].names))
	b.ReportAllocs()
	for b.Loop() {
		for _, c := range cursors {
			c.read, c.closed = 0, 0
		}
		rows, err := Rows(recipe, asRows(cursors), Limits{})
		if err != nil {
			b.Fatal(err)
		}
		for {
			err := rows.Next(dest)
			if isEnd(err) {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(benchCursors*benchRows*b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkIterate(b *testing.B) {
	benchmark(b, &plan.Merge{}, interleaved(intKey, "id BIGINT, name VARCHAR"))
}

func BenchmarkOrderedByInt(b *testing.B) {
	benchmark(b, &plan.Merge{Kind: plan.MergeOrdered, OrderBy: []plan.SortKey{{}}}, interleaved(intKey, "id BIGINT, name VARCHAR"))
}

func BenchmarkOrderedByDecimal(b *testing.B) {
	benchmark(b, &plan.Merge{Kind: plan.MergeOrdered, OrderBy: []plan.SortKey{{}}}, interleaved(decimalKey, "amount DECIMAL, name VARCHAR"))
}

func BenchmarkGroup(b *testing.B) {
	columns := "k BIGINT, n BIGINT, s DECIMAL"
	key := func(i int) []driver.Value { return row(int64(i/benchCursors), int64(1), text("12.50")) }
	benchmark(b, grouped(1, over(1, count), over(2, total)), interleaved(key, columns))
}
