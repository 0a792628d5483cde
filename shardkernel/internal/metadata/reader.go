package metadata

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// NewReader returns a Reader over control connections: source gives the pool
// and the dialect of a data source by its name. Errors name the node.
func NewReader(source func(name string) (*sql.DB, *dialect.Dialect, error)) Reader {
	return func(ctx context.Context, dataSource, table string) (*value.Table, error) {
		t, err := readNode(ctx, source, dataSource, table)
		if err != nil {
			return nil, &fault.NodeError{DataSource: dataSource, Table: table, Err: fmt.Errorf("reading the table's columns: %w", err)}
		}
		return t, nil
	}
}

func readNode(ctx context.Context, source func(name string) (*sql.DB, *dialect.Dialect, error), dataSource, table string) (*value.Table, error) {
	db, d, err := source(dataSource)
	if err != nil {
		return nil, err
	}
	var columns []value.Column
	if d.Name == dialect.SQLite.Name {
		columns, err = readSQLite(ctx, db, table)
	} else {
		columns, err = readMySQL(ctx, db, table)
	}
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		return nil, ErrNoTable
	}
	return value.NewTable(columns), nil
}
