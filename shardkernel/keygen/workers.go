package keygen

import (
	"context"
	"errors"
)

// workerTable holds a row for every worker id that was ever leased. Its rows
// must not be deleted: used_until is what keeps the next holder of an id from
// the keys of the one before.
const (
	workerTable   = "_sharding_worker"
	workerColumns = "pool VARCHAR(32) NOT NULL, " + // generators with worker ids of their own
		"worker_id INT NOT NULL, " +
		"holder VARCHAR(191) NOT NULL, " + // a text of one lessee; empty when it was given back
		"expires_at BIGINT NOT NULL, " + // microseconds since 1970, by the database's clock
		"used_until BIGINT NOT NULL, " + // milliseconds since 1970: no key of a holder so far has a later time
		"PRIMARY KEY (pool, worker_id)"
)

// worker is a row of the table.
type worker struct {
	id        int64
	known     bool // there is a row
	expired   bool // by the database's clock
	holder    string
	usedUntil int64
}

// workers is the table as seen by one pool of worker ids.
type workers interface {
	// list returns the rows.
	list(ctx context.Context) ([]worker, error)
	// claim makes holder the holder of w, unless somebody else has changed w in
	// the meantime.
	claim(ctx context.Context, w worker, holder string, usedUntil int64) (bool, error)
	// renew lengthens the lease, unless it has passed to somebody else.
	renew(ctx context.Context, id int64, holder string, usedUntil int64) (bool, error)
	// release gives the lease back, unless it has passed to somebody else.
	release(ctx context.Context, id int64, holder string, usedUntil int64) error
}

// storedWorkers is the table in a store. It is used by one goroutine.
type storedWorkers struct {
	at   *place
	pool string
	made bool
}

func (t *storedWorkers) list(ctx context.Context) (list []worker, err error) {
	if !t.made {
		if err := t.at.store().makeTable(ctx, workerTable, workerColumns); err != nil {
			return nil, err
		}
		t.made = true
	}
	rows, err := t.at.store().DB.QueryContext(ctx, "SELECT worker_id, holder, used_until, CASE WHEN expires_at <= "+t.at.store().clock()+
		" THEN 1 ELSE 0 END FROM "+workerTable+" WHERE pool = ?", t.pool)
	if err != nil {
		return nil, t.at.store().failed(err)
	}
	defer func() { err = errors.Join(err, t.at.store().failed(rows.Close())) }()
	for rows.Next() {
		w := worker{known: true}
		if err := rows.Scan(&w.id, &w.holder, &w.usedUntil, &w.expired); err != nil {
			return nil, t.at.store().failed(err)
		}
		list = append(list, w)
	}
	return list, t.at.store().failed(rows.Err())
}

// claim compares holder and used_until with what list saw: an id that was
// leased and given back in between has used_until raised if it was used.
func (t *storedWorkers) claim(ctx context.Context, w worker, holder string, usedUntil int64) (bool, error) {
	clock, ttl := t.at.store().clock(), t.ttl()
	if !w.known {
		n, err := t.at.store().exec(ctx, t.at.store().insertMissing()+workerTable+
			" (pool, worker_id, holder, expires_at, used_until) VALUES (?, ?, ?, "+clock+" + ?, ?)",
			t.pool, w.id, holder, ttl, usedUntil)
		return n == 1, err
	}
	n, err := t.at.store().exec(ctx, "UPDATE "+workerTable+" SET holder = ?, expires_at = "+clock+" + ?, used_until = ?"+
		" WHERE pool = ? AND worker_id = ? AND holder = ? AND used_until = ? AND expires_at <= "+clock,
		holder, ttl, usedUntil, t.pool, w.id, w.holder, w.usedUntil)
	return n == 1, err
}

// renew does not ask whether the lease has expired: as long as nobody else took
// it, nothing was lost. It never lowers used_until: an earlier renewal that was
// given up may reach the server after a later one.
func (t *storedWorkers) renew(ctx context.Context, id int64, holder string, usedUntil int64) (bool, error) {
	n, err := t.at.store().exec(ctx, "UPDATE "+workerTable+" SET expires_at = "+t.at.store().clock()+" + ?,"+
		" used_until = CASE WHEN used_until < ? THEN ? ELSE used_until END WHERE pool = ? AND worker_id = ? AND holder = ?",
		t.ttl(), usedUntil, usedUntil, t.pool, id, holder)
	return n == 1, err
}

func (t *storedWorkers) release(ctx context.Context, id int64, holder string, usedUntil int64) error {
	_, err := t.at.store().exec(ctx, "UPDATE "+workerTable+" SET holder = '', expires_at = 0, used_until = ?"+
		" WHERE pool = ? AND worker_id = ? AND holder = ?", usedUntil, t.pool, id, holder)
	return err
}

func (t *storedWorkers) ttl() int64 { return t.at.store().TTL.Microseconds() }
