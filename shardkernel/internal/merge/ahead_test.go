package merge

import (
	"database/sql/driver"
	"errors"
	"strings"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// sortedBy is an order by a text of which servers sort by some bytes.
func sortedBy(limit int) *plan.Merge {
	return &plan.Merge{Kind: plan.MergeOrdered, OrderBy: []plan.SortKey{{Column: at(0), Text: plan.TextOrder{Limit: limit}}}}
}

func textRows(values ...string) [][]driver.Value {
	rows := make([][]driver.Value, len(values))
	for i, v := range values {
		rows[i] = row(text(v))
	}
	return rows
}

func TestRowsThatCannotBeMergedFailBeforeTheFirstRow(t *testing.T) {
	cursors := []*fake{cursor("v VARCHAR", textRows("a", "b", "longer")...), cursor("v VARCHAR", textRows("c")...)}
	_, err := Rows(sortedBy(4), asRows(cursors), Limits{})
	if !errors.Is(err, fault.ErrUnsupported) {
		t.Error(err)
	}
	closedOnce(t, cursors)
}

func TestLookingAheadHoldsTheFirstRowsOnly(t *testing.T) {
	same := make([]string, 2*aheadRows)
	for i := range same {
		same[i] = "a"
	}
	for _, test := range []struct {
		name, first string
		most        int // rows read ahead
	}{
		{"many rows", "a", aheadRows},
		{"a long row", strings.Repeat("a", aheadBytes), 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			limit := len(test.first)
			values := append([]string{test.first}, same...)
			c := cursor("v VARCHAR", textRows(append(values, strings.Repeat("a", limit+1))...)...)
			recipe := sortedBy(limit)
			recipe.OrderBy[0].Desc = true
			rows, err := Rows(recipe, asRows([]*fake{c}), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if c.read != test.most {
				t.Errorf("%d rows were read ahead, want %d", c.read, test.most)
			}
			lines, err := drain(rows)
			if !errors.Is(err, fault.ErrUnsupported) || len(lines) != len(values) || lines[0] != line(row(text(test.first))) || lines[len(lines)-1] != `"a"` {
				t.Errorf("%d rows, then %v", len(lines), err)
			}
			closedOnce(t, []*fake{c})
		})
	}
}

func TestAResultThatEndsAheadClosesItsCursors(t *testing.T) {
	c := cursor("v VARCHAR", textRows("a", "b")...)
	recipe := sortedBy(4)
	recipe.HasLimit, recipe.Count = true, 1
	rows, err := Rows(recipe, asRows([]*fake{c}), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	closedOnce(t, []*fake{c})
	if lines, err := drain(rows); err != nil || len(lines) != 1 || lines[0] != `"a"` {
		t.Error(lines, err)
	}
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
	closedOnce(t, []*fake{c})
}

func TestAnOrderOfNumbersReadsNothingAhead(t *testing.T) {
	c := cursor("n BIGINT", row(int64(1)), row(int64(2)))
	rows, err := Rows(&plan.Merge{Kind: plan.MergeOrdered, OrderBy: []plan.SortKey{{Column: at(0)}}}, asRows([]*fake{c}), Limits{})
	if err != nil || c.read != 0 {
		t.Error(c.read, err)
	}
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
}
