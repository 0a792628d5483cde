package mariadb

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// replicationID is the server id of the first server of a test binary that
// replicates; ids are counted up, since no two servers that know of each other
// may share one.
var replicationID = struct {
	sync.Mutex
	next uint32
}{next: 101}

// StartReplicated starts a primary and n replicas that follow it by GTID, and
// returns when they do. When one fails, all are stopped.
func StartReplicated(ctx context.Context, n int, opts Options) (primary *Server, replicas []*Server, err error) {
	replicationID.Lock()
	opts.ServerID = replicationID.next
	replicationID.next += uint32(n) + 1
	replicationID.Unlock()
	servers, err := StartSet(ctx, n+1, opts)
	if err != nil {
		return nil, nil, err
	}
	for _, replica := range servers[1:] {
		if err := replica.Follow(ctx, servers[0]); err != nil {
			return nil, nil, errors.Join(err, stopAll(servers))
		}
	}
	return servers[0], servers[1:], nil
}

// Follow makes the server a replica of another one, in place of the one that it
// follows so far, from where its own data ends.
func (s *Server) Follow(ctx context.Context, primary *Server) error {
	return s.execute(ctx, "STOP SLAVE", fmt.Sprintf("CHANGE MASTER TO MASTER_HOST = '%s', MASTER_PORT = %d, MASTER_USER = '%s', MASTER_PASSWORD = '%s', MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1",
		host, primary.port, User, primary.password), "START SLAVE")
}

// The threads of a replica: one fetches the primary's log, the other applies it.
const (
	IOThread  = "IO_THREAD"
	SQLThread = "SQL_THREAD"
)

// StopReplicating stops a thread of the replica, or both without a name.
func (s *Server) StopReplicating(ctx context.Context, threads ...string) error {
	return s.eachThread(ctx, "STOP SLAVE ", threads)
}

// Replicate starts a thread of the replica, or both without a name.
func (s *Server) Replicate(ctx context.Context, threads ...string) error {
	return s.eachThread(ctx, "START SLAVE ", threads)
}

func (s *Server) eachThread(ctx context.Context, verb string, threads []string) error {
	if len(threads) == 0 {
		threads = []string{""}
	}
	for _, thread := range threads {
		if err := s.execute(ctx, verb+thread); err != nil {
			return err
		}
	}
	return nil
}

// Delay makes the replica apply what the primary wrote only after a time, in whole
// seconds; 0 ends that.
func (s *Server) Delay(ctx context.Context, behind time.Duration) error {
	return s.execute(ctx, "STOP SLAVE", fmt.Sprintf("CHANGE MASTER TO MASTER_DELAY = %d", int(behind.Seconds())), "START SLAVE")
}

// CatchUp returns when the replica has applied all that the primary has written.
func (s *Server) CatchUp(ctx context.Context, primary *Server) error {
	of, err := primary.open()
	if err != nil {
		return err
	}
	defer func() { _ = of.Close() }() // nothing was written
	var position string
	if err := of.QueryRowContext(ctx, "SELECT @@gtid_binlog_pos").Scan(&position); err != nil {
		return err
	}
	db, err := s.open()
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	const most = 30 // seconds
	var timedOut int
	if err := db.QueryRowContext(ctx, "SELECT MASTER_GTID_WAIT(?, ?)", position, most).Scan(&timedOut); err != nil {
		return err
	}
	if timedOut != 0 {
		return fmt.Errorf("mariadb: the replica on %s did not reach %s within %d seconds", s.Addr(), position, most)
	}
	return nil
}

// execute runs statements on one connection.
func (s *Server) execute(ctx context.Context, statements ...string) (err error) {
	db, err := s.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	for _, statement := range statements {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("mariadb: on %s: %w", s.Addr(), err) // the statement may hold a password
		}
	}
	return nil
}
