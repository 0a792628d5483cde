package sharding

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"

	"gorm.io/gorm"

	"github.com/gormshard/sharding/callbacks"
	"github.com/gormshard/sharding/config"
	kerneldriver "github.com/gormshard/sharding/shardkernel/driver"
)

// pluginName is the key of the plugin in gorm.Config.Plugins.
const pluginName = "sharding"

// Plugin is the gorm.Plugin that shards a *gorm.DB. Make it with Register and
// hand it to db.Use once. Its methods are safe for concurrent use after that.
type Plugin struct {
	cfg     *config.Config
	options *options
	adopts  callerPool // the data source that the application's pool is; set by Open

	mu      sync.Mutex
	engine  *engine // nil before Initialize
	logical *sql.DB
}

var _ gorm.Plugin = (*Plugin)(nil)

// Register returns the plugin of a configuration, for db.Use. Nothing is checked
// or opened before db.Use calls Initialize.
//
// The pool that the application opened with gorm.Open is the data source named
// "default", which the configuration may use in its data nodes; it is where
// tables without a rule live unless the configuration names another
// defaultDataSource.
func Register(cfg *config.Config, opts ...Option) *Plugin {
	return &Plugin{cfg: cfg, options: newOptions(opts)}
}

// Name returns "sharding".
func (p *Plugin) Name() string { return pluginName }

// Initialize compiles the configuration, opens the data sources without
// dialling them, and puts the sharded pool in the place of db's. It is called by
// db.Use. Every fault found is reported at once, as ConfigErrors joined; db is
// unchanged then.
func (p *Plugin) Initialize(db *gorm.DB) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := callbacks.RefuseResolver(db); err != nil {
		return err
	}
	if p.engine != nil {
		// dbresolver adds the plugins that it finds to its own *gorm.DBs.
		if err := callbacks.RefuseResolver(p.engine.caller.db); err != nil {
			return err
		}
		return errors.New("sharding: the plugin is in use already; make one with Register for every *gorm.DB")
	}
	own, err := db.DB()
	if err != nil {
		return err
	}
	e, err := newEngine(p.cfg, p.options, &callerPool{db: db, pool: own, as: p.adopts.as, dsn: p.adopts.dsn, lines: p.adopts.lines})
	if err != nil {
		return err
	}
	if err := callbacks.Register(db, func() callbacks.Rules { return e.live.Acquire() }); err != nil {
		return errors.Join(err, e.close())
	}
	p.engine = e
	p.logical = sql.OpenDB(kerneldriver.NewConnector(e.live, e.close))
	keepSessions(p.logical)
	pool := &pool{DB: p.logical, live: e.live}
	if prepared, ok := db.ConnPool.(*gorm.PreparedStmtDB); ok {
		prepared.ConnPool = pool
	} else {
		db.ConnPool = pool
		db.Statement.ConnPool = pool
	}
	return nil
}

// Preview plans a statement and returns where it would be sent, as what, and
// why. The statement is not sent; what the planner has to know of the tables'
// columns is read from the data sources on first use.
func (p *Plugin) Preview(ctx context.Context, query string, args ...any) (*Preview, error) {
	e, err := p.running()
	if err != nil {
		return nil, err
	}
	kernel := e.live.Acquire()
	defer kernel.Release()
	return preview(ctx, kernel, query, args)
}

// DataSource returns the *gorm.DB of one data source, for what concerns one
// database alone, such as creating its actual tables. Statements on it are not
// sharded, and a reload may close its pool: ask again. It is nil when there is no
// such data source or the plugin is not in use. The data source "default" is the
// application's own pool. A group is its primary; the members of groups have names
// of their own here.
func (p *Plugin) DataSource(name string) *gorm.DB {
	e, err := p.running()
	if err != nil {
		return nil
	}
	return e.generation().sources.gorm(name)
}

// Close waits for running statements to end and closes all pools, that of the
// application's gorm.Open included. Statements sent afterwards fail. Calling it
// again does nothing. Closing the *sql.DB that db.DB() returns does the same.
func (p *Plugin) Close() error {
	p.mu.Lock()
	logical := p.logical
	p.mu.Unlock()
	if logical == nil {
		return nil
	}
	return logical.Close()
}

func (p *Plugin) running() (*engine, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.engine == nil {
		return nil, errors.New("sharding: the plugin is not in use; call db.Use first")
	}
	return p.engine, nil
}

// Connector returns a driver.Connector of the configuration for applications
// without GORM: sql.OpenDB(connector). The data sources are opened without being
// dialled. All data sources, the default one included, must be in the
// configuration. The connector is an io.Closer; closing the sql.DB closes it and
// the data sources' pools. It is a Reloader, too.
func Connector(cfg *config.Config, opts ...Option) (driver.Connector, error) {
	e, err := newEngine(cfg, newOptions(opts), nil)
	if err != nil {
		return nil, err
	}
	return &connector{kerneldriver.NewConnector(e.live, e.close), e}, nil
}
