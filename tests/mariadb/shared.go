package mariadb

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
)

// shared is the set of servers of a test binary.
var shared struct {
	mu      sync.Mutex
	inMain  bool
	servers []*Server
}

// Shared returns n servers that all tests of this binary share: started when
// first asked for, in parallel, and stopped by Main. The test fails when that is
// not possible. Tests keep apart by using different databases; one that changes
// or breaks a server starts its own.
func Shared(t testing.TB, n int) []*Server {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if !shared.inMain {
		t.Fatal("mariadb.Shared: nothing would stop the servers: add `func TestMain(m *testing.M) { os.Exit(mariadb.Main(m)) }`")
	}
	if missing := n - len(shared.servers); missing > 0 {
		// Not the test's context: the servers outlive the test.
		started, err := StartSet(context.Background(), missing, Options{})
		if err != nil {
			t.Fatal(err)
		}
		shared.servers = append(shared.servers, started...)
	}
	return shared.servers[:n:n]
}

// Main runs the tests of m, stops the servers that Shared started, calls the
// checks (goleak, say) if all went well, and returns the exit code for os.Exit.
func Main(m interface{ Run() int }, checks ...func() error) int {
	shared.mu.Lock()
	shared.inMain = true
	shared.mu.Unlock()

	code := m.Run()

	shared.mu.Lock()
	err := stopAll(shared.servers)
	shared.servers, shared.inMain = nil, false
	shared.mu.Unlock()
	for _, check := range checks {
		if err == nil && code == 0 {
			err = check()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}
