// Package driver is the database/sql driver over the kernel. GORM gets
// sql.OpenDB of its Connector as pool, so transactions, prepared statements,
// pinned connections and context handling stay the standard library's.
package driver

import (
	"context"
	"database/sql/driver"
	"errors"

	"github.com/gormshard/sharding/shardkernel"
)

// Connector opens logical connections to the kernel in force. A logical connection holds
// no node connection outside a transaction. It is safe for concurrent use.
type Connector struct {
	live  *shardkernel.Live
	close func() error
}

var (
	_ driver.Connector = (*Connector)(nil)
	_ driver.Driver    = nameless{}
)

// NewConnector returns a connector over the kernel in force. onClose, which may be nil,
// is called by Close, and so by the Close of a sql.DB opened with the connector.
func NewConnector(live *shardkernel.Live, onClose func() error) *Connector {
	return &Connector{live: live, close: onClose}
}

// Connect returns a new logical connection. It does not dial.
func (c *Connector) Connect(context.Context) (driver.Conn, error) {
	return &conn{session: c.live.Session(held)}, nil
}

// Driver returns a driver that refuses to open a connection by name: the
// configuration is not a data source name.
func (c *Connector) Driver() driver.Driver { return nameless{} }

// Close releases what the connector was given to release.
func (c *Connector) Close() error {
	if c.close == nil {
		return nil
	}
	return c.close()
}

type nameless struct{}

func (nameless) Open(string) (driver.Conn, error) {
	return nil, errors.New("sharding: open a database with sql.OpenDB(connector), not by a data source name")
}
