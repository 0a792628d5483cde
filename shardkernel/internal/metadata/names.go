package metadata

import (
	"context"
	"database/sql"
)

// Names are what an actual table calls its keys and constraints.
type Names struct {
	Keys        []string
	Foreign     []string // foreign keys
	Constraints []string // foreign keys and CHECKs
}

// NamesOf reads the names of an actual table of MySQL or MariaDB: none where there
// is no such table.
func NamesOf(ctx context.Context, db *sql.DB, table string) (*Names, error) {
	rows, err := db.QueryContext(ctx, "SELECT DISTINCT index_name, 'KEY' FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ?"+
		" UNION ALL SELECT constraint_name, constraint_type FROM information_schema.table_constraints WHERE table_schema = DATABASE() AND table_name = ?", table, table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	n := new(Names)
	for rows.Next() {
		var name, kind string
		if err := rows.Scan(&name, &kind); err != nil {
			return nil, err
		}
		switch kind {
		case "KEY":
			n.Keys = append(n.Keys, name)
		case "FOREIGN KEY":
			n.Foreign = append(n.Foreign, name)
			n.Constraints = append(n.Constraints, name)
		case "CHECK":
			n.Constraints = append(n.Constraints, name)
		}
	}
	return n, rows.Err()
}

// HasKey reports whether an actual table of MySQL or MariaDB has a key of a name.
func HasKey(ctx context.Context, db *sql.DB, table, key string) (bool, error) {
	var n int
	err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ? AND index_name = ?", table, key).Scan(&n)
	return n > 0, err
}
