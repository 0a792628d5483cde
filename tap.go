package sharding

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/go-sql-driver/mysql"
	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/gormshard/sharding/readwrite"
)

// tap lets the connections of a dialector fetch ahead, and be hung up on where the
// MySQL driver itself opens them. It returns nil where the pool is another's.
func tap(dialector gorm.Dialector) (*readwrite.Lines, error) {
	d, ok := dialector.(*gormmysql.Dialector)
	if !ok || d.Conn != nil {
		return nil, nil
	}
	lines := &readwrite.Lines{}
	connector, err := connectorOf(d, lines)
	if err != nil {
		return nil, err
	}
	d.Conn = sql.OpenDB(lines.Connector(connector))
	return lines, nil
}

var errDSN = errors.New("the MySQL driver cannot read its dsn; write user:password@tcp(host:3306)/schema?name=value, with the values URL-escaped")

// connectorOf is what the dialector would open its pool with.
func connectorOf(d *gormmysql.Dialector, lines *readwrite.Lines) (driver.Connector, error) {
	if d.DriverName == "" || d.DriverName == gormmysql.DefaultDriverName {
		cfg, err := mysql.ParseDSN(d.DSN)
		if err != nil {
			return nil, errDSN // the driver's error may quote a piece of the DSN
		}
		if cfg.Net == "tcp" || cfg.Net == "unix" {
			cfg.DialFunc = lines.Dial
		}
		return mysql.NewConnector(cfg)
	}
	pool, err := sql.Open(d.DriverName, d.DSN)
	if err != nil {
		return nil, err
	}
	of := pool.Driver()
	if err := pool.Close(); err != nil {
		return nil, err
	}
	if with, ok := of.(driver.DriverContext); ok {
		return with.OpenConnector(d.DSN)
	}
	return plainConnector{of, d.DSN}, nil
}

// plainConnector is that of a driver which has none.
type plainConnector struct {
	driver driver.Driver
	dsn    string
}

func (c plainConnector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
func (c plainConnector) Driver() driver.Driver                        { return c.driver }

// fetchAhead lets the pools of replicas fetch ahead, and no others: a reload may
// have given them other parts.
func (g *generation) fetchAhead() {
	replicas := map[string]bool{}
	for _, group := range g.cfg.ReadwriteSplitting.Groups {
		for _, name := range group.Replicas {
			replicas[name] = true
		}
	}
	for name, src := range g.sources.byName {
		if src.lines != nil {
			src.lines.FetchAhead(replicas[name])
		}
	}
}
