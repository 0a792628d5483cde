package shardkernel

import (
	"context"
	"database/sql/driver"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/execute"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/transaction"
)

// Tx is an open transaction. It begins on a data source when a statement first
// needs it. It is used by one goroutine at a time.
type Tx transaction.Tx

// Begin opens a transaction with the options. It sends nothing.
func (k *Kernel) Begin(opts driver.TxOptions) *Tx {
	return (*Tx)(transaction.New(opts, k.lookup))
}

// Commit commits on every data source the transaction touched, one after the
// other. An error after the first success matches fault.ErrPartialCommit.
func (t *Tx) Commit() error { return t.local().Commit() }

// Rollback undoes everything.
func (t *Tx) Rollback() error { return t.local().Rollback() }

func (t *Tx) local() *transaction.Tx { return (*transaction.Tx)(t) }

// branches returns what the executor sees of the transaction: a nil interface
// outside one.
func (t *Tx) branches() execute.Branches {
	if t == nil {
		return nil
	}
	return t.local()
}

// control runs transaction control that arrives as text: savepoints inside a
// transaction, as GORM sends them.
func (k *Kernel) control(ctx context.Context, tx *Tx, verb, text string) error {
	action, name, ok := parse.Savepoint(text, k.dialect)
	if !ok {
		return refuseControl(verb)
	}
	if tx == nil {
		return fault.Unsupported(verb, "there is no open transaction", "use it inside Transaction, or after Begin")
	}
	switch action {
	case parse.SavepointRollback:
		return tx.local().RollbackTo(ctx, name)
	case parse.SavepointRelease:
		return tx.local().Release(ctx, name)
	default:
		return tx.local().Savepoint(ctx, name)
	}
}

func refuseControl(verb string) error {
	return fault.Unsupported(verb, "transaction control as text would leave a pooled connection in a transaction",
		"use Begin, Commit, Rollback, SavePoint or Transaction of GORM or database/sql")
}
