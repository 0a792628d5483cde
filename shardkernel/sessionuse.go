package shardkernel

import (
	"context"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// holds reports whether statements to come will find the session as this one
// leaves it.
func (s *Session) holds() bool {
	return s != nil && (s.tx != nil || s.overtaken || s.pins != nil || s.held())
}

// admit lets a planned statement run, or refuses it because of the session it
// would use or change. From here on the node connections are kept, if it changes
// something.
func (k *Kernel) admit(s *Session, st *statement, ex *plan.Execution, text string) error {
	if s != nil {
		switch {
		case s.next != nil && s.tx == nil:
			return fault.Unsupported("SET TRANSACTION", "no transaction was begun after it, and it would hold for this statement alone",
				"begin the transaction directly behind it, or use SET SESSION TRANSACTION")
		case s.zoned && st.program != nil:
			if ex.Now != "" && ex.Numbering == nil {
				return fault.Unsupported("NOW() as a sharding value after SET time_zone", "it was read as the servers' own zone shows it", "use a connection without a time zone of its own, or pass the time as a parameter")
			}
			if err := k.checkZone(st); err != nil {
				return err
			}
		}
		if s.locked && len(ex.Units) > 1 {
			return fault.Unsupported("statement over several nodes under LOCK TABLES", "its transaction would release the locks", "send UNLOCK TABLES before it")
		}
	}
	if st.uses == 0 {
		return nil
	}
	if st.uses&(parse.UseNamedLock|parse.UseLockState) != 0 && (len(ex.Units) != 1 || ex.Units[0].DataSource != k.rules.DefaultDataSource) {
		return fault.Unsupported("lock function", "a named lock belongs to one server, that of the default data source", "call it in a statement without tables")
	}
	if !s.holds() {
		return refuseUnheld(st.uses)
	}
	if err := s.checkUses(st, ex, text); err != nil {
		return err
	}
	const kept = parse.UseNamedLock | parse.UseSetVariable | parse.UseTemporary | parse.UseLockTables | parse.UseUnlockTables | parse.UseCall
	if st.uses&kept != 0 {
		s.pin()
	}
	return nil
}

// planFor plans a statement under hints for a session, which it may use and
// change.
func (k *Kernel) planFor(ctx context.Context, s *Session, told *hints, st *statement, text string, args []any) (*plan.Execution, error) {
	return k.planIn(ctx, s, origin{st, told, text, args}, formMerged)
}

// planIn is planFor for a form, or one of those behind it.
func (k *Kernel) planIn(ctx context.Context, s *Session, from origin, first form) (*plan.Execution, error) {
	if err := s.broken(); err != nil {
		return nil, err
	}
	st, text := from.statement, from.text
	ex, err := k.planned(ctx, from, first)
	if err != nil {
		return nil, err
	}
	if st.uses == 0 && s == nil {
		return ex, nil
	}
	if err := k.admit(s, st, ex, text); err != nil {
		return nil, err
	}
	s.note(st, ex, text)
	s.noteWrite(ex)
	return ex, nil
}

// broken is the error of a session that lost a node connection and with it what
// was set there.
func (s *Session) broken() error {
	if s == nil || s.pins == nil {
		return nil
	}
	return s.pins.Lost()
}

// checkZone refuses to route by a TIMESTAMP column in a session with a time zone
// of its own, where the same text is another instant.
func (k *Kernel) checkZone(st *statement) error {
	tables := st.program.Statement().Tables
	for i := range tables {
		rules, ok := k.rules.Table(tables[i].Name)
		if !ok {
			if rules, ok = k.folded.Table(tables[i].Name); !ok {
				continue
			}
		}
		columns, known := k.meta.Get(rules.Name)
		if !known || columns == nil {
			continue
		}
		for _, strategy := range []*rule.Strategy{rules.Database, rules.Tables} {
			if strategy == nil {
				continue
			}
			for _, name := range strategy.Columns {
				if c, ok := columns.Column(name); ok && c.Class == value.ClassTimestamp {
					return fault.Unsupported("table "+rules.Name+" after SET time_zone", "its sharding column "+c.Name+" is a TIMESTAMP, whose text is another instant in another zone",
						"use a connection without a time zone of its own")
				}
			}
		}
	}
	return nil
}

// refuseNamed refuses a statement that would tie a configured table to one
// session.
func refuseNamed(uses parse.Use) error {
	switch {
	case uses&parse.UseTemporary != 0:
		return fault.Unsupported("TEMPORARY TABLE", "it names a configured table, and would be on one connection of one data source",
			"use a name without a rule, and fill it with rows that were read before")
	case uses&(parse.UseLockTables|parse.UseUnlockTables) != 0:
		return fault.Unsupported("LOCK TABLES", "it names a configured table, of which one session would lock a part", "use a transaction with SELECT … FOR UPDATE")
	case uses&parse.UseCall != 0:
		return fault.Unsupported("CALL", "it names a configured table, which the procedure would not find", "call it on one data source, by Plugin.DataSource(name)")
	}
	return nil
}

// useClauses are the uses of a session as messages name them, in the order in
// which they are looked for.
var useClauses = []struct {
	use            parse.Use
	clause, reason string
}{
	{parse.UseNamedLock, "lock function", "a named lock belongs to a session"},
	{parse.UsePrevious, "FOUND_ROWS() or ROW_COUNT()", "it tells of the statement before on the same connection"},
	{parse.UseLastInsertID, "LAST_INSERT_ID()", "it tells of an INSERT before on the same connection"},
	{parse.UseIntoVariable, "INTO @variable", "a user variable belongs to a session"},
	{parse.UseReadVariable, "user variable", "it is not assigned in the statement, and belongs to a session"},
	{parse.UseTemporary, "TEMPORARY TABLE", "it belongs to a session"},
	{parse.UseLockTables, "LOCK TABLES", "the locks belong to a session"},
	{parse.UseUnlockTables, "UNLOCK TABLES", "the locks belong to a session"},
	{parse.UseCall, "CALL", "a procedure may change the session"},
}

// refuseUnheld refuses a use of a session that nobody holds. A statement that
// assigns every user variable it reads needs none.
func refuseUnheld(uses parse.Use) error {
	for _, u := range useClauses {
		if uses&u.use != 0 {
			return fault.Unsupported(u.clause+" outside a connection of its own", u.reason+", and any connection of the pool may get the next statement", onConnection)
		}
	}
	return nil
}

const onConnection = "use db.Connection, a *sql.Conn or a transaction for all statements that belong together"

// checkUses refuses what more than one data source would have to answer for.
func (s *Session) checkUses(st *statement, ex *plan.Execution, text string) error {
	source := elsewhere
	if len(ex.Units) == 1 {
		source = ex.Units[0].DataSource
	}
	several := len(s.kernel.rules.DataSources) > 1
	switch uses := st.uses; {
	case uses&(parse.UseLockTables|parse.UseUnlockTables) != 0 && several:
		return fault.Unsupported("LOCK TABLES", "it would lock the tables of one data source, and the locks keep others out of none", "use a transaction with SELECT … FOR UPDATE")
	case uses&(parse.UseLockTables|parse.UseUnlockTables) != 0 && s.tx != nil:
		return fault.Unsupported("LOCK TABLES", "it would commit the open transaction", "send it before the transaction")
	case uses&parse.UseCall != 0 && several:
		return fault.Unsupported("CALL", "the procedure would see the tables of one data source", "call it on one data source, by Plugin.DataSource(name)")
	case uses&parse.UsePrevious != 0 && (source != s.previous || s.previous == ""):
		return fault.Unsupported("FOUND_ROWS() or ROW_COUNT()", "the statement before ran on another connection or over several nodes",
			"put both into one transaction, on one data source, or count with a statement of its own")
	case uses&parse.UseLastInsertID != 0 && (source != s.inserted || s.inserted == ""):
		return fault.Unsupported("LAST_INSERT_ID()", "the INSERT before ran on another connection or has its key from a generator",
			"use the result's LastInsertId, or put both into one transaction, on one data source")
	case uses&(parse.UseReadVariable|parse.UseSetVariable) != 0 && source == elsewhere:
		return fault.Unsupported("user variable over several nodes", "a variable belongs to the session of one node", "pass the value as a parameter")
	}
	if len(s.variables) > 0 && st.uses&(parse.UseReadVariable|parse.UseSetVariable) != 0 {
		read, _ := parse.Variables(text, s.kernel.dialect)
		for _, name := range read {
			if at, known := s.variables[name]; known && at != source {
				return fault.Unsupported("user variable @"+name, "it was assigned on another data source", "pass the value as a parameter")
			}
		}
	}
	return nil
}

// note remembers what the statements to come may ask of the session.
func (s *Session) note(st *statement, ex *plan.Execution, text string) {
	if s == nil {
		return
	}
	source := elsewhere
	if len(ex.Units) == 1 {
		source = ex.Units[0].DataSource
	}
	if s.branches() == nil {
		return // the connections are somebody else's now
	}
	s.previous = source
	switch st.verb {
	case "INSERT", "REPLACE", "LOAD", "CALL":
		s.noteInsert(ex, source)
	default:
		if st.uses&parse.UseSetInsertID != 0 {
			s.noteInsert(ex, source)
		}
	}
	if st.uses&parse.UseSetVariable != 0 {
		if s.variables == nil {
			s.variables = map[string]string{}
		}
		_, set := parse.Variables(text, s.kernel.dialect)
		for _, name := range set {
			s.variables[name] = source
		}
	}
	switch {
	case st.uses&parse.UseLockTables != 0:
		s.locked = true
	case st.uses&parse.UseUnlockTables != 0:
		s.locked = false
	}
}

// noteInsert remembers where LAST_INSERT_ID() was set.
func (s *Session) noteInsert(ex *plan.Execution, source string) {
	if ex.LastInsertID != 0 || s.inserted != "" && s.inserted != source {
		source = elsewhere
	}
	s.inserted = source
}
