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
	// replicating is a primary, the first, and its replicas.
	replicating []*Server
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

// SharedReplicated returns a primary and n replicas of it that all tests of this
// binary share, as Shared does: started when first asked for, and stopped by Main.
// Every test must ask for the same number, and leave them replicating.
func SharedReplicated(t testing.TB, n int) (primary *Server, replicas []*Server) {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if !shared.inMain {
		t.Fatal("mariadb.SharedReplicated: nothing would stop the servers: add `func TestMain(m *testing.M) { os.Exit(mariadb.Main(m)) }`")
	}
	if shared.replicating == nil {
		// Not the test's context: the servers outlive the test.
		first, others, err := StartReplicated(context.Background(), n, Options{})
		if err != nil {
			t.Fatal(err)
		}
		shared.replicating = append([]*Server{first}, others...)
	}
	if len(shared.replicating) != n+1 {
		t.Fatalf("mariadb.SharedReplicated: asked for %d replicas, and earlier for %d", n, len(shared.replicating)-1)
	}
	return shared.replicating[0], shared.replicating[1:]
}

// Main runs the tests of m, stops the servers that Shared and SharedReplicated
// started, calls the checks (goleak, say) if all went well, and returns the exit
// code for os.Exit.
func Main(m interface{ Run() int }, checks ...func() error) int {
	shared.mu.Lock()
	shared.inMain = true
	shared.mu.Unlock()

	code := m.Run()

	shared.mu.Lock()
	err := stopAll(append(shared.replicating, shared.servers...))
	shared.servers, shared.replicating, shared.inMain = nil, nil, false
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
