//go:build unix

package stream_test

import (
	"context"
	"errors"
	"testing"
	"time"
)

// slow takes a server many milliseconds for each row.
const slow = "SHA2(REPEAT(pad, 10000), 512)"

// TestWhatNobodyWaitsForEndsOnTheServers: a server that does not write to its
// client would not notice by itself that it is gone.
func TestWhatNobodyWaitsForEndsOnTheServers(t *testing.T) {
	c := sharedCluster(t)
	a := c.open(t, c.config(2, 4))
	watch := openPool(t, c.server.DSN(""))
	watch.SetMaxOpenConns(1)
	for name, tt := range map[string]struct {
		query string
		args  []any
	}{
		"counting": {"SELECT COUNT(*) FROM t_row WHERE " + slow + " = ''", nil},
		"grouping": {"SELECT g, MAX(name) FROM t_row WHERE " + slow + " <> '' GROUP BY g ORDER BY g", nil},
		"prepared": {"SELECT id FROM t_row WHERE g >= ? AND " + slow + " = '' ORDER BY id", []any{0}},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := count(a.WithContext(ctx).Raw(tt.query, tt.args...).Rows())
			done <- err
		}()
		within(t, 10*time.Second, name+" does not run on all databases", func() bool { return len(running(t, watch)) >= databases })
		start := time.Now()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want context.Canceled", name, err)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("%s: the caller waited %v", name, took)
		}
		a.idle(t)
		within(t, 4*time.Second, name+" runs on", func() bool { return len(running(t, watch)) == 0 })
		t.Logf("%s: ended on the servers after %v; %q", name, time.Since(start), running(t, watch))
	}

	t.Run("closed early", func(t *testing.T) {
		for _, query := range []string{"SELECT * FROM t_row", "SELECT * FROM t_row ORDER BY id"} {
			rows := a.query(t.Context(), t, query)
			if !rows.Next() {
				t.Fatal(rows.Err())
			}
			start := time.Now()
			if err := errors.Join(rows.Close(), rows.Err()); err != nil {
				t.Errorf("%s: %v", query, err)
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("%s: closing took %v", query, took)
			}
			a.idle(t)
			within(t, 2*time.Second, query+" runs on", func() bool { return len(running(t, watch)) == 0 })
		}
	})
}
