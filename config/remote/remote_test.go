package remote_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/config/remote"
	"github.com/gormshard/sharding/internal/fault"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// etcd is a server of the tests.
type etcd struct {
	t            *testing.T
	dir          string
	client, peer string
	tls          *tls.Config // of clients; nil for none
	args         []string
	cmd          *exec.Cmd
	log          bytes.Buffer // to be read when it does not run
}

// startEtcd runs a private etcd for the test, on free ports.
func startEtcd(t *testing.T) *etcd {
	t.Helper()
	e := newEtcd(t)
	e.start()
	return e
}

// newEtcd is one that is not started.
func newEtcd(t *testing.T) *etcd {
	t.Helper()
	e := &etcd{t: t, dir: t.TempDir(), client: "http://" + freeAddress(t), peer: "http://" + freeAddress(t)}
	t.Cleanup(func() {
		e.kill()
		if t.Failed() {
			t.Log(e.log.String())
		}
	})
	return e
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// findEtcd looks where .ci/prepare puts it, too.
func findEtcd() (string, error) {
	if program, err := exec.LookPath("etcd"); err == nil {
		return program, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return exec.LookPath(filepath.Join(cache, "gormshard", "etcd"))
}

func (e *etcd) start() {
	e.t.Helper()
	e.restart()
	within(e.t, 20*time.Second, "etcd to answer", func() bool { return e.call("range", "x", "") == nil })
}

// restart is start for one that answers nobody without credentials.
func (e *etcd) restart() {
	e.t.Helper()
	program, err := findEtcd()
	if err != nil {
		e.t.Fatal("etcd is not installed: run make prepare")
	}
	e.cmd = exec.Command(program, "--data-dir", e.dir, "--log-level", "error",
		"--listen-client-urls", e.client, "--advertise-client-urls", e.client,
		"--listen-peer-urls", e.peer, "--initial-advertise-peer-urls", e.peer, "--initial-cluster", "default="+e.peer)
	e.cmd.Args = append(e.cmd.Args, e.args...)
	if runtime.GOARCH != "amd64" {
		e.cmd.Env = append(os.Environ(), "ETCD_UNSUPPORTED_ARCH="+runtime.GOARCH)
	}
	e.cmd.Stderr = &e.log
	if err := e.cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
}

func (e *etcd) kill() {
	if e.cmd != nil && e.cmd.Process != nil {
		_ = e.cmd.Process.Kill()
		_ = e.cmd.Wait()
	}
}

// call sends a request to etcd's gateway.
func (e *etcd) call(what, key, value string) error {
	body := fmt.Sprintf(`{"key": %q`, base64.StdEncoding.EncodeToString([]byte(key)))
	if what == "put" {
		body += fmt.Sprintf(`, "value": %q`, base64.StdEncoding.EncodeToString([]byte(value)))
	}
	client := http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: e.tls}}
	answer, err := client.Post(e.client+"/v3/kv/"+what, "application/json", bytes.NewReader([]byte(body+"}")))
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return nil
}

func (e *etcd) put(value string) {
	e.t.Helper()
	if err := e.call("put", key, value); err != nil {
		e.t.Fatal(err)
	}
}

func within(t *testing.T, limit time.Duration, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

const key = "/services/orders/sharding"

func (e *etcd) source() remote.Source {
	return remote.Source{Endpoints: []string{e.client}, Key: key, Interval: 50 * time.Millisecond}
}

// version is a document whose names have upper case and dots.
func version(n int) string {
	return fmt.Sprintf("rulesVersion: %d\ndataSources: {Ds.0: {dsn: \"app:s3cret@tcp(h)/d\"}}\ndefaultDataSource: Ds.0\n", n)
}

func TestLoadReadsTheValueAsAFileIsRead(t *testing.T) {
	e := startEtcd(t)
	if _, err := remote.Load(t.Context(), e.source()); err == nil || !strings.Contains(err.Error(), "etcd3 "+key) {
		t.Errorf("a key that is not there: %v", err)
	}
	e.put(version(3))
	t.Setenv("SHARDING_PROPS_MAXNODES", "7")
	cfg, err := remote.Load(t.Context(), e.source())
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := cfg.DataSources["Ds.0"]; !ok || cfg.RulesVersion != 3 || cfg.Props.MaxNodes != 7 {
		t.Errorf("got %+v", cfg)
	}
	partly := e.source()
	partly.Endpoints = []string{"http://127.0.0.1:1", e.client} // nobody is at the first
	if cfg, err := remote.Load(t.Context(), partly); err != nil || cfg.RulesVersion != 3 {
		t.Errorf("with one of two endpoints: %+v, %v", cfg, err)
	}
	asJSON := e.source()
	asJSON.Format = "json"
	e.put(`{"rulesVersion": 4}`)
	if cfg, err := remote.Load(t.Context(), asJSON); err != nil || cfg.RulesVersion != 4 {
		t.Errorf("got %+v, %v", cfg, err)
	}
	for value, want := range map[string]string{
		"":                                    "the value is empty",
		"colour: red":                         "colour: unknown key",
		"dataSources: {ds0: {dsn: s3cret}":    "yaml",
		"dataSources: {ds0: {dsn: [s3cret]}}": "must be a text",
	} {
		e.put(value)
		_, err := remote.Load(t.Context(), e.source())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: got %v", value, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := remote.Load(ended, e.source()); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

func TestSourcesThatNameNothingAreErrors(t *testing.T) {
	for want, s := range map[string]remote.Source{
		"no endpoint":              {Key: key},
		"no key":                   {Endpoints: []string{"http://127.0.0.1:1"}},
		"the interval is negative": {Endpoints: []string{"http://127.0.0.1:1"}, Key: key, Interval: -1},
	} {
		if _, err := remote.Load(t.Context(), s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Load: got %v, want %s", err, want)
		}
		if _, err := remote.Watch(t.Context(), s, func(config.Event) {}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Watch: got %v, want %s", err, want)
		}
	}
}

func TestWatchFollowsTheKeyThroughEverything(t *testing.T) {
	e := startEtcd(t)
	var last atomic.Pointer[config.Event]
	var reports, calls atomic.Int64
	w, err := remote.Watch(t.Context(), e.source(), func(found config.Event) {
		if calls.Add(1) != 1 {
			t.Error("two reports at a time")
		}
		last.Store(&found)
		reports.Add(1)
		calls.Add(-1)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	fails := func(what, text string) {
		t.Helper()
		within(t, 15*time.Second, what, func() bool {
			found := last.Load()
			return found != nil && found.Err != nil && found.Config == nil && strings.Contains(found.Err.Error(), text)
		})
	}
	becomes := func(n int) {
		t.Helper()
		within(t, 30*time.Second, fmt.Sprintf("version %d", n), func() bool {
			found := last.Load()
			return found != nil && found.Err == nil && found.Config.RulesVersion == n
		})
	}

	fails("the key that is not there", key)
	e.put(version(1))
	becomes(1)
	e.put(version(2))
	becomes(2)

	before := reports.Load()
	e.put(version(2)) // written anew, with the same content
	e.put("rulesVersion: 3\ndataSources: {Ds.0: {ds")
	fails("the half-written value", "configuration: yaml")
	if got := reports.Load(); got != before+1 {
		t.Errorf("%d reports, want one", got-before)
	}
	if !errors.Is(last.Load().Err, fault.ErrConfig) {
		t.Errorf("the error is no ErrConfig: %v", last.Load().Err)
	}
	e.put("dataSources: {Ds.0: {dsn: x, maxOpenConns: -1}}\nrulesVersion: -1")
	fails("the value with faults", "maxOpenConns: is negative")
	e.put("")
	fails("the empty value", "is empty")
	e.put(version(2))
	becomes(2) // again as before

	if err := e.call("deleterange", key, ""); err != nil {
		t.Fatal(err)
	}
	fails("the deleted value", key)
	e.put(version(4))
	becomes(4)

	e.kill()
	fails("etcd that was killed", "etcd3")
	e.start()
	becomes(4)
	e.put(version(5))
	becomes(5)

	w.Close()
	w.Close()
	before = reports.Load()
	e.put(version(6))
	if _, err := remote.Load(t.Context(), e.source()); err != nil {
		t.Fatal(err)
	}
	if got := reports.Load(); got != before {
		t.Errorf("%d reports after Close", got-before)
	}
}

func TestWatchEndsWithItsContext(t *testing.T) {
	e := startEtcd(t)
	e.put(version(1))
	ctx, cancel := context.WithCancel(t.Context())
	reported := make(chan config.Event, 1)
	w, err := remote.Watch(ctx, e.source(), func(found config.Event) { reported <- found })
	if err != nil {
		t.Fatal(err)
	}
	if found := <-reported; found.Err != nil {
		t.Error(found.Err)
	}
	cancel()
	w.Close() // returns: the goroutine has ended
}
