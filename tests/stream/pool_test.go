//go:build unix

package stream_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"
)

// TestQueriesOnPoolsOfTwoDoNotWaitForEachOther: every query streams over two
// connections of each of four pools of two. Were they taken one by one, two
// queries would hold one each and wait for ever.
func TestQueriesOnPoolsOfTwoDoNotWaitForEachOther(t *testing.T) {
	c := sharedCluster(t)
	a := c.open(t, c.config(2, 2))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	queries := []string{
		"SELECT * FROM t_row WHERE id <= 64",
		"SELECT * FROM t_row WHERE id <= 64 ORDER BY id DESC",
		"SELECT g, COUNT(*) FROM t_row WHERE id <= 64 GROUP BY g",
	}
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for i := range 10 {
				query := queries[(w+i)%len(queries)]
				if n, err := count(a.WithContext(ctx).Raw(query).Rows()); err != nil || n != 64 {
					t.Errorf("%s: %d rows and %v", query, n, err)
					return
				}
			}
		})
	}
	wg.Wait()
	for i, pool := range a.pools {
		if open := pool.Stats().OpenConnections; open > 2 {
			t.Errorf("ds%d has %d connections", i, open)
		}
	}
}

func count(rows *sql.Rows, err error) (n int, _ error) {
	if err != nil {
		return 0, err
	}
	for rows.Next() {
		n++
	}
	return n, errors.Join(rows.Err(), rows.Close())
}

// TestATransactionReadsAllNodesOverOneConnectionOfEachDatabase, whatever the
// merge, also where its pools have no other.
func TestATransactionReadsAllNodesOverOneConnectionOfEachDatabase(t *testing.T) {
	c := sharedCluster(t)
	a := c.open(t, c.config(tables, 1))
	err := a.Transaction(func(tx *gorm.DB) error {
		for query, want := range map[string]int{
			"SELECT id FROM t_row WHERE id <= 4000":                              4000,
			"SELECT id FROM t_row WHERE id <= 4000 ORDER BY name, id":            4000,
			"SELECT id FROM t_row WHERE id <= 4000 ORDER BY id LIMIT 7 OFFSET 5": 7,
			"SELECT name, SUM(g) FROM t_row WHERE id <= 4000 GROUP BY name":      77,
		} {
			n, err := count(tx.Raw(query).Rows())
			if err != nil || n != want {
				return fmt.Errorf("%s: %d rows and %w", query, n, err)
			}
			if used := a.inUse(); used != databases {
				t.Errorf("%s: %d connections are in use, want %d", query, used, databases)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestQueriesThatEndEarlyGiveEverythingBack: many at once, which are closed,
// cancelled or satisfied at any moment.
func TestQueriesThatEndEarlyGiveEverythingBack(t *testing.T) {
	c := sharedCluster(t)
	const poolSize = 8
	a := c.open(t, c.config(2, poolSize))
	watch := openPool(t, c.server.DSN(""))
	watch.SetMaxOpenConns(1)
	before := threads(t, watch)
	length := 2 * time.Second
	if long {
		length = 30 * time.Second
	}
	end := time.Now().Add(length)
	queries := []string{
		"SELECT * FROM t_row",
		"SELECT * FROM t_row ORDER BY id",
		"SELECT * FROM t_row ORDER BY pad, g, id LIMIT 5000 OFFSET 1000", // sorts on the servers first
		"SELECT g, COUNT(*), MAX(name) FROM t_row GROUP BY g ORDER BY 2 DESC LIMIT 3",
		"SELECT * FROM t_row WHERE id < 100 ORDER BY id LIMIT 10",
	}
	var mu sync.Mutex
	ended := map[string]int{}
	most := 0
	var wg sync.WaitGroup
	for w := range 32 {
		r := rand.New(rand.NewPCG(uint64(w), 9))
		wg.Go(func() {
			for time.Now().Before(end) {
				how, err := endEarly(t.Context(), a, queries[r.IntN(len(queries))], r)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				ended[how]++
				mu.Unlock()
			}
		})
	}
	for time.Now().Before(end) {
		most = max(most, threads(t, watch))
		time.Sleep(20 * time.Millisecond)
	}
	wg.Wait()
	a.idle(t)
	within(t, 2*time.Second, "statements run on", func() bool { return len(running(t, watch)) == 0 })
	t.Logf("ended: %v; at most %d threads beside %d", ended, most-before, before)
	// Beside the pools: a connection to kill over, and threads that are about to
	// end while their successors begin.
	if bound := databases * (3*poolSize + 2); most-before > bound {
		t.Errorf("%d threads at once, want at most %d", most-before, bound)
	}
	within(t, 5*time.Second, "threads are left", func() bool { return threads(t, watch)-before <= databases*(poolSize+2) })
}

// endEarly runs a query and ends it somewhere; it says how it ended.
func endEarly(ctx context.Context, a *app, query string, r *rand.Rand) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := -1
	switch r.IntN(4) {
	case 0:
		time.AfterFunc(time.Duration(r.IntN(20_000))*time.Microsecond, cancel)
	case 1, 2:
		stop = r.IntN(3000)
	}
	rows, err := a.WithContext(ctx).Raw(query).Rows()
	if err != nil {
		if ctx.Err() != nil {
			return "cancelled", nil
		}
		return "", fmt.Errorf("%s: %w", query, err)
	}
	for n := 0; n != stop && rows.Next(); n++ {
	}
	err = rows.Err()
	if closed := rows.Close(); closed != nil {
		return "", fmt.Errorf("%s: closing: %w", query, closed)
	}
	switch {
	case err == nil && stop >= 0:
		return "closed", nil
	case err == nil:
		return "read", nil
	case ctx.Err() != nil:
		return "cancelled", nil
	}
	return "", fmt.Errorf("%s: %w", query, err)
}

// threads returns the number of connections that the server has.
func threads(t *testing.T, pool *sql.DB) int {
	t.Helper()
	var name string
	var n int
	if err := pool.QueryRowContext(t.Context(), "SHOW GLOBAL STATUS LIKE 'Threads_connected'").Scan(&name, &n); err != nil {
		t.Error(err)
	}
	return n
}

// running returns what other connections run on the server.
func running(t *testing.T, pool *sql.DB) (texts []string) {
	t.Helper()
	rows, err := pool.QueryContext(t.Context(), "SELECT INFO FROM information_schema.PROCESSLIST WHERE INFO IS NOT NULL AND ID <> CONNECTION_ID() AND COMMAND <> 'Daemon'")
	if err != nil {
		t.Error(err)
		return nil
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Error(err)
		}
		texts = append(texts, text)
	}
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
	return texts
}
