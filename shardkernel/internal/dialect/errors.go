package dialect

import (
	"database/sql/driver"
	"errors"

	"github.com/go-sql-driver/mysql"
)

// Error numbers of MySQL and MariaDB after which InnoDB has rolled back the
// whole transaction, not the statement alone.
const (
	errRecordChanged = 1020 // MariaDB with innodb_snapshot_isolation
	errLockTableFull = 1206
	errDeadlock      = 1213
)

// EndsTransaction reports whether err is a server's answer after which the
// transaction on that connection has been rolled back: a deadlock above all.
// A lock wait timeout (1205) is not one: it undoes its statement, provided that
// the server runs with innodb_rollback_on_timeout off, which is its default.
func EndsTransaction(err error) bool {
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		return false
	}
	switch e.Number {
	case errRecordChanged, errLockTableFull, errDeadlock:
		return true
	}
	return false
}

// ConnectionLost reports whether err says that the connection it came from is
// of no more use. Whether the statement reached the server is not known.
func ConnectionLost(err error) bool {
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn)
}
