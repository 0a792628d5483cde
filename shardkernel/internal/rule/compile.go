package rule

import (
	"errors"
	"slices"
	"strings"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/keygen"
)

// Compile validates a configuration and compiles it. The registries hold every
// algorithm and generator type the configuration may name. The error joins
// everything that was found, each a *fault.ConfigError with its path.
func Compile(cfg *config.Config, algorithms *algorithm.Registry, generators *keygen.Registry) (*Set, error) {
	return Recompile(cfg, algorithms, generators, func(string) keygen.Generator { return nil })
}

// Recompile is Compile with the key generators that kept returns for their names,
// where it returns one.
func Recompile(cfg *config.Config, algorithms *algorithm.Registry, generators *keygen.Registry, kept func(name string) keygen.Generator) (*Set, error) {
	long := cfg.Expand()
	c := compiler{
		cfg:        long,
		algorithms: map[string]algorithm.Algorithm{},
		generators: map[string]keygen.Generator{},
		classes:    map[string]int{},
	}
	// Validation makes each algorithm and generator once; the tables share them.
	if err := cfg.ValidateTypes(config.Types{
		Algorithm: func(name string) (algorithm.Algorithm, error) {
			configured := long.Sharding.Algorithms[name]
			a, err := algorithms.New(configured.Type, configured.Props)
			if err == nil && a == nil {
				err = errors.New("the type's factory made nothing")
			}
			c.algorithms[name] = a
			return a, err
		},
		Generator: func(name string) (keygen.Generator, error) {
			configured := long.Sharding.KeyGenerators[name]
			g, err := kept(name), error(nil)
			if g == nil {
				g, err = generators.New(configured.Type, configured.Props)
			}
			if err == nil && g == nil {
				err = errors.New("the type's factory made nothing")
			}
			c.generators[name] = g
			c.inOrder = append(c.inOrder, g)
			return g, err
		},
	}); err != nil {
		return nil, err
	}
	return c.compile()
}

// compiler compiles a valid configuration.
type compiler struct {
	cfg        *config.Config
	algorithms map[string]algorithm.Algorithm
	generators map[string]keygen.Generator
	inOrder    []keygen.Generator
	classes    map[string]int // of database strategies
}

func (c *compiler) compile() (*Set, error) {
	s := &Set{
		DataSources:       c.cfg.SourceNames(),
		DefaultDataSource: c.cfg.DefaultSourceName(),
		Schema:            c.cfg.Schema,
		MaxRangeValues:    c.cfg.Props.WithDefaults().MaxRangeValues,
		Generators:        c.inOrder,
		generators:        c.generators,
		tables:            map[string]*Table{},
		broadcast:         map[string]bool{},
		single:            map[string]string{},
	}
	for name, configured := range c.cfg.Sharding.Tables {
		if configured.Broadcast {
			continue
		}
		nodes, err := c.cfg.DataNodes(name)
		if err != nil {
			return nil, err
		}
		t, err := c.table(name, configured.WithDefaults(c.cfg.Sharding.Defaults), nodes, s.DataSources)
		if err != nil {
			return nil, err
		}
		t.Path = "sharding.tables." + name
		s.tables[name] = t
	}
	for name := range c.cfg.Sharding.AutoTables {
		t, err := c.autoTable(name, s.DataSources)
		if err != nil {
			return nil, err
		}
		s.tables[name] = t
	}
	for group, names := range c.cfg.Sharding.BindingTables {
		for _, name := range names {
			s.tables[name].binding = group
		}
	}
	for _, name := range c.cfg.Sharding.Broadcast() {
		s.broadcast[name] = true
	}
	for name, source := range c.cfg.Sharding.SingleTables {
		s.single[name] = source
	}
	s.sort()
	return s, nil
}

// autoTable compiles an auto table as one whose nodes are listed and which has a
// table strategy alone.
func (c *compiler) autoTable(name string, sources []string) (*Table, error) {
	configured := c.cfg.Sharding.AutoTables[name]
	counter, ok := c.algorithms[configured.Strategy.AlgorithmName()].(algorithm.Counter)
	if !ok {
		return nil, &fault.ConfigError{Path: "sharding.autoTables." + name + ".strategy", Reason: "its algorithm does not know its number of shards"}
	}
	nodes, err := configured.Nodes(name, counter.Shards(), sources)
	if err != nil {
		return nil, err
	}
	t, err := c.table(name, configured.Table(c.cfg.Sharding.Defaults), nodes, sources)
	if err != nil {
		return nil, err
	}
	t.Path = "sharding.autoTables." + name
	t.Tables.path = "strategy." + t.Tables.path[len("tableStrategy."):]
	return t, nil
}

func (c *compiler) table(name string, configured config.Table, nodes []config.DataNode, sources []string) (t *Table, err error) {
	t = &Table{Name: name, Nodes: make([]Node, len(nodes)), Audit: configured.Audit, TrustModel: configured.TrustModel, binding: -1}
	for i, node := range nodes {
		t.Nodes[i] = Node{DataSource: node.DataSource, Table: node.Table, Order: slices.Index(sources, node.DataSource)}
		t.sources = append(t.sources, node.DataSource)
	}
	t.sources = distinct(t.sources)
	if t.Database, err = c.strategy("databaseStrategy", configured.DatabaseStrategy, t.sources); err != nil {
		return nil, err
	}
	actual := make([]string, len(nodes))
	for i, node := range nodes {
		actual[i] = node.Table
	}
	if t.Tables, err = c.strategy("tableStrategy", configured.TableStrategy, distinct(actual)); err != nil {
		return nil, err
	}
	for _, s := range []*Strategy{t.Database, t.Tables} {
		if s != nil {
			t.columns = distinct(append(t.columns, s.Columns...))
		}
	}
	t.number()
	t.database = c.class(t, configured.DatabaseStrategy)
	if key := configured.KeyGenerate; key != nil {
		t.Key = &KeyGenerate{
			Column: strings.ToLower(key.Column), Generator: c.generators[key.Generator],
			Name: key.Generator + " (" + c.cfg.Sharding.KeyGenerators[key.Generator].Type + ")",
		}
		if owners, ok := t.Key.Generator.(keygen.OwnerGenerator); ok {
			t.Key.Owner, t.Key.Owners = strings.ToLower(owners.OwnerColumn()), owners
		}
	}
	return t, nil
}

func (c *compiler) strategy(level string, configured *config.Strategy, targets []string) (s *Strategy, err error) {
	if configured.IsNone() {
		return nil, nil
	}
	s = &Strategy{
		Columns:   configured.Columns(),
		Algorithm: configured.AlgorithmName(),
		Targets:   targets,
		TextKey:   textKeys[configured.TextKey],
	}
	a := c.algorithms[s.Algorithm]
	switch {
	case configured.Standard != nil:
		s.path = level + ".standard.column"
		if s.Sharder, err = a.(algorithm.Standard).Bind(targets); err != nil {
			return nil, err
		}
		s.Ranger, _ = s.Sharder.(algorithm.Ranger)
	case configured.Complex != nil:
		s.path = level + ".complex.columns"
		s.Complex, err = a.(algorithm.Complex).BindColumns(s.Columns, targets)
	default:
		hint, _ := algorithm.HintOf(a)
		s.Hint, err = hint.BindHint(targets)
	}
	return s, err
}

var textKeys = map[config.TextKey]TextKey{
	config.TextKeyBinary: TextBinary,
	config.TextKeyExact:  TextExact,
	config.TextKeyWeight: TextWeight,
}

// class numbers the tables whose rows with equal values in the column of the
// database strategy are in the same data source.
func (c *compiler) class(t *Table, configured *config.Strategy) int {
	var key string
	switch {
	case len(t.sources) == 1:
		key = "in " + t.sources[0]
	case t.Database == nil, t.Database.Hint != nil:
		return -1 // the data source follows from no column of the database strategy
	default:
		shape := c.cfg.Sharding.Shape(configured, "")
		if t.Database.TextKey == TextWeight {
			shape += " by weight"
		}
		key = shape + " over " + strings.Join(t.sources, "\x00")
	}
	if _, known := c.classes[key]; !known {
		c.classes[key] = len(c.classes)
	}
	return c.classes[key]
}

// number sets the indexes of the nodes among the targets.
func (t *Table) number() {
	for i := range t.Nodes {
		node := &t.Nodes[i]
		if t.Database != nil {
			node.Source = slices.Index(t.Database.Targets, node.DataSource)
		}
		if t.Tables != nil {
			node.Target = slices.Index(t.Tables.Targets, node.Table)
		}
	}
}

// distinct returns names without repetitions, in order.
func distinct(names []string) []string {
	seen := make(map[string]bool, len(names))
	out := make([]string, 0, len(names))
	for _, name := range names {
		if !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}
