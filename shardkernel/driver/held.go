package driver

import (
	"runtime"
	"strings"
)

// held reports whether the caller of database/sql holds the connection: as a
// *sql.Conn, a *sql.Tx or one of their statements. For a statement of the *sql.DB
// itself the pool picks any connection, and what the statement sets would be
// lost, or half of what belongs together. database/sql does not tell a driver, so
// its frames on the stack are asked, which only the few statements that change a
// session need. Where they say nothing the statement is let through: nothing that
// it sets outlives its connection's return to the pool.
func held() bool {
	var callers [64]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	for {
		frame, more := frames.Next()
		if strings.HasPrefix(frame.Function, "database/sql.(*DB).") && publicMethods[strings.TrimPrefix(frame.Function, "database/sql.(*DB).")] {
			return false
		}
		if !more {
			return true
		}
	}
}

// publicMethods are those of *sql.DB that run or prepare a statement on any
// connection. Those of *sql.Conn and *sql.Tx call others.
var publicMethods = map[string]bool{
	"ExecContext": true, "QueryContext": true, "QueryRowContext": true, "PrepareContext": true,
}
