package keygen

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/gormshard/sharding/internal/fault"
)

// Store is a database that all processes reach, for what two of them must not
// hand out alike.
type Store struct {
	// DataSource is its name in the configuration, for messages.
	DataSource string
	// DB is a pool apart from the application's, so that a transaction that
	// holds the application's last connection does not wait for itself.
	DB *sql.DB
	// Dialect is mysql or sqlite.
	Dialect string
	// TTL is the time a lease lasts unless it is renewed. It is at least a
	// second.
	TTL time.Duration
	// Now is the clock whose time goes into keys. Nil means time.Now.
	Now func() time.Time
}

// Stored is implemented by a Generator that keeps in a database what it shares
// with other processes.
type Stored interface {
	Generator
	// Attach hands over the store; it is called once, before the first Next. It
	// must not use the database: data sources are not dialled before a
	// statement needs them.
	Attach(store Store)
	// Close gives back what the generator holds in the store and waits for its
	// goroutines. Next may fail afterwards. Closing again does nothing.
	Close() error
}

// errDetached is what a Stored generator answers before Attach.
var errDetached = errors.New("the generator needs a database and was given none")

// clock returns the expression for the database's own time, in microseconds
// since 1970 in UTC. Leases begin and end by this clock alone, since those of
// the processes differ.
func (s Store) clock() string {
	if s.Dialect == "sqlite" {
		return "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"
	}
	return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"
}

// insertMissing returns the verb of an INSERT that leaves out rows whose key is
// taken.
func (s Store) insertMissing() string {
	if s.Dialect == "sqlite" {
		return "INSERT OR IGNORE INTO "
	}
	return "INSERT IGNORE INTO "
}

// makeTable makes a table unless it is there. It asks first, so that a user who
// may not make tables can use one that somebody else made.
func (s Store) makeTable(ctx context.Context, name, columns string) error {
	if err := s.DB.PingContext(ctx); err != nil {
		return s.failed(err)
	}
	err := s.DB.QueryRowContext(ctx, "SELECT 1 FROM "+name+" WHERE 1 = 0").Scan(new(int))
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	ddl := "CREATE TABLE IF NOT EXISTS " + name + " (" + columns + ")"
	if _, err := s.DB.ExecContext(ctx, ddl); err != nil {
		if ctx.Err() != nil {
			return s.failed(err)
		}
		return &fault.ConfigError{
			Path:   "idLease.dataSource",
			Reason: fmt.Sprintf("the table %s cannot be read or made in data source %q", name, s.DataSource),
			Remedy: "let an administrator run: " + ddl + "; and grant SELECT, INSERT and UPDATE on it",
			Err:    s.failed(err),
		}
	}
	return nil
}

// exec runs a statement and returns how many rows it wrote.
func (s Store) exec(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := s.DB.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, s.failed(err)
	}
	n, err := result.RowsAffected()
	return n, s.failed(err)
}

// failed names the data source of an error. No error of it matches
// driver.ErrBadConn: database/sql would run again the statement that asked for
// the key, which may have been sent in part.
func (s Store) failed(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, driver.ErrBadConn) {
		err = errors.New(err.Error())
	}
	return &fault.NodeError{DataSource: s.DataSource, Err: err}
}
