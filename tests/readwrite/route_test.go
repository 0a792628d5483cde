//go:build unix

package readwrite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/hint"
)

func TestWritesLocksAndStateGoToThePrimaryAndReadsToAReplica(t *testing.T) {
	g := newGroups(t, "routes")
	// One replica each, so that who answers is known.
	g.configure(func(name string, group *config.Group) {
		group.Replicas = group.Replicas[:1]
		delete(g.cfg.DataSources, name+"_r1")
	})
	g.open(t)
	for _, test := range []struct{ sql, asked string }{
		{"INSERT INTO t_order VALUES (1, 1), (2, 2)", "ds0_primary ds1_primary"},
		{"INSERT INTO t_audit (v) VALUES (1)", "ds0_primary"},
		{"UPDATE t_order SET v = 3 WHERE id = 1", "ds1_primary"},
		{"UPDATE t_region SET name = 'south' WHERE id = 1", "ds0_primary ds1_primary"},
		{"DELETE FROM t_order WHERE id = 77", "ds1_primary"},

		{"SELECT * FROM t_order WHERE id = 1", "ds1_r0"},
		{"SELECT * FROM t_order", "ds0_r0 ds1_r0"},
		{"SELECT id FROM t_order ORDER BY id LIMIT 1", "ds0_r0 ds1_r0"},
		{"SELECT COUNT(*), SUM(v) FROM t_order", "ds0_r0 ds1_r0"},
		{"SELECT id FROM t_order WHERE id IN (1, 2) ORDER BY id", "ds0_r0 ds1_r0"},
		{"SELECT id, RANK() OVER (ORDER BY v) FROM t_order", "ds0_r0 ds1_r0"},
		{"SELECT id FROM t_order WHERE v > (SELECT MIN(v) FROM t_order)", "ds0_r0 ds1_r0"},
		{"SELECT id FROM t_order UNION SELECT v FROM t_order", "ds0_r0 ds1_r0"},
		{"SELECT id FROM t_order WHERE EXISTS (SELECT 1 FROM t_order WHERE v = 3)", "ds0_r0 ds1_r0"},
		{"SELECT id FROM t_order WHERE id IN (SELECT v FROM t_order WHERE id = 1) AND v > 0", "ds1_r0"},
		{"SELECT * FROM t_region", "ds0_r0"},
		{"SELECT o.id FROM t_order o JOIN t_region r ON r.id = o.v WHERE o.id = 2", "ds0_r0"},
		{"SELECT * FROM t_audit", "ds0_r0"},
		{"(SELECT * FROM t_audit)", "ds0_r0"},
		{"WITH x AS (SELECT * FROM t_audit) SELECT * FROM x", "ds0_r0"},
		{"SELECT 'for update' FROM t_audit", "ds0_r0"},
		{"SELECT /* for update */ * FROM t_audit", "ds0_r0"},

		{"SELECT * FROM t_order WHERE id = 1 FOR UPDATE", "ds1_primary"},
		{"SELECT * FROM t_order WHERE id = 1 LOCK IN SHARE MODE", "ds1_primary"},
		{"SELECT * FROM t_order FOR UPDATE", "ds0_primary ds1_primary"},
		{"SELECT * FROM t_audit FOR UPDATE", "ds0_primary"},
		{"SELECT @@version", "ds0_primary"},
		{"SELECT v, @@version FROM t_order WHERE id = 1", "ds1_primary"},
		{"SELECT @a := 1 FROM t_audit", "ds0_primary"},
		{"SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()", "ds0_primary ds1_primary"},
		{"SHOW COLUMNS FROM t_order", "ds0_primary"},
		{"SHOW VARIABLES LIKE 'version'", "ds0_primary"},
		{"EXPLAIN SELECT * FROM t_order WHERE id = 1", "ds1_primary"},
		{"EXPLAIN SELECT * FROM t_audit", "ds0_primary"},

		{"/* SHARDING: PRIMARY_ONLY=true */ SELECT * FROM t_order", "ds0_primary ds1_primary"},
		{"/* SHARDING: PRIMARY_ONLY=true */ SELECT * FROM t_audit", "ds0_primary"},
		{"/* SHARDING: DATA_SOURCE=ds1 */ SELECT * FROM t_order", "ds1_r0"},
		{"/* SHARDING: DATA_SOURCE=ds1, PRIMARY_ONLY=true */ SELECT * FROM t_order", "ds1_primary"},
		{"/* SHARDING: DATA_SOURCE=ds1 */ SELECT * FROM t_order FOR UPDATE", "ds1_primary"},
		{"/* SHARDING: SKIP_SHARDING=true */ SELECT * FROM t_order", "ds0_r0"},

		{"CREATE TABLE t_new (id int)", "ds0_primary"},
	} {
		run := func(way string, db *gorm.DB) {
			rows, err := db.Raw(test.sql).Rows()
			if err == nil {
				for rows.Next() {
				}
				err = rows.Err()
				_ = rows.Close()
			}
			if err != nil && !strings.Contains(err.Error(), "already exists") && !strings.Contains(err.Error(), "Duplicate") {
				t.Errorf("%s, %s: %v", test.sql, way, err)
			}
			asked := g.asked()
			if test.asked != "ds0_primary ds1_primary" || !strings.Contains(test.sql, "information_schema") {
				if asked != strings.ReplaceAll(test.asked, "_primary", "") {
					t.Errorf("%s, %s: went to %q, want %q", test.sql, way, asked, test.asked)
				}
				return
			}
			if strings.Contains(asked, "_r") {
				t.Errorf("%s, %s: went to %q", test.sql, way, asked)
			}
		}
		run("plain", g.db)
		if !strings.HasPrefix(test.sql, "SELECT @") && !strings.HasPrefix(test.sql, "SHOW") {
			run("prepared", g.db.Session(&gorm.Session{PrepareStmt: true}))
		}
	}
	read := g.db.WithContext(hint.PrimaryOnly(t.Context())).Exec("SELECT * FROM t_order")
	if asked := g.asked(); read.Error != nil || asked != "ds0 ds1" {
		t.Errorf("PrimaryOnly in the context: went to %q, %v", asked, read.Error)
	}
}

func TestReadsAfterAWriteOnOneConnectionAreNeverStale(t *testing.T) {
	g := newGroups(t, "stale")
	g.open(t)
	g.stopReplicating(t)
	const read = "SELECT COUNT(*) FROM t_order WHERE id IN (1, 2)"
	count := func(db *gorm.DB) (n int) {
		t.Helper()
		if err := db.Raw(read).Scan(&n).Error; err != nil {
			t.Fatal(err)
		}
		return n
	}
	err := g.db.Connection(func(db *gorm.DB) error {
		if err := db.Exec("INSERT INTO t_order VALUES (1, 1), (2, 2)").Error; err != nil {
			return err
		}
		for range 4 {
			if n := count(db); n != 2 {
				t.Errorf("%d rows after the write on the same connection", n)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 4 { // the pool gives the same connection to somebody else
		if n := count(g.db); n != 0 {
			t.Errorf("%d rows on replicas that are stopped", n)
		}
	}

	// A group that was not written to still reads from its replicas.
	err = g.db.Connection(func(db *gorm.DB) error {
		if err := db.Exec("UPDATE t_order SET v = 5 WHERE id = 1").Error; err != nil {
			return err
		}
		g.asked()
		rows, err := db.Raw("SELECT * FROM t_order WHERE id = 1").Rows()
		if err != nil {
			return err
		}
		return errors.Join(rows.Err(), rows.Close())
	})
	if asked := g.asked(); err != nil || asked != "ds1" {
		t.Errorf("read of the group that was written to: went to %q, %v", asked, err)
	}
	err = g.db.Connection(func(db *gorm.DB) error {
		if err := db.Exec("UPDATE t_order SET v = 6 WHERE id = 1").Error; err != nil {
			return err
		}
		g.asked()
		rows, err := db.Raw("SELECT * FROM t_order WHERE id = 2").Rows()
		if err != nil {
			return err
		}
		return errors.Join(rows.Err(), rows.Close())
	})
	if asked := g.asked(); err != nil || !strings.HasPrefix(asked, "ds0_r") {
		t.Errorf("read of the other group: went to %q, %v", asked, err)
	}

	err = g.db.Transaction(func(tx *gorm.DB) error {
		if n := count(tx); n != 2 { // the first read of a transaction that may write
			t.Errorf("%d rows at the beginning of a transaction", n)
		}
		if err := tx.Exec("INSERT INTO t_order VALUES (3, 3)").Error; err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := count(g.db.WithContext(hint.PrimaryOnly(t.Context()))); n != 2 {
		t.Errorf("%d rows on the primary", n)
	}
}

func TestReadOnlyTransactionsReadAsConfigured(t *testing.T) {
	ctx := context.Background()
	for _, test := range []struct {
		reads         string
		first, second string // who is asked by the two reads
		fresh         bool   // the second read sees what was written between
	}{
		{"", "ds0 ds1", "ds0 ds1", false},
		{config.TransactionalPrimary, "ds0 ds1", "ds0 ds1", false},
		{config.TransactionalFixed, "ds0_r0 ds1_r0", "ds0_r0 ds1_r0", false},
		{config.TransactionalDynamic, "ds0_r0 ds1_r0", "ds0_r1 ds1_r1", true},
	} {
		t.Run(test.reads, func(t *testing.T) {
			g := newGroups(t, "readonly"+strings.ToLower(test.reads)) //nolint:contextcheck // t carries the context
			g.configure(func(_ string, group *config.Group) { group.TransactionalReads = test.reads })
			g.open(t)
			tx := g.db.Begin(&sql.TxOptions{ReadOnly: true})
			defer tx.Rollback()
			count := func() (n int) {
				t.Helper()
				if err := tx.Raw("SELECT COUNT(*) FROM t_order").Scan(&n).Error; err != nil {
					t.Fatal(err)
				}
				return n
			}
			count()
			if asked := g.asked(); asked != test.first {
				t.Errorf("first read: went to %q, want %q", asked, test.first)
			}
			g.run(t, g.primary, 0, "INSERT INTO t_order VALUES (2, 2)") //nolint:contextcheck // t carries the context
			g.catchUp(t)                                                //nolint:contextcheck // t carries the context
			if fresh := count() == 1; fresh != test.fresh {
				t.Errorf("the second read sees a later write: %v, want %v", fresh, test.fresh)
			}
			if asked := g.asked(); asked != test.second {
				t.Errorf("second read: went to %q, want %q", asked, test.second)
			}
			var ids []int64
			if err := tx.Raw("SELECT id FROM t_order WHERE v >= (SELECT AVG(v) FROM t_order)").Scan(&ids).Error; err != nil {
				t.Error(err)
			}
			if fresh := len(ids) == 1; fresh != test.fresh {
				t.Errorf("a subquery that runs first sees a later write: %v, want %v", fresh, test.fresh)
			}
			if asked := g.asked(); asked != test.first {
				t.Errorf("a subquery that runs first: went to %q, want %q", asked, test.first)
			}
			// What a read leaves in the session is left with whoever answered it.
			var found int
			if err := tx.Raw("SELECT SQL_CALC_FOUND_ROWS id FROM t_order WHERE id = 2").Scan(&ids).Error; err != nil {
				t.Error(err)
			}
			err := tx.Raw("SELECT FOUND_ROWS()").Scan(&found).Error
			if replicas := strings.Contains(test.first, "_r"); errors.Is(err, sharding.ErrUnsupported) != replicas || err == nil && found != len(ids) {
				t.Errorf("FOUND_ROWS() is %d after %d rows, error %v", found, len(ids), err)
			}
			g.asked()
			for _, refused := range []string{"SELECT * FROM t_order WHERE id = 1 FOR UPDATE", "INSERT INTO t_order VALUES (9, 9)"} {
				if err := tx.Exec(refused).Error; err == nil { // by the server
					t.Errorf("%s in a read-only transaction is accepted", refused)
				}
				if asked := g.asked(); asked != "ds1" {
					t.Errorf("%s: went to %q", refused, asked)
				}
			}
			if err := tx.Rollback().Error; err != nil {
				t.Error(err)
			}

			g.asked()
			writing := g.db.WithContext(ctx).Begin()
			defer writing.Rollback()
			if err := writing.Exec("SELECT * FROM t_order").Error; err != nil {
				t.Error(err)
			}
			if asked := g.asked(); asked != "ds0 ds1" {
				t.Errorf("first read of a transaction that may write: went to %q", asked)
			}
			if err := writing.Rollback().Error; err != nil {
				t.Error(err)
			}

			// A connection that has written reads that from the primary, in such a
			// transaction as outside of it.
			err = g.db.Connection(func(db *gorm.DB) error {
				if err := db.Exec("UPDATE t_order SET v = 3 WHERE id = 2").Error; err != nil {
					return err
				}
				g.asked()
				return db.Transaction(func(tx *gorm.DB) error {
					return tx.Exec("SELECT * FROM t_order WHERE id = 2").Error
				}, &sql.TxOptions{ReadOnly: true})
			})
			if asked := g.asked(); err != nil || asked != "ds0" {
				t.Errorf("read-only after a write on the same connection: went to %q, error %v", asked, err)
			}
		})
	}
}

// However a transaction that may write begins, and wherever those that only read go,
// its first read is the primary's, as the log shows.
func TestTheFirstReadOfAWritingTransactionGoesToThePrimary(t *testing.T) {
	for _, reads := range []string{config.TransactionalPrimary, config.TransactionalFixed, config.TransactionalDynamic} {
		t.Run(reads, func(t *testing.T) {
			g := newGroups(t, "first"+strings.ToLower(reads))
			g.cfg.Props.SQLShow = true
			l := new(told)
			g.logger = logger.New(l, logger.Config{LogLevel: logger.Info})
			g.configure(func(_ string, group *config.Group) { group.TransactionalReads = reads })
			g.open(t)
			const text = "SELECT v FROM t_order WHERE id = "
			read := func(db *gorm.DB, id int) error { return db.Raw(fmt.Sprint(text, id)).Scan(new([]int)).Error }
			write := func(db *gorm.DB, id int) error { return db.Exec("INSERT INTO t_order VALUES (?, 1)", id).Error }
			id := 0
			for name, way := range map[string]func(id int) error{
				"Begin": func(id int) error {
					return g.db.Transaction(func(tx *gorm.DB) error { return errors.Join(read(tx, id), write(tx, id)) })
				},
				"BEGIN": func(id int) error {
					return g.db.Connection(func(db *gorm.DB) error {
						return errors.Join(db.Exec("BEGIN").Error, read(db, id), write(db, id), db.Exec("COMMIT").Error)
					})
				},
				"START TRANSACTION": func(id int) error {
					return g.db.Connection(func(db *gorm.DB) error {
						return errors.Join(db.Exec("START TRANSACTION").Error, read(db, id), write(db, id), db.Exec("COMMIT").Error)
					})
				},
			} {
				g.asked()
				id += 2
				if err := way(id); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if asked := g.asked(); asked != "ds0" {
					t.Errorf("%s: went to %q", name, asked)
				}
				if shown := l.about(fmt.Sprint(text, id)); !strings.Contains(shown, "ds0") || strings.Contains(shown, "ds0_r") {
					t.Errorf("%s: the log shows %q", name, shown)
				}
			}
			if err := read(g.db, 8); err != nil {
				t.Error(err)
			}
			if shown := l.about(text + "8"); !strings.Contains(shown, "ds0_r") {
				t.Errorf("outside of a transaction the log shows %q", shown)
			}
		})
	}
}
