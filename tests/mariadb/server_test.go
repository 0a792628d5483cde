//go:build unix

package mariadb_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"

	"github.com/gormshard/sharding/tests/mariadb"
)

// abandonEnv makes this binary start a server, print its process id and wait to
// be killed: see TestCrashedOwnerLeavesNothing.
const abandonEnv = "MARIADB_TEST_ABANDON"

func TestMain(m *testing.M) {
	if os.Getenv(abandonEnv) != "" {
		abandon()
	}
	// The driver would log each connection that these tests break.
	if err := mysql.SetLogger(&mysql.NopLogger{}); err != nil {
		panic(err)
	}
	os.Exit(mariadb.Main(m, func() error { return goleak.Find() }))
}

func abandon() {
	server, err := mariadb.Start(context.Background(), mariadb.Options{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(server.PID())
	select {}
}

func TestSharedServersAreApartAndAnswer(t *testing.T) {
	begin := time.Now()
	servers := mariadb.Shared(t, 2)
	t.Logf("2 servers in %v", time.Since(begin).Round(time.Millisecond))
	if servers[0].Addr() == servers[1].Addr() || servers[0].PID() == servers[1].PID() {
		t.Fatalf("both are %s, pid %d", servers[0].Addr(), servers[0].PID())
	}
	if again := mariadb.Shared(t, 2); again[0] != servers[0] || again[1] != servers[1] {
		t.Fatal("the second call did not return the same servers")
	}
	for i, server := range servers {
		if err := server.CreateDatabase(t.Context(), "ds"); err != nil {
			t.Fatal(err)
		}
		db := open(t, server.DSN("ds"))
		mustExec(t, db, "CREATE TABLE t (id INT PRIMARY KEY, at DATETIME NOT NULL)")
		mustExec(t, db, "INSERT INTO t VALUES (?, '2026-01-02 03:04:05')", i)
	}
	for i, server := range servers {
		var id int
		var at time.Time
		if err := open(t, server.DSN("ds")).QueryRowContext(t.Context(), "SELECT id, at FROM t").Scan(&id, &at); err != nil {
			t.Fatal(err)
		}
		if want := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC); id != i || !at.Equal(want) {
			t.Errorf("server %d holds (%d, %v), want (%d, %v)", i, id, at, i, want)
		}
	}
}

func TestCreateDatabaseEmptiesAnOldOne(t *testing.T) {
	server := mariadb.Shared(t, 1)[0]
	const name = "odd`name/?"
	for range 2 {
		if err := server.CreateDatabase(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		mustExec(t, open(t, server.DSN(name)), "CREATE TABLE t (id INT PRIMARY KEY)")
	}
}

func TestDSNParametersWinOverDefaults(t *testing.T) {
	server := mariadb.Shared(t, 1)[0]
	dsn := server.DSN("", "parseTime=false", "maxAllowedPacket=1048576")
	if strings.Count(dsn, "parseTime") != 1 || !strings.Contains(dsn, "/?parseTime=false&maxAllowedPacket=1048576") {
		t.Errorf("parameters lost or doubled: %s", strings.ReplaceAll(dsn, server.Password(), "***"))
	}
	var now any
	if err := open(t, dsn).QueryRowContext(t.Context(), "SELECT CAST('2026-01-02' AS DATE)").Scan(&now); err != nil {
		t.Fatal(err)
	}
	if _, isTime := now.(time.Time); isTime {
		t.Error("parseTime=false was not honoured")
	}
}

func TestPasswordIsNeeded(t *testing.T) {
	server := mariadb.Shared(t, 1)[0]
	for _, dsn := range []string{
		strings.Replace(server.DSN(""), server.Password(), "", 1),
		"root@tcp(" + server.Addr() + ")/",
		"@tcp(" + server.Addr() + ")/",
	} {
		if err := open(t, dsn).PingContext(t.Context()); err == nil {
			t.Errorf("%s was let in", dsn)
		}
	}
}

func TestKilledServerIsNoticedAndRecovers(t *testing.T) {
	server := start(t, mariadb.Options{})
	if err := server.CreateDatabase(t.Context(), "ds"); err != nil {
		t.Fatal(err)
	}
	db := open(t, server.DSN("ds"))
	mustExec(t, db, "CREATE TABLE t (id INT PRIMARY KEY)")
	mustExec(t, db, "INSERT INTO t VALUES (1)")
	addr, pid := server.Addr(), server.PID()

	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if exists(pid) || server.PID() != 0 {
		t.Errorf("process %d is still there; PID() = %d", pid, server.PID())
	}
	if err := db.PingContext(t.Context()); err == nil {
		t.Error("a killed server answered")
	}
	for name, call := range map[string]func() error{"Kill": server.Kill, "Pause": server.Pause, "Resume": server.Resume} {
		if err := call(); err == nil || !strings.Contains(err.Error(), addr) {
			t.Errorf("%s of a dead server: %v, want an error that names %s", name, err, addr)
		}
	}

	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if server.Addr() != addr {
		t.Errorf("restarted on %s, was on %s", server.Addr(), addr)
	}
	var rows int
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM t").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("after recovery %d rows, %v; want 1", rows, err)
	}
}

func TestRestartKeepsDataAndChangesProcess(t *testing.T) {
	server := start(t, mariadb.Options{})
	if err := server.CreateDatabase(t.Context(), "ds"); err != nil {
		t.Fatal(err)
	}
	pid := server.PID()
	if err := server.Pause(); err != nil { // a paused server can be restarted too
		t.Fatal(err)
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if server.PID() == pid || exists(pid) {
		t.Errorf("process %d was not replaced", pid)
	}
	if err := open(t, server.DSN("ds")).PingContext(t.Context()); err != nil {
		t.Error(err)
	}
	if log := server.LogTail(); strings.Contains(log, "crash recovery") {
		t.Errorf("the shutdown was not orderly:\n%s", log)
	}
}

func TestPausedServerHangsUntilResumed(t *testing.T) {
	server := start(t, mariadb.Options{})
	db := open(t, server.DSN(""))
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := db.PingContext(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a paused server gave %v, want the deadline", err)
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := db.PingContext(t.Context()); err != nil {
		t.Errorf("after Resume: %v", err)
	}
}

func TestStopLeavesNoProcessAndNoDirectory(t *testing.T) {
	server := start(t, mariadb.Options{})
	pid := server.PID()
	var dataDir string
	if err := open(t, server.DSN("")).QueryRowContext(t.Context(), "SELECT @@datadir").Scan(&dataDir); err != nil {
		t.Fatal(err)
	}
	if err := server.Pause(); err != nil { // a paused server can be stopped too
		t.Fatal(err)
	}
	for range 2 {
		if err := server.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if exists(pid) {
		t.Errorf("process %d is still there", pid)
	}
	if dir := filepath.Dir(filepath.Clean(dataDir)); present(dir) {
		t.Errorf("%s is still there", dir)
	}
	if err := server.Restart(t.Context()); err == nil {
		t.Error("a stopped server was restarted")
	}
}

func TestFailedStartShowsTheLogAndLeavesNothing(t *testing.T) {
	before := directories(t, os.Getpid())
	_, err := mariadb.StartSet(t.Context(), 2, mariadb.Options{Args: []string{"--no-such-option"}})
	if err == nil || !strings.Contains(err.Error(), "no-such-option'") {
		t.Errorf("got %v, want the server's word about the option", err)
	}
	if after := directories(t, os.Getpid()); !slices.Equal(after, before) {
		t.Errorf("directories before %v, after %v", before, after)
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := directories(t, os.Getpid())
	if _, err := mariadb.Start(ctx, mariadb.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if after := directories(t, os.Getpid()); !slices.Equal(after, before) {
		t.Errorf("directories before %v, after %v", before, after)
	}
}

func TestServerIDTurnsOnReplication(t *testing.T) {
	servers, err := mariadb.StartSet(t.Context(), 2, mariadb.Options{ServerID: 7})
	if err != nil {
		t.Fatal(err)
	}
	for i, server := range servers {
		t.Cleanup(func() { stop(t, server) })
		var id, logBin int
		var position string
		row := open(t, server.DSN("")).QueryRowContext(t.Context(), "SELECT @@server_id, @@log_bin, @@gtid_binlog_pos")
		if err := row.Scan(&id, &logBin, &position); err != nil {
			t.Fatal(err)
		}
		if id != 7+i || logBin != 1 {
			t.Errorf("server %d: server_id %d, log_bin %d", i, id, logBin)
		}
		if position != "" {
			t.Errorf("server %d has events of its own before its first use (%s); a replica would stop on them", i, position)
		}
	}
}

func TestReplicaFollowsPrimary(t *testing.T) {
	servers, err := mariadb.StartSet(t.Context(), 2, mariadb.Options{ServerID: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, server := range servers {
		t.Cleanup(func() { stop(t, server) })
	}
	primary, replica := servers[0], open(t, servers[1].DSN(""))
	hostname, port, _ := strings.Cut(primary.Addr(), ":")
	mustExec(t, replica, fmt.Sprintf("CHANGE MASTER TO MASTER_HOST='%s', MASTER_PORT=%s, MASTER_USER='%s', MASTER_PASSWORD='%s', MASTER_USE_GTID=slave_pos",
		hostname, port, mariadb.User, primary.Password()))
	mustExec(t, replica, "START SLAVE")
	if err := primary.CreateDatabase(t.Context(), "ds"); err != nil {
		t.Fatal(err)
	}
	var position string
	if err := open(t, primary.DSN("")).QueryRowContext(t.Context(), "SELECT @@gtid_binlog_pos").Scan(&position); err != nil {
		t.Fatal(err)
	}
	var waited int
	if err := replica.QueryRowContext(t.Context(), "SELECT MASTER_GTID_WAIT(?, 20)", position).Scan(&waited); err != nil || waited != 0 {
		t.Fatalf("the replica did not reach %s: %d, %v", position, waited, err)
	}
	if err := open(t, servers[1].DSN("ds")).PingContext(t.Context()); err != nil {
		t.Error(err)
	}
}

// A process that is killed cannot clean up: the kernel ends its server, and the
// next process removes its directory.
func TestCrashedOwnerLeavesNothing(t *testing.T) {
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), abandonEnv+"=1")
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatalf("the child said %q", line)
	}
	if !exists(pid) {
		t.Fatalf("the child's server %d does not run", pid)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed: its error says so
	if len(directories(t, child.Process.Pid)) == 0 {
		t.Fatal("the killed process left no directory, so this test proves nothing")
	}
	for deadline := time.Now().Add(10 * time.Second); exists(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("server %d outlived its owner", pid)
		}
	}

	// Only the first server of a process looks for old directories.
	second := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStopLeavesNoProcessAndNoDirectory$")
	if text, err := second.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if left := directories(t, child.Process.Pid); len(left) > 0 {
		t.Errorf("the next process left the old directories %v", left)
	}
}

func start(t *testing.T, opts mariadb.Options) *mariadb.Server {
	t.Helper()
	server, err := mariadb.Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, server) })
	return server
}

func stop(t *testing.T, server *mariadb.Server) {
	t.Helper()
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
}

func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func mustExec(t *testing.T, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

func exists(pid int) bool {
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

func present(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// directories are the servers' directories that the process pid has made and not
// removed.
func directories(t *testing.T, pid int) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(os.TempDir(), fmt.Sprintf("gormshard-mariadb-%d-*", pid), "*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
