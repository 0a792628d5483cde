// Package fault holds the error values of the whole module. The root package
// aliases them; every other package returns them. It imports nothing of the
// module.
package fault

import (
	"errors"
	"fmt"
	"sort"
	"strings"
)

// Sentinels: the class of an error, for errors.Is. The facts are in the structs
// below, for errors.As.
var (
	// ErrUnsupported is matched when the exact answer cannot be computed over
	// the nodes a statement was routed to, or the statement cannot be
	// understood. Nothing was sent.
	ErrUnsupported = errors.New("unsupported statement")
	// ErrNoShardingKey is matched when an INSERT carries no value, or NULL, for
	// a sharding column, or when an audit demands a sharding condition that the
	// statement lacks. Nothing was sent.
	ErrNoShardingKey = errors.New("no sharding value")
	// ErrShardingKeyUpdate is matched when a statement would move a row to
	// another node by changing its sharding column. Nothing was changed.
	ErrShardingKeyUpdate = errors.New("sharding column would change")
	// ErrNoDataNode is matched when a sharding value maps to no configured data
	// node. Nothing was sent.
	ErrNoDataNode = errors.New("no data node")
	// ErrUnknownTable is matched when a hint or a call names a logical table
	// that the configuration does not know.
	ErrUnknownTable = errors.New("unknown table")
	// ErrConfig is matched by every error found in a configuration, and when
	// the data sources' servers or settings do not fit together.
	ErrConfig = errors.New("invalid configuration")
	// ErrScatterDenied is matched when an audit or a limit forbids the number of
	// nodes or data sources a statement would need. Nothing was sent.
	ErrScatterDenied = errors.New("scatter denied")
	// ErrTooManyRows is matched when a merge would have to hold more rows or
	// bytes in memory than the limit allows.
	ErrTooManyRows = errors.New("too many rows to merge in memory")
	// ErrPartialCommit is matched when a commit over several data sources
	// succeeded on some and failed on others.
	ErrPartialCommit = errors.New("transaction committed in part")
	// ErrInDoubt is matched when the outcome of a distributed commit is not known.
	ErrInDoubt = errors.New("transaction outcome in doubt")
	// ErrNoReplica is matched when no replica is available and the configuration
	// forbids the primary.
	ErrNoReplica = errors.New("no replica available")
	// ErrSchemaDrift is matched when the nodes of a table answer with different
	// columns.
	ErrSchemaDrift = errors.New("nodes differ in their columns")
	// ErrPartialDDL is matched when a DDL statement took effect on some nodes and
	// failed on others: NodesError.Done holds those where it took effect. The same
	// statement can be repeated once the cause is mended; nodes that are as it
	// makes them do not fail it then, provided that all come out alike.
	ErrPartialDDL = errors.New("DDL took effect in part")
	// ErrRetryable is matched when the same call may succeed if the caller
	// repeats it: nothing of it has been kept.
	ErrRetryable = errors.New("retryable")
)

// UnsupportedError reports a statement whose exact answer cannot be computed
// over the nodes it was routed to. It matches ErrUnsupported. Nothing was sent.
type UnsupportedError struct {
	Clause string // the SQL clause, as typed or by its keyword
	Reason string // why the shards' answers cannot be combined
	Remedy string // what the caller can change
	Err    error  // the cause, such as a parser error; may be nil
	// ByPlan is true where no other way of asking the shards is exact either, since
	// one server itself gives an answer that depends on its plan.
	ByPlan bool
}

func (e *UnsupportedError) Error() string {
	head := "sharding: unsupported"
	if e.Clause != "" {
		head += ": " + e.Clause
	}
	return message(head, e.Reason, e.Err, e.Remedy)
}

// message puts what is known of a fault into one sentence.
func message(head, reason string, cause error, remedy string) string {
	var b strings.Builder
	b.WriteString(head)
	if reason != "" {
		b.WriteString(": ")
		b.WriteString(reason)
	}
	if cause != nil {
		b.WriteString(": ")
		b.WriteString(within(head, cause.Error()))
	}
	if remedy != "" {
		b.WriteString("; ")
		b.WriteString(remedy)
	}
	return b.String()
}

// Is matches ErrUnsupported.
func (e *UnsupportedError) Is(target error) bool { return target == ErrUnsupported }

// Unwrap returns the cause.
func (e *UnsupportedError) Unwrap() error { return e.Err }

// within is the text of a cause without the words that head has said already.
func within(head, cause string) string {
	const own, class = "sharding: ", "unsupported: "
	rest, ours := strings.CutPrefix(cause, own)
	if ours && strings.HasPrefix(head+": ", own+class) {
		rest = strings.TrimPrefix(rest, class)
	}
	return rest
}

// Unsupported returns an *UnsupportedError.
func Unsupported(clause, reason, remedy string) error {
	return &UnsupportedError{Clause: clause, Reason: reason, Remedy: remedy}
}

// RouteError reports a statement that cannot be routed. Class is one of
// ErrNoShardingKey, ErrShardingKeyUpdate, ErrNoDataNode, ErrUnknownTable and
// ErrScatterDenied. Nothing was changed, and nothing was sent either but the
// questions of a write that goes by its model.
type RouteError struct {
	Class  error  // the sentinel
	Table  string // logical table
	Column string // sharding column; may be empty
	Row    int    // 1-based row of a multi-row INSERT; 0 where it does not apply
	Reason string
	Remedy string
	Err    error // the cause; may be nil
}

func (e *RouteError) Error() string {
	head := "sharding: " + e.Class.Error()
	if e.Table != "" {
		head += ": table " + e.Table
	}
	if e.Column != "" {
		head += ", column " + e.Column
	}
	if e.Row > 0 {
		head += fmt.Sprintf(", row %d", e.Row)
	}
	return message(head, e.Reason, e.Err, e.Remedy)
}

// Is matches the class.
func (e *RouteError) Is(target error) bool { return target == e.Class }

// Unwrap returns the cause.
func (e *RouteError) Unwrap() error { return e.Err }

// ConfigError reports one fault in a configuration, or in what the servers
// behind it say of themselves. It matches ErrConfig.
type ConfigError struct {
	Path   string // such as sharding.tables.t_order.actualDataNodes
	Reason string
	Remedy string
	Err    error
}

func (e *ConfigError) Error() string {
	return message("sharding: "+e.Path, e.Reason, e.Err, e.Remedy)
}

// Is matches ErrConfig.
func (e *ConfigError) Is(target error) bool { return target == ErrConfig }

// Unwrap returns the cause.
func (e *ConfigError) Unwrap() error { return e.Err }

// NodeError is the failure of one data source or node.
type NodeError struct {
	DataSource string
	Table      string // actual table; may be empty
	Err        error
}

func (e *NodeError) Error() string { return e.place() + ": " + e.Err.Error() }

func (e *NodeError) place() string {
	if e.Table == "" {
		return e.DataSource
	}
	return e.DataSource + "." + e.Table
}

// Unwrap returns the driver's error.
func (e *NodeError) Unwrap() error { return e.Err }

// NodesError reports a statement that was sent to several nodes and failed on
// at least one. It unwraps to the node errors; its text says once what several of
// them say. What the statement wrote was
// undone unless Class says otherwise.
type NodesError struct {
	Class error    // nil, or a sentinel such as ErrPartialCommit
	Done  []string // for ErrPartialCommit: the data sources that committed; for ErrPartialDDL: the nodes
	Nodes []*NodeError
}

func (e *NodesError) Error() string {
	var b strings.Builder
	b.WriteString("sharding: ")
	if e.Class != nil {
		b.WriteString(e.Class.Error())
		if len(e.Done) > 0 {
			done := append([]string(nil), e.Done...)
			sort.Strings(done)
			if e.Class == ErrPartialDDL { //nolint:errorlint // the class is the sentinel itself
				b.WriteString(" (done on ")
			} else {
				b.WriteString(" (committed on ")
			}
			b.WriteString(strings.Join(done, ", "))
			b.WriteString(")")
		}
		b.WriteString(": ")
	}
	writeAlike(&b, e.Nodes)
	if e.Class == ErrPartialDDL { //nolint:errorlint // the class is the sentinel itself
		b.WriteString("; mend the cause and send the same statement again")
	}
	return b.String()
}

// writeAlike writes the errors of nodes, what several of them say only once.
func writeAlike(b *strings.Builder, nodes []*NodeError) {
	var texts []string
	places := map[string][]string{}
	for _, n := range nodes {
		text := n.Err.Error()
		if len(places[text]) == 0 {
			texts = append(texts, text)
		}
		places[text] = append(places[text], n.place())
	}
	const most = 3 // nodes that are all named
	for i, text := range texts {
		if i > 0 {
			b.WriteString("; ")
		}
		if at := places[text]; len(at) <= most {
			b.WriteString(strings.Join(at, ", "))
		} else {
			fmt.Fprintf(b, "%d nodes (%s, …, %s)", len(at), at[0], at[len(at)-1])
		}
		b.WriteString(": " + text)
	}
}

// Is matches the class.
func (e *NodesError) Is(target error) bool { return e.Class != nil && target == e.Class }

// Unwrap returns the node errors.
func (e *NodesError) Unwrap() []error {
	out := make([]error, len(e.Nodes))
	for i, n := range e.Nodes {
		out[i] = n
	}
	return out
}
