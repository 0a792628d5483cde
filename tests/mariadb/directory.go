package mariadb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// dirPrefix begins the name of the directory a process keeps its servers in; the
// process id follows, which tells a later process whether it is still in use.
const dirPrefix = "gormshard-mariadb-"

// redoLogSize is the same when the data is made and when it is served: another
// size would be a new log at each first start.
const redoLogSize = "--innodb-log-file-size=16M"

// home is the directory of this process's servers: a data directory fresh from
// mariadb-install-db, made once, and one directory for each server, whose data is
// a copy of it. A copy takes some ten milliseconds, the program some seconds.
var home struct {
	mu      sync.Mutex
	dir     string // "" while there is no server
	servers int    // directories handed out and not yet released
	next    int    // number of the next directory
}

// acquireDirectory returns a new directory for one server with its data in it.
func acquireDirectory(ctx context.Context, own account) (string, error) {
	home.mu.Lock()
	defer home.mu.Unlock()
	if home.dir == "" {
		dir, err := makeHome(ctx, own)
		if err != nil {
			return "", err
		}
		home.dir = dir
	}
	home.servers++
	home.next++
	dir := filepath.Join(home.dir, strconv.Itoa(home.next))
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		err = os.CopyFS(filepath.Join(dir, "data"), os.DirFS(filepath.Join(home.dir, "template")))
	}
	if err == nil {
		err = own.give(dir)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("mariadb: prepare a data directory: %w", err), release(dir))
	}
	return dir, nil
}

// releaseDirectory removes a server's directory, and with the last one all that
// is left of this process.
func releaseDirectory(dir string) error {
	home.mu.Lock()
	defer home.mu.Unlock()
	return release(dir)
}

// release is releaseDirectory for a caller that holds home.mu.
func release(dir string) error {
	home.servers--
	if home.servers == 0 {
		dir, home.dir = home.dir, ""
	}
	return os.RemoveAll(dir)
}

// makeHome makes the directory of this process with the template in it, and
// removes those of processes that are gone.
func makeHome(ctx context.Context, own account) (string, error) {
	temp := os.TempDir()
	if err := own.checkReach(temp); err != nil {
		return "", err
	}
	removeStale(temp)
	dir, err := os.MkdirTemp(temp, dirPrefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return "", err
	}
	if err := install(ctx, own, dir); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// install makes the template in dir.
func install(ctx context.Context, own account, dir string) error {
	if err := own.give(dir); err != nil {
		return err
	}
	logPath := filepath.Join(dir, "install.log")
	proc, err := startProcess(own, dir, logPath, installProgram, []string{
		"--no-defaults",
		"--datadir=" + filepath.Join(dir, "template"),
		"--tmpdir=" + dir,
		"--skip-test-db",
		"--skip-name-resolve",
		// No account that could log in over the network without a password.
		"--auth-root-authentication-method=socket",
		"--innodb-flush-log-at-trx-commit=2",
		"--innodb-use-native-aio=0",
		redoLogSize,
	})
	if err != nil {
		return err
	}
	if err := proc.wait(ctx); err != nil {
		log, readErr := os.ReadFile(logPath)
		return errors.Join(fmt.Errorf("mariadb: %s failed: %w\nits output:\n%s", installProgram, err, log), readErr)
	}
	return nil
}

// removeStale removes what processes that ended without Stop left in temp. What
// cannot be removed belongs to somebody else and is left alone.
func removeStale(temp string) {
	entries, err := os.ReadDir(temp)
	if err != nil {
		return
	}
	for _, entry := range entries {
		rest, ours := strings.CutPrefix(entry.Name(), dirPrefix)
		if !ours || !entry.IsDir() {
			continue
		}
		owner, _, _ := strings.Cut(rest, "-")
		if pid, err := strconv.Atoi(owner); err == nil && pid > 0 && !alive(pid) {
			_ = os.RemoveAll(filepath.Join(temp, entry.Name()))
		}
	}
}
