package merge

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

func TestIterateGivesOneUnitAfterTheOther(t *testing.T) {
	want(t, []string{`1 "a"`, `2 "b"`, `3 "c"`}, &plan.Merge{},
		cursor("id BIGINT, name VARCHAR", row(int64(1), text("a")), row(int64(2), text("b"))),
		cursor("id BIGINT, name VARCHAR"),
		cursor("id BIGINT, name VARCHAR", row(int64(3), text("c"))))
}

// Semantics row 9.
func TestDerivedColumnsAreHiddenFromRowsAndMetadata(t *testing.T) {
	for _, kind := range []plan.MergeKind{plan.MergeIterate, plan.MergeOrdered, plan.MergeGroup} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			c := cursor("id BIGINT, w VARBINARY, n BIGINT", row(int64(1), text("x"), int64(7)))
			rows, err := Rows(&plan.Merge{Kind: kind, Derived: 2}, asRows([]*fake{c}), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if got := rows.Columns(); !reflect.DeepEqual(got, []string{"id"}) {
				t.Errorf("columns %q, want id alone", got)
			}
			got, err := drain(rows)
			if err != nil || len(got) != 1 || got[0] != "1" {
				t.Errorf("rows %q, error %v, want the row 1", got, err)
			}
		})
	}
}

// Semantics row 28.
func TestColumnTypesAreThoseOfTheFirstCursorAlsoOverNoRowsAndAfterTheEnd(t *testing.T) {
	a := cursor("id BIGINT, note TEXT, sum DECIMAL")
	a.scale = 2
	rows, err := Rows(&plan.Merge{}, asRows([]*fake{a, cursor("id BIGINT, note TEXT, sum DECIMAL")}), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := drain(rows); err != nil {
		t.Fatal(err)
	}
	r := rows.(*result)
	if got := r.ColumnTypeDatabaseTypeName(2); got != "DECIMAL" {
		t.Errorf("type name %q", got)
	}
	if got := r.ColumnTypeScanType(0); got != reflect.TypeFor[int64]() {
		t.Errorf("scan type %v", got)
	}
	if nullable, ok := r.ColumnTypeNullable(0); nullable || !ok {
		t.Errorf("nullable %v, %v", nullable, ok)
	}
	if length, ok := r.ColumnTypeLength(1); length != 65535 || !ok {
		t.Errorf("length %d, %v", length, ok)
	}
	if p, s, ok := r.ColumnTypePrecisionScale(2); p != 20 || s != 2 || !ok {
		t.Errorf("precision and scale %d, %d, %v", p, s, ok)
	}
	if _, ok := rows.(driver.RowsNextResultSet); ok {
		t.Error("a merge has one result set")
	}
}

// bare is a cursor that implements no more than it must.
type bare struct{ driver.Rows }

func TestCursorWithoutColumnTypesAnswersAsDatabaseSQLWould(t *testing.T) {
	rows, err := Rows(&plan.Merge{}, []driver.Rows{bare{cursor("id BIGINT")}, bare{cursor("id INT")}}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r := rows.(*result)
	_, hasNullable := r.ColumnTypeNullable(0)
	_, hasLength := r.ColumnTypeLength(0)
	_, _, hasScale := r.ColumnTypePrecisionScale(0)
	if r.ColumnTypeDatabaseTypeName(0) != "" || r.ColumnTypeScanType(0) != reflect.TypeFor[any]() || hasNullable || hasLength || hasScale {
		t.Errorf("got %+v", r.header.columns[0])
	}
}

// The plan decides whether an expression is TEXT or LONGTEXT, and so do the rows
// of a node.
func TestColumnIsOfTheWidestTypeOfTheUnits(t *testing.T) {
	rows, err := Rows(&plan.Merge{}, asRows([]*fake{cursor("v TEXT"), cursor("v LONGTEXT"), cursor("v VARCHAR")}), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if got := rows.(*result).ColumnTypeDatabaseTypeName(0); got != "LONGTEXT" {
		t.Errorf("type %s, want LONGTEXT", got)
	}
}

// notNull is a cursor whose columns cannot be NULL, as a server says of a joined
// column when its plan has made an inner join of an outer one.
type notNull struct{ *fake }

func (notNull) ColumnTypeNullable(int) (nullable, ok bool) { return false, true }
func (notNull) ColumnTypeScanType(int) reflect.Type        { return reflect.TypeFor[int64]() }

func TestColumnIsNullableIfItIsOnOneUnit(t *testing.T) {
	rows, err := Rows(&plan.Merge{}, []driver.Rows{notNull{cursor("v INT")}, cursor("v INT")}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	r := rows.(*result)
	if nullable, ok := r.ColumnTypeNullable(0); !nullable || !ok {
		t.Errorf("nullable %v, %v", nullable, ok)
	}
	if got := r.ColumnTypeScanType(0); got != reflect.TypeFor[[]byte]() {
		t.Errorf("scan type %v is not that of the unit whose values may be NULL", got)
	}
}

// Semantics row 67.
func TestUnitsWithOtherColumnsAreSchemaDrift(t *testing.T) {
	for name, test := range map[string]struct{ other, detail string }{
		"order":      {"name VARCHAR, id BIGINT", `column 1 is "name" instead of "id"`},
		"number":     {"id BIGINT", "1 columns instead of 2"},
		"type":       {"id BIGINT, name BLOB", `column 2, "name", is BLOB instead of VARCHAR`},
		"case":       {"ID BIGINT, name VARCHAR", `column 1 is "ID" instead of "id"`},
		"one more":   {"id BIGINT, name VARCHAR, x INT", "3 columns instead of 2"},
		"other sign": {"id UNSIGNED BIGINT, name VARCHAR", "instead of BIGINT"},
	} {
		t.Run(name, func(t *testing.T) {
			same := "id BIGINT, name VARCHAR"
			got, err := merged(t, &plan.Merge{}, cursor(same, row(int64(1), text("a"))), cursor(same), cursor(test.other))
			var drift *SchemaDriftError
			if !errors.Is(err, fault.ErrSchemaDrift) || !errors.As(err, &drift) || drift.Unit != 2 {
				t.Fatalf("error %v, want schema drift of unit 3", err)
			}
			if !strings.Contains(err.Error(), test.detail) {
				t.Errorf("message %q lacks %q", err, test.detail)
			}
			if got != nil {
				t.Errorf("rows %q were given", got)
			}
		})
	}
}

// atNode is a cursor that knows its node.
type atNode struct {
	*fake
	node string
}

func (a atNode) Node() string { return a.node }

func TestSchemaDriftNamesTheNodes(t *testing.T) {
	cursors := []driver.Rows{atNode{cursor("id BIGINT"), "ds0.t_order_0"}, atNode{cursor("id BIGINT, x INT"), "ds1.t_order_1"}}
	_, err := Rows(&plan.Merge{}, cursors, Limits{})
	if err == nil || !strings.Contains(err.Error(), ": ds1.t_order_1 against ds0.t_order_0: 2 columns instead of 1; ") {
		t.Errorf("error %v", err)
	}
	_, err = Rows(&plan.Merge{Labels: []string{"no"}}, []driver.Rows{cursor("id BIGINT")}, Limits{})
	if err == nil || strings.Contains(err.Error(), "unit") {
		t.Errorf("error %v speaks of units where all of them are alike", err)
	}
}

// Semantics row 68.
func TestErrorOfACursorIsReturnedAndNeverAnEarlyEnd(t *testing.T) {
	for _, cause := range []error{
		errors.New("server has gone away"), io.ErrUnexpectedEOF, fmt.Errorf("cut: %w", io.EOF),
	} {
		for _, kind := range []plan.MergeKind{plan.MergeIterate, plan.MergeOrdered, plan.MergeGroup, plan.MergeRows} {
			for position := range 3 {
				t.Run(fmt.Sprintf("%v/%d/%d", cause, kind, position), func(t *testing.T) {
					cursors := []*fake{
						cursor("id BIGINT", row(int64(1)), row(int64(4))),
						cursor("id BIGINT", row(int64(2)), row(int64(5))),
						cursor("id BIGINT", row(int64(3)), row(int64(6))),
					}
					cursors[position].err = cause
					_, err := merged(t, &plan.Merge{
						Kind: kind, OrderBy: []plan.SortKey{{}}, GroupBy: []plan.GroupKey{{}},
						Rows: [][]int{{0, 1}, {2, 3}, {4, 5}},
					}, cursors...)
					if err != cause { // the very value
						t.Errorf("error %v, want %v", err, cause)
					}
				})
			}
		}
	}
}

func TestNextRepeatsItsEnd(t *testing.T) {
	cause := errors.New("gone")
	c := cursor("id BIGINT", row(int64(1)))
	c.err = cause
	rows, err := Rows(&plan.Merge{}, asRows([]*fake{c}), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	dest := make([]driver.Value, 1)
	if err := rows.Next(dest); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := rows.Next(dest); !errors.Is(err, cause) {
			t.Errorf("error %v, want %v", err, cause)
		}
	}
}

func TestEarlyCloseClosesEveryCursorOnceAndJoinsErrors(t *testing.T) {
	for _, kind := range []plan.MergeKind{plan.MergeIterate, plan.MergeOrdered, plan.MergeGroup} {
		for given := range 3 {
			cursors := []*fake{
				cursor("id BIGINT", row(int64(1)), row(int64(9))),
				cursor("id BIGINT", row(int64(2)), row(int64(8))),
			}
			rows, err := Rows(&plan.Merge{Kind: kind, OrderBy: []plan.SortKey{{}}, GroupBy: []plan.GroupKey{{}}}, asRows(cursors), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			dest := make([]driver.Value, 1)
			for range given {
				if err := rows.Next(dest); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if err := rows.Close(); err != nil {
					t.Error(err)
				}
			}
			if err := rows.Next(dest); err == nil || errors.Is(err, io.EOF) {
				t.Errorf("Next after Close gives %v", err)
			}
			closedOnce(t, cursors)
		}
	}

	first, second := errors.New("first"), errors.New("second")
	cursors := []*fake{cursor("id BIGINT"), cursor("id BIGINT"), cursor("id BIGINT")}
	cursors[0].closeErr, cursors[2].closeErr = first, second
	rows, err := Rows(&plan.Merge{}, asRows(cursors), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if err := rows.Close(); !errors.Is(err, first) || !errors.Is(err, second) {
		t.Errorf("Close gives %v, want both errors", err)
	}
	closedOnce(t, cursors)
}

func TestCloseErrorAtTheEndIsReported(t *testing.T) {
	cause := errors.New("not closed")
	for _, test := range []plan.Merge{{}, {HasLimit: true, Count: 1}} {
		c := cursor("id BIGINT", row(int64(1)), row(int64(2)))
		c.closeErr = cause
		if _, err := merged(t, &test, c); !errors.Is(err, cause) {
			t.Errorf("error %v, want %v", err, cause)
		}
	}
}

func TestNoCursorAndWrongRecipesAreErrors(t *testing.T) {
	if _, err := Rows(&plan.Merge{}, nil, Limits{}); err == nil {
		t.Error("no cursor: no error")
	}
	for name, recipe := range map[string]*plan.Merge{
		"kind":        {Kind: 99},
		"derived":     {Derived: 2},
		"sort key":    {Kind: plan.MergeOrdered, OrderBy: []plan.SortKey{{Column: at(1)}}},
		"weight":      {Kind: plan.MergeOrdered, OrderBy: []plan.SortKey{{Text: plan.TextOrder{HasWeight: true, Weight: fromEnd(1)}}}},
		"group key":   {Kind: plan.MergeGroup, GroupBy: []plan.GroupKey{{Column: at(-1)}}},
		"aggregate":   {Kind: plan.MergeGroup, Aggregates: []plan.Aggregate{{Column: at(3)}}},
		"function":    {Kind: plan.MergeGroup, Aggregates: []plan.Aggregate{{Func: 99}}},
		"count":       {Kind: plan.MergeGroup, Aggregates: []plan.Aggregate{{Func: plan.AggregateAvg, Count: at(5)}}},
		"sum":         {Kind: plan.MergeGroup, Aggregates: []plan.Aggregate{{Func: plan.AggregateAvg, Sum: at(5)}}},
		"positions":   {Kind: plan.MergeRows, Rows: [][]int{{0}}},
		"max, column": {Kind: plan.MergeGroup, Aggregates: []plan.Aggregate{{Func: plan.AggregateMax, Column: at(3)}}},
	} {
		if _, err := merged(t, recipe, cursor("id BIGINT"), cursor("id BIGINT")); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Semantics row 8: the planner names the column, the merge finds it.
func TestColumnByNameMustOccurOnceAmongVisibleColumns(t *testing.T) {
	for _, test := range []struct {
		name, columns string
		derived       int
		ok            bool
	}{
		{"total", "id BIGINT, Total BIGINT", 0, true},
		{"total", "total BIGINT, TOTAL BIGINT", 0, false},
		{"total", "id BIGINT, amount BIGINT", 0, false},
		{"total", "total BIGINT, total BIGINT", 1, true},
		{"total", "id BIGINT, total BIGINT", 1, false},
	} {
		recipe := &plan.Merge{Kind: plan.MergeOrdered, Derived: test.derived, OrderBy: []plan.SortKey{{Column: plan.ColumnRef{Name: test.name}}}}
		_, err := merged(t, recipe, cursor(test.columns))
		if test.ok != (err == nil) || err != nil && !errors.Is(err, fault.ErrUnsupported) {
			t.Errorf("%q, %d derived: error %v", test.columns, test.derived, err)
		}
	}
}

// Semantics rows 11 and 12.
func TestLimitSkipsAndStops(t *testing.T) {
	ids := func(from, to int64) *fake {
		c := cursor("id BIGINT")
		for i := from; i <= to; i++ {
			c.rows = append(c.rows, row(i))
		}
		return c
	}
	for _, test := range []struct {
		offset, count uint64
		want          string
		read          int // rows of the first cursor that may be read
	}{
		{0, 2, "1 2", 2},
		{1, 2, "2 3", 3},
		{2, 3, "3 4 5", 3},
		{0, 0, "", 0},
		{5, 0, "", 0},
		{6, 2, "", 3},
		{1, 1<<64 - 1, "2 3 4 5 6", 3},
		{1<<64 - 1, 1<<64 - 1, "", 3},
	} {
		first, second := ids(1, 3), ids(4, 6)
		got, err := merged(t, &plan.Merge{HasLimit: true, Offset: test.offset, Count: test.count}, first, second)
		if err != nil || strings.Join(got, " ") != test.want {
			t.Errorf("LIMIT %d, %d gives %q, error %v, want %q", test.offset, test.count, got, err, test.want)
		}
		if first.read > test.read {
			t.Errorf("LIMIT %d, %d reads %d rows of the first cursor, want %d", test.offset, test.count, first.read, test.read)
		}
	}
}

func TestBytesOfARowStayValidUntilTheNextCall(t *testing.T) {
	for _, recipe := range []*plan.Merge{
		{},
		{HasLimit: true, Count: 1},
		{Kind: plan.MergeOrdered, OrderBy: []plan.SortKey{{}}},
		{Kind: plan.MergeOrdered, OrderBy: []plan.SortKey{{}}, HasLimit: true, Count: 1},
		{Kind: plan.MergeGroup, GroupBy: []plan.GroupKey{{}}},
	} {
		rows, err := Rows(recipe, asRows([]*fake{
			cursor("name VARCHAR", row(text("anna"))), cursor("name VARCHAR", row(text("berta"))),
		}), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		dest := make([]driver.Value, 1)
		if err := rows.Next(dest); err != nil {
			t.Fatal(err)
		}
		if got := line(dest); got != `"anna"` {
			t.Errorf("kind %d: the row is %s after Next has returned", recipe.Kind, got)
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
