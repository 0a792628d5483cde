// Package transaction holds the local transaction of one logical connection
// over the data sources it touches.
package transaction

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"sync"
	"time"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/execute"
)

// undoTimeout bounds what is sent to undo a statement. The caller's context may
// have ended by then, and does not count.
const undoTimeout = 10 * time.Second

// branchWait is how long a transaction that holds connections waits for one of a
// further data source; 0 means the default. A variable for tests alone.
var branchWait time.Duration

// statementSavepoint is set on every branch before a write over several units.
// Setting it again replaces it.
const statementSavepoint = "_sharding_stmt"

// Tx is a transaction over several data sources. It begins on a data source
// when a statement first needs it, and commits on one after the other: a crash
// between two commits leaves a part. Like a driver's connection it is used by
// one goroutine at a time.
//
// With one branch it behaves as the server does. With several, an error that
// costs a branch its transaction (a deadlock, a lost connection) leaves only
// rollback: what was written there is gone, and a commit would keep the rest.
type Tx struct {
	opts       driver.TxOptions
	from       Connections
	branches   []*branch // in the order of opening
	savepoints []savepoint
	lost       *fault.NodeError // the error that cost a branch its transaction
	spoilt     bool             // lost counts even with one branch
	implicit   bool             // every failure ends in a rollback
	committed  bool             // by the server, at a DDL statement: no further data source may take part
	done       bool
}

type branch struct {
	source string
	conn   *execute.Conn
}

// Connections is where a transaction takes its connections from: pools, or a
// session that holds some.
type Connections interface {
	// Start returns a connection of the data source that has been made ready.
	// Releasing it is up to the transaction.
	Start(ctx context.Context, source string, start execute.Start) (*execute.Conn, error)
}

// Pools takes every connection from the pool of its data source.
type Pools func(name string) (*execute.Source, error)

// Start implements Connections.
func (p Pools) Start(ctx context.Context, source string, start execute.Start) (*execute.Conn, error) {
	s, err := p(source)
	if err != nil {
		return nil, err
	}
	return s.Start(ctx, start)
}

// New returns a transaction that has begun nowhere yet. It has to be ended with
// Commit or Rollback.
func New(opts driver.TxOptions, from Connections) *Tx {
	return &Tx{opts: opts, from: from}
}

// Implicit runs a write over several units in a transaction of its own, which
// commits when run returns nil and is rolled back otherwise. Rows that run
// hands out must not need the transaction's connections any more; those of
// several units do not (execute.Executor.Query).
func Implicit(ctx context.Context, opts driver.TxOptions, from Connections, run func(execute.Branches) error) error {
	t := New(opts, from)
	t.implicit = true
	defer func() { _ = t.Rollback() }() // nothing is left to do after Commit
	if err := run(t); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return t.Commit()
}

// Branch returns the connection of a data source. The first call for a data
// source takes it from the pool, begins there with the transaction's options
// and sets the live savepoints.
func (t *Tx) Branch(ctx context.Context, source string) (*execute.Conn, error) {
	if t.done {
		return nil, sql.ErrTxDone
	}
	b := t.find(source)
	if t.lost != nil && (b == nil || t.rollbackOnly()) {
		return nil, t.refusal()
	}
	if b != nil {
		return b.conn, nil
	}
	if t.committed {
		return nil, fault.Unsupported("data source "+source+" in this transaction", "a DDL statement has committed it on data source "+t.branches[0].source,
			"begin another transaction after the DDL statement")
	}
	conn, err := t.from.Start(ctx, source, execute.Start{Begin: &t.opts, Holding: len(t.branches) > 0, Wait: branchWait})
	if err != nil {
		return nil, err
	}
	for _, sp := range t.savepoints {
		if _, err := conn.Exec(ctx, "SAVEPOINT "+sp.text, nil); err != nil {
			conn.Release(conn.Rollback() != nil) //nolint:contextcheck // undone also when the caller's context has ended
			return nil, nodeError(source, err)
		}
	}
	t.branches = append(t.branches, &branch{source: source, conn: conn})
	return conn, nil
}

// Failed notes an error of a branch's connection. After one that cost the
// branch its transaction, a transaction of several branches can only be rolled
// back.
func (t *Tx) Failed(source string, err error) {
	if t.done || t.lost != nil {
		return
	}
	b := t.find(source)
	if b == nil {
		return
	}
	if dialect.EndsTransaction(err) || b.conn.Lost() {
		t.lost = nodeError(source, err)
	}
}

// Atomic runs a write over several units. When run fails, every data source
// goes back to where it was before; when that fails too, only rollback is left.
func (t *Tx) Atomic(ctx context.Context, sources []string, run func() error) error {
	if t.implicit {
		return run()
	}
	if t.committed {
		return fault.Unsupported("write over several tables in this transaction", "a DDL statement has committed it, so that a write that fails could not be undone",
			"begin another transaction after the DDL statement")
	}
	if t.lost != nil {
		// The server goes on without a transaction after a deadlock, but then
		// this statement could not be undone.
		return t.refusal()
	}
	var marked []*branch
	for _, s := range sources {
		if b := t.find(s); b != nil {
			marked = append(marked, b)
		}
	}
	if failed := t.each(ctx, marked, "SAVEPOINT "+statementSavepoint); failed != nil {
		return t.report(failed)
	}
	err := run()
	if err == nil || t.lost != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	if failed := t.each(ctx, marked, "ROLLBACK TO SAVEPOINT "+statementSavepoint); failed != nil {
		t.spoil(failed)
	}
	return err
}

// Commit commits the branches in the order of their opening and gives all
// connections back. When the first one fails the others are rolled back. Once
// one has committed, the others are committed as well as far as they can be,
// and *fault.NodesError of class ErrPartialCommit tells which are not. When the
// connection is lost while the first of several commits, nobody knows whether it
// did: ErrInDoubt.
func (t *Tx) Commit() error {
	if t.done {
		return sql.ErrTxDone
	}
	if t.rollbackOnly() {
		err := t.refusal()
		_ = t.Rollback()
		return err
	}
	t.done = true
	var committed []string
	var failed []*fault.NodeError
	for i, b := range t.branches {
		err := b.conn.Commit()
		if err == nil {
			b.conn.Release(false)
			committed = append(committed, b.source)
			continue
		}
		lost := b.conn.Lost()
		// Not every database has ended the transaction then.
		b.conn.Release(true)
		if i > 0 {
			failed = append(failed, nodeError(b.source, err))
			continue
		}
		_ = rollback(t.branches[1:])
		if lost && len(t.branches) > 1 {
			return &fault.NodesError{Class: fault.ErrInDoubt, Nodes: []*fault.NodeError{nodeError(b.source, err)}}
		}
		return err
	}
	if failed != nil {
		return &fault.NodesError{Class: fault.ErrPartialCommit, Done: committed, Nodes: failed}
	}
	return nil
}

// Rollback rolls every branch back and gives all connections back, whatever
// happens. A connection that cannot roll back is closed, which makes the server
// do it; where it was lost before, that is no error, unless the server has committed
// what was written there. Calls after the end of the transaction do nothing.
func (t *Tx) Rollback() error {
	if t.done {
		return nil
	}
	t.done = true
	failed := rollback(t.branches)
	switch {
	case t.committed && t.lost != nil && t.branches[0].conn.Lost():
		return t.lost.Err
	case failed == nil:
		return nil
	case len(t.branches) == 1:
		return failed[0].Err
	}
	return &fault.NodesError{Nodes: failed}
}

// rollback rolls branches back at the same time and releases them.
func rollback(branches []*branch) []*fault.NodeError {
	return parallel(branches, func(b *branch) error {
		if b.conn.Lost() { // the server rolls back, and nobody can tell it to
			b.conn.Release(true)
			return nil
		}
		err := b.conn.Rollback()
		b.conn.Release(err != nil)
		return err
	})
}

// Committed reports whether the server has committed the transaction, at a DDL
// statement, or is about to: every statement since then takes effect by itself.
func (t *Tx) Committed() bool { return t.committed }

// Begun reports whether the transaction has begun on a data source.
func (t *Tx) Begun() bool { return len(t.branches) > 0 }

// Connections gives the open branches, in the order of their opening.
func (t *Tx) Connections(yield func(source string, conn *execute.Conn) bool) {
	for _, b := range t.branches {
		if !yield(b.source, b.conn) {
			return
		}
	}
}

func (t *Tx) find(source string) *branch {
	for _, b := range t.branches {
		if b.source == source {
			return b
		}
	}
	return nil
}

func (t *Tx) rollbackOnly() bool { return t.lost != nil && (t.spoilt || len(t.branches) > 1) }

func (t *Tx) refusal() error {
	return fmt.Errorf("sharding: only ROLLBACK is left to this transaction after an earlier error: %w", t.lost)
}

// spoil leaves only rollback, also to a transaction of one branch.
func (t *Tx) spoil(failed []*fault.NodeError) {
	t.spoilt = true
	if t.lost == nil {
		t.lost = failed[0]
	}
}

// each sends one statement to every branch at the same time, and notes failures.
func (t *Tx) each(ctx context.Context, branches []*branch, query string) []*fault.NodeError {
	failed := parallel(branches, func(b *branch) error {
		_, err := b.conn.Exec(ctx, query, nil)
		return err
	})
	for _, n := range failed {
		t.Failed(n.DataSource, n.Err)
	}
	return failed
}

// report makes one error of the failures of a statement of the transaction: the
// driver's own where there is one branch.
func (t *Tx) report(failed []*fault.NodeError) error {
	if len(t.branches) == 1 {
		return failed[0].Err
	}
	return &fault.NodesError{Nodes: failed}
}

// parallel runs work on every branch and returns the failures in their order.
func parallel(branches []*branch, work func(*branch) error) []*fault.NodeError {
	errs := make([]error, len(branches))
	if len(branches) == 1 {
		errs[0] = work(branches[0])
	} else {
		var wg sync.WaitGroup
		for i, b := range branches {
			wg.Go(func() { errs[i] = work(b) })
		}
		wg.Wait()
	}
	var failed []*fault.NodeError
	for i, err := range errs {
		if err != nil {
			failed = append(failed, nodeError(branches[i].source, err))
		}
	}
	return failed
}

// nodeError names the data source of an error that does not name it already.
func nodeError(source string, err error) *fault.NodeError {
	if n, ok := err.(*fault.NodeError); ok { //nolint:errorlint // only the outermost is taken over
		return n
	}
	return &fault.NodeError{DataSource: source, Err: err}
}
