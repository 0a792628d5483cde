package metadata

import (
	"context"
	"database/sql"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// Instance is the server behind a data source.
type Instance struct {
	// ID is equal for two data sources of one server, and differs for two servers.
	ID string
	// Schema is the data source's schema; empty when it has none.
	Schema string
	// PartialRevokes says that _ and % in a schema of a GRANT stand for themselves.
	PartialRevokes bool
}

// ReadInstance asks a data source over a control connection. name is the data
// source's, by which a database without servers is known.
func ReadInstance(ctx context.Context, name string, db *sql.DB, d *dialect.Dialect) (i Instance, err error) {
	if d.Name == dialect.SQLite.Name {
		return Instance{ID: name, Schema: "main"}, nil
	}
	var schema sql.NullString
	var host, port string
	if err := db.QueryRowContext(ctx, "SELECT DATABASE(), @@hostname, @@port").Scan(&schema, &host, &port); err != nil {
		return i, err
	}
	i.ID, i.Schema = host+":"+port, schema.String
	// Not every server has them.
	rows, err := db.QueryContext(ctx, "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('server_uuid', 'server_uid', 'partial_revokes')")
	if err != nil {
		return i, err
	}
	defer rows.Close()
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return i, err
		}
		if strings.EqualFold(name, "partial_revokes") {
			i.PartialRevokes = strings.EqualFold(value, "ON") || value == "1"
		} else {
			i.ID += " " + value
		}
	}
	return i, rows.Err()
}
