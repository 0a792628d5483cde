//go:build unix

package orders_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/gormshard/sharding"
)

var errWanted = errors.New("wanted by the test")

// place creates an order with its detail and items.
func place(tx *gorm.DB, id, ent int64) error {
	return errors.Join(
		tx.Create(&Order{ID: id, EntID: ent, Name: ptr("placed")}).Error,
		tx.Create(&Detail{OrderID: id, EntID: ent}).Error,
		tx.Create(&[]Item{{ID: 10 * id, EntID: ent, OrderID: id}, {ID: 10*id + 1, EntID: ent, OrderID: id}}).Error)
}

// transactions are run on both sides; each returns what it saw.
var transactions = []step{
	{name: "commit over several databases", run: func(db *gorm.DB) (any, error) {
		return nil, db.Transaction(func(tx *gorm.DB) error {
			for i, ent := range []int64{4, 5, 6, 7} {
				if err := place(tx, int64(1000+i), ent); err != nil {
					return err
				}
			}
			return nil
		})
	}},
	{name: "rollback by an error over several databases", run: func(db *gorm.DB) (any, error) {
		var seen int64
		err := db.Transaction(func(tx *gorm.DB) error {
			err := errors.Join(place(tx, 1000, 4), place(tx, 1001, 5), tx.Delete(&Order{}, "status = ?", "new").Error,
				tx.Model(&Order{}).Count(&seen).Error)
			return errors.Join(err, errWanted)
		})
		return seen, err
	}},
	{name: "begin, commit", run: func(db *gorm.DB) (any, error) {
		tx := db.Begin()
		err := errors.Join(place(tx, 1000, 4), place(tx, 1001, -1))
		return nil, errors.Join(err, tx.Commit().Error)
	}},
	{name: "begin, rollback", run: func(db *gorm.DB) (any, error) {
		tx := db.Begin()
		err := errors.Join(place(tx, 1000, 4), place(tx, 1001, -1))
		return nil, errors.Join(err, tx.Rollback().Error)
	}},
	{name: "a transaction sees its own writes over nodes", run: func(db *gorm.DB) (any, error) {
		var totals []string
		err := db.Transaction(func(tx *gorm.DB) error {
			return errors.Join(tx.Model(&Order{}).Where("1 = 1").Update("amount", gorm.Expr("id")).Error,
				tx.Model(&Order{}).Group("region_id").Order("region_id").Pluck("SUM(amount)", &totals).Error)
		})
		return totals, err
	}},
	{name: "nothing in a transaction", run: func(db *gorm.DB) (any, error) {
		return nil, db.Transaction(func(*gorm.DB) error { return nil })
	}},
	{name: "inner rollback keeps the outer writes", run: func(db *gorm.DB) (any, error) {
		return nil, db.Transaction(func(tx *gorm.DB) error {
			if err := place(tx, 1000, 4); err != nil {
				return err
			}
			err := tx.Transaction(func(inner *gorm.DB) error {
				return errors.Join(place(inner, 1001, 5), place(inner, 1002, 4), errWanted)
			})
			if !errors.Is(err, errWanted) {
				return fmt.Errorf("the inner transaction gave %w", err)
			}
			return place(tx, 1003, 6)
		})
	}},
	{name: "inner commit and outer rollback", run: func(db *gorm.DB) (any, error) {
		return nil, db.Transaction(func(tx *gorm.DB) error {
			err := tx.Transaction(func(inner *gorm.DB) error { return errors.Join(place(inner, 1001, 5), place(inner, 1002, 4)) })
			return errors.Join(err, errWanted)
		})
	}},
	{name: "savepoints by name, the databases of later statements included", run: func(db *gorm.DB) (any, error) {
		return nil, db.Transaction(func(tx *gorm.DB) error {
			return errors.Join(
				tx.SavePoint("a").Error, place(tx, 1000, 4),
				tx.SavePoint("b").Error, place(tx, 1001, 5), place(tx, 1002, 4),
				tx.RollbackTo("b").Error, place(tx, 1003, 6),
				tx.SavePoint("c").Error, place(tx, 1004, 7),
				tx.RollbackTo("c").Error)
		})
	}},
	{name: "back to before everything", run: func(db *gorm.DB) (any, error) {
		return nil, db.Transaction(func(tx *gorm.DB) error {
			return errors.Join(tx.SavePoint("a").Error, place(tx, 1000, 4), place(tx, 1001, 5), tx.RollbackTo("a").Error, place(tx, 1002, 6))
		})
	}},
	{name: "a failing statement over nodes leaves the rest of the transaction", run: func(db *gorm.DB) (any, error) {
		err := db.Transaction(func(tx *gorm.DB) error {
			if err := place(tx, 1000, 4); err != nil {
				return err
			}
			bad := append(batch()[1:], Order{ID: 106, EntID: 1})
			if err := tx.Exec("INSERT INTO t_ent_order (id, ent_id) VALUES (2000, 4), (2001, 5), (106, 1), (2002, 7)").Error; serverError(err) != "server error 1062" {
				return fmt.Errorf("the bad insert gave %w", err)
			}
			if err := tx.Create(&bad).Error; serverError(err) != "server error 1062" && !errors.Is(err, gorm.ErrDuplicatedKey) {
				return fmt.Errorf("the bad batch gave %w", err)
			}
			return place(tx, 1008, 5)
		})
		return nil, err
	}},
	{name: "a failing hook leaves nothing", run: func(db *gorm.DB) (any, error) {
		ctx := context.WithValue(db.Statement.Context, afterCreate{}, func() error { return errWanted })
		orders := batch()
		return nil, db.WithContext(ctx).Create(&orders).Error
	}},
	{name: "a failing hook of an order with items leaves nothing", run: func(db *gorm.DB) (any, error) {
		ctx := context.WithValue(db.Statement.Context, afterCreate{}, func() error { return errWanted })
		return nil, db.WithContext(ctx).Create(&Order{ID: 1000, EntID: 5, Items: []Item{{ID: 5000, EntID: 5}}}).Error
	}},
	{name: "a panic in a transaction", run: func(db *gorm.DB) (seen any, err error) {
		defer func() { seen = recover() }()
		return nil, db.Transaction(func(tx *gorm.DB) error {
			if err := errors.Join(place(tx, 1000, 4), place(tx, 1001, 5)); err != nil {
				return err
			}
			panic("wanted by the test")
		})
	}},
}

func TestTransactionsDoWhatTheyDoOnOneDatabase(t *testing.T) {
	c := writeCluster(t)
	now := func() time.Time { return newYear }
	for _, conf := range configurations {
		if conf.gorm.SkipDefaultTransaction {
			continue // a failing hook would leave its rows on one database
		}
		t.Run(conf.name, func(t *testing.T) {
			forSingle, forSharded := conf.gorm, conf.gorm
			forSingle.NowFunc, forSharded.NowFunc = now, now
			single := c.openSingle(t, &forSingle, conf.params...)
			cfg := c.config(conf.params...)
			for name, ds := range cfg.DataSources { // a transaction must not need a second connection
				ds.MaxOpenConns = 1
				cfg.DataSources[name] = ds
			}
			a := c.open(t, cfg, &forSharded)
			for _, s := range transactions {
				t.Run(s.name, func(t *testing.T) {
					c.reset(t)
					wantValue, wantErr := s.run(single.WithContext(t.Context()))
					a.trace.take()
					value, err := s.run(a.WithContext(t.Context()))
					if want, got := outcome(wantValue, wantErr), outcome(value, err); want != got {
						t.Errorf("single:\n%s\nsharded (%v):\n%s\nunits:\n%s", want, err, got, a.trace)
					}
					checkIdle(t, a.plugin, cfg)
					c.contents(t).same(t)
				})
			}
		})
	}
}

// TestTransactionOptionsReachEveryBranch asks the server for the isolation level
// and for the refusal of a write in a read-only transaction.
func TestTransactionOptionsReachEveryBranch(t *testing.T) {
	c := writeCluster(t)
	c.reset(t)
	a := c.open(t, c.config(), nil)

	tx := a.WithContext(t.Context()).Begin(&sql.TxOptions{Isolation: sql.LevelSerializable})
	if tx.Error != nil {
		t.Fatal(tx.Error)
	}
	for ent := range int64(databases) {
		// A serializable read locks what it reads; a row count keeps the branch open.
		var n int64
		if err := tx.Model(&Order{}).Where("ent_id = ?", ent).Count(&n).Error; err != nil {
			t.Fatal(err)
		}
	}
	for i := range c.servers {
		var levels []string
		rows := ask(t.Context(), pooled(openDSN(t, c.dsn(i))), "SELECT trx_isolation_level FROM information_schema.innodb_trx", nil)
		for _, r := range rows.rows {
			levels = append(levels, string(r[0].([]byte)))
		}
		if rows.err != nil || strings.Join(levels, ", ") != "SERIALIZABLE, SERIALIZABLE" {
			t.Errorf("server %d has transactions with %v, %v; want SERIALIZABLE of 2 data sources", i, levels, rows.err)
		}
	}
	if err := tx.Rollback().Error; err != nil {
		t.Error(err)
	}

	readOnly := a.WithContext(t.Context()).Begin(&sql.TxOptions{ReadOnly: true})
	var n int64
	if err := readOnly.Model(&Order{}).Count(&n).Error; err != nil || n != 76 {
		t.Errorf("a count in a read-only transaction gave %d, %v", n, err)
	}
	for ent := range int64(databases) {
		if err := readOnly.Create(&Order{ID: 1000, EntID: ent}).Error; serverError(err) != "server error 1792" {
			t.Errorf("a write for enterprise %d in a read-only transaction gave %v", ent, err)
		}
	}
	if err := readOnly.Rollback().Error; err != nil {
		t.Error(err)
	}
}

// TestAReadCommittedTransactionSeesOthersCommits tells the level apart by what it
// means.
func TestIsolationLevelsMeanWhatTheyMean(t *testing.T) {
	c := writeCluster(t)
	c.reset(t)
	a := c.open(t, c.config(), nil)
	for level, want := range map[sql.IsolationLevel]int64{sql.LevelRepeatableRead: 76, sql.LevelReadCommitted: 78} {
		c.reset(t)
		err := a.WithContext(t.Context()).Transaction(func(tx *gorm.DB) error {
			var n int64
			if err := tx.Model(&Order{}).Count(&n).Error; err != nil || n != 76 {
				return fmt.Errorf("%d orders at first: %w", n, err)
			}
			if err := a.WithContext(t.Context()).Create(&[]Order{{ID: 1000, EntID: 4}, {ID: 1001, EntID: 5}}).Error; err != nil {
				return err
			}
			if err := tx.Model(&Order{}).Count(&n).Error; err != nil || n != want {
				t.Errorf("%v: %d orders after another commit, %v; want %d", level, n, err, want)
			}
			return nil
		}, &sql.TxOptions{Isolation: level})
		if err != nil {
			t.Errorf("%v: %v", level, err)
		}
	}
}

// TestTransactionsThroughDatabaseSQL runs the same through the connector alone.
func TestTransactionsThroughDatabaseSQL(t *testing.T) {
	c := writeCluster(t)
	for _, params := range [][]string{nil, {"interpolateParams=true"}} {
		c.reset(t)
		before := c.contents(t)
		pool, _ := c.openSQL(t, c.config(params...))
		tx, err := pool.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		stmt, err := tx.PrepareContext(t.Context(), "INSERT INTO t_ent_order (id, ent_id) VALUES (?, ?)")
		if err != nil {
			t.Fatal(err)
		}
		for ent := range int64(8) {
			if _, err := stmt.ExecContext(t.Context(), 1000+ent, ent); err != nil {
				t.Fatal(err)
			}
		}
		var n int
		if err := tx.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM t_ent_order WHERE id >= ?", 1000).Scan(&n); err != nil || n != 8 {
			t.Errorf("the transaction sees %d of its rows, %v", n, err)
		}
		if err := pool.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM t_ent_order WHERE id >= ?", 1000).Scan(&n); err != nil || n != 0 {
			t.Errorf("others see %d of its rows, %v", n, err)
		}
		if err := errors.Join(stmt.Close(), tx.Rollback()); err != nil {
			t.Error(err)
		}
		c.contents(t).unchanged(t, before)
		if _, err := tx.ExecContext(t.Context(), "DELETE FROM t_ent_order"); !errors.Is(err, sql.ErrTxDone) {
			t.Errorf("a statement after the rollback gave %v", err)
		}
	}
}

// TestTransactionControlAsTextIsRefused: it would leave a pooled connection in a
// transaction.
func TestTransactionControlAsTextIsRefused(t *testing.T) {
	c := sampleCluster(t)
	a := c.open(t, c.config(), nil)
	for _, text := range []string{"BEGIN", "START TRANSACTION", "COMMIT", "ROLLBACK", "SAVEPOINT a", "SET autocommit = 0", "SET NAMES latin1", "USE mysql", "LOCK TABLES t_ent_order WRITE", "XA START 'x'", "/* x */ begin"} {
		if err := a.WithContext(t.Context()).Exec(text).Error; !errors.Is(err, sharding.ErrUnsupported) {
			t.Errorf("%s gave %v", text, err)
		}
	}
	if units := a.trace.take(); len(units) > 0 {
		t.Errorf("sent %v", units)
	}
}
