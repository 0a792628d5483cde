package sharding

import "github.com/gormshard/sharding/internal/fault"

// The classes of errors, for errors.Is. Unless said otherwise, nothing was sent
// to any data source.
var (
	// ErrUnsupported: the exact answer cannot be computed over the nodes the
	// statement needs, or the statement cannot be understood. Of reads over
	// several nodes a few are found out only by the rows' types and lengths, after
	// the nodes were asked; no row is given then.
	ErrUnsupported = fault.ErrUnsupported
	// ErrNoShardingKey: an INSERT has no value, or NULL, for a sharding column,
	// or an audit demands a sharding condition that the statement lacks.
	ErrNoShardingKey = fault.ErrNoShardingKey
	// ErrShardingKeyUpdate: the statement would move a row to another node.
	ErrShardingKeyUpdate = fault.ErrShardingKeyUpdate
	// ErrNoDataNode: a sharding value maps to no configured data node.
	ErrNoDataNode = fault.ErrNoDataNode
	// ErrUnknownTable: a call names a logical table that is not configured.
	ErrUnknownTable = fault.ErrUnknownTable
	// ErrConfig: the configuration is wrong, or the data sources' servers and
	// settings do not fit together.
	ErrConfig = fault.ErrConfig
	// ErrScatterDenied: a limit forbids as many nodes as the statement needs.
	ErrScatterDenied = fault.ErrScatterDenied
	// ErrTooManyRows: a merge would hold more in memory than the limits allow.
	// Rows were read; none was changed.
	ErrTooManyRows = fault.ErrTooManyRows
	// ErrPartialCommit: a commit over several data sources succeeded on some and
	// failed on others. The NodesError says which.
	ErrPartialCommit = fault.ErrPartialCommit
	// ErrInDoubt: the outcome of a distributed commit is not known.
	ErrInDoubt = fault.ErrInDoubt
	// ErrNoReplica: no replica may answer and the configuration keeps reads away
	// from the primary. The message says why of each replica.
	ErrNoReplica = fault.ErrNoReplica
	// ErrSchemaDrift: the nodes of a table answer with different columns.
	ErrSchemaDrift = fault.ErrSchemaDrift
	// ErrPartialDDL: a DDL statement took effect on some nodes and failed on
	// others. The same statement can be repeated.
	ErrPartialDDL = fault.ErrPartialDDL
	// ErrRetryable: the same call may succeed when repeated; nothing of it was
	// kept.
	ErrRetryable = fault.ErrRetryable
)

// The facts of an error, for errors.As.
type (
	// UnsupportedError matches ErrUnsupported and says which clause, why, and
	// what to change.
	UnsupportedError = fault.UnsupportedError
	// RouteError matches the sentinel of its class and names table, column and
	// row.
	RouteError = fault.RouteError
	// ConfigError matches ErrConfig and names the configuration path.
	ConfigError = fault.ConfigError
	// NodeError names the data source and table that failed, and unwraps to the
	// driver's error.
	NodeError = fault.NodeError
	// NodesError holds every failure of a statement that went to several nodes.
	NodesError = fault.NodesError
)
