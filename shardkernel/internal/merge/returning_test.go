package merge

import (
	"errors"
	"io"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

func TestReturningComesInTheOrderOfTheInsertedRows(t *testing.T) {
	want(t, []string{`10 "a"`, `20 "b"`, `11 "c"`, `21 "d"`, `12 "e"`},
		&plan.Merge{Kind: plan.MergeRows, Rows: [][]int{{0, 2, 4}, {1, 3}}},
		cursor("id BIGINT, name VARCHAR", row(int64(10), text("a")), row(int64(11), text("c")), row(int64(12), text("e"))),
		cursor("id BIGINT, name VARCHAR", row(int64(20), text("b")), row(int64(21), text("d"))))
}

// The statement has been sent: only the caller can undo it, so it must learn of
// the trouble from Rows.
func TestReturningOfAnInsertThatSkippedRowsOverSeveralNodesFailsBeforeAnyRow(t *testing.T) {
	recipe := &plan.Merge{Kind: plan.MergeRows, Rows: [][]int{{0, 2}, {1, 3}}}
	for name, second := range map[string]*fake{
		"fewer": cursor("id BIGINT", row(int64(2))),
		"more":  cursor("id BIGINT", row(int64(2)), row(int64(3)), row(int64(4))),
	} {
		first := cursor("id BIGINT", row(int64(1)), row(int64(3)))
		rows, err := Rows(recipe, asRows([]*fake{first, second}), Limits{})
		if rows != nil || !errors.Is(err, fault.ErrUnsupported) {
			t.Errorf("%s: rows %v, error %v, want ErrUnsupported", name, rows, err)
		}
		closedOnce(t, []*fake{first, second})
	}
}

func TestReturningOfAUnitThatSkippedAllRows(t *testing.T) {
	want(t, []string{"1", "3"}, &plan.Merge{Kind: plan.MergeRows, Rows: [][]int{{0, 2}, {1, 3}}},
		cursor("id BIGINT", row(int64(1)), row(int64(3))), cursor("id BIGINT"))
}

func TestReturningOfOneUnitMaySkipRows(t *testing.T) {
	want(t, []string{"7"}, &plan.Merge{Kind: plan.MergeRows, Rows: [][]int{{0, 1, 2}}}, cursor("id BIGINT", row(int64(7))))
}

func TestBroadcastWriteGivesTheRowsOfOneUnit(t *testing.T) {
	for _, kind := range []plan.MergeKind{plan.MergeIterate, plan.MergeRows} {
		want(t, []string{`1 "a"`, `2 "b"`}, &plan.Merge{Kind: kind, Broadcast: true},
			cursor("id BIGINT, name VARCHAR", row(int64(1), text("a")), row(int64(2), text("b"))),
			cursor("id BIGINT, name VARCHAR", row(int64(1), text("a")), row(int64(2), text("b"))))
	}
}

func TestBroadcastWriteReportsTheErrorOfAnyUnit(t *testing.T) {
	last := cursor("id BIGINT", row(int64(1)))
	last.err = io.ErrUnexpectedEOF
	cursors := []*fake{cursor("id BIGINT", row(int64(1))), cursor("id BIGINT", row(int64(1))), last}
	if _, err := Rows(&plan.Merge{Broadcast: true}, asRows(cursors), Limits{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
	closedOnce(t, cursors)
}
