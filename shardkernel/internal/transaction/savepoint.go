package transaction

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/gormshard/sharding/internal/fault"
)

// savepoint is one the user has set and not lost again.
type savepoint struct {
	text string // as the user wrote it
	name string // without quotes
}

// Savepoint sets a savepoint on every branch, and on those opened later. One of
// the same name is replaced, as MySQL does. name is one identifier, quoted or
// not, as the user wrote it.
func (t *Tx) Savepoint(ctx context.Context, name string) error {
	if err := t.usable(); err != nil {
		return err
	}
	if strings.EqualFold(unquote(name), statementSavepoint) {
		return fault.Unsupported("SAVEPOINT "+name, "writes over several nodes set a savepoint of that name themselves", "choose another name")
	}
	if err := t.everywhere(ctx, "SAVEPOINT "+name); err != nil {
		return err
	}
	if i := t.index(name); i >= 0 {
		t.savepoints = slices.Delete(t.savepoints, i, i+1)
	}
	t.savepoints = append(t.savepoints, savepoint{text: name, name: unquote(name)})
	return nil
}

// RollbackTo takes every branch back to a savepoint and drops those set after
// it. A branch opened after the savepoint goes back to its beginning.
func (t *Tx) RollbackTo(ctx context.Context, name string) error {
	i, err := t.back(ctx, "ROLLBACK TO SAVEPOINT ", name)
	if err == nil && i < len(t.savepoints) {
		t.savepoints = t.savepoints[:i+1]
	}
	return err
}

// Release drops a savepoint and those set after it.
func (t *Tx) Release(ctx context.Context, name string) error {
	i, err := t.back(ctx, "RELEASE SAVEPOINT ", name)
	if err == nil {
		t.savepoints = t.savepoints[:i]
	}
	return err
}

// back sends a statement about an earlier savepoint and returns its index, or
// the number of savepoints for one that only the server knows.
func (t *Tx) back(ctx context.Context, verb, name string) (int, error) {
	if err := t.usable(); err != nil {
		return 0, err
	}
	i := t.index(name)
	if i < 0 {
		return len(t.savepoints), t.unknown(ctx, verb, name)
	}
	return i, t.everywhere(ctx, verb+name)
}

// unknown answers a statement about a savepoint that was not set here with the
// word of the server, and with what it would say where there is none to ask.
func (t *Tx) unknown(ctx context.Context, verb, name string) error {
	if len(t.branches) == 0 {
		return &mysql.MySQLError{Number: 1305, SQLState: [5]byte([]byte("42000")), Message: "SAVEPOINT " + unquote(name) + " does not exist"}
	}
	first := t.branches[0]
	if _, err := first.conn.Exec(ctx, verb+name, nil); err != nil {
		t.Failed(first.source, err)
		return err
	}
	// The server knows a savepoint that the other branches may not have.
	if len(t.branches) > 1 {
		t.spoil([]*fault.NodeError{{DataSource: first.source, Err: fmt.Errorf("savepoint %s was not set in this transaction", name)}})
		return t.refusal()
	}
	return nil
}

// everywhere sends a statement to every branch. When it fails on a part of
// several, they differ, and only rollback is left.
func (t *Tx) everywhere(ctx context.Context, query string) error {
	if err := ctx.Err(); err != nil {
		return err // before the branches could differ
	}
	failed := t.each(ctx, t.branches, query)
	if failed == nil {
		return nil
	}
	if len(t.branches) > 1 {
		t.spoil(failed)
	}
	return t.report(failed)
}

func (t *Tx) usable() error {
	switch {
	case t.done:
		return sql.ErrTxDone
	case t.rollbackOnly():
		return t.refusal()
	}
	return nil
}

// index finds a live savepoint; names are compared without regard to case.
func (t *Tx) index(name string) int {
	name = unquote(name)
	return slices.IndexFunc(t.savepoints, func(s savepoint) bool { return strings.EqualFold(s.name, name) })
}

// unquote takes the quotes off an identifier.
func unquote(name string) string {
	if len(name) < 2 {
		return name
	}
	switch q := name[:1]; q {
	case "`", `"`:
		if strings.HasSuffix(name, q) {
			return strings.ReplaceAll(name[1:len(name)-1], q+q, q)
		}
	}
	return name
}
