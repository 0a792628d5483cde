//go:build unix

package reload_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
)

// silent returns a data source whose server takes connections and says nothing.
func (s *shop) silent(t *testing.T) (config.DataSource, net.Listener) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	dsn, err := mysql.ParseDSN(string(s.cfg.DataSources["ds1"].DSN))
	if err != nil {
		t.Fatal(err)
	}
	dsn.Net, dsn.Addr = "tcp", listener.Addr().String()
	return config.DataSource{DSN: config.DSN(dsn.FormatDSN())}, listener
}

func TestAReloadIsGivenUpWithItsContext(t *testing.T) {
	s := newShop(t, "context")
	ds, listener := s.silent(t)
	waits := s.changed(func(c *config.Config) { c.DataSources["ds9"] = ds })
	ctx, cancel := context.WithCancel(t.Context())
	reloaded := make(chan error)
	go func() { reloaded <- s.plugin.ReloadContext(ctx, waits) }()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	// One that waits for its turn is given up as well.
	queued, leave := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer leave()
	if err := s.plugin.ReloadContext(queued, s.changed(func(c *config.Config) { c.Props.MaxNodes = 9 })); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("behind another reload: %v", err)
	}
	cancel()
	if err := <-reloaded; !errors.Is(err, context.Canceled) {
		t.Errorf("while a server does not answer: %v", err)
	}
	if now := s.plugin.Status(); now.Generation != 1 || now.Reloads.Applied != 0 || now.Reloads.Failed != 2 || now.Draining != 0 {
		t.Errorf("what was given up has changed something: %+v", now)
	}
	if err := s.db.Create(&Order{UserID: 1}).Error; err != nil {
		t.Error(err)
	}
	s.reload(t, func(c *config.Config) { c.Props.MaxNodes = 9 })
}

// The network says of a dial that its context has ended no more than that it took too
// long, and Close ends one likewise.
func TestAReloadThatIsGivenUpWhileItDialsSaysWhy(t *testing.T) {
	s := newShop(t, "dials")
	dialling := make(chan struct{})
	mysql.RegisterDialContext("unreachable", func(ctx context.Context, _ string) (net.Conn, error) {
		select {
		case dialling <- struct{}{}:
		case <-ctx.Done():
		}
		<-ctx.Done()
		return nil, errors.New("i/o timeout")
	})
	dsn, err := mysql.ParseDSN(string(s.cfg.DataSources["ds1"].DSN))
	if err != nil {
		t.Fatal(err)
	}
	dsn.Net = "unreachable"
	waits := s.changed(func(c *config.Config) { c.DataSources["ds9"] = config.DataSource{DSN: config.DSN(dsn.FormatDSN())} })
	ctx, cancel := context.WithCancel(t.Context())
	reloaded := make(chan error)
	go func() { reloaded <- s.plugin.ReloadContext(ctx, waits) }()
	<-dialling
	cancel()
	if err := <-reloaded; !errors.Is(err, context.Canceled) || !errors.Is(s.plugin.Status().Reloads.Err, context.Canceled) {
		t.Errorf("%v, in the status %v", err, s.plugin.Status().Reloads.Err)
	}
}

// A configuration is in force although its reload no longer waits for what began
// before.
func TestAContextEndsTheWaitForFormerStatements(t *testing.T) {
	s := newShop(t, "waits")
	began, ended := make(chan error), make(chan error)
	go func() {
		conn, err := s.db.DB()
		if err == nil {
			began <- nil
			_, err = conn.Exec("DO SLEEP(2)")
		}
		ended <- err
	}()
	if err := <-began; err != nil {
		t.Fatal(err)
	}
	watcher := s.raw(t, 0)
	await(t, "the statement to be on its way", func() bool {
		var n int
		return watcher.QueryRow("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO = 'DO SLEEP(2)'").Scan(&n) == nil && n > 0
	})
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	// Another parameter is another pool, so that Reload waits.
	cfg := s.changed(func(c *config.Config) {
		c.DataSources["ds1"] = config.DataSource{DSN: c.DataSources["ds1"].DSN + "&readTimeout=50s"}
	})
	if err := s.plugin.ReloadContext(ctx, cfg); err != nil {
		t.Fatal(err)
	}
	if ctx.Err() == nil {
		t.Error("the reload has waited neither for the statement nor for its context")
	}
	if now := s.plugin.Status(); now.Generation != 2 || now.Draining != 1 {
		t.Errorf("the configuration is not in force: %+v", now)
	}
	if err := <-ended; err != nil {
		t.Errorf("the statement on its way: %v", err)
	}
	s.drained(t)
}

func TestAConnectorReloadsUnderAContext(t *testing.T) {
	s := newShop(t, "connector")
	connector, err := sharding.Connector(s.cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer connector.(interface{ Close() error }).Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	cfg := s.cfg.Clone()
	cfg.Props.MaxNodes = 9
	reloader := connector.(sharding.Reloader)
	if err := reloader.ReloadContext(ended, cfg); !errors.Is(err, context.Canceled) || reloader.Config().Props.MaxNodes != 0 {
		t.Errorf("under a context that has ended: %v, %d", err, reloader.Config().Props.MaxNodes)
	}
	if err := reloader.Reload(cfg); err != nil || reloader.Config().Props.MaxNodes != 9 {
		t.Errorf("%v, %d", err, reloader.Config().Props.MaxNodes)
	}
}
