//go:build unix

package reload_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
)

// load runs statements of all kinds until it is stopped, and counts what it has
// stored.
type load struct {
	db                *gorm.DB
	orders, items     atomic.Int64
	statements        atomic.Int64
	failed            chan error
	wg                sync.WaitGroup
	mu                sync.Mutex
	orderIDs, itemIDs map[int64]bool
}

func startLoad(ctx context.Context, db *gorm.DB) *load {
	l := &load{db: db, failed: make(chan error, 100), orderIDs: map[int64]bool{}, itemIDs: map[int64]bool{}}
	for n, work := range []func(context.Context, int64) error{
		l.create, l.create, l.transaction, l.transaction, l.readOne, l.readAll, l.stream, l.count, l.prepared, l.session, l.item,
	} {
		l.wg.Go(func() {
			for i := int64(n); ctx.Err() == nil; i += 7 {
				// Not the context that ends: what has begun is to end by itself.
				if err := work(context.WithoutCancel(ctx), i); err != nil {
					select {
					case l.failed <- fmt.Errorf("worker %d: %w", n, err):
					default:
					}
				}
				l.statements.Add(1)
			}
		})
	}
	return l
}

func (l *load) stored(orders []Order, items []Item) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range orders {
		if o.ID == 0 || l.orderIDs[o.ID] {
			return fmt.Errorf("order %d: no key, or one that was given out twice", o.ID)
		}
		l.orderIDs[o.ID] = true
	}
	for _, i := range items {
		if i.ID == 0 || l.itemIDs[i.ID] {
			return fmt.Errorf("item %d: no key, or one that was given out twice", i.ID)
		}
		l.itemIDs[i.ID] = true
	}
	l.orders.Add(int64(len(orders)))
	l.items.Add(int64(len(items)))
	return nil
}

func (l *load) create(ctx context.Context, i int64) error {
	orders := []Order{{UserID: i, Amount: 1}, {UserID: i + 1, Amount: 1}, {UserID: i + 2, Amount: 1}}
	if err := l.db.WithContext(ctx).Create(&orders).Error; err != nil {
		return err
	}
	return l.stored(orders, nil)
}

func (l *load) item(ctx context.Context, _ int64) error {
	item := Item{Name: "x"}
	if err := l.db.WithContext(ctx).Create(&item).Error; err != nil {
		return err
	}
	return l.stored(nil, []Item{item})
}

func (l *load) transaction(ctx context.Context, i int64) error {
	orders := []Order{{UserID: i, Amount: 2}, {UserID: i + 1, Amount: 2}}
	err := l.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		if err := tx.Create(&orders[0]).Error; err != nil {
			return err
		}
		time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
		if err := tx.Create(&orders[1]).Error; err != nil {
			return err
		}
		var amounts []int64
		if err := tx.Model(&Order{}).Where("id IN ? AND user_id IN ?", []int64{orders[0].ID, orders[1].ID}, []int64{i, i + 1}).Pluck("amount", &amounts).Error; err != nil {
			return err
		}
		if len(amounts) != 2 {
			return fmt.Errorf("the transaction reads %d of its 2 rows", len(amounts))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return l.stored(orders, nil)
}

func (l *load) readOne(ctx context.Context, i int64) error {
	var o Order
	err := l.db.WithContext(ctx).Where("user_id = ?", i%50).Take(&o).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil
	}
	return err
}

func (l *load) readAll(ctx context.Context, _ int64) error {
	return l.db.WithContext(ctx).Order("id DESC").Limit(20).Find(&[]Order{}).Error
}

// stream reads rows slowly, so that reloads come in between.
func (l *load) stream(ctx context.Context, _ int64) error {
	rows, err := l.db.WithContext(ctx).Model(&Order{}).Limit(30).Rows()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		time.Sleep(200 * time.Microsecond)
	}
	return rows.Err()
}

func (l *load) count(ctx context.Context, _ int64) error {
	before := l.orders.Load()
	var n int64
	if err := l.db.WithContext(ctx).Model(&Order{}).Count(&n).Error; err != nil {
		return err
	}
	if n < before {
		return fmt.Errorf("%d orders are counted after %d were stored", n, before)
	}
	return nil
}

func (l *load) prepared(ctx context.Context, i int64) error {
	return l.db.WithContext(ctx).Session(&gorm.Session{PrepareStmt: true}).Where("user_id IN ?", []int64{i % 50, i%50 + 1}).Find(&[]Order{}).Error
}

// session holds a connection on which something was set.
func (l *load) session(ctx context.Context, i int64) error {
	return l.db.WithContext(ctx).Connection(func(tx *gorm.DB) error {
		if err := tx.Exec("SET @n = ?", i).Error; err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
		var n int64
		if err := tx.Raw("SELECT @n FROM t_order WHERE user_id = ? UNION SELECT @n LIMIT 1", i%50).Scan(&n).Error; err != nil {
			return err
		}
		if n != i {
			return fmt.Errorf("@n is %d, not %d", n, i)
		}
		return nil
	})
}

// Every third configuration is invalid; what is in force is always one of the
// others, and nobody who works with the database notices.
func TestStatementsDoNotNoticeReloads(t *testing.T) {
	reloads, apart := 100, 10*time.Millisecond
	if os.Getenv("SHARDING_TEST_LONG") != "" {
		reloads, apart = 1000, 45*time.Millisecond // in less than a minute
	}
	s := newShop(t, "load")
	extra := s.database(t, 2)
	s.run(t, 2, "CREATE TABLE t_extra (id bigint PRIMARY KEY)")
	invalid := []func(*config.Config){
		func(c *config.Config) { delete(c.Sharding.Tables, "t_order") },
		func(c *config.Config) {
			table := c.Sharding.Tables["t_order"]
			table.ActualDataNodes = "ds${0..1}.t_order_0"
			c.Sharding.Tables["t_order"] = table
		},
		func(c *config.Config) {
			c.Sharding.Algorithms["by_table"] = config.Algorithm{Type: "INLINE", Props: map[string]any{"expression": "t_order_${user_id % 2}"}}
		},
		func(c *config.Config) { *c = config.Config{} },
		func(c *config.Config) { c.RulesVersion-- },
		func(c *config.Config) { c.DefaultDataSource = "ds1" },
		func(c *config.Config) {
			c.DataSources["ds0"], c.DataSources["ds1"] = c.DataSources["ds1"], c.DataSources["ds0"]
		},
		func(c *config.Config) { c.Sharding.Algorithms["by_id"] = config.Algorithm{Type: "NONE_SUCH"} },
	}
	valid := []func(*config.Config, int){
		func(c *config.Config, i int) { c.Props.MaxMergeRows = 1000 + i },
		func(c *config.Config, i int) { c.Props.SQLShow = i%2 == 0; c.Props.MaxRangeValues = 10 + i },
		func(c *config.Config, i int) {
			c.DataSources = maps.Clone(c.DataSources)
			ds := c.DataSources["ds1"]
			ds.MaxOpenConns, ds.MaxIdleConns = 10+i%10, 1+i%10
			c.DataSources["ds1"] = ds
		},
		func(c *config.Config, i int) { // a data source and a table come and go
			if _, there := c.DataSources["ds2"]; there {
				delete(c.DataSources, "ds2")
				delete(c.Sharding.Tables, "t_extra")
				c.RulesVersion++
				return
			}
			c.DataSources["ds2"] = extra
			c.Sharding.Tables["t_extra"] = config.Table{ActualDataNodes: "ds2.t_extra"}
		},
	}
	ctx, stop := context.WithCancel(t.Context())
	l := startLoad(ctx, s.db)
	l.wg.Go(func() { s.observe(ctx, t) })
	good := uint64(0)
	took := make([]time.Duration, reloads)
	began := time.Now()
	for i := range reloads {
		<-time.After(time.Until(began.Add(time.Duration(i) * apart))) // at once after one that took longer
		before, at := s.plugin.Config(), time.Now()
		if i%3 == 2 {
			err := s.plugin.Reload(s.changed(invalid[i/3%len(invalid)]))
			if !errors.Is(err, sharding.ErrConfig) {
				t.Errorf("reload %d: %v; an ErrConfig is wanted", i, err)
			}
			if !reflect.DeepEqual(s.plugin.Config(), before) {
				t.Errorf("reload %d was refused, and has changed the configuration", i)
			}
		} else {
			good++
			if err := s.plugin.Reload(s.changed(func(c *config.Config) { valid[i%len(valid)](c, i) })); err != nil {
				t.Errorf("reload %d: %v", i, err)
			}
		}
		took[i] = time.Since(at)
		if got := s.plugin.Status().Generation; got != good+1 {
			t.Fatalf("reload %d: generation %d, want %d", i, got, good+1)
		}
	}
	all := time.Since(began)
	stop()
	l.wg.Wait()
	close(l.failed)
	for err := range l.failed {
		t.Errorf("a statement failed: %v", err)
	}
	var orders, items int64
	if err := errors.Join(s.db.Model(&Order{}).Count(&orders).Error, s.db.Model(&Item{}).Count(&items).Error); err != nil {
		t.Fatal(err)
	}
	if orders != l.orders.Load() || items != l.items.Load() {
		t.Errorf("%d orders and %d items are there, %d and %d were stored", orders, items, l.orders.Load(), l.items.Load())
	}
	slices.Sort(took)
	t.Logf("%d reloads in %s, half of them in less than %s each, one in %s; meanwhile %d rounds of statements, %d orders, %d items",
		reloads, all.Round(time.Millisecond), took[reloads/2], took[reloads-1], l.statements.Load(), orders, items)
	s.drained(t)
	status := s.plugin.Status()
	if want := uint64(reloads) - good; status.Reloads.Applied != good || status.Reloads.Failed != want {
		t.Errorf("%d reloads are counted as applied and %d as failed, want %d and %d", status.Reloads.Applied, status.Reloads.Failed, good, want)
	}
	for _, ds := range status.DataSources {
		if ds.Pool.InUse != 0 {
			t.Errorf("%d connections of %s are in use", ds.Pool.InUse, ds.Name)
		}
	}
	if _, there := s.plugin.Config().DataSources["ds2"]; there {
		s.reload(t, func(c *config.Config) { valid[3](c, reloads) })
		s.drained(t)
	}
	if n := s.connections(t, 2); n != 0 {
		t.Errorf("%d connections are left to a data source that is gone", n)
	}
}

// observe looks all the time that what is in force is none of the invalid ones, and
// that none comes back.
func (s *shop) observe(ctx context.Context, t *testing.T) {
	t.Helper()
	var last uint64
	for ctx.Err() == nil {
		now, cfg := s.plugin.Status().Generation, s.plugin.Config()
		if now < last {
			t.Errorf("generation %d is in force after %d", now, last)
		}
		last = now
		if order := s.cfg.Sharding.Tables["t_order"]; !reflect.DeepEqual(cfg.Sharding.Tables["t_order"], order) ||
			!reflect.DeepEqual(cfg.Sharding.Algorithms, s.cfg.Sharding.Algorithms) || cfg.DefaultDataSource != s.cfg.DefaultDataSource ||
			cfg.DataSources["ds0"].DSN != s.cfg.DataSources["ds0"].DSN || cfg.DataSources["ds1"].DSN != s.cfg.DataSources["ds1"].DSN {
			t.Errorf("generation %d is an invalid one: %+v", now, cfg)
		}
		time.Sleep(time.Millisecond)
	}
}

// drained waits until nothing is left of former configurations.
func (s *shop) drained(t *testing.T) {
	t.Helper()
	await(t, "former configurations to be closed", func() bool { return s.plugin.Status().Draining == 0 })
}

// await waits for a condition.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
