package rule

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestConstraintsAreNamedAfterTheActualTable(t *testing.T) {
	for _, c := range []struct{ name, logical, actual, want string }{
		{"fk_user", "t_order", "t_order_0", "fk_user_t_order_0"},
		{"fk_user", "t_order", "t_order", "fk_user"},
		{"fk_user", "t_order", "T_ORDER", "fk_user"},
		{"t_order_ibfk_12", "t_order", "t_order_0", "t_order_0_ibfk_12"},
		{"T_Order_chk_1", "t_order", "t_order_0", "t_order_0_chk_1"},
		{"CONSTRAINT_1", "t_order", "t_order_0", "CONSTRAINT_1"},
		{"t_order_ibfk_x", "t_order", "t_order_0", "t_order_ibfk_x_t_order_0"},
		{"t_order_ibfk_", "t_order", "t_order_0", "t_order_ibfk__t_order_0"},
		{"名", "订单", "订单_0", "名_订单_0"},
	} {
		got := ConstraintName(c.name, c.logical, c.actual)
		if got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.name, c.actual, got, c.want)
		}
		if back := LogicalConstraint(got, c.logical, c.actual); !strings.EqualFold(back, c.name) {
			t.Errorf("%s of %s came back as %q", c.name, c.actual, back)
		}
	}
}

func TestLongConstraintNamesAreCutToWhatServersAllow(t *testing.T) {
	long := strings.Repeat("ä", 60)
	first, second := ConstraintName(long, "t_order", "t_order_0"), ConstraintName(long, "t_order", "t_order_1")
	for _, name := range []string{first, second} {
		if n := utf8.RuneCountInString(name); n != maxNameLength || !utf8.ValidString(name) {
			t.Errorf("%q has %d characters", name, n)
		}
	}
	if first == second {
		t.Errorf("two tables of one schema share %q", first)
	}
	if again := ConstraintName(strings.ToUpper(long), "t_order", "T_ORDER_0"); !strings.EqualFold(again, first) {
		t.Errorf("another spelling gives %q instead of %q", again, first)
	}
	if a, b := LogicalConstraint(first, "t_order", "t_order_0"), LogicalConstraint(second, "t_order", "t_order_1"); a != b || !strings.HasPrefix(long, a) {
		t.Errorf("they came back as %q and %q", a, b)
	}
	// One that no server takes is not made into one that it takes.
	tooLong := strings.Repeat("a", 65)
	if got := ConstraintName(tooLong, "t_order", "t_order_0"); utf8.RuneCountInString(got) <= maxNameLength {
		t.Errorf("%q", got)
	}
	edge := strings.Repeat("a", maxNameLength-len("_t_order_0"))
	if got := ConstraintName(edge, "t_order", "t_order_0"); got != edge+"_t_order_0" {
		t.Errorf("a name that just fits became %q", got)
	}
}
