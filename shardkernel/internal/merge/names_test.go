package merge

import (
	"strings"
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

func TestNamesAreReplacedInTheirColumns(t *testing.T) {
	twice := func(s string) string { return s + s }
	recipe := &plan.Merge{Names: []plan.NameColumn{
		{Column: plan.ColumnRef{Name: "TABLE"}, Logical: strings.ToUpper},
		{Column: plan.ColumnRef{Name: "absent"}, Logical: strings.ToUpper},
		{Column: at(2), Logical: twice},
	}}
	want(t, []string{`"T_0" "a" "bb"`, `NULL 1 2`, `T_1 "c" NULL`, `"T_2" NULL ""`}, recipe,
		cursor("table TEXT, x TEXT, y TEXT", row(text("t_0"), text("a"), text("b")), row(nil, int64(1), int64(2))),
		cursor("table TEXT, x TEXT, y TEXT", row("t_1", text("c"), nil), row(text("t_2"), nil, text(""))))
}

func TestNamesOfAColumnBeyondTheResultAreAnError(t *testing.T) {
	recipe := &plan.Merge{Names: []plan.NameColumn{{Column: at(1), Logical: strings.ToUpper}}}
	if rows, err := merged(t, recipe, cursor("table TEXT", row(text("t")))); err == nil {
		t.Errorf("merge gave %q", rows)
	}
}
