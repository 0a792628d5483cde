package shardkernel

import (
	"context"
	"database/sql/driver"
	"errors"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// form is one of the ways to answer a SELECT, from the cheapest on. A statement is
// planned in the first one in which its answer is exact.
type form uint8

const (
	formMerged form = iota
	formUnited
	formUnioned
	formPreceded
	formGathered
	noForm
)

// formOf returns the form that a statement was planned in.
func formOf(ex *plan.Execution) form {
	switch {
	case ex.Gather != nil:
		return formGathered
	case ex.First != nil:
		return formPreceded
	case ex.Kind == plan.KindUnion:
		return formUnioned
	case ex.Kind == plan.KindUnited:
		return formUnited
	}
	return formMerged
}

// answered runs a planned statement. A read whose merge meets rows that it cannot
// put together exactly, such as texts longer than servers sort by, is run in the
// forms that remain: the caller has been given none of its rows, and its cursors are
// closed. Where no form is left, the first refusal is the answer, since it tells what
// can be changed.
func (k *Kernel) answered(ctx context.Context, s *Session, ex *plan.Execution, from origin) (driver.Rows, error) {
	rows, refusal := k.send(ctx, s, ex)
	if refusal == nil || !from.reads(ex) {
		return rows, refusal
	}
	var u *fault.UnsupportedError
	if errors.As(refusal, &u) && u.ByPlan {
		return nil, refusal
	}
	for err := refusal; errors.Is(err, fault.ErrUnsupported); {
		next := formOf(ex) + 1
		if next == noForm {
			return nil, refusal
		}
		if ex, err = k.planIn(ctx, s, from, next); err != nil {
			return nil, refusal
		}
		if rows, err = k.send(ctx, s, ex); err == nil {
			return rows, nil
		} else if !errors.Is(err, fault.ErrUnsupported) {
			return nil, err
		}
	}
	return nil, refusal
}

// reads reports whether the statement, planned as ex, may be planned and sent once
// more: it changes nothing and locks nothing. A function of the user's may write.
func (o *origin) reads(ex *plan.Execution) bool {
	st := o.statement
	return st != nil && st.program != nil && st.explained == nil && st.batch == nil && st.inquiry == nil &&
		ex.Query && !ex.Write && !ex.DDL && !ex.InTurn && !st.callsRoutine()
}

// callsRoutine reports whether the statement holds functions of the user's.
func (s *statement) callsRoutine() bool {
	return s.program != nil && s.program.Statement().Features&parse.FeatureRoutine != 0
}
