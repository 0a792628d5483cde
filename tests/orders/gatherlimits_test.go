//go:build unix

package orders_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/tests/mariadb"
)

const windowed = "SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS n FROM t_ent_order WHERE name <> ? ORDER BY id"

// alone gives every data source a pool of one connection.
func alone(cfg *config.Config) *config.Config {
	for name, source := range cfg.DataSources {
		source.MaxOpenConns, source.MaxIdleConns = 1, 1
		cfg.DataSources[name] = source
	}
	return cfg
}

// TestATransactionGathersItsOwnRows reads rows that are not committed, over pools
// that have no connection beside the transaction's.
func TestATransactionGathersItsOwnRows(t *testing.T) {
	c := writeCluster(t)
	c.reset(t)
	a := c.open(t, alone(c.config()), nil)
	single := c.openSingle(t, nil)
	read := func(db *gorm.DB) (a answer) {
		err := db.Transaction(func(tx *gorm.DB) error {
			for _, o := range []Order{{ID: 9001, EntID: 1}, {ID: 9002, EntID: 2}, {ID: 9003, EntID: 7}} {
				if err := tx.Create(&o).Error; err != nil {
					return err
				}
			}
			if err := tx.Exec("UPDATE t_ent_order SET name = 'moved' WHERE ent_id = 2").Error; err != nil {
				return err
			}
			a = ask(t.Context(), throughGORM(tx), windowed, []any{"a"})
			b := ask(t.Context(), throughGORM(tx), "SELECT COUNT(*), STD(id) FROM t_ent_order o WHERE EXISTS (SELECT 1 FROM t_ent_order p WHERE p.id = o.id + 1)", nil)
			a.rows = append(a.rows, b.rows...)
			return errors.Join(a.err, b.err, gorm.ErrInvalidTransaction)
		})
		if !errors.Is(err, gorm.ErrInvalidTransaction) {
			t.Error(err)
		}
		return a
	}
	want, got := read(single), read(a.DB)
	if d := (&query{sql: windowed}).differ(want, got, answer{}, nil); d != "" || len(got.rows) < 5 {
		t.Errorf("%d rows: %s", len(got.rows), d)
	}
}

// TestGatheringNeedsOneConnection runs many at the same time over pools of one
// connection, some of them while the others' rows are open.
func TestGatheringNeedsOneConnection(t *testing.T) {
	c := sampleCluster(t)
	pool, _ := c.openSQL(t, alone(c.config()))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 4 {
				rows, err := pool.QueryContext(ctx, "SELECT o.id, i.id, COUNT(*) OVER () FROM t_ent_order o JOIN t_ent_order_item i ON i.order_id = o.id + 0")
				if err != nil {
					t.Error(err)
					return
				}
				n := 0
				for rows.Next() {
					n++
				}
				if err := errors.Join(rows.Err(), rows.Close()); err != nil || n == 0 {
					t.Errorf("%d rows, %v", n, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestGatheredRowsAreLimited names the table, and gives everything back.
func TestGatheredRowsAreLimited(t *testing.T) {
	c := sampleCluster(t)
	for name, props := range map[string]config.Props{
		"props.maxMergeRows":  {MaxMergeRows: 20},
		"props.maxMergeBytes": {MaxMergeBytes: 500},
	} {
		cfg := alone(c.config())
		cfg.Props = props
		a := c.open(t, cfg, nil)
		for range 3 {
			err := ask(t.Context(), throughGORM(a.DB), windowed, []any{"x"}).err
			if !errors.Is(err, sharding.ErrTooManyRows) || !strings.Contains(err.Error(), "t_ent_order") || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", name, err)
			}
			checkIdle(t, a.plugin, cfg)
		}
		// A transaction goes on.
		err := a.Transaction(func(tx *gorm.DB) error {
			if err := ask(t.Context(), throughGORM(tx), windowed, []any{"x"}).err; !errors.Is(err, sharding.ErrTooManyRows) {
				t.Errorf("%s in a transaction: %v", name, err)
			}
			return tx.Exec("UPDATE t_ent_order SET small = small WHERE ent_id = 1").Error
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestACancelledGatheringEnds cancels while rows are read, and while the data
// source answers.
func TestACancelledGatheringEnds(t *testing.T) {
	c := sampleCluster(t)
	cfg := alone(c.config())
	a := c.open(t, cfg, nil)
	pool, _ := c.openSQL(t, cfg)
	for _, q := range []string{
		"SELECT MAX(SLEEP(0.2)), ROW_NUMBER() OVER () FROM t_ent_order GROUP BY id",
		windowed,
	} {
		for _, after := range []time.Duration{0, 2 * time.Millisecond, 20 * time.Millisecond, 200 * time.Millisecond} {
			args := []any{"x"}[:strings.Count(q, "?")]
			for name, run := range map[string]func(ctx context.Context) error{
				"gorm": func(ctx context.Context) error { return ask(ctx, throughGORM(a.DB), q, args).err },
				"transaction": func(ctx context.Context) error {
					tx, err := pool.BeginTx(ctx, nil)
					if err != nil {
						return err
					}
					defer func() { _ = tx.Rollback() }()
					return ask(ctx, func(ctx context.Context, q string, args []any) (*sql.Rows, error) {
						return tx.QueryContext(ctx, q, args...)
					}, q, args).err
				},
			} {
				ctx, cancel := context.WithTimeout(t.Context(), after)
				start := time.Now()
				err := run(ctx)
				cancel()
				if took := time.Since(start); took > 3*time.Second || err == nil && q != windowed {
					t.Errorf("%s\n%s, %v: %v after %v", q, name, after, err, took)
				}
				checkIdle(t, a.plugin, cfg)
				waitIdle(t, name, pool)
			}
		}
	}
}

// TestAGatheringIsSeen looks at its preview, its traces and its switch.
func TestAGatheringIsSeen(t *testing.T) {
	c := sampleCluster(t)
	a := c.open(t, c.config(), nil)
	text := "SELECT id, name, COUNT(*) OVER () FROM t_ent_order WHERE name = 'a' -- t_ent_order"
	p, err := a.plugin.Preview(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	if p.Kind != "gathered" || len(p.Units) != databases+1 || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "4 nodes of t_ent_order") {
		t.Errorf("preview %+v", p)
	}
	a.trace.take()
	if got := ask(t.Context(), throughGORM(a.DB), text, nil); got.err != nil {
		t.Fatal(got.err)
	}
	units := a.trace.take()
	if len(units) != databases+2 {
		t.Errorf("%d units: %v", len(units), units)
	}
	for _, u := range units {
		if strings.Contains(u.SQL, "[[") || len(u.SQL) > 1000 || u.Err != nil {
			t.Errorf("trace shows rows or an error: %s %v", u.SQL, u.Err)
		}
	}

	cfg := c.config()
	off := false
	cfg.Props.Gather = &off
	if err := ask(t.Context(), throughGORM(c.open(t, cfg, nil).DB), text, nil).err; !errors.Is(err, sharding.ErrUnsupported) {
		t.Errorf("switched off: %v", err)
	}
	cfg = c.config()
	cfg.Props.Audit = []config.AuditRule{config.AuditMemoryMerge}
	if err := ask(t.Context(), throughGORM(c.open(t, cfg, nil).DB), text, nil).err; !errors.Is(err, sharding.ErrScatterDenied) {
		t.Errorf("audited: %v", err)
	}
	cfg = c.config()
	cfg.Props.MaxNodes = databases - 1
	if err := ask(t.Context(), throughGORM(c.open(t, cfg, nil).DB), text, nil).err; !errors.Is(err, sharding.ErrScatterDenied) {
		t.Errorf("maxNodes: %v", err)
	}
	if err := ask(t.Context(), throughGORM(a.DB), "EXPLAIN "+text, nil).err; !errors.Is(err, sharding.ErrUnsupported) {
		t.Errorf("EXPLAIN: %v", err)
	}
}

// TestAColumnThatIsWiderThanKnownIsNoticed alters the tables behind the plugin's
// back: a value must not be cut to what the column was.
func TestAColumnThatIsWiderThanKnownIsNoticed(t *testing.T) {
	sampleCluster(t)
	c := newCluster(t, "gatherdrift", mariadb.Shared(t, 2))
	c.reset(t)
	a := c.open(t, c.config(), nil)
	text := "SELECT id, name, count, COUNT(*) OVER () FROM t_ent_order_detail d JOIN (SELECT order_id, MAX(product) AS name, MAX(count) AS count, MAX(id) AS id FROM t_ent_order_item GROUP BY order_id) i ON i.order_id = d.order_id ORDER BY id"
	text = strings.Replace(text, "FROM t_ent_order_item", "FROM t_ent_order_item WHERE id > (SELECT MIN(id) FROM t_ent_order)", 1)
	if got := ask(t.Context(), throughGORM(a.DB), text, nil); got.err != nil || len(got.rows) == 0 {
		t.Fatal(got.err)
	}
	change := []string{
		"ALTER TABLE %s MODIFY product varchar(300), MODIFY count bigint",
		"UPDATE %s SET product = REPEAT('x', 250), count = 3000000000",
	}
	for i := range databases {
		for n := range itemTables {
			for _, s := range change {
				if _, err := c.pool(t, i).ExecContext(t.Context(), fmt.Sprintf(s, fmt.Sprintf("t_ent_order_item_%d", n))); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, s := range change {
		if _, err := c.pool(t, -1).ExecContext(t.Context(), fmt.Sprintf(s, "t_ent_order_item")); err != nil {
			t.Fatal(err)
		}
	}
	want := ask(t.Context(), throughGORM(c.openSingle(t, nil)), text, nil)
	got := ask(t.Context(), throughGORM(a.DB), text, nil)
	// Columns that were read a moment ago are not read anew for an error.
	for end := time.Now().Add(10 * time.Second); errors.Is(got.err, sharding.ErrSchemaDrift) && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
		got = ask(t.Context(), throughGORM(a.DB), text, nil)
	}
	if d := (&query{sql: text}).differ(want, got, answer{}, nil); d != "" {
		t.Error(d)
	}
}
