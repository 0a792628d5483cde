package driver

import (
	"context"
	"database/sql/driver"
	"errors"

	"github.com/gormshard/sharding/shardkernel"
)

// conn is a logical connection: the session on it, which knows the kernel of each
// statement. database/sql lets one goroutine use it at a time.
type conn struct{ session *shardkernel.Session }

var (
	_ driver.Conn               = (*conn)(nil)
	_ driver.ConnBeginTx        = (*conn)(nil)
	_ driver.ConnPrepareContext = (*conn)(nil)
	_ driver.QueryerContext     = (*conn)(nil)
	_ driver.ExecerContext      = (*conn)(nil)
	_ driver.NamedValueChecker  = (*conn)(nil)
	_ driver.SessionResetter    = (*conn)(nil)
	_ driver.Validator          = (*conn)(nil)
	_ driver.Pinger             = (*conn)(nil)
)

func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// PrepareContext returns a statement that is routed when it is executed, so
// that one prepared statement serves every shard. A text that cannot be parsed
// fails here.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	kernel, err := c.session.Enter()
	if err != nil {
		return nil, err
	}
	defer c.session.Leave()
	if err := kernel.Prepare(ctx, c.session, Hints(ctx), query); err != nil {
		return nil, err
	}
	return &stmt{conn: c, query: query}, nil
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if p := planned(args); p != nil {
		return p.Query(ctx)
	}
	values, err := positional(args)
	if err != nil {
		return nil, err
	}
	kernel, err := c.session.Enter()
	if err != nil {
		return nil, err
	}
	defer c.session.Leave()
	rows, err := kernel.Query(ctx, c.session, Hints(ctx), query, values)
	if err != nil {
		return nil, err
	}
	return c.session.Keep(rows), nil
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if p := planned(args); p != nil {
		return p.Exec(ctx)
	}
	values, err := positional(args)
	if err != nil {
		return nil, err
	}
	kernel, err := c.session.Enter()
	if err != nil {
		return nil, err
	}
	defer c.session.Leave()
	return kernel.Exec(ctx, c.session, Hints(ctx), query, values)
}

func (c *conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

// BeginTx opens a transaction that begins on a data source when a statement
// first needs it, with the options given here.
func (c *conn) BeginTx(_ context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if err := c.session.Begin(opts); err != nil {
		return nil, err
	}
	return c.session, nil
}

// CheckNamedValue resolves a driver.Valuer once, so that the value a statement
// is routed by is the value that is stored. Everything else is converted by the
// node's driver, as without sharding.
func (c *conn) CheckNamedValue(nv *driver.NamedValue) error {
	v, err := shardkernel.Resolve(nv.Value)
	nv.Value = v
	return err
}

// IsValid is asked when the connection goes back to the logical pool. One that
// holds something is closed, so that neither a forgotten transaction nor a
// setting reaches the next borrower; a new one costs nothing.
func (c *conn) IsValid() bool { return c.session.Idle() }

// ResetSession is asked before the next use, and says the same.
func (c *conn) ResetSession(context.Context) error {
	if !c.session.Idle() {
		return driver.ErrBadConn
	}
	c.session.Forget()
	return nil
}

// Ping reaches the default data source.
func (c *conn) Ping(ctx context.Context) error {
	kernel, err := c.session.Enter()
	if err != nil {
		return err
	}
	defer c.session.Leave()
	return kernel.Ping(ctx)
}

// Close rolls a forgotten transaction back.
func (c *conn) Close() error { return c.session.Close() }

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
