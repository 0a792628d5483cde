package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/nearest"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/keygen"
)

// Types makes the configured algorithms and key generators. Each function gets
// a name of the configuration as Config.Expand returns it and is called at most once for it. It returns nil
// and no error for a type that cannot be judged.
type Types struct {
	Algorithm func(name string) (algorithm.Algorithm, error)
	Generator func(name string) (keygen.Generator, error)
}

// Validate reports every fault that can be found without opening a database,
// each as a *fault.ConfigError with its path, joined, in a stable order. It
// judges algorithms and generators of built-in types; other types may be added
// with an option of the plugin, which judges them itself.
func (c *Config) Validate() error {
	if c == nil {
		return missing()
	}
	return c.check(builtin).err()
}

// ValidateTypes is Validate with the types of an application, which are all
// judged.
func (c *Config) ValidateTypes(types Types) error {
	if c == nil {
		return missing()
	}
	return c.check(func(*Config) Types { return types }).err()
}

func missing() error {
	var f faults
	f.add("configuration", "is nil", "load one or build one in Go")
	return f.err()
}

// builtin makes what is of a built-in type.
func builtin(c *Config) Types {
	algorithms, generators := algorithm.NewRegistry(), keygen.NewRegistry()
	algorithmTypes, generatorTypes := algorithms.Types(), generators.Types()
	return Types{
		Algorithm: func(name string) (algorithm.Algorithm, error) {
			a := c.Sharding.Algorithms[name]
			if !has(algorithmTypes, a.Type) {
				return nil, nil
			}
			return algorithms.New(a.Type, a.Props)
		},
		Generator: func(name string) (keygen.Generator, error) {
			g := c.Sharding.KeyGenerators[name]
			if !has(generatorTypes, g.Type) {
				return nil, nil
			}
			return generators.New(g.Type, g.Props)
		},
	}
}

// has looks a type up as the registries do, without regard to case.
func has(types []string, name string) bool {
	return slices.ContainsFunc(types, func(t string) bool { return strings.EqualFold(t, strings.TrimSpace(name)) })
}

// checker finds the faults of one configuration.
type checker struct {
	faults
	cfg     *Config
	sources []string
	// first maps a data source to the first one that leads to the same
	// database.
	first map[string]string
	// algorithms holds what could be made; names that could not are left out.
	algorithms map[string]algorithm.Algorithm
	generators map[string]keygen.Generator
	broken     map[string]bool    // strategies with a fault, by path
	tables     []*checkedTable    // the sharded tables in order of their names
	owner      map[string]claimed // by the place of the node
}

func (c *Config) check(types func(*Config) Types) *faults {
	x := c.expand()
	k := &checker{
		cfg:        x.cfg,
		sources:    c.SourceNames(),
		first:      map[string]string{},
		algorithms: map[string]algorithm.Algorithm{},
		generators: map[string]keygen.Generator{},
		broken:     map[string]bool{},
		owner:      map[string]claimed{},
	}
	k.dataSources()
	k.readwriteSplitting()
	k.defaultDataSource()
	k.notNegative("rulesVersion", int64(c.RulesVersion))
	k.makeTypes(types(x.cfg))
	k.sharding()
	k.transaction()
	k.idLease()
	k.props()
	return x.reported(k.faults)
}

func (k *checker) dataSources() {
	places := map[string]string{}
	for _, name := range k.sources {
		k.first[name] = name
		database := k.cfg.PrimaryOf(name)
		source, ok := k.cfg.DataSources[database]
		// Other drivers may make a new database of every DSN, such as SQLite of
		// :memory:.
		if !ok || source.DriverName() != "mysql" || source.DSN == "" {
			continue
		}
		if other, ok := places[source.place()]; ok {
			k.first[name] = other
			k.onceOnly(join("dataSources", database)+".dsn", other)
		} else {
			places[source.place()] = name
		}
	}
	for _, name := range sortedNames(k.cfg.DataSources) {
		source := k.cfg.DataSources[name]
		path := join("dataSources", name)
		if name == "" {
			k.add(path, "the name is empty", "")
		}
		if source.DSN == "" {
			k.add(path+".dsn", "is empty", "")
		}
		k.notNegative(path+".maxOpenConns", int64(source.MaxOpenConns))
		k.notNegative(path+".maxIdleConns", int64(source.MaxIdleConns))
		k.notNegative(path+".connMaxLifetime", int64(source.ConnMaxLifetime))
		k.notNegative(path+".connMaxIdleTime", int64(source.ConnMaxIdleTime))
	}
}

// onceOnly reports a second data source for one database where that does harm
// whatever the nodes are.
func (k *checker) onceOnly(path, other string) {
	if broadcast := k.cfg.Sharding.Broadcast(); len(broadcast) > 0 {
		k.add(path, fmt.Sprintf("is the database of data source %q too, so that a write to the broadcast table %q would run twice in it", other, broadcast[0]), "")
	}
}

func (k *checker) defaultDataSource() {
	if name := k.cfg.DefaultSourceName(); !slices.Contains(k.sources, name) {
		k.add("defaultDataSource", fmt.Sprintf("no data source %q", name), nearest.Hint(name, k.sources))
	}
}

// makeTypes makes the algorithms and generators.
func (k *checker) makeTypes(types Types) {
	s := k.cfg.Sharding
	for _, name := range sortedNames(s.Algorithms) {
		path := join("sharding.algorithms", name)
		if s.Algorithms[name].Type == "" {
			k.add(path+".type", "is empty", "")
			continue
		}
		a, err := types.Algorithm(name)
		if err != nil {
			k.wrap(path, err)
		} else if a != nil {
			k.algorithms[name] = a
		}
	}
	for _, name := range sortedNames(s.KeyGenerators) {
		path := join("sharding.keyGenerators", name)
		if s.KeyGenerators[name].Type == "" {
			k.add(path+".type", "is empty", "")
			continue
		}
		g, err := types.Generator(name)
		if err != nil {
			k.wrap(path, err)
		} else if g != nil {
			k.generators[name] = g
		}
	}
	k.compose()
}

func (k *checker) transaction() {
	switch t := k.cfg.Transaction.Type; t {
	case "", TransactionLocal:
	case "XA", "BASE":
		k.add("transaction.type", t+" is not supported yet", "use "+TransactionLocal)
	default:
		k.add("transaction.type", fmt.Sprintf("no transaction type %q", t), "use "+TransactionLocal)
	}
}

func (k *checker) idLease() {
	lease := k.cfg.IDLease
	if lease.DataSource != "" {
		k.reference("idLease.dataSource", "data source", lease.DataSource, k.sources)
	}
	if lease.TTL < leastLeaseTTL && lease.TTL != 0 {
		k.add("idLease.ttl", fmt.Sprintf("is %s, less than %s", lease.TTL, leastLeaseTTL), "")
	}
}

func (k *checker) props() {
	p := k.cfg.Props
	k.notNegative("props.maxConnectionsPerQuery", int64(p.MaxConnectionsPerQuery))
	k.notNegative("props.maxMergeRows", int64(p.MaxMergeRows))
	k.notNegative("props.maxMergeBytes", p.MaxMergeBytes)
	k.notNegative("props.maxParallelUnits", int64(p.MaxParallelUnits))
	k.notNegative("props.maxUnionBranches", int64(p.MaxUnionBranches))
	k.notNegative("props.planCacheBytes", p.PlanCacheBytes)
	k.notNegative("props.maxRangeValues", int64(p.MaxRangeValues))
	k.notNegative("props.slowUnit", int64(p.SlowUnit))
	k.notNegative("props.statementTimeout", int64(p.StatementTimeout))
	k.notNegative("props.drainTimeout", int64(p.DrainTimeout))
	k.notNegative("props.maxNodes", int64(p.MaxNodes))
	k.notNegative("props.maxOffset", int64(p.MaxOffset))
	k.auditRules("props.audit", p.Audit)
}

func (k *checker) notNegative(path string, n int64) {
	if n < 0 {
		k.add(path, "is negative", "")
	}
}

func (k *checker) keyGenerate(path string, g *KeyGenerate) {
	if g == nil {
		return
	}
	if strings.TrimSpace(g.Column) == "" {
		k.add(path+".column", "is empty", "")
	}
	k.reference(path+".generator", "key generator", g.Generator, sortedNames(k.cfg.Sharding.KeyGenerators))
}

// reference reports a name that is none of names.
func (k *checker) reference(path, kind, name string, names []string) {
	switch {
	case name == "":
		k.add(path, "is empty", "")
	case !slices.Contains(names, name):
		k.add(path, fmt.Sprintf("no %s %q", kind, name), nearest.Hint(name, names))
	}
}
