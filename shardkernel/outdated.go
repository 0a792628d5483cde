package shardkernel

import (
	"context"
	"database/sql/driver"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// origin is what a read was planned from.
type origin struct {
	statement *statement
	told      *hints
	text      string
	args      []any
}

// freshFor is how long the columns of tables are trusted in spite of errors: a
// statement that is wrong by itself, again and again, does not make every other
// one read columns.
const freshFor = time.Second

// queryAgain runs a read once more that failed before its first row because
// tables are not what they were when their columns were read. Where the plan is
// the same with new columns, or a function of the user's may have written, cause is
// the answer.
func (k *Kernel) queryAgain(ctx context.Context, s *Session, ex *plan.Execution, from origin, cause error) (driver.Rows, error) {
	if !k.outdated(from.statement, cause) || !ex.Query || ex.Write || ex.DDL || ex.InTurn || from.statement.callsRoutine() {
		return nil, cause
	}
	again, err := k.planFor(ctx, s, from.told, from.statement, from.text, from.args)
	if err != nil || samePlan(ex, again) {
		return nil, cause
	}
	return k.query(ctx, s, again, from)
}

// outdated drops the columns of a statement's tables if its error tells that they
// may be out of date, and reports whether it has dropped any.
func (k *Kernel) outdated(st *statement, err error) bool {
	if st == nil || st.program == nil || !errors.Is(err, fault.ErrSchemaDrift) && !dialect.UnknownDefinition(err) {
		return false
	}
	dropped := false
	tables := st.program.Statement().Tables
	for i := range tables {
		name := tables[i].Name
		if rules, ok := k.rules.Table(name); ok {
			name = rules.Name
		} else if rules, ok := k.folded.Table(name); ok {
			name = rules.Name
		}
		dropped = k.meta.DropOlder(name, freshFor) || dropped
	}
	return dropped
}

// samePlan reports whether two plans of one text ask the same of the same nodes.
func samePlan(a, b *plan.Execution) bool {
	same := func(a, b *plan.Unit) bool { return a.DataSource == b.DataSource && a.SQL == b.SQL }
	return slices.EqualFunc(unitsOf(a), unitsOf(b), same) && reflect.DeepEqual(a.Merge, b.Merge)
}
