package shardkernel

import (
	"context"
	"fmt"
	"slices"

	"github.com/gormshard/sharding/shardkernel/internal/execute"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// Chooser chooses who answers the reads of a data source that has replicas. It
// must be safe for concurrent use; package readwrite has one.
type Chooser interface {
	// Choose returns the replica for a read by its place among the data source's
	// replicas, or Primary. An error fails the statement before anything is sent.
	Choose(ctx context.Context) (int, error)
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
	member := k.member
	switch {
	case branches == nil:
		if s != nil && len(s.wrote) > 0 && ex.Reads != plan.ReadsReplica {
			member = func(ctx context.Context, of *source) (string, error) {
				if slices.Contains(s.wrote, of.Name) {
					return "", nil
				}
				return k.member(ctx, of)
			}
		}
	case !s.inTransaction() || !s.opts.ReadOnly || s.pins != nil:
		return branches, nil
	case k.transactional(ex, TransactionalDynamic):
		branches = nil
	case k.transactional(ex, TransactionalFixed):
		member = s.fixed
	default:
		return branches, nil
	}
	for i := range ex.Units {
		u := &ex.Units[i]
		of, ok := k.sources[u.DataSource]
		if !ok || of.chooser == nil {
			continue
		}
		// All units of a data source are to see the same rows.
		if at := slices.IndexFunc(ex.Units[:i], func(earlier plan.Unit) bool { return earlier.DataSource == u.DataSource }); at >= 0 {
			u.Member = ex.Units[at].Member
			continue
		}
		var err error
		if u.Member, err = member(ctx, of); err != nil {
			return nil, err
		}
	}
	return branches, nil
}

// transactional reports whether all data sources of a statement read so in a
// read-only transaction. Those without replicas do not mind a fixed one.
func (k *Kernel) transactional(ex *plan.Execution, as TransactionalReads) bool {
	for i := range ex.Units {
		of, ok := k.sources[ex.Units[i].DataSource]
		if !ok || of.transactional != as && (as != TransactionalFixed || of.chooser != nil) {
			return false
		}
	}
	return len(ex.Units) > 0
}

// member returns the replica that answers a read of a data source, or nothing for
// the primary. Its server has been checked.
func (k *Kernel) member(ctx context.Context, of *source) (string, error) {
	replica, err := k.replica(ctx, of)
	if err != nil || replica == of {
		return "", err
	}
	return replica.Name, nil
}

// replica returns who answers a read of a data source, itself perhaps. Its server
// has been checked.
func (k *Kernel) replica(ctx context.Context, of *source) (*source, error) {
	n, err := of.chooser.Choose(ctx)
	switch {
	case err != nil:
		return nil, err
	case n == Primary:
		return of, nil
	case n < 0 || n >= len(of.replicas):
		return nil, fmt.Errorf("sharding: the load balancer of data source %s chose replica %d of %d", of.Name, n, len(of.replicas))
	}
	replica := of.replicas[n]
	if !replica.checked.Load() {
		if err := k.check(ctx, replica); err != nil {
			return nil, err
		}
	}
	return replica, nil
}

// answering returns who is sent a statement that goes to one data source outside
// of a transaction and a session. Its server has been checked.
func (k *Kernel) answering(ctx context.Context, ex *plan.Execution, name string) (*source, error) {
	if k.grouped && ex.Replica && ex.Reads != plan.ReadsPrimary {
		if of, ok := k.sources[name]; ok && of.chooser != nil {
			if replica, err := k.replica(ctx, of); err != nil || replica != of {
				return replica, err
			}
		}
	}
	return k.source(ctx, name)
}

// fixed returns the replica that all reads of the transaction go to.
func (s *Session) fixed(ctx context.Context, of *source) (string, error) {
	if name, ok := s.members[of.Name]; ok {
		return name, nil
	}
	name, err := s.kernel.member(ctx, of)
	if err != nil {
		return "", err
	}
	if s.members == nil {
		s.members = map[string]string{}
	}
	s.members[of.Name] = name
	return name, nil
}

// noteWrite remembers, of a connection that is held, which data sources were
// written to: reads to come are to see what was written.
func (s *Session) noteWrite(ex *plan.Execution) {
	if s == nil || !s.kernel.grouped || !ex.Write && !ex.DDL || !s.holds() {
		return
	}
	if ex.Numbering != nil { // a broadcast table
		s.wrote = s.kernel.rules.DataSources
		return
	}
	for i := range ex.Units {
		if name := ex.Units[i].DataSource; !slices.Contains(s.wrote, name) {
			s.wrote = append(s.wrote[:len(s.wrote):len(s.wrote)], name)
		}
	}
}

// Forget forgets what was written, before somebody else gets the connection.
func (s *Session) Forget() { s.wrote = nil }
