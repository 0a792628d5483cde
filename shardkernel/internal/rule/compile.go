package rule

import (
	"errors"
	"slices"
	"strings"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/keygen"
)

// Compile validates a configuration and compiles it. The registries hold every
// algorithm and generator type the configuration may name. The error joins
// everything that was found, each a *fault.ConfigError with its path.
func Compile(cfg *config.Config, algorithms *algorithm.Registry, generators *keygen.Registry) (*Set, error) {
	c := compiler{
		cfg:        cfg,
		algorithms: map[string]algorithm.Algorithm{},
		generators: map[string]keygen.Generator{},
		classes:    map[string]int{},
	}
	// Validation makes each algorithm and generator once; the tables share them.
	if err := cfg.ValidateTypes(config.Types{
		Algorithm: func(name string) (algorithm.Algorithm, error) {
			configured := cfg.Sharding.Algorithms[name]
			a, err := algorithms.New(configured.Type, configured.Props)
			if err == nil && a == nil {
				err = errors.New("the type's factory made nothing")
			}
			c.algorithms[name] = a
			return a, err
		},
		Generator: func(name string) (keygen.Generator, error) {
			configured := cfg.Sharding.KeyGenerators[name]
			g, err := generators.New(configured.Type, configured.Props)
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
		Generators:        c.inOrder,
		tables:            map[string]*Table{},
		broadcast:         map[string]bool{},
		single:            map[string]string{},
	}
	for name, configured := range c.cfg.Sharding.Tables {
		if configured.Broadcast {
			continue
		}
		t, err := c.table(name, configured.WithDefaults(c.cfg.Sharding.Defaults), s.DataSources)
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

func (c *compiler) table(name string, configured config.Table, sources []string) (*Table, error) {
	nodes, err := c.cfg.DataNodes(name)
	if err != nil {
		return nil, err
	}
	t := &Table{Name: name, Nodes: make([]Node, len(nodes)), Audit: configured.Audit, binding: -1}
	for i, node := range nodes {
		t.Nodes[i] = Node{DataSource: node.DataSource, Table: node.Table, Order: slices.Index(sources, node.DataSource)}
		t.sources = append(t.sources, node.DataSource)
	}
	t.sources = distinct(t.sources)
	if t.Database, err = c.strategy(configured.DatabaseStrategy, t.sources); err != nil {
		return nil, err
	}
	actual := make([]string, len(nodes))
	for i, node := range nodes {
		actual[i] = node.Table
	}
	if t.Tables, err = c.strategy(configured.TableStrategy, distinct(actual)); err != nil {
		return nil, err
	}
	t.number()
	t.database = c.class(t, configured.DatabaseStrategy)
	if key := configured.KeyGenerate; key != nil {
		t.Key = &KeyGenerate{Column: strings.ToLower(key.Column), Generator: c.generators[key.Generator]}
	}
	return t, nil
}

func (c *compiler) strategy(configured *config.Strategy, targets []string) (*Strategy, error) {
	if configured.IsNone() {
		return nil, nil
	}
	standard := configured.Standard
	sharder, err := c.algorithms[standard.Algorithm].Bind(targets)
	if err != nil {
		return nil, err
	}
	ranger, _ := sharder.(algorithm.Ranger)
	return &Strategy{
		Column:    strings.ToLower(standard.Column),
		Algorithm: standard.Algorithm,
		Targets:   targets,
		Sharder:   sharder,
		Ranger:    ranger,
		TextExact: configured.TextKey == config.TextKeyExact,
	}, nil
}

// class numbers the tables whose rows with equal values in the column of the
// database strategy are in the same data source.
func (c *compiler) class(t *Table, configured *config.Strategy) int {
	var key string
	switch {
	case len(t.sources) == 1:
		key = "in " + t.sources[0]
	case t.Database == nil:
		return -1 // the table strategy alone decides, so the data source follows from no column
	default:
		shape := c.cfg.Sharding.Algorithms[t.Database.Algorithm].Shape("", configured.Standard.Column)
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
