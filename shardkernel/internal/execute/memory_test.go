package execute

import (
	"database/sql/driver"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/execute/fakedb"
	"github.com/gormshard/sharding/shardkernel/internal/memory"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// manyRows is an answer of rows that cost more than their bytes.
func manyRows(n int) fakedb.Answer {
	a := fakedb.Answer{Columns: []fakedb.Column{{Name: "id", Type: "BIGINT"}, {Name: "a", Type: "VARCHAR"}, {Name: "b", Type: "TEXT"}}}
	row := []driver.Value{int64(1 << 40), []byte("short"), []byte(strings.Repeat("long", 40))}
	for range n {
		a.Rows = append(a.Rows, row)
	}
	return a
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// 64 statements that would hold about 64 MiB are allowed 16 MiB together.
func TestBuffersOfAllStatementsStayUnderTheProcessCap(t *testing.T) {
	const statements, limit = 64, 16 << 20
	budget := memory.NewBudget(limit)
	c := newCluster(t, Limits{Budget: budget}, "ds0", "ds1")
	for _, f := range c.fakes {
		f.Otherwise(manyRows(1000))
	}
	units := [][2]string{{"ds0", "t_0"}, {"ds0", "t_1"}, {"ds1", "t_2"}, {"ds1", "t_3"}}
	before := heapInUse()
	var mu sync.Mutex
	var held [][]driver.Rows
	refused := 0
	var wg sync.WaitGroup
	for range statements {
		wg.Go(func() {
			cursors, err := c.Query(t.Context(), query(plan.MergeOrdered, units...), nil)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				held = append(held, cursors)
			case errors.Is(err, fault.ErrTooManyRows):
				refused++
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	grown := heapInUse() - before
	t.Logf("%d statements hold their rows, %d were refused; %d bytes are booked, the heap grew by %d", len(held), refused, budget.Used(), grown)
	if len(held) == 0 || refused == 0 {
		t.Error("that proves little")
	}
	if grown > limit || budget.Used() > limit {
		t.Errorf("all statements together hold more than %d bytes", limit)
	}
	for _, cursors := range held {
		closeAll(t, cursors)
		closeAll(t, cursors) // gives nothing back twice
	}
	equal(t, "booked in the end", budget.Used(), 0)
}

func TestAFailureGivesBackWhatItsStatementHeld(t *testing.T) {
	budget := memory.NewBudget(1 << 20)
	c := newCluster(t, Limits{Budget: budget, MaxBufferedRows: 50}, "ds0")
	c.fakes["ds0"].On("SELECT id FROM t_0", manyRows(30))
	c.fakes["ds0"].On("SELECT id FROM t_1", manyRows(30))
	_, err := c.Query(t.Context(), query(plan.MergeOrdered, [2]string{"ds0", "t_0"}, [2]string{"ds0", "t_1"}), nil)
	if !errors.Is(err, fault.ErrTooManyRows) {
		t.Errorf("got %v, want ErrTooManyRows", err)
	}
	equal(t, "booked", budget.Used(), 0)
}

func TestBuffersGiveAllRowsWhateverTheirSize(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 24, 25, 3000} {
		c := newCluster(t, Limits{}, "ds0")
		a := fakedb.Answer{Columns: fakedb.Columns("n", "text")}
		for i := range n {
			a.Rows = append(a.Rows, []driver.Value{int64(i), []byte(strings.Repeat("x", i*7%10_000))})
		}
		c.fakes["ds0"].Otherwise(a)
		cursors, err := c.Query(t.Context(), query(plan.MergeOrdered, [2]string{"ds0", "t_0"}, [2]string{"ds0", "t_1"}), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, rows := range cursors {
			row := make([]driver.Value, 2)
			for i := range n {
				if err := rows.Next(row); err != nil || row[0] != int64(i) || len(row[1].([]byte)) != i*7%10_000 {
					t.Fatalf("row %d of %d: %v, %v", i, n, row[0], err)
				}
			}
			if err := rows.Next(row); err == nil {
				t.Errorf("more than %d rows", n)
			}
		}
		closeAll(t, cursors)
	}
}

func TestClosingAStreamEarlyReadsOnlyALittleOfIt(t *testing.T) {
	for name, tt := range map[string]struct {
		rows  int
		conns int
	}{"few rows are left": {leftRows - 1, 2}, "many rows are left": {1 << 16, 0}} {
		t.Run(name, func(t *testing.T) {
			kept := -1
			for range 20 { // a machine may be too busy to read them in leftTime
				c := newCluster(t, Limits{}, "ds0", "ds1")
				for _, f := range c.fakes {
					f.Otherwise(manyRows(tt.rows))
				}
				cursors, err := c.Query(t.Context(), query(plan.MergeOrdered, [2]string{"ds0", "t_0"}, [2]string{"ds1", "t_1"}), nil)
				if err != nil {
					t.Fatal(err)
				}
				row := make([]driver.Value, 3)
				if err := cursors[0].Next(row); err != nil {
					t.Fatal(err)
				}
				closeAll(t, cursors)
				equal(t, "connections in use", c.inUse(), 0)
				if kept = c.fakes["ds0"].OpenConns() + c.fakes["ds1"].OpenConns(); kept == tt.conns {
					break
				}
			}
			equal(t, "connections kept", kept, tt.conns)
		})
	}
}

func TestClosingAStreamEarlyDoesNotWaitForRows(t *testing.T) {
	c := newCluster(t, Limits{}, "ds0", "ds1")
	slow := manyRows(100)
	slow.RowDelay = 1 << 40 // minutes
	for _, f := range c.fakes {
		f.Otherwise(slow)
	}
	cursors, err := c.Query(t.Context(), query(plan.MergeOrdered, [2]string{"ds0", "t_0"}, [2]string{"ds1", "t_1"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	closeAll(t, cursors)
	equal(t, "connections in use", c.inUse(), 0)
}

func TestATransactionReadsItsRowsToTheEnd(t *testing.T) {
	c := newCluster(t, Limits{}, "ds0", "ds1")
	for _, f := range c.fakes {
		f.Otherwise(manyRows(10 * leftRows))
	}
	br := &branches{c: c}
	defer br.end()
	cursors, err := c.Query(t.Context(), query(plan.MergeOrdered, [2]string{"ds0", "t_0"}, [2]string{"ds1", "t_1"}), br)
	if err != nil {
		t.Fatal(err)
	}
	closeAll(t, cursors)
	for name, conn := range br.conns {
		if conn.Lost() {
			t.Errorf("the branch of %s was lost", name)
		}
	}
}
