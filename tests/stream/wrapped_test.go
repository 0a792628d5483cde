//go:build unix

package stream_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"testing"

	"github.com/go-sql-driver/mysql"
	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/gormshard/sharding"
)

// wrapped is a connection as some tracing drivers wrap it: a value that is no key
// of a map.
type wrapped struct {
	driver.Conn
	omit []string
}

func (w wrapped) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	return w.Conn.(driver.QueryerContext).QueryContext(ctx, q, args)
}

type wrapper struct{ driver.Connector }

func (w wrapper) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := w.Connector.Connect(ctx)
	return wrapped{c, nil}, err
}

// TestADriverMayWrapItsConnectionsInValues, also where those are no keys of a map:
// what is cancelled then ends by itself.
func TestADriverMayWrapItsConnectionsInValues(t *testing.T) {
	c := sharedCluster(t)
	a := c.open(t, c.config(1, 2), sharding.WithDialector("mysql", func(dsn string) gorm.Dialector {
		cfg, err := mysql.ParseDSN(dsn)
		if err != nil {
			t.Fatal(err)
		}
		connector, err := mysql.NewConnector(cfg)
		if err != nil {
			t.Fatal(err)
		}
		return gormmysql.New(gormmysql.Config{Conn: sql.OpenDB(wrapper{connector}), SkipInitializeWithVersion: true})
	}))
	if n, err := count(a.Raw("SELECT id FROM t_row WHERE id <= 64").Rows()); err != nil || n != 64 {
		t.Errorf("%d rows and %v", n, err)
	}
	rows := a.query(t.Context(), t, "SELECT id FROM t_row") //nolint:rowserrcheck // left early, with more rows than are read of closed ones
	if !rows.Next() {
		t.Error("no row")
	}
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
	if n, err := count(a.Raw("SELECT id FROM t_row WHERE id <= 64").Rows()); err != nil || n != 64 {
		t.Errorf("after rows that were left: %d rows and %v", n, err)
	}
}
