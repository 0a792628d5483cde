package sharding

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/internal/fault"
)

// Open opens GORM on the data sources of a configuration, for applications that
// need no pool of their own: every data source, the default one included, is in
// the configuration and is opened once. It is gorm.Open and db.Use in one, and
// everything else is as with Register.
//
// gormConfig may be nil, and is not changed. Its plugins are added after the
// sharding plugin, in the order of their names; its Dialector and ConnPool do not
// count.
//
// GORM asks a MySQL or MariaDB server for its version. The default data source is
// asked first, then the others, so that Open fails only when none can be reached;
// apart from that no data source is dialled before a statement needs it.
//
// The *sql.DB of db.DB() closes all data sources, and so does Of(db).Close.
func Open(cfg *config.Config, gormConfig *gorm.Config, opts ...Option) (*gorm.DB, error) {
	p := Register(cfg, opts...)
	dialector, err := p.defaultDialector()
	if err != nil {
		return nil, err
	}
	own := gorm.Config{}
	if gormConfig != nil {
		own = *gormConfig
	}
	plugins := own.Plugins
	own.Plugins, own.ClauseBuilders, own.DisableAutomaticPing = nil, maps.Clone(own.ClauseBuilders), true
	db, err := gorm.Open(dialector, &own)
	if err != nil {
		return nil, fmt.Errorf("sharding: data source %s: %w", p.adopts.as, err)
	}
	if err := db.Use(p); err != nil {
		if pool, e := db.DB(); e == nil {
			err = errors.Join(err, pool.Close())
		}
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(plugins)) {
		if err := db.Use(plugins[name]); err != nil {
			return nil, errors.Join(fmt.Errorf("plugin %s: %w", name, err), p.Close())
		}
	}
	return db, nil
}

// Of returns the plugin that db uses, whatever session of it, and nil when it uses
// none.
func Of(db *gorm.DB) *Plugin {
	if db == nil || db.Config == nil {
		return nil
	}
	p, _ := db.Plugins[pluginName].(*Plugin)
	return p
}

// defaultDialector makes the dialector of the default data source, whose pool the
// plugin will adopt.
func (p *Plugin) defaultDialector() (gorm.Dialector, error) {
	if p.cfg == nil {
		return nil, errNoConfig
	}
	name := p.cfg.PrimaryOf(p.cfg.DefaultSourceName())
	ds, ok := p.cfg.DataSources[name]
	if !ok {
		if _, err := compile(p.cfg, p.options, nil); err != nil {
			return nil, err
		}
		return nil, &fault.ConfigError{
			Path:   "defaultDataSource",
			Reason: fmt.Sprintf("there is no data source %q, and no pool of the application's", name),
			Remedy: "name one of dataSources as defaultDataSource",
		}
	}
	opener, ok := p.options.dialectors[ds.DriverName()]
	if !ok {
		return nil, &fault.ConfigError{Path: "dataSources." + name, Err: errNoDriver(ds.DriverName())}
	}
	p.adopts = callerPool{as: name, dsn: ds.DSN}
	dialector := opener(string(ds.DSN))
	if d, ok := dialector.(*gormmysql.Dialector); ok && d.Conn == nil {
		var err error
		if p.adopts.lines, err = tap(d); err != nil {
			return nil, &fault.ConfigError{Path: "dataSources." + name, Err: err}
		}
		d.Conn, d.SkipInitializeWithVersion = &firstPool{DB: d.Conn.(*sql.DB), others: p.cfg.DataSources}, false
	}
	return dialector, nil
}

// firstPool is the pool of the default data source while GORM starts on it. Where
// that one cannot be reached the others are asked in its place.
type firstPool struct {
	*sql.DB
	others map[string]config.DataSource
}

// firstDial bounds the time in which a data source has to let itself be dialled
// for the question to go to it.
const firstDial = 5 * time.Second

// QueryRowContext implements gorm.ConnPool for the question that GORM has, which
// is the server's version.
func (p *firstPool) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if answers(ctx, p.DB) {
		return p.DB.QueryRowContext(ctx, query, args...)
	}
	for _, name := range slices.Sorted(maps.Keys(p.others)) {
		ds := p.others[name]
		if ds.DriverName() != gormmysql.DefaultDriverName {
			continue
		}
		other, err := sql.Open(gormmysql.DefaultDriverName, string(ds.DSN))
		if err != nil {
			continue
		}
		if answers(ctx, other) {
			row := other.QueryRowContext(ctx, query, args...)
			_ = other.Close() // its one connection is closed when the row has been read
			return row
		}
		_ = other.Close()
	}
	return p.DB.QueryRowContext(ctx, query, args...)
}

func answers(ctx context.Context, db *sql.DB) bool {
	ctx, cancel := context.WithTimeout(ctx, firstDial)
	defer cancel()
	return db.PingContext(ctx) == nil
}

// GetDBConn implements gorm.GetDBConnector.
func (p *firstPool) GetDBConn() (*sql.DB, error) { return p.DB, nil }
