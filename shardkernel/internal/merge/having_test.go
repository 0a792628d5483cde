package merge

import (
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// Semantics row 23.
func TestGroupsPassByTheirMergedValues(t *testing.T) {
	column := func(i int) *plan.Expr { return &plan.Expr{Op: plan.OpColumn, Column: at(i)} }
	constant := func(v any) *plan.Expr { return &plan.Expr{Op: plan.OpConstant, Const: v} }
	more := func(a, b *plan.Expr) *plan.Expr { return &plan.Expr{Op: plan.OpGreater, Kids: []*plan.Expr{a, b}} }
	for name, tt := range map[string]struct {
		condition *plan.Expr
		want      []string
	}{
		"none":                      {nil, []string{"1 4 7", "2 6 -7", "3 1 NULL"}},
		"of what no node has alone": {more(column(1), constant(int64(5))), []string{"2 6 -7"}},
		"a number":                  {column(2), []string{"1 4 7", "2 6 -7"}},
		"false":                     {constant(int64(0)), nil},
		"NULL":                      {constant(nil), nil},
		"NULL of one group":         {more(column(2), constant(int64(-9))), []string{"1 4 7", "2 6 -7"}},
	} {
		for _, sorted := range []int{0, 1} {
			recipe := grouped(1, over(1, count), over(2, most))
			recipe.OrderBy, recipe.Sorted, recipe.Having = []plan.SortKey{{Column: at(0)}}, sorted, tt.condition
			t.Run(name, func(t *testing.T) {
				want(t, tt.want, recipe,
					cursor("g INT, n BIGINT, m INT", row(int64(1), int64(3), int64(7)), row(int64(2), int64(4), int64(-7)), row(int64(3), int64(1), nil)),
					cursor("g INT, n BIGINT, m INT", row(int64(1), int64(1), nil), row(int64(2), int64(2), int64(-8))))
			})
		}
	}
}
