package sharding

import (
	"context"
	"database/sql"

	"gorm.io/gorm"

	"github.com/gormshard/sharding/shardkernel"
	kerneldriver "github.com/gormshard/sharding/shardkernel/driver"
)

// pool is GORM's ConnPool. It is the logical *sql.DB with a short cut: a
// statement outside a transaction that goes to one data source is handed to that
// data source's own pool, which saves the second passage through database/sql.
// Transactions, pinned connections and prepared statements stay the logical
// DB's.
type pool struct {
	*sql.DB
	live *shardkernel.Live
}

var (
	_ gorm.ConnPool       = (*pool)(nil)
	_ gorm.TxBeginner     = (*pool)(nil)
	_ gorm.GetDBConnector = (*pool)(nil)
)

// QueryContext implements gorm.ConnPool.
func (p *pool) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	kernel := p.live.Acquire()
	defer kernel.Release()
	direct, planned, err := kernel.Direct(ctx, kerneldriver.Hints(ctx), query, args)
	switch {
	case err != nil:
		return nil, err
	case planned != nil:
		return p.DB.QueryContext(ctx, query, planned) //nolint:sqlclosecheck // the caller closes them
	}
	return direct.Query(ctx) //nolint:sqlclosecheck // likewise
}

// ExecContext implements gorm.ConnPool.
func (p *pool) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	kernel := p.live.Acquire()
	defer kernel.Release()
	direct, planned, err := kernel.Direct(ctx, kerneldriver.Hints(ctx), query, args)
	switch {
	case err != nil:
		return nil, err
	case planned != nil:
		return p.DB.ExecContext(ctx, query, planned)
	}
	return direct.Exec(ctx)
}

// QueryRowContext implements gorm.ConnPool. A *sql.Row can be made by a *sql.DB
// only, so a planning error is left to the logical DB to find again.
func (p *pool) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	kernel := p.live.Acquire()
	defer kernel.Release()
	direct, planned, err := kernel.Direct(ctx, kerneldriver.Hints(ctx), query, args)
	switch {
	case err != nil:
		return p.DB.QueryRowContext(ctx, query, args...)
	case planned != nil:
		return p.DB.QueryRowContext(ctx, query, planned)
	}
	return direct.QueryRow(ctx)
}

// GetDBConn implements gorm.GetDBConnector: db.DB() gives the logical *sql.DB.
func (p *pool) GetDBConn() (*sql.DB, error) { return p.DB, nil }

// keepSessions stops database/sql from discarding logical connections, which
// hold nothing, when more than two are idle.
func keepSessions(db *sql.DB) { db.SetMaxIdleConns(1024) }
