package readwrite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// syntax is the statement by which a server tells of its replication.
type syntax uint8

const (
	syntaxReplica syntax = iota // MariaDB from 10.5.1 on, MySQL from 8.0.22 on
	syntaxSlave
)

// errSyntax is the number of a server's error about a statement it does not know.
const errSyntax = 1064

// lag asks how far the replica is behind.
func (r *Replica) lag(ctx context.Context, h Health) (time.Duration, error) {
	switch {
	case h.IgnoreLag:
		return LagUnknown, ping(ctx, r.control)
	case h.LagQuery != "":
		var seconds sql.NullFloat64
		if err := r.control.QueryRowContext(ctx, h.LagQuery).Scan(&seconds); err != nil {
			return LagUnknown, err
		}
		return duration(seconds), nil
	}
	lag, err := status(ctx, r.control, r.syntax)
	var server *mysql.MySQLError
	if r.syntax == syntaxReplica && errors.As(err, &server) && server.Number == errSyntax {
		r.syntax = syntaxSlave
		return status(ctx, r.control, r.syntax)
	}
	return lag, err
}

// ping runs a statement: a connection alone may be answered by a server's kernel.
func ping(ctx context.Context, db *sql.DB) error {
	var one int
	return db.QueryRowContext(ctx, "SELECT 1").Scan(&one)
}

// duration is LagUnknown for what is no number of seconds.
func duration(seconds sql.NullFloat64) time.Duration {
	if !seconds.Valid || math.IsNaN(seconds.Float64) || seconds.Float64 < 0 {
		return LagUnknown
	}
	return time.Duration(min(seconds.Float64*1e9, math.MaxInt64/2))
}

// status reads the replication status. A thread that does not run is an error,
// since the lag says nothing then; of several channels the worst counts.
func status(ctx context.Context, db *sql.DB, as syntax) (time.Duration, error) {
	statement := "SHOW REPLICA STATUS"
	if as == syntaxSlave {
		statement = "SHOW SLAVE STATUS"
	}
	rows, err := db.QueryContext(ctx, statement)
	if err != nil {
		return LagUnknown, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return LagUnknown, err
	}
	values := make([]sql.NullString, len(names))
	into := make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	worst, channels := time.Duration(0), 0
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return LagUnknown, err
		}
		channels++
		lag, err := channel(names, values)
		if err != nil {
			return LagUnknown, err
		}
		if lag == LagUnknown {
			worst = LagUnknown
		} else if worst != LagUnknown {
			worst = max(worst, lag)
		}
	}
	if err := rows.Err(); err != nil {
		return LagUnknown, err
	}
	if channels == 0 {
		return LagUnknown, errors.New("the server is no replica, or the user may not see that it is; where rows reach it by other means, set readwriteSplitting.health.ignoreLag")
	}
	return worst, nil
}

// channel reads one row of the status.
func channel(names []string, values []sql.NullString) (time.Duration, error) {
	var seconds sql.NullFloat64
	for i, name := range names {
		switch name {
		case "Slave_IO_Running", "Replica_IO_Running", "Slave_SQL_Running", "Replica_SQL_Running":
			if !strings.EqualFold(values[i].String, "Yes") {
				return LagUnknown, fmt.Errorf("%s is %s", name, values[i].String)
			}
		case "Seconds_Behind_Master", "Seconds_Behind_Source":
			if values[i].Valid {
				n, err := strconv.ParseFloat(values[i].String, 64)
				seconds = sql.NullFloat64{Float64: n, Valid: err == nil}
			}
		}
	}
	return duration(seconds), nil
}
