package parse

import "testing"

func TestANameIsHeldWhole(t *testing.T) {
	for _, c := range []struct {
		text, name string
		want       bool
	}{
		{"a + b", "a", true},
		{"`a`.b", "b", true},
		{"x.uid=1", "uid", true},
		{"uid", "uid", true},
		{"uids + 1", "uid", false},
		{"my_uid", "uid", false},
		{"uidß", "uid", false},
		{"$uid", "uid", false},
		{"uids, uid", "uid", true},
		{"aaa", "aa", false},
		{"", "a", false},
	} {
		if got := HoldsName(c.text, c.name); got != c.want {
			t.Errorf("%q holds %q: %v", c.text, c.name, got)
		}
	}
}
