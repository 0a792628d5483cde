package shardkernel

import (
	"context"
	"fmt"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/execute"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// batchPart is one of several statements in one string.
type batchPart struct {
	*statement
	text    string
	markers int
}

// batch compiles a text of several statements, which may be writes of rows only:
// of other statements one result could not be made.
func (c *compiler) batch(text string) ([]batchPart, error) {
	parts, err := parse.Split(text, c.server.Dialect)
	if err != nil {
		return nil, err
	}
	batch := make([]batchPart, len(parts))
	for i, p := range parts {
		s, err := c.compile(p.Text)
		if err != nil {
			return nil, err
		}
		switch {
		case !s.writesRows():
			return nil, fault.Unsupported(s.verb+" beside other statements in one string", "only INSERT, REPLACE, UPDATE and DELETE make one result",
				"send it as a statement of its own")
		case p.Returning:
			return nil, fault.Unsupported("RETURNING beside other statements in one string", "whose rows the result holds would not be certain",
				"send the statement on its own")
		case p.Session != "":
			return nil, fault.Unsupported(strings.ToUpper(p.Session)+" beside other statements in one string",
				"the statements may run on connections of their own, each with its own session", "send the statements one by one and pass the value as a parameter")
		}
		batch[i] = batchPart{statement: s, text: p.Text, markers: p.Markers}
	}
	return batch, nil
}

// refuseCommandInside refuses a text of several statements, none of which names a
// configured table, for one that would change a pooled connection's session. What
// stands in the body of a stored program runs in a call of it.
func (c *compiler) refuseCommandInside(text string) error {
	parts, err := parse.Split(text, c.server.Dialect)
	if err != nil {
		return nil // the server has its own words for it
	}
	for i, p := range parts {
		outline, err := parse.Scan(p.Text, c.rules, c.server.Dialect)
		if err != nil || i == 0 && parse.DefinesProgram(p.Text, outline.Verb, c.server.Dialect) {
			return nil
		}
		const bound = parse.UseNamedLock | parse.UseTemporary | parse.UseLockTables | parse.UseUnlockTables | parse.UseCall
		if i > 0 && outline.Uses&bound != 0 {
			return fault.Unsupported(outline.Verb, "it may change the session, and other statements stand beside it in one string", "send it as a statement of its own")
		}
		command, err := c.command(p.Text, outline.Verb)
		switch {
		case err != nil:
			return err
		case command != nil:
			return fault.Unsupported(command.Clause, "other statements stand beside it in one string", "send it as a statement of its own")
		}
	}
	return nil
}

// writesRows reports whether the statement inserts, updates or deletes rows.
func (s *statement) writesRows() bool {
	if s.program == nil {
		switch s.verb {
		case "INSERT", "REPLACE", "UPDATE", "DELETE":
			return true
		}
		return false
	}
	switch s.program.Statement().Kind {
	case parse.KindInsert, parse.KindReplace, parse.KindUpdate, parse.KindDelete:
		return true
	}
	return false
}

// planBatch plans several statements, each with the arguments of its markers. Where a
// DSN does not allow several it refuses them as the server would, which is what keeps
// a statement that was slipped into a text from running.
func (k *Kernel) planBatch(ctx context.Context, told *hints, s *statement, text string, args []any) (*plan.Execution, error) {
	for _, name := range k.rules.DataSources {
		if c := k.sources[name].client; k.dialect.IsMySQL() && (c == nil || !c.MultiStatements) {
			return nil, fault.Unsupported("several statements in one string", "no DSN of data source "+name+" says multiStatements=true, without which a server takes one",
				"send each by itself, or set multiStatements=true in every DSN")
		}
	}
	want := 0
	for i := range s.batch {
		want += s.batch[i].markers
	}
	if want != len(args) {
		return nil, fault.Unsupported("arguments", fmt.Sprintf("the statements have %d parameter markers and %d arguments", want, len(args)),
			"bind one argument to every ?")
	}
	statements := make([]*plan.Execution, len(s.batch))
	for i := range s.batch {
		p := &s.batch[i]
		var err error
		if statements[i], err = k.routed(ctx, told, p.statement, p.text, args[:p.markers:p.markers]); err != nil {
			if s.commented {
				return k.planWhole(ctx, told, text, args, formMerged)
			}
			return nil, err
		}
		if statements[i].Numbering != nil {
			return nil, fault.Unsupported("INSERT into a broadcast table beside other statements in one string", "the first data source numbers its rows before the others get them",
				"send it as a statement of its own, or give the AUTO_INCREMENT column a value")
		}
		if statements[i].Rest != plan.RestNone {
			return nil, fault.Unsupported("UPDATE of a sharding column beside other statements in one string", "whether the row is on the node of the new value has to be found out between them",
				"send it as a statement of its own")
		}
		args = args[p.markers:]
	}
	ex := plan.Batch(statements)
	if s.commented {
		k.recomment(ex, text)
	}
	return ex, nil
}

// batchResult makes one result of those of several statements: the affected rows
// are summed, the last insert id is that of the last statement, as drivers give
// it.
func batchResult(statements []*plan.Execution, results []execute.Result) result {
	var all result
	for _, s := range statements {
		n := len(s.Units)
		one := resultOf(s, results[:n])
		results = results[n:]
		all.affected += one.affected
		all.lastInsertID = one.lastInsertID
	}
	return all
}
