package sharding

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	gormcallbacks "gorm.io/gorm/callbacks"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/readwrite"
	"github.com/gormshard/sharding/shardkernel"
	"github.com/gormshard/sharding/shardkernel/keygen"
)

// controlConnections is the size of the pool that the kernel reads metadata and
// settings through, apart from the application's pool, so that a transaction
// holding a pool of one does not wait for itself.
const controlConnections = 2

// callerPool is what the application opened with gorm.Open.
type callerPool struct {
	db   *gorm.DB
	pool *sql.DB
	as   string     // the configured data source that it is, empty for none
	dsn  config.DSN // what that was opened with
	// lines are those of the pool; nil where the application has opened it.
	lines *readwrite.Lines
}

// source is one opened data source.
type source struct {
	db      *gorm.DB
	pool    *sql.DB
	control *sql.DB          // nil when it is the pool itself
	dsn     string           // empty when it is not known
	lines   *readwrite.Lines // of the pool's connections; nil when they are not known
}

// sources holds the opened data sources.
type sources struct {
	byName    map[string]*source
	primaries map[string]*source // of groups, by the groups' names
	groups    map[string]*readwrite.Group
	caller    *sql.DB // the application's pool, nil without GORM
}

// open makes a generation of a configuration and its rules: it opens the data
// sources without dialling them, and makes the kernel over them. What stays the same is taken over from the generation before, which may be nil.
// Either everything is open, or nothing.
func open(ctx context.Context, cfg *config.Config, rules *shardkernel.Rules, o *options, caller *callerPool, before *generation) (*generation, error) {
	s := &sources{byName: map[string]*source{}, primaries: map[string]*source{}, groups: map[string]*readwrite.Group{}}
	log := caller.log()
	if caller != nil {
		s.caller = caller.pool
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(cfg.DataSources)) {
		if s.byName[name] = before.source(name, cfg.DataSources[name]); s.byName[name] != nil {
			continue
		}
		delete(s.byName, name)
		if err := s.open(name, cfg.DataSources[name], o, caller); err != nil {
			errs = append(errs, &fault.ConfigError{Path: "dataSources." + name, Err: err})
		}
	}
	for _, name := range cfg.SourceNames() {
		if _, configured := cfg.DataSources[cfg.PrimaryOf(name)]; configured {
			continue
		}
		if s.byName[name] = before.adopted(name); s.byName[name] != nil {
			continue
		}
		delete(s.byName, name)
		if err := s.adopt(name, caller); err != nil {
			errs = append(errs, &fault.ConfigError{Path: "dataSources." + name, Err: err})
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(append(errs, s.closeUnlike(before.allSources()))...)
	}
	all, err := s.kernelSources(cfg, o, log, before) //nolint:contextcheck // replicas change while no statement runs
	if err != nil {
		return nil, errors.Join(err, s.closeUnlike(before.allSources()))
	}
	kernel, err := shardkernel.New(rules, all, shardkernel.Options{
		Before: before.kernelOf(),
		Props:  cfg.Props, ImplicitWrites: cfg.Transaction.ImplicitWrites(), IDLease: cfg.IDLease,
		BroadcastCheck: cfg.Sharding.BroadcastCheck,
		Trace:          o.tracer(&cfg.Props, log), FollowRows: cfg.Props.SQLShow,
		Warn: func(ctx context.Context, message string) { log.Warn(ctx, "%s", message) },
	})
	if err != nil {
		return nil, errors.Join(err, s.closeUnlike(before.allSources()))
	}
	g := &generation{cfg: cfg, fingerprint: cfg.Fingerprint(), rules: rules, sources: s, kernel: kernel}
	if err := g.check(ctx, before); err != nil {
		return nil, errors.Join(err, g.discard(before))
	}
	return g, nil
}

var errNoConfig error = &fault.ConfigError{Path: "config", Reason: "there is no configuration", Remedy: "hand over the result of config.Load, or a *config.Config"}

func errNoDriver(name string) error {
	return fmt.Errorf("no driver %q; add it with sharding.WithDialector", name)
}

// compile makes the rules of a configuration that takes the place of a generation,
// which may be nil.
func compile(cfg *config.Config, o *options, before *generation) (*shardkernel.Rules, error) {
	if cfg == nil {
		return nil, errNoConfig
	}
	types, err := o.types()
	if err != nil {
		return nil, err
	}
	return shardkernel.Recompile(cfg, types.algorithms, types.generators, func(name string) keygen.Generator { return before.generator(cfg, name) })
}

func (s *sources) open(name string, ds config.DataSource, o *options, caller *callerPool) error {
	opener, ok := o.dialectors[ds.DriverName()]
	if !ok {
		return errNoDriver(ds.DriverName())
	}
	gormConfig := &gorm.Config{DisableAutomaticPing: true}
	if caller != nil {
		gormConfig.Logger, gormConfig.NowFunc, gormConfig.TranslateError = caller.db.Logger, caller.db.NowFunc, caller.db.TranslateError
	}
	dialector := opener(string(ds.DSN))
	var lines *readwrite.Lines
	var err error
	if caller != nil && caller.as == name && caller.dsn == ds.DSN {
		dialector, gormConfig.ClauseBuilders = adopted{Dialector: caller.db.Dialector, caller: caller}, maps.Clone(caller.db.ClauseBuilders)
		lines = caller.lines
	} else if lines, err = tap(dialector); err != nil {
		return err
	}
	db, pool, err := openPool(dialector, gormConfig)
	if err != nil {
		return err
	}
	size(pool, ds)
	_, control, err := openPool(opener(string(ds.DSN)), &gorm.Config{DisableAutomaticPing: true})
	if err != nil {
		return errors.Join(err, pool.Close())
	}
	control.SetMaxOpenConns(controlConnections)
	s.byName[name] = &source{db: db, pool: pool, control: control, dsn: string(ds.DSN), lines: lines}
	return nil
}

// defaultIdleConns is database/sql's own number.
const defaultIdleConns = 2

// size sets the size of a pool, which may be in use.
func size(pool *sql.DB, ds config.DataSource) {
	pool.SetMaxOpenConns(ds.MaxOpenConns)
	pool.SetMaxIdleConns(cmp.Or(ds.MaxIdleConns, defaultIdleConns))
	pool.SetConnMaxLifetime(ds.ConnMaxLifetime)
	pool.SetConnMaxIdleTime(ds.ConnMaxIdleTime)
}

// adopt makes the application's own pool a data source.
func (s *sources) adopt(name string, caller *callerPool) error {
	if caller == nil {
		return errors.New("there is no such data source, and without GORM no pool of the application's; name a defaultDataSource")
	}
	db, err := gorm.Open(adopted{Dialector: caller.db.Dialector, caller: caller}, &gorm.Config{
		DisableAutomaticPing: true, ClauseBuilders: maps.Clone(caller.db.ClauseBuilders),
		Logger: caller.db.Logger, NowFunc: caller.db.NowFunc, TranslateError: caller.db.TranslateError,
	})
	if err != nil {
		return err
	}
	own := &source{db: db, pool: caller.pool}
	if dialector, ok := caller.db.Dialector.(*gormmysql.Dialector); ok && dialector.DSN != "" {
		_, control, err := openPool(gormmysql.New(gormmysql.Config{DSN: dialector.DSN, SkipInitializeWithVersion: true}), &gorm.Config{DisableAutomaticPing: true})
		if err != nil {
			return err
		}
		control.SetMaxOpenConns(controlConnections)
		own.control, own.dsn = control, dialector.DSN
	}
	s.byName[name] = own
	return nil
}

// adopted is the application's dialector over the pool it has opened already.
type adopted struct {
	gorm.Dialector
	caller *callerPool
}

// Initialize is not the dialector's own, which would open another pool. The
// clauses are those that it gave the application's *gorm.DB: GORM leaves others
// out of a statement without a word, such as the LIMIT of MySQL's DELETE.
func (a adopted) Initialize(db *gorm.DB) error {
	db.ConnPool = a.caller.pool
	own := a.caller.db.Callback()
	gormcallbacks.RegisterDefaultCallbacks(db, &gormcallbacks.Config{
		CreateClauses: slices.Clone(own.Create().Clauses),
		QueryClauses:  slices.Clone(own.Query().Clauses),
		UpdateClauses: slices.Clone(own.Update().Clauses),
		DeleteClauses: slices.Clone(own.Delete().Clauses),
	})
	return nil
}

// GORM asks a dialector for what follows by type assertions, which do not see the
// embedded one.

func (a adopted) Translate(err error) error {
	if translator, ok := a.Dialector.(gorm.ErrorTranslator); ok {
		return translator.Translate(err)
	}
	return err
}

func (a adopted) SavePoint(tx *gorm.DB, name string) error {
	if pointer, ok := a.Dialector.(gorm.SavePointerDialectorInterface); ok {
		return pointer.SavePoint(tx, name)
	}
	return gorm.ErrUnsupportedDriver
}

func (a adopted) RollbackTo(tx *gorm.DB, name string) error {
	if pointer, ok := a.Dialector.(gorm.SavePointerDialectorInterface); ok {
		return pointer.RollbackTo(tx, name)
	}
	return gorm.ErrUnsupportedDriver
}

func openPool(dialector gorm.Dialector, cfg *gorm.Config) (*gorm.DB, *sql.DB, error) {
	db, err := gorm.Open(dialector, cfg)
	if err != nil {
		return nil, nil, err
	}
	pool, err := db.DB()
	return db, pool, err
}

func (s *sources) gorm(name string) *gorm.DB {
	if src, ok := s.byName[name]; ok {
		return src.db
	}
	if src, ok := s.primaries[name]; ok {
		return src.db
	}
	return nil
}

// kernelSources returns the data sources as the kernel knows them: groups in
// place of their members.
func (s *sources) kernelSources(cfg *config.Config, o *options, log logger.Interface, before *generation) ([]shardkernel.Source, error) {
	balancers, err := o.loadBalancers()
	if err != nil {
		return nil, err
	}
	var out []shardkernel.Source
	var errs []error
	for _, name := range cfg.SourceNames() {
		group, grouped := cfg.ReadwriteSplitting.Groups[name]
		if !grouped {
			out = append(out, s.byName[name].kernel(name))
			continue
		}
		balancer, err := balancers.New(group.Balancer(), struct{}{})
		if err == nil && balancer == nil {
			err = errors.New("the type's factory made nothing")
		}
		if err != nil {
			errs = append(errs, &fault.ConfigError{Path: "readwriteSplitting.groups." + name + ".loadBalancer", Err: err})
			continue
		}
		of := s.byName[group.Primary].kernel(name)
		of.TransactionalReads = transactionalReads[group.Transactional()]
		s.primaries[name] = s.byName[group.Primary]
		replicas := make([]*readwrite.Replica, len(group.Replicas))
		for i, replica := range group.Replicas {
			of.Replicas = append(of.Replicas, s.byName[replica].kernel(replica))
			member := s.byName[replica]
			replicas[i] = readwrite.NewReplica(replica, group.Weight(replica), member.pool, member.control)
			if member.lines != nil {
				replicas[i].HangUp = member.lines.HangUp
			}
		}
		if s.groups[name] = before.group(name, cfg, s); s.groups[name] == nil {
			s.groups[name] = readwrite.NewGroup(name, balancer, replicas, readwrite.Options{
				Health:      health(cfg.ReadwriteSplitting.Health),
				PrimaryOnly: before.onlyPrimary(name, cfg),
				MustReplica: group.NoReplica == config.NoReplicaError,
				Changed:     logState(log),
				Before:      before.groupOf(name),
			})
		}
		of.Chooser = s.groups[name]
		out = append(out, of)
	}
	return out, errors.Join(errs...)
}

func health(h config.Health) *readwrite.Health {
	if h.Off {
		return nil
	}
	return &readwrite.Health{
		Interval: h.Interval, Timeout: h.Timeout, MaxLag: h.MaxLag, FailAfter: h.FailAfter, RecoverAfter: h.RecoverAfter,
		IgnoreLag: h.IgnoreLag, LagQuery: h.LagQuery,
	}
}

func logState(log logger.Interface) func(readwrite.State) {
	return func(s readwrite.State) {
		if s.Up {
			log.Info(context.Background(), "sharding: replica %s of %s answers reads", s.Replica, s.DataSource)
		} else {
			log.Warn(context.Background(), "sharding: replica %s of %s answers no reads: %s", s.Replica, s.DataSource, s.Reason)
		}
	}
}

var transactionalReads = map[string]shardkernel.TransactionalReads{
	config.TransactionalPrimary: shardkernel.TransactionalPrimary,
	config.TransactionalFixed:   shardkernel.TransactionalFixed,
	config.TransactionalDynamic: shardkernel.TransactionalDynamic,
}

func (s *source) kernel(name string) shardkernel.Source {
	return shardkernel.Source{Name: name, DB: s.pool, Control: s.control, Dialect: s.db.Dialector.Name(), DSN: s.dsn, FetchesAhead: s.lines != nil}
}

// close closes every pool, the application's own included.
func (s *sources) close() error {
	err := s.closeUnlike(nil)
	if s.caller != nil {
		err = errors.Join(err, s.caller.Close())
	}
	return err
}

// closeUnlike closes the groups and the pools that were opened here, but for those
// that others have as well.
func (s *sources) closeUnlike(others *sources) error {
	var errs []error
	for _, group := range s.groupsUnlike(others) {
		group.Close()
	}
	for _, src := range s.unlike(others) {
		errs = append(errs, src.close(s.caller))
	}
	return errors.Join(errs...)
}

// unlike returns the data sources that others do not have.
func (s *sources) unlike(others *sources) []*source {
	var out []*source
	for name, src := range s.byName {
		if others == nil || others.byName[name] != src {
			out = append(out, src)
		}
	}
	return out
}

// groupsUnlike returns the groups that others do not have.
func (s *sources) groupsUnlike(others *sources) []*readwrite.Group {
	var out []*readwrite.Group
	for name, group := range s.groups {
		if others == nil || others.groups[name] != group {
			out = append(out, group)
		}
	}
	return out
}

// close lets connections in use end by themselves.
func (s *source) close(caller *sql.DB) error {
	var err error
	if s.pool != caller {
		err = s.pool.Close()
	}
	if s.control != nil {
		err = errors.Join(err, s.control.Close())
	}
	return err
}
