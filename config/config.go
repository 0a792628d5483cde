// Package config holds the configuration: the structs, which may be built in Go,
// the reader of YAML, TOML and JSON files with the environment over them, and
// the validation that finds every fault at once and names its path.
//
// A configuration built in Go means the same as the file with the same content.
// The zero value of every field is its default. A Config must not be changed
// once it has been handed over.
package config

//go:generate go run github.com/gormshard/sharding/tests/schema

import (
	"slices"
	"time"

	"github.com/gormshard/sharding/internal/nearest"
)

// DefaultSource is the name of the data source that the application opened
// itself with gorm.Open. It exists unless the configuration defines a data
// source of that name or names another DefaultDataSource.
const DefaultSource = "default"

// Config is a whole configuration.
type Config struct {
	// DataSources are the databases by name, those that a group of
	// ReadwriteSplitting is made of among them. A name is kept as written. Where
	// an order of data sources is needed it is that of their names, digits
	// taken as numbers: ds2 comes before ds10. Defaults to none, which leaves
	// the application's own pool.
	DataSources map[string]DataSource `yaml:"dataSources,omitempty"`
	// DefaultDataSource names the data source of the tables that have no rule.
	// It must be one of DataSources or a group of them, or "default" for the pool the application
	// opened with gorm.Open. Defaults to "default".
	DefaultDataSource string `yaml:"defaultDataSource,omitempty"`
	// Schema is the logical schema: `schema.table` with it means the logical
	// table. Defaults to the schema of the default data source.
	Schema string `yaml:"schema,omitempty"`
	// RulesVersion is raised to let a reload move existing tables to other
	// nodes, or drop them; a reload that lowers it is refused. Defaults to 0.
	RulesVersion int `yaml:"rulesVersion,omitempty"`
	// Sharding holds the tables and what chooses their nodes. Defaults to no
	// sharded table.
	Sharding Sharding `yaml:"sharding,omitempty"`
	// Rules are the short form of sharded tables whose actual tables are numbered,
	// beside those of Sharding. Load writes them out there. Defaults to none.
	Rules []Rule `yaml:"rules,omitempty"`
	// Database says which data sources the tables of Rules are in. Defaults to the
	// default data source.
	Database Database `yaml:"database,omitempty"`
	// ReadwriteSplitting makes data sources of a primary and its replicas.
	// Defaults to none.
	ReadwriteSplitting ReadwriteSplitting `yaml:"readwriteSplitting,omitempty"`
	// Transaction says how transactions over several data sources are made.
	// Defaults to local transactions, also around a single write over several
	// nodes.
	Transaction Transaction `yaml:"transaction,omitempty"`
	// IDLease says where processes lease the worker ids and the numbers of
	// generated keys. Defaults to the default data source.
	IDLease IDLease `yaml:"idLease,omitempty"`
	// Props holds limits and switches. Defaults to the default of each.
	Props Props `yaml:"props,omitempty"`
}

// SourceNames returns the names of all data sources in order: groups in place of
// their members, and the application's own pool where it is the default one.
func (c *Config) SourceNames() []string {
	members := c.members()
	names := slices.DeleteFunc(sortedNames(c.DataSources), func(name string) bool { return members[name] })
	for name := range c.ReadwriteSplitting.Groups {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, nearest.Compare)
	if _, ok := c.DataSources[DefaultSource]; !ok && c.DefaultSourceName() == DefaultSource {
		names = append(names, DefaultSource)
		slices.SortFunc(names, nearest.Compare)
	}
	return names
}

// DefaultSourceName returns the name of the data source of the tables that have
// no rule.
func (c *Config) DefaultSourceName() string {
	if c.DefaultDataSource == "" {
		return DefaultSource
	}
	return c.DefaultDataSource
}

// DataSource is one database. Its pool is the driver's own.
type DataSource struct {
	// Driver names the dialector that opens the DSN: "mysql", for MySQL and
	// MariaDB, or one that was added with an option of the plugin. Defaults to
	// "mysql".
	Driver string `yaml:"driver,omitempty"`
	// DSN is the data source name in the driver's own form. In a file ${NAME}
	// stands for the environment variable NAME. It is never printed with its
	// password. Required.
	DSN DSN `yaml:"dsn"`
	// MaxOpenConns is the number of connections open at the same time. Defaults
	// to 0, no limit.
	MaxOpenConns int `yaml:"maxOpenConns,omitempty"`
	// MaxIdleConns is the number of connections kept when idle. Defaults to 0,
	// which is database/sql's own number, 2.
	MaxIdleConns int `yaml:"maxIdleConns,omitempty"`
	// ConnMaxLifetime is the age at which a connection is closed. Defaults to
	// 0, never.
	ConnMaxLifetime time.Duration `yaml:"connMaxLifetime,omitempty"`
	// ConnMaxIdleTime is the time after which an idle connection is closed.
	// Defaults to 0, never.
	ConnMaxIdleTime time.Duration `yaml:"connMaxIdleTime,omitempty"`
}

// DriverName returns the driver, or its default.
func (d DataSource) DriverName() string {
	if d.Driver == "" {
		return "mysql"
	}
	return d.Driver
}

// The types of a transaction over several data sources.
const (
	// TransactionLocal commits on one data source after the other. A failure in
	// between is reported as ErrPartialCommit.
	TransactionLocal = "LOCAL"
)

// Transaction says how transactions over several data sources are made.
type Transaction struct {
	// Type is the kind of transaction, TransactionLocal. Defaults to "LOCAL".
	Type string `yaml:"type,omitempty"`
	// Implicit puts a write that goes to several nodes outside a transaction
	// into one of its own, so that it happens on all or on none. Defaults to
	// true, which is what nil means.
	Implicit *bool `yaml:"implicit,omitempty"`
}

// ImplicitWrites reports whether a write over several nodes gets a transaction
// of its own.
func (t Transaction) ImplicitWrites() bool { return t.Implicit == nil || *t.Implicit }

// IDLease says where key generators keep what the processes share: the worker
// ids of SNOWFLAKE in the table _sharding_worker, the counters of SEGMENT in
// _sharding_segment. The tables are made on first use. All processes that write
// to the same sharded tables must name the same database, and what it has
// committed must outlive a crash and a failover of its server.
type IDLease struct {
	// DataSource names the data source of the tables. Defaults to the default
	// data source.
	DataSource string `yaml:"dataSource,omitempty"`
	// TTL is the time after which the worker id of a process that does not renew
	// its lease may be given to another one, at least a second. A lease is
	// renewed three times as often. Defaults to 30 seconds.
	TTL time.Duration `yaml:"ttl,omitempty"`
}

const (
	defaultLeaseTTL = 30 * time.Second
	leastLeaseTTL   = time.Second
)

// WithDefaults returns l with what it leaves open replaced by its default.
func (l IDLease) WithDefaults(defaultSource string) IDLease {
	if l.DataSource == "" {
		l.DataSource = defaultSource
	}
	if l.TTL == 0 {
		l.TTL = defaultLeaseTTL
	}
	return l
}

// Props holds limits and switches. In every number 0 means the default.
type Props struct {
	// SQLShow logs every unit, at level Info of GORM's logger: data source, time,
	// number of rows, and the SQL that was sent. Reads of one data source then take
	// the same way as those of several, which costs a little more. Defaults to
	// false.
	SQLShow bool `yaml:"sqlShow,omitempty"`
	// SlowUnit is the time that a data source may take to answer a unit, which is
	// until its first row can be read, or until the write is done. Units that take
	// longer are logged at level Warn of GORM's logger. Defaults to 0, off.
	SlowUnit time.Duration `yaml:"slowUnit,omitempty"`
	// PrimaryOnly sends all reads to the primaries of groups. Plugin.PrimaryOnly
	// changes it while the plugin runs. Defaults to false.
	PrimaryOnly bool `yaml:"primaryOnly,omitempty"`
	// MaxConnectionsPerQuery is the number of connections one statement may use
	// at the same time on one data source. Defaults to 1, with which unordered
	// reads of several tables stream one after the other.
	MaxConnectionsPerQuery int `yaml:"maxConnectionsPerQuery,omitempty"`
	// MaxMergeRows is the number of rows a statement may hold in memory while
	// merging. A statement that needs more fails with ErrTooManyRows; streaming
	// merges hold one row a node and are never limited. Defaults to 300000.
	MaxMergeRows int `yaml:"maxMergeRows,omitempty"`
	// MaxMergeBytes is the number of bytes a statement may hold in memory while
	// merging; beyond it fails with ErrTooManyRows. Defaults to 67108864 (64
	// MiB).
	MaxMergeBytes int64 `yaml:"maxMergeBytes,omitempty"`
	// MaxParallelUnits is the number of units of one statement that run at the
	// same time over all data sources. Defaults to 256.
	MaxParallelUnits int `yaml:"maxParallelUnits,omitempty"`
	// MaxUnionBranches is the number of actual tables that may stand in the place
	// of one logical table, as a UNION ALL, where a statement cannot be put
	// together from the answers of nodes but all of them are in one data source.
	// A statement that needs more is refused. Defaults to 64.
	MaxUnionBranches int `yaml:"maxUnionBranches,omitempty"`
	// Gather lets a SELECT that cannot be put together from the answers of several
	// data sources be answered by one of them, which is given the rows of the
	// others, up to MaxMergeRows and MaxMergeBytes. Defaults to true.
	Gather *bool `yaml:"gather,omitempty"`
	// PlanCacheBytes bounds the memory of cached statement plans. Defaults to
	// 67108864 (64 MiB).
	PlanCacheBytes int64 `yaml:"planCacheBytes,omitempty"`
	// MaxNodes is the number of nodes that a statement on sharded tables may go
	// to; one that needs more fails with ErrScatterDenied. Defaults to 0, no
	// limit.
	MaxNodes int `yaml:"maxNodes,omitempty"`
	// MaxOffset is the number of rows that a statement over several nodes may skip
	// by OFFSET; beyond it fails with ErrScatterDenied. Defaults to 0, no limit.
	MaxOffset int `yaml:"maxOffset,omitempty"`
	// Audit are the rules in force for all sharded tables, beside those of the
	// tables. Defaults to none.
	Audit []AuditRule `yaml:"audit,omitempty"`
	// AllowHintDisable lets hints switch MaxNodes, MaxOffset and Audit off for a
	// statement. Defaults to false.
	AllowHintDisable bool `yaml:"allowHintDisable,omitempty"`
	// MaxRangeValues is the number of integers that a closed range of sharding
	// values may hold for each of them to be looked at, where the algorithm does
	// not narrow ranges itself; a larger range goes to every node. Defaults to
	// 1000.
	MaxRangeValues int `yaml:"maxRangeValues,omitempty"`
	// StatementTimeout is the time a statement may take before it is cancelled
	// on all nodes. Defaults to 0, no limit but that of the context.
	StatementTimeout time.Duration `yaml:"statementTimeout,omitempty"`
	// DrainTimeout is how long statements and transactions may go on, after a
	// reload, with data sources that it has removed or replaced; then their
	// connections are cut. Defaults to 30 seconds.
	DrainTimeout time.Duration `yaml:"drainTimeout,omitempty"`
	// PreloadTables reads the columns of all sharded and broadcast tables when the
	// plugin starts, several at the same time, instead of each on first use.
	// Tables that do not exist yet are passed over. The start fails when the data
	// sources cannot be asked. Defaults to false.
	PreloadTables bool `yaml:"preloadTables,omitempty"`
	// CheckTables compares, when the plugin starts, how every sharded and
	// broadcast table is defined on its nodes: columns in their order, keys,
	// constraints and table options. The start fails with ErrSchemaDrift where
	// they differ, or where a table exists on some nodes only. Defaults to false.
	CheckTables bool `yaml:"checkTables,omitempty"`
}

// Gathers reports whether one data source may answer with the rows of others.
func (p *Props) Gathers() bool { return p.Gather == nil || *p.Gather }

// The defaults of Props.
const (
	defaultConnectionsPerQuery = 1
	defaultMergeRows           = 300_000
	defaultMergeBytes          = 64 << 20
	defaultParallelUnits       = 256
	defaultUnionBranches       = 64
	defaultPlanCacheBytes      = 64 << 20
	defaultRangeValues         = 1000
	defaultDrainTimeout        = 30 * time.Second
)

// WithDefaults returns p with every 0 replaced by its default.
func (p Props) WithDefaults() Props {
	if p.MaxConnectionsPerQuery == 0 {
		p.MaxConnectionsPerQuery = defaultConnectionsPerQuery
	}
	if p.MaxMergeRows == 0 {
		p.MaxMergeRows = defaultMergeRows
	}
	if p.MaxMergeBytes == 0 {
		p.MaxMergeBytes = defaultMergeBytes
	}
	if p.MaxParallelUnits == 0 {
		p.MaxParallelUnits = defaultParallelUnits
	}
	if p.MaxUnionBranches == 0 {
		p.MaxUnionBranches = defaultUnionBranches
	}
	if p.PlanCacheBytes == 0 {
		p.PlanCacheBytes = defaultPlanCacheBytes
	}
	if p.MaxRangeValues == 0 {
		p.MaxRangeValues = defaultRangeValues
	}
	if p.DrainTimeout == 0 {
		p.DrainTimeout = defaultDrainTimeout
	}
	return p
}

// sortedNames returns the keys of m in the order of names.
func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m)+1)
	for name := range m {
		names = append(names, name)
	}
	slices.SortFunc(names, nearest.Compare)
	return names
}
