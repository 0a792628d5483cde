//go:build unix

package keygen_test

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gormshard/sharding/shardkernel/keygen"
)

// childVariable is the environment variable that makes the test binary a child,
// and says what it does.
const childVariable = "SHARDING_TEST_KEYGEN_CHILD"

// childSpec is what a child does: it prints a key, or an error, to a line. With
// Count it prints one, waits for a line of its input, and makes the others as
// quickly as it can; otherwise it makes one every millisecond. It ends, giving
// back what it leased, when its input ends.
type childSpec struct {
	DSN   string
	Type  string
	Props keygen.Props
	TTL   time.Duration
	Count int
}

const childGoroutines = 4

func runChild(text string) (err error) {
	var spec childSpec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		return err
	}
	pool, err := sql.Open("mysql", spec.DSN)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	g, err := newStored(spec.Type, spec.Props, storeOf(pool, spec.TTL))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	input := bufio.NewReader(os.Stdin)
	if spec.Count > 0 {
		return makeCount(ctx, g, spec.Count, input)
	}
	go func() {
		_, _ = io.Copy(io.Discard, input)
		cancel()
	}()
	for ctx.Err() == nil {
		key, err := g.Next(ctx)
		if err != nil {
			fmt.Println("error:", strings.ReplaceAll(err.Error(), "\n", " "))
			time.Sleep(20 * time.Millisecond)
			continue
		}
		fmt.Println(key)
		time.Sleep(time.Millisecond)
	}
	return nil
}

func makeCount(ctx context.Context, g keygen.Generator, count int, input *bufio.Reader) error {
	first, err := g.Next(ctx)
	if err != nil {
		return err
	}
	fmt.Println(first)
	if _, err := input.ReadString('\n'); err != nil {
		return err
	}
	made := make([][]any, childGoroutines)
	errs := make([]error, childGoroutines)
	var wg sync.WaitGroup
	for i := range made {
		wg.Go(func() {
			for range (count - 1 + i) / childGoroutines {
				key, err := g.Next(ctx)
				if err != nil {
					errs[i] = err
					return
				}
				made[i] = append(made[i], key)
			}
		})
	}
	wg.Wait()
	out := bufio.NewWriter(os.Stdout)
	for _, key := range slices.Concat(made...) {
		fmt.Fprintln(out, key)
	}
	return errors.Join(append(errs, out.Flush())...)
}

// child is a running process.
type child struct {
	cmd    *exec.Cmd
	input  io.WriteCloser
	stderr strings.Builder
	read   chan struct{} // closed at the end of its output

	mu     sync.Mutex
	keys   []int64
	errors []string
}

func start(t *testing.T, spec childSpec) *child {
	t.Helper()
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: exec.Command(os.Args[0]), read: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), childVariable+"="+string(text))
	c.cmd.Stderr = &c.stderr
	if c.input, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	output, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go c.collect(output)
	t.Cleanup(func() { c.kill() })
	return c
}

func (c *child) collect(output io.Reader) {
	defer close(c.read)
	for lines := bufio.NewScanner(output); lines.Scan(); {
		key, err := strconv.ParseInt(lines.Text(), 10, 64)
		c.mu.Lock()
		if err == nil {
			c.keys = append(c.keys, key)
		} else {
			c.errors = append(c.errors, lines.Text())
		}
		c.mu.Unlock()
	}
}

func (c *child) made() []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.keys)
}

func (c *child) failed() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.errors)
}

func (c *child) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// kill ends the process at once, however it is.
func (c *child) kill() {
	if c.cmd.ProcessState == nil {
		_ = c.cmd.Process.Kill()
		<-c.read
		_ = c.cmd.Wait()
	}
}

// stop ends the process in order.
func (c *child) stop(t *testing.T) {
	t.Helper()
	_ = c.input.Close()
	<-c.read
	if err := c.cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, c.stderr.String())
	}
}

// await waits until the process has made so many keys.
func (c *child) await(t *testing.T, keys int) {
	t.Helper()
	waitFor(t, func() bool { return len(c.made()) >= keys }, func() string {
		return fmt.Sprintf("%d keys of %d, last errors %q, %s", len(c.made()), keys, lastOf(c.failed()), c.stderr.String())
	})
}

func waitFor(t *testing.T, done func() bool, state func() string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited too long: " + state())
		}
	}
}

func lastOf(list []string) []string { return list[max(0, len(list)-3):] }
