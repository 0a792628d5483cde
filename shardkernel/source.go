package shardkernel

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/execute"
	"github.com/gormshard/sharding/shardkernel/internal/metadata"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// Source is a data source as the kernel knows it.
type Source struct {
	Name string
	DB   *sql.DB // the pool of the application's statements
	// Control is a small pool for metadata and settings, apart from DB, so that
	// a transaction that holds the last connection of DB does not wait for
	// itself. Nil means DB.
	Control *sql.DB
	// Dialect is GORM's dialector name: mysql or sqlite.
	Dialect string
	// DSN is what the pools were opened with, for the settings in it that change
	// answers; it is never shown. Empty when it is not known.
	DSN string
	// Replicas hold what the data source holds, and answer reads, under names that
	// are no data source's. Chooser chooses among them; it is not nil where there
	// are some.
	Replicas []Source
	Chooser  Chooser
	// TransactionalReads says where reads of a read-only transaction go.
	TransactionalReads TransactionalReads
	// FetchesAhead says of a replica that a query on DB returns when the beginning of
	// its rows has come, so that it can be sent elsewhere where these do not come.
	FetchesAhead bool
}

// source is a Source with what has been learnt of its server.
type source struct {
	execute.Source
	control *sql.DB
	client  *metadata.Client // nil when the DSN is not known
	packet  int64            // max_allowed_packet, once checked
	checked atomic.Bool
	gate    chan struct{} // holds one element while somebody checks

	replicas      []*source
	chooser       Chooser // nil without replicas
	transactional TransactionalReads
	streams       bool // some replica's pool gives rows that may fail before the first

	of    *source // of a replica: its data source
	place int     // and its place among the replicas
}

func newSource(s Source, trace Tracer) (*source, error) {
	d, ok := dialect.ByName(s.Dialect)
	if !ok {
		return nil, &fault.ConfigError{
			Path:   "dataSources." + s.Name + ".driver",
			Reason: fmt.Sprintf("the dialect %q is not supported", s.Dialect),
			Remedy: "use a driver whose GORM dialector is named mysql or sqlite",
		}
	}
	control := s.Control
	if control == nil {
		control = s.DB
	}
	out := &source{Source: execute.Source{Name: s.Name, DB: s.DB, Dialect: d, Trace: trace}, control: control, gate: make(chan struct{}, 1)}
	if d.IsMySQL() && s.Control != nil {
		out.Killer = execute.NewKiller(s.Control)
	}
	if d.IsMySQL() && s.DSN != "" {
		client, err := metadata.ParseClient(s.Name, s.DSN)
		if err != nil {
			return nil, err
		}
		out.client = &client
	}
	out.chooser, out.transactional = s.Chooser, s.TransactionalReads
	for i, replica := range s.Replicas {
		r, err := newSource(replica, trace)
		if err != nil {
			return nil, err
		}
		r.of, r.place = out, i
		out.streams = out.streams || !replica.FetchesAhead
		out.replicas = append(out.replicas, r)
	}
	return out, nil
}

// preparesArguments reports whether a statement with arguments is prepared on the
// server, which then answers in another protocol than it does a plain text.
func (s *source) preparesArguments() bool {
	return s.Dialect.IsMySQL() && (s.client == nil || !s.client.InterpolateParams)
}

// compareClients makes sure that all data sources speak one dialect and that
// their DSNs agree in what changes answers.
func (k *Kernel) compareClients() error {
	var errs []error
	var first *metadata.Client
	var all []*source
	for _, name := range k.rules.DataSources {
		all = append(append(all, k.sources[name]), k.sources[name].replicas...)
	}
	for _, s := range all {
		name := s.Name
		if s.Dialect != k.dialect {
			errs = append(errs, &fault.ConfigError{
				Path:   "dataSources." + name + ".driver",
				Reason: fmt.Sprintf("its SQL dialect, %s, differs from that of the default data source, %s", s.Dialect.Name, k.dialect.Name),
				Remedy: "use one kind of database for all data sources",
			})
		}
		switch {
		case s.client == nil:
		case first == nil:
			first = s.client
			k.convert = value.Converter{Location: first.Location, TimeTruncate: first.TimeTruncate}
		default:
			errs = append(errs, s.client.Equal(*first))
		}
	}
	return errors.Join(errs...)
}

// baseline is what the first data source that answered said of its server: all
// others must agree.
type baseline struct {
	mu       sync.Mutex
	name     string
	settings atomic.Pointer[metadata.Settings]
}

// source returns a data source whose server has been checked: on first use its
// settings are read and compared with those of the source that was read first.
func (k *Kernel) source(ctx context.Context, name string) (*source, error) {
	s, ok := k.sources[name]
	if !ok {
		return nil, &fault.ConfigError{Path: "dataSources." + name, Reason: "there is no such data source"}
	}
	if s.checked.Load() {
		return s, nil
	}
	return s, k.check(ctx, s)
}

func (k *Kernel) check(ctx context.Context, s *source) error {
	select {
	case s.gate <- struct{}{}:
		defer func() { <-s.gate }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if s.checked.Load() {
		return nil
	}
	settings, err := metadata.CheckSource(ctx, s.Name, s.control, s.Dialect)
	if err != nil {
		return &fault.NodeError{DataSource: s.Name, Err: err}
	}
	k.base.mu.Lock()
	defer k.base.mu.Unlock()
	if first := k.base.settings.Load(); first == nil {
		k.base.name = s.Name
		k.base.settings.Store(&settings)
	} else if err := settings.Equal(*first); err != nil {
		return err
	}
	s.packet = settings.MaxAllowedPacket
	s.checked.Store(true)
	return nil
}

// settings returns what is known of the servers, asking the data sources in
// order until one answers.
func (k *Kernel) settings(ctx context.Context) (*metadata.Settings, error) {
	if s := k.base.settings.Load(); s != nil {
		return s, nil
	}
	var first error
	for _, name := range k.rules.DataSources {
		_, err := k.source(ctx, name)
		if err == nil {
			return k.base.settings.Load(), nil
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, first
}

// controlPool gives the metadata reader the control pool of a data source.
func (k *Kernel) controlPool(name string) (*sql.DB, *dialect.Dialect, error) {
	s, ok := k.sources[name]
	if !ok {
		return nil, nil, &fault.ConfigError{Path: "dataSources." + name, Reason: "there is no such data source"}
	}
	return s.control, s.Dialect, nil
}
