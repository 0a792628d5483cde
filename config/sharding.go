package config

import (
	"slices"
	"strings"
)

// Sharding holds the sharded tables, those that are bound to each other or
// broadcast, and what chooses their nodes.
type Sharding struct {
	// Tables are the sharded tables by logical name. Defaults to none.
	Tables map[string]Table `yaml:"tables,omitempty"`
	// AutoTables are sharded tables whose nodes follow from the number of shards
	// of an algorithm, by logical name. Defaults to none.
	AutoTables map[string]AutoTable `yaml:"autoTables,omitempty"`
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
	// BroadcastCheck says how Plugin.CheckBroadcast reports on them. Defaults to
	// the default of each setting.
	BroadcastCheck BroadcastCheck `yaml:"broadcastCheck,omitempty"`
	// Defaults are the strategies and the key generation of sharded tables that
	// set none. Defaults to none.
	Defaults Defaults `yaml:"defaults,omitempty"`
	// Algorithms are the sharding algorithms by name. Defaults to none.
	Algorithms map[string]Algorithm `yaml:"algorithms,omitempty"`
	// KeyGenerators are the key generators by name. Defaults to none.
	KeyGenerators map[string]KeyGenerator `yaml:"keyGenerators,omitempty"`
}

// BroadcastCheck says how the copies of broadcast tables are compared.
type BroadcastCheck struct {
	// MaxDifferences is the number of rows that are named of a table whose copies
	// differ. Defaults to 100.
	MaxDifferences int `yaml:"maxDifferences,omitempty"`
}

const defaultDifferences = 100

// WithDefaults returns c with every 0 replaced by its default.
func (c BroadcastCheck) WithDefaults() BroadcastCheck {
	if c.MaxDifferences == 0 {
		c.MaxDifferences = defaultDifferences
	}
	return c
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
	// TrustModel declares that a model's sharding values are always those of its
	// row: a Save, Updates or Delete of a model, and a read by its key, is sent to
	// their node alone, and a row that is elsewhere is not found. Without it the
	// other nodes are asked where that one does not have the row. It also declares
	// that a row which refers to a row of a bound table has the sharding values of
	// that row, by which Preload is sent to the nodes of the models that were read.
	// Defaults to false.
	TrustModel bool `yaml:"trustModel,omitempty"`
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
	t.TrustModel = t.TrustModel || d.TrustModel
	return t
}

// AutoTable is the rule of a logical table whose nodes are not listed: shard i of
// the algorithm is the actual table <logical table>_<i>, in the data source of
// place i modulo their number.
type AutoTable struct {
	// DataSources names the data sources, with inline expressions: ds${0..3}.
	// Their order matters. Required.
	DataSources string `yaml:"dataSources"`
	// Strategy chooses the shard: a standard one, whose algorithm knows how many
	// there are, such as MOD, HASH_MOD, VOLUME_RANGE, BOUNDARY_RANGE and
	// AUTO_INTERVAL. Required; Defaults does not count.
	Strategy *Strategy `yaml:"strategy"`
	// KeyGenerate fills a column that an INSERT leaves out. Defaults to the one
	// of Defaults, else to none.
	KeyGenerate *KeyGenerate `yaml:"keyGenerate,omitempty"`
	// Audit refuses statements on the table. Defaults to the one of Defaults, else
	// to none.
	Audit *Audit `yaml:"audit,omitempty"`
	// TrustModel is as for Table. Defaults to false.
	TrustModel bool `yaml:"trustModel,omitempty"`
}

// Table returns the rule of a table whose nodes are listed, but for these, with
// the defaults that count for an auto table.
func (t AutoTable) Table(d Defaults) Table {
	none := &Strategy{None: true}
	return Table{DatabaseStrategy: none, TableStrategy: t.Strategy, KeyGenerate: t.KeyGenerate, Audit: t.Audit, TrustModel: t.TrustModel}.WithDefaults(d)
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
	// TrustModel declares it for all sharded tables. Defaults to false.
	TrustModel bool `yaml:"trustModel,omitempty"`
}

// TextKey says what may be done with text as a sharding value.
type TextKey string

const (
	// TextKeyRefuse refuses a sharding column whose collation takes different
	// texts for equal, since equal values could lie on different nodes.
	TextKeyRefuse TextKey = "refuse"
	// TextKeyBinary places rows by the bytes of the text. Where the collation
	// takes different texts for equal, conditions on the column do not narrow the
	// nodes, and joins on it are refused.
	TextKeyBinary TextKey = "binary"
	// TextKeyWeight places rows by the weight of the text, which is the same for
	// all that the collation takes for equal. The algorithm sees the weight as
	// text in hexadecimal digits. A server is asked for the weight of a text that
	// is not known yet.
	TextKeyWeight TextKey = "weight"
	// TextKeyExact trusts the application to write equal values with one
	// spelling only, and shards by the bytes.
	TextKeyExact TextKey = "exact"
)

// Strategy chooses among data sources or actual tables. Exactly one of Standard,
// Complex, Hint and None is set.
type Strategy struct {
	// Standard chooses by the value of one column. Defaults to nil.
	Standard *Standard `yaml:"standard,omitempty"`
	// Complex chooses by the values of several columns. Defaults to nil.
	Complex *Complex `yaml:"complex,omitempty"`
	// Hint chooses by values that the caller gives beside the SQL. Defaults to
	// nil.
	Hint *Hint `yaml:"hint,omitempty"`
	// None says that nothing is to be chosen, in place of a strategy of
	// Defaults. A file writes {none: {}}. Defaults to false.
	None bool `yaml:"none,omitempty" file:"presence"`
	// TextKey says what may be done with text as a sharding value. Defaults to
	// TextKeyRefuse.
	TextKey TextKey `yaml:"textKey,omitempty"`
}

// IsNone reports whether there is nothing to choose by. A nil strategy is none.
func (s *Strategy) IsNone() bool { return s.kind() == "none" }

// IsHint reports whether the values come from hints.
func (s *Strategy) IsHint() bool { return s != nil && s.Hint != nil }

// Columns returns the sharding columns, in lower case; none for a hint strategy.
func (s *Strategy) Columns() []string {
	var columns []string
	switch s.kind() {
	case "standard":
		columns = []string{s.Standard.Column}
	case "complex":
		columns = slices.Clone(s.Complex.Columns)
	}
	for i := range columns {
		columns[i] = strings.ToLower(columns[i])
	}
	return columns
}

// AlgorithmName returns the name of the algorithm; empty for none.
func (s *Strategy) AlgorithmName() string {
	switch s.kind() {
	case "standard":
		return s.Standard.Algorithm
	case "complex":
		return s.Complex.Algorithm
	case "hint":
		return s.Hint.Algorithm
	}
	return ""
}

// textChoice returns how rows are placed by text: refuse, which lets only
// binary collations pass, binary and exact place them alike.
func (s *Strategy) textChoice() TextKey {
	if s.TextKey == TextKeyWeight {
		return TextKeyWeight
	}
	return TextKeyBinary
}

// kind returns the key of the strategy in a file.
func (s *Strategy) kind() string {
	switch {
	case s == nil:
	case s.Standard != nil:
		return "standard"
	case s.Complex != nil:
		return "complex"
	case s.Hint != nil:
		return "hint"
	}
	return "none"
}

// Standard is a strategy on one column.
type Standard struct {
	// Column is the sharding column; its case does not matter. Required.
	Column string `yaml:"column"`
	// Algorithm names one of Sharding.Algorithms. Required.
	Algorithm string `yaml:"algorithm"`
}

// Complex is a strategy on several columns.
type Complex struct {
	// Columns are the sharding columns; their case does not matter. In a file
	// they may also be one text with commas. Required.
	Columns []string `yaml:"columns"`
	// Algorithm names one of Sharding.Algorithms. Required.
	Algorithm string `yaml:"algorithm"`
}

// Hint is a strategy without a column.
type Hint struct {
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

// Sharded returns the names of all sharded tables, auto tables among them, in
// order.
func (s *Sharding) Sharded() []string {
	all := map[string]bool{}
	for name, table := range s.Tables {
		if !table.Broadcast {
			all[name] = true
		}
	}
	for name := range s.AutoTables {
		all[name] = true
	}
	return sortedNames(all)
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
