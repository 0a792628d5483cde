package execute

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// Killer ends statements on a server whose connections have been closed. A
// driver ends a statement by closing its connection, which a server notices when
// it writes to it: one that sorts, groups or joins goes on for as long as that
// takes. A Killer is safe for concurrent use.
type Killer struct {
	pool *sql.DB

	mu      sync.Mutex
	names   map[driver.Conn]string
	pending []victim
	works   bool
	closed  bool
	joined  sync.WaitGroup
}

// victim is a statement that nobody waits for.
type victim struct {
	conn string // the name of its connection
	text string // what the statement begins with
}

const (
	// killTimeout is how long a server is given to end statements.
	killTimeout = 5 * time.Second
	// mostVictims are remembered; of more, the first ones have ended by now.
	mostVictims = 256
	// spareNames are names of connections that may have been closed.
	spareNames = 64
)

// NewKiller returns a Killer that reaches the server over a pool of its own: what
// the application waits for in its pool may be what has to be killed.
func NewKiller(pool *sql.DB) *Killer {
	return &Killer{pool: pool, names: map[driver.Conn]string{}}
}

// connName names a connection among those of all servers. A proxy may lead the
// application's connection and the killer's to different ones.
const connName = "CONCAT_WS(' ', %s, @@port, @@hostname)"

// name finds out what the server calls the connection, once for each. One that a
// driver wraps in what cannot be told apart from others gets no name.
func (k *Killer) name(ctx context.Context, c *Conn) {
	if !reflect.ValueOf(c.raw).Comparable() {
		return
	}
	k.mu.Lock()
	c.name = k.names[c.raw]
	k.mu.Unlock()
	if c.name != "" {
		return
	}
	name, err := c.queryText(ctx, "SELECT "+fmt.Sprintf(connName, "CONNECTION_ID()"))
	if err != nil {
		return // the statement that follows tells
	}
	c.name = name
	open := c.source.DB.Stats().OpenConnections
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.names) > open+spareNames {
		clear(k.names)
	}
	k.names[c.raw] = name
}

// kill ends the statement that was sent last on a closed connection. It does not
// wait for the server.
func (k *Killer) kill(c *Conn, u *plan.Unit) {
	// The server shows a prepared statement with its arguments.
	text, _, _ := strings.Cut(strings.TrimSpace(u.SQL), "?")
	k.mu.Lock()
	defer k.mu.Unlock()
	if c.name == "" {
		return
	}
	delete(k.names, c.raw)
	if k.closed {
		return
	}
	if len(k.pending) == mostVictims {
		k.pending = k.pending[1:]
	}
	k.pending = append(k.pending, victim{conn: c.name, text: text})
	if !k.works {
		k.works = true
		k.joined.Go(k.work)
	}
}

// work kills until nothing is left to be killed.
func (k *Killer) work() {
	for {
		k.mu.Lock()
		victims := k.pending
		k.pending = nil
		k.works = len(victims) > 0 && !k.closed
		works := k.works
		k.mu.Unlock()
		if !works {
			return
		}
		// A server that cannot be asked, or does not allow it, ends its statements
		// by itself in time.
		_ = k.end(victims)
	}
}

// end ends those of the statements that are still running.
func (k *Killer) end(victims []victim) error {
	ctx, cancel := context.WithTimeout(context.Background(), killTimeout)
	defer cancel()
	conn, err := k.pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	running, err := stillRunning(ctx, conn, victims)
	if err != nil {
		return err
	}
	for _, v := range running {
		id, _, _ := strings.Cut(v.conn, " ")
		// A proxy that reads the text would take the number for one of its own. The
		// server itself checks once more that it is the one that is meant.
		for _, text := range []string{
			"SET @sharding_kill = IF(" + fmt.Sprintf(connName, id) + " = '" + strings.ReplaceAll(v.conn, "'", "''") + "', 'KILL " + id + "', 'DO 0')",
			"PREPARE sharding_kill FROM @sharding_kill",
			"EXECUTE sharding_kill",
		} {
			if _, err := conn.ExecContext(ctx, text); err != nil {
				break // it has ended meanwhile
			}
		}
	}
	return nil
}

// stillRunning asks the server for the statements, and leaves out those whose
// connection does something else. One that does nothing may not have read its
// statement yet.
func stillRunning(ctx context.Context, conn *sql.Conn, victims []victim) ([]victim, error) {
	texts := make(map[string]string, len(victims))
	names := make([]any, len(victims))
	for i, v := range victims {
		texts[v.conn] = v.text
		names[i] = v.conn
	}
	name := fmt.Sprintf(connName, "ID")
	rows, err := conn.QueryContext(ctx, "SELECT "+name+", INFO FROM information_schema.PROCESSLIST WHERE "+
		name+" IN (?"+strings.Repeat(",?", len(names)-1)+")", names...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var running []victim
	for rows.Next() {
		var name string
		var info sql.NullString
		if err := rows.Scan(&name, &info); err != nil {
			return nil, err
		}
		if !info.Valid || strings.HasPrefix(info.String, texts[name]) {
			running = append(running, victim{conn: name})
		}
	}
	return running, rows.Err()
}

// Close waits for what is being killed; later statements are left to end by
// themselves. A nil Killer has nothing to wait for.
func (k *Killer) Close() {
	if k == nil {
		return
	}
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.joined.Wait()
}
