//go:build unix

package readwrite_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
)

// slowRows is the number of rows of an answer that a server sends bit by bit, a
// quarter of it while the others are still made.
const slowRows = 40

// slowly makes each row of a read take a millisecond, and 1,400 bytes. No merge is
// exact for SLEEP; computed is as slow.
const (
	slowly   = "SELECT id, REPEAT('x', 1400) AS text, SLEEP(0.001 + v * 0) AS slept FROM t_slow WHERE "
	computed = "SELECT id, REPEAT('x', 1400) AS text, LENGTH(SHA2(REPEAT(id, 50000), 512)) AS slept FROM t_slow WHERE "
)

// way is one in which an application reads.
type way struct {
	name string
	read func(ctx context.Context, g *groups) (rows int, err error)
}

func ways(t *testing.T, g *groups) []way {
	t.Helper()
	sqlDB, err := g.db.DB()
	if err != nil {
		t.Fatal(err)
	}
	prepared, err := sqlDB.PrepareContext(t.Context(), slowly+"owner = ?")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = prepared.Close() })
	cached := g.db.Session(&gorm.Session{PrepareStmt: true})
	type row struct {
		ID    int64
		Text  string
		Slept int
	}
	scan := func(db *gorm.DB, sql string, args ...any) (int, error) {
		var found []row
		err := db.Raw(sql, args...).Scan(&found).Error
		return len(found), err
	}
	loop := func(rows *sql.Rows, err error) (n int, _ error) {
		if err != nil {
			return 0, err
		}
		defer rows.Close()
		for rows.Next() {
			n++
		}
		return n, rows.Err()
	}
	return []way{
		{"Scan", func(ctx context.Context, g *groups) (int, error) {
			return scan(g.db.WithContext(ctx), slowly+"owner = 2")
		}},
		{"Scan with an argument", func(ctx context.Context, g *groups) (int, error) {
			return scan(g.db.WithContext(ctx), slowly+"owner = ?", 2)
		}},
		{"Rows", func(ctx context.Context, g *groups) (int, error) {
			return loop(g.db.WithContext(ctx).Raw(slowly+"owner = ?", 2).Rows()) //nolint:rowserrcheck // loop does
		}},
		{"Row", func(ctx context.Context, g *groups) (int, error) {
			var texts string
			const sql = "SELECT GROUP_CONCAT(text SEPARATOR '') FROM (" + slowly + "owner = ?) s"
			err := g.db.WithContext(ctx).Raw(sql, 2).Row().Scan(&texts)
			if err == nil && len(texts) != 1400*slowRows {
				err = fmt.Errorf("%d bytes", len(texts))
			}
			return slowRows, err
		}},
		{"PrepareStmt", func(ctx context.Context, g *groups) (int, error) {
			return scan(cached.WithContext(ctx), slowly+"owner = ?", 2)
		}},
		{"database/sql", func(ctx context.Context, g *groups) (int, error) {
			return loop(sqlDB.QueryContext(ctx, slowly+"owner = ?", 2)) //nolint:rowserrcheck // loop does
		}},
		{"a prepared statement", func(ctx context.Context, g *groups) (int, error) {
			return loop(prepared.QueryContext(ctx, 2)) //nolint:rowserrcheck // loop does
		}},
		{"a connection", func(ctx context.Context, g *groups) (n int, err error) {
			err = g.db.WithContext(ctx).Connection(func(db *gorm.DB) (err error) {
				n, err = scan(db, slowly+"owner = 2")
				return err
			})
			return n, err
		}},
		{"both groups in order", func(ctx context.Context, g *groups) (int, error) {
			return scan(g.db.WithContext(ctx), computed+"owner IN (1, 2) AND id <= ? ORDER BY id", slowRows)
		}},
		{"gathered", func(ctx context.Context, g *groups) (int, error) {
			return scan(g.db.WithContext(ctx), slowly+"owner IN (1, 2) AND id <= ? ORDER BY id", slowRows)
		}},
		{"a subquery first", func(ctx context.Context, g *groups) (int, error) {
			return scan(g.db.WithContext(ctx), computed+"owner = ? AND id < (SELECT MAX(id) + 1 FROM t_slow)", 2)
		}},
	}
}

// An answer of up to 64 KiB is there when the query returns, so that its rows fail
// in no way of reading, whenever the replica goes away.
func TestAnAnswerThatIsUnderWayOutlivesItsReplica(t *testing.T) {
	for name, dialector := range map[string]func(*testing.T) func(string) gorm.Dialector{
		"pools of the plugin": func(*testing.T) func(string) gorm.Dialector { return gormmysql.Open },
		// They cannot fetch ahead; reads take the driver's way, which does.
		"pools of the application": func(t *testing.T) func(string) gorm.Dialector {
			return func(dsn string) gorm.Dialector {
				pool, err := sql.Open("mysql", dsn)
				if err != nil {
					t.Error(err)
				}
				return gormmysql.New(gormmysql.Config{Conn: pool, SkipInitializeWithVersion: true})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "pools of the plugin" && !long() {
				t.Skip("SHARDING_TEST_LONG is not set")
			}
			outlives(t, dialector(t))
		})
	}
}

func outlives(t *testing.T, open func(dsn string) gorm.Dialector) {
	t.Helper()
	g := newGroups(t, "ahead")
	g.cfg.ReadwriteSplitting.Health = patient
	g.cfg.Sharding.Tables["t_slow"] = config.Table{
		ActualDataNodes:  "ds${0..1}.t_slow",
		DatabaseStrategy: &config.Strategy{Standard: &config.Standard{Column: "owner", Algorithm: "by_id"}},
	}
	for i := range 2 {
		g.run(t, g.primary, i, "CREATE TABLE t_slow (id int PRIMARY KEY, owner int NOT NULL, v int NOT NULL)",
			fmt.Sprintf("INSERT INTO t_slow SELECT seq * 2 - %d, %d, 0 FROM seq_1_to_%d", i, 2-i, slowRows))
	}
	g.catchUp(t)
	g.open(t, sharding.WithDialector("mysql", open))
	g.becomes(t, true, 20*time.Second)

	var stop atomic.Bool
	var reads atomic.Int64
	var readers sync.WaitGroup
	for _, way := range ways(t, g) {
		for range 2 {
			readers.Go(func() {
				for !stop.Load() {
					n, err := way.read(t.Context(), g)
					if err != nil || n != slowRows {
						t.Errorf("%s: %d rows, error %v", way.name, n, err)
					}
					reads.Add(1)
				}
			})
		}
	}
	for reads.Load() < 50 && !t.Failed() { // all ways are on their way
		time.Sleep(10 * time.Millisecond)
	}
	if err := g.replicas[0].Kill(); err != nil {
		t.Fatal(err)
	}
	g.becomes(t, false, 20*time.Second)
	time.Sleep(100 * time.Millisecond)
	if err := g.replicas[0].Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.becomes(t, true, time.Minute)
	stop.Store(true)
	readers.Wait()
	t.Logf("%d reads, of which %d were sent again", reads.Load(), g.failed.Load())
}
