package shardkernel

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/session"
)

// command carries out a statement about the session, the transaction or the
// accounts.
func (k *Kernel) command(ctx context.Context, s *Session, st *statement, text string, args []any) error {
	c := st.command
	if len(args) > 0 && c.Kind != parse.CommandSet && c.Kind != parse.CommandSetGlobal {
		return fault.Unsupported(c.Clause, "it takes no arguments", "write its values into the text")
	}
	if k.props.StatementTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, k.props.StatementTimeout)
		defer cancel()
	}
	switch c.Kind {
	case parse.CommandUse:
		return k.use(ctx, c)
	case parse.CommandSetGlobal, parse.CommandAccount:
		return k.everyServer(ctx, s, st, text, args)
	}
	if !s.holds() {
		return refuseUnheldCommand(c)
	}
	if err := errors.Join(ctx.Err(), s.broken()); err != nil {
		return err
	}
	s.previous = ""
	switch c.Kind {
	case parse.CommandSet:
		return k.set(ctx, s, c, text, args)
	case parse.CommandSetNext:
		return s.setNext(c)
	case parse.CommandBegin:
		return s.beginTyped(c)
	case parse.CommandCommit, parse.CommandRollback:
		return s.endTyped(c)
	}
	return s.savepoint(ctx, c)
}

// refuseUnheldCommand refuses a command that needs a connection of its own.
func refuseUnheldCommand(c *parse.Command) error {
	switch c.Kind {
	case parse.CommandUse, parse.CommandSetGlobal, parse.CommandAccount:
		return nil
	}
	return fault.Unsupported(c.Clause+" outside a connection of its own", "any connection of the pool may get the next statement",
		onConnection+"; settings for all connections belong in the DSN")
}

// use answers USE: the logical schema is in use already, and nothing is sent.
func (k *Kernel) use(ctx context.Context, c *parse.Command) error {
	schema, err := k.schema(ctx)
	if err != nil {
		return err
	}
	if c.Name == schema || strings.EqualFold(c.Name, schema) && k.dialect.FoldTables {
		return nil
	}
	return fault.Unsupported("USE of another schema", "statements are routed for the logical schema, "+schema, "open a database of its own for the other schema")
}

// set carries out SET of the session: on the node connections that are held, and
// on those to come.
func (k *Kernel) set(ctx context.Context, s *Session, c *parse.Command, text string, args []any) error {
	set := make([]session.Assignment, len(c.Set))
	for i := range c.Set {
		a := &c.Set[i]
		if err := checkAssignment(a); err != nil {
			return err
		}
		if a.First+a.Params > len(args) {
			return fault.Unsupported("arguments", "there are fewer of them than parameter markers", "bind one argument to every ?")
		}
		set[i] = session.Assignment{Key: settingKey(a), Text: a.Text, Args: args[a.First : a.First+a.Params : a.First+a.Params]}
	}
	s.pin()
	err := s.pins.Set(ctx, k.rules.DefaultDataSource, text, args, set)
	if err != nil {
		return err
	}
	for i := range c.Set {
		switch a := &c.Set[i]; {
		case a.User:
			delete(s.variables, a.Name) // it is the same everywhere now
		case a.Name == "time_zone":
			s.zoned = true
		}
	}
	return nil
}

// setNext keeps SET TRANSACTION for the next transaction.
func (s *Session) setNext(c *parse.Command) error {
	if s.tx != nil {
		return fault.Unsupported("SET TRANSACTION inside a transaction", "it holds for the next one, and this one has begun", "send it before the transaction, or use SET SESSION TRANSACTION")
	}
	next := driver.TxOptions{}
	if s.next != nil {
		next = *s.next
	}
	if c.Transaction.Isolation != "" {
		next.Isolation = driver.IsolationLevel(isolations[c.Transaction.Isolation])
	}
	if c.Transaction.ReadOnly != nil {
		next.ReadOnly = *c.Transaction.ReadOnly
	}
	s.next = &next
	return nil
}

var isolations = map[string]sql.IsolationLevel{
	"READ UNCOMMITTED": sql.LevelReadUncommitted,
	"READ COMMITTED":   sql.LevelReadCommitted,
	"REPEATABLE READ":  sql.LevelRepeatableRead,
	"SERIALIZABLE":     sql.LevelSerializable,
}

// beginTyped begins a transaction by a statement. One that is open commits
// before, as on a server.
func (s *Session) beginTyped(c *parse.Command) error {
	switch {
	case s.tx != nil && !s.typed:
		return fault.Unsupported(c.Clause+" inside a transaction", "it would commit the transaction that database/sql has begun", "use a savepoint")
	case s.tx != nil:
		if err := s.Commit(); err != nil {
			return err
		}
	}
	opts := driver.TxOptions{}
	if c.Transaction.ReadOnly != nil {
		opts.ReadOnly = *c.Transaction.ReadOnly
		if s.next != nil {
			s.next.ReadOnly = opts.ReadOnly
		}
	}
	s.begin(opts)
	s.typed = true
	return nil
}

// endTyped ends a transaction that was begun by a statement.
func (s *Session) endTyped(c *parse.Command) error {
	switch {
	case s.tx == nil && !s.overtaken:
		return fault.Unsupported(c.Clause, "no transaction is open on this connection", "send BEGIN on the same connection, or use Begin of GORM or database/sql")
	case !s.typed:
		return fault.Unsupported(c.Clause, "database/sql has begun the transaction and ends it", "return from the function given to Transaction, or use Commit or Rollback")
	}
	opts, end := s.opts, s.Rollback
	if c.Kind == parse.CommandCommit {
		end = s.Commit
	}
	if err := end(); err != nil {
		return err
	}
	if c.Chain {
		s.begin(opts)
		s.typed = true
	}
	return nil
}

// savepoint carries out the statements about savepoints.
func (s *Session) savepoint(ctx context.Context, c *parse.Command) error {
	switch {
	case s.overtaken && c.Kind == parse.CommandSavepoint:
		return nil // a server forgets it at once
	case s.overtaken:
		return &mysql.MySQLError{Number: 1305, SQLState: [5]byte([]byte("42000")), Message: "SAVEPOINT " + c.Name + " does not exist"}
	case s.tx == nil:
		return fault.Unsupported(c.Clause, "there is no open transaction", "use it inside Transaction, or after Begin")
	}
	switch c.Kind {
	case parse.CommandRollbackTo:
		return s.tx.RollbackTo(ctx, c.Name)
	case parse.CommandRelease:
		return s.tx.Release(ctx, c.Name)
	}
	return s.tx.Savepoint(ctx, c.Name)
}

// planCommand shows what a command would be.
func (k *Kernel) planCommand(ctx context.Context, st *statement, text string, args []any) (*plan.Execution, error) {
	ex := &plan.Execution{Kind: plan.KindSession, Reason: "it concerns the session or its transaction: every node connection of it, when a statement needs one"}
	switch c := st.command; c.Kind {
	case parse.CommandUse:
		ex.Kind, ex.Reason = plan.KindBlocked, "the logical schema is in use already"
		return ex, k.use(ctx, c)
	case parse.CommandSet:
		for i := range c.Set {
			if err := checkAssignment(&c.Set[i]); err != nil {
				return nil, err
			}
		}
	case parse.CommandSetGlobal, parse.CommandAccount:
		return k.planInstances(ctx, st, text, args)
	}
	return ex, nil
}

// command reads a command, nil for any other text. It refuses, once for each
// text, what no session can do.
func (c *compiler) command(text, verb string) (*parse.Command, error) {
	command := parse.ReadCommand(text, verb, c.server.Dialect)
	switch {
	case command == nil:
		return nil, nil
	case command.Err != nil:
		return nil, command.Err
	case command.Kind != parse.CommandServer:
		return command, nil
	case len(c.rules.DataSources) > 1:
		return nil, fault.Unsupported(command.Clause, "it acts on one server, and several may stand behind the data sources", "send it to one of them, by Plugin.DataSource(name)")
	}
	return nil, nil
}

func settingKey(a *parse.Assign) string {
	if a.User {
		return "@" + a.Name
	}
	return canonical(a.Name)
}
