package dialect

import (
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

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

// Disarm returns an error of a text that does not match driver.ErrBadConn: for
// database/sql that is leave to run the whole statement again. It still tells that
// the connection is lost.
func Disarm(err error) error {
	if errors.Is(err, driver.ErrBadConn) {
		return lostError(err.Error())
	}
	return err
}

// lostError is what is kept of an error that matches driver.ErrBadConn.
type lostError string

func (e lostError) Error() string { return string(e) }

// Is reports whether target is the MySQL driver's own name for it.
func (lostError) Is(target error) bool { return target == mysql.ErrInvalidConn }

// Unreachable reports whether err says that the server cannot be reached, or
// answers no more statements for now: a read may be sent to another one.
func Unreachable(err error) bool {
	var network net.Error
	var e *mysql.MySQLError
	switch {
	case ConnectionLost(err), errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return true
	case errors.As(err, &e):
		switch e.Number {
		case 1040, // too many connections
			1053,             // the server shuts down
			1077, 1079, 1080, // so it did
			1927: // the connection was killed
			return true
		}
	}
	return false
}

// alreadyDefined are the error numbers of MySQL and MariaDB by which a DDL
// statement finds what it was to make there, or what it was to remove gone.
var alreadyDefined = map[uint16]bool{
	1050:             true, // table exists
	1051:             true, // unknown table, in DROP
	errUnknownColumn: true, // in CHANGE and RENAME COLUMN
	1060:             true, // duplicate column
	1061:             true, // duplicate key
	1068:             true, // multiple primary key
	1091:             true, // no such column or key, in DROP
	1176:             true, // no such key, in RENAME INDEX
	1507:             true, // no such partition
	1517:             true, // duplicate partition
	1826:             true, // duplicate constraint
	3821:             true, // no such CHECK
	3822:             true, // duplicate CHECK
	3940:             true, // no such constraint
	4092:             true, // unknown view
}

const errUnknownColumn = 1054

// errDuplicateName is how InnoDB of MariaDB tells of a second foreign key of one
// name, as the number of a system error within error 1005.
const errCannotCreate, errDuplicateName = 1005, "errno: 121 "

// AlreadyDefined reports whether err is a server's answer to a DDL statement by
// which the table may be as the statement would make it. renames tells whether it
// renames columns: a column to be renamed is not there when that is done, one to be
// modified is missing.
func AlreadyDefined(err error, renames bool) bool {
	var e *mysql.MySQLError
	if !errors.As(err, &e) || e.Number == errUnknownColumn && !renames {
		return false
	}
	return alreadyDefined[e.Number] || e.Number == errCannotCreate && strings.Contains(e.Message, errDuplicateName)
}

// mistakes are the error numbers of MySQL and MariaDB for expressions that are
// wrong wherever they stand.
var mistakes = map[uint16]bool{
	1054: true, // unknown column
	1267: true, // illegal mix of collations, also of three or more
	1270: true,
	1271: true,
	1305: true, // unknown function
	1582: true, // wrong number of arguments
}

// Misunderstood reports whether err is a server's answer to a query that it does
// not understand, and what the server says; nothing where the query's expressions
// are a mistake. Where a server cannot answer for another reason, such as too many
// connections, ok is false.
func Misunderstood(err error) (reason string, ok bool) {
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		return "", false
	}
	switch string(e.SQLState[:2]) {
	case "08", "40", "70": // the connection, the transaction, an interrupted query
		return "", false
	}
	if mistakes[e.Number] {
		return "", true
	}
	return e.Message, true
}

// UnknownDefinition reports whether err is a server's answer to a statement that
// names a column (1054) or table (1146) it does not have, or gives a row more or
// fewer values than the table has columns (1136).
func UnknownDefinition(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && (e.Number == 1054 || e.Number == 1136 || e.Number == 1146)
}
