package sharding

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/shardkernel"
)

// tracer returns what the kernel calls after every unit: the application's trace
// and, with props.sqlShow or props.slowUnit, a line in GORM's log. Nil when there
// is nothing to call.
func (o *options) tracer(props *config.Props, log logger.Interface) shardkernel.Tracer {
	show, slow := props.SQLShow, props.SlowUnit
	if !show && slow == 0 {
		return o.trace
	}
	return func(ctx context.Context, u UnitTrace) {
		switch {
		case slow > 0 && u.Answered >= slow:
			log.Warn(ctx, "sharding: slow, answered after %s: %s", u.Answered, unitLine(u))
		case show && u.Err != nil:
			log.Error(ctx, "sharding: %s", unitLine(u))
		case show:
			log.Info(ctx, "sharding: %s", unitLine(u))
		}
		if o.trace != nil {
			o.trace(ctx, u)
		}
	}
}

// unitLine shows a unit without the values of its arguments, whatever the logger
// does with parameters: there is no text that has them.
func unitLine(u UnitTrace) string {
	rows := "-"
	if u.Rows >= 0 {
		rows = strconv.FormatInt(u.Rows, 10)
	}
	line := fmt.Sprintf("%s | %s | rows %s | %s", u.DataSource, u.Elapsed, rows, u.SQL)
	if u.Err != nil {
		line += " | " + errorText(u.Err)
	}
	return line
}

// errorText is an error without the values that a server quotes in its message.
func errorText(err error) string {
	var server *mysql.MySQLError
	if errors.As(err, &server) {
		return fmt.Sprintf("Error %d (%s)", server.Number, server.SQLState[:])
	}
	return err.Error()
}
