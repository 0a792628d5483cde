package shardkernel

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/execute"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// Chooser chooses who answers the reads of a data source that has replicas. It
// must be safe for concurrent use; package readwrite has one.
type Chooser interface {
	// Choose returns the replica for a read by its place among the data source's
	// replicas, or Primary. An error fails the statement before anything is sent.
	Choose(ctx context.Context) (int, error)
	// Failed tells that the connection to a replica failed during a read. The read
	// is tried once more with what Choose says then.
	Failed(replica int, err error)
}

// Primary is what a Chooser returns for the data source itself.
const Primary = -1

// TransactionalReads says where reads of a read-only transaction go. Those of a
// transaction that may write go to the primary.
type TransactionalReads uint8

// The choices of TransactionalReads.
const (
	// TransactionalPrimary keeps the transaction on the primary.
	TransactionalPrimary TransactionalReads = iota
	// TransactionalFixed reads from one replica, in a transaction there.
	TransactionalFixed
	// TransactionalDynamic reads each statement as outside of a transaction.
	TransactionalDynamic
)

// replicable reports whether a replica may answer the statement. What asks about
// tables is left to the primary, which has them first.
func (s *statement) replicable() bool {
	return s.read && s.uses == 0 && s.command == nil && s.inquiry == nil && s.explained == nil && s.batch == nil && !s.ddl
}

// choose decides who answers a read of several units or of a session, and what
// the executor sees of the session: a nil interface where it takes connections
// from pools.
func (k *Kernel) choose(ctx context.Context, s *Session, ex *plan.Execution) (execute.Branches, error) {
	branches := s.branches()
	if !k.grouped || !ex.Replica || ex.Reads == plan.ReadsPrimary {
		return branches, nil
	}
	if branches != nil && (!s.inTransaction() || !s.opts.ReadOnly || s.pins != nil) {
		return branches, nil
	}
	units := unitsOf(ex)
	member := func(ctx context.Context, of *source, ex *plan.Execution) (string, error) {
		return k.member(ctx, s, of, ex)
	}
	switch {
	case branches == nil:
	case k.transactional(units, TransactionalDynamic):
		branches = nil
		s.previous = elsewhere // FOUND_ROWS() would be asked on another connection
	case k.transactional(units, TransactionalFixed):
		member = s.fixed
	default:
		return branches, nil
	}
	for i, u := range units {
		of, ok := k.sources[u.DataSource]
		if !ok || of.chooser == nil {
			continue
		}
		u.Member = ""
		// All units of a data source are to see the same rows.
		if at := slices.IndexFunc(units[:i], func(earlier *plan.Unit) bool { return earlier.DataSource == u.DataSource }); at >= 0 {
			u.Member = units[at].Member
			continue
		}
		var err error
		if u.Member, err = member(ctx, of, ex); err != nil {
			return nil, err
		}
	}
	return branches, nil
}

// unitsOf returns the units of a statement, and of what is read for it before.
func unitsOf(ex *plan.Execution) []*plan.Unit {
	var units []*plan.Unit
	add := func(some []plan.Unit) {
		for i := range some {
			units = append(units, &some[i])
		}
	}
	add(ex.Units)
	if ex.Gather != nil {
		units = append(units, &ex.Gather.Header)
		for i := range ex.Gather.Tables {
			add(ex.Gather.Tables[i].Rows.Units)
		}
	}
	if ex.First != nil {
		for i := range ex.First.Subqueries {
			units = append(units, unitsOf(&ex.First.Subqueries[i].Rows)...)
		}
	}
	return units
}

// answerAs lets who was chosen for the data sources of a statement answer the one
// that is planned behind its subqueries.
func answerAs(ex, then *plan.Execution) {
	members := map[string]string{}
	for _, u := range unitsOf(ex) {
		members[u.DataSource] = u.Member
	}
	for _, u := range unitsOf(then) {
		u.Member = members[u.DataSource]
	}
}

// blame lets the error of a part of a statement tell which replica cannot be reached.
// That of a part of several units does so by itself.
func blame(part *plan.Execution, err error) error {
	var node *fault.NodeError
	if err == nil || len(part.Units) != 1 || part.Units[0].Member == "" || part.Gather != nil || part.First != nil || !dialect.Unreachable(err) || errors.As(err, &node) {
		return err
	}
	return &fault.NodeError{DataSource: part.Units[0].Member, Table: part.Units[0].Table, Err: err}
}

// blamed are the rows of a part.
type blamed struct {
	columnRows
	part *plan.Execution
}

func (r *blamed) Next(dest []driver.Value) error {
	err := r.columnRows.Next(dest)
	if err == io.EOF { //nolint:errorlint // a driver's end of rows is the value itself
		return err
	}
	return blame(r.part, err)
}

// transactional reports whether all data sources of a statement read so in a
// read-only transaction. Those without replicas do not mind a fixed one.
func (k *Kernel) transactional(units []*plan.Unit, as TransactionalReads) bool {
	for _, u := range units {
		of, ok := k.sources[u.DataSource]
		if !ok || of.transactional != as && (as != TransactionalFixed || of.chooser != nil) {
			return false
		}
	}
	return len(units) > 0
}

// member returns the replica that answers a read of a data source in a session, or
// nothing for the primary, as where the session has written to it. Its server has been
// checked.
func (k *Kernel) member(ctx context.Context, s *Session, of *source, ex *plan.Execution) (string, error) {
	if ex.Reads != plan.ReadsReplica && s.hasWritten(of.Name) {
		return "", nil
	}
	replica, err := k.reader(ctx, of, ex)
	if err != nil || replica == of {
		return "", err
	}
	return replica.Name, nil
}

// replica returns who answers a read of a data source, itself perhaps. Its server
// has been checked.
func (k *Kernel) replica(ctx context.Context, of *source) (*source, error) {
	for again := false; ; again = true {
		n, err := of.chooser.Choose(ctx)
		switch {
		case err != nil:
			return nil, err
		case n == Primary:
			return of, nil
		case n < 0 || n >= len(of.replicas):
			return nil, fmt.Errorf("sharding: replica %d of %d of data source %s was chosen", n, len(of.replicas), of.Name)
		}
		replica := of.replicas[n]
		if replica.checked.Load() {
			return replica, nil
		}
		if err = k.check(ctx, replica); err == nil || again || !replica.failed(ctx, err) {
			return replica, err
		}
	}
}

// failed reports whether an error of a read says that the replica cannot be
// reached, and tells the chooser. It is false for a data source itself.
func (s *source) failed(ctx context.Context, err error) bool {
	if s.of == nil || ctx.Err() != nil || !dialect.Unreachable(err) {
		return false
	}
	s.of.chooser.Failed(s.place, err)
	return true
}

// replicasFailed reports whether a read failed, before its first row, since
// replicas cannot be reached, and tells the choosers.
func (k *Kernel) replicasFailed(ctx context.Context, ex *plan.Execution, err error) bool {
	var nodes *fault.NodesError
	var node *fault.NodeError
	failed := false
	tell := func(name string, err error) {
		if s, ok := k.sources[name]; ok && s.failed(ctx, err) {
			failed = true
		}
	}
	switch {
	case errors.As(err, &nodes):
		for _, n := range nodes.Nodes {
			tell(n.DataSource, n)
		}
	case errors.As(err, &node):
		tell(node.DataSource, node)
	case len(ex.Units) == 1 && ex.Gather == nil && ex.First == nil:
		tell(ex.Units[0].Server(), err)
	}
	return failed
}

// sources returns the number of data sources of a statement.
func sources(ex *plan.Execution) int {
	names := map[string]bool{}
	for _, u := range unitsOf(ex) {
		names[u.DataSource] = true
	}
	return len(names)
}

// answering returns who is sent a statement that goes to one data source outside
// of a transaction and a session. Its server has been checked.
func (k *Kernel) answering(ctx context.Context, ex *plan.Execution, name string) (*source, error) {
	if k.grouped && ex.Replica && ex.Reads != plan.ReadsPrimary {
		if of, ok := k.sources[name]; ok && of.chooser != nil {
			if replica, err := k.reader(ctx, of, ex); err != nil || replica != of {
				return replica, err
			}
		}
	}
	return k.source(ctx, name)
}

// follows reports whether the one unit of a statement takes the driver's way for the
// sake of replicas: it may be answered by one from whose pool rows come that cannot be
// asked for elsewhere, or is a write under a session that is told when its rows end.
func (k *Kernel) follows(ex *plan.Execution) bool {
	if !ex.Replica || ex.Reads == plan.ReadsPrimary {
		return ex.Write && ex.Session != nil && (ex.Query || ex.Kind == plan.KindPassThrough || ex.Kind == plan.KindDirect)
	}
	of, ok := k.sources[ex.Units[0].DataSource]
	return ok && of.streams
}

// fixed returns the replica that all reads of the transaction go to.
func (s *Session) fixed(ctx context.Context, of *source, ex *plan.Execution) (string, error) {
	name, chosen := s.members[of.Name]
	if !chosen {
		var err error
		if name, err = s.kernel.member(ctx, s, of, ex); err != nil {
			return "", err
		}
		if s.members == nil {
			s.members = map[string]string{}
		}
		s.members[of.Name] = name
	}
	if name != "" {
		s.previous = elsewhere // FOUND_ROWS() would be asked on the primary
	}
	return name, nil
}

// ReadYourWrites remembers, for all statements of a caller's context, which data
// sources were written to. It must be safe for concurrent use.
type ReadYourWrites = plan.Session

// noteWrite remembers, of a connection that is held, which data sources were
// written to: reads to come are to see what was written.
func (s *Session) noteWrite(ex *plan.Execution) {
	if s == nil || !s.kernel.grouped || !ex.Write && !ex.DDL || !s.holds() {
		return
	}
	for _, name := range s.kernel.written(ex) {
		if !s.hasWritten(name) {
			s.wrote = append(s.wrote, name)
		}
	}
}

// hasWritten reports whether the data source was written to on this connection.
func (s *Session) hasWritten(name string) bool { return s != nil && slices.Contains(s.wrote, name) }

// noteSession tells the session of the caller's context of a write that has been
// sent, and of the error it has come to. What a transaction wrote it tells again when
// that commits; until then only the transaction itself sees it, and what has failed is
// undone with it, but for what takes effect by itself since a DDL statement.
func (k *Kernel) noteSession(s *Session, ex *plan.Execution, err error) {
	if !k.notes(ex) {
		return
	}
	names := k.written(ex)
	if s.inTransaction() {
		s.uncommitted = append(s.uncommitted, uncommitted{ex.Session, names})
		if !s.tx.Committed() {
			err = nil
		}
	}
	tell(ex.Session, names, err)
}

// notes reports whether a session is to be told of the statement.
func (k *Kernel) notes(ex *plan.Execution) bool {
	return ex.Session != nil && k.grouped && (ex.Write || ex.DDL)
}

func tell(session ReadYourWrites, names []string, err error) {
	for _, name := range names {
		if err != nil {
			session.InDoubt(name)
		} else {
			session.Write(name)
		}
	}
}

// notedRows are those of a write, which may come to its end with them.
type notedRows struct {
	forwardedRows
	session ReadYourWrites
	names   []string
}

func (r *notedRows) Close() error {
	err := r.columnRows.Close()
	tell(r.session, r.names, err)
	return err
}

// uncommitted is what an open transaction wrote under a session of a context.
type uncommitted struct {
	session ReadYourWrites
	names   []string
}

// written returns the data sources that a write goes to.
func (k *Kernel) written(ex *plan.Execution) []string {
	if ex.Numbering != nil { // a broadcast table
		return k.rules.DataSources
	}
	var names []string
	for i := range ex.Units {
		if name := ex.Units[i].DataSource; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Forget forgets what was written, before somebody else gets the connection.
func (s *Session) Forget() { s.wrote = nil }
