//go:build unix

package app_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// known are the errors that an application may compare with.
var known = map[string]error{
	"ErrRecordNotFound": gorm.ErrRecordNotFound, "ErrInvalidTransaction": gorm.ErrInvalidTransaction,
	"ErrNotImplemented": gorm.ErrNotImplemented, "ErrMissingWhereClause": gorm.ErrMissingWhereClause,
	"ErrUnsupportedRelation": gorm.ErrUnsupportedRelation, "ErrPrimaryKeyRequired": gorm.ErrPrimaryKeyRequired,
	"ErrModelValueRequired": gorm.ErrModelValueRequired, "ErrModelAccessibleFieldsRequired": gorm.ErrModelAccessibleFieldsRequired,
	"ErrSubQueryRequired": gorm.ErrSubQueryRequired, "ErrInvalidData": gorm.ErrInvalidData,
	"ErrUnsupportedDriver": gorm.ErrUnsupportedDriver, "ErrRegistered": gorm.ErrRegistered,
	"ErrInvalidField": gorm.ErrInvalidField, "ErrEmptySlice": gorm.ErrEmptySlice,
	"ErrDryRunModeUnsupported": gorm.ErrDryRunModeUnsupported, "ErrInvalidDB": gorm.ErrInvalidDB,
	"ErrInvalidValue": gorm.ErrInvalidValue, "ErrInvalidValueOfLength": gorm.ErrInvalidValueOfLength,
	"ErrPreloadNotAllowed": gorm.ErrPreloadNotAllowed, "ErrDuplicatedKey": gorm.ErrDuplicatedKey,
	"ErrForeignKeyViolated": gorm.ErrForeignKeyViolated, "ErrCheckConstraintViolated": gorm.ErrCheckConstraintViolated,
	"context.Canceled": context.Canceled, "context.DeadlineExceeded": context.DeadlineExceeded,
	"sql.ErrNoRows": sql.ErrNoRows, "sql.ErrTxDone": sql.ErrTxDone, "sql.ErrConnDone": sql.ErrConnDone,
	"driver.ErrBadConn": driver.ErrBadConn, "mysql.ErrInvalidConn": mysql.ErrInvalidConn, "errOwn": errOwn,
}

var translations = []string{"ErrDuplicatedKey", "ErrForeignKeyViolated", "ErrCheckConstraintViolated"}

var errOwn = errors.New("the application's own")

// describe says what an application can find out about an error.
func describe(err error, asserted bool) string {
	if err == nil {
		return "no error"
	}
	out, translated := "", false
	ended := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if ended && known[name] == mysql.ErrInvalidConn { // cancelled by closing the connection, which may show
			continue
		}
		if errors.Is(err, known[name]) {
			out += name + " "
			translated = translated || slices.Contains(translations, name)
		}
	}
	// GORM's translation drops the server's error, which ours keeps.
	var server *mysql.MySQLError
	if errors.As(err, &server) && !translated {
		out += fmt.Sprintf("MySQL %d ", server.Number)
	}
	if asserted {
		_, ok := err.(*mysql.MySQLError) // what many applications do
		out += fmt.Sprintf("asserted %t", ok)
	}
	if out == "" {
		out = err.Error()
	}
	return out
}

// provocation makes one mistake. The rows are ada and bob of owner 1, with one
// item each, cleo of owner 2, dan of owner 3, and the region north.
type provocation struct {
	name string
	// one: the statement goes to one node, where errors are the driver's own.
	one     bool
	provoke func(db *gorm.DB) error
	// ended: the transaction ends with its context. GORM adds what its Rollback
	// says of that: sql.ErrTxDone, or nothing when it comes first; on a plain
	// database it may say that the connection is gone, too.
	ended error
}

var provocations = []provocation{
	{"First without a row", true, func(db *gorm.DB) error { return db.Where("owner_id = 1 AND email = 'x'").First(&user{}).Error }, nil},
	{"Take without a row, all nodes", false, func(db *gorm.DB) error { return db.Take(&user{}, "email = 'x'").Error }, nil},
	{"Last without a row, all nodes", false, func(db *gorm.DB) error { return db.Last(&user{}, 4711).Error }, nil},
	{"Find without a row", false, func(db *gorm.DB) error { return db.Find(&[]user{}, 4711).Error }, nil},
	{"Row without a row", true, func(db *gorm.DB) error {
		var id int64
		return db.Raw("SELECT id FROM t_user WHERE owner_id = ? AND id = 4711", 1).Row().Scan(&id)
	}, nil},
	{"Row without a row, all nodes", false, func(db *gorm.DB) error {
		var id int64
		return db.Raw("SELECT id FROM t_user WHERE id = 4711").Row().Scan(&id)
	}, nil},
	{"Raw Scan without a row", true, func(db *gorm.DB) error {
		var id int64
		return db.Raw("SELECT id FROM t_user WHERE owner_id = ? AND id = 4711", 1).Scan(&id).Error
	}, nil},
	{"duplicate key of a model", true, func(db *gorm.DB) error {
		return db.Create(&user{ID: 900, OwnerID: 1, Email: "ada"}).Error
	}, nil},
	{"duplicate key of a map", true, func(db *gorm.DB) error {
		return db.Model(&user{}).Create(map[string]any{"id": 900, "owner_id": 1, "email": "ada"}).Error
	}, nil},
	{"duplicate primary key", true, func(db *gorm.DB) error {
		return db.Create(&user{ID: 1, OwnerID: 1, Email: "eve"}).Error
	}, nil},
	{"duplicate key in a batch over nodes", false, func(db *gorm.DB) error {
		return db.Create(&[]user{{ID: 900, OwnerID: 1, Email: "ada"}, {ID: 901, OwnerID: 2, Email: "eve"}, {ID: 902, OwnerID: 3, Email: "eve"}}).Error
	}, nil},
	{"duplicate keys in two nodes", false, func(db *gorm.DB) error {
		return db.Create(&[]user{{ID: 900, OwnerID: 1, Email: "ada"}, {ID: 901, OwnerID: 2, Email: "cleo"}}).Error
	}, nil},
	{"duplicate key in CreateInBatches", false, func(db *gorm.DB) error {
		return db.CreateInBatches(&[]user{{ID: 900, OwnerID: 2, Email: "eve"}, {ID: 901, OwnerID: 3, Email: "dan"}, {ID: 902, OwnerID: 1, Email: "eve"}}, 2).Error
	}, nil},
	{"duplicate key in a transaction", true, func(db *gorm.DB) error {
		return db.Transaction(func(tx *gorm.DB) error { return tx.Create(&user{ID: 900, OwnerID: 1, Email: "ada"}).Error })
	}, nil},
	{"duplicate key in a transaction over nodes", false, func(db *gorm.DB) error {
		return db.Transaction(func(tx *gorm.DB) error {
			if err := tx.Create(&user{ID: 900, OwnerID: 2, Email: "eve"}).Error; err != nil {
				return err
			}
			return tx.Create(&[]user{{ID: 901, OwnerID: 1, Email: "ada"}, {ID: 902, OwnerID: 2, Email: "fay"}}).Error
		})
	}, nil},
	{"duplicate key in a nested transaction", true, func(db *gorm.DB) error {
		return db.Transaction(func(tx *gorm.DB) error {
			inner := tx.Transaction(func(tx *gorm.DB) error { return tx.Create(&user{ID: 900, OwnerID: 1, Email: "ada"}).Error })
			if err := tx.Create(&user{ID: 901, OwnerID: 1, Email: "eve"}).Error; err != nil {
				return fmt.Errorf("the outer transaction: %w", err)
			}
			return inner
		})
	}, nil},
	{"an error of the application's in a transaction", false, func(db *gorm.DB) error {
		return db.Transaction(func(tx *gorm.DB) error {
			if err := tx.Create(&user{ID: 900, OwnerID: 2, Email: "eve"}).Error; err != nil {
				return err
			}
			return errOwn
		})
	}, nil},
	{"duplicate key by UPDATE", true, func(db *gorm.DB) error {
		return db.Model(&user{}).Where("owner_id = 1 AND id = 2").Update("email", "ada").Error
	}, nil},
	{"duplicate key by UPDATE of all nodes", false, func(db *gorm.DB) error {
		return db.Model(&user{}).Where("id > 0").Update("email", "same").Error
	}, nil},
	{"duplicate key by Exec", true, func(db *gorm.DB) error {
		return db.Exec("INSERT INTO t_user (id, owner_id, email) VALUES (?, ?, ?)", 900, 1, "ada").Error
	}, nil},
	{"duplicate key by Exec over nodes", false, func(db *gorm.DB) error {
		return db.Exec("INSERT INTO t_user (id, owner_id, email) VALUES (900, 1, 'ada'), (901, 2, 'eve')").Error
	}, nil},
	{"duplicate key by Raw RETURNING", true, func(db *gorm.DB) error {
		var id int64
		return db.Raw("INSERT INTO t_user (id, owner_id, email) VALUES (900, 1, 'ada') RETURNING id").Scan(&id).Error
	}, nil},
	{"upsert of the duplicate", true, func(db *gorm.DB) error {
		return db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&user{ID: 1, OwnerID: 1, Email: "ada", Balance: 5}).Error
	}, nil},
	{"upsert that fails the check", true, func(db *gorm.DB) error {
		return db.Clauses(clause.OnConflict{DoUpdates: clause.Assignments(map[string]any{"balance": -1})}).Create(&user{ID: 1, OwnerID: 1, Email: "ada"}).Error
	}, nil},
	{"upsert that fails the check in one of two nodes", false, func(db *gorm.DB) error {
		return db.Clauses(clause.OnConflict{DoUpdates: clause.AssignmentColumns([]string{"balance"})}).
			Create(&[]user{{ID: 1, OwnerID: 1, Email: "ada"}, {ID: 4, OwnerID: 2, Email: "cleo", Balance: -1}}).Error
	}, nil},
	{"duplicate key of a broadcast table", false, func(db *gorm.DB) error { return db.Create(&region{ID: 9, Name: "north"}).Error }, nil},
	{"duplicate key of a single table", true, func(db *gorm.DB) error { return db.Create(&audit{ID: 1, Text: "again"}).Error }, nil},
	{"foreign key of a child", true, func(db *gorm.DB) error {
		return db.Create(&item{ID: 900, OwnerID: 1, UserID: 4711, Title: "t"}).Error
	}, nil},
	{"foreign key of children over nodes", false, func(db *gorm.DB) error {
		return db.Create(&[]item{{ID: 900, OwnerID: 1, UserID: 1, Title: "t"}, {ID: 901, OwnerID: 2, UserID: 4711, Title: "t"}}).Error
	}, nil},
	{"foreign key of a parent", true, func(db *gorm.DB) error { return db.Where("owner_id = 1").Delete(&user{ID: 1}).Error }, nil},
	{"foreign key of parents of all nodes", false, func(db *gorm.DB) error { return db.Where("id > 0").Delete(&user{}).Error }, nil},
	{"check", true, func(db *gorm.DB) error {
		return db.Create(&user{ID: 900, OwnerID: 1, Email: "eve", Balance: -1}).Error
	}, nil},
	{"check over nodes", false, func(db *gorm.DB) error {
		return db.Model(&user{}).Where("email IN ?", []string{"ada", "cleo"}).Update("balance", gorm.Expr("balance - 1")).Error
	}, nil},
	{"unknown column", true, func(db *gorm.DB) error { return db.Find(&[]user{}, "owner_id = 1 AND nope = 1").Error }, nil},
	{"unknown column by Exec", true, func(db *gorm.DB) error { return db.Exec("UPDATE t_user SET nope = 1 WHERE owner_id = 1").Error }, nil},
	{"unknown table", true, func(db *gorm.DB) error { return db.Table("t_nowhere").Find(&[]user{}).Error }, nil},
	{"bad syntax", true, func(db *gorm.DB) error { return db.Exec("UPDATE t_audit SET").Error }, nil},
	{"value too long", true, func(db *gorm.DB) error {
		return db.Create(&user{ID: 900, OwnerID: 1, Email: fmt.Sprintf("%0200d", 1)}).Error
	}, nil},
	{"wrong number of arguments", true, func(db *gorm.DB) error {
		err := db.Exec("UPDATE t_audit SET text = ? WHERE id = ?", "a").Error
		if err == nil {
			return nil
		}
		return errOwn // what the drivers say of it differs
	}, nil},
	{"no condition", false, func(db *gorm.DB) error { return db.Delete(&user{}).Error }, nil},
	{"no condition of an update", false, func(db *gorm.DB) error { return db.Model(&user{}).Update("balance", 1).Error }, nil},
	{"no model", false, func(db *gorm.DB) error { return db.Updates(map[string]any{"balance": 1}).Error }, nil},
	{"empty slice", false, func(db *gorm.DB) error { return db.Create(&[]user{}).Error }, nil},
	{"invalid value", false, func(db *gorm.DB) error { return db.Create((*user)(nil)).Error }, nil},
	{"unknown relation", false, func(db *gorm.DB) error { return db.Preload("Nope").Find(&[]user{}).Error }, nil},
	{"unknown association", false, func(db *gorm.DB) error { return db.Model(&user{ID: 1}).Association("Nope").Error }, nil},
	{"FindInBatches without a key", false, func(db *gorm.DB) error {
		return db.Table("t_user").FindInBatches(&[]map[string]any{}, 1, func(*gorm.DB, int) error { return nil }).Error
	}, nil},
	{"FindInBatches ended by the application", false, func(db *gorm.DB) error {
		return db.FindInBatches(&[]user{}, 1, func(*gorm.DB, int) error { return errOwn }).Error
	}, nil},
	{"Rollback outside a transaction", false, func(db *gorm.DB) error { return db.Session(&gorm.Session{}).Rollback().Error }, nil},
	{"Commit outside a transaction", false, func(db *gorm.DB) error { return db.Session(&gorm.Session{}).Commit().Error }, nil},
	{"Commit twice", false, func(db *gorm.DB) error {
		tx := db.Begin()
		if err := tx.Create(&audit{ID: 77, Text: "a"}).Error; err != nil {
			return err
		}
		if err := tx.Commit().Error; err != nil {
			return err
		}
		return tx.Commit().Error
	}, nil},
	{"statement after Commit", false, func(db *gorm.DB) error {
		tx := db.Begin()
		tx.Commit()
		return tx.First(&user{}, "owner_id = 1").Error
	}, nil},
	{"RollbackTo an unknown savepoint", true, func(db *gorm.DB) error {
		return db.Transaction(func(tx *gorm.DB) error {
			if err := tx.Create(&user{ID: 900, OwnerID: 1, Email: "eve"}).Error; err != nil {
				return err
			}
			return tx.RollbackTo("nowhere").Error
		})
	}, nil},
	{"context cancelled before", true, func(db *gorm.DB) error {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return db.WithContext(ctx).First(&user{}, "owner_id = 1").Error
	}, nil},
	{"context cancelled before, all nodes", false, func(db *gorm.DB) error {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return db.WithContext(ctx).Create(&[]user{{ID: 900, OwnerID: 1, Email: "eve"}, {ID: 901, OwnerID: 2, Email: "eve"}}).Error
	}, nil},
	{"deadline while it runs", true, func(db *gorm.DB) error {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		return db.WithContext(ctx).Find(&[]user{}, "owner_id = 3 AND SLEEP(1) = 0").Error
	}, nil},
	{"deadline while it runs, all nodes", false, func(db *gorm.DB) error {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		return db.WithContext(ctx).Find(&[]user{}, "email = 'dan' AND SLEEP(1) = 0").Error
	}, nil},
	{"deadline while it writes, all nodes", false, func(db *gorm.DB) error {
		other := db.Begin() // holds a lock
		defer other.Rollback()
		if err := other.Exec("UPDATE t_user SET balance = 1 WHERE owner_id = 2").Error; err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		return db.WithContext(ctx).Model(&user{}).Where("id > 0").Update("balance", 0).Error
	}, context.DeadlineExceeded},
	{"cancelled in a transaction", true, func(db *gorm.DB) error {
		ctx, cancel := context.WithCancel(context.Background())
		return db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
			if err := tx.Create(&user{ID: 900, OwnerID: 1, Email: "eve"}).Error; err != nil {
				return err
			}
			cancel()
			return tx.Create(&user{ID: 901, OwnerID: 1, Email: "fay"}).Error
		})
	}, context.Canceled},
	{"ScanRows of a closed Rows", true, func(db *gorm.DB) error {
		rows, err := db.Model(&user{}).Where("owner_id = 1").Rows()
		if err != nil {
			return err
		}
		_ = rows.Close()
		if rows.Next() {
			return errOwn
		}
		return rows.Err()
	}, nil},
	{"FirstOrCreate of a duplicate", true, func(db *gorm.DB) error {
		return db.Where("owner_id = 1 AND email = 'nobody'").Attrs(user{ID: 900, OwnerID: 1, Email: "ada"}).FirstOrCreate(&user{}).Error
	}, nil},
}

// fill makes the rows that provocations are about.
func fill(t *testing.T, db *gorm.DB) {
	t.Helper()
	empty(t, db)
	rows := []any{
		&[]user{{ID: 1, OwnerID: 1, Email: "ada"}, {ID: 2, OwnerID: 1, Email: "bob"}, {ID: 4, OwnerID: 2, Email: "cleo"}, {ID: 5, OwnerID: 3, Email: "dan"}},
		&[]item{{ID: 1, OwnerID: 1, UserID: 1, Title: "a"}, {ID: 2, OwnerID: 1, UserID: 2, Title: "b"}, {ID: 3, OwnerID: 2, UserID: 4, Title: "c"}},
		&region{ID: 1, Name: "north"}, &audit{ID: 1, Text: "first"},
	}
	for _, r := range rows {
		if err := db.Create(r).Error; err != nil {
			t.Fatal(err)
		}
	}
}

// contents is all rows, to see that what failed left nothing.
func contents(t *testing.T, db *gorm.DB) string {
	t.Helper()
	var users []user
	var items []item
	var regions []region
	var audits []audit
	for _, dest := range []any{&users, &items, &regions, &audits} {
		if err := db.Order("id").Find(dest).Error; err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprint(users, items, regions, audits)
}

func TestErrorsAreThoseOfPlainGORM(t *testing.T) {
	c := newCluster(t, "errors")
	for _, mode := range []struct {
		name string
		cfg  gorm.Config
		show bool
	}{
		{"as it is", gorm.Config{}, false},
		{"translated", gorm.Config{TranslateError: true}, false},
		{"prepared", gorm.Config{PrepareStmt: true, TranslateError: true}, false},
		{"no default transaction", gorm.Config{SkipDefaultTransaction: true}, false},
		{"the driver's way", gorm.Config{TranslateError: true}, true},
	} {
		t.Run(mode.name, func(t *testing.T) {
			one, two := mode.cfg, mode.cfg
			cfg := c.config()
			cfg.Props.SQLShow = mode.show
			plain, sharded := c.plain(t, &one), c.open(t, cfg, &two)
			fill(t, plain)
			fill(t, sharded)
			for _, p := range provocations {
				t.Run(p.name, func(t *testing.T) {
					want, err := describe(p.provoke(plain), p.one), p.provoke(sharded)
					got := describe(err, p.one)
					if p.ended != nil && (errors.Is(err, p.ended) || errors.Is(err, sql.ErrTxDone) && strings.Contains(err.Error(), p.ended.Error())) {
						got = want
					}
					if got != want {
						t.Errorf("%s, want %s: %v", got, want, err)
					}
					after, wantAfter := contents(t, sharded), contents(t, plain)
					if after != wantAfter {
						t.Errorf("rows\n%s, want\n%s", after, wantAfter)
					}
					if want == "no error" || after != wantAfter {
						fill(t, plain)
						fill(t, sharded)
					}
				})
			}
		})
	}
}

// A connection that is lost is no reason for anybody to send a commit again, so
// that driver.ErrBadConn is not among what an error of a transaction matches.
func TestCommitOnALostConnectionFails(t *testing.T) {
	c := newCluster(t, "lost")
	plain, sharded := c.plain(t, nil), c.open(t, c.config(), nil)
	for _, db := range []*gorm.DB{plain, sharded} {
		fill(t, db)
		tx := db.Begin()
		var connection int64
		if err := tx.Raw("SELECT CONNECTION_ID() FROM t_user WHERE owner_id = ? FOR UPDATE", 2).Scan(&connection).Error; err != nil {
			t.Fatal(err)
		}
		if err := tx.Create(&user{ID: 900, OwnerID: 2, Email: "eve"}).Error; err != nil {
			t.Fatal(err)
		}
		if err := c.run(t, fmt.Sprintf("KILL %d", connection)); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit().Error; err == nil {
			t.Error("the commit succeeded on a connection that is gone")
		} else if db == sharded && errors.Is(err, driver.ErrBadConn) {
			t.Errorf("the error %v asks for the commit to be repeated", err)
		}
		if err := db.First(&user{}, "owner_id = 2 AND id = 900").Error; !errors.Is(err, gorm.ErrRecordNotFound) {
			t.Errorf("the row: %v; want none", err)
		}
	}
}
