package shardkernel

import (
	"context"
	"database/sql/driver"
	"errors"

	"github.com/gormshard/sharding/shardkernel/internal/execute"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/session"
	"github.com/gormshard/sharding/shardkernel/internal/transaction"
)

// Session is one logical connection: the transaction that is open on it, and,
// once something was set, the node connections on which it was set. It is used by
// one goroutine at a time. A nil Session is a connection of a pool that nobody
// holds for more than one statement.
type Session struct {
	live    *Live
	kernel  *Kernel // of the statement at hand, or of what is kept
	keeping bool    // the kernel is kept in use
	running bool    // a statement is at hand
	// prepared is true while the statement at hand is one that was prepared.
	prepared bool
	held     func() bool

	tx    *transaction.Tx // nil outside a transaction
	typed bool            // it was begun by a statement, and is ended by one
	opts  driver.TxOptions
	next  *driver.TxOptions // of SET TRANSACTION, for the next transaction
	// overtaken is true where the caller is in a transaction that a DDL statement has
	// committed: every statement commits by itself until the caller ends it.
	overtaken bool

	pins   *session.Pins // nil while nothing is set
	zoned  bool          // time_zone was set
	locked bool          // LOCK TABLES is in force

	// Where the statement before went and where rows were inserted, as far as the
	// node connections are still the same: empty for nowhere, elsewhere for
	// several data sources.
	previous, inserted string
	// wrote are the data sources that were written to, where some have replicas,
	// and members the replicas that a read-only transaction reads from.
	wrote       []string
	members     map[string]string
	uncommitted []uncommitted // by the open transaction
	// variables are the data sources on which user variables were assigned by a
	// statement other than SET, which assigns them everywhere.
	variables map[string]string
}

// elsewhere stands for several data sources, or for one that is not known.
const elsewhere = "\x00"

// Prepared tells whether the queries to come are of prepared statements. The nodes
// prepare those as well, though without arguments they need not: their values would
// come as texts, in which a FLOAT has six digits.
func (s *Session) Prepared(is bool) { s.prepared = is }

// bind lets the units of a prepared statement be sent as such.
func (s *Session) bind(ex *plan.Execution) {
	if s == nil || !s.prepared || !ex.Query || ex.DDL {
		return
	}
	for i := range ex.Units {
		ex.Units[i].Prepare = true
	}
	if ex.Gather != nil {
		ex.Gather.Header.Prepare = true
	}
	if first := ex.First; first != nil {
		then := first.Then
		first.Then = func(found []*plan.Found) (*plan.Execution, error) {
			ex, err := then(found)
			if err == nil {
				s.bind(ex)
			}
			return ex, err
		}
	}
}

// Session opens a logical connection; it sends nothing. held reports, when a
// statement is about to change the session, whether the caller holds the
// connection for others to come.
func (l *Live) Session(held func() bool) *Session { return &Session{live: l, held: held} }

// Begin opens a transaction, which begins on a data source when a statement first
// needs it. It sends nothing.
func (s *Session) Begin(opts driver.TxOptions) error {
	if s.tx != nil {
		return errors.New("sharding: a transaction is already open on this connection")
	}
	s.begin(opts)
	return nil
}

func (s *Session) begin(opts driver.TxOptions) {
	if s.next != nil {
		if opts.Isolation == 0 {
			opts.Isolation = s.next.Isolation
		}
		opts.ReadOnly = opts.ReadOnly || s.next.ReadOnly
		s.next = nil
	}
	s.opts, s.locked, s.previous, s.overtaken, s.typed = opts, false, "", false, false
	s.tx = transaction.New(opts, s)
}

// Commit commits on every data source the transaction touched, one after the
// other. An error after the first success matches fault.ErrPartialCommit.
func (s *Session) Commit() error {
	wrote := s.uncommitted
	tx := s.end()
	if tx == nil {
		return nil
	}
	defer s.settle()
	err := tx.Commit()
	for _, w := range wrote {
		tell(w.session, w.names, err)
	}
	return err
}

// Rollback undoes everything.
func (s *Session) Rollback() error {
	tx := s.end()
	if tx == nil {
		return nil
	}
	defer s.settle()
	return tx.Rollback()
}

// end takes the open transaction off the session.
func (s *Session) end() *transaction.Tx {
	tx := s.tx
	s.tx, s.typed, s.overtaken, s.previous, s.members, s.uncommitted = nil, false, false, "", nil, nil
	if s.pins == nil { // the node connections go back to their pools
		s.inserted = ""
	}
	return tx
}

// Idle reports whether the logical connection holds nothing, so that somebody
// else may have it.
func (s *Session) Idle() bool { return s.tx == nil && !s.overtaken && s.pins == nil && s.next == nil }

// Close rolls a forgotten transaction back and closes the node connections on
// which something was set.
func (s *Session) Close() error {
	err := s.Rollback()
	if s.pins != nil {
		s.pins.Close()
		s.pins = nil
		s.settle()
	}
	return err
}

// Start implements transaction.Connections.
func (s *Session) Start(ctx context.Context, source string, start execute.Start) (*execute.Conn, error) {
	if err := s.replaced(source); err != nil {
		return nil, err
	}
	if s.pins == nil {
		return transaction.Pools(s.kernel.lookup).Start(ctx, source, start)
	}
	return s.pins.Start(ctx, source, start)
}

// connections is where a transaction of one statement takes its connections from.
func (k *Kernel) connections(s *Session) transaction.Connections {
	if s == nil {
		return transaction.Pools(k.lookup)
	}
	return s
}

func (s *Session) inTransaction() bool { return s != nil && s.tx != nil }

// branched returns the data sources on which a transaction has begun.
func (s *Session) branched() []string {
	if !s.inTransaction() {
		return nil
	}
	var sources []string
	for source := range s.tx.Connections {
		sources = append(sources, source)
	}
	return sources
}

// branches returns what the executor sees of the session: a nil interface where
// statements take their connections from the pools.
func (s *Session) branches() execute.Branches {
	if s.inTransaction() {
		return s.tx
	}
	return s.kept()
}

// kept returns the connections that are kept, a nil interface when none are.
func (s *Session) kept() execute.Branches {
	if s == nil || s.pins == nil {
		return nil
	}
	return s.pins
}

// pin keeps node connections from now on, those of an open transaction first.
func (s *Session) pin() {
	if s.pins != nil {
		return
	}
	s.pins = session.New(s.kernel.lookup)
	if s.tx != nil {
		for source, conn := range s.tx.Connections {
			s.pins.Adopt(source, conn)
		}
	}
}
