package config

// Sharding holds the sharded tables, those that are bound to each other or
// broadcast, and what chooses their nodes.
type Sharding struct {
	// Tables are the sharded tables by logical name. Defaults to none.
	Tables map[string]Table `yaml:"tables,omitempty"`
	// SingleTables names the data source of tables that are not sharded and do
	// not live in the default data source. Defaults to none.
	SingleTables map[string]string `yaml:"singleTables,omitempty"`
	// BindingTables are lists of sharded tables whose rows with equal sharding
	// values are always on the same node, so that a join on the sharding
	// columns stays inside the nodes. In a file each list may also be one text
	// with commas. Defaults to none.
	BindingTables [][]string `yaml:"bindingTables,omitempty"`
	// BroadcastTables are tables with the same content in every data source. In
	// a file the list may also be one text with commas. Defaults to none.
	BroadcastTables []string `yaml:"broadcastTables,omitempty"`
	// Defaults are the strategies and the key generation of sharded tables that
	// set none. Defaults to none.
	Defaults Defaults `yaml:"defaults,omitempty"`
	// Algorithms are the sharding algorithms by name. Defaults to none.
	Algorithms map[string]Algorithm `yaml:"algorithms,omitempty"`
	// KeyGenerators are the key generators by name. Defaults to none.
	KeyGenerators map[string]KeyGenerator `yaml:"keyGenerators,omitempty"`
}

// Table is the rule of one logical table.
type Table struct {
	// ActualDataNodes names every data node as dataSource.table, with inline
	// expressions: ds${0..1}.t_order_${0..7}. Their order is that of the
	// targets of the strategies. Required, but for a broadcast table.
	ActualDataNodes string `yaml:"actualDataNodes,omitempty"`
	// DatabaseStrategy chooses the data source. Defaults to the one of
	// Defaults, else to none.
	DatabaseStrategy *Strategy `yaml:"databaseStrategy,omitempty"`
	// TableStrategy chooses the actual table. Defaults to the one of Defaults,
	// else to none.
	TableStrategy *Strategy `yaml:"tableStrategy,omitempty"`
	// KeyGenerate fills a column that an INSERT leaves out. Defaults to the one
	// of Defaults, else to none.
	KeyGenerate *KeyGenerate `yaml:"keyGenerate,omitempty"`
	// Audit refuses statements on the table. Defaults to the one of Defaults, else
	// to none.
	Audit *Audit `yaml:"audit,omitempty"`
	// Broadcast is another way to name the table in BroadcastTables; nothing
	// else may be set then. Defaults to false.
	Broadcast bool `yaml:"broadcast,omitempty"`
}

// WithDefaults returns t with what it leaves open taken from d.
func (t Table) WithDefaults(d Defaults) Table {
	if t.DatabaseStrategy == nil {
		t.DatabaseStrategy = d.DatabaseStrategy
	}
	if t.TableStrategy == nil {
		t.TableStrategy = d.TableStrategy
	}
	if t.KeyGenerate == nil {
		t.KeyGenerate = d.KeyGenerate
	}
	if t.Audit == nil {
		t.Audit = d.Audit
	}
	return t
}

// Defaults is used for sharded tables that set none of their own.
type Defaults struct {
	// DatabaseStrategy chooses the data source. Defaults to none.
	DatabaseStrategy *Strategy `yaml:"databaseStrategy,omitempty"`
	// TableStrategy chooses the actual table. Defaults to none.
	TableStrategy *Strategy `yaml:"tableStrategy,omitempty"`
	// KeyGenerate fills a column that an INSERT leaves out. Defaults to none.
	KeyGenerate *KeyGenerate `yaml:"keyGenerate,omitempty"`
	// Audit refuses statements on the tables. Defaults to none.
	Audit *Audit `yaml:"audit,omitempty"`
}

// TextKey says what may be done with text as a sharding value.
type TextKey string

const (
	// TextKeyRefuse refuses a sharding column whose collation takes different
	// texts for equal, since equal values could lie on different nodes.
	TextKeyRefuse TextKey = "refuse"
	// TextKeyExact trusts the application to write equal values with one
	// spelling only, and shards by the bytes.
	TextKeyExact TextKey = "exact"
)

// Strategy chooses among data sources or actual tables. Exactly one of Standard
// and None is set.
type Strategy struct {
	// Standard chooses by the value of one column. Defaults to nil.
	Standard *Standard `yaml:"standard,omitempty"`
	// None says that nothing is to be chosen, in place of a strategy of
	// Defaults. A file writes {none: {}}. Defaults to false.
	None bool `yaml:"none,omitempty" file:"presence"`
	// TextKey says what may be done with text as a sharding value. Defaults to
	// TextKeyRefuse.
	TextKey TextKey `yaml:"textKey,omitempty"`
}

// IsNone reports whether there is nothing to choose by. A nil strategy is none.
func (s *Strategy) IsNone() bool { return s == nil || s.Standard == nil }

// Standard is a strategy on one column.
type Standard struct {
	// Column is the sharding column; its case does not matter. Required.
	Column string `yaml:"column"`
	// Algorithm names one of Sharding.Algorithms. Required.
	Algorithm string `yaml:"algorithm"`
}

// KeyGenerate is the generated column of a table.
type KeyGenerate struct {
	// Column is the column that is filled; its case does not matter. Required.
	Column string `yaml:"column"`
	// Generator names one of Sharding.KeyGenerators. Required.
	Generator string `yaml:"generator"`
}

// Algorithm is a configured sharding algorithm.
type Algorithm struct {
	// Type is a built-in type, such as INLINE, MOD and HASH_MOD, or one that
	// was added with an option of the plugin; its case does not matter for
	// built-in types. Required.
	Type string `yaml:"type"`
	// Props are the properties the type asks for: numbers, booleans, texts,
	// lists and maps. Defaults to none.
	Props map[string]any `yaml:"props,omitempty"`
}

// KeyGenerator is a configured key generator.
type KeyGenerator struct {
	// Type is a built-in type, such as SNOWFLAKE and UUID, or one that was
	// added with an option of the plugin. Required.
	Type string `yaml:"type"`
	// Props are the properties the type asks for. Defaults to none.
	Props map[string]any `yaml:"props,omitempty"`
}

// Broadcast returns the names of all broadcast tables in order.
func (s *Sharding) Broadcast() []string {
	all := map[string]bool{}
	for _, name := range s.BroadcastTables {
		all[name] = true
	}
	for name, table := range s.Tables {
		if table.Broadcast {
			all[name] = true
		}
	}
	return sortedNames(all)
}
