//go:build unix

package oracle_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/tests/rowtext"
)

// orderItem is a row of items as an application has it.
type orderItem struct {
	UID     int64 `gorm:"column:uid;primaryKey;autoIncrement:false"`
	ID      int64 `gorm:"column:id;primaryKey;autoIncrement:false"`
	OrderID int64
	Product string
	Qty     int
}

func (orderItem) TableName() string { return "items" }

// application opens GORM on a cluster with a change to its configuration.
func (c *cluster) application(t *testing.T, gormConfig *gorm.Config, change func(*config.Config), params ...string) (*gorm.DB, *sharding.Plugin) {
	t.Helper()
	cfg := c.config(params...)
	if change != nil {
		change(cfg)
	}
	plugin := sharding.Register(cfg)
	gormConfig.Logger = logger.Discard
	db, err := gorm.Open(mysql.Open(string(cfg.DataSources["ds0"].DSN)), gormConfig)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Use(plugin); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if prepared, ok := db.ConnPool.(*gorm.PreparedStmtDB); ok {
			prepared.Close()
		}
		_ = plugin.Close()
	})
	return db, plugin
}

func poolsOf(n int) func(*config.Config) {
	return func(cfg *config.Config) {
		for name, ds := range cfg.DataSources {
			ds.MaxOpenConns, ds.MaxIdleConns = n, n
			cfg.DataSources[name] = ds
		}
	}
}

// idle fails the test when a pool still has a connection in use.
func idle(t *testing.T, c *cluster, plugin *sharding.Plugin) {
	t.Helper()
	for i := range c.sources {
		pool, err := plugin.DataSource(fmt.Sprintf("ds%d", i)).DB()
		if err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(3 * time.Second); pool.Stats().InUse > 0; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Errorf("ds%d has %d connections in use", i, pool.Stats().InUse)
				break
			}
		}
	}
}

// Every goroutine owns a range of ids, and counts what it has stored; statements
// are cancelled at random, and pools are as small as they can be. In the end
// every row that a goroutine was told of is there, once.
func TestRowsAreKeptWhileManyGoroutinesAndCancellationsMixFinishers(t *testing.T) {
	for _, test := range []struct {
		name    string
		pool    int
		prepare bool
		params  []string
	}{
		// Most of these wait for each other until their contexts end: see
		// TestKnownTransactionsOnSmallPoolsStillWaitForEachOther.
		{"pools of one", 1, false, nil},
		{"pools of two", 2, false, nil},
		{"pools for all, interpolated", 40, false, []string{"interpolateParams=true"}},
		{"pools for all, PrepareStmt", 41, true, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t, fmt.Sprintf("mix%d", test.pool), topologies[2])
			db, plugin := c.application(t, &gorm.Config{PrepareStmt: test.prepare}, poolsOf(test.pool), test.params...)
			_, seconds := statements(t, 1)
			ctx, stop := context.WithTimeout(t.Context(), time.Duration(min(seconds, 20))*time.Second)
			defer stop()
			var wg sync.WaitGroup
			var mu sync.Mutex
			sure, maybe := map[int64]bool{}, map[int64]bool{}
			failures := map[string]int{}
			for n := range 32 {
				wg.Go(func() {
					r := rand.New(rand.NewPCG(uint64(n), 5))
					id := int64(n) * 1_000_000
					for ctx.Err() == nil {
						mine, cancel := context.WithTimeout(ctx, 20*time.Second)
						if r.IntN(6) == 0 {
							cancel()
							mine, cancel = context.WithTimeout(ctx, time.Duration(r.IntN(3000))*time.Microsecond)
						}
						var rows []orderItem
						for range 1 + r.IntN(4) {
							id++
							rows = append(rows, orderItem{UID: r.Int64N(64) - 16, ID: id, Product: "p", Qty: n})
						}
						err := mix(db.WithContext(mine), r, rows)
						mu.Lock()
						for _, row := range rows {
							switch {
							case err == nil:
								sure[row.ID] = true
							case !errors.Is(err, errUndone):
								maybe[row.ID] = true
							}
						}
						var late net.Error // a dial gives up a moment before its context ends
						if err != nil && mine.Err() == nil && !errors.Is(err, errUndone) && !(errors.As(err, &late) && late.Timeout()) {
							failures[err.Error()]++
						}
						mu.Unlock()
						cancel()
					}
				})
			}
			wg.Wait()
			idle(t, c, plugin)
			for f, n := range failures {
				t.Errorf("%d times: %s", n, f)
			}
			seen := map[int64]int{}
			for i, node := range c.nodes {
				for _, actual := range c.actual(items, i) {
					rows, err := node.QueryContext(t.Context(), "SELECT id FROM "+actual)
					if err != nil {
						t.Fatal(err)
					}
					for rows.Next() {
						var id int64
						if err := rows.Scan(&id); err != nil {
							t.Fatal(err)
						}
						seen[id]++
					}
					if err := errors.Join(rows.Err(), rows.Close()); err != nil {
						t.Fatal(err)
					}
				}
			}
			lost, doubled, strange := 0, 0, 0
			for id := range sure {
				if seen[id] == 0 {
					lost++
				}
			}
			for id, n := range seen {
				if n > 1 {
					doubled++
				}
				if !sure[id] && !maybe[id] {
					strange++
				}
			}
			if lost+doubled+strange > 0 {
				t.Errorf("%d rows lost, %d doubled, %d that were undone", lost, doubled, strange)
			}
			t.Logf("%d rows, %d unsure", len(sure), len(maybe))
		})
	}
}

var errUndone = errors.New("undone")

// mix stores rows and reads them back with one of GORM's finishers.
func mix(db *gorm.DB, r *rand.Rand, rows []orderItem) error {
	ids := make([]int64, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	check := func(tx *gorm.DB) error {
		var n int64
		if err := tx.Model(&orderItem{}).Where("id IN ?", ids).Count(&n).Error; err != nil {
			return err
		}
		if n != int64(len(rows)) {
			return fmt.Errorf("%d of %d rows found", n, len(rows))
		}
		var found []orderItem
		if err := tx.Where("id IN ?", ids).Order("id DESC").Limit(2).Find(&found).Error; err != nil {
			return err
		}
		if len(found) != min(2, len(rows)) || found[0].ID != ids[len(ids)-1] {
			return fmt.Errorf("found %v of %v", found, ids)
		}
		return nil
	}
	switch r.IntN(5) {
	case 0:
		if err := db.Create(&rows).Error; err != nil {
			return err
		}
		if err := check(db); err != nil && db.Statement.Context.Err() == nil {
			return err
		}
		return nil
	case 1:
		return db.Transaction(func(tx *gorm.DB) error {
			if err := tx.Create(&rows).Error; err != nil {
				return err
			}
			return check(tx)
		})
	case 2:
		err := db.Transaction(func(tx *gorm.DB) error {
			if err := tx.Create(&rows).Error; err != nil {
				return err
			}
			return errUndone
		})
		return err
	case 3:
		return db.Transaction(func(tx *gorm.DB) error {
			if err := tx.Create(&rows).Error; err != nil {
				return err
			}
			_ = tx.Transaction(func(tx *gorm.DB) error {
				// By the primary key of each: a scan would lock what others insert, and
				// no server sees a deadlock over two of them.
				for _, row := range rows {
					if err := tx.Delete(&orderItem{}, "uid = ? AND id = ?", row.UID, row.ID).Error; err != nil {
						return err
					}
				}
				return errUndone
			})
			return check(tx)
		})
	}
	if err := db.Create(rows[0]).Error; err != nil {
		return err
	}
	if len(rows) > 1 {
		if err := db.Create(rows[1:]).Error; err != nil {
			return err
		}
	}
	rs, err := db.Model(&orderItem{}).Select("uid, id").Order("uid, id").Limit(3).Rows()
	if err != nil {
		if db.Statement.Context.Err() != nil {
			return nil
		}
		return err
	}
	rs.Next()
	if err := errors.Join(rs.Err(), rs.Close()); err != nil && db.Statement.Context.Err() == nil {
		return err
	}
	return nil
}

// Closing waits for statements or ends them with an error; nothing panics, and
// no answer is cut short without an error.
func TestClosingWhileStatementsRunGivesErrorsOnly(t *testing.T) {
	c := newCluster(t, "closing", topologies[2])
	c.fill(t)
	for round := range 5 {
		db, plugin := c.application(t, &gorm.Config{}, poolsOf(2))
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				for range 200 {
					var got []orderItem
					err := db.Order("uid, id").Find(&got).Error
					if err != nil {
						return
					}
					if len(got) != items.rows {
						t.Errorf("%d rows and no error", len(got))
					}
				}
			})
		}
		time.Sleep(time.Duration(round*7) * time.Millisecond)
		if err := plugin.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	}
}

func TestWrongNumbersOfArgumentsAreErrorsBeforeAnythingIsSent(t *testing.T) {
	c := newCluster(t, "args", topologies[2])
	c.fill(t)
	for _, statement := range []string{
		"SELECT id FROM items WHERE uid = ?", "SELECT id FROM items WHERE uid = ? AND id = ?", "SELECT id FROM items ORDER BY id LIMIT ?",
		"INSERT INTO items (uid, id) VALUES (?, 900)", "UPDATE items SET qty = ? WHERE uid = ?", "DELETE FROM items WHERE uid = ?", "SELECT id FROM items",
		"UPDATE region SET pop = ?", "SELECT * FROM region WHERE id = ?",
	} {
		want := strings.Count(statement, "?")
		for _, n := range []int{0, 1, 2, 3} {
			if n == want {
				continue
			}
			args := []any{int64(9), int64(9), int64(9)}[:n]
			for _, p := range []*pair{c.prepared, c.interpolated} {
				for way := range ways {
					c.trace.take()
					if a := p.ask(t.Context(), way, statement, args); a.err == nil {
						t.Errorf("%s with %d arguments, way %d: no error", statement, n, way)
					}
					if _, err := p.sharded.ConnPool.ExecContext(t.Context(), statement, args...); err == nil {
						t.Errorf("%s with %d arguments: no error of Exec", statement, n)
					}
					if units := c.trace.take(); len(units) > 0 && !strings.Contains(statement, "region WHERE") {
						t.Errorf("%s with %d arguments, way %d: sent %v", statement, n, way, units)
					}
				}
			}
		}
	}
	c.compareRows(t.Context(), t.Errorf, tables...)
}

// Text as no application should send it is stored as one database stores it, or
// refused by both.
func TestStrangeTextIsStoredAsUnsharded(t *testing.T) {
	c := newCluster(t, "text", topologies[2])
	id := 0
	for _, text := range []string{"\x00", "a\x00b", "\xff\xfe", "\xc3", "é\xc3", "\xed\xa0\x80", "\U0010ffff", "\x1a", `\`, `\'`, "'; DROP TABLE orders; --", "?", "?,?", "\r\n", strings.Repeat("é", 40), strings.Repeat("é", 41), "e\u0301"} {
		for _, protocol := range protocols {
			for _, statement := range []func() fragment{
				func() fragment {
					return f("INSERT INTO items (uid, id, product) VALUES (9, ", id, ", ", argument{text}, ")")
				},
				func() fragment {
					return f("INSERT INTO items (uid, id, product) VALUES (9, ", id, ", ", argument{text}, "), (12, ", id+1, ", 'x'), (15, ", id+2, ", ", argument{text}, ")")
				},
				func() fragment {
					return f("INSERT INTO tags (name, n) VALUES (", argument{text}, ", ", id, "), ('x', ", id, ")")
				},
				func() fragment { return f("UPDATE items SET product = ", argument{text}, " WHERE id = ", id-2) },
				func() fragment { return f("DELETE FROM tags WHERE name = ", argument{text}, " AND n % 2 = 0") },
				func() fragment { return f("DELETE FROM items WHERE product = ", argument{text}, " AND id % 4 = 0") },
			} {
				id += 3
				p, sql, args := c.as(protocol, statement())
				w := &write{table: items}
				got := run(t.Context(), p.sharded.ConnPool, w, sql, args)
				if _, ok := refused(got.err); ok {
					continue
				}
				want := run(t.Context(), p.single, w, sql, args)
				if d := want.differ(got, w, false); d != "" {
					t.Errorf("%s %q %v: %s", protocol, sql, args, d)
				}
			}
		}
		c.compareRows(t.Context(), t.Errorf, items, tags)
	}
}

func TestHugeStatementsAreExactOrRefused(t *testing.T) {
	c := newCluster(t, "huge", topologies[2])
	c.fill(t)
	ctx := t.Context()
	list := make([]any, 100_000)
	for i := range list {
		list[i] = int64(i) - 1000
	}
	marks := strings.TrimSuffix(strings.Repeat("?,", len(list)), ",")
	for _, statement := range []string{"SELECT uid, id FROM orders WHERE uid IN (%s) ORDER BY uid, id", "SELECT uid, id FROM orders WHERE id IN (%s) ORDER BY uid, id"} {
		for _, protocol := range protocols {
			p, query, args := c.prepared, fmt.Sprintf(statement, marks), list
			switch protocol {
			case "interpolated":
				p = c.interpolated
			case "text":
				query, args = fmt.Sprintf(statement, strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")), nil
			}
			got := p.ask(ctx, 0, query, args)
			want := read(p.single.QueryContext(ctx, query, args...))
			if want.err == nil && got.err != nil {
				if _, ok := refused(got.err); !ok {
					t.Error("an error:", got.err)
				}
				continue
			}
			if got.err == nil && want.err == nil && !slices.Equal(rowtext.Shown(got.rows), rowtext.Shown(want.rows)) {
				t.Error("other rows")
			}
		}
	}
	// 16 MiB in one INSERT: the server's max_allowed_packet.
	long := strings.Repeat("x", 60_000)
	for _, n := range []int{100, 290} {
		var rows []fragment
		for i := range n {
			rows = append(rows, f("(", i%64, ", ", 10_000+n*1000+i, ", ", argument{long}, ")"))
		}
		statement := f("INSERT INTO orders (uid, id, txt) VALUES ", join(rows, ", "))
		for _, protocol := range []string{"text", "prepared"} {
			p, query, args := c.as(protocol, statement)
			w := &write{table: orders}
			got := run(ctx, p.sharded.ConnPool, w, query, args)
			if got.err != nil {
				if protocol == "text" || n < 200 {
					want := run(ctx, p.single, w, query, args)
					if want.err == nil {
						t.Errorf("an error where the unsharded database has none: %v", got.err)
						_, _ = p.single.ExecContext(ctx, "DELETE FROM orders WHERE id >= 10000")
					}
				}
				c.compareRows(ctx, t.Errorf, orders)
				continue
			}
			for i := range c.nodes {
				for _, actual := range c.actual(orders, i) {
					if _, err := c.nodes[i].ExecContext(ctx, "DELETE FROM "+actual+" WHERE id >= 10000"); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}
