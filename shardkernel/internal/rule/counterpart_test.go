package rule

import (
	"slices"
	"testing"
)

func TestCounterpartsAreTheColumnsInTheSamePlace(t *testing.T) {
	s := compile(t, shop())
	level := func(column string) *Strategy { return &Strategy{Columns: []string{column}} }
	one := &Table{Database: level("user_id"), Tables: level("user_id"), columns: []string{"user_id"}}
	two := &Table{Database: level("owner"), Tables: level("seller"), columns: []string{"owner", "seller"}}
	whole := &Table{Database: level("owner"), columns: []string{"owner"}}
	for _, test := range []struct {
		name string
		a, b *Table
		want []string
	}{
		{"bound", table(t, s, "t_detail"), table(t, s, "t_order"), []string{"ent_id"}},
		{"itself", table(t, s, "t_order"), table(t, s, "t_order"), nil},
		{"not bound", table(t, s, "t_item"), table(t, s, "t_order"), nil},
		{"one column for two", two, one, []string{"user_id", "user_id"}},
		{"two columns for one", one, two, nil},
		{"a level of one alone", one, whole, nil},
	} {
		if got := s.Counterparts(test.a, test.b); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}
