//go:build unix

package stream_test

import (
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gormshard/sharding"
)

const mebi = 1 << 20

// heap samples what the heap grows by.
type heap struct{ before, most uint64 }

func newHeap() *heap {
	runtime.GC()
	h := &heap{}
	h.before = h.now()
	return h
}

func (h *heap) now() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func (h *heap) sample() { h.most = max(h.most, h.now()) }

func (h *heap) growth() uint64 { return max(h.most, h.before) - h.before }

// TestStreamedRowsTakeLittleMemory: of sixteen nodes' rows one each is held, with
// what the driver reads ahead, however many there are and are skipped. All of them
// would take several times the bound.
func TestStreamedRowsTakeLittleMemory(t *testing.T) {
	const bound = 16 * mebi
	c := sharedCluster(t)
	a, inTurn := c.open(t, c.config(tables, 2*tables)), c.open(t, c.config(1, 2))
	pad := "pad"
	if !long {
		pad = "REPEAT(pad, 16) AS pad" // few rows, each of a kilobyte
	}
	for name, tt := range map[string]struct {
		query string
		want  int
		order func(last, id int64) bool // reports whether id may follow last
	}{
		"iterate":      {"SELECT id, g, name, " + pad + " FROM t_row", c.rows, nil},
		"in turn":      {"SELECT id, g, name, " + pad + " FROM t_row", c.rows, nil},
		"ordered":      {"SELECT id, g, name, " + pad + " FROM t_row ORDER BY id", c.rows, func(last, id int64) bool { return id == last+1 }},
		"by text":      {"SELECT id, g, name, " + pad + " FROM t_row ORDER BY name, id DESC", c.rows, nil},
		"not selected": {"SELECT id, " + pad + " FROM t_row ORDER BY g, id", c.rows, nil},
		"groups":       {"SELECT id + 0 AS k, COUNT(*), MAX(" + strings.TrimSuffix(pad, " AS pad") + ") FROM t_row GROUP BY k", c.rows, func(last, id int64) bool { return id == last+1 }},
		"paged deep":   {fmt.Sprintf("SELECT id, g, name, %s FROM t_row ORDER BY id DESC LIMIT 10 OFFSET %d", pad, c.rows-15), 10, func(last, id int64) bool { return last == 0 && id == 15 || id == last-1 }},
		"skipped":      {fmt.Sprintf("SELECT id, g, name, %s FROM t_row LIMIT 100 OFFSET %d", pad, c.rows-100), 100, nil},
	} {
		t.Run(name, func(t *testing.T) {
			on := a
			if name == "in turn" {
				on = inTurn
			}
			h := newHeap()
			rows := on.query(t.Context(), t, tt.query)
			n, last, wrong := 0, int64(0), 0
			columns, err := rows.Columns()
			if err != nil {
				t.Fatal(err)
			}
			var id int64
			dest := make([]any, len(columns))
			dest[0] = &id
			for i := 1; i < len(dest); i++ {
				dest[i] = new(sql.RawBytes)
			}
			h.sample()
			for rows.Next() {
				if err := rows.Scan(dest...); err != nil {
					t.Fatal(err)
				}
				if tt.order != nil && !tt.order(last, id) {
					wrong++
				}
				if n++; n%500 == 0 {
					h.sample()
				}
				last = id
			}
			if err := errors.Join(rows.Err(), rows.Close()); err != nil {
				t.Fatal(err)
			}
			h.sample()
			if n != tt.want || wrong > 0 {
				t.Errorf("%d rows, want %d; %d out of their order", n, tt.want, wrong)
			}
			t.Logf("%d of %d rows, the heap grew by %.1f MiB", n, c.rows, float64(h.growth())/mebi)
			if h.growth() > bound {
				t.Errorf("the heap grew by more than %d MiB", bound/mebi)
			}
		})
	}
}

// TestBufferedMergesStayUnderTheProcessCap: statements that hold their rows, 64 at
// once, which together would need many times what the process may hold.
func TestBufferedMergesStayUnderTheProcessCap(t *testing.T) {
	if !long {
		t.Skip("buffers 512 MiB; the same with a small cap is tested in shardkernel/internal/execute")
	}
	const statements, each, limit = 64, 65_000, 512 * mebi
	c := sharedCluster(t)
	a := c.open(t, c.config(1, statements))
	a.connect(t, statements)
	h := newHeap()
	var mu sync.Mutex
	var open []*sql.Rows
	refused := 0
	var wg sync.WaitGroup
	for range statements {
		wg.Go(func() {
			rows, err := a.Raw("SELECT * FROM t_row WHERE id > ? ORDER BY id", c.rows-each).Rows() //nolint:rowserrcheck,sqlclosecheck // below
			mu.Lock()
			defer mu.Unlock()
			h.sample()
			switch {
			case err == nil:
				open = append(open, rows)
			case errors.Is(err, sharding.ErrTooManyRows):
				refused++
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	runtime.GC()
	held := h.now() - h.before
	t.Logf("%d statements hold their rows, %d were refused; the heap holds %d MiB and grew by %d MiB at most", len(open), refused, held/mebi, h.growth()/mebi)
	if held > limit {
		t.Errorf("the buffers hold %d MiB", held/mebi)
	}
	if len(open) == 0 || refused == 0 {
		t.Errorf("%d statements hold their rows and %d were refused: that proves little", len(open), refused)
	}
	for _, rows := range slices.Backward(open) {
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Error(err)
		}
	}
	rows := a.query(t.Context(), t, "SELECT * FROM t_row WHERE id > ? ORDER BY id", c.rows-1000)
	n := 0
	for rows.Next() {
		n++
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || n != 1000 {
		t.Errorf("afterwards a statement gives %d rows and %v", n, err)
	}
}
