package merge

import (
	"database/sql/driver"
	"errors"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// branches makes a UNION of branches with so many units each, and of a last unit
// that shows the columns.
func branches(units ...int) *plan.Merge {
	m := &plan.Merge{Kind: plan.MergeUnion}
	for _, n := range units {
		m.Branches = append(m.Branches, plan.UnionBranch{Units: n})
		m.Header += n
	}
	return m
}

func TestUnionAllGivesOneBranchAfterTheOther(t *testing.T) {
	want(t, []string{"1", "2", "2", "1"}, branches(2, 1),
		cursor("a INT", row(int64(1))), cursor("a INT", row(int64(2))), cursor("b INT", row(int64(2)), row(int64(1))), cursor("a BIGINT"))
}

func TestColumnsOfAUnionAreThoseOfItsHeader(t *testing.T) {
	rows, err := Rows(branches(1, 1), asRows([]*fake{cursor("a INT"), cursor("b TINYINT"), cursor("a BIGINT")}), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	if name := rows.(driver.RowsColumnTypeDatabaseTypeName).ColumnTypeDatabaseTypeName(0); rows.Columns()[0] != "a" || name != "BIGINT" {
		t.Errorf("column %q is %s, want a of type BIGINT", rows.Columns()[0], name)
	}
}

// Semantics row 53: inner and outer LIMIT are different, and so are the merges.
func TestABranchOfAUnionHasItsOwnMerge(t *testing.T) {
	recipe := branches(2, 2, 1)
	recipe.Branches[0].Merge = &plan.Merge{Kind: plan.MergeOrdered, Derived: 1, OrderBy: []plan.SortKey{{Column: fromEnd(0)}}, HasLimit: true, Count: 2}
	recipe.Branches[1].Merge = grouped(0, over(0, count))
	recipe.HasLimit, recipe.Offset, recipe.Count = true, 1, 3
	want(t, []string{"2", "12", "9"}, recipe,
		cursor("a INT, d INT", row(int64(1), int64(7)), row(int64(5), int64(9))), cursor("a INT, d INT", row(int64(2), int64(8))),
		cursor("n BIGINT", row(int64(5))), cursor("n BIGINT", row(int64(7))),
		cursor("a INT", row(int64(9)), row(int64(9))), cursor("a BIGINT"))
}

func TestUnionMakesTheBranchesBeforeItDistinct(t *testing.T) {
	recipe := branches(2, 1, 1)
	recipe.DistinctBranches, recipe.Derived = 2, 1
	recipe.GroupBy = []plan.GroupKey{{Column: at(0), Text: plan.TextOrder{HasWeight: true, Weight: fromEnd(0), PadSpace: true, SpaceWeight: text(" ")}}}
	columns := "a VARCHAR, w VARBINARY"
	want(t, []string{`"a"`, "NULL", `"b"`, `"B"`, `"B"`, "NULL"}, recipe,
		cursor(columns, row(text("a"), text("A")), row(nil, nil)), cursor(columns, row(text("A "), text("A "))),
		cursor(columns, row(text("b"), text("B")), row(nil, nil), row(text("a"), text("A"))),
		cursor(columns, row(text("B"), text("B")), row(text("B"), text("B")), row(nil, nil)), cursor(columns))
}

func TestUnionIsSortedAsAWhole(t *testing.T) {
	recipe := branches(1, 1)
	recipe.OrderBy = []plan.SortKey{{Column: at(0), Desc: true}}
	want(t, []string{`"10" "y"`, `"9" "x"`, `"9.0" "z"`, `NULL "w"`}, recipe,
		cursor("n DECIMAL, t VARCHAR", row(text("9"), text("x")), row(text("10"), text("y"))),
		cursor("n DECIMAL, t VARCHAR", row(nil, text("w")), row(text("9.0"), text("z"))), cursor("n DECIMAL, t VARCHAR"))
}

func TestUnionInMemoryStopsAtTheLimits(t *testing.T) {
	for name, recipe := range map[string]*plan.Merge{
		"sorted":   {Kind: plan.MergeUnion, OrderBy: []plan.SortKey{{Column: at(0)}}},
		"distinct": {Kind: plan.MergeUnion, DistinctBranches: 1, GroupBy: []plan.GroupKey{{Column: at(0)}}},
	} {
		recipe.Branches, recipe.Header = []plan.UnionBranch{{Units: 1}}, 1
		numbers := cursor("n INT", row(int64(1)), row(int64(2)), row(int64(3)))
		if _, err := mergedWithin(t, Limits{MaxRows: 2}, recipe, numbers, cursor("n INT")); !errors.Is(err, fault.ErrTooManyRows) {
			t.Errorf("%s: %v, want ErrTooManyRows", name, err)
		}
	}
}

func TestUnionOfOtherColumnsIsSchemaDrift(t *testing.T) {
	recipe := branches(1, 1)
	if _, err := merged(t, recipe, cursor("a INT"), cursor("a INT, b INT"), cursor("a INT")); !errors.Is(err, fault.ErrSchemaDrift) {
		t.Errorf("a branch with another column: %v", err)
	}
	recipe.Labels = []string{"b"}
	if _, err := merged(t, recipe, cursor("a INT"), cursor("a INT"), cursor("a INT")); !errors.Is(err, fault.ErrSchemaDrift) {
		t.Errorf("another label than was known: %v", err)
	}
	recipe.Labels = []string{"A"}
	want(t, nil, recipe, cursor("a INT"), cursor("a INT"), cursor("a INT"))
}

func TestUnionOfTooFewUnitsIsAnError(t *testing.T) {
	recipe := branches(2, 1)
	recipe.Header = 0
	for _, header := range []int{0, 7, -1} {
		recipe.Header = header
		if _, err := merged(t, recipe, cursor("a INT"), cursor("a INT")); err == nil {
			t.Errorf("no error with header %d", header)
		}
	}
}
