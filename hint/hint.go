// Package hint holds what a caller may tell the sharding plugin beside the SQL,
// for the statements of one context:
//
//	db.WithContext(hint.PrimaryOnly(ctx)).First(&order)
//	db.WithContext(hint.TableValue(ctx, "t_order", 3)).Find(&orders)
//
// The functions compose: each returns a context with one hint more. One of the
// same kind, and for the same table where it concerns one, takes the place of
// that of the outer context.
//
// A hint for a table that a statement does not name has no effect on it. One that
// names a table, data source, actual table or audit that the configuration does
// not know fails the statement before anything is sent.
//
// The same hints may stand in a comment of the SQL, /* SHARDING: key=value */;
// the hint of the context wins. docs/hints.md lists the keys.
package hint

import (
	"context"
	"slices"
	"strings"
)

// AllTables stands, as the table of a value hint, for every sharded table that
// has no hint of its own.
const AllTables = "*"

// Reads says which servers of a data source with replicas may answer a read.
type Reads uint8

// The choices of Reads.
const (
	ReadsAsConfigured Reads = iota
	ReadsPrimary
	ReadsReplica
)

// Hints are the hints of a context, for who carries them out. They are immutable:
// the slices must not be changed.
type Hints struct {
	// Direct is true when DataSource is set.
	Direct       bool
	DataSource   string
	SkipSharding bool
	Tables       []Table // at most one for a table
	Reads        Reads
	AllowScatter bool
	// AuditOff is true when DisableAudit was called; Audits are the names it was
	// given, none for all of them.
	AuditOff bool
	Audits   []string
	// Session remembers what was written under WithSession; nil without it.
	Session *Session
}

// Table holds the hints that concern one logical table.
type Table struct {
	// Name is the logical table, or AllTables.
	Name string
	// Database and Table are sharding values for the two levels; nil where there
	// is no hint.
	Database, Table []any
	// Actual is an actual table, where HasActual is true.
	HasActual bool
	Actual    string
}

// contextKey is the one key under which hints stand in a context.
type contextKey struct{}

// FromContext returns the hints of a context, nil when it has none.
func FromContext(ctx context.Context) *Hints {
	h, _ := ctx.Value(contextKey{}).(*Hints)
	return h
}

// with returns a context whose hints are those of ctx, changed.
func with(ctx context.Context, change func(*Hints)) context.Context {
	var h Hints
	if outer := FromContext(ctx); outer != nil {
		h = *outer
	}
	change(&h)
	return context.WithValue(ctx, contextKey{}, &h)
}

// withTable changes what concerns one table, whose name counts without regard to
// case.
func withTable(ctx context.Context, table string, change func(*Table)) context.Context {
	return with(ctx, func(h *Hints) {
		h.Tables = slices.Clone(h.Tables)
		i := slices.IndexFunc(h.Tables, func(t Table) bool { return strings.EqualFold(t.Name, table) })
		if i < 0 {
			i = len(h.Tables)
			h.Tables = append(h.Tables, Table{Name: table})
		}
		change(&h.Tables[i])
	})
}

// None returns a context without hints, such as for work that a hook does on
// other tables. A session of WithSession stays.
func None(ctx context.Context) context.Context {
	var none *Hints
	if outer := FromContext(ctx); outer != nil && outer.Session != nil {
		none = &Hints{Session: outer.Session}
	}
	return context.WithValue(ctx, contextKey{}, none)
}

// DataSource sends statements as they are to one data source: names are not
// replaced, nothing is parsed or merged, and no audit applies. Any SQL passes,
// also what the plugin refuses otherwise; statements about the session or the
// transaction (SET, USE, BEGIN, …) mean what they mean without the hint.
//
// With it no other hint but PrimaryOnly and ReplicaAllowed has an effect. To have
// the logical name replaced, use ActualTable.
func DataSource(ctx context.Context, name string) context.Context {
	return with(ctx, func(h *Hints) { h.Direct, h.DataSource = true, name })
}

// SkipSharding sends statements as they are to the default data source, or to
// that of DataSource: names of sharded tables are left as written, and no audit
// applies.
func SkipSharding(ctx context.Context) context.Context {
	return with(ctx, func(h *Hints) { h.SkipSharding = true })
}

// DatabaseValue gives sharding values for the database level of a logical table
// or of AllTables. A hint strategy gets its values from here. On a standard or
// complex strategy they take the place of the conditions of a read; a write is
// refused when its own values lead elsewhere. A value for a complex strategy is a
// map[string]any from column to value.
//
// Where the tables of a statement are sharded by database only and the values
// lead to one data source, the statement is sent to it as with DataSource.
func DatabaseValue(ctx context.Context, table string, values ...any) context.Context {
	return withTable(ctx, table, func(t *Table) { t.Database = given(values) })
}

// TableValue gives sharding values for the table level of a logical table or of
// AllTables. It is otherwise like DatabaseValue. It takes the place of an
// ActualTable hint of the outer context.
func TableValue(ctx context.Context, table string, values ...any) context.Context {
	return withTable(ctx, table, func(t *Table) { t.Table, t.HasActual = given(values), false })
}

// given keeps a hint without values apart from none: it is an error to be told.
func given(values []any) []any {
	if values == nil {
		return []any{}
	}
	return values
}

// ActualTable puts one actual table in the place of a logical one, in its data
// source. Where several data sources have an actual table of that name, it must be
// written with its data source, as in "ds_1.t_order_3". Conditions choose no other
// node then; a write is refused when its own values lead elsewhere. It takes the
// place of a TableValue hint of the outer context, and goes before a
// DatabaseValue.
func ActualTable(ctx context.Context, table, actual string) context.Context {
	return withTable(ctx, table, func(t *Table) { t.Table, t.HasActual, t.Actual = nil, true, actual })
}

// PrimaryOnly sends reads to the primary of each data source. It has no effect on
// data sources without replicas.
func PrimaryOnly(ctx context.Context) context.Context {
	return with(ctx, func(h *Hints) { h.Reads = ReadsPrimary })
}

// ReplicaAllowed lets reads go to a replica also after a write on the same
// connection, which they may not see then. It changes nothing in a transaction
// that may write, and on data sources without replicas.
func ReplicaAllowed(ctx context.Context) context.Context {
	return with(ctx, func(h *Hints) { h.Reads = ReadsReplica })
}

// AllowScatter lets statements go to as many nodes and data sources as they need:
// it switches off the audits requireShardingKey and singleDataSource and the
// limit maxNodes, where the configuration lets hints do so (allowHintDisable).
func AllowScatter(ctx context.Context) context.Context {
	return with(ctx, func(h *Hints) { h.AllowScatter = true })
}

// DisableAudit switches off the named audits and limits, as the configuration
// calls them, or all without a name, where the configuration lets hints do so
// (allowHintDisable).
func DisableAudit(ctx context.Context, names ...string) context.Context {
	return with(ctx, func(h *Hints) { h.AuditOff, h.Audits = true, names })
}
