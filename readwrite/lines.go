package readwrite

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Lines are the open connections to a database. A server that has stopped without
// a word leaves the reads that were sent to it waiting; once it is known to be
// out, they are hung up on, and can be sent elsewhere. The zero value is ready to
// use, by several goroutines at once.
type Lines struct {
	ahead atomic.Bool

	mu   sync.Mutex
	open map[*line]struct{}
}

// Dial opens a connection that HangUp ends. It fits mysql.Config.DialFunc.
func (l *Lines) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	of := &line{Conn: conn, lines: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[*line]struct{}{}
	}
	l.open[of] = struct{}{}
	return of, nil
}

// HangUp ends all connections: whoever reads from one gets an error.
func (l *Lines) HangUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for of := range l.open {
		// Not closed: that is up to who reads, and may wait for what was sent.
		_ = of.SetDeadline(time.Unix(1, 0))
	}
}

// Cut closes all connections.
func (l *Lines) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for of := range l.open {
		_ = of.Conn.Close() // whoever uses it finds out
	}
}

// line is one connection.
type line struct {
	net.Conn
	lines *Lines
}

// SyscallConn implements syscall.Conn, by which the driver sees whether an idle
// connection has been closed by the server.
func (c *line) SyscallConn() (syscall.RawConn, error) {
	raw, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return raw.SyscallConn()
}

func (c *line) Close() error {
	c.lines.mu.Lock()
	delete(c.lines.open, c)
	c.lines.mu.Unlock()
	return c.Conn.Close()
}
