package driver

import (
	"context"
	"database/sql/driver"
	"errors"

	"github.com/gormshard/sharding/shardkernel"
)

// conn is a logical connection: the kernel, and the transaction that is open on
// it, if any. database/sql lets one goroutine use it at a time.
type conn struct {
	kernel *shardkernel.Kernel
	tx     *shardkernel.Tx
}

var (
	_ driver.Conn               = (*conn)(nil)
	_ driver.ConnBeginTx        = (*conn)(nil)
	_ driver.ConnPrepareContext = (*conn)(nil)
	_ driver.QueryerContext     = (*conn)(nil)
	_ driver.ExecerContext      = (*conn)(nil)
	_ driver.NamedValueChecker  = (*conn)(nil)
	_ driver.SessionResetter    = (*conn)(nil)
	_ driver.Pinger             = (*conn)(nil)
)

func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// PrepareContext returns a statement that is routed when it is executed, so
// that one prepared statement serves every shard. A text that cannot be parsed
// fails here.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if err := c.kernel.Prepare(ctx, Hints(ctx), query); err != nil {
		return nil, err
	}
	return &stmt{conn: c, query: query}, nil
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if p := planned(args); p != nil {
		return c.kernel.QueryPlanned(ctx, p)
	}
	values, err := positional(args)
	if err != nil {
		return nil, err
	}
	return c.kernel.Query(ctx, c.tx, Hints(ctx), query, values)
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if p := planned(args); p != nil {
		return c.kernel.ExecPlanned(ctx, p)
	}
	values, err := positional(args)
	if err != nil {
		return nil, err
	}
	return c.kernel.Exec(ctx, c.tx, Hints(ctx), query, values)
}

func (c *conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

// BeginTx opens a transaction that begins on a data source when a statement
// first needs it, with the options given here.
func (c *conn) BeginTx(_ context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if c.tx != nil {
		return nil, errors.New("sharding: a transaction is already open on this connection")
	}
	c.tx = c.kernel.Begin(opts)
	return (*tx)(c), nil
}

// CheckNamedValue resolves a driver.Valuer once, so that the value a statement
// is routed by is the value that is stored. Everything else is converted by the
// node's driver, as without sharding.
func (c *conn) CheckNamedValue(nv *driver.NamedValue) error {
	v, err := shardkernel.Resolve(nv.Value)
	nv.Value = v
	return err
}

// ResetSession reports a connection with a forgotten transaction as bad.
func (c *conn) ResetSession(context.Context) error {
	if c.tx != nil {
		return driver.ErrBadConn
	}
	return nil
}

// Ping reaches the default data source.
func (c *conn) Ping(ctx context.Context) error { return c.kernel.Ping(ctx) }

func (c *conn) Close() error {
	if c.tx == nil {
		return nil
	}
	tx := c.tx
	c.tx = nil
	return tx.Rollback()
}

// planned returns the plan that comes with the text in the place of arguments,
// nil when there is none.
func planned(args []driver.NamedValue) *shardkernel.Planned {
	if len(args) != 1 {
		return nil
	}
	p, _ := args[0].Value.(*shardkernel.Planned)
	return p
}

func positional(args []driver.NamedValue) ([]any, error) {
	if len(args) == 0 {
		return nil, nil
	}
	values := make([]any, len(args))
	for i := range args {
		if args[i].Name != "" {
			return nil, errors.New("sharding: named argument @" + args[i].Name + ": MySQL has positional arguments only; use ? or GORM's own named arguments")
		}
		values[i] = args[i].Value
	}
	return values, nil
}

// tx is a logical connection as the transaction that is open on it.
type tx conn

func (t *tx) Commit() error {
	open := t.tx
	t.tx = nil
	return open.Commit()
}

func (t *tx) Rollback() error {
	open := t.tx
	t.tx = nil
	return open.Rollback()
}
