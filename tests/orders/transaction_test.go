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
	"gorm.io/gorm/clause"

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
	{name: "a broadcast write is undone everywhere", run: func(db *gorm.DB) (any, error) {
		var n int64
		err := db.Transaction(func(tx *gorm.DB) error {
			return errors.Join(tx.Create(&Region{ID: 10, Name: ptr("x")}).Error, tx.Where("id < 3").Delete(&Region{}).Error,
				tx.Create(&Operator{ID: 77, Name: "x"}).Error, tx.Model(&Region{}).Count(&n).Error, errWanted)
		})
		return n, err
	}},
	{name: "a row is locked and changed", run: func(db *gorm.DB) (any, error) {
		var o Order
		err := db.Transaction(func(tx *gorm.DB) error {
			if err := tx.Clauses(clause.Locking{Strength: "UPDATE"}).First(&o, "ent_id = ? AND id = ?", 4, 108).Error; err != nil {
				return err
			}
			return tx.Model(&Order{}).Where("ent_id = ? AND id = ?", o.EntID, o.ID).Update("name", "locked").Error
		})
		return o.ID, err
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

// TestADeadlockLeavesOnlyRollbackToSeveralBranches, while a transaction of one
// branch goes on as the server lets it.
func TestADeadlockLeavesOnlyRollbackToSeveralBranches(t *testing.T) {
	c := writeCluster(t)
	for _, branches := range []int{2, 1} {
		c.reset(t)
		before := c.contents(t)
		a := c.open(t, c.config(), nil)
		set := func(tx *gorm.DB, ent int64) error { // by the primary key, which locks one row
			id := map[int64]int64{1: 106, 4: 108, 5: 109, 13: 115}[ent]
			return tx.Model(&Order{}).Where("ent_id = ? AND id = ?", ent, id).Update("small", 5).Error
		}
		// The one that has changed less is the server's victim.
		victim, other := a.WithContext(t.Context()).Begin(), a.WithContext(t.Context()).Begin()
		if branches == 2 {
			if err := set(victim, 4); err != nil {
				t.Fatal(err)
			}
		}
		err := errors.Join(other.Create(&[]Order{{ID: 2000, EntID: 9}, {ID: 2001, EntID: 9}, {ID: 2002, EntID: 9}}).Error,
			set(victim, 1), set(other, 5))
		if err != nil {
			t.Fatal(err)
		}
		waiting := make(chan error, 1)
		go func() { waiting <- set(other, 1) }()
		time.Sleep(100 * time.Millisecond)
		if err := set(victim, 5); serverError(err) != "server error 1213" {
			t.Fatalf("want a deadlock, got %v", err)
		}
		err = set(victim, 13)
		switch {
		case branches == 2 && (err == nil || !strings.Contains(err.Error(), "ROLLBACK")):
			t.Errorf("a statement after the deadlock gave %v", err)
		case branches == 1 && err != nil:
			t.Errorf("with one branch a statement after the deadlock gave %v, and the server allows it", err)
		}
		if err := victim.Rollback().Error; err != nil {
			t.Error(err)
		}
		if err := errors.Join(<-waiting, other.Rollback().Error); err != nil {
			t.Error(err)
		}
		if branches == 2 {
			c.contents(t).unchanged(t, before)
		}
	}
}

// TestALockWaitTimeoutUndoesItsStatementEverywhere and nothing else.
func TestALockWaitTimeoutUndoesItsStatementEverywhere(t *testing.T) {
	c := writeCluster(t)
	c.reset(t)
	a := c.open(t, c.config("innodb_lock_wait_timeout=1"), nil)
	unlock := lockNode(t, c)
	err := a.WithContext(t.Context()).Transaction(func(tx *gorm.DB) error {
		if err := tx.Model(&Order{}).Where("ent_id IN (4, 2)").Update("state", "before").Error; err != nil {
			return err
		}
		if err := tx.Exec("UPDATE t_ent_order SET state = 'undone'").Error; serverError(err) != "server error 1205" {
			return fmt.Errorf("want a lock wait timeout, got %w", err)
		}
		return tx.Model(&Order{}).Where("ent_id = 8").Update("state", "after").Error
	})
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	for state, want := range map[string]string{"undone": "0", "before": "8", "after": "4"} {
		var n int64
		if err := a.Model(&Order{}).Where("state = ?", state).Count(&n).Error; err != nil || fmt.Sprint(n) != want {
			t.Errorf("%d rows are %q, %v; want %s", n, state, err, want)
		}
	}
}

// TestRowsClosedEarlyLeaveATransactionUsable, whether they were streamed or held.
func TestRowsClosedEarlyLeaveATransactionUsable(t *testing.T) {
	c := writeCluster(t)
	c.reset(t)
	before := c.contents(t)
	pool, _ := c.openSQL(t, c.config())
	tx, err := pool.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		"SELECT * FROM t_ent_order WHERE ent_id = 4", "SELECT * FROM t_ent_order", "SELECT * FROM t_ent_order ORDER BY id",
		"SELECT * FROM t_ent_order_item ORDER BY id", "SELECT COUNT(*) FROM t_ent_order", "SELECT region_id FROM t_ent_order GROUP BY region_id",
	} {
		rows, err := tx.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		if !rows.Next() {
			t.Errorf("%s: no row: %v", query, rows.Err())
		}
		if err := rows.Close(); err != nil {
			t.Errorf("%s: %v", query, err)
		}
		if _, err := tx.ExecContext(t.Context(), "UPDATE t_ent_order SET small = 1"); err != nil {
			t.Errorf("after %s: %v", query, err)
		}
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
	c.contents(t).unchanged(t, before)
}
