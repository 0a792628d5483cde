// Package mariadb starts private MariaDB servers for tests and demonstrations.
//
// Every server is a mariadbd process of its own with its own data directory,
// socket and port on 127.0.0.1. It reads no option file and touches neither a
// system service nor the system's data. Servers and directories are gone after
// Stop; on Linux a server also dies with the process that started it, and the
// directories a killed process left behind are removed by the next Start.
//
// A test binary shares one set of servers:
//
//	func TestMain(m *testing.M) { os.Exit(mariadb.Main(m)) }
//
//	func TestOrders(t *testing.T) {
//		servers := mariadb.Shared(t, 4)
//		...
//	}
package mariadb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

// User is the account that DSN names. It has every privilege.
const User = "app"

// host is the only address a server listens on.
const host = "127.0.0.1"

// shutdownTimeout bounds an orderly shutdown; a server that is still there is
// killed, as after a crash.
const shutdownTimeout = 30 * time.Second

// Options say how a server is started. The zero value is a server for tests:
// utf8mb4, UTC, no binary log, and commits that survive a killed server but not
// a power cut.
type Options struct {
	// ServerID, when not zero, is the server's replication id and turns on a
	// row-based binary log that also holds replicated changes, so that the
	// server can be a primary and a replica. StartSet counts up from it.
	// Defaults to 0: no binary log.
	ServerID uint32
	// Args are further arguments of mariadbd ("--sql-mode=ANSI"). They come
	// last, so they win over those of this package. Defaults to none.
	Args []string
	// StartTimeout is how long a server may take until it answers. Defaults to
	// 60 seconds.
	StartTimeout time.Duration
}

// Server is one private mariadbd. Its methods may be used by several goroutines
// at once.
type Server struct {
	opts     Options
	own      account
	dir      string
	password string
	// port is fixed once Start returns.
	port int

	mu      sync.Mutex
	proc    *process // nil while no server runs
	stopped bool
}

// Start starts a server and returns when it answers. ctx bounds the start only:
// the server runs until Stop. An error carries the end of the server's log.
func Start(ctx context.Context, opts Options) (*Server, error) {
	if opts.StartTimeout <= 0 {
		opts.StartTimeout = 60 * time.Second
	}
	own, err := serverAccount()
	if err != nil {
		return nil, err
	}
	dir, err := acquireDirectory(ctx, own)
	if err != nil {
		return nil, err
	}
	s := &Server{opts: opts, own: own, dir: dir, password: rand.Text()}
	if err := s.firstStart(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// StartSet starts n servers at once. When one fails, all are stopped.
func StartSet(ctx context.Context, n int, opts Options) ([]*Server, error) {
	servers := make([]*Server, n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range servers {
		one := opts
		if one.ServerID != 0 {
			one.ServerID += uint32(i)
		}
		wg.Go(func() { servers[i], errs[i] = Start(ctx, one) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, errors.Join(err, stopAll(servers))
	}
	return servers, nil
}

// Addr is the server's address, host:port. It stays the same over Restart.
func (s *Server) Addr() string {
	return net.JoinHostPort(host, strconv.Itoa(s.port))
}

// Password is the password of User: random, and different for each server.
func (s *Server) Password() string { return s.password }

// DSN names a database of this server for go-sql-driver/mysql, with User and its
// password. params are driver parameters, "name=value"; parseTime is true unless
// they say otherwise. An empty database selects none.
func (s *Server) DSN(database string, params ...string) string {
	if !strings.Contains("&"+strings.Join(params, "&"), "&parseTime=") {
		params = append(params[:len(params):len(params)], "parseTime=true")
	}
	return fmt.Sprintf("%s:%s@tcp(%s)/%s?%s",
		User, s.password, s.Addr(), url.PathEscape(database), strings.Join(params, "&"))
}

// CreateDatabase makes an empty database; one of that name is dropped first.
func (s *Server) CreateDatabase(ctx context.Context, name string) (err error) {
	db, err := s.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	quoted := "`" + strings.ReplaceAll(name, "`", "``") + "`"
	for _, statement := range []string{"DROP DATABASE IF EXISTS ", "CREATE DATABASE "} {
		if _, err := db.ExecContext(ctx, statement+quoted); err != nil {
			return fmt.Errorf("mariadb: create database %s on %s: %w", name, s.Addr(), err)
		}
	}
	return nil
}

// PID is the process id of the running server, 0 when it does not run.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.running() {
		return 0
	}
	return s.proc.pid()
}

// Kill ends the server as a crash would (SIGKILL) and returns when the process
// is gone. Its data stays for Restart.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.running() {
		return s.notRunning()
	}
	return s.proc.kill()
}

// Pause stops the server's process (SIGSTOP): connections stay open and nothing
// is answered until Resume. Pausing twice is no error.
func (s *Server) Pause() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.running() {
		return s.notRunning()
	}
	return s.proc.pause()
}

// Resume lets a paused server go on.
func (s *Server) Resume() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.running() {
		return s.notRunning()
	}
	return s.proc.signal(signalContinue)
}

// Restart shuts the server down in an orderly way if it runs, and starts it on
// the same data and port. After Kill it recovers as after a crash.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return s.notRunning()
	}
	if s.running() {
		if err := s.proc.shutdown(ctx, shutdownTimeout); err != nil {
			return fmt.Errorf("mariadb: shut down the server on %s: %w", s.Addr(), err)
		}
	}
	return s.run(ctx)
}

// Stop ends the server at once, running or not, and removes everything it
// stored. Stopping twice is no error.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil
	}
	s.stopped = true
	var err error
	if s.running() {
		err = s.proc.kill()
	}
	return errors.Join(err, releaseDirectory(s.dir))
}

// LogTail is the end of the server's log, at most some kilobytes.
func (s *Server) LogTail() string {
	file, err := os.Open(s.logPath())
	if err != nil {
		return err.Error()
	}
	defer func() { _ = file.Close() }() // only read
	const most = 8 << 10
	if info, err := file.Stat(); err == nil && info.Size() > most {
		if _, err := file.Seek(-most, io.SeekEnd); err != nil {
			return err.Error()
		}
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text))
}

// firstStart runs the server on a port that was free a moment ago, and tries
// another one when somebody else was faster.
func (s *Server) firstStart(ctx context.Context) error {
	const tries = 5
	var err error
	for range tries {
		if s.port, err = freePort(ctx); err != nil {
			return err
		}
		if err = s.writeInitFile(); err != nil {
			return err
		}
		if err = s.run(ctx); err == nil || !strings.Contains(s.LogTail(), "Bind on TCP/IP port") {
			return err
		}
	}
	return err
}

// run starts the process and waits until the server answers.
func (s *Server) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.StartTimeout)
	defer cancel()
	proc, err := startProcess(s.own, s.dir, s.logPath(), serverProgram, s.arguments())
	if err != nil {
		return err
	}
	if err := s.ready(ctx, proc); err != nil {
		err = errors.Join(err, proc.kill())
		return fmt.Errorf("mariadb: the server on %s did not start: %w\nend of its log:\n%s", s.Addr(), err, s.LogTail())
	}
	s.proc = proc
	return nil
}

// ready returns when the server answers a ping of User, which it does after the
// init file has run.
func (s *Server) ready(ctx context.Context, proc *process) (err error) {
	db, err := s.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	// A ping that hangs must end with the process.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer proc.onExit(func() { cancel(errors.New("the process ended")) })()
	for {
		pingErr := db.PingContext(ctx)
		if pingErr == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; last answer: %w", context.Cause(ctx), pingErr)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// open returns a pool of User without a database, silent about the failures that
// ready expects.
func (s *Server) open() (*sql.DB, error) {
	config, err := mysql.ParseDSN(s.DSN(""))
	if err != nil {
		return nil, err
	}
	config.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// writeInitFile writes what the server runs before it accepts connections. The
// account stays out of the binary log, where it would reach replicas.
func (s *Server) writeInitFile() error {
	text := fmt.Sprintf("SET sql_log_bin = 0;\n"+
		"CREATE OR REPLACE USER '%[1]s'@'%[2]s' IDENTIFIED BY '%[3]s';\n"+
		"GRANT ALL PRIVILEGES ON *.* TO '%[1]s'@'%[2]s' WITH GRANT OPTION;\n", User, host, s.password)
	path := s.initPath()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	return s.own.give(path)
}

func (s *Server) arguments() []string {
	args := []string{
		"--no-defaults",
		"--datadir=" + filepath.Join(s.dir, "data"),
		"--socket=" + filepath.Join(s.dir, "sock"),
		"--pid-file=" + filepath.Join(s.dir, "pid"),
		"--tmpdir=" + s.dir,
		"--init-file=" + s.initPath(),
		"--bind-address=" + host,
		"--port=" + strconv.Itoa(s.port),
		"--skip-name-resolve",
		"--max-connections=500",
		"--character-set-server=utf8mb4",
		"--collation-server=utf8mb4_general_ci",
		"--default-time-zone=+00:00",
		"--key-buffer-size=1M",
		"--aria-pagecache-buffer-size=8M",
		"--innodb-buffer-pool-size=64M",
		"--innodb-flush-log-at-trx-commit=2",
		redoLogSize,
		// The kernel's limit on asynchronous requests is shared by all servers
		// of a machine, and a test's load does not need them.
		"--innodb-use-native-aio=0",
	}
	if s.opts.ServerID != 0 {
		args = append(args,
			"--server-id="+strconv.FormatUint(uint64(s.opts.ServerID), 10),
			"--log-bin=binlog", "--binlog-format=ROW", "--log-slave-updates", "--sync-binlog=0")
	}
	return append(args, s.opts.Args...)
}

func (s *Server) initPath() string { return filepath.Join(s.dir, "init.sql") }

func (s *Server) logPath() string { return filepath.Join(s.dir, "server.log") }

func (s *Server) running() bool { return s.proc != nil && !s.proc.ended() }

func (s *Server) notRunning() error {
	return fmt.Errorf("mariadb: the server on %s does not run", s.Addr())
}

// stopAll stops the servers that are there.
func stopAll(servers []*Server) error {
	errs := make([]error, len(servers))
	for i, s := range servers {
		if s != nil {
			errs[i] = s.Stop()
		}
	}
	return errors.Join(errs...)
}

// freePort returns a port that nobody listens on now.
func freePort(ctx context.Context) (int, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp4", net.JoinHostPort(host, "0"))
	if err != nil {
		return 0, err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	return port, listener.Close()
}
