package parse

import (
	"fmt"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// CommandKind is the kind of a Command.
type CommandKind uint8

// The kinds of commands.
const (
	CommandSet           CommandKind = iota // SET of session and user variables: Command.Set
	CommandSetGlobal                        // SET GLOBAL and PERSIST: Command.Set
	CommandSetNext                          // SET TRANSACTION, for the next transaction alone: Command.Transaction
	CommandBegin                            // BEGIN, START TRANSACTION: Command.Transaction
	CommandCommit                           // COMMIT: Command.Chain
	CommandRollback                         // ROLLBACK: Command.Chain
	CommandSavepoint                        // SAVEPOINT: Command.Name
	CommandRollbackTo                       // ROLLBACK TO: Command.Name
	CommandRelease                          // RELEASE SAVEPOINT: Command.Name
	CommandUse                              // USE: Command.Name
	CommandAccount                          // users, roles and their privileges: Command.Grant
	CommandServer                           // what acts on one server as a whole: KILL, RESET, FLUSH and the like
	CommandNotUnderstood                    // a form that is refused: Command.Err
)

// Command is a statement about the session, the transaction, the accounts or the
// server, which no table routes. It is immutable.
type Command struct {
	Kind        CommandKind
	Text        string // as it was read
	Clause      string // the words it begins with, for messages
	Set         []Assign
	Transaction Access
	Chain       bool
	Name        string // of a savepoint as written, of a schema unquoted
	Grant       *Grant // what GRANT … ON and REVOKE … ON name; nil for others
	// Secret is true when the text may hold a password.
	Secret bool
	Err    error
}

// Access is what a statement says of transactions. Empty and nil stand for what
// it leaves open.
type Access struct {
	Isolation string // in upper case: READ COMMITTED and so on
	ReadOnly  *bool
}

// Assign is one assignment of a SET.
type Assign struct {
	// Name is in lower case, without @ and scope; the characteristics of SET
	// SESSION TRANSACTION are transaction_isolation and transaction_read_only.
	Name string
	// User is true for a user variable.
	User bool
	// Scoped is true when the scope was written.
	Scoped bool
	// Text is the assignment as a SET of its own, without the keyword.
	Text string
	// Constant is true when every server would compute the same value.
	Constant bool
	// First is the ordinal of the first parameter marker in the value, of Params.
	First, Params int
}

// Grant is the object of GRANT … ON and REVOKE … ON.
type Grant struct {
	// Schema and Table are unquoted and as written; empty for a part that is not
	// there. AllSchemas is *.*; AllTables is a schema's or the current schema's *.
	Schema, Table         string
	AllSchemas, AllTables bool
	Routine               bool
	// Object is the span of the whole name.
	Object Span
}

// ReadCommand reads a command; it returns nil when the text is none.
func ReadCommand(text, verb string, d *dialect.Dialect) *Command {
	if !mayCommand(verb) {
		return nil
	}
	r := &words{text: text}
	l := lexer{text: text, dialect: d}
	for {
		tok, ok, err := l.next()
		if err != nil || !ok {
			break
		}
		r.tokens = append(r.tokens, tok)
	}
	for n := len(r.tokens); n > 0 && r.raw(n-1) == ";"; n-- {
		r.tokens = r.tokens[:n-1]
	}
	c := r.command(d)
	if c == nil {
		return nil
	}
	c.Text = text
	for i := range r.tokens {
		if c.Err == nil && r.raw(i) == ";" {
			c.Kind, c.Err = CommandNotUnderstood, fault.Unsupported(c.Clause, "other statements stand beside it in one text", "send it alone")
		}
	}
	return c
}

// mayCommand reports whether a command can begin with the verb.
func mayCommand(verb string) bool {
	switch verb {
	case "SET", "BEGIN", "START", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "USE", "XA",
		"CREATE", "ALTER", "DROP", "RENAME", "GRANT", "REVOKE", "FLUSH",
		"PREPARE", "EXECUTE", "DEALLOCATE", "HANDLER", "GET", "LOCK",
		"KILL", "SHUTDOWN", "RESTART", "RESET", "INSTALL", "UNINSTALL", "CHANGE", "PURGE", "BINLOG", "CACHE", "CLONE", "BACKUP", "STOP", "LOAD":
		return true
	}
	return false
}

// words reads the tokens of a command from left to right.
type words struct {
	text   string
	tokens []token
	at     int
}

func (r *words) raw(i int) string { return r.text[r.tokens[i].start:r.tokens[i].end] }

func (r *words) end() bool { return r.at >= len(r.tokens) }

// is reports whether the next token is one of the words or signs, in upper case.
func (r *words) is(options ...string) bool {
	if r.end() || r.tokens[r.at].kind != tokenWord && r.tokens[r.at].kind != tokenOther {
		return false
	}
	for _, w := range options {
		if equalWord(r.raw(r.at), w) {
			return true
		}
	}
	return false
}

// skip passes the words when all of them come next.
func (r *words) skip(sequence ...string) bool {
	from := r.at
	for _, w := range sequence {
		if !r.is(w) {
			r.at = from
			return false
		}
		r.at++
	}
	return true
}

// skipAny passes one of the words if it comes next.
func (r *words) skipAny(options ...string) bool {
	if r.is(options...) {
		r.at++
		return true
	}
	return false
}

// name passes an identifier.
func (r *words) name() (string, bool) {
	if r.end() || r.tokens[r.at].kind != tokenWord && r.tokens[r.at].kind != tokenQuoted {
		return "", false
	}
	r.at++
	return unquote(r.raw(r.at - 1)), true
}

// last passes an identifier that ends the text.
func (r *words) last() (string, bool) {
	name, ok := r.name()
	return name, ok && r.end()
}

func refused(clause, reason, remedy string) *Command {
	return &Command{Kind: CommandNotUnderstood, Clause: clause, Err: fault.Unsupported(clause, reason, remedy)}
}

const (
	useGoTransaction = "use Begin, Commit, Rollback, SavePoint or Transaction of GORM or database/sql, or the plain form of the statement"
	useDataSource    = "take one data source by Plugin.DataSource(name)"
)

func (r *words) command(d *dialect.Dialect) *Command {
	verb := ""
	if len(r.tokens) > 0 {
		verb = strings.ToUpper(r.raw(0))
	}
	r.at = 1
	switch verb {
	case "SET":
		return r.set()
	case "BEGIN", "START", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE":
		return r.transaction(verb, d)
	case "XA":
		return refused(verb, "the data sources' branches are coordinated here, and one of another hand would stay prepared", useGoTransaction)
	case "USE":
		if name, ok := r.last(); ok {
			return &Command{Kind: CommandUse, Clause: verb, Name: name}
		}
		return refused(verb, "it names no schema", "name the logical schema")
	case "CREATE", "ALTER", "DROP", "RENAME":
		r.skip("OR", "REPLACE")
		if r.is("USER", "ROLE") {
			return &Command{Kind: CommandAccount, Clause: verb + " " + strings.ToUpper(r.raw(r.at)), Secret: true}
		}
		return nil
	case "GRANT", "REVOKE":
		return r.grant(verb)
	case "FLUSH":
		r.skipAny("LOCAL", "NO_WRITE_TO_BINLOG")
		switch {
		case r.is("PRIVILEGES", "USER_RESOURCES") && r.at == len(r.tokens)-1:
			return &Command{Kind: CommandAccount, Clause: verb + " " + strings.ToUpper(r.raw(r.at))}
		case r.is("TABLE", "TABLES") && r.at < len(r.tokens)-1:
			return refused("FLUSH TABLES of named tables or with a lock", "it may hold a lock until the session ends", useDataSource)
		}
		return &Command{Kind: CommandServer, Clause: verb}
	case "PREPARE", "EXECUTE", "DEALLOCATE":
		return refused(verb, "a statement prepared as text hides the tables it names", "send the statement itself, or prepare it with database/sql")
	case "GET":
		return refused("GET DIAGNOSTICS", "it reads what the statement before left in the session of one node", "read the error from the statement's own answer")
	case "HANDLER":
		return refused(verb, "a handler reads past the rules of the table", "use SELECT")
	case "LOCK":
		if r.is("INSTANCE") {
			return refused("LOCK INSTANCE", "it locks one server", useDataSource)
		}
		return nil
	case "BACKUP":
		return refused(verb, "it locks one server", useDataSource)
	case "LOAD":
		if !r.is("INDEX") {
			return nil
		}
	}
	return &Command{Kind: CommandServer, Clause: verb}
}

// transaction reads transaction control.
func (r *words) transaction(verb string, d *dialect.Dialect) *Command {
	c := &Command{Clause: verb}
	switch verb {
	case "BEGIN":
		c.Kind = CommandBegin
		r.skipAny("WORK", "TRANSACTION")
	case "START":
		if !r.skip("TRANSACTION") {
			return &Command{Kind: CommandServer, Clause: verb}
		}
		c.Kind, c.Clause = CommandBegin, "START TRANSACTION"
		for !r.end() {
			if !r.access(&c.Transaction) || !r.end() && !r.skip(",") {
				break
			}
		}
	case "COMMIT":
		c.Kind = CommandCommit
		r.completion(c)
	case "ROLLBACK":
		c.Kind = CommandRollback
		r.skipAny("WORK", "TRANSACTION")
		if r.skip("TO") {
			c.Kind, c.Clause = CommandRollbackTo, "ROLLBACK TO"
			if r.at < len(r.tokens)-1 {
				r.skip("SAVEPOINT")
			}
			return r.savepoint(c)
		}
		r.completion(c)
	case "SAVEPOINT":
		c.Kind = CommandSavepoint
		return r.savepoint(c)
	case "RELEASE":
		c.Kind = CommandRelease
		if r.skip("SAVEPOINT") || isSQLite(d) {
			return r.savepoint(c)
		}
	}
	if !r.end() || verb == "RELEASE" {
		return refused(c.Clause, "this form of it is not supported"+r.near(), useGoTransaction)
	}
	return c
}

// savepoint reads the name of a savepoint.
func (r *words) savepoint(c *Command) *Command {
	if _, ok := r.last(); !ok {
		return refused(c.Clause, "it does not end with the name of a savepoint", "name one savepoint")
	}
	c.Name = r.raw(len(r.tokens) - 1)
	return c
}

// completion reads [WORK] [AND [NO] CHAIN] [NO RELEASE]. RELEASE, which closes
// the connection, is left.
func (r *words) completion(c *Command) {
	r.skipAny("WORK", "TRANSACTION")
	if r.skip("AND", "CHAIN") {
		c.Chain = true
	} else {
		r.skip("AND", "NO", "CHAIN")
	}
	r.skip("NO", "RELEASE")
}

// access reads READ ONLY or READ WRITE.
func (r *words) access(a *Access) bool {
	readOnly := r.skip("READ", "ONLY")
	if !readOnly && !r.skip("READ", "WRITE") {
		return false
	}
	a.ReadOnly = &readOnly
	return true
}

// near quotes the next word, if it is one: anything else may be a value.
func (r *words) near() string {
	if r.end() || r.tokens[r.at].kind != tokenWord {
		return ""
	}
	return fmt.Sprintf(" (at %q)", strings.ToUpper(r.raw(r.at)))
}

// grant reads what the first ON of a GRANT or REVOKE stands before.
func (r *words) grant(verb string) *Command {
	c := &Command{Kind: CommandAccount, Clause: verb, Secret: true}
	for ; !r.end(); r.at++ {
		if r.tokens[r.at].depth > 0 {
			continue
		}
		if r.is("TO", "FROM", "PROXY") {
			return c // a role, everything, or a proxy user
		}
		if r.is("ON") {
			break
		}
	}
	if r.end() {
		return refused(verb, "it is not understood", "check the syntax")
	}
	r.at++
	g := &Grant{}
	if !r.qualifiedNext() {
		g.Routine = r.is("FUNCTION", "PROCEDURE", "PACKAGE")
		if g.Routine || r.is("TABLE") {
			r.at++
			r.skip("BODY")
		}
	}
	if !r.object(g) || !r.is("TO", "FROM") {
		return refused(verb+" … ON", "its object is not understood", "write *.*, *, schema.*, table or schema.table")
	}
	c.Grant = g
	return c
}

// qualifiedNext reports whether a dot, or the end of the object, follows the next
// token: the word then is a name.
func (r *words) qualifiedNext() bool {
	if r.at+1 >= len(r.tokens) {
		return true
	}
	next := r.raw(r.at + 1)
	return next == "." || equalWord(next, "TO") || equalWord(next, "FROM")
}

// object reads *.*, *, schema.*, table, schema.table.
func (r *words) object(g *Grant) bool {
	if r.end() {
		return false
	}
	start := r.tokens[r.at].start
	switch {
	case r.skip("*", ".", "*"):
		g.AllSchemas = true
	case r.skip("*"):
		g.AllTables = true
	default:
		name, ok := r.name()
		if !ok {
			return false
		}
		g.Table = name
		if r.skip(".") {
			g.Schema = name
			if r.skip("*") {
				g.Table, g.AllTables = "", true
			} else if g.Table, ok = r.name(); !ok {
				return false
			}
		}
	}
	g.Object = Span{Start: start, End: r.tokens[r.at-1].end}
	return true
}
