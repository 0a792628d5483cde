//go:build unix

package app_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gormshard/sharding"
)

const (
	workers = 64
	// counters are users of owners that belong to nobody, whose balances count.
	counters     = 4
	firstCounter = 1000
)

// worker owns the rows of one owner, and knows what they have to be. A statement
// that has failed may have taken effect when its commit was cancelled, so that the
// worker then looks.
type worker struct {
	t     *testing.T
	db    *gorm.DB
	owner int64
	rng   *rand.Rand
	users map[int64]user
	next  int64
	added *[counters]atomic.Int64 // to the shared counters, by transactions that committed
}

// excused are the errors that cancellations and locks cause. A dial passes its
// context's deadline to the socket, which may see it a moment before the context does.
func excused(err error) bool {
	var server *mysql.MySQLError
	if errors.As(err, &server) && (server.Number == 1213 || server.Number == 1205 || server.Number == 1317) {
		return true
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, sharding.ErrRetryable)
}

// ended reports whether a context explains what went wrong: GORM adds what its
// Rollback says, and errors.Is then finds that alone.
func ended(ctx context.Context, err error) bool {
	var answer *wrongError
	return !errors.As(err, &answer) && (ctx.Err() != nil || excused(err))
}

func (w *worker) user() user {
	w.next++
	return user{ID: w.owner*1_000_000 + w.next, OwnerID: w.owner, Email: fmt.Sprintf("%d@%d", w.next, w.owner)}
}

// any returns one of the worker's users, made if there is none.
func (w *worker) any() (user, bool) {
	for _, u := range w.users {
		return u, true
	}
	return user{}, false
}

// look reads what the owner has, without a context that ends.
func (w *worker) look() map[int64]user {
	for {
		var all []user
		err := w.db.Find(&all, "owner_id = ?", w.owner).Error
		if err == nil {
			out := map[int64]user{}
			for _, u := range all {
				out[u.ID] = u
			}
			return out
		}
		if !excused(err) {
			w.t.Errorf("owner %d: reading: %v", w.owner, err)
			return w.users
		}
	}
}

// settle decides whether a write that has failed has taken effect as a whole.
func (w *worker) settle(what string, after map[int64]user) {
	got := w.look()
	if !same(got, w.users) && !same(got, after) {
		w.t.Errorf("owner %d: %s failed and left %v, neither %v nor %v", w.owner, what, got, w.users, after)
	}
	w.users = got
}

func same(a, b map[int64]user) bool {
	if len(a) != len(b) {
		return false
	}
	for id, u := range a {
		if other, ok := b[id]; !ok || u.OwnerID != other.OwnerID || u.Email != other.Email || u.Balance != other.Balance {
			return false
		}
	}
	return true
}

// write runs a write of the worker's rows that makes them after.
func (w *worker) write(ctx context.Context, what string, after map[int64]user, run func(db *gorm.DB) error) {
	db := w.session()
	if ctx.Done() != nil {
		// A server goes on with what was cancelled, and may be done after a look.
		db.SkipDefaultTransaction = false
	}
	err := run(db.WithContext(ctx))
	switch {
	case err == nil:
		w.users = after
	case ended(ctx, err):
		w.settle(what, after)
	default:
		w.t.Errorf("owner %d: %s: %v", w.owner, what, err)
		w.settle(what, after)
	}
}

// read runs a read and compares when it has succeeded.
func (w *worker) read(ctx context.Context, what string, run func(db *gorm.DB) error) {
	if err := run(w.session().WithContext(ctx)); err != nil && !ended(ctx, err) {
		w.t.Errorf("owner %d: %s: %v", w.owner, what, err)
	}
}

func (w *worker) session() *gorm.DB {
	return w.db.Session(&gorm.Session{PrepareStmt: w.rng.IntN(3) == 0, SkipDefaultTransaction: w.rng.IntN(3) == 0})
}

func (w *worker) copied() map[int64]user {
	out := make(map[int64]user, len(w.users))
	for id, u := range w.users {
		out[id] = u
	}
	return out
}

// wrongError is an answer that is not right, which no cancellation excuses.
type wrongError struct {
	what      string
	got, want any
}

func (e *wrongError) Error() string { return fmt.Sprintf("%s: got %v, want %v", e.what, e.got, e.want) }

func wrong(what string, got, want any) error { return &wrongError{what, got, want} }

// step does one thing.
func (w *worker) step(parent context.Context) {
	ctx, cancel := context.WithoutCancel(parent), context.CancelFunc(func() {})
	if w.rng.IntN(4) == 0 { // cancelled while it runs, perhaps
		ctx, cancel = context.WithTimeout(ctx, time.Duration(w.rng.IntN(5000))*time.Microsecond)
	}
	defer cancel()
	after := w.copied()
	some, found := w.any()
	own := fmt.Sprintf("owner_id = %d", w.owner)
	switch n := w.rng.IntN(22); {
	case n == 0 || !found:
		batch := []user{w.user(), w.user(), w.user()}
		for _, u := range batch {
			after[u.ID] = u
		}
		w.write(ctx, "Create", after, func(db *gorm.DB) error { return db.Create(&batch).Error })
	case n == 1:
		w.read(ctx, "First", func(db *gorm.DB) error {
			var got user
			if err := db.Where(own).First(&got, some.ID).Error; err != nil {
				return err
			}
			if got.Email != some.Email || got.Balance != some.Balance {
				return wrong("First", got, some)
			}
			return nil
		})
	case n == 2:
		w.read(ctx, "First by key alone", func(db *gorm.DB) error {
			var got user
			if err := db.First(&got, some.ID).Error; err != nil {
				return err
			}
			if got.Email != some.Email || got.Balance != some.Balance {
				return wrong("First", got, some)
			}
			return nil
		})
	case n == 3:
		w.read(ctx, "Rows half read", func(db *gorm.DB) error {
			rows, err := db.Model(&user{}).Where("id > 0").Order("id").Rows()
			if err != nil {
				return err
			}
			defer rows.Close()
			last := int64(0)
			for k := w.rng.IntN(20); k > 0 && rows.Next(); k-- {
				var u user
				if err := db.ScanRows(rows, &u); err != nil {
					return err
				}
				if u.ID <= last {
					return wrong("order", u.ID, last)
				}
				last = u.ID
			}
			return rows.Err()
		})
	case n == 4:
		w.read(ctx, "Count", func(db *gorm.DB) error {
			var got int64
			if err := db.Model(&user{}).Where(own).Count(&got).Error; err != nil {
				return err
			}
			if got != int64(len(w.users)) {
				return wrong("Count", got, len(w.users))
			}
			return nil
		})
	case n == 5:
		some.Balance = w.rng.IntN(100)
		after[some.ID] = some
		w.write(ctx, "Updates", after, func(db *gorm.DB) error {
			return db.Model(&user{}).Where(own).Where("id = ?", some.ID).Updates(map[string]any{"balance": some.Balance}).Error
		})
	case n == 6:
		for id, u := range after {
			u.Balance++
			after[id] = u
		}
		w.write(ctx, "Update of all", after, func(db *gorm.DB) error {
			return db.Model(&user{}).Where(own).Update("balance", gorm.Expr("balance + 1")).Error
		})
	case n == 7:
		some.Email += "+"
		if len(some.Email) > 90 {
			some.Email = fmt.Sprintf("%d@%d", some.ID, w.owner)
		}
		after[some.ID] = some
		w.write(ctx, "Save", after, func(db *gorm.DB) error { return db.Where(own).Save(&some).Error })
	case n == 8:
		delete(after, some.ID)
		w.write(ctx, "Delete", after, func(db *gorm.DB) error { return db.Where(own).Delete(&user{}, some.ID).Error })
	case n == 9:
		w.write(ctx, "Transaction with rollback", after, func(db *gorm.DB) error {
			err := db.Transaction(func(tx *gorm.DB) error {
				if err := tx.Where(own).Delete(&user{}).Error; err != nil {
					return err
				}
				return errOwn
			})
			if errors.Is(err, errOwn) {
				return nil
			}
			return err
		})
	case n == 10:
		made, undone := w.user(), w.user()
		after[made.ID] = made
		w.write(ctx, "nested Transaction", after, func(db *gorm.DB) error {
			return db.Transaction(func(tx *gorm.DB) error {
				if err := tx.Create(&made).Error; err != nil {
					return err
				}
				err := tx.Transaction(func(tx *gorm.DB) error {
					if err := tx.Create(&undone).Error; err != nil {
						return err
					}
					return errOwn
				})
				if errors.Is(err, errOwn) {
					return nil
				}
				return err
			})
		})
	case n == 11:
		w.read(ctx, "FindInBatches", func(db *gorm.DB) error {
			seen := 0
			var batch []user
			err := db.Where(own).FindInBatches(&batch, 3, func(_ *gorm.DB, _ int) error {
				seen += len(batch)
				return nil
			}).Error
			if err == nil && seen != len(w.users) {
				return wrong("FindInBatches", seen, len(w.users))
			}
			return err
		})
	case n == 12:
		w.read(ctx, "Preload", func(db *gorm.DB) error {
			var got []user
			if err := db.Preload("Items", own).Where(own).Find(&got).Error; err != nil {
				return err
			}
			if len(got) != len(w.users) {
				return wrong("Preload", len(got), len(w.users))
			}
			return nil
		})
	case n == 13:
		w.read(ctx, "Raw", func(db *gorm.DB) error {
			var sum int64
			if err := db.Raw("SELECT COALESCE(SUM(balance), 0) FROM t_user WHERE owner_id = ?", w.owner).Scan(&sum).Error; err != nil {
				return err
			}
			want := 0
			for _, u := range w.users {
				want += u.Balance
			}
			if sum != int64(want) {
				return wrong("Raw", sum, want)
			}
			return nil
		})
	case n == 14:
		some.Balance = 5
		after[some.ID] = some
		w.write(w.t.Context(), "Exec", after, func(db *gorm.DB) error { //nolint:contextcheck // what was cancelled may still be done
			return db.Exec("UPDATE t_user SET balance = @b WHERE owner_id = @o AND id = @id", map[string]any{"b": 5, "o": w.owner, "id": some.ID}).Error
		})
	case n == 15:
		some.Balance = 6
		made := w.user()
		after[some.ID], after[made.ID] = some, made
		w.write(ctx, "upsert", after, func(db *gorm.DB) error {
			return db.Clauses(clause.OnConflict{DoUpdates: clause.AssignmentColumns([]string{"balance"})}).Create(&[]user{some, made}).Error
		})
	case n == 16:
		w.read(ctx, "Row of all nodes", func(db *gorm.DB) error {
			var n int64
			return db.Raw("SELECT COUNT(*) FROM t_user").Row().Scan(&n)
		})
	case n == 17:
		w.read(ctx, "Find, Pluck, Scan, Last", func(db *gorm.DB) error {
			var found []user
			var ids []int64
			var most struct{ ID, N int64 }
			var last user
			if err := errors.Join(db.Find(&found, own).Error, db.Model(&user{}).Where(own).Order("id").Pluck("id", &ids).Error,
				db.Model(&user{}).Select("MAX(id) AS id, COUNT(*) AS n").Where(own).Scan(&most).Error, db.Where(own).Last(&last).Error); err != nil {
				return err
			}
			if len(found) != len(w.users) || len(ids) != len(w.users) || most.N != int64(len(w.users)) || last.ID != most.ID || ids[len(ids)-1] != last.ID {
				return wrong("Find, Pluck, Scan, Last", []any{len(found), ids, most, last.ID}, len(w.users))
			}
			return nil
		})
	case n == 18:
		made := w.user()
		after[made.ID] = made
		w.write(ctx, "FirstOrCreate", after, func(db *gorm.DB) error {
			var got, there user
			if err := db.Where(own).FirstOrCreate(&there, some.ID).Error; err != nil {
				return err
			}
			return db.Where(&user{OwnerID: w.owner, Email: made.Email}).Attrs(&user{ID: made.ID}).FirstOrCreate(&got).Error
		})
	case n == 19:
		batch := []user{w.user(), w.user(), w.user()}
		for _, u := range batch {
			after[u.ID] = u
		}
		w.write(ctx, "CreateInBatches", after, func(db *gorm.DB) error {
			return db.Transaction(func(tx *gorm.DB) error { return tx.CreateInBatches(&batch, 2).Error })
		})
	case n == 20:
		some.Balance = 8
		after[some.ID] = some
		w.write(ctx, "UpdateColumns of a model", after, func(db *gorm.DB) error {
			return db.Model(&user{ID: some.ID, OwnerID: w.owner}).UpdateColumns(map[string]any{"balance": 8}).Error
		})
	default:
		w.count(ctx)
	}
}

// count adds one to two shared counters, which may be on different nodes, or to
// none.
func (w *worker) count(ctx context.Context) {
	a := w.rng.IntN(counters)
	b := (a + 1 + w.rng.IntN(counters-1)) % counters
	if a%2 > b%2 || a%2 == b%2 && a > b {
		a, b = b, a // two of them take data sources and rows in one order
	}
	err := w.db.WithContext(context.WithoutCancel(ctx)).Transaction(func(tx *gorm.DB) error {
		tx = tx.WithContext(ctx) // cancelled until the commit, which is not
		for _, i := range []int{a, b} {
			owner := firstCounter + i
			done := tx.Model(&user{}).Where("owner_id = ? AND id = ?", owner, owner).Update("balance", gorm.Expr("balance + 1"))
			if done.Error != nil {
				return done.Error
			}
			if done.RowsAffected != 1 {
				return wrong("counter", done.RowsAffected, 1)
			}
		}
		return nil
	})
	switch {
	case err == nil:
		w.added[a].Add(1)
		w.added[b].Add(1)
	case !ended(ctx, err):
		w.t.Errorf("owner %d: counting: %v", w.owner, err)
	}
}

// Everything at the same time, on pools of four, with statements cancelled at any
// moment: every row is what its owner made it, and nothing is left in use.
func TestManyGoroutinesDoEverything(t *testing.T) {
	duration := 5 * time.Second
	if os.Getenv("SHARDING_TEST_LONG") != "" {
		duration = time.Minute
	}
	c := newCluster(t, "many")
	cfg := c.config()
	for name, ds := range cfg.DataSources {
		ds.MaxOpenConns, ds.MaxIdleConns = 4, 4
		cfg.DataSources[name] = ds
	}
	db := c.open(t, cfg, nil)
	for i := range counters {
		if err := db.Create(&user{ID: int64(firstCounter + i), OwnerID: int64(firstCounter + i), Email: "counter"}).Error; err != nil {
			t.Fatal(err)
		}
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	var added [counters]atomic.Int64
	var steps atomic.Int64
	all := make([]*worker, workers)
	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()
	var wg sync.WaitGroup
	for i := range all {
		w := &worker{t: t, db: db, owner: int64(i + 1), rng: rand.New(rand.NewPCG(seed, uint64(i))), users: map[int64]user{}, added: &added}
		all[i] = w
		wg.Go(func() {
			for ctx.Err() == nil && !t.Failed() {
				w.step(t.Context()) //nolint:contextcheck // what has begun is ended, so that what is stored is known
				steps.Add(1)
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(duration + time.Minute):
		t.Fatal("somebody waits for ever")
	}
	t.Logf("%d steps", steps.Load())
	for _, w := range all {
		if got := w.look(); !same(got, w.users) {
			t.Errorf("owner %d has %v, want %v", w.owner, got, w.users)
		}
	}
	for i := range counters {
		var u user
		if err := db.First(&u, "owner_id = ?", firstCounter+i).Error; err != nil {
			t.Fatal(err)
		}
		if int64(u.Balance) != added[i].Load() {
			t.Errorf("counter %d is %d, want %d", i, u.Balance, added[i].Load())
		}
	}
}
