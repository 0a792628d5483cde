package nearest

import (
	"slices"
	"strings"
	"testing"
)

func TestNearestForgivesOneEditInThreeCharacters(t *testing.T) {
	names := []string{"ds_mod", "by_user", "by_order", "snowflake"}
	for _, test := range []struct{ name, want string }{
		{"ds_mood", "ds_mod"},
		{"ds_mdo", "ds_mod"},
		{"DS_MOD", "ds_mod"},
		{"by_usr", "by_user"},
		{"snowfleak", "snowflake"},
		{"xy", ""},
		{"something_else", ""},
		{"", ""},
		{strings.Repeat("x", 10_000), ""},
	} {
		if got := Nearest(test.name, names); got != test.want {
			t.Errorf("Nearest(%.20q) = %q, want %q", test.name, got, test.want)
		}
	}
}

func TestNearestPrefersTheCloserAndThenTheFirstName(t *testing.T) {
	if got := Nearest("t_order", []string{"t_orde", "t_order_1", "t_orders"}); got != "t_orde" {
		t.Errorf("first of equals: got %q", got)
	}
	if got := Nearest("t_order1", []string{"t_ordr", "t_order"}); got != "t_order" {
		t.Errorf("closer: got %q", got)
	}
}

func TestHintIsEmptyWithoutNearName(t *testing.T) {
	if got := Hint("ds_mood", []string{"ds_mod"}); got != `did you mean "ds_mod"?` {
		t.Errorf("got %q", got)
	}
	if got := Hint("ds_mood", nil); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestHintOrListTellsWhatThereIs(t *testing.T) {
	for want, of := range map[string][]string{
		`did you mean "ds_mod"?`: {"ds_mod", "by_user"},
		"known: by_user, x":      {"by_user", "x"},
		"there is none":          nil,
	} {
		if got := HintOrList("ds_mood", of); got != want {
			t.Errorf("HintOrList of %v = %q, want %q", of, got, want)
		}
	}
}

func TestDistanceCountsASwapOnce(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"ab", "ba", 1}, {"abc", "abc", 0}, {"kitten", "sitting", 3}, {"", "abc", 3}, {"中文", "中", 1}} {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("distance(%q, %q) = %d, want %d", test.a, test.b, got, test.want)
		}
	}
}

func TestCompareCountsDigits(t *testing.T) {
	want := []string{"", "a", "ds", "ds1", "ds02", "ds2", "ds2a", "ds10", "ds10_1", "ds10_2", "ds_0", "dt0"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, Compare)
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	for _, a := range want {
		for _, b := range want {
			if Compare(a, b) != -Compare(b, a) && (Compare(a, b) < 0) == (Compare(b, a) < 0) {
				t.Errorf("Compare(%q, %q) and its reverse agree", a, b)
			}
			if (Compare(a, b) == 0) != (a == b) {
				t.Errorf("Compare(%q, %q) = 0 for different names", a, b)
			}
		}
	}
}
