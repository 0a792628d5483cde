package sharding

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/internal/fault"
	kerneldriver "github.com/gormshard/sharding/shardkernel/driver"
)

// ReloadOption changes what a reload may do.
type ReloadOption func(*reloadOptions)

type reloadOptions struct{ rerouting []string }

// AllowRerouting lets a reload change where rows of the named tables are looked
// for: their nodes, strategies and algorithms, whether they are configured at all,
// and where the data sources lead that only they use. Rows that are stored are not
// moved; the caller vouches that they are where the new rules look for them. All
// processes on the same databases have to change at the same time.
func AllowRerouting(tables ...string) ReloadOption {
	return func(o *reloadOptions) { o.rerouting = append(o.rerouting, tables...) }
}

// Reload puts another configuration in the place of the one in force, while
// statements run. It is compiled and checked beside that one, and comes into force
// as a whole or not at all: when Reload returns an error nothing has changed. The
// error is logged as well, and kept in Status. A configuration equal to the one in
// force changes nothing.
//
// Statements that begin after Reload has returned run under the new
// configuration. What began before goes on as it began: a statement with its
// rows, and a transaction from its first statement on. A prepared statement is
// planned anew whenever it is executed. A connection that is held (db.Connection,
// *sql.Conn) takes the new configuration with its next statement outside a
// transaction; where something was set on it on a data source that the new
// configuration has removed or leads elsewhere, it can only be closed. A
// transaction that wants to begin on such a data source fails with ErrRetryable.
//
// Data sources with the same driver and DSN keep their pools, whose sizes are
// changed in place; groups with the same members keep what is known of their
// replicas; key generators with the same type and properties go on. Pools that are
// no longer configured are closed when nothing needs them any more, at the latest
// after the new props.drainTimeout, when their connections are cut. Where a data
// source, or the primary of a group, is another one than before, or rules have
// changed, Reload returns when the statements that were on their way have ended,
// but waits no longer than that time.
//
// What makes rows that are stored unfindable is refused with ErrConfig, unless
// AllowRerouting names the table or the configuration has a higher rulesVersion:
// other nodes, strategies or algorithms of a table, a table that is gone, a rule for
// a table that had none and has rows in the default data source, a data source that
// leads elsewhere or is new where broadcast tables have copies, another schema. So is
// what could make keys twice: another counter of SEGMENT, or configured worker ids in
// the place of leased ones. A configuration with a lower rulesVersion is refused, and
// so is an empty one.
//
// Reload must not be called by what a statement waits for, such as a hook or a
// trace. Reloads run one after the other.
//
// Asking the servers may take up to two minutes where they give no answer;
// ReloadContext sets another limit.
func (p *Plugin) Reload(cfg *config.Config, opts ...ReloadOption) error {
	return p.ReloadContext(context.Background(), cfg, opts...)
}

// ReloadContext is Reload under a context. Where ctx ends before the configuration is
// in force, nothing changes, and the error is that of the context; afterwards it ends
// the wait for statements that were on their way, which is no error.
func (p *Plugin) ReloadContext(ctx context.Context, cfg *config.Config, opts ...ReloadOption) error {
	e, err := p.running()
	if err != nil {
		return err
	}
	_, err = e.reload(ctx, cfg, opts)
	return err
}

// Config returns a copy of the configuration in force, the one given to Register
// before the plugin is in use. Printing it shows no password.
func (p *Plugin) Config() *config.Config {
	e, err := p.running()
	if err != nil {
		return p.cfg.Clone()
	}
	return e.generation().cfg.Clone()
}

// next makes the generation that is to take g's place: g itself where nothing
// changes.
func (g *generation) next(ctx context.Context, cfg *config.Config, o *options, caller *callerPool, opts []ReloadOption) (*generation, error) {
	var allowed reloadOptions
	for _, opt := range opts {
		opt(&allowed)
	}
	cfg = cfg.Clone()
	switch {
	case reflect.DeepEqual(cfg, g.cfg):
		return g, nil
	case cfg != nil && reflect.ValueOf(*cfg).IsZero():
		return nil, &fault.ConfigError{Path: "config", Reason: "the configuration is empty", Remedy: "a file may have been read while it was written"}
	}
	rules, err := compile(cfg, o, g)
	if err != nil {
		return nil, err
	}
	if err := g.cfg.Rerouting(cfg, allowed.rerouting...); err != nil {
		return nil, err
	}
	if err := g.keepsRows(ctx, g.cfg.Claimed(cfg, allowed.rerouting...)); err != nil {
		return nil, err
	}
	next, err := open(ctx, cfg, rules, o, caller, g)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, errors.Join(context.Cause(ctx), next.discard(g))
	}
	next.number, next.since = g.number+1, time.Now()
	return next, nil
}

// keepsRows fails where one of the tables, which have no rule yet, has rows in the
// default data source, which a rule for it would leave behind.
func (g *generation) keepsRows(ctx context.Context, tables []string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	inhabited, err := g.kernel.Inhabited(ctx, tables)
	errs := []error{err}
	for _, name := range inhabited {
		errs = append(errs, &fault.ConfigError{
			Path: "sharding", Reason: fmt.Sprintf("table %q has rows in data source %q, where it had no rule, and gets one by which they would not be found", name, g.cfg.DefaultSourceName()),
			Remedy: fmt.Sprintf("raise rulesVersion once its rows are where the new rules look for them, or reload with sharding.AllowRerouting(%q)", name),
		})
	}
	return errors.Join(errs...)
}

// moved reports whether statements under the configuration before may go to other
// databases than those under this one.
func (g *generation) moved(before *generation) bool {
	for _, name := range before.cfg.SourceNames() {
		if before.sources.byName[before.cfg.PrimaryOf(name)] != g.sources.byName[g.cfg.PrimaryOf(name)] {
			return true
		}
	}
	return before.fingerprint != g.fingerprint
}

// Reloader is implemented by the connectors that Connector returns. Its methods are
// those of the Plugin.
type Reloader interface {
	Reload(cfg *config.Config, opts ...ReloadOption) error
	ReloadContext(ctx context.Context, cfg *config.Config, opts ...ReloadOption) error
	Watch(path string, opts ...WatchOption) error
	Config() *config.Config
	Status() Status
}

// connector is a driver's connector whose configuration can be reloaded.
type connector struct {
	*kerneldriver.Connector
	engine *engine
}

var _ Reloader = (*connector)(nil)

func (c *connector) Reload(cfg *config.Config, opts ...ReloadOption) error {
	return c.ReloadContext(context.Background(), cfg, opts...)
}

func (c *connector) ReloadContext(ctx context.Context, cfg *config.Config, opts ...ReloadOption) error {
	_, err := c.engine.reload(ctx, cfg, opts)
	return err
}

func (c *connector) Watch(path string, opts ...WatchOption) error {
	return c.engine.watch(path, opts)
}

func (c *connector) Config() *config.Config { return c.engine.generation().cfg.Clone() }
func (c *connector) Status() Status         { return c.engine.status() }
