// Package remote reads a configuration from a key of etcd, or of another store
// that Viper's remote support knows, and watches it. It is a module of its own, so
// that applications without it do not link the clients of these stores.
//
// The value of the key is a document as a file holds it; it means what config.Load
// makes of the file, with the environment over it.
//
// etcd is read by its own client, with credentials and certificates. The other stores
// go by Viper's support, which takes neither, and whose clients are kept for as long
// as the process runs, one for each list of endpoints. Keep passwords of databases out
// of the value with ${NAME}.
package remote

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/viper"
	_ "github.com/spf13/viper/remote" // registers the stores with Viper

	"github.com/gormshard/sharding/config"
)

// Source is a key of a store.
type Source struct {
	// Provider is the kind of the store, by Viper's name for it: etcd3, consul or
	// nats. Defaults to "etcd3".
	Provider string
	// Endpoints are the addresses of the store, such as https://10.0.0.1:2379.
	// Required.
	Endpoints []string
	// Username and Password are those of an etcd user; both or none. Without TLS they
	// are sent as they are. Default to none.
	Username string
	Password Secret
	// TLS holds the certificates for etcd, and must not be changed afterwards. A
	// server's certificate has to have the host of the endpoint.
	// Defaults to the system's roots for an endpoint that begins with https:, and to
	// no TLS for others.
	TLS *tls.Config `json:"-"`
	// Key is the key of the value. Required.
	Key string
	// Format is that of the value: yaml, toml or json. Defaults to "yaml".
	Format string
	// Interval is the time between two looks of Watch at the key. Defaults to 2
	// seconds.
	Interval time.Duration
}

const defaultInterval = 2 * time.Second

// patience is how long an answer of the store is waited for, as Viper's clients do.
const patience = 3 * time.Second

// String names the source in errors.
func (s Source) String() string { return provider{s}.Provider() + " " + s.Key }

// Load reads the configuration of a key. etcd is given up after three seconds
// without an answer, or with ctx; with other stores ctx is heeded before and after.
func Load(ctx context.Context, s Source) (*config.Config, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	from := s.store()
	defer from.close()
	data, err := from.read(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.parse(data, err)
}

// store is where a source is read from.
type store interface {
	check() error
	read(ctx context.Context) ([]byte, error)
	close()
}

func (s Source) store() store {
	if p := (provider{s}); p.Provider() != "etcd3" {
		return p
	}
	return &etcd{source: s}
}

func (s Source) check() error {
	switch {
	case len(s.Endpoints) == 0:
		return fmt.Errorf("sharding: %s: no endpoint of the store is named", s)
	case s.Key == "":
		return fmt.Errorf("sharding: %s: no key is named", s)
	case s.Interval < 0:
		return fmt.Errorf("sharding: %s: the interval is negative", s)
	}
	if err := s.store().check(); err != nil {
		return fmt.Errorf("sharding: %s: %w", s, err)
	}
	return nil
}

// parse turns what was read into a configuration. An empty value is none: it may be
// about to be written.
func (s Source) parse(data []byte, err error) (*config.Config, error) {
	switch {
	case err != nil:
		return nil, fmt.Errorf("sharding: %s: %w", s, err)
	case len(bytes.TrimSpace(data)) == 0:
		return nil, fmt.Errorf("sharding: %s: the value is empty", s)
	}
	cfg, err := config.Parse(data, cmp.Or(s.Format, "yaml"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s, err)
	}
	return cfg, nil
}

// provider is a source as Viper asks for it.
type provider struct{ source Source }

func (p provider) Provider() string      { return cmp.Or(p.source.Provider, "etcd3") }
func (p provider) Endpoint() string      { return strings.Join(p.source.Endpoints, ";") }
func (p provider) Path() string          { return p.source.Key }
func (p provider) SecretKeyring() string { return "" }

func (p provider) check() error {
	if p.source.Username != "" || p.source.Password != "" || p.source.TLS != nil {
		return errors.New("no credentials and certificates are taken for it; use a proxy on the machine that has them")
	}
	return nil
}

// reading serialises reads: Viper's clients are in a map that nobody locks for
// readers.
var reading sync.Mutex

// read returns the value of the key as it is. viper.ReadRemoteConfig would fold the
// case of the names in it.
func (p provider) read(context.Context) ([]byte, error) {
	reading.Lock()
	defer reading.Unlock()
	value, err := viper.RemoteConfig.Get(p)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(value)
}

func (p provider) close() {}

// Watcher watches a key until it is closed.
type Watcher struct {
	source Source
	report func(config.Event)
	seen   string // what was reported last
	stop   context.CancelFunc
	joined sync.WaitGroup
}

// Watch calls report with the configuration of a key, once for the value as it is
// and then whenever it has changed, until ctx ends or the Watcher is closed. One
// goroutine calls report, which must not close the Watcher. Hand what it gets to
// Plugin.Reload:
//
//	w, err := remote.Watch(ctx, source, func(found config.Event) {
//		if found.Err == nil {
//			found.Err = plugin.Reload(found.Config)
//		}
//		…
//	})
//
// A store that cannot be reached, a key that is away, an empty value and one with
// faults are reported as errors, once until the error is another one; what was
// there before stays in force. When the value is as before again, that is
// reported, too.
//
// The key is looked at every Interval, which misses nothing that changes while the
// store is away.
func Watch(ctx context.Context, s Source, report func(config.Event)) (*Watcher, error) {
	if report == nil {
		return nil, errors.New("sharding: remote.Watch has nobody to report to")
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	w := &Watcher{source: s, report: report}
	ctx, w.stop = context.WithCancel(ctx)
	w.joined.Go(func() { w.run(ctx) })
	return w, nil
}

// Close ends the watching and waits for report to return, and with other stores than
// etcd for an answer that is under way, for at most three seconds. Calling it again
// does nothing.
func (w *Watcher) Close() {
	w.stop()
	w.joined.Wait()
}

func (w *Watcher) run(ctx context.Context) {
	from := w.source.store()
	defer from.close()
	again := time.NewTicker(cmp.Or(w.source.Interval, defaultInterval))
	defer again.Stop()
	for {
		w.look(ctx, from)
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
	}
}

// look reads the key and reports what is new.
func (w *Watcher) look(ctx context.Context, from store) {
	data, err := from.read(ctx)
	if ctx.Err() != nil {
		return
	}
	found := "value " + string(data)
	if err != nil {
		found = "error " + err.Error()
	}
	if found == w.seen {
		return
	}
	w.seen = found
	cfg, err := w.source.parse(data, err)
	w.report(config.Event{Config: cfg, Err: err})
}
