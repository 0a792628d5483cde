// Package rule compiles a configuration into an immutable rule set: tables,
// their data nodes and strategies, binding groups, broadcast and single tables.
package rule

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/internal/nearest"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/keygen"
)

// Set is a compiled rule set. It is immutable and safe for concurrent use.
type Set struct {
	// DataSources holds the names of the data sources in the order of names,
	// digits taken as numbers: ds2 before ds10.
	DataSources []string
	// DefaultDataSource is where single tables live.
	DefaultDataSource string
	// Schema is the logical schema; empty when the configuration names none.
	Schema string
	// Generators are the key generators in the order of their names in the
	// configuration, whether a table uses them or not.
	Generators []keygen.Generator
	// MaxRangeValues is the number of integers of a range that are looked at one
	// by one.
	MaxRangeValues int

	generators map[string]keygen.Generator

	tables    map[string]*Table
	broadcast map[string]bool
	single    map[string]string
	sorted    []*Table
	exact     *Set // where this one is folded: the set it was made from
}

// Table is a sharded table.
type Table struct {
	Name  string // logical name
	Nodes []Node // in configured order
	// Database and Tables choose among the data sources and the actual table
	// names of Nodes; nil means no strategy at that level.
	Database, Tables *Strategy
	// Key generates the value of a column; nil when none is configured.
	Key *KeyGenerate
	// Audit refuses statements on the table; nil when nothing is refused.
	Audit *config.Audit
	// TrustModel sends a write of a model to the node of its sharding values alone.
	TrustModel bool
	// Path is where the table stands in the configuration.
	Path string

	sources  []string
	columns  []string
	binding  int // binding group, -1 for none
	database int // class of equal database strategies, -1 for none
}

// Node is a data node.
type Node struct {
	DataSource string
	Table      string // actual table
	// Source and Target are the indexes of DataSource in Database.Targets and
	// of Table in Tables.Targets; 0 where there is no strategy.
	Source, Target int
	// Order is the index of DataSource in Set.DataSources.
	Order int
}

// Strategy is a strategy bound to its targets. Exactly one of Sharder, Complex and
// Hint is set.
type Strategy struct {
	// Columns are the sharding columns in lower case: one where Sharder is set,
	// none where Hint is.
	Columns   []string
	Algorithm string // name in the configuration
	Targets   []string
	Sharder   algorithm.Sharder
	Ranger    algorithm.Ranger // nil when the sharder has none
	Complex   algorithm.ComplexSharder
	Hint      algorithm.HintSharder
	TextKey   TextKey

	path string // of the columns below the table, for messages
}

// ColumnsPath returns where the columns stand in the configuration, below the
// strategy.
func (s *Strategy) ColumnsPath() string { return s.path }

// By reports whether the strategy chooses by that column alone. A nil strategy
// does not.
func (s *Strategy) By(column string) bool {
	return s != nil && s.Sharder != nil && s.Columns[0] == column
}

// Decides reports whether rows with equal values in that column are always on
// the same target.
func (s *Strategy) Decides(column int) bool {
	if d, ok := s.Complex.(algorithm.Decider); ok {
		return d.Decides(column)
	}
	return s.Sharder != nil
}

// TextKey says what may be done with text as a sharding value.
type TextKey uint8

// The choices, see the configuration.
const (
	TextRefuse TextKey = iota
	TextBinary
	TextExact
	TextWeight
)

// KeyGenerate is a key generation rule.
type KeyGenerate struct {
	Column    string // lower case
	Generator keygen.Generator
	// Name is the generator's name and type, for messages.
	Name string
	// Owner is the column, in lower case, whose value Generator needs, empty for
	// none. Owners is Generator then.
	Owner  string
	Owners keygen.OwnerGenerator
}

// WithFold returns the set for servers that do not tell names of tables by
// case, as lower_case_table_names says, or for such that do.
func (s *Set) WithFold(fold bool) *Set {
	switch {
	case fold == (s.exact != nil):
		return s
	case !fold:
		return s.exact
	}
	folded := *s
	folded.exact = s
	folded.tables = lowerKeys(s.tables)
	folded.broadcast = lowerKeys(s.broadcast)
	folded.single = lowerKeys(s.single)
	return &folded
}

func lowerKeys[V any](m map[string]V) map[string]V {
	lower := make(map[string]V, len(m))
	for name, value := range m {
		lower[strings.ToLower(name)] = value
	}
	return lower
}

// Generator returns the key generator of a name in the configuration, nil where
// there is none.
func (s *Set) Generator(name string) keygen.Generator { return s.generators[name] }

func (s *Set) key(name string) string {
	if s.exact != nil {
		return strings.ToLower(name)
	}
	return name
}

// Table returns the sharded table of a logical name.
func (s *Set) Table(name string) (*Table, bool) {
	t, ok := s.tables[s.key(name)]
	return t, ok
}

// IsTable reports whether the configuration names the table: as a sharded, a
// broadcast or a single one.
func (s *Set) IsTable(name string) bool {
	name = s.key(name)
	if _, ok := s.tables[name]; ok || s.broadcast[name] {
		return true
	}
	_, ok := s.single[name]
	return ok
}

// IsBroadcast reports whether the table has the same content in every data
// source.
func (s *Set) IsBroadcast(name string) bool { return s.broadcast[s.key(name)] }

// Broadcast returns the names of the broadcast tables in order.
func (s *Set) Broadcast() []string { return slices.Sorted(maps.Keys(s.broadcast)) }

// SingleSource returns the data source of a table that is neither sharded nor
// broadcast: the configured one, else the default one.
func (s *Set) SingleSource(name string) string {
	if source, ok := s.single[s.key(name)]; ok {
		return source
	}
	return s.DefaultDataSource
}

// Singles gives the tables that are placed by name with their data sources, in
// the order of names.
func (s *Set) Singles() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, name := range slices.Sorted(maps.Keys(s.single)) {
			if !yield(name, s.single[name]) {
				return
			}
		}
	}
}

// Tables returns the sharded tables in the order of their names. The caller
// must not change the slice.
func (s *Set) Tables() []*Table { return s.sorted }

func (s *Set) sort() {
	s.sorted = make([]*Table, 0, len(s.tables))
	for _, t := range s.tables {
		s.sorted = append(s.sorted, t)
	}
	slices.SortFunc(s.sorted, func(a, b *Table) int { return nearest.Compare(a.Name, b.Name) })
}

// Bound reports whether rows of a and b with equal sharding values are on nodes
// of the same index: a and b are in one binding group, or the same table.
func (s *Set) Bound(a, b *Table) bool {
	return a == b || a.binding >= 0 && a.binding == b.binding
}

// Counterparts returns, for each of the sharding columns of a, the column of b in its
// place: rows of a and b that are equal in them are on nodes of the same index. It
// returns nil where the tables are not bound, or are the same.
func (s *Set) Counterparts(a, b *Table) []string {
	if a == b || !s.Bound(a, b) {
		return nil
	}
	columns := make([]string, len(a.columns))
	for _, level := range [][2]*Strategy{{a.Database, b.Database}, {a.Tables, b.Tables}} {
		if level[0] == nil || level[1] == nil || len(level[0].Columns) != len(level[1].Columns) {
			if level[0] == level[1] {
				continue
			}
			return nil
		}
		for i, column := range level[0].Columns {
			at := &columns[slices.Index(a.columns, column)]
			if *at != "" && *at != level[1].Columns[i] {
				return nil
			}
			*at = level[1].Columns[i]
		}
	}
	return columns
}

// DatabaseBound reports whether rows of a and b that are equal in the columns
// of their database strategies are in the same data source. Where both tables
// live whole in one and the same data source there may be no such column, and
// all their rows are together.
func (s *Set) DatabaseBound(a, b *Table) bool {
	return a.database >= 0 && a.database == b.database
}

// ByOneColumn reports whether no level is chosen by several columns or by a hint.
func (t *Table) ByOneColumn() bool {
	return (t.Database == nil || t.Database.Sharder != nil) && (t.Tables == nil || t.Tables.Sharder != nil)
}

// ByHint reports whether a hint chooses at some level.
func (t *Table) ByHint() bool {
	return t.Database != nil && t.Database.Hint != nil || t.Tables != nil && t.Tables.Hint != nil
}

// First returns the node that answers what is asked about the table's definition:
// of the first data source, in the order of Set.DataSources, the one that the
// configuration names first. A statement that defines the table reaches it after
// all others, so that it is as it was until they are done.
func (t *Table) First() *Node {
	first := &t.Nodes[0]
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Order < first.Order {
			first = n
		}
	}
	return first
}

// Columns returns the sharding columns in lower case, each once. The caller must not
// change the slice.
func (t *Table) Columns() []string { return t.columns }

// Sources returns the data sources of the table's nodes in configured order,
// which is that of Database.Targets. The caller must not change the slice.
func (t *Table) Sources() []string { return t.sources }
