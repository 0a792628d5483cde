package merge

import (
	"errors"
	"reflect"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// GORM's migrator learns the columns of a table from such a SELECT.
func TestLimitOneIsAnsweredByTheFirstNodeWhereOthersHaveOtherColumns(t *testing.T) {
	one := plan.Merge{HasLimit: true, Count: 1}
	wide := func() *fake { return cursor("id BIGINT, note VARCHAR", row(int64(2), text("x"))) }
	rows, err := Rows(&one, asRows([]*fake{cursor("id BIGINT", row(int64(1))), wide()}), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got := rows.Columns(); !reflect.DeepEqual(got, []string{"id"}) {
		t.Errorf("columns %q", got)
	}
	if got, err := drain(rows); err != nil || !reflect.DeepEqual(got, []string{"1"}) {
		t.Errorf("rows %q, %v", got, err)
	}
	// The row of another node is not lost.
	rows, err = Rows(&one, asRows([]*fake{cursor("id BIGINT"), wide()}), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := drain(rows); !errors.Is(err, fault.ErrSchemaDrift) {
		t.Errorf("rows %q, %v", got, err)
	}
	for name, recipe := range map[string]plan.Merge{
		"more rows": {HasLimit: true, Count: 2}, "all rows": {}, "a later row": {HasLimit: true, Count: 1, Offset: 1},
		"an order": {Kind: plan.MergeOrdered, HasLimit: true, Count: 1, OrderBy: []plan.SortKey{{}}},
	} {
		if _, err := Rows(&recipe, asRows([]*fake{cursor("id BIGINT", row(int64(1))), wide()}), Limits{}); !errors.Is(err, fault.ErrSchemaDrift) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
