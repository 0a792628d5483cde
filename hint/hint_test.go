package hint_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/gormshard/sharding/hint"
)

func TestInnerHintTakesThePlaceOfTheOuter(t *testing.T) {
	outer := hint.DataSource(t.Context(), "ds_0")
	outer = hint.TableValue(outer, "t_order", 1)
	outer = hint.DatabaseValue(outer, "t_order", 2)
	outer = hint.ActualTable(outer, "t_item", "t_item_1")
	outer = hint.DisableAudit(outer)
	inner := hint.DataSource(outer, "ds_1")
	inner = hint.ActualTable(inner, "t_order", "t_order_1") // in the place of the table value
	inner = hint.TableValue(inner, "t_item", 7)             // in the place of the actual table
	inner = hint.AllowScatter(hint.SkipSharding(inner))
	inner = hint.DisableAudit(inner, "maxNodes")

	want := &hint.Hints{
		Direct: true, DataSource: "ds_0", AuditOff: true,
		Tables: []hint.Table{
			{Name: "t_order", Database: []any{2}, Table: []any{1}},
			{Name: "t_item", HasActual: true, Actual: "t_item_1"},
		},
	}
	if got := hint.FromContext(outer); !reflect.DeepEqual(got, want) {
		t.Errorf("the outer context holds %+v\nwant %+v", got, want)
	}
	want = &hint.Hints{
		Direct: true, DataSource: "ds_1", SkipSharding: true, AllowScatter: true, AuditOff: true, Audits: []string{"maxNodes"},
		Tables: []hint.Table{
			{Name: "t_order", Database: []any{2}, HasActual: true, Actual: "t_order_1"},
			{Name: "t_item", Table: []any{7}, Actual: "t_item_1"},
		},
	}
	if got := hint.FromContext(inner); !reflect.DeepEqual(got, want) {
		t.Errorf("the inner context holds %+v\nwant %+v", got, want)
	}
}

func TestAHintOfATableInAnotherCaseIsOneForTheSameTable(t *testing.T) {
	ctx := hint.TableValue(hint.DatabaseValue(t.Context(), "T_Order", 1), "t_order", 2)
	ctx = hint.DatabaseValue(ctx, "T_ORDER", 3)
	want := []hint.Table{{Name: "T_Order", Database: []any{3}, Table: []any{2}}}
	if got := hint.FromContext(ctx).Tables; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestHintWithoutValuesIsKeptToBeRefused(t *testing.T) {
	h := hint.FromContext(hint.TableValue(hint.DatabaseValue(t.Context(), "t_order"), "t_order"))
	if h.Tables[0].Database == nil || h.Tables[0].Table == nil {
		t.Errorf("%+v looks as if nothing was hinted", h.Tables[0])
	}
}

func TestAContextWithoutHintsCostsNothing(t *testing.T) {
	ctx := context.WithValue(t.Context(), struct{ int }{}, 1)
	if n := testing.AllocsPerRun(100, func() {
		if hint.FromContext(ctx) != nil {
			t.Fatal("hints out of nowhere")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
