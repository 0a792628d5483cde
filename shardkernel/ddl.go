package shardkernel

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"reflect"
	"slices"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/execute"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// define runs a DDL statement. Whether it succeeds or not, the columns of all
// tables are read anew from then on: what a statement did before it failed, and
// what one of a single table changed, is not known.
func (k *Kernel) define(ctx context.Context, s *Session, ex *plan.Execution) ([]execute.Result, error) {
	branches, err := s.definer(ex)
	if err != nil {
		return nil, err
	}
	defer k.meta.Clear()
	if err := k.callByName(ctx, ex); err != nil {
		return nil, err
	}
	if len(ex.Units) == 1 {
		return k.executor.Exec(ctx, ex, branches)
	}
	differs, err := k.complete(ctx, ex, branches)
	if err != nil {
		return nil, err
	}
	results, err := k.executor.Define(ctx, ex, branches, func() error { return k.othersAlike(ctx, ex) })
	if err == nil && !ex.Lenient || err != nil && !alreadyDefined(ex, err) {
		return results, err
	}
	return results, k.alike(ctx, ex, err, differs)
}

// definer returns what a statement that makes the servers commit runs in: the
// transaction where it takes part in it, else the connections that the session
// keeps, else a nil interface. A transaction that has begun nowhere is over then, as
// it would be on a server: nothing that comes after the statement is undone with it.
func (s *Session) definer(ex *plan.Execution) (execute.Branches, error) {
	if s.inTransaction() {
		inside, err := s.tx.Define(ex)
		if err != nil {
			return nil, err
		}
		if !inside {
			typed := s.typed
			if err := s.Commit(); err != nil {
				return nil, err
			}
			s.overtaken, s.typed = true, typed
			return s.kept(), nil
		}
	}
	return s.branches(), nil
}

// alreadyDefined reports whether every node where a DDL statement failed answers that
// it is done there already, and it is done on all others: it may make up for an earlier
// failure.
func alreadyDefined(ex *plan.Execution, err error) bool {
	var failed *fault.NodesError
	if !errors.As(err, &failed) || len(failed.Done)+len(failed.Nodes) < len(ex.Units) {
		return false
	}
	for _, n := range failed.Nodes {
		if !dialect.AlreadyDefined(n.Err, ex.Renames) {
			return false
		}
	}
	return namesTables(ex)
}

// namesTables reports whether every unit names one actual table.
func namesTables(ex *plan.Execution) bool {
	return !slices.ContainsFunc(ex.Units, func(u plan.Unit) bool { return u.Table == "" })
}

// othersAlike returns nil where all nodes but the first are alike. If it were altered
// while they are not, a migrator, which asks it, would find nothing left to do.
func (k *Kernel) othersAlike(ctx context.Context, ex *plan.Execution) error {
	if !namesTables(ex) {
		return nil
	}
	return k.compare(ctx, unitNodes(ex)[1:], ex.Touched)
}

// alike returns nil where all nodes are alike in what a DDL statement is about, and
// it took effect on some of them. They may differ elsewhere: the next statement of a
// migration mends that. Otherwise it returns what the servers said, with the
// difference, or with differs, which is what is known to be wrong anyhow.
func (k *Kernel) alike(ctx context.Context, ex *plan.Execution, said, differs error) error {
	if differ := k.compare(ctx, unitNodes(ex), ex.Touched); differ != nil {
		return errors.Join(said, differ)
	}
	var failed *fault.NodesError
	if errors.As(said, &failed) && len(failed.Done) == 0 {
		return said
	}
	if differs != nil {
		return errors.Join(said, differs)
	}
	return nil
}

// noRows is the answer to DDL, and to a command, that is sent as a query.
type noRows struct{}

func (noRows) Columns() []string                            { return nil }
func (noRows) Close() error                                 { return nil }
func (noRows) Next([]driver.Value) error                    { return io.EOF }
func (noRows) ColumnTypeDatabaseTypeName(int) string        { return "" }
func (noRows) ColumnTypeScanType(int) reflect.Type          { return reflect.TypeFor[any]() }
func (noRows) ColumnTypeNullable(int) (nullable, ok bool)   { return false, false }
func (noRows) ColumnTypeLength(int) (length int64, ok bool) { return 0, false }
func (noRows) ColumnTypePrecisionScale(int) (precision, scale int64, ok bool) {
	return 0, 0, false
}
