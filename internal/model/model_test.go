package model

import (
	"context"
	"testing"
)

type other struct{}

func TestModelIsTakenOutAgain(t *testing.T) {
	before := context.WithValue(t.Context(), other{}, 1)
	ctx := context.Context(&Context{Context: before, Model: Model{Table: "t_order"}})
	if m := FromContext(ctx); m == nil || m.Table != "t_order" || ctx.Value(other{}) != 1 {
		t.Fatalf("model %v, other value %v", m, ctx.Value(other{}))
	}
	if Without(ctx) != before {
		t.Error("the context is not what it was")
	}
	around := context.WithValue(ctx, other{}, 2)
	if after := Without(around); FromContext(after) != nil || after.Value(other{}) != 2 {
		t.Error("what was put around the model is lost, or the model is not hidden")
	}
	if Without(before) != before || FromContext(before) != nil {
		t.Error("a context without a model is changed")
	}
}
